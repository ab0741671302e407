"""Find the pages of other readable repositories that describe what a change changes."""

from collections import defaultdict

from ubp.answers.hub.review import MAX_CHANGES, HubReviewRecord, HubReviewRequest
from ubp.core.errors import BadArgumentError
from ubp.core.paths import ancestors
from ubp.core.repository_names import checked_name
from ubp.hub.database import Connection
from ubp.hub.impact import overlaps
from ubp.hub.pages import describing_records
from ubp.hub.references import StoredReference, find_references, tip_states
from ubp.hub.repositories import all_names

# The few patterns are compared one by one.
_CONDITION = """
x.repository = any(%(names)s) and r.name <> %(name)s
and (x.path = any(%(paths)s) or x.path ~ '[*?[]')
"""


def run(connection: Connection, reader: str, request: HubReviewRequest) -> HubReviewRecord:
    """Return the references of other repositories to what is changed.

    Raises:
        BadArgumentError: the repository has no name that others know.
    """
    asked = checked_name(request.repository)
    if not asked:
        raise BadArgumentError(
            "repository",
            f"{request.repository[:200]} is not the name of a repository.",
            hint="Write it as HOST/OWNER/NAME, for example github.com/acme/api",
        )
    if len(request.changes) > MAX_CHANGES:
        raise BadArgumentError(
            "changes",
            "There are too many changes.",
            cause=f"The hub takes up to {MAX_CHANGES:,} of them.",
        )
    name, names = all_names(connection, reader, asked)
    changed: dict[str, set[str | None]] = defaultdict(set)
    for change in request.changes:
        path, sign, fragment = change.partition("#")
        changed[path].add(fragment if sign else None)
    around = {folder for path in changed for folder in (path, *ancestors(path))}
    found = [
        reference
        for reference in find_references(
            connection, reader, _CONDITION, {"names": names, "name": name, "paths": [*around]}
        )
        if any(_is_concerned(reference, path, parts) for path, parts in changed.items())
    ]
    shown = found[: request.limit]
    states = tip_states(connection, reader, shown)
    return HubReviewRecord(
        repository=name,
        changes=len(request.changes),
        pages=describing_records(connection, reader, shown, states),
        total=len(found),
        truncated_count=len(found) - len(shown),
    )


def _is_concerned(reference: StoredReference, path: str, parts: set[str | None]) -> bool:
    """Return whether a reference has something in common with what changed of a file.

    None: all of it. "": what is outside of its definitions.
    """
    if not overlaps(reference, path, ""):
        return False
    if None in parts or not reference.fragment or reference.path != path:
        return True
    return any(overlaps(reference, path, part) for part in parts if part)
