"""The tool set `notes`: its schemas and records, as clients of bookmark servers know them."""

import json
import re

import pytest
from mcp import Client

from tests.kits.notes.conftest import NOTES, NOW
from ubp.__main__ import main
from ubp.core.errors import BadArgumentError, CollectionError, UsageError
from ubp.server.protocol import create_server
from ubp.server.repositories import Repositories, ServedRepository
from ubp.server.scheduler import Scheduler
from ubp.server.subscriptions import Subscriptions
from ubp.server.tools.registry import allow_network, read_notes_of, select_tools
from ubp.server.tools.tool import call_tool
from ubp.workspace import Workspace

VOLATILE = {"content_notice", "token_estimate", "query_time_ms"}


@pytest.fixture
def notes(repository, monkeypatch, tmp_path):
    monkeypatch.setenv("UBP_COLLECTIONS", str(tmp_path / "collections"))
    for path, text in NOTES.items():
        repository.write(path, text)
    repository.commit()
    return repository


@pytest.fixture
def call(notes, valid):
    tools = {tool.name: tool for tool in select_tools(["notes"])}
    with Workspace.open(str(notes.root), clock=lambda: NOW) as workspace:

        def ask(name, **arguments):
            found = call_tool(tools[name], workspace, arguments)
            valid(tools[name].output_schema, found.record)
            assert "instructions" in found.text
            return {key: value for key, value in found.record.items() if key not in VOLATILE}

        yield ask


def properties(name):
    (tool,) = (tool for tool in select_tools(["notes"]) if tool.name == name)
    return tool.input_schema["properties"], tool.input_schema.get("required", [])


def test_arguments_have_the_names_that_clients_use():
    search, required = properties("search")
    assert required == ["query"]
    assert search["limit"]["default"] == 10
    assert {
        name: schema.get("enum") or schema["type"]
        for name, schema in search["filters"]["properties"].items()
    } == {
        "category": "string",
        "dateFrom": "string",
        "dateTo": "string",
        "sentiment": ["positive", "neutral", "negative"],
        "action": ["read_later", "try_tool", "reference", "share", "archive"],
    }
    assert properties("oss_report")[1] == ["repo_url"]
    assert properties("oss_report")[0]["verify_if_missing"]["default"] is False
    assert properties("recommend")[0].keys() == {"project_context", "tech_stack", "needs"}
    assert properties("recommend")[1] == ["project_context"]
    assert properties("ask")[0]["include_sources"]["default"] is True
    assert properties("trends")[0]["period"] == {
        "enum": ["1d", "1w", "2w", "1m", "3m"],
        "description": "its length",
        "default": "1w",
    }


def test_search_returns_notes_with_their_fields(call):
    found = call("search", query="patterns of RAG", filters={"category": "AI-Tools"}, limit=1)
    (result,) = found["results"]
    assert 0 < result.pop("relevance") <= 1
    assert result.pop("text").startswith("Retrieval with vectors")
    assert result == {
        "tweetId": "1",
        "path": "1.md",
        "title": "Patterns of RAG",
        "author": "@ai",
        "summary": "Five patterns.",
        "tags": ["rag", "llm"],
        "category": "AI-Tools",
        "sentiment": "positive",
        "action": "try_tool",
        "date": "2025-01-15",
        "url": "https://x.com/ai/status/1",
    }
    assert found["totalMatches"] >= 1
    empty = call("search", query="tomatoes", filters={"dateFrom": "2030-01-01"})
    assert empty == {"results": [], "totalMatches": 0}
    for name in ("dateFrom", "dateTo"):
        with pytest.raises(BadArgumentError, match=f"`{name}` of `filters` is not a date: soon"):
            call("search", query="tomatoes", filters={name: "soon"})


def test_notes_that_a_budget_leaves_out_are_counted(call):
    whole = call("search", query="LangChain OR CrewAI OR vector")
    cut = call("search", query="LangChain OR CrewAI OR vector", max_tokens=200)
    assert "truncated_count" not in whole
    assert 0 < cut["truncated_count"] == len(whole["results"]) - len(cut["results"])


def test_answer_is_verbatim_with_its_sources(call):
    found = call("ask", question="How many hours of sun do tomatoes need?")
    marked = found["sources"][0].pop("highlights")
    words = {found["answer"][start:end] for start, end in marked}
    assert {"Tomatoes", "hours", "sun"} <= words
    assert found["sources"][0] == {
        "number": 1,
        "tweetId": found["sources"][0]["tweetId"],
        "path": "garden/tomatoes.md",
        "title": "Tomatoes",
        "line_start": 1,
        "line_end": 3,
        "date": "2023-11-15",
        "text": found["answer"],
    }
    assert "They need six hours of sun." in found["answer"]
    assert 0.5 <= found["confidence"] <= 1
    without = call("ask", question="How many hours of sun do tomatoes need?", include_sources=False)
    assert without == {key: value for key, value in found.items() if key != "sources"}


def test_answer_states_only_what_a_budget_leaves_of_its_passages(notes, call):
    lines = [f"{number}. The train of lesson {number} trains a dragon.\n" for number in range(40)]
    notes.write("dragons.md", "# Dragons\n\n" + "".join(lines))
    for name in ("trains", "lessons"):
        notes.write(f"{name}.md", f"# {name}\n\nA lesson about a train and a dragon.\n")
    question = "Which lesson does train the dragon?"
    whole = call("ask", question=question)
    assert "truncated_count" not in whole
    assert "is_cut" not in whole
    for tokens in (200, 300, 400, 600, 1000):
        cut = call("ask", question=question, max_tokens=tokens)
        omitted = len(whole["sources"]) - len(cut["sources"])
        assert cut.get("truncated_count", 0) == omitted
        for source, entire in zip(cut["sources"], whole["sources"], strict=False):
            text = source["text"]
            assert all(text[start:end].strip() for start, end in source.get("highlights", ()))
            assert cut.get("is_cut", False) == (text != entire["text"])
            written = (notes.root / source["path"]).read_text().splitlines()
            stated = written[source["line_start"] - 1 : source["line_end"]]
            assert stated[-1].startswith(text.rstrip().splitlines()[-1])
    assert call("ask", question=question, max_tokens=200)["is_cut"]


def test_trends_compare_a_period_with_the_previous_one(call):
    found = call("trends")
    assert found.pop("topTopics")[0] == {
        "topic": "AI-Tools",
        "kind": "category",
        "count": 2,
        "before": 1,
        "trend": "stable",
        "line": [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2],
    }
    assert found.pop("notableBookmarks")[0] == {
        "tweetId": "1",
        "path": "1.md",
        "author": "@ai",
        "text": "Patterns of RAG",
        "reason": "About AI-Tools, llm, CrewAI, rag.",
        "url": "https://x.com/ai/status/1",
    }
    assert found == {
        "period": "1w",
        "dateRange": {"from": "2025-01-10", "to": "2025-01-16"},
        "notes": 2,
        "notes_before": 2,
        "summary": "2 notes, 2 in the period before. New: CrewAI (2), agents (1), rag (1). "
        "Fewer: Food (0, 1 before).",
        "newTools": [{"name": "CrewAI", "mentions": 2}, {"name": "vectordb", "mentions": 1}],
    }
    with pytest.raises(BadArgumentError):
        call("trends", until="soon")


def test_recommendations_are_tools_and_articles_with_their_notes(call):
    found = call("recommend", project_context="An assistant", needs=["agents", "sourdough"])
    tool = next(each for each in found["recommendations"] if each["type"] == "tool")
    said = '"CrewAI runs several agents. Its memory is a vector database."'
    assert tool == {
        "type": "tool",
        "name": "CrewAI",
        "reason": f'Meets "agents": {said}',
        "needs": ["agents"],
        "source_bookmarks": ["2"],
        "paths": ["2.md"],
        "oss_verified": False,
    }
    article = next(each for each in found["recommendations"] if each["type"] == "article")
    assert article == {
        "type": "article",
        "title": "Sourdough",
        "reason": 'Answers "sourdough": "Flour and water, 500 g each."',
        "needs": ["sourdough"],
        "source_bookmark": "4",
        "paths": ["4.md"],
    }


def test_missing_or_impossible_report_is_an_error(call):
    with pytest.raises(CollectionError) as caught:
        call("oss_report", repo_url="https://github.com/acme/app", verify_if_missing=True)
    assert "may not use the network" in caught.value.cause
    with pytest.raises(UsageError):
        call("oss_report", repo_url="https://127.0.0.1/acme/app")


def test_server_reads_the_collection_that_the_user_named(notes, repository_in, tmp_path):
    other = repository_in(tmp_path / "other")
    other.write("README.md", "# Code\n")
    other.commit()
    options = ["-C", str(other.root), "-q", "collections", "add", "saved", str(notes.root)]
    assert main([*options, "--yes"]) == 0
    tools = {tool.name: tool for tool in read_notes_of(select_tools(["notes", "docs"]), "saved")}
    with Workspace.open(str(other.root), clock=lambda: NOW) as workspace:
        assert call_tool(tools["trends"], workspace, {}).record["notes"] == 2
        assert tools["ubp_search"].default_collection == ""
        notes.write("5.md", NOTES["1.md"])
        notes.commit()
        assert call_tool(tools["trends"], workspace, {}).record["notes"] == 3


def test_imported_collection_is_read_once_until_it_is_synchronized(
    repository, tmp_path, monkeypatch
):
    monkeypatch.setenv("UBP_COLLECTIONS", str(tmp_path / "collections"))
    repository.write("README.md", "# Code\n")
    repository.commit()
    export = tmp_path / "saved.csv"
    export.write_text("url,title,time_added\nhttps://a.example/,Tomatoes,1736900000\n")
    run = ["-C", str(repository.root), "-q", "collections"]
    assert main([*run, "add", "saved", str(export), "--yes"]) == 0
    tools = {tool.name: tool for tool in read_notes_of(select_tools(["notes"]), "saved")}

    def found(workspace):
        return call_tool(tools["search"], workspace, {"query": "tomatoes"}).record["totalMatches"]

    with Workspace.open(str(repository.root)) as workspace:
        assert found(workspace) == 1
        first = workspace.kept_collection("saved").session
        assert found(workspace) == 1
        assert workspace.kept_collection("saved").session is first
        assert first.view() is first.view()
        export.write_text(export.read_text() + "https://b.example/,More tomatoes,1736900000\n")
        assert main([*run, "sync", "saved"]) == 0
        assert found(workspace) == 2


def test_network_is_used_only_by_reports_and_only_where_allowed():
    tools = select_tools(["notes"])
    assert not any(tool.writes for tool in tools)
    assert [tool.name for tool in allow_network(tools) if tool.writes] == ["oss_report"]
    assert not {"search", "trends"} & {tool.name for tool in select_tools()}


@pytest.mark.anyio
@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_both_eras_of_the_protocol_call_every_tool(notes, mode):
    scheduler = Scheduler(lambda progress: Workspace.open(str(notes.root), progress=progress))
    tools = allow_network(select_tools(["notes"]))
    repositories = Repositories((ServedRepository("notes", scheduler),), tools)
    server = create_server(repositories, Subscriptions(repositories), is_structured=True)
    repositories.start()
    calls = {
        "search": {"query": "tomatoes"},
        "ask": {"question": "sun for tomatoes"},
        "recommend": {"project_context": "agents"},
        "trends": {"period": "3m", "until": "2025-01-16"},
    }
    async with Client(server, mode=mode) as client:
        listed = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert listed.keys() == {*calls, "oss_report"}
        assert listed["oss_report"].annotations.open_world_hint
        assert not listed["search"].annotations.open_world_hint
        for name, arguments in calls.items():
            answer = await client.call_tool(name, arguments)
            assert not answer.is_error, answer.content
            assert json.dumps(answer.structured_content)
            assert re.search(r"\w", answer.content[0].text)
        missing = await client.call_tool("oss_report", {"repo_url": "acme/app"})
        assert missing.is_error
        assert "There is no report" in missing.content[0].text
    repositories.close()


def test_note_without_a_text_has_its_title_once(notes, call):
    notes.write("5.md", "---\nurl: https://a.example/\n---\n\n# Quokka\n\n<https://a.example/>\n")
    notes.commit()
    found = call("search", query="quokka", limit=1)
    assert found["results"][0]["text"] == "Quokka"
    tool = next(tool for tool in select_tools(["notes"]) if tool.name == "search")
    assert tool.text(found).count("Quokka") == 1
