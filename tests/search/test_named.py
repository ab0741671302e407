"""A query that is a page's title, alias, file name, path or heading puts that page first."""

import pytest

PAGES = {
    # Many pages use the words of the names; the page with the name has few others.
    "guide.md": "# Guide\n\nWhere to begin.\n",
    "many.md": "# Notes\n\n## A guide to guides\n\nGuide, guide, using plugins, guides.\n",
    "setup/using-plugins.md": "# More\n\nAn extension is loaded from a folder.\n",
    "other.md": "---\naliases: [Loading order]\n---\n# Sequence\n\nFirst things first.\n",
    "order.md": "# Orders\n\nThe loading order, the order of loading, loading in order.\n",
    "ja.md": "# プラグイン API\n\n拡張について。\n",
    "ja2.md": "# 概要\n\nプラグイン API とプラグイン API の説明。プラグイン API。\n",
    "long.md": "# Reference\n\nAll.\n\n## Retry policy\n\nThree times.\n\n## Other\n\nText.\n",
    "retry.md": "# Networks\n\nRetry policy: retry, policy, retry policies, a policy.\n",
}


@pytest.fixture
def named(make_repository, opened):
    return opened(make_repository(PAGES))


@pytest.mark.parametrize(
    ("query", "path"),
    [
        ("Guide", "guide.md"),
        ("guides!", "guide.md"),
        ("\uff27\uff35\uff29\uff24\uff25", "guide.md"),
        ("using plugins", "setup/using-plugins.md"),
        ("using-plugin", "setup/using-plugins.md"),
        ("using-plugins.md", "setup/using-plugins.md"),
        ("./setup/using-plugins.md", "setup/using-plugins.md"),
        ("loading order", "other.md"),
        ("プラグインAPI", "ja.md"),
        ("Retry Policy", "long.md"),
    ],
)
def test_page_with_the_name_is_first(named, search_in, query, path):
    for mode in ("hybrid", "fulltext"):
        assert search_in(named, query, mode=mode).answer.pages[0].page.filepath == path


def test_section_with_the_heading_is_its_pages_best(named, search_in):
    hit = search_in(named, "retry policies").answer.pages[0]
    assert hit.sections[0].section.heading == "Retry policy"


def test_named_page_is_no_weak_answer(named, search_in):
    assert not search_in(named, "guide").answer.is_weak


def test_named_page_outside_the_filters_is_not_found(named, search_in):
    answer = search_in(named, "guide -path:guide.md").answer
    assert "guide.md" not in [hit.page.filepath for hit in answer.pages]


def test_page_with_the_heading_is_first_however_many_pages_have_its_words_more_often(
    make_repository, opened, search_in
):
    pages = {f"p{n}.md": f"# Table {n}\n\n" + "Tables and tables, a table. " * 9 for n in range(30)}
    text = "# Long\n\n" + "Nothing of interest. " * 200
    pages["long.md"] = f"{text}\n\n## Tables\n\n{'They are made of lines. ' * 40}\n"
    answer = search_in(opened(make_repository(pages)), "tables").answer
    assert answer.pages[0].page.filepath == "long.md"
    assert answer.pages[0].sections[0].section.heading == "Tables"


@pytest.mark.parametrize(
    ("path", "first"), [("p{}.md", "first.md"), ("docs/{}.x/page.md", "docs/4.x/page.md")]
)
def test_heading_of_many_pages_names_none_but_versions_of_a_page_are_one(
    make_repository, opened, search_in, path, first
):
    headed = "# Page\n\n{}" + " Words." * 99 + "\n\n## Set-up\n\nInstall it.\n"
    pages = {path.format(number): headed.format(number) for number in range(5)}
    pages["first.md"] = "# Other\n\n" + "Set-up, the set-up of a set-up. " * 30
    found = search_in(opened(make_repository(pages)), "set-up").answer.pages
    assert found[0].page.filepath == first


def test_path_of_no_letters_names_nothing(named, search_in):
    assert search_in(named, "setup/-.md").answer.pages == ()
