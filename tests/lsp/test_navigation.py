"""Where a position in a text leads, and what is shown there."""

import pytest
from lsprotocol import types


def place_of(editor, path, text, shift=1):
    """The line and the UTF-16 column of a text in a file."""
    for number, line in enumerate((editor.root / path).read_text().splitlines()):
        if text in line:
            before = line[: line.index(text) + shift]
            return number, len(before.encode("utf-16-le")) // 2
    raise AssertionError(text)


def ask(editor, method, params, path, text, **more):
    line, character = place_of(editor, path, text)
    position = types.Position(line, character)
    return editor.ask(method, params(editor.document(path), position, **more))


def shown(editor, locations):
    return [
        (location.uri.removeprefix(editor.root.as_uri() + "/"), location.range.start.line + 1)
        for location in locations
    ]


@pytest.fixture(scope="module", autouse=True)
def opened(editor):
    for path in ("docs/auth.md", "docs/sessions.md", "docs/guide.md"):
        editor.open(path)


@pytest.mark.parametrize(
    ("path", "text", "target"),
    [
        ("docs/auth.md", "[[sessions]]", ("docs/sessions.md", 1)),
        ("docs/auth.md", "[the guide]", ("docs/guide.md", 3)),
        ("docs/auth.md", "[[設計|", ("docs/%E8%A8%AD%E8%A8%88.md", 1)),
        ("docs/auth.md", "src/auth.py", ("src/auth.py", 1)),
        ("docs/guide.md", "[[auth#Tokens]]", ("docs/auth.md", 11)),
        ("docs/sessions.md", "[tokens]", ("docs/auth.md", 11)),
    ],
)
def test_definition_of_link_is_its_target(editor, path, text, target):
    found = ask(editor, types.TEXT_DOCUMENT_DEFINITION, types.DefinitionParams, path, text)
    assert shown(editor, found) == [target]


def test_definition_of_a_label_is_the_heading_below_it(
    repository_in, tmp_path, editor, monkeypatch
):
    repository = repository_in(tmp_path / "project")
    monkeypatch.setattr(editor, "root", repository.root)
    repository.write("docs/conf.py", "extensions = ['myst_parser']\n")
    text = "# Use\n\n(First)=\n\n(use/cells)=\n## Cells\n\n:::{note}\n:name: 'hint'\n:::\n"
    text += "\n```md\n(real)=\n```\n\n(real)=\n### Real\n"
    repository.write("docs/use.md", text)
    links = "{ref}`use/cells` {ref}`x <first>` {ref}`hint` {ref}`real`"
    repository.write("docs/a.md", f"# A\n\n{links}\n")
    repository.commit()

    def definition(text):
        params = types.DefinitionParams
        found = ask(editor, types.TEXT_DOCUMENT_DEFINITION, params, "docs/a.md", text)
        return shown(editor, found)

    assert definition("use/cells") == [("docs/use.md", 6)]
    assert definition("x <first>") == [("docs/use.md", 6)]
    assert definition("hint") == [("docs/use.md", 9)]
    assert definition("real") == [("docs/use.md", 17)]


def test_definition_of_link_to_nothing_is_empty(editor):
    params = types.DefinitionParams
    found = ask(editor, types.TEXT_DOCUMENT_DEFINITION, params, "docs/auth.md", "[nothing]")
    assert list(found) == []


def test_references_of_heading_are_the_links_to_it(editor):
    found = ask(
        editor,
        types.TEXT_DOCUMENT_REFERENCES,
        lambda *given: types.ReferenceParams(
            types.ReferenceContext(include_declaration=True), *given
        ),
        "docs/auth.md",
        "## Tokens",
    )
    assert shown(editor, found) == [("docs/guide.md", 5), ("docs/sessions.md", 6)]


def test_references_of_first_heading_are_the_links_to_the_page(editor):
    found = ask(
        editor,
        types.TEXT_DOCUMENT_REFERENCES,
        lambda *given: types.ReferenceParams(
            types.ReferenceContext(include_declaration=True), *given
        ),
        "docs/auth.md",
        "# Authentication",
    )
    assert shown(editor, found) == [
        ("docs/guide.md", 5),
        ("docs/sessions.md", 6),
        ("docs/%E8%A8%AD%E8%A8%88.md", 3),
    ]


def test_lens_of_heading_shows_the_places_of_its_links(editor):
    (lens,) = editor.ask(
        types.TEXT_DOCUMENT_CODE_LENS, types.CodeLensParams(editor.document("docs/guide.md"))
    )[1:]
    assert (lens.command.title, lens.range.start.line) == ("1 link", 2)
    editor.run(lens.command.command, *lens.command.arguments)
    assert editor.shown.get(timeout=60) == "docs/auth.md:8"


LINKS = """\
# Links

## Part

See [a](#part) and [[guide]].

Back to [top](links.md), [b](links.md#part), [guide](guide.md).

Plain text.
"""


@pytest.mark.parametrize(
    ("line", "character", "lines"),
    [(2, 4, [3, 5, 7]), (4, 5, [3, 5, 7]), (0, 3, [1, 7]), (4, 22, [5, 7]), (8, 2, [])],
)
def test_highlights_are_the_heading_and_the_links_to_it(editor, line, character, lines):
    editor.open("docs/links.md", LINKS)
    position = types.Position(line, character)
    found = editor.ask(
        types.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT,
        types.DocumentHighlightParams(editor.document("docs/links.md"), position),
    )
    editor.close("docs/links.md")
    assert sorted({mark.range.start.line + 1 for mark in found}) == lines


def test_references_of_source_are_the_pages_that_list_it(editor):
    editor.open("src/auth.py")
    found = ask(
        editor,
        types.TEXT_DOCUMENT_REFERENCES,
        lambda *given: types.ReferenceParams(
            types.ReferenceContext(include_declaration=True), *given
        ),
        "src/auth.py",
        "def login",
    )
    assert shown(editor, found) == [("docs/auth.md", 4)]
    editor.close("src/auth.py")


def test_hover_shows_title_state_and_first_lines(editor):
    found = ask(editor, types.TEXT_DOCUMENT_HOVER, types.HoverParams, "docs/guide.md", "[[auth#")
    assert found.contents.value == (
        "**Authentication** (docs/auth.md, fresh)\n\n**Tokens**\n\n"
        "A token lives for \\`MAX\\_AGE\\` seconds."
    )


def test_hover_on_drifted_source_shows_the_evidence(editor):
    editor.open("src/auth.py", "MAX_AGE = 90\n")
    found = ask(editor, types.TEXT_DOCUMENT_HOVER, types.HoverParams, "docs/auth.md", "src/auth")
    assert found.contents.value == (
        "src/auth.py was modified, not committed yet.\n\n`MAX_AGE` (line 13) is changed.\n\n"
        "Also changed: `login`.\n\n```diff\n-MAX_AGE = 60\n+MAX_AGE = 90\n-def login(name):\n```"
    )
    lens = editor.ask(
        types.TEXT_DOCUMENT_CODE_LENS, types.CodeLensParams(editor.document("docs/auth.md"))
    )
    assert [(entry.command.title, entry.range.start.line) for entry in lens] == [
        ("1 source, 1 stale", 3),
        ("3 links", 5),
        ("2 links", 10),
    ]
    editor.close("src/auth.py")


def test_document_links_lead_to_lines_of_anchors(editor):
    links = editor.ask(
        types.TEXT_DOCUMENT_DOCUMENT_LINK, types.DocumentLinkParams(editor.document("docs/auth.md"))
    )
    resolved = [
        link if link.target else editor.ask(types.DOCUMENT_LINK_RESOLVE, link) for link in links
    ]
    assert [link.target for link in resolved] == [
        editor.uri("docs/sessions.md"),
        f"{editor.uri('docs/guide.md')}#L3",
        editor.uri("docs/設計.md"),
        editor.uri("src/auth.py"),
    ]


def test_symbols_are_nested_headings_and_folds_are_front_matter_and_sections(editor):
    (root,) = editor.ask(
        types.TEXT_DOCUMENT_DOCUMENT_SYMBOL,
        types.DocumentSymbolParams(editor.document("docs/auth.md")),
    )
    assert (root.name, [child.name for child in root.children]) == ("Authentication", ["Tokens"])
    folds = editor.ask(
        types.TEXT_DOCUMENT_FOLDING_RANGE,
        types.FoldingRangeParams(editor.document("docs/auth.md")),
    )
    assert [(fold.start_line, fold.end_line) for fold in folds] == [(0, 4), (5, 12), (10, 12)]


def test_workspace_symbols_are_pages_and_headings(editor):
    found = editor.ask(types.WORKSPACE_SYMBOL, types.WorkspaceSymbolParams("設計"))
    assert [(symbol.name, symbol.container_name) for symbol in found] == [("設計", "docs/設計.md")]
    found = editor.ask(types.WORKSPACE_SYMBOL, types.WorkspaceSymbolParams("SET UP"))
    assert [(symbol.name, symbol.container_name) for symbol in found] == [
        ("Set up", "docs/guide.md")
    ]
