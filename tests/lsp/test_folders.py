"""Large repositories, and several: progress, what needs no index, folders that come and go."""

import asyncio
import os
from pathlib import Path

import pytest
from lsprotocol import types

from ubp.lsp.server import MIN_SHOWN_PAGES, create_server
from ubp.lsp.service import Service

PAGE = """\
---
tags: [a
---
# Page

[gone](gone.md), [here](#page), [nowhere](#nowhere), [other](other.md#nowhere),
[[alias]], [[nothing]], [address](/docs/other.html) and [source](../src/a.py).
"""


@pytest.fixture
def large(repository_in, tmp_path):
    """A repository whose reading is shown, with links of which the index knows more."""
    repository = repository_in(tmp_path / "large")
    for number in range(MIN_SHOWN_PAGES):
        repository.write(f"docs/{number}.md", f"# {number}\n")
    repository.write("docs/other.md", "---\naliases: [alias]\n---\n# Other\n")
    repository.write("docs/page.md", PAGE)
    repository.write("src/a.py", "1\n")
    repository.commit("Begin")
    return repository


def test_indexing_of_a_large_folder_is_shown_as_progress(open_editor, large):
    editor = open_editor(large.root)
    _, (begin, *shown, _) = editor.progress_of_a_task()
    assert (begin["kind"], begin["title"]) == ("begin", "UBP: Reading pages")
    assert {report["kind"] for report in shown} == {"report"}
    percentages = [report["percentage"] for report in shown]
    assert percentages == sorted(percentages)
    assert percentages[-1] == 100
    assert shown[-1]["message"] == f"{MIN_SHOWN_PAGES + 2:,} of {MIN_SHOWN_PAGES + 2:,}"


def test_removed_folder_is_no_longer_served_and_comes_back(
    open_editor, large, repository_in, tmp_path
):
    small = repository_in(tmp_path / "small")
    small.write("a.md", "[b](b.md)\n")
    small.commit("Begin")
    editor = open_editor(small.root, folders=[large.root])

    def served():
        return [Path(counted["folder"]).name for counted in editor.run("ubp.status")]

    assert served() == ["small", "large"]
    assert editor.run("ubp.search", "other")[0]["path"] == "docs/other.md"
    editor.change_folders(removed=[large.root])
    assert served() == ["small"]
    assert editor.run("ubp.search", "other") == []
    editor.open("a.md")
    assert [found.code for found in editor.found("a.md")] == ["broken-link"]
    # A file that is open is served wherever it is.
    editor.change_folders(removed=[small.root])
    assert served() == ["small"]
    editor.close("a.md")
    editor.change_folders(added=[large.root])
    assert served() == ["large"]


def test_links_of_a_site_are_completed_and_renamed_as_addresses(
    open_editor, repository_in, tmp_path
):
    repository = repository_in(tmp_path / "site")
    repository.write("hugo.toml", 'baseURL = "https://example.org/"\n')
    repository.write("content/guide/Start.md", "---\ntitle: Start here\n---\n## First steps\n")
    repository.write("content/guide/_index.md", "---\ntitle: Guide\n---\n")
    repository.write("content/api/page.md", "[s](/guide/start/#first-steps)\n\n\n")
    repository.commit("Begin")
    editor = open_editor(repository.root)
    editor.open("content/api/page.md")
    line = 1

    def complete(text):
        editor.edit("content/api/page.md", ((line, 0), (line, 99), text))
        position = types.Position(line, len(text))
        document = editor.document("content/api/page.md")
        params = types.CompletionParams(document, position)
        found = editor.ask(types.TEXT_DOCUMENT_COMPLETION, params)
        return {item.text_edit.new_text: item.filter_text for item in found.items}

    assert complete("[x](/gui") == {"/guide/": "/guide/", "/guide/start/": "/guide/start/"}
    assert list(complete("[x](/guide/start/#")) == ["first-steps"]
    # A part of the path finds the page, too.
    assert complete("[x](guide/St") == {"../guide/Start.md": "../guide/Start.md"}
    assert complete("[x](content/guide/St") == {"../guide/Start.md": "content/guide/Start.md"}
    uris = [editor.uri(f"content/guide/{name}.md") for name in ("Start", "Begin")]
    params = types.RenameFilesParams([types.FileRename(*uris)])
    (edits,) = editor.ask(types.WORKSPACE_WILL_RENAME_FILES, params).changes.values()
    assert [edit.new_text for edit in edits] == ["/guide/begin/"]


def test_page_without_an_index_shows_what_needs_none(large, isolated_environment, monkeypatch):
    assert isolated_environment.is_dir()
    root = large.root
    published = asyncio.Queue()

    async def open_page():
        indexed, answer_later = asyncio.Event(), Service.answer_later

        async def answer_when_indexed(service, work, **options):
            await indexed.wait()
            return await answer_later(service, work, **options)

        monkeypatch.setattr(Service, "answer_later", answer_when_indexed)
        server = create_server(os.environ)
        server.text_document_publish_diagnostics = published.put_nowait
        params = types.InitializeParams(types.ClientCapabilities(), root_uri=root.as_uri())
        list(server.protocol.lsp_initialize(params))
        notify = server.protocol._handle_notification
        uri = (root / "docs/page.md").as_uri()
        item = types.TextDocumentItem(uri, "markdown", 1, PAGE)
        notify(types.TEXT_DOCUMENT_DID_OPEN, types.DidOpenTextDocumentParams(item))
        first = await published.get()
        start = types.Position(8, 0)
        change = types.TextDocumentContentChangePartial(types.Range(start, start), "[x](x.md)\n")
        document = types.VersionedTextDocumentIdentifier(uri=uri, version=2)
        changed = types.DidChangeTextDocumentParams(document, [change])
        notify(types.TEXT_DOCUMENT_DID_CHANGE, changed)
        second = await published.get()
        indexed.set()
        last = await published.get()
        server.close()
        return first, second, last

    first, second, last = asyncio.run(open_page())
    assert [(found.code, found.message) for found in first.diagnostics][1:] == [
        ("broken-link", "gone.md does not exist."),
        ("missing-anchor", "docs/page.md has no heading #nowhere."),
    ]
    assert first.diagnostics[0].code == "bad-front-matter"
    assert (first.version, second.version, last.version) == (1, 2, 2)
    codes = [found.code for found in second.diagnostics]
    assert codes == [*(found.code for found in first.diagnostics), "broken-link"]
    added = [found.message for found in last.diagnostics if found not in second.diagnostics]
    assert added == [
        "docs/other.md has no heading #nowhere.",
        'No page named "nothing".',
    ]
