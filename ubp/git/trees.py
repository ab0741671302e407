"""Which files `.gitattributes` calls generated or somebody else's.

Trees: what stands at the paths of commits, and the id that Git gives to a set of files.

The files of a commit that match a glob, and the id of the tree that Git would make of them.

Ids of objects, cut as short as they may be written into a page.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping

from ubp.core.model import MODE_TREE, Entry, FilePath, ObjectId
from ubp.core.paths import Glob
from ubp.git.command import argument_chunks
from ubp.git.output import (
    Changes,
    decode_path,
    encode_path,
    is_valid_path,
    object_id,
    parse_raw_diff,
    parse_tree,
)
from ubp.git.repository import Repository

ATTRIBUTES = ("linguist-generated", "linguist-vendored")  # as GitHub hides them in diffs
YES = frozenset({b"set", b"true"})


def generated_files(repository: Repository, paths: Collection[FilePath]) -> frozenset[FilePath]:
    """Those of these files; attributes are read from the work tree, whatever is asked about."""
    stdin = b"".join(encode_path(path) + b"\0" for path in paths)
    output = repository.run("check-attr", "-z", "--stdin", *ATTRIBUTES, stdin=stdin)
    return frozenset(_told(output))


def _told(output: bytes) -> Iterator[FilePath]:
    tokens = iter(output.split(b"\0"))
    for path, _, value in zip(tokens, tokens, tokens, strict=False):
        if value in YES:
            yield decode_path(path)


MIN_SIMILARITY = 0.5  # git's own threshold for renames
BATCH = 200  # candidates read at a time: 200 sources of 10 kB are 2 MB


FEW_CALLS = 24  # a call to git costs 2 to 3 ms of CPU, libgit2 80 to import


def list_tree(repository: Repository, commit: ObjectId) -> dict[FilePath, Entry]:
    """Every file and directory of a commit; the root itself is not among them."""
    return dict(parse_tree(repository.run("ls-tree", "-r", "-t", "-z", "--full-tree", commit)))


def diff_trees(repository: Repository, old: ObjectId, new: ObjectId) -> Changes:
    """The files and directories that differ: the new commit's entry, None: gone."""
    return parse_raw_diff(
        repository.run(
            "diff-tree",
            "-r",
            "-t",
            "-z",
            "--raw",
            "--no-renames",
            "--ignore-submodules=none",
            old,
            new,
        )
    )


def entries_at(
    repository: Repository, wanted: Mapping[ObjectId, Collection[FilePath]]
) -> dict[tuple[ObjectId, FilePath], Entry | None]:
    """The entries at paths of commits, each pair answered; "" is the root's tree."""
    calls = [
        (commit, chunk)
        for commit, paths in wanted.items()
        for chunk in argument_chunks(p for p in paths if not p or is_valid_path(p))
    ]
    if len(calls) > FEW_CALLS:
        from ubp.git import libgit2

        return libgit2.entries_at(repository.libgit2(), wanted)
    found: dict[tuple[ObjectId, FilePath], Entry | None] = {
        (commit, path): None for commit, paths in wanted.items() for path in paths
    }
    for commit, chunk in calls:
        for path, entry in _read_entries(repository, commit, chunk):
            if (commit, path) in found:
                found[commit, path] = entry
    return found


def _read_entries(
    repository: Repository, commit: ObjectId, paths: list[FilePath]
) -> Iterator[tuple[FilePath, Entry]]:
    names = [path for path in paths if path]
    if len(names) < len(paths):
        args = ("rev-parse", "--verify", f"{commit}^{{tree}}")
        tree = repository.run(*args).decode("ascii").strip()
        yield FilePath(""), Entry(MODE_TREE, ObjectId(tree))
    if names:
        # -t: a folder asked for beside a path below it is listed too.
        yield from parse_tree(
            repository.run("ls-tree", "-t", "-z", "--full-tree", commit, "--", *names)
        )


def tree_id(entries: Iterable[tuple[FilePath, Entry]]) -> ObjectId:
    """The id that Git would give to a tree with these files.

    An entry may be a directory: it then stands for all its files, of which none may be given too.
    """
    folders: dict[str, dict[str, Entry]] = {"": {}}
    for path, entry in entries:
        folder, _, name = path.rpartition("/")
        while folder not in folders:
            folders[folder] = {}
            folder = folder.rpartition("/")[0]
        folders[path.rpartition("/")[0]][name] = entry
    # A folder's name is longer than those above it: inner ones come first.
    for inner in sorted(folders.keys() - {""}, key=len, reverse=True):
        folder, _, name = inner.rpartition("/")
        folders[folder][name] = Entry(MODE_TREE, _tree_object(folders[inner]))
    return _tree_object(folders[""])


def _tree_object(children: Mapping[str, Entry]) -> ObjectId:
    lines = []
    for name, entry in children.items():
        raw = encode_path(name)
        # Git sorts a folder as if its name ended with a slash.
        order = raw + b"/" if entry.is_directory else raw
        lines.append((order, b"%o %s\0%s" % (entry.mode, raw, bytes.fromhex(entry.id))))
    return object_id("tree", b"".join(line for _, line in sorted(lines)))


def similar_file(
    repository: Repository, blob: ObjectId, candidates: Mapping[FilePath, ObjectId]
) -> FilePath | None:
    """The candidate most like a blob: at least half the bytes of the larger stand in common lines.

    None: no candidate is, or the blob is absent (partial clone). Equally like: the alphabet.
    """
    wanted = repository.read_blobs([blob])[blob]
    if not wanted:
        return None
    lines = _lines(wanted)
    best: tuple[float, FilePath] | None = None
    paths = sorted(candidates)
    for start in range(0, len(paths), BATCH):
        batch = paths[start : start + BATCH]
        blobs = repository.read_blobs({candidates[path] for path in batch})
        for path in batch:
            data = blobs[candidates[path]]
            score = _similarity(lines, len(wanted), data) if data else 0.0
            if score >= MIN_SIMILARITY and (best is None or score > best[0]):
                best = (score, path)
    return best[1] if best else None


def _lines(data: bytes) -> dict[bytes, int]:
    counts: dict[bytes, int] = {}
    for line in data.splitlines(keepends=True):
        counts[line] = counts.get(line, 0) + 1
    return counts


def _similarity(lines: Mapping[bytes, int], size: int, data: bytes) -> float:
    """The share of the larger file's bytes that stand in lines of both."""
    larger = max(size, len(data))
    if min(size, len(data)) < MIN_SIMILARITY * larger:
        return 0.0
    common = sum(len(line) * min(count, lines.get(line, 0)) for line, count in _lines(data).items())
    return common / larger


def files_below(
    repository: Repository, commit: ObjectId, folder: FilePath
) -> dict[FilePath, Entry]:
    """The files below a folder ("" is the root), by their whole paths."""
    tree = entries_at(repository, {commit: [folder]})[commit, folder]
    if tree is None or not tree.is_directory:
        return {}
    lead = f"{folder}/" if folder else ""
    entries = list_tree(repository, tree.id)
    return {
        FilePath(lead + name): entry for name, entry in entries.items() if not entry.is_directory
    }


def glob_tree_id(files: Mapping[FilePath, Entry], glob: Glob) -> ObjectId | None:
    """The id of the tree with the files that match; None where none does."""
    matched = [(path, entry) for path, entry in files.items() if glob.matches(path)]
    return tree_id(matched) if matched else None


# Twelve digits are unique in any repository there is; more are written where they are not.
MIN_DIGITS = 12
IDS_A_QUERY = 500  # options of one call: a Windows command line holds 32,767 characters


def shorten(ids: Iterable[ObjectId], repository: Repository) -> dict[ObjectId, str]:
    """The shortest prefix, of LEAST_DIGITS digits or more, that names each id alone."""
    wanted = sorted(set(ids))
    there: dict[str, set[str]] = {}
    for start in range(0, len(wanted), IDS_A_QUERY):
        few = wanted[start : start + IDS_A_QUERY]
        options = (f"--disambiguate={one[:MIN_DIGITS]}" for one in few)
        for name in repository.run("rev-parse", *options, ok=(0, 128)).decode().split():
            there.setdefault(name[:MIN_DIGITS], set()).add(name)
    return {one: _shortest(one, there.get(one[:MIN_DIGITS], ())) for one in wanted}


def _shortest(wanted: ObjectId, alike: Iterable[str]) -> str:
    others = [one for one in alike if one != wanted]
    digits = MIN_DIGITS
    while any(other.startswith(wanted[:digits]) for other in others):
        digits += 1
    return wanted[:digits]
