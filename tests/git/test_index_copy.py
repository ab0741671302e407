"""A server reads the work tree through a copy of the index, with the same answers."""

import gc
import os
import random

import pytest

from ubp.git.index_copy import IndexCopy
from ubp.git.snapshot import read_worktree


@pytest.fixture
def index_copy():
    return IndexCopy()


@pytest.fixture
def filtered(repository, tmp_path):
    """A repository with a filter that logs each file that Git reads."""
    log = tmp_path / "read"
    repository.git("config", "filter.log.clean", f"echo %f >> '{log}'; cat")
    repository.write(".gitattributes", "*.md filter=log\n")
    repository.write("a.md", "a\n")
    repository.commit()
    log.write_text("")
    return log


def test_file_with_other_times_than_in_the_index_is_read_once(
    repository, filtered, open_at, index_copy
):
    os.utime(repository.root / "a.md", (1_600_000_000,) * 2)
    git = open_at(repository.root)
    for _ in range(3):
        assert index_copy.read_worktree(git).changes == {}
    assert filtered.read_text().splitlines() == ["a.md"]
    read_worktree(git)
    assert filtered.read_text().splitlines() == ["a.md"] * 2


def test_index_of_the_user_is_not_written(repository, open_at, index_copy):
    repository.write("a.md", "a\n")
    repository.commit()
    os.utime(repository.root / "a.md", (1_600_000_000,) * 2)
    index = repository.root / ".git" / "index"
    before = index.read_bytes(), index.stat().st_mtime_ns, index.stat().st_ino
    index_copy.read_worktree(open_at(repository.root))
    assert (index.read_bytes(), index.stat().st_mtime_ns, index.stat().st_ino) == before


def test_edit_as_recent_as_the_index_is_seen(repository, open_at, index_copy):
    """Of the same size, so that only the time of the index shows that the file must be read."""
    repository.git("config", "core.checkStat", "minimal")
    page, index = repository.write("a.md", "1\n"), repository.root / ".git" / "index"
    past = 1_600_000_000
    os.utime(page, (past, past))
    repository.commit()
    page.write_text("2\n")
    os.utime(page, (past, past))
    os.utime(index, (past, past))
    git = open_at(repository.root)
    assert index_copy.read_worktree(git).changes.keys() == {"a.md"}
    assert read_worktree(git).changes.keys() == {"a.md"}


def test_changes_with_the_copy_equal_changes_without_it(repository, open_at, index_copy):
    chance = random.Random(7)
    for number in range(5):
        repository.write(f"docs/{number}.md", f"{number}\n")
    repository.commit()
    for number in range(40):
        path = f"docs/{chance.randrange(6)}.md"
        kind = chance.randrange(6)
        if kind == 0:
            repository.write(path, f"{number:03}\n")
        elif kind == 1:
            (repository.root / path).unlink(missing_ok=True)
        elif kind == 2:
            repository.git("add", "--all")
        elif kind == 3:
            repository.commit(f"Change {number}")
        elif kind == 4:
            repository.git("reset", "--quiet", "--hard")
        else:
            repository.write(".gitignore", f"docs/{chance.randrange(6)}.md\n")
        git = open_at(repository.root)
        assert index_copy.read_worktree(git) == read_worktree(git)


def test_repository_without_an_index_is_read(repository, open_at, index_copy):
    repository.write("new.md", "new\n")
    git = open_at(repository.root)
    assert index_copy.read_worktree(git) == read_worktree(git)


@pytest.mark.parametrize("split", ["config core.splitIndex true", "update-index --split-index"])
def test_split_index_is_not_extended(repository, open_at, index_copy, split):
    page = repository.write("a.md", "a\n")
    repository.commit()
    repository.git(*split.split())
    os.utime(page, (1_600_000_000,) * 2)
    repository.write("untracked.md", "new\n")
    git = open_at(repository.root)
    before = sorted(os.listdir(repository.root / ".git"))
    for _ in range(2):
        assert index_copy.read_worktree(git) == read_worktree(git)
    assert sorted(os.listdir(repository.root / ".git")) == before


def test_copy_is_removed_with_its_reader(repository, open_at):
    repository.write("a.md", "a\n")
    repository.commit()
    own = IndexCopy()
    own.read_worktree(open_at(repository.root))
    folder = own._folder
    assert os.listdir(folder) == ["index"]
    del own
    gc.collect()
    assert not os.path.exists(folder)


def test_copy_is_saved_once_for_each_index(repository, open_at, index_copy):
    page = repository.write("a.md", "a\n")
    repository.commit()
    git, saved = open_at(repository.root), []
    for number in range(4):
        os.utime(page, (1_600_000_000 + number,) * 2)
        if number == 2:
            repository.git("update-index", "--refresh")
            os.utime(page, (1_500_000_000,) * 2)
        index_copy.read_worktree(git)
        with open(os.path.join(index_copy._folder, "index"), "rb") as copy:
            saved.append(copy.read())
    assert saved[0] == saved[1] != saved[2] == saved[3]
