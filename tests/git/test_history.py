"""Last changes and drift, case by case; the generated histories have the rest."""

import pytest

from ubp.core.errors import RepositoryError
from ubp.core.model import BaselineQuery, Drift, LastChange
from ubp.core.paths import Glob
from ubp.git.commits_cli import MAX_NEW_COMMITS, read_new_commits
from ubp.git.commits_libgit2 import _compare_trees as compare_trees
from ubp.git.commits_libgit2 import read_all_commits
from ubp.git.history import find_drifts, first_changes, last_changes
from ubp.git.trees import list_tree, tree_id
from ubp.git.walk import PathRequests

NOWHERE = "0" * 40


def changed(commit: str, *, is_boundary: bool = False) -> LastChange:
    return LastChange(commit, is_boundary)


def drift(*commits: str, is_complete: bool = True, existed: bool = True) -> Drift:
    return Drift(commits, is_complete, existed)


@pytest.fixture
def without_libgit2(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fail where libgit2 is asked: git alone has to answer."""

    def refuse(*_: object) -> None:
        raise AssertionError

    monkeypatch.setattr("ubp.git.repository.Repository.libgit2", refuse)


# Which commit last changed a page


def test_last_change_of_a_page_is_independent_of_other_pages(repository, open_at):
    repository.write("a.md", "a\n")
    repository.write("b.md", "b\n")
    first = repository.commit()
    repository.write("b.md", "bb\n")
    second = repository.commit()

    found = last_changes(open_at(repository.root), second, ["a.md", "b.md", "c.md"], {})

    assert found == {"a.md": changed(first), "b.md": changed(second)}


def test_walk_ends_when_its_progress_callback_raises(repository, open_at):
    repository.write("a.md", "a\n")
    repository.commit()
    head = [repository.commit(str(number)) for number in range(3)][-1]
    steps = []

    def enough(*step):
        steps.append(step)
        if len(steps) == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        last_changes(open_at(repository.root), head, ["a.md"], {}, enough)
    assert steps == [("Reading history", 1, 0), ("Reading history", 2, 0)]


def test_mode_change_alone_is_not_a_change(repository, open_at):
    repository.write("a.md", "a\n")
    first = repository.commit()
    repository.git("update-index", "--chmod=+x", "a.md")
    head = repository.commit(add=False)
    assert repository.git("log", "-1", "--format=%H", "--", "a.md") == head

    found = last_changes(open_at(repository.root), head, ["a.md"], {})

    assert found == {"a.md": changed(first)}


def test_page_keeps_its_last_change_through_renames(repository, open_at):
    repository.write("a.md", "a\n")
    first = repository.commit()
    repository.git("mv", "a.md", "b.md")
    repository.commit()
    (repository.root / "docs").mkdir()
    repository.git("mv", "b.md", "docs/日本語.md")
    head = repository.commit()

    found = last_changes(open_at(repository.root), head, ["docs/日本語.md"], {})

    assert found == {"docs/日本語.md": changed(first)}


def test_file_that_became_a_symlink_still_exists(repository, open_at):
    """The page that has its bytes now is a copy, a new page; a file in a folder's place is, too."""
    repository.write("a.md", "a\n")
    repository.write("src/a.py", "1\n")
    repository.commit()
    (repository.root / "a.md").unlink()
    (repository.root / "a.md").symlink_to("b.md")
    repository.write("b.md", "a\n")
    (repository.root / "src/a.py").unlink()
    (repository.root / "src").rmdir()
    repository.write("src", "1\n")
    head = repository.commit()

    found = last_changes(open_at(repository.root), head, ["a.md", "b.md", "src"], {})

    assert found == {"a.md": changed(head), "b.md": changed(head), "src": changed(head)}


def test_rename_with_an_edit_is_a_change(repository, open_at):
    repository.write("a.md", "a\n" * 20)
    repository.commit()
    repository.git("mv", "a.md", "b.md")
    repository.write("b.md", "a\n" * 20 + "b\n")
    head = repository.commit()

    found = last_changes(open_at(repository.root), head, ["b.md"], {})

    assert found == {"b.md": changed(head)}


def test_commits_are_compared_once_for_any_number_of_walks(repository, open_at, monkeypatch):
    monkeypatch.setattr("ubp.git.commits_libgit2.MAX_LOOKUPS", 1)
    monkeypatch.setattr("ubp.git.history.PATHS_PER_WALK", 2)
    paths = [f"docs/{number}.md" for number in range(6)]
    for path in paths:
        repository.write(path, f"{path}\n")
    first = repository.commit()
    repository.write("docs/1.md", "changed\n")
    second = repository.commit()
    repository.git("mv", "docs/2.md", "docs/2a.md")
    third = repository.commit()
    paths[2] = "docs/2a.md"
    compared = []
    monkeypatch.setattr(
        "ubp.git.commits_libgit2._compare_trees",
        lambda new, old: compared.append(new) or compare_trees(new, old),
    )
    git = open_at(repository.root)

    last = last_changes(git, third, paths, {})
    created = first_changes(git, third, paths, {})

    assert last == dict.fromkeys(paths, changed(first)) | {"docs/1.md": changed(second)}
    assert created == {path: {changed(first)} for path in paths}
    assert len(compared) == 2


def test_many_requested_paths_give_the_same_result_as_few(repository, open_at, monkeypatch):
    for path in (
        "edited",
        "file",
        "folder/file",
        "link",
        "linked",
        "mode",
        "old",
        "same",
        "removed",
    ):
        repository.write(path, f"{path}\n")
    (repository.root / "link").unlink()
    (repository.root / "link").symlink_to("same")
    old = repository.commit()
    for path in ("file", "folder/file", "link", "linked", "old", "removed"):
        repository.remove(path)
    repository.write("file/file", "file\n")
    repository.write("old/not asked", "old\n")
    (repository.root / "folder").rmdir()
    repository.write("folder", "folder\n")
    repository.write("link", "link\n")
    (repository.root / "linked").symlink_to("same")
    repository.write("edited", "changed\n")
    repository.write("added", "added\n")
    repository.git("add", ".")
    repository.git("update-index", "--chmod=+x", "mode")
    repository.git("commit", "--quiet", "--message", "Change")
    new = repository.git("rev-parse", "HEAD").strip()
    asked = [
        "added",
        "edited",
        "file",
        "file/file",
        "folder",
        "folder/file",
        "link",
        "linked",
        "old",
    ]
    compared = []
    with read_all_commits(open_at(repository.root)) as commits:
        for lookups in (0, 400):
            monkeypatch.setattr("ubp.git.commits_libgit2.MAX_LOOKUPS", lookups)
            pending = PathRequests()
            for number, path in enumerate([*asked, "removed", "mode", "none", "same"]):
                pending.add(path, None, 1 << number)
            compared.append(sorted(commits.compare(commits.find(new), commits.find(old), pending)))

    assert compared[0] == compared[1]
    assert [change.path for change in compared[0]] == [*asked, "removed"]


def test_copy_is_a_new_page(repository, open_at):
    repository.write("a.md", "a\n")
    first = repository.commit()
    repository.write("b.md", "a\n")
    head = repository.commit()

    found = last_changes(open_at(repository.root), head, ["a.md", "b.md"], {})

    assert found == {"a.md": changed(first), "b.md": changed(head)}


def test_page_that_replaces_another_is_changed(repository, open_at):
    repository.write("a.md", "a\n")
    repository.write("b.md", "b\n")
    repository.commit()
    repository.git("mv", "-f", "a.md", "b.md")
    head = repository.commit()

    found = last_changes(open_at(repository.root), head, ["b.md"], {})

    assert found == {"b.md": changed(head)}


@pytest.mark.parametrize(
    ("olds", "right"),
    [
        (("old/page.md", "new/deep/other.md"), "old/page.md"),  # the same file name
        (("new/b.md", "other/a.md"), "new/b.md"),  # the longest common start
        (("b.md", "c.md"), "b.md"),  # the alphabet
    ],
)
def test_closest_of_several_old_names_wins(repository, open_at, olds, right):
    commits = {}
    for old in olds:
        repository.write(old, "same\n")
        commits[old] = repository.commit()
    for old in olds:
        repository.remove(old)
    repository.write("new/deep/page.md", "same\n")
    head = repository.commit()

    found = last_changes(open_at(repository.root), head, ["new/deep/page.md"], {})

    assert found == {"new/deep/page.md": changed(commits[right])}


def test_rename_on_a_merged_branch_is_followed_there(repository, open_at):
    repository.write("a.md", "a\n")
    first = repository.commit()
    repository.git("checkout", "-q", "-b", "topic")
    repository.git("mv", "a.md", "b.md")
    repository.commit()
    repository.git("checkout", "-q", "main")
    repository.write("c.md", "c\n")
    repository.commit()
    head = repository.merge("topic")

    found = last_changes(open_at(repository.root), head, ["b.md"], {})

    assert found == {"b.md": changed(first)}


def test_merge_that_resolves_a_conflict_is_a_change(repository, open_at):
    repository.write("a.md", "a\n")
    repository.commit()
    repository.git("checkout", "-q", "-b", "topic")
    repository.write("a.md", "topic\n")
    repository.commit()
    repository.git("checkout", "-q", "main")
    repository.write("a.md", "main\n")
    repository.commit()
    repository.git("merge", "-q", "topic", check=False)
    repository.write("a.md", "both\n")
    head = repository.commit()

    found = last_changes(open_at(repository.root), head, ["a.md"], {})

    assert found == {"a.md": changed(head)}


def test_shallow_clone_reports_its_boundary(repository, new_repository, open_at):
    for number in range(4):
        repository.write(f"{number}.md", "text\n")
        commit = repository.commit()
    clone = new_repository("clone")
    clone.git("fetch", "-q", "--depth=2", f"file://{repository.root}", "main:cut")
    boundary = clone.git("rev-parse", "cut^")

    found = last_changes(open_at(clone.root), commit, ["0.md", "2.md", "3.md"], {})

    assert found == {
        "0.md": changed(boundary, is_boundary=True),
        "2.md": changed(boundary, is_boundary=True),
        "3.md": changed(commit),
    }


def test_clone_without_blobs_is_enough(repository, open_at):
    repository.git("config", "uploadpack.allowFilter", "true")
    (first,) = write_all(repository, "a.md", "a")
    repository.git("mv", "a.md", "b.md")
    repository.commit()
    oldest, second = write_all(repository, "src/x", "1", "2")
    clone = repository.root.parent / "clone"
    url = f"file://{repository.root}"
    repository.git("clone", "-q", "--bare", "--filter=blob:none", url, str(clone))
    git = open_at(clone)

    assert last_changes(git, second, ["b.md"], {}) == {"b.md": changed(first)}
    assert find(git, second, by_commit(repository, oldest, "src/x")) == drift(second)
    assert find(git, second, by_glob(git, oldest, "src/*")) == drift(second)


def test_file_names_of_any_bytes_are_found(repository, open_at, write_named):
    names = ["new\nline.md", "日本語/認証.md", "[id].md", " a.md", "\udcff\udcfe"]
    for name in names:
        write_named(repository, name, name.encode("utf-8", "surrogateescape").hex())
    first = repository.commit()
    repository.write("other.md", "text\n")
    head = repository.commit()

    found = last_changes(open_at(repository.root), head, names, {})

    assert found == {name: changed(first) for name in names}


def test_deep_folders_are_walked(repository, open_at):
    page = "d/" * 1500 + "a.md"
    stream = ""
    for number in range(2):
        stream += f"commit refs/heads/deep\ncommitter A <a@b> {number} +0000\ndata 0\n"
        stream += f"M 100644 inline {page}\ndata 1\n{number}\n"
    repository.git("fast-import", "--quiet", stdin=stream.encode())
    first, second = repository.git("rev-list", "--reverse", "deep").split()
    git = open_at(repository.root)

    assert last_changes(git, second, [page], {}) == {page: changed(second)}
    assert find(git, second, BaselineQuery("d", "d/**", "1234567", first)) == drift()


def test_missing_tree_is_reported(repository, open_at):
    repository.write("docs/a.md", "a\n")
    repository.commit()
    repository.write("docs/a.md", "aa\n")
    head = repository.commit()
    tree = repository.git("rev-parse", "HEAD^:docs")
    (repository.root / ".git/objects" / tree[:2] / tree[2:]).unlink()

    with pytest.raises(RepositoryError, match="Cannot read the full history") as raised:
        last_changes(open_at(repository.root), head, ["docs/a.md"], {})

    assert tree in raised.value.cause


def test_missing_commit_is_reported(repository, open_at):
    first, second = write_all(repository, "a.md", "a", "b")
    third = repository.commit()
    (repository.root / ".git/objects" / first[:2] / first[2:]).unlink()

    with pytest.raises(RepositoryError, match="Cannot read the full history") as raised:
        find_drifts(
            open_at(repository.root), third, [BaselineQuery("a.md", None, NOWHERE, None)], {}
        )

    assert first in raised.value.cause
    assert second not in raised.value.cause


# Which commits took a source from its baseline


def at(repository, commit: str, path: str) -> str:
    return repository.git("rev-parse", f"{commit}:{path}")


def by_commit(repository, commit: str, path: str) -> BaselineQuery:
    """What stood at a path in a commit."""
    return BaselineQuery(path, None, at(repository, commit, path), commit)


def by_glob(git, commit: str, pattern: str) -> BaselineQuery:
    """What matched in a commit."""
    glob = Glob(pattern)
    tree = list_tree(git, commit).items()
    matched = [(path, e) for path, e in tree if not e.is_directory and glob.matches(path)]
    return BaselineQuery(glob.prefix, pattern, tree_id(matched) if matched else None, commit)


def find(git, start: str, search: BaselineQuery, known=None) -> Drift:
    return find_drifts(git, start, [search], known or {})[search]


def write_all(repository, path: str, *contents: str) -> list[str]:
    """A commit for each content."""
    commits = []
    for content in contents:
        repository.write(path, content)
        commits.append(repository.commit())
    return commits


def test_drift_is_every_commit_since_the_baseline(repository, open_at):
    first, second, third = write_all(repository, "src/x", "1", "2", "3")
    repository.write("other", "text")
    head = repository.commit()
    git = open_at(repository.root)

    assert find(git, head, by_commit(repository, first, "src/x")) == drift(third, second)
    assert find(git, head, by_commit(repository, second, "src/x")) == drift(third)
    assert find(git, head, by_commit(repository, third, "src/x")) == drift()
    assert find(git, head, by_commit(repository, first, "src")) == drift(third, second)
    assert find(git, head, by_commit(repository, third, "src")) == drift()
    assert find(git, head, BaselineQuery("", None, at(repository, second, ""), second)) == drift(
        head, third
    )


def test_path_absent_at_the_baseline_is_created(repository, open_at):
    repository.write("a.md", "a")
    base = repository.commit()
    made, edited = write_all(repository, "src/x", "1", "2")
    git = open_at(repository.root)

    assert find(git, edited, BaselineQuery("src/x", None, None, base)) == drift(edited, made)
    assert find(git, edited, BaselineQuery("src", None, None, base)) == drift(edited, made)
    assert find(git, edited, BaselineQuery("none", None, None, base)) == drift(existed=False)


def test_commit_that_removed_a_path_comes_first(repository, open_at):
    made, edited = write_all(repository, "x", "1", "2")
    repository.remove("x")
    gone = repository.commit()
    repository.write("y", "y")
    head = repository.commit()
    git = open_at(repository.root)

    assert find(git, head, by_commit(repository, made, "x")) == drift(gone, edited)
    never_met = BaselineQuery("x", None, NOWHERE, None)
    assert find(git, head, never_met) == drift(gone, edited, made, is_complete=False)
    never_there = BaselineQuery("z", None, NOWHERE, None)
    assert find(git, head, never_there) == drift(is_complete=False, existed=False)


def test_revert_ends_the_drift(repository, open_at):
    first, _, third, fourth = write_all(repository, "x", "1", "2", "1", "4")
    git = open_at(repository.root)
    search = by_commit(repository, first, "x")

    assert find(git, third, search) == drift()
    assert find(git, fourth, search) == drift(fourth)


def test_pin_of_few_digits_needs_no_commit(repository, open_at):
    first, second, third = write_all(repository, "x", "1", "2", "3")
    git = open_at(repository.root)

    for length in (7, 12, 40):
        pin = BaselineQuery("x", None, at(repository, first, "x")[:length], None)
        assert find(git, third, pin) == drift(third, second)
        assert find(git, first, pin) == drift()


def test_mode_change_is_drift_of_a_directory_but_not_of_a_file(repository, open_at):
    repository.write("src/x", "1")
    base = repository.commit()
    repository.git("update-index", "--chmod=+x", "src/x")
    mode = repository.commit(add=False)
    repository.git("reset", "-q", "--hard")
    repository.write("src/x", "2")
    head = repository.commit()
    git = open_at(repository.root)

    assert find(git, head, by_commit(repository, base, "src/x")) == drift(head)
    assert find(git, head, by_commit(repository, base, "src")) == drift(head, mode)
    assert find(git, head, by_glob(git, base, "src/*")) == drift(head, mode)


def test_file_that_becomes_a_directory_has_changed(repository, open_at):
    repository.write("x", "1")
    base = repository.commit()
    repository.remove("x")
    repository.write("x/y", "1")
    head = repository.commit()
    git = open_at(repository.root)

    assert find(git, head, by_commit(repository, base, "x")) == drift(head)
    assert find(git, head, BaselineQuery("x/y", None, None, base)) == drift(head)
    assert find(git, base, BaselineQuery("x", None, at(repository, head, "x")[:9], None)) == drift(
        base, is_complete=False
    )


def test_drift_of_a_glob_is_that_of_matching_files(repository, open_at):
    repository.write("src/a.py", "1")
    repository.write("src/deep/b.py", "1")
    repository.write("src/notes.txt", "1")
    base = repository.commit()
    (other,) = write_all(repository, "src/notes.txt", "2")
    (deep,) = write_all(repository, "src/deep/b.py", "2")
    (added,) = write_all(repository, "src/new.py", "1")
    repository.remove("src/a.py")
    gone = repository.commit()
    git = open_at(repository.root)

    assert find(git, gone, by_glob(git, base, "src/**/*.py")) == drift(gone, added, deep)
    assert find(git, gone, by_glob(git, base, "src/*.py")) == drift(gone, added)
    assert find(git, gone, by_glob(git, base, "**/b.py")) == drift(deep)
    assert find(git, gone, by_glob(git, base, "src/deep/*")) == drift(deep)
    assert find(git, gone, by_glob(git, base, "src/*.txt")) == drift(other)
    assert find(git, gone, by_glob(git, base, "none/*")) == drift(existed=False)
    pin = by_glob(git, base, "src/**/*.py")
    assert find(git, gone, pin._replace(commit=None)) == drift(gone, added, deep)


def test_drift_of_a_merge_may_come_from_both_sides(repository, open_at):
    (base,) = write_all(repository, "src/x", "1")
    repository.git("checkout", "-q", "-b", "topic")
    (topic,) = write_all(repository, "src/y", "1")
    repository.git("checkout", "-q", "main")
    (main,) = write_all(repository, "src/z", "1")
    merge = repository.merge("topic")
    git = open_at(repository.root)

    assert find(git, merge, by_commit(repository, base, "src")) == drift(merge, main, topic)
    assert find(git, merge, BaselineQuery("src/y", None, None, base)) == drift(topic)
    pin = BaselineQuery("src", None, at(repository, base, "src")[:12], None)
    assert find(git, merge, pin) == drift(merge, main, topic)


def test_ancestors_of_a_commit_with_the_pin_are_not_drift(repository, open_at):
    first, second = write_all(repository, "x", "1", "2")
    repository.git("checkout", "-q", "-b", "topic", first)
    (topic,) = write_all(repository, "x", "topic")
    repository.git("checkout", "-q", "main")
    (main,) = write_all(repository, "x", "main")
    repository.git("merge", "-q", "topic", check=False)
    (merge,) = write_all(repository, "x", "both")
    git = open_at(repository.root)

    # The topic's line leads past the pin, down to the first commit, which is older than the pin.
    pin = BaselineQuery("x", None, at(repository, second, "x")[:12], None)
    assert find(git, merge, pin) == drift(merge, main, topic)


def test_merge_that_drops_the_baseline_is_the_drift(repository, open_at):
    (old,) = write_all(repository, "x", "old")
    repository.git("checkout", "-q", "-b", "topic")
    repository.write("page.md", "about new")
    (base,) = write_all(repository, "x", "new")
    repository.git("checkout", "-q", "main")
    write_all(repository, "other", "text")
    repository.git("merge", "-q", "--no-commit", "--no-ff", "topic")
    repository.write("x", "old")
    merge = repository.commit()
    write_all(repository, "other", "more text")
    (head,) = write_all(repository, "x", "older")
    git = open_at(repository.root)
    search = by_commit(repository, base, "x")
    assert repository.git("log", "--format=%H", f"{base}..{merge}", "--", "x") == ""

    assert find(git, merge, search) == drift(merge)
    assert find(git, head, search) == drift(head, merge)
    assert find(git, head, search, {merge: {search: drift(merge)}}) == drift(head, merge)
    assert find(git, head, by_commit(repository, old, "x")) == drift(head)


def test_drift_beyond_a_shallow_boundary_is_incomplete(repository, new_repository, open_at):
    first, _, third, fourth = write_all(repository, "x", "1", "2", "3", "4")
    clone = new_repository("clone")
    clone.git("fetch", "-q", "--depth=2", f"file://{repository.root}", "main:cut")
    git = open_at(clone.root)

    pin = BaselineQuery("x", None, at(repository, first, "x")[:12], None)
    assert find(git, fourth, pin) == drift(fourth, is_complete=False)
    assert find(git, fourth, BaselineQuery("z", None, NOWHERE, None)) == drift(
        is_complete=False, existed=False
    )
    assert find(git, fourth, by_commit(clone, third, "x")) == drift(fourth)


# What is known of earlier heads


@pytest.mark.usefixtures("without_libgit2")
def test_new_commits_are_read_by_git_alone(repository, open_at):
    repository.write("a.md", "a")
    repository.write("b.md", "b")
    repository.write("src/x", "1")
    first = repository.commit()
    known = {first: {path: changed(first) for path in ("a.md", "b.md")}}
    repository.git("mv", "a.md", "c.md")
    second = repository.commit()
    repository.write("b.md", "bb")
    repository.write("src/x", "2")
    third = repository.commit()
    git = open_at(repository.root)
    searches = {
        by_commit(repository, first, "src/x"): drift(third),
        by_commit(repository, first, "src"): drift(third),
        by_commit(repository, first, ""): drift(third, second),
        by_commit(repository, second, ""): drift(third),
        by_commit(repository, first, "a.md"): drift(second),
        by_glob(git, first, "src/*"): drift(third),
        by_glob(git, first, "*.md"): drift(third, second),
        by_glob(git, third, "*.md"): drift(),
        BaselineQuery("c.md", None, None, first): drift(second),
        BaselineQuery("src/x", None, at(repository, first, "src/x")[:7], None): drift(third),
        BaselineQuery("old", None, "1234567", None): drift(first, is_complete=False),
    }
    older = {first: {search: d for search, d in searches.items() if search.path == "old"}}

    assert last_changes(git, third, ["b.md", "c.md", "none.md"], known) == {
        "b.md": changed(third),
        "c.md": changed(first),
    }
    assert find_drifts(git, third, searches, older) == searches


def test_removed_page_is_omitted(repository, open_at):
    (first,) = write_all(repository, "a.md", "a")
    repository.remove("a.md")
    head = repository.commit()

    known = {first: {"a.md": changed(first)}}
    assert last_changes(open_at(repository.root), head, ["a.md"], known) == {}


@pytest.mark.usefixtures("without_libgit2")
def test_history_merged_in_later_is_walked(repository, open_at):
    (first,) = write_all(repository, "a.md", "a")
    repository.git("checkout", "-q", "--orphan", "other")
    repository.git("rm", "-q", "-f", "a.md")
    (other,) = write_all(repository, "b.md", "b")
    repository.git("checkout", "-q", "main")
    merge = repository.merge("--allow-unrelated-histories", "other")
    git = open_at(repository.root)
    known = {first: {"a.md": changed(first)}}

    assert last_changes(git, merge, ["a.md", "b.md"], known) == {
        "a.md": changed(first),
        "b.md": changed(other),
    }
    assert find(git, merge, BaselineQuery("b.md", None, None, first), {first: {}}) == drift(other)
    root = BaselineQuery("", None, at(repository, first, ""), first)
    assert find(git, merge, root, {first: {}}) == drift(merge, other)


@pytest.mark.usefixtures("without_libgit2")
def test_known_head_is_not_walked_again(repository, open_at):
    (head,) = write_all(repository, "a.md", "a")
    git = open_at(repository.root)
    search = BaselineQuery("a.md", None, "1234567", None)

    assert last_changes(git, head, ["a.md"], {head: {"a.md": changed(head)}}) == {
        "a.md": changed(head)
    }
    assert find(git, head, search, {head: {search: drift(NOWHERE)}}) == drift(NOWHERE)


@pytest.mark.usefixtures("without_libgit2")
def test_known_heads_may_no_longer_exist(repository, open_at):
    first, second = write_all(repository, "a.md", "a", "b")
    git = open_at(repository.root)
    known = {NOWHERE.replace("0", "7"): {"a.md": changed(NOWHERE)}, first: {"a.md": changed(first)}}

    assert last_changes(git, second, ["a.md"], known) == {"a.md": changed(second)}


def test_branch_older_than_a_known_head_is_walked(repository, open_at):
    write_all(repository, "a.md", "a")
    (x,) = write_all(repository, "x", "1")
    repository.git("checkout", "-q", "-b", "topic")
    write_all(repository, "other", "text")
    repository.git("checkout", "-q", "main")
    (known_head,) = write_all(repository, "x", "2")
    repository.git("merge", "-q", "--no-commit", "--no-ff", "topic")
    repository.write("x", "1")  # the merge takes the state from before the known head
    merge = repository.commit()
    git = open_at(repository.root)
    known = {known_head: {"x": changed(known_head)}}

    assert last_changes(git, merge, ["x"], known) == {"x": changed(x)}


def test_many_new_commits_are_walked(repository, open_at):
    (first,) = write_all(repository, "a.md", "a")
    head = first
    for _ in range(MAX_NEW_COMMITS + 1):
        head = repository.commit()
    git = open_at(repository.root)

    assert read_new_commits(git, head, frozenset([first])) is None
    assert last_changes(git, head, ["a.md"], {first: {"a.md": changed(first)}}) == {
        "a.md": changed(first)
    }
