"""The pages that found pages are linked with: what an agent may want to read next."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from ubp.cutting import summarise
from ubp.index import View
from ubp.model import LINK_TYPES, FilePath, LinkType, ObjectId, Page, Section
from ubp.search.links import MOST_LINKS, Direction
from ubp.store.ties import Around, Tie

LINKED_A_PAGE = 3
SUMMARY_CHARACTERS = 120
MOST_SUMMARIES = 20_000  # 5 MB

# What a page builds on tells more about it than what it merely mentions.
ORDER: Mapping[LinkType, int] = {
    link_type: place for place, link_type in enumerate([*LINK_TYPES[1:], LINK_TYPES[0]])
}


class LinkedPage(NamedTuple):
    """A page at the other end of a link (`outlink`: the found page has it), and how it begins."""

    page: Page
    tie: Tie
    direction: Direction
    summary: str


class _End(NamedTuple):
    path: FilePath
    tie: Tie
    direction: Direction


def find_linked(
    view: View, found: Sequence[FilePath], link_types: Collection[LinkType] = ()
) -> dict[FilePath, tuple[LinkedPage, ...]]:
    """The pages that each found page is linked with, the strongest links first.

    Those that were not found themselves come first, pages that it leads to before pages that lead
    to it.
    """
    around = view.ties().around(found, MOST_LINKS)
    chosen = {path: _choose(around[path], found, link_types) for path in found}
    others = {end.path for ends in chosen.values() for end in ends}
    pages = view.pages_at(others)
    summaries = _summarise(view, pages)
    return {
        path: tuple(
            LinkedPage(pages[end.path], end.tie, end.direction, summaries[end.path])
            for end in ends
            if end.path in pages
        )
        for path, ends in chosen.items()
    }


def _choose(
    around: Around, found: Collection[FilePath], link_types: Collection[LinkType]
) -> list[_End]:
    ends = [end for end in _ends(around) if _counts(end, link_types)]
    ends.sort(key=lambda end: (end.path in found, ORDER[end.tie.link_type]))
    first: dict[FilePath, _End] = {}
    for end in ends:
        first.setdefault(end.path, end)
    return list(first.values())[:LINKED_A_PAGE]


def _ends(around: Around) -> Iterator[_End]:
    for tie in around.out:
        yield _End(tie.target, tie, "outlink")
    for tie in around.into:
        yield _End(tie.source, tie, "backlink")


def _counts(end: _End, link_types: Collection[LinkType]) -> bool:
    return not link_types or end.tie.link_type in link_types


def _summarise(view: View, pages: Mapping[FilePath, Page]) -> dict[FilePath, str]:
    """How pages begin; remembered of those that are as they were committed."""
    known: dict[ObjectId, str] = view.ground.kept.derived("summaries", dict)
    if len(known) > MOST_SUMMARIES:
        known.clear()
    steady = {path: page.blob for path, page in pages.items() if not view.is_changed(path)}
    new = [path for path in pages if steady.get(path) not in known]
    contents, sections = view.read(new), view.learn_graph().sections_of(new)
    made = {path: _begin(contents.get(path) or b"", sections.get(path, ())) for path in new}
    known |= {steady[path]: made[path] for path in new if path in steady and contents.get(path)}
    return {path: made[path] if path in made else known[steady[path]] for path in pages}


def _begin(data: bytes, sections: Sequence[Section]) -> str:
    text = data[sections[0].byte_start :] if sections else b""
    return summarise(text.decode("utf-8", "replace"), SUMMARY_CHARACTERS)
