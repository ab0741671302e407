"""Review of existing bindings by history: which are noise, too wide, or dead, and what to do."""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Literal, NamedTuple, get_args

from ubp.bindings.narrow import (
    MAX_FIRINGS_LEFT,
    MIN_CHANGES,
    WINDOW,
    FileHistory,
    Narrowed,
    find_narrowings,
    find_older,
    find_part_changes,
    replay,
)
from ubp.core.model import Assessment, FilePath, ReferenceVerdict, Verdict
from ubp.core.paths import is_glob
from ubp.core.source import PartSource, possible_sources
from ubp.git.change_log import LoggedChange
from ubp.index.view import View
from ubp.staleness.model import StalenessContext
from ubp.staleness.ranking import CommitIndex, pages_per_source

Judgement = Literal["hub", "noise", "wide", "dead", "unproven", "sound"]
"""Worst first. `noise`: it fires and is hardly ever answered; `hub`: noise, and many documents name
the source. `wide`: a folder or glob of which a few files matter, or a file of which a few symbols
do. `dead`: the source does not exist, as other commands report, too. `unproven`: too few changes to
judge. `sound`: the rest."""
JUDGEMENTS: tuple[Judgement, ...] = get_args(Judgement)
BROAD: frozenset[Judgement] = frozenset({"wide", "hub", "noise"})
NOISY: frozenset[Judgement] = frozenset({"hub", "noise"})

MAX_COMMITS = 500  # half a year of a busy project

# Three histories, reviewed every 50 commits and judged by the next 50
# (`benchmarks/bindings/binding_review.py`): without the bindings that MIN_CHANGES and these call
# noise, 1, 5 and 7 % of them, 95, 82 and 88 % of the firings remain, with 100, 87 and 93 % of those
# that a change of the document followed, and 99, 93 and 92 % of the changes that came with one of
# it. With any share of followed firings: 89, 72 and 82 %, with 92, 75 and 93 %. Six changes instead
# of ten: 92, 78 and 79 %, with 100, 82 and 47 %. The number of documents that name a source says
# nothing on its own.
MAX_CO_CHANGED = 0.05
MAX_FOLLOWED = 0.5

HUB_PAGES = 10
"""A source with this many documents is reported as the cause, not the documents."""

# No labeled repository has enough folders to measure these: they are what a person would accept if
# told in as many words.
MIN_CO_CHANGES = 3
"""Once is chance; three times is a pattern."""
MAX_RELEVANT_FILES = 3
MIN_COVERED_EDITS = 0.8


class Binding(NamedTuple):
    """A source reference of a document, in a line; `pages` documents name the same file.

    `is_wide`: the source consists of many files. `part`: it is a part of its file.
    """

    filepath: FilePath
    source_path: FilePath
    line: int
    verdict: Verdict
    pages: int
    is_wide: bool
    moved_to: FilePath | None = None
    part: PartSource | None = None

    @property
    def source(self) -> FilePath:
        """The source with its part, as in `src/auth.py#login`."""
        return self.part.name if self.part else self.source_path


class ReviewedBinding(NamedTuple):
    """A binding and its history.

    Of the last `commits` in which the document existed, `changed` changed the source, and
    `together` of them the document, too. The others would have fired: `followed` were answered by a
    change of the document within thirty days, and `pending` may still be. `proposal` is what to
    name instead; if it is empty and the judgement is bad, the reference should be removed.
    `narrowed`: what the proposal would have changed, if it is a part of the source.
    """

    binding: Binding
    judgement: Judgement
    commits: int
    changed: int
    together: int
    followed: int
    pending: int
    proposal: tuple[FilePath, ...] = ()
    narrowed: Narrowed | None = None

    @property
    def fired(self) -> int:
        """The number of commits at which `ubp stale --base` would have reported the document."""
        return self.changed - self.together

    @property
    def useful_share(self) -> float | None:
        """The share of the source's changes that came with one of the document or before one."""
        judged = self.changed - self.pending
        return (self.together + self.followed) / judged if judged else None


class BindingReview(NamedTuple):
    """The bindings, worst first: by judgement, then those that fired most.

    `commits` is the number of commits in the log (without merges), `since` the date of the oldest
    (seconds; None: there are none). `is_shallow`: history is cut off.
    """

    bindings: tuple[ReviewedBinding, ...]
    commits: int
    since: int | None
    is_shallow: bool = False

    def count(self, *judgements: Judgement) -> int:
        """Return the number of bindings with one of these judgements."""
        return sum(1 for reviewed in self.bindings if reviewed.judgement in judgements)


class Effect(NamedTuple):
    """The firings of bindings whose source exists, and how many a change of the document followed.

    `fired_left` and `followed_left`: without hubs and noise. `narrowed` firings fewer: with the
    proposals for wide bindings.
    """

    fired: int
    fired_left: int
    followed: int
    followed_left: int
    narrowed: int


def review(
    assessed: Sequence[Assessment], context: StalenessContext, commits: int | None = None
) -> BindingReview:
    """Judge the bindings of these documents by the last `commits` (default MAX_COMMITS).

    Bindings to hidden sources are left out.

    Raises:
        RepositoryError: history cannot be read.
    """
    commits = MAX_COMMITS if commits is None else commits
    view, history = context.view, context.history
    head = view.snapshot.commit
    log = history.change_log(commits, head=head) if head else []
    bindings = _collect_bindings(assessed, context)
    older = find_older({binding.filepath for binding in bindings}, log, commits, history)

    def can_be_named(path: FilePath) -> bool:
        entry = view.entry(path)
        return entry is not None and entry.is_file and not context.rules.is_hidden(path)

    index = _commit_index(bindings, log)
    parts = find_part_changes(*_parts_by_file(bindings, index), view, log)
    reviewed = review_bindings(bindings, log, older.__contains__, can_be_named, parts)
    since = log[-1].date if log else None
    narrowed = _narrow(reviewed, index, view, log)
    return BindingReview(narrowed, len(log), since, context.repository.is_shallow)


def review_bindings(
    bindings: Collection[Binding],
    log: Sequence[LoggedChange],
    is_older: Callable[[FilePath], bool],
    can_be_named: Callable[[FilePath], bool],
    parts: Mapping[PartSource, Collection[int]] | None = None,
) -> tuple[ReviewedBinding, ...]:
    """Judge bindings by the commits of `log`, newest first.

    `is_older` returns whether a document existed before the oldest of them, `can_be_named` whether
    a file may be proposed as a source. `parts` are the numbers of the commits that changed each
    part of a file; of others, those that changed the file count.
    """
    index = _commit_index(bindings, log)

    def commit_count(page: FilePath) -> int:
        """Return the number of commits, the newest ones, in which a document existed."""
        if is_older(page):
            return len(log)
        touched = index.of(page)
        return touched[-1] if touched else 0

    commits = {page: commit_count(page) for page in {binding.filepath for binding in bindings}}

    def history(binding: Binding) -> FileHistory:
        changes = None if binding.part is None or parts is None else parts.get(binding.part)
        changed = [
            number
            for number in index.of(binding.source_path)
            if number < commits[binding.filepath] and (changes is None or number in changes)
        ]
        return FileHistory(changed, index.of(binding.filepath))

    reviewed = (
        _review(binding, commits[binding.filepath], history(binding), log, can_be_named)
        for binding in bindings
    )
    return tuple(sorted(reviewed, key=_order))


def estimate_effect(review: BindingReview) -> Effect:
    """Return the firings with and without hubs and noise, and those that were answered."""
    existing = [reviewed for reviewed in review.bindings if reviewed.judgement != "dead"]
    remaining = [reviewed for reviewed in existing if reviewed.judgement not in NOISY]
    narrowed = [reviewed.narrowed for reviewed in remaining if reviewed.narrowed]
    return Effect(
        sum(reviewed.fired for reviewed in existing),
        sum(reviewed.fired for reviewed in remaining),
        sum(reviewed.followed for reviewed in existing),
        sum(reviewed.followed for reviewed in remaining),
        sum(effect.fired - effect.fired_left for effect in narrowed),
    )


def find_relevant_files(
    source: FilePath,
    changed: Sequence[int],
    page: Collection[int],
    log: Sequence[LoggedChange],
    can_be_named: Callable[[FilePath], bool],
) -> tuple[FilePath, ...]:
    """Return the few files of a source that changed whenever it changed with the document.

    `changed` are the commits that touched the source, `page` those that touched the document. Empty
    if more than MAX_RELEVANT_FILES are relevant, or if naming them would avoid few firings.
    """
    together = frozenset(changed) & frozenset(page)
    if len(together) < MIN_CO_CHANGES:
        return ()
    files = _files_of(source, changed, log)
    chosen: list[FilePath] = []
    covered: frozenset[int] = frozenset()
    while len(covered) < MIN_COVERED_EDITS * len(together):
        best = _best_file(files, together - covered, can_be_named)
        if best is None or len(chosen) == MAX_RELEVANT_FILES:
            return ()
        chosen.append(best)
        covered |= files.pop(best) & together
    firing = {number for number in changed if not set(log[number].paths).isdisjoint(chosen)}
    if len(firing - together) > MAX_FIRINGS_LEFT * (len(changed) - len(together)):
        return ()
    return tuple(sorted(chosen))


def _collect_bindings(assessed: Sequence[Assessment], context: StalenessContext) -> list[Binding]:
    view, is_hidden = context.view, context.rules.is_hidden
    pages = pages_per_source(view.bound_pages())
    verdicts = {
        (assessment.page.filepath, verdict.source_path, _part_of(verdict)): verdict
        for assessment in assessed
        for verdict in reversed(assessment.references)  # the first line of a repeated reference
        if not is_hidden(verdict.source_path)
    }
    entries = view.entries({source for _, source, _ in verdicts})
    folders = {source for source, entry in entries.items() if entry and entry.is_directory}
    return [
        Binding(
            filepath=page,
            source_path=source,
            line=verdict.reference.line,
            verdict=verdict.verdict,
            pages=pages[verdict.reference.source_path],
            is_wide=source in folders or (entries[source] is None and is_glob(source)),
            moved_to=None
            if verdict.moved_to is None or is_hidden(verdict.moved_to)
            else verdict.moved_to,
            part=part,
        )
        for (page, source, part), verdict in verdicts.items()
    ]


def _part_of(verdict: ReferenceVerdict) -> PartSource | None:
    """Return the symbol or section that a reference names; a range of lines counts as its file."""
    reference = verdict.reference
    if reference.literal == reference.source_path or verdict.note:
        return None
    source = possible_sources(reference.source_path, reference.fragment)[0]
    return source if isinstance(source, PartSource) and source.kind != "lines" else None


def _commit_index(bindings: Collection[Binding], log: Sequence[LoggedChange]) -> CommitIndex:
    names = {name for binding in bindings for name in (binding.filepath, binding.source_path)}
    return CommitIndex((change.paths for change in log), names)


def _parts_by_file(
    bindings: Collection[Binding], index: CommitIndex
) -> tuple[dict[FilePath, list[PartSource]], dict[FilePath, Sequence[int]]]:
    """Return the parts that bindings name, and the commits that changed their files."""
    parts: dict[FilePath, list[PartSource]] = {}
    for part in dict.fromkeys(binding.part for binding in bindings if binding.part):
        parts.setdefault(part.path, []).append(part)
    return parts, {path: index.of(path) for path in parts}


def _order(reviewed: ReviewedBinding) -> tuple[int, int, FilePath, int]:
    rank, binding = JUDGEMENTS.index(reviewed.judgement), reviewed.binding
    return rank, -reviewed.fired, binding.filepath, binding.line


def _narrow(
    bindings: Sequence[ReviewedBinding],
    index: CommitIndex,
    view: View,
    log: Sequence[LoggedChange],
) -> tuple[ReviewedBinding, ...]:
    """Propose the symbols of a file that a document names, where that spares it firings."""

    def history(reviewed: ReviewedBinding) -> FileHistory:
        changed = index.of(reviewed.binding.source_path)
        recent = [number for number in changed if number < reviewed.commits]
        return FileHistory(recent, index.of(reviewed.binding.filepath))

    histories = {
        (reviewed.binding.filepath, reviewed.binding.source_path): history(reviewed)
        for reviewed in bindings
        if reviewed.judgement not in {"dead", "wide", "unproven"}
        and not (reviewed.binding.is_wide or reviewed.binding.part)
    }
    narrowings = find_narrowings(histories, view, log)

    def narrowed(reviewed: ReviewedBinding) -> ReviewedBinding:
        pair = reviewed.binding.filepath, reviewed.binding.source_path
        found = None if reviewed.binding.part else narrowings.get(pair)
        if found is None:
            return reviewed
        return reviewed._replace(judgement="wide", proposal=found.sources, narrowed=found.effect)

    return tuple(sorted(map(narrowed, bindings), key=_order))


def _review(
    binding: Binding,
    commits: int,
    history: FileHistory,
    log: Sequence[LoggedChange],
    can_be_named: Callable[[FilePath], bool],
) -> ReviewedBinding:
    """Judge a binding by the last `commits`, those in which the document existed."""
    changed, page = history
    touched = frozenset(page)
    outcomes = [_outcome(number, page, log) for number in changed if number not in touched]
    reviewed = ReviewedBinding(
        binding=binding,
        judgement="unproven",
        commits=commits,
        changed=len(changed),
        together=len(changed) - len(outcomes),
        followed=outcomes.count("followed"),
        pending=outcomes.count("pending"),
    )
    if binding.verdict in {"deleted", "moved", "not_found"}:
        moved = (binding.moved_to,) if binding.moved_to else ()
        return reviewed._replace(judgement="dead", proposal=moved)
    if len(changed) < MIN_CHANGES:
        return reviewed
    if binding.is_wide:
        files = find_relevant_files(binding.source_path, changed, touched, log, can_be_named)
        if files:
            whole = replay(changed, page, log)
            left = [n for n in changed if not set(log[n].paths).isdisjoint(files)]
            narrow = replay(left, page, log)
            effect = Narrowed(whole.fired, narrow.fired, len(whole.edits), len(narrow.edits))
            return reviewed._replace(judgement="wide", proposal=files, narrowed=effect)
    is_answered = (
        reviewed.together > MAX_CO_CHANGED * reviewed.changed
        or reviewed.followed > MAX_FOLLOWED * (reviewed.fired - reviewed.pending)
    )
    noise: Judgement = "hub" if binding.pages >= HUB_PAGES else "noise"
    return reviewed._replace(judgement="sound" if is_answered else noise)


def _outcome(
    number: int, page: Sequence[int], log: Sequence[LoggedChange]
) -> Literal["followed", "pending", "ignored"]:
    """Return what a firing led to; `page` are the document's commits, newest first."""
    date = log[number].date
    newer = bisect_left(page, number)
    if newer and log[page[newer - 1]].date - date <= WINDOW:
        return "followed"
    return "pending" if log[0].date - date < WINDOW else "ignored"


def _files_of(
    source_path: FilePath, changed: Sequence[int], log: Sequence[LoggedChange]
) -> dict[FilePath, frozenset[int]]:
    """Return the commits that touched each file of a source."""
    sources = possible_sources(source_path)
    files: defaultdict[FilePath, set[int]] = defaultdict(set)
    for number in changed:
        for path in log[number].paths:
            if any(source.matches(path) for source in sources):
                files[path].add(number)
    return {path: frozenset(numbers) for path, numbers in files.items()}


def _best_file(
    files: Mapping[FilePath, frozenset[int]],
    uncovered: frozenset[int],
    can_be_named: Callable[[FilePath], bool],
) -> FilePath | None:
    """Return the file that changed in the most of these commits, and in the fewest others."""
    ranked = sorted(
        (-len(numbers & uncovered), len(numbers), path)
        for path, numbers in files.items()
        if numbers & uncovered
    )
    return next((path for _, _, path in ranked if can_be_named(path)), None)
