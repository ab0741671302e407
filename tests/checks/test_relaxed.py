"""`relaxed-check`: what a change keeps its own check from reporting."""

import json

import pytest

from ubp.__main__ import main


@pytest.fixture
def project(repository):
    repository.write("src/a.py", "read_all()\n")
    repository.page("docs/a.md", "src/a.py", body="# A\n")
    repository.write("docs/b.md", "# B\n")
    repository.write(".ubp/config.json", "{}")
    repository.commit("Begin")
    repository.git("checkout", "--quiet", "-b", "topic")
    repository.write("src/a.py", "read_some()\n")
    repository.write("docs/b.md", "# B\n\n[gone](gone.md)\n")
    return repository


def configure(repository, **settings):
    repository.write(".ubp/config.json", json.dumps(settings))


def relaxed(found, repository, **question):
    """The findings of relaxed-check, and the rules of all others."""
    findings = found(repository, base="main", **question)
    own = sorted(line.split()[1] for line in findings if "relaxed-check" not in line)
    return [line for line in findings if "relaxed-check" in line], own


LINK = "warning relaxed-check docs/b.md:3 broken-link markdown gone.md"
STALE = "warning relaxed-check docs/a.md:3 stale-doc src/a.py"
UNBOUND = "warning relaxed-check docs/a.md:5 unbound-page"


def test_change_that_relaxes_nothing_is_checked_with_its_own_settings(project, found):
    project.commit("Break two things")
    assert relaxed(found, project) == ([], ["broken-link", "stale-doc"])


@pytest.mark.parametrize(
    ("settings", "unbound"),
    [
        (
            {
                "check": {
                    "severity": {"broken-link": "off", "stale-doc": "off", "relaxed-check": "off"}
                }
            },
            [],
        ),
        ({"check": {"severity": {"broken-link": "warning", "stale-doc": "warning"}}}, []),
        ({"source": {"exclude": ["docs/**"]}}, [UNBOUND]),
        ({"source": {"include": ["README.md"]}}, [UNBOUND]),
        (
            {
                "check": {
                    "ignore": [
                        {"path": "docs/**", "rule": "broken-link"},
                        {"path": "docs/**", "rule": "stale-doc"},
                        {"path": "docs/**", "rule": "relaxed-check"},
                    ]
                }
            },
            [],
        ),
    ],
    ids=["off", "warning", "exclude", "include", "ignore"],
)
def test_change_of_the_configuration_hides_no_finding(project, found, settings, unbound):
    configure(project, **settings)
    project.commit("Break two things and look away")
    findings, _ = relaxed(found, project)
    assert sorted(findings) == [STALE, *unbound, LINK]


@pytest.mark.parametrize(
    ("staleness", "unbound"),
    [
        ({"keys": ["other"]}, [f"{UNBOUND} src/a.py"]),
        ({"records": ["docs"]}, [UNBOUND]),
        ({"ignore_commits": ["Break"]}, []),
    ],
    ids=["keys", "records", "ignore_commits"],
)
def test_change_of_staleness_settings_hides_no_finding(project, found, staleness, unbound):
    configure(project, staleness=staleness)
    project.commit("Break two things and look away")
    assert relaxed(found, project) == ([STALE, *unbound], ["broken-link"])


@pytest.mark.parametrize(
    "settings",
    [{"links": {"root": "site"}}, {"sites": [{"generator": "vitepress", "folder": "site"}]}],
    ids=["root", "site"],
)
def test_a_root_or_site_that_a_change_adds_hides_no_broken_link(project, found, settings):
    project.write("docs/b.md", "# B\n")
    project.write("site/b.md", "# B\n\n[gone](/gone.md)\n")
    project.write("site/gone.md", "# Gone\n")
    configure(project, **settings)
    project.commit("Add a root")
    link = "warning relaxed-check site/b.md:3 broken-link markdown /gone.md"
    assert relaxed(found, project) == ([link], ["stale-doc"])


def test_a_change_that_adopts_the_configuration_keeps_its_root(repository, found):
    repository.write("docs/b.md", "# B\n")
    repository.commit("Begin")
    repository.git("checkout", "--quiet", "-b", "topic")
    repository.write("docs/b.md", "# B\n\n[gone](/gone.md)\n")
    repository.write("site/gone.md", "# Gone\n")
    configure(repository, links={"root": "site"})
    repository.commit("Adopt")
    assert relaxed(found, repository) == ([], [])


def test_ignored_commits_are_listed_though_the_base_ignores_them_too(project, found):
    project.git("stash", "--quiet")
    configure(project, staleness={"ignore_commits": ["[skip-docs]"]})
    project.commit("Configure")
    project.git("branch", "--force", "main")
    project.git("stash", "pop", "--quiet")
    project.commit("Break two things [skip-docs]")
    assert relaxed(found, project) == ([STALE], ["broken-link"])


def test_comments_and_debt_that_a_change_adds_are_listed(project, found):
    project.write("docs/b.md", "# B\n\n[gone](gone.md) <!-- ubp: ignore[broken-link] -->\n")
    project.commit("Ignore it")
    assert relaxed(found, project) == ([LINK], ["stale-doc"])
    project.write("docs/b.md", "# B\n\n[gone](gone.md)\n")
    assert main(["-C", str(project.root), "debt"]) == 0
    project.commit("Accept it")
    assert relaxed(found, project) == ([LINK], ["stale-doc"])


def test_comments_and_debt_of_the_base_count(project, found):
    project.git("checkout", "--quiet", "--force", "main")
    project.write("docs/b.md", "# B\n\n<!-- ubp: ignore[broken-link] -->\n[old](old.md)\n")
    project.commit("Ignore a link")
    project.git("checkout", "--quiet", "-b", "other")
    project.write("docs/b.md", "# B\n\n<!-- ubp: ignore[broken-link] -->\n[new](new.md)\n")
    project.commit("Another link")
    assert relaxed(found, project) == ([], [])


def test_severity_of_the_base_decides(project, found):
    project.git("checkout", "--quiet", "--force", "main")
    configure(project, check={"severity": {"relaxed-check": "error"}})
    project.commit("Be strict")
    project.git("checkout", "--quiet", "-b", "other")
    configure(project, check={"severity": {"stale-doc": "off"}})
    project.write("src/a.py", "read_some()\n")
    project.commit("Look away")
    assert relaxed(found, project)[0] == [STALE.replace("warning", "error")]


def test_change_that_adopts_the_configuration_keeps_its_keys(repository, found):
    repository.write("src/a.py", "read_all()\n")
    repository.write("docs/a.md", "---\ncovers: [src/a.py]\n---\n# A\n")
    repository.commit("Begin")
    repository.git("checkout", "--quiet", "-b", "topic")
    configure(repository, staleness={"keys": ["covers"]})
    repository.commit("Adopt")
    repository.write("src/a.py", "read_some()\n")
    repository.commit("Change")
    assert relaxed(found, repository) == ([], ["stale-doc"])


def test_change_that_makes_git_ignore_a_link_target_is_listed(project, found):
    project.write(".gitignore", "gone.md\n")
    project.commit("Break two things and look away")
    assert relaxed(found, project) == ([LINK], ["stale-doc"])


def test_files_that_the_base_ignores_are_generated(project, found):
    project.git("checkout", "--quiet", "--force", "main")
    project.write(".gitignore", "gone.md\n")
    project.commit("Ignore it")
    project.git("checkout", "--quiet", "-b", "other")
    project.write("docs/b.md", "# B\n\n[gone](gone.md)\n")
    project.commit("Link to it")
    assert relaxed(found, project) == ([], [])


def test_stale_lists_relaxed_settings_too(project, capsys):
    configure(project, source={"exclude": ["docs/a.md"]})
    project.commit("Look away")
    assert main(["-C", str(project.root), "stale", "--base", "main"]) == 0
    assert capsys.readouterr().out.startswith(
        "docs/a.md:3  warning  relaxed-check: Not reported because of this change: stale-doc: "
        "src/a.py was modified by this change."
    )
    assert main(["-C", str(project.root), "stale", "--base", "main", "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert [
        (relaxation["filepath"], relaxation["severity"]) for relaxation in record["relaxed"]
    ] == [("docs/a.md", "warning")]
