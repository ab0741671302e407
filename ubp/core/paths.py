"""Paths and globs relative to the repository's root, as text: nothing touches the file system."""

import re
from collections.abc import Collection, Iterator
from functools import lru_cache
from itertools import product

from ubp.core.model import FilePath

# A pattern beyond these limits matches nothing: real ones have a handful of each, and a hostile one
# must not take seconds to compile or to match.
MAX_PATTERN_CHARACTERS = 1024
MAX_BRACES = 16
MAX_ALTERNATIVES = 64
MAX_EXPANDED_CHARACTERS = 2048
MAX_MIXED_BRACKETS = 4

PAGE_SUFFIXES = (".md", ".mdx", ".markdown")
"""The ends of names of documents, in lower case."""

DOCUMENT_NAMESPACE = bytes.fromhex("5cd6f541375f5195b584e51358496f0a")
"""`uuid.uuid5(uuid.NAMESPACE_URL, "urn:ubp:document")`; changing it would change every `doc_id`."""

# Compiled where it is used: each hook imports this module.
_FOREIGN = (
    r'(?i:con|prn|aux|nul|(?:com|lpt)[0-9\xb9\xb2\xb3])(?:\.|$)|.*(?:[\x00-\x1f<>:"\\|?*]|[ .]$)'
)
_DRIVE = re.compile(r"[A-Za-z]:")
_BRACKET = r"\[(?P<negation>(?>[!^]?))(?P<members>[^/][^/\]]*)\]"
_TOKEN = re.compile(rf"(?P<star>\*+)|(?P<question>\?)|{_BRACKET}|(?P<plain>.)", re.DOTALL)
_WILDCARD = re.compile(rf"[*?]|{_BRACKET}")
_RANGE = re.compile(r"(.)-(.)|(.)", re.DOTALL)


def without_page_suffix(path: str) -> str:
    """Return a path without the suffix of a page."""
    lower = path.lower()
    return next((path[: -len(end)] for end in PAGE_SUFFIXES if lower.endswith(end)), path)


def normalize_path(path: str) -> FilePath | None:
    """Return a path as Git writes it: "./a//b/../c/" is "a/c", "." is "".

    None if it leaves the repository (absolute, with a drive letter, or by ".."), or contains NUL.
    """
    if path.startswith("/") or "\0" in path:
        return None
    parts: list[str] = []
    for part in path.split("/"):
        if part == "..":
            if not parts:
                return None
            parts.pop()
        elif part not in {"", "."}:
            parts.append(part)
    # checked last, because "./C:/x" is on a drive too
    if parts and (parts[0].startswith("\\") or _DRIVE.match(parts[0])):
        return None
    return FilePath("/".join(parts))


def is_windows_path(path: str) -> bool:
    """Return whether Windows has files with the names of a path: no `aux.md`, no `a?.md`, no `a. `.

    A clone with others cannot be checked out there.
    """
    return not any(re.match(_FOREIGN, part) for part in path.split("/"))


def is_within(path: str, directory: str) -> bool:
    """Return whether a path is a directory or below it; "" is the root."""
    return not directory or path == directory or path.startswith(directory + "/")


def overlaps(first: str, second: str) -> bool:
    """Return whether two paths are equal, or one is a directory that contains the other."""
    return is_within(first, second) or is_within(second, first)


def ancestors(path: str) -> Iterator[str]:
    """Yield the directories that contain a path, the innermost first; the last is "", the root."""
    while path:
        path = path.rpartition("/")[0]
        yield path


def parent_folders(path: str) -> Iterator[str]:
    """Yield the folders that contain a file, the outermost first, without the root."""
    end = path.find("/")
    while end >= 0:
        yield path[:end]
        end = path.find("/", end + 1)


def nfc(text: str) -> str:
    """Return a text in composed form (NFC): macOS decomposes names, people type them composed."""
    if text.isascii():
        return text
    import unicodedata

    return unicodedata.normalize("NFC", text)


def doc_id(path: FilePath, collection: str = "") -> str:
    """Return a document's id, a UUIDv5 of its path: the same on every machine, in every clone.

    In a collection, it is that of the collection's name, NUL and the path.
    Computed here because `ubp stale --json` prints ids, and the hook must not load `uuid`.
    """
    from hashlib import sha1  # 3 ms of CPU; only records contain document ids

    name = nfc(path).encode("utf-8", "surrogateescape")
    if collection:
        name = collection.encode("ascii") + b"\0" + name
    digest = bytearray(sha1(DOCUMENT_NAMESPACE + name, usedforsecurity=False).digest()[:16])
    digest[6] = digest[6] & 0x0F | 0x50  # RFC 9562 §5.5: version 5
    digest[8] = digest[8] & 0x3F | 0x80  # and its variant
    text = digest.hex()
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


def closest_path(path: FilePath, others: Collection[FilePath]) -> FilePath | None:
    """Return the path most like this one; None if there are no others.

    Preferred are, in this order: the same file name, the longest common prefix, the alphabet.
    """
    name = path.rpartition("/")[2]

    def rank(other: FilePath) -> tuple[bool, int, str]:
        common = 0
        for ours, theirs in zip(path, other, strict=False):
            if ours != theirs:
                break
            common += 1
        return other.rpartition("/")[2] != name, -common, other

    return min(others, key=rank, default=None)


def is_glob(path: str) -> bool:
    """Return whether a pattern may match more than itself; "{a}" and "[a" do not."""
    return bool(_WILDCARD.search(path)) or ("{" in path and _alternatives(path) != [path])


def is_too_complex(pattern: str) -> bool:
    """Return whether a pattern exceeds the limits, so that it matches nothing."""
    return _alternatives(pattern) is None


class Glob:
    """A compiled path pattern, sensitive to case and Unicode form.

    `**` as a whole segment matches any number of folders; `*` and `?` stay within one segment;
    `{a,b}` are alternatives, which may contain "/"; `[id]` matches as a class and literally,
    because `pages/[id]/*.ts` exists in real projects. `prefix` is the directory that contains all
    matches ("" is the root).
    """

    __slots__ = ("_fullmatch", "pattern", "prefix")

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.prefix = FilePath("/".join(_literal_folders(pattern)))
        self._fullmatch = re.compile(_expression(pattern)).fullmatch

    def matches(self, path: str) -> bool:
        """Return whether the whole path matches."""
        return self._fullmatch(path) is not None


@lru_cache(maxsize=1024)
def compile_glob(pattern: str) -> Glob:
    """Return a compiled pattern; many pages name the same few."""
    return Glob(pattern)


def match_any(patterns: tuple[str, ...], path: str) -> bool:
    """Return whether one of the patterns matches the whole path."""
    return _union(patterns).fullmatch(path) is not None


@lru_cache(maxsize=32)
def _union(patterns: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(map(_expression, patterns)) or r"(?!)")


def _literal_folders(pattern: str) -> Iterator[str]:
    for segment in pattern.split("/")[:-1]:
        if any(character in segment for character in "*?[{"):
            return
        yield segment


def _expression(pattern: str) -> str:
    # A regular expression without catastrophic backtracking: the piece after a star is matched at
    # its first occurrence and never again (an atomic group). That is exact, because each piece
    # between two stars has a fixed width; only the last piece is anchored at the end.
    alternatives = _alternatives(pattern)
    if alternatives is None:
        return "(?!)"
    return "(?:" + "|".join(map(_path_expression, alternatives)) + ")"


def _alternatives(pattern: str) -> list[str] | None:
    # "a{b,c}d" → "abd", "acd"; a pair of braces without a comma is text. None: over the limits.
    if len(pattern) > MAX_PATTERN_CHARACTERS or pattern.count("{") > MAX_BRACES:
        return None
    expanded: list[str] = []
    pending = [(pattern, 0)]
    while pending:
        text, start = pending.pop()
        opening = text.find("{", start)
        if opening < 0:
            expanded.append(text)
            continue
        options, closing = _options(text, opening)
        if len(options) < 2:  # noqa: PLR2004 - a single option is literal
            pending.append((text, opening + 1))
            continue
        head, tail = text[:opening], text[closing + 1 :]
        pending.extend((head + option + tail, opening) for option in reversed(options))
        if len(expanded) + len(pending) > MAX_ALTERNATIVES:
            return None
    return expanded if sum(map(len, expanded)) <= MAX_EXPANDED_CHARACTERS else None


def _options(text: str, opening: int) -> tuple[list[str], int]:
    """Return the texts between the commas of a pair of braces, and the index of the closing one."""
    options: list[str] = []
    depth, start = 0, opening + 1
    for index in range(opening, len(text)):
        character = text[index]
        if character == "{":
            depth += 1
        elif character == "," and depth == 1:
            options.append(text[start:index])
            start = index + 1
        elif character == "}":
            depth -= 1
            if depth == 0:
                return [*options, text[start:index]], index
    return [], opening


def _path_expression(pattern: str) -> str:
    groups: list[list[str]] = [[]]
    for segment in pattern.split("/"):
        if segment == "**":
            groups.append([])
        else:
            groups[-1].append(_segment_expression(segment))
    first, *others = groups
    if not others:
        return "/".join(first)
    expression = "".join(f"{segment}/" for segment in first)
    for group in filter(None, others[:-1]):
        expression += "(?>(?:[^/]+/)*?" + "".join(f"{segment}/" for segment in group) + ")"
    if not others[-1]:
        return expression + "(?s:.+)"
    return expression + "(?:[^/]+/)*" + "/".join(others[-1])


def _segment_expression(segment: str) -> str:
    tokens = list(_TOKEN.finditer(segment))
    brackets = [token for token in tokens if token["members"]]
    if not brackets and "*" not in segment and "?" not in segment:
        return re.escape(segment)
    if len(brackets) > MAX_MIXED_BRACKETS:
        choices = [(True,) * len(brackets), (False,) * len(brackets)]
    else:
        choices = list(product((True, False), repeat=len(brackets)))
    variants = "|".join(_variant(tokens, are_classes) for are_classes in choices)
    return rf"(?>(?:{variants})(?=/|\Z))"


def _variant(tokens: list[re.Match[str]], are_classes: tuple[bool, ...]) -> str:
    """Return a segment's expression; `are_classes`: each bracket is a class, or literal."""
    is_class = iter(are_classes)
    pieces = [""]
    for token in tokens:
        if token["star"]:
            pieces.append("")
        elif token["question"]:
            pieces[-1] += "[^/]"
        elif token["members"] and next(is_class):
            pieces[-1] += _class_expression(token["members"], negated=bool(token["negation"]))
        else:
            pieces[-1] += re.escape(token[0])
    first, *others = pieces
    if not others:
        return first
    between = "".join(f"(?>[^/]*?{piece})" for piece in others[:-1] if piece)
    return rf"{first}{between}[^/]*{others[-1]}"


def _class_expression(members: str, *, negated: bool) -> str:
    parts = []
    for low, high, single in _RANGE.findall(members):
        if single:
            parts.append(re.escape(single))
        elif low <= high:
            parts.append(f"{re.escape(low)}-{re.escape(high)}")
    if not parts:  # "[z-a]" is empty
        return "[^/]" if negated else "(?!)"
    return f"(?!/)[{'^' if negated else ''}{''.join(parts)}]"
