"""Reasons of acknowledgements in commit messages: which commit gets which lines."""

import sys
from pathlib import Path

import pytest

from ubp.__main__ import main
from ubp.answers.staleness.reviewed import trailer

SCRIPTS = Path(sys.executable).parent
LINE = "UBP-Reviewed: docs/a.md: a comment"


@pytest.fixture
def project(repository):
    """A page whose source has changed, and the hook."""
    repository.write("src/a.py", "a\n")
    repository.page("docs/a.md", "src/a.py")
    repository.write("other.txt", "1\n")
    repository.commit("page")
    repository.write("src/a.py", "a2\n")
    repository.commit("drift")
    hook = repository.root / ".git/hooks/prepare-commit-msg"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f'#!/bin/sh\nexec "{SCRIPTS}/ubp" ack --commit-message "$@"\n')
    hook.chmod(0o755)
    return repository


@pytest.fixture
def ack(capsys):
    def run(project, page, reason):
        assert main(["-C", str(project.root), "ack", page, "--reason", reason]) == 0
        return capsys.readouterr().out

    return run


def message(project):
    return project.git("log", "-1", "--format=%B").strip()


def test_commit_that_carries_page_has_its_reason_and_the_next_has_not(project, ack):
    ack(project, "docs/a.md", reason="a comment")
    project.git("commit", "-qam", "reviewed")
    assert message(project) == f"reviewed\n\n{LINE}"
    project.write("docs/a.md", (project.root / "docs/a.md").read_text() + "More.\n")
    project.git("commit", "-qam", "more")
    assert message(project) == "more"


def test_commit_without_page_leaves_reason_for_the_one_that_carries_it(project, ack):
    ack(project, "docs/a.md", reason="a comment")
    project.write("other.txt", "2\n")
    project.git("commit", "-qm", "other", "other.txt")
    assert message(project) == "other"
    project.git("commit", "-qam", "reviewed")
    assert message(project) == f"reviewed\n\n{LINE}"


@pytest.mark.parametrize("options", [("--amend", "-m", "drift"), ("--fixup", "HEAD")])
def test_amended_commits_and_fixups_get_no_reason(project, ack, options):
    ack(project, "docs/a.md", reason="a comment")
    project.write("other.txt", "2\n")
    project.git("add", "other.txt")
    project.git("commit", "-q", *options)
    assert "UBP-Reviewed" not in message(project)


def test_merge_gets_no_reason(project, ack):
    project.git("switch", "-qc", "side", "HEAD^")
    project.write("other.txt", "side\n")
    project.git("commit", "-qam", "side")
    project.git("switch", "-q", "-")
    ack(project, "docs/a.md", reason="a comment")
    project.git("merge", "-q", "--no-ff", "-m", "merge", "side")
    assert message(project) == "merge"


def test_ack_prints_line_to_paste_where_no_hook_adds_it(project, ack):
    shown = ack(project, "docs/a.md", reason="a comment")
    assert shown.endswith(f"The next commit's message will have:\n  {LINE}\n")
    (project.root / ".git/hooks/prepare-commit-msg").unlink()
    project.write("src/a.py", "a3\n")
    project.commit()
    shown = ack(project, "docs/a.md", reason="a comment")
    assert shown.endswith(f"To keep the reason, add to the commit message:\n  {LINE}\n")


def test_damaged_list_of_reasons_stops_no_commit(project, ack):
    ack(project, "docs/a.md", reason="a comment")
    (project.root / ".git/ubp/reviewed.json").write_text('{"a": [1]}')
    project.git("commit", "-qam", "reviewed")
    assert message(project) == "reviewed"


def test_reason_of_several_lines_is_one_trailer():
    line = trailer("docs/a.md", "fine\n\nUBP-Reviewed: docs/b.md: forged\r\x1b[31m")
    assert "\n" not in line
    assert "\x1b" not in line
    assert line.startswith("UBP-Reviewed: docs/a.md: fine UBP-Reviewed: docs/b.md: forged")


def test_name_of_page_cannot_begin_another_trailer():
    assert trailer("a\nSigned-off-by: x.md", "r").splitlines() == [
        r'UBP-Reviewed: "a\nSigned-off-by: x.md": r'
    ]
    assert trailer("a: b.md", "r") == 'UBP-Reviewed: "a: b.md": r'


def test_third_acknowledgement_without_edit_proposes_a_narrower_reference(project, ack):
    proposed = []
    for number in range(3):
        project.write("src/a.py", f"again {number}\n")
        project.commit()
        shown = ack(project, "docs/a.md", reason="again")
        proposed.append("To find a narrower reference: ubp bind --review docs/a.md\n" in shown)
        project.commit()
    assert proposed == [False, False, True]


def test_acknowledgement_after_edit_proposes_no_narrower_reference(project, ack):
    for number in range(4):
        text = (project.root / "docs/a.md").read_text()
        project.write("docs/a.md", f"{text}{number}\n")
        project.commit()
        project.write("src/a.py", f"again {number}\n")
        project.commit()
        assert "narrower" not in ack(project, "docs/a.md", reason="again")
        project.commit()
