"""`ubp stale --since`: the outcome of each page since a revision."""

import subprocess

import jsonschema
import pytest

from ubp.answers.staleness.since import ComparisonRecord
from ubp.frame.schema import record_schema


@pytest.fixture
def released(repository, at):
    """A page of each kind since `v1`, two of which were behind then; now is ten days later."""
    for name in ("kept", "left", "mended", "old", "moved"):
        repository.write(f"src/{name}.py", "1\n")
        repository.page(f"docs/{name}.md", f"src/{name}.py", body=f"About {name}.\n" * 9)
    repository.page("docs/gone.md", "src/kept.py")
    repository.page("docs/freed.md", "src/kept.py")
    repository.write("docs/later.md", "# Later\n")
    repository.commit("Begin")
    for name in ("mended", "old"):
        repository.write(f"src/{name}.py", "2\n")
    repository.commit("Change two")
    repository.git("tag", "v1")
    for name in ("left", "moved"):
        repository.write(f"src/{name}.py", "3\n")
    repository.commit("Change two more")
    (repository.root / "docs/moved.md").rename(repository.root / "docs/arrived.md")
    repository.page("docs/mended.md", "src/mended.py", body="Mended.\n")
    repository.page("docs/new.md", "src/kept.py", body="Brand new.\n" * 9)
    repository.page("docs/later.md", "src/never.py")
    repository.write("docs/freed.md", "# Free\n")
    repository.remove("docs/gone.md")
    repository.commit("Edit")
    at(repository, days=10)
    return repository


TOLD = """\
docs/arrived.md  became stale (was docs/moved.md)
  src/moved.py  modified 11 days ago
docs/left.md  became stale
  src/left.py  modified 11 days ago
docs/old.md  still stale
  src/old.py  modified 12 days ago
docs/mended.md  became fresh
docs/later.md  new: now lists sources, stale
  src/never.py  never existed
docs/new.md  new: fresh
docs/freed.md  removed: no longer lists sources, was fresh
docs/gone.md  removed: was fresh

Since v1 (2023-11-16): 2 became stale, 1 still stale, 1 became fresh, 2 new, 2 removed, \
1 stayed fresh.
At v1, 2 of 7 pages with sources were out of date; now 4 of 7.
"""


def test_since_lists_pages_once_by_outcome(released, ubp):
    assert ubp(released, "stale", "--since", "v1") == (0, TOLD, "")


def test_quiet_since_prints_one_line_per_page(released, ubp):
    lines = [line for line in TOLD.splitlines()[:-3] if not line.startswith(" ")]
    assert ubp(released, "--quiet", "stale", "--since", "v1").out.splitlines() == lines


def test_since_compares_two_revisions(released, ubp):
    shown = ubp(released, "stale", "--since", "v1", "--ref", "v1~1")
    assert shown.out.splitlines()[:2] == [
        "docs/mended.md  became fresh",
        "docs/old.md  became fresh",
    ]


def test_uncommitted_changes_count_as_present(released, ubp):
    released.write("src/kept.py", "9\n")
    shown = ubp(released, "stale", "--since", "HEAD", "docs/kept.md").out
    assert shown.splitlines()[:2] == [
        "docs/kept.md  became stale",
        "  src/kept.py  modified, not committed yet",
    ]


def test_former_levels_are_those_of_that_day(released, ubp):
    """`docs/old.md` was one day behind at v1: that is drift, however old it is by now."""
    record = ubp(released, "stale", "--since", "v1", "docs/old.md", "--json").record
    (document,) = record["documents"]
    assert (document["staleness_then"], document["staleness"]) == ("possibly_stale", "stale")


def test_deleted_page_can_be_requested(released, ubp):
    shown = ubp(released, "stale", "--since", "v1", "docs/gone.md", "docs/new.md").out
    assert shown.splitlines()[:2] == ["docs/new.md  new: fresh", "docs/gone.md  removed: was fresh"]


def test_page_that_never_existed_is_an_error(released, ubp):
    answer = ubp(released, "stale", "--since", "v1", "docs/never.md")
    assert (answer.status, answer.out) == (2, "")
    assert answer.err.startswith("Error: Page not found: docs/never.md")


def test_since_record_matches_its_schema(released, ubp):
    answer = ubp(released, "stale", "--since", "v1", "--json")
    jsonschema.validate(answer.record, record_schema(ComparisonRecord))
    record = answer.record
    assert record["since"] == {
        "commit": released.git("rev-parse", "v1"),
        "date": "2023-11-16T22:13:20Z",
    }
    assert record["snapshot"] == {"kind": "worktree", "commit": released.head()}
    assert record["summary"] == {
        "became_stale": 2,
        "still_stale": 1,
        "became_fresh": 1,
        "new": 2,
        "gone": 2,
        "unknown": 0,
        "still_fresh": 1,
    }
    arrived = record["documents"][0]
    assert arrived == {
        "doc_id": arrived["doc_id"],
        "filepath": "docs/arrived.md",
        "title": "arrived",
        "became": "became_stale",
        "was_at": "docs/moved.md",
        "staleness_then": "fresh",
        "staleness": "stale",
        "stale_refs": [
            {
                "source_path": "src/moved.py",
                "verdict": "modified",
                "since": arrived["stale_refs"][0]["since"],
            }
        ],
    }


MARKDOWN = """\
### Documentation since `v1` (2023-11-16)

At `v1`, 2 of 7 pages with sources were out of date; now 4 of 7.

**Became stale** (2)

- `docs/arrived.md` (was `docs/moved.md`): `src/moved.py` modified 11 days ago
- `docs/left.md`: `src/left.py` modified 11 days ago

**Still stale** (1)

- `docs/old.md`: `src/old.py` modified 12 days ago

**Became fresh** (1)

- `docs/mended.md`

**New** (2)

- `docs/later.md`: now lists sources, stale; `src/never.py` never existed
- `docs/new.md`: fresh

**Removed** (2)

- `docs/freed.md`: no longer lists sources, was fresh
- `docs/gone.md`: was fresh

Total: 2 became stale, 1 still stale, 1 became fresh, 2 new, 2 removed, 1 stayed fresh.
"""


def test_release_notes_list_outcomes(released, ubp):
    assert ubp(released, "stale", "--since", "v1", "--format", "markdown") == (0, MARKDOWN, "")


def test_hostile_names_cannot_break_out_of_markdown(repository, at, ubp):
    repository.write("a", "1\n")
    repository.commit("Begin")
    repository.write("src/<b>.py", "1\n")
    repository.page("docs/`*x*` | @me.md", "src/<b>.py")
    repository.commit("Add")
    repository.write("src/<b>.py", "2\n")
    at(repository)
    shown = ubp(repository, "stale", "--since", "HEAD~1", "--format", "markdown").out
    (item,) = (line for line in shown.splitlines() if line.startswith("- "))
    assert item == (
        "- <code>docs/&#96;&#42;x&#42;&#96; &#124; &#64;me&#46;md</code>:"
        " possibly stale; `src/<b>.py` modified, not committed yet"
    )


def test_since_without_sources_compares_nothing(repository, at, ubp):
    repository.write("docs/a.md", "# A\n")
    repository.commit("Begin")
    at(repository)
    shown = ubp(repository, "stale", "--since", "HEAD")
    assert shown == (0, "Since HEAD (2023-11-15): no page lists sources.\n", "")


def test_shallow_clone_is_undetermined(released, tmp_path, spawn):
    clone = tmp_path / "clone"
    subprocess.run(
        ["git", "clone", "--quiet", "--depth=2", released.root.as_uri(), str(clone)], check=True
    )
    answer = spawn(type(released)(clone), "stale", "--since", "HEAD~1", "docs/left.md")
    assert answer.returncode == 2
    assert answer.stdout.splitlines()[0] == (
        "docs/left.md  unknown: the history of this clone is too short"
    )
    assert "git fetch --unshallow" in answer.stdout


@pytest.mark.parametrize(
    "other",
    [
        ["--staged"],
        ["--base", "v1"],
        ["--diff"],
        ["--all"],
        ["--exit-code"],
        ["--fail-on", "stale"],
        ["--output-file", "markdown=x.md"],
    ],
    ids=" ".join,
)
def test_options_that_assess_a_change_or_fail_are_refused(other, released, ubp):
    answer = ubp(released, "stale", "--since", "v1", *other)
    assert (answer.status, answer.out) == (2, "")
    assert answer.err.startswith(f"Error: --since cannot be combined with {other[0]}.\n")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--format", "sarif"], "--since does not support --format sarif."),
        (["--format", "markdown", "--json"], "--json cannot be combined with --format markdown."),
    ],
)
def test_formats_of_findings_are_refused(words, message, released, ubp):
    answer = ubp(released, "stale", "--since", "v1", *words)
    assert answer.status == 2
    assert message in answer.out + answer.err
