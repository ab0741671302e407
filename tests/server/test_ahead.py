"""An answer that was made ahead is the one that a look beforehand would have given."""

import os
import random
import time

import pytest

from ubp.errors import PageNotFoundError, RepositoryError
from ubp.server import ahead as aheads
from ubp.server.ahead import Ahead
from ubp.workspace import Workspace

PAGES = 6
DOUBT = 0.05


@pytest.fixture(autouse=True)
def little_doubt(monkeypatch):
    """Files need not be old for long: this system's clock for them is a fine one."""
    monkeypatch.setattr(aheads, "SECONDS_OF_DOUBT", DOUBT)


@pytest.fixture
def written(repository):
    for number in range(PAGES):
        repository.page(f"docs/{number}.md", "src/a.py", body=f"# Page {number}\n\n[[{number}]]\n")
    repository.write("src/a.py", "1\n")
    repository.commit()
    return repository


@pytest.fixture
def workspace(written):
    with Workspace.open(str(written.root)) as workspace:
        yield workspace


@pytest.fixture
def views(monkeypatch):
    """How many views were built."""
    built = []
    monkeypatch.setattr("ubp.rooms.build_view", lambda *a, **k: built.append(1) or build(*a, **k))
    from ubp.index import build_view as build

    return built


def everything(workspace):
    """What stands on the pages, how they hang together, and how they stand."""
    pages = workspace.pages().pages
    paths = [page.document.path for page in pages]
    report = workspace.stale(every=True)
    return (
        [(page.document, page.outgoing, page.incoming) for page in pages],
        [workspace.page(path).page.content for path in paths],
        [(one.page.filepath, one.level) for one in report.pages],
        [hit.page.filepath for hit in workspace.search_sections("page").hits],
    )


def anew(repository):
    with Workspace.open(str(repository.root)) as workspace:
        return everything(workspace)


def test_what_has_not_changed_is_not_read_again(written, workspace, views):
    ahead = Ahead(workspace)
    first = ahead.answer(everything)
    built = len(views)
    assert [ahead.answer(everything) for _ in range(3)] == [first] * 3
    assert len(views) == built
    assert first == anew(written)


def test_changes_that_are_old_are_not_read_again_either(written, workspace, views):
    written.write("docs/1.md", "# Another\n")
    written.write("docs/new.md", "# New\n")
    written.remove("docs/2.md")
    time.sleep(DOUBT * 2)
    ahead = Ahead(workspace)
    first = ahead.answer(everything)
    built = len(views)
    assert ahead.answer(everything) == first
    assert len(views) == built
    assert first == anew(written)


def test_a_file_that_is_young_is_read_again(written, workspace, monkeypatch, views):
    monkeypatch.setattr(aheads, "SECONDS_OF_DOUBT", 60)
    written.write("docs/1.md", "# Another\n")
    ahead = Ahead(workspace)
    ahead.answer(everything)
    built = len(views)
    ahead.answer(everything)
    assert len(views) > built


def test_what_has_changed_since_is_in_the_answer(written, workspace):
    """No change, one, or several before each question."""
    chance = random.Random(7)
    ahead = Ahead(workspace)
    for number in range(25):
        for _ in range(chance.randint(0, 2)):
            change(written, chance, number)
        if chance.random() < 0.3:
            time.sleep(DOUBT * 1.5)
        assert ahead.answer(everything) == anew(written)


def change(repository, chance, number):
    path = f"docs/{chance.randrange(PAGES)}.md"
    kind = chance.randrange(6)
    if kind == 0:
        repository.write(path, f"# Edited {number:03}\n")  # the size stays the same
    elif kind == 1:
        (repository.root / path).unlink(missing_ok=True)
    elif kind == 2:
        repository.write("src/a.py", f"{number:03}\n")
    elif kind == 3:
        repository.commit(f"Change {number}")
    elif kind == 4:
        repository.git("checkout", "--quiet", "HEAD", "--", ".")
    else:
        repository.write(f"docs/new{number % 3}.md", f"# New {number}\n")


def test_times_that_are_put_back_deceive_nobody(written, workspace):
    file = written.write("docs/1.md", "# Edited 1\n")
    time.sleep(DOUBT * 2)
    ahead = Ahead(workspace)
    ahead.answer(everything)
    before = file.stat()
    file.write_text("# Edited 2\n")
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert ahead.answer(everything) == anew(written)


def test_an_error_is_told_only_if_it_is_one_now(written, workspace):
    ahead = Ahead(workspace)
    ahead.answer(everything)
    with pytest.raises(PageNotFoundError):
        ahead.answer(lambda workspace: workspace.page("docs/new.md"))
    written.write("docs/new.md", "# New\n")
    assert (
        ahead.answer(lambda workspace: workspace.page("docs/new.md")).page.document.title == "New"
    )
    written.remove("docs/new.md")
    with pytest.raises(PageNotFoundError):
        ahead.answer(lambda workspace: workspace.page("docs/new.md"))


def test_a_question_about_a_commit_needs_no_look(workspace, monkeypatch):
    ahead = Ahead(workspace)
    ahead.answer(everything)
    monkeypatch.setattr(Workspace, "begin_look", lambda _: pytest.fail("it was looked at"))
    assert ahead.answer(lambda workspace: workspace.page("docs/1.md", ref="HEAD"))
    assert ahead.answer(lambda _: 1) == 1


def test_a_look_that_fails_is_looked_again(written, workspace, monkeypatch):
    ahead = Ahead(workspace)
    ahead.answer(everything)

    def fail():
        raise RepositoryError("Not now.")

    monkeypatch.setattr(Workspace, "begin_look", lambda _: fail)
    assert ahead.answer(everything) == anew(written)


def test_work_that_is_given_up_leaves_no_process(workspace):
    ahead = Ahead(workspace)
    ahead.answer(everything)

    def give_up(workspace):
        workspace.view()
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ahead.answer(give_up)
    with pytest.raises(ChildProcessError):  # there is none to wait for
        os.waitpid(-1, os.WNOHANG)
    assert workspace.foresee is None
