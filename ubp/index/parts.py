"""The parts of files that references can name: the definitions in sources, the sections of pages.

They depend only on a file's bytes and on the parser's version, so that they are stored by blob.
"""

import json
from collections.abc import Callable, Collection, Mapping
from typing import Literal, NamedTuple

from ubp.core.model import MODE_FILE, Entry, FilePath, ObjectId
from ubp.core.source import Part, PartSource
from ubp.git.output import blob_id
from ubp.index.facts import FileContents
from ubp.index.store.facts import NameTable
from ubp.index.tree import IndexContext

PartsFault = Literal["absent", "extra", "language"]
"""Why the parts of a file are unknown: its bytes are not available (or too many), the extra
`symbols` is not installed, or symbols cannot be found in this kind of file."""


class FileVersion(NamedTuple):
    """The bytes of a file: those of the snapshot (`is_current`), or of an earlier blob."""

    path: FilePath
    blob: ObjectId
    is_current: bool


class PartReader:
    """Reads parts and bytes of file versions, each once."""

    def __init__(self, context: IndexContext) -> None:
        self._context = context
        self._parts: dict[tuple[str, ObjectId], tuple[Part, ...]] = {}
        self._contents: dict[ObjectId, bytes | None] = {}

    def read_parts(
        self, versions: Collection[tuple[PartSource, FileVersion]]
    ) -> dict[tuple[PartSource, FileVersion], tuple[Part, ...] | PartsFault]:
        """Return what each source (a symbol or a section) names in a version of its file."""
        by_parser: dict[str, dict[ObjectId, FileVersion]] = {}
        for source, version in versions:
            if parser := _parser_name(source.kind, version.path):
                by_parser.setdefault(parser, {})[version.blob] = version
        faults = {parser: self._load(parser, by_parser[parser]) for parser in by_parser}
        found: dict[tuple[PartSource, FileVersion], tuple[Part, ...] | PartsFault] = {}
        for source, version in versions:
            parser = _parser_name(source.kind, version.path)
            if parser is None:
                found[source, version] = "language"
                continue
            parts = self._parts.get((parser, version.blob))
            found[source, version] = faults[parser] if parts is None else _select(parts, source)
        return found

    def read_all(self, source: PartSource, version: FileVersion) -> tuple[Part, ...]:
        """Return all parts of a version that are of the same kind as a source."""
        parser = _parser_name(source.kind, version.path)
        if parser is None:
            return ()
        self._load(parser, {version.blob: version})
        return self._parts.get((parser, version.blob), ())

    def read_bytes(self, versions: Collection[FileVersion]) -> Mapping[ObjectId, bytes | None]:
        """Return the bytes of these versions by blob; None: absent or too large."""
        unread = [version for version in versions if version.blob not in self._contents]
        current = {v.path: Entry(MODE_FILE, v.blob) for v in unread if v.is_current}
        if current:
            contents = FileContents(self._context.repository, self._context.snapshot).read(current)
            self._contents |= {current[path].id: data for path, data in contents.items()}
        earlier = {version.blob for version in unread} - self._contents.keys()
        if earlier:
            self._contents |= self._context.repository.read_blobs(earlier)
        return self._contents

    def _load(self, parser: str, versions: Mapping[ObjectId, FileVersion]) -> PartsFault:
        """Read the parts of these blobs as far as possible, and return why others are unknown."""
        missing = [blob for blob in versions if (parser, blob) not in self._parts]
        if not missing:
            return "absent"
        version = _parser_version(parser)
        if version is None:
            return "extra"
        table = NameTable(self._context.store.database, f"parts {parser} {version}")
        stored = table.read(missing)
        self._parts |= {(parser, blob): _unpack(text) for blob, text in stored.items()}
        missing = [blob for blob in missing if blob not in stored]
        contents = self.read_bytes([versions[blob] for blob in missing]) if missing else {}
        parse = _parse_function(parser)
        new: dict[ObjectId, str] = {}
        for blob in missing:
            data = contents[blob]
            parts = None if data is None else parse(data)
            if data is None or parts is None:
                continue
            self._parts[parser, blob] = parts
            if blob_id(data) == blob:  # a filter may change them between the disk and Git
                new[blob] = _pack(parts)
        table.save(new)
        return "absent"


def find_parts(source: PartSource, data: bytes) -> tuple[Part, ...]:
    """Return what a symbol or a section names in a file's bytes."""
    parser = _parser_name(source.kind, source.path)
    parts = _parse_function(parser)(data) if parser and _parser_version(parser) else None
    return _select(parts or (), source)


def _parser_name(kind: str, path: FilePath) -> str | None:
    if kind == "section":
        return "markdown"
    from ubp.code.symbols import find_language

    return find_language(path)


def _parser_version(parser: str) -> str | None:
    if parser == "markdown":
        from ubp.markdown.section_words import VERSION

        return str(VERSION)
    from ubp.code.symbols import parser_version

    return parser_version()


def _parse_function(parser: str) -> Callable[[bytes], tuple[Part, ...] | None]:
    if parser == "markdown":
        from ubp.markdown.section_words import read_sections

        return read_sections
    from ubp.code.symbols import read_symbols

    return lambda data: read_symbols(data, parser)


def _select(parts: tuple[Part, ...], source: PartSource) -> tuple[Part, ...]:
    if source.kind == "section":
        from ubp.markdown.section_words import select_section

        return select_section(parts, source.fragment)
    from ubp.code.symbols import select_symbol

    return select_symbol(parts, source.fragment)


def _pack(parts: tuple[Part, ...]) -> str:
    return json.dumps(parts, separators=(",", ":"))


def _unpack(text: str) -> tuple[Part, ...]:
    return tuple([Part(tuple(names), *others) for names, *others in json.loads(text)])
