"""What a reviewer reads: annotations by importance, a sentence never greener than the truth."""

import pytest

from ubp.checks.finding import CheckReport, Finding
from ubp.core.model import Commit, ReferenceVerdict, Snapshot, SourceReference
from ubp.frame.wording import ChangeWords
from ubp.output.ci.outcome import Outcome, headline
from ubp.output.formats import render
from ubp.staleness.model import Summary

RULES = ("stale-doc", "broken-link", "missing-anchor", "orphan-doc")


def drift(source, commits):
    reference = SourceReference(source, source, source, None, "source_refs", 3)
    history = tuple(Commit(f"{n:040x}", n, "Ann", f"Change {n}") for n in range(commits, 0, -1))
    return ReferenceVerdict(
        reference, source, "modified", "stale", "history", current_blob="1" * 40, commits=history
    )


def found(rule, page, line=1, *, commits=0, **fields):
    about = drift("src/a.py", commits) if rule == "stale-doc" else None
    return Finding(rule, page, line, f"{rule} {page}:{line}", page, about=about, **fields)


def outcome(findings=(), **fields):
    report = CheckReport(
        snapshot=Snapshot(fields.pop("kind", "worktree"), None, {}),
        findings=tuple(findings),
        ignored=(),
        documents=fields.pop("documents", 40),
        unknown=fields.pop("unknown", ()),
        rules=RULES,
        is_change=fields.pop("is_change", False),
    )
    return Outcome("check", report, 1, "1.0", **fields)


def messages(text):
    return [line.rpartition("::")[2].partition("%0A")[0] for line in text.splitlines()]


def test_most_important_findings_come_first_and_the_rest_is_counted():
    findings = [
        *(found("broken-link", "a.md", n) for n in range(1, 6)),
        *(found("broken-link", "b.md", n) for n in range(1, 6)),
        *(found("missing-anchor", "c.md", n, severity="warning") for n in range(1, 13)),
        found("stale-doc", "x.md", commits=1),
        found("stale-doc", "y.md", 1, commits=3),
        found("stale-doc", "y.md", 2, commits=5),
    ]
    assert messages(render("github", outcome(findings))) == [
        "stale-doc y.md:1",
        "stale-doc x.md:1",
        "stale-doc y.md:2",
        "broken-link a.md:1",
        "broken-link b.md:1",
        "broken-link a.md:2",
        "broken-link b.md:2",
        "broken-link a.md:3",
        "broken-link b.md:3",
        "broken-link a.md:4",
        *(f"missing-anchor c.md:{n}" for n in range(1, 11)),
        "3 more errors, 2 more warnings.",
    ]


def test_unverified_sources_are_the_first_warning():
    doubt = found("stale-doc", "d.md", severity="note")
    warnings = [found("missing-anchor", "c.md", n, severity="warning") for n in range(1, 13)]
    shown = messages(render("github", outcome(warnings, unknown=(doubt,))))
    assert shown[0] == "1 source could not be verified because this clone is shallow."
    assert shown[1:] == [
        *(f"missing-anchor c.md:{n}" for n in range(1, 10)),
        "3 more warnings.",
    ]


def test_annotation_lists_commits_oldest_first_and_the_command():
    (line,) = render("github", outcome([found("stale-doc", "a b.md", commits=5)])).splitlines()
    assert line.partition("::stale-doc")[2].split("%0A")[1:] == [
        "0000000000 1970-01-01 Ann: Change 1",
        "0000000000 1970-01-01 Ann: Change 2",
        "0000000000 1970-01-01 Ann: Change 3",
        "and 2 more commits",
        "  ubp ack 'a b.md'",
    ]


@pytest.mark.parametrize(
    ("fields", "commands"),
    [
        ({"keys": ("related files",)}, ["  ubp ack a.md --key 'related files'"]),
        ({"kind": "staged", "is_change": True}, ["  ubp ack --staged a.md"]),
        ({"is_change": True, "change": ChangeWords("main")}, ["  ubp ack a.md"]),
        ({"kind": "commit"}, []),
    ],
)
def test_printed_commands_can_be_typed(fields, commands):
    (line,) = render("github", outcome([found("stale-doc", "a.md")], **fields)).splitlines()
    assert line.partition("::stale-doc")[2].split("%0A")[1:] == commands


def levels(*numbers):
    return Summary(*numbers)


ERROR, WARNING = found("broken-link", "a.md"), found("orphan-doc", "b.md", severity="warning")
DOUBT = (found("stale-doc", "d.md", severity="note"),)
SHALLOW = "1 source could not be verified: this clone is shallow."
CHANGE = {"is_change": True, "change": ChangeWords("main"), "kind": "commit"}


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (outcome(), "No findings in 40 pages."),
        (outcome(documents=0), "No pages found; nothing to check."),
        (outcome([ERROR, WARNING]), "1 error and 1 warning in 2 of 40 pages."),
        (outcome([WARNING]), "1 warning in 1 of 40 pages."),
        (
            outcome(unknown=DOUBT),
            f"No findings in 40 pages. {SHALLOW}",
        ),
        (
            outcome([ERROR], **CHANGE),
            "This branch (since <main>) introduces 1 error in 1 of 40 pages.",
        ),
        (
            outcome(is_change=True, kind="staged"),
            "No new findings in 40 pages.",
        ),
        (
            outcome(summary=levels(9, 0, 0, 9, 0, 0, 0, 0)),
            "No page lists sources; nothing to verify.",
        ),
        (
            outcome(summary=levels(9, 5, 5, 4, 5, 0, 0, 0)),
            "5 pages with sources: all fresh.",
        ),
        (
            outcome(summary=levels(9, 1, 1, 8, 1, 0, 0, 0)),
            "1 page with sources: fresh.",
        ),
        (
            outcome(summary=levels(9, 5, 5, 4, 1, 1, 3, 0)),
            "5 pages with sources: 3 stale and 1 possibly stale.",
        ),
        (
            outcome(summary=levels(9, 5, 4, 4, 4, 0, 0, 1), unknown=DOUBT),
            f"5 pages with sources: none known to be stale. {SHALLOW}",
        ),
        (
            outcome([ERROR], summary=levels(9, 5, 4, 4, 4, 1, 0, 0), **CHANGE),
            "This branch (since <main>) makes 1 page stale.",
        ),
        (
            outcome(summary=levels(9, 5, 4, 4, 4, 0, 0, 0), **CHANGE),
            "This branch (since <main>) makes no pages stale (4 verified).",
        ),
        (
            outcome(summary=levels(9, 5, 0, 4, 0, 0, 0, 0), **CHANGE),
            "This branch (since <main>) changes no listed source.",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_headline_claims_only_what_is_known(made, expected):
    assert headline(made, lambda name: f"<{name}>") == expected


def test_pages_beyond_twenty_are_folded(drifted, ubp):
    for n in range(25):
        drifted.write(f"src/{n}.py", "1\n")
        drifted.page(f"many/{n:02}.md", f"src/{n}.py")
    drifted.commit("Begin")
    for n in range(25):
        drifted.write(f"src/{n}.py", "2\n")
    drifted.commit("Change all")
    text = ubp(drifted, "stale", "--base", "HEAD~1", "--format", "markdown").out
    shown, folded = text.split("<details><summary>5 more pages</summary>")
    section = "<details><summary><b>now stale</b> <code>many/"
    assert (shown.count(section), folded.count(section)) == (20, 5)


def test_diff_shared_by_pages_is_shown_once(drifted, ubp):
    drifted.page("docs/c.md", "src/a.py")
    drifted.page("docs/d.md", "src/a.py")
    drifted.commit()
    drifted.write("src/a.py", "".join(f"{n}\n" for n in range(100)))
    drifted.commit()
    args = ("stale", "docs/c.md", "docs/d.md", "--diff", "--format", "markdown")
    text = ubp(drifted, *args).out
    assert "\n`src/a.py`, described in `docs/c.md:3`, `docs/d.md:3`:\n\n```diff\n" in text
    assert text.partition("What changed in the sources")[2].count("```diff") == 1
    assert "\n… and 43 more lines\n```\n" in text


FOLDED = """\
### UBP: No findings in 3 pages (1 ignored, 1 accepted as debt).

<details><summary>1 accepted in .ubp/debt.txt</summary>

- `docs/a.md:5` `old.md does not exist.`

</details>

<details><summary>1 ignored</summary>

- `docs/a.md:7` `never.md does not exist.`

</details>
"""


def test_accepted_old_findings_are_distinguished_from_ignored_ones(drifted, ubp, at):
    at(drifted)
    drifted.page("docs/a.md", "src/a.py", body="[old](old.md)\n")
    drifted.commit("Link")
    assert ubp(drifted, "debt").status == 0
    page = drifted.root / "docs/a.md"
    page.write_text(page.read_text() + "\n[never](never.md) <!-- ubp: ignore[broken-link] -->\n")
    answer = ubp(drifted, "check", "--format", "markdown")
    assert (answer.status, answer.err) == (0, "")
    assert answer.out == FOLDED
