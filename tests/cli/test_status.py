"""`ubp status` counts links by outcome; `--check` fails on those that lead nowhere."""

from typing import get_args

from ubp.answers.staleness.status import BUCKET_WORDS
from ubp.markdown.resolve import Bucket


def test_buckets_equal_those_of_the_links():
    assert get_args(Bucket) == tuple(BUCKET_WORDS)


def test_links_are_in_exactly_one_bucket(repository, ubp, at):
    repository.write(
        "a.md", "[b](b.md) [[B]] [x](x.md) [route](route) [me](#a) [out](../o.md)\n\n# A\n"
    )
    repository.write("b.md", "# B\n\n[gone](gone.md) <!-- ubp: ignore[broken-link] -->\n")
    repository.commit()
    at(repository)
    answer = ubp(repository, "status")
    assert answer.status == 0
    assert "Links:         7: 2 to pages, 2 to missing targets, 1 within a page," in answer.out
    assert ubp(repository, "status", "--json").record["broken_links"] is None
    checked = ubp(repository, "status", "--check", "--json")
    assert (checked.status, checked.record["broken_links"]) == (1, 1)
    assert checked.record["links"] == {
        "resolved": 2,
        "ambiguous": 0,
        "missing": 2,
        "within_page": 1,
        "not_a_page": 1,
        "out_of_scope": 1,
    }
    assert "(1 leads nowhere: ubp check)" in ubp(repository, "status", "--check").out
    repository.write("x.md", "# X\n")
    assert ubp(repository, "status", "--check").status == 0


def test_configured_severity_applies_to_status(repository, ubp, at):
    repository.write("a.md", "[x](x.md)\n")
    repository.commit()
    at(repository)
    assert ubp(repository, "status", "--check").status == 1
    for setting in ("warning", "off"):
        repository.write(
            ".ubp/config.json", f'{{"check": {{"severity": {{"broken-link": "{setting}"}}}}}}'
        )
        assert ubp(repository, "status", "--check").status == 0


def test_missing_anchors_count_unless_the_rule_is_off(repository, ubp, at):
    repository.write("a.md", "# A\n\n[x](#nowhere)\n")
    repository.commit()
    at(repository)
    checked = ubp(repository, "status", "--check", "--json")
    assert (checked.status, checked.record["missing_anchors"]) == (0, 1)
    assert "(1 to a missing heading: ubp check)" in ubp(repository, "status", "--check").out
    repository.write(".ubp/config.json", '{"check": {"severity": {"missing-anchor": "off"}}}')
    assert ubp(repository, "status", "--check", "--json").record["missing_anchors"] == 0
