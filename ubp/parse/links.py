"""A page's links: found in its blocks, read, and placed in its bytes."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from ubp.model import Link, LinkKind, Section
from ubp.parse.blocks import Block, Blocks
from ubp.parse.inline import Found, find_links
from ubp.parse.places import Places
from ubp.parse.source import Source
from ubp.parse.targets import read_target, read_wikilink_target
from ubp.parse.wikilinks import link_type, mistyped

CONTEXT_CHARACTERS = 50  # on both sides of a link
MAX_CHARACTERS = 500  # of a label, and of a link with its context


def collect_links(source: Source, found: Blocks, sections: Sequence[Section]) -> tuple[Link, ...]:
    """Collect the links to files, in the order of their targets in the page."""
    page = _Page(source, found.definitions, sections)
    links = [link for block in found.blocks if block.type == "inline" for link in page.links(block)]
    links += page.definitions()
    links.sort(key=lambda link: link.byte_start)
    return tuple(links)


class _Use(NamedTuple):
    """Where a definition is used first."""

    context: str
    section: int


class _Page:
    """What the links of one page share."""

    def __init__(
        self,
        source: Source,
        definitions: Mapping[str, Mapping[str, Any]],
        sections: Sequence[Section],
    ) -> None:
        self._source = source
        self._places = Places(source)
        self._definitions = definitions
        self._targets: dict[str, str] = {name: d["href"] for name, d in definitions.items()}
        self._first_lines = [section.line_start for section in sections]
        self._uses: dict[str, _Use] = {}
        self._images: set[str] = set()

    def links(self, block: Block) -> Iterator[Link]:
        """Yield a block's links, and remember which definitions it uses."""
        self._places.pass_by(block)
        text = block.content
        if "[[" not in text and "](" not in text and not (self._targets and "[" in text):
            return
        entered = False
        for found in find_links(text, self._targets):
            if not entered:
                self._places.enter(block)
                entered = True
            if found.kind == "image reference":
                self._images.add(found.definition)
            elif found.kind == "reference":
                if found.definition not in self._uses:
                    self._uses[found.definition] = self._use(block, found)
            elif link := self._link(block, found):
                yield link

    def definitions(self) -> Iterator[Link]:
        """Yield the definitions that lead to files, but for those that only show images."""
        for name, definition in self._definitions.items():
            if name in self._images and name not in self._uses:
                continue
            yield from self._definition(name, definition["map"])

    def _link(self, block: Block, found: Found) -> Link | None:
        text = block.content
        written = text[slice(*found.target)]
        label = _one_line(text[slice(*found.label)]) if found.label[0] >= 0 else None
        kind: LinkKind = "markdown"
        target, typed = None, None
        if found.kind == "wikilink" or found.kind == "embed":  # noqa: PLR1714 - narrows the type
            kind, target = found.kind, read_wikilink_target(written)
            typed = link_type(label) if label else None
        else:
            target = read_target(written)
        if target is None:
            return None
        line, column = self._places.at(found.start)
        target_line, start = self._places.at(found.target[0] + target.start)
        end = self._places.at(found.target[0] + target.end)[1]
        return Link(
            kind=kind,
            target=target.path,
            anchor=target.anchor,
            link_type=typed or "references",
            label=None if typed else label,
            line=line + 1,
            column=column + 1,
            byte_start=self._source.byte_at(target_line, start),
            byte_end=self._source.byte_at(target_line, end),
            context=self._context(block, found),
            section=self._section(line),
            meant_type=mistyped(label) if label and kind == "wikilink" and not typed else None,
        )

    def _definition(self, name: str, lines: Sequence[int]) -> Iterator[Link]:
        source = self._source
        start, end = source.starts[lines[0]], source.starts[lines[1]]
        match = _DEFINITION.search(source.text, start, end)
        group = "angled" if match and match["angled"] is not None else "plain"
        target = read_target(match[group]) if match else None
        if match is None or target is None:
            return
        line = source.line_of(match.start())
        use = self._uses.get(name) or _Use(_one_line(match[0]), self._section(line))
        yield Link(
            kind="definition",
            target=target.path,
            anchor=target.anchor,
            link_type="references",
            label=_one_line(match["label"]),
            line=line + 1,
            column=match.start() - source.starts[line] + 1,
            byte_start=source.byte_of(match.start(group)),
            byte_end=source.byte_of(match.start(group) + target.end),
            context=use.context,
            section=use.section,
            meant_type=None,
        )

    def _use(self, block: Block, found: Found) -> _Use:
        return _Use(self._context(block, found), self._section(self._places.at(found.start)[0]))

    def _context(self, block: Block, found: Found) -> str:
        """Cut out the link with what stands around it; a table's cell is too little, so its row."""
        text, start, end = block.content, found.start, found.end
        if block.row_start >= 0:
            line, start = self._places.at(start)
            text, end = self._source.lines[line], self._places.at(end)[1]
        start = max(0, start - CONTEXT_CHARACTERS)
        return _one_line(text[start : end + CONTEXT_CHARACTERS])

    def _section(self, line: int) -> int:
        return max(0, bisect_right(self._first_lines, line + 1) - 1)


def _one_line(text: str) -> str:
    return " ".join(text.split())[:MAX_CHARACTERS]


_DEFINITION = re.compile(
    r"\[(?P<label>(?:[^\[\]\\]|\\.)*+)\]:"
    r"[ \t]*(?:\n[ \t>]*)?(?:<(?P<angled>[^\n]*?)>|(?P<plain>\S+))",
    re.DOTALL,
)
