"""The JSON of `/v1`: the answers of the linker, unchanged, and a sentence for everything that is wrong."""

import msgspec
import pytest
from served import TEXT, mentions_of, spans_of

from pboh.formats.types import TYPES
from pboh.linker import load
from pboh.service.app import create_app
from pboh.service.bounded import BoundedLinker


def ask(client, path, **body):
    response = client.post(f"/v1/{path}", json=body)
    assert response.status_code == 200, response.text
    return response.json()


def refused(response, status):
    assert response.status_code == status, response.text
    sentence = response.json()["error"]
    assert sentence.endswith(".") and len(sentence) > 10 and "Traceback" not in sentence
    return sentence


def test_disambiguate_answers_what_the_linker_answers(client, linker):
    answer = ask(client, "disambiguate", text=TEXT, mentions=mentions_of())
    expected = linker.disambiguate(TEXT, spans_of()).to_dict()
    for row in answer["mentions"]:
        assert row["clamped"] is False and row["detection"] == 1.0
    assert answer == msgspec.json.decode(msgspec.json.encode(expected))


def test_the_answer_lists_as_many_candidates_as_asked_for(client):
    for wanted in (0, 1):
        rows = ask(client, "disambiguate", text=TEXT, mentions=mentions_of(), candidates=wanted)["mentions"]
        assert {len(row["candidates"]) for row in rows} == {wanted}


def test_a_clamped_mention_keeps_its_entity_and_steers_the_rest(client):
    text = "Mercury, Mars and Jupiter."
    spans = mentions_of(text, ("Mercury", "Mars", "Jupiter"))
    free = ask(client, "disambiguate", text=text, mentions=spans)["mentions"]
    assert [row["entity"] for row in free] == ["Mercury (planet)", "Mars", "Jupiter"]
    clamped = [{**spans[0], "entity": "Mercury (mythology)"}, *spans[1:]]
    steered = ask(client, "disambiguate", text=text, mentions=clamped)["mentions"]
    assert steered[0]["clamped"] and steered[0]["entity"] == "Mercury (mythology)"
    gods = [{c["entity"]: c["probability"] for c in rows[1]["candidates"]} for rows in (free, steered)]
    assert gods[1]["Mars (mythology)"] > gods[0]["Mars (mythology)"]


def test_link_finds_mentions_by_itself(client, linker):
    answer = ask(client, "link", text=TEXT)
    assert [(m["start"], m["end"]) for m in answer["mentions"]] == [
        (m.start, m.end) for m in linker.link(TEXT)
    ]
    assert "Chicago Bulls" in {row["entity"] for row in answer["mentions"]}


def test_a_threshold_leaves_doubtful_answers_out(client):
    everything = ask(client, "link", text=TEXT)["mentions"]
    sure = ask(client, "link", text=TEXT, threshold=0.9)["mentions"]
    assert 0 < len([row for row in sure if row["entity"]]) < len([row for row in everything if row["entity"]])


def test_offsets_count_code_points(client):
    text = "😀 Müller 𝒜 Bayern e\u0301"
    rows = ask(client, "disambiguate", text=text, mentions=mentions_of(text, ("Müller", "Bayern")))[
        "mentions"
    ]
    assert [row["text"] for row in rows] == ["Müller", "Bayern"]


@pytest.mark.parametrize("mentions", [[], mentions_of()[:1]])
def test_documents_with_no_or_one_mention(client, mentions):
    assert len(ask(client, "disambiguate", text=TEXT, mentions=mentions)["mentions"]) == len(mentions)
    graph = ask(client, "graph", text=TEXT, mentions=mentions)
    assert len(graph["mentions"]) == len(mentions) and graph["edges"] == []


def test_an_unknown_name_stays_unlinked(client):
    (row,) = ask(client, "disambiguate", text="Qqxzv", mentions=[{"start": 0, "end": 5}])["mentions"]
    assert row["entity"] is None and row["candidates"] == []


def test_a_batch_keeps_its_order_and_survives_a_bad_document(client):
    documents = [
        {"id": "a", "text": TEXT, "mentions": mentions_of()},
        {"id": "b", "text": "short", "mentions": [{"start": 3, "end": 99}]},
        {"id": "c", "text": TEXT},
    ]
    answers = ask(client, "batch", documents=documents)["documents"]
    assert [a.get("id") for a in answers] == ["a", None, "c"]
    assert "not inside the text" in answers[1]["error"]
    single = ask(client, "disambiguate", text=TEXT, mentions=mentions_of())
    assert answers[0] == {**single, "id": "a"}


def test_entities_by_title_redirect_or_underscores(client):
    found = client.get("/v1/entities/Chicago_Bulls").json()
    assert found["title"] == "Chicago Bulls" and found["links"] > 0 and found["documents"] > 0
    assert "Nobody" in refused(client.get("/v1/entities/Nobody/At all"), 404)


def test_search_by_name_puts_the_likeliest_first(client):
    titles = [e["title"] for e in client.get("/v1/search", params={"name": "Bulls"}).json()["entities"]]
    assert titles[0] == "Chicago Bulls"
    assert client.get("/v1/search", params={"name": "Qqxzv"}).json() == {"entities": []}


def test_similar_entities_come_nearest_first(client, linker):
    found = client.get("/v1/similar", params={"title": "chicago_Bulls", "most": 3}).json()["entities"]
    assert [e["similarity"] for e in found] == sorted((e["similarity"] for e in found), reverse=True)
    assert [(e["title"], e["similarity"]) for e in found] == [
        (entity.title, pytest.approx(cosine)) for entity, cosine in linker.similar("Chicago Bulls", 3)
    ]
    assert len(found) == 3 and "Chicago Bulls" not in {e["title"] for e in found}
    assert "Nobody" in refused(client.get("/v1/similar", params={"title": "Nobody"}), 404)
    for most in ("0", "101", "-1", "many", "1e9", "99999999999999999999", "٣"):
        assert "1 to 100" in refused(client.get("/v1/similar", params={"title": "Paris", "most": most}), 422)


def test_info_describes_the_model_without_paths_of_the_machine(client, linker, world_model):
    info = client.get("/v1/info").json()
    assert info["entities"] == linker.model.entities
    assert info["limits"]["mentions"] == 500
    assert str(world_model.parent) not in client.get("/v1/info").text


def test_answers_say_what_entities_are(client, linker):
    rows = ask(client, "disambiguate", text="Paris", mentions=[{"start": 0, "end": 5}])["mentions"]
    assert {name: rows[0][name] for name in linker.entity("Paris").to_dict()} == linker.entity(
        "Paris"
    ).to_dict()
    told = {c["entity"]: (c["type"], c["description"]) for c in rows[0]["candidates"]}
    assert told["Paris, Texas"] == ("place", "town in Texas")
    graph = ask(client, "graph", text="Paris", mentions=[{"start": 0, "end": 5}])
    assert graph["mentions"][0]["candidates"][0]["description"] == "capital of France"
    found = client.get("/v1/entities/Paris").json()
    assert found["type"] == "place" and found["description"] and found["url"] and found["id"] == "Q90"
    assert client.get("/v1/info").json()["types"] == list(TYPES)


def test_answers_are_restricted_by_type(client, linker):
    spans = mentions_of()
    for path, body in (
        ("disambiguate", {"mentions": spans}),
        ("graph", {"mentions": spans}),
        ("graph", {}),
        ("link", {}),
    ):
        rows = ask(client, path, text=TEXT, types=["person"], **body)["mentions"]
        kinds = {c["type"] for row in rows for c in row["candidates"]}
        assert kinds == {"person"}, path
    documents = [{"text": TEXT}, {"text": TEXT, "mentions": spans}]
    for answer in ask(client, "batch", documents=documents, types=["person"])["documents"]:
        assert {c["type"] for row in answer["mentions"] for c in row["candidates"]} == {"person"}
    at = next(k for k, span in enumerate(spans_of()) if TEXT[slice(*span)] == "Jordan")
    why = ask(client, "explain", text=TEXT, mentions=spans, mention=at, types=["person"])["explanations"]
    assert [e["entity"] for e in why] == ["Michael Jordan"]
    sentence = refused(client.post("/v1/link", json={"text": TEXT, "types": ["city"]}), 422)
    assert "'city' is not a type of entities" in sentence and "person, organisation, place" in sentence
    refused(client.post("/v1/link", json={"text": TEXT, "types": []}), 422)


def test_a_model_without_types_refuses_them(world_model, limits):
    from starlette.testclient import TestClient

    bounded = BoundedLinker(lambda: load(world_model), limits)
    bounded.load()
    with TestClient(create_app(bounded)) as plain:
        for path in ("/v1/link", "/rel"):
            sentence = refused(plain.post(path, json={"text": TEXT, "types": ["person"]}), 422)
            assert "does not know the types" in sentence and str(world_model) not in sentence
        assert plain.get("/v1/info").json()["types"] == []
        assert plain.get("/reconcile").json()["defaultTypes"] == [{"id": "entity", "name": "Entity"}]
        assert ask(plain, "link", text=TEXT)["mentions"][0]["type"] is None


def test_the_graph_holds_the_terms_and_every_round(client, linker):
    graph = ask(client, "graph", text=TEXT, mentions=mentions_of())
    answer = linker.disambiguate(TEXT, spans_of())
    assert [m["entity"] for m in graph["mentions"]] == [m.entity and m.entity.title for m in answer]
    for mention in graph["mentions"]:
        if mention["answer"] is not None:
            assert mention["candidates"][mention["answer"]]["entity"] == mention["entity"]
    assert len(graph["rounds"]) == answer.rounds + 1
    for shares in graph["rounds"]:
        assert all(abs(sum(row) - 1) < 0.01 for row in shares if row)
    final = [row.index(max(row)) for row in graph["rounds"][-1] if row]
    assert final == [m["answer"] for m in graph["mentions"] if m["candidates"]]


def test_edges_are_the_pairwise_terms_of_the_explanation(client):
    graph = ask(client, "graph", text=TEXT, mentions=mentions_of())
    answers = [m["answer"] for m in graph["mentions"]]
    drawn = {
        (e["a"], e["b"]): e["value"]
        for e in graph["edges"]
        if answers[e["a"]] == e["x"] and answers[e["b"]] == e["y"]
    }
    assert drawn
    explained = ask(client, "explain", text=TEXT, mentions=mentions_of(), mention=0)["explanations"]
    mine = next(e for e in explained if e["entity"] == graph["mentions"][0]["entity"])
    for term in mine["neighbours"]:
        above = drawn.get((0, term["mention"]), 0.0)
        assert term["value"] == pytest.approx(graph["unseen"] + above, abs=1e-5)
    values = [e["value"] for e in graph["edges"]]
    assert values == sorted(values, reverse=True)


def test_what_is_explained_is_what_was_linked(client):
    text = TEXT + " Then the striker met Jordan in Washington."
    for options in ({}, {"find": "all", "threshold": 0.0}, {"types": ["person"], "threshold": 0.0}):
        linked = ask(client, "link", text=text, candidates=50, **options)["mentions"]
        assert linked
        for k, mention in enumerate(linked):
            why = ask(client, "explain", text=text, mention=k, **options)["explanations"]
            assert {e["entity"]: pytest.approx(e["score"]) for e in why} == {
                c["entity"]: c["score"] for c in mention["candidates"]
            }
    assert "has 0" in refused(client.post("/v1/explain", json={"text": "nothing", "mention": 0}), 422)


def test_the_terms_of_an_explanation_add_up(client):
    for explained in ask(client, "explain", text=TEXT, mentions=mentions_of(), mention=0)["explanations"]:
        neighbours = sum(term["value"] for term in explained["neighbours"])
        words = sum(term["value"] for term in explained["words"])
        parts = words + explained["unmatched"] + explained["topic"]
        assert explained["context"] == pytest.approx(parts, abs=1e-4)
        total = explained["prior"] + explained["context"] + explained["coreference"] + neighbours
        assert total == pytest.approx(explained["score"], abs=1e-3)


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        ({"text": "abc", "mentions": [{"start": 2, "end": 9}]}, "not inside the text"),
        ({"text": "abc", "mentions": [{"start": 1, "end": 1}]}, "is empty"),
        ({"text": "abc", "mentions": [{"start": 2, "end": 1}]}, "not inside the text"),
        ({"text": "abcd", "mentions": [{"start": 0, "end": 3}, {"start": 2, "end": 4}]}, "overlap"),
        ({"text": "abc", "mentions": [{"start": "0", "end": 1}]}, "mentions.0.start"),
        ({"text": "abc", "mentions": [{"start": 0.5, "end": 1}]}, "mentions.0.start"),
        ({"text": "abc", "mentions": [{"start": True, "end": 1}]}, "mentions.0.start"),
        ({"text": "abc", "mentions": [{"start": -1, "end": 1}]}, "mentions.0.start"),
        ({"text": "abc", "mentions": [{"start": 0, "end": 10**40}]}, "mentions.0.end"),
        ({"text": "abc", "mentions": [{"start": 0, "end": 3, "entity": "Nobody at all"}]}, "Nobody"),
        ({"text": "abc", "mentions": [{"start": 0, "end": 3, "span": 3}]}, "span"),
        ({"text": 3, "mentions": []}, "text"),
        ({"text": None, "mentions": []}, "text"),
        ({"mentions": []}, "text"),
        ({"text": "abc"}, "mentions"),
        ([], ""),
        ("text", ""),
    ],
)
def test_what_is_wrong_is_said_in_a_sentence(client, body, sentence):
    assert sentence in refused(client.post("/v1/disambiguate", json=body), 422)


def test_overlapping_mentions_when_they_are_meant(client):
    mentions = [{"start": 0, "end": 6}, {"start": 0, "end": 17}]
    answer = ask(client, "disambiguate", text=TEXT, mentions=mentions, overlapping=True)
    assert len(answer["mentions"]) == 2


def test_a_mention_to_explain_must_exist(client):
    body = {"text": TEXT, "mentions": mentions_of(), "mention": 99}
    assert "no mention 99" in refused(client.post("/v1/explain", json=body), 422)


def test_addresses_and_methods_that_do_not_exist(client):
    refused(client.get("/v2/link"), 404)
    refused(client.get("/page/../app.py"), 404)
    refused(client.get("/page/%2e%2e%2fapp.py"), 404)
    response = client.get("/v1/link")
    refused(response, 405)
    assert response.headers["allow"] == "POST"
    refused(client.request("BREW", "/"), 405)


def test_health_and_readiness(client):
    assert client.get("/healthz").json() == {"status": "alive"}
    assert client.get("/readyz").json() == {"status": "ready"}


def test_every_answer_forbids_what_a_page_could_do_with_it(client):
    for path in ("/", "/v1/info", "/nothing", "/rest/spot?text=x"):
        headers = client.get(path).headers
        assert headers["x-content-type-options"] == "nosniff"
        assert "script-src 'self'" in headers["content-security-policy"]


def test_whole_numbers_may_be_written_with_a_point(client):
    body = b'{"text": "Bayern won", "mentions": [{"start": 0.0, "end": 6e0}], "candidates": %s}'
    headers = {"content-type": "application/json"}
    assert client.post("/v1/disambiguate", content=body % b"2.0", headers=headers).status_code == 200
    for wrong in (b"2.5", b"1e400", b"NaN"):
        refused = client.post("/v1/disambiguate", content=body % wrong, headers=headers)
        assert refused.status_code == 422 and refused.json()["error"].endswith(".")
