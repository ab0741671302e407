"""What is a link and what is code: others' examples, and markdown-it itself."""

import html
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.common.utils import unescapeAll
from markdown_it.token import Token

from ubp.markdown.blocks import MAX_NESTING, find_blocks
from ubp.markdown.inline import find_links_and_images
from ubp.markdown.source_text import SourceText

FIXTURES = Path(__file__).parents[2] / "fixtures" / "markdown"

WIKILINKS = {550: "[[[foo]]]", 592: "![[foo]]"}
"""CommonMark knows no wikilinks, and wants these to be text."""
OWN_READING = {
    3: "a definition that leads to the web makes it a citation, as everywhere on GitHub",
    22: "the escaped bar is a bar outside of tables too: no page's name ends in a backslash",
}
"""pulldown-cmark's examples that we read differently, and why."""


class Example(NamedTuple):
    number: int
    section: str
    markdown: str
    html: str


def _examples(name: str) -> list[Example]:
    lines = (FIXTURES / name).read_text("utf-8").splitlines()
    return [Example(*json.loads(line).values()) for line in lines]


COMMONMARK = _examples("commonmark-spec.jsonl")
PULLDOWN = _examples("pulldown-wikilinks.jsonl")


def _number(item: Example) -> str:
    return f"{item.section} {item.number}"


def _links(markdown: str) -> list[str]:
    """All links' targets, in the order in which the links begin."""
    found = find_blocks(SourceText(markdown.encode()))
    definitions = {name: definition["href"] for name, definition in found.definitions.items()}
    return [
        unquote(target)
        for block in found.blocks
        if block.type == "inline"
        for target in _targets(block.content, definitions)
    ]


def _targets(text: str, definitions: dict[str, str]) -> Iterator[str]:
    links, _ = find_links_and_images(text, definitions)
    for found in sorted(links, key=lambda place: place.start):
        written = text[slice(*found.target)]
        if found.kind == "reference":
            yield definitions[found.definition]
        elif found.kind == "markdown":
            yield unescapeAll(written)
        elif found.kind != "image reference":
            yield f"wiki:{written}"


def _links_of_html(item: Example) -> Iterator[str]:
    """The targets of links, but for autolinks and for HTML that stood in the Markdown already."""
    rendered = re.sub(r"<pre>.*?</pre>", "", item.html, flags=re.DOTALL)
    for tag, href, inner in re.findall(r'(<a href="([^"]*)")[^>]*>(.*?)</a>', rendered, re.DOTALL):
        address, text = unquote(html.unescape(href)), html.unescape(inner)
        is_automatic = f"<{text}>" in item.markdown and address in {text, f"mailto:{text}"}
        if not is_automatic and tag not in item.markdown:
            yield address


@pytest.mark.parametrize("item", COMMONMARK, ids=_number)
def test_links_equal_those_of_commonmark(item: Example) -> None:
    expected = list(_links_of_html(item))
    if item.number in WIKILINKS:
        expected = ["wiki:foo", "wiki:foo"]

    assert _links(item.markdown) == expected


@pytest.mark.parametrize("item", PULLDOWN, ids=_number)
def test_wikilinks_equal_those_of_pulldown_cmark_with_two_exceptions(item: Example) -> None:
    links = [link.removeprefix("wiki:") for link in _links(item.markdown)]
    found = [link for link in links if f"<{link}>" not in item.markdown]
    images = re.findall(r'<p>\s*<img src="([^"]*)"', item.html)
    expected = [*_links_of_html(item), *images]

    assert (found == expected) == (item.number not in OWN_READING)


# Words of the examples on code, made wikilinks: in code they must not count, elsewhere they must.
CODE = [
    item
    for item in COMMONMARK
    if "<code" in item.html and "link" not in item.section.lower() and "[" not in item.markdown
]


@pytest.mark.parametrize("item", CODE, ids=_number)
def test_code_according_to_commonmark_contains_no_link(item: Example) -> None:
    word = re.compile(r"\b(?:foo|bar|baz|aaa|def)\b")
    outside = re.sub(r"<code[^>]*>.*?</code>|<[^>]*>", "", item.html, flags=re.DOTALL)

    found = _links(word.sub("[[\\g<0>]]", item.markdown))

    assert len(found) == len(word.findall(outside))


def _stock() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"maxNesting": MAX_NESTING})
    parser.validateLink = lambda _: True  # type: ignore[method-assign]
    parser.normalizeLink = lambda url: url  # type: ignore[method-assign]
    return parser.enable("table")


STOCK = _stock()


def _is_kept(token: Token) -> bool:
    if token.type in {"inline", "heading_open", "html_block"}:
        return True
    return token.level == 0 and token.nesting >= 0 and token.type != "paragraph_open"


def _clean(text: str) -> str:
    """Leave footnotes out: markdown-it takes them for definitions."""
    return text.replace("[^", "[")


BLOCK_PIECES = [
    *"abc1`~>*_+-=#[]():|<!\\\n\n\n\n  \t",
    *("```", "- ", "1. ", "> ", "---", "| a |", "|-|", "    ", "# ", "\n\n", "\n- ", "\n  "),
    *("[a]: b", "[x](y)", "<div>", "<!--", "-->"),
]
INLINE_PIECES = [
    *"ab[]!\\`<>\"'# \n/.*",
    *("![", "\\]", "``", "&amp;", "<b>", '<i x="', "<!-- ", " -->", "<?", "?>", "<http://x>"),
]
TARGET_PIECES = [*INLINE_PIECES, *"()", "](", "](b)", "](<b c>", ' "t")', " 't'", "\\)", "[r]"]
LABEL_PIECES = [*"ab[]!\\ \n*.", "![", "\\]", "\\[", "[r]", "[R]", "][r]", "][]", "[a]"]


@given(st.lists(st.sampled_from(BLOCK_PIECES), max_size=40).map("".join))
@settings(max_examples=600, deadline=None)
@example("a\n| b |\n|-|\n")
@example("> a\n---\n- b\n\n\n- c\n===\n")
def test_blocks_equal_those_of_markdown_it(text: str) -> None:
    text = _clean(text)
    environment: dict[str, Any] = {}
    tokens = STOCK.parse(text, environment)
    found = find_blocks(SourceText(text.encode()))

    assert [(block.type, block.tag, block.map, block.content) for block in found.blocks] == [
        (token.type, token.tag, token.map, token.content) for token in tokens if _is_kept(token)
    ]
    assert found.definitions == environment.get("references", {})


@given(st.lists(st.sampled_from(TARGET_PIECES), max_size=30).map("".join))
@settings(max_examples=600, deadline=None)
@example("[a [b](c) d](e)")
@example("![a [b](c) d](e)")
@example("[a](b(c)d)")
def test_links_with_targets_equal_those_of_markdown_it(text: str) -> None:
    text = _without_quirks(text)

    assert list(_targets(text, {})) == _stock_links(text, {})


# Apart from the others: in a label markdown-it heeds code and HTML, and it looks for one behind the
# bracket of a target that is none. cmark does neither.
@given(st.lists(st.sampled_from(LABEL_PIECES), max_size=30).map("".join))
@settings(max_examples=600, deadline=None)
@example("[r][r] [r][] [r]")
@example("[![[r]][r]][r][r]")
def test_links_with_labels_equal_those_of_markdown_it(text: str) -> None:
    text = _without_quirks(text)

    assert list(_targets(text, {"R": "target"})) == _stock_links(text, {"R": "target"})


def _without_quirks(text: str) -> str:
    """Leave out wikilinks, and what markdown-it reads otherwise than the specification does.

    "--->" ends a comment, "[ ]" and "[ [a] ]" are not labels.
    """
    text = re.sub(r"\[(?=!?\[)", "[ ", re.sub(r"-{3,}", "--", text)).strip()
    return re.sub(r"\[\s+\]", "[a]", re.sub(r"\]\[(?=(?:\\.|[^\]])*\[)", "] [", text))


def _stock_links(text: str, definitions: dict[str, str]) -> list[Any]:
    references = {name: {"href": target, "title": ""} for name, target in definitions.items()}
    tokens: list[Token] = []
    STOCK.inline.parse(text, STOCK, {"references": references}, tokens)
    links = [token for token in tokens if token.type == "link_open" and token.info != "auto"]
    return [token.attrs["href"] for token in links]
