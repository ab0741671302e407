"""A workspace that is asked again: its last view answers as long as the work tree is the same."""

import os
import random
from dataclasses import replace

import pytest

from ubp.answers.pages.get_page import PageRequest
from ubp.answers.pages.list_pages import ListPagesRequest
from ubp.answers.search.fulltext_search import FulltextRequest
from ubp.answers.setup.reindex import ReindexRequest
from ubp.answers.staleness.stale import report_stale
from ubp.git.filters import hash_regular_files
from ubp.git.output import blob_id
from ubp.index.session import Target
from ubp.index.view import build_view
from ubp.workspace import Workspace

PAGES = 6


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
def built(monkeypatch):
    """The snapshots that views were built of."""
    snapshots = []

    def build(repository, store, config, snapshot, *rest, **options):
        snapshots.append(snapshot)
        return build_view(repository, store, config, snapshot, *rest, **options)

    monkeypatch.setattr("ubp.index.session.build_view", build)
    return snapshots


def everything(workspace):
    """The pages, their links and levels, and what a search finds."""
    pages = workspace.ask(ListPagesRequest()).pages
    report = report_stale(workspace.session, Target(), every=True)
    return (
        pages,
        [workspace.ask(PageRequest(page.filepath)).content for page in pages],
        [(assessment.page.filepath, assessment.level) for assessment in report.pages],
        [section.filepath for section in workspace.ask(FulltextRequest("page")).results],
    )


def answers_of_new_workspace(repository):
    with Workspace.open(str(repository.root)) as workspace:
        return everything(workspace)


def test_clean_work_tree_is_viewed_once(workspace, built):
    answers = [everything(workspace) for _ in range(3)]
    assert len(built) == 1
    assert answers == [answers[0]] * 3


def test_changed_work_tree_that_stays_the_same_is_viewed_once(written, workspace, built):
    written.write("docs/1.md", "# Another\n")
    written.write("docs/new.md", "# New\n")
    written.remove("docs/2.md")
    answers = [everything(workspace) for _ in range(3)]
    assert len(built) == 1
    assert answers == [answers_of_new_workspace(written)] * 3


def test_edit_of_equal_size_and_time_is_seen(written, workspace):
    page = written.write("docs/1.md", "# Edited 1\n")
    everything(workspace)
    before = page.stat()
    page.write_text("# Edited 2\n")
    os.utime(page, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert workspace.ask(PageRequest("docs/1.md")).title == "Edited 2"


def test_changed_file_that_is_not_requested_is_not_hashed(written, workspace, monkeypatch):
    written.write("data.bin", "1\n")
    workspace.ask(PageRequest("docs/1.md"))
    hashed = []
    monkeypatch.setattr(
        "ubp.index.view.hash_changed", lambda _, __, paths, ___: hashed.extend(paths) or {}
    )
    workspace.ask(PageRequest("docs/1.md"))
    assert hashed == []


def test_changed_file_is_passed_to_git_once(written, workspace, monkeypatch):
    hashed = []
    monkeypatch.setattr(
        "ubp.git.snapshot.hash_regular_files",
        lambda repository, paths: hashed.append(paths) or hash_regular_files(repository, paths),
    )
    written.write("docs/1.md", "# Edited\n")
    for _ in range(3):
        everything(workspace)
    assert hashed == [["docs/1.md"]]
    written.write("docs/2.md", "# Edited, too\n")
    everything(workspace)
    assert hashed == [["docs/1.md"], ["docs/2.md"]]
    assert everything(workspace) == answers_of_new_workspace(written)


def test_file_with_the_bytes_that_its_filter_stored_is_filtered_again(written):
    written.git("config", "filter.swap.clean", "tr ab ba")
    written.write(".gitattributes", "docs/1.md filter=swap\n")
    written.commit()
    with Workspace.open(str(written.root)) as workspace:
        written.write("docs/1.md", "# ab\n")
        assert workspace.ask(PageRequest("docs/1.md")).title == "ba"
        written.write("docs/1.md", "# ba\n")
        assert workspace.ask(PageRequest("docs/1.md")).title == "ab"


def test_filter_changed_after_a_file_is_applied_to_it(written):
    written.git("config", "filter.swap.clean", "tr ab ba")
    with Workspace.open(str(written.root)) as workspace:
        written.write("docs/1.md", "# ab\n")
        assert workspace.ask(PageRequest("docs/1.md")).title == "ab"
        written.write(".gitattributes", "docs/2.md filter=swap\n")
        assert workspace.ask(PageRequest("docs/1.md")).title == "ab"
        written.write(".gitattributes", "docs/1.md filter=swap\n")
        assert workspace.ask(PageRequest("docs/1.md")).title == "ba"


def test_line_ends_kept_because_of_the_index_are_converted_once_it_is_renewed(written):
    written.write("docs/1.md", b"# One\r\n")
    written.commit()
    written.git("config", "core.autocrlf", "true")
    with Workspace.open(str(written.root)) as workspace:
        written.write("docs/1.md", b"# Two\r\n")
        assert workspace.session.view().page("docs/1.md").blob == blob_id(b"# Two\r\n")
        written.write("docs/1.md", b"# Three\r\n")
        written.git("add", "--renormalize", "docs/1.md")
        written.write("docs/1.md", b"# Two\r\n")
        assert workspace.session.view().page("docs/1.md").blob == blob_id(b"# Two\n")


def test_file_missing_while_it_is_hashed_is_seen_when_it_returns(written, workspace):
    page = written.write("docs/new.md", "# New\n")
    snapshot = workspace.session.snapshot(Target())
    page.unlink()
    assert workspace.session.view_of(snapshot).page("docs/new.md") is None
    page.write_text("# Returned\n")
    assert workspace.session.snapshot(Target()) == snapshot
    assert workspace.ask(PageRequest("docs/new.md")).title == "Returned"


def test_answers_after_any_changes_equal_those_of_a_new_workspace(written, workspace):
    """No change, one, or several before each question."""
    chance = random.Random(7)
    for number in range(25):
        for _ in range(chance.randint(0, 2)):
            change(written, chance, number)
        assert everything(workspace) == answers_of_new_workspace(written)


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


def test_reindex_after_an_answer_reads_every_page_again(workspace):
    everything(workspace)

    everything_again = ReindexRequest(skip_embedding=True)
    assert workspace.ask(everything_again).parsed == PAGES
    assert workspace.ask(replace(everything_again, file="docs/0.md")).parsed == 1
