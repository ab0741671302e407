"""`ubp coverage` as people and programs read it."""

import jsonschema
import pytest

from ubp.answers.bindings.coverage import CoverageRecord
from ubp.frame.schema import record_schema


@pytest.fixture
def project(repository):
    repository.write("src/auth.py", "1\n")
    for name in ("lib/b.py", "lib/c.py", "caf\x1b.py"):
        repository.write(name, name)
    repository.page("docs/auth.md", "src/auth.py")
    repository.commit()
    repository.write("lib/b.py", "2\n")
    repository.commit()
    return repository


def test_coverage_has_a_line_per_gap_worst_first(project, ubp):
    assert ubp(project, "coverage").out == (
        "changes  files  not described by any page\n"
        "      3      2  lib/\n"
        "      1      1  caf\\e.py\n"
        "\n"
        "1 page describes 1 of 4 source files (25%), with 20% of the changes in the last 365"
        " days.\n"
    )
    assert ubp(project, "coverage", "-n", "1", "--days", "0.5").out == (
        "changes  files  not described by any page\n"
        "      1      2  lib/\n"
        "and 1 more line: --limit 2\n"
        "\n"
        "1 page describes 1 of 4 source files (25%), with 0% of the changes in the last 0.5"
        " days.\n"
    )
    assert ubp(project, "--quiet", "coverage").out == "lib/\ncaf\\e.py\n"


def test_coverage_without_bindings_names_the_next_step(repository, ubp):
    assert ubp(repository, "coverage").out == ("No source files found.\n")
    repository.write("a.py", "1\n")
    assert ubp(repository, "coverage").out == (
        "changes  files  not described by any page\n"
        "      0      1  a.py\n"
        "\n"
        "No page lists sources (1 source file found).\n"
        "Next:\n"
        "  ubp bind  proposes sources for each page\n"
    )


def test_coverage_record_matches_its_schema(project, ubp):
    record = ubp(project, "coverage", "--json", "--limit", "1").record

    jsonschema.validate(record, record_schema(CoverageRecord))
    assert record == {
        "schema_version": 1,
        "snapshot": {"kind": "worktree", "commit": project.head()},
        "is_shallow": False,
        "days": 365,
        "since": "2022-11-16T22:13:20Z",
        "bound": 1,
        "files": {"total": 4, "described": 1, "described_percent": 25},
        "changes": {"total": 5, "described": 1, "described_percent": 20},
        "gaps": [{"source_path": "lib/", "files": 2, "changes": 3}],
        "gap_count": 2,
    }


@pytest.mark.parametrize("days", ["0", "-1", "nan", "inf"])
def test_days_must_be_above_0(project, ubp, days):
    answer = ubp(project, "coverage", f"--days={days}")

    assert answer.status == 2
    assert "Invalid --days: " in answer.err
