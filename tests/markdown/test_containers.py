"""Links in the indented blocks of MkDocs, compared with Python-Markdown and its extensions."""

import re

import markdown
import pytest

from ubp.markdown.parse import parse_markdown

EXTENSIONS = ["admonition", "pymdownx.details", "pymdownx.superfences", "pymdownx.tabbed"]
TABS = {"pymdownx.tabbed": {"alternate_style": True}}

PAGES = {
    "admonition": '!!! note "Title"\n\n    [a](a.md)\n\n    [b](b.md)\n\n[c](c.md)\n',
    "admonition without a blank line": "!!! warning\n    [a](a.md)\n    and [b](b.md)\n",
    "several types": "!!! danger highlight blink\n    [a](a.md)\n",
    "title alone": '!!! note ""\n    [a](a.md)\n',
    "details": '??? tip\n    [a](a.md)\n\n???+ note "Open"\n\n    [b](b.md)\n',
    "tabs": '=== "One"\n\n    [a](a.md)\n\n=== "Two"\n\n    [b](b.md)\n\n[c](c.md)\n',
    "selected tab": '===! "One"\n\n    [a](a.md)\n\n===+ "Two"\n\n    [b](b.md)\n',
    "nested": "!!! note\n\n    ??? tip\n\n        [a](a.md)\n\n    [b](b.md)\n",
    "tab in an admonition": '!!! note\n\n    === "T"\n\n        [a](a.md)\n\n    [b](b.md)\n',
    "in a list": "- item\n\n    !!! note\n\n        [a](a.md)\n\n    [b](b.md)\n",
    "list inside": "!!! note\n\n    - [a](a.md)\n    - x\n\n        [b](b.md)\n",
    "code inside": "!!! note\n\n    ```text\n    [no](no.md)\n    ```\n\n    [a](a.md)\n",
    "indented code inside": "!!! note\n\n    [a](a.md)\n\n        [no](no.md)\n",
    "heading inside": "!!! note\n\n    ## Part\n\n    [a](a.md)\n",
    "after a paragraph": "Text.\n\n!!! note\n    [a](a.md)\n\nText [b](b.md).\n",
    "at the end": "!!! note\n    [a](a.md)",
}


@pytest.mark.parametrize("page", PAGES.values(), ids=PAGES)
def test_links_in_indented_blocks_are_those_that_mkdocs_makes(page):
    html = markdown.markdown(page, extensions=EXTENSIONS, extension_configs=TABS)
    expected = re.findall(r'<a href="([^"]+)"', html)
    data = page.encode()
    links = parse_markdown(data).links
    assert [link.target for link in links] == expected
    assert [data[link.byte_start : link.byte_end].decode() for link in links] == expected


def test_block_without_indented_lines_is_a_paragraph():
    data = b"!!! note\n[a](a.md)\n\n    [code](no.md)\n"
    assert [link.target for link in parse_markdown(data).links] == ["a.md"]


def test_lines_that_only_resemble_a_block_stay_as_they_are():
    for first in ("!!!!", "! note", "===", "=== Tab", "?? note", '!!! note "open'):
        data = f"{first}\n\n    [code](no.md)\n".encode()
        assert parse_markdown(data).links == (), first
