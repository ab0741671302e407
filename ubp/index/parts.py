"""The parts of files that references can name: the definitions in sources, the sections of pages.

They depend only on a file's bytes and on the parser's version, so that they are stored by blob, as
far as references named them: a hook has no time to read the tokens of whole files.
"""

import json
import re
from collections.abc import Collection, Mapping, Sequence
from typing import Literal, NamedTuple

from ubp.core.model import MODE_FILE, Entry, FilePath, ObjectId
from ubp.core.paths import PAGE_SUFFIXES
from ubp.core.source import Part, PartSource, possible_sources
from ubp.core.text import common_length
from ubp.git.output import blob_id
from ubp.index.facts import FileContents
from ubp.index.store.facts import NameTable
from ubp.index.tree import IndexContext
from ubp.index.view import View

PartsFault = Literal["absent", "extra", "language"]
"""Why the parts of a file are unknown: its bytes are not available, or are too many or too slow to
parse; the extra `symbols` is not installed; or symbols cannot be found in this kind of file."""


class FileVersion(NamedTuple):
    """The bytes of a file: those of the snapshot (`is_current`), or of an earlier blob."""

    path: FilePath
    blob: ObjectId
    is_current: bool


Wanted = tuple[str, ...] | Literal["all"]
"""The names of parts, or all of them, which are below the name ""."""


class PartReader:
    """Reads parts and bytes of file versions, each once."""

    def __init__(self, context: IndexContext) -> None:
        self._context = context
        self._found: dict[tuple[str, ObjectId], dict[str, tuple[Part, ...]]] = {}
        self._contents: dict[ObjectId, bytes | None] = {}

    def find(
        self, wanted: Collection[tuple[PartSource, FileVersion]]
    ) -> dict[tuple[PartSource, FileVersion], tuple[Part, ...] | PartsFault]:
        """Return what each source (a symbol or a section) names in a version of its file."""
        by_parser: dict[str, dict[FileVersion, set[str]]] = {}
        for source, version in wanted:
            if parser := _parser_name(source.kind, version.path):
                fragments = by_parser.setdefault(parser, {}).setdefault(version, set())
                fragments.add(source.fragment)
        faults = {parser: self._load(parser, by_parser[parser]) for parser in by_parser}
        found: dict[tuple[PartSource, FileVersion], tuple[Part, ...] | PartsFault] = {}
        for source, version in wanted:
            parser = _parser_name(source.kind, version.path)
            if parser is None:
                found[source, version] = "language"
                continue
            parts = self._found.get((parser, version.blob), {}).get(source.fragment)
            found[source, version] = faults[parser] if parts is None else parts
        return found

    def find_untouched(
        self, pairs: Mapping[tuple[PartSource, FileVersion], FileVersion]
    ) -> set[tuple[PartSource, FileVersion]]:
        """Return what a change of its file left alone: each source in a version, given a later one.

        Two versions differ in one passage, before and after which they are equal. A definition
        that is not next to it is the same, if the passage contains no part of its name in either
        version. This spares a hook the parsing of most files: half of what it has time for.
        """
        known = {key: later for key, later in pairs.items() if self._known(*key)}
        if not known:
            return set()
        contents = self.read([version for (_, old), new in known.items() for version in (old, new)])
        passages: dict[tuple[ObjectId, ObjectId], _Passage] = {}
        untouched = set()
        for (source, old), new in known.items():
            blobs = old.blob, new.blob
            if blobs not in passages:
                before, after = contents[old.blob], contents[new.blob]
                if before is not None and after is not None:
                    passages[blobs] = _compare(before, after)
            passage = passages.get(blobs)
            if passage and passage.leaves(source.fragment, self._known(source, old)):
                untouched.add((source, old))
        return untouched

    def _known(self, source: PartSource, version: FileVersion) -> tuple[Part, ...]:
        """Return what a symbol names, if that has been read and is something."""
        parser = _parser_name(source.kind, version.path) if source.kind == "symbol" else None
        found = self._found.get((parser, version.blob), {}) if parser else {}
        return found.get(source.fragment, ())

    def all(self, source: PartSource, version: FileVersion) -> tuple[Part, ...]:
        """Return all parts of a version that are of the same kind as a source."""
        parser, data = _parser_name(source.kind, version.path), self.read([version])[version.blob]
        if parser is None or data is None:
            return ()
        (found,) = _find(parser, [(data, "all")])
        return found[""] if found else ()

    def read(self, versions: Collection[FileVersion]) -> Mapping[ObjectId, bytes | None]:
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

    def _load(self, parser: str, wanted: Mapping[FileVersion, set[str]]) -> PartsFault:
        """Find these fragments as far as possible, and return why others are unknown."""
        parser_version = _parser_version(parser)
        if parser_version is None:
            return "extra"
        table = NameTable(self._context.store.database, f"parts {parser} {parser_version}")
        unread = {v.blob for v in wanted if (parser, v.blob) not in self._found}
        for blob, text in table.read(unread).items():
            self._found[parser, blob] = _unpack(text)
        missing = [
            version
            for version, fragments in wanted.items()
            if fragments - self._found.get((parser, version.blob), {}).keys()
        ]
        contents = self.read(missing) if missing else {}
        present = [
            (version, data) for version in missing if (data := contents[version.blob]) is not None
        ]
        answers = _find(parser, [(data, tuple(wanted[version])) for version, data in present])
        new: dict[ObjectId, str] = {}
        for (version, data), answer in zip(present, answers, strict=True):
            if answer is None:
                continue
            found = self._found.setdefault((parser, version.blob), {})
            found |= answer
            is_unsaved = version.path in self._context.snapshot.buffers
            # A filter may change the bytes between disk and Git.
            if blob_id(data) == version.blob and not is_unsaved:
                new[version.blob] = json.dumps(found, separators=(",", ":"))
        table.save(new, replaces=True)
        return "absent"


class _Passage(NamedTuple):
    """The passage in which two versions differ: its lines in the older one, its words in both."""

    first_line: int
    last_line: int
    words: frozenset[bytes]
    lines: list[bytes]  # of the older version

    def leaves(self, symbol: str, parts: tuple[Part, ...]) -> bool:
        """Return whether the passage is not about these definitions, nor next to one.

        What is next to a definition may be a decorator, or indented like its body.
        """
        return self.words.isdisjoint(_WORD.findall(symbol.encode())) and all(
            any(map(_CODE.match, self.lines[part.line_end : self.first_line - 1]))
            or any(map(_CODE.match, self.lines[self.last_line : part.line_start - 1]))
            for part in parts
        )


_CODE = re.compile(rb"\s*[\w}\])]")
_WORD = re.compile(rb"[\w\x80-\xff]+")


def _compare(before: bytes, after: bytes) -> _Passage:
    start = common_length(before, after)
    start = before.rfind(b"\n", 0, start) + 1  # whole lines
    end = min(common_length(before, after, at_end=True), min(len(before), len(after)) - start)
    next_line = before.find(b"\n", len(before) - end) + 1 if end else 0
    end = len(before) - next_line if next_line else 0
    old, new = before[start : len(before) - end], after[start : len(after) - end]
    first_line = before.count(b"\n", 0, start) + 1
    words = frozenset([*_WORD.findall(old), *_WORD.findall(new)])
    return _Passage(first_line, first_line + old.count(b"\n"), words, before.split(b"\n"))


def find_parts(source: PartSource, data: bytes) -> tuple[Part, ...]:
    """Return what a symbol or a section names in a file's bytes."""
    return read_parts([source], data)[source]


def read_parts(sources: Collection[PartSource], data: bytes) -> dict[PartSource, tuple[Part, ...]]:
    """Return what each of these symbols or sections of a file names in the file's bytes."""
    found: dict[PartSource, tuple[Part, ...]] = dict.fromkeys(sources, ())
    by_parser: dict[str, list[PartSource]] = {}
    for source in sources:
        parser = _parser_name(source.kind, source.path)
        if parser is not None and _parser_version(parser) is not None:
            by_parser.setdefault(parser, []).append(source)
    for parser, parts in by_parser.items():
        (answer,) = _find(parser, [(data, tuple(part.fragment for part in parts))])
        found |= {part: answer[part.fragment] for part in parts} if answer else {}
    return found


def find_all_parts(files: Sequence[tuple[FilePath, bytes]]) -> list[tuple[Part, ...] | None]:
    """Return all definitions or sections of each file; None: it cannot be read (`parser_label`)."""
    by_parser: dict[str, list[int]] = {}
    for number, (path, _) in enumerate(files):
        if parser_label(path):
            by_parser.setdefault(_parser_of(path), []).append(number)
    found: list[tuple[Part, ...] | None] = [None] * len(files)
    for parser, numbers in by_parser.items():
        wanted: list[tuple[bytes, Wanted]] = [(files[number][1], "all") for number in numbers]
        for number, answer in zip(numbers, _find(parser, wanted), strict=True):
            found[number] = None if answer is None else answer[""]
    return found


def parser_label(path: FilePath) -> str | None:
    """Return the parser of a file's definitions or sections, with its version; None: none.

    Digests of parts that were found under two labels cannot be compared.
    """
    parser = _parser_of(path)
    version = _parser_version(parser) if parser else None
    return f"{parser} {version}" if version else None


def _parser_of(path: FilePath) -> str:
    kind = "section" if path.lower().endswith(PAGE_SUFFIXES) else "symbol"
    return _parser_name(kind, path) or ""


def part_at(view: View, path: FilePath) -> PartSource | None:
    """Return the part of a file that a path names, as in `src/auth.py#login`, if it names one."""
    file, _, fragment = path.partition("#")
    if not (file and fragment) or view.entry(path):
        return None
    source = possible_sources(FilePath(file), f"#{fragment}")[0]
    return source if isinstance(source, PartSource) else None


def part_lines(
    view: View, parts: Collection[PartSource]
) -> dict[PartSource, tuple[tuple[int, int], ...]]:
    """Return the first and last lines of each part in a snapshot; none where it does not exist.

    A range of lines is where its baseline has it.
    """
    entries = view.entries({part.path for part in parts})
    wanted = {
        part: (part, FileVersion(part.path, entry.id, is_current=True))
        for part in parts
        if part.kind != "lines" and (entry := entries[part.path]) and entry.is_file
    }
    found = PartReader(view.context).find(wanted.values())
    lines: dict[PartSource, tuple[tuple[int, int], ...]] = {
        part: (part.lines,) if part.kind == "lines" and entries[part.path] else () for part in parts
    }
    for part, key in wanted.items():
        if not isinstance(spans := found[key], str):
            lines[part] = tuple((span.line_start, span.line_end) for span in spans)
    return lines


def is_readable(source: PartSource) -> bool:
    """Return whether a parser finds such parts of this file: it is installed, and knows it."""
    parser = _parser_name(source.kind, source.path)
    return source.kind == "lines" or bool(parser and _parser_version(parser))


def symbol_spans(path: FilePath, data: bytes) -> tuple[tuple[str, int, int], ...]:
    """Return the qualified name, first and last line of each definition in a source.

    None where no parser reads it.
    """
    from ubp.code.limited import find_spans
    from ubp.code.symbols import find_language, parser_version

    language = find_language(path)
    return find_spans(data, language) if language and parser_version() else ()


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


def _find(
    parser: str, files: Sequence[tuple[bytes, Wanted]]
) -> list[dict[str, tuple[Part, ...]] | None]:
    """Return the wanted parts of each file; None: it is too large, or takes too long to parse."""
    if parser == "markdown":
        return [_find_sections(data, wanted) for data, wanted in files]
    from ubp.code.limited import SourceFile, find_in_files

    return find_in_files([SourceFile(data, parser, wanted) for data, wanted in files])


def _find_sections(data: bytes, wanted: Wanted) -> dict[str, tuple[Part, ...]]:
    from ubp.markdown.section_words import Sections

    sections = Sections(data)
    if isinstance(wanted, str):
        return {"": sections.all()}
    return {name: sections.find(name) for name in wanted}


def _unpack(text: str) -> dict[str, tuple[Part, ...]]:
    return {
        fragment: tuple([Part(tuple(names), *others) for names, *others in parts])
        for fragment, parts in json.loads(text).items()
    }
