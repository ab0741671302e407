"""`ubp ack`: pins written in place, in the work tree and in the index."""

import pytest

from ubp.answers.bindings.bind import BindRequest
from ubp.answers.staleness.ack import AcknowledgeRequest
from ubp.core.errors import RepositoryError, UsageError
from ubp.workspace import Workspace


@pytest.fixture
def ack():
    def acknowledge(repository, *paths, **terms):
        with Workspace.open(str(repository.root), clock=lambda: repository.clock) as workspace:
            return workspace.ask(AcknowledgeRequest(paths, **terms)).documents

    return acknowledge


@pytest.fixture
def project(repository):
    repository.write("src/a.py", "a\n")
    repository.write("src/b.py", "b\n")
    repository.page("docs/a.md", "src/a.py", "src/b.py")
    repository.commit("page")
    return repository


def test_ack_pins_only_drifted_sources_and_makes_the_page_fresh(project, ack, ask, verdicts):
    project.write("src/a.py", "a2\n")
    project.commit("drift")
    pin = project.blob("src/a.py")[:12]
    (done,) = ack(project, "docs/a.md")
    assert [(p.source_path, p.before, p.pin) for p in done.pinned] == [("src/a.py", None, pin)]
    assert (project.root / "docs/a.md").read_text() == (
        f"---\nsource_refs:\n  - path: src/a.py\n    blob: {pin}\n  - src/b.py\n---\nText.\n"
    )
    project.commit("reviewed")
    assert verdicts(ask(project))["docs/a.md"][0] == "fresh"
    assert ack(project, "docs/a.md")[0].pinned == ()


def test_reason_is_beside_the_pin_until_the_next_ack(project, ack):
    project.write("src/a.py", "a2\n")
    ack(project, "docs/a.md", reason="only a comment: nothing to say")
    text = (project.root / "docs/a.md").read_text()
    assert "reason: 'only a comment: nothing to say'" in text.replace('"', "'")
    project.write("src/a.py", "a3\n")
    ack(project, "docs/a.md")
    assert "reason" not in (project.root / "docs/a.md").read_text()


def test_ack_stages_the_lines_of_pins_and_nothing_else(project, ack, ask):
    project.write("src/a.py", "staged\n")
    project.git("add", "src/a.py")
    project.write("src/a.py", "not staged\n")
    page = project.root / "docs/a.md"
    page.write_text(page.read_text() + "An unstaged sentence.\n")
    pin = project.git("rev-parse", ":src/a.py")[:12]
    (done,) = ack(project, "docs/a.md", staged=True)
    assert [p.pin for p in done.pinned] == [pin]
    head = f"---\nsource_refs:\n  - path: src/a.py\n    blob: {pin}\n  - src/b.py\n---\nText.\n"
    assert project.git("show", ":docs/a.md") == head.strip()
    assert page.read_text() == head + "An unstaged sentence.\n"
    assert ask(project, staged=True).introduced == ()


def test_ack_of_all_pages_that_a_commit_makes_stale_succeeds(project, ack):
    project.page("docs/other.md", "src/b.py")
    project.commit()
    project.write("src/b.py", "b2\n")
    project.commit("debt")
    project.write("src/a.py", "a2\n")
    project.git("add", "--all")
    assert [page.filepath for page in ack(project, every=True, staged=True)] == ["docs/a.md"]


def test_ack_with_history_pins_what_the_page_described_and_keeps_the_debt(
    project, ack, ask, verdicts
):
    old = project.blob("src/a.py")[:12]
    project.write("src/a.py", "a2\n")
    project.commit("drift")
    (done,) = ack(project, every=True, history=True)
    assert [(p.source_path, p.pin) for p in done.pinned] == [
        ("src/a.py", old),
        ("src/b.py", project.blob("src/b.py")[:12]),
    ]
    project.commit("move to pins")
    assert verdicts(ask(project)) == {
        "docs/a.md": ("possibly_stale", {"src/a.py": "modified", "src/b.py": "fresh"})
    }


def test_source_that_cannot_be_pinned_is_reported(project, ack):
    project.git("mv", "src/a.py", "src/c.py")
    project.remove("src/b.py")
    project.commit()
    (done,) = ack(project, "docs/a.md")
    assert done.pinned == ()
    assert {left.source_path: left.reason for left in done.left} == {
        "src/a.py": "the source moved: change the reference to src/c.py",
        "src/b.py": "the source does not exist: update or remove the reference",
    }


@pytest.mark.parametrize(
    ("terms", "step"),
    [
        ({"staged": True}, "git add docs/a.md"),
        ({"base": "HEAD~1"}, "git add docs/a.md && git commit"),
    ],
)
def test_reference_that_the_work_tree_replaces_is_not_to_be_changed_again(
    project, ack, terms, step
):
    project.git("mv", "src/a.py", "src/c.py")
    if "base" in terms:
        project.write("src/b.py", "b2\n")
        project.commit("Move")
    project.page("docs/a.md", "src/c.py")
    (done,) = ack(project, "docs/a.md", **terms)
    assert done.pinned == ()
    reason = f"the page in the work tree does not list it any more: {step}"
    sources = ["src/a.py", "src/b.py"] if "base" in terms else ["src/a.py"]
    assert [(left.source_path, left.reason) for left in done.left] == [
        (source, reason) for source in sources
    ]


def test_ack_without_pages_is_an_error(project, ack):
    with pytest.raises(UsageError, match="No pages given"):
        ack(project)
    with pytest.raises(UsageError, match=r"Page not found: docs/none\.md"):
        ack(project, "docs/none.md")


def test_ack_keeps_line_ends_and_the_byte_order_mark(project, ack):
    text = "\ufeff---\r\nsource_refs:\r\n  - src/a.py  # why\r\n---\r\nText"
    project.write("docs/a.md", text.encode())
    project.commit()
    project.write("src/a.py", "a2\n")
    project.commit()
    ack(project, "docs/a.md")
    pin = project.blob("src/a.py")[:12]
    assert (project.root / "docs/a.md").read_bytes().decode() == text.replace(
        "- src/a.py  # why\r\n", f"- path: src/a.py  # why\r\n    blob: {pin}\r\n"
    )


def test_page_behind_a_symlink_is_not_written(project, ack, tmp_path):
    project.write("src/a.py", "a2\n")
    project.commit()
    outside = tmp_path / "outside"
    (project.root / "docs").rename(outside)
    (project.root / "docs").symlink_to(outside)
    before = (outside / "a.md").read_bytes()
    with pytest.raises((RepositoryError, UsageError)):
        ack(project, "docs/a.md")
    assert (outside / "a.md").read_bytes() == before


def test_directories_are_pinned_by_their_tree(repository, ack, ask, verdicts):
    repository.write("src/x/a.py", "a\n")
    repository.page("docs/a.md", "src/x/")
    repository.commit()
    repository.write("src/x/a.py", "a2\n")
    repository.commit()
    (done,) = ack(repository, "docs/a.md")
    assert done.pinned[0].pin == repository.git("rev-parse", "HEAD:src/x")[:12]
    repository.commit()
    assert verdicts(ask(repository))["docs/a.md"][0] == "fresh"


def test_ack_with_history_pins_the_source_as_of_the_last_change_of_the_text(repository):
    repository.write("a.py", "1\n")
    repository.write("docs/a.md", "# A\n")
    repository.commit("text")
    described = repository.blob("a.py")[:12]
    repository.write("a.py", "2\n")
    repository.commit("source")
    repository.page("docs/a.md", "a.py", body="# A\n")
    for _ in range(2):  # the reference is not committed, and then it is
        with Workspace.open(str(repository.root)) as workspace:
            (done,) = workspace.ask(AcknowledgeRequest(("docs/a.md",), history=True)).documents
        assert [pinned.pin for pinned in done.pinned] == [described]
        repository.page("docs/a.md", "a.py", body="# A\n")
        repository.commit("reference")


def test_ack_with_history_after_bind_keeps_the_drift(repository):
    repository.write("src/store.py", "def open_store():\n    return 1\n")
    repository.write("docs/a.md", "# A\n\n`open_store` of `src/store.py`\n")
    repository.commit("text")
    described = repository.blob("src/store.py")[:12]
    repository.write("src/store.py", "def open_store():\n    return 2\n")
    repository.commit("source")
    with Workspace.open(str(repository.root)) as workspace:
        workspace.ask(BindRequest(("docs/a.md",), write=True, min_confidence=0.2))
        (done,) = workspace.ask(AcknowledgeRequest(("docs/a.md",), history=True)).documents
    assert [(pinned.source_path, pinned.pin) for pinned in done.pinned] == [
        ("src/store.py", described)
    ]


def test_ack_with_history_pins_the_present_for_uncommitted_text(repository):
    repository.write("a.py", "1\n")
    repository.write("docs/a.md", "# A\n")
    repository.commit("text")
    repository.write("a.py", "2\n")
    repository.commit("source")
    repository.page("docs/a.md", "a.py", body="# Another text\n")
    with Workspace.open(str(repository.root)) as workspace:
        (done,) = workspace.ask(AcknowledgeRequest(("docs/a.md",), history=True)).documents
    assert [pinned.pin for pinned in done.pinned] == [repository.blob("a.py")[:12]]


def test_ack_at_a_revision_pins_all_references_as_of_it(repository):
    repository.write("a.py", "1\n")
    repository.page("docs/a.md", "a.py", "later.py")
    first = repository.commit("first")
    described = repository.blob("a.py")[:12]
    repository.write("a.py", "2\n")
    repository.write("later.py", "1\n")
    repository.commit("source")
    with Workspace.open(str(repository.root)) as workspace:
        workspace.ask(AcknowledgeRequest(("docs/a.md",)))
        (done,) = workspace.ask(AcknowledgeRequest(("docs/a.md",), at=first)).documents
        assert [(p.source_path, p.pin) for p in done.pinned] == [("a.py", described)]
        assert [skipped.source_path for skipped in done.left] == ["later.py"]
        (again,) = workspace.ask(AcknowledgeRequest(("docs/a.md",), at=first)).documents
        assert again.pinned == ()
        with pytest.raises(UsageError, match="--at"):
            workspace.ask(AcknowledgeRequest(("docs/a.md",), at=first, history=True))


def test_ack_with_diff_returns_the_acknowledged_changes(repository):
    repository.write("src/a.py", "ttl = 30\n")
    repository.page("docs/a.md", "src/a.py")
    repository.commit("Begin")
    repository.write("src/a.py", "ttl = 60\n")
    repository.commit("Change a")
    with Workspace.open(str(repository.root)) as workspace:
        (page,) = workspace.ask(AcknowledgeRequest(("docs/a.md",), diff=True)).documents
        (pinned,) = page.pinned
        assert pinned.diff.text.splitlines()[-2:] == ["-ttl = 30", "+ttl = 60"]
        for past in ({"history": True}, {"at": "HEAD~1"}):
            with pytest.raises(UsageError, match="--diff cannot be combined"):
                workspace.ask(AcknowledgeRequest(("docs/a.md",), diff=True, **past))


def test_page_that_cannot_be_written_does_not_keep_others_from_being_pinned(project, ack):
    project.page("docs/c.md", "src/a.py")
    project.write("docs/b.md", "---\nsource_refs:\n  - path: >-\n      src/a.py\n---\nText.\n")
    project.commit("pages")
    project.write("src/a.py", "a2\n")
    done = {page.filepath: page for page in ack(project, "docs")}
    assert [page for page, result in done.items() if result.pinned] == ["docs/a.md", "docs/c.md"]
    (left,) = done["docs/b.md"].left
    assert left.source_path == "src/a.py"
    assert left.reason.startswith("Its path is a block scalar. Write the reference as a list item")
