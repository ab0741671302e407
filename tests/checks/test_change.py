"""The findings that a change introduces, and those that it does not."""

import pytest


@pytest.fixture
def linked(repository):
    """Two pages that link to a third, one of them with old broken links."""
    repository.write("docs/a.md", "# A\n\n[b](b.md) and [old](old.md)\n\n[old](old.md)\n")
    repository.write("docs/b.md", "# B\n\n## Go\n")
    repository.write("docs/c.md", "# C\n\n[[b]] [go](b.md#go)\n")
    repository.commit("Begin")
    return repository


def staged(repository, found, *paths, **question):
    repository.git("add", "--all")
    return found(repository, *paths, staged=True, **question)


def test_change_without_links_introduces_nothing(linked, found):
    linked.write("docs/d.md", "# D\n")
    linked.write("src/x.py", "1\n")
    assert staged(linked, found) == []


def test_change_that_removes_a_target_introduces_the_broken_links_to_it(linked, found):
    linked.remove("docs/b.md")
    assert staged(linked, found) == [
        "error broken-link docs/a.md:3 markdown b.md",
        "error broken-link docs/c.md:3 wikilink b",
        "error broken-link docs/c.md:3 markdown b.md",
    ]
    assert staged(linked, found, "docs/a.md") == ["error broken-link docs/a.md:3 markdown b.md"]


def test_rename_breaks_links_and_a_removed_heading_breaks_anchors(linked, found):
    linked.git("mv", "docs/b.md", "docs/new.md")  # whose title is still B, so [[b]] finds it
    assert staged(linked, found, rules=["broken-link"]) == [
        "error broken-link docs/a.md:3 markdown b.md",
        "error broken-link docs/c.md:3 markdown b.md",
    ]
    linked.git("reset", "--quiet", "--hard")
    linked.write("docs/b.md", "# B\n\n## Stay\n")
    assert staged(linked, found) == ["warning missing-anchor docs/c.md:3 markdown b.md#go"]


ADDRESSES = {
    "docusaurus, relative": ("docusaurus.config.js", "docs", "./old", "./more/new"),
    "docusaurus": ("docusaurus.config.js", "docs", "/docs/old", "/docs/more/new"),
    "starlight": ("astro.config.mjs", "src/content/docs", "/old/", "/more/new/"),
    "nextra": ("next.config.js", "pages", "/old", "/more/new"),
    "jekyll": ("_config.yml", "guide", "/guide/old", "/guide/more/new"),
    "mkdocs, relative": ("mkdocs.yml", "docs", "../old/", "more/new.md"),
}
CONFIGS = {
    "docusaurus.config.js": "module.exports = { presets: [['classic', {}]] }\n",
    "astro.config.mjs": "import starlight from '@astrojs/starlight'\n",
    "next.config.js": "import nextra from 'nextra'\n",
    "_config.yml": "title: x\n",
    "mkdocs.yml": "site_name: x\n",
}


@pytest.fixture
def addressed(repository):
    """Return a function that makes a site with a page, and another that links to its address."""

    def make(config, folder, link, head=""):
        repository.write(config, CONFIGS[config])
        repository.write(f"{folder}/old.md", f"{head}# Old\n\n## Go\n\nText.\n")
        repository.write(f"{folder}/page.md", f"# Page\n\n[a]({link}) [b](/made/by/the/build)\n")
        repository.commit()
        (repository.root / folder / "more").mkdir()
        return repository

    return make


@pytest.mark.parametrize("site", ADDRESSES)
def test_address_of_a_page_that_a_change_moves_follows_it(addressed, found, fix, site):
    config, folder, old, new = ADDRESSES[site]
    repository = addressed(config, folder, old)
    repository.git("mv", f"{folder}/old.md", f"{folder}/more/new.md")
    assert staged(repository, found) == [f"error broken-link {folder}/page.md:3 markdown {old}"]
    fix(repository)
    page = (repository.root / folder / "page.md").read_text()
    assert page == f"# Page\n\n[a]({new}) [b](/made/by/the/build)\n"


def test_address_of_a_page_that_a_change_removes_is_broken(addressed, found):
    repository = addressed("docusaurus.config.js", "docs", "./old")
    repository.remove("docs/old.md")
    assert staged(repository, found) == ["error broken-link docs/page.md:3 markdown ./old"]


def test_address_in_a_page_that_a_change_moves_is_that_of_its_old_folder(addressed, found, fix):
    repository = addressed("next.config.js", "pages", "./old")
    repository.git("mv", "pages/page.md", "pages/more/page.md")
    assert staged(repository, found) == ["error broken-link pages/more/page.md:3 markdown ./old"]
    fix(repository)
    assert "[a](../old)" in (repository.root / "pages/more/page.md").read_text()


def test_address_that_a_moved_page_keeps_is_not_broken(addressed, found):
    repository = addressed("docusaurus.config.js", "docs", "/docs/own", "---\nslug: /own\n---\n")
    repository.git("mv", "docs/old.md", "docs/more/new.md")
    assert staged(repository, found) == []


def test_new_page_of_the_same_name_makes_links_ambiguous(repository, found):
    repository.write("a.md", "# A\n\n[[setup]]\n")
    repository.write("one/setup.md", "# One\n")
    repository.commit()
    repository.write("two/setup.md", "# Two\n")
    assert staged(repository, found) == ["warning ambiguous-link a.md:3 wikilink setup"]


def test_old_findings_on_moved_lines_are_not_introduced(linked, found):
    linked.write(
        "docs/a.md", "# A\n\nMore.\n\n[old](old.md), rewritten\n\n[b](b.md) and [old](old.md)\n"
    )
    assert staged(linked, found) == []
    linked.write("docs/a.md", "# A\n\n[old](old.md) [old](old.md) [third](old.md)\n")
    assert staged(linked, found) == ["error broken-link docs/a.md:3 markdown old.md"]


def test_old_findings_move_with_their_page(linked, found):
    linked.git("mv", "docs/a.md", "docs/moved.md")
    assert staged(linked, found) == []
    linked.git("mv", "docs/moved.md", "moved.md")
    assert staged(linked, found) == ["error broken-link moved.md:3 markdown b.md"]


def test_old_problem_of_the_front_matter_is_not_introduced(repository, found):
    repository.write("a.md", "---\nsource_refs:\n  - /a\n---\n# A\n")
    repository.commit()
    repository.write("a.md", "---\ntitle: A\nsource_refs:\n  - /a\n  - /b\n---\n# A\n")
    (finding,) = staged(repository, found)
    assert finding.startswith('warning bad-front-matter a.md:5 "/b" is an absolute path')


def test_drift_that_a_change_introduces_is_an_error_whatever_its_age(repository, found):
    repository.write("src/a.py", "1\n")
    repository.write("src/b.py", "1\n")
    repository.page("a.md", "src/a.py", "src/b.py")
    repository.commit("Begin")
    repository.write("src/a.py", "2\n")
    repository.commit("Old debt")
    assert staged(repository, found) == []
    repository.write("src/b.py", "2\n")
    assert staged(repository, found) == ["error stale-doc a.md:4 src/b.py"]
    repository.remove("src/b.py")
    assert staged(repository, found) == ["error missing-source a.md:4 src/b.py"]


def test_branch_is_one_change(linked, found):
    linked.git("checkout", "--quiet", "-b", "topic")
    linked.write("docs/d.md", "# D\n\n[b](b.md) [no](no.md)\n")
    linked.commit("Add d")
    linked.remove("docs/b.md")
    linked.commit("Remove b")
    linked.write("docs/c.md", "# C\n")
    linked.commit("Mend c")
    linked.git("checkout", "--quiet", "main")
    linked.write("docs/e.md", "# E\n\n[no](nothing.md)\n")
    linked.commit("Break something else")
    linked.git("checkout", "--quiet", "topic")
    assert found(linked, base="main") == [
        "error broken-link docs/a.md:3 markdown b.md",
        "error broken-link docs/d.md:3 markdown b.md",
        "error broken-link docs/d.md:3 markdown no.md",
    ]
    assert found(linked, base="main", ref="topic~2") == [
        "error broken-link docs/d.md:3 markdown no.md"
    ]


def test_merge_is_not_blamed_for_the_findings_of_its_parents(linked, found):
    linked.git("checkout", "--quiet", "-b", "topic")
    linked.write("docs/d.md", "# D\n\n[no](no.md)\n")
    linked.commit("Add d")
    linked.git("checkout", "--quiet", "main")
    linked.write("docs/e.md", "# E\n\n[no](no.md)\n")
    linked.commit("Add e")
    linked.git("merge", "--quiet", "--no-commit", "--no-ff", "topic")
    assert staged(linked, found) == []
    linked.write("docs/d.md", "# D\n\n[no](no.md) [none](none.md)\n")
    assert staged(linked, found) == ["error broken-link docs/d.md:3 markdown none.md"]


def test_first_commit_introduces_all_its_findings(repository, found):
    repository.write("a.md", "[x](x.md)\n")
    assert staged(repository, found) == ["error broken-link a.md:1 markdown x.md"]


def test_unstaged_changes_do_not_count(linked, found):
    linked.write("docs/c.md", "# C\n\n[no](no.md)\n")
    linked.git("add", "--all")
    linked.write("docs/c.md", "# C\n")
    assert found(linked, staged=True) == ["error broken-link docs/c.md:3 markdown no.md"]
    assert "docs/c.md" not in str(found(linked))


def test_page_edited_with_its_pinned_source_is_to_renew_the_pin(repository, check):
    repository.write("src/a.py", "a = 1\n")
    pin = f"---\nsource_refs:\n  - path: src/a.py\n    blob: {repository.blob('src/a.py')}\n---\n"
    repository.write("a.md", f"{pin}`a` is 1.\n")
    repository.write("b.md", f"{pin}`a` is 1.\n")
    repository.commit()
    repository.write("src/a.py", "a = 2\n")
    repository.write("a.md", f"{pin}`a` is 2.\n")
    repository.git("add", "--all")
    assert {
        finding.filepath: finding.hint for finding in check(repository, staged=True).findings
    } == {
        "a.md": "The change edits the page too: renew its pin if the page is accurate now.",
        "b.md": "Update the page if it is no longer accurate, then renew its pin.",
    }


def test_links_within_a_page_that_includes_another_stay_right_as_a_page_moves(repository, found):
    repository.write("docusaurus.config.js", CONFIGS["docusaurus.config.js"])
    repository.write("docs/_part.mdx", "Text.\n")
    links = "[go](#go) [old](./old.md)"
    page = f"import Part from './_part.mdx';\n\n# Page\n\n{links}\n\n<Part />\n\n## Go\n"
    repository.write("docs/page.mdx", page)
    repository.write("docs/old.md", "# Old\n\nText.\n")
    repository.commit()
    assert staged(repository, found) == []
    repository.git("mv", "docs/old.md", "docs/new.md")
    assert staged(repository, found) == ["error broken-link docs/page.mdx:5 markdown ./old.md"]
