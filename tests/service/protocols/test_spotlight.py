"""DBpedia Spotlight's endpoints, with its own clients installed from the registry and used unchanged."""

from xml.sax.saxutils import quoteattr

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from served import NAMES, TEXT, spans_of

from pboh.formats.identifiers import title_of

JSON = {"accept": "application/json"}


def annotation(text=TEXT, spans=None):
    forms = "".join(
        f"<surfaceForm name={quoteattr(text[start:end])} offset='{start}'/>"
        for start, end in spans or spans_of()
    )
    return f"<annotation text={quoteattr(text)}>{forms}</annotation>"


def resources(response):
    assert response.status_code == 200, response.text
    return response.json().get("Resources", [])


def test_pyspotlight_annotates(address, linker):
    spotlight = pytest.importorskip("spotlight")
    found = spotlight.annotate(f"{address}/rest/annotate", TEXT, confidence=0.0, support=0)
    expected = [m for m in linker.link(TEXT) if m.entity]
    assert [(r["surfaceForm"], r["offset"]) for r in found] == [(m.text, m.start) for m in expected]
    assert [title_of(r["URI"]) for r in found] == [m.entity.title for m in expected]
    assert all(isinstance(r["support"], int) and 0 <= r["similarityScore"] <= 1 for r in found)


def test_pyspotlight_shows_candidates(address):
    spotlight = pytest.importorskip("spotlight")
    forms = spotlight.candidates(f"{address}/rest/candidates", TEXT)
    by_name = {form["name"]: form["resource"] for form in forms}
    several = by_name["Müller"]
    assert {"Thomas Müller", "Gerd Müller"} <= {r["label"] for r in several}
    assert by_name["Bulls"]["uri"] == "Chicago_Bulls"  # one candidate is written without a list, as there


def test_pyspotlight_reports_nothing_found(address):
    spotlight = pytest.importorskip("spotlight")
    with pytest.raises(spotlight.SpotlightException, match="No Resources"):
        spotlight.annotate(f"{address}/rest/annotate", "nothing here")


@pytest.mark.slow
@pytest.mark.parametrize("process", ["annotate", "spot", "candidates"])
def test_spacy_dbpedia_spotlight_fills_the_document(address, linker, process):
    spacy = pytest.importorskip("spacy")
    pytest.importorskip("spacy_dbpedia_spotlight")
    nlp = spacy.blank("en")
    endpoint = {"dbpedia_rest_endpoint": f"{address}/rest", "process": process}
    nlp.add_pipe("dbpedia_spotlight", config=endpoint)
    text = "Bulls met Bayern."  # its parser of candidates takes only names with a single one
    document = nlp(text)
    assert [entity.text for entity in document.ents] == ["Bulls", "Bayern"]
    if process != "spot":
        assert [title_of(entity.kb_id_) for entity in document.ents] == ["Chicago Bulls", "FC Bayern Munich"]
    assert len(list(nlp.pipe([text] * 5))) == 5


def test_get_and_post_answer_alike(client):
    fields = {"text": TEXT, "confidence": "0.2", "support": "1"}
    for name in ("annotate", "candidates", "spot"):
        got = client.get(f"/rest/{name}", params=fields, headers=JSON)
        posted = client.post(f"/rest/{name}", data=fields, headers=JSON)
        assert got.status_code == 200 and got.json() == posted.json()


def test_disambiguate_resolves_the_given_surface_forms(client, linker):
    found = resources(client.post("/rest/disambiguate", data={"text": annotation()}, headers=JSON))
    expected = linker.disambiguate(TEXT, spans_of())
    assert [r["@surfaceForm"] for r in found] == list(NAMES)
    assert [title_of(r["@URI"]) for r in found] == [m.entity.title for m in expected]


def test_confidence_and_support_filter(client):
    ask = lambda **more: resources(client.get("/rest/annotate", params={"text": TEXT, **more}, headers=JSON))
    everything = ask()
    sure = ask(confidence="0.9")
    assert 0 < len(sure) < len(everything) and all(float(r["@similarityScore"]) >= 0.9 for r in sure)
    common = ask(support="20")
    assert common == [r for r in everything if int(r["@support"]) >= 20]


def test_pyspotlight_filters_by_type(address, linker):
    spotlight = pytest.importorskip("spotlight")
    ask = lambda **filters: spotlight.annotate(f"{address}/rest/annotate", TEXT, filters=filters)
    places = ask(types="DBpedia:Place,Schema:Organization", policy="whitelist")
    assert {title_of(r["URI"]): r["types"] for r in places}["FC Bayern Munich"] == (
        "Schema:Organization,DBpedia:Organisation"
    )
    expected = linker.link(TEXT, types=["place", "organisation"])
    assert [title_of(r["URI"]) for r in places] == [m.entity.title for m in expected]
    others = ask(types="DBpedia:Place,Schema:Organization", policy="blacklist")
    assert others and not {"place", "organisation"} & {linker.entity(title_of(r["URI"])).type for r in others}
    assert {"unknown"} < {linker.entity(title_of(r["URI"])).type for r in others}


def test_types_are_shown_and_said_again(client):
    fields = {"text": TEXT, "types": "http://dbpedia.org/ontology/Person", "policy": "blacklist"}
    answer = client.get("/rest/annotate", params=fields, headers=JSON).json()
    assert (answer["@types"], answer["@policy"]) == (fields["types"], "blacklist")
    fields = {"text": TEXT, "types": "person"}
    forms = client.get("/rest/candidates", params=fields, headers=JSON).json()["annotation"]["surfaceForm"]
    listed = [
        r
        for form in forms
        for r in ([form["resource"]] if isinstance(form["resource"], dict) else form["resource"])
    ]
    assert listed and {r["@types"] for r in listed} == {"Schema:Person,DBpedia:Person"}


def test_concepts_are_found_on_request(client, linker):
    found = resources(client.get("/rest/annotate", params={"text": TEXT, "find": "all"}, headers=JSON))
    assert [r["@surfaceForm"] for r in found] == [m.text for m in linker.link(TEXT, mentions="all")]


def test_all_values_are_strings_as_in_spotlight(client):
    answer = client.get("/rest/annotate", params={"text": TEXT}, headers=JSON).json()
    assert {"@text", "@confidence", "@support", "@types", "@sparql", "@policy", "Resources"} == set(answer)
    assert all(isinstance(value, str) for r in answer["Resources"] for value in r.values())


def test_html_by_accept_escapes_everything(client):
    text = '<script>alert(1)</script> Bayern & "Dortmund" \' <img src=x onerror=y>'
    response = client.get("/rest/annotate", params={"text": text}, headers={"accept": "text/html"})
    assert response.headers["content-type"].startswith("text/html")
    assert "<script" not in response.text and "<img" not in response.text
    assert '<a href="http://dbpedia.org/resource/FC_Bayern_Munich"' in response.text
    assert client.get("/rest/annotate", params={"text": text}).headers["content-type"].startswith("text/html")


@pytest.mark.parametrize(
    ("path", "fields", "status", "sentence"),
    [
        ("annotate", {}, 400, "text is missing"),
        ("annotate", {"text": ""}, 400, "text is missing"),
        ("annotate", {"url": "http://127.0.0.1/secret"}, 400, "fetches nothing"),
        (
            "annotate",
            {"text": "x", "types": "DBpedia:SoccerPlayer"},
            400,
            "There are Schema:Person, DBpedia:",
        ),
        ("annotate", {"text": "x", "types": "Person,"}, 400, "'Person' is not a type"),
        ("annotate", {"text": "x", "sparql": "SELECT"}, 400, "no triples"),
        ("annotate", {"text": "x", "find": "some"}, 400, "names or all"),
        ("annotate", {"text": "x", "confidence": "high"}, 400, "not a number"),
        ("annotate", {"text": "x", "confidence": "nan"}, 400, "not between"),
        ("annotate", {"text": "x", "confidence": "1.5"}, 400, "not between"),
        ("annotate", {"text": "x", "support": "-1"}, 400, "not between"),
        ("annotate", {"text": "x", "support": "inf"}, 400, "not between"),
        ("annotate", {"text": "x", "policy": "greylist"}, 400, "policy"),
        ("disambiguate", {"text": "plain"}, 400, "Spotlight's XML"),
        ("disambiguate", {"text": "<a/>"}, 422, "annotation"),
        ("disambiguate", {"text": annotation().replace("'0'", "'3'")}, 422, "is not at offset"),
        ("disambiguate", {"text": annotation().replace("'0'", "'x'")}, 422, "not a number"),
        (
            "disambiguate",
            {"text": "<!DOCTYPE a [<!ENTITY b SYSTEM 'file:///etc/passwd'>]><a text='&b;'/>"},
            400,
            "",
        ),
        ("disambiguate", {"text": "<a>" * 3000}, 400, "Spotlight's XML"),
    ],
)
def test_what_is_wrong_is_said_in_a_sentence(client, path, fields, status, sentence):
    for response in (
        client.get(f"/rest/{path}", params=fields, headers=JSON),
        client.post(f"/rest/{path}", data=fields, headers=JSON),
    ):
        assert response.status_code == status, response.text
        assert sentence in response.json()["error"]


def test_wrong_types_and_encodings(client):
    form = "application/x-www-form-urlencoded"
    assert client.post("/rest/spot", json={"text": "x"}).status_code == 415
    assert client.post("/rest/spot", files={"text": b"x"}).status_code == 415
    assert client.post("/rest/spot", content=b"text=%ff", headers={"content-type": form}).status_code == 400
    assert client.post("/rest/spot", content=b"text=\xff", headers={"content-type": form}).status_code == 400
    assert client.get("/rest/spot?text=%ff").status_code == 400
    assert client.get("/rest/spot?" + "&".join(["a=1"] * 200)).status_code == 400
    assert (
        client.get("/rest/annotate", params={"text": "x"}, headers={"accept": "image/png"}).status_code == 406
    )


FIELDS = st.dictionaries(
    st.sampled_from(["text", "confidence", "support", "policy", "types", "sparql", "url", "spotter"]),
    st.text(max_size=30) | st.sampled_from([annotation(), TEXT, "0.5", "1e3", "-0", "٣"]),
    max_size=6,
)


@settings(max_examples=150)
@given(st.sampled_from(["annotate", "disambiguate", "candidates", "spot"]), FIELDS, st.booleans())
def test_any_parameters_are_answered_or_refused(client, path, fields, get):
    fields = {key: value.encode("utf-8", "replace").decode() for key, value in fields.items()}
    if get:
        response = client.get(f"/rest/{path}", params=fields, headers=JSON)
    else:
        response = client.post(f"/rest/{path}", data=fields, headers=JSON)
    assert response.status_code in (200, 400, 413, 422), response.text
    assert response.status_code == 200 or response.json()["error"].endswith(".")
