"""OpenRefine's reconciliation: the shapes its clients expect, and joint linking of a column."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st


def reconcile(client, queries, method="POST", **more):
    fields = {"queries": json.dumps(queries), **more}
    if method == "GET":
        return client.get("/reconcile", params=fields)
    return client.post("/reconcile", data=fields)


def test_the_manifest_says_what_openrefine_needs(client):
    manifest = client.get("/reconcile").json()
    assert "0.2" in manifest["versions"]
    for key in ("name", "identifierSpace", "schemaSpace", "view", "preview", "suggest", "defaultTypes"):
        assert manifest[key]
    assert client.get("/reconcile").headers["access-control-allow-origin"] == "*"


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_a_column_is_linked_jointly(client, method):
    alone = reconcile(client, {"q0": {"query": "Mercury"}}, method).json()
    queries = {
        f"q{i}": {"query": name}
        for i, name in enumerate(["Mercury", "Freddie Mercury", "Brian May", "Queen"])
    }
    planets_column = {
        f"q{i}": {"query": name} for i, name in enumerate(["Mercury", "Venus", "Saturn", "Uranus", "Earth"])
    }
    first = lambda answer: {row["name"]: row["score"] for row in answer["q0"]["result"]}
    planets = first(reconcile(client, planets_column, method).json())
    assert planets["Mercury (planet)"] > first(alone)["Mercury (planet)"]
    assert set(reconcile(client, queries, method).json()) == set(queries)


def test_rows_have_the_fields_of_version_02(client):
    answer = reconcile(
        client, {"q0": {"query": "Bulls", "limit": 3}, "q1": {"query": "Qqxzv"}, "q2": {"query": ""}}
    )
    (row,) = answer.json()["q0"]["result"]
    assert row["id"] == "Chicago_Bulls" and row["name"] == "Chicago Bulls" and row["match"] is True
    assert 0 <= row["score"] <= 100 and row["type"][0]["id"]
    assert answer.json()["q1"] == answer.json()["q2"] == {"result": []}


def test_other_columns_of_the_row_are_context(client):
    basketball = [{"pid": "team", "v": "Bulls basketball player titles"}]
    river = [{"pid": "kind", "v": "river valley water"}]
    scores = []
    for properties in (basketball, river):
        answer = reconcile(client, {"q0": {"query": "Jordan", "properties": properties}}).json()
        scores.append({row["name"]: row["score"] for row in answer["q0"]["result"]})
    assert scores[0]["Michael Jordan"] > scores[1]["Michael Jordan"]


def test_the_reconciler_package_works_unchanged(address):
    pandas = pytest.importorskip("pandas")
    reconciler = pytest.importorskip("reconciler")
    column = pandas.Series(["Bulls", "Celtics", "Lakers"])
    table = reconciler.reconcile(column, reconciliation_endpoint=f"{address}/reconcile")
    assert table["name"].tolist() == ["Chicago Bulls", "Boston Celtics", "Los Angeles Lakers"]


def test_rows_say_what_they_are(client):
    rows = reconcile(client, {"q0": {"query": "Müller"}}).json()["q0"]["result"]
    told = {row["name"]: (row["type"], row.get("description")) for row in rows}
    assert told["Gerd Müller"] == (
        [{"id": "person", "name": "Person"}],
        "German footballer, called Der Bomber",
    )
    rows = reconcile(client, {"q0": {"query": "Bulls"}}).json()["q0"]["result"]
    assert rows[0]["type"] == [{"id": "entity", "name": "Entity"}] and "description" not in rows[0]


@pytest.mark.parametrize("kind", ["person", ["person"], ["person", "entity"], {"id": "person"}])
def test_cells_are_restricted_to_a_type(client, kind):
    queries = {"q0": {"query": "Jordan", "type": kind}, "q1": {"query": "Jordan", "type": "place"}}
    queries |= {"q2": {"query": "Jordan"}, "q3": {"query": "Jordan", "type": kind, "type_strict": "should"}}
    answer = reconcile(client, queries).json()
    names = {key: {row["name"] for row in value["result"]} for key, value in answer.items()}
    assert names["q0"] == {"Michael Jordan"} and names["q1"] == {"Jordan"}
    assert names["q2"] == names["q3"] > names["q0"] | names["q1"]


def test_unknown_types_are_refused(client):
    response = reconcile(client, {"q0": {"query": "Jordan", "type": "Q5"}})
    assert response.status_code == 422 and "person, organisation" in response.json()["error"]


def test_the_reconciler_package_restricts_by_type(address):
    pandas = pytest.importorskip("pandas")
    reconciler = pytest.importorskip("reconciler")
    column = pandas.Series(["Jordan", "Dortmund"])
    for kind, expected in (("place", "Dortmund"), ("organisation", "Borussia Dortmund")):
        endpoint = f"{address}/reconcile"
        table = reconciler.reconcile(column[1:], type_id=kind, reconciliation_endpoint=endpoint)
        assert table["name"].tolist() == [expected]


def test_types_are_suggested(client):
    manifest = client.get("/reconcile").json()
    assert {"person", "place", "entity"} <= {kind["id"] for kind in manifest["defaultTypes"]}
    place = manifest["suggest"]["type"]
    path = place["service_url"].removeprefix("http://testserver") + place["service_path"]
    ask = lambda prefix: client.get(path, params={"prefix": prefix}).json()["result"]
    assert ask("p") == [{"id": n, "name": n.capitalize()} for n in ("person", "place", "product")]
    assert ask("Pers") == [{"id": "person", "name": "Person"}] and ask("city") == []


def test_suggest_and_preview(client):
    rows = client.get("/reconcile/suggest/entity", params={"prefix": "Bulls"}).json()["result"]
    assert rows[0]["id"] == "Chicago_Bulls"
    page = client.get("/reconcile/preview", params={"id": "Chicago_Bulls"})
    assert "Chicago Bulls" in page.text and "links" in page.text
    assert client.get("/reconcile/preview", params={"id": "<script>"}).status_code == 404
    rows = client.get("/reconcile/suggest/entity", params={"prefix": "A Moveable Feast"}).json()["result"]
    assert rows[0]["notable"] == [{"id": "work", "name": "Work"}]
    assert rows[0]["description"] == "memoir by <Hemingway>"
    page = client.get("/reconcile/preview", params={"id": "A_Moveable_Feast"}).text
    assert "memoir by &lt;Hemingway&gt;" in page and "Work · " in page
    assert "https://en.wikipedia.org/wiki/A_Moveable_Feast" in page


def test_jsonp_only_with_the_name_of_a_function(client):
    answer = client.get("/reconcile", params={"callback": "refine.take"})
    assert answer.text.startswith("/**/refine.take(") and "javascript" in answer.headers["content-type"]
    assert client.get("/reconcile", params={"callback": "alert(1)//"}).status_code == 400


@pytest.mark.parametrize(
    "queries", ["", "{", "[]", "3", '{"q0": 3}', '{"q0": {"query": 3}}', "[" * 5000, "\ud800"]
)
def test_queries_that_cannot_be_read(client, queries):
    body = b"queries=" + queries.encode("utf-8", "surrogatepass")
    headers = {"content-type": "application/x-www-form-urlencoded"}
    response = client.post("/reconcile", content=body, headers=headers)
    assert response.status_code == 400 and response.json()["error"].endswith(".")


def test_too_many_cells(client):
    response = reconcile(client, {f"q{i}": {"query": "x"} for i in range(21)})
    assert response.status_code == 413 and "21 queries" in response.json()["error"]


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(codec="utf-8")),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=100)
@given(st.dictionaries(st.text(max_size=4), st.fixed_dictionaries({"query": VALUES}, optional={
    "limit": VALUES, "type": VALUES, "properties": VALUES}), max_size=4))  # fmt: skip
def test_any_queries_are_answered_or_refused(client, queries):
    assert reconcile(client, queries).status_code in (200, 400, 422)
