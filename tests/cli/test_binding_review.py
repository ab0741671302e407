"""`ubp bind --review`: its text and its record."""

import pytest


@pytest.fixture
def project(repository):
    repository.write("src/noisy.py", "0\n")
    repository.write("src/auth/a.py", "0\n")
    repository.write("src/auth/b.py", "0\n")
    repository.write("src/gone.py", "0\n")
    repository.page("docs/a.md", "src/noisy.py", "src/gone.py")
    repository.page("docs/b.md", "src/auth/")
    repository.page("docs/c.md", "src/never.py")
    repository.commit("begin")
    for number in range(1, 11):
        repository.write("src/noisy.py", f"{number}\n")
        if number > 3:
            repository.write("src/auth/b.py", f"{number}\n")
        else:
            repository.write("src/auth/a.py", f"{number}\n")
            repository.page("docs/b.md", "src/auth/", body=f"{number}\n")
        repository.commit("change")
    repository.git("mv", "src/gone.py", "src/here.py")
    repository.commit("move")
    return repository


TOLD = """\
       changed  with page  in 30 days  pages  location and source
noise       10          0     0 + 10?      1  docs/a.md:3  src/noisy.py
wide        10          3      0 + 7?      1  docs/b.md:3  src/auth
                                              list src/auth/a.py instead
                                              fires 7 times → 0, keeps all 3 edits
dead         1          0      0 + 1?      1  docs/a.md:4  src/gone.py (moved)
                                              list src/here.py instead
and 1 more (--limit 4)

4 bindings in 3 pages, compared with 12 commits since 2023-11-15:
  1  noise     rarely followed by a change of the page
  1  wide      only a part of it matters to the page: list that instead
  2  dead      does not exist
The narrower sources would have saved 7 of 17 firings.
Without hubs and noise, 7 of 17 firings would remain.
Next: remove these lines, or list the files that the pages really describe.
  ubp bind --explain docs/a.md           proposes sources for the page
  ubp check --fix --rule missing-source  updates moved sources
"""


def test_review_lists_bindings_worst_first_with_remedy(project, ubp):
    answer = ubp(project, "bind", "--review", "--limit", "3")
    assert (answer.status, answer.out) == (0, TOLD)
    # A line each for whoever reads no prose.
    assert ubp(project, "bind", "--review", "--quiet").out == (
        "docs/a.md:3  src/noisy.py\n"
        "docs/b.md:3  src/auth\n"
        "docs/a.md:4  src/gone.py\n"
        "docs/c.md:3  src/never.py\n"
    )
    # Of pages that are named the good ones, too.
    project.page("docs/d.md", "src/here.py")
    assert ubp(project, "bind", "--review", "docs/d.md").out == (
        "          changed  with page  in 30 days  pages  location and source\n"
        "unproven        0          0           0      1  docs/d.md:3  src/here.py\n"
        "\n"
        "1 binding in 1 page, compared with 12 commits since 2023-11-15:\n"
        "  1  unproven  changed fewer than 10 times\n"
    )


def test_review_without_bindings_says_how_to_make_some(repository, ubp):
    repository.write("docs/a.md", "# A\n")
    assert ubp(repository, "bind", "--review").out == (
        "No page lists sources; nothing to review.\n"
        "Next: ubp bind  proposes sources for each page\n"
    )


def test_review_record_has_every_key(project, asked):
    record = asked(project, "bind", "--review", "--limit", "2", shape="bind-review")
    first, second = record.pop("bindings")
    assert first == {
        "doc_id": "08469035-7597-5390-963e-a559c50dc467",
        "filepath": "docs/a.md",
        "line": 3,
        "source_path": "src/noisy.py",
        "judgement": "noise",
        "verdict": "modified",
        "commits": 11,
        "changed": 10,
        "together": 0,
        "fired": 10,
        "followed": 0,
        "pending": 10,
        "useful_share": None,
        "pages": 1,
        "proposal": [],
        "narrowed": None,
    }
    assert (second["judgement"], second["proposal"]) == ("wide", ["src/auth/a.py"])
    assert record == {
        "total": 4,
        "commits": 12,
        "since": "2023-11-15T22:13:20Z",
        "is_shallow": False,
        "summary": {"hub": 0, "noise": 1, "wide": 1, "dead": 2, "unproven": 0, "sound": 0},
        "effect": {
            "fired": 17,
            "fired_left": 7,
            "followed": 0,
            "followed_left": 0,
            "narrowed": 7,
        },
    }


@pytest.mark.parametrize(
    ("tokens", "error"),
    [
        (["--review", "--write"], "--review cannot be combined with --write."),
        (["--review", "-i"], "--review cannot be combined with --interactive."),
        (["--explain", "--review"], "--review cannot be combined with --explain."),
        (["--commits", "9"], "--commits requires --review."),
        (["--review", "--commits", "0"], "Invalid --commits: 0."),
    ],
)
def test_contradictory_options_of_review_are_refused(tokens, error, repository, ubp):
    answer = ubp(repository, "bind", *tokens)
    assert (answer.status, answer.err.partition("\n")[0]) == (2, f"Error: {error}")
