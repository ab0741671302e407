"""Trees of commits: their entries, the id of a set of files, similar files, short ids."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from ubp.core.interruption import with_checkpoints
from ubp.core.model import MODE_FILE, MODE_SUBMODULE, MODE_TREE, Entry, FilePath, ObjectId
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

MAX_LS_TREE_CALLS = 24  # a call to git costs 2 to 3 ms of CPU, importing libgit2 80

MIN_SIMILARITY = 0.5  # git's own threshold for renames
CANDIDATES_PER_READ = 200  # 200 sources of 10 kB are 2 MB

MIN_ID_DIGITS = 12  # unique in every known repository; longer where they are not
IDS_PER_CALL = 500  # options: a command line on Windows has at most 32,767 characters

GENERATED_ATTRIBUTES = ("linguist-generated", "linguist-vendored")  # GitHub hides them in diffs
TRUE_ATTRIBUTE_VALUES = frozenset({b"set", b"true"})


def list_tree(repository: Repository, commit: ObjectId) -> dict[FilePath, Entry]:
    """Return every file and directory of a commit, without the root itself.

    Raises:
        TreeTooLargeError: there are too many.
    """
    listing = repository.run_listing("ls-tree", "-r", "-t", "-z", "--full-tree", commit)
    return dict(parse_tree(listing))


def diff_trees(repository: Repository, old: ObjectId, new: ObjectId) -> Changes:
    """Return the files and directories that differ: the entry in the new commit; None: deleted.

    Raises:
        TreeTooLargeError: there are too many.
    """
    return parse_raw_diff(
        repository.run_listing(
            "diff-tree",
            "-r",
            "-t",
            "-z",
            "--raw",
            "--no-renames",
            "--ignore-submodules=none",
            old,
            new,
            tokens_per_path=2,
        )
    )


def first_parents(
    repository: Repository, commits: Collection[ObjectId]
) -> dict[ObjectId, ObjectId]:
    """Return the first parent of each commit that has one, as far as this clone knows."""
    stdin = "".join(f"{commit}\n" for commit in commits).encode("ascii")
    output = repository.run("rev-list", "--parents", "--no-walk", "--stdin", stdin=stdin)
    rows = (line.split(" ") for line in output.decode("ascii").splitlines())
    return {ObjectId(row[0]): ObjectId(row[1]) for row in rows if len(row) > 1}


def resolve_objects(
    names: Sequence[str], repository: Repository, *, has_commits: bool = False
) -> dict[str, Entry]:
    """Return the blob or tree that each id, which may be shortened, names.

    With `has_commits` commits too, as the entries that a submodule's commit has.
    """
    stdin = "".join(f"{name}\n" for name in names).encode("ascii")
    lines = repository.run("cat-file", "--batch-check", stdin=stdin).decode("ascii").splitlines()
    modes = {"blob": MODE_FILE, "tree": MODE_TREE}
    if has_commits:
        modes["commit"] = MODE_SUBMODULE
    return {
        name: Entry(modes[words[1]], ObjectId(words[0]))
        for name, words in zip(names, (line.split(" ") for line in lines), strict=True)
        if words[1] in modes
    }


def entries_at(
    repository: Repository, paths_by_commit: Mapping[ObjectId, Collection[FilePath]]
) -> dict[tuple[ObjectId, FilePath], Entry | None]:
    """Return the entry at each path of each commit; "" is the root's tree, None: no entry."""
    calls = [
        (commit, chunk)
        for commit, paths in paths_by_commit.items()
        for chunk in argument_chunks(path for path in paths if not path or is_valid_path(path))
    ]
    if len(calls) > MAX_LS_TREE_CALLS:
        from ubp.git import libgit2

        return libgit2.entries_at(repository.libgit2(), paths_by_commit)
    entries: dict[tuple[ObjectId, FilePath], Entry | None] = {
        (commit, path): None
        for commit, paths in paths_by_commit.items()
        for path in with_checkpoints(paths)
    }
    for commit, chunk in calls:
        for path, entry in _list_entries(repository, commit, chunk):
            if (commit, path) in entries:
                entries[commit, path] = entry
    return entries


def _list_entries(
    repository: Repository, commit: ObjectId, paths: list[FilePath]
) -> Iterator[tuple[FilePath, Entry]]:
    below_root = [path for path in paths if path]
    if len(below_root) < len(paths):
        args = ("rev-parse", "--verify", f"{commit}^{{tree}}")
        tree = repository.run(*args).decode("ascii").strip()
        yield FilePath(""), Entry(MODE_TREE, ObjectId(tree))
    if below_root:
        # -t also lists a directory when a path below it is given, too.
        yield from parse_tree(
            repository.run("ls-tree", "-t", "-z", "--full-tree", commit, "--", *below_root)
        )


def files_below(
    repository: Repository, commit: ObjectId, folder: FilePath
) -> dict[FilePath, Entry]:
    """Return the files below a directory ("" is the root) by their full paths."""
    tree = entries_at(repository, {commit: [folder]})[commit, folder]
    if tree is None or not tree.is_directory:
        return {}
    prefix = f"{folder}/" if folder else ""
    entries = list_tree(repository, tree.id)
    return {
        FilePath(prefix + name): entry for name, entry in entries.items() if not entry.is_directory
    }


def glob_tree_id(files: Iterable[tuple[FilePath, Entry]], glob: Glob) -> ObjectId | None:
    """Return the id of the tree of the files that match; None: no file matches."""
    matched = [(path, entry) for path, entry in files if glob.matches(path)]
    return tree_id(matched) if matched else None


def tree_id(entries: Iterable[tuple[FilePath, Entry]]) -> ObjectId:
    """Return the id that Git would give to a tree with these files.

    An entry may be a directory, which then represents all files below it; none of them may be
    given as well.
    """
    folders: dict[str, dict[str, Entry]] = {"": {}}
    for path, entry in entries:
        folder, _, name = path.rpartition("/")
        while folder not in folders:
            folders[folder] = {}
            folder = folder.rpartition("/")[0]
        folders[path.rpartition("/")[0]][name] = entry
    # A path is longer than those of the directories above it, so inner directories come first.
    for inner in sorted(folders.keys() - {""}, key=len, reverse=True):
        folder, _, name = inner.rpartition("/")
        folders[folder][name] = Entry(MODE_TREE, _folder_id(folders[inner]))
    return _folder_id(folders[""])


def _folder_id(children: Mapping[str, Entry]) -> ObjectId:
    lines = []
    for name, entry in children.items():
        raw_name = encode_path(name)
        # Git sorts a directory as if its name ended with a slash.
        sort_key = raw_name + b"/" if entry.is_directory else raw_name
        lines.append((sort_key, b"%o %s\0%s" % (entry.mode, raw_name, bytes.fromhex(entry.id))))
    return object_id("tree", b"".join(line for _, line in sorted(lines)))


def similar_file(
    repository: Repository, blob: ObjectId, candidates: Mapping[FilePath, ObjectId]
) -> FilePath | None:
    """Return the candidate most similar to a blob, of equally similar ones the first by path.

    At least half the bytes of the larger file must be in lines of both. None: there is no such
    candidate, or the blob is absent (partial clone).
    """
    original = repository.read_blobs([blob])[blob]
    if not original:
        return None
    line_counts = _count_lines(original)
    best: tuple[float, FilePath] | None = None
    paths = sorted(candidates)
    for start in range(0, len(paths), CANDIDATES_PER_READ):
        batch = paths[start : start + CANDIDATES_PER_READ]
        blobs = repository.read_blobs({candidates[path] for path in batch})
        for path in batch:
            data = blobs[candidates[path]]
            score = _similarity(line_counts, len(original), data) if data else 0.0
            if score >= MIN_SIMILARITY and (best is None or score > best[0]):
                best = (score, path)
    return best[1] if best else None


def _count_lines(data: bytes) -> dict[bytes, int]:
    counts: dict[bytes, int] = {}
    for line in data.splitlines(keepends=True):
        counts[line] = counts.get(line, 0) + 1
    return counts


def _similarity(line_counts: Mapping[bytes, int], size: int, data: bytes) -> float:
    """Return the share of the larger file's bytes that are in lines of both."""
    larger = max(size, len(data))
    if min(size, len(data)) < MIN_SIMILARITY * larger:
        return 0.0
    common_bytes = sum(
        len(line) * min(count, line_counts.get(line, 0))
        for line, count in _count_lines(data).items()
    )
    return common_bytes / larger


def shorten(ids: Iterable[ObjectId], repository: Repository) -> dict[ObjectId, str]:
    """Return for each id its shortest unique prefix of at least MIN_ID_DIGITS digits."""
    unique_ids = sorted(set(ids))
    existing: dict[str, set[str]] = {}
    for start in range(0, len(unique_ids), IDS_PER_CALL):
        batch = unique_ids[start : start + IDS_PER_CALL]
        options = (f"--disambiguate={full_id[:MIN_ID_DIGITS]}" for full_id in batch)
        for name in repository.run("rev-parse", *options, ok=(0, 128)).decode().split():
            existing.setdefault(name[:MIN_ID_DIGITS], set()).add(name)
    short_ids = {}
    for full_id in unique_ids:
        others = existing.get(full_id[:MIN_ID_DIGITS], set()) - {full_id}
        digits = MIN_ID_DIGITS
        while any(other.startswith(full_id[:digits]) for other in others):
            digits += 1
        short_ids[full_id] = full_id[:digits]
    return short_ids


def generated_files(repository: Repository, paths: Collection[FilePath]) -> frozenset[FilePath]:
    """Return the files that `.gitattributes` of the work tree marks as generated or vendored."""
    stdin = b"".join(encode_path(path) + b"\0" for path in paths)
    output = repository.run("check-attr", "-z", "--stdin", *GENERATED_ATTRIBUTES, stdin=stdin)
    tokens = iter(output.split(b"\0"))
    return frozenset(
        decode_path(path)
        for path, _, value in zip(tokens, tokens, tokens, strict=False)
        if value in TRUE_ATTRIBUTE_VALUES
    )
