"""The owners of files by CODEOWNERS: of the lines that match a file, the last one counts.

As GitHub reads it: no negation, no character ranges, a line without owners takes them away. Of
GitLab's sections the default owners and optional approvals are read: `[Section][2] @a`.
"""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import NamedTuple, Self

from ubp.core.paths import compile_glob

PLACES = (".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS", ".gitlab/CODEOWNERS")
MAX_BYTES = 3_000_000  # GitHub's limit: a larger file is not used
MAX_OWNERS = 50  # of a file

_SECTION = re.compile(r"\^?\[([^\]]*)\](?:\[\d+\])?(.*)")
_OWNER = re.compile(r"@@?[\w./-]+|[^@\s]+@[^@\s]+\.[^@\s]+")


class _Line(NamedTuple):
    section: str
    globs: tuple[str, ...]
    owners: tuple[str, ...]


class Owners:
    """The lines of a CODEOWNERS file."""

    def __init__(self, lines: tuple[_Line, ...] = ()) -> None:
        """Use `parse`."""
        self._lines = lines
        self._find = cache(self._owners_of)

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read a CODEOWNERS file; lines that are not understood are left out."""
        return cls(tuple(_read_lines(text)))

    def of(self, path: str) -> tuple[str, ...]:
        """Return the owners of a file, as written, in order; GitLab's sections add up."""
        return self._find(path)

    def _owners_of(self, path: str) -> tuple[str, ...]:
        found: dict[str, tuple[str, ...]] = {}
        for line in self._lines:
            if any(compile_glob(glob).matches(path) for glob in line.globs):
                found[line.section] = line.owners
        owners = dict.fromkeys(owner for owners in found.values() for owner in owners)
        return tuple(owners)[:MAX_OWNERS]


def read_owners(files: Mapping[str, bytes | None]) -> Owners:
    """Return the owners by the first file that exists, of those in `PLACES`."""
    for place in PLACES:
        data = files.get(place)
        if data is not None and len(data) <= MAX_BYTES:
            return Owners.parse(data.decode("utf-8", "replace"))
    return Owners()


def _read_lines(text: str) -> Iterator[_Line]:
    section, default = "", _owners("")
    for written in text.splitlines():
        line = written.strip()
        if not line or line.startswith("#"):
            continue
        heading = _SECTION.fullmatch(line)
        if heading:
            section, default = heading[1].strip().casefold(), _owners(heading[2])
            continue
        words = re.split(r"(?<!\\)\s+", line)
        owners = _owners(" ".join(words[1:]))
        if globs := _globs(words[0].replace("\\ ", " ")):
            yield _Line(section, globs, owners or default)


def _owners(text: str) -> tuple[str, ...]:
    words = text.partition(" #")[0].split()
    return tuple(word for word in words if _OWNER.fullmatch(word))


def _globs(pattern: str) -> tuple[str, ...]:
    """Return what a pattern matches as globs; none: GitHub does not support such patterns."""
    if pattern.startswith(("!", "\\#")) or any(character in pattern for character in "[{"):
        return ()
    if pattern == "/":
        return ("**",)
    body = "/".join(
        part if part == "**" else re.sub(r"\*+", "*", part)
        for part in pattern.strip("/").split("/")
    )
    if not body:
        return ()
    start = body if "/" in pattern.rstrip("/") else f"**/{body}"
    if pattern.endswith("/"):
        return (f"{start}/**",)
    if body.endswith(("/*", "**")):  # `docs/*`: not what is in folders below it
        return (start,)
    return (start, f"{start}/**")
