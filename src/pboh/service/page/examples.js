// Texts to begin with, and a name of each to look at: what it means depends on its neighbours.
// A test checks that the starter model answers all of them rightly.

export const EXAMPLES = [
  ["Georgia", "Georgia",
    "Georgia borders Armenia, Azerbaijan, Russia and Turkey. Its capital is Tbilisi; Batumi lies on the Black Sea."],
  ["Java, an island", "Java",
    "Java is the most populous island of Indonesia. Its neighbours are Sumatra, Borneo and Bali."],
  ["Java, a language", "Java",
    "James Gosling designed Java at Sun Microsystems, Guido van Rossum wrote Python, and Larry Wall wrote Perl."],
  ["Collins in space", "Michael Collins",
    "Apollo 11 flew to the Moon. Neil Armstrong and Buzz Aldrin landed while Michael Collins waited above."],
  ["Collins in Ireland", "Michael Collins",
    "Michael Collins, Arthur Griffith and Éamon de Valera were the leaders of Sinn Féin."],
  ["Planets", "Mercury", "Mercury, Venus, Mars, Jupiter and Saturn have always been known. Uranus was discovered by "
    + "William Herschel, Pluto by Clyde Tombaugh."],
];
