"""Sections of specifications are found under the filters of a query."""

import pytest

from ubp.core.errors import UsageError
from ubp.kits.specs.sections import find_spec_sections, plan_learning, read_spec_section
from ubp.search.run import open_search
from ubp.workspace import Workspace


@pytest.fixture(scope="module")
def find(repository_in, tmp_path_factory):
    """Find the paths of the sections that answer a question."""
    repository = repository_in(tmp_path_factory.mktemp("specification") / "pages")
    for name, category, day in (("old", "core", 1), ("new", "core", 20), ("lib", "library", 20)):
        fields = f"---\ncategory: {category}\ndate: 2026-01-{day:02}\ntags: [{name}]\n---\n"
        repository.write(f"{name}.md", f"{fields}# Title of {name}\n\n## Slices\n\nA slice.\n")
    repository.commit()
    with Workspace.open(str(repository.root)) as workspace:
        view, context = open_search(workspace.session)

        def paths(question):
            sections = find_spec_sections(view, question, 10, context)
            return {section.page.filepath for section in sections}

        yield paths


@pytest.mark.parametrize(
    ("question", "pages"),
    [
        ("slice", {"old.md", "new.md", "lib.md"}),
        ("slice category:core", {"old.md", "new.md"}),
        ("slice category:core date>=2026-01-10", {"new.md"}),
        ("slice -category:core", {"lib.md"}),
        ("slice category:library OR category:none", {"lib.md"}),
        ("slice tag:old", {"old.md"}),
        ("slice path:new.md", {"new.md"}),
        ("date>2026-01-10", {"new.md", "lib.md"}),
        ("category:none", set()),
    ],
)
def test_only_sections_of_pages_that_match_the_filters_are_found(find, question, pages):
    assert find(question) == pages


def test_invalid_filter_is_an_error(find):
    with pytest.raises(UsageError, match="No such date"):
        find("slice date>2026-13-40")


@pytest.mark.parametrize(
    ("page", "title"),
    [
        ("---\ntitle: Grammar\n---\n\nRules have a colon.\n\n## Types\n\nText.\n", "Grammar"),
        ("Rules have a colon.\n", "grammar"),
    ],
)
def test_text_before_the_first_heading_is_found_read_and_planned(repository, page, title):
    repository.write("docs/grammar.md", page)
    repository.write("docs/other.md", "<!-- Draft -->\n\n# Other\n\nText.\n")
    repository.commit()
    with Workspace.open(str(repository.root)) as workspace:
        view, context = open_search(workspace.session)
        (found, *_) = find_spec_sections(view, "colon", 10, context)
        read = read_spec_section(view, "docs/grammar.md")
        (week,) = plan_learning(view, 1, ())
    assert (found.page.filepath, found.heading.path) == ("docs/grammar.md", (title,))
    assert found.snippet.text == read.text == "Rules have a colon."
    assert week.sections[0].heading == found.heading
    assert [each.heading.level for each in week.sections if "other" in each.page.filepath] == [1]


@pytest.fixture
def order(repository):
    """Return the topics of pages in the order in which they are read."""

    def topics(pages, focus=()):
        for path, text in pages.items():
            repository.write(path, text)
        repository.commit()
        with Workspace.open(str(repository.root)) as workspace:
            (week,) = plan_learning(workspace.session.view(), 1, focus)
        return list(week.topics)

    return topics


CHAPTERS = {
    "spec/Appendix A -- Grammar.md": "# Grammar\n\nText.\n",
    "spec/Section 10 -- Validation.md": "# Validation\n\nText.\n",
    "spec/Section 2 -- Types.md": "# Types\n\nText.\n",
    "spec/Terms.md": "# Terms\n\n## Types\n\nText.\n",
    "CONTRIBUTING.md": "# Contributing\n\nText.\n",
    "signed-agreements/README.md": "# Agreements\n\nText.\n",
    ".github/ISSUE_TEMPLATE.md": "# Issue\n\nText.\n",
}


def test_plan_without_contents_follows_the_numbers_in_names(order):
    assert order(CHAPTERS) == ["Types", "Validation", "Terms", "Grammar"]


def test_plan_follows_the_list_of_the_main_page(order):
    pages = ("Section 10 -- Validation", "Section 2 -- Types", "Appendix A -- Grammar")
    listed = "".join(f"- [{page}](<{page}.md>)\n" for page in pages)
    main = {"spec/Main.md": f"# Introduction\n\n{listed}", "README.md": "# Project\n\nText.\n"}
    assert order(CHAPTERS | main) == [
        *("Introduction", "Validation", "Types", "Terms", "Grammar"),
    ]


def test_plan_follows_the_catalogue_of_docc(order):
    names = ("Welcome", "Types", "Attributes")
    pages = {f"A.docc/Guide/{name}.md": f"# {name}\n\nText.\n" for name in names}
    topics = "".join(f"- <doc:{name}>\n" for name in names)
    main = {"A.docc/The-Language.md": f"# The Language\n\n## Topics\n\n{topics}"}
    assert order(pages | main) == ["The Language", *names]


def test_list_of_a_chapter_is_no_table_of_contents(order):
    links = "".join(f"- [{name}]({name}.md)\n" for name in ("nil", "bool", "char"))
    literals = {f"a/literals/{name}.md": f"# {name}\n\nText.\n" for name in ("nil", "bool", "char")}
    chapters = {
        f"a/{name}.md": f"# {name}\n\nText.\n" for name in ("if", "it", "loops", "macros", "not")
    }
    pages = {"a/literals/README.md": f"# Literals\n\n{links}"} | literals | chapters
    assert {"if", "loops", "macros", "not", "nil"} < set(order(pages))


def test_long_chapter_that_refers_to_many_others_is_no_table_of_contents(order):
    names = [f"{number:02}-chapter" for number in range(1, 8)]
    links = "".join(f"See [{name}]({name}.md).\n\n" for name in names[2:6])
    pages = {f"spec/{name}.md": f"# {name}\n\nText.\n" for name in names}
    pages["spec/07-chapter.md"] += links
    assert order(pages) == names


def test_changelog_with_a_number_is_not_planned(order):
    names = ("01-types", "02-terms", "03-syntax")
    links = "".join(f"- [{name}]({name}.md)\n" for name in names)
    pages = {f"spec/{name}.md": f"# {name}\n\nText.\n" for name in names}
    assert order(pages | {"spec/15-changelog.md": f"# Changes\n\n{links}"}) == list(names)


def test_plan_follows_the_summary_alone(order):
    summary = "# Summary\n\n- [V](Section%2010%20--%20Validation.md)\n- [G](Terms.md)\n"
    assert order(CHAPTERS | {"spec/SUMMARY.md": summary}) == ["Validation", "Terms"]


def test_focus_names_topics_before_sections(order):
    assert order(CHAPTERS, ["types"]) == ["Types", "Validation", "Terms", "Grammar"]
    assert order({"a.md": "# A\n\nX.\n", "b.md": "# B\n\nX.\n", **CHAPTERS}, ["grammar"])[1] == (
        "Grammar"
    )


def test_focus_moves_sections_where_a_page_is_one_topic(repository):
    language = (
        "# Language\n\nText.\n\n## Syntax\n\nText.\n\n## Macros\n\nText.\n\n### has\n\nText.\n"
    )
    repository.write("a.md", "# About\n\nText.\n")
    repository.write("b.md", language)
    repository.commit()

    def planned(*focus):
        with Workspace.open(str(repository.root)) as workspace:
            (week,) = plan_learning(workspace.session.view(), 1, focus)
        return [section.heading.heading for section in week.sections]

    assert planned() == planned("Nope") == ["About", "Language", "Syntax", "Macros", "has"]
    assert planned("macros") == ["About", "Macros", "has", "Language", "Syntax"]
    repository.remove("a.md")
    repository.write("c.md", "# About\n\nText.\n")
    assert planned("macros") == ["Language", "Macros", "has", "Syntax", "About"]
