"""The entries at the paths of commits, and the ids that Git gives to trees."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ubp.core.errors import GitCommandError
from ubp.core.model import (
    MODE_EXECUTABLE,
    MODE_FILE,
    MODE_SUBMODULE,
    MODE_SYMLINK,
    MODE_TREE,
    Entry,
)
from ubp.git.output import blob_id
from ubp.git.trees import (
    MAX_LS_TREE_CALLS,
    diff_trees,
    entries_at,
    list_tree,
    similar_file,
    tree_id,
)

EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"


def file(data: bytes, mode: int = MODE_FILE) -> Entry:
    return Entry(mode, blob_id(data))


def tree(repository, path: str, commit: str = "HEAD") -> Entry:
    return Entry(MODE_TREE, repository.git("rev-parse", f"{commit}:{path}"))


@pytest.fixture
def planted(repository):
    """Files of every kind, with odd names."""
    repository.write("a/b/c.txt", "c\n")
    repository.write("a/b.txt", "b\n")
    repository.write("[id].ts", "[id]\n")
    repository.write("a*/x", "star\n")
    repository.write("日本/new\nline", "odd\n")
    repository.write("\udcff/\udcfe", "bytes\n")
    repository.write("tool", "tool\n").chmod(0o755)
    (repository.root / "link").symlink_to("a")
    repository.git("add", ".")
    repository.git("update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},sub")
    (repository.root / "sub").mkdir()  # as an unfetched submodule has it
    repository.commit(add=False)
    return repository


FILES = {
    "a/b/c.txt": file(b"c\n"),
    "a/b.txt": file(b"b\n"),
    "[id].ts": file(b"[id]\n"),
    "a*/x": file(b"star\n"),
    "日本/new\nline": file(b"odd\n"),
    "\udcff/\udcfe": file(b"bytes\n"),
    "tool": file(b"tool\n", MODE_EXECUTABLE),
    "link": file(b"a", MODE_SYMLINK),
    "sub": Entry(MODE_SUBMODULE, "1" * 40),
}
FOLDERS = ("a", "a/b", "a*", "日本", "\udcff")


def test_listing_has_files_and_folders(planted, open_at):
    folders = {path: tree(planted, path) for path in FOLDERS}
    opened = open_at(planted.root)
    assert list_tree(opened, planted.head()) == FILES | folders


def test_listing_from_a_subfolder_is_complete(planted, open_at):
    opened = open_at(planted.root / "a")
    assert len(list_tree(opened, planted.head())) == len(FILES) + len(FOLDERS)


def test_listing_of_an_empty_tree_is_empty(repository, open_at):
    head = repository.commit()
    assert list_tree(open_at(repository.root), head) == {}


def test_old_trees_with_group_writable_files_are_read_as_git_reads_them(
    repository, open_at, read_entries
):
    blob = repository.git("hash-object", "-w", "--stdin", stdin=b"a\n")
    raw = b"100664 a\0" + bytes.fromhex(blob)
    written = repository.git("hash-object", "-t", "tree", "-w", "--literally", "--stdin", stdin=raw)
    commit = repository.git("commit-tree", written, stdin=b"old")
    opened = open_at(repository.root)
    assert list_tree(opened, commit) == {"a": file(b"a\n")}
    assert read_entries(opened, {commit: ["a"]}) == {(commit, "a"): file(b"a\n")}


def test_difference_has_files_and_folders(planted, open_at):
    old = planted.head()
    planted.write("a/b/c.txt", "changed\n")
    planted.write("new/x", "new\n")
    planted.remove("tool")
    planted.remove("a*/x")
    (planted.root / "link").unlink()
    planted.write("link/inside", "1\n")
    new = planted.commit()
    opened = open_at(planted.root)
    forward = {
        "a": tree(planted, "a"),
        "a/b": tree(planted, "a/b"),
        "a/b/c.txt": file(b"changed\n"),
        "new": tree(planted, "new"),
        "new/x": file(b"new\n"),
        "tool": None,
        "a*": None,
        "a*/x": None,
        "link": tree(planted, "link"),
        "link/inside": file(b"1\n"),
    }
    assert diff_trees(opened, old, new) == forward
    backward = diff_trees(opened, new, old)
    assert backward == {
        path: FILES.get(path) or (tree(planted, path, old) if path in FOLDERS else None)
        for path in forward
    }


def test_equal_trees_do_not_differ(planted, open_at):
    old = planted.head()
    new = planted.commit(add=False)
    assert diff_trees(open_at(planted.root), old, new) == {}


@pytest.fixture(params=["git", "libgit2"])
def read_entries(request, monkeypatch):
    """`entries_at`, answered by git as for few commits, and by libgit2 as for many."""
    if request.param == "libgit2":
        monkeypatch.setattr("ubp.git.trees.MAX_LS_TREE_CALLS", 0)
    return entries_at


ASKED = (*FILES, *FOLDERS, "", "none", "none/x", "tool/x", "link/b", "sub/x", "a/none")
IMPOSSIBLE = (
    "..",
    "../x",
    "/etc/passwd",
    "a//b",
    "a/",
    "./a",
    ".",
    "/",
    "nul\0",
    ":/a",
    "*",
    "-t",
    "\ud800",
)


def expected_at(planted, commit: str) -> dict:
    found = dict.fromkeys((*ASKED, *IMPOSSIBLE)) | FILES
    found |= {path: tree(planted, path, commit) for path in (*FOLDERS, "")}
    return {(commit, path): entry for path, entry in found.items()}


def test_entries_at_a_commit_are_read(planted, open_at, read_entries):
    commit = planted.head()
    found = read_entries(open_at(planted.root), {commit: [*ASKED, *IMPOSSIBLE]})
    assert found == expected_at(planted, commit)


def test_empty_commit_has_a_tree(repository, open_at, read_entries):
    commit = repository.git("commit-tree", "-m", "Empty", EMPTY_TREE)
    found = read_entries(open_at(repository.root), {commit: ["", "a"]})
    assert found == {(commit, ""): Entry(MODE_TREE, EMPTY_TREE), (commit, "a"): None}


def test_entries_at_many_commits_equal_those_at_each(planted, open_at):
    commits = [
        planted.head(),
        *(planted.commit(str(n), add=False) for n in range(MAX_LS_TREE_CALLS)),
    ]
    found = entries_at(open_at(planted.root), {c: [*ASKED, *IMPOSSIBLE] for c in commits})
    expected = {}
    for commit in commits:
        expected |= expected_at(planted, commit)
    assert found == expected


def test_paths_beyond_one_command_line_are_read(repository, open_at):
    paths = [f"{'long name ' * 20}{number}" for number in range(300)]
    for path in paths:
        repository.write(path, "x\n")
    commit = repository.commit()
    found = entries_at(open_at(repository.root), {commit: paths})
    assert found == {(commit, path): file(b"x\n") for path in paths}


def test_reading_no_entries_does_not_start_git(repository, open_at, forbid_git):
    found = open_at(repository.root)
    forbid_git()
    assert entries_at(found, {}) == {}


def test_missing_commit_is_an_error(repository, open_at, read_entries):
    repository.commit()
    opened = open_at(repository.root)
    for read in (lambda c: list_tree(opened, c), lambda c: read_entries(opened, {c: ["a"]})):
        with pytest.raises(GitCommandError):
            read("1" * 40)


@pytest.fixture
def partial(repository, tmp_path):
    """Clone without blobs, or without trees, from a file:// remote."""
    repository.git("config", "uploadpack.allowFilter", "true")
    repository.git("config", "uploadpack.allowAnySHA1InWant", "true")
    repository.write("folder/a.txt", "old\n")
    repository.old = repository.commit()
    repository.write("folder/a.txt", "new\n")
    repository.new = repository.commit()

    def clone(what: str):
        target = tmp_path / "clone"
        url = f"file://{repository.root}"
        repository.git("clone", "--quiet", f"--filter={what}", url, str(target))
        return target

    repository.partial_clone = clone
    return repository


def objects(folder) -> list:
    return sorted(path.name for path in (folder / ".git" / "objects").rglob("*"))


def test_trees_of_a_clone_without_blobs_are_read(partial, open_at, read_entries):
    clone = partial.partial_clone("blob:none")
    before = objects(clone)
    opened = open_at(clone)
    old = {"folder": tree(partial, "folder", partial.old), "folder/a.txt": file(b"old\n")}
    new = {"folder": tree(partial, "folder"), "folder/a.txt": file(b"new\n")}
    assert list_tree(opened, partial.old) == old
    assert diff_trees(opened, partial.old, partial.new) == new
    assert read_entries(opened, {partial.old: list(old)}) == {
        (partial.old, path): entry for path, entry in old.items()
    }
    candidates = {"folder/a.txt": blob_id(b"new\n")}
    assert similar_file(opened, blob_id(b"old\n"), candidates) is None
    assert similar_file(opened, blob_id(b"new\n"), {"x": blob_id(b"old\n")}) is None
    assert objects(clone) == before


def test_absent_tree_is_an_error_and_not_an_absent_path(partial, open_at, read_entries):
    clone = partial.partial_clone("tree:0")
    before = objects(clone)
    opened = open_at(clone)
    for read in (
        lambda: list_tree(opened, partial.old),
        lambda: diff_trees(opened, partial.old, partial.new),
        lambda: read_entries(opened, {partial.old: ["folder/a.txt"]}),
    ):
        with pytest.raises(GitCommandError):
            read()
    assert objects(clone) == before


def test_absent_folder_is_an_error_and_not_an_absent_path(planted, open_at, read_entries):
    folder = planted.git("rev-parse", "HEAD:a/b")
    (planted.root / ".git" / "objects" / folder[:2] / folder[2:]).unlink()
    opened = open_at(planted.root)
    commit = planted.head()
    with pytest.raises(GitCommandError):
        read_entries(opened, {commit: ["a/b/none"]})
    with pytest.raises(GitCommandError):
        list_tree(opened, commit)
    assert read_entries(opened, {commit: ["a/none", "tool"]}) == {
        (commit, "a/none"): None,
        (commit, "tool"): FILES["tool"],
    }


# Ids of trees


def test_tree_of_no_files_is_the_empty_tree():
    assert tree_id([]) == EMPTY_TREE


def test_tree_of_a_commit_is_read(planted):
    assert tree_id(FILES.items()) == planted.git("rev-parse", "HEAD^{tree}")


def test_folder_represents_its_files(planted):
    kept = {path: entry for path, entry in FILES.items() if not path.startswith("a/")}
    entries = [*kept.items(), ("a", tree(planted, "a"))]
    assert tree_id(entries) == planted.git("rev-parse", "HEAD^{tree}")


def test_tree_deeper_than_the_stack_of_python_is_read():
    path = "/".join(["d"] * 5_000)
    assert len(tree_id([(f"{path}/f", file(b"x\n"))])) == 40


def test_listing_deeper_than_the_stack_of_python_is_read(repository, open_at):
    """Git itself refuses more than 2,048 folders."""
    entry, name = b"100644 f\0" + bytes.fromhex(blob_id(b"")), ""
    depth = 1_200
    for _ in range(depth):
        name = repository_tree(repository, entry)
        entry = b"40000 d\0" + bytes.fromhex(name)
    commit = repository.git("commit-tree", repository_tree(repository, entry), stdin=b"deep")
    other = repository.git("commit-tree", EMPTY_TREE, stdin=b"nothing")
    opened = open_at(repository.root)
    assert len(list_tree(opened, commit)) == depth + 1
    assert len(diff_trees(opened, other, commit)) == depth + 1


def repository_tree(repository, raw: bytes) -> str:
    """Write a tree without starting git each time."""
    import zlib
    from hashlib import sha1

    data = b"tree %d\0" % len(raw) + raw
    name = sha1(data).hexdigest()
    repository.write(f".git/objects/{name[:2]}/{name[2:]}", zlib.compress(data))
    return name


NAMES = st.text(alphabet="ab.-_é\udcff0", min_size=1, max_size=3).filter(
    lambda name: name not in (".", "..")
)
PATHS = st.lists(NAMES, min_size=1, max_size=3).map("/".join)
MODES = st.sampled_from([MODE_FILE, MODE_EXECUTABLE, MODE_SYMLINK])


@settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(st.dictionaries(PATHS, st.tuples(MODES, st.binary(max_size=3)), max_size=12))
def test_tree_id_equals_that_of_git_write_tree(repository, files):
    entries = {
        path: file(data, mode)
        for path, (mode, data) in files.items()
        if not any(other.startswith(f"{path}/") for other in files)
    }
    repository.git("read-tree", "--empty")
    lines = (f"{entry.mode:o} {entry.id}\t{path}\0" for path, entry in entries.items())
    stdin = "".join(lines).encode("utf-8", "surrogateescape")
    repository.git("update-index", "--add", "-z", "--index-info", stdin=stdin)
    assert tree_id(entries.items()) == repository.git("write-tree", "--missing-ok")


# Similar files


TEXT = b"".join(b"line %d of the text\n" % n for n in range(100))


@pytest.fixture
def lookalikes(repository):
    """Candidates that share ever less with TEXT."""
    lines = TEXT.splitlines(keepends=True)
    contents = {
        "original": TEXT,
        "most": b"".join(lines[:95]),
        "half": b"".join(lines[50:]) + b"another line, same\n" * 49,
        "reversed": b"".join(reversed(lines)) + b"x\n",
        "little": b"".join(lines[:30]) + b"another line, same\n" * 70,
        "much more": TEXT + b"another line, same\n" * 200,
        "empty": b"",
    }
    for name, data in contents.items():
        repository.write(name, data)
    repository.commit()
    repository.ids = {name: blob_id(data) for name, data in contents.items()}
    return repository


@pytest.mark.parametrize(
    ("candidates", "best"),
    [
        (["most", "reversed", "half"], "reversed"),
        (["most", "half", "little"], "most"),
        (["half", "little"], "half"),
        (["little", "much more", "empty"], None),
        ([], None),
    ],
)
def test_most_similar_file_is_found(candidates, best, lookalikes, open_at):
    opened = open_at(lookalikes.root)
    found = similar_file(
        opened, lookalikes.ids["original"], {name: lookalikes.ids[name] for name in candidates}
    )
    assert found == best


def test_equally_similar_files_are_ordered_alphabetically(lookalikes, open_at):
    most = lookalikes.ids["most"]
    candidates = {"z": most, "b": most, "c": most}
    assert similar_file(open_at(lookalikes.root), lookalikes.ids["original"], candidates) == "b"


def test_empty_file_is_similar_to_nothing(lookalikes, open_at):
    empty = lookalikes.ids["empty"]
    assert similar_file(open_at(lookalikes.root), empty, {"a": empty}) is None
