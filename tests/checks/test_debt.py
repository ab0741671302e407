"""The debt file: what it accepts, that it only shrinks, that it survives edits and merges."""

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
    status, output = run_ubp(repository.root, *words, "--json")
    return status, json.loads(output)


def run_ubp(folder, *words):
    """The exit status and what `ubp WORDS` prints."""
    with redirect_stdout(io.StringIO()) as output:
        status = main(["-C", str(folder), *words])
    return status, output.getvalue()


def found(answer):
    return [(finding["filepath"], finding["rule"]) for finding in answer["findings"]]


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


def test_accepted_findings_pass_and_new_ones_fail(indebted):
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
    listed = [ref for document in answer["documents"] for ref in document["references"]]
    assert [ref["is_debt"] for ref in listed] == [True]


def test_second_drifted_source_is_new(indebted):
    indebted.write("src/b.py", "b = 1\n")
    indebted.page("docs/d.md", "src/b.py")
    indebted.commit()
    indebted.write("src/b.py", "b = 2\n")
    indebted.commit()
    status, answer = ubp(indebted, "stale", "--exit-code")
    assert status == 1
    assert [document["filepath"] for document in answer["documents"]] == ["docs/d.md"]


def test_findings_stay_accepted_when_their_lines_move(indebted):
    page = indebted.root / "docs/b.md"
    page.write_text("New words.\n\n" + page.read_text())
    indebted.commit()
    assert ubp(indebted, "check")[0] == 0


def test_entry_of_a_fixed_finding_must_be_removed(indebted):
    indebted.write("docs/b.md", "[gone](gone.md) and [[nowhere]]\n")
    indebted.commit()
    status, answer = ubp(indebted, "check")
    assert (status, found(answer)) == (1, [(DEBT_FILE, "obsolete-debt")])
    status, answer = ubp(indebted, "debt", "--prune")
    assert (status, answer["accepted"], answer["settled"]) == (0, 3, 1)
    indebted.commit()
    assert ubp(indebted, "check")[0] == 0


def test_change_that_fixes_an_accepted_page_fails_nothing(indebted):
    indebted.write("docs/b.md", "[gone](gone.md) and [[nowhere]]\n")
    indebted.commit()
    status, answer = ubp(indebted, "check", "--base", "HEAD~1")
    assert (status, answer["obsolete_debts"]) == (0, 1)
    mention = "This change fixes what 1 line of .ubp/debt.txt accepted: ubp debt --prune\n"
    assert mention in run_ubp(indebted.root, "check", "--base", "HEAD~1")[1]


def test_accepted_page_that_was_fresh_again_is_new_when_it_drifts(indebted):
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


def test_entry_of_a_reviewed_stale_page_must_be_removed(indebted):
    assert ubp(indebted, "ack", "docs/a.md")[0] == 0
    status, answer = ubp(indebted, "stale", "--exit-code")
    assert (status, answer["settled"]) == (1, 1)


def test_debt_can_only_shrink(indebted):
    before = (indebted.root / DEBT_FILE).read_text()
    indebted.write("docs/c.md", "[gone](gone.md)\n")
    status, answer = ubp(indebted, "debt")
    assert (status, answer["is_written"], answer["new"]) == (1, False, 1)
    ubp(indebted, "debt", "--prune")
    assert (indebted.root / DEBT_FILE).read_text() == before


def test_unreadable_line_is_reported_and_pruned(indebted):
    file = indebted.root / DEBT_FILE
    file.write_text(file.read_text() + "<<<<<<< HEAD\n")
    status, answer = ubp(indebted, "check")
    assert (status, [finding["line"] for finding in answer["findings"]]) == (1, [7])
    ubp(indebted, "debt", "--prune")
    assert ubp(indebted, "check")[0] == 0


def test_debt_file_of_the_revision_counts(indebted):
    assert found(ubp(indebted, "check", "--ref", "HEAD~1")[1]) != []
    indebted.remove(DEBT_FILE)
    assert ubp(indebted, "check", "--ref", "HEAD")[0] == 0
    assert ubp(indebted, "check")[0] == 1


def test_shallow_clone_that_cannot_verify_keeps_the_debt(indebted, tmp_path):
    clone = tmp_path / "shallow"
    uri = indebted.root.as_uri()
    indebted.git("clone", "--quiet", "--depth=1", uri, str(clone))
    assert found(json.loads(run_ubp(clone, "check", "--json")[1])) == []


def test_debt_without_findings_writes_no_file(repository):
    repository.write("docs/a.md", "Fine.\n")
    repository.commit()
    status, answer = ubp(repository, "debt")
    assert (status, answer["is_written"]) == (0, False)
    assert not (repository.root / DEBT_FILE).exists()


def test_ignored_debt_file_is_reported(repository):
    repository.write(".gitignore", ".ubp/\n")
    repository.write("docs/b.md", "[gone](gone.md)\n")
    repository.commit()
    status, output = run_ubp(repository.root, "debt")
    assert status == 0
    assert output.splitlines()[1:] == [
        "The file is ignored by Git, so UBP does not use it yet.",
        "Next:",
        "  git add --force .ubp/debt.txt  stages it for the next commit",
    ]
    (repository.root / DEBT_FILE).unlink()
    _, answer = ubp(repository, "debt")
    assert (answer["is_written"], answer["is_ignored"], answer["pages"]) == (True, True, 1)


def test_symlink_is_not_written_through(repository, tmp_path):
    victim = tmp_path / "victim"
    victim.write_text("mine")
    repository.write("docs/b.md", "[gone](gone.md)\n")
    repository.write(".ubp/.gitignore", "")
    (repository.root / DEBT_FILE).symlink_to(victim)
    status, output = run_ubp(repository.root, "debt")
    assert victim.read_text() == "mine"
    assert status == 2 or not output.startswith("Accepted")


def test_hostile_names_take_one_line_and_are_read_back():
    names = ["a\tb.md", "a\nb.md", "a\\u0009.md", "頁\u2028.md", "\x85", "\udcff.md"]
    debts = [to_debt(Finding("broken-link", name, 1, "", f"{name}#x")) for name in names]
    text = write_debts(debts)
    read = read_debts(text.encode()).accepted.values()
    assert len(text.splitlines()) == len(names) + 2
    keys = {(debt.name, debt.filepath, debt.subject) for debt in read}
    safe = [debt for debt in debts if "\udcff" not in debt.filepath]
    assert {(debt.name, debt.filepath, debt.subject) for debt in safe} <= keys
    assert {debt.name for debt in debts} == {debt.name for debt in read}


def test_branches_that_fix_different_pages_merge(repository):
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
