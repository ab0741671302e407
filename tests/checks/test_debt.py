"""The debt file: what it accepts, that it only shrinks, that it survives what files suffer."""

import io
import json
from contextlib import redirect_stdout

import pytest

from ubp.__main__ import main
from ubp.checks.debt import read_debts, to_debt, write_debts
from ubp.checks.finding import Finding
from ubp.core.model import DEBT_FILE


def ubp(repository, *words):
    """The exit status and the answer of `ubp WORDS --json`."""
    status, told = tell(repository.root, *words, "--json")
    return status, json.loads(told)


def tell(folder, *words):
    """The exit status and what `ubp WORDS` prints."""
    with redirect_stdout(io.StringIO()) as told:
        status = main(["-C", str(folder), *words])
    return status, told.getvalue()


def found(answer):
    return [(one["filepath"], one["rule"]) for one in answer["findings"]]


@pytest.fixture
def indebted(repository):
    """A stale page, two broken links in another, and all of that accepted and committed."""
    repository.write("src/a.py", "a = 1\n")
    repository.page("docs/a.md", "src/a.py")
    repository.write("docs/b.md", "[gone](gone.md)\n\n[gone](gone.md) and [[nowhere]]\n")
    repository.commit()
    repository.write("src/a.py", "a = 2\n")
    repository.commit()
    assert ubp(repository, "debt")[0] == 0
    repository.commit()
    return repository


def test_old_findings_are_accepted_and_new_ones_fail(indebted):
    status, answer = ubp(indebted, "check")
    assert (status, found(answer), answer["accepted"]) == (
        0,
        [],
        {"broken-link": 3, "stale-doc": 1},
    )
    indebted.write("docs/c.md", "[gone](gone.md)\n")
    status, answer = ubp(indebted, "check")
    assert (status, found(answer)) == (1, [("docs/c.md", "broken-link")])


def test_stale_pages_are_accepted_too(indebted):
    status, answer = ubp(indebted, "stale", "--exit-code")
    assert (status, answer["documents"], answer["accepted"]) == (0, [], 1)
    assert answer["summary"]["stale"] == 1, "the level stays what it is"
    _, answer = ubp(indebted, "stale", "--all")
    told = [ref for one in answer["documents"] for ref in one["references"]]
    assert [ref["is_debt"] for ref in told] == [True]


def test_a_second_source_that_drifts_is_new(indebted):
    indebted.write("src/b.py", "b = 1\n")
    indebted.page("docs/d.md", "src/b.py")
    indebted.commit()
    indebted.write("src/b.py", "b = 2\n")
    indebted.commit()
    status, answer = ubp(indebted, "stale", "--exit-code")
    assert status == 1
    assert [one["filepath"] for one in answer["documents"]] == ["docs/d.md"]


def test_findings_stay_accepted_when_their_lines_move(indebted):
    page = indebted.root / "docs/b.md"
    page.write_text("New words.\n\n" + page.read_text())
    indebted.commit()
    assert ubp(indebted, "check")[0] == 0


def test_what_was_put_right_must_leave_the_file(indebted):
    indebted.write("docs/b.md", "[gone](gone.md) and [[nowhere]]\n")
    indebted.commit()
    status, answer = ubp(indebted, "check")
    assert (status, found(answer)) == (1, [(DEBT_FILE, "obsolete-debt")])
    status, answer = ubp(indebted, "debt", "--prune")
    assert (status, answer["accepted"], answer["settled"]) == (0, 3, 1)
    indebted.commit()
    assert ubp(indebted, "check")[0] == 0


def test_a_change_that_fixes_an_accepted_page_fails_nothing(indebted):
    indebted.write("docs/b.md", "[gone](gone.md) and [[nowhere]]\n")
    indebted.commit()
    assert ubp(indebted, "check", "--base", "HEAD~1")[0] == 0
    mention = "This change fixes what 1 line of .ubp/debt.txt accepted: ubp debt --prune\n"
    assert mention in tell(indebted.root, "check", "--base", "HEAD~1")[1]


def test_an_accepted_page_that_was_fresh_again_is_new_when_it_drifts(indebted):
    indebted.page("docs/a.md", "src/a.py", body="Rewritten.\n")
    indebted.commit("fresh again, but the line stays")
    indebted.write("src/a.py", "a = 3\n")
    indebted.git("add", "src/a.py")
    status, answer = ubp(indebted, "check", "--staged")
    assert (status, found(answer)) == (1, [("docs/a.md", "stale-doc")])
    status, answer = ubp(indebted, "stale", "--staged")
    assert status == 1
    indebted.commit()
    assert ("docs/a.md", "stale-doc") in found(ubp(indebted, "check")[1])
    assert ubp(indebted, "stale", "--exit-code")[0] == 1


def test_a_stale_page_that_was_reviewed_must_leave_the_file(indebted):
    assert ubp(indebted, "ack", "docs/a.md")[0] == 0
    status, answer = ubp(indebted, "stale", "--exit-code")
    assert (status, answer["settled"]) == (1, 1)


def test_the_debt_can_only_shrink(indebted):
    before = (indebted.root / DEBT_FILE).read_text()
    indebted.write("docs/c.md", "[gone](gone.md)\n")
    status, answer = ubp(indebted, "debt")
    assert (status, answer["is_written"], answer["new"]) == (1, False, 1)
    ubp(indebted, "debt", "--prune")
    assert (indebted.root / DEBT_FILE).read_text() == before


def test_a_line_that_cannot_be_read_is_found_and_pruned(indebted):
    file = indebted.root / DEBT_FILE
    file.write_text(file.read_text() + "<<<<<<< HEAD\n")
    status, answer = ubp(indebted, "check")
    assert (status, [one["line"] for one in answer["findings"]]) == (1, [7])
    ubp(indebted, "debt", "--prune")
    assert ubp(indebted, "check")[0] == 0


def test_the_file_of_the_revision_counts(indebted):
    assert found(ubp(indebted, "check", "--ref", "HEAD~1")[1]) != []
    indebted.remove(DEBT_FILE)
    assert ubp(indebted, "check", "--ref", "HEAD")[0] == 0
    assert ubp(indebted, "check")[0] == 1


def test_a_shallow_clone_that_cannot_tell_keeps_the_debt(indebted, tmp_path):
    clone = tmp_path / "shallow"
    uri = indebted.root.as_uri()
    indebted.git("clone", "--quiet", "--depth=1", uri, str(clone))
    assert found(json.loads(tell(clone, "check", "--json")[1])) == []


def test_where_nothing_is_found_no_file_is_written(repository):
    repository.write("docs/a.md", "Fine.\n")
    repository.commit()
    status, answer = ubp(repository, "debt")
    assert (status, answer["is_written"]) == (0, False)
    assert not (repository.root / DEBT_FILE).exists()


def test_a_file_that_git_ignores_is_told(repository):
    repository.write(".gitignore", ".ubp/\n")
    repository.write("docs/b.md", "[gone](gone.md)\n")
    repository.commit()
    status, told = tell(repository.root, "debt")
    assert status == 0
    assert told.splitlines()[1:] == [
        "The file is ignored by Git, so UBP does not use it yet.",
        "Next:",
        "  git add --force .ubp/debt.txt  stages it for the next commit",
    ]


def test_a_symlink_is_not_written_through(repository, tmp_path):
    victim = tmp_path / "victim"
    victim.write_text("mine")
    repository.write("docs/b.md", "[gone](gone.md)\n")
    repository.write(".ubp/.gitignore", "")
    (repository.root / DEBT_FILE).symlink_to(victim)
    status, told = tell(repository.root, "debt")
    assert victim.read_text() == "mine"
    assert status == 2 or not told.startswith("Accepted")


def test_hostile_names_stand_on_one_line_and_come_back():
    names = ["a\tb.md", "a\nb.md", "a\\u0009.md", "頁\u2028.md", "\x85", "\udcff.md"]
    debts = [to_debt(Finding("broken-link", name, 1, "", f"{name}#x")) for name in names]
    text = write_debts(debts)
    read = read_debts(text.encode()).accepted.values()
    assert len(text.splitlines()) == len(names) + 2
    told = {(one.name, one.filepath, one.subject) for one in read}
    safe = [one for one in debts if "\udcff" not in one.filepath]
    assert {(one.name, one.filepath, one.subject) for one in safe} <= told
    assert {one.name for one in debts} == {one.name for one in read}


def test_branches_that_put_different_pages_right_merge(repository):
    for number in range(40):
        links = "".join(f"[x](gone{link}.md)\n\n" for link in range(5))
        repository.write(f"docs/p{number:02}.md", links)
    repository.commit()
    ubp(repository, "debt")
    repository.commit()
    for branch, page in (("one", "docs/p10.md"), ("two", "docs/p11.md")):
        repository.git("checkout", "--quiet", "-b", branch, "main")
        repository.write(page, "Right.\n")
        ubp(repository, "debt", "--prune")
        repository.commit()
    repository.merge("one")
    assert ubp(repository, "check")[0] == 0
