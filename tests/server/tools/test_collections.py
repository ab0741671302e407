"""The argument `collection`: offered where the project names collections, and only for those."""

import json

import pytest

from ubp.__main__ import main
from ubp.core.errors import BadArgumentError, CollectionError
from ubp.server.tools.registry import offer_collections, select_tools
from ubp.server.tools.tool import call_tool
from ubp.workspace import Workspace


@pytest.fixture
def project(repository, new_repository, tmp_path, monkeypatch, capsys):
    """A project that names `spec` (fetched) and `api` (not fetched); `mine` is another one's."""
    monkeypatch.setenv("UBP_COLLECTIONS", str(tmp_path / "collections"))
    for name in ("spec", "mine"):
        upstream = new_repository(name)
        upstream.write("types.md", f"# Types of {name}\n\nA slice has a length.\n")
        upstream.commit()
        url = upstream.root.as_uri()
        assert main(["-C", str(tmp_path), "collections", "add", name, url, "--yes"]) == 0
    capsys.readouterr()
    settings = {
        "spec": {"git": (tmp_path / "spec").as_uri()},
        "api": {"git": "https://example.org/api.git"},
    }
    repository.write(".ubp/config.json", json.dumps({"collections": settings}))
    repository.write("README.md", "# Project\n\nNothing.\n")
    repository.commit()
    return repository


@pytest.fixture
def call(project):
    """Call a tool of a server for the project."""
    tools = {tool.name: tool for tool in offer_collections(select_tools(), ["spec", "api"])}
    with Workspace.open(str(project.root)) as workspace:
        yield lambda name, **given: call_tool(tools[f"ubp_{name}"], workspace, given).record


def test_tools_without_collections_are_unchanged():
    assert offer_collections(select_tools(), []) == select_tools()


def test_reading_tools_list_the_collections_that_they_accept():
    for tool in offer_collections(select_tools(), ["spec", "api"]):
        properties = tool.input_schema["properties"]
        is_about_the_project = tool.name in {
            *("ubp_check_staleness", "ubp_get_impact", "ubp_review_change")
        }
        assert ("collection" in properties) != is_about_the_project, (
            f"{tool.name}: what reads pages has reads_collections=True in its Answer."
        )
        if not is_about_the_project:
            assert "spec, api" in properties["collection"]["description"]


def test_tool_answers_about_the_collection(call):
    assert call("get_page", filepath="types.md", collection="spec")["title"] == "Types of spec"
    assert call("get_page", filepath="README.md")["title"] == "Project"
    found = call("search", query="slice length", collection="spec@main")["results"][0]
    assert (found["collection"], found["filepath"]) == ("spec", "types.md")
    assert len(call("list_pages", collection="spec")["pages"]) == 1


def test_section_of_a_page_is_read(call):
    record = call("get_page", filepath="types.md#types-of-spec", collection="spec")
    assert record["content"].startswith("# Types of spec")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"collection": "mine"}, "This project has no collection mine."),
        ({"collection": "../spec"}, "Invalid name of a collection"),
        ({"collection": "spec", "ref": "HEAD"}, "`ref` cannot be combined with `collection`."),
    ],
)
def test_forbidden_collection_is_refused(call, given, message):
    with pytest.raises(BadArgumentError, match=message):
        call("list_pages", **given)


def test_collection_that_was_not_fetched_says_how_to_fetch_it(call):
    with pytest.raises(CollectionError) as error:
        call("list_pages", collection="api")
    assert error.value.hint == "Fetch it: ubp collections sync api"
