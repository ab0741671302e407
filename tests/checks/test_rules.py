"""What each rule finds, and what it does not."""

import inspect
import json
import os

import pytest

from ubp.checks.registry import NAMES, RULES, find_rules
from ubp.core.config_file import schema_text
from ubp.core.errors import UsageError
from ubp.index import history
from ubp.index.view import View


def test_rules_are_modules_of_their_name_with_manual_and_default_severity():
    schema = json.loads(schema_text())
    known = schema["properties"]["check"]["properties"]["severity"]["properties"]
    assert {rule.name: rule.severity for rule in RULES} == {
        name: setting["default"] for name, setting in known.items()
    }
    for rule in RULES:
        assert rule.module.__name__ == f"ubp.checks.rules.{rule.name.replace('-', '_')}"
        # What accepts old findings is pruned, and what a change hides is reviewed: not ignored.
        is_ignorable = rule.name not in {"obsolete-debt", "relaxed-check"}
        assert (f"ubp: ignore[{rule.name}]" in rule.manual) == is_ignorable
        assert "What to do:" in rule.manual
        assert inspect.isgeneratorfunction(rule.find)


def test_unknown_rule_is_refused_with_the_nearest_name():
    with pytest.raises(UsageError) as caught:
        find_rules(["broken-links"])
    assert caught.value.hint.startswith("Did you mean broken-link? ")
    assert find_rules(NAMES) == RULES


def test_source_in_a_submodule_or_behind_a_symbolic_link_is_not_said_never_to_have_existed(
    repository, new_repository, check
):
    inner = new_repository("inner")
    inner.write("src/a.py", "A = 1\n")
    inner.commit()
    repository.git("submodule", "--quiet", "add", str(inner.root), "sub")
    repository.write("src/a.py", "A = 1\n")
    os.symlink("src", repository.root / "link")
    sources = ["sub/src/a.py", "link/a.py", "src/b.py"]
    lines = "".join(f"- {source}\n" for source in sources)
    repository.write("a.md", f"---\nsource_refs:\n{lines}---\n# A\n")
    repository.commit()
    there = "is in a submodule or behind a symbolic link, where Git lists no files."
    assert [finding.message for finding in check(repository).findings] == [
        f"sub/src/a.py {there}",
        f"link/a.py {there}",
        "src/b.py never existed.",
    ]


def test_drifted_sources_and_missing_sources_are_one_finding_each(repository, found):
    for name in ("kept", "changed", "deleted", "moved"):
        repository.write(f"src/{name}.py", f"{name}\n" * 9)
    repository.page(
        "a.md",
        "src/kept.py",
        "src/changed.py",
        "src/deleted.py",
        "src/moved.py#L3",
        "src/never.py",
        "src/*.c",
        "../out.py",
        "/etc/passwd",
    )
    repository.commit("Begin")
    repository.write("src/changed.py", "other\n")
    repository.remove("src/deleted.py")
    repository.git("mv", "src/moved.py", "src/new.py")
    repository.commit("Change")
    gone = [
        "error missing-source a.md:5 src/deleted.py",
        "error missing-source a.md:6 src/moved.py#L3",
        "error missing-source a.md:7 src/never.py",
        "error missing-source a.md:8 src/*.c",
    ]
    advice = "use a path relative to the repository root."
    bad = [
        f'warning bad-front-matter a.md:9 "../out.py" is outside the repository; {advice}',
        f'warning bad-front-matter a.md:10 "/etc/passwd" is an absolute path; {advice}',
    ]
    assert found(repository, days=9) == ["error stale-doc a.md:4 src/changed.py", *gone, *bad]
    assert found(repository, days=2) == ["warning stale-doc a.md:4 src/changed.py", *gone, *bad]


@pytest.mark.parametrize(
    "link",
    [
        "[a](nowhere.md)",
        "[a](<no where.md>)",
        "[a](no%20where.md#x)",
        "[a](../b/nowhere.markdown)",
        "[a](/nowhere.md)",
        "[a](image.png)",
        "![shown](nowhere.png)",
        "![shown][r]\n\n[r]: nowhere.png",
        '<img alt="shown" src="nowhere.png">',
        "a <img src='nowhere.png'> b",
        "![[nowhere.png]]",
        "[[Nowhere]]",
        "[[docs/Nowhere|depends_on]]",
        "[a]\n\n[a]: nowhere.md",
    ],
)
def test_link_to_nothing_is_broken(repository, found, link):
    repository.write("docs/a.md", f"# A\n\n{link}\n")
    repository.commit()
    (finding,) = found(repository)
    assert finding.startswith("error broken-link docs/a.md:")


@pytest.mark.parametrize(
    "link",
    [
        "[a](https://example.com/nowhere.md)",
        "[a](mailto:ann@example.com)",
        "[a](//example.com/a.md)",
        "[route](/guides/setup)",
        "[route](../guides/setup)",
        "[route](/guides/setup/)",
        "[route](/guides/setup.html)",
        "[out](../../other/a.md)",
        "[excluded](../private/a.md)",
        "[through a submodule](../theme/a.md)",
        "[through a link](../linked/a.md)",
        "[b](b.md)",
        "[b](b)",
        "[folder](../docs/)",
        "[script](../src/x.py#L3)",
        "[top](#top) [here](#a)",
        "`[[Nowhere]]`",
        "    [a](nowhere.md)",
        "<!-- [[Nowhere]] -->",
        "%% [[Nowhere]] %%",
        "%%\n[[Nowhere]]\n%%",
        "\\[a](nowhere.md)",
        "![shown](/nowhere.png)",
        "`<img src='nowhere.png'>`",
        "![shown](https://example.org/nowhere.png)",
        "[a]({{ site.url }}/nowhere.md)",
        "[[4]] says so",
        "[[ -f nowhere ]] && [[ $a == nowhere ]]",
        "[[TOC]] [[_TOC_]]",
        "[[1, 2]] [[false,null,2019-05-13]]",
        "[[B|any words]]",
        "[[b#^block]]",
    ],
)
def test_link_that_may_resolve_is_not_broken(repository, new_repository, found, link):
    theme = new_repository("theme")
    theme.write("a.md", "# Theme\n")
    theme.commit()
    repository.git("submodule", "--quiet", "add", str(theme.root), "theme")
    (repository.root / "linked").symlink_to("theme")
    repository.write("src/x.py", "")
    repository.write("private/a.md", "")
    repository.write("docs/b.md", "# B\n\nText. ^block\n")
    repository.write("docs/a.md", f"# A\n\n{link}\n")
    repository.commit()
    assert found(repository) == []


def test_link_to_a_symlink_to_a_page_that_is_not_committed_is_not_broken(repository, found):
    repository.write("a.md", "# A\n")
    repository.write("docs/b.md", "[A](a.md)\n")
    (repository.root / "docs/c.md").symlink_to("b.md")
    repository.write("docs/d.md", "[C](c.md)\n")
    repository.commit()
    (repository.root / "docs/a.md").symlink_to("../a.md")
    repository.git("mv", "docs/c.md", "docs/e.md")
    repository.write("docs/d.md", "[C](e.md)\n")
    assert found(repository) == []
    repository.git("add", "--all")
    assert found(repository, staged=True) == []
    repository.write("docs/d.md", "[C](c.md)\n")
    assert found(repository) == ["error broken-link docs/d.md:1 markdown c.md"]


@pytest.mark.parametrize(
    ("link", "is_broken"),
    [
        ("[generated](../reference/cli.md#run)", False),
        ("[without suffix](../reference/cli)", False),
        ("[from the root](/reference/cli.md)", False),
        ("![drawn](../reference/out/graph.png)", False),
        ("[another](../reference/nowhere.md)", True),
        ("[kept](../reference/out/kept.md)", True),
        ("[by the user alone](notes.md)", True),
        ("[by the user's file of this name](mine.md)", True),
        ("[[reference/cli]]", True),
    ],
)
def test_target_that_git_ignores_is_generated(repository, found, tmp_path, link, is_broken):
    repository.write("reference/.gitignore", "/cli.md\nout/*\n!out/kept.md\n")
    repository.write(".git/info/exclude", "notes.md\n")
    (tmp_path / ".gitignore").write_text("mine.md\n")
    repository.git("config", "core.excludesFile", str(tmp_path / ".gitignore"))
    repository.write("docs/a.md", f"# A\n\n{link}\n")
    repository.commit()
    assert bool(found(repository)) == is_broken


def test_missing_heading_is_a_warning_with_the_nearest(repository, check):
    repository.write("b.md", "# B\n\n## Set up & go\n\n### $?\n\n<a id=html></a>\n\n## X {#own}\n")
    fine = "[1](b.md#set-up--go) [2](b.md#HTML) [3](b.md#own) [4](b.md#section) [[b#Set up go]]"
    repository.write("a.md", f"# A\n\n{fine}\n\n[x](b.md#set-ups-go) [y](#nope) [[b#^no]]\n")
    repository.commit()
    report = check(repository)
    assert [
        (finding.severity, finding.rule, finding.message, finding.hint)
        for finding in report.findings
    ] == [
        (
            "warning",
            "missing-anchor",
            "b.md has no heading #set-ups-go.",
            "Did you mean #set-up--go?",
        ),
        ("warning", "missing-anchor", "a.md has no heading #nope.", ""),
        ("warning", "missing-anchor", "b.md has no heading #^no.", ""),
    ]


def test_page_with_the_link_is_not_suggested(repository, check):
    repository.write("RELATED.md", "[Related](docs/related.md)\n")
    (broken,) = check(repository).findings
    assert (broken.message, broken.hint, broken.fix) == (
        "docs/related.md does not exist.",
        "",
        None,
    )
    repository.write("guide/related.md", "# Related\n")
    (broken,) = check(repository).findings
    assert broken.hint == "Did you mean guide/related.md?"


def test_section_with_the_link_is_not_suggested(repository, check):
    page = "# P\n\n## Request instances\n\n{}\n\n## Other\n\n{}\n"
    link = "[x](#client-instances)"
    repository.write("a.md", page.format(link, "Text."))
    repository.write("b.md", page.format("Text.", link))
    repository.write("c.md", page.format("[x](#requestinstances)", "Text."))
    assert {finding.filepath: finding.hint for finding in check(repository).findings} == {
        "a.md": "",
        "b.md": "The most similar heading is #request-instances.",
        "c.md": "Did you mean #request-instances?",
    }


def test_heading_with_other_numbers_is_not_suggested(repository, check):
    links = "[x](#v535-2021-release-of-it) [y](#install-server-1)"
    headings = "## v11.05 2026 release of it\n\n## Install the server\n"
    repository.write("a.md", f"# P\n\n{links}\n\n{headings}")
    assert [finding.hint for finding in check(repository).findings] == [
        "",
        "The most similar heading is #install-the-server.",
    ]


def test_link_resolved_alphabetically_is_ambiguous_and_nothing_else(repository, check):
    repository.write("one/setup.md", "# One\n")
    repository.write("two/setup.md", "# Two\n")
    repository.write("a.md", "# A\n\n[[setup#Nothing]] and [[two/setup]]\n")
    repository.commit()
    (finding,) = check(repository).findings
    assert (finding.rule, finding.message, finding.related) == (
        "ambiguous-link",
        "setup matches several pages: one/setup.md, two/setup.md.",
        "one/setup.md",
    )


def test_label_similar_to_a_type_is_a_warning(repository, check):
    repository.write("b.md", "# B\n")
    repository.write(
        "a.md", "# A\n\n[[b|depend_on]] [[b|depends_on]] [[b|depends on the weather]]\n"
    )
    repository.commit()
    (finding,) = check(repository).findings
    assert (finding.rule, finding.column, finding.message, finding.hint) == (
        "unknown-link-type",
        1,
        'Unknown link type "depend_on".',
        "Did you mean depends_on?",
    )


def test_orphans_are_reported_only_on_request(repository, found):
    repository.write("README.md", "# Home\n\n[a](a.md)\n")
    repository.write("a.md", "---\ntitle: A\n---\n\n# A\n")
    repository.write("b.md", "---\ntitle: B\n---\n\n# B\n\n[me](b.md)\n")
    repository.write("c.md", "<!-- ubp: ignore[orphan-doc] -->\n# C\n")
    repository.commit()
    assert found(repository) == []
    assert found(repository, rules=["orphan-doc"]) == ["warning orphan-doc b.md:5"]
    repository.write(".ubp/config.json", '{"check": {"severity": {"orphan-doc": "error"}}}')
    assert found(repository) == ["error orphan-doc b.md:5"]


def test_configuration_sets_severities(repository, found):
    repository.write("a.md", "# A\n\n[x](x.md) [y](#y)\n")
    repository.write(
        ".ubp/config.json",
        '{"check": {"severity": {"broken-link": "warning", "missing-anchor": "error"}}}',
    )
    assert found(repository) == [
        "warning broken-link a.md:3 markdown x.md",
        "error missing-anchor a.md:3 markdown #y",
    ]
    repository.write(".ubp/config.json", '{"check": {"severity": {"broken-link": "off"}}}')
    assert found(repository) == ["warning missing-anchor a.md:3 markdown #y"]


def test_paths_and_rules_limit_the_findings(repository, check):
    repository.write("docs/a.md", "[x](x.md) [y](#y)\n")
    repository.write("docs/b.md", "[x](x.md)\n")
    repository.commit()
    report = check(repository, "docs/a.md", rules=["broken-link"])
    assert (report.documents, report.rules) == (1, ("broken-link",))
    assert [finding.filepath for finding in report.findings] == ["docs/a.md"]
    assert len(check(repository).findings) == 3
    assert check(repository, ref="HEAD").findings == check(repository).findings


@pytest.fixture
def broad(repository):
    """A source that changed ten times without its page, and a folder of which one file counts."""
    repository.write("src/hub.py", "0\n")
    repository.write("src/auth/a.py", "0\n")
    repository.page("docs/a.md", "src/hub.py")
    repository.page("docs/b.md", "src/auth/")
    repository.commit("Begin")
    for number in range(1, 11):
        repository.write("src/hub.py", f"{number}\n")
        repository.write(f"src/auth/{'b' if number > 3 else 'a'}.py", f"{number}\n")
        if number <= 3:
            repository.page("docs/b.md", "src/auth/", body=f"{number}\n")
        repository.commit("Change")
    return repository


def test_source_that_fires_without_an_answer_is_too_broad(broad, check, found):
    asked = check(broad, rules=["broad-source"])
    assert [(finding.line, finding.message, finding.hint) for finding in asked.findings] == [
        (
            3,
            "src/hub.py changed in 10 of 10 commits; the page in 0 of them, and after 0 more.",
            "List the file that the page actually describes, or remove the source.",
        ),
        (
            3,
            "src/auth changed in 10 of 10 commits; the page only along with a few of its files.",
            "List src/auth/a.py instead (fires 7 times → 0, keeps all 3 edits).",
        ),
    ]
    broad.page("docs/a.md", "src/hub.py # ubp: ignore[broad-source]")
    assert found(broad, rules=["broad-source"]) == [
        "warning broad-source docs/b.md:3 src/auth",
    ]


def test_change_introduces_only_broad_sources_that_it_adds(broad, found):
    broad.page("docs/a.md", "src/hub.py", "src/auth/")
    broad.git("add", ".")
    assert found(broad, staged=True, rules=["broad-source"]) == [
        "warning broad-source docs/a.md:4 src/auth"
    ]


def test_pinned_source_has_its_own_advice(repository, check):
    repository.write("src/a.py", "1\n")
    repository.write("src/b.py", "1\n")
    repository.commit()
    pin = repository.blob("src/b.py")
    repository.write(
        "a.md", f"---\nsource_refs:\n  - src/a.py\n  - path: src/b.py\n    blob: {pin}\n---\n"
    )
    repository.commit()
    repository.write("src/a.py", "2\n")
    repository.write("src/b.py", "2\n")
    assert [finding.hint for finding in check(repository).findings] == [
        "Update the page, or acknowledge it as still accurate.",
        "Update the page if it is no longer accurate, then renew its pin.",
    ]


@pytest.mark.parametrize(
    ("written", "fixed"),
    [
        ("[b](B.md)", "[b](b.md)"),
        ("[b](b.MD)", "[b](b.md)"),
        ("[b](B)", "[b](b.md)"),
        ("[c](Sub/c.md)", "[c](sub/c.md)"),
        ("![d](D.png)", "![d](d.PNG)"),
    ],
)
def test_link_that_differs_only_in_case_is_broken(repository, found, fix, written, fixed):
    repository.write("docs/a.md", f"# A\n\n{written}\n")
    for path in ("docs/b.md", "docs/sub/c.md"):
        repository.write(path, "# B\n")
    repository.write("docs/d.PNG", "x")
    repository.commit()

    (finding,) = found(repository)
    fix(repository)

    assert finding.startswith("error broken-link docs/a.md:3")
    assert (repository.root / "docs/a.md").read_text().endswith(f"{fixed}\n")


def test_fragments_without_effect_are_warnings(repository, check):
    repository.write("src/a.py", "def f(): ...\n")
    repository.write("Makefile", "all:\n")
    repository.page("a.md", "src/a.py#f", "Makefile#all", "src#f", "Makefile#L1")
    repository.commit()
    assert [
        (finding.line, finding.severity, finding.message)
        for finding in check(repository).findings
        if finding.rule == "ignored-fragment"
    ] == [
        (
            4,
            "warning",
            "Makefile#all is compared as a whole: UBP finds no symbols in this kind of file.",
        ),
        (
            5,
            "warning",
            "src#f is compared as a whole: only files have symbols, sections and lines.",
        ),
    ]


def test_a_folder_that_many_globs_search_is_listed_once(repository, check, monkeypatch):
    for number in range(6):
        repository.write(f"src/m{number}.py", "1\n")
        repository.page(f"docs/p{number}.md", f'"src/*{number}.py"')
    repository.commit()
    listed = []
    list_tree, files = history.list_tree, View.files
    monkeypatch.setattr(history, "list_tree", lambda *of: listed.append("before") or list_tree(*of))
    monkeypatch.setattr(
        View, "files", lambda view, folder="": listed.append(folder) or files(view, folder)
    )
    for number in range(6):
        repository.write(f"src/m{number}.py", "2\n")
    assert len(check(repository, rules=["stale-doc"]).findings) == 6
    assert (listed.count("before"), listed.count("src")) == (1, 1)
