"""What changed in sources since pages described them."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

from ubp.core.model import (
    MODE_FILE,
    MODE_SUBMODULE,
    MODE_TREE,
    Assessment,
    Entry,
    FilePath,
    ObjectId,
    ReferenceVerdict,
    Verdict,
)
from ubp.core.paths import Glob, is_glob
from ubp.git.diff import diff_blobs
from ubp.git.repository import Repository
from ubp.git.snapshot import read_documents
from ubp.git.trees import entries_at, list_tree
from ubp.index.view import View
from ubp.staleness.model import SourceDiff
from ubp.staleness.references import Source, covers

DRIFTED: frozenset[Verdict] = frozenset({"modified", "deleted", "moved", "created"})

# Longer than any source that people wrote; 200,000 lines take libgit2 half a second.
MAX_LINES = 200_000
# More files than anybody reads in one diff of a directory.
MAX_FILES = 50
# Sources whose contents are read with one call: both versions of 100 of 10 kB are 2 MB.
FILES_A_READ = 100


def diff_pages(
    pages: Sequence[Assessment],
    view: View,
    repository: Repository,
    is_hidden: Callable[[FilePath], bool],
) -> Iterator[tuple[Assessment, ReferenceVerdict, SourceDiff]]:
    """For each reference of these pages that drifted, what changed; not for hidden sources."""
    drifted = [
        (one, answer)
        for one in pages
        for answer in one.references
        if answer.verdict in DRIFTED and not is_hidden(answer.source_path)
    ]
    diffs = diff_sources([answer for _, answer in drifted], view, repository, is_hidden)
    yield from ((one, answer, diff) for (one, answer), diff in zip(drifted, diffs, strict=True))


def diff_sources(
    answers: Sequence[ReferenceVerdict],
    view: View,
    repository: Repository,
    is_hidden: Callable[[FilePath], bool],
) -> Iterator[SourceDiff]:
    """For each answer, its baseline compared with what stands in the snapshot, file by file.

    Files that `is_hidden` admits are left out: they are not served, as sources either.
    """
    for start in range(0, len(answers), FILES_A_READ):
        batch = answers[start : start + FILES_A_READ]
        baselines = _find_baselines(batch, repository)
        contents = _Contents(view, repository)
        contents.expect(
            [entry.id for entry in baselines.values() if not entry.is_directory],
            [answer.moved_to or answer.source_path for answer in batch],
        )
        for number, answer in enumerate(batch):
            before = _files_before(answer, baselines.get(number), repository)
            if before is None:
                yield SourceDiff("Git keeps no object for the pin of a glob: see the commits.")
            else:
                after = _files_after(answer.moved_to or answer.source_path, view)
                yield _compare_files(before, after, contents, is_hidden)


def _compare_files(
    before: Mapping[FilePath, Entry],
    after: Mapping[FilePath, Entry],
    contents: "_Contents",
    is_hidden: Callable[[FilePath], bool],
) -> SourceDiff:
    if len(before) == len(after) == 1:  # a moved file is the same file
        before = {next(iter(after)): next(iter(before.values()))}
    changed = [
        name
        for name in sorted({*before, *after})
        if before.get(name) != after.get(name) and not is_hidden(name)
    ]
    if len(changed) > 1:
        olds = [entry.id for name in changed[:MAX_FILES] if (entry := before.get(name))]
        contents.expect(olds, changed[:MAX_FILES])
    whole = SourceDiff("")
    for name in changed[:MAX_FILES]:
        whole = _joined(whole, _compare_file(name, before.get(name), after.get(name), contents))
    if len(changed) > MAX_FILES:
        rest = f"… and {len(changed) - MAX_FILES} more files"
        whole = whole._replace(text="\n".join(filter(None, [whole.text, rest])))
    return whole


def _joined(one: SourceDiff, other: SourceDiff) -> SourceDiff:
    return SourceDiff(
        text="\n".join(filter(None, [one.text, other.text])),
        missing=one.missing + other.missing,
        added=one.added + other.added,
        removed=one.removed + other.removed,
        lines=one.lines + other.lines,
        changed=one.changed + other.changed,
    )


def _compare_file(
    name: FilePath, before: Entry | None, after: Entry | None, contents: "_Contents"
) -> SourceDiff:
    modules = [e.id[:12] if e else "none" for e in (before, after) if not e or _is_module(e)]
    if len(modules) == 2:  # noqa: PLR2004 - both sides
        return SourceDiff(f"Submodule {name}: {modules[0]} before, {modules[1]} now")
    old = contents.before(before)
    new = contents.after(name, after)
    absent = [e.id for e, data in ((before, old), (after, new)) if e and data is None]
    if old is None or new is None:
        return SourceDiff("", tuple(absent), changed=_here(name, after, None))
    lines = _count_lines(old) + _count_lines(new)
    if lines > MAX_LINES:
        told = f"{name} differs: with {lines} lines before and now it is too long"
        return SourceDiff(told, changed=_here(name, after, None))
    patch = diff_blobs(name, old, new)
    here = _here(name, after, patch.line)
    return SourceDiff(patch.text, (), patch.added, patch.removed, lines, here)


def _here(
    name: FilePath, after: Entry | None, line: int | None
) -> tuple[tuple[FilePath, int | None], ...]:
    return ((name, line),) if after else ()


def _is_module(entry: Entry) -> bool:
    return entry.mode == MODE_SUBMODULE


def _count_lines(data: bytes) -> int:
    return data.count(b"\n") + (data[-1:] not in {b"", b"\n"})


class _Contents:
    """The bytes of both sides; those that are expected are read with a call or two for all."""

    def __init__(self, view: View, repository: Repository) -> None:
        self._view = view
        self._repository = repository
        self._before: dict[ObjectId, bytes | None] = {}
        self._after: dict[FilePath, bytes | None] = {}

    def expect(self, before: Collection[ObjectId], after: Collection[FilePath]) -> None:
        """Read these blobs, and these files of the snapshot."""
        self._before |= self._repository.read_blobs(set(before) - self._before.keys())
        wanted = set(after) - self._after.keys()
        there = {path: e for path, e in self._view.entries(wanted).items() if e and e.is_file}
        self._after |= read_documents(self._repository, self._view.snapshot, there)

    def before(self, entry: Entry | None) -> bytes | None:
        """A baseline; None: not to be had."""
        if entry is None:
            return b""
        if entry.id not in self._before:
            self._before |= self._repository.read_blobs([entry.id])
        return self._before[entry.id]

    def after(self, path: FilePath, entry: Entry | None) -> bytes | None:
        """What stands at a path now; None: not to be had."""
        if entry is None:
            return b""
        if path not in self._after:
            found = read_documents(self._repository, self._view.snapshot, {path: entry})
            self._after |= found
        return self._after[path]


def _find_baselines(
    answers: Sequence[ReferenceVerdict], repository: Repository
) -> dict[int, Entry]:
    """What stood there, by the answers' numbers; not told where Git has no such object."""
    wanted: dict[ObjectId, set[FilePath]] = defaultdict(set)
    for answer in answers:
        if answer.baseline_commit:
            wanted[answer.baseline_commit].add(answer.source_path)
    stood = entries_at(repository, wanted) if wanted else {}
    pins = {a.baseline_blob for a in answers if a.baseline_blob and not a.baseline_commit}
    pinned = _resolve_pins(sorted(pins), repository) if pins else {}
    found: dict[int, Entry] = {}
    for number, answer in enumerate(answers):
        if answer.baseline_commit:
            entry = stood[answer.baseline_commit, answer.source_path]
        else:
            entry = pinned.get(answer.baseline_blob or "")
        if entry is not None and answer.baseline_blob is not None:
            found[number] = entry
    return found


def _resolve_pins(pins: Sequence[str], repository: Repository) -> dict[str, Entry]:
    """The blob or tree that each pin, mostly shortened, stands for."""
    stdin = "".join(f"{pin}\n" for pin in pins).encode("ascii")
    lines = repository.run("cat-file", "--batch-check", stdin=stdin).decode("ascii").splitlines()
    modes = {"blob": MODE_FILE, "tree": MODE_TREE}
    return {
        pin: Entry(modes[words[1]], ObjectId(words[0]))
        for pin, words in zip(pins, (line.split(" ") for line in lines), strict=True)
        if words[1] in modes
    }


def _files_before(
    answer: ReferenceVerdict, entry: Entry | None, repository: Repository
) -> Mapping[FilePath, Entry] | None:
    """The baseline's files; None where Git has no object that could tell them."""
    path, baseline = answer.source_path, answer.baseline_blob
    if baseline is None:
        return {}
    if entry is not None and not entry.is_directory:
        return {path: entry}
    if answer.baseline_commit:
        tree = list_tree(repository, answer.baseline_commit)
        source = _source(path)
        return {p: e for p, e in tree.items() if e.is_file and covers(source, [p])}
    if entry is not None:
        above = "" if is_glob(path) else f"{path}/"  # a glob's tree begins at the root
        tree = list_tree(repository, entry.id)
        return {FilePath(above + p): e for p, e in tree.items() if e.is_file}
    return None if is_glob(path) else {path: Entry(MODE_FILE, ObjectId(baseline))}


def _source(path: FilePath) -> Source:
    return Source(Glob(path).prefix, path) if is_glob(path) else Source(path)


def _files_after(path: FilePath, view: View) -> Mapping[FilePath, Entry]:
    entry = view.entry(path)
    if entry is not None and not entry.is_directory:
        return {path: entry}
    if entry is None and is_glob(path):
        glob = Glob(path)
        return {p: e for p, e in view.files(glob.prefix) if e.is_file and glob.matches(p)}
    return {p: e for p, e in view.files(path) if e.is_file} if entry else {}
