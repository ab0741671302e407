"""What became of alarms, as the commits of the main line show it."""

import re

import pytest

from ubp.__main__ import main
from ubp.answers.report.report import ReportRequest, read_report, run
from ubp.output.html.report import report_html
from ubp.report import alarms as alarms_module
from ubp.workspace import Workspace


@pytest.fixture
def settled():
    """The alarms of a repository's report."""

    def read(repository):
        with Workspace.open(str(repository.root)) as workspace:
            return run(workspace.session, ReportRequest()).alarms

    return read


def pinned(repository, page, pin, body="Text.\n", source="src/a.py"):
    front = f"---\nsource_refs:\n  - path: {source}\n    blob: {pin * 12}\n---\n"
    repository.write(page, front + body)


@pytest.fixture
def project(repository):
    """One alarm about `docs/a.md` that led to an edit, and three wrong ones about `docs/b.md`."""
    repository.write("src/a.py", "1\n")
    for page in ("docs/a.md", "docs/b.md"):
        pinned(repository, page, "a")
    repository.commit("Begin")
    pinned(repository, "docs/a.md", "b", body="Another text.\n")
    pinned(repository, "docs/b.md", "b")
    repository.commit("Settle\n\nUBP-Reviewed: docs/b.md: only a comment")
    for pin in ("c", "d"):
        pinned(repository, "docs/b.md", pin)
        repository.commit("Acknowledge")
    pinned(repository, "docs/a.md", "b", body="A third text.\n")
    repository.commit("Edit without an alarm")
    return repository


def test_moved_pins_with_an_edit_are_right_alarms_and_without_one_wrong(project, settled):
    alarms = settled(project)
    total = alarms.total
    assert (total.alarms, total.edited, total.wrong, total.reasoned) == (4, 1, 3, 1)
    assert total.precision == 25
    assert [(month.month, month.alarms) for month in alarms.months] == [("2023-11", 4)]
    assert (alarms.versions, alarms.unread, alarms.is_cut) == (5, 0, False)


def test_page_acknowledged_three_times_in_a_row_is_listed_with_the_command(project, settled):
    (page,) = settled(project).repeated
    assert (page.filepath, page.command) == ("docs/b.md", "ubp bind --review docs/b.md")


def test_page_edited_since_is_not_listed(project, settled):
    pinned(project, "docs/b.md", "d", body="Edited.\n")
    project.commit("Edit")
    assert settled(project).repeated == ()


def test_merge_commit_counts_once_for_what_it_brings(project, settled):
    before = settled(project).total.alarms
    project.git("switch", "-qc", "topic")
    pinned(project, "docs/a.md", "e", body="A third text.\n")
    project.commit("On a branch")
    project.git("switch", "-q", "-")
    project.git("merge", "-q", "--no-ff", "-m", "Merge", "topic")
    assert settled(project).total.alarms == before + 1


def test_changes_of_another_source_list_are_edits(project, settled):
    pinned(project, "docs/a.md", "f", body="A third text.\n")
    text = (project.root / "docs/a.md").read_text()
    project.write("docs/a.md", text.replace("source_refs:\n", "source_refs:\n  - src/b.py\n"))
    project.commit("List another source")
    assert settled(project).total.edited == 2


def test_only_the_newest_versions_are_compared(project, settled, monkeypatch):
    monkeypatch.setattr(alarms_module, "MAX_VERSIONS", 2)
    alarms = settled(project)
    assert (alarms.versions, alarms.is_cut, alarms.total.alarms) == (2, True, 1)


def test_report_names_the_number_of_versions_where_history_is_cut(project, monkeypatch, capsys):
    monkeypatch.setattr(alarms_module, "MAX_VERSIONS", 2)
    assert main(["--cwd", str(project.root), "report"]) == 0
    assert "\nAlarms settled (in the newest 2 changes of pages):\n" in capsys.readouterr().out


def test_unusual_path_is_found(project, settled):
    name = "docs/[a] é :x.md"
    pinned(project, name, "a")
    project.commit("Add")
    pinned(project, name, "b")
    project.commit("Acknowledge")
    assert settled(project).total.wrong == 4


def test_repository_without_bindings_has_no_alarms(repository, settled):
    repository.write("docs/a.md", "Text.\n")
    repository.commit("Begin")
    assert settled(repository) is None


def test_report_shows_months_and_repeated_pages(project, capsys):
    assert main(["--cwd", str(project.root), "report"]) == 0
    output = capsys.readouterr().out
    assert (
        "  2023-11     4: 1 led to an edit (25%), 3 acknowledged without an edit, 1 with a reason\n"
        "docs/b.md was acknowledged three times in a row without an edit.\n"
        "  ubp bind --review docs/b.md\n"
    ) in output


def test_html_report_draws_a_column_for_each_month_and_lists_repeated_pages(project):
    with Workspace.open(str(project.root)) as workspace:
        page = report_html(read_report(workspace.session, ReportRequest()))
    titles = re.findall(r"<title>(2023-\d\d: .*?)</title>", page)
    assert titles == [
        *(f"2023-{month:02}: no alarms" for month in range(6, 11)),
        "2023-11: 1 of 4 alarms right",
    ]
    assert "1 of 4 alarms that commits settled led to an edit of the page (25%)" in page
    assert "<code>ubp bind --review docs/b.md</code>" in page


@pytest.mark.parametrize("date", [b"", b" 99999999999999 +0000"])
def test_commit_of_impossible_date_does_not_end_the_report(date):
    page = (b"\n:100644 100644 " + b"a" * 40 + b" " + b"b" * 40 + b" M", b"docs/a.md")
    versions = alarms_module._parse(iter((b"\x01%b " % date.split(b" +")[0].strip(), *page)))
    assert [version.month for version in versions] == []
