"""`ubp stale`: the state of the work tree or of a revision."""

import pytest

from ubp.staleness.wording import describe_drift_time, describe_reference


@pytest.fixture
def project(repository):
    repository.write("src/auth.py", "def login(): ...\n")
    repository.page("docs/auth.md", "src/auth.py")
    repository.commit("auth and its page")
    return repository


def test_page_committed_with_its_source_is_fresh(project, ask, verdicts):
    assert verdicts(ask(project)) == {"docs/auth.md": ("fresh", {"src/auth.py": "fresh"})}


def test_source_changed_after_its_page_lists_the_commit(project, ask):
    project.write("src/auth.py", "def login(user): ...\n")
    first = project.commit("ask for the user")
    project.write("src/auth.py", "def login(user, password): ...\n")
    second = project.commit("ask for the password")
    (page,) = ask(project, age=3).pages
    (answer,) = page.references
    assert (page.level, answer.verdict, answer.baseline) == (
        "possibly_stale",
        "modified",
        "history",
    )
    assert [(c.id, c.subject, c.author) for c in answer.commits] == [
        (second, "ask for the password", "Ann Author"),
        (first, "ask for the user", "Ann Author"),
    ]
    assert (answer.age_days, answer.since) == (4, answer.commits[-1].date)
    assert answer.current_blob == project.blob("src/auth.py")


@pytest.mark.parametrize(
    ("age", "days", "level"),
    [
        (6.9, None, "possibly_stale"),
        (7, None, "stale"),
        (0, 0, "stale"),
        (29, 30, "possibly_stale"),
    ],
)
def test_drift_is_stale_from_the_threshold_on(project, ask, age, days, level):
    project.write("src/auth.py", "changed\n")
    project.commit()
    (page,) = ask(project, age=age, opening={"days": days}).pages
    assert page.level == level


@pytest.mark.parametrize(
    ("days_ahead", "level", "age_days"),
    [(0.9, "possibly_stale", 0), (2, "stale", None), (20_000, "stale", None)],
)
def test_drift_dated_in_the_future_is_stale_beyond_one_day_of_clock_error(
    project, ask, days_ahead, level, age_days
):
    now = project.clock
    project.write("src/auth.py", "def log_in(): ...\n")
    project.commit(at=int(now + days_ahead * 86_400))
    project.clock = now
    (page,) = ask(project).pages
    assert (page.level, page.references[0].age_days) == (level, age_days)
    assert [commit.id for commit in page.references[0].commits] == [project.head()]


def test_drift_is_at_least_as_old_as_later_commits(project, ask):
    now = project.clock
    project.write("src/auth.py", "def log_in(): ...\n")
    project.commit(at=now + 2_000_000_000)
    project.write("src/auth.py", "def sign_in(): ...\n")
    project.commit(at=now)
    (page,) = ask(project, age=3).pages
    assert (page.level, page.references[0].age_days) == ("possibly_stale", 3)


@pytest.fixture
def describe(ask):
    """Return what is said of the only source of the only page that is not fresh."""

    def describe_source(repository, age):
        (answer,) = ask(repository, age=age).pages[0].references
        return describe_reference(answer, describe_drift_time(answer))

    return describe_source


def test_source_changed_twice_is_described_by_its_first_and_last_change(project, describe):
    now = project.clock
    for days, text in ((1, "def log_in(): ...\n"), (80, "def sign_in(): ...\n")):
        project.write("src/auth.py", text)
        project.commit(at=now + days * 86_400)
    assert describe(project, 3) == "modified 2 months ago, last 3 days ago"
    assert describe(project, 300) == "modified 12 months ago, last 9 months ago"


def test_source_changed_twice_on_a_day_is_described_by_that_day(project, describe):
    now = project.clock
    for seconds, text in ((60, "def log_in(): ...\n"), (3600, "def sign_in(): ...\n")):
        project.write("src/auth.py", text)
        project.commit(at=now + seconds)
    assert describe(project, 3) == "modified 3 days ago"


def test_source_changed_and_then_deleted_is_described_by_its_deletion(project, describe):
    now = project.clock
    project.write("src/auth.py", "def log_in(): ...\n")
    project.commit(at=now + 86_400)
    (project.root / "src/auth.py").unlink()
    assert describe(project, 40) == "deleted today"
    project.commit(at=now + 80 * 86_400)
    assert describe(project, 3) == "deleted 3 days ago"


def test_source_created_and_then_changed_is_described_by_its_creation(repository, describe):
    now = repository.clock
    repository.page("docs/auth.md", "src/auth.py")
    repository.commit()
    for days in (1, 30):
        repository.write("src/auth.py", f"{days}\n")
        repository.commit(at=now + days * 86_400)
    assert describe(repository, 3) == "created 32 days ago, after the page"


def test_uncommitted_change_has_age_zero(project, ask):
    project.write("src/auth.py", "changed\n")
    (page,) = ask(project, age=100).pages
    (answer,) = page.references
    assert (page.level, answer.verdict, answer.age_days, answer.since, answer.commits) == (
        "possibly_stale",
        "modified",
        0,
        None,
        (),
    )


def test_deleted_source_makes_its_page_stale_at_once(project, ask, verdicts):
    project.remove("src/auth.py")
    project.commit()
    assert verdicts(ask(project)) == {"docs/auth.md": ("stale", {"src/auth.py": "deleted"})}


def test_source_that_never_existed_makes_its_page_stale_at_once(repository, ask, verdicts):
    repository.page("docs/a.md", "src/missing.py")
    repository.commit()
    assert verdicts(ask(repository)) == {"docs/a.md": ("stale", {"src/missing.py": "not_found"})}


def test_source_younger_than_its_page_is_created(repository, ask, verdicts):
    repository.page("docs/a.md", "src/later.py")
    repository.commit()
    repository.write("src/later.py", "x\n")
    repository.commit()
    assert verdicts(ask(repository, age=1)) == {
        "docs/a.md": ("possibly_stale", {"src/later.py": "created"})
    }


def test_moved_source_has_its_new_path(project, ask):
    project.git("mv", "src/auth.py", "src/session.py")
    commit = project.commit("rename")
    (answer,) = ask(project).pages[0].references
    assert (answer.verdict, answer.moved_to) == ("moved", "src/session.py")
    assert [c.id for c in answer.commits] == [commit]


def test_source_that_moved_and_changed_a_little_is_found(repository, ask):
    text = "".join(f"line {n}\n" for n in range(40))
    repository.write("src/a.py", text)
    repository.page("docs/a.md", "src/a.py")
    repository.commit()
    repository.remove("src/a.py")
    repository.write("lib/b.py", text + "one more\n")
    repository.write("lib/other.py", "nothing alike\n")
    repository.commit()
    repository.git("mv", "lib/b.py", "lib/c.py")
    repository.commit("and again")
    (answer,) = ask(repository).pages[0].references
    assert (answer.verdict, answer.moved_to) == ("moved", "lib/c.py")


def test_uncommitted_move_is_found(project, ask):
    (project.root / "src/auth.py").rename(project.root / "src/new.py")
    (answer,) = ask(project).pages[0].references
    assert (answer.verdict, answer.moved_to, answer.age_days) == ("moved", "src/new.py", 0)


def test_equal_file_that_existed_before_is_no_move(repository, ask, verdicts):
    repository.write("src/a/__init__.py", "")
    repository.write("src/b/__init__.py", "")
    repository.page("docs/a.md", "src/a/__init__.py")
    repository.commit()
    repository.remove("src/a/__init__.py")
    repository.commit()
    assert verdicts(ask(repository)) == {"docs/a.md": ("stale", {"src/a/__init__.py": "deleted"})}


def test_renamed_page_keeps_its_baseline(project, ask, verdicts):
    project.write("src/auth.py", "changed\n")
    project.commit()
    project.git("mv", "docs/auth.md", "docs/login.md")
    assert verdicts(ask(project)) == {
        "docs/login.md": ("possibly_stale", {"src/auth.py": "modified"})
    }
    project.commit("move the page")
    assert verdicts(ask(project)) == {
        "docs/login.md": ("possibly_stale", {"src/auth.py": "modified"})
    }


def test_mode_change_of_a_page_keeps_its_baseline(project, ask, verdicts):
    project.write("src/auth.py", "changed\n")
    project.commit()
    project.git("update-index", "--chmod=+x", "docs/auth.md")
    project.commit("executable, for whatever reason", add=False)
    project.git("checkout", "--quiet", "--", ".")
    assert verdicts(ask(project))["docs/auth.md"][0] == "possibly_stale"


def test_reverted_source_is_fresh_again(project, ask, verdicts):
    project.write("src/auth.py", "changed\n")
    project.commit()
    project.git("revert", "--no-edit", "HEAD")
    assert verdicts(ask(project)) == {"docs/auth.md": ("fresh", {"src/auth.py": "fresh"})}


def test_edit_of_the_page_renews_unpinned_references_only(repository, ask, verdicts):
    repository.write("src/a.py", "a\n")
    repository.write("src/b.py", "b\n")
    pin = repository.blob("src/b.py")[:12]
    repository.write(
        "docs/a.md",
        f"---\nsource_refs:\n  - src/a.py\n  - path: src/b.py\n    blob: {pin}\n---\ntext\n",
    )
    repository.commit()
    repository.write("src/a.py", "a2\n")
    repository.write("src/b.py", "b2\n")
    drift = repository.commit("both")
    repository.write(
        "docs/a.md",
        f"---\nsource_refs:\n  - src/a.py\n  - path: src/b.py\n    blob: {pin}\n---\ntypo\n",
    )
    repository.commit("typo")
    report = ask(repository)
    assert verdicts(report) == {
        "docs/a.md": ("possibly_stale", {"src/a.py": "fresh", "src/b.py": "modified"})
    }
    pinned = report.pages[0].references[1]
    assert (pinned.baseline, pinned.baseline_blob, pinned.baseline_commit) == ("pin", pin, None)
    assert [commit.id for commit in pinned.commits] == [drift]


def test_pin_absent_from_history_counts_from_the_page(repository, ask):
    repository.write("src/a.py", "a\n")
    repository.commit()
    repository.write("docs/a.md", "---\nsource_refs:\n  - path: src/a.py\n    blob: 1234567\n---\n")
    page = repository.commit("a pin from elsewhere")
    repository.write("src/a.py", "b\n")
    drift = repository.commit()
    (answer,) = ask(repository).pages[0].references
    assert answer.verdict == "modified"
    assert [c.id for c in answer.commits] == [drift]
    repository.git("reset", "--quiet", "--hard", page)
    (answer,) = ask(repository).pages[0].references
    assert [c.id for c in answer.commits] == [page]


def test_pinned_source_that_never_existed_is_not_found(repository, ask, verdicts):
    repository.write(
        "docs/a.md", "---\nsource_refs:\n  - path: src/tpyo.py\n    blob: 1234567\n---\n"
    )
    repository.commit()
    assert verdicts(ask(repository)) == {"docs/a.md": ("stale", {"src/tpyo.py": "not_found"})}


def test_directories_and_globs_are_assessed_by_their_contents(repository, ask, verdicts):
    repository.write("src/auth/a.py", "a\n")
    repository.write("src/auth/deep/b.ts", "b\n")
    repository.write("src/other.py", "o\n")
    repository.page("docs/dir.md", "src/auth/")
    repository.page("docs/glob.md", "src/**/*.py")
    repository.page("docs/none.md", "src/*.rs")
    repository.commit()
    assert verdicts(ask(repository)) == {
        "docs/dir.md": ("fresh", {"src/auth": "fresh"}),
        "docs/glob.md": ("fresh", {"src/**/*.py": "fresh"}),
        "docs/none.md": ("stale", {"src/*.rs": "not_found"}),
    }
    repository.write("src/auth/deep/b.ts", "b2\n")
    assert {path: level for path, (level, _) in verdicts(ask(repository)).items()} == {
        "docs/dir.md": "possibly_stale",
        "docs/glob.md": "fresh",
        "docs/none.md": "stale",
    }
    drift = repository.commit("typescript")
    report = ask(repository)
    directory = next(p for p in report.pages if p.page.filepath == "docs/dir.md").references[0]
    assert [c.id for c in directory.commits] == [drift]
    assert directory.current_blob == repository.git("rev-parse", "HEAD:src/auth")
    repository.write("src/auth/new.py", "n\n")
    repository.commit("python")
    assert verdicts(ask(repository))["docs/glob.md"] == (
        "possibly_stale",
        {"src/**/*.py": "modified"},
    )


def test_literal_path_wins_over_a_glob_and_a_fragment(repository, ask, verdicts):
    repository.write("pages/[id].ts", "x\n")
    repository.write("pages/i.ts", "decoy\n")
    repository.write("src/a#b.py", "x\n")
    repository.write("src/a.py", "def login(): ...\n")
    repository.page("docs/a.md", "pages/[id].ts", '"src/a#b.py"', '"src/a.py#login"', "src/a.py:12")
    repository.commit()
    repository.write("pages/i.ts", "changed decoy\n")
    repository.commit()
    assert verdicts(ask(repository)) == {
        "docs/a.md": (
            "fresh",
            {"pages/[id].ts": "fresh", "src/a#b.py": "fresh", "src/a.py": "fresh"},
        )
    }
    repository.remove("pages/[id].ts")
    repository.commit()
    assert verdicts(ask(repository))["docs/a.md"][1]["pages/[id].ts"] == "deleted"


def test_another_page_is_a_valid_source(repository, ask, verdicts):
    repository.write("README.md", "# English\n")
    repository.page("README.ja.md", "README.md")
    repository.commit()
    repository.write("README.md", "# English, again\n")
    repository.commit()
    assert verdicts(ask(repository)) == {
        "README.ja.md": ("possibly_stale", {"README.md": "modified"}),
    }


def test_edited_page_describes_the_work_tree(project, ask, verdicts):
    project.write("src/auth.py", "changed\n")
    project.commit()
    project.page("docs/auth.md", "src/auth.py", body="Rewritten.\n")
    report = ask(project)
    assert verdicts(report) == {"docs/auth.md": ("fresh", {"src/auth.py": "fresh"})}
    assert report.pages[0].references[0].baseline == "snapshot"


def test_pin_of_a_moved_source_is_found_at_its_old_paths(repository, ask):
    def page(source, pin):
        repository.write(
            "docs/a.md", f"---\nsource_refs:\n  - path: {source}\n    blob: {pin}\n---\ntext\n"
        )

    lines = "".join(f"line {number}\n" for number in range(20))
    repository.write("src/a.py", lines)
    pin = repository.blob("src/a.py")[:12]
    page("src/a.py", pin)
    repository.commit("pinned")
    repository.write("src/a.py", lines + "edited\n")
    edited = repository.commit("edited")
    repository.git("mv", "src/a.py", "src/b.py")
    page("src/b.py", pin)
    repository.commit("moved")
    repository.write("src/b.py", lines + "edited again\n")
    again = repository.commit("edited again")
    ((answer,),) = [page.references for page in ask(repository).pages]
    assert [commit.id for commit in answer.commits] == [again, edited]
    assert answer.since == answer.commits[-1].date

    page("src/b.py", repository.blob("src/b.py")[:12])
    repository.commit("reviewed")
    repository.git("mv", "src/b.py", "src/c.py")
    repository.write("src/c.py", lines + "edited while it moved\n")
    moved = repository.commit("moved and edited")
    page("src/c.py", repository.git("rev-parse", "HEAD~1:src/b.py")[:12])
    repository.commit("path rewritten")
    ((answer,),) = [page.references for page in ask(repository).pages]
    assert [commit.id for commit in answer.commits] == [moved]


def test_pages_without_commits_describe_the_work_tree(repository, ask, verdicts):
    repository.write("src/a.py", "a\n")
    repository.page("docs/a.md", "src/a.py", "src/none.py")
    assert verdicts(ask(repository)) == {
        "docs/a.md": ("stale", {"src/a.py": "fresh", "src/none.py": "not_found"})
    }


def test_old_revision_is_assessed_as_it_was(project, ask, verdicts):
    project.git("tag", "v1")
    project.write("src/auth.py", "changed\n")
    project.commit()
    assert verdicts(ask(project, ref="v1")) == {"docs/auth.md": ("fresh", {"src/auth.py": "fresh"})}
    assert verdicts(ask(project))["docs/auth.md"][0] == "possibly_stale"


def test_names_in_another_unicode_form_are_found(repository, ask, verdicts):
    repository.write("src/か\u3099.py", "nfd\n")
    repository.page("docs/a.md", "src/が.py")
    repository.commit()
    assert verdicts(ask(repository))["docs/a.md"][0] == "fresh"


def test_excluded_source_shows_only_its_verdict(repository, ask):
    repository.write("private/key.py", "secret\n")
    repository.page("docs/a.md", "private/key.py")
    repository.commit()
    repository.write("private/key.py", "another secret\n")
    repository.commit("rotate")
    (answer,) = ask(repository).pages[0].references
    assert (answer.verdict, answer.baseline_blob, answer.current_blob, answer.commits) == (
        "modified",
        None,
        None,
        (),
    )


def test_source_that_moved_into_an_excluded_path_does_not_show_it(repository, ask):
    repository.write("src/key.py", "secret\n")
    repository.page("docs/a.md", "src/key.py")
    repository.commit()
    (repository.root / "private").mkdir()
    repository.git("mv", "src/key.py", "private/key.py")
    repository.commit("hide it")
    (answer,) = ask(repository).pages[0].references
    assert (answer.verdict, answer.moved_to) == ("deleted", None)


def test_summary_counts_what_was_verified(project, ask):
    project.write("docs/free.md", "no sources\n")
    project.page("docs/gone.md", "src/none.py")
    project.commit()
    assert ask(project).summary._asdict() == {
        "documents": 3,
        "bound": 2,
        "verified": 2,
        "untracked": 1,
        "fresh": 1,
        "possibly_stale": 0,
        "stale": 1,
        "unknown": 0,
    }


def test_paths_limit_the_report(project, ask, verdicts):
    project.page("docs/more/b.md", "src/auth.py")
    project.commit()
    assert list(verdicts(ask(project, "docs/more"))) == ["docs/more/b.md"]
    assert list(verdicts(ask(project, "b.md"))) == ["docs/more/b.md"]
    assert list(verdicts(ask(project, "docs/*.md"))) == ["docs/auth.md"]


def test_shallow_clone_gives_the_verdict_unknown(project, new_repository, ask, verdicts):
    project.write("src/auth.py", "changed\n")
    project.commit()
    project.write("other.txt", "x\n")
    project.commit()
    clone = new_repository("shallow")
    clone.clock = project.clock
    clone.git("fetch", "--quiet", "--depth=1", f"file://{project.root}", "main")
    clone.git("reset", "--quiet", "--hard", "FETCH_HEAD")
    report = ask(clone)
    assert verdicts(report) == {"docs/auth.md": ("unknown", {"src/auth.py": "unknown"})}
    assert report.is_shallow
    assert report.summary.verified == 0
    clone.git("fetch", "--quiet", "--unshallow", f"file://{project.root}", "main")
    assert verdicts(ask(clone))["docs/auth.md"][0] == "possibly_stale"


def test_pin_needs_no_history(repository, new_repository, ask):
    repository.write("src/a.py", "a\n")
    pin = repository.blob("src/a.py")[:12]
    repository.write("docs/a.md", f"---\nsource_refs:\n  - path: src/a.py\n    blob: {pin}\n---\n")
    repository.commit()
    repository.write("src/a.py", "b\n")
    repository.commit()
    repository.write("x", "x")
    repository.commit()
    clone = new_repository("shallow")
    clone.clock = repository.clock
    clone.git("fetch", "--quiet", "--depth=1", f"file://{repository.root}", "main")
    clone.git("reset", "--quiet", "--hard", "FETCH_HEAD")
    (page,) = ask(clone).pages
    (answer,) = page.references
    assert (page.level, answer.verdict, answer.since) == ("stale", "modified", None)
