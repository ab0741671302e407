"""`staleness.records`, `ignore_commits` and `quiet_after`: what they silence, and what not."""

import json

import pytest


@pytest.fixture
def project(repository):
    for name in ("auth", "billing"):
        repository.write(f"src/{name}.py", f"{name}\n")
    repository.page("docs/guide.md", "src/auth.py", "src/billing.py")
    repository.page("docs/reports/2026.md", "src/auth.py")
    repository.write("docs/adr.md", "---\ndoc_type: adr\nsource_refs: [src/auth.py]\n---\n")
    repository.commit("Begin")
    return repository


def configure(repository, **settings):
    repository.write(".ubp/config.json", json.dumps({"staleness": settings}))


def levels(report):
    return {page.page.filepath: page.level for page in report.pages}


def introduced(report):
    return [page.page.filepath for page in report.introduced]


def test_records_of_the_past_are_never_stale(project, ask):
    configure(project, records=["docs/reports", "adr"])
    project.commit("Configure")
    project.git("rm", "--quiet", "src/auth.py")
    assert introduced(ask(project, staged=True)) == ["docs/guide.md"]
    project.commit("Remove")
    report = ask(project, age=30)
    assert levels(report) == {
        "docs/guide.md": "stale",
        "docs/adr.md": "untracked",
        "docs/reports/2026.md": "untracked",
    }
    assert (report.summary.bound, report.summary.untracked) == (1, 2)


def test_ignored_commits_make_no_page_stale_until_another_commit_does(project, ask):
    configure(project, ignore_commits=["[skip-docs]"])
    project.commit("Configure")
    project.write("src/auth.py", "formatted\n")
    project.commit("Format [skip-docs]")
    assert set(levels(ask(project, age=30)).values()) == {"fresh"}
    assert introduced(ask(project, base="HEAD~1")) == []
    project.write("src/auth.py", "changed\n")
    assert set(levels(ask(project)).values()) == {"possibly_stale"}
    changed = project.commit("Change")
    assert len(introduced(ask(project, base="HEAD~1"))) == 3
    report = ask(project, age=30)
    drifted = [r for page in report.pages for r in page.references if r.verdict != "fresh"]
    assert {tuple(commit.id for commit in r.commits) for r in drifted} == {(changed,)}


def test_source_that_an_ignored_commit_deletes_is_reported(project, ask):
    configure(project, ignore_commits=["[skip-docs]"])
    project.git("rm", "--quiet", "src/auth.py")
    project.commit("Remove [skip-docs]")
    assert len(introduced(ask(project, base="HEAD~1"))) == 3


def test_page_that_is_stale_too_often_is_only_mentioned(project, ask):
    project.write("src/auth.py", "changed\n")
    project.commit("First")
    project.write("src/billing.py", "changed\n")
    project.git("add", "--all")
    assert introduced(ask(project, staged=True)) == ["docs/guide.md"]
    configure(project, quiet_after=2)
    assert introduced(ask(project, staged=True)) == ["docs/guide.md"]
    configure(project, quiet_after=1)
    report = ask(project, staged=True)
    assert introduced(report) == []
    assert [page.page.filepath for page in report.behind] == ["docs/guide.md"]
    project.git("rm", "--quiet", "--force", "src/billing.py")
    assert introduced(ask(project, staged=True)) == ["docs/guide.md"], "its source is gone"
