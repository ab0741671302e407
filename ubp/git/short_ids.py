"""Ids of objects, cut as short as they may be written into a page."""

from collections.abc import Iterable

from ubp.git.repository import Repository
from ubp.model import ObjectId

# Twelve digits are unique in any repository there is; more are written where they are not.
LEAST_DIGITS = 12
AT_ONCE = 500  # options of one call: a Windows command line holds 32,767 characters


def shorten(ids: Iterable[ObjectId], repository: Repository) -> dict[ObjectId, str]:
    """The shortest prefix, of LEAST_DIGITS digits or more, that names each id alone."""
    wanted = sorted(set(ids))
    there: dict[str, set[str]] = {}
    for start in range(0, len(wanted), AT_ONCE):
        few = wanted[start : start + AT_ONCE]
        options = (f"--disambiguate={one[:LEAST_DIGITS]}" for one in few)
        for name in repository.run("rev-parse", *options, ok=(0, 128)).decode().split():
            there.setdefault(name[:LEAST_DIGITS], set()).add(name)
    return {one: _shortest(one, there.get(one[:LEAST_DIGITS], ())) for one in wanted}


def _shortest(wanted: ObjectId, alike: Iterable[str]) -> str:
    others = [one for one in alike if one != wanted]
    digits = LEAST_DIGITS
    while any(other.startswith(wanted[:digits]) for other in others):
        digits += 1
    return wanted[:digits]
