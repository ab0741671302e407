"""Bindings compared with history: which are answered, noise, dead or too wide."""

import pytest

from ubp.answers.bindings.review_bindings import ReviewBindingsRequest
from ubp.bindings.review import Binding, ReviewedBinding, find_relevant_files, review_bindings
from ubp.frame.wording import moment
from ubp.git.change_log import LoggedChange
from ubp.workspace import Workspace

DAY = 86_400
PAGE = "docs/a.md"


def log_of(*commits, days=1):
    """A log, newest first, of commits given oldest first, so many days apart."""
    return [
        LoggedChange(f"{number:040x}", number * days * DAY, tuple(paths.split()))
        for number, paths in reversed(list(enumerate(commits)))
    ]


def review_one_binding(log, *, is_older=True, exists=lambda _: True, **changed):
    binding = Binding(PAGE, "src/a.py", 3, "fresh", 1, is_wide=False)._replace(**changed)
    (found,) = review_bindings([binding], log, lambda _: is_older, exists)
    return found


def test_outcomes_of_changes_are_counted():
    log = log_of("src/a.py", "docs/a.md", "src/a.py docs/a.md", "src/b.py", "src/a.py", days=29)
    found = review_one_binding(log)
    assert found == ReviewedBinding(found.binding, "unproven", 5, 3, 1, followed=1, pending=1)
    assert (found.fired, found.useful_share) == (2, 1.0)


def test_edit_after_more_than_thirty_days_is_no_answer():
    found = review_one_binding(log_of("src/a.py", "docs/a.md", days=31))
    assert (found.changed, found.followed, found.pending, found.useful_share) == (1, 0, 0, 0.0)


def test_young_page_counts_only_commits_after_its_first():
    found = review_one_binding(log_of("src/a.py", "src/a.py docs/a.md", "src/a.py"), is_older=False)
    assert (found.commits, found.changed, found.together) == (1, 1, 0)
    never_committed = review_one_binding(log_of("src/a.py"), is_older=False)
    assert (never_committed.commits, never_committed.useful_share) == (0, None)


@pytest.mark.parametrize(
    ("commits", "pages", "judgement"),
    [
        (["src/a.py"] * 9, 1, "unproven"),
        (["src/a.py"] * 10, 1, "noise"),
        (["src/a.py"] * 10, 10, "hub"),
        (["src/a.py docs/a.md", *["src/a.py"] * 19], 1, "noise"),
        (["src/a.py docs/a.md", *["src/a.py"] * 18], 1, "sound"),
        (["src/a.py docs/a.md"] * 10, 50, "sound"),
    ],
)
def test_source_that_changes_without_its_page_is_noise(commits, pages, judgement):
    assert review_one_binding(log_of(*commits, days=40), pages=pages).judgement == judgement


def test_source_with_mostly_answered_changes_is_not_noise():
    answered = ["src/a.py", "docs/a.md"] * 6
    ignored = ["src/a.py", "src/b.py", "src/b.py"]
    assert review_one_binding(log_of(*answered, *ignored * 5, days=20)).judgement == "sound"
    assert review_one_binding(log_of(*answered, *ignored * 6, days=20)).judgement == "noise"


@pytest.mark.parametrize("verdict", ["deleted", "moved", "not_found"])
def test_source_that_does_not_exist_is_dead(verdict):
    moved_to = "src/new.py" if verdict == "moved" else None
    found = review_one_binding(
        log_of(*["src/a.py docs/a.md"] * 12), verdict=verdict, moved_to=moved_to
    )
    assert (found.judgement, found.proposal) == ("dead", (moved_to,) if moved_to else ())


WIDE = [*["src/a.py docs/a.md"] * 3, *["src/b.py src/c.py docs/a.md"] * 2, *["src/d.py"] * 6]


def test_folder_of_which_two_files_account_for_the_edits_is_too_wide():
    found = review_one_binding(log_of(*WIDE), source_path="src", is_wide=True)
    assert (found.judgement, found.proposal) == ("wide", ("src/a.py", "src/b.py"))
    glob = review_one_binding(log_of(*WIDE), source_path="src/*.py", is_wide=True)
    assert (glob.judgement, glob.proposal) == ("wide", ("src/a.py", "src/b.py"))
    assert review_one_binding(log_of(*WIDE), source_path="src").judgement == "sound"


def test_only_existing_files_are_proposed():
    found = review_one_binding(
        log_of(*WIDE), source_path="src", is_wide=True, exists=lambda path: path != "src/b.py"
    )
    assert found.proposal == ("src/a.py", "src/c.py")


@pytest.mark.parametrize(
    "commits",
    [
        ["src/a.py docs/a.md"] * 2,
        [f"src/{name}.py docs/a.md" for name in "abcde"],
        [*["src/a.py docs/a.md"] * 3, *["src/a.py"] * 4, *["src/b.py"] * 3],
        ["src/b.py"] * 9,
    ],
    ids=["hardly ever together", "many files", "as many firings", "never together"],
)
def test_folder_is_kept_where_listing_files_would_not_help(commits):
    log = log_of(*commits)
    page = [n for n, commit in enumerate(log) if PAGE in commit.paths]
    assert find_relevant_files("src", range(len(log)), page, log, lambda _: True) == ()


def test_reviews_are_ordered_by_severity_then_by_alarms():
    log = log_of(*["src/a.py src/b.py"] * 10, *["src/b.py"] * 2)
    bindings = [
        Binding(page, source, 3, verdict, 1, is_wide=False)
        for page, source, verdict in [
            ("docs/c.md", "src/c.py", "fresh"),
            ("docs/b.md", "src/b.py", "modified"),
            ("docs/a.md", "src/a.py", "modified"),
            ("docs/d.md", "src/d.py", "not_found"),
        ]
    ]
    found = review_bindings(bindings, log, lambda _: True, lambda _: True)
    assert [(review.judgement, review.binding.filepath, review.fired) for review in found] == [
        ("noise", "docs/b.md", 12),
        ("noise", "docs/a.md", 10),
        ("dead", "docs/d.md", 0),
        ("unproven", "docs/c.md", 0),
    ]


@pytest.fixture
def project(repository):
    repository.write("src/hub.py", "0\n")
    repository.write("src/old.py", "old = 1\n")
    repository.page("docs/a.md", "src/hub.py", "src/old.py", "private/key.py")
    repository.commit("begin")
    repository.git("mv", "src/old.py", "src/new.py")
    repository.commit("move")
    for number in range(1, 12):
        repository.write("src/hub.py", f"{number}\n")
        repository.commit("change")
    repository.page("docs/young.md", "src/hub.py", "src/hub.py#part")
    repository.commit("a young page")
    return repository


def review(repository, *pages, **options):
    with Workspace.open(str(repository.root)) as workspace:
        found = workspace.ask(ReviewBindingsRequest(pages, **options))
    judgements = [
        (
            binding.judgement,
            f"{binding.filepath}:{binding.line}",
            binding.source_path,
            binding.commits,
            binding.changed,
            binding.proposal,
        )
        for binding in found.bindings
    ]
    return found, judgements


def test_bindings_of_a_repository_are_reviewed(project):
    found, judgements = review(project)
    assert judgements == [
        ("noise", "docs/a.md:3", "src/hub.py", 13, 11, ()),
        ("dead", "docs/a.md:4", "src/old.py", 13, 1, ("src/new.py",)),
        ("dead", "docs/young.md:4", "src/hub.py#part", 0, 0, ()),
        ("unproven", "docs/young.md:3", "src/hub.py", 0, 0, ()),
    ]
    assert (found.commits, found.since) == (14, moment(project.clock - 13 * DAY))
    assert {binding.pages for binding in found.bindings} == {1, 2}
    assert review(project, "docs/young.md")[1] == judgements[2:]
    assert review(project, "docs/a.md", commits=12)[1][0][:5] == (
        *("noise", "docs/a.md:3", "src/hub.py"),
        *(12, 11),
    )


def test_review_without_commits_is_empty(repository):
    repository.page("docs/a.md", "src/a.py")
    found, judgements = review(repository)
    assert judgements == [("dead", "docs/a.md:3", "src/a.py", 0, 0, ())]
    assert (found.commits, found.since) == (0, None)
