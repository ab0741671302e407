"""`ubp sql`: the tables have real values, and a query can only read."""

import csv
import io
import subprocess

import jsonschema
import pytest

from ubp.answers.search.sql import RowsRecord
from ubp.frame.schema import record_schema


@pytest.fixture
def project(repository, at):
    """Two linked pages, one of them stale for ten days."""
    repository.write("src/a.py", "1\n")
    repository.write(
        "docs/a.md",
        "---\ntitle: 認証\nsource_refs: [src/a.py]\ntags: [x, y]\n---\n"
        "# A\n\nSee [[b|depends_on]].\n",
    )
    repository.write("docs/b.md", "# B\n\nText, and a [lost](nowhere.md) link.\n")
    repository.commit("Begin")
    repository.write("src/a.py", "2\n")
    repository.commit("Change a")
    at(repository, days=10)
    return repository


def query(ubp, project, sql, *options):
    answer = ubp(project, "sql", sql, "--json", *options)
    assert (answer.status, answer.err) == (0, "")
    jsonschema.validate(answer.record, record_schema(RowsRecord))
    return [tuple(row.values()) for row in answer.record["rows"]]


def test_documents_have_titles_levels_and_dates(project, ubp):
    committed = subprocess.run(
        ["git", "log", "-1", "--format=%cd", "--date=format-local:%Y-%m-%dT%H:%M:%SZ", "docs/a.md"],
        cwd=project.root,
        env={"TZ": "UTC", "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()
    sql = (
        "SELECT filepath, title, tags, level, created_at, updated_at, outlinks, backlinks "
        "FROM documents ORDER BY filepath"
    )
    assert query(ubp, project, sql) == [
        ("docs/a.md", "認証", '["x", "y"]', "stale", committed, committed, 1, 0),
        ("docs/b.md", "B", "[]", "untracked", committed, committed, 0, 1),
    ]


def test_sections_and_links_have_texts_and_targets(project, ubp):
    sql = (
        "SELECT d.title, s.content FROM sections s JOIN documents d USING (filepath) "
        "WHERE s.content LIKE '%lost%'"
    )
    assert query(ubp, project, sql) == [("B", "# B\n\nText, and a [lost](nowhere.md) link.")]
    sql = "SELECT filepath, type, target, status, target_path FROM links ORDER BY filepath"
    assert query(ubp, project, sql) == [
        ("docs/a.md", "depends_on", "b", "resolved", "docs/b.md"),
        ("docs/b.md", "references", "nowhere.md", "missing", None),
    ]


def test_source_references_have_verdicts_and_ages(project, ubp):
    sql = "SELECT filepath, source_path, verdict, age_days, commits FROM source_refs"
    assert query(ubp, project, sql) == [("docs/a.md", "src/a.py", "modified", 10, 1)]
    assert query(ubp, project, sql, "--ref", "HEAD~1") == [
        ("docs/a.md", "src/a.py", "fresh", None, 0)
    ]


def test_csv_output_is_parsed_back(project, ubp):
    answer = ubp(project, "sql", "SELECT filepath, content FROM sections ORDER BY 1", "--csv")
    assert list(csv.reader(io.StringIO(answer.out))) == [
        ["filepath", "content"],
        ["docs/a.md", "# A\n\nSee [[b|depends_on]]."],
        ["docs/b.md", "# B\n\nText, and a [lost](nowhere.md) link."],
    ]


def test_table_is_aligned_in_every_script(project, ubp):
    answer = ubp(project, "sql", "SELECT title, filepath FROM documents ORDER BY 2")
    assert answer.out == "title  filepath\n認証   docs/a.md\nB      docs/b.md\n"


@pytest.mark.parametrize(
    "sql",
    [
        "DELETE FROM documents",
        "ATTACH 'other.db' AS other",
        "PRAGMA journal_mode",
        "SELECT load_extension('x')",
        "SELECT 1; SELECT 2",
        "CREATE TABLE more (x)",
        "SELECT nothing FROM documents",
        "SELECT * FROM tables",
        "",
    ],
)
def test_query_other_than_one_select_is_refused(sql, project, ubp):
    answer = ubp(project, "sql", sql)
    assert (answer.status, answer.out) == (2, "")
    assert answer.err.count("\n") == 3 or "empty" in answer.err
    assert not (project.root / "other.db").exists()


def test_two_formats_at_once_are_refused(project, ubp):
    answer = ubp(project, "sql", "SELECT 1", "--csv", "--json")
    assert answer.status == 2


def test_values_without_a_json_form_become_texts(project, ubp):
    sql = "SELECT x'00ff' AS a, 9e999 AS b, -9e999 AS c, NULL AS d"
    assert query(ubp, project, sql) == [("00ff", "inf", "-inf", None)]
    answer = ubp(project, "sql", sql, "--csv")
    assert answer.out.splitlines() == ["a,b,c,d", "00ff,inf,-inf,"]


def test_columns_with_the_same_name_keep_all_values(project, ubp):
    sql = "SELECT filepath AS a, title AS a, 1 AS a_2, 2 AS A FROM documents ORDER BY 1 LIMIT 1"
    assert query(ubp, project, sql) == [("docs/a.md", "認証", 1, 2)]
    header, row, *_ = ubp(project, "sql", sql, "--csv").out.splitlines()
    assert (header, row) == ("a,a_3,a_2,A", "docs/a.md,認証,1,2")
