"""GERBIL's protocol, with pynif and rdflib as independent clients, and documents nobody should send."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from served import TEXT, spans_of

from pboh.evaluation.datasets import Dataset, read_dataset
from pboh.evaluation.datasets.nif import nif_documents, nif_graph
from pboh.evaluation.metrics import Answer, AnsweredDocument, judge
from pboh.evaluation.runner import answer_document
from pboh.formats.identifiers import title_of
from pboh.formats.turtle import quoted
from pboh.formats.types import BY_NAME
from pboh.service.protocols.nif import read

rdflib = pytest.importorskip("rdflib")
pynif = pytest.importorskip("pynif")

NIF = rdflib.Namespace("http://persistence.uni-leipzig.org/nlp2rdf/ontologies/nif-core#")
ITS = rdflib.Namespace("http://www.w3.org/2005/11/its/rdf#")
TURTLE = "application/x-turtle"
PREFIX = f"@prefix nif: <{NIF}> .\n"
CONTEXT = f'{PREFIX}<http://e.x/d#char=0,5> a nif:Context ; nif:isString "Bayern won" .\n'


def post(client, turtle, kind=f"{TURTLE}; charset=UTF-8"):
    headers = {"content-type": kind, "accept": TURTLE}
    return client.post(
        "/nif", content=turtle if isinstance(turtle, bytes) else turtle.encode(), headers=headers
    )


def document(text, spans, uri="http://example.org/doc"):
    """A document as pynif writes it."""
    collection = pynif.NIFCollection(uri="http://example.org/all")
    context = collection.add_context(uri=uri, mention=text)
    for start, end in spans:
        context.add_phrase(beginIndex=start, endIndex=end)
    return collection.dumps(format="turtle")


def test_pynif_gets_the_answers_of_the_linker(client, linker):
    response = post(client, document(TEXT, spans_of()))
    assert response.status_code == 200 and response.headers["content-type"].startswith(TURTLE)
    (context,) = pynif.NIFCollection.loads(response.text).contexts
    assert context.mention == TEXT
    found = sorted((p.beginIndex, p.endIndex, p.mention, title_of(p.taIdentRef)) for p in context.phrases)
    expected = linker.disambiguate(TEXT, spans_of())
    assert found == [(m.start, m.end, m.text, m.entity and m.entity.title) for m in expected]


def test_rdflib_reads_every_property(client, linker):
    graph = rdflib.Graph().parse(data=post(client, document(TEXT, spans_of())).text, format="turtle")
    (context,) = graph.subjects(NIF.isString, None)
    phrases = list(graph.subjects(ITS.taIdentRef, None))
    assert len(phrases) == len(spans_of())
    expected = {m.start: m.probability for m in linker.disambiguate(TEXT, spans_of())}
    for phrase in phrases:
        assert graph.value(phrase, NIF.referenceContext) == context
        start = graph.value(phrase, NIF.beginIndex).toPython()
        confidence = graph.value(phrase, ITS.taConfidence).toPython()
        assert confidence == pytest.approx(expected[start], abs=1e-5)


def test_phrases_have_the_class_of_their_entity(client, linker):
    (context,) = pynif.NIFCollection.loads(post(client, document(TEXT, spans_of())).text).contexts
    found = {phrase.beginIndex: [str(uri) for uri in phrase.taClassRef or []] for phrase in context.phrases}
    expected = {m.start: m.entity.type for m in linker.disambiguate(TEXT, spans_of())}
    assert {"person", "organisation", "unknown"} <= set(expected.values())
    for start, kind in expected.items():
        assert found[start] == ([] if kind == "unknown" else [BY_NAME[kind].uri])


def test_answers_are_restricted_by_parameters(client, linker):
    headers = {"content-type": TURTLE}
    ask = lambda query: client.post(f"/nif?{query}", content=document(TEXT, []).encode(), headers=headers)
    (context,) = pynif.NIFCollection.loads(ask("types=person,place").text).contexts
    expected = linker.link(TEXT, types=["person", "place"])
    assert sorted(p.beginIndex for p in context.phrases) == [m.start for m in expected]
    (context,) = pynif.NIFCollection.loads(ask("find=all").text).contexts
    every = linker.link(TEXT, mentions="all")
    assert sorted(p.beginIndex for p in context.phrases) == [m.start for m in every]
    assert "person, organisation" in ask("types=city").json()["error"]
    assert ask("find=some").status_code == 400


def test_without_phrases_they_are_found(client, linker):
    (context,) = pynif.NIFCollection.loads(post(client, document(TEXT, [])).text).contexts
    found = sorted((p.beginIndex, p.endIndex) for p in context.phrases)
    assert found == sorted((m.start, m.end) for m in linker.link(TEXT))


def test_an_unlinked_phrase_points_outside_every_knowledge_base(client):
    (context,) = pynif.NIFCollection.loads(post(client, document("Qqxzv <b>", [(0, 5)])).text).contexts
    (phrase,) = context.phrases
    assert title_of(phrase.taIdentRef) is None and "dbpedia" not in phrase.taIdentRef


def test_given_meanings_do_not_leak_into_the_answer(client):
    wrong = (
        f"{CONTEXT}<http://e.x/d#char=0,6> a nif:Phrase ; nif:referenceContext <http://e.x/d#char=0,5> ;\n"
    )
    wrong += (
        f"nif:beginIndex 0 ; nif:endIndex 6 ; <{ITS.taIdentRef}> <http://dbpedia.org/resource/Chicago> .\n"
    )
    assert (
        "FC_Bayern_Munich" in post(client, wrong).text and "resource/Chicago" not in post(client, wrong).text
    )


@pytest.mark.parametrize("units", ["code points", "UTF-16"])
def test_offsets_are_answered_in_the_units_they_came_in(client, units):
    text = "😀😀 Müller plays for Bayern 😀 and Dortmund."
    java = units == "UTF-16"
    size = (lambda s: len(s.encode("utf-16-le")) // 2) if java else len
    names = ("Müller", "Bayern", "Dortmund")
    spans = [(size(text[: text.index(n)]), size(text[: text.index(n)]) + size(n)) for n in names]
    turtle = f"{PREFIX}<http://e.x/d#char=0,{size(text)}> a nif:Context ; nif:isString {quoted(text)} ;\n"
    turtle += f'nif:beginIndex "0" ; nif:endIndex "{size(text)}" .\n'
    for (start, end), name in zip(spans, names, strict=True):
        turtle += (
            f"<http://e.x/d#char={start},{end}> nif:referenceContext <http://e.x/d#char=0,{size(text)}> ;\n"
        )
        turtle += f'nif:beginIndex "{start}" ; nif:endIndex "{end}" ; nif:anchorOf {quoted(name)} .\n'
    graph = rdflib.Graph().parse(data=post(client, turtle).text, format="turtle")
    found = {
        graph.value(s, NIF.anchorOf).toPython(): graph.value(s, NIF.beginIndex).toPython()
        for s in graph.subjects(ITS.taIdentRef, None)
    }
    assert found == dict(zip(names, (start for start, _ in spans), strict=True))
    without_end = turtle.replace(f'nif:endIndex "{size(text)}"', "a nif:String")
    assert "FC_Bayern_Munich" in post(client, without_end).text  # then the surface forms tell


@given(st.text(st.characters(codec="utf-8"), max_size=60))
def test_any_text_survives_the_way_there_and_back(text):
    (context,) = read(f"{PREFIX}<http://e.x/d> nif:isString {quoted(text)} .")
    assert context.text == text
    graph = rdflib.Graph().parse(data=f"<a:b> <a:c> {quoted(text)} .", format="turtle")
    assert [str(value) for value in graph.objects()] == [text]


TOKENS = st.sampled_from(
    [
        "<http://e.x/d>",
        "<http://e.x/d#char=0,6>",
        "nif:isString",
        "nif:beginIndex",
        "nif:endIndex",
        "nif:anchorOf",
        '"Bayern"',
        "nif:referenceContext",
        '"0"',
        '"6"',
        "-1",
        "9999999999999999999999",
        "1e400",
        "a",
        "nif:Context",
        "nif:Phrase",
        ".",
        ";",
        ",",
        "[",
        "]",
        "(",
        ")",
        "_:b",
        '"""',
        "<",
        "@prefix",
        "^^",
        "@en",
        "\\u0000",
        "#",
    ]
)


@settings(max_examples=150)
@given(st.lists(TOKENS, max_size=30), st.booleans())
def test_pieces_of_turtle_are_answered_or_refused(client, tokens, with_context):
    response = post(client, (CONTEXT if with_context else PREFIX) + " ".join(tokens))
    assert response.status_code in (200, 400, 413, 422), response.text
    if response.status_code != 200:
        assert response.json()["error"].endswith(".")


@settings(max_examples=60)
@given(st.binary(max_size=80))
def test_bytes_are_answered_or_refused(client, junk):
    assert post(client, CONTEXT.encode() + junk).status_code in (200, 400, 422)


PHRASE = (
    "<http://e.x/d#p> nif:referenceContext <http://e.x/d#char=0,5> ; nif:beginIndex {} ; nif:endIndex {} ."
)


@pytest.mark.parametrize(
    ("turtle", "status", "sentence"),
    [
        ("", 422, "no nif:Context"),
        ("this is not turtle", 400, "not Turtle"),
        (CONTEXT + PHRASE.format(4, 400), 422, "not inside the text"),
        (CONTEXT + PHRASE.format(-4, 4), 422, "not inside the text"),
        (CONTEXT + PHRASE.format(4, 4), 422, "is empty"),
        (CONTEXT + PHRASE.format('"x"', 4), 422, "not integers"),
        (CONTEXT + PHRASE.format("1" * 5000, 4), 422, "not inside the text"),
        (f'{PREFIX}_:b nif:isString "x" .', 422, "address of its own"),
        (f'{PREFIX}<http://e.x/a b> nif:isString "x" .', 422, "address of its own"),
        (CONTEXT + "[" * 50_000, 400, "not Turtle"),
        (CONTEXT + "<a:a> <a:b> " + "[ <a:c> " * 20_000 + "1" + "]" * 20_000 + " .", 200, ""),
        (CONTEXT + "<a:a> <a:b> " + "(" * 20_000 + ")" * 20_000 + " .", 200, ""),
        (CONTEXT + "<a:a> nif:referenceContext <a:b> . <a:b> nif:referenceContext <a:a> .", 200, ""),
        (CONTEXT + '"' * 100_001, 400, "not Turtle"),
        (CONTEXT + '<a:a> <a:b> """' + "x\n" * 100_000, 400, "not Turtle"),
        (PREFIX + "".join(f'<http://e.x/{i}> nif:isString "x" .\n' for i in range(101)), 413, "101 contexts"),
    ],
)
def test_hostile_turtle_gets_a_sentence(client, turtle, status, sentence):
    response = post(client, turtle)
    assert response.status_code == status, response.text[:300]
    if status != 200:
        assert sentence in response.json()["error"]


def test_wrong_types_and_encodings(client):
    assert post(client, CONTEXT, "application/ld+json").status_code == 415
    assert post(client, CONTEXT, "text/turtle; charset=latin-1").status_code == 415
    assert "not UTF-8" in post(client, CONTEXT.encode() + b"\xff").json()["error"]
    assert post(client, CONTEXT, "text/turtle").status_code == 200


def test_too_many_phrases(client):
    spans = "".join(
        f"<http://e.x/d#{i}> nif:referenceContext <http://e.x/d#char=0,5> ;"
        f"nif:beginIndex 0 ; nif:endIndex 6 .\n"
        for i in range(501)
    )
    assert "501 mentions" in post(client, CONTEXT + spans).json()["error"]


def rdflib_document(text, spans):
    """A document as an rdflib user writes it."""
    graph = rdflib.Graph()
    uri = rdflib.URIRef(f"http://example.org/doc#char=0,{len(text)}")
    graph.add((uri, rdflib.RDF.type, NIF.Context))
    graph.add((uri, NIF.isString, rdflib.Literal(text)))
    for start, end in spans:
        phrase = rdflib.URIRef(f"http://example.org/doc#char={start},{end}")
        graph.add((phrase, rdflib.RDF.type, NIF.Phrase))
        graph.add((phrase, NIF.referenceContext, uri))
        graph.add((phrase, NIF.anchorOf, rdflib.Literal(text[start:end])))
        graph.add((phrase, NIF.beginIndex, rdflib.Literal(start, datatype=rdflib.XSD.nonNegativeInteger)))
        graph.add((phrase, NIF.endIndex, rdflib.Literal(end, datatype=rdflib.XSD.nonNegativeInteger)))
    return graph.serialize(format="turtle")


def by_pynif(turtle):
    (context,) = pynif.NIFCollection.loads(turtle).contexts
    return {(p.beginIndex, p.endIndex): title_of(str(p.taIdentRef)) for p in context.phrases}


def by_rdflib(turtle):
    graph = rdflib.Graph().parse(data=turtle, format="turtle")
    return {
        tuple(graph.value(s, p).toPython() for p in (NIF.beginIndex, NIF.endIndex)): title_of(str(o))
        for s, o in graph.subject_objects(ITS.taIdentRef)
    }


def scored_by_clients(client, linker, dataset):
    """The dataset's documents sent by both clients; what comes back is judged as `pboh evaluate` judges."""
    judged = []
    for write, understand in ((document, by_pynif), (rdflib_document, by_rdflib)):
        answers = []
        for gold in dataset:
            spans = [(m.start, m.end) for m in gold.linked]
            if not spans:
                answers.append(AnsweredDocument(()))
                continue
            response = post(client, write(gold.text, spans))
            assert response.status_code == 200, (gold.id, response.text[:300])
            found = understand(response.text)
            answers.append(AnsweredDocument(tuple(Answer(found[span]) for span in spans)))
        judged.append(judge(dataset, answers, linker.resolve))
    return judged


def same_scores(client, linker, dataset):
    expected = judge(dataset, [answer_document(linker, gold) for gold in dataset], linker.resolve)
    for judgement in scored_by_clients(client, linker, dataset):
        assert judgement.correct.tolist() == expected.correct.tolist()
        assert judgement.answered.tolist() == expected.answered.tolist()


def test_what_comes_back_scores_what_evaluate_says(client, linker):
    gold = document(TEXT, spans_of()).replace(
        "nif:Phrase", "nif:Phrase ; itsrdf:taIdentRef <http://dbpedia.org/resource/Chicago_Bulls>"
    )
    gold = gold if "itsrdf:" in gold.split("\n\n")[0] else f"@prefix itsrdf: <{ITS}> .\n{gold}"
    same_scores(client, linker, Dataset("small", tuple(nif_documents(nif_graph(gold), []))))


@pytest.mark.shared
@pytest.mark.slow
@pytest.mark.parametrize("name", ["kore50-nif", "dbpedia-spotlight-nif", "Reuters-128", "RSS-500"])
def test_every_document_of_the_shared_datasets(client, linker, shared, name):
    same_scores(client, linker, read_dataset(shared / "benchmarks" / f"{name}.ttl"))
