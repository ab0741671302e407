"""What commands print as JSON is what tools answer, and the empty fields that tools leave out."""

import json
from dataclasses import replace

import pytest

from ubp.__main__ import main
from ubp.core.errors import BadArgumentError
from ubp.server.tools.tool import call_tool
from ubp.table import ROWS
from ubp.workspace import Workspace

VARYING = {"query_time_ms", "age_days", "token_estimate", "schema_version"}


@pytest.fixture
def library(repository, monkeypatch):
    """Pages with links, tags, types, sources, and a folder to work in."""
    repository.write("src/auth.py", "1\n")
    repository.write(
        "docs/auth.md",
        "---\ntitle: Authentication\ndoc_type: design\ntags: [security]\n"
        "source_refs:\n  - src/auth.py\n---\n# Login\n\nA token: [[sessions|depends_on]].\n\n"
        "## Errors\n\nNo [[nowhere]].\n",
    )
    repository.write("docs/sessions.md", "# Sessions\n\nA token [begins](auth.md) them.\n")
    repository.write("docs/deep/more.md", "# More\n\nOn [sessions](../sessions.md).\n")
    repository.commit("Begin")
    repository.write("src/auth.py", "2\n")
    repository.commit("Expire sooner")
    monkeypatch.setenv("UBP_NOW", str(repository.clock + 86_400 * 9))
    return repository


@pytest.fixture
def printed(library, capsys):
    """What a command prints as JSON."""

    def ask(*tokens, folder=""):
        status = main(["-C", str(library.root / folder), *tokens, "--json"])
        out, err = capsys.readouterr()
        assert (status, err) == (0, "")
        return json.loads(out)

    return ask


@pytest.fixture
def answered(library, tools):
    """What a tool answers where its record is sent, too, in a budget for its text alone."""

    def ask(name, **arguments):
        now = float(library.clock + 86_400 * 9)
        with Workspace.open(str(library.root), clock=lambda: now) as workspace:
            tool = replace(tools[name], run_for_text=None)
            return call_tool(tool, workspace, arguments).record

    return ask


def timeless(record):
    """A record without what depends on the moment, on the speed and on the empty fields."""
    if isinstance(record, dict):
        return {name: timeless(value) for name, value in record.items() if name not in VARYING}
    return [timeless(value) for value in record] if isinstance(record, list) else record


def lean(record, schema):
    """A command's record without the empty fields that a tool may leave out."""
    if isinstance(record, list):
        return [lean(value, schema["items"]) for value in record]
    if not isinstance(record, dict) or "properties" not in schema:
        return record
    return {
        name: lean(value, schema["properties"][name])
        for name, value in record.items()
        if name in schema["properties"] and (value or name in schema["required"])
    }


LISTS = (
    "fulltext_search",
    "list_pages",
    "get_graph",
    "suggest_links",
    "get_impact",
    "review_change",
)
# A record is complete, as a command prints it.
COMPLETE = {"verbose": True, "max_tokens": 20_000}

CASES = [
    ("search token", "search", {"query": "token", **COMPLETE}),
    (
        "search token -n 1 --mode fulltext --include-links --depth 1",
        "search",
        {
            "query": "token",
            "limit": 1,
            "mode": "fulltext",
            "depth": 1,
            "include_linked": True,
            **COMPLETE,
        },
    ),
    (
        (
            "search token --doc-type design --tag security --link-type depends_on --max-tokens 9999"
            " --ref HEAD~1"
        ),
        "search",
        {
            "query": "token",
            "doc_type": ["design"],
            "tags": ["security"],
            "link_types": ["depends_on"],
            **COMPLETE,
            "include_linked": False,
            "ref": "HEAD~1",
        },
    ),
    ("search --fulltext token", "fulltext_search", {"query": "token"}),
    (
        "search --fulltext token -n 1 --doc-type spec --ref HEAD",
        "fulltext_search",
        {"query": "token", "limit": 1, "doc_type": "spec", "ref": "HEAD"},
    ),
    ("get-page docs/auth.md", "get_page", {"filepath": "docs/auth.md"}),
    (
        "get-page --title Authentication --max-tokens 20000 --ref HEAD",
        "get_page",
        {"title": "Authentication", "max_tokens": 20_000, "ref": "HEAD"},
    ),
    ("get-context sessions.md", "get_context", {"filepath": "sessions.md"}),
    (
        (
            "get-context docs/auth.md --depth 1 --link-type depends_on --max-size 300"
            " --max-tokens 20000 --ref HEAD"
        ),
        "get_context",
        {
            "filepath": "docs/auth.md",
            "depth": 1,
            "link_types": ["depends_on"],
            "max_size": 300,
            "max_tokens": 20_000,
            "ref": "HEAD",
        },
    ),
    ("list-pages", "list_pages", {}),
    (
        (
            "list-pages --doc-type design --doc-type spec --tag security --sort created_at"
            " --order desc --limit 2 --folder docs --ref HEAD"
        ),
        "list_pages",
        {
            "doc_type": ["design", "spec"],
            "tags": ["security"],
            "sort": "created_at",
            "order": "desc",
            "limit": 2,
            "folder": "docs",
            "ref": "HEAD",
        },
    ),
    ("get-graph", "get_graph", {}),
    (
        "get-graph --center auth.md --depth 1 --link-type depends_on --limit 1 --ref HEAD",
        "get_graph",
        {
            "center": "auth.md",
            "depth": 1,
            "link_types": ["depends_on"],
            "limit": 1,
            "ref": "HEAD",
        },
    ),
    ("suggest-links", "suggest_links", {}),
    (
        "suggest-links docs/auth.md --min-score 0.1 --limit 1 --ref HEAD",
        "suggest_links",
        {"filepath": "docs/auth.md", "min_score": 0.1, "limit": 1, "ref": "HEAD"},
    ),
    ("impact src/auth.py", "get_impact", {"path": "src/auth.py"}),
    (
        "impact docs/auth.md --depth 1 --limit 1 --ref HEAD",
        "get_impact",
        {"path": "docs/auth.md", "depth": 1, "limit": 1, "ref": "HEAD"},
    ),
    ("review --staged", "review_change", {"staged": True}),
    (
        "review docs --base HEAD~1 --limit 1",
        "review_change",
        {"paths": ["docs"], "base": "HEAD~1", "limit": 1},
    ),
]


def test_every_tool_that_is_a_command_has_a_case(tools):
    twins = {row.tool.removeprefix("ubp_") for row in ROWS if row.tool and row.command}
    assert twins & tools.keys() == {name for _, name, _ in CASES}, "CASES needs each tool."


def test_command_prints_the_record_of_its_tool(printed, answered, tools):
    for command, name, arguments in CASES:
        record, other = printed(*command.split()), answered(name, **arguments)
        schema = tools[name].output_schema
        assert timeless(lean(record, schema)) == timeless(lean(other, schema)), command


def test_parameters_of_a_tool_have_options(tools):
    asked = {}
    for _, name, arguments in CASES:
        asked.setdefault(name, set()).update(arguments)
    untold = {
        (name, parameter)
        for name, given in asked.items()
        for parameter in tools[name].input_schema["properties"]
        if parameter not in given
    }
    # a command takes an id where it takes a path; the others have tests of their own
    assert untold == {
        ("get_context", "id"),
        ("get_page", "id"),
        ("get_page", "section"),  # PATH#SECTION
        ("get_page", "lines"),
        ("get_page", "continue"),
        ("list_pages", "cursor"),
        *((name, "max_tokens") for name in LISTS),
    }


def test_list_continues_equally_in_command_and_tool(printed, answered, tools):
    first = printed("list-pages", "--limit", "2")
    rest = printed("list-pages", "--cursor", first["next_cursor"])
    answer = answered("list_pages", cursor=first["next_cursor"])
    assert timeless(lean(rest, tools["list_pages"].output_schema)) == timeless(answer)
    assert [page["filepath"] for page in rest["pages"]] == ["docs/sessions.md"]


def test_page_is_named_by_its_id_in_command_and_tool(printed, answered, tools):
    name = answered("get_page", filepath="docs/auth.md")["doc_id"]
    for tool in ("get_page", "get_context"):
        by_id = lean(printed(tool.replace("_", "-"), name), tools[tool].output_schema)
        assert timeless(by_id) == timeless(answered(tool, id=name))


@pytest.mark.parametrize(
    ("options", "tool", "maximum"), [((), "search", 20), (("--fulltext",), "fulltext_search", 50)]
)
def test_command_and_tool_have_the_same_limit(
    library, printed, answered, capsys, *, options, tool, maximum
):
    assert len(printed("search", "token", *options, "--limit", str(maximum))["results"]) > 1
    assert len(answered(tool, query="token", limit=maximum)["results"]) > 1
    command = ["search", "token", *options, "--limit", str(maximum + 1)]
    assert main(["-C", str(library.root), *command]) == 2
    assert f"Must be from 1 to {maximum}." in capsys.readouterr().err
    with pytest.raises(BadArgumentError, match=f"at most {maximum}"):
        answered(tool, query="token", limit=maximum + 1)


def test_command_accepts_relative_paths(library, printed):
    inside = printed("get-page", "../sessions.md", folder="docs/deep")
    assert inside["filepath"] == "docs/sessions.md"
    absolute = str(library.root / "docs/sessions.md")
    assert printed("get-page", absolute)["filepath"] == "docs/sessions.md"
    assert printed("impact", "../../src/auth.py", folder="docs/deep")["path"] == "src/auth.py"


IDS = {"baseline_commit", "baseline_blob", "current_blob"}


NARROWED = [
    ("stale", {}),
    ("stale --diff", {"include_diff": True}),
    ("stale --all docs/sessions.md", {"filepath": "docs/sessions.md"}),
    ("stale --all --diff docs", {"filepath": "docs", "include_diff": True}),
]


def test_stale_prints_the_record_of_its_tool_and_ids(printed, answered, tools):
    schema = tools["check_staleness"].output_schema
    for command, arguments in NARROWED:
        printed_record = printed(*command.split())
        for document in printed_record["documents"]:
            for suggestion in document["references"]:
                for name in IDS:
                    del suggestion[name]
        answer = answered("check_staleness", **arguments)
        for name in ("content_notice", "query_time_ms", "token_estimate"):
            del answer[name]
        answer.pop("unlisted", None)  # people ask `ubp review` about a page without sources
        for document in answer["documents"]:
            document.pop("resolve", None)
            document.pop("acknowledge", None)
            document.pop("suggested_refs", None)  # which `ubp bind` lists
        assert timeless(answer) == timeless(lean(printed_record, schema)), command


def test_bind_prints_the_suggestions_of_its_tool(library, printed, answered):
    library.write("src/token_store.py", "class TokenStore: ...\n")
    text = "# Token store\n\n`TokenStore` lives in `src/token_store.py`.\n"
    library.write("docs/token_store.md", text)
    library.commit("Keep tokens")
    (page,) = printed("bind", "docs/token_store.md", "--limit", "5")["pages"]
    (document,) = answered("check_staleness", filepath="docs/token_store.md")["documents"]
    assert document["suggested_refs"][0]["source_path"] == "src/token_store.py"
    for suggestion, other in zip(page["suggestions"], document["suggested_refs"], strict=False):
        first_evidence = suggestion["evidence"][: len(other["evidence"])]
        assert without_nulls({**suggestion, "evidence": first_evidence}) == other
    assert "suggested_refs" not in answered("check_staleness", filepath="docs")["documents"][0]


def without_nulls(suggestion):
    evidence = [{k: v for k, v in item.items() if v is not None} for item in suggestion["evidence"]]
    return {**suggestion, "evidence": evidence}
