"""A page as HTML for reviewers: it shows what the page says, and cannot do anything.

Markup in the page is shown as text, images as their descriptions, and links as text with their
targets. Headings are paragraphs, so that the outline of the file around them stays its own.
"""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from html import escape

from markdown_it import MarkdownIt
from markdown_it.token import Token


def render_blocks(body: str) -> list[str]:
    """Return the HTML of each top-level block (paragraph, list, table, …) of a text."""
    markdown = _parser()
    environment: dict[str, object] = {}
    tokens = markdown.parse(body, environment)
    blocks: list[str] = []
    start = depth = 0
    for end, token in enumerate(tokens, 1):
        _make_passive(token)
        depth += token.nesting
        if depth == 0:
            block = tokens[start:end]
            blocks.append(markdown.renderer.render(block, markdown.options, environment))
            start = end
    return blocks


@lru_cache(maxsize=1)
def _parser() -> MarkdownIt:
    return MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])


def _make_passive(token: Token) -> None:
    """Make paragraphs of headings, and cells of a table's heads; replace links and images."""
    if token.type in {"heading_open", "heading_close"}:
        token.attrs = {"class": f"heading {token.tag}"} if token.nesting > 0 else {}
        token.tag = "p"
    elif token.type in {"th_open", "th_close"}:
        token.attrs = {"class": "head"} if token.nesting > 0 else {}
        token.tag = "td"
    elif token.type == "td_open":
        token.attrs = {}  # a style, which the policy of the file forbids
    elif token.children:
        token.children = list(_passive(token.children))


def _passive(tokens: Sequence[Token]) -> Iterator[Token]:
    target = ""  # of the link around a token: links do not contain links
    for token in tokens:
        if token.type == "image":
            source = escape(str(token.attrs.get("src", "")))
            yield _markup(
                f'<span class="image">{escape(token.content)} <small>({source})</small></span>'
            )
        elif token.type == "link_open":
            is_bare = token.info == "auto"  # its text is its target
            target = "" if is_bare else escape(str(token.attrs.get("href", "")))
            yield _markup('<span class="link">')
        elif token.type == "link_close":
            yield _markup(f"</span> <small>({target})</small>" if target else "</span>")
        else:
            yield token


def _markup(content: str) -> Token:
    return Token("html_inline", "", 0, content=content)
