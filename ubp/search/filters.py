"""The filters in a query, `tag:`, `type:` and `path:`. Pure.

A filter applies to the whole query, wherever it is written. A document must have every tag (of tags
joined by OR: one of them), one of the types, be under one of the paths, and match no excluded
filter (`-tag:draft`, `NOT tag:draft`). What is not a filter (`tag:` alone, `"tag:x"`) stays in the
text.
"""

import re
import unicodedata
from collections.abc import Callable, Collection, Iterable
from typing import Literal, NamedTuple

from ubp.core.model import FilePath
from ubp.core.paths import Glob, is_glob

Kind = Literal["tag", "type", "path"]


class Filter(NamedTuple):
    """A filter and its value as written."""

    kind: Kind
    value: str


class Filters(NamedTuple):
    """All filters of a query; a document needs one tag of each group in `tags`."""

    tags: tuple[tuple[str, ...], ...] = ()
    doc_types: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    excluded: tuple[Filter, ...] = ()

    @property
    def need_facts(self) -> bool:
        """Whether the paths of documents are not enough to decide."""
        return bool(
            self.tags
            or self.doc_types
            or any(excluded.kind != "path" for excluded in self.excluded)
        )

    def joined(self, other: "Filters") -> "Filters":
        """Return the filters of both; a type or a path of either is enough."""
        return Filters(
            self.tags + other.tags,
            self.doc_types + other.doc_types,
            self.paths + other.paths,
            self.excluded + other.excluded,
        )

    def match_facts(self, tags: Iterable[str], doc_type: str) -> bool:
        """Return whether a document with these tags and this type passes, apart from its path."""
        normalized = {normalize_tag(tag) for tag in tags}
        doc_type = doc_type.casefold()

        def is_excluded(excluded: Filter) -> bool:
            if excluded.kind == "tag":
                return normalize_tag(excluded.value) in normalized
            return excluded.kind == "type" and excluded.value.casefold() == doc_type

        return (
            all(any(normalize_tag(tag) in normalized for tag in group) for group in self.tags)
            and (not self.doc_types or doc_type in map(str.casefold, self.doc_types))
            and not any(map(is_excluded, self.excluded))
        )

    def matching_paths(self, paths: Collection[FilePath]) -> list[FilePath]:
        """Return those of `paths`, which are those of all documents, that pass the path filters."""
        included = [_path_matcher(value, paths) for value in self.paths]
        excluded = [
            _path_matcher(excluded.value, paths)
            for excluded in self.excluded
            if excluded.kind == "path"
        ]
        return [
            path
            for path in paths
            if (not included or any(matches(path) for matches in included))
            and not any(matches(path) for matches in excluded)
        ]


NO_FILTERS = Filters()


def page_filters(doc_types: Collection[str], tags: Collection[str]) -> Filters:
    """Return the filters for pages of one of these types that have all of these tags."""
    return Filters(tuple((tag,) for tag in tags), tuple(doc_types))


def parse_filters(text: str) -> tuple[str, Filters]:
    """Return a normalized query without its filters, and the filters."""
    included: list[Filter] = []
    excluded: list[Filter] = []
    tags: list[list[str]] = []
    last_end = -1

    def cut_out(match: re.Match[str]) -> str:
        nonlocal last_end
        value = match["quoted"] or match["single"] or (match["value"] or "").rstrip(",;")
        value = value.strip()
        if not value:
            return match[0]
        name = match["kind"].lower()
        kind: Kind = "tag" if name == "tag" else "type" if name == "type" else "path"
        if match["minus"] or match["not"]:
            excluded.append(Filter(kind, value))
            return _HOLE
        if kind == "tag":
            is_joined = bool(tags) and _OR.fullmatch(text[last_end : match.start()]) is not None
            tags[-1:] = [[*tags[-1], value]] if is_joined else [*tags[-1:], [value]]
            last_end = match.end()
        included.append(Filter(kind, value))
        return _HOLE

    rest = _FILTER.sub(cut_out, text)
    if not (included or excluded):
        return text, NO_FILTERS
    for pattern, replacement in _HOLES:  # the operators that joined filters go with them
        rest = pattern.sub(replacement, rest)
    return rest.replace(_HOLE, " ").strip(), Filters(
        tuple(map(tuple, tags)),
        tuple(f.value for f in included if f.kind == "type"),
        tuple(f.value for f in included if f.kind == "path"),
        tuple(excluded),
    )


def normalize_tag(tag: str) -> str:
    """Return a tag as it is compared: without a leading #, regardless of case and width."""
    return unicodedata.normalize("NFKC", tag).casefold().removeprefix("#")


def _path_matcher(value: str, paths: Collection[FilePath]) -> Callable[[FilePath], bool]:
    """Return a predicate for the documents that a glob, or the path of a file or folder, matches.

    A glob without a slash is compared with the name of the file. A path starts at the root, or if
    no document is there, anywhere.
    """
    written = unicodedata.normalize("NFKC", value)
    is_rooted = written.startswith(("/", "./"))
    name = written.removeprefix("./").strip("/")
    if is_glob(name):
        glob = Glob(name)
        is_name = "/" not in name and not is_rooted
        return lambda path: glob.matches(_normalize(path.rpartition("/")[2] if is_name else path))
    start = f"/{name}/" if name else "/"
    if is_rooted or any(f"/{_normalize(path)}/".startswith(start) for path in paths):
        return lambda path: f"/{_normalize(path)}/".startswith(start)
    return lambda path: start in f"/{_normalize(path)}/"


def _normalize(path: str) -> str:
    return path if path.isascii() else unicodedata.normalize("NFKC", path)


# Phrases are matched as a whole and kept: they contain no filters.
_FILTER = re.compile(
    r'"[^"]*"|(?<![^\s(])(?P<not>(?-i:NOT)\s+)?(?P<minus>-)?(?P<kind>tag|type|path):'
    r"""(?:"(?P<quoted>[^"]*)"|'(?P<single>[^']+)'|(?P<value>[^\s"()]+))""",
    re.IGNORECASE,
)
_OR = re.compile(r"\s+OR\s+")
_HOLE = "\0"  # no normalized query contains it
_HOLES = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        (r"\(\s*\0\s*\)", _HOLE),
        (r"\0(?:(?:\s+(?:AND|OR))?\s+\0)+", _HOLE),
        (r"\b(AND|OR)\s+\0\s+(?:AND|OR)\b", r"\1"),
        (r"(^|\()\s*\0\s+(?:AND|OR)\b", r"\1"),
        (r"\b(?:AND|OR)\s+\0\s*($|\))", r"\1"),
    )
)
