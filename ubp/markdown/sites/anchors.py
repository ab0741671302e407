"""The anchors of a page: what its text says, and what a generator makes of it."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

TERM = 7


class HeadingName(NamedTuple):
    """A heading, or the term of a definition, as anchors are made of it.

    `level` is 0 for a heading in HTML, TERM for a term. Where it has links or images, `described`
    is its text with the descriptions of images, and `markup` as it is written; else they are "".
    `id` is its own id (`{#id}`), `id_below` the one on the next line, as kramdown reads it.
    """

    level: int
    text: str
    described: str = ""
    markup: str = ""
    id: str = ""
    id_below: str = ""

    @property
    def with_descriptions(self) -> str:
        """The text with the descriptions of its images."""
        return self.described or self.text


class IncludedPage(NamedTuple):
    """A page that another one includes, after `position` of its headings.

    `path` is as it is written, in the syntax of a generator.
    """

    generator: str
    path: str
    position: int


class PageAnchors(NamedTuple):
    """What a page says about its anchors: headings, and ids in HTML, attributes and blocks.

    `targets` are MyST's, to which all pages of a site may link by name alone. `is_generated`: a
    part of the page is made from other sources, so its anchors are unknown. The anchors of the
    pages that it `includes` are its own, too.
    """

    headings: tuple[HeadingName, ...] = ()
    ids: tuple[str, ...] = ()
    targets: tuple[str, ...] = ()
    is_generated: bool = False
    includes: tuple[IncludedPage, ...] = ()


NO_ANCHORS = PageAnchors()


def github_text(heading: HeadingName) -> str:
    """Return the text that GitHub makes an anchor of: it does not know `{#id}`."""
    return f"{heading.text} {{#{heading.id}}}" if heading.id else heading.text


def github_slugs(texts: Iterable[str]) -> Iterator[str]:
    """Yield GitHub's anchors for the texts of a page's headings: "a", "a-1", "a" ends in "a-2"."""
    from ubp.core.text import slug  # compiles patterns that a hook does not need

    counts: dict[str, int] = {}
    for text in texts:
        base = name = slug(text)
        while name in counts:
            counts[base] += 1
            name = f"{base}-{counts[base]}"
        counts[name] = 0
        yield name
