"""How often pages and their sources changed in the same commit, remembered per head."""

from collections.abc import Collection, Mapping, Sequence

from ubp.errors import RepositoryError
from ubp.model import ObjectId, Pair, Tally
from ubp.staleness.court import Court

MOST_COMMITS = 200
"""The last commits, merges left out. In two histories of 1,568 and 814 commits they order as well
(AUC 0.76 and 0.71) as 500 (0.76 and 0.70) and as all (0.76 and 0.69)."""


def count_together(pairs: Collection[Pair], court: Court) -> Mapping[Pair, Tally]:
    """Count for each pair in how many of the last commits the source changed, and both did.

    Those count that found the page there, as far as these commits tell: from its first change on.
    Where history cannot be read nothing is known.
    """
    head = court.view.snapshot.commit
    if head is None:
        return {}
    store = court.view.ground.store
    known = store.together(head)
    missing = [pair for pair in pairs if pair not in known]
    if missing:
        known |= _count(missing, head, court)
        if not court.repository.is_shallow:  # it may be deepened
            store.save_together(head, known)
    return known


def _count(pairs: Collection[Pair], head: ObjectId, court: Court) -> dict[Pair, Tally]:
    from ubp.touches import Touches

    try:
        log = court.history.change_log(MOST_COMMITS, head=head)
    except RepositoryError:  # a clone without trees
        return {}
    touches = Touches((one.paths for one in log), {name for pair in pairs for name in pair})
    return {(page, source): _tally(touches.of(page), touches.of(source)) for page, source in pairs}


def _tally(page: Sequence[int], source: Sequence[int]) -> Tally:
    """From the numbers of the commits that touched them, the newest first."""
    oldest = page[-1] if page else MOST_COMMITS
    changed = {number for number in source if number <= oldest}
    return Tally(len(changed), len(changed.intersection(page)))
