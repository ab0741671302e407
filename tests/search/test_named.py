"""A query that is a page's title, alias, file name or heading puts that page first."""

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
