"""Diagnostics for open texts: findings, stale pages, and the pages that describe a source."""

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
