"""Which of the proposals are sure enough.

An answer that was given before: where nothing has changed since, it holds still.

Use case: for each page, the sources that it seems to describe.
"""

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from hashlib import sha1
from heapq import nlargest
from typing import NamedTuple

from ubp.bindings.evidence import EvidenceIndex, SuggestInputs
from ubp.bindings.explain import ExplainContext, find_folder_reasons, find_reasons
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
from ubp.bindings.sources import CandidateSources
from ubp.core.config import scope_key
from ubp.core.model import FilePath, ObjectId
from ubp.core.paths import nfc
from ubp.index.history import History
from ubp.index.select import select_pages
from ubp.index.session import Session
from ubp.index.store.facts import NameTable
from ubp.index.view import View

# Of proposals that are less sure hardly one in five is right: to look at them takes more time than
# they are worth.
MIN_REVIEW_CONFIDENCE = 0.2


class BindingCounts(NamedTuple):
    """Pages with a proposal worth a look, pages with a sure one, and the sure proposals."""

    proposed: int
    confident: int
    sources: int


def confident_suggestions(page: PageSuggestions, least: float) -> tuple[Suggestion, ...]:
    """The proposals for a page with this confidence or more, the best first."""
    return tuple(one for one in page.suggestions if one.confidence >= least)


def choose_bindings(found: BindingSuggestions, least: float) -> Mapping[FilePath, Sequence[str]]:
    """The sources to write into each page."""
    chosen = {page.filepath: confident_suggestions(page, least) for page in found.pages}
    return {path: [one.source_path for one in ones] for path, ones in chosen.items() if ones}


def count_bindings(found: BindingSuggestions, sure: float) -> BindingCounts:
    """How many pages could be bound, how many of them with confidence."""
    chosen = choose_bindings(found, sure)
    return BindingCounts(
        sum(
            1
            for page in found.pages
            if confident_suggestions(page, min(MIN_REVIEW_CONFIDENCE, sure))
        ),
        len(chosen),
        sum(len(sources) for sources in chosen.values()),
    )


class Remembered:
    """The last answer, keyed by everything it depends on: the snapshot, the question, the weights.

    With it the second `ubp bind` takes 0.3 s of CPU for 311 pages and 0.4 s for 1,451, without it
    1.9 and 3.3 s (benchmarks/README.md, "Bindings").
    """

    def __init__(self, view: View, question: Sequence[object]) -> None:
        """`question` must tell everything that was asked, and what is hidden."""
        self._stored = NameTable(view.context.store.database, "answer")
        changed = sorted(view.entries(view.snapshot.changes).items())
        shallow = sorted(view.context.repository.shallow_commits())
        ground = (view.snapshot.commit, changed, shallow)
        text = repr((*ground, *question, BIAS, WEIGHTS, SCALE, SHIFT)).encode(
            "utf-8", "surrogateescape"
        )
        self._key = ObjectId(sha1(text, usedforsecurity=False).hexdigest())

    def recall(self) -> list[PageSuggestions] | None:
        """The answer; None: it was not given, or another one has been given since."""
        found = self._stored.read([self._key]).get(self._key)
        return None if found is None else [_page(*one) for one in json.loads(found)]

    def keep(self, pages: Sequence[PageSuggestions]) -> None:
        """Remember this answer in the place of the last one."""
        self._stored.forget()
        self._stored.save({self._key: json.dumps(pages, separators=(",", ":"))})


def _page(path: FilePath, suggestions: list[list[object]]) -> PageSuggestions:
    return PageSuggestions(path, tuple([_suggestion(*one) for one in suggestions]))  # type: ignore[arg-type]  # JSON


def _suggestion(path: str, confidence: float, evidence: list[list[object]]) -> Suggestion:
    return Suggestion(path, confidence, tuple([Evidence(*one) for one in evidence]))  # type: ignore[arg-type]  # JSON


# A source that is less likely than this is not worth reading about.
MIN_LISTED_CONFIDENCE = 0.02
PROSE = (".md", ".markdown", ".mdx", ".rst")


class SuggestRequest(NamedTuple):
    """What is asked: at most `limit` sources of each page, none that is hidden or refused.

    `scope` tells the configuration that hides, and the keys of front matter that bind.
    """

    pages: Sequence[FilePath]
    limit: int
    is_hidden: Callable[[FilePath], bool]
    refused: Collection[tuple[FilePath, FilePath]]
    scope: str


def suggest_bindings(
    session: Session, view: View, pages: Sequence[str], *, limit: int, all_pages: bool
) -> BindingSuggestions:
    """Return the sources that pages seem to describe.

    Of the pages without references; `pages` (PATHs) narrows to those, bound or not, and
    `all_pages` includes every page.

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
    configuration = f"{scope_key(config)}\n{config.keys}"
    request = SuggestRequest(selected, limit, session.is_hidden, config.refused, configuration)
    suggestions = suggest_sources(view, session.history, request)
    return BindingSuggestions(tuple(suggestions), len(documents), len(bound))


def suggest_sources(view: View, history: History, request: SuggestRequest) -> list[PageSuggestions]:
    """The sources of each page; what it names already is not among them."""
    question = (request.pages, request.limit, sorted(request.refused), request.scope)
    remembered = Remembered(view, question)
    if (answer := remembered.recall()) is not None:
        return answer
    bound = _bindings(view)

    def gather() -> EvidenceIndex:
        head = view.snapshot.commit
        log = history.change_log(head=head) if head else []
        return EvidenceIndex(SuggestInputs(view, request.is_hidden, log, bound))

    # Who asks about one page asks about others, too, before anything changes.
    gathered = view.derived("gathered", gather)
    gathered.ask(view, request.pages)
    found = []
    for done, page in enumerate(request.pages, 1):
        view.context.progress("Looking for sources", done, len(request.pages))
        known = {nfc(path) for path in bound.get(page, ())}
        known |= {source for one, source in request.refused if one == nfc(page)}
        found.append(PageSuggestions(page, _suggest(page, gathered, known, request.limit)))
    remembered.keep(found)
    return found


def _suggest(
    page: FilePath, gathered: EvidenceIndex, known: Collection[str], limit: int
) -> tuple[Suggestion, ...]:
    said = gathered.about(page)
    sources = gathered.sources
    signals = read_signals(said, sources, gathered.activities)
    confidences = {
        number: confidence(score(one))
        for number, one in signals.items()
        if _is_meant(number, said, sources)
    }
    told = ExplainContext(said, gathered.mentions(page), sources, signals)
    found = find_folders(page, confidences, said.mentioned.folders, sources, gathered.touched)
    folders = [one for one in found if not _touches(one.path, known)]
    covered = {number for one in folders for number in one.inside}
    files = {number: sure for number, sure in confidences.items() if number not in covered}
    ranked = nlargest(limit + len(known), files, key=lambda number: (files[number], -number))
    proposed = [
        Suggestion(f"{one.path}/", one.confidence, find_folder_reasons(one, told))
        for one in folders
    ] + [
        Suggestion(sources.paths[number], files[number], find_reasons(number, told))
        for number in ranked
        if files[number] >= MIN_LISTED_CONFIDENCE and not _is_within(sources.paths[number], known)
    ][:limit]
    return tuple(sorted(proposed, key=lambda one: -one.confidence)[:limit])


def _bindings(view: View) -> Mapping[FilePath, list[FilePath]]:
    return {
        page.filepath: [one.source_path for one in page.facts.references]
        for page in view.bound_pages()
        if page.facts.references
    }


def _is_within(path: str, known: Collection[str]) -> bool:
    """Whether a source, or a folder that it lies in, is among those known."""
    parts = nfc(path).split("/")
    return any("/".join(parts[:end]) in known for end in range(1, len(parts) + 1))


def _is_meant(number: int, said: RawSignals, sources: CandidateSources) -> bool:
    """Whether a source is more than prose, or named by the page, or bound to one beside it.

    Prose that is no document shares words with any page: a changelog, an excluded draft.
    """
    return (
        not sources.paths[number].lower().endswith(PROSE)
        or number in said.mentioned.path
        or said.mentioned.name.get(number, 0.0) >= 1
        or number in said.siblings
    )


def _touches(folder: str, known: Collection[str]) -> bool:
    """Whether a folder is among those known or within one, or has one in it."""
    own = f"{nfc(folder)}/"
    return _is_within(folder, known) or any(one.startswith(own) for one in known)
