"""The evidence index: everything that connects the documents of a snapshot with its sources."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from ubp.bindings.features import RawSignals
from ubp.bindings.folders import CoChange
from ubp.bindings.history_evidence import CoChangeHistory
from ubp.bindings.path_evidence import SiblingBindings, find_similar_paths
from ubp.bindings.sources import CandidateSources, find_candidates
from ubp.bindings.text_evidence import (
    PageRarity,
    find_back_references,
    find_embedded,
    find_identifier_matches,
    find_text_mentions,
)
from ubp.code.names import NO_NAMES, SourceNames
from ubp.core.languages import without_language
from ubp.core.model import FilePath
from ubp.git.change_log import LoggedChange
from ubp.index.names import read_page_mentions, read_source_names
from ubp.index.view import View
from ubp.markdown.mentions import PageMentions

# A sample of this size is enough to estimate how rare an identifier is among documents.
MAX_PAGES_READ = 2_000

EMPTY_BLOBS = frozenset(
    {
        "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391",
        "473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813",
    }
)
"""The ids of an empty file, by SHA-1 and SHA-256: `__init__.py`, `.gitkeep`."""

NO_MENTIONS = PageMentions("", (), (), frozenset())


class SuggestInputs(NamedTuple):
    """What evidence is collected from; `bound` are the source references of each document."""

    view: View
    is_hidden: Callable[[FilePath], bool]
    log: Iterable[LoggedChange]
    bound: Mapping[FilePath, Iterable[FilePath]]


class EvidenceIndex:
    """The evidence for every source; `raw_signals` returns it for a document that was loaded."""

    def __init__(self, inputs: SuggestInputs, pages: Collection[FilePath] = ()) -> None:
        """Load the mentions of `pages`; `load` adds those of others."""
        view = inputs.view
        self._context = view.context
        documents = view.document_paths()
        entries = dict(find_candidates(view, inputs.is_hidden))
        changed = [path for path in entries if view.is_changed(path)]
        entries |= {path: entry for path, entry in view.entries(changed).items() if entry}
        entries = {path: entry for path, entry in entries.items() if entry.id not in EMPTY_BLOBS}
        self._entries = entries
        sample = documents[:: -(-len(documents) // MAX_PAGES_READ) or 1]
        mentions = _read_mentions(view, sample).values()
        self._rarity = PageRarity(
            Counter(
                identifier.text
                for page_mentions in mentions
                for identifier in page_mentions.identifiers
            ),
            len(mentions),
        )
        self._translations: dict[str, list[FilePath]] = {}
        for page in documents:
            self._translations.setdefault(without_language(page), []).append(page)
        names = self._read_names()
        self.sources = CandidateSources(list(entries), names, self._rarity.counts.keys())
        self._back_references = find_back_references(documents, names)
        numbers = self.sources.numbers
        self._history = CoChangeHistory(inputs.log, numbers, documents)
        self.activities = self._history.activities()
        self.co_change = CoChange(self._history.count_commits, self._history.commits)
        self._bindings = SiblingBindings(
            {
                page: [numbers[path] for path in paths if path in numbers]
                for page, paths in inputs.bound.items()
            }
        )
        self._mentions: dict[FilePath, PageMentions] = {}
        self.load(view, pages)

    def load(self, view: View, pages: Collection[FilePath]) -> None:
        """Read the mentions of these documents and their translations, if not yet loaded."""
        required = {translation for page in pages for translation in self._translations_of(page)}
        new = _read_mentions(view, required - self._mentions.keys())
        self._mentions |= new
        identifiers = {mention.text for page in new.values() for mention in page.identifiers}
        if unknown := self.sources.unknown(identifiers):
            self.sources.look_up(self._read_names(), unknown)

    def raw_signals(self, page: FilePath) -> RawSignals:
        """Return the evidence for each source of a document."""
        mentions = self.mentions(page)
        return RawSignals(
            find_text_mentions(page, mentions, self.sources),
            find_identifier_matches(mentions, self._rarity, self.sources),
            find_similar_paths(page, mentions.headings, self.sources),
            self._history.co_changes(page),
            self._back_references.get(page, ()),
            self._bindings.of_siblings(page),
            self._history.has_history(page),
        )

    def mentions(self, page: FilePath) -> PageMentions:
        """Return what a document mentions, and what only its translations mention (line 0)."""
        translations = [
            self._mentions[path]
            for path in self._translations_of(page)
            if path != page and path in self._mentions
        ]
        own = self._mentions.get(page, NO_MENTIONS)
        return _merge_mentions(own, translations) if translations else own

    def embedded(self, page: FilePath) -> set[FilePath]:
        """Return the sources that are parts of a document."""
        numbers = find_embedded(page, self.mentions(page), self.sources)
        return {self.sources.paths[number] for number in numbers}

    def _translations_of(self, page: FilePath) -> Sequence[FilePath]:
        """Return a document and its translations."""
        return self._translations.get(without_language(page), [page])

    def _read_names(self) -> list[SourceNames]:
        names = read_source_names(self._context, self._entries)
        return [names.get(entry.id, NO_NAMES) for entry in self._entries.values()]


def _read_mentions(view: View, pages: Collection[FilePath]) -> dict[FilePath, PageMentions]:
    entries = {path: entry for path, entry in view.entries(pages).items() if entry}
    mentions = read_page_mentions(view.context, entries)
    return {path: mentions.get(entry.id, NO_MENTIONS) for path, entry in entries.items()}


def _merge_mentions(own: PageMentions, others: Sequence[PageMentions]) -> PageMentions:
    paths = {mention.text: mention for other in others for mention in other.paths}
    identifiers = {mention.text: mention for other in others for mention in other.identifiers}
    for mention in own.paths:
        paths.pop(mention.text, None)
    for mention in own.identifiers:
        identifiers.pop(mention.text, None)
    return own._replace(
        embedded=own.embedded.union(*(other.embedded for other in others)),
        headings=" ".join([own.headings, *(other.headings for other in others)]),
        paths=(*own.paths, *(mention._replace(line=0) for mention in paths.values())),
        identifiers=(
            *own.identifiers,
            *(mention._replace(line=0) for mention in identifiers.values()),
        ),
        fenced=own.fenced.union(*(other.fenced for other in others)),
    )
