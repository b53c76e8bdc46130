"""Writes ``world.xml``: a small made-up wiki about football, places, planets, gods, computers and music.

Its names are ambiguous on purpose (Müller, Georgia, Paris, Jordan, Apple, Mercury, Java, Bush, Washington …),
and every topic has words and neighbours of its own, so that context and coherence have something to work with.
Run ``python tests/data/make_world.py`` after a change; the tests check that the file is what this writes.
"""

# ruff: noqa: E501 - the tables are read across

from __future__ import annotations

import random
import re
from pathlib import Path
from xml.sax.saxutils import escape

# topic: type: "Title" or "Title = anchor; anchor" (the anchors other pages use), then "| what it is"
ENTITIES = {
    "football": {
        "player": """
            Thomas Müller = Müller; Thomas Müller | a German footballer who plays as a forward for {club:FC Bayern Munich}
            Gerd Müller = Müller; Gerd Müller | a German striker who scored more goals for {club:FC Bayern Munich} than anybody else
            Franz Beckenbauer = Beckenbauer; Franz Beckenbauer | a German footballer and coach who captained {club:FC Bayern Munich}
            Lothar Matthäus = Matthäus; Lothar Matthäus | a German midfielder who captained the {club:Germany national football team}
            Marco Reus = Reus; Marco Reus | a German attacking midfielder of {club:Borussia Dortmund}
            Zinedine Zidane = Zidane; Zinedine Zidane | a French midfielder and coach of {club:Real Madrid CF}
            Kylian Mbappé = Mbappé; Kylian Mbappé | a French striker who grew up near {city:Paris}
        """,
        "club": """
            FC Bayern Munich = Bayern; Bayern Munich; FC Bayern Munich | a football club from {city:Munich}
            Borussia Dortmund = Dortmund; Borussia Dortmund | a football club from {city:Dortmund}
            Real Madrid CF = Real Madrid; Madrid | a football club from {city:Madrid}
            Paris Saint-Germain FC = Paris; Paris Saint-Germain; PSG | a football club from {city:Paris}
            Germany national football team = Germany; German team | the team that plays football for {country:Germany}
            France national football team = France; French team | the team that plays football for {country:France}
        """,
        "cup": """
            Bundesliga = Bundesliga | the highest football league of {country:Germany}
            UEFA Champions League = Champions League | a football competition for the best clubs of Europe
            FIFA World Cup = World Cup; FIFA World Cup | a football tournament for national teams held every four years
        """,
    },
    "basketball": {
        "star": """
            Michael Jordan = Jordan; Michael Jordan | an American basketball player who won six titles with the {side:Chicago Bulls}
            Scottie Pippen = Pippen; Scottie Pippen | an American basketball forward of the {side:Chicago Bulls}
            Larry Bird = Bird; Larry Bird | an American basketball forward of the {side:Boston Celtics}
            Magic Johnson = Johnson; Magic Johnson | an American basketball guard of the {side:Los Angeles Lakers}
        """,
        "side": """
            Chicago Bulls = Bulls; Chicago; Chicago Bulls | a basketball team from {city:Chicago}
            Boston Celtics = Celtics; Boston; Boston Celtics | a basketball team from {city:Boston}
            Los Angeles Lakers = Lakers; Los Angeles | a basketball team from {city:Los Angeles}
            National Basketball Association = NBA | the highest basketball league of the {country:United States}
        """,
    },
    "caucasus": {
        "land": """
            Georgia (country) = Georgia | a country in the {region:Caucasus} on the {region:Black Sea}
            Armenia = Armenia | a country in the {region:Caucasus} without a coast
            Azerbaijan = Azerbaijan | a country in the {region:Caucasus} on the Caspian Sea
            Russia = Russia; Russian | a country north of the {region:Caucasus}
        """,
        "region": """
            Caucasus = Caucasus | a range of mountains between two seas
            Black Sea = Black Sea | a sea between Europe and Asia
            Tbilisi = Tbilisi | the capital of {land:Georgia (country)}
            Yerevan = Yerevan | the capital of {land:Armenia}
            Baku = Baku | the capital of {land:Azerbaijan}
            Moscow = Moscow | the capital of {land:Russia}
            Batumi = Batumi | a port of {land:Georgia (country)} on the {region:Black Sea}
        """,
    },
    "america": {
        "state": """
            Georgia (U.S. state) = Georgia; Georgia; the state of Georgia | a southern state of the {country:United States}
            Texas = Texas | a southern state of the {country:United States}
            Florida = Florida | a southern state of the {country:United States}
            Washington (state) = Washington; Washington; the state of Washington | a state of the {country:United States} on the Pacific coast
            Alabama = Alabama | a southern state of the {country:United States}
        """,
        "town": """
            Atlanta = Atlanta | the capital of {state:Georgia (U.S. state)}
            Savannah, Georgia = Savannah | a port in {state:Georgia (U.S. state)}
            Augusta, Georgia = Augusta | a town in {state:Georgia (U.S. state)} known for golf
            Austin, Texas = Austin | the capital of {state:Texas}
            Dallas = Dallas | a large city in {state:Texas}
            Paris, Texas = Paris; Paris, Texas | a small town in {state:Texas}
            Seattle = Seattle | the largest city of {state:Washington (state)}
            Miami = Miami | a large city in {state:Florida}
        """,
    },
    "europe": {
        "country": """
            Germany = Germany; German | a country in the middle of Europe
            France = France; French | a country in western Europe
            Spain = Spain; Spanish | a country in southern Europe
            Italy = Italy; Italian | a country in southern Europe
            United States = United States; American; U.S. | a country in North America
            Jordan = Jordan | a country in the Middle East, east of the {river:Jordan River}
        """,
        "city": """
            Paris = Paris | the capital of {country:France}
            Berlin = Berlin | the capital of {country:Germany}
            Munich = Munich | a city in the south of {country:Germany}
            Dortmund = Dortmund | a city in the west of {country:Germany}
            Madrid = Madrid | the capital of {country:Spain}
            Rome = Rome; Roman | the capital of {country:Italy}
            Amman = Amman | the capital of {country:Jordan}
            Chicago = Chicago | a city in the {country:United States}
            Boston = Boston | a city in the {country:United States}
            Los Angeles = Los Angeles | a city in the {country:United States}
        """,
        "river": """
            Jordan River = Jordan; Jordan River | a river that flows into the Dead Sea
            Seine = Seine | a river that flows through {city:Paris}
            Rhine = Rhine | a river that flows through {country:Germany}
            Tiber = Tiber | a river that flows through {city:Rome}
        """,
    },
    "space": {
        "planet": """
            Mercury (planet) = Mercury | the smallest planet and the one nearest to the {sky:Sun}
            Venus = Venus | the second planet from the {sky:Sun}
            Mars = Mars | the fourth planet from the {sky:Sun}
            Jupiter = Jupiter | the largest planet of the {sky:Solar System}
            Saturn = Saturn | a planet of the {sky:Solar System} with bright rings
        """,
        "sky": """
            Sun = Sun | the star in the middle of the {sky:Solar System}
            Solar System = Solar System | the {sky:Sun} and all that moves around it
            NASA = NASA | the space agency of the {country:United States}
            Messenger (spacecraft) = Messenger | a spacecraft of {sky:NASA} that went to {planet:Mercury (planet)}
        """,
    },
    "myth": {
        "god": """
            Mercury (mythology) = Mercury | the messenger of the gods of ancient {city:Rome}
            Venus (mythology) = Venus | the goddess of love of ancient {city:Rome}
            Mars (mythology) = Mars | the god of war of ancient {city:Rome}
            Jupiter (god) = Jupiter | the king of the gods of ancient {city:Rome}
            Apollo = Apollo | the god of music and poetry
            Paris (mythology) = Paris | the prince of {legend:Troy} who judged three goddesses
            Helen of Troy = Helen; Helen of Troy | the queen for whom {legend:Troy} was besieged
        """,
        "legend": """
            Troy = Troy | a city of legend that fell after ten years
            Trojan War = Trojan War | the war of the Greeks against {legend:Troy}
            Aeneid = Aeneid | a poem about a hero from {legend:Troy}
            Roman temple = temple; temples | a building for the gods of ancient {city:Rome}
        """,
    },
    "computing": {
        "company": """
            Apple Inc. = Apple; Apple Inc. | an American company that makes computers and telephones
            Microsoft = Microsoft | an American company that makes software
            Oracle Corporation = Oracle; Oracle Corporation | an American company that makes databases
            Sun Microsystems = Sun; Sun Microsystems | an American company that made workstations
        """,
        "software": """
            Java (programming language) = Java | a programming language designed at {company:Sun Microsystems}
            Python (programming language) = Python | a programming language with simple syntax
            Unix = Unix | an operating system for many users
            Macintosh = Macintosh; Mac | a computer made by {company:Apple Inc.}
            Windows = Windows | an operating system made by {company:Microsoft}
        """,
        "engineer": """
            Steve Jobs = Jobs; Steve Jobs | a founder of {company:Apple Inc.}
            Bill Gates = Gates; Bill Gates | a founder of {company:Microsoft}
            James Gosling = Gosling; James Gosling | the engineer who designed {software:Java (programming language)}
            Guido van Rossum = van Rossum; Guido van Rossum | the engineer who designed {software:Python (programming language)}
        """,
    },
    "nature": {
        "animal": """
            Jaguar = jaguar; jaguars | a large spotted cat of the rainforest
            Pythonidae = python; pythons | a family of large snakes without venom
            Tiger = tiger; tigers | a large striped cat of Asia
            Orangutan = orangutan | an ape of the rainforest of Asia
        """,
        "plant": """
            Apple = apple; apples | the fruit of a tree grown in orchards
            Orange (fruit) = orange; oranges | the fruit of a tree of warm regions
            Pear = pear; pears | the fruit of a tree grown in orchards
            Coffee = coffee; java | a drink made of roasted beans
        """,
        "island": """
            Java = Java | an island of {island:Indonesia} with many volcanoes
            Sumatra = Sumatra | a large island of {island:Indonesia}
            Indonesia = Indonesia | a country of many islands in Asia
            Borneo = Borneo | an island of Asia covered by rainforest
        """,
    },
    "music": {
        "musician": """
            Freddie Mercury = Mercury; Freddie Mercury | the singer of {band:Queen (band)}
            Brian May = May; Brian May | the guitarist of {band:Queen (band)}
            John Lennon = Lennon; John Lennon | a singer of {band:The Beatles}
            Paul McCartney = McCartney; Paul McCartney | a singer and bassist of {band:The Beatles}
            Kate Bush = Bush; Kate Bush | an English singer and pianist
            Prince (musician) = Prince | an American singer and guitarist
        """,
        "band": """
            Queen (band) = Queen | a British rock band
            The Beatles = Beatles; The Beatles | a British rock band from Liverpool
            Apple Records = Apple; Apple Records | the record label of {band:The Beatles}
            Bohemian Rhapsody = Bohemian Rhapsody | a song by {band:Queen (band)}
            Abbey Road = Abbey Road | an album by {band:The Beatles}
        """,
    },
    "politics": {
        "politician": """
            George W. Bush = Bush; George W. Bush; President Bush | the 43rd president of the {country:United States}
            George H. W. Bush = Bush; George Bush | the 41st president of the {country:United States}
            Jimmy Carter = Carter; Jimmy Carter | a president of the {country:United States} who came from {state:Georgia (U.S. state)}
            George Washington = Washington; George Washington | the first president of the {country:United States}
            Angela Merkel = Merkel; Angela Merkel | a chancellor of {country:Germany}
            Eduard Shevardnadze = Shevardnadze | a president of {land:Georgia (country)}
        """,
        "seat": """
            Washington, D.C. = Washington; Washington, D.C. | the capital of the {country:United States}
            White House = White House | the house of the president in {seat:Washington, D.C.}
            United States Congress = Congress | the parliament of the {country:United States}
            Bundestag = Bundestag | the parliament of {country:Germany} in {city:Berlin}
        """,
    },
    "letters": {
        "writer": """
            Herta Müller = Müller; Herta Müller | a novelist who writes in German and won the {prize:Nobel Prize in Literature}
            Max Müller = Müller; Max Müller | a scholar of languages who taught at Oxford
            Günter Grass = Grass; Günter Grass | a German novelist who won the {prize:Nobel Prize in Literature}
            Ernest Hemingway = Hemingway; Ernest Hemingway | an American novelist who lived in {city:Paris}
        """,
        "prize": """
            Nobel Prize in Literature = Nobel Prize | a prize for writers given in Stockholm
            The Tin Drum = The Tin Drum | a novel by {writer:Günter Grass}
            A Moveable Feast = A Moveable Feast | a book by {writer:Ernest Hemingway} about {city:Paris}
            The Land of Green Plums = The Land of Green Plums | a novel by {writer:Herta Müller}
        """,
    },
}  # fmt: skip

SENTENCES = {
    "football": """
        {club} beat {club} in the final of the {cup} when {player} scored a late goal.
        The striker {player} scored twice and {club} won the match against {club}.
        Coach and captain praised {player} after {club} had won the {cup} on penalties.
        {player} left the pitch injured, and {club} lost the season's last match of the {cup}.
        The midfielder {player} passed the ball to {player}, who scored the winning goal for {club}.
        Supporters of {club} filled the stadium in {city} to watch the league match.
    """,
    "basketball": """
        {star} scored forty points when the {side} beat the {side} in the playoffs.
        In the third quarter {star} blocked a shot by {star} and the {side} took the lead.
        The {side} drafted a guard and won the championship series of the {side}.
        {star} dunked the basketball with two seconds left on the court of the {side}.
    """,
    "caucasus": """
        The border between {land} and {land} runs through the mountains of the {region}.
        Trains from {region} to {region} cross the valleys where wine is grown in {land}.
        After the Soviet Union broke up, {land} and {land} became independent republics.
        An embassy of {land} was opened in {region}, and a treaty with {land} was signed.
        Orthodox monasteries of {land} stand in the mountains near {region}.
    """,
    "america": """
        The highway from {town} to {town} crosses cotton and peanut farms of {state}.
        A hurricane hit {town} and reached {state} and {state} two days later.
        The governor of {state} opened an airport between {town} and {town}.
        The census counted more people in {town} than in any other county of {state}.
        {state} joined the union before {state}, and its capital moved to {town}.
    """,
    "europe": """
        The river {river} is crossed by many bridges before it reaches the sea.
        Museums and cathedrals of {city} draw tourists from {country} and {country}.
        A fast railway joins {city} and {city}, the largest cities on the way through {country}.
        The population of {city} grew when factories were built along the {river} in {country}.
        The kings of {country} had a palace built in {city}.
    """,
    "space": """
        A probe of {sky} took photographs of craters on {planet} and flew on to {planet}.
        The orbit of {planet} around the {sky} takes less time than that of {planet}.
        Astronomers measured the atmosphere and the magnetic field of {planet} with a telescope.
        {planet} can be seen near the {sky} shortly before sunrise, and {planet} after sunset.
        The surface of {planet} is covered by craters, and its orbit is tilted against the {sky}.
    """,
    "myth": """
        The goddess {god} promised {god} the most beautiful woman, and so the {legend} began.
        Poets tell that {god} carried messages to {god} with winged sandals.
        Statues of {god} and {god} stood in a {legend} where priests offered sacrifices.
        In the {legend} the hero prays to {god} before he sets sail from {legend}.
        {god} was worshipped beside {god} by priests with festivals and sacrifices.
    """,
    "computing": """
        Programmers at {company} wrote the compiler of {software} and the interpreter of {software}.
        {engineer} announced that {company} would buy {company} and its software patents.
        A new version of {software} runs on {software} and on servers made by {company}.
        {engineer} presented the computer of {company} with an operating system based on {software}.
        Developers use {software} and {software} to write programs for the web.
    """,
    "nature": """
        The {animal} hunts at night in the rainforest of {island}, where the {animal} is rare.
        Farmers on {island} harvest {plant} and {plant} after the monsoon.
        Juice of the {plant} is sweeter than juice of the {plant}, and the tree flowers in spring.
        A volcano on {island} erupted, and villages on {island} were covered by ash.
        Zoologists counted each {animal} in the national park on {island}.
    """,
    "music": """
        {musician} sang and {musician} played the guitar solo when {band} recorded the single.
        The album was released by {band} and reached number one of the charts.
        {musician} wrote the song at the piano, and {band} played it on tour.
        At the concert {musician} sang a duet with {musician} before {band} went on stage.
        Critics praised the voice of {musician} on the new record of {band}.
    """,
    "politics": """
        President {politician} signed the law in {seat} after the vote of the senate.
        {politician} met {politician} at the {seat} to talk about taxes and the budget.
        In the election campaign {politician} promised lower taxes and a strong army in {seat}.
        The administration of {politician} was criticised by members of {seat}.
        {politician} gave a speech about foreign policy in {seat} before the election.
    """,
    "letters": """
        {writer} wrote a novel about childhood and received the {prize} for it.
        The essays of {writer} were translated, and critics compared them with those of {writer}.
        At the book fair {writer} read from {prize} and spoke about the language of {writer}.
        A publisher printed the letters of {writer} together with {prize}.
    """,
}  # fmt: skip

REDIRECTS = {
    "Bayern München": "FC Bayern Munich", "FCB": "Bayern München", "Der Kaiser": "Franz Beckenbauer",
    "Der Bomber": "Gerd Müller", "BVB": "Borussia Dortmund", "MJ (basketball)": "Michael Jordan",
    "Air Jordan": "MJ (basketball)", "Peach State": "Georgia (U.S. state)", "Sakartvelo": "Georgia (country)",
    "Republic of Georgia": "Sakartvelo", "City of Light": "Paris", "USA": "United States",
    "United States of America": "USA", "Evening star": "Venus", "Red Planet": "Mars", "Apple Computer": "Apple Inc.",
    "Java language": "Java (programming language)", "CPython": "Python (programming language)",
    "Farrokh Bulsara": "Freddie Mercury", "The Fab Four": "The Beatles", "Dubya": "George W. Bush",
    "Bush Senior": "George H. W. Bush", "Washington DC": "Washington, D.C.", "Ilium": "Troy",
    "Federal Republic of Germany": "Germany", "München": "Munich", "Hermes": "Mercury (mythology)",
    "Circular one": "Circular two", "Circular two": "Circular one", "Me myself": "Me myself",
    "Lost city": "Atlantis", "Muller": "Müller", "World football": "List of football clubs",
}  # fmt: skip

DISAMBIGUATIONS = {
    "Müller": ["Thomas Müller", "Gerd Müller", "Herta Müller", "Max Müller"],
    "Georgia": ["Georgia (country)", "Georgia (U.S. state)"],
    "Paris (disambiguation)": ["Paris", "Paris, Texas", "Paris (mythology)", "Paris Saint-Germain FC"],
    "Jordan (disambiguation)": ["Jordan", "Jordan River", "Michael Jordan"],
    "Mercury": ["Mercury (planet)", "Mercury (mythology)", "Freddie Mercury"],
    "Apple (disambiguation)": ["Apple", "Apple Inc.", "Apple Records"],
    "Java (disambiguation)": ["Java", "Java (programming language)", "Coffee"],
    "Bush": ["George W. Bush", "George H. W. Bush", "Kate Bush"],
    "Washington": ["Washington (state)", "Washington, D.C.", "George Washington"],
    "Mars (disambiguation)": ["Mars", "Mars (mythology)"],
    "Sun (disambiguation)": ["Sun", "Sun Microsystems"],
}  # fmt: skip

LISTS = {
    "List of football clubs": "club", "List of planets": "planet", "List of capitals": "city",
    "List of presidents": "politician",
}  # fmt: skip

RED = ("Stockholm", "Liverpool", "Oxford University", "Dead Sea", "Caspian Sea")


class World:
    """All entities, and pages made of sentences about them."""

    def __init__(self) -> None:
        self.random = random.Random(1)
        self.names: dict[str, list[str]] = {}
        self.topic: dict[str, str] = {}
        self.kind: dict[str, str] = {}
        self.what: dict[str, str] = {}
        self.members: dict[str, list[str]] = {}
        for topic, kinds in ENTITIES.items():
            for kind, lines in kinds.items():
                for line in lines.strip().splitlines():
                    known, what = line.strip().split(" | ")
                    title, _, names = known.partition(" = ")
                    self.names[title] = names.split("; ")
                    self.topic[title], self.kind[title], self.what[title] = topic, kind, what
                    self.members.setdefault(kind, []).append(title)

    def link(self, title: str, name: str | None = None) -> str:
        """A link in one of the ways people write them."""
        name = name or self.random.choice(self.names[title])
        if name == title:
            return f"[[{title}]]"
        if name == f"{title[:1].lower()}{title[1:]}s":
            return f"[[{name[:-1]}]]s"
        way = self.random.random()
        alias = [redirect for redirect, target in REDIRECTS.items() if target == title]
        if way < 0.05 and alias:
            return f"[[{self.random.choice(alias)}|{name}]]"
        if way < 0.1:
            return f"[[{title.replace(' ', '_')}#History|{name}]]"
        return f"[[{title}|{name}]]"

    def sentence(self, topic: str, about: str) -> str:
        """A sentence of a topic with links; slots of the page's own kind speak of its subject."""
        templates = SENTENCES[topic].strip().splitlines()
        own = [line for line in templates if f"{{{self.kind[about]}}}" in line]
        template = self.random.choice(own if own and self.random.random() < 0.7 else templates).strip()
        used = {about}

        def slot(match: re.Match[str]) -> str:
            kind = match[1]
            if kind == self.kind[about] and about not in seen:
                seen.add(about)
                return self.random.choice(self.names[about])
            title = self.random.choice([each for each in self.members[kind] if each not in used])
            used.add(title)
            return self.link(title)

        seen: set[str] = set()
        return re.sub(r"\{(\w+)\}", slot, template)

    def article(self, title: str) -> str:
        """Lead, sections and category of an article."""
        topic = self.topic[title]
        what = re.sub(r"\{\w+:([^}]+)\}", lambda match: self.link(match[1]), self.what[title])
        box = f"{{{{Infobox {topic}\n| name = {title}\n| image = [[File:{title}.jpg|thumb|A picture]]\n}}}}"
        lead = f"'''{title.partition(' (')[0]}''' is {what}.<ref>{{{{cite book|title=All about it}}}}</ref>"
        body = [" ".join(self.sentence(topic, title) for _ in range(4)) for _ in range(3)]
        see = self.random.choice(RED)
        return (
            f"{box}\n{lead} {body[0]}\n\n== History ==\n{body[1]}\n\n== Later ==\n{body[2]}\n"
            f"* See also [[{see}]]<!-- not written yet -->\n\n[[Category:{topic.capitalize()}]]"
        )

    def pages(self) -> list[tuple[str, int, str]]:
        """Title, namespace and wikitext of every page."""
        pages = [(title, 0, self.article(title)) for title in self.names]
        pages += [(title, 0, f"#REDIRECT [[{target}]]") for title, target in REDIRECTS.items()]
        for title, meanings in DISAMBIGUATIONS.items():
            name = title.partition(" (")[0]
            lines = "\n".join(f"* [[{each}]], {self.what[each].partition(' {')[0]}" for each in meanings)
            pages.append((title, 0, f"'''{name}''' may refer to:\n{lines}\n\n{{{{disambiguation}}}}"))
        for title, kind in LISTS.items():
            lines = "\n".join(f"* {self.link(each)}" for each in self.members[kind])
            pages.append((title, 0, f"This is a [[list]] of them.\n{lines}"))
        pages.append(("Template:Infobox football", 10, "{| class=infobox\n| {{{name}}} of [[Germany]]\n|}"))
        pages.append(("Category:Football", 14, "Pages about [[football]]."))
        self.random.shuffle(pages)
        return pages


HEAD = """<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.11/" version="0.11" xml:lang="en">
  <siteinfo>
    <sitename>World</sitename>
    <dbname>enwiki</dbname>
    <case>first-letter</case>
    <namespaces>
      <namespace key="-2" case="first-letter">Media</namespace>
      <namespace key="-1" case="first-letter">Special</namespace>
      <namespace key="0" case="first-letter" />
      <namespace key="1" case="first-letter">Talk</namespace>
      <namespace key="6" case="first-letter">File</namespace>
      <namespace key="10" case="first-letter">Template</namespace>
      <namespace key="14" case="first-letter">Category</namespace>
    </namespaces>
  </siteinfo>
"""


def page_xml(title: str, namespace: int, text: str, number: int) -> str:
    """One ``<page>`` element."""
    redirect = re.match(r"#REDIRECT \[\[(.*)\]\]", text)
    target = f'    <redirect title="{escape(redirect[1])}" />\n' if redirect else ""
    return (
        f"  <page>\n    <title>{escape(title)}</title>\n    <ns>{namespace}</ns>\n    <id>{number}</id>\n{target}"
        f"    <revision>\n      <id>{1000 + number}</id>\n      <timestamp>2025-01-01T00:00:00Z</timestamp>\n"
        f'      <text xml:space="preserve">{escape(text)}</text>\n    </revision>\n  </page>\n'
    )


def world_xml() -> str:
    """The whole dump."""
    pages = World().pages()
    return HEAD + "".join(page_xml(*page, number) for number, page in enumerate(pages, 1)) + "</mediawiki>\n"


if __name__ == "__main__":
    Path(__file__).with_name("world.xml").write_text(world_xml(), encoding="utf-8")
