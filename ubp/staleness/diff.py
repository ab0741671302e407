"""Diffs of sources between their baselines and a snapshot."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import groupby, zip_longest
from typing import NamedTuple

from ubp.code.comments import without_comments
from ubp.code.statements import differing_statements
from ubp.core.model import (
    MODE_FILE,
    MODE_SUBMODULE,
    Assessment,
    Entry,
    FilePath,
    ObjectId,
    ReferenceVerdict,
    Verdict,
)
from ubp.core.paths import is_glob
from ubp.core.shell import ubp_command
from ubp.core.source import Part, PartSource, PathSource, possible_sources
from ubp.git.diff import FileDiff, diff_blobs, keep_lines
from ubp.git.repository import Repository
from ubp.git.snapshot import read_documents
from ubp.git.trees import list_tree, resolve_objects
from ubp.index.view import View
from ubp.staleness.model import SourceDiff, StalenessContext

DRIFTED: frozenset[Verdict] = frozenset({"modified", "deleted", "moved", "created"})

MAX_LINES = 200_000  # of both versions, longer than any source written by people; takes 0.5 s
MAX_LINE_CHARACTERS = 2_000  # the rest of a longer line, which a program wrote, is left out
MAX_PARTS = 20  # of one name in a file: overloads, or methods of several classes
MAX_FILES = 50  # in the diff of a directory or a glob, more than anybody reads
SOURCES_PER_READ = 100  # read with one call: both versions of 100 of 10 kB are 2 MB


def diff_pages(
    pages: Sequence[Assessment], context: StalenessContext
) -> Iterator[tuple[Assessment, ReferenceVerdict, SourceDiff]]:
    """Yield the diff of each drifted reference of these pages, except for hidden sources."""
    drifted = [
        (assessment, reference)
        for assessment in pages
        for reference in assessment.references
        if reference.verdict in DRIFTED and not context.rules.is_hidden(reference.source_path)
    ]
    diffs = diff_sources([reference for _, reference in drifted], context)
    for (assessment, reference), diff in zip(drifted, diffs, strict=True):
        yield assessment, reference, diff


def diff_sources(
    references: Sequence[ReferenceVerdict], context: StalenessContext
) -> Iterator[SourceDiff]:
    """Yield for each reference the diff between its baseline and the snapshot, file by file.

    Hidden files are left out: they must not be served. Of a collection from which only excerpts may
    be shown, so is most of a long diff.
    """
    for collection, group in groupby(references, key=lambda reference: reference.collection):
        if not collection:
            yield from _diff_sources(list(group), context)
            continue
        from ubp.core.policy import excerpt
        from ubp.staleness.collections import in_collection

        place, local, policy = in_collection(group, context)
        for reference, diff in zip(local, _diff_sources(local, place), strict=True):
            text = excerpt(diff.text, policy)
            if diff.missing:
                version = reference.unfetched or collection
                command = ubp_command("collections", "sync", version)
                text = f"No diff: a version of it was not fetched. Fetch it: {command}"
            # The files that changed are not those of the page's repository.
            yield diff._replace(text=text, missing=(), changed=())


def _diff_sources(
    references: Sequence[ReferenceVerdict], context: StalenessContext
) -> Iterator[SourceDiff]:
    is_hidden = context.rules.is_hidden
    versions = _read_versions(references, context)
    for reference, (before, after, contents) in zip(references, versions, strict=True):
        if before is None:
            yield SourceDiff("No diff: Git has no object for the pin of a glob; see the commits.")
        elif part := _part(reference):
            yield _compare_part(part, reference, (before, after), contents)
        else:
            yield _compare_files(before, after, contents, is_hidden)


class ChangedLines(NamedTuple):
    """The lines of code, apart from white space, that only one version of a source has.

    Comments and docstrings are not code, and lines of a statement that both versions have,
    formatted or annotated in another way, are left out. `before` and `after` are the code of the
    files that differ. `is_incomplete`: a partial clone lacks a version of a file, or it is too
    long. `is_of_one_file`: these are the lines of a whole file in two versions, on which nothing
    but their bytes has a bearing.
    """

    removed: frozenset[str]
    added: frozenset[str]
    before: bytes = b""
    after: bytes = b""
    is_incomplete: bool = False
    is_of_one_file: bool = False


def read_changed_lines(
    references: Sequence[ReferenceVerdict], context: StalenessContext
) -> Iterator[ChangedLines]:
    """Return for each reference the lines that changed since its baseline.

    It is cheaper than a diff: the hook does not load libgit2 for it, and does not parse again the
    files whose parts have been compared. What many pages name is read once.
    """
    unique = {drift_of(reference): reference for reference in references}
    changes: list[ChangedLines] = []
    for collection, group in groupby(unique.values(), key=lambda reference: reference.collection):
        local, place = list(group), context
        if collection:
            from ubp.staleness.collections import in_collection

            place, local, _ = in_collection(local, context)
        changes += _read_changed_lines(local, place)
    by_drift = dict(zip(unique, changes, strict=True))
    return (by_drift[drift_of(reference)] for reference in references)


def drift_of(reference: ReferenceVerdict) -> tuple[str | None, ...]:
    """Return what the changed lines of a source depend on, whichever page names it."""
    return (
        *(reference.collection, reference.unfetched, reference.note),
        *(reference.source_path, reference.reference.source_path, reference.reference.fragment),
        *(reference.baseline_commit, reference.baseline_blob, reference.current_blob),
        *(reference.moved_to, reference.moved_fragment),
    )


def _read_changed_lines(
    references: Sequence[ReferenceVerdict], context: StalenessContext
) -> Iterator[ChangedLines]:
    is_hidden = context.rules.is_hidden
    versions = _read_versions(references, context)
    for reference, (before, after, contents) in zip(references, versions, strict=True):
        if before is None:
            yield ChangedLines(frozenset(), frozenset(), is_incomplete=True)
            continue
        old_lines, new_lines = Counter[bytes](), Counter[bytes]()
        texts: list[tuple[bytes, bytes]] = []
        is_incomplete = False
        part = _part(reference)
        for old_name, name in _changed_files(before, after, contents, is_hidden)[:MAX_FILES]:
            entries = before.get(old_name), after.get(name)
            if any(entry and entry.mode == MODE_SUBMODULE for entry in entries):
                continue  # its commits are not in this repository
            old, new = contents.before(entries[0]), contents.after(name, entries[1])
            if old is None or new is None or _count_lines(old) + _count_lines(new) > MAX_LINES:
                is_incomplete = True
                continue
            if part:
                old, new = _part_texts(part, reference, entries, (old, new), context.view)
            old, new = without_comments(old, old_name), without_comments(new, name)
            texts.append((old, new))
            old, new = differing_statements(old, new, name)
            old_counts, new_counts = Counter(old.splitlines()), Counter(new.splitlines())
            for line in {line for line, _ in old_counts.items() ^ new_counts.items()}:
                words = b" ".join(line.split())
                old_lines[words] += old_counts[line]
                new_lines[words] += new_counts[line]
        yield ChangedLines(
            frozenset(line.decode("utf-8", "replace") for line in old_lines - new_lines),
            frozenset(line.decode("utf-8", "replace") for line in new_lines - old_lines),
            b"\n".join(old for old, _ in texts),
            b"\n".join(new for _, new in texts),
            is_incomplete,
            is_of_one_file=len(before) == len(after) == 1 and not (part or is_incomplete),
        )


def _part_texts(
    part: PartSource,
    reference: ReferenceVerdict,
    entries: tuple[Entry | None, Entry | None],
    contents: tuple[bytes, bytes],
    view: View,
) -> tuple[bytes, bytes]:
    """Return the text of a symbol or section in both versions, of a range what is left of it."""
    from ubp.index.parts import FileVersion, PartReader

    old, new = contents
    if part.kind == "lines":
        first, last = part.lines
        pinned, kept = old.splitlines()[first - 1 : last], {*new.splitlines()}
        return b"\n".join(pinned), b"\n".join(line for line in pinned if line in kept)
    now = part._replace(
        path=reference.moved_to or part.path, fragment=reference.moved_fragment[1:] or part.fragment
    )
    reader = PartReader(view.context)

    def text(source: PartSource, entry: Entry | None, data: bytes, *, is_current: bool) -> bytes:
        if entry is None:
            return b""
        version = FileVersion(source.path, entry.id, is_current=is_current)
        parts = reader.find([(source, version)])[source, version]
        lines = data.splitlines(keepends=True)
        return b"" if isinstance(parts, str) else b"".join(_excerpt(lines, span) for span in parts)

    before, after = entries
    return text(part, before, old, is_current=False), text(now, after, new, is_current=True)


def _read_versions(
    references: Sequence[ReferenceVerdict], context: StalenessContext
) -> Iterator[tuple[Mapping[FilePath, Entry] | None, Mapping[FilePath, Entry], "_Contents"]]:
    """Yield the files of each reference's baseline and of the snapshot, and their contents.

    Of the baseline None where Git has no object that lists them.
    """
    view, repository = context.view, context.repository
    for start in range(0, len(references), SOURCES_PER_READ):
        batch = references[start : start + SOURCES_PER_READ]
        baselines = _find_baselines(batch, context)
        contents = _Contents(view, repository)
        contents.prefetch(
            [entry.id for entry in baselines.values() if not entry.is_directory],
            [reference.moved_to or reference.source_path for reference in batch],
        )
        for number, reference in enumerate(batch):
            before = _baseline_files(reference, baselines.get(number), repository)
            after = _current_files(reference.moved_to or reference.source_path, view)
            yield before, after, contents


def _changed_files(
    before: Mapping[FilePath, Entry],
    after: Mapping[FilePath, Entry],
    contents: "_Contents",
    is_hidden: Callable[[FilePath], bool],
) -> list[tuple[FilePath, FilePath]]:
    """Return the old and new names of the files that differ, and read the first of them at once."""
    if len(before) == len(after) == 1:  # a moved file is compared with itself
        (old_name,), (name,) = before, after
        return [(old_name, name)] if before[old_name] != after[name] else []
    changed = [
        name
        for name in sorted({*before, *after})
        if before.get(name) != after.get(name) and not is_hidden(name)
    ]
    if len(changed) > 1:
        old_blobs = [entry.id for name in changed[:MAX_FILES] if (entry := before.get(name))]
        contents.prefetch(old_blobs, changed[:MAX_FILES])
    return [(name, name) for name in changed]


def _compare_files(
    before: Mapping[FilePath, Entry],
    after: Mapping[FilePath, Entry],
    contents: "_Contents",
    is_hidden: Callable[[FilePath], bool],
) -> SourceDiff:
    changed = _changed_files(before, after, contents, is_hidden)
    total = SourceDiff("")
    for old_name, name in changed[:MAX_FILES]:
        diff = _compare_file(name, before.get(old_name), after.get(name), contents)
        total = _joined(total, diff)
    if len(changed) > MAX_FILES:
        rest = f"… and {len(changed) - MAX_FILES} more"
        total = total._replace(text="\n".join(filter(None, [total.text, rest])))
    return total


def _part(reference: ReferenceVerdict) -> PartSource | None:
    """Return the part that was compared, as it is named in the baseline; None: a whole source."""
    if reference.note or reference.source_path != reference.reference.source_path:
        return None
    source = possible_sources(reference.source_path, reference.reference.fragment)[0]
    return source if isinstance(source, PartSource) else None


def _compare_part(
    part: PartSource,
    reference: ReferenceVerdict,
    files: tuple[Mapping[FilePath, Entry], Mapping[FilePath, Entry]],
    contents: "_Contents",
) -> SourceDiff:
    """Compare the versions of a symbol or section, or what changed at the lines of a range."""
    from ubp.index.parts import find_parts

    path = reference.moved_to or part.path
    before, after = files[0].get(part.path), files[1].get(path)
    old, new = contents.before(before), contents.after(path, after)
    if old is None or new is None:
        entries = ((before, old), (after, new))
        absent = tuple(entry.id for entry, data in entries if entry and data is None)
        return SourceDiff("", absent, changed=_changed_line(path, after, None))
    if part.kind == "lines":
        patch = keep_lines(_diff(path, old, new), *part.lines)
        changed = _changed_line(path, after, patch.line)
        return SourceDiff(patch.text, (), patch.added, patch.removed, len(part.lines), changed)
    now = part._replace(path=path, fragment=reference.moved_fragment[1:] or part.fragment)
    spans = list(zip_longest(find_parts(part, old), find_parts(now, new)))
    old_lines, new_lines = old.splitlines(keepends=True), new.splitlines(keepends=True)
    total = SourceDiff("")
    for old_part, new_part in spans[:MAX_PARTS]:
        excerpts = _excerpt(old_lines, old_part), _excerpt(new_lines, new_part)
        first_lines = tuple(span.line_start if span else 1 for span in (old_part, new_part))
        patch = _diff(path, *excerpts, first_lines)
        if patch.text:
            lines = sum(map(_count_lines, excerpts))
            changed = _changed_line(path, after, patch.line if new_part else None)
            diff = SourceDiff(patch.text, (), patch.added, patch.removed, lines, changed)
            total = _joined(total, diff)
    if len(spans) > MAX_PARTS:
        rest = f"… and {len(spans) - MAX_PARTS} more definitions of this name"
        total = total._replace(text="\n".join(filter(None, [total.text, rest])))
    return total


def _excerpt(lines: Sequence[bytes], part: Part | None) -> bytes:
    return b"".join(lines[part.line_start - 1 : part.line_end]) if part else b""


def _joined(diff: SourceDiff, other: SourceDiff) -> SourceDiff:
    return SourceDiff(
        text="\n".join(filter(None, [diff.text, other.text])),
        missing=diff.missing + other.missing,
        added=diff.added + other.added,
        removed=diff.removed + other.removed,
        lines=diff.lines + other.lines,
        changed=diff.changed + other.changed,
    )


def _compare_file(
    name: FilePath, before: Entry | None, after: Entry | None, contents: "_Contents"
) -> SourceDiff:
    submodules = [
        entry.id[:12] if entry else "none"
        for entry in (before, after)
        if not entry or entry.mode == MODE_SUBMODULE
    ]
    if len(submodules) == 2:  # noqa: PLR2004 - both sides
        return SourceDiff(f"Submodule {name}: {submodules[0]} before, {submodules[1]} now")
    old = contents.before(before)
    new = contents.after(name, after)
    absent = [entry.id for entry, data in ((before, old), (after, new)) if entry and data is None]
    if old is None or new is None:
        return SourceDiff("", tuple(absent), changed=_changed_line(name, after, None))
    lines = _count_lines(old) + _count_lines(new)
    if lines > MAX_LINES:
        text = f"{name} differs; too long for a diff ({lines} lines in both versions)"
        return SourceDiff(text, changed=_changed_line(name, after, None))
    patch = _diff(name, old, new)
    changed = _changed_line(name, after, patch.line)
    return SourceDiff(patch.text, (), patch.added, patch.removed, lines, changed)


def _diff(
    name: FilePath, old: bytes, new: bytes, first_lines: tuple[int, ...] = (1, 1)
) -> FileDiff:
    """Compare two versions of a file; long lines are shown in part."""
    diff = diff_blobs(name, old, new, first_lines)
    return diff._replace(text=re.sub(rf"(?m)^(.{{{MAX_LINE_CHARACTERS}}}).+", r"\1…", diff.text))


def _changed_line(
    name: FilePath, after: Entry | None, line: int | None
) -> tuple[tuple[FilePath, int | None], ...]:
    return ((name, line),) if after else ()


def _count_lines(data: bytes) -> int:
    return data.count(b"\n") + (data[-1:] not in {b"", b"\n"})


class _Contents:
    """The bytes of both sides; those that are prefetched are read with few calls of git."""

    def __init__(self, view: View, repository: Repository) -> None:
        self._view = view
        self._repository = repository
        self._before: dict[ObjectId, bytes | None] = {}
        self._after: dict[FilePath, bytes | None] = {}

    def prefetch(self, before: Collection[ObjectId], after: Collection[FilePath]) -> None:
        """Read these blobs, and these files of the snapshot."""
        self._before |= self._repository.read_blobs(set(before) - self._before.keys())
        unread = set(after) - self._after.keys()
        entries = self._view.entries(unread)
        files = {path: entry for path, entry in entries.items() if entry and entry.is_file}
        self._after |= read_documents(self._repository, self._view.snapshot, files)

    def before(self, entry: Entry | None) -> bytes | None:
        """Return the bytes of a baseline; None: absent or too large."""
        if entry is None:
            return b""
        if entry.id not in self._before:
            self._before |= self._repository.read_blobs([entry.id])
        return self._before[entry.id]

    def after(self, path: FilePath, entry: Entry | None) -> bytes | None:
        """Return the bytes of a file in the snapshot; None: absent or too large."""
        if entry is None:
            return b""
        if path not in self._after:
            self._after |= read_documents(self._repository, self._view.snapshot, {path: entry})
        return self._after[path]


def _find_baselines(
    references: Sequence[ReferenceVerdict], context: StalenessContext
) -> dict[int, Entry]:
    """Return the entries of the baselines by the references' positions, if Git has the objects."""
    paths: dict[ObjectId, set[FilePath]] = defaultdict(set)
    pins = set()
    for reference in references:
        if reference.baseline_commit:
            paths[reference.baseline_commit].add(reference.source_path)
        elif reference.baseline_blob:
            pins.add(reference.baseline_blob)
    historical = context.history.entries_at(paths)
    pinned = resolve_objects(sorted(pins), context.repository) if pins else {}
    baselines: dict[int, Entry] = {}
    for number, reference in enumerate(references):
        if reference.baseline_commit:
            entry = historical[reference.baseline_commit, reference.source_path]
        else:
            entry = pinned.get(reference.baseline_blob or "")
        if entry is not None and reference.baseline_blob is not None:
            baselines[number] = entry
    return baselines


def _baseline_files(
    reference: ReferenceVerdict, entry: Entry | None, repository: Repository
) -> Mapping[FilePath, Entry] | None:
    """Return the files of a baseline; None: Git has no object that lists them."""
    path, baseline = reference.source_path, reference.baseline_blob
    if baseline is None:
        return {}
    if entry is not None and not entry.is_directory:
        return {path: entry}
    if reference.baseline_commit:
        tree = list_tree(repository, reference.baseline_commit)
        source = PathSource(path) if entry else possible_sources(path)[-1]
        return {
            name: entry for name, entry in tree.items() if entry.is_file and source.matches(name)
        }
    if entry is not None:
        prefix = "" if is_glob(path) else f"{path}/"  # a glob's tree begins at the root
        tree = list_tree(repository, entry.id)
        return {FilePath(prefix + name): child for name, child in tree.items() if child.is_file}
    return None if is_glob(path) else {path: Entry(MODE_FILE, ObjectId(baseline))}


def _current_files(path: FilePath, view: View) -> Mapping[FilePath, Entry]:
    entry = view.entry(path)
    if entry is not None and not entry.is_directory:
        return {path: entry}
    if entry is not None:
        return {name: file for name, file in view.files(path) if file.is_file}
    source = possible_sources(path)[-1]
    files = view.files(source.path)
    return {name: file for name, file in files if file.is_file and source.matches(name)}
