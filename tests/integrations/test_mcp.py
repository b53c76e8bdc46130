"""The tools for language models, asked by the protocol's own client: in process, by a pipe, over HTTP."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
import time

import anyio
import pytest

pytest.importorskip("mcp.server.mcpserver", reason="the SDK of the Model Context Protocol is not installed")

from mcp import Client, StdioServerParameters

from pboh.integrations import mcp as tools
from pboh.integrations.mcp import make_server

TEXT = "Müller scored for Bayern in Paris, and Dortmund lost the Champions League. Paris was loud."
COMMAND = [sys.executable, "-c", "from pboh.cli import main; main()", "serve", "--mcp"]


@pytest.fixture(scope="module")
def server(linker):
    return make_server(linker, max_characters=500)


def call(server, tool, **arguments):
    """What a tool answers: its structured content, or the sentence of its error."""

    async def ask():
        async with Client(server) as client:
            return await client.call_tool(tool, arguments)

    result = anyio.run(ask)
    if result.is_error:
        return result.content[0].text
    assert json.loads(result.content[0].text) == result.structured_content  # for clients that read text
    return result.structured_content


def test_tools_describe_themselves(server):
    async def ask():
        async with Client(server) as client:
            return (await client.list_tools()).tools

    found = {tool.name: tool for tool in anyio.run(ask)}
    assert set(found) == {"link_text", "disambiguate", "look_up_entity", "explain"}
    for tool in found.values():
        assert len(tool.description) > 60
        assert "  " not in tool.description
        assert tool.annotations.read_only_hint
        assert tool.output_schema["properties"]
        for argument in tool.input_schema["properties"].values():
            assert argument["description"]
    assert found["explain"].input_schema["required"] == ["text", "name"]


def test_link_text(server, linker):
    mentions = call(server, "link_text", text=TEXT)["mentions"]
    document = linker.link(TEXT)
    assert [(m["name"], m["start"], m["end"], m["entity"]) for m in mentions] == [
        (m.text, m.start, m.end, m.entity.title) for m in document
    ]
    assert [m["probability"] for m in mentions] == [round(m.probability, 3) for m in document]
    assert all(m["reason"] is None and m["others"] == [] for m in mentions)
    explained = call(server, "link_text", text=TEXT, reasons=True, others=1)["mentions"]
    paris = next(m for m in explained if m["name"] == "Paris")
    assert re.match(
        r"\d+% of the uses of this name; words nearby: .*; other entities: .*FC Bayern", paris["reason"]
    )
    assert paris["others"][0]["entity"] != paris["entity"]
    assert call(server, "link_text", text=TEXT, threshold=1.0) == {"mentions": []}


def test_disambiguate_finds_names_in_the_text(server):
    names = ["Paris", "Bayern", "Paris", {"name": "Dortmund", "entity": "Dortmund"}]
    mentions = call(server, "disambiguate", text=TEXT, names=names)["mentions"]
    assert [m["start"] for m in mentions] == [28, 18, 75, 39]
    assert mentions[1]["entity"] == "FC Bayern Munich"
    assert (mentions[3]["entity"], mentions[3]["probability"]) == ("Dortmund", 1.0)
    [second] = call(server, "disambiguate", text=TEXT, names=[{"name": "Paris", "occurrence": 2}])["mentions"]
    assert second["start"] == 75


def test_answers_say_what_entities_are(typed_linker):
    server = make_server(typed_linker)
    [paris] = call(server, "disambiguate", text="Paris", names=["Paris"], others=9)["mentions"]
    assert (paris["type"], paris["description"], paris["id"]) == ("place", "capital of France", "Q90")
    assert "town in Texas" in {other["description"] for other in paris["others"]}
    known = call(server, "look_up_entity", title="Paris")
    assert (known["type"], known["description"]) == ("place", "capital of France")
    assert known["url"] == "https://en.wikipedia.org/wiki/Paris" and known["meanings"][0]["type"]
    why = call(server, "explain", text=TEXT, name="Bayern")
    assert (why["type"], why["description"]) == ("organisation", "football club in Munich")


def test_answers_are_restricted_by_type(typed_linker, server):
    typed = make_server(typed_linker)
    found = call(typed, "link_text", text=TEXT, types=["organisation"], threshold=0.0)["mentions"]
    assert found and {m["type"] for m in found} == {"organisation"}
    [mention] = call(typed, "disambiguate", text=TEXT, names=["Dortmund"], types=["place"])["mentions"]
    assert mention["entity"] == "Dortmund"
    assert "person, organisation" in call(typed, "link_text", text=TEXT, types=["city"])
    assert "does not know the types" in call(server, "link_text", text=TEXT, types=["place"])


def test_look_up_entity(server, linker):
    known = call(server, "look_up_entity", title="fC_Bayern Munich")
    assert known["entity"] == "FC Bayern Munich"
    assert known["links"] == linker.model.links(linker.entity("FC Bayern Munich").index) > 0
    name = call(server, "look_up_entity", title="Müller")
    assert name["entity"] is None
    assert {"Gerd Müller", "Thomas Müller", "Herta Müller"} <= {m["entity"] for m in name["meanings"]}
    assert call(server, "look_up_entity", title="Qqzzxx") == {
        "entity": None, "id": None, "type": None, "description": None, "url": None, "links": 0, "meanings": []
    }  # fmt: skip


def test_explain(server):
    why = call(server, "explain", text=TEXT, name="Paris")
    assert why["entity"] == "Paris Saint-Germain FC"
    assert "FC Bayern Munich" in {term["label"] for term in why["neighbours"]}
    assert why["words"][0]["value"] >= why["words"][-1]["value"]
    assert why["others"]
    other = call(server, "explain", text=TEXT, name="Paris", entity="Paris (mythology)")
    assert other["entity"] == "Paris (mythology)"
    assert other["score"] < why["score"]
    assert other["probability"] < why["probability"]
    linked = {m["name"]: m["probability"] for m in call(server, "link_text", text=TEXT)["mentions"]}
    for name, probability in linked.items():
        assert call(server, "explain", text=TEXT, name=name)["probability"] == probability
    nothing = call(server, "explain", text="Qqzzxx came.", name="Qqzzxx")
    assert nothing["entity"] is None
    assert "no entity" in nothing["summary"]


def test_mistakes_are_one_sentence(server):
    for tool, arguments, why in [
        ("link_text", {"text": "x" * 501}, "501 characters and the limit is 500"),
        ("link_text", {"text": 3}, "argument text: Input should be a valid string"),
        ("link_text", {}, "argument text: Field required"),
        ("link_text", {"text": "x", "others": 99}, "argument others"),
        ("disambiguate", {"text": TEXT, "names": ["Rome"]}, "'Rome' does not occur"),
        ("disambiguate", {"text": TEXT, "names": ["Bayern"] * 2}, "occurs only 1 times"),
        ("disambiguate", {"text": TEXT, "names": [""]}, "a name is empty"),
        ("disambiguate", {"text": TEXT, "names": ["Paris"] * 201}, "the limit is 200"),
        ("disambiguate", {"text": TEXT, "names": [{"name": "Paris", "entity": "Nowhere at all"}]}, "Nowhere"),
        ("look_up_entity", {"title": " "}, "the title is empty"),
        ("explain", {"text": TEXT, "name": "Paris", "entity": "Mercury (planet)"}, "not among the meanings"),
        ("explain", {"text": TEXT, "name": "Paris", "entity": "Qqzzxx"}, "no entity 'Qqzzxx'"),
        ("nothing", {}, "Unknown tool"),
    ]:
        error = call(server, tool, **arguments)
        assert why in error, error
        assert "\n" not in error
        assert "Traceback" not in error


def test_defects_stay_on_the_server(server, linker, monkeypatch):
    monkeypatch.setattr(type(linker), "link", lambda *_, **__: 1 / 0)
    answer = call(server, "link_text", text=TEXT)
    assert "a defect of the server" in answer
    assert "zero" not in answer


@pytest.mark.slow
def test_over_a_pipe(world_model):
    """The client starts the command; what libraries print does not disturb the protocol."""
    noisy = (
        "import os, pboh.linker as it; real = it.Linker.link\n"
        "it.Linker.link = lambda *a, **k: (print('noise'), os.system('echo noise'), real(*a, **k))[2]\n"
    )
    for script in (COMMAND[2], noisy + COMMAND[2]):
        arguments = ["-c", script, "serve", "--mcp", "stdio", "--model", str(world_model)]
        parameters = StdioServerParameters(command=sys.executable, args=arguments, env={**os.environ})
        found = call(parameters, "link_text", text=TEXT)
        assert "FC Bayern Munich" in {m["entity"] for m in found["mentions"]}


@pytest.mark.slow
def test_over_http(world_model):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    arguments = ["http", "--model", str(world_model), "--port", str(port)]
    with subprocess.Popen([*COMMAND, *arguments], stderr=subprocess.PIPE, text=True) as running:
        try:
            for _ in range(600):
                with socket.socket() as client:
                    if client.connect_ex(("127.0.0.1", port)) == 0 or running.poll() is not None:
                        break
                time.sleep(0.1)
            found = call(f"http://127.0.0.1:{port}/mcp", "look_up_entity", title="FC Bayern Munich")
            assert found["entity"] == "FC Bayern Munich"
            taken = subprocess.run([*COMMAND, *arguments], capture_output=True, text=True, check=False)
            assert taken.returncode == 1
            assert f"cannot listen on 127.0.0.1 port {port}" in " ".join(taken.stderr.split())
            with socket.create_connection(("127.0.0.1", port)) as rebinding:  # a page of another site
                headers = b"Content-Type: application/json\r\nContent-Length: 0\r\n\r\n"
                rebinding.sendall(b"POST /mcp HTTP/1.1\r\nHost: evil.example\r\n" + headers)
                assert b" 421 " in rebinding.recv(100)
        finally:
            running.terminate()


def test_a_missing_model_is_one_sentence(tmp_path):
    run = subprocess.run(
        [*COMMAND, "stdio", "--model", str(tmp_path / "none")], capture_output=True, text=True, check=False
    )
    assert run.returncode == 1
    assert run.stdout == ""
    assert "there is no model folder here" in run.stderr
    assert "Traceback" not in run.stderr


def test_texts_have_a_limit_by_default():
    assert tools.MAX_CHARACTERS == 20_000
