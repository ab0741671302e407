"""All that speaks for the sources of a snapshot's pages: gathered once, told page by page."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from ubp.bindings.features import RawSignals
from ubp.bindings.folders import CoChange
from ubp.bindings.history_evidence import CoChangeHistory
from ubp.bindings.path_evidence import SiblingBindings, find_similar_paths, without_language
from ubp.bindings.sources import CandidateSources, find_candidates
from ubp.bindings.text_evidence import (
    PageRarity,
    find_back_references,
    find_identifier_matches,
    find_text_mentions,
)
from ubp.code.names import NO_NAMES, SourceNames
from ubp.core.model import Entry, FilePath
from ubp.git.change_log import LoggedChange
from ubp.index.names import read_page_mentions, read_source_names
from ubp.index.view import View
from ubp.markdown.mentions import PageMentions

# How rare an identifier is among pages, so many tell as well as all.
MAX_PAGES_READ = 2_000

NO_MENTIONS = PageMentions("", (), (), frozenset())


class SuggestInputs(NamedTuple):
    """What evidence is gathered from; `bound` tells what pages name already."""

    view: View
    is_hidden: Callable[[FilePath], bool]
    log: Iterable[LoggedChange]
    bound: Mapping[FilePath, Iterable[FilePath]]


class EvidenceIndex:
    """What speaks for which source; `about` tells it of the pages that were asked about."""

    def __init__(self, basis: SuggestInputs, pages: Collection[FilePath] = ()) -> None:
        """`pages` are those that will be asked about; `ask` adds others."""
        self._ground = basis.view.context
        documents = basis.view.document_paths()
        self._entries = _hashed(basis.view, find_candidates(basis.view, basis.is_hidden))
        self._rarity = _page_rarity(_sample(basis.view, documents))
        self._translations = _translations(documents)
        names = self._names()
        self.sources = CandidateSources(list(self._entries), names, self._rarity.counts.keys())
        self._naming = find_back_references(documents, names)
        numbers = self.sources.numbers
        self._history = CoChangeHistory(basis.log, numbers, documents)
        self.activities = self._history.activities()
        self.touched = CoChange(self._history.count_touching, self._history.commits)
        self._bindings = SiblingBindings(
            {
                page: [numbers[path] for path in paths if path in numbers]
                for page, paths in basis.bound.items()
            }
        )
        self._mentions: dict[FilePath, PageMentions] = {}
        self.ask(basis.view, pages)

    def ask(self, view: View, pages: Collection[FilePath]) -> None:
        """Read these pages and their translations, except those that were read before."""
        wanted = {one for page in pages for one in self._same(page)}
        new = _read_mentions(view, wanted - self._mentions.keys())
        self._mentions |= new
        identifiers = {mention.text for page in new.values() for mention in page.identifiers}
        if unknown := self.sources.unknown(identifiers):
            self.sources.ask(self._names(), unknown)

    def about(self, page: FilePath) -> RawSignals:
        """What speaks for each source of a page."""
        said = self.mentions(page)
        return RawSignals(
            find_text_mentions(page, said, self.sources),
            find_identifier_matches(said, self._rarity, self.sources),
            find_similar_paths(page, said.headings, self.sources),
            self._history.with_page(page),
            self._naming.get(page, ()),
            self._bindings.of_siblings(page),
            self._history.knows(page),
        )

    def mentions(self, page: FilePath) -> PageMentions:
        """What a page mentions, and what its translations do besides (with line 0)."""
        there = self._mentions
        others = [there[one] for one in self._same(page) if one != page and one in there]
        own = there.get(page, NO_MENTIONS)
        return _joined(own, others) if others else own

    def _same(self, page: FilePath) -> Sequence[FilePath]:
        """A page and its translations."""
        return self._translations.get(without_language(page), [page])

    def _names(self) -> list[SourceNames]:
        names = read_source_names(self._ground, self._entries)
        return [names.get(one.id, NO_NAMES) for one in self._entries.values()]


def _sample(view: View, documents: Sequence[FilePath]) -> Collection[PageMentions]:
    step = -(-len(documents) // MAX_PAGES_READ) or 1
    return _read_mentions(view, documents[::step]).values()


def _read_mentions(view: View, pages: Collection[FilePath]) -> dict[FilePath, PageMentions]:
    there = {path: entry for path, entry in view.entries(pages).items() if entry}
    mentions = read_page_mentions(view.context, there)
    return {path: mentions.get(entry.id, NO_MENTIONS) for path, entry in there.items()}


def _translations(documents: Iterable[FilePath]) -> Mapping[str, list[FilePath]]:
    same: dict[str, list[FilePath]] = {}
    for page in documents:
        same.setdefault(without_language(page), []).append(page)
    return same


def _hashed(view: View, entries: Mapping[FilePath, Entry]) -> dict[FilePath, Entry]:
    changed = [path for path in entries if view.is_changed(path)]
    hashed = {path: entry for path, entry in view.entries(changed).items() if entry}
    return {**entries, **hashed}


def _page_rarity(mentions: Collection[PageMentions]) -> PageRarity:
    counts = Counter(one.text for said in mentions for one in said.identifiers)
    return PageRarity(counts, len(mentions))


def _joined(own: PageMentions, others: Sequence[PageMentions]) -> PageMentions:
    paths = {one.text: one for said in others for one in said.paths}
    identifiers = {one.text: one for said in others for one in said.identifiers}
    for known in own.paths:
        paths.pop(known.text, None)
    for known in own.identifiers:
        identifiers.pop(known.text, None)
    return own._replace(
        headings=" ".join([own.headings, *(said.headings for said in others)]),
        paths=(*own.paths, *(one._replace(line=0) for one in paths.values())),
        identifiers=(*own.identifiers, *(one._replace(line=0) for one in identifiers.values())),
        fenced=own.fenced.union(*(said.fenced for said in others)),
    )
