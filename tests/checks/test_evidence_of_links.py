"""A link is a finding where something shows that it is broken; the others are counted."""

import pytest

from ubp.checks.accept import accept_findings
from ubp.checks.forms import unconfirmed_sentences
from ubp.search.graph import Graph
from ubp.workspace import Workspace


@pytest.fixture
def guide(repository):
    """A site of VitePress with a page that the index links to."""
    repository.write("docs/.vitepress/config.mts", "export default {}\n")
    repository.write("package.json", '{"devDependencies": {"vitepress": "^1.6.4"}}\n')
    repository.write("docs/setup.md", "# Setup\n\n## Install\n\n## Update\n")
    repository.write("docs/index.md", "# Index\n\n[setup](/setup#install)\n")
    repository.commit("Begin")
    return repository


def hints(report):
    return [(finding.subject, finding.hint) for finding in report.findings]


def forms(report):
    return [(item.form.written, item.lost) for item in report.unconfirmed]


def test_address_that_no_version_had_is_counted_with_an_example(guide, check):
    guide.write("docs/index.md", "# Index\n\n[x](/api/one) [y](/api/two)\n")
    report = check(guide)
    assert report.findings == ()
    (item,) = report.unconfirmed
    form = ("broken-link", "vitepress", "docs", "/…", "docs/.vitepress/config.mts")
    assert item == (form, 2, "/api/one", "docs/index.md", 3)
    (sentence,) = unconfirmed_sentences([item])
    assert sentence == (
        "2 links lead nowhere by the rules that UBP knows, but nothing else shows that they are"
        " broken: 2 written as `/…` in docs (/api/one in docs/index.md:3)."
        " `ubp check --unconfirmed` lists them."
    )


def test_path_with_a_typing_error_in_the_name_is_broken(guide, check):
    guide.write("docs/index.md", "# Index\n\n[x](./settup) [y](setpu.md#install) [z](./stop)\n")
    report = check(guide, rules=["broken-link"])
    assert [subject for subject, _ in hints(report)] == ["markdown ./settup", "markdown setpu.md"]
    assert forms(report) == [("…", 1)]


def test_ref_of_hugo_is_broken_where_its_page_was_removed(repository, check):
    repository.write("hugo.toml", "baseURL = 'https://example.org/'\n")
    repository.write("content/a/gone.md", "# Gone\n")
    repository.write("content/a/one/same.md", "# One\n")
    repository.write("content/a/two/Same.md", "# Two\n")
    repository.commit()
    repository.git("rm", "-q", "content/a/gone.md")
    refs = ("gone", "never.md", "same", "https://example.org/gone", "#gone", "/a/gone", "TWO/same")
    text = "".join(f'[x]({{{{< ref "{ref}" >}}}})\n' for ref in refs)
    repository.write("content/a/use.md", f"# Use\n\n{text}")
    repository.write("README.md", '# Read me\n\n{{< ref "none" >}}\n')
    repository.commit()
    report = check(repository)
    assert [subject for subject, _ in hints(report)] == ["include gone", "include /a/gone"]
    assert all("existed until" in hint for _, hint in hints(report))
    assert forms(report) == [("{{< ref … >}}", 1)]


SPHINX_PAGE = """# Index

```{toctree}
guide/use
guide/uze
```

{doc}`guide/use`, {doc}`guide/use.md`, {doc}`guide/none`, {doc}`other:guide/none`,
{ref}`there`, {ref}`T <In-rst>`,
{ref}`not-there`, {ref}`search`, {ref}`python:x`
"""


@pytest.fixture
def sphinx(repository):
    """A site of Sphinx with pages in Markdown and in reStructuredText."""
    repository.write("docs/conf.py", "extensions = ['myst_parser']\n")
    repository.write("docs/guide/use.md", "(there)=\n# Use\n")
    repository.write("docs/guide/rest.rst", ".. _in-rst:\n\nRest\n====\n")
    repository.write("docs/index.md", SPHINX_PAGE)
    repository.commit()
    return repository


def test_references_of_sphinx_to_no_page_and_no_label_are_broken(sphinx, check):
    assert [subject for subject, _ in hints(check(sphinx))] == [
        "include guide/uze",
        "include guide/use.md",
        "include guide/none",
        "include not-there",
    ]


def test_references_that_other_projects_or_programs_may_have_are_not_broken(sphinx, check):
    config = "extensions = ['myst_parser', 'sphinx.ext.intersphinx']\n"
    sphinx.write("docs/conf.py", config)
    assert [subject for subject, _ in hints(check(sphinx))] == ["include guide/uze"]
    sphinx.write("docs/conf.py", config + "open('uze.md', 'w')\n")
    sphinx.write("docs/index.md", SPHINX_PAGE.replace("uze", "made"))
    assert check(sphinx).findings == ()


def test_label_that_a_change_removes_is_broken_even_where_others_may_have_it(sphinx, check):
    sphinx.write("docs/conf.py", "extensions = ['myst_parser', 'sphinx.ext.intersphinx']\n")
    sphinx.write("docs/index.md", "# Index\n\n{ref}`there`\n")
    sphinx.commit()
    sphinx.write("docs/guide/use.md", "(elsewhere)=\n# Use\n")
    assert hints(check(sphinx)) == [("include there", "docs/guide/use.md had this label.")]
    sphinx.write("docs/guide/new.md", "(there)=\n# New\n")
    assert check(sphinx).findings == ()


def test_label_that_a_change_moves_to_another_format_is_not_broken(sphinx, check):
    sphinx.write("docs/index.md", "# Index\n\n{ref}`there`\n")
    sphinx.commit()
    sphinx.git("mv", "docs/guide/use.md", "docs/guide/use.rst")
    sphinx.write("docs/guide/use.rst", ".. _there:\n\nUse\n===\n")
    assert check(sphinx).findings == ()


def test_label_with_a_capital_letter_that_is_not_ascii_is_found(sphinx, check):
    sphinx.write("docs/index.md", "# Index\n\n{ref}`Überblick` {ref}`Übersicht`\n")
    sphinx.write("docs/guide/rest.rst", ".. _Überblick:\n\nRest\n====\n")
    assert [subject for subject, _ in hints(check(sphinx))] == ["include Übersicht"]


def test_pages_that_a_program_of_the_build_writes_are_not_broken(sphinx, check):
    sphinx.write("docs/index.md", "# Index\n\n```{toctree}\napi/pack\n```\n")
    sphinx.write("docs/api/index.md", "# API\n")
    sphinx.commit()
    assert [subject for subject, _ in hints(check(sphinx))] == ["include api/pack"]
    sphinx.write("docs/Makefile", "api:\n\tsphinx-apidoc -o api ../src\n")
    assert check(sphinx).findings == ()


def test_pages_and_labels_that_an_extension_writes_are_not_broken(sphinx, check):
    sphinx.write("docs/conf.py", "extensions = ['myst_parser', 'autodoc2']\n")
    assert check(sphinx).findings == ()


def test_unconfirmed_links_are_warnings_where_they_are_asked_for(guide, found):
    guide.write("docs/index.md", "# Index\n\n[x](/api/one)\n")
    assert found(guide, rules=["broken-link"], lists_unconfirmed=True) == [
        "warning broken-link docs/index.md:3 markdown /api/one"
    ]


def test_links_of_a_state_are_read_once_to_find_and_once_to_count(guide, check, monkeypatch):
    # A link from the root, one to a heading, one by path and a wikilink: each needs its own counts.
    links = "[x](/api/one) [y](/setup#none) [z](api/two.md) [[nowhere]]"
    guide.write("docs/index.md", f"# Index\n\n{links}\n")
    guide.write("notes/a.md", "# A\n\n[x](nowhere/one.md) [y](#Nowhere)\n")
    passes = []
    all_edges = Graph.all_edges
    monkeypatch.setattr(Graph, "all_edges", lambda self: passes.append(1) or all_edges(self))
    assert check(guide).unconfirmed
    assert len(passes) == 2


def test_address_of_a_page_that_was_removed_is_a_finding_with_the_commit(guide, check):
    guide.write("docs/old.md", "# Old\n")
    guide.write("docs/index.md", "# Index\n\n[x](/old)\n")
    guide.commit("Add a page")
    guide.git("rm", "-q", "docs/old.md")
    guide.commit("Remove a page")
    ((subject, hint),) = hints(check(guide))
    assert subject == "markdown /old"
    assert hint.startswith(f"docs/old.md existed until {guide.git('rev-parse', 'HEAD')[:8]} (")


def test_path_of_no_file_in_a_folder_that_exists_is_a_finding(guide, check):
    guide.write("docs/index.md", "# Index\n\n[x](gone.md) [y](api/gone.md)\n")
    report = check(guide)
    assert hints(report) == [("markdown gone.md", "")]
    assert forms(report) == [("….md", 1)]


@pytest.mark.parametrize("book", [False, True])
def test_path_of_no_file_is_a_finding_where_no_build_makes_folders(repository, check, book):
    if book:
        repository.write("book.toml", "[book]\ntitle = 'x'\n")
        repository.write("src/SUMMARY.md", "# Summary\n\n- [a](old/a.md)\n")
    repository.write("src/gone.md", "# Gone\n")
    repository.write("src/old/a.md", "# A\n\n[x](src/gone.md)\n")
    repository.commit("Begin")
    assert hints(check(repository)) == [("markdown src/gone.md", "Did you mean ../gone.md?")]


@pytest.mark.parametrize("is_listed", [False, True])
def test_paths_in_pages_that_a_build_copies_into_a_book_are_not_confirmed(
    repository, check, is_listed
):
    pages = "./use/begin.md" if is_listed else "./use/end.md"
    repository.write("docs/book/book.toml", "[book]\ntitle = 'x'\nsrc = '.'\n")
    repository.write("docs/book/SUMMARY.md", f"# Summary\n\n- [a]({pages})\n")
    repository.write("docs/use/begin.md", "# A\n\n[x](gone.md) [y](../made/index.md)\n")
    repository.commit("Begin")
    subjects = {finding.subject for finding in check(repository).findings}
    copied = {"markdown gone.md", "markdown ../made/index.md"}
    assert subjects & copied == (set() if is_listed else copied)


@pytest.mark.parametrize(
    ("script", "text", "is_made"),
    [
        ("deploy.sh", "cp ../net/README.md docs/net.md\n", True),
        ("deploy.sh", "cp ../net/README.md docs/subnet.md docs/net.mdx docs/readme.md\n", False),
        (".github/workflows/docs.yml", "run: cat net/*.md > docs/net.md\n", True),
        ("src/main.py", "print('docs/net.md')\n", False),
    ],
)
@pytest.mark.parametrize("was_there", [False, True])
def test_page_that_a_build_writes_is_not_confirmed(  # noqa: PLR0917
    repository, check, script, text, is_made, was_there
):
    if was_there:
        repository.write("docs/net.md", "# Net\n")
        repository.commit("Begin")
        repository.remove("docs/net.md")
    repository.write("mkdocs.yml", "site_name: x\n")
    repository.write("docs/index.md", "# A\n\n[x](net.md) [y](guide/readme.md)\n")
    repository.write("docs/guide/a.md", "# A\n")
    repository.write("src/readme.md", "# A\n")
    repository.write(script, text)
    repository.commit("Write")
    subjects = {finding.subject for finding in check(repository).findings}
    assert subjects == {"markdown guide/readme.md"} | (set() if is_made else {"markdown net.md"})


@pytest.mark.parametrize("is_linked", [False, True])
def test_page_is_read_where_a_symbolic_link_shows_it(repository, check, is_linked):
    repository.write("CONTRIBUTING.md", "# A\n\n[x](setup.md) [y](gone.md)\n")
    repository.write("docs/setup.md", "# Setup\n")
    if is_linked:
        (repository.root / "docs/CONTRIBUTING.md").symlink_to("../CONTRIBUTING.md")
    repository.commit("Write")
    subjects = {finding.subject for finding in check(repository).findings}
    assert subjects == {"markdown gone.md"} | (set() if is_linked else {"markdown setup.md"})


@pytest.mark.parametrize("kind", ["Set-up", "Restore", "restore"])
@pytest.mark.parametrize("count", [19, 20])
def test_headings_in_a_folder_whose_anchors_have_capitals_are_not_confirmed(
    repository, check, kind, count
):
    """No program that is known writes anchors so: `#Set-up`."""
    names = [f"{kind}-{number}" for number in range(count)]
    headings = "".join(f"## {name.replace('-', ' ')}\n\n" for name in names)
    links = " ".join(f"[x](a.md#{name})" for name in names)
    repository.write("manual/a.md", f"# A\n\n{headings}")
    repository.write("manual/b.md", f"# B\n\n{links} [gone](a.md#Roll-back)\n")
    repository.write("README.md", "# Readme\n\n[x](#roll-back)\n")
    repository.commit("Begin")
    subjects = {finding.subject for finding in check(repository).findings}
    is_unknown = kind != "restore" and count == 20
    assert subjects == {"markdown #roll-back"} | (
        set() if is_unknown else {"markdown a.md#Roll-back"}
    )


@pytest.mark.parametrize(
    ("package", "is_known"),
    [
        ('{"devDependencies": {"vitepress": "^1.6.4"}}', True),
        ('{"devDependencies": {"vitepress": "2.0.0-alpha.16"}}', False),
        ('{"devDependencies": {"vitepress": "next"}}', False),
        ("{}", False),
    ],
)
def test_anchor_of_which_vitepress_2_makes_that_of_the_heading_is_not_confirmed(
    guide, check, package, is_known
):
    guide.write("package.json", package)
    guide.write("docs/setup.md", "# Setup\n\n## Install\n\n## writeTo\n")
    guide.write("docs/index.md", "# Index\n\n[x](/setup#install) [y](/setup#setup)\n")
    guide.write("docs/more.md", "# More\n\n[x](/setup#writeTo)\n")
    assert bool(check(guide).findings) is is_known
    guide.write("docs/package.json", '{"dependencies": {"vitepress": "~1.2"}}')
    assert len(check(guide).findings) == 1


def test_anchor_that_the_generator_decomposes_gets_no_fix_that_looks_the_same(guide, check):
    guide.write("docs/setup.md", "# Setup\n\n" + "".join(f"## {n}. x\n\n" for n in range(3)))
    guide.write("docs/more.md", "# More\n\n## JIT コンパイル\n\n[x](#jit-コンパイル)\n")
    links = " ".join(f"[x](/setup#_{number}-x)" for number in range(3))
    guide.write("docs/index.md", f"# Index\n\n{links}\n")
    (finding,) = check(guide).findings
    assert finding.hint == (
        'The heading "JIT コンパイル" has another anchor. The site\'s generator decomposes its'
        " characters (Unicode NFKD): give the heading an id of its own, as in {#id}."
    )
    assert finding.fix is None


@pytest.mark.parametrize("line", ["@OPTIONS@", "%%OPTIONS%%", "  @@options@@"])
def test_heading_may_be_where_a_script_puts_text(handbook, check, line):
    handbook.write("docs/setup.md", f"# Setup\n\n## Install\n\n{line}\n")
    assert forms(check(handbook)) == [("#", 1)]
    handbook.write("docs/setup.md", f"# Setup\n\n## Install\n\nWith {line} here.\n")
    assert hints(check(handbook)) == [("markdown setup.md#roll-back", "")]


def test_label_in_a_site_of_mystmd_may_be_of_any_page(repository, check):
    repository.write("docs/myst.yml", "version: 1\n")
    repository.write("docs/a.md", "# A\n\n## One\n\n[](#elsewhere) [b](b.md#gone-too)\n")
    repository.write("docs/b.md", "# B\n\n## Two\n\n## Three\n")
    repository.commit("Begin")
    report = check(repository)
    assert hints(report) == [("markdown b.md#gone-too", "")]
    assert forms(report) == [("#", 1)]


def test_included_file_and_path_of_a_forge_are_not_confirmed_in_absent_folders(repository, check):
    repository.write("book.toml", "[book]\ntitle = 'x'\n")
    repository.write("src/a.md", "# A\n\n```rust\n{{#include src/a.rs}}\n```\n")
    repository.write(".github/advice.md", "# Advice\n\n[x](../tree/HEAD/gone.md)\n")
    repository.commit()
    report = check(repository)
    assert report.findings == ()
    assert sorted(forms(report)) == [("….md", 1), ("….rs", 1)]


@pytest.fixture
def blog(repository):
    """A site of Jekyll with a post, and links to four headings of a page with its layout."""
    front = "---\nlayout: post\n---\n\n"
    repository.write("_config.yml", "title: x\n")
    repository.write("guide.md", f"{front}# Guide\n\n## One\n\n## Two\n\n## Six\n\n## Ten\n")
    links = " ".join(f"[x](/guide#{name})" for name in ("one", "two", "six", "ten"))
    repository.write("_posts/2024-01-01-x.md", f"{front}# X\n\n## Y\n\n{links} [z](#roll-back)\n")
    repository.commit("Begin")
    return repository


def test_heading_is_a_finding_in_a_layout_that_shows_the_text_alone(blog, check):
    assert hints(check(blog)) == [("markdown #roll-back", "")]


def test_heading_is_not_confirmed_in_a_layout_that_shows_more(blog, check):
    text = (blog.root / "_posts/2024-01-01-x.md").read_text()
    blog.write("_posts/2024-01-01-x.md", text.replace("layout: post", "layout: steps"))
    assert forms(check(blog)) == [("#", 1)]


def test_path_in_a_piece_that_other_pages_include_is_not_confirmed(guide, check):
    guide.write("docs/snippets/first.md", "[x](gone.md)\n")
    assert check(guide).findings == ()


@pytest.mark.parametrize("piece", ["snippets/first", "_first"])
def test_heading_linked_in_a_piece_may_be_of_the_page_that_includes_it(guide, check, piece):
    guide.write(f"docs/{piece}.md", "# First\n\n## Second\n\n[x](#elsewhere)\n")
    assert forms(check(guide)) == [("#", 1)]


def test_index_that_a_build_makes_of_a_readme_is_not_confirmed(repository, check):
    repository.write("book.toml", "[book]\ntitle = 'x'\n")
    repository.write("src/SUMMARY.md", "# Summary\n\n- [a](a.md)\n- [b](b/README.md)\n")
    repository.write("src/a.md", "# A\n\n[b](b/index.md)\n")
    repository.write("src/b/README.md", "# B\n")
    repository.commit("Begin")
    assert check(repository).findings == ()


def test_link_that_leaves_its_folder_is_a_finding_where_the_folder_has_the_file(guide, check):
    guide.write("docs/api/types/Reader.md", "# Reader\n")
    guide.write("docs/links.md", "# Links\n\n" + "[x](setup.md)\n" * 50)
    guide.write(
        "docs/api/use/x/app.md", "[a](../../../types/Reader.md) [b](../../../types/Gone.md)\n"
    )
    assert [subject for subject, _ in hints(check(guide))] == ["markdown ../../../types/Reader.md"]


@pytest.mark.parametrize(("found", "lost"), [(5, 2), (4, 2), (5, 3)])
def test_path_from_the_root_is_one_where_most_such_paths_in_pages_of_no_site_are(
    repository, check, found, lost
):
    repository.write("design/a.md", "# A\n")
    links = ["/design/a.md"] * found + [f"/design/gone-{number}.md" for number in range(lost)]
    repository.write("design/b.md", "# B\n\n" + "".join(f"[x]({link})\n" for link in links))
    repository.commit("Write")
    subjects = {subject for subject, _ in hints(check(repository))}
    assert subjects == (
        {f"markdown {link}" for link in links[5:]} if (found, lost) == (5, 2) else set()
    )


def test_address_that_begins_in_a_folder_is_a_finding_where_a_page_is_a_file(guide, check):
    guide.write("docs/use/begin.md", "# Begin\n\n[x](../end) [y](../setup) [z](../gone)\n")
    guide.write("docs/use/end.md", "# End\n")
    guide.write("docs/more/end.md", "# End\n")
    guide.commit("Write")
    assert [subject for subject, _ in hints(check(guide))] == ["markdown ../end"]


def test_file_that_hugo_mounts_is_not_missing(repository, check):
    repository.write(
        "site/hugo.yaml",
        "baseURL: https://example.org/\nmodule:\n  mounts:\n"
        "    - {source: content, target: content}\n"
        "    - {source: ../README.md, target: content/about/README.md}\n",
    )
    links = "[a](README.md) [b](LICENSE.md)"
    repository.write("site/content/about/_index.md", f"# About\n\n{links}\n")
    repository.write("README.md", "# Read me\n")
    repository.commit()

    subjects = [finding.subject for finding in check(repository).findings]
    assert subjects == ["markdown LICENSE.md"]


@pytest.mark.parametrize(("heading", "is_known"), [("## 設定", True), ("##設定", False)])
def test_mkdocs_counts_headings_without_a_blank(repository, check, heading, is_known):
    repository.write("mkdocs.yml", "site_name: x\n")
    links = "[a](#_1) [b](#_2) [c](#_5)"
    repository.write("docs/a.md", f"# 使用\n\n{links}\n\n{heading}\n\n## 導入\n\ntext\n")
    repository.commit()

    found = [finding.subject for finding in check(repository).findings]
    assert found == (["markdown #_5"] if is_known else [])


@pytest.mark.parametrize("index", ["index.md", "other.md"])
def test_readme_beside_an_index_is_not_a_page_of_mkdocs(repository, check, index):
    repository.write("mkdocs.yml", "site_name: x\n")
    repository.write(f"docs/{index}", "# Home\n")
    repository.write("docs/README.md", "# Readme\n\n[x](#set-up--go)\n\n## Set up / go\n")
    links = "".join(f"[x](#step-{number}-or-more)\n" for number in range(3))
    headings = "".join(f"## Step {number}: or more\n\n" for number in range(3))
    repository.write("docs/steps.md", f"# Steps\n\n{links}\n{headings}")
    repository.commit("Write")
    subjects = [subject for subject, _ in hints(check(repository))]
    assert subjects == ([] if index == "index.md" else ["markdown #set-up--go"])


def test_links_that_leave_copied_pages_are_not_confirmed(guide, check):
    guide.write("docs/api/x/app.md", "[a](../../../src/a.c) [b](../../b.md)\n")
    assert forms(check(guide)) == [("../…", 2)]


def test_prefix_of_a_generator_is_not_confirmed(guide, check):
    guide.write("docs/index.md", "# Index\n\n[x](@/setup.md)\n")
    assert forms(check(guide)) == [("@/…", 1)]


def test_heading_that_an_earlier_version_had_is_a_finding_with_the_commit(guide, check):
    guide.write("docs/setup.md", "# Setup\n\n## Deploy\n\n<Steps />\n")
    guide.commit("Rename a heading")
    ((subject, hint),) = hints(check(guide))
    assert subject == "markdown /setup#install"
    assert hint.startswith(f"Until {guide.git('rev-parse', 'HEAD')[:8]} (")
    assert ") it had this heading." in hint


@pytest.mark.parametrize(
    ("earlier", "hint"),
    [
        ("## Own slots\n\n## Scoped own slots\n", "The most similar heading is #scoped-own-slots."),
        ("## Own slots\n", "Did you mean #scoped-own-slots?"),
    ],
)
def test_heading_that_stood_beside_the_lost_one_is_not_its_new_name(guide, check, earlier, hint):
    guide.write("docs/setup.md", f"# Setup\n\n{earlier}\n## More\n")
    guide.write("docs/index.md", "# Index\n\n[x](/setup#own-slots) [y](/setup#more)\n")
    guide.commit("Write")
    guide.write("docs/setup.md", "# Setup\n\n## Data\n\n## Scoped own slots\n\n## More\n")
    for _ in range(2):
        (finding,) = check(guide).findings
        assert (hint in finding.hint, finding.fix is not None) == (True, hint.startswith("Did"))
        guide.commit("Rename")


@pytest.mark.parametrize("heading", ["## Roll back", "Roll back\n---------"])
def test_heading_that_became_a_line_of_text_is_found_in_an_earlier_version(guide, check, heading):
    before, after = "# Setup\n\n## A\n\n", "Text.\n\n" * 50
    guide.write("docs/setup.md", f"{before}{heading}\n\n{after}<Steps />\n")
    guide.write("docs/index.md", "# Index\n\n[x](/setup#roll-back) [y](/setup#never)\n")
    guide.commit("Add a heading")
    guide.write("docs/setup.md", f"{before}Roll back\n\n{after}<Steps />\n")
    guide.commit("Make it text")
    removal = guide.git("rev-parse", "HEAD")[:8]
    guide.write("docs/setup.md", f"{before}Roll back\n\n{after}End.\n<Steps />\n")
    guide.commit("Edit elsewhere")
    assert [hint[:14] for _, hint in hints(check(guide))] == [f"Until {removal}", ""]


def test_heading_that_the_work_tree_lacks_is_a_finding(guide, check):
    guide.write("docs/setup.md", "# Setup\n\n## Deploy\n\n<Steps />\n")
    assert hints(check(guide)) == [("markdown /setup#install", "In HEAD it had this heading.")]
    guide.write("docs/steps/a.md", "# A\n")
    guide.git("mv", "docs/setup.md", "docs/steps/setup.md")
    guide.write("docs/index.md", "# Index\n\n[setup](/steps/setup#install)\n")
    assert hints(check(guide)) == [
        ("markdown /steps/setup#install", "In HEAD docs/setup.md had this heading.")
    ]


@pytest.mark.parametrize("is_staged", [False, True])
def test_address_of_a_page_that_head_alone_has_is_a_finding(guide, check, is_staged):
    guide.write("docs/old.md", "# Old\n")
    guide.write("docs/index.md", "# Index\n\n[x](/old)\n")
    guide.commit("Add a page")
    guide.remove("docs/old.md")
    if is_staged:
        guide.git("add", "-A")
    assert hints(check(guide)) == [("markdown /old", "HEAD has docs/old.md.")]


def test_heading_of_a_page_that_was_renamed_since_is_found_in_its_old_file(guide, check):
    guide.git("mv", "docs/setup.md", "docs/begin.md")
    guide.write("docs/index.md", "# Index\n\n[setup](/begin#install)\n")
    guide.commit("Move a page")
    guide.write("docs/begin.md", "# Setup\n\n## Next\n\n<Steps />\n")
    guide.commit("Remove a heading")
    ((_, hint),) = hints(check(guide))
    assert ") it had this heading." in hint


def test_heading_that_another_rule_may_make_is_not_confirmed(guide, check):
    guide.write("docs/setup.md", "# Setup\n\n## Install <Badge/>\n")
    guide.write("docs/index.md", "# Index\n\n[setup](/setup#in-stall)\n")
    guide.commit("Write a heading otherwise")
    report = check(guide)
    assert (report.findings, forms(report)) == ((), [("#", 1)])


def test_heading_of_a_page_that_a_shortcode_fills_since_is_not_confirmed(guide, check):
    guide.write("docs/setup.md", "# Setup\n\n{{< steps >}}\n")
    guide.commit("Make headings of data")
    assert forms(check(guide)) == [("#", 1)]


def test_heading_of_a_page_of_the_same_name_is_evidence(guide, check):
    guide.write("docs/v1/deploy.md", "# Deploy\n\n## Roll back\n\n<Steps />\n")
    guide.write("docs/v2/deploy.md", "# Deploy\n\n## Next\n\n<Steps />\n")
    guide.write("docs/index.md", "# Index\n\n[x](/v2/deploy#roll-back)\n")
    assert hints(check(guide)) == [
        ("markdown /v2/deploy#roll-back", "docs/v1/deploy.md has this heading.")
    ]


def test_heading_that_nothing_spells_is_a_finding_in_a_plain_page(guide, check):
    guide.write("docs/index.md", "# Index\n\n[x](/setup#roll-back)\n")
    assert hints(check(guide)) == [("markdown /setup#roll-back", "")]


def test_heading_that_code_spells_is_not_confirmed(guide, check):
    guide.write("docs/.vitepress/theme.ts", "export const added = ['Roll back']\n")
    guide.write("docs/index.md", "# Index\n\n[x](/setup#roll-back)\n")
    assert forms(check(guide)) == [("#", 1)]


def test_link_in_code_to_the_heading_does_not_spell_it(guide, check):
    guide.write("docs/.vitepress/theme.ts", "export const link = '/setup#roll-back'\n")
    guide.write("docs/index.md", "# Index\n\n[x](/setup#roll-back)\n")
    assert hints(check(guide)) == [("markdown /setup#roll-back", "")]


def test_address_within_a_path_is_a_finding(guide, check):
    guide.write("docs/index.md", "# Index\n\n[x]([https://example.org/x)\n")
    assert hints(check(guide)) == [
        ("markdown [https://example.org/x", "It is written as a path, and has an address in it.")
    ]


@pytest.mark.parametrize("count", [48, 49])
def test_path_to_a_file_elsewhere_is_a_finding_where_such_links_are_read_well(guide, check, count):
    guide.write("docs/index.md", "# Index\n\n[x](docs/setup.md)\n" + "[y](setup.md)\n" * count)
    expected = [("markdown docs/setup.md", "Did you mean setup.md?")] if count == 49 else []
    assert hints(check(guide)) == expected


def test_heading_in_a_page_with_a_component_is_not_confirmed_where_another_page_has_it(
    guide, check
):
    guide.write("docs/index.md", "# Index\n\n[x](/setup#roll-back)\n")
    guide.write("docs/setup.md", "# Setup\n\n## Next\n\n<Steps />\n")
    assert hints(check(guide)) == [("markdown /setup#roll-back", "")]
    guide.write("docs/steps.md", "# Steps\n\n## Roll back\n")
    assert forms(check(guide)) == [("#", 1)]


@pytest.mark.parametrize(
    ("target", "is_found"),
    [
        ("/img/more/gone.png", True),
        ("/img/gone.png", True),
        ("/other/gone.png", False),
        ("/img/more/logo.png", False),
        ("/img/more/made.png", False),
        ("/gone.png", False),
    ],
)
def test_image_from_the_root_is_a_finding_in_a_folder_of_static_files(
    guide, check, target, is_found
):
    guide.write("docs/public/img/more/a.png", "x")
    guide.write("docs/logo.png", "x")
    guide.write("build.sh", "draw(made.png)\n")
    guide.write("docs/index.md", f"# Index\n\n![x]({target})\n")
    report = check(guide)
    assert bool(report.findings) is is_found
    assert bool(report.unconfirmed) is not is_found


def test_source_of_an_image_may_be_broken_into_lines(guide, check):
    guide.write("docs/public/img/one.png", "x")
    guide.write(
        "docs/index.md", '# Index\n\n<img src="/img/o\n  ne.png">\n<img src="/img/o\nne.png">\n'
    )
    (finding,) = check(guide).findings
    assert finding.subject == "image /img/o  ne.png"


@pytest.mark.parametrize(("lost", "is_found"), [(9, True), (10, False)])
def test_wikilinks_of_which_many_lead_nowhere_are_not_confirmed(repository, check, lost, is_found):
    """Hotdoc's `[[name]]`, in Meson's documentation, is a function and no page."""
    repository.write("a.md", "# A\n\n" + " ".join(f"[[gone{n}]]" for n in range(lost)) + "\n")
    repository.write("b.md", "# B\n\n[[a]]\n")
    repository.commit("Begin")
    report = check(repository)
    assert len(report.findings) == (lost if is_found else 0)
    assert forms(report) == ([] if is_found else [("[[…]]", lost)])


COMPONENTS = {
    "<Steps />": True,
    "<Tabs>\n<TabItem>\n\nx\n\n</TabItem>\n</Tabs>": False,
    "import Steps from '@theme/Steps'\n\n<Steps />": False,
    "import Steps from 'steps'\n\n<Steps />": True,
    "import Steps from './_part.mdx'\n\n<Steps />": False,
    "import Steps from './_part.mdx'\nimport data from './data.json'\n\n<Steps />": True,
    "import Steps from './_part.mdx'\n\n<Steps />\n\n<More />": True,
    "<script>\nconst a = 1\n</script>": True,
}


@pytest.mark.parametrize("text", COMPONENTS)
def test_components_that_show_what_is_in_the_page_show_no_heading_of_another(
    repository, check, text
):
    repository.write("docusaurus.config.js", "module.exports = {}\n")
    repository.write("docs/_part.mdx", "## Part\n")
    repository.write("docs/steps.mdx", "# Steps\n\n## Roll back\n")
    repository.write("docs/setup.mdx", f"# Setup\n\n## Install\n\n{text}\n\n[x](#roll-back)\n")
    repository.commit("Begin")
    assert forms(check(repository)) == ([("#", 1)] if COMPONENTS[text] else [])


def test_heading_with_tags_makes_the_anchor_that_its_generator_makes_of_it(repository, check):
    repository.write("docusaurus.config.js", "module.exports = {}\n")
    repository.write("docs/list.md", "# List\n\n### <div>Required</div>**`drawItem`**\n\n## More\n")
    repository.write("docs/a.md", "# A\n\n[x](list.md#drawitem) [y](list.md#requireddrawitem)\n")
    repository.commit("Begin")
    assert hints(check(repository)) == [("markdown list.md#drawitem", "")]
    repository.write("docs/list.md", "# List\n\n### <Required/>**`drawItem`** now\n\n## More\n")
    assert forms(check(repository)) == [("#", 2)]


def test_headings_that_only_translations_lack_are_no_sign_of_another_rule(guide, check):
    names = [f"part-{number}" for number in range(12)]
    guide.write("docs/parts.md", "# Parts\n\n" + "".join(f"## {name}\n\n" for name in names))
    guide.write("docs/ja/parts.md", "# 部\n\n" + "".join(f"## 第{n}部\n\n" for n in range(12)))
    links = " ".join(f"[x](/ja/parts#{name})" for name in names)
    guide.write("docs/ja/index.md", f"# 目次\n\n{links} [x](/setup#roll-back)\n")
    report = check(guide)
    assert ("markdown /setup#roll-back", "") in hints(report)
    assert (len(report.findings), forms(report)) == (13, [])
    guide.write("docs/ja/parts.md", "# 部\n\n## 第1部\n")  # it may take more from elsewhere
    assert (len(check(guide).findings), forms(check(guide))) == (1, [("#", 12)])


@pytest.mark.parametrize(("source", "is_found"), [("b.fr.md", False), ("b.md", True)])
def test_heading_is_of_the_page_in_the_language_of_the_name(repository, check, source, is_found):
    """Dumi, for one, leads from `b.fr.md` to `a.fr.md` where a link has `a.md`."""
    repository.write("docs/a.md", "# A\n\n## One\n")
    repository.write("docs/a.fr.md", "# A\n\n## Un\n")
    repository.write(f"docs/{source}", "# B\n\n[x](a.md#un) [y](a.md#deux)\n")
    repository.commit("Begin")
    subjects = [finding.subject for finding in check(repository).findings]
    assert subjects == ["markdown a.md#un", "markdown a.md#deux"][not is_found :]


def test_heading_linked_in_a_piece_of_no_site_may_be_of_the_page_that_has_it(repository, check):
    repository.write("docs/shared/first.md", "# First\n\n[x](#elsewhere) [y](gone.md)\n")
    repository.commit("Begin")
    assert [finding.subject for finding in check(repository).findings] == ["markdown gone.md"]


@pytest.mark.parametrize("setting", ["", "trailingSlash: 'never', ", "build: { format: 'file' }, "])
def test_address_that_begins_in_the_page_is_a_finding_where_a_page_is_a_folder(
    repository, check, setting
):
    repository.write(
        "astro.config.mjs",
        "import starlight from '@astrojs/starlight'\n"
        f"export default {{ {setting}integrations: [starlight({{}})] }}\n",
    )
    repository.write("src/content/docs/use/begin.md", "# Begin\n\n[x](./end/) [y](gone)\n")
    repository.write("src/content/docs/use/end.md", "# End\n")
    repository.commit("Begin")
    is_folder = not setting
    hint = (
        "The page is published as a folder, in which relative addresses begin:"
        " ../end/ is src/content/docs/use/end.md."
    )
    assert hints(check(repository)) == ([("markdown ./end/", hint)] if is_folder else [])


@pytest.mark.parametrize("is_hugo", [False, True])
def test_address_in_a_folder_is_a_finding_among_many_where_no_template_makes_addresses(
    repository, check, is_hugo
):
    config = "export default { integrations: [(await import('@astrojs/starlight')).default({})] }\n"
    name = "hugo.toml" if is_hugo else "astro.config.mjs"
    repository.write(name, "baseURL = 'https://example.org/'\n" if is_hugo else config)
    folder = "content" if is_hugo else "src/content/docs"
    for number in range(10):
        repository.write(f"{folder}/use/part-{number}.md", f"# Part\n\n[x](./part-{9 - number}/)\n")
    repository.commit("Begin")
    assert len(hints(check(repository))) == (0 if is_hugo else 10)


FILLS = {
    "{{ steps }}": True,
    "- {{< steps >}}": True,
    "## Run {{ steps }}": True,
    "Run {{ steps }}\n-----": True,
    "{{< steps\n  from=x >}}": True,
    "{% include steps.html %}": True,
    "::: app.steps": True,
    "```vue\n{{ steps }}\n```": False,
    "<a style={{a: 1}}/>": False,
    "Run version {{ steps }}.": False,
    "- Run {{< steps >}}": False,
    "{{% steps %}}\nRun it.\n{{% /steps %}}": False,
    "{% if steps %}\nRun it.\n{% endif %}": False,
    "{% if steps %}\nRun it.\n{% else %}\nStop it.\n{% endif %}": False,
    "::: steps\nRun it.\n:::": False,
}


@pytest.mark.parametrize("markup", FILLS)
def test_what_makes_headings_is_a_tag_that_stands_alone(guide, check, markup):
    guide.write("docs/index.md", "# Index\n\n[x](/setup#roll-back)\n")
    guide.write("docs/setup.md", f"# Setup\n\n## Next\n\n{markup}\n")
    assert len(check(guide).findings) == (not FILLS[markup])


@pytest.fixture
def signs(guide):
    """A link with other signs than its heading's anchor, and three to headings with signs."""
    headings = [f"Step {number}: set `step_{number}`" for number in range(3)]
    links = " ".join(f"[x](/steps#step-{number}-set-step-{number})" for number in range(3))
    guide.write("docs/steps.md", "# Steps\n\n" + "".join(f"## {text}\n\n" for text in headings))
    guide.write("docs/index.md", f"# Index\n\n{links} [x](/setup#roll-back-now)\n")
    guide.write("docs/setup.md", "# Setup\n\n## [rollBack] & now\n\n## Install\n\n## Update\n")
    return guide


def test_anchor_with_the_letters_of_a_heading_is_a_finding_where_signs_are_known(signs, check):
    assert hints(check(signs)) == [
        (
            "markdown /setup#roll-back-now",
            'The heading "[rollBack] & now" has another anchor. Did you mean #rollback-now?',
        )
    ]


def test_terms_do_not_show_how_signs_of_headings_are_written(signs, check):
    terms = "".join(f"Part {number}: a & b\n: Text.\n\n" for number in range(4))
    links = "".join(f"[x](/terms#part-{number}-ab)\n" for number in range(4))
    signs.write("docs/terms.md", f"# Terms\n\n{terms}")
    signs.write("docs/more.md", f"# More\n\n{links}")
    assert "markdown /setup#roll-back-now" in [subject for subject, _ in hints(check(signs))]


def test_anchor_with_the_letters_of_a_heading_is_not_confirmed_where_few_show_signs(signs, check):
    text = (signs.root / "docs/index.md").read_text()
    signs.write("docs/index.md", text.replace("[x](/steps#step-2-set-step-2)", ""))
    assert forms(check(signs)) == [("#", 1)]


def test_anchor_with_the_letters_of_a_heading_of_the_fourth_level_is_a_finding(signs, check):
    text = (signs.root / "docs/setup.md").read_text()
    signs.write("docs/setup.md", text.replace("## [rollBack]", "#### [rollBack]"))
    assert [subject for subject, _ in hints(check(signs))] == ["markdown /setup#roll-back-now"]


@pytest.mark.parametrize("lost", [1, 5, 6])
def test_signs_of_a_fixed_generator_are_known_in_pages_of_text(plain, check, lost):
    headings = "".join(f"## makePart{number} & more\n\n" for number in range(lost))
    plain.write("docs/setup.md", f"# Setup\n\n## Install\n\n{headings}\n{SENTENCES}")
    links = "".join(f"[x](/setup#make-part{number}--more)\n" for number in range(lost))
    plain.write("docs/links.md", "# Links\n\n" + "[x](/setup#install)\n" * 50 + links)
    assert len(hints(check(plain))) == (lost if lost < 6 else 0)
    plain.write("docs/setup.md", f"# Setup\n\n## Install\n\n{headings}\n<Steps/>\n{SENTENCES}")
    assert hints(check(plain)) == []


@pytest.mark.parametrize(
    ("target", "is_found"),
    [("flow.org", True), ("docs.flow.io/a/b", True), ("flow.md5", False), ("flow/v1.org", False)],
)
def test_address_of_another_site_without_its_scheme_is_a_finding(
    repository, check, target, is_found
):
    repository.write("hugo.toml", "baseURL = 'https://example.org/'\n")
    repository.write("content/a.md", f"# A\n\n[x]({target})\n")
    repository.commit("Write")
    hint = "Without https:// the address of another site is a path."
    assert hints(check(repository)) == ([(f"markdown {target}", hint)] if is_found else [])
    repository.write("conf.py", "extensions = ['myst_parser']\n")
    repository.remove("hugo.toml")
    assert hints(check(repository)) == []


@pytest.mark.parametrize(
    ("target", "is_found"),
    [
        *(("github.com/a", True), ("www.flow.org/a/b.html", True), ("flow.org/", True)),
        *(("docs.flow.dev/a", False), ("/flow.org/a", False), ("flow.orga/b", False)),
    ],
)
@pytest.mark.parametrize("config", ["README", "mkdocs.yml", "docusaurus.config.js"])
def test_address_with_a_path_and_without_its_scheme_is_a_finding(
    repository, check, config, target, is_found
):
    repository.write(config, "module.exports = {}\n")
    repository.write("docs/docs.flow.dev/b.md", "# B\n")
    repository.write("docs/a.md", f"# A\n\n[x]({target})\n")
    repository.commit("Write")
    hint = "Without https:// the address of another site is a path."
    assert hints(check(repository)) == ([(f"markdown {target}", hint)] if is_found else [])


@pytest.mark.parametrize(
    ("config", "text", "pages"),
    [
        ("_config.yml", "title: x\n", "users"),
        ("hugo.toml", "baseURL = 'https://example.org/'\n", "content/users"),
        ("astro.config.mjs", "import starlight from 'starlight'\n", "src/content/docs/users"),
    ],
)
def test_image_that_no_folder_has_is_a_finding_but_no_file_that_a_build_may_make(
    repository, check, config, text, pages
):
    repository.write(config, text)
    repository.write(f"{pages}/img/a.png", "png")
    repository.write(f"{pages}/a.md", "# A\n\n![x](img/b.png) ![y](no/c.png) [z](feed.xml)\n")
    repository.commit("Write")
    assert hints(check(repository)) == [("image img/b.png", "")]


def test_image_of_hugo_may_be_in_a_folder_that_only_a_template_names(repository, check):
    repository.write("hugo.toml", "baseURL = 'https://example.org/'\n")
    repository.write("content/users/img/a.png", "png")
    repository.write("assets/b.png", "png")
    repository.write("content/users/a.md", "# A\n\n![x](img/b.png)\n")
    repository.commit("Write")
    assert hints(check(repository)) == []


@pytest.mark.parametrize(
    ("target", "hint"),
    [
        ("more/index.md", ""),
        ("api/index.md", "A page has this name: guide/api/index.md."),
        ("more/x.md", "Did you mean guide/x.md?"),
    ],
)
def test_hint_has_files_of_the_name_but_no_index_of_another_folder(repository, check, target, hint):
    repository.write("guide/api/index.md", "# API\n")
    repository.write("guide/x.md", "# X\n")
    repository.write("docs/a.md", f"# A\n\n[x]({target})\n")
    repository.commit("Write")
    assert hints(check(repository)) == [(f"markdown {target}", hint)]


def test_hint_calls_what_is_no_page_a_file(repository, check):
    repository.write("mkdocs.yml", "site_name: x\n")
    repository.write("logo.png", "png")
    repository.write("docs/a.md", "# A\n\n![x](logo.png)\n")
    repository.commit("Write")
    assert hints(check(repository)) == [("image logo.png", "A file has this name: logo.png.")]


def test_anchor_with_a_second_number_sign_is_a_finding_with_its_fix(guide, check):
    guide.write("docs/index.md", "# Index\n\n[x](/setup##install)\n")
    ((subject, hint),) = hints(check(guide))
    assert subject == "markdown /setup##install"
    assert hint == "It has one # too many. Did you mean #install?"


@pytest.mark.parametrize("other", ['<a id="roll-back-now"></a>', "<!-- roll-back-now -->"])
def test_anchor_that_an_id_may_make_is_not_confirmed(signs, check, other):
    text = (signs.root / "docs/setup.md").read_text()
    signs.write("docs/setup.md", f"{text}\n{other.replace('roll-back-now', 'x-roll-back-now')}\n")
    assert forms(check(signs)) == [("#", 1)]


def test_misspelt_heading_is_a_finding_also_beside_components(guide, check):
    guide.write("docs/setup.md", "# Setup\n\n## Installation\n\n<Steps />\n")
    guide.write("docs/index.md", "# Index\n\n[x](/setup#instalation)\n")
    assert hints(check(guide)) == [("markdown /setup#instalation", "Did you mean #installation?")]


def test_link_that_the_change_itself_breaks_is_reported_without_other_evidence(guide, found):
    guide.write("docs/index.md", "# Index\n\n[x](/setup)\n")
    guide.commit("Link to a page")
    guide.git("rm", "-q", "docs/setup.md")
    assert found(guide, staged=True, rules=["broken-link"]) == [
        "error broken-link docs/index.md:3 markdown /setup"
    ]


def test_new_link_without_evidence_is_counted_in_a_change(guide, check):
    guide.write("docs/new.md", "# New\n\n[x](/api/new)\n")
    guide.git("add", "--all")
    report = check(guide, staged=True)
    assert (report.findings, forms(report)) == ((), [("/…", 1)])


def test_debt_is_not_obsolete_where_the_evidence_is_out_of_reach(guide, check, tmp_path):
    guide.write("docs/.vitepress/theme.ts", "export const added = ['Install']\n")
    guide.write("docs/setup.md", "# Setup\n\n## Next\n\n<Steps />\n")
    guide.commit("Remove a heading")
    assert len(check(guide).findings) == 1
    with Workspace.open(str(guide.root), clock=lambda: guide.clock) as workspace:
        accepted = accept_findings(workspace.session)
    guide.write(".ubp/debt.txt", accepted.text)
    guide.commit("Accept it")
    guide.git("clone", "-q", "--depth", "1", f"file://{guide.root}", str(tmp_path / "shallow"))
    shallow = type(guide)(tmp_path / "shallow")
    report = check(shallow)
    assert (report.findings, forms(report)) == ((), [("#", 1)])
    *_, sentence = unconfirmed_sentences(report.unconfirmed, lacks_history=report.lacks_history)
    assert sentence == (
        "This clone is shallow: earlier versions of pages, which may show it, are missing"
        " (`git fetch --unshallow`; in CI: fetch-depth: 0)."
    )


def test_clone_with_its_history_is_not_said_to_lack_any(guide, check):
    guide.write("docs/index.md", "# Index\n\n[x](/api/one)\n")
    report = check(guide)
    assert (len(report.unconfirmed), report.lacks_history) == (1, False)


def test_fix_leaves_links_without_evidence(guide, fix):
    guide.write("docs/sub/here.md", "# Here\n")
    guide.write("docs/index.md", "# Index\n\n[x](/x/here)\n")
    assert fix(guide).fixed == ()


def test_page_with_an_id_is_linked_by_the_id_whatever_the_case_of_its_file(repository, found):
    repository.write("docusaurus.config.js", "module.exports = { presets: [['classic', {}]] }\n")
    repository.write("docs/Configuration.md", "---\nid: configuration\n---\n# Configuration\n")
    repository.write("docs/Other.md", "# Other\n")
    repository.write("docs/cli.md", "# CLI\n\n[a](configuration) [b](other.md)\n")
    repository.commit("Begin")
    assert found(repository, rules=["broken-link"]) == [
        "error broken-link docs/cli.md:3 markdown other.md"
    ]


@pytest.fixture
def moved(guide):
    """A page whose heading moved to a file that no menu lists."""
    guide.write("docs/shared/setup.md", "# Steps\n\n## Install\n")
    guide.commit("Share a text")
    return guide


@pytest.mark.parametrize(
    "text",
    [
        "---\nsource: /shared/setup.md\n---\n# Setup\n\n## Update\n",
        "# Setup\n\n<!-- The text is in docs/shared/setup.md. -->\n\n## Update\n",
        "# Setup\n\n<Text from='./shared/setup.md' />\n\n## Update\n",
    ],
)
def test_heading_of_a_file_that_the_page_names_is_not_confirmed(moved, check, text):
    moved.write("docs/setup.md", text)
    moved.commit("Take the text from a shared file")
    assert forms(check(moved)) == [("#", 1)]


def test_heading_that_a_change_moves_to_a_file_that_the_page_names_is_not_confirmed(moved, check):
    base = moved.git("rev-parse", "HEAD").strip()
    moved.write("docs/setup.md", "---\nsource: /shared/setup.md\n---\n# Setup\n\n## Update\n")
    moved.commit("Take the text from a shared file")
    assert check(moved, base=base).findings == ()


def test_heading_of_a_file_that_the_page_links_to_is_evidence(moved, check):
    moved.write("docs/setup.md", "# Setup\n\n[install](shared/setup.md#install)\n\n## Update\n")
    moved.commit("Move a heading")
    ((subject, _),) = hints(check(moved))
    assert subject == "markdown /setup#install"


def test_heading_of_a_page_with_nothing_but_a_title_is_not_confirmed(guide, check):
    guide.write("docs/setup.md", "# Setup\n")
    guide.commit("Make the text elsewhere")
    assert forms(check(guide)) == [("#", 1)]


def test_heading_of_a_page_with_a_title_and_sentences_is_a_finding(guide, check):
    guide.write("docs/setup.md", "# Setup\n\n" + "Get the program and run it once.\n" * 15)
    guide.write("docs/index.md", "# Index\n\n[setup](/setup#roll-back)\n")
    assert hints(check(guide)) == [("markdown /setup#roll-back", "")]


def test_headings_of_a_page_of_which_no_linked_one_exists_are_not_confirmed(guide, check):
    links = " ".join(f"[{name}](/setup#{name})" for name in ("one", "two", "three", "four"))
    guide.write("docs/index.md", f"# Index\n\n{links}\n")
    assert forms(check(guide)) == [("#", 4)]
    guide.write("docs/index.md", f"# Index\n\n{links} [install](/setup#install)\n")
    assert len(check(guide).findings) == 4


def test_removed_page_that_git_ignores_since_is_not_confirmed(guide, check):
    guide.write("docs/api/index.md", "# API\n")
    guide.write("docs/index.md", "# Index\n\n[x](/api/)\n")
    guide.commit("Write the API by hand")
    guide.git("rm", "-q", "docs/api/index.md")
    guide.write(".gitignore", "/docs/api/**\n")
    guide.commit("Generate the API")
    assert check(guide).findings == ()


def test_oldest_of_many_versions_is_found(guide, check):
    for number in range(20):
        guide.write("docs/setup.md", f"# Setup\n\n## Deploy\n\n<Steps />\n\n{number}\n")
        guide.commit("Edit")
    ((subject, hint),) = hints(check(guide))
    assert subject == "markdown /setup#install"
    assert "it had this heading" in hint


@pytest.fixture
def manual(repository):
    """A site of MkDocs, which has wikilinks only with a plug-in."""
    repository.write("mkdocs.yml", "site_name: x\nmarkdown_extensions: [pymdownx.tabbed]\n")
    repository.write("docs/setup.md", '# Setup\n\n=== "Linux"\n\n    x\n\n=== "Windows"\n\n    y\n')
    repository.commit("Begin")
    return repository


def test_wikilink_among_pages_of_no_site_is_confirmed_where_another_leads_somewhere(
    repository, check
):
    repository.write("a.md", "# A\n\nThe slot [[Prototype]] of an object.\n")
    repository.write("b.md", "# B\n")
    repository.commit()
    assert hints(check(repository)) == []
    repository.write("b.md", "# B\n\n[[a]]\n")
    assert hints(check(repository)) == [("wikilink Prototype", "")]


def test_wikilink_is_confirmed_where_the_site_has_one_that_leads_somewhere(manual, check):
    manual.write("docs/index.md", "# Index\n\n[[gone]]\n")
    assert forms(check(manual)) == [("[[…]]", 1)]
    manual.write("docs/index.md", "# Index\n\n[[gone]] [[setup]]\n")
    assert hints(check(manual)) == [("wikilink gone", "")]


def test_tab_is_linked_by_its_number(manual, check):
    manual.write(
        "docs/index.md", "# A\n\n## B\n\n[x](setup.md#__tabbed_1_2) [y](setup.md#__tabbed_1_3)\n"
    )
    report = check(manual, lists_unconfirmed=True)
    assert [finding.subject for finding in report.findings] == ["markdown setup.md#__tabbed_1_3"]


def test_headings_of_a_form_that_is_nearly_always_lost_are_not_confirmed(guide, check):
    def write(count):
        links = "".join(f"[x](#option-{number})\n" for number in range(count))
        guide.write("docs/setup.md", f"# Setup\n\n## Install\n\n[i](#install)\n\n{links}")

    write(9)
    assert len(check(guide).findings) == 9
    write(10)
    assert forms(check(guide)) == [("#", 10)]


def test_paths_of_a_form_that_often_leads_nowhere_are_not_confirmed(repository, check):
    for number in range(10):
        repository.write(f"pages/p{number}.md", f"# P\n\n[x](names{number}.md)\n")
    repository.write("pages/good.md", "[x](p1.md)\n" * 19)
    repository.commit("Begin")
    assert forms(check(repository)) == [("….md", 10)]
    repository.write("pages/good.md", "[x](p1.md)\n" * 20)
    assert len(check(repository).findings) == 10


def test_label_with_a_dot_is_not_confirmed_in_a_site_of_sphinx(repository, check):
    repository.write("docs/conf.py", "extensions = ['myst_parser']\n")
    repository.write("docs/index.md", "# Index\n\n[a](schema_hub.db) ![b](gone.png) [c](gone.md)\n")
    repository.commit("Begin")
    report = check(repository)
    assert [subject for subject, _ in hints(report)] == ["image gone.png", "markdown gone.md"]


@pytest.mark.parametrize(
    ("heading", "is_found"),
    [
        ("## writeTo", True),
        ("## writeTo <Badge/>", True),
        ('## writeTo\n\n<Field id="writeTo" />', False),
        ("## writeTo\n\n<Field :id=\"'writeTo'\" />", False),
        ("## writeTo\n\n<!-- writeTo -->", False),
        ("## writeTo\n\n::: api {#writeTo}\n:::", False),
        ("## writeTo\n\n{{ fields }}", False),
    ],
)
def test_anchor_that_differs_in_capitals_is_a_finding_where_nothing_else_has_them(
    guide, check, heading, is_found
):
    guide.write("docs/setup.md", f"# Setup\n\n## Install\n\n{heading}\n")
    guide.write("docs/index.md", "# Index\n\n[x](/setup#install) [y](/setup#setup)\n")
    guide.write("docs/more.md", "# More\n\n[x](/setup#writeTo)\n")
    hint = "Browsers distinguish capital letters in anchors. Did you mean #writeto?"
    found = hints(check(guide))
    assert found == ([("markdown /setup#writeTo", hint)] if is_found else [])


def test_anchors_with_capitals_are_not_confirmed_where_few_others_lead_somewhere(guide, check):
    guide.write("docs/setup.md", "# Setup\n\n## Write To\n\n## Read From\n")
    guide.write("docs/index.md", "# Index\n\n[x](/setup#Write-To) [y](/setup#Read-From)\n")
    assert forms(check(guide)) == [("#", 2)]


def test_anchor_with_capitals_is_fixed_in_a_page_that_has_the_same_letters_with_signs(guide, check):
    guide.write("docs/setup.md", "# Setup\n\n## Install\n\n## writeTo\n\n## Write to\n")
    guide.write("docs/index.md", "# Index\n\n[x](/setup#install) [y](/setup#setup)\n")
    guide.write("docs/more.md", "# More\n\n[x](/setup#writeTo)\n")
    (finding,) = check(guide).findings
    assert finding.fix.target == "docs/setup.md#writeto"


def test_title_in_capitals_is_not_confirmed_as_its_page_opens_there(guide, check):
    guide.write(
        "docs/index.md", "# Index\n\n[x](/setup#install) [y](/setup#update) [z](/setup#Setup)\n"
    )
    assert forms(check(guide)) == [("#", 1)]


SENTENCES = "Get the program and run it once.\n" * 15


@pytest.fixture
def plain(guide):
    """The site, with a page of text whose headings 20 links name, and code beside it."""
    guide.write("docs/setup.md", f"# Setup\n\n## Install\n\n## Update\n\n{SENTENCES}")
    guide.write("docs/links.md", "# Links\n\n" + "[x](/setup#install)\n" * 20)
    guide.write("docs/.vitepress/theme/index.ts", 'export const name = "security"\n')
    guide.commit("Write")
    return guide


def test_code_spells_no_heading_of_a_page_of_text_where_anchors_are_read_well(plain, check):
    plain.write("docs/index.md", "# Index\n\n[x](/setup#security)\n")
    assert hints(check(plain)) == [("markdown /setup#security", "")]
    plain.write("docs/setup.md", f"# Setup\n\n## Install\n\n<Steps/>\n\n{SENTENCES}")
    assert forms(check(plain)) == [("#", 1)]


def test_code_may_spell_a_heading_where_few_anchors_are_read(plain, check):
    plain.write("docs/links.md", "# Links\n\n" + "[x](/setup#install)\n" * 18)
    plain.write("docs/index.md", "# Index\n\n[x](/setup#security)\n")
    assert forms(check(plain)) == [("#", 1)]


@pytest.mark.parametrize(("good", "is_read_well"), [(20, True), (19, False)])
def test_a_fifth_of_the_links_to_headings_of_a_generator_may_be_broken(
    plain, check, good, is_read_well
):
    plain.write("docs/links.md", "# Links\n\n" + "[x](/setup#install)\n" * good)
    plain.write("docs/index.md", "# Index\n\n" + "[x](/setup#security)\n" * 5)
    assert forms(check(plain)) == ([] if is_read_well else [("#", 5)])


def test_components_in_inline_code_are_text(plain, check):
    plain.write("docs/setup.md", f"# Setup\n\n## Install\n\nUse `<Steps>`.\n\n{SENTENCES}")
    plain.write("docs/index.md", "# Index\n\n[x](/setup#security)\n")
    assert hints(check(plain)) == [("markdown /setup#security", "")]


@pytest.mark.parametrize(("page", "is_found"), [("README.md", True), ("guide.md", False)])
def test_readme_of_no_site_has_the_headings_that_github_shows(repository, check, page, is_found):
    repository.write(f"app/{page}", f"# App\n\n[x](#security)\n\n{SENTENCES}")
    repository.write("app/names.ts", 'export const name = "security"\n')
    repository.commit("Write")
    assert hints(check(repository)) == ([("markdown #security", "")] if is_found else [])


@pytest.mark.parametrize(("page", "is_found"), [("README.md", True), ("guide.md", False)])
def test_files_that_a_readme_of_no_site_lacks_are_findings_however_many(
    repository, check, page, is_found
):
    links = [f"img/{number}.png" for number in range(10)]
    repository.write(f"app/{page}", "# App\n\n" + "".join(f"![x]({link})\n" for link in links))
    repository.commit("Write")
    subjects = [subject for subject, _ in hints(check(repository))]
    assert subjects == ([f"image {link}" for link in links] if is_found else [])


@pytest.mark.parametrize(
    ("link", "script", "is_found"),
    [
        ("bin/find-schema.js", "", True),
        ("bin/find-schema.js", "cat find-schema.js > docs/bin\n", False),
        ("bin/find-schema.js", "write('find-schema')\n", False),
        ("bin/main.go", "", False),  # another folder has one
        ("bin/find-schema.png", "", False),
        ("/bin/find-schema.js", "", False),
        ("@/bin/find-schema.js", "", False),
    ],
)
def test_path_of_code_is_a_finding_where_nothing_has_its_name(
    repository, check, link, script, is_found
):
    repository.write("_config.yml", "title: x\ntheme: minima\n")
    repository.write("index.md", "# Index\n\n[x](use/a.md)\n")
    repository.write("use/a.md", f"# A\n\n[x]({link})\n")
    repository.write("src/main.go", "package main\n")
    repository.write("deploy.sh", script)
    repository.commit("Write")
    assert hints(check(repository)) == ([(f"markdown {link}", "")] if is_found else [])


def test_layout_in_front_matter_of_docusaurus_makes_no_heading(repository, check):
    repository.write("docusaurus.config.js", "module.exports = {}\n")
    repository.write("docs/a.md", f"---\nlayout: doc\n---\n# A\n\n## One\n\n{SENTENCES}")
    repository.write("docs/b.md", "# B\n\n" + "[x](./a.md#one)\n" * 20 + "[y](./a.md#two)\n")
    repository.write("src/names.ts", 'export const name = "two"\n')
    repository.commit("Write")
    assert hints(check(repository)) == [("markdown ./a.md#two", "")]
    repository.write("docs/b.md", "# B\n\n[x](./a.md#three)\n")
    repository.write("docs/a.md", "---\nlayout: doc\n---\n# A\n\n## One\n\n<Steps/>\n\n## Four\n")
    assert hints(check(repository)) == [("markdown ./a.md#three", "")]


def test_settings_of_a_theme_of_hexo_are_no_site(repository, check):
    repository.write("_config.yml", "title: x\n")
    repository.write("package.json", '{"dependencies": {"hexo": "^7"}}\n')
    repository.write("themes/own/_config.yml", "menu: x\n")
    repository.write("themes/own/README.md", "# Own\n\n[x](/docs/gone.md)\n")
    repository.commit("Write")
    assert hints(check(repository)) == [("markdown /docs/gone.md", "")]


def test_address_from_the_root_does_not_depend_on_what_includes_its_page(guide, check):
    guide.write("docs/_parts/a.md", "# A\n\n[x](/setup#instal) [y](setup.md#instal)\n")
    assert [subject for subject, _ in hints(check(guide))] == ["markdown /setup#instal"]


@pytest.mark.parametrize(("page", "is_found"), [("README.md", True), ("guide.md", False)])
def test_path_from_the_root_in_a_readme_is_one_from_the_root_of_the_repository(
    repository, check, page, is_found
):
    repository.write(f"app/{page}", "# App\n\n[x](/docs/gone.md) [y](/docs/setup.md)\n")
    repository.write("docs/setup.md", "# Setup\n")
    repository.commit("Write")
    assert hints(check(repository)) == ([("markdown /docs/gone.md", "")] if is_found else [])


def test_contents_of_a_page_of_text_in_another_language_are_findings(plain, check):
    names = ("be-simple", "be-explicit", "be-consistent", "be-quick")
    plain.write("docs/links.md", "# Links\n\n" + "[x](/setup#install)\n" * 40)
    links = "".join(f"- [x](#{name})\n" for name in names)
    plain.write("docs/zh.md", f"# 价值观\n\n{links}\n## 保持简单\n\n## 明确表达\n\n{SENTENCES}")
    assert [subject for subject, _ in hints(check(plain))] == [
        f"markdown #{name}" for name in names
    ]


def test_code_outside_a_site_spells_no_heading_of_it(guide, check):
    guide.write("docs/setup.md", "# Setup\n\n## Install\n\n<Steps/>\n")
    guide.write("docs/index.md", "# Index\n\n[x](/setup#roll-back)\n")
    guide.write("src/steps.ts", 'const title = "Roll back"\n')
    assert hints(check(guide)) == [("markdown /setup#roll-back", "")]
    guide.write("docs/.vitepress/steps.ts", 'const title = "Roll back"\n')
    assert forms(check(guide)) == [("#", 1)]


def test_id_of_its_own_is_all_that_a_heading_spells(guide, check):
    guide.write("docs/setup.md", "# Setup\n\n## Install\n\n## As root {#docker-root}\n")
    guide.write("docs/index.md", "# Index\n\n[x](/setup#docker)\n")
    hint = "The most similar heading is #docker-root."
    assert hints(check(guide)) == [("markdown /setup#docker", hint)]


@pytest.mark.parametrize(
    ("script", "is_found"),
    [("cp -r ../app/guide docs/input\n", False), ("cp -r ../app/guide docs/output\n", True)],
)
def test_page_of_an_absent_folder_is_a_finding_where_no_script_has_its_name(
    guide, check, script, is_found
):
    guide.write("docs/links.md", "# Links\n\n" + "[x](setup.md)\n" * 60)
    guide.write("docs/index.md", "# Index\n\n[x](input/forms.md)\n")
    guide.write("build.sh", script)
    report = check(guide)
    assert hints(report) == ([("markdown input/forms.md", "")] if is_found else [])
    assert forms(report) == ([] if is_found else [("….md", 1)])


@pytest.fixture
def handbook(repository):
    """A site of MkDocs that includes a file from a folder that no setting names."""
    repository.write("mkdocs.yml", "site_name: x\n")
    repository.write("docs/index.md", "# Index\n\n[x](setup.md#install) [y](setup.md#roll-back)\n")
    repository.write("docs/setup.md", '# Setup\n\n## Install\n\n--8<-- "text/steps.html"\n')
    repository.write(".snippets/text/steps.html", "<p>Get the program.</p>\n")
    repository.commit("Begin")
    return repository


def test_heading_is_a_finding_where_all_that_the_page_includes_is_known(handbook, check):
    assert hints(check(handbook)) == [("markdown setup.md#roll-back", "")]
    for included in ("--8<--\ntext/steps.html\n--8<--", '--8<-- "./.snippets/text/steps.html"'):
        handbook.write("docs/setup.md", f"# Setup\n\n## Install\n\n{included}\n")
        assert hints(check(handbook)) == [("markdown setup.md#roll-back", "")]


@pytest.mark.parametrize(
    "piece", ["<h2>Roll back</h2>\n", '--8<-- "more.html"\n', "{{ steps }}\n", "<h2>{{ x }}</h2>\n"]
)
def test_heading_may_be_in_what_an_included_file_has_or_fills(handbook, check, piece):
    handbook.write(".snippets/text/steps.html", piece)
    assert forms(check(handbook)) == [("#", 1)]


def test_anchor_may_be_of_a_heading_and_the_label_of_a_tab_below(handbook, check):
    handbook.write("docs/setup.md", '# Setup\n\n## Install\n\n## Roll\n\n=== "Back"\n\n    x\n')
    assert forms(check(handbook)) == [("#", 1)]
    handbook.write("docs/setup.md", '# Setup\n\n## Install\n\n## To\n\n=== "Back"\n\n    x\n')
    assert hints(check(handbook)) == [("markdown setup.md#roll-back", "")]


def test_heading_may_be_in_an_included_text_that_is_no_code(handbook, check):
    handbook.write("docs/setup.md", '# Setup\n\n## Install\n\n--8<-- "text/steps.txt"\n')
    handbook.write(".snippets/text/steps.txt", "<h2>Roll back</h2>\n")
    assert forms(check(handbook)) == [("#", 1)]
    handbook.write(".snippets/text/steps.txt", "<p>Go on.</p>\n")
    assert hints(check(handbook)) == [("markdown setup.md#roll-back", "")]


def test_heading_may_be_in_an_included_file_that_is_not_there(handbook, check):
    handbook.write("docs/setup.md", '# Setup\n\n## Install\n\n--8<-- "text/gone.html"\n')
    assert forms(check(handbook)) == [("#", 1)]


@pytest.mark.parametrize(
    "extension",
    [
        "  - pymdownx.snippets:\n      base_path: [docs/x, .snippets]\n",
        "  - markdown_include.include:\n      base_path: .snippets\n",
    ],
)
def test_pages_are_included_from_the_folders_that_settings_name(handbook, check, extension):
    handbook.write("mkdocs.yml", f"site_name: x\nmarkdown_extensions:\n{extension}")
    handbook.write(".snippets/text/steps.md", "## Roll back\n")
    handbook.write("docs/setup.md", "# Setup\n\n## Install\n\n{!text/steps.md!}\n")
    assert check(handbook).findings == ()
    handbook.write(".snippets/text/steps.md", "## Go on\n")
    assert hints(check(handbook)) == [("markdown setup.md#roll-back", "")]


@pytest.fixture
def manual_of_hugo(repository):
    """A site of Hugo with a page that has a shortcode of its own."""
    repository.write("hugo.toml", "baseURL = 'https://example.org/'\n")
    text = '# Setup\n\n## Install\n\n{{< badge "new" >}}\n\n'
    repository.write("content/setup.md", text + SENTENCES)
    repository.write("content/_index.md", "# X\n\n[x](/setup/#install) [y](/setup/#roll-back)\n")
    repository.write("layouts/shortcodes/badge.html", "<span>{{ .Get 0 }}</span>\n")
    repository.write("layouts/_default/single.html", "<h2>Comments</h2>{{ .Content }}\n")
    repository.write("data/words.yaml", "- roll back\n")
    repository.commit("Begin")
    return repository


def test_heading_is_a_finding_where_shortcodes_and_templates_make_none(manual_of_hugo, check):
    assert hints(check(manual_of_hugo)) == [("markdown /setup/#roll-back", "")]


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("layouts/shortcodes/badge.html", '<h3 id="{{ .Get 0 }}">{{ .Get 0 }}</h3>\n'),
        ("layouts/_shortcodes/badge.html", '{{ readFile "steps.md" }}\n'),
        ("themes/x/layouts/shortcodes/badge.md", "## Roll {{ .Get 0 }}\n"),
        ("layouts/_default/single.html", "<h2>Roll back</h2>{{ .Content }}\n"),
    ],
)
def test_heading_may_be_made_by_a_shortcode_or_a_template(manual_of_hugo, check, path, text):
    manual_of_hugo.write(path, text)
    assert forms(check(manual_of_hugo)) == [("#", 1)]


@pytest.fixture
def menu(guide):
    """The site, with links to five pages of a folder."""
    names = ["one", "two", "three", "four", "five"]
    for name in names:
        guide.write(f"docs/steps/{name}.md", f"# {name}\n")
    guide.write("docs/menu.md", "# Menu\n\n" + "".join(f"[x](/steps/{name})\n" for name in names))
    guide.write("docs/index.md", "# Index\n\n[x](/steps/fife)\n")
    guide.commit("Write steps")
    return guide


def test_page_of_a_folder_whose_other_pages_are_there_is_a_finding(menu, check):
    assert [subject for subject, _ in hints(check(menu))] == ["markdown /steps/fife"]


def test_page_of_a_folder_is_not_confirmed_where_more_of_it_are_missing(menu, check):
    menu.write("docs/index.md", "# Index\n\n[x](/steps/fife) [y](/steps/sixth)\n")
    assert forms(check(menu)) == [("/…", 2)]


@pytest.mark.parametrize(
    ("path", "text"),
    [("docs/.vitepress/redirects.json", '["fife"]\n'), ("docs/ja/steps/fife.md", "# 五\n")],
)
def test_page_of_a_folder_is_not_confirmed_where_code_or_another_page_has_its_name(
    menu, check, path, text
):
    menu.write(path, text)
    assert forms(check(menu)) == [("/…", 1)]


def test_relative_address_that_a_slash_makes_right_is_a_finding(guide, check):
    guide.write("docs/steps/one.md", "# One\n\n[x](steps/two) [y](steps/four)\n")
    guide.write("docs/steps/two.md", "# Two\n")
    report = check(guide)
    assert hints(report) == [("markdown steps/two", "Did you mean docs/steps/two.md?")]
    assert forms(report) == [("…", 1)]


def test_shortcode_has_its_whole_name(manual_of_hugo, check):
    text = (manual_of_hugo.root / "content/setup.md").read_text().replace("badge", "badge-new")
    manual_of_hugo.write("content/setup.md", text)
    assert forms(check(manual_of_hugo)) == [("#", 1)]
    manual_of_hugo.write(
        "layouts/shortcodes/badge-new.html",
        '{{ $v := .Page.Param "version" }}<h4 id="about">About</h4><span>{{ .Get 0 }}</span>\n',
    )
    assert hints(check(manual_of_hugo)) == [("markdown /setup/#roll-back", "")]


@pytest.mark.parametrize(
    "target", ["$root$/src/a.scala", "$base$app-$version$.rpm", "{{ base }}/a.md", "${base}/a.md"]
)
def test_target_that_a_template_computes_is_not_checked(repository, check, target):
    repository.write("a.md", f"# A\n\n[x](<{target}>)\n")
    report = check(repository, lists_unconfirmed=True)
    assert report.findings == ()
