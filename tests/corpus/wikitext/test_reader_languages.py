"""Pages as the Wikipedias of several languages write them: namespaces, trails, image words, elisions."""

from __future__ import annotations

import pytest

from pboh.corpus.languages import _tables
from pboh.corpus.titles import Site
from pboh.corpus.wikitext import plain_text

PAGES = {
    "de": (
        "[[Datei:Bus.jpg|mini|hochkant=1.2|Ein [[Omnibus|Bus]] in [[Köln]]]]\n"
        "Ein '''Omnibus''' ist ein [[Kraftfahrzeug]]; in [[Bus]]sen und [[Fähre]]nüberfahrten."
        "<ref>{{Literatur|Titel=[[X]]}}</ref>\n"
        "[[Bild:Alt.jpg|miniatur|links]]\n[[Kategorie:Omnibus]]\n[[en:Bus]]\n",
        "Ein Bus in Köln\nEin Omnibus ist ein Kraftfahrzeug; in Bussen und Fährenüberfahrten.",
        [("Bus", "Omnibus"), ("Köln", "Köln"), ("Kraftfahrzeug", "Kraftfahrzeug"), ("Bussen", "Bus"),
         ("Fährenüberfahrten", "Fähre")],
    ),
    "fr": (
        "[[Fichier:Bus.jpg|vignette|redresse=1.3|Un [[autobus]] à [[Paris]]]]\n"
        "L'''Iliade'' est une [[épopée]] d'[[Homère]]{{Sfn|X|2001}} ; "
        "l'''[[Odyssée]]'' suit, « les [[autobus]] ».\n"
        "[[Catégorie:Épopée]]",
        "Un autobus à Paris\nL'Iliade est une épopée d'Homère ; l'Odyssée suit, « les autobus ».",
        [("autobus", "Autobus"), ("Paris", "Paris"), ("épopée", "Épopée"), ("Homère", "Homère"),
         ("Odyssée", "Odyssée"), ("autobus", "Autobus")],
    ),
    "es": (
        "[[Archivo:Bus.jpg|miniatura|derecha|El [[autobús]]]]\nLas [[ciudad]]es y los [[niño]]ñes de "
        "[[España|la '''Península''']].\n[[Categoría:Ciudades]]",
        "El autobús\nLas ciudades y los niñoñes de la Península.",
        [("autobús", "Autobús"), ("ciudades", "Ciudad"), ("niñoñes", "Niño"), ("la Península", "España")],
    ),
    "it": (
        "[[File:Bus.jpg|miniatura|verticale=0.8|Un [[autobus]]]]\nNell'''[[Eneide]]'' di [[Virgilio]].",
        "Un autobus\nNell'Eneide di Virgilio.",
        [("autobus", "Autobus"), ("Eneide", "Eneide"), ("Virgilio", "Virgilio")],
    ),
    "ru": (
        "[[Файл:Bus.jpg|мини|слева|[[Автобус]] в [[Москва|Москве]]]]\n"
        "'''Авто́бус''' — безрельсовое [[транспортное средство]]; [[автобус]]ами.\n[[Категория:Автобусы]]",
        "Автобус в Москве\nАвто́бус — безрельсовое транспортное средство; автобусами.",
        [("Автобус", "Автобус"), ("Москве", "Москва"), ("транспортное средство", "Транспортное средство"),
         ("автобусами", "Автобус")],
    ),
    "pl": (
        "[[Plik:Bus.jpg|mały|lewo|[[Autobus]]]]\n[[autobus]]ów i [[Łódź|łódzk]]iej. [[Kategoria:Autobusy]]",
        "Autobus\nautobusów i łódzkiej.",
        [("Autobus", "Autobus"), ("autobusów", "Autobus"), ("łódzkiej", "Łódź")],
    ),
    "ja": (
        "[[ファイル:Bus.jpg|サムネイル|[[東京]]の[[バス]]]]\n"
        "[[バス (交通機関)|バス]]は[[日本]]の[[自動車]]である。[[Category:バス]]",
        "東京のバス\nバスは日本の自動車である。",
        [("東京", "東京"), ("バス", "バス"), ("バス", "バス (交通機関)"), ("日本", "日本"),
         ("自動車", "自動車")],
    ),
    "zh": (
        "[[文件:Bus.jpg|缩略图|左|[[北京]]的[[公共汽车]]]]\n"
        "-{zh-hans:计算机; zh-hant:電腦}-是[[机器]]abc，-{[[IBM]]}-。"
        "-{H|zh-cn:甲; zh-tw:乙}-[[Category:机器]]",
        "北京的公共汽车\n计算机是机器abc，IBM。",
        [("北京", "北京"), ("公共汽车", "公共汽车"), ("机器", "机器"), ("IBM", "IBM")],
    ),
    "ar": (
        "[[ملف:Bus.jpg|تصغير|يسار|[[حافلة]] في [[القاهرة]]]]\nال[[حافلة]] وال[[كتاب]]ين. [[تصنيف:حافلات]]",
        "حافلة في القاهرة\nالحافلة والكتابين.",
        [("حافلة", "حافلة"), ("القاهرة", "القاهرة"), ("حافلة", "حافلة"), ("كتابين", "كتاب")],
    ),
    "pt": (
        "[[Ficheiro:Bus.jpg|miniaturadaimagem|direita|Um [[autocarro]]]]\n"
        "[[nação|naç]]ões. [[Categoria:X]] [[Imagem:y.jpg]]",
        "Um autocarro\nnações.",
        [("autocarro", "Autocarro"), ("nações", "Nação")],
    ),
    "nl": (
        "[[Bestand:Bus.jpg|miniatuur|Een [[bus (voertuig)|bus]]]]\n"
        "Twee [[bus (voertuig)|]]sen; [[Categorie:Bus]]",
        "Een bus\nTwee bussen;",
        [("bus", "Bus (voertuig)"), ("bussen", "Bus (voertuig)")],
    ),
    "sv": (
        "[[Fil:Bus.jpg|miniatyr|höger|En [[buss]]]]\n[[buss]]arna på [[ö]]ärna. [[Kategori:Bussar]]",
        "En buss\nbussarna på öärna.",
        [("buss", "Buss"), ("bussarna", "Buss"), ("öärna", "Ö")],
    ),
    "uk": (
        "[[Файл:Bus.jpg|міні|праворуч|[[Автобус]]]]\n[[автобус]]ів у [[Київ|Києв]]і. [[Категорія:Автобуси]]",
        "Автобус\nавтобусів у Києві.",
        [("Автобус", "Автобус"), ("автобусів", "Автобус"), ("Києві", "Київ")],
    ),
    "tr": ("[[istanbul]]'da [[ılıca]]lar", "istanbul'da ılıcalar",
           [("istanbul", "İstanbul"), ("ılıcalar", "Ilıca")]),
    "ka": ("[[თბილისი]]ს", "თბილისის", [("თბილისის", "თბილისი")]),
}  # fmt: skip


@pytest.mark.parametrize("language", PAGES)
def test_page_of_a_language(language: str) -> None:
    wikitext, text, links = PAGES[language]
    got, places = plain_text(wikitext, Site.default(language))
    assert [(got[start:end], target) for start, end, target in places] == links
    assert got.strip() == text


def test_namespaces_come_from_the_dump() -> None:
    wikitext = "[[Skrá:a.jpg|thumb|Mynd af [[hestur|hesti]]]] [[Flokkur:Hestar]] [[Notandi:A|A]]"
    named = Site.from_siteinfo("is", "iswiki", namespaces={"Skrá": 6, "Flokkur": 14, "Notandi": 2, "": 0})
    text, links = plain_text(wikitext, named)
    assert (text, [target for *_, target in links]) == ("Mynd af hesti  A", ["Hestur"])
    assert (
        len(plain_text(wikitext, Site.default("is")).links) == 3
    )  # without the names all look like articles


@pytest.mark.parametrize("language", sorted(set(_tables()) - {"other", "interwiki"}))
def test_english_names_work_everywhere(language: str) -> None:
    wikitext = "[[File:a.jpg|thumb|x [[A]]]] [[Category:B]] [[Image:c.jpg|left]]"
    text, links = plain_text(wikitext, Site.default(language))
    assert (text.strip(), [target for *_, target in links]) == ("x A", ["A"])
