"""Where a page came from in the change that made it: a page that only moved is not edited.

What a page described: each source as its pin, its history or its edit has it.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from ubp.core.model import (
    BaselineKind,
    Entry,
    FilePath,
    LastChange,
    ObjectId,
    Page,
    SourceReference,
)
from ubp.core.paths import closest_path
from ubp.index.history import History
from ubp.index.view import View
from ubp.staleness.model import StalenessContext
from ubp.staleness.references import LocatedSource, Source, candidates

Lookup = Callable[[Collection[FilePath]], Mapping[FilePath, Entry | None]]


class Origins:
    """Maps pages after a change to their paths before it."""

    def __init__(
        self, after: View, before: Lookup, changes: Mapping[FilePath, Entry | None]
    ) -> None:
        """Take the view after the change, the entries before it, and the files that differ."""
        self._after = after
        self._before = before
        self._changes = changes
        self._found: dict[FilePath, FilePath | None] = {}

    @classmethod
    def uncommitted(cls, view: View) -> "Origins":
        """The change from a snapshot's commit to the snapshot."""
        return cls(view, view.base_entries, view.snapshot.changes)

    def of(self, path: FilePath) -> FilePath | None:
        """The path before the change whose bytes this page still has; None: edited or new.

        An equal blob under a path that the change removed is the origin of a page that was not
        there: of several the same file name, then the longest common prefix, then the alphabet.
        """
        if path not in self._changes:
            return path
        if path not in self._found:
            self._found[path] = self._find(path)
        return self._found[path]

    def is_edited(self, path: FilePath) -> bool:
        """Whether the change touched the page's bytes; a change of mode or name alone does not."""
        return self.of(path) is None

    def _find(self, path: FilePath) -> FilePath | None:
        entry = self._after.entry(path)
        before = self._before([path])[path]
        if entry is None:
            return None
        if before is not None:
            return path if before.id == entry.id else None
        removed = self._before([p for p, change in self._changes.items() if change is None])
        return closest_path(path, [p for p, old in removed.items() if old and old.id == entry.id])


class Baseline(NamedTuple):
    """The state that a reference described.

    `id` is None where nothing stood; `is_known` is False where a shallow clone ends before it.
    `commit` holds the baseline for `history`. `source` is the path that was found there: a source
    that is gone from the snapshot may have been meant literally.
    """

    kind: BaselineKind
    source: Source
    id: str | None
    commit: ObjectId | None = None
    is_known: bool = True


class BaselineRequest:
    """A reference of a page, on its way to a verdict.

    Equal to itself alone: hashing a page's facts again and again took a tenth of a warm run.
    """

    __slots__ = ("page", "reference")

    def __init__(self, page: Page, reference: SourceReference) -> None:
        self.page = page
        self.reference = reference


def find_baselines(
    subjects: Sequence[BaselineRequest],
    located: Mapping[SourceReference, LocatedSource],
    court: StalenessContext,
    origins: Origins,
    is_edited: Callable[[FilePath], bool],
) -> dict[BaselineRequest, Baseline]:
    """The baseline of each reference of each page, in their order.

    A pin is its own baseline. An unpinned reference of a page that is being edited describes the
    snapshot itself; of any other page, the tree of the last commit that changed the page's bytes
    (`ubp.git.history.last_changes` has the two exceptions).
    """
    baselines: dict[BaselineRequest, Baseline] = {}
    historical: list[BaselineRequest] = []
    for subject in subjects:
        here, pin = located[subject.reference], subject.reference.pin
        if pin:
            baselines[subject] = Baseline("pin", here.source, pin)
        elif is_edited(subject.page.filepath):
            baselines[subject] = Baseline("snapshot", here.source, here.id)
        else:
            historical.append(subject)
    if historical:
        changes = _last_changes(court, origins)
        baselines |= _from_history(historical, located, changes, court.history)
    return {subject: baselines[subject] for subject in subjects}


def _last_changes(court: StalenessContext, origins: Origins) -> dict[FilePath, LastChange]:
    """The last change of every bound page, whoever is asked about.

    A hook asks about a few pages, each time others: were only they walked for, the next commit's
    hook would walk the whole history for its own.
    """
    head = court.view.snapshot.commit
    if head is None:
        return {}
    unpinned = court.view.derived("unpinned", partial(_unpinned_pages, court.view))
    names = {path: origin for path in unpinned if (origin := origins.of(path))}
    changes = court.history.last_changes(head, set(names.values()))
    return {page: changes[name] for page, name in names.items() if name in changes}


def _unpinned_pages(view: View) -> list[FilePath]:
    """The pages with a reference that has no pin."""
    return [
        page.filepath
        for page in view.bound_pages()
        if any(reference.pin is None for reference in page.facts.references)
    ]


def _from_history(
    subjects: Sequence[BaselineRequest],
    located: Mapping[SourceReference, LocatedSource],
    changes: Mapping[FilePath, LastChange],
    history: History,
) -> dict[BaselineRequest, Baseline]:
    paths: dict[ObjectId, set[FilePath]] = defaultdict(set)
    globs: dict[ObjectId, set[str]] = defaultdict(set)
    dated: dict[BaselineRequest, tuple[ObjectId, tuple[FilePath, ...]]] = {}
    for subject in subjects:
        found, change = located[subject.reference], changes.get(subject.page.filepath)
        if change is None or change.is_boundary:
            continue
        tried = _paths_to_try(subject.reference, found)
        dated[subject] = change.commit, tried
        paths[change.commit].update(tried)
        if pattern := found.source.pattern:
            globs[change.commit].add(pattern)
    entries, trees = history.entries_at(paths), history.globs_at(globs) if globs else {}
    baselines = {}
    for subject in subjects:
        here = located[subject.reference].source
        if subject not in dated:
            baselines[subject] = Baseline("history", here, None, is_known=False)
            continue
        commit, tried = dated[subject]
        tree = trees[commit, here.pattern] if here.pattern else None
        baselines[subject] = Baseline("history", here, tree, commit)
        for path in tried:
            if entry := entries[commit, path]:
                baselines[subject] = Baseline("history", Source(path), entry.id, commit)
                break
    return baselines


def _paths_to_try(reference: SourceReference, here: LocatedSource) -> tuple[FilePath, ...]:
    """Where the source may have stood: where it is now, else wherever it may have meant."""
    if here.id is not None and not here.source.pattern:
        return (here.source.path,)
    return candidates(reference)
