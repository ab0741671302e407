"""Ignored findings are counted, not shown."""

from ubp.checks.suppress import read_comments


def test_comment_beside_a_link_ignores_its_line_and_one_alone_the_next():
    page = b"""---
source_refs:
  - a.py # ubp: ignore[stale-doc]
  # ubp: ignore[missing-source, stale-doc]
  - b.py
---
[x](x.md) <!-- ubp: ignore[broken-link] -->
[x](x.md)
<!-- ubp: ignore[broken-link] -->
<!--ubp:ignore[missing-anchor]-->

[x](x.md)
[x](x.md)
<!-- ubp: ignore -->
"""
    lines = {number: sorted(rules) for number, rules in read_comments(page).items()}
    assert lines == {
        3: ["stale-doc"],
        4: ["missing-source", "stale-doc"],
        5: ["missing-source", "stale-doc"],
        7: ["broken-link"],
        9: ["broken-link"],
        10: ["missing-anchor"],
        12: ["broken-link", "missing-anchor"],
    }
    assert read_comments(page.replace(b"\n", b"\r\n")) == read_comments(page)


def test_ignored_findings_are_counted_separately(repository, check):
    repository.write("a.md", "[x](x.md) <!-- ubp: ignore[broken-link] -->\n\n[y](y.md)\n")
    repository.write("old/b.md", "[z](z.md) [h](#h)\n")
    repository.write(
        ".ubp/config.json", '{"check": {"ignore": [{"path": "old/", "rule": "broken-link"}]}}'
    )
    report = check(repository)
    assert [finding.message for finding in report.findings] == [
        "y.md does not exist.",
        "old/b.md has no heading #h.",
    ]
    assert [finding.message for finding in report.ignored] == [
        "x.md does not exist.",
        "z.md does not exist.",
    ]
