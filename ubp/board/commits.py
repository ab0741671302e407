"""By how many commits files have changed since the board that a hub has."""

import re
from collections import Counter
from collections.abc import Collection

from ubp.core.errors import UbpError
from ubp.core.model import FilePath, ObjectId
from ubp.git.output import decode_path
from ubp.git.repository import Repository

MAX_PATHS = 20_000
_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


def count_commits(
    repository: Repository, since: str, commit: ObjectId, paths: Collection[FilePath]
) -> dict[FilePath, int] | None:
    """Return the numbers of commits after `since` that changed each path, merges left out.

    None: this clone does not have all of them, or they changed too many paths.
    """
    if not _COMMIT.fullmatch(since) or repository.shallow_commits():
        return None
    start = ObjectId(since)
    try:
        if repository.merge_base(start, commit) != start:
            return None
        log = repository.run(
            *("log", "--no-merges", "--no-renames", "--format=", "--name-only", "-z"),
            *(f"{start}..{commit}", "--"),
        )
    except UbpError:
        return None
    changed = Counter(decode_path(path) for path in log.split(b"\0") if path)
    counts = {path: number for path, number in changed.items() if path in paths}
    return counts if len(counts) <= MAX_PATHS else None
