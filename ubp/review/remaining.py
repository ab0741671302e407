"""The names that a change removes from a source while other sources have them."""

import re
from collections.abc import Collection, Iterator

from ubp.bindings.suggest import find_users
from ubp.checks.removed_names import is_source
from ubp.core.model import FilePath, ReferenceVerdict
from ubp.git.snapshot import read_documents
from ubp.index.session import Session
from ubp.review.changed_files import ChangedFiles
from ubp.staleness.model import Change

_WORD = r"[A-Za-z_]\w{2,}"  # as in the names of sources
_NAME = rf"(?:--)?{_WORD}(?:[.-]{_WORD})*"
MAX_USERS = 100  # sources that are read for a name of several words


def find_remaining(
    references: Collection[ReferenceVerdict], session: Session, change: Change, files: ChangedFiles
) -> frozenset[str]:
    """Return the names that their sources lose and that a source has after the change."""
    names = {
        name.name
        for reference in references
        for name in reference.evidence
        if name.change == "removed" and re.fullmatch(_NAME, name.name, re.ASCII)
    }
    if not (names and change.before):
        return frozenset()
    files.read(files.sources)
    changed = [files.versions(path).after or b"" for path in files.sources if is_source(path)]
    remaining = {name for name in names if any(_has(data, name) for data in changed)}
    return frozenset(remaining.union(_find_unchanged(names - remaining, session, change)))


def _find_unchanged(names: Collection[str], session: Session, change: Change) -> Iterator[str]:
    """Yield those of these names that a source has which the change does not touch."""
    words = {name: set(re.findall(_WORD, name, re.ASCII)) for name in names}
    view = change.before[0].view
    users = find_users(session, view, set().union(*words.values())) if words else {}
    holders: dict[str, list[FilePath]] = {
        name: [
            path
            for path in sorted(frozenset.intersection(*(users[word] for word in parts)))
            if path not in change.changes and is_source(path)
        ][:MAX_USERS]
        for name, parts in words.items()
    }
    read = {path for name, paths in holders.items() if {name} != words[name] for path in paths}
    entries = {path: entry for path, entry in view.entries(read).items() if entry}
    contents = read_documents(session.repository, view.snapshot, entries)
    for name, paths in holders.items():
        if any({name} == words[name] or _has(contents.get(path) or b"", name) for path in paths):
            yield name


def _has(data: bytes, name: str) -> bool:
    """Return whether a source has a name that is not part of a longer one."""
    word = name.encode()
    if word not in data:  # found in a fortieth of the pattern's time
        return False
    return re.search(rb"(?<![\w-])%b(?![\w-])" % re.escape(word), data) is not None
