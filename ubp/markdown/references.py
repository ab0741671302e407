"""Find and parse the source references in a page's front matter."""

import re
from collections.abc import Iterator, Sequence
from itertools import chain, islice
from typing import NamedTuple

from ubp.core.model import FilePath, Problem, SourceReference
from ubp.core.paths import is_glob, is_too_complex, normalize_path
from ubp.markdown.front_matter import FrontMatter
from ubp.markdown.yaml_nodes import Node

# Each reference costs a walk through history, and no page describes more than a thousand sources.
MAX_REFERENCES = 1000
MAX_PATH_CHARACTERS = 4096  # no system opens a longer path

PATH_NAMES = ("path", "ref", "file")
PIN = re.compile(r"[0-9a-fA-F]{7,40}")

_TAIL = re.compile(r"(?P<path>[^#]+?)(?P<tail>#.*|::.*|:L?\d+(?:[:-]L?\d+)?)", re.DOTALL)
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_MAX_SHOWN_CHARACTERS = 80


class KeyStep(NamedTuple):
    """A value on the path from the root mapping to a source; `key` is its key in a mapping."""

    node: Node
    key: Node | None


Trail = tuple[KeyStep, ...]


class ReferenceLocation(NamedTuple):
    """The position of a reference: `trail` ends at the scalar that names the source.

    `mapping` is the mapping that may contain `blob` and `reason`; `fault` is the reason why there
    is no source.
    """

    key: str
    trail: Trail
    mapping: Node | None = None
    fault: str | None = None

    @property
    def source(self) -> Node:
        """The node that names the source."""
        return self.trail[-1].node


class ParsedReference(NamedTuple):
    """A reference and its location in the YAML tree."""

    reference: SourceReference
    location: ReferenceLocation


def find_references(
    head: FrontMatter, keys: Sequence[str]
) -> tuple[list[ParsedReference], list[Problem]]:
    """Return the references under `keys`, unique by their `literal` path, and their faults."""
    parser = _Parser(head)
    root = head.root or Node("mapping", 0, 0)
    locations = chain.from_iterable(_find_locations(root, key) for key in dict.fromkeys(keys))
    for count, location in enumerate(locations):
        if count == MAX_REFERENCES:
            parser.report(
                location.source, f"More than {MAX_REFERENCES} references; the rest are ignored."
            )
            break
        parser.add(location)
    return list(parser.by_literal.values()), parser.problems


def find_value(root: Node, key: str) -> Node | None:
    """Return the value of a key, or of a dotted key in nested mappings: "a.b" is key b of a."""
    pair = root.get(key)
    if pair is not None:
        return pair[1]
    node = root
    for name in key.split("."):
        pair = node.get(name)
        if pair is None:
            return None
        node = pair[1]
    return node


def split_tail(written: str) -> tuple[str, str | None]:
    """Return a path without its tail, and the tail: "#symbol", "#L3-L9", "::name", ":12-20"."""
    match = _TAIL.fullmatch(written)
    return (match["path"], match["tail"]) if match else (written, None)


def one_line(text: str) -> str:
    """Return a text with every run of white space as a single space, for reasons and titles."""
    return " ".join(text.split())


def shown(text: str) -> str:
    """Return a text quoted for a message: truncated, without unprintable characters."""
    cut = text if len(text) <= _MAX_SHOWN_CHARACTERS else text[:_MAX_SHOWN_CHARACTERS] + "…"
    printable = (character if character.isprintable() else "\ufffd" for character in cut)
    return '"' + "".join(printable) + '"'


class _Parser:
    """Collects references and problems."""

    def __init__(self, head: FrontMatter) -> None:
        self._head = head
        self.by_literal: dict[FilePath, ParsedReference] = {}
        self.problems: list[Problem] = []

    def report(self, node: Node, message: str) -> None:
        self.problems.append(Problem(self._head.line(node.start), message))

    def add(self, location: ReferenceLocation) -> None:
        written = location.source.value.strip()
        path, tail = split_tail(written)
        source_path = normalize_path(path.replace("\\", "/"))
        fault = location.fault or _fault(location.source.type, written, path, source_path)
        if fault or not source_path:
            self.report(location.source, fault or "The reference is empty.")
            return
        literal = normalize_path(written) or source_path  # None for "a:12", which has a drive
        if literal not in self.by_literal:
            reference = SourceReference(
                written=written,
                source_path=source_path,
                literal=literal,
                fragment=tail,
                key=location.key,
                line=self._head.line(location.source.start),
                pin=self._pin(location.mapping),
                reason=self._reason(location.mapping),
            )
            self.by_literal[literal] = ParsedReference(reference, location)
            for key in location.mapping.repeated_keys() if location.mapping else ():
                self.report(key, f"Duplicate key {shown(key.value)}; the last value is used.")

    def _pin(self, mapping: Node | None) -> str | None:
        pair = mapping.get("blob") if mapping else None
        if pair is None:
            return None
        text = pair[1].text or ""
        if PIN.fullmatch(text):
            return text.lower()
        message = "blob is not a Git object id (7 to 40 hexadecimal digits); it is ignored."
        self.report(pair[1], message)
        return None

    def _reason(self, mapping: Node | None) -> str | None:
        pair = mapping.get("reason") if mapping else None
        if pair is None:
            return None
        if pair[1].kind != "scalar":
            self.report(pair[1], "reason must be a string; the value is ignored.")
        return one_line(pair[1].text or "") or None


def _fault(kind: str, written: str, path: str, source_path: FilePath | None) -> str | None:
    if kind in {"sequence", "mapping"}:
        return f"Expected a string, or a mapping with path, ref or file; found a {kind}."
    if kind == "null" or not written:
        return "The reference is empty."
    if kind != "str":
        return f"{shown(written)} is not a string in YAML ({kind}); put it in quotes."
    fault = _path_fault(written, path, source_path)
    return (
        f"{shown(written)} {fault}; use a path relative to the repository root." if fault else None
    )


def _path_fault(written: str, path: str, source_path: FilePath | None) -> str | None:
    if "\0" in written or len(written) > MAX_PATH_CHARACTERS:
        return "is not a valid path"
    if _URL.match(written):
        return "is a URL"
    if source_path is None:
        leaves = ".." in path.replace("\\", "/").split("/")
        return "is outside the repository" if leaves else "is an absolute path"
    if not source_path:
        return "is the whole repository"
    if is_glob(source_path) and is_too_complex(source_path):
        return "is too complex a pattern"
    return None


def _find_locations(root: Node, key: str) -> Iterator[ReferenceLocation]:
    # "a.b" is key b of the mapping a, "a[].b" is key b of each mapping in the list a
    trails: list[Trail] = [(KeyStep(root, None),)]
    is_item = in_mapping = False
    for part in [key] if root.get(key) else key.split("."):
        name, in_mapping = part.removesuffix("[]"), is_item
        pairs = [(trail, trail[-1].node.get(name)) for trail in trails]
        if is_item:
            fault = f"Missing {name}: this item has no source."
            yield from (
                ReferenceLocation(key, trail, fault=fault) for trail, pair in pairs if pair is None
            )
        trails = [(*trail, KeyStep(pair[1], pair[0])) for trail, pair in pairs if pair]
        is_item = part.endswith("[]")
        if is_item:
            trails = list(islice(chain.from_iterable(map(_items, trails)), MAX_REFERENCES + 1))
    for trail in trails:
        yield from _locate_sources(key, trail, in_mapping=in_mapping)


def _items(trail: Trail) -> Iterator[Trail]:
    node = trail[-1].node
    if node.kind != "sequence":
        return iter([trail])
    return ((*trail, KeyStep(item, None)) for item in node.items)


def _locate_sources(key: str, trail: Trail, *, in_mapping: bool) -> Iterator[ReferenceLocation]:
    value = trail[-1].node
    if value.kind == "sequence":
        for item in _items(trail):
            yield _locate_source(key, item)
    elif value.type != "null" or in_mapping:
        location = _locate_source(key, trail)
        if in_mapping and not location.mapping:
            location = location._replace(mapping=trail[-2].node)
        yield location


def _locate_source(key: str, trail: Trail) -> ReferenceLocation:
    node = trail[-1].node
    if node.kind != "mapping":
        return ReferenceLocation(key, trail)
    for name in PATH_NAMES:
        if pair := node.get(name):
            return ReferenceLocation(key, (*trail, KeyStep(pair[1], pair[0])), mapping=node)
    return ReferenceLocation(
        key, trail, fault="Missing path, ref or file: this item has no source."
    )
