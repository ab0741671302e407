"""`ubp report` and `ubp badge`: what is printed, what is written, what is hidden."""

import json
import webbrowser

import pytest

from ubp.core.errors import RepositoryError


def test_terminal_shows_levels_trend_and_what_matters(drifted, ubp):
    assert ubp(drifted, "report") == (
        0,
        """project: 50% fresh, 1 of 2 pages with sources

  stale                1  ########################################
  fresh                1  ########################################
  without sources      1  ########################################

Fresh since 2023-11-15: 100% ████████████▄▄ 50%

Review first:
  docs/a.md  stale  2 lines changed, 10 days

2 pages are orphans: no other page links to them.
2 pages describe 2 of 2 source files (100%), with 100% of the changes in the last 365 days.
Next: ubp report --open  opens the full report
""",
        "",
    )


def test_quiet_report_prints_one_line_per_page(drifted, ubp):
    assert ubp(drifted, "report", "--quiet") == (0, "docs/a.md  stale\n", "")


def test_unverified_report_is_not_green(repository, at, ubp):
    repository.write("docs/a.md", "# A\n")
    repository.commit()
    at(repository)
    answer = ubp(repository, "report")
    assert answer.out.startswith("project: no page lists sources; nothing to verify\n")
    assert ubp(repository, "badge", "--json").record["message"] == "no sources"


def test_report_record_matches_its_schema(drifted, ubp, asked):
    drifted.write("docs/b.md", (drifted.root / "docs/b.md").read_text() + "[x](nowhere.md)\n")
    drifted.write("src/b.py", "2\n")
    record = asked(drifted, "report")
    assert record["levels"] == {
        "stale": 1,
        "possibly_stale": 0,
        "unknown": 0,
        "fresh": 1,
        "untracked": 1,
    }
    assert record["fresh_percent"] == 50
    (page,) = record["pages"]
    (source,) = page["sources"]
    assert (page["filepath"], page["weight"], page["age_days"]) == ("docs/a.md", 3, 10)
    assert source["diff"] == "--- a/src/a.py\n+++ b/src/a.py\n@@ -1 +1 @@\n-1\n+2"
    assert [finding["rule"] for finding in record["findings"]] == ["broken-link"]
    assert [point["fresh_percent"] for point in record["trend"]] == [100] * 12 + [50, 50]
    latest = ubp(drifted, "report", "--json", "--commits", "1").record
    assert [point["fresh_percent"] for point in latest["trend"]] == [100, 50]
    old = asked(drifted, "report", "--ref", "HEAD~1")
    assert (old["levels"]["fresh"], old["pages"]) == (2, [])


def test_report_file_is_written_in_addition_to_the_output(drifted, ubp):
    drifted.write(".git/info/exclude", "*.html\n")
    answer = ubp(drifted, "report", "--html", "out.html")
    page = (drifted.root / "out.html").read_bytes()
    assert (answer.status, answer.err) == (0, "")
    first, second = answer.out.splitlines()
    assert first == "50% fresh, 1 of 2 pages with sources."
    assert second == f"Wrote out.html ({len(page) / 1000:.1f} kB)."
    assert page.startswith(b"<!doctype html><html ")
    assert b"\r" not in page
    assert ubp(drifted, "report", "--html", "--quiet") == (0, "", "")
    assert (drifted.root / ".ubp/report.html").read_bytes() == page
    record = ubp(drifted, "report", "--html", "other.html", "--json").record
    assert record["name"] == "project"
    assert (drifted.root / "other.html").read_bytes() == page


def test_graph_is_written_beside_the_report_which_links_to_it(drifted, ubp):
    link = '<a href="graph.html">whole graph</a>'
    report = drifted.root / ".ubp/report.html"
    assert ubp(drifted, "report", "--html").status == 0
    assert link not in report.read_text()
    assert ubp(drifted, "report", "--graph").status == 0
    assert link in report.read_text()
    assert "docs/a.md" in (drifted.root / ".ubp/graph.html").read_text()
    (drifted.root / "out").mkdir()
    assert ubp(drifted, "report", "--html", "out/r.html", "--graph").status == 0
    assert link in (drifted.root / "out/r.html").read_text()
    assert (drifted.root / "out/graph.html").is_file()


def test_browser_opens_the_file(drifted, ubp, monkeypatch):
    opened = []
    monkeypatch.setattr(webbrowser, "open", lambda address: opened.append(address) or True)
    answer = ubp(drifted, "report", "--open")
    assert (answer.status, answer.err) == (0, "")
    assert opened == [(drifted.root / ".ubp/report.html").as_uri()]


def test_missing_browser_is_reported(drifted, ubp, monkeypatch):
    monkeypatch.setattr(webbrowser, "open", lambda _: False)
    answer = ubp(drifted, "report", "--open", "--html", "r.html")
    assert answer.status == 0
    assert answer.err == "Warning: Cannot start a browser; open r.html manually.\n"


@pytest.mark.parametrize(
    ("tokens", "message"),
    [
        (["--commits", "0"], "Invalid --commits: 0."),
        (["--weeks", "0"], "Invalid --weeks: 0."),
        (["--weeks", "1", "--commits", "1"], "--commits cannot be combined with --weeks."),
        (["--html", "no/where.html"], "Cannot write no/where.html."),
        (["--ref", "nowhere"], "Revision not found: nowhere"),
    ],
    ids=" ".join,
)
def test_invalid_options_are_reported_before_anything_is_written(tokens, message, drifted, ubp):
    answer = (
        ubp(drifted, "report", "--html", *tokens)
        if "--html" not in tokens
        else ubp(drifted, "report", *tokens)
    )
    assert (answer.status, answer.out) == (2, "")
    assert answer.err.splitlines()[0] == f"Error: {message}"
    assert not list(drifted.root.glob("*.html"))


def test_hidden_source_is_absent_from_the_file(repository, at, ubp):
    repository.write(".ubp/config.json", json.dumps({"source": {"exclude": ["src/secret.py"]}}))
    repository.write("src/secret.py", "password = 'hunter2'\n")
    repository.page("docs/a.md", "src/secret.py")
    repository.page("private/b.md", "src/secret.py", title="Salaries")
    repository.commit("Begin")
    repository.write("src/secret.py", "password = 'correct horse'\n")
    repository.commit("Rotate the password after the leak")
    at(repository, days=9)
    secrets = ("hunter2", "correct horse", "Rotate", "Salaries", repository.blob("src/secret.py"))
    assert ubp(repository, "report", "--html", "r.html").status == 0
    page = (repository.root / "r.html").read_text()
    text = ubp(repository, "report", "--json").out + ubp(repository, "report").out
    assert [secret for secret in secrets if secret in page + text] == []
    assert "docs/<wbr>a.md" in page
    assert repository.head()[:10] in page  # the commit of the work tree is not a secret


def test_given_keys_are_repeated_in_commands(drifted, ubp):
    drifted.write("docs/c.md", "---\nrelated: [src/a.py]\n---\n")
    drifted.commit("Relate")
    drifted.write("src/a.py", "3\n")
    drifted.commit("Change a again")
    ubp(drifted, "report", "--key", "related", "--html", "r.html")
    page = (drifted.root / "r.html").read_text()
    assert "ubp ack PAGE --key related" in page


def test_badge_is_printed_or_written(drifted, ubp, asked):
    printed = ubp(drifted, "badge")
    assert printed.out.startswith('<svg xmlns="http://www.w3.org/2000/svg" width="105"')
    assert "<title>docs: 50% fresh</title>" in printed.out
    assert ubp(drifted, "badge", "--output", "b.svg", "--label", "handbook") == (
        0,
        "handbook: 50% fresh. Wrote b.svg.\n",
        "",
    )
    assert "<title>handbook: 50% fresh</title>" in (drifted.root / "b.svg").read_text()
    record = asked(drifted, "badge", "--ref", "HEAD~1")
    assert record == {
        "schemaVersion": 1,
        "label": "docs",
        "message": "100% fresh",
        "color": "brightgreen",
    }


@pytest.mark.parametrize("command", ["check", "stale"])
def test_check_run_is_shown_in_html(command, drifted, ubp):
    answer = ubp(drifted, command, "--format", "html")
    assert answer.out.startswith("<!doctype html><html ")
    assert f"<h1>ubp {command}</h1>" in answer.out
    assert "src/a.py was modified 10 days ago." in answer.out
    change = ubp(drifted, command, "--base", "HEAD~1", "--output-file", "html=out.html")
    assert change.status == 1
    assert "changes since HEAD~1" in (drifted.root / "out.html").read_text()


def test_shallow_clone_is_reported_as_unknown(drifted, tmp_path, ubp):
    clone = type(drifted)(tmp_path / "shallow", drifted.clock)
    drifted.git("clone", "-q", "--depth", "1", drifted.root.as_uri(), str(clone.root))
    assert ubp(clone, "report").out.startswith(
        "shallow: 2 of 2 pages could not be verified in this clone\n"
    )
    assert ubp(clone, "badge", "--json").record["message"] == "unknown"
    assert ubp(clone, "report", "--html", "r.html").status == 0
    page = (clone.root / "r.html").read_text()
    assert "git fetch --unshallow" in page
    assert "<strong>?</strong>" in page


def test_report_with_unreadable_history_shows_the_rest(drifted, asked, monkeypatch):
    def refuse(*_: object, **__: object) -> None:
        raise RepositoryError("Cannot read the full history.")

    monkeypatch.setattr("ubp.report.build.measure_coverage", refuse)
    record = asked(drifted, "report", "--html")
    assert (record["coverage"], record["levels"]["stale"]) == (None, 1)
    assert 'id="coverage"' not in (drifted.root / ".ubp/report.html").read_text(encoding="utf-8")


def test_report_record_lists_what_no_page_describes(drifted, asked):
    drifted.write("lib/a.py", "1\n")
    record = asked(drifted, "report")["coverage"]
    assert record["gaps"] == [{"source_path": "lib/", "files": 1, "changes": 0}]
    assert record["files"] == {"total": 3, "described": 2, "described_percent": 66}
