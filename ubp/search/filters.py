"""What a query says about the pages that may answer: `tag:`, `type:`, `path:`. Pure.

A filter holds for the whole query, wherever it stands. Pages must have every tag (those joined by
OR: one of them), one of the types, lie under one of the paths, and fit no filter that is excluded
(`-tag:draft`, `NOT tag:draft`). What is no filter (`tag:` alone, `"tag:x"`) stays in the text.
"""

import re
import unicodedata
from collections.abc import Callable, Collection, Iterable
from typing import Literal, NamedTuple

from ubp.core.model import FilePath
from ubp.core.paths import Glob, is_glob

Kind = Literal["tag", "type", "path"]


class Filter(NamedTuple):
    """One of them, its value as written."""

    kind: Kind
    value: str


class Filters(NamedTuple):
    """All of them; of each group in `tags` a page has one at least."""

    tags: tuple[tuple[str, ...], ...] = ()
    doc_types: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    excluded: tuple[Filter, ...] = ()

    @property
    def need_facts(self) -> bool:
        """Whether more than the names of pages must be known."""
        return bool(self.tags or self.doc_types or any(f.kind != "path" for f in self.excluded))

    def joined(self, other: "Filters") -> "Filters":
        """What fits both; a type, or a path, of either will do."""
        return Filters(
            self.tags + other.tags,
            self.doc_types + other.doc_types,
            self.paths + other.paths,
            self.excluded + other.excluded,
        )

    def admit(self, tags: Iterable[str], doc_type: str) -> bool:
        """Whether a page with these tags, of this type, may answer, as far as they matter."""
        has = {fold_tag(tag) for tag in tags}
        kind = doc_type.casefold()
        return (
            all(any(fold_tag(tag) in has for tag in group) for group in self.tags)
            and (not self.doc_types or kind in map(str.casefold, self.doc_types))
            and not any(
                fold_tag(one.value) in has if one.kind == "tag" else one.value.casefold() == kind
                for one in self.excluded
                if one.kind != "path"
            )
        )

    def admitted(self, paths: Collection[FilePath]) -> list[FilePath]:
        """Those of the paths of all pages that may answer, as far as paths matter."""
        wanted = [_under(value, paths) for value in self.paths]
        unwanted = [_under(one.value, paths) for one in self.excluded if one.kind == "path"]
        return [
            path
            for path in paths
            if (not wanted or any(fits(path) for fits in wanted))
            and not any(fits(path) for fits in unwanted)
        ]


NO_FILTERS = Filters()


def parse_filters(text: str) -> tuple[str, Filters]:
    """A folded query without its filters, and these."""
    found: list[tuple[Filter, bool]] = []
    tags: list[list[str]] = []
    last_end = -1

    def take(match: re.Match[str]) -> str:
        nonlocal last_end
        value = match["quoted"] or match["single"] or (match["value"] or "").rstrip(",;")
        value = value.strip()
        if not value:
            return match[0]
        one = Filter(_kind(match["kind"]), value)
        is_excluded = bool(match["minus"] or match["not"])
        if one.kind == "tag" and not is_excluded:
            is_joined = bool(tags) and _OR.fullmatch(text[last_end : match.start()]) is not None
            tags[-1:] = [[*tags[-1], value]] if is_joined else [*tags[-1:], [value]]
            last_end = match.end()
        found.append((one, is_excluded))
        return _HOLE

    rest = _FILTER.sub(take, text)
    if not found:
        return text, NO_FILTERS
    wanted = [one for one, is_excluded in found if not is_excluded]
    return _without_holes(rest), Filters(
        tuple(map(tuple, tags)),
        tuple(one.value for one in wanted if one.kind == "type"),
        tuple(one.value for one in wanted if one.kind == "path"),
        tuple(one for one, is_excluded in found if is_excluded),
    )


def fold_tag(tag: str) -> str:
    """A tag as it is compared: a # before it, case and width do not count."""
    return unicodedata.normalize("NFKC", tag).casefold().removeprefix("#")


def _kind(written: str) -> Kind:
    name = written.lower()
    return "tag" if name == "tag" else "type" if name == "type" else "path"


def _under(value: str, paths: Collection[FilePath]) -> Callable[[FilePath], bool]:
    """Whether a page is named: by a glob, or by its path or a folder's.

    A glob without a slash is held against the name of the file. A path counts from the root, and
    where no page lies there, from anywhere.
    """
    written = unicodedata.normalize("NFKC", value)
    is_rooted = written.startswith(("/", "./"))
    name = written.removeprefix("./").strip("/")
    if is_glob(name):
        glob = Glob(name)
        is_name = "/" not in name and not is_rooted
        return lambda path: glob.matches(_folded(path.rpartition("/")[2] if is_name else path))
    start = f"/{name}/" if name else "/"
    if is_rooted or any(f"/{_folded(path)}/".startswith(start) for path in paths):
        return lambda path: f"/{_folded(path)}/".startswith(start)
    return lambda path: start in f"/{_folded(path)}/"


def _folded(path: str) -> str:
    return path if path.isascii() else unicodedata.normalize("NFKC", path)


def _without_holes(text: str) -> str:
    """The text without the operators that joined filters to something, and to each other."""
    for pattern, kept in _HOLES:
        text = pattern.sub(kept, text)
    return text.replace(_HOLE, " ").strip()


# A phrase is passed over whole: what it holds is no filter.
_FILTER = re.compile(
    r'"[^"]*"|(?<![^\s(])(?P<not>(?-i:NOT)\s+)?(?P<minus>-)?(?P<kind>tag|type|path):'
    r"""(?:"(?P<quoted>[^"]*)"|'(?P<single>[^']+)'|(?P<value>[^\s"()]+))""",
    re.IGNORECASE,
)
_OR = re.compile(r"\s+OR\s+")
_HOLE = "\0"  # a folded query has none
_HOLES = tuple(
    (re.compile(pattern), kept)
    for pattern, kept in (
        (r"\(\s*\0\s*\)", _HOLE),
        (r"\0(?:(?:\s+(?:AND|OR))?\s+\0)+", _HOLE),
        (r"\b(AND|OR)\s+\0\s+(?:AND|OR)\b", r"\1"),
        (r"(^|\()\s*\0\s+(?:AND|OR)\b", r"\1"),
        (r"\b(?:AND|OR)\s+\0\s*($|\))", r"\1"),
    )
)
