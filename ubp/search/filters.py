"""The filters in a query: `tag:`, `type:`, `path:`, `version:`, and fields of front matter. Pure.

A filter applies to the whole query, wherever it is written. A document must have every tag (of tags
joined by OR: one of them), one of the types, be under one of the paths, have one of the versions,
match the filters on fields (of those joined by OR: one of them), and match no excluded filter
(`-tag:draft`, `NOT tag:draft`). A version is one in the path, unless documents have a field of that
name.
What is not a filter (`tag:` alone, `"tag:x"`) stays in the text. A name is that of a field only if
a document has it: `std:x` and `a=b` are words elsewhere.
"""

import re
import unicodedata
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import partial
from typing import Generic, Literal, NamedTuple, TypeVar, get_args

from ubp.core.dates import parse_date
from ubp.core.model import FilePath, PageFields
from ubp.core.paths import Glob, is_glob
from ubp.core.text import closest_name
from ubp.core.versions import is_version, read_version
from ubp.search.fields import FieldFilter, make_filter, normalize

Kind = Literal["tag", "type", "path", "version"]
KINDS: Mapping[str, Kind] = {kind: kind for kind in get_args(Kind)}
T = TypeVar("T")

CLOSE = 0.75
"""How similar a name must be to a field's to be taken for a misspelling."""


class Filter(NamedTuple):
    """A filter and its value as written."""

    kind: Kind
    value: str


class Filters(NamedTuple):
    """All filters of a query; a document must match one of each group in `tags` and `fields`.

    `within` are the only documents that may match, if given.
    """

    tags: tuple[tuple[str, ...], ...] = ()
    doc_types: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    excluded: tuple[Filter, ...] = ()
    fields: tuple[tuple[FieldFilter, ...], ...] = ()
    excluded_fields: tuple[FieldFilter, ...] = ()
    within: frozenset[FilePath] | None = None
    versions: tuple[str, ...] = ()

    @property
    def are_any(self) -> bool:
        """Whether there is any filter."""
        return any(self) or self.within is not None

    @property
    def need_facts(self) -> bool:
        """Whether tags or types are needed to decide."""
        return bool(
            self.tags
            or self.doc_types
            or any(excluded.kind in {"tag", "type"} for excluded in self.excluded)
        )

    def joined(self, other: "Filters") -> "Filters":
        """Return the filters of both; a type or a path of either is enough."""
        return Filters(
            self.tags + other.tags,
            self.doc_types + other.doc_types,
            self.paths + other.paths,
            self.excluded + other.excluded,
            self.fields + other.fields,
            self.excluded_fields + other.excluded_fields,
            other.within
            if self.within is None
            else self.within
            if other.within is None
            else self.within & other.within,
            self.versions + other.versions,
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

    def match_fields(self, fields: PageFields) -> bool:
        """Return whether a document with these fields passes, apart from the other filters."""
        return all(
            any(condition.matches(fields) for condition in group) for group in self.fields
        ) and not any(condition.matches(fields) for condition in self.excluded_fields)

    def matching_paths(self, paths: Collection[FilePath]) -> list[FilePath]:
        """Return those of `paths`, which are those of all documents, that pass the path filters."""
        included = [_path_matcher(value, paths) for value in self.paths]
        excluded = [
            _path_matcher(excluded.value, paths)
            for excluded in self.excluded
            if excluded.kind == "path"
        ]
        excluded += [
            partial(_has_version, (excluded.value,))
            for excluded in self.excluded
            if excluded.kind == "version"
        ]
        return [
            path
            for path in paths
            if (not included or any(matches(path) for matches in included))
            and (not self.versions or _has_version(self.versions, path))
            and not any(matches(path) for matches in excluded)
        ]


NO_FILTERS = Filters()


def page_filters(doc_types: Collection[str], tags: Collection[str]) -> Filters:
    """Return the filters for pages of one of these types that have all of these tags."""
    return Filters(tuple((tag,) for tag in tags), tuple(doc_types))


def parse_filters(
    text: str, field_names: Callable[[], Collection[str]] = tuple
) -> tuple[str, Filters]:
    """Return the text without its filters, and the filters; the query is normalized (NFKC).

    `field_names` are those of all documents; it is called if anything looks like their filter.

    Raises:
        UsageError: a filter on a field has an unknown operator, or a value that it cannot compare.
    """
    included: list[Filter] = []
    excluded: list[Filter] = []
    tags = _Groups[str](text)
    fields = _Groups[FieldFilter](text)
    excluded_fields: list[FieldFilter] = []

    def cut_out(match: re.Match[str]) -> str:
        value = match["quoted"] or match["single"] or (match["value"] or "").rstrip(",;")
        value = value.strip()
        if not value:
            return match[0]
        is_excluded = bool(match["minus"] or match["not"])
        name = (match["kind"] or "").lower().removesuffix("s")
        if match["name"] or (name == "version" and "version" in map(normalize, field_names())):
            if match["name"] and not _is_field(match, field_names()):
                return match[0]
            condition = make_filter(match["name"] or name, match["operator"] or ":", value)
            if is_excluded:
                excluded_fields.append(condition)
            else:
                fields.add(match, condition)
            return _HOLE
        kind = KINDS[name]
        if is_excluded:
            excluded.append(Filter(kind, value))
            return _HOLE
        if kind == "tag":
            tags.add(match, value)
        included.append(Filter(kind, value))
        return _HOLE

    rest = _FILTER.sub(cut_out, text)
    if _HOLE not in rest:
        return text, NO_FILTERS
    for pattern, replacement in _HOLES:  # the operators that joined filters go with them
        rest = pattern.sub(replacement, rest)
    return rest.replace(_HOLE, " ").strip(), Filters(
        tags.groups(),
        tuple(f.value for f in included if f.kind == "type"),
        tuple(f.value for f in included if f.kind == "path"),
        tuple(excluded),
        fields.groups(),
        tuple(excluded_fields),
        versions=tuple(f.value for f in included if f.kind == "version"),
    )


def unknown_fields(
    rest: str, field_names: Callable[[], Collection[str]]
) -> tuple[tuple[str, str | None], ...]:
    """Return what looks like filters on fields that no document has, in a text without its filters.

    Each with the name that was probably meant. Without one, only comparisons look like filters.
    """
    unknown: dict[str, str | None] = {}
    for match in _FILTER.finditer(rest):
        name = match["name"]
        if not name or _is_field(match, field_names()) or _is_address(match):
            continue
        closest = closest_name(name.lower(), field_names(), CLOSE)
        is_comparison = match["operator"] in {"<", "<=", ">", ">="}
        if closest or (is_comparison and parse_date(match["value"] or "")):
            unknown.setdefault(match[0].strip(), closest)
    return tuple(unknown.items())


class _Groups(Generic[T]):
    """The conditions of one kind in a text; those joined by OR are in one group."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._groups: list[tuple[T, ...]] = []
        self._end = -1

    def add(self, match: re.Match[str], condition: T) -> None:
        """Add what was found at a place."""
        between = self._text[self._end : match.start()] if self._groups else ""
        if _OR.fullmatch(between):
            self._groups[-1] = (*self._groups[-1], condition)
        else:
            self._groups.append((condition,))
        self._end = match.end()

    def groups(self) -> tuple[tuple[T, ...], ...]:
        """Return the groups in order."""
        return tuple(self._groups)


def _is_field(match: re.Match[str], field_names: Collection[str]) -> bool:
    name = normalize(match["name"])
    return not _is_address(match) and any(name == normalize(known) for known in field_names)


def _is_address(match: re.Match[str]) -> bool:
    return match["operator"] == ":" and (match["value"] or "").startswith("//")


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


def _has_version(versions: Iterable[str], path: FilePath) -> bool:
    version = read_version(path).version
    return any(is_version(wanted, version) for wanted in versions)


def _normalize(path: str) -> str:
    return path if path.isascii() else unicodedata.normalize("NFKC", path)


# Phrases are matched as a whole and kept: they contain no filters.
_FILTER = re.compile(
    r'"[^"]*"|(?<![^\s(])(?P<not>(?-i:NOT)\s+)?(?P<minus>-)?'
    r"(?:(?P<kind>tags?|type|path|version):|(?P<name>[^\W\d][\w.-]*)(?P<operator>:(?!:)|[<>=!~]+))"
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
