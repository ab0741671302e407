"""The tool set `rag` as a client sees it, in both eras of the protocol.

`UPDATE_GOLDEN=1` writes the answers that are expected; read the difference.
"""

import json
import os
import re
from functools import partial
from pathlib import Path

import jsonschema
import pytest
from mcp import Client, MCPError

from ubp.frame.budget import TokenLimit, count_tokens
from ubp.kits.rag.projects import read_settings
from ubp.kits.rag.rag_search import fit
from ubp.server.protocol import create_server
from ubp.server.repositories import Repositories, ServedRepository
from ubp.server.scheduler import Scheduler
from ubp.server.subscriptions import Subscriptions
from ubp.server.tools.registry import OPTIONAL_TOOLSETS, select_tools
from ubp.workspace import Workspace

pytestmark = pytest.mark.anyio

GOLDEN = Path(__file__).with_name("rag_golden.json")
AUTH = '"""Log people in."""\n\n\ndef check_password(name, password):\n    """Compare hashes."""\n'
DAY = 86_400


class Clock:
    """A clock that tests set."""

    now = 1_800_000_000.0

    def __call__(self):
        return self.now


class Room:
    """A served repository, a folder beside it, and a client."""

    def __init__(self, client, clock, repository, papers, tools):
        self.client = client
        self.clock = clock
        self.repository = repository
        self.papers = papers
        self.validators = {
            tool.name: jsonschema.Draft202012Validator(tool.output_schema) for tool in tools
        }

    async def call(self, tool, **arguments):
        """Call a tool and return its record, which must be valid and the same as its text."""
        answer = await self.client.call_tool(tool, arguments)
        assert not answer.is_error, answer.content[0].text
        record = dict(answer.structured_content)
        self.validators[tool].validate(record)
        assert json.loads(answer.content[0].text) == record
        for fact in ("content_notice", "token_estimate", "query_time_ms"):
            record.pop(fact)
        for fact in ("search_time_ms", "time_taken_ms"):
            if fact in record:
                assert record.pop(fact) >= 0
        return record

    async def fail(self, tool, **arguments):
        """Call a tool that must fail, and return the error that its result is."""
        answer = await self.client.call_tool(tool, arguments)
        assert answer.is_error
        assert json.loads(answer.content[0].text) == answer.structured_content
        assert answer.structured_content["success"] is False
        return answer.structured_content

    async def read(self, uri):
        """Read a resource."""
        (contents,) = (await self.client.read_resource(uri)).contents
        assert contents.mime_type == "application/json"
        record = json.loads(contents.text)
        assert "never instructions" in record.pop("content_notice")
        return record


@pytest.fixture(params=["auto", "legacy"])
async def room(request, repository, tmp_path, monkeypatch):
    monkeypatch.setenv("UBP_COLLECTIONS", str(tmp_path / "collections"))
    papers = tmp_path / "papers"
    papers.mkdir()
    config = tmp_path / "rag.yaml"
    config.write_text("roots: [papers]\n")
    monkeypatch.setenv("RAG_CONFIG_PATH", str(config))
    repository.write("src/auth.py", AUTH)
    repository.write(
        "docs/auth.md",
        "---\ncategory: design\ntags: [security]\ndate: 2026-01-15\n"
        "source_refs: [src/auth.py]\n---\n# Authentication\n\n"
        "A password is compared with its hash.\n",
    )
    repository.write("docs/cake.md", "---\ncategory: food\n---\n# Cake\n\nBake a cake.\n")
    repository.commit()
    (papers / "intro.md").write_text("# Intro\n\nQuinces are hard fruit.\n")
    (papers / "page.html").write_text("<title>Page</title><h1>Page</h1><p>About medlars.</p>")
    clock = Clock()
    tools = select_tools(["rag"])

    def open_workspace(progress):
        return Workspace.open(str(repository.root), progress=progress, clock=clock)

    repositories = Repositories([ServedRepository("project", Scheduler(open_workspace))], tools)
    server = create_server(repositories, Subscriptions(repositories), is_structured=True)
    repositories.start()
    async with Client(server, mode=request.param) as client:
        yield Room(client, clock, repository, papers, tools)
    repositories.close()


def masked(value):
    """Return a value without what differs from run to run.

    Digests of temporary folders, ids, and scores, which depend on the words of such paths.
    """
    text = json.dumps(value, ensure_ascii=False)
    text = re.sub(r'"score": (0\.\d+|1\.0)', '"score": "0 to 1"', text)
    text = re.sub(r"papers-[0-9a-f]{8}", "papers-DIGEST", text)
    text = re.sub(r"[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}", "ID", text)
    return json.loads(re.sub(r"\b[0-9a-f]{40}\b", "COMMIT", text))


async def test_tools_resources_and_prompts_answer_as_expected(room):
    seen = {}
    call, read = room.call, room.read
    name = room.repository.root.name
    seen["rag_index in place"] = await call("rag_index", path="docs/auth.md")
    seen["rag_index a folder"] = await call(
        "rag_index",
        path=str(room.papers),
        project="kb",
        recursive=True,
        metadata={"category": "fruit", "tags": ["a", "b"]},
    )
    external = {
        "source_type": "web",
        "content": "# Loquats\n\nLoquats are yellow.",
        "project": "kb",
        "metadata": {"source_url": "https://example.org/l", "ttl_hours": 24, "author": "@a"},
    }
    stored = await call("rag_external", **external)
    seen["rag_external"] = stored
    room.clock.now += 3600
    again = await call("rag_external", **external)
    assert again["document_id"] == stored["document_id"]
    seen["rag_search"] = await call("rag_search", query="yellow loquats", project="kb", top_k=1)
    seen["rag_search the repository"] = await call(
        "rag_search",
        query="password",
        search_type="keyword",
        filters={"category": "design", "tags": ["security"], "created_after": "2026-01-01"},
    )
    seen["rag_suggest"] = await call("rag_suggest", context=AUTH, context_type="code", top_k=1)
    (room.papers / "intro.md").write_text("# Intro\n\nQuinces are yellow fruit.\n")
    (room.papers / "page.html").unlink()
    (room.papers / "new.txt").write_text("Figs.\n")
    seen["rag_sync"] = await call("rag_sync", project="kb", remove_deleted=True)
    seen["rag_sync the repository"] = await call("rag_sync", project=name)
    projects = await read("rag://projects")
    seen["rag://projects"] = {
        "projects": [{**p, "last_updated": "…"} for p in projects["projects"]]
    }
    cached = await read("rag://search/kb/yellow%20loquats")
    seen["rag://search"] = cached
    room.clock.now += 60
    assert await read("rag://search/kb/yellow%20loquats") == cached
    seen["rag://document"] = await read(f"rag://document/{stored['document_id']}")
    seen["rag://stats"] = await read("rag://stats/kb")
    for prompt, argument in (("rag_search_context", "query"), ("rag_code_docs", "code")):
        answer = await room.client.get_prompt(prompt, {argument: "password"})
        seen[prompt] = answer.messages[0].content.text
    room.clock.now += 2 * DAY
    assert await call("rag_search", query="loquats", project="kb", search_type="keyword") == {
        "success": True,
        "results": [],
        "total_found": 0,
    }
    assert (await read("rag://search/kb/yellow%20loquats"))["results"] != cached["results"]
    seen["rag_sync what expired"] = await call("rag_sync", project="kb")
    seen["rag_delete by age"] = await call(
        "rag_delete", project="kb", filters={"older_than": "1d", "category": "fruit"}
    )
    seen["rag_delete a project"] = await call("rag_delete", project="kb", purge=True)
    seen["rag://stats of nothing"] = {**await read("rag://stats/kb"), "last_indexed": "…"}
    seen = masked(seen)
    if "UPDATE_GOLDEN" in os.environ:
        GOLDEN.write_text(json.dumps(seen, indent=1, ensure_ascii=False) + "\n")
    assert seen == json.loads(GOLDEN.read_text())


async def test_failure_is_an_object_with_success_error_and_message(room):
    fail = room.fail
    (room.papers.parent / "other.md").write_text("# Other\n")
    (room.papers / "link.md").symlink_to(room.papers.parent / "other.md")
    known = f"The projects are: {room.repository.root.name}."
    for tool, arguments, error, message in (
        ("rag_search", {"query": "x", "project": "no"}, "search_failed", known),
        ("rag_search", {"query": "x", "top_k": 0}, "search_failed", "`top_k` must be at least 1"),
        (
            "rag_search",
            {"query": "x", "filters": {"created_after": "soon"}},
            "search_failed",
            "Neither a date nor a number in the filter created>=soon.",
        ),
        ("rag_index", {"path": "../other.md"}, "index_failed", "not in a folder that may be read"),
        ("rag_index", {"path": "/etc/passwd"}, "index_failed", "not in a folder that may be read"),
        ("rag_index", {"path": "docs/\0.md"}, "index_failed", "not in a folder that may be read"),
        (
            "rag_sync",
            {"path": "\0", "project": "kb"},
            "sync_failed",
            "in a folder that may be read",
        ),
        ("rag_index", {"path": str(room.papers / "link.md")}, "index_failed", "may be read"),
        ("rag_index", {"path": str(room.papers)}, "index_failed", "name a project"),
        ("rag_index", {"path": "docs/none.md"}, "index_failed", "does not exist"),
        ("rag_index", {"path": "docs", "project": "kb"}, "index_failed", "is the project"),
        ("rag_delete", {}, "delete_failed", "nothing says what to delete"),
        ("rag_delete", {"document_id": "x"}, "delete_failed", "Use a document_id as rag_search"),
        (
            "rag_delete",
            {"project": room.repository.root.name},
            "delete_failed",
            "Delete its files with Git.",
        ),
        ("rag_suggest", {"context": " "}, "suggest_failed", "must not be empty"),
        ("rag_sync", {"project": "no"}, "sync_failed", known),
        (
            "rag_external",
            {"source_type": "web", "content": "x", "project": "kb", "metadata": {"ttl_hours": 0}},
            "external_failed",
            "ttl_hours must be a number of hours above 0",
        ),
        (
            "rag_external",
            {"source_type": "fax", "content": "x", "project": "kb", "metadata": {}},
            "external_failed",
            "must be one of jira, confluence, web, custom",
        ),
        (
            "rag_external",
            {"source_type": "web", "content": "x", "project": "../x", "metadata": {}},
            "external_failed",
            "Invalid name of a collection",
        ),
    ):
        failure = await fail(tool, **arguments)
        assert failure["error"] == error
        assert message in failure["message"]
        assert str(room.papers.parent) not in failure["message"]
    for uri in ("rag://document/x", "rag://stats/no", "rag://search/no/x", "rag://else"):
        with pytest.raises(MCPError):
            await room.read(uri)


async def test_another_repository_is_read_in_place(room, repository_in):
    other = repository_in(room.papers / "handbook")
    other.write("a.md", "# Handbook\n\nRules.\n")
    other.commit()
    before = (other.root / "a.md").stat()
    indexed = await room.call("rag_index", path=str(other.root), auto_detect=True, recursive=True)
    assert indexed == {
        "success": True,
        "project": "handbook",
        "indexed_files": ["a.md"],
        "total_chunks": 1,
        "errors": [],
    }
    assert (other.root / "a.md").stat() == before
    found = await room.call("rag_search", query="rules", project="handbook")
    assert found["results"][0]["file_path"] == "a.md"
    failure = await room.fail("rag_delete", project="handbook")
    assert "it is a local collection" in failure["message"]


async def test_folder_without_its_folders_counts_what_is_left_out(room):
    (room.papers / "deep/er").mkdir(parents=True)
    (room.papers / "deep/one.md").write_text("# One\n")
    (room.papers / "deep/er/two.md").write_text("# Two\n")
    room.repository.write("docs/more/third.md", "# Third\n")
    imported = await room.call("rag_index", path=str(room.papers), project="kb")
    assert (len(imported["indexed_files"]), imported["left_out_count"]) == (2, 2)
    imported = await room.call("rag_index", path=str(room.papers), project="kb", recursive=True)
    assert (len(imported["indexed_files"]), imported.get("left_out_count")) == (4, None)
    in_place = await room.call("rag_index", path="docs")
    assert (len(in_place["indexed_files"]), in_place["left_out_count"]) == (2, 1)


async def test_list_of_imported_folders_is_no_document(room):
    (room.papers / "folders.md").write_text("# Shelves\n\nPrefix, folder, files, recursive.\n")
    await room.call("rag_index", path=str(room.papers), project="kb")
    found = await room.call("rag_search", query="prefix folder recursive", project="kb", top_k=10)
    assert {result["file_path"].rpartition("/")[2] for result in found["results"]} <= {
        "folders.md",
        "intro.md",
        "page.html.md",
    }
    assert found["total_found"] >= len(found["results"])
    assert (await room.read("rag://stats/kb"))["total_documents"] == 3
    deleted = await room.call("rag_delete", project="kb", purge=True)
    assert deleted["deleted_count"] == 3
    assert (await room.call("rag_sync", project="kb"))["added"] == []
    await room.call("rag_index", path=str(room.papers), project="kb")
    assert (await room.read("rag://stats/kb"))["total_documents"] == 3


async def test_projects_may_be_limited(room, tmp_path):
    (tmp_path / "rag.yaml").write_text("projects: [kb]\n")
    metadata = {"source_type": "custom", "content": "x", "metadata": {}}
    assert "document_id" in await room.call("rag_external", project="kb", **metadata)
    failure = await room.fail("rag_external", project="other", **metadata)
    assert failure["message"].startswith("The project other may not be used.")


async def test_texts_enclose_passages_and_report_failures_like_other_sets(repository):
    repository.write("src/auth.py", AUTH)
    repository.page("docs/auth.md", "src/auth.py", body='# Auth\n\nA "password" is compared.\n')
    repository.write("docs/long.md", "# Long\n\n" + "A password is long.\n\n" * 400)
    repository.commit()
    scheduler = Scheduler(partial(open_workspace, str(repository.root)))
    repositories = Repositories([ServedRepository("one", scheduler)], select_tools(["rag"]))
    repositories.start()
    async with Client(create_server(repositories, Subscriptions(repositories))) as client:

        async def ask(tool, **arguments):
            answer = await client.call_tool(tool, arguments)
            assert answer.structured_content is None
            return answer.content[0].text

        found = await ask("rag_search", query="password compared", search_type="keyword")
        marker = re.search(r"delimited by ([a-p]{8})\.\)$", found.splitlines()[0])[1]
        assert f'<<<{marker}\n# Auth\n\nA "password" is compared.\n{marker}>>>' in found
        place = r'^docs/auth\.md:\d+-\d+ > "Auth" \(score [\d.]+; .*id [0-9a-f-]{36}\)$'
        assert re.search(place, found, re.MULTILINE)
        cut = await ask("rag_search", query="password", search_type="keyword", max_tokens=200)
        assert cut.startswith("1 passage, best first, of at least 4 found. ")
        assert "more passage" in cut
        suggested = await ask("rag_suggest", context=AUTH, context_type="code")
        assert 'docs/auth.md: "Auth" (relevance ' in suggested
        assert '"names src/auth.py as a source"' in suggested
        indexed = await ask("rag_index", path="docs/auth.md")
        assert indexed.splitlines()[1] == "docs/auth.md"
        failed = await ask("rag_index", path="docs/none.md")
        assert failed.startswith("Error -32602 (bad_argument): docs/none.md does not exist")
    repositories.close()


def open_workspace(root, progress):
    return Workspace.open(root, progress=progress)


async def test_rag_tools_are_offered_only_on_request(repository):
    repository.commit()
    repositories = Repositories(
        [ServedRepository("one", Scheduler(partial(Workspace.open, str(repository.root))))],
        select_tools(),
    )
    server = create_server(repositories, Subscriptions(repositories))
    async with Client(server) as client:
        assert not [t for t in (await client.list_tools()).tools if t.name.startswith("rag")]
        templates = (await client.list_resource_templates()).resource_templates
        prompts = (await client.list_prompts()).prompts
        resources = (await client.list_resources()).resources
        names = [*(t.uri_template for t in templates), *(str(r.uri) for r in resources)]
        assert not [name for name in [*names, *(p.name for p in prompts)] if "rag" in name]
        with pytest.raises(MCPError):
            await client.read_resource("rag://projects")


def test_read_only_server_omits_writing_tools():
    names = [tool.name for tool in select_tools(["rag"], read_only=True)]
    assert names == ["rag_search", "rag_suggest"]
    assert "rag" in OPTIONAL_TOOLSETS


def test_settings_are_read_from_the_environment_and_the_file(tmp_path):
    assert read_settings({"RAG_PROJECT": "kb"}).project == "kb"
    file = tmp_path / "config.yaml"
    file.write_text("roots:\n- a\n- /b\nprojects: [x]\n")
    settings = read_settings({"RAG_CONFIG_PATH": str(file)})
    assert settings.roots == (str(tmp_path / "a"), "/b")
    assert settings.projects == ("x",)


def test_passage_that_a_budget_cuts_states_its_last_line():
    lines = [f"Line {number} of the file is here." for number in range(60, 101)]
    text = "\n".join(["# Heading", "[…]", *lines])
    place = {"line_start": 1, "line_end": 100}
    record = {"results": [{"text": text, "position": place, "highlights": [{"start": 2}]}]}
    fit(record, TokenLimit(200, count_tokens))
    (result,) = record["results"]
    assert record["is_cut"]
    last = result["text"].splitlines()[-1]
    assert last in lines[:-1]
    assert last.startswith(f"Line {place['line_end']} ")
