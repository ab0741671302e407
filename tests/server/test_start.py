"""The first minute: pasted from `ubp init`, in a clone without an index, from any folder."""

import json
import os
import shlex
import sys
from pathlib import Path

import anyio
import pytest
from mcp import Client, StdioServerParameters

from ubp.__main__ import main

pytestmark = pytest.mark.anyio

PAGES = 350  # more than are read while others wait


@pytest.fixture
def command(repository, capsys, monkeypatch):
    """What the snippet of `ubp init` for a program without a shell starts."""
    monkeypatch.setattr(sys, "argv", [str(Path(sys.executable).with_name("ubp"))])
    main(["-C", str(repository.root), "init", "--yes", "--json"])
    snippets = {
        snippet["name"]: snippet["text"]
        for snippet in json.loads(capsys.readouterr().out)["snippets"]
    }
    desktop = json.loads(snippets["claude-desktop"])["mcpServers"]["ubp"]
    assert shlex.split(snippets["claude-code"])[5:] == ["ubp", "serve"]
    return [desktop["command"], *desktop["args"]]


@pytest.fixture
def cold(repository):
    """A repository of some size without an index."""
    for number in range(PAGES):
        words = " ".join(f"word{number * step % 997}" for step in range(1, 100))
        repository.write(f"docs/{number}.md", f"# Page {number}\n\n[[{number - 1}]] {words}\n")
    repository.commit()
    return repository


async def test_first_answer_is_right_and_does_not_delay_others(command, cold, isolated_environment):
    reports = []

    async def progress(done, total, step):
        reports.append((done, total, step))

    server = StdioServerParameters(
        command=command[0],
        args=[*command[1:], "--output-schema"],
        cwd=isolated_environment,
        env=dict(os.environ),
    )
    async with Client(server) as client, anyio.create_task_group() as group:
        answers, order = {}, []

        async def ask(tool, **given):
            answer = await client.call_tool(tool, given, progress_callback=progress)
            answers[tool] = answer.structured_content
            order.append(tool)

        group.start_soon(lambda: ask("ubp_get_page", filepath="docs/7.md"))
        group.start_soon(lambda: ask("ubp_fulltext_search", query="word996"))
        await anyio.sleep(0.05)
        assert len((await client.list_tools()).tools) > 3
        order.append("list")
    assert order[-1] != "list"
    assert [backlink["filepath"] for backlink in answers["ubp_get_page"]["backlinks"]] == [
        "docs/8.md"
    ]
    paths = {result["filepath"] for result in answers["ubp_fulltext_search"]["results"]}
    assert paths
    for path in paths:
        assert "word996 " in (cold.root / path).read_text() + " "
    assert reports
    steps = {"Reading pages", "Reading links and words", "Reading history"}
    assert {step for _, _, step in reports} <= steps


async def test_server_outside_a_repository_says_so_until_there_is_one(
    tmp_path, isolated_environment, new_repository
):
    server = StdioServerParameters(
        command=sys.executable,
        args=["-m", "ubp", "--quiet", "-C", str(tmp_path / "later"), "serve"],
        cwd=isolated_environment,
        env=dict(os.environ),
    )
    (tmp_path / "later").mkdir()
    async with Client(server) as client:
        assert (await client.list_tools()).tools
        answer = await client.call_tool("ubp_list_pages", {})
        assert answer.is_error
        assert "later is not in a Git repository." in answer.content[0].text
        (tmp_path / "later").rmdir()
        repository = new_repository("later")
        repository.write("a.md", "# A\n")
        repository.commit()
        answer = await client.call_tool("ubp_list_pages", {})
        assert answer.content[0].text.startswith("1 page.")


async def test_server_whose_tools_all_read_one_collection_needs_no_repository(
    tmp_path, isolated_environment, monkeypatch
):
    monkeypatch.setenv("UBP_COLLECTIONS", str(tmp_path / "collections"))
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "safe.bareRepository")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", "explicit")
    export = tmp_path / "saved.csv"
    export.write_text("url,title,time_added\nhttps://a.example/,Tomatoes,1736900000\n")
    outside = ["-C", str(tmp_path), "-q"]
    assert main([*outside, "collections", "add", "saved", str(export), "--yes"]) == 0
    server = StdioServerParameters(
        command=sys.executable,
        args=["-m", "ubp", *outside, "serve", "--toolsets", "notes", "--notes", "saved"],
        cwd=isolated_environment,
        env=dict(os.environ),
    )
    async with Client(server) as client:
        answer = await client.call_tool("search", {"query": "tomatoes"})
        assert answer.content[0].text.startswith("1 note")
    serve = ["serve", "--toolsets", "notes", "--notes", "other"]
    assert main([*outside, *serve]) == 2
