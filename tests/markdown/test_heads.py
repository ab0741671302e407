"""Sources in comments and in TOML front matter, and keys that are nearly right."""

import pytest

from ubp.core.errors import PageError
from ubp.core.model import FilePath
from ubp.markdown.document import parse_page, read_head
from ubp.markdown.edit_pins import Pin, write_pins
from ubp.markdown.edit_sources import add_sources, choose_form, rename_sources
from ubp.markdown.sites.detect import configured_site

KEYS = ("source_refs",)
COMMENT = "<!-- ubp\nsource_refs:\n  - a.py\n-->\n\n# Title\n"
MDX = "{/* ubp\nsource_refs:\n  - a.py\n*/}\n\n# Title\n"
TOML = '+++\ntitle = "Title"\nsource_refs = ["a.py"]\n\n[params]\nx = 1\n+++\n\n# Other\n'


def _sources(text: str) -> list[tuple[str, int, str | None]]:
    references = parse_page(text.encode(), KEYS).references
    return [(reference.literal, reference.line, reference.pin) for reference in references]


@pytest.mark.parametrize(("page", "line"), [(COMMENT, 3), (MDX, 3), (TOML, 3), ("\n" + COMMENT, 4)])
def test_sources_in_comments_and_toml_are_read(page: str, line: int) -> None:
    assert _sources(page) == [("a.py", line, None)]
    assert parse_page(page.encode(), KEYS).title == "Title"
    assert parse_page(page.encode(), KEYS).problems == ()
    body = page.encode()[read_head(page.encode(), KEYS).body :]
    assert b"source_refs" not in body


@pytest.mark.parametrize(
    ("page", "problem"),
    [
        ("<!-- ubp\nsource_refs: [\n-->\n", "The ubp comment is not valid YAML"),
        ("<!-- ubp\n- a\n-->\n", "The ubp comment is a sequence, not a mapping."),
        ("<!-- ubp\nsource_refs:\n  - a\n", "The ubp comment is unterminated."),
        ("+++\na = \n+++\n", "The front matter is not valid TOML: invalid value"),
        ("+++\na = 1\n", "The front matter is unterminated."),
        ("---\nsource_ref:\n  - a\n---\n", 'Unknown key "source_ref"; did you mean source_refs?'),
        ("---\nSource-Refs: a\n---\n", 'Unknown key "Source-Refs"; did you mean source_refs?'),
        ('+++\nsourceRefs = "a"\n+++\n', 'Unknown key "sourceRefs"; did you mean source_refs?'),
    ],
)
def test_malformed_head_is_a_problem(page: str, problem: str) -> None:
    (found,) = parse_page(page.encode(), KEYS).problems

    assert found.message.startswith(problem)


@pytest.mark.parametrize(
    "page",
    ["<!-- ubp: ignore[stale-doc] -->\n", "<!-- note -->\n", "---\nsources: [a]\n---\n", "+ + +\n"],
)
def test_other_comments_and_keys_are_not_heads(page: str) -> None:
    assert parse_page(page.encode(), KEYS).problems == ()


@pytest.mark.parametrize("page", [COMMENT, MDX, TOML])
def test_sources_are_added_renamed_and_pinned_in_place(page: str) -> None:
    added = add_sources(page.encode(), KEYS, ["b.py"])
    renamed = rename_sources(added, KEYS, {FilePath("a.py"): FilePath("c.py")})
    references = parse_page(renamed, KEYS).references
    pinned = write_pins(renamed, KEYS, {references[0]: Pin("1234567", "seen")})
    again = write_pins(pinned, KEYS, {references[0]: Pin("7654321")})

    assert [reference.literal for reference in references] == ["c.py", "b.py"]
    found = parse_page(pinned, KEYS).references
    assert [(reference.literal, reference.pin, reference.reason) for reference in found] == [
        ("c.py", "1234567", "seen"),
        ("b.py", None, None),
    ]
    assert [reference.pin for reference in parse_page(again, KEYS).references] == ["7654321", None]
    assert again.decode().partition("# ")[2] == page.partition("# ")[2]


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        ("+++\ntitle = 'x'\n+++\n", "+++\ntitle = 'x'\nsource_refs = [\"b.py\"]\n+++\n"),
        ("+++\n[a]\nb = 1\n+++\nx\n", '+++\nsource_refs = ["b.py"]\n[a]\nb = 1\n+++\nx\n'),
        ("+++\r\na = 1\r\n+++\r\n", '+++\r\na = 1\r\nsource_refs = ["b.py"]\r\n+++\r\n'),
        ("+++\nsource_refs = []\n+++\n", '+++\nsource_refs = ["b.py"]\n+++\n'),
        ("+++\nsource_refs = 'a'\n+++\n", "+++\nsource_refs = ['a', \"b.py\"]\n+++\n"),
    ],
)
def test_sources_are_added_to_toml(page: str, expected: str) -> None:
    assert add_sources(page.encode(), KEYS, ["b.py"]).decode() == expected


def test_array_of_tables_is_read_but_not_edited() -> None:
    page = b'+++\n[[source_refs]]\npath = "a.py"\nblob = "1234567"\n+++\n'

    assert _sources(page.decode()) == [("a.py", 3, "1234567")]
    with pytest.raises(PageError):
        add_sources(page, KEYS, ["b.py"])


@pytest.mark.parametrize(
    ("path", "generator", "start"),
    [
        ("README.md", None, "<!-- ubp\n"),
        ("src/cell/README.zh-CN.md", None, "<!-- ubp\n"),
        ("docs/a.md", None, "---\n"),
        ("docs/README.md", "mkdocs", "---\n"),
        ("docs/a.md", "mdbook", "<!-- ubp\n"),
        ("docs/a.md", "docsify", "<!-- ubp\n"),
        ("docs/a.mdx", "github", "{/* ubp\n"),
        ("docs/a.mdx", "docusaurus", "---\n"),
    ],
)
def test_new_head_is_a_comment_that_readers_do_not_see(
    path: str, generator: str | None, start: str
) -> None:
    empty = FilePath("")
    site = configured_site(generator, empty, empty, "") if generator else None

    result = add_sources(b"# A\n", KEYS, ["b.py"], choose_form(FilePath(path), site))

    assert result.decode().startswith(start)
    assert _sources(result.decode()) == [("b.py", 3, None)]
