"""What changed in a source since the page described it."""

from collections.abc import Callable, Iterator, Mapping

from ubp.git.repository import Repository
from ubp.git.snapshot import read_document
from ubp.git.trees import list_tree
from ubp.index import View
from ubp.model import MODE_FILE, Entry, FilePath, ObjectId, ReferenceVerdict
from ubp.paths import Glob, is_glob
from ubp.staleness.reference import Source, covers
from ubp.staleness.report import SourceDiff

# difflib's time grows with the square of what differs: a second at 5,000 changed lines.
MOST_LINES = 20_000
# More files than anybody reads in one diff of a directory.
MOST_FILES = 50


def diff_source(
    answer: ReferenceVerdict,
    view: View,
    repository: Repository,
    is_hidden: Callable[[FilePath], bool],
) -> SourceDiff:
    """Compare a source's baseline with what stands in the snapshot, file by file.

    Files that `is_hidden` admits are left out: they are not served, as sources either.
    """
    path = answer.moved_to or answer.source_path
    before = _files_before(answer, repository)
    if before is None:
        return SourceDiff("Git keeps no object for the pin of a glob: see the commits instead.")
    after = _files_after(path, view)
    if len(before) == len(after) == 1:  # a moved file is the same file
        before = {next(iter(after)): next(iter(before.values()))}
    changed = [
        name
        for name in sorted({*before, *after})
        if before.get(name) != after.get(name) and not is_hidden(name)
    ]
    texts, missing = [], []
    for name in changed[:MOST_FILES]:
        old = _read_before(before.get(name), repository)
        new = _read_after(name, after.get(name), view, repository)
        for entry, data in ((before.get(name), old), (after.get(name), new)):
            if entry is not None and data is None:
                missing.append(entry.id)
        if old is not None and new is not None:
            texts.append("\n".join(_unified(name, old, new)))
    if len(changed) > MOST_FILES:
        texts.append(f"… and {len(changed) - MOST_FILES} more files")
    return SourceDiff("\n".join(texts), tuple(missing))


def _files_before(
    answer: ReferenceVerdict, repository: Repository
) -> Mapping[FilePath, Entry] | None:
    """The baseline's files; None where Git has no object that could tell them."""
    path, baseline = answer.source_path, answer.baseline_blob
    if baseline is None:
        return {}
    if answer.baseline_commit:
        tree = list_tree(repository, answer.baseline_commit)
        if path in tree and not tree[path].is_directory:
            return {path: tree[path]}
        return {p: e for p, e in tree.items() if e.is_file and covers(_source(path), [p])}
    kind = repository.run("cat-file", "-t", baseline, ok=(0, 128)).strip()
    if kind == b"tree":
        tree = list_tree(repository, ObjectId(baseline))
        return {FilePath(f"{path}/{p}"): e for p, e in tree.items() if e.is_file}
    if not kind and is_glob(path):
        return None
    full = repository.run("rev-parse", "--verify", "--quiet", baseline, ok=(0, 1))
    return {path: Entry(MODE_FILE, ObjectId(full.decode().strip() or baseline))}


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


def _read_before(entry: Entry | None, repository: Repository) -> bytes | None:
    return repository.read_blobs([entry.id])[entry.id] if entry else b""


def _read_after(
    path: FilePath, entry: Entry | None, view: View, repository: Repository
) -> bytes | None:
    return read_document(repository, view.snapshot, path, entry) if entry else b""


def _unified(name: str, old: bytes, new: bytes) -> Iterator[str]:
    import difflib

    if b"\0" in old[:8000] or b"\0" in new[:8000]:
        yield f"Binary file {name} differs"
        return
    before, after = (data.decode("utf-8", "replace").splitlines() for data in (old, new))
    if len(before) + len(after) > MOST_LINES:
        yield f"{name} differs ({len(before)} lines before, {len(after)} now): too long to show"
        return
    yield from difflib.unified_diff(before, after, f"a/{name}", f"b/{name}", lineterm="")
