"""Versions in the paths of pages, and which of several versions of a page comes first. Pure.

Patterns of names, not a configuration: `docs/28.x/cli.md`, `versioned_docs/version-29.7/cli.md`,
`latest/cli.md`. Docusaurus keeps the version to come in `docs`, the others in `versioned_docs`.
"""

import re
from functools import lru_cache
from typing import NamedTuple

NEXT = "next"
MAX_DIGITS = 18  # of a number: Python refuses to read 4,301
_STABLE = frozenset({"latest", "stable", "current"})
_COMING = frozenset({NEXT, "main", "master", "dev", "nightly", "canary", "unreleased", "edge"})
_NUMBER = r"\d+(?:\.(?:\d+|x))+(?:-[\w.]+)?"
_VERSION = re.compile(
    rf"(?i)(?:(?<=/)|^)(?:(?P<number>(?:(?:versions?|release)-)?v?{_NUMBER}|(?:version-|v)\d+(?:\.x)?)"
    rf"|(?P<word>{'|'.join(sorted(_STABLE | _COMING))}))/"
)
_TRANSLATED = re.compile(r"(?:^|/)i18n/(?:[^/]+/)?docusaurus-plugin-content-docs/")
_CURRENT = re.compile(r"^((?:website/)?)docs/current/")
_VERSIONED = re.compile(r"(?:^|(?<=/))versioned_docs/$")
_WEBSITE = re.compile(r"^website/(?=docs/)")


class VersionedPath(NamedTuple):
    """A path without its version; the same `family` for all versions of a page.

    `version` is "" if the path names none.
    """

    family: str
    version: str


@lru_cache(maxsize=10_000)
def read_version(path: str) -> VersionedPath:
    """Return the version that a path names, and what all versions of the page have in common."""
    if "i18n/" in path:
        path = _CURRENT.sub(r"\1docs/", _TRANSLATED.sub("/docs/", path).lstrip("/"))
    match = _VERSION.search(path)
    if match is None:
        return VersionedPath(_WEBSITE.sub("", path), "")
    before = _VERSIONED.sub("docs/", path[: match.start()])
    version = plain_version(match.group().rstrip("/"))
    return VersionedPath(_WEBSITE.sub("", before + path[match.end() :]), version)


def plain_version(written: str) -> str:
    """Return a version without "version-", "v" and the like: "29.7", "28.x", "next"."""
    return re.sub(r"(?i)^(?:versions?-|release-)?(?:v(?=\d))?", "", written).lower()


def is_version(wanted: str, version: str) -> bool:
    """Return whether a version is the one that was asked for: "28", "28.x" and "28.1" are "28.x".

    A path without a version is the one to come ("next").
    """
    wanted, version = plain_version(wanted), plain_version(version) or NEXT
    if wanted == version:
        return True
    parts, others = wanted.removesuffix(".x").split("."), version.removesuffix(".x").split(".")
    return wanted[:1].isdigit() and others[: len(parts)] == parts


def recency(version: str) -> tuple[int, tuple[int, ...]]:
    """Return what versions are sorted by: released ones by number, then the version to come."""
    if version in _STABLE:
        return 2, ()
    if not version or version in _COMING:
        return 0, ()
    return 1, tuple(int(number[:MAX_DIGITS]) for number in re.findall(r"\d+", version))
