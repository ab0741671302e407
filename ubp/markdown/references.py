"""Source references: where a page's front matter names its sources, and what it says of each."""

import re
from collections.abc import Iterator, Sequence
from itertools import chain, islice
from typing import NamedTuple

from ubp.core.model import FilePath, Problem, SourceReference
from ubp.core.paths import is_glob, is_too_complex, normalize_path
from ubp.markdown.front_matter import FrontMatter
from ubp.markdown.yaml_nodes import Node

# A page that described more than a thousand sources would describe none of them. Each costs a
# look into history; and a path that is longer than this no system opens.
MAX_REFERENCES = 1000
MAX_PATH_CHARACTERS = 4096

PATH_NAMES = ("path", "ref", "file")
PIN = re.compile(r"[0-9a-fA-F]{7,40}")

_TAIL = re.compile(r"(?P<path>[^#]+?)(?P<tail>#.*|::.*|:L?\d+(?:[:-]L?\d+)?)", re.DOTALL)
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_SHOWN_CHARACTERS = 80


class KeyStep(NamedTuple):
    """A value on the way from the front matter's mapping down; `key` where a mapping holds it."""

    node: Node
    key: Node | None


Trail = tuple[KeyStep, ...]


class ReferenceLocation(NamedTuple):
    """Where a source is named: `trail` ends at the scalar that names it.

    `mapping` is the one that may hold `blob` and `reason` beside it; `fault` says why the place
    names no source.
    """

    key: str
    trail: Trail
    mapping: Node | None = None
    fault: str | None = None

    @property
    def source(self) -> Node:
        """The scalar that names the source."""
        return self.trail[-1].node


class ParsedReferences(NamedTuple):
    """A reference and its place."""

    reference: SourceReference
    place: ReferenceLocation


def find_references(
    found: FrontMatter, keys: Sequence[str]
) -> tuple[list[ParsedReferences], list[Problem]]:
    """Read the references under `keys`, each path with its tail once, and what is wrong."""
    reader = _Reader(found)
    root = found.root or Node("mapping", 0, 0)
    places = chain.from_iterable(_places(root, key) for key in dict.fromkeys(keys))
    for count, place in enumerate(places):
        if count == MAX_REFERENCES:
            reader.complain(place.source, f"Only {MAX_REFERENCES} references are read.")
            break
        reader.read(place)
    return list(reader.named.values()), reader.problems


def split_tail(written: str) -> tuple[str, str | None]:
    """Cut "#symbol", "#L3-L9", "::name", ":12" and ":12-20" off a path."""
    match = _TAIL.fullmatch(written)
    return (match["path"], match["tail"]) if match else (written, None)


def one_line(text: str) -> str:
    """Make every run of white space a single space, as a reason and a title are read."""
    return " ".join(text.split())


def shown(text: str) -> str:
    """Quote a text for a message: cut, and without characters that a terminal would obey."""
    cut = text if len(text) <= _SHOWN_CHARACTERS else text[:_SHOWN_CHARACTERS] + "…"
    return '"' + "".join(c if c.isprintable() else "\ufffd" for c in cut) + '"'


class _Reader:
    def __init__(self, found: FrontMatter) -> None:
        self._found = found
        self.named: dict[FilePath, ParsedReferences] = {}
        self.problems: list[Problem] = []

    def complain(self, node: Node, message: str) -> None:
        self.problems.append(Problem(self._found.line(node.start), message))

    def read(self, place: ReferenceLocation) -> None:
        written = place.source.value.strip()
        path, tail = split_tail(written)
        source_path = normalize_path(path.replace("\\", "/"))
        fault = place.fault or _fault(place.source.type, written, path, source_path)
        if fault or not source_path:
            self.complain(place.source, fault or "This reference is empty.")
            return
        literal = normalize_path(written) or source_path  # "a:12" looks like a drive, so it is none
        if literal not in self.named:
            reference = SourceReference(
                written=written,
                source_path=source_path,
                literal=literal,
                fragment=tail,
                key=place.key,
                line=self._found.line(place.source.start),
                pin=self._pin(place.mapping),
                reason=self._reason(place.mapping),
            )
            self.named[literal] = ParsedReferences(reference, place)
            for key in place.mapping.repeated_keys() if place.mapping else ():
                self.complain(key, f"{shown(key.value)} stands twice; the last one counts.")

    def _pin(self, mapping: Node | None) -> str | None:
        pair = mapping.get("blob") if mapping else None
        if pair is None:
            return None
        text = pair[1].text or ""
        if PIN.fullmatch(text):
            return text.lower()
        told = "blob is no object id (7 to 40 hexadecimal digits), and is ignored."
        self.complain(pair[1], told)
        return None

    def _reason(self, mapping: Node | None) -> str | None:
        pair = mapping.get("reason") if mapping else None
        if pair is None:
            return None
        if pair[1].kind != "scalar":
            self.complain(pair[1], "reason is no text, and is ignored.")
        return one_line(pair[1].text or "") or None


def _fault(kind: str, written: str, path: str, source_path: FilePath | None) -> str | None:
    if kind in {"sequence", "mapping"}:
        return f"This is a {kind}; a reference is a text, or a mapping with path, ref or file."
    if kind == "null" or not written:
        return "This reference is empty."
    if kind != "str":
        return f"{shown(written)} is no text to YAML ({kind}); put it in quotes."
    what = _path_fault(written, path, source_path)
    return f"{shown(written)} {what}; name a path from the repository's root." if what else None


def _path_fault(written: str, path: str, source_path: FilePath | None) -> str | None:
    if "\0" in written or len(written) > MAX_PATH_CHARACTERS:
        return "can be no path"
    if _URL.match(written):
        return "is an address"
    if source_path is None:
        leaves = ".." in path.replace("\\", "/").split("/")
        return "leads out of the repository" if leaves else "is absolute"
    if not source_path:
        return "is the whole repository"
    if is_glob(source_path) and is_too_complex(source_path):
        return "is too complex a pattern"
    return None


def _places(root: Node, key: str) -> Iterator[ReferenceLocation]:
    # "a.b" is b in the mapping a, "a[].b" is b in each mapping of the list a
    trails: list[Trail] = [(KeyStep(root, None),)]
    is_item = is_beside = False
    for part in [key] if root.get(key) else key.split("."):
        name, is_beside = part.removesuffix("[]"), is_item
        pairs = [(trail, trail[-1].node.get(name)) for trail in trails]
        if is_item:
            told = f"This has no {name}, so it names no source."
            yield from (
                ReferenceLocation(key, trail, fault=told) for trail, pair in pairs if pair is None
            )
        trails = [(*trail, KeyStep(pair[1], pair[0])) for trail, pair in pairs if pair]
        is_item = part.endswith("[]")
        if is_item:
            trails = list(islice(chain.from_iterable(map(_items, trails)), MAX_REFERENCES + 1))
    for trail in trails:
        yield from _sources(key, trail, is_beside=is_beside)


def _items(trail: Trail) -> Iterator[Trail]:
    node = trail[-1].node
    if node.kind != "sequence":
        return iter([trail])
    return ((*trail, KeyStep(item, None)) for item in node.items)


def _sources(key: str, trail: Trail, *, is_beside: bool) -> Iterator[ReferenceLocation]:
    value = trail[-1].node
    if value.kind == "sequence":
        for item in _items(trail):
            yield _source(key, item)
    elif value.type != "null" or is_beside:
        place = _source(key, trail)
        yield place._replace(mapping=trail[-2].node) if is_beside and not place.mapping else place


def _source(key: str, trail: Trail) -> ReferenceLocation:
    node = trail[-1].node
    if node.kind != "mapping":
        return ReferenceLocation(key, trail)
    for name in PATH_NAMES:
        if pair := node.get(name):
            return ReferenceLocation(key, (*trail, KeyStep(pair[1], pair[0])), mapping=node)
    return ReferenceLocation(
        key, trail, fault="This names no source: path, ref or file is missing."
    )
