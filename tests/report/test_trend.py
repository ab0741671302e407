"""Levels of earlier commits equal those of assessing each commit alone."""

import random

import pytest

from ubp.answers.report.report import ReportRequest, read_report
from ubp.answers.staleness.stale import report_stale
from ubp.core.model import ObjectId
from ubp.git.change_log import DatedCommit, read_mainline, touched_between
from ubp.git.repository import open_repository
from ubp.index.session import Target
from ubp.report.trend import MAX_POINTS, Moment, choose_moments
from ubp.report.values import Levels, Span
from ubp.workspace import Workspace

DAY = 86_400
SEEDS = 3  # 40 were tried once


def steps(*days):
    """A main line whose commits are named after the days on which they were made, newest first."""
    return [DatedCommit(ObjectId(f"c{day}"), day * DAY) for day in sorted(days, reverse=True)]


def chosen(line, unit, count, now=0):
    moments = choose_moments(line, Span(unit, count), now * DAY)
    return [(moment.commit, moment.at // DAY) for moment in moments]


def test_weeks_are_counted_back_from_the_newest_commit():
    line = steps(0, 3, 10, 11, 30)
    assert chosen(line, "weeks", 3) == [("c3", 9), ("c11", 16), ("c11", 23)]
    assert chosen(line, "weeks", 3, now=36) == [("c3", 9), ("c11", 16), ("c11", 23)]


def test_newest_commit_is_a_point_if_it_is_long_ago():
    line = steps(0, 3, 10, 11, 30)
    expected = [("c3", 9), ("c11", 16), ("c11", 23), ("c30", 30)]
    assert chosen(line, "weeks", 3, now=37) == expected


def test_young_history_has_points_at_shorter_intervals():
    line = steps(0, 3, 10, 11, 30)
    assert chosen(line, "weeks", 6) == [
        ("c0", 0),
        ("c3", 5),
        ("c10", 10),
        ("c11", 15),
        ("c11", 20),
        ("c11", 25),
    ]


def test_points_are_the_last_commits_before_the_newest():
    line = steps(0, 3, 10, 11, 30)
    assert chosen(line, "commits", 2) == [("c10", 10), ("c11", 11)]
    assert len(chosen(line, "commits", 99)) == 4


def test_points_of_many_commits_are_limited_to_what_a_chart_can_show():
    line = steps(*range(1000))
    found = chosen(line, "commits", 500)
    assert len(found) == MAX_POINTS
    assert found[0] == ("c499", 499)
    assert found[-1] == ("c991", 991)


def test_single_commit_has_no_past():
    assert chosen(steps(4), "weeks", 12) == []
    assert chosen([], "commits", 12) == []


def test_commits_of_one_second_are_one_point():
    line = [DatedCommit(ObjectId(name), DAY) for name in "ba"]
    assert choose_moments(line, Span("weeks", 12), DAY) == [Moment(ObjectId("b"), DAY)]


def test_page_ages_from_point_to_point(repository):
    repository.write("src/a.py", "1\n")
    repository.page("docs/a.md", "src/a.py")
    repository.write("docs/b.md", "Text\n")
    start = repository.clock
    begin = repository.commit(at=start)
    repository.write("src/a.py", "2\n")
    drift = repository.commit(at=start + 2 * DAY)
    repository.write("other.txt", "1\n")
    repository.commit(at=start + 30 * DAY)
    with Workspace.open(str(repository.root), clock=lambda: start + 31 * DAY) as workspace:
        report = read_report(workspace.session, ReportRequest(weeks=4))
        commits = read_report(workspace.session, ReportRequest(commits=9)).trend
    assert [(point.commit, (point.at - start) // DAY, point.levels) for point in report.trend] == [
        (drift, 2, Levels(possibly_stale=1, untracked=1)),
        (drift, 9, Levels(stale=1, untracked=1)),
        (drift, 16, Levels(stale=1, untracked=1)),
        (drift, 23, Levels(stale=1, untracked=1)),
        (repository.head(), 31, Levels(stale=1, untracked=1)),
    ]
    assert [(point.commit, point.levels.fresh) for point in commits] == [
        (begin, 1),
        (drift, 0),
        (repository.head(), 0),
    ]


def test_page_bound_later_has_the_levels_of_its_drift_before(repository):
    repository.write("src/a.py", "1\n")
    old = repository.blob("src/a.py")
    repository.write("docs/a.md", "# A\n")
    start = repository.clock
    repository.commit(at=start)
    repository.write("src/a.py", "2\n")
    repository.commit(at=start + 100 * DAY)
    repository.write("docs/b.md", "# B\n")
    repository.commit(at=start + 190 * DAY)
    pin = f"---\nsource_refs:\n  - path: src/a.py\n    blob: {old}\n---\n# A\n"
    repository.write("docs/a.md", pin)
    repository.commit(at=start + 200 * DAY)
    with Workspace.open(str(repository.root), clock=lambda: start + 200 * DAY) as workspace:
        report = read_report(workspace.session, ReportRequest())
        commits = read_report(workspace.session, ReportRequest(commits=9)).trend
    # The span goes back to the drift: it began 100 days before, which is 14 weeks and two more.
    assert report.span == Span("weeks", 16)
    days = [(point.at - start) // DAY for point in report.trend]
    levels = [point.levels for point in report.trend]
    assert [point.from_pins for point in report.trend] == [1] * (len(days) - 1) + [0]
    for day, found in zip(days, levels, strict=True):
        bound = found._replace(untracked=0)
        expected = (
            Levels(fresh=1)
            if day < 100
            else Levels(possibly_stale=1)
            if day < 107
            else Levels(stale=1)
        )
        assert bound == expected, day
    assert days[0] < 100
    assert [(point.levels.untracked, point.from_pins) for point in commits] == [
        (0, 1),
        (0, 1),
        (1, 1),
        (1, 0),
    ]


def test_uncommitted_changes_are_the_last_point(repository):
    repository.write("src/a.py", "1\n")
    repository.page("docs/a.md", "src/a.py")
    repository.commit()
    repository.write("src/a.py", "2\n")
    with Workspace.open(str(repository.root), clock=lambda: repository.clock) as workspace:
        (point,) = read_report(workspace.session, ReportRequest()).trend
    assert (point.commit, point.levels) == (None, Levels(possibly_stale=1))


def test_trend_without_commits_is_empty(repository):
    repository.page("docs/a.md", "src/a.py")
    with Workspace.open(str(repository.root), clock=lambda: 5) as workspace:
        (point,) = read_report(workspace.session, ReportRequest()).trend
    assert point == (None, 5, Levels(stale=1), 0)


def test_pages_absent_from_a_partial_clone_are_unknown_not_fresh(repository, tmp_path):
    repository.write("src/a.py", "1\n")
    repository.page("docs/a.md", "src/a.py")
    repository.commit()
    repository.page("docs/a.md", "src/a.py", body="More text.\n")
    repository.commit()
    repository.git("config", "uploadpack.allowFilter", "true")
    url = repository.root.as_uri()
    repository.git("clone", "-q", "--filter=blob:none", url, str(tmp_path / "partial"))
    with Workspace.open(str(tmp_path / "partial"), clock=lambda: repository.clock) as workspace:
        first, last = read_report(workspace.session, ReportRequest(commits=1)).trend
    assert (first.levels, last.levels) == (Levels(unknown=1), Levels(fresh=1))


def test_touched_files_are_compared_with_every_parent(repository):
    repository.write("a", "1\n")
    start = repository.commit()
    repository.git("checkout", "-q", "-b", "side")
    repository.write("b", "1\n")
    repository.commit()
    repository.git("checkout", "-q", "main")
    repository.write("c", "1\n")
    repository.commit()
    merge = repository.merge("side")
    with open_repository(str(repository.root), {}) as opened:
        assert touched_between(opened, start, merge) == {"b", "c"}
        assert [step.commit for step in read_mainline(opened, merge)] == [
            merge,
            repository.git("rev-parse", "HEAD~1"),
            start,
        ]


@pytest.mark.parametrize("seed", range(SEEDS))
def test_points_equal_the_state_at_their_commit(seed, new_repository):
    repository = new_repository()
    grow(repository, random.Random(seed))
    with Workspace.open(str(repository.root), clock=lambda: repository.clock) as workspace:
        points = read_report(workspace.session, ReportRequest(commits=99)).trend
    alone = []
    for point in points:
        now = point.at
        with Workspace.open(str(repository.root), clock=lambda now=now: now) as workspace:
            summary = report_stale(workspace.session, Target(point.commit)).summary
            alone.append(Levels(*(getattr(summary, name) for name in Levels._fields)))
    assert [point.levels for point in points] == alone


SOURCES = ("src/a.py", "src/b.py", "src/pkg/c.py", "src/pkg/d.py")
NAMED = (*SOURCES, "src/pkg/", "src/**/*.py", "src/moved.py")


def grow(repository, chance):
    """Fourteen commits and a few merges: sources edited, reverted, removed, moved, brought back."""
    for source in SOURCES:
        repository.write(source, "".join(f"{source} {n}\n" for n in range(9)))
    for number in range(4):
        repository.page(f"docs/{number}.md", *chance.sample(NAMED, 2))
    repository.commit()
    for number in range(14):
        if number % 6 == 5:
            repository.git("checkout", "-q", "-b", f"side{number}", "HEAD~2")
            change(repository, chance, number)
            repository.commit(at=repository.clock + chance.randrange(6) * DAY)
            repository.git("checkout", "-q", "main")
            repository.merge("-s", "ours", f"side{number}")
        else:
            change(repository, chance, number)
            repository.commit(at=repository.clock + chance.randrange(6) * DAY)


def change(repository, chance, number):
    source = chance.choice(SOURCES)
    what = chance.choice(["edit", "restore", "remove", "move", "page", "touch"])
    if what == "page":
        sources = chance.sample(NAMED, 2)
        repository.page(f"docs/{chance.randrange(5)}.md", *sources, body=f"{number}\n")
    elif what == "touch":
        repository.write("other.txt", f"{number}\n")
    elif what == "edit":
        repository.write(source, f"{number}\n" + "".join(f"{source} {n}\n" for n in range(8)))
    elif what == "restore" or not (repository.root / source).exists():
        repository.write(source, "".join(f"{source} {n}\n" for n in range(9)))
    elif what == "remove":
        repository.remove(source)
    else:
        repository.git("mv", "-f", source, "src/moved.py")
