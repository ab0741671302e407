"""Views: the contents of a snapshot, whatever was indexed before and whichever processes run."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ubp.core.config import Config
from ubp.core.errors import ask_again_if_damaged
from ubp.core.model import MODE_FILE, MODE_TREE, Entry, FilePath, ObjectId, Snapshot
from ubp.git.repository import Repository, open_repository
from ubp.git.snapshot import read_commit, read_index, read_worktree
from ubp.index.store.file import FILE_NAME
from ubp.index.store.listings import ListingTable
from ubp.index.store.store import Store, open_store
from ubp.index.view import View, build_view

READ: dict[str, Callable[[Repository], Snapshot]] = {
    "worktree": read_worktree,
    "staged": read_index,
}
PAGE = "---\ntitle: {0}\nsource_refs:\n  - src/{0}.py\n---\n# {0}\n"

# Folders that become files and back, pages and others, names that Git and SQLite sort differently,
# both Unicode forms, and bytes that are no UTF-8.
NAMES: tuple[str, ...] = (
    "a",
    "a/b",
    "a/b/page.md",
    "a/c.md",
    "a-b.md",
    "a.md",
    "b/a.py",
    "b/c/d/e.md",
    "docs/設計.md",
    "docs/é.md",
    "node_modules/x.md",
)
if sys.platform == "linux":  # elsewhere the file system has a say in names
    NAMES += ("docs/e\u0301e.md", "docs/caf\udce9.md", "docs/caf\udce9/x.md")
CONTENTS = ("plain\n", PAGE.format("one"), PAGE.format("two"), "---\n[bad\n---\n", "")
KINDS = ("file", "file", "file", "executable", "link")

states = st.dictionaries(
    st.sampled_from(NAMES), st.tuples(st.sampled_from(CONTENTS), st.sampled_from(KINDS)), max_size=8
)
no_limits = settings(
    max_examples=6, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


class Bench:
    """A repository and its store, opened together."""

    def __init__(self, root: Path, warn: Callable[[str], None] = pytest.fail) -> None:
        self.repository = open_repository(str(root), os.environ)
        self.store = open_store(self.repository.data_dir, warn)

    def view(self, kind: str = "worktree", config: Config = Config()) -> View:  # noqa: B008
        read = READ.get(kind, lambda repository: read_commit(repository, kind))
        return build_view(self.repository, self.store, config, read(self.repository))

    def close(self) -> None:
        self.store.close()
        self.repository.close()


@pytest.fixture
def bench() -> Iterator[Callable[..., Bench]]:
    """Open a repository with its store; all are closed in the end."""
    opened: list[Bench] = []

    def open_one(repository: Any, warn: Callable[[str], None] = pytest.fail) -> Bench:
        opened.append(Bench(repository.root, warn))
        return opened[-1]

    yield open_one
    for opened_bench in opened:
        opened_bench.close()


def write_state(root: Path, state: dict[str, tuple[str, str]]) -> None:
    """Make the work tree hold exactly these files, as far as they do not lie in each other."""
    for child in root.iterdir():
        if child.name != ".git":
            shutil.rmtree(child) if child.is_dir() and not child.is_symlink() else child.unlink()
    for name, (content, kind) in state.items():
        file = root / name
        taken = file.exists() or file.is_symlink() or file.is_dir()
        above = [folder for folder in file.parents if folder != root and root in folder.parents]
        if taken or any(folder.is_symlink() or folder.is_file() for folder in above):
            continue
        file.parent.mkdir(parents=True, exist_ok=True)
        if kind == "link":
            file.symlink_to(content.strip()[:8] or "nowhere")
        else:
            file.write_bytes(content.encode())
            file.chmod(0o755 if kind == "executable" else 0o644)


def entries_of_git(root: Path, tree: str) -> dict[FilePath, Entry]:
    """Every file and folder of a tree, the root too."""
    command = ["git", "ls-tree", "-r", "-t", "-z", tree]
    output = subprocess.run(command, cwd=root, check=True, capture_output=True).stdout
    entries = {FilePath(""): Entry(MODE_TREE, ObjectId(tree))}
    for record in filter(None, output.split(b"\0")):
        facts, _, path = record.partition(b"\t")
        mode, _, name = facts.split()
        entries[FilePath(os.fsdecode(path))] = Entry(int(mode, 8), ObjectId(name.decode()))
    return entries


def tree_of(repository: Any, kind: str, spare: Path) -> dict[FilePath, Entry]:
    """What `git add -A && git write-tree` makes of the work tree, or write-tree of the index."""
    shutil.copytree(repository.root, spare, symlinks=True)
    if kind == "worktree":
        subprocess.run(["git", "add", "-A"], cwd=spare, check=True)
    run = subprocess.run(
        ["git", "write-tree"], cwd=spare, check=True, capture_output=True, text=True
    )
    found = entries_of_git(spare, run.stdout.strip())
    shutil.rmtree(spare)
    return found


def everything(view: View) -> dict[str, object]:
    """All that a view can be asked."""
    files = list(view.files())
    return {
        "files": files,
        "documents": view.document_paths(),
        "count": view.count_documents(),
        "bound": view.bound_pages(),
        "pages": [view.page(path) for path in view.document_paths()],
        "root": view.entry(FilePath("")),
    }


def agrees(view: View, expected: dict[FilePath, Entry]) -> None:
    """Hold a view against every path of a tree, and against paths that it does not have."""
    missing = [FilePath(name) for name in NAMES if name not in expected]
    assert view.entries([*expected, *missing]) == expected | dict.fromkeys(missing)
    files = sorted((path, entry) for path, entry in expected.items() if entry.mode != MODE_TREE)
    assert list(view.files()) == files
    for folder in ("a", "docs", "docs/caf\udce9", "b/c"):
        below = [(path, entry) for path, entry in files if path.startswith(folder + "/")]
        assert list(view.files(FilePath(folder))) == below
    documents = [
        path
        for path, entry in files
        if path.endswith(".md") and entry.is_file and not path.startswith("node_modules/")
    ]
    assert view.document_paths() == documents
    assert view.count_documents() == len(documents)
    for path in documents:
        page = view.page(path)
        assert page is not None
        assert (page.filepath, page.blob) == (path, expected[path].id)
    pages = [page for path in documents if (page := view.page(path))]
    assert view.bound_pages() == [p for p in pages if p.facts.references or p.facts.problems]


numbers = count()
on_posix = pytest.mark.skipif(os.name == "nt", reason="no links and no executable files there")
on_linux = pytest.mark.skipif(sys.platform != "linux", reason="the file system changes names")


@on_posix
@no_limits
@given(committed=states, staged=states, disk=states)
def test_view_equals_what_git_would_commit(
    new_repository: Callable[..., Any],
    tmp_path: Path,
    committed: dict[str, tuple[str, str]],
    staged: dict[str, tuple[str, str]],
    disk: dict[str, tuple[str, str]],
) -> None:
    repository = new_repository(f"r{next(numbers)}")
    write_state(repository.root, committed)
    repository.commit()
    write_state(repository.root, staged)
    repository.git("add", "--all")
    write_state(repository.root, disk)
    bench = Bench(repository.root)
    for kind in ("worktree", "staged"):
        agrees(bench.view(kind), tree_of(repository, kind, tmp_path / "spare"))
    agrees(
        bench.view("HEAD"),
        entries_of_git(repository.root, repository.git("rev-parse", "HEAD^{tree}")),
    )
    bench.close()


@on_posix
@no_limits
@given(st.lists(states, min_size=2, max_size=4), st.data())
def test_view_is_independent_of_what_was_indexed_before(
    new_repository: Callable[..., Any],
    history: list[dict[str, tuple[str, str]]],
    data: st.DataObject,
) -> None:
    repository = new_repository(f"r{next(numbers)}")
    commits = []
    for state in history:
        write_state(repository.root, state)
        commits.append(repository.commit())
    bench = Bench(repository.root)
    for _ in range(2):
        here = data.draw(st.sampled_from(commits))
        there = data.draw(st.sampled_from(commits))
        repository.git("checkout", "--quiet", here)
        after = Bench(repository.root)  # HEAD is read when a repository is opened
        after.view()
        answers = {kind: everything(after.view(kind)) for kind in ("worktree", here, there)}
        after.close()
        shutil.move(repository.index.parent, repository.root.parent / "aside")
        for kind, answer in answers.items():
            alone = Bench(repository.root)
            assert everything(alone.view(kind)) == answer
            alone.close()
            shutil.rmtree(repository.index.parent)
        shutil.move(repository.root.parent / "aside", repository.index.parent)
    bench.close()


def make_pages(repository: Any, pages: int = 3) -> None:
    for number in range(pages):
        repository.write(f"src/{number}.py", f"{number}\n")
        repository.write(f"docs/{number}.md", PAGE.format(number))
    repository.commit()


def changes_of(store: Store) -> object:
    return store.database.rows("SELECT total_changes()"), store.database.rows("PRAGMA data_version")


def test_indexing_the_same_snapshot_again_writes_nothing(
    repository: Any, bench: Callable[..., Bench]
) -> None:
    make_pages(repository)
    first = bench(repository)
    assert first.view().parsed == 3
    first.close()
    database = repository.index
    content, modified = database.read_bytes(), database.stat().st_mtime_ns
    second = bench(repository)
    before = changes_of(second.store)
    answers = [everything(second.view(kind)) for kind in ("worktree", "staged", "HEAD")]
    assert changes_of(second.store) == before
    assert second.view().parsed == 0
    second.close()
    assert len(answers[0]["bound"]) == 3  # type: ignore[arg-type]
    assert answers[0] == answers[1] == answers[2]
    assert (database.read_bytes(), database.stat().st_mtime_ns) == (content, modified)


def test_indexing_leaves_git_status_clean(repository: Any, bench: Callable[..., Bench]) -> None:
    make_pages(repository)
    bench(repository).view()
    assert repository.git("status", "--porcelain", "--ignored") == ""
    assert not (repository.root / ".ubp").exists()


def test_only_blobs_without_facts_are_parsed(repository: Any, bench: Callable[..., Bench]) -> None:
    make_pages(repository)
    assert bench(repository).view().parsed == 3
    repository.write("docs/new.md", PAGE.format("new"))
    repository.write("docs/copy.md", PAGE.format("0"))
    repository.git("mv", "docs/1.md", "docs/moved.md")
    repository.write("src/0.py", "changed\n")
    assert bench(repository).view().parsed == 1
    repository.commit()
    assert bench(repository).view().parsed == 0
    assert [page.filepath for page in bench(repository).view().bound_pages()] == [
        f"docs/{name}.md" for name in ("0", "2", "copy", "moved", "new")
    ]


def test_branch_switch_and_back_parses_nothing(
    repository: Any, bench: Callable[..., Bench]
) -> None:
    make_pages(repository)
    bench(repository).view()
    repository.git("checkout", "--quiet", "-b", "other")
    repository.write("docs/0.md", PAGE.format("other"))
    repository.commit()
    assert bench(repository).view().parsed == 1
    repository.git("checkout", "--quiet", "main")
    assert bench(repository).view().parsed == 0


def test_view_of_another_revision_does_not_move_the_listing(
    repository: Any, bench: Callable[..., Bench]
) -> None:
    make_pages(repository)
    old = repository.head()
    repository.write("docs/0.md", PAGE.format("later"))
    repository.remove("docs/1.md")
    repository.commit()
    workbench = bench(repository)
    workbench.view()
    listing = workbench.store.listings.of_work_tree(workbench.repository.git_dir)
    view = workbench.view(old)
    assert view.parsed == 2
    assert view.document_paths() == ["docs/0.md", "docs/1.md", "docs/2.md"]
    assert workbench.view(old).parsed == 0
    assert workbench.store.listings.of_work_tree(workbench.repository.git_dir) == listing


def test_revision_is_viewed_before_anything_is_indexed(
    repository: Any, bench: Callable[..., Bench]
) -> None:
    make_pages(repository)
    old = repository.head()
    repository.remove("docs/1.md")
    repository.commit()
    view = bench(repository).view(old)
    assert view.document_paths() == ["docs/0.md", "docs/1.md", "docs/2.md"]
    assert len(view.bound_pages()) == 3


def test_repository_without_commits_has_its_untracked_pages(
    repository: Any, bench: Callable[..., Bench]
) -> None:
    repository.write("docs/a.md", PAGE.format("a"))
    repository.write("src/a.py", "a\n")
    workbench = bench(repository)
    assert [page.filepath for page in workbench.view().bound_pages()] == ["docs/a.md"]
    assert workbench.view("staged").document_paths() == []
    assert workbench.view("staged").entry(FilePath("")) == Entry(
        MODE_TREE, ObjectId("4b825dc642cb6eb9a060e54bf8d69288fbee4904")
    )
    assert workbench.view().entry(FilePath("src/a.py")) == Entry(
        MODE_FILE, repository.blob("src/a.py")
    )


def test_bare_repository_keeps_its_index_in_the_git_folder(
    repository: Any, new_repository: Callable[..., Any], bench: Callable[..., Bench]
) -> None:
    make_pages(repository)
    bare = new_repository("bare.git", "--bare")
    repository.git("push", "--quiet", str(bare.root), "HEAD:refs/heads/main")
    workbench = bench(bare)
    assert len(workbench.view("HEAD").bound_pages()) == 3
    assert workbench.store.path == str(bare.root / "ubp" / FILE_NAME)
    assert workbench.view("HEAD").parsed == 0


def test_linked_work_trees_share_facts_and_have_separate_listings(
    repository: Any, bench: Callable[..., Bench], tmp_path: Path
) -> None:
    make_pages(repository)
    assert bench(repository).view().parsed == 3
    repository.git("worktree", "add", "--quiet", "-b", "other", str(tmp_path / "linked"))
    linked = type(repository)(tmp_path / "linked")
    linked.write("docs/0.md", PAGE.format("linked"))
    linked.commit()
    workbench = bench(linked)
    assert workbench.view().parsed == 1
    assert workbench.store.path == str(repository.root / ".git" / "ubp" / FILE_NAME)
    assert workbench.store.statistics().listings == 2
    assert bench(repository).view().parsed == bench(linked).view().parsed == 0


def test_another_scope_has_other_documents(repository: Any, bench: Callable[..., Bench]) -> None:
    make_pages(repository)
    repository.write("README.md", PAGE.format("readme"))
    repository.commit()
    workbench = bench(repository)
    everywhere, docs = Config(), Config(include=("docs/**/*.md",))
    assert workbench.view(config=everywhere).document_paths() == [
        "README.md",
        "docs/0.md",
        "docs/1.md",
        "docs/2.md",
    ]
    assert workbench.view(config=docs).document_paths() == ["docs/0.md", "docs/1.md", "docs/2.md"]
    assert len(workbench.view(config=docs).bound_pages()) == 3
    assert workbench.view(config=everywhere).count_documents() == 4


def test_other_keys_give_other_facts(repository: Any, bench: Callable[..., Bench]) -> None:
    repository.write("a.md", "---\nrelated_files: [x.py]\n---\n")
    repository.commit()
    workbench = bench(repository)
    assert workbench.view().bound_pages() == []
    view = workbench.view(config=Config(keys=("source_refs", "related_files")))
    assert [ref.written for page in view.bound_pages() for ref in page.facts.references] == ["x.py"]
    assert workbench.view().bound_pages() == []
    assert workbench.view(config=Config(keys=("caf\udce9", "a\nb"))).bound_pages() == []


@on_linux
def test_name_in_the_other_unicode_form_is_found(
    repository: Any, bench: Callable[..., Bench]
) -> None:
    decomposed, composed = "docs/か\u3099.md", "docs/が.md"
    repository.write(decomposed, PAGE.format("ga"))
    repository.write("both/e\u0301", "1")
    repository.write("both/é", "2")
    repository.write("new/a\u0308/x", "3")
    repository.commit()
    repository.write("untracked/o\u0308.md", PAGE.format("o"))
    view = bench(repository).view()
    assert view.entry(FilePath(composed)) == view.entry(FilePath(decomposed)) is not None
    assert view.true_path(FilePath(composed)) == decomposed
    assert view.entry(FilePath("new/ä")) == view.entry(FilePath("new/a\u0308")) is not None
    assert view.true_path(FilePath("untracked/ö.md")) == "untracked/o\u0308.md"
    page = view.page(FilePath(composed))
    assert page is not None
    assert page.filepath == decomposed
    assert view.true_path(FilePath("both/é")) == "both/é"
    assert view.true_path(FilePath("nowhere/é")) is None


@on_linux
def test_name_with_several_unicode_forms_is_not_guessed(
    repository: Any, bench: Callable[..., Bench]
) -> None:
    repository.write("q\u0323\u0307", "1")
    repository.write("q\u0307\u0323", "2")
    repository.commit()
    view = bench(repository).view()
    assert view.entry(FilePath("q\u0323\u0307")) != view.entry(FilePath("q\u0307\u0323"))


def test_many_edits_elsewhere_are_not_hashed(
    repository: Any, bench: Callable[..., Bench], monkeypatch: pytest.MonkeyPatch
) -> None:
    make_pages(repository)
    for number in range(50):
        repository.write(f"other/{number}/x.py", "x\n")
    repository.commit()
    for number in range(50):
        repository.write(f"other/{number}/x.py", "y\n")
    workbench = bench(repository)
    workbench.view()
    hashed: list[str] = []

    def note(
        _: Repository, paths: list[FilePath], __: Mapping[FilePath, ObjectId]
    ) -> dict[FilePath, Entry | None]:
        hashed.extend(paths)
        return {path: Entry(MODE_FILE, ObjectId("1" * 40)) for path in paths}

    monkeypatch.setattr("ubp.index.tree.hash_files", note)
    view = workbench.view()
    view.bound_pages()
    view.entries([FilePath("src/0.py"), FilePath("src"), FilePath("docs"), FilePath("gone")])
    view.base_entries([FilePath("other"), FilePath("")])
    list(view.files(FilePath("src")))
    assert hashed == []
    view.entries([FilePath("other/1"), FilePath("other/2/x.py"), FilePath("src/1.py")])
    assert sorted(hashed) == ["other/1/x.py", "other/2/x.py"]


def test_committed_state_stays_visible_below_the_changes(
    repository: Any, bench: Callable[..., Bench]
) -> None:
    make_pages(repository)
    paths = [FilePath(path) for path in ("", "src", "src/0.py", "docs/0.md", "new.md")]
    committed = bench(repository).view().entries(paths)
    repository.write("src/0.py", "changed\n")
    repository.write("new.md", "new\n")
    repository.remove("docs/0.md")
    view = bench(repository).view()
    assert view.base_entries(paths) == committed
    assert [view.is_changed(path) for path in paths] == [False, False, True, True, True]
    assert view.entries(paths)[FilePath("docs/0.md")] is None


def test_unreadable_page_is_reported_and_not_remembered(
    repository: Any, new_repository: Callable[..., Any], bench: Callable[..., Bench]
) -> None:
    make_pages(repository, 2)
    repository.git("config", "uploadpack.allowFilter", "true")
    partial = new_repository("partial")
    partial.git("remote", "add", "origin", f"file://{repository.root}")
    partial.git("fetch", "--quiet", "--filter=blob:none", "origin", "main")
    partial.git("update-ref", "HEAD", "FETCH_HEAD")
    workbench = bench(partial)
    view = workbench.view("HEAD")
    problems = [(p.filepath, [x.message for x in p.facts.problems]) for p in view.bound_pages()]
    assert [path for path, _ in problems] == ["docs/0.md", "docs/1.md"]
    assert all("Cannot read this page" in message for _, (message,) in problems)
    assert (view.parsed, workbench.store.statistics().pages) == (0, 0)
    partial.git("fetch", "--quiet", "--refetch", "--no-filter", "origin", "main")
    view = bench(partial).view("HEAD")
    assert [page.facts.problems for page in view.bound_pages()] == [(), ()]


def test_listing_of_a_lost_commit_is_rebuilt(repository: Any, bench: Callable[..., Bench]) -> None:
    make_pages(repository)
    bench(repository).view()
    shutil.move(repository.index.parent, repository.root.parent / "aside")
    shutil.rmtree(repository.root / ".git")
    repository.git("init", "--quiet")
    shutil.move(repository.root.parent / "aside", repository.index.parent)
    repository.remove("docs/1.md")
    repository.commit()
    view = bench(repository).view()
    assert view.document_paths() == ["docs/0.md", "docs/2.md"]
    assert view.parsed == 0


def test_bytes_that_do_not_match_the_blob_are_not_saved_as_its_facts(
    repository: Any, bench: Callable[..., Bench], monkeypatch: pytest.MonkeyPatch
) -> None:
    make_pages(repository)
    repository.write("docs/new.md", PAGE.format("new"))

    def written_meanwhile(*arguments: Any) -> dict[FilePath, bytes | None]:
        return dict.fromkeys(arguments[2], PAGE.format("later").encode())

    monkeypatch.setattr("ubp.index.facts.read_documents", written_meanwhile)
    view = bench(repository).view()
    page = view.page(FilePath("docs/new.md"))
    assert page is not None
    assert (page.blob, page.facts.title) == (repository.blob("docs/new.md"), "later")
    assert len(view.bound_pages()) == view.parsed == 1 + 3
    assert bench(repository).store.facts.missing([page.blob], ("source_refs",)) == {page.blob}


def test_listing_that_another_process_moves_is_read_from_git(
    repository: Any, bench: Callable[..., Bench]
) -> None:
    make_pages(repository)
    workbench, other = bench(repository), bench(repository)
    view = workbench.view()
    expected = everything(workbench.view())
    other.store.clear()
    assert everything(view) == expected
    view = workbench.view()
    listing = other.store.listings.of_work_tree(other.repository.git_dir)
    assert listing is not None
    assert other.store.listings.move(
        listing, ObjectId("1" * 40), {FilePath("docs/0.md"): None}, lambda *_: False
    )
    assert everything(view) == expected


def test_processes_that_keep_moving_the_listing_do_no_harm(
    repository: Any, bench: Callable[..., Bench], monkeypatch: pytest.MonkeyPatch
) -> None:
    make_pages(repository)
    first = repository.head()
    expected = everything(bench(repository).view())
    repository.remove("docs/0.md")
    repository.commit()
    monkeypatch.setattr(ListingTable, "move", lambda *_: False)
    workbench = bench(repository)
    assert workbench.view().document_paths() == ["docs/1.md", "docs/2.md"]
    assert everything(workbench.view(first)) == expected


def test_damaged_database_does_not_change_an_answer(
    repository: Any, bench: Callable[..., Bench]
) -> None:
    make_pages(repository)
    first = bench(repository)
    expected = everything(first.view())
    first.close()
    database = repository.index
    content = database.read_bytes()
    for start in range(4096, len(content), 4096):
        database.write_bytes(content[:start] + b"\xff" * 4096 + content[start + 4096 :])
        messages: list[str] = []
        found = ask_again_if_damaged(
            lambda messages=messages: everything(bench(repository, messages.append).view()),
            lambda: None,
        )
        assert found == expected
        assert len(messages) <= 1


def test_progress_is_reported_for_each_batch(repository: Any, bench: Callable[..., Bench]) -> None:
    make_pages(repository, 20)
    workbench = bench(repository)
    steps: list[tuple[str, int, int]] = []
    snapshot = read_worktree(workbench.repository)
    build_view(
        workbench.repository, workbench.store, Config(), snapshot, lambda *step: steps.append(step)
    )
    assert steps == [("Reading pages", 16, 20), ("Reading pages", 20, 20)]


def test_large_file_is_hashed_once(
    repository: Any, bench: Callable[..., Bench], monkeypatch: pytest.MonkeyPatch
) -> None:
    make_pages(repository)
    large = repository.root / "large.bin"
    with large.open("wb") as file:
        file.truncate(3 << 20)
    os.utime(large, (1_600_000_000,) * 2)
    monkeypatch.setattr("ubp.index.tree.SETTLED_SECONDS", 0)
    path = FilePath("large.bin")
    entry = bench(repository).view().entry(path)
    assert entry == Entry(MODE_FILE, ObjectId(repository.git("hash-object", "large.bin").strip()))

    def fail(_: Repository, paths: list[FilePath]) -> dict[FilePath, ObjectId]:
        raise AssertionError(paths)

    with monkeypatch.context() as patch:
        patch.setattr("ubp.git.snapshot.hash_regular_files", fail)
        assert bench(repository).view().entry(path) == entry
    with large.open("r+b") as file:
        file.write(b"x")
    again = bench(repository).view().entry(path)
    assert again is not None
    assert again.id == repository.git("hash-object", "large.bin").strip()
