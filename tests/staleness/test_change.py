"""`ubp stale --staged` and `--base`: what a change introduces, and nothing else."""

import pytest


@pytest.fixture
def project(repository):
    for name in ("auth", "billing"):
        repository.write(f"src/{name}.py", f"{name}\n")
        repository.page(f"docs/{name}.md", f"src/{name}.py")
    repository.commit("two pages")
    return repository


@pytest.fixture
def introduced(ask):
    def read(repository, **question):
        report = ask(repository, **question)
        return {
            page.page.filepath: {
                a.source_path: a.verdict
                for a in page.references
                if a.verdict != "fresh" and not a.is_debt
            }
            for page in report.introduced
        }

    return read


def test_staged_source_without_its_page_is_reported(project, introduced):
    project.write("src/auth.py", "changed\n")
    assert introduced(project, staged=True) == {}
    project.git("add", "src/auth.py")
    assert introduced(project, staged=True) == {"docs/auth.md": {"src/auth.py": "modified"}}


def test_page_staged_with_its_source_is_clean(project, introduced):
    project.write("src/auth.py", "changed\n")
    project.page("docs/auth.md", "src/auth.py", body="Rewritten.\n")
    project.git("add", "src/auth.py")
    assert introduced(project, staged=True) == {"docs/auth.md": {"src/auth.py": "modified"}}
    project.git("add", "--all")
    assert introduced(project, staged=True) == {}


def test_page_that_only_moves_is_still_reported(project, introduced):
    project.write("src/auth.py", "changed\n")
    project.git("mv", "docs/auth.md", "docs/login.md")
    project.git("add", "--all")
    assert introduced(project, staged=True) == {"docs/login.md": {"src/auth.py": "modified"}}


@pytest.mark.parametrize(
    "edit",
    [
        lambda data: data + b"\n",
        lambda data: data.replace(b"\n", b"  \n"),
        lambda data: data.replace(b"\n", b"\r\n"),
        lambda data: data.replace(b"---\nText", b"---\n\n\n \t\nText"),
        lambda data: b"\xef\xbb\xbf" + data.rstrip(b"\n"),
        lambda data: data.replace(b"---\nText", b"---\n \tText"),
        lambda data: data.replace(b"Text", "Te\u200bx\u00adt\ufe0f\U000e0041".encode()),
        lambda data: data.replace(b"Text.", "\u3000Text.\u00a0".encode()),
    ],
    ids=["line", "spaces", "crlf", "lines", "byte-order-mark", "indent", "invisible", "unicode"],
)
@pytest.mark.parametrize("path", ["docs/auth.md", "docs/login.md"], ids=["kept", "renamed"])
def test_a_page_edited_but_for_its_text_is_not_reviewed(project, introduced, edit, path):
    project.git("checkout", "--quiet", "-b", "topic")
    project.write("src/auth.py", "changed\n")
    project.git("mv", "-f", "docs/auth.md", path) if path != "docs/auth.md" else None
    file = project.root / path
    file.write_bytes(edit(file.read_bytes()))
    project.git("add", "--all")
    assert introduced(project, staged=True) == {path: {"src/auth.py": "modified"}}
    project.commit("Change")
    assert introduced(project, base="main") == {path: {"src/auth.py": "modified"}}
    file.write_bytes(file.read_bytes() + b"And more.\n")
    project.commit("Review")
    assert introduced(project, base="main") == {}


def test_a_page_edited_and_restored_is_not_reviewed(project, introduced, ask):
    project.git("checkout", "--quiet", "-b", "topic")
    project.write("src/auth.py", "changed\n")
    project.commit("Change the source")
    project.page("docs/auth.md", "src/auth.py", body="Rewritten.\n")
    project.commit("Edit the page")
    assert introduced(project, base="main") == {}
    project.page("docs/auth.md", "src/auth.py")
    project.commit("Restore the page")
    assert introduced(project, base="main") == {"docs/auth.md": {"src/auth.py": "modified"}}
    assert introduced(project, base="main~0", ref="topic") == {
        "docs/auth.md": {"src/auth.py": "modified"}
    }
    assert ask(project).pages[0].level == "fresh"  # the verdict on a state is Git's


def test_pinned_reference_needs_an_equal_pin(repository, introduced):
    def page(pin, body):
        repository.write(
            "docs/a.md",
            f"---\nsource_refs:\n  - path: src/a.py\n    blob: {pin}\n---\n{body}\n",
        )

    repository.write("src/a.py", "a\n")
    page(repository.blob("src/a.py")[:12], "text")
    repository.commit()
    old = repository.blob("src/a.py")[:12]
    repository.write("src/a.py", "b\n")
    page(old, "another text")
    repository.git("add", "--all")
    assert introduced(repository, staged=True) == {"docs/a.md": {"src/a.py": "modified"}}
    page(repository.blob("src/a.py")[:12], "another text")
    repository.git("add", "--all")
    assert introduced(repository, staged=True) == {}


def test_old_debts_do_not_fail_a_commit_that_adds_none(project, introduced, ask):
    project.write("src/auth.py", "changed\n")
    project.commit("debt")
    project.write("src/billing.py", "changed\n")
    project.write("README.md", "unrelated\n")
    project.git("add", "--all")
    assert introduced(project, staged=True) == {"docs/billing.md": {"src/billing.py": "modified"}}
    report = ask(project, staged=True, every=True)
    assert {p.page.filepath: [a.is_debt for a in p.references] for p in report.pages} == {
        "README.md": [],
        "docs/auth.md": [True],
        "docs/billing.md": [False],
    }


def test_page_that_was_behind_already_is_mentioned_and_fails_nothing(project, introduced, ask):
    project.write("src/auth.py", "changed\n")
    project.commit("debt")
    project.write("src/auth.py", "changed again\n")
    project.git("add", "src/auth.py")
    assert introduced(project, staged=True) == {}
    report = ask(project, staged=True)
    assert [page.page.filepath for page in report.behind] == ["docs/auth.md"]


def test_source_removed_after_it_drifted_is_reported_as_deleted(project, introduced):
    project.write("src/auth.py", "changed\n")
    project.commit("debt")
    project.git("rm", "--quiet", "src/auth.py")
    assert introduced(project, staged=True) == {"docs/auth.md": {"src/auth.py": "deleted"}}
    project.commit("gone")
    project.write("docs/other.md", "text\n")
    project.git("add", "--all")
    assert introduced(project, staged=True) == {}


def test_drift_after_an_edit_of_the_page_fails_again(project, introduced):
    project.write("src/auth.py", "changed\n")
    project.commit("debt")
    project.page("docs/auth.md", "src/auth.py", body="Rewritten.\n")
    project.commit("edited")
    project.write("src/auth.py", "changed again\n")
    project.git("add", "src/auth.py")
    assert introduced(project, staged=True) == {"docs/auth.md": {"src/auth.py": "modified"}}


def pinned(repository, path, source, pin, body="text"):
    repository.write(path, f"---\nsource_refs:\n  - path: {source}\n    blob: {pin}\n---\n{body}\n")


def test_reference_added_with_a_pin_from_history_fails_nothing(project, introduced):
    old = project.blob("src/auth.py")[:12]
    project.write("src/auth.py", "changed\n")
    project.write("docs/new.md", "text\n")
    project.commit("drifted since")
    pinned(project, "docs/new.md", "src/auth.py", old)
    project.git("add", "--all")
    assert introduced(project, staged=True) == {}
    project.commit("bound")
    assert introduced(project, base="HEAD~1") == {}


def test_new_reference_to_nothing_fails(project, introduced):
    project.page("docs/new.md", "src/none.py")
    pinned(project, "docs/auth.md", "src/auth.py", project.blob("src/billing.py"))
    project.git("add", "--all")
    assert introduced(project, staged=True) == {
        "docs/auth.md": {"src/auth.py": "modified"},  # the same reference, with a wrong pin
        "docs/new.md": {"src/none.py": "not_found"},
    }


def test_page_moved_and_edited_keeps_its_pinned_references(project, introduced):
    body = "".join(f"line {number}\n" for number in range(20))
    pin = project.blob("src/auth.py")[:12]
    pinned(project, "docs/auth.md", "src/auth.py", pin, body)
    project.commit("pinned")
    project.git("mv", "docs/auth.md", "docs/login.md")
    pinned(project, "docs/login.md", "src/auth.py", pin, body + "one more\n")
    project.write("src/auth.py", "changed\n")
    project.git("add", "--all")
    assert introduced(project, staged=True) == {"docs/login.md": {"src/auth.py": "modified"}}


def test_reference_rewritten_for_a_moved_source_is_the_same_reference(project, introduced):
    lines = "".join(f"line {number}\n" for number in range(20))
    project.write("src/auth.py", lines)
    pin = project.blob("src/auth.py")[:12]
    pinned(project, "docs/auth.md", "src/auth.py", pin)
    project.commit("pinned")
    project.git("mv", "src/auth.py", "src/login.py")
    project.write("src/login.py", lines + "one more\n")
    pinned(project, "docs/auth.md", "src/login.py", pin)
    project.git("add", "--all")
    expected = {"docs/auth.md": {"src/login.py": "modified"}}
    assert introduced(project, staged=True) == expected
    project.commit("moved, edited, and rewritten")
    assert introduced(project, base="HEAD~1") == expected
    project.git("mv", "src/login.py", "src/session.py")
    pinned(project, "docs/auth.md", "src/session.py", pin)
    project.git("add", "--all")
    assert introduced(project, staged=True) == {}  # it was behind before


def pinned_twice(project, first, second, pin):
    listed = "".join(f"  - path: {path}\n    blob: {pin}\n" for path in (first, second))
    project.write("docs/auth.md", f"---\nsource_refs:\n{listed}---\ntext\n")


def test_source_whose_path_is_rewritten_wrongly_is_not_excused_by_one_with_the_same_pin(
    project, introduced
):
    project.write("src/a/__init__.py", "")
    project.write("src/b/__init__.py", "")
    pin = project.blob("src/a/__init__.py")[:12]
    pinned_twice(project, "src/a/__init__.py", "src/b/__init__.py", pin)
    project.commit("pinned")
    project.git("rm", "--quiet", "src/a/__init__.py")
    project.commit("a is gone")
    project.git("mv", "src/b", "src/c")
    pinned_twice(project, "src/a/__init__.py", "src/cc/__init__.py", pin)
    project.git("add", "--all")
    assert introduced(project, staged=True).keys() == {"docs/auth.md"}


def test_reference_that_gets_the_pin_of_another_one_is_not_compared_with_it(project, introduced):
    project.write("src/z.py", "auth\n")
    project.write("src/auth.py", "auth\n")
    pin = project.blob("src/auth.py")[:12]
    pinned(project, "docs/auth.md", "src/auth.py", pin)
    project.commit("pinned")
    project.write("src/z.py", "changed\n")
    project.commit("long ago")
    pinned_twice(project, "src/auth.py", "src/z.py", pin)
    project.git("add", "--all")
    assert introduced(project, staged=True) == {}


def test_change_that_reverts_a_debt_is_clean(project, introduced):
    project.write("src/auth.py", "changed\n")
    project.commit("debt")
    project.write("src/auth.py", "auth\n")
    project.git("add", "--all")
    assert introduced(project, staged=True) == {}


def test_deletions_and_moves_are_changes(project, introduced):
    project.git("rm", "--quiet", "src/auth.py")
    project.git("mv", "src/billing.py", "src/money.py")
    assert introduced(project, staged=True) == {
        "docs/auth.md": {"src/auth.py": "deleted"},
        "docs/billing.md": {"src/billing.py": "moved"},
    }


def test_first_commit_is_assessed_too(repository, introduced):
    repository.write("src/a.py", "a\n")
    repository.page("docs/a.md", "src/a.py", "src/none.py")
    repository.git("add", "--all")
    assert introduced(repository, staged=True) == {"docs/a.md": {"src/none.py": "not_found"}}


def test_merge_is_not_blamed_for_the_debts_of_its_parents(project, introduced):
    project.git("checkout", "--quiet", "-b", "feature")
    project.write("src/auth.py", "changed on the branch\n")
    project.commit("debt of the branch")
    project.git("checkout", "--quiet", "main")
    project.write("other.txt", "x\n")
    project.commit()
    project.git("merge", "--quiet", "--no-ff", "--no-commit", "feature")
    assert introduced(project, staged=True) == {}
    project.write("src/billing.py", "changed in the merge itself\n")
    project.git("add", "--all")
    assert introduced(project, staged=True) == {"docs/billing.md": {"src/billing.py": "modified"}}


def test_branch_is_assessed_as_one_change_from_its_merge_base(project, introduced):
    project.git("checkout", "--quiet", "-b", "feature")
    project.page("docs/auth.md", "src/auth.py", body="Updated first.\n")
    project.commit("page first")
    project.write("src/auth.py", "then the source\n")
    project.commit("source then")
    project.git("checkout", "--quiet", "main")
    project.write("src/auth.py", "elsewhere\n")
    project.commit("main goes on")
    project.git("checkout", "--quiet", "feature")
    assert introduced(project, base="main") == {}
    project.write("src/billing.py", "changed\n")
    project.commit()
    assert introduced(project, base="main") == {"docs/billing.md": {"src/billing.py": "modified"}}
    assert introduced(project, base="main", ref="HEAD~1") == {}


def test_branch_in_a_shallow_clone_is_assessed_from_its_merge_base(
    project, new_repository, introduced
):
    project.write("x", "x")
    project.commit()
    project.git("checkout", "--quiet", "-b", "feature")
    project.write("src/auth.py", "changed\n")
    project.commit()
    clone = new_repository("shallow")
    clone.clock = project.clock
    clone.git("fetch", "--quiet", "--depth=2", f"file://{project.root}", "feature", "main")
    clone.git("reset", "--quiet", "--hard", project.git("rev-parse", "feature"))
    assert introduced(clone, base="HEAD~1") == {"docs/auth.md": {"src/auth.py": "modified"}}


def test_commit_a_and_commit_path_are_assessed_by_the_index_of_git(project, introduced, tmp_path):
    hook = project.root / ".git/hooks/pre-commit"
    record = tmp_path / "index"
    hook.write_text(f'#!/bin/sh\ncp "$GIT_INDEX_FILE" {record}\nexit 1\n')
    hook.chmod(0o755)
    project.write("src/auth.py", "changed\n")
    project.write("src/billing.py", "changed\n")
    project.git("commit", "-m", "x", "src/auth.py", check=False)
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("GIT_INDEX_FILE", str(record))
        assert introduced(project, staged=True) == {"docs/auth.md": {"src/auth.py": "modified"}}
    project.git("commit", "-a", "-m", "x", check=False)
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("GIT_INDEX_FILE", str(record))
        assert sorted(introduced(project, staged=True)) == ["docs/auth.md", "docs/billing.md"]
