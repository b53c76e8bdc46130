"""Words too common to say anything about their neighbours, for the languages of the largest Wikipedias."""

from __future__ import annotations

from functools import cache


@cache
def stop_words(language: str) -> frozenset[str]:
    """Stop words of a language code such as ``de``; empty for a language without a list.

    Only words of two letters or more are listed, because words of one character never count. Word
    pieces cut at an apostrophe (``isn`` of ``isn't``) stand beside whole words.
    """
    return frozenset(_LISTS.get(language.partition("-")[0], "").split())


_LISTS = {
    "en": """
        about above across after afterwards again against all almost also although always am among an and
        another any anybody anyone anything are aren around as at away back be became because become becomes
        been before behind being below beside besides between beyond both but by can cannot could couldn did
        didn do does doesn doing don done down due during each either else enough even ever every everyone
        everything except few for from further get gets getting go goes going got had hadn has hasn have
        haven having he hence her here hers herself him himself his how however if in indeed inside instead
        into is isn it its itself just least less let like ll made make makes making many may me might mine
        more moreover most mostly much must my myself near neither never nevertheless no nobody none nor not
        nothing now of off often on once one only onto or other others otherwise our ours out outside over
        own per perhaps put quite rather re really said same say says see seem seemed seems several shall
        she should shouldn since so some somebody someone something sometimes somewhere still such than that
        the their theirs them themselves then there thereby therefore these they thing things this those
        though through throughout thus to together too toward towards under unless until up upon us use used
        uses using various ve very via was wasn we well went were weren what whatever when where whereas
        wherever whether which while who whoever whole whom whose why will with within without won would
        wouldn yes yet you your yours yourself two three first second later known called including
    """,
    "de": """
        ab aber alle allem allen aller alles als also am an ander andere anderem anderen anderer anderes
        auch auf aus außer bei beide beiden beim bereits bevor bin bis bisher bist da dabei dadurch dafür
        dagegen daher damals damit danach daneben dann daran darauf daraus darin darüber darum darunter das
        dass dasselbe davon davor dazu dein deine dem demselben den denn denselben der deren derselbe des
        desselben dessen dich die dies diese dieselbe diesem diesen dieser dieses dir doch dort du durch
        durfte dürfen ebenfalls ebenso eigene ein eine einem einen einer eines einige einigen einiger einmal
        er es etwa etwas euch euer für gegen gegenüber gemacht gewesen gibt ging hab habe haben hat hatte
        hatten hier hin hinter ich ihm ihn ihnen ihr ihre ihrem ihren ihrer ihres im immer in indem infolge
        insgesamt ins ist ja je jede jedem jeden jeder jedes jedoch jemand jene jenem jenen jener jetzt kam
        kann kein keine keinem keinen keiner können konnte konnten man manche mehr mehrere mein meine mit
        muss müssen musste mussten nach nachdem neben nicht nichts noch nun nur ob oder ohne oft schon sehr
        sei sein seine seinem seinen seiner seines seit seitdem selbst sich sie sind so sogar solche solchen
        soll sollte sollten sondern sonst sowie sowohl trotz über um und uns unser unter viel viele vielen
        vom von vor während wann war waren warum was weg wegen weil weiter weitere weiteren welche welchem
        welchen welcher welches wenig wenn wer werde werden wie wieder will wir wird wo wobei wurde wurden
        würde würden zu zum zur zwar zwei zwischen dr
    """,
    "fr": """
        afin ai ainsi alors après au aucun aucune aujourd auquel aussi autre autres aux auxquels avaient
        avait avant avec avoir ayant beaucoup bien car ce ceci cela celle celles celui cependant ces cet
        cette ceux chaque chez ci comme comment contre dans de depuis dernier derrière des dès deux devant
        doit donc dont du durant elle elles en encore enfin ensuite entre environ est et était étaient étant
        été être eu eux fait faire fois font furent fut hors hui ici il ils je jusqu jusque la là laquelle
        le lequel les lesquels leur leurs lors lorsqu lorsque lui ma mais malgré me même mêmes mes moi moins
        mon ne ni nombreux non nos notre nous on ont ou où outre par parce parfois parmi pas pendant peu
        peut peuvent plus plusieurs plutôt pour pourquoi près presque puis puisque qu quand quant que quel
        quelle quelles quelque quelques quels qui quoi sa sans sauf se selon sera ses si sien soi soit son
        sont sous souvent suite sur ta tandis tant te tel telle telles tels tes toi ton toujours tous tout
        toute toutefois toutes très trois trop tu un une uns va vers voici voir vos votre vous
    """,
    "es": """
        además al algo algún alguna algunas alguno algunos ante antes aquel aquella aquellas aquellos aquí
        así aun aún aunque bajo bien cada casi como cómo con contra cosa cual cuál cuales cualquier cuando
        cuanto cuya cuyo da de debe debido del desde después dicha dicho donde dos durante el él ella ellas
        ello ellos en entonces entre era eran eres es esa esas ese eso esos esta está estaba estaban están
        estar estas este esto estos fue fueron fuera gran ha haber había habían han hasta hay hace hacer
        hacia incluso junto la las le les lo los luego más me mediante mejor menos mi mientras misma mismas
        mismo mismos mucha muchas mucho muchos muy nada ni ningún ninguna no nos nosotros nuestra nuestro
        nunca os otra otras otro otros para parte pero poco por porque posteriormente pudo puede pueden pues
        que qué quien quién quienes se sea según ser será si sí sido siempre siendo sin sino sobre solo sólo
        son su sus suyo tal también tampoco tan tanto te tenía ti tiene tienen toda todas todavía todo todos
        tras tres tu tus un una unas uno unos usted ya yo
    """,
    "it": """
        abbia abbiamo ad agli ai al alcune alcuni alcuno alla alle allo allora altra altre altri altro anche
        ancora appena attraverso aveva avevano avere avendo ben bene che chi ci ciascuno ciò cioè col come
        con contro così cui da dai dagli dal dalla dalle dallo davanti degli dei del della delle dello
        dentro di dopo dove due dunque durante ebbe ecco ed egli era erano essa esse essendo essere essi
        esso fa fatto fino fra fu fuori furono già gli grazie ha hanno ho il in infatti infine insieme
        inoltre invece io la le lei li lo loro lui ma mai me meno mentre mi mia mio molta molte molti molto
        ne né negli nei nel nella nelle nello nessuno niente noi non nostra nostro nulla ogni ognuno oltre
        ora per perché però piuttosto più poco poi poiché presso prima proprio può qua qual quale quali
        qualche quando quanto quasi quegli quei quel quella quelle quelli quello questa queste questi questo
        qui quindi sarà se secondo sei sempre senza si sia siano sino solo sono sopra sotto sta stata state
        stati stato su sua sue sugli sui sul sulla sulle sullo suo suoi tale tali tanto te tra tramite tre
        troppo tu tua tutta tuttavia tutte tutti tutto un una uno venne vi viene voi vostra vostro
    """,
    "nl": """
        aan aangezien achter af al alle alleen alles als altijd ander andere anders behalve ben beneden bij
        bijna binnen boven buiten daar daarbij daardoor daarin daarna daarom daarvan daarvoor dan dat de
        deze die dit doch doen door dus echter een eens eerste elk elke en enige enkele er eraan erg ertoe
        ervan etc even gaat geen geweest geworden had hadden heb hebben heeft hem het hier hierbij hierdoor
        hij hoe hun iedere iemand iets ik in indien is ja je jij jullie kan kon konden kreeg kunnen langs
        later liet maar maakt maakte maken me meer meestal men met mij mijn min moest moet moeten na naar
        naast nadat niet niets niemand nog nogal nooit nu of om omdat onder ons onze ook op opnieuw over
        rond sinds sommige steeds te tegen ten ter terug terwijl the thans tijdens toch toe toen tot tussen
        twee uit uw vaak van vanaf vanwege veel verder via vier vol volgens voor vooral voordat waar waarbij
        waardoor waarin waarna waarom waarop waarvan wanneer want was waren wat we weer weg wegens wel welke
        werd werden wie wij wil worden wordt zal ze zeer zelf zelfs zich zichzelf zij zijn zo zoals zonder
        zou zouden zowel zulke
    """,
    "sv": """
        all alla allt alltid andra annan annat att av bara bland blev bli blir blivit både båda bör dag de
        del dem den denna deras dess dessa dessutom det detta dig din dina ditt dock du där därefter därför
        då efter eftersom ej eller emellan emot en endast enligt er ett ska flera fler fick finns fram från
        få får för före första genom ger gick gjorde gör göra ha hade han hans har hela heller henne hennes
        hon honom hos hur här icke igen in inga ingen inget innan inom inte istället ja jag kan kom kommer
        kring kunde kunna man med mellan men mer mest mig min mina mitt mot mycket många måste möjligt ned
        nog nu nya när någon något några och också ofta olika om oss på redan samma samt sedan ser sig sin
        sina sitt skulle som så sådan sådana sätt tar till tills tillsammans trots två under upp ur ut utan
        utom vad var vara varit varje vars vi via vid vidare vilka vilken vilket vill år även åt än ännu
        över
    """,
    "pl": """
        aby albo ale ależ ani az aż bardziej bardzo bez bo bowiem by byli bym być był była było były będzie
        będą cały ci cię co coraz coś czego czy czyli często dla dlaczego dlatego do dwa dwóch gdy gdyby
        gdyż gdzie go ich ile im inna inne inny innych iż ja jak jako jakie jakiś je jeden jedna jednak
        jednym jedno jego jej jemu jest jestem jeszcze jeśli jeżeli już każda każde każdy kiedy kiedyś kilka
        kto która które którego której który których którym którzy lat lecz lub ma mają mam mi między mimo
        mnie mogą moja moje może można mój mu musi my na nad nam nami nas nasz natomiast nawet nic nich nie
        niego niej nim nimi niż no nowe obecnie od oko około on ona one oni ono oraz pan po pod podczas
        pomimo ponad ponieważ potem powinien poza prawie przed przede przez przy raz również są sam sama się
        skąd sobie sobą sposób swoich swoje swoją swój ta tak taka taki takie także tam te tego tej temu ten
        też to tobie toteż trzy tu twój ty tych tylko tym tymi wam was we wiele wielu więc większość wraz
        wszystkich wszystko wśród za zanim zaś zawsze ze został została zostały że żeby
    """,
    "pt": """
        ainda algo alguém algum alguma algumas alguns além ambos ante antes ao aos apenas após aquela
        aquelas aquele aqueles aquilo as até através bem boa bom cada com como conforme contra contudo cuja
        cujo da das de dela delas dele deles depois desde dessa desse desta deste devido dever dia disso do
        dois dos durante duas ela elas ele eles em embora enquanto entanto então entre era eram essa essas
        esse esses esta está estão estar estava estavam estas este estes eu foi fora foram fosse grande há
        havia isso isto já la lá lhe lhes lo logo mais mas me meio melhor menos mesma mesmo meu minha muita
        muitas muito muitos na nada não nas nem nenhum nessa nesse nesta neste no nos nós nossa nosso nunca
        num numa onde os ou outra outras outro outros para parte pela pelas pelo pelos perante pode podem
        poderia pois por porém porque posteriormente pouco pôde primeiro própria próprio quais qual qualquer
        quando quanto quase que quem se seja sem sempre sendo ser será seria seu seus si sido sob sobre sua
        suas tal também tanto tão te tem têm tendo ter teve ti tinha tinham toda todas todavia todo todos
        três tu tudo um uma umas uns você vocês
    """,
    "ru": """
        без более больше будет будто будут бы был была были было быть вам вас ведь весь во вот все всё всего
        всей всем всех вскоре вы где да даже два для до другие другой других его ее её ей ему если есть еще
        ещё же за затем здесь из или им имел ими иногда их как какая какой когда которая которого которой
        котором которому которую которые который которым которых кто куда ли либо лишь лучше между меня мне
        многие много может можно мой моя мы на над надо наконец нас наш не него нее неё ней некоторые нельзя
        несколько нет ни нибудь никогда ним них ничего но ну об один одна однако одно около он она они оно
        опять от перед по под позже пока после потом потому почти при про против раз разве также сам сама
        само свое своего своей своём свои своих свой свою себе себя сейчас со совсем стал стала стали столь
        так такая такие такой там тебя тем теперь то тогда того тоже той только том тот три тут ты уже
        хорошо хотя чего чем через что чтоб чтобы чуть эта эти этим этих это этого этой этом этот эту
        является являются
    """,
    "uk": """
        або адже але без безпосередньо біля більш більше був була були було бути вам вас весь вже ви від він
        вона вони воно все всі всіх втім де для до дуже за завжди зі із інша інші інший їх їй їхній його
        йому коли коло крім кожен хто куди лише майже між мене мені має мають може можна мій ми на над нам
        нас наш не нема нею неї ним них ні ніж ніколи нічого однак один одна он опісля ось та так також
        такий такі там тепер ти тим тих то тобто тоді тож той тому тут усі цей це цих ці ця цього цьому
        через чи чого чому що щоб як яка яке який яким яких якщо які якої якого під після при про проте
        пізніше потім свій свого свої себе стала сам самий серед
    """,
}
