"""Which few files of a folder or glob a page really hangs on: those it used to change with."""

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence

from ubp.git.change_log import LoggedChange
from ubp.model import FilePath
from ubp.paths import Glob, is_glob

# No repository with labels has enough folders to measure these: what a page says of a folder in so
# few words, that is what a person would take for it.
LEAST_TOGETHER = 3
"""Once is chance; of three times it is told that a file was there each time."""
MOST_CARRIERS = 3
LEAST_CARRIED = 0.8
MOST_FIRINGS_LEFT = 0.5
"""A narrower binding that still fires at most changes is not worth three lines for one."""


def find_carriers(
    source: FilePath,
    changed: Sequence[int],
    page: Collection[int],
    log: Sequence[LoggedChange],
    stands: Callable[[FilePath], bool],
) -> tuple[FilePath, ...]:
    """The files below a source that were touched whenever page and source changed together.

    `changed` are the commits that touched the source, `page` those that touched the page. None
    where the page hangs on more than a few of them, or where naming them would spare little.
    """
    together = frozenset(changed) & frozenset(page)
    if len(together) < LEAST_TOGETHER:
        return ()
    files = _files_below(source, changed, log)
    chosen: list[FilePath] = []
    covered: frozenset[int] = frozenset()
    while len(covered) < LEAST_CARRIED * len(together):
        best = _best(files, together - covered, stands)
        if best is None or len(chosen) == MOST_CARRIERS:
            return ()
        chosen.append(best)
        covered |= files.pop(best) & together
    left = {number for number in changed if _touches_one(log[number], chosen)} - together
    if len(left) > MOST_FIRINGS_LEFT * (len(changed) - len(together)):
        return ()
    return tuple(sorted(chosen))


def _files_below(
    source: FilePath, changed: Sequence[int], log: Sequence[LoggedChange]
) -> dict[FilePath, frozenset[int]]:
    """The commits that touched each file of the source."""
    glob = Glob(source) if is_glob(source) else None
    below = f"{source}/" if source else ""
    found: defaultdict[FilePath, set[int]] = defaultdict(set)
    for number in changed:
        for path in log[number].paths:
            if path.startswith(below) or (glob and glob.matches(path)):
                found[path].add(number)
    return {path: frozenset(numbers) for path, numbers in found.items()}


def _best(
    files: Mapping[FilePath, frozenset[int]],
    open_: frozenset[int],
    stands: Callable[[FilePath], bool],
) -> FilePath | None:
    """The file that was there at most of these commits, and at the fewest others."""
    ranked = sorted(
        (-len(numbers & open_), len(numbers), path)
        for path, numbers in files.items()
        if numbers & open_
    )
    return next((path for _, _, path in ranked if stands(path)), None)


def _touches_one(change: LoggedChange, paths: Collection[FilePath]) -> bool:
    return any(path in change.paths for path in paths)
