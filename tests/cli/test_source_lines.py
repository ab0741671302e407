"""The line of a page below a finding on a terminal, and the mark below what is meant."""

import pytest

from ubp.checks.run import check_target
from ubp.cli.source_lines import Part, find_source_lines, marked_line
from ubp.frame.wording import Style, text_width
from ubp.index.session import Target
from ubp.workspace import Workspace


def shown(repository, columns=80):
    """Return the marked lines of the findings of a repository, by rule and line."""
    with Workspace.open(str(repository.root)) as workspace:
        report = check_target(workspace.session, Target(), (), ())
        view = workspace.session.view_of(report.snapshot)
        found = find_source_lines(report.findings, view, columns, Style())
    return {(record.rule, record.line): list(lines) for record, lines in found.items()}


@pytest.mark.parametrize(
    ("line", "mark"),
    [
        ("See [it](gone.md).", "         ^^^^^^^"),
        ('See [it](gone.md#a "Title").', "         ^^^^^^^^^"),
        ("See [it](<gone.md>).", "          ^^^^^^^"),
        ("\t日本語の[先](gone.md)へ。", None),
        ("- 日本語の[先](gone.md)へ。", "               ^^^^^^^"),
        ("See [[gone]].", "      ^^^^"),
        ("![picture](gone.png)", "           ^^^^^^^^"),
    ],
)
def test_target_of_a_broken_link_is_marked(line, mark, repository):
    repository.write("docs/a.md", f"# A\n\n{line}\n")
    repository.write("docs/b.md", "# B\n\nSee [[a]].\n")  # these pages have wikilinks
    repository.commit()
    found = shown(repository)
    expected = {("broken-link", 3): [f"  3 | {line}", f"    | {mark}"]} if mark else {}
    assert found == expected


def test_anchor_that_no_heading_has_is_marked_with_the_page_before_it(repository):
    repository.write("docs/a.md", "# A\n\nSee [below](#gone).\n\nOr [b](b.md#none).\n")
    repository.write("docs/b.md", "# B\n")
    repository.commit()
    assert shown(repository) == {
        ("missing-anchor", 3): ["  3 | See [below](#gone).", "    |             ^^^^^"],
        ("missing-anchor", 5): ["  5 | Or [b](b.md#none).", "    |        ^^^^^^^^^"],
    }


def test_name_that_changed_is_marked_where_the_page_has_it(repository, at):
    repository.write("src/a.py", "def login():\n    pass\n")
    repository.page("docs/a.md", "src/a.py", body="# A\n\nCall `login()` first.\n")
    repository.commit()
    repository.write("src/a.py", "def sign_in():\n    pass\n")
    repository.commit()
    at(repository, days=10)
    with Workspace.open(str(repository.root)) as workspace:
        session = workspace.session
        report = check_target(session, Target(), (), (), has_evidence=True)
        lines = find_source_lines(report.findings, session.view_of(report.snapshot), 80, Style())
    marked = {record.rule: shown for record, shown in lines.items()}
    assert marked["stale-doc"] == ("  7 | Call `login()` first.", "    |       ^^^^^")
    assert marked["removed-name"][1] == "    |       ^^^^^"


@pytest.mark.parametrize("columns", [40, 60, 200])
@pytest.mark.parametrize("word", ["word ", "語"])
@pytest.mark.parametrize("before", [0, 3, 300])
@pytest.mark.parametrize("after", [0, 300])
def test_long_line_is_cut_around_what_is_meant(columns, word, before, after):
    text = f"{word * before}MEANT{word * after}"
    start = len(word) * before
    line, mark = marked_line(text, Part(1, start, start + 5), columns)
    assert text_width(line) <= columns
    width = text_width(line[: line.index("MEANT")])
    assert mark == " " * width + "^^^^^"


def test_meant_text_that_is_longer_than_the_line_is_cut():
    line, mark = marked_line("a" * 300, Part(1, 0, 300), 60)
    assert line == "a" * 39 + "…"
    assert mark == "^" * 40


def test_text_of_a_page_is_escaped_in_its_line_and_the_mark_stays_below(repository):
    repository.write("docs/a.md", "# A\n\n\x1b[31m\u202e [x](gone.md)\n")
    repository.commit()
    ((line, mark),) = shown(repository).values()
    assert line == "  3 | \\e[31m\\u202e [x](gone.md)"
    assert mark.index("^") == line.index("gone.md")


def test_pipes_get_no_lines_of_pages(repository, ubp):
    repository.write("docs/a.md", "# A\n\nSee [it](gone.md).\n")
    repository.commit()
    assert "^" not in ubp(repository, "check").out


def test_advice_that_several_findings_have_is_given_once(repository, ubp, at):
    for name in "ab":
        repository.write(f"src/{name}.py", "1\n")
        repository.page(f"docs/{name}.md", f"src/{name}.py")
    repository.commit()
    for name in "ab":
        repository.write(f"src/{name}.py", "2\n")
    repository.commit()
    at(repository, days=10)
    out = ubp(repository, "check").out
    assert out.count("stale-doc: ") == 2
    assert out.count("Update the page, or acknowledge it as still accurate.") == 1
