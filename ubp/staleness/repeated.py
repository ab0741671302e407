"""What became of alarms, as commits show it, and pages that are acknowledged again and again."""

from collections.abc import Collection, Sequence
from itertools import pairwise
from typing import Literal

from ubp.core.model import FilePath, ObjectId
from ubp.markdown.document import parse_page, read_head
from ubp.staleness.model import StalenessContext

MANY = 3
"""So many acknowledgements in a row without an edit: the alarms about the page were not useful."""
MAX_PAGES = 20  # each costs a `git log`

Outcome = Literal["edited", "acknowledged"]


def find_repeated(
    pages: Collection[FilePath], context: StalenessContext, keys: Sequence[str]
) -> tuple[FilePath, ...]:
    """Return the pages whose last commits only moved pins, one fewer than MANY of them.

    With the acknowledgement that was just written these are MANY.
    """
    head = context.view.snapshot.commit
    if head is None:
        return ()
    chosen = sorted(pages)[:MAX_PAGES]
    return tuple(page for page in chosen if _is_repeated(page, head, context, keys))


def _is_repeated(
    page: FilePath, head: ObjectId, context: StalenessContext, keys: Sequence[str]
) -> bool:
    repository = context.repository
    log = repository.run("log", f"--max-count={MANY}", "--format=%H", head, "--", page)
    commits = [ObjectId(line) for line in log.decode("ascii").splitlines()]
    if len(commits) < MANY:
        return False
    entries = context.history.entries_at({commit: [page] for commit in commits})
    blobs = [entry.id if (entry := entries[commit, page]) else None for commit in commits]
    contents = repository.read_blobs({blob for blob in blobs if blob})
    versions = [contents[blob] if blob else None for blob in blobs]
    return all(
        new is not None and old is not None and find_outcome(old, new, keys) == "acknowledged"
        for new, old in pairwise(versions)
    )


def find_outcome(old: bytes, new: bytes, keys: Sequence[str]) -> Outcome | None:
    """Return what ended an alarm about a page in a commit with these versions of it, if one did.

    `acknowledged`: pins moved, and neither the text nor the list of sources changed. `edited`: a
    pin moved together with one of them.
    """
    before, after = (
        {reference.written: reference.pin for reference in parse_page(data, keys).references}
        for data in (old, new)
    )
    if all(after[name] in {None, before[name]} for name in before.keys() & after.keys()):
        return None
    is_edited = old[read_head(old, keys).body :] != new[read_head(new, keys).body :]
    return "edited" if is_edited or before.keys() != after.keys() else "acknowledged"
