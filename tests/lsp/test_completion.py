"""What may follow the text before the cursor."""

import pytest
from lsprotocol import types

HEAD = "---\ndoc_type: design\n"


@pytest.fixture(scope="module")
def complete(editor):
    """Complete at the bar in a text: what is inserted, by label."""
    editor.open("docs/auth.md")
    editor.open("docs/typed.md", "")
    editor.open("docs/plans.md", "# Plans\n\n[[planned]], [[plan.pdf]] and [[guide]]\n")

    def ask(marked):
        before, after = marked.split("¦")
        editor.edit("docs/typed.md", before + after)
        line = before.count("\n")
        column = len(before.rpartition("\n")[2].encode("utf-16-le")) // 2
        params = types.CompletionParams(
            editor.document("docs/typed.md"), types.Position(line, column)
        )
        found = editor.ask(types.TEXT_DOCUMENT_COMPLETION, params)
        return {item.label: item.text_edit.new_text for item in found.items} if found else {}

    yield ask
    editor.close("docs/plans.md")
    editor.close("docs/typed.md")


@pytest.mark.parametrize(
    ("marked", "label", "inserted"),
    [
        ("日本😀 [[auth¦", "Authentication", "auth]]"),
        ("[[設¦]]", "設計", "設計"),
        ("[[log¦", "login", "login]]"),
        ("[[auth#To¦", "Tokens", "Tokens]]"),
        ("# Here\n\n[[#He¦", "Here", "Here]]"),
        ("[[auth|dep¦", "depends_on", "depends_on]]"),
        ("[x](gui¦)", "guide.md", "guide.md"),
        ("[x](../src/¦)", "../src/auth.py", "../src/auth.py"),
        ("[x](guide.md#¦)", "Set up", "set-up"),
        ("[x]: auth¦", "Authentication", "auth.md"),
        ("[x](miss¦)", "missing.md", "missing.md"),
        ("[[plan¦", "planned", "planned]]"),
        ("---\nti¦\n---\n", "title", "title: "),
        ("---\ndoc_type: ¦\n---\n", "spec", "spec"),
        ("---\nsource_refs:\n  - s¦\n---\n", "src/", "src/"),
        ("---\nsource_refs:\n  - path: src/a¦\n", "src/auth.py", "src/auth.py"),
        ("---\nsource_refs:\n  - src/auth.py#l¦\n---\n", "login", "login"),
        ("---\nsource_refs:\n  - docs/auth.md#to¦\n---\n", "tokens", "tokens"),
    ],
)
def test_completion_offers(complete, marked, label, inserted):
    assert complete(marked).get(label) == inserted


def test_page_that_was_created_is_no_longer_offered_as_missing(complete, editor):
    assert complete("[[plan¦")["planned"] == "planned]]"
    editor.open("docs/planned.md", "# The plan\n")
    assert complete("[[plan¦") == {"The plan": "planned]]", "Plans": "plans]]"}
    editor.close("docs/planned.md")


@pytest.mark.parametrize(
    ("typed", "label"),
    [
        ("two", "two words.md"),
        ("two%20w", "two words.md"),
        ("my%20notes/", "my%20notes/of today.md"),
    ],
)
def test_offered_target_is_a_link(complete, editor, typed, label):
    for path in ("docs/two words.md", "docs/my notes/of today.md"):
        editor.open(path, "# Words\n")
    found = complete(f"[x]({typed}¦)")
    assert found.pop(label) == label.replace(" ", "%20")
    assert found == {"Words": label.replace(" ", "%20")}
    assert complete("[x](my¦)")["my notes/"] == "my%20notes/"
    for path in ("docs/two words.md", "docs/my notes/of today.md"):
        editor.close(path)


def test_page_without_a_title_is_offered_once(complete, editor):
    editor.open("docs/untitled.md", "Text.\n")
    params = types.CompletionParams(editor.document("docs/typed.md"), types.Position(0, 9))
    assert complete("[x](untit¦)") == {"untitled.md": "untitled.md"}
    found = editor.ask(types.TEXT_DOCUMENT_COMPLETION, params)
    assert [item.text_edit.new_text for item in found.items] == ["untitled.md"]
    editor.close("docs/untitled.md")


def test_names_and_headings_that_would_end_a_wikilink_are_not_offered(complete, editor):
    editor.open(
        "docs/odd.md", "---\naliases: ['odd|one', odder]\n---\n# Odd\n\n## See [[auth]], odd\n"
    )
    assert complete("[[od¦") == {"Odd": "odd]]", "odder": "odder]]"}
    assert complete("[[odd#¦") == {"Odd": "Odd]]"}
    editor.close("docs/odd.md")


def test_plain_text_and_code_files_get_no_completion(complete, editor):
    assert complete("plain te¦xt") == {}
    editor.open("src/auth.py")
    params = types.CompletionParams(editor.document("src/auth.py"), types.Position(0, 3))
    assert editor.ask(types.TEXT_DOCUMENT_COMPLETION, params) is None
    editor.close("src/auth.py")
