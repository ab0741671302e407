"""The evidence index: everything that connects the documents of a snapshot with its sources."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet

from ubp.bindings.collected import CollectRequest, find_sources, read_collected, read_names
from ubp.bindings.features import RawSignals
from ubp.bindings.folders import CoChange
from ubp.bindings.history_evidence import CoChangeHistory
from ubp.bindings.path_evidence import SiblingBindings, find_similar_paths
from ubp.bindings.sources import CandidateSources
from ubp.bindings.text_evidence import (
    PageRarity,
    find_embedded,
    find_identifier_matches,
    find_text_mentions,
    only_language,
)
from ubp.core.config import scope_key
from ubp.core.languages import without_language
from ubp.core.model import FilePath
from ubp.core.repository_names import repository_name, short_name
from ubp.git.repository import Repository
from ubp.index.names import read_page_mentions
from ubp.index.session import Session
from ubp.index.view import View
from ubp.markdown.mentions import PageMentions

NO_MENTIONS = PageMentions("", (), (), frozenset())


class EvidenceIndex:
    """The evidence for every source; `raw_signals` returns it for a document that was loaded."""

    def __init__(
        self, request: CollectRequest, bound: Mapping[FilePath, Iterable[FilePath]]
    ) -> None:
        """Collect the evidence in a snapshot; `bound` are the source references of documents."""
        self._request = request
        collected = read_collected(request)
        self._rarity = PageRarity(collected.page_counts, collected.page_count)
        self._translations: dict[str, list[FilePath]] = {}
        for page in request.view.document_paths():
            self._translations.setdefault(without_language(page), []).append(page)
        self.sources = CandidateSources(
            collected.paths, collected.sizes, collected.users, collected.definers
        )
        self._looked_up = set(collected.page_counts)
        self._back_references = collected.naming
        numbers = self.sources.numbers
        self._history = CoChangeHistory(collected.co_changes)
        self.activities = self._history.activities()
        self.co_change = CoChange(self._history.count_commits, self._history.commits)
        self._bindings = SiblingBindings(
            {
                page: [numbers[path] for path in paths if path in numbers]
                for page, paths in bound.items()
            }
        )
        self._mentions: dict[FilePath, PageMentions] = {}

    def load(self, view: View, pages: Collection[FilePath]) -> None:
        """Read the mentions of these documents and their translations, if not yet loaded."""
        required = {translation for page in pages for translation in self._translations_of(page)}
        new = read_page_mentions(view, required - self._mentions.keys())
        self._mentions |= new
        self._look_up({mention.text for page in new.values() for mention in page.identifiers})

    def find_users(self, identifiers: Collection[str]) -> dict[str, frozenset[FilePath]]:
        """Return the sources that use each of these identifiers."""
        self._look_up(set(identifiers))
        paths, users = self.sources.paths, self.sources.users
        return {
            identifier: frozenset(paths[number] for number in users.get(identifier, ()))
            for identifier in identifiers
        }

    def raw_signals(self, page: FilePath) -> RawSignals:
        """Return the evidence for each source of a document."""
        mentions = self.mentions(page)
        return RawSignals(
            find_text_mentions(page, mentions, self.sources, self._request.own_names),
            find_identifier_matches(mentions, self._rarity, self.sources),
            find_similar_paths(page, mentions.headings, self.sources),
            self._history.co_changes(page),
            self._back_references.get(page, ()),
            self._bindings.of_siblings(page),
            self._history.has_history(page),
            only_language(mentions.languages),
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

    def _look_up(self, identifiers: AbstractSet[str]) -> None:
        if unknown := identifiers - self._looked_up:
            self._looked_up |= unknown
            request = self._request
            entries = find_sources(request.view, request.is_hidden)
            self.sources.look_up(read_names(request.view, entries), unknown)

    def _translations_of(self, page: FilePath) -> Sequence[FilePath]:
        """Return a document and its translations."""
        return self._translations.get(without_language(page), [page])


def open_evidence(
    session: Session,
    view: View,
    bound: Mapping[FilePath, Iterable[FilePath]],
) -> EvidenceIndex:
    """Return the evidence in a snapshot, cached until its view forgets it.

    After a request about one document others often follow before anything changes.
    """

    def build_index() -> EvidenceIndex:
        head = view.snapshot.commit
        request = CollectRequest(
            view,
            session.is_hidden,
            lambda: session.history.change_log(head=head) if head else (),
            scope_key(session.config),
            read_own_names(session.repository),
        )
        return EvidenceIndex(request, bound)

    return view.derived("binding evidence", build_index)


def listed_sources(view: View) -> dict[FilePath, list[FilePath]]:
    """Return the sources that each document lists."""
    return {
        page.filepath: [reference.source_path for reference in page.facts.references]
        for page in view.bound_pages()
        if page.facts.references
    }


def read_own_names(repository: Repository) -> frozenset[str]:
    """Return the names of a repository at the forges that are its remotes, without owners."""
    urls = repository.run("config", "--get-regexp", r"^remote\..*\.url$", ok=(0, 1))
    lines = urls.decode("utf-8", "replace").splitlines()
    names = (repository_name(line.partition(" ")[2]) for line in lines)
    return frozenset(short_name(name) for name in names if name)


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
