"""The pages that still give a number which a change replaces."""

from collections.abc import Collection
from typing import NamedTuple

from ubp.bindings.path_words import is_test
from ubp.bindings.sources import is_incidental
from ubp.core.model import FilePath
from ubp.index.session import Session
from ubp.review.changed_files import ChangedFiles, changed_lines, unedited_pages
from ubp.staleness.model import Change
from ubp.staleness.numbers import Given, Replaced, find_given, replaced_numbers

MAX_REPLACED = 100  # of a change; one with more was made by a machine


class Outdated(NamedTuple):
    """A page, where it gives a number, and the source in which another took its place."""

    page: FilePath
    given: Given
    source: FilePath
    replaced: Replaced


def find_outdated(
    session: Session, change: Change, files: ChangedFiles, selected: Collection[FilePath] | None
) -> list[Outdated]:
    """Return the lines of pages that give a number which the change replaces."""
    replaced = [
        (path, found)
        for path in files.sources
        if not (is_test(path) or is_incidental(path))
        for found in _replaced(path, files)
    ]
    if not 0 < len(replaced) <= MAX_REPLACED:
        return []
    pages = unedited_pages(session, change, selected)
    outdated: list[Outdated] = []
    for page, data in change.after.view.read(pages).items():
        text = (data or b"").decode("utf-8", "replace")
        # Packages of a repository have the same manifest.
        found: dict[int, Outdated] = {}
        for source, each in replaced:
            given = find_given(text, each)
            if given and (not each.language or _is_required_of(page, source, change)):
                found.setdefault(given.line, Outdated(page, given, source, each))
        outdated += found.values()
    return outdated


def _is_required_of(page: FilePath, manifest: FilePath, change: Change) -> bool:
    """Return whether a page is of the package of a manifest, and of none inside it."""
    folder, _, name = manifest.rpartition("/")
    inner = []
    above = page.rpartition("/")[0]
    while above != folder:
        if not above:
            return False
        inner.append(FilePath(f"{above}/{name}"))
        above = above.rpartition("/")[0]
    return not any(change.after.view.entries(inner).values())


def _replaced(path: FilePath, files: ChangedFiles) -> Collection[Replaced]:
    hunks = files.hunks(path)
    removed, added = (list(changed_lines(hunks, sign)) for sign in "-+")
    before = (files.versions(path).before or b"").decode("utf-8", "replace")
    return list(replaced_numbers(removed, added, before))
