"""Diagnostics for open texts: findings, stale pages, and the pages that describe a source."""

import threading

import pytest
from lsprotocol import types


def places(diagnostics):
    return [(d.code, d.range.start.line, d.range.start.character, d.message) for d in diagnostics]


def test_open_page_with_broken_link_gets_the_finding_at_the_link(editor):
    editor.open("docs/auth.md")
    (found,) = editor.found("docs/auth.md")
    assert (found.code, found.source) == ("broken-link", "ubp")
    assert found.severity == types.DiagnosticSeverity.Error
    assert found.range == types.Range(types.Position(7, 51), types.Position(7, 72))


def test_unsaved_text_wins_and_columns_are_utf16(editor):
    editor.open("docs/guide.md")
    editor.found("docs/guide.md")
    editor.edit("docs/guide.md", ((4, 0), (4, 0), "日本😀 [[none]] "))
    (found,) = editor.found("docs/guide.md")
    assert found.message.startswith('No page named "none".')
    assert found.range == types.Range(types.Position(4, 5), types.Position(4, 13))
    editor.edit("docs/guide.md", ((4, 0), (4, 14), ""))
    assert editor.found("docs/guide.md") == []


def test_page_that_only_the_editor_has_is_found_by_links(editor):
    editor.open("docs/new.md", "# New\n")
    assert editor.found("docs/new.md") == []
    editor.open("docs/sessions.md", "[[new]] and [it](new.md#nowhere)\n")
    assert [code for code, *_ in places(editor.found("docs/sessions.md"))] == ["missing-anchor"]
    editor.close("docs/new.md")
    editor.edit("docs/sessions.md", ((0, 0), (0, 0), "x "))
    assert [code for code, *_ in places(editor.found("docs/sessions.md"))] == ["broken-link"] * 2
    editor.close("docs/sessions.md")


def test_edited_source_names_the_pages_that_describe_it(editor):
    editor.open("src/auth.py")
    assert editor.found("src/auth.py") == []
    editor.edit("src/auth.py", ((0, 10), (0, 12), "90"))
    (found,) = editor.found("src/auth.py")
    assert found.message == "Described by docs/auth.md: stale since this edit."
    assert found.severity == types.DiagnosticSeverity.Information
    assert found.related_information[0].location.range.start.line == 3
    editor.open("docs/auth.md")
    stale = [d for d in editor.found("docs/auth.md") if d.code == "stale-doc"]
    assert [(d.range.start.line, d.range.start.character) for d in stale] == [(3, 4)]
    assert "`MAX_AGE` (line 13) is changed." in stale[0].message
    editor.edit("src/auth.py", ((0, 10), (0, 12), "60"))
    assert editor.found("src/auth.py") == []
    editor.close("src/auth.py")


def ask_workspace(editor, known=()):
    """Ask for the diagnostics of pages that are not open; return their messages and ids."""
    found = editor.ask(
        types.WORKSPACE_DIAGNOSTIC,
        types.WorkspaceDiagnosticParams([types.PreviousResultId(*result) for result in known]),
    )
    return {
        report.uri.rpartition("/")[2]: (
            report.kind,
            [found.code for found in getattr(report, "items", ())],
            (report.uri, report.result_id),
        )
        for report in found.items
    }


@pytest.fixture
def closed_pages(repository_in, tmp_path, open_editor):
    repository = repository_in(tmp_path / "closed")
    repository.write("a.md", "# A\n\n[b](b.md#none)\n")
    repository.write("b.md", "# B\n\n[a](a.md#none)\n")
    repository.write("c.md", "# C\n\n[a](a.md)\n")
    repository.commit("Begin")
    return repository, open_editor(repository.root)


def test_closed_pages_have_diagnostics_and_open_ones_are_left_out(closed_pages):
    _, editor = closed_pages
    editor.open("b.md")
    while not (of_open := editor.found("b.md")):  # while the index is being built, headings of
        pass  # other pages are unknown
    assert [found.code for found in of_open] == ["missing-anchor"]
    found = ask_workspace(editor)
    assert {name: report[:2] for name, report in found.items()} == {
        "a.md": ("full", ["missing-anchor"])
    }
    params = types.DocumentDiagnosticParams(editor.document("b.md"))
    assert list(editor.ask(types.TEXT_DOCUMENT_DIAGNOSTIC, params).items) == []


def test_diagnostics_of_closed_pages_are_answered_when_they_change(closed_pages):
    repository, editor = closed_pages
    before = ask_workspace(editor)
    assert {name: report[1] for name, report in before.items()} == {
        "a.md": ["missing-anchor"],
        "b.md": ["missing-anchor"],
    }
    known = [result for _, _, result in before.values()]
    waiting = threading.Thread(target=lambda: answers.append(ask_workspace(editor, known)))
    answers = []
    waiting.start()
    repository.write("c.md", "# C\n\n[a](a.md#none)\n")
    repository.write("b.md", "# B\n")
    editor.save("c.md")
    waiting.join()
    assert {name: report[:2] for name, report in answers[0].items()} == {
        "a.md": ("unchanged", []),
        "b.md": ("full", []),
        "c.md": ("full", ["missing-anchor"]),
    }


def test_server_ends_while_a_client_waits_for_a_change(closed_pages):
    _, editor = closed_pages
    known = [result for _, _, result in ask_workspace(editor).values()]
    params = types.WorkspaceDiagnosticParams([types.PreviousResultId(*place) for place in known])
    editor.send(types.WORKSPACE_DIAGNOSTIC, params)
    editor.ask(types.WORKSPACE_SYMBOL, types.WorkspaceSymbolParams("C"))


def test_setting_turns_diagnostics_of_closed_pages_off(closed_pages):
    _, editor = closed_pages
    assert ask_workspace(editor)
    settings = {"ubp": {"diagnostics": {"workspace": False}}}
    editor.notify(
        types.WORKSPACE_DID_CHANGE_CONFIGURATION, types.DidChangeConfigurationParams(settings)
    )
    assert ask_workspace(editor) == {}
