"""The contents of a report."""

import json

import pytest

from ubp.answers.report.badge import BadgeRecord, make_badge
from ubp.answers.report.report import ReportRequest, read_report
from ubp.core.errors import RepositoryError
from ubp.report import build as pages_module
from ubp.report.build import AGES, group_ages
from ubp.report.values import AgeGroup, Levels, StalePage
from ubp.staleness.model import SourceDiff
from ubp.workspace import Workspace

DAY = 86_400


@pytest.fixture
def report():
    """The report of a repository, so many days after its last commit."""

    def make(repository, days=0, **question):
        now = repository.clock + days * DAY
        with Workspace.open(str(repository.root), clock=lambda: now) as workspace:
            return read_report(workspace.session, ReportRequest(**question))

    return make


def lines(count, start=0):
    return "".join(f"{n}\n" for n in range(start, start + count))


@pytest.fixture
def project(repository):
    """Pages whose sources changed much and little, that are linked and not."""
    for name in ("much", "little", "gone", "same"):
        repository.write(f"src/{name}.py", lines(100))
    repository.page("docs/much.md", "src/much.py", title="Much")
    repository.page("docs/little.md", "src/little.py", "src/same.py", body="[m](linked.md)\n")
    repository.page("docs/linked.md", "src/little.py", body="[index](index.md)\n")
    repository.page("docs/gone.md", "src/gone.py")
    repository.page("docs/fresh.md", "src/same.py")
    repository.write("docs/index.md", "[a](much.md) [b](nowhere.md)\n")
    repository.commit("Begin")
    repository.write("src/much.py", lines(100, 50))
    repository.write("src/little.py", lines(99))
    repository.remove("src/gone.py")
    repository.commit("Change")
    return repository


def test_pages_have_their_changes_and_weight_in_the_order_of_stale(project, report):
    made = report(project, days=10)
    rows = [
        (p.path, p.added, p.removed, p.changed_percent, p.links_in, p.weight) for p in made.pages
    ]
    assert rows == [
        ("docs/gone.md", 0, 100, 100, 0, 101),
        ("docs/much.md", 50, 50, 50, 1, 202),
        ("docs/linked.md", 0, 1, 1, 1, 4),
        ("docs/little.md", 0, 1, 1, 0, 2),
    ]
    assert [p.age_days for p in made.pages] == [10, 10, 10, 10]
    assert made.levels == Levels(stale=4, fresh=1, untracked=1)
    assert made.levels.fresh_percent == 20


def test_worst_level_comes_first_whatever_the_weight(project, report):
    made = report(project)
    assert [(p.path, p.assessment.level) for p in made.pages][:2] == [
        ("docs/gone.md", "stale"),
        ("docs/much.md", "possibly_stale"),
    ]


def test_report_lists_other_pages_findings_and_orphans(project, report):
    made = report(project)
    assert [(other.page.filepath, other.level, other.links_in) for other in made.others] == [
        ("docs/index.md", "untracked", 1),
        ("docs/fresh.md", "fresh", 0),
    ]
    assert [(finding.rule, finding.filepath) for finding in made.findings] == [
        ("broken-link", "docs/index.md")
    ]
    assert [orphan.filepath for orphan in made.orphans] == [
        "docs/fresh.md",
        "docs/gone.md",
        "docs/little.md",
    ]


def test_diff_shared_by_pages_is_shown_once(project, report):
    made = report(project)
    rows = [(p.path, s.diff[:4], s.same_as) for p in made.pages for s in p.sources]
    assert rows == [
        ("docs/gone.md", "--- ", None),
        ("docs/much.md", "--- ", None),
        ("docs/linked.md", "--- ", None),
        ("docs/little.md", "", 2),
    ]


def test_long_diffs_are_cut_and_say_so(project, report, monkeypatch):
    monkeypatch.setattr(pages_module, "MAX_DIFF_LINES", 5)
    monkeypatch.setattr(pages_module, "MAX_LINE_CHARACTERS", 4)
    (gone, *_) = report(project).pages
    (source,) = gone.sources
    assert source.diff == "---…\n+++…\n@@…\n-0\n-1"
    assert source.cut_lines == 98
    assert source.removed == 100


def test_total_size_of_diffs_is_limited_and_the_first_pages_use_it(project, report, monkeypatch):
    monkeypatch.setattr(pages_module, "MAX_CHARACTERS", 4 * pages_module.SOURCE_CHARACTERS + 600)
    monkeypatch.setattr(pages_module, "MIN_DIFF_CHARACTERS", 0)
    rows = [(p.path, bool(s.diff), s.cut_lines) for p in report(project).pages for s in p.sources]
    assert rows == [
        ("docs/gone.md", True, 0),
        ("docs/much.md", False, 110),
        ("docs/linked.md", True, 0),
        ("docs/little.md", False, 0),
    ]


def test_hidden_source_shows_only_its_verdict(repository, report):
    repository.write(".ubp/config.json", json.dumps({"source": {"exclude": ["src/secret.py"]}}))
    repository.write("src/secret.py", "password = 1\n")
    repository.page("docs/a.md", "src/secret.py")
    repository.commit("Begin")
    repository.write("src/secret.py", "password = 2\n")
    repository.commit("Change the password")
    (page,) = report(repository, days=9).pages
    (source,) = page.sources
    assert (source.reference.verdict, source.reference.level) == ("modified", "stale")
    assert source._replace(reference=None) == (None, None, None, 0, "", 0, None, ())
    assert (source.reference.commits, source.reference.current_blob) == ((), None)


def test_revision_has_its_own_report(project, report):
    made = report(project, days=10, ref="HEAD~1")
    assert (made.levels, made.pages) == (Levels(fresh=5, untracked=1), ())
    assert made.snapshot.commit == project.git("rev-parse", "HEAD~1")


def test_rules_that_are_off_stay_off_except_orphans(project, report):
    severities = {"broken-link": "off", "orphan-doc": "off"}
    project.write(".ubp/config.json", json.dumps({"check": {"severity": severities}}))
    made = report(project)
    assert (made.findings, len(made.orphans)) == ((), 3)


def test_ages_are_grouped_by_day(project, report):
    (page, *_) = report(project).pages
    young = page._replace(assessment=page.assessment._replace(level="possibly_stale"))
    aged = [StalePage(page.assessment, (), 0, age_days=days) for days in (0, 6, 7, 89, 90, 9999)]
    aged += [young._replace(age_days=3), young._replace(age_days=None)]
    assert group_ages(aged) == (
        AgeGroup(0, 2, 1),
        AgeGroup(7, 1, 0),
        AgeGroup(30, 1, 0),
        AgeGroup(90, 1, 0),
        AgeGroup(180, 0, 0),
        AgeGroup(365, 1, 0),
        AgeGroup(None, 0, 1),
    )
    assert [group.days for group in group_ages(())] == list(AGES)


def test_report_has_the_name_of_the_folder(repository, report, tmp_path):
    repository.commit()
    assert report(repository).name == "project"
    repository.git("clone", "-q", "--bare", ".", str(tmp_path / "tool.git"))
    with Workspace.open(str(tmp_path / "tool.git"), clock=lambda: 5) as workspace:
        assert read_report(workspace.session, ReportRequest(ref="HEAD")).name == "tool"


@pytest.mark.parametrize(
    ("levels", "message", "color"),
    [
        (Levels(fresh=5, untracked=9), "100% fresh", "brightgreen"),
        (Levels(stale=1, fresh=299), "99% fresh", "brightgreen"),
        (Levels(stale=1, fresh=9), "90% fresh", "green"),
        (Levels(unknown=1, fresh=3), "75% fresh", "yellowgreen"),
        (Levels(possibly_stale=1, fresh=1), "50% fresh", "yellow"),
        (Levels(stale=2, fresh=1), "33% fresh", "orange"),
        (Levels(stale=2, untracked=1), "0% fresh", "red"),
        (Levels(unknown=2, fresh=1), "unknown", "lightgrey"),
        (Levels(untracked=2), "no sources", "lightgrey"),
    ],
    ids=str,
)
def test_badge_is_never_greener_than_the_state(levels, message, color):
    assert make_badge(levels) == BadgeRecord(label="docs", message=message, color=color)


def test_diff_of_unknown_length_counts_no_lines(project, report):
    (page, *_) = report(project).pages
    (source,) = page.sources
    for diff in (SourceDiff("Binary file a differs"), SourceDiff("", missing=("1" * 40,))):
        (described,) = pages_module.describe_pages(
            [page.assessment], [(page.assessment, source.reference, diff)], {page.path: 0}
        )[0].sources
        assert (described.added, described.removed, described.lines) == (None, None, 0)
        assert (described.diff, described.missing) == (diff.text, diff.missing)


def test_bindings_are_compared_with_history(project, report, monkeypatch):
    judgements = {
        (binding.binding.filepath, binding.binding.source_path): (
            binding.judgement,
            binding.changed,
        )
        for binding in report(project).review.bindings
    }
    assert judgements["docs/much.md", "src/much.py"] == ("unproven", 1)

    def fail(*_, **__):
        raise RepositoryError("No trees.")

    monkeypatch.setattr("ubp.report.build.review", fail)
    assert report(project).review is None
