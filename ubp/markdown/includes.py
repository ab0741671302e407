"""The syntaxes by which site generators put a file into a page."""

import re
from collections.abc import Iterator

_INCLUDES = (
    ("mkdocs", re.compile(r"^[ \t]*-+8<-+[ \t]+[\"'](?P<path>[^\"'\n:;]+)", re.MULTILINE)),
    ("mkdocs", re.compile(r"\{[!*][ \t]*(?P<path>[^!*{}\s]+)[^!*{}\n]*[!*]\}")),
    ("mkdocs", re.compile(r"\{%[ \t]*include(?:-markdown)?[ \t]+[\"'](?P<path>[^\"'\n]+)[\"']")),
    ("vitepress", re.compile(r"^[ \t]*<<<[ \t]*(?P<path>[^\s{}#]+)", re.MULTILINE)),
    ("vitepress", re.compile(r"<!--[ \t]*@include:[ \t]*(?P<path>[^\s{}#]+?)(?=[\s{}#]|-->)")),
    (
        "mdbook",
        re.compile(
            r"(?<!\\)\{\{[ \t]*#(?:rustdoc_)?(?:include|playground)[ \t]+(?P<path>[^\s:{}]+)"
        ),
    ),
    (
        "sphinx",
        re.compile(
            r"^[ \t]*(?:`{3,}|:{3,})\{(?:literal)?include\}[ \t]+(?P<path>\S+)", re.MULTILINE
        ),
    ),
    ("jekyll", re.compile(r"\{%-?[ \t]*include_relative[ \t]+(?P<path>[^\s%{}]+)")),
)
_MAY_INCLUDE = re.compile(r"8<-|\{[!*]|\{%|<<<|@include:|\{\{[ \t]*#|include\}")


def find_includes(text: str, start: int = 0) -> Iterator[tuple[str, re.Match[str]]]:
    """Yield the generator and the match of each inclusion; its group `path` is as written.

    Those in examples are not left out.
    """
    if _MAY_INCLUDE.search(text, start):
        for generator, pattern in _INCLUDES:
            for match in pattern.finditer(text, start):
                yield generator, match
