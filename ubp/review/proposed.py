"""The pages that name what a change touches, and how likely they describe it."""

import re
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from ubp.bindings.describing import best_pairs, score_pages
from ubp.bindings.evidence import read_own_names
from ubp.bindings.features import Suggestion
from ubp.bindings.path_words import is_test
from ubp.bindings.suggest import rate_bindings
from ubp.core.model import (
    Assessment,
    FilePath,
    Page,
    ReferenceVerdict,
    SourceReference,
)
from ubp.index.names import read_page_mentions
from ubp.index.session import Session
from ubp.review.changed_files import ChangedFiles, changed_lines, unedited_pages
from ubp.staleness.evidence import OPTION, add_evidence
from ubp.staleness.model import Change

# A name that one side of the diff alone has; that both have; and one beside the changed lines.
ONE_SIDED, BOTH_SIDES, BESIDE = 1.0, 0.35, 0.15

_IDENTIFIER = r"[A-Za-z_]\w{3,}"


class ProposedPair(NamedTuple):
    """A page, a changed source that it does not list, and why it seems to describe it."""

    page: Page
    suggestion: Suggestion
    verdict: ReferenceVerdict


def find_proposed(
    session: Session, change: Change, files: ChangedFiles, selected: Collection[FilePath] | None
) -> list[tuple[Page, list[ProposedPair]]]:
    """Return the pages that name what the change touches, each with the sources concerned."""
    if not change.before or not files.sources:
        return []
    before, after = change.before[0].view, change.after.view
    pages = unedited_pages(session, change, selected)
    files.read(files.sources)
    weights = {path: _weights(files, path) for path in files.sources if not is_test(path)}
    own_names = read_own_names(session.repository)
    wanted = best_pairs(score_pages(read_page_mentions(after, pages), weights, own_names))
    rated = rate_bindings(session, before, wanted)
    return _with_evidence(rated, change, files)


def _weights(files: ChangedFiles, path: FilePath) -> dict[str, float]:
    """Return the names in the hunks of a file with their weights."""
    hunks = files.hunks(path)
    removed, added, beside = (
        set(_names("\n".join(changed_lines(hunks, sign)))) for sign in ("-", "+", " ")
    )
    weights = dict.fromkeys(beside, BESIDE)
    weights.update(dict.fromkeys(removed & added, BOTH_SIDES))
    weights.update(dict.fromkeys(removed ^ added, ONE_SIDED))
    return weights


def _names(text: str) -> list[str]:
    return [*re.findall(_IDENTIFIER, text, re.ASCII), *re.findall(OPTION, text, re.ASCII)]


def _with_evidence(
    rated: Mapping[FilePath, Sequence[Suggestion]], change: Change, files: ChangedFiles
) -> list[tuple[Page, list[ProposedPair]]]:
    """Return the pairs with what a reference of the page to the source would be reported for."""
    before = change.before[0].view
    pages = change.after.view.pages_at(rated)
    sources = {FilePath(s.source_path) for suggestions in rated.values() for s in suggestions}
    old, new = before.entries(sources), change.after.view.entries(sources)

    def verdict(source: FilePath) -> ReferenceVerdict:
        old_entry, new_entry = old[source], new[source]
        moved_to = None if new_entry else files.renames.new_path(source)
        return ReferenceVerdict(
            reference=SourceReference(source, source, source, None, "", 1),
            source_path=source,
            verdict="modified" if new_entry else "moved" if moved_to else "deleted",
            level="stale",
            baseline="history",
            baseline_commit=before.snapshot.commit,
            baseline_blob=old_entry.id if old_entry else None,
            current_blob=new_entry.id if new_entry else None,
            moved_to=moved_to,
        )

    assessments = [
        Assessment(
            pages[path],
            "stale",
            tuple(verdict(FilePath(suggestion.source_path)) for suggestion in suggestions),
        )
        for path, suggestions in rated.items()
        if path in pages and suggestions
    ]
    return [
        (
            assessed.page,
            [
                ProposedPair(assessed.page, suggestion, reference)
                for suggestion, reference in zip(
                    rated[assessed.page.filepath], assessed.references, strict=True
                )
            ],
        )
        for assessed in add_evidence(assessments, change.after, change.changes)
    ]
