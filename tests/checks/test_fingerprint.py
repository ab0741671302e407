"""The fingerprint of a finding survives edits of its page and is unique."""

import re

import pytest

from ubp.checks.finding import fingerprint

NAME = re.compile(r"[0-9a-f]{32}")


@pytest.fixture
def names(check):
    """Check a repository; the fingerprints of its findings, by rule, subject and occurrence."""

    def ask(repository, **question):
        report = check(repository, **question)
        everything = [*report.findings, *report.ignored, *report.unknown]
        found = {(f.rule, f.filepath, f.subject, f.occurrence): fingerprint(f) for f in everything}
        assert len(set(found.values())) == len(everything)
        assert all(NAME.fullmatch(name) for name in found.values())
        return found

    return ask


@pytest.fixture
def faulty(repository):
    """A page with a finding of nearly every rule, some of them equal."""
    repository.write("src/a.py", "1\n")
    repository.write("one/same.md", "# One\n")
    repository.write("two/same.md", "# Two\n")
    repository.write(
        "a.md",
        "---\nsource_refs:\n  - src/a.py\n  - src/never.py\n  - /x\n---\n# A\n\n"
        "[x](x.md) [x](x.md) [[x]] [y](#y) [[same]] [[same|depend_on]]\n\n"
        "[z](z.md) <!-- ubp: ignore[broken-link] -->\n",
    )
    repository.commit()
    repository.write("src/a.py", "2\n")
    repository.commit()
    return repository


def test_fingerprints_survive_moved_lines_edits_beside_them_and_further_drift(faulty, names):
    before = names(faulty)
    assert len(before) == 11
    text = (faulty.root / "a.md").read_text()
    text = text.replace("source_refs:", "title: Another\n# more\nsource_refs:")
    text = text.replace("# A\n", "# Other words\n\nMuch more text.\n")
    text = text.replace("[x](x.md) [x](x.md)", "[x](x.md), with words,\n\nand [other](x.md)")
    faulty.write("a.md", text)
    faulty.write("src/a.py", "3\n")
    # An edited page describes the present source: only the drift is gone.
    assert names(faulty) == {key: name for key, name in before.items() if key[0] != "stale-doc"}
    faulty.git("checkout", "--quiet", "a.md")
    faulty.commit("Drift further")
    assert names(faulty) == before


def test_fingerprints_of_a_change_equal_those_of_the_state(repository, names):
    repository.write("a.md", "# A\n\n[old](x.md)\n")
    repository.commit()
    repository.write("a.md", "# A\n\n[old](x.md)\n\n[new](x.md)\n")
    repository.git("add", "--all")
    state = names(repository)
    assert names(repository, staged=True).items() <= state.items()
    assert [key[3] for key in names(repository, staged=True)] == [2]


def test_fingerprint_changes_with_page_rule_and_subject(check, repository):
    repository.write("a.md", "[x](x.md) [x](y.md) [[x]]\n")
    repository.write("b.md", "[x](x.md)\n")
    finding, *others = check(repository).findings
    assert fingerprint(finding) == "49f3bdf7f473bcbab47de58a7fafced6"
    assert fingerprint(finding._replace(line=9, column=3, message="", about=None)) == fingerprint(
        finding
    )
    for other in [*others, finding._replace(occurrence=2), finding._replace(rule="orphan-doc")]:
        assert fingerprint(other) != fingerprint(finding)


def test_names_that_are_not_text_have_fingerprints(check, repository):
    repository.write("a.md", b"[x](%FFx.md)\n")
    (finding,) = check(repository).findings
    for path in ("a\udcff.md", "a\ud800.md", "a\nb.md"):
        assert NAME.fullmatch(fingerprint(finding._replace(filepath=path, subject=path)))
