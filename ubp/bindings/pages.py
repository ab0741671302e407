"""Which documents describe a source: suggested bindings, turned round."""

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from ubp.bindings.evidence import EvidenceIndex, listed_sources, open_evidence
from ubp.bindings.explain import ExplainContext, explain_source
from ubp.bindings.features import Evidence, confidence, read_signals, score
from ubp.bindings.sources import find_candidates
from ubp.code.names import SourceNames, read_names
from ubp.core.model import FilePath
from ubp.git.output import blob_id
from ubp.index.names import read_source_names
from ubp.index.session import Session
from ubp.index.view import View

# A text is a version of a file if they share this much of their names; two files hardly ever do.
SAME_FILE = 0.6
MIN_NAMES = 5


class DescribingPage(NamedTuple):
    """A document that describes a source, for certain (1.0) where it names it, or probably."""

    filepath: FilePath
    confidence: float


def find_file(session: Session, view: View, text: str) -> FilePath | None:
    """Return the file that a text is, or an edited version or large part of; None: none."""
    data = text.encode("utf-8", "surrogateescape")
    candidates = find_candidates(view, session.is_hidden)
    by_blob = {entry.id: path for path, entry in candidates.items()}
    for ending in (b"", b"\n"):  # clients trim what they send
        if path := by_blob.get(blob_id(data + ending)):
            return path
    wanted = read_names(data)
    if len(wanted.used) < MIN_NAMES:
        return None
    names = view.derived("names of sources", lambda: _read_names(view, candidates.keys()))
    best = max(names, key=lambda path: _similarity(wanted, names[path]), default=None)
    return best if best and _similarity(wanted, names[best]) >= SAME_FILE else None


def find_pages(session: Session, view: View, source: FilePath) -> tuple[DescribingPage, ...]:
    """Return the documents that describe a source, best first, with any evidence at all."""
    bound = listed_sources(view)
    pages = view.document_paths()
    index = open_evidence(session, view, bound)
    odds = view.derived("odds of bindings", lambda: _read_odds(view, index, pages))
    number = index.sources.numbers.get(source, -1)
    described = [
        DescribingPage(page, 1.0)
        if source in bound.get(page, ())
        else DescribingPage(page, confidence(odds[page][number]))
        for page in pages
        if source in bound.get(page, ()) or number in odds[page]
    ]
    return tuple(sorted(described, key=lambda page: (-page.confidence, page.filepath)))


def explain_page(
    session: Session, view: View, source: FilePath, page: FilePath
) -> tuple[Evidence, ...]:
    """Return why a document seems to describe a source; empty where it names it as one."""
    bound = listed_sources(view)
    if source in bound.get(page, ()):
        return ()
    index = open_evidence(session, view, bound)
    index.load(view, [page])
    raw = index.raw_signals(page)
    signals = read_signals(raw, index.sources, index.activities)
    number = index.sources.numbers[source]
    if number not in signals:
        return ()
    context = ExplainContext(page, raw, index.mentions(page), index.sources, signals)
    return explain_source(number, context)


def _read_odds(
    view: View, index: EvidenceIndex, pages: Sequence[FilePath]
) -> dict[FilePath, dict[int, float]]:
    """Return the logarithm of the odds that each document describes each source (7 ms a page)."""
    index.load(view, pages)
    odds: dict[FilePath, dict[int, float]] = {}
    for done, page in enumerate(pages, 1):
        view.context.progress("Comparing pages with sources", done, len(pages))
        signals = read_signals(index.raw_signals(page), index.sources, index.activities)
        odds[page] = {number: score(of_source) for number, of_source in signals.items()}
    return odds


def _read_names(view: View, paths: Collection[FilePath]) -> Mapping[FilePath, SourceNames]:
    entries = {path: entry for path, entry in view.entries(paths).items() if entry}
    names = read_source_names(view.context, entries)
    return {path: names[entry.id] for path, entry in entries.items() if entry.id in names}


def _similarity(first: SourceNames, second: SourceNames) -> float:
    """Return the share of the names that two sources have in common."""
    shared = len(first.used & second.used)
    return shared / (len(first.used | second.used) or 1)
