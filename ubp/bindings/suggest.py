"""Suggested bindings: for each document the sources that it seems to describe."""

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from hashlib import sha1
from heapq import nlargest
from typing import NamedTuple

from ubp.bindings.evidence import EvidenceIndex, listed_sources, open_evidence, read_own_names
from ubp.bindings.explain import ExplainContext, explain_folder, explain_source
from ubp.bindings.features import (
    BIAS,
    SCALE,
    SHIFT,
    WEIGHTS,
    BindingSuggestions,
    Evidence,
    PageSuggestions,
    RawSignals,
    Suggestion,
    confidence,
    read_signals,
    score,
)
from ubp.bindings.folders import find_folders
from ubp.bindings.narrow import MIN_CHANGES, FileHistory, find_narrowings, find_older
from ubp.bindings.path_words import records_past
from ubp.bindings.sources import PROSE, CandidateSources, is_incidental, is_manifest, is_setting
from ubp.code.symbols import parser_version
from ubp.core.config import scope_key
from ubp.core.interruption import with_checkpoints
from ubp.core.languages import without_language
from ubp.core.model import FilePath, ObjectId
from ubp.core.paths import nfc
from ubp.core.source import SourceMap, possible_sources
from ubp.index.history import History
from ubp.index.select import select_pages
from ubp.index.session import Session
from ubp.index.store.facts import NameTable
from ubp.index.view import View
from ubp.markdown.document import read_head
from ubp.markdown.rendered import has_rendering, is_rendered
from ubp.staleness.ranking import CommitIndex

# Hardly one in five suggestions of lower confidence is right: to review them takes more time than
# they are worth.
MIN_REVIEW_CONFIDENCE = 0.2
# Suggestions of lower confidence are not worth reading.
MIN_LISTED_CONFIDENCE = 0.02
# What is listed with a confidence is also counted and written with it.
CONFIDENCE_DIGITS = 3
MAX_COMMITS = 500  # in which a file's changes are replayed, as by `ubp bind --review`


class SuggestRequest(NamedTuple):
    """At most `limit` sources of each document, none of them hidden or refused.

    `scope` identifies the configuration that hides files, and the keys of source references.
    """

    pages: Sequence[FilePath]
    limit: int
    refused: Collection[tuple[FilePath | None, FilePath]]
    scope: str


class BindingCounts(NamedTuple):
    """Documents with any suggestion worth a review, with a confident one; confident suggestions."""

    proposed: int
    confident: int
    sources: int


def suggest_bindings(
    session: Session, view: View, pages: Sequence[str], *, limit: int, all_pages: bool
) -> BindingSuggestions:
    """Return the sources that pages seem to describe.

    Of the pages without references; `pages` (PATHs) narrows to those, bound or not, and
    `all_pages` includes every page. Changelogs and other records of the past, `.github` and
    fixtures are left out, unless there are no other pages among these.

    Raises:
        UsageError: a PATH matches no page.
    """
    documents = view.document_paths()
    bound = {page.filepath for page in view.bound_pages() if page.facts.references}
    if pages:
        selected = sorted(select_pages(pages, view, session.repository))
    else:
        selected = [path for path in documents if all_pages or path not in bound]
    config = session.config
    records = frozenset(path for path in selected if records_past(path))
    if len(records) == len(selected):  # they were asked for
        records = frozenset()
    selected = [path for path in selected if path not in records]
    scope = f"{scope_key(config)}\n{config.keys}"
    request = SuggestRequest(selected, limit, config.refused, scope)
    suggestions = suggest_sources(session, view, request)
    return BindingSuggestions(tuple(suggestions), len(documents), len(bound), len(records))


def suggest_sources(session: Session, view: View, request: SuggestRequest) -> list[PageSuggestions]:
    """Return the suggested sources of each document, without those that it names or includes."""
    refused = sorted(request.refused, key=lambda pair: (pair[0] or "", pair[1]))
    own_names = sorted(read_own_names(session.repository))
    question = (request.pages, request.limit, refused, request.scope, own_names)
    cache = _SuggestionCache(view, question)
    if (cached := cache.read()) is not None:
        return cached
    index, bound = _open_evidence(session, view)
    index.load(view, request.pages)
    suggestions = []
    for done, page in enumerate(with_checkpoints(request.pages, 1), 1):
        view.context.progress("Finding sources", done, len(request.pages))
        excluded = [*bound.get(page, ()), *index.embedded(page)] + [
            _file_of(source, view)
            for refused_page, source in request.refused
            if refused_page in {None, nfc(page)}
        ]
        suggestions.append(PageSuggestions(page, _suggest(page, index, excluded, request.limit)))
    rendered = _find_rendered([page.filepath for page in suggestions if page.suggestions], view)
    suggestions = [
        page._replace(suggestions=()) if page.filepath in rendered else page for page in suggestions
    ]
    suggestions = _narrow(suggestions, view, session.history, request.limit)
    cache.write(suggestions)
    return suggestions


def rate_bindings(
    session: Session, view: View, pages: Mapping[FilePath, Collection[FilePath]]
) -> dict[FilePath, tuple[Suggestion, ...]]:
    """Return how likely each page describes each of these files, best first.

    Files that the page names already or includes are left out, and what `bind.refused` has; pages
    that a build makes of their sources get none.
    """
    if not pages:  # opening the evidence takes 20 to 250 ms
        return {}
    index, bound = _open_evidence(session, view)
    index.load(view, pages)
    rendered = _find_rendered(pages, view)
    rated: dict[FilePath, tuple[Suggestion, ...]] = {}
    for page, wanted in with_checkpoints(pages.items()):
        if page in rendered:
            rated[page] = ()
            continue
        refused = [source for at, source in session.config.refused if at in {None, nfc(page)}]
        excluded = [*bound.get(page, ()), *index.embedded(page), *refused]
        rated[page] = _rate(page, index, excluded, wanted)
    return rated


def find_users(
    session: Session, view: View, identifiers: Collection[str]
) -> Mapping[str, frozenset[FilePath]]:
    """Return the files that use each of these identifiers, of those that pages may describe."""
    return _open_evidence(session, view)[0].find_users(identifiers)


def _open_evidence(
    session: Session, view: View
) -> tuple[EvidenceIndex, Mapping[FilePath, Sequence[FilePath]]]:
    """Return the evidence for every source, and the sources of the bound documents."""
    bound = listed_sources(view)
    return open_evidence(session, view, bound), bound


def _find_rendered(pages: Collection[FilePath], view: View) -> set[FilePath]:
    """Return the pages that a build makes of their sources."""
    return {
        path
        for path, data in view.read(pages).items()
        # Front matter need not be parsed for most pages.
        if data
        and has_rendering(data.decode("utf-8", "replace"))
        and is_rendered(data[read_head(data, ()).body :].decode("utf-8", "replace"))
    }


def confident_suggestions(page: PageSuggestions, min_confidence: float) -> tuple[Suggestion, ...]:
    """Return the suggestions for a document with at least this confidence, best first."""
    return tuple(
        suggestion for suggestion in page.suggestions if suggestion.confidence >= min_confidence
    )


def choose_bindings(
    suggestions: BindingSuggestions, min_confidence: float
) -> Mapping[FilePath, Sequence[str]]:
    """Return the sources to write into each document."""
    chosen = {
        page.filepath: confident_suggestions(page, min_confidence) for page in suggestions.pages
    }
    return {
        path: [suggestion.source_path for suggestion in confident]
        for path, confident in chosen.items()
        if confident
    }


def count_bindings(suggestions: BindingSuggestions, min_confidence: float) -> BindingCounts:
    """Count the documents that could be bound, and those that can be with confidence."""
    chosen = choose_bindings(suggestions, min_confidence)
    min_review = min(MIN_REVIEW_CONFIDENCE, min_confidence)
    return BindingCounts(
        sum(1 for page in suggestions.pages if confident_suggestions(page, min_review)),
        len(chosen),
        sum(len(sources) for sources in chosen.values()),
    )


def _rate(
    page: FilePath,
    index: EvidenceIndex,
    excluded: Collection[FilePath],
    wanted: Collection[FilePath],
) -> tuple[Suggestion, ...]:
    known = SourceMap(
        (source, True) for path in excluded for source in possible_sources(FilePath(nfc(path)))
    )
    raw, sources = index.raw_signals(page), index.sources
    numbers = {sources.numbers[path] for path in wanted if path in sources.numbers}
    signals = read_signals(raw, sources, index.activities, numbers)
    context = ExplainContext(page, raw, index.mentions(page), sources, signals)
    rated = [
        Suggestion(
            sources.paths[number],
            confidence(score(signals[number])),
            explain_source(number, context),
        )
        for number in sorted(signals)
        if _is_plausible(page, number, raw, sources)
        and not any(known.matching(FilePath(nfc(sources.paths[number]))))
    ]
    return tuple(sorted(rated, key=lambda suggestion: -suggestion.confidence))


def _suggest(
    page: FilePath, index: EvidenceIndex, excluded: Collection[FilePath], limit: int
) -> tuple[Suggestion, ...]:
    known = [source for path in excluded for source in possible_sources(FilePath(nfc(path)))]
    known_map = SourceMap((source, True) for source in known)
    raw, sources = index.raw_signals(page), index.sources

    def is_known(number: int) -> bool:
        return any(known_map.matching(FilePath(nfc(sources.paths[number]))))

    signals = read_signals(raw, sources, index.activities)
    confidences = {
        number: confidence(score(source_signals))
        for number, source_signals in signals.items()
        if _is_plausible(page, number, raw, sources)
    }
    context = ExplainContext(page, raw, index.mentions(page), sources, signals)
    folders = [
        folder
        for folder in find_folders(
            page, confidences, raw.text_mentions.folders, sources, index.co_change
        )
        if not any(source.overlaps(nfc(folder.path)) for source in known)
        and not all(map(is_known, folder.sources))
    ]
    covered = {number for folder in folders for number in folder.sources}
    files = {number: value for number, value in confidences.items() if number not in covered}
    candidates = (
        number
        for number, value in files.items()
        if value >= MIN_LISTED_CONFIDENCE and not is_known(number)
    )
    listed = nlargest(limit, candidates, key=lambda number: (files[number], -number))
    suggestions = [
        Suggestion(f"{folder.path}/", folder.confidence, explain_folder(folder, context))
        for folder in folders
    ] + [
        Suggestion(sources.paths[number], files[number], explain_source(number, context))
        for number in listed
    ]
    suggestions.sort(key=lambda suggestion: -suggestion.confidence)
    return tuple(
        suggestion._replace(confidence=round(suggestion.confidence, CONFIDENCE_DIGITS))
        for suggestion in suggestions[:limit]
    )


def _file_of(source: FilePath, view: View) -> FilePath:
    """Return the file of a refused symbol: nothing of a file is proposed that was refused."""
    return source if view.entry(source) else FilePath(source.partition("#")[0])


def _narrow(
    suggestions: Sequence[PageSuggestions], view: View, history: History, limit: int
) -> list[PageSuggestions]:
    """Replace files that change often by the symbols of them that a document names, if it does."""
    pairs = {
        (page.filepath, FilePath(suggestion.source_path))
        for page in suggestions
        for suggestion in confident_suggestions(page, MIN_REVIEW_CONFIDENCE)
    }
    head = view.snapshot.commit
    if head is None or not pairs:
        return list(suggestions)
    log = history.change_log(MAX_COMMITS, head=head)
    index = CommitIndex((change.paths for change in log), {name for pair in pairs for name in pair})
    often = [pair for pair in pairs if len(index.of(pair[1])) >= MIN_CHANGES]
    older = find_older({page for page, _ in often}, log, MAX_COMMITS, history)

    def changes(page: FilePath, source: FilePath) -> FileHistory:
        touched = index.of(page)
        oldest = len(log) if page in older or not touched else touched[-1]
        return FileHistory([n for n in index.of(source) if n < oldest], touched)

    narrowings = find_narrowings({pair: changes(*pair) for pair in often}, view, log)

    def replaced(page: FilePath, suggestion: Suggestion) -> Iterator[Suggestion]:
        found = narrowings.get((page, FilePath(suggestion.source_path)))
        if found is None:
            yield suggestion
            return
        evidence = (Evidence("symbol", str(found.effect), None, 0.0), *suggestion.evidence)
        for source in found.sources:
            yield suggestion._replace(source_path=source, evidence=evidence)

    return [
        page._replace(
            suggestions=tuple(
                narrow
                for suggestion in page.suggestions
                for narrow in replaced(page.filepath, suggestion)
            )[:limit]
        )
        for page in suggestions
    ]


def _is_plausible(page: FilePath, number: int, raw: RawSignals, sources: CandidateSources) -> bool:
    """Return whether a source can be what a document is about.

    A manifest is not, unless a sibling lists it, nor are settings of Git and of editors; nor are
    fixtures, workflows of a CI and what builds a site, unless the page names their path. Prose that
    is not a document (a changelog, an excluded draft, a generated page) shares words with any
    document, and must be named. A page is not about its translation, which it names for its
    readers. Of files with the same name it is about those in the language of its examples.
    """
    if number in raw.siblings:
        return True
    path = sources.paths[number]
    if without_language(path) == without_language(page):
        return False
    is_named = number in raw.text_mentions.path
    is_named_alone = is_named or number in raw.text_mentions.name
    if not is_named_alone and raw.language and sources.has_namesake(number, raw.language):
        return False
    if is_manifest(path) or is_setting(path) or (is_incidental(path) and not is_named):
        return False
    return (
        not path.lower().endswith(PROSE) or is_named or raw.text_mentions.name.get(number, 0.0) >= 1
    )


class _SuggestionCache:
    """The last answer, keyed by everything it depends on: the snapshot, the request, the weights.

    Raise the number in the kind with what may give another answer for the same key.

    With it a second `ubp bind` takes 0.3 s of CPU for 311 documents and 0.4 s for 1,451, without it
    1.9 and 3.3 s (benchmarks/bindings/README.md).
    """

    def __init__(self, view: View, question: Sequence[object]) -> None:
        self._table = NameTable(view.context.store.database, "answer 10")
        changed = sorted(view.entries(view.snapshot.changes).items())
        shallow = sorted(view.context.repository.shallow_commits())
        snapshot = (view.snapshot.commit, changed, shallow)
        text = repr((*snapshot, *question, BIAS, WEIGHTS, SCALE, SHIFT, parser_version())).encode(
            "utf-8", "surrogateescape"
        )
        self._key = ObjectId(sha1(text, usedforsecurity=False).hexdigest())

    def read(self) -> list[PageSuggestions] | None:
        """Return the answer; None if another one has been written since, or none at all."""
        text = self._table.read([self._key]).get(self._key)
        if text is None:
            return None
        return [
            PageSuggestions(
                path,
                tuple(
                    [
                        Suggestion(source, value, tuple([Evidence(*fields) for fields in evidence]))
                        for source, value, evidence in suggestions
                    ]
                ),
            )
            for path, suggestions in json.loads(text)
        ]

    def write(self, suggestions: Sequence[PageSuggestions]) -> None:
        """Replace the last answer."""
        self._table.forget()
        self._table.save({self._key: json.dumps(suggestions, separators=(",", ":"))})
