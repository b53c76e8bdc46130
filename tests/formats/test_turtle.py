from __future__ import annotations

from pathlib import Path

import pytest
import rdflib
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rdflib.compare import isomorphic

from pboh.formats.turtle import RDF, XSD, Blank, Literal, Term, TurtleError, parse_turtle, quoted


def literal(text: str, datatype: str | None, language: str | None) -> rdflib.Literal:
    """One spelling for equal values: xsd:string is the plain literal, 1.0E-3 is 0.001."""
    if datatype in {XSD + "integer", XSD + "decimal", XSD + "double"}:
        text = repr(float(text))
    if language or datatype in {None, XSD + "string"}:
        return rdflib.Literal(text, lang=language and language.lower())
    return rdflib.Literal(text, datatype=rdflib.URIRef(datatype or ""), normalize=False)


def as_rdflib(text: str, base: str | None = None) -> rdflib.Graph:
    """What our reader found, as a graph of the reference library."""

    def term(node: Term) -> rdflib.term.Node:
        if isinstance(node, Literal):
            return literal(node.text, node.datatype, node.language)
        return rdflib.BNode(f"b{node}") if isinstance(node, Blank) else rdflib.URIRef(node)

    graph = rdflib.Graph()
    for subject, predicate, value in parse_turtle(text, base):
        graph.add((term(subject), term(predicate), term(value)))
    return graph


def reference(text: str, base: str | None = None) -> rdflib.Graph:
    """The same text read by the reference library."""
    graph = rdflib.Graph()
    for s, p, o in rdflib.Graph().parse(data=text, format="turtle", publicID=base):
        is_literal = isinstance(o, rdflib.Literal)
        graph.add((s, p, literal(str(o), o.datatype and str(o.datatype), o.language) if is_literal else o))
    return graph


CASES = [
    "@prefix : <http://e.org/> . :a :b :c .",
    "PREFIX e: <http://e.org/>\nBASE <http://base.org/x/>\n<s> e:p <#frag>, <../up>, <> ; a e:T ; ; .",
    '@prefix e: <http://e.org/> . e:a.b e:p "x"@en-GB, """long "quoted" \n text""", \'q\', \'\'\'l\'q\'\'\'.',
    "@prefix e: <http://e.org/> . e:s e:p 1, -2.5, 3e4, .5, +7, 1.0E-3, true, false .",
    "@prefix e: <http://e.org/> . [] e:p [ e:q [ e:r 1 ] ; e:q2 ( 1 [ e:z 2 ] ( ) ( e:n ) ) ] .",
    "@prefix e: <http://e.org/> . [ e:p 1 ] . ( 1 2 ) e:p () . _:x e:p _:y.z . _:x e:q _:x.",
    r'@prefix e: <http://e.org/> . e:s e:p "tab\t quote\" \\ \u00e9 \U0001F600" . <http://e/\u00e9> e:p 1 .',
    r"@prefix e: <http://e.org/> . e:a\,b e:%20x e:c\.d . e:x:y e:p e:é .",
    "# comment\n@prefix e: <http://e.org/#> . # another\ne:s # in between\n e:p <http://e/#not-a-comment> .",
    '<http://a> <http://b> <http://c> .\n<http://a> <http://b> "n-triples"^^<http://t> .',
    "",
    "@prefix e: <http://e.org/> . e:s a e:a, e:true . e:a a <http://e.org/a> .",
]


@pytest.mark.parametrize("text", CASES)
def test_same_graph_as_the_reference_library(text: str) -> None:
    assert isomorphic(as_rdflib(text), reference(text))


def test_base_of_the_caller() -> None:
    text = "<a> <#b> <http://c.org/d> ."
    assert isomorphic(as_rdflib(text, "http://base.org/x"), reference(text, "http://base.org/x"))


def test_order_and_kinds() -> None:
    first, second = parse_turtle('<s> <p> "a"@en, 5 .')
    assert first == ("s", "p", Literal("a", RDF + "langString", "en"))
    assert second[2] == Literal("5", XSD + "integer")
    assert str(second[2]) == "5"


def test_an_escaped_full_stop_belongs_to_the_name() -> None:
    (triple,) = parse_turtle(r"@prefix e: <http://e/> . e:a e:b e:c\. .")
    assert triple[2] == "http://e/c."


def test_surrogate_pairs_are_one_character_and_halves_are_none() -> None:
    (triple,) = parse_turtle(r'<s> <p> "\ud83d\ude00" .')
    assert str(triple[2]) == "\U0001f600"
    with pytest.raises(TurtleError, match="surrogate"):
        list(parse_turtle(r'<s> <p> "\ud83d" .'))


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [
        ("<a> <b> .", 1, 9),
        ("<a> <b> <c>", 1, 12),
        ("<a> <b>\n  <c> <d> .", 2, 7),
        ('<a> <b> "open .\n', 1, 9),
        ("<a> e:b <c> .", 1, 5),
        ("<a> <b> [ <c> .", 1, 15),
        ("<a> <b> ( 1 ; 2 ) .", 1, 13),
        ("<a> 5 <c> .", 1, 5),
        ('"literal" <b> <c> .', 1, 1),
        ("<a> <b> true false .", 1, 14),
        ("@prefix e <http://e.org/> .", 1, 9),
        (r'<a> <b> "\q" .', 1, 10),
        (r'<a> <b> "\UFFFFFFFF" .', 1, 10),
        ("<a> <b> <c> ) .", 1, 13),
        ("{ <a> <b> <c> }", 1, 1),
    ],
)
def test_mistakes_are_located(text: str, line: int, column: int) -> None:
    with pytest.raises(TurtleError) as caught:
        list(parse_turtle(text))
    assert caught.value.where == f"line {line}, column {column}"


def test_depth_is_not_limited() -> None:
    depth = 20_000
    nested = "<s> <p> " + "[ <p> " * depth + "1" + " ]" * depth + " ."
    assert len(list(parse_turtle(nested))) == depth + 1
    assert len(list(parse_turtle("<s> <p> " + "( " * depth + ")" * depth + " ."))) > depth


@pytest.mark.parametrize(
    "start", ['"', '"""', "'", "<", "_:", "[" * 5, "a:", "1e", "\\", "# ", "....", '"""\\']
)
def test_a_missing_end_is_an_error_however_long(start: str) -> None:
    text = "<a> <b> " + start + "x.\\" * 100_000
    with pytest.raises(TurtleError):
        list(parse_turtle(text))


def test_prefixes_cannot_blow_a_text_up() -> None:
    bomb = f"@prefix e: <http://e.org/{'x' * 100_000}> .\n" + "e:a e:b e:c .\n" * 20_000
    with pytest.raises(TurtleError, match="expand"):
        list(parse_turtle(bomb))
    based = f"@base <http://e.org/{'x/' * 50_000}> .\n" + "<a> <b> <c> .\n" * 20_000
    with pytest.raises(TurtleError, match="expand"):
        list(parse_turtle(based))


IRIS = st.text("abcdefgh/#é", min_size=1, max_size=6).map(lambda path: f"<http://e.org/{path}>")
STRINGS = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
LITERALS = st.one_of(
    STRINGS.map(quoted),
    STRINGS.map(lambda text: quoted(text) + "@en"),
    STRINGS.map(lambda text: quoted(text) + "^^<http://t.org/x>"),
    st.integers(-999, 999).map(str),
    st.sampled_from(["1.5", "-2e3", "true", "false"]),
)
OBJECTS = st.recursive(
    st.one_of(IRIS, LITERALS, st.sampled_from(["_:a", "_:b1"])),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(lambda items: f"( {' '.join(items)} )"),
        st.tuples(IRIS, inner).map(lambda pair: f"[ {pair[0]} {pair[1]} ]"),
    ),
    max_leaves=6,
)
STATEMENTS = st.tuples(IRIS, IRIS, st.lists(OBJECTS, min_size=1, max_size=3)).map(
    lambda parts: f"{parts[0]} {parts[1]} {' , '.join(parts[2])} ."
)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(STATEMENTS, max_size=4).map("\n".join))
def test_generated_graphs(text: str) -> None:
    assert isomorphic(as_rdflib(text), reference(text))


@given(STRINGS)
def test_quoted_reads_back(text: str) -> None:
    (triple,) = parse_turtle(f"<s> <p> {quoted(text)} .")
    assert str(triple[2]) == text


@settings(max_examples=300)
@given(st.text(st.sampled_from(list("<>[]()\"'.;,@^_:ab1 \\\n#")), max_size=30))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        triples = list(parse_turtle(text))
    except TurtleError:
        return
    assert all(len(triple) == 3 for triple in triples)


@pytest.mark.shared
@pytest.mark.parametrize(
    "file", ["kore50-nif.ttl", "dbpedia-spotlight-nif.ttl", "Reuters-128.ttl", "RSS-500.ttl"]
)
def test_real_files(shared: Path, file: str) -> None:
    text = (shared / "benchmarks" / file).read_text(encoding="utf-8")
    assert set(as_rdflib(text)) == set(reference(text))  # no blank nodes in them


@pytest.mark.parametrize(
    "turtle",
    [
        "<a:s> <a:p> " + "<<( <a:a> <a:b> " * 100_000 + "1" + " )>>" * 100_000 + " .",
        "<a:s> <a:p> 'x' , <<( <a:a> <a:b> 1 )>> .",
        "<a:s> <a:p> <a:o> {| <a:a> 1 |} .",
        "<< <a:s> <a:p> 1 >> <a:q> 2 .",
        "@prefix p: <a:> . p:a\\'b p:c <<( p:a p:b 1 )>> , 'x' .",
        '<a:"s> <a:p> <<( <a:a> <a:b> 1 )>> , "x" .',
        '<a:s> <a:p> "x\ny" , <<( <a:a> <a:b> 1 )>> , "x" .',
        "<a:s> <a:p> 1 . # it's\r<a:s> <a:p> <<( <a:a> <a:b> 1 )>> , 'x' .",
    ],
)
def test_statements_about_statements_are_refused(turtle):
    """They are RDF 1.2, and nested deeply they would end the process."""
    with pytest.raises(TurtleError, match=r"RDF 1\.2"):
        list(parse_turtle(turtle))


@pytest.mark.parametrize("text", ["<<a>>", "<<", "'<<'", "{|", '"<<', "\\<<", "#<<"])
def test_angle_brackets_may_be_said(text):
    written = [
        f"<a:s> <a:p> {quoted(text)} .",
        f"<a:s> <a:p> {quoted(text)} . # <<( it's",
    ]
    if not set(text) & {"\\", "'"}:
        written += [f"<a:s> <a:p> '''{text}''' .", f"<a:s> <a:p> '{text}' ."]
    for turtle in written:
        [(_, _, value)] = parse_turtle(turtle)
        assert str(value) == text
