"""The names that a change removes from a source while other sources have them."""

import re
from collections.abc import Collection

from ubp.bindings.suggest import find_users
from ubp.checks.removed_names import is_source
from ubp.core.model import ReferenceVerdict
from ubp.index.session import Session
from ubp.review.changed_files import ChangedFiles
from ubp.staleness.model import Change

_WORD = r"[A-Za-z_]\w{2,}"  # as in the names of sources


def find_remaining(
    references: Collection[ReferenceVerdict], session: Session, change: Change, files: ChangedFiles
) -> frozenset[str]:
    """Return the identifiers that their sources lose and that a source has after the change."""
    identifiers = {
        name.name
        for reference in references
        for name in reference.evidence
        if name.change == "removed" and re.fullmatch(_WORD, name.name, re.ASCII)
    }
    if not (identifiers and change.before):
        return frozenset()
    users = find_users(session, change.before[0].view, identifiers)
    remaining = {
        name
        for name, paths in users.items()
        if any(path not in change.changes and is_source(path) for path in paths)
    }
    files.read(files.sources)
    for path in filter(is_source, files.sources):
        text = (files.versions(path).after or b"").decode("utf-8", "replace")
        remaining.update(identifiers.intersection(re.findall(_WORD, text, re.ASCII)))
    return frozenset(remaining)
