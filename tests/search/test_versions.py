"""Versions of a page count as one, and a query may ask for a version."""

import pytest

from ubp.core.versions import is_version, read_version, recency

TEXT = "# Timers\n\nFake timers replace the clock of a test. {}\n"
REMOVED = "The option legacyFakeTimers brings the old timers back."
PAGES = {
    "website/versioned_docs/version-29.7/Timers.md": TEXT.format(REMOVED),
    "website/versioned_docs/version-30.0/Timers.md": TEXT.format("Fast."),
    "docs/Timers.md": TEXT.format("Faster."),
    "docs/Clocks.md": "# Clocks\n\nTimers of a clock.\n",
}


@pytest.fixture
def versions(make_repository, opened):
    return opened(make_repository(PAGES))


@pytest.mark.parametrize(
    ("path", "family", "version"),
    [
        ("content/docs/2.11/scalers/kafka.md", "content/docs/scalers/kafka.md", "2.11"),
        ("website/versioned_docs/version-29.7/cli.md", "docs/cli.md", "29.7"),
        ("docs/cli.md", "docs/cli.md", ""),
        ("website/src/next/docs/guide.md", "website/src/docs/guide.md", "next"),
        ("website/i18n/ja/docusaurus-plugin-content-docs/version-2.x/a.md", "docs/a.md", "2.x"),
        ("website/i18n/ja/docusaurus-plugin-content-docs/current/a.md", "docs/a.md", ""),
        ("i18n/docusaurus-plugin-content-docs/version-v1.3/a.md", "docs/a.md", "1.3"),
        ("v1/api.md", "api.md", "1"),
        ("blog/2024/news.md", "blog/2024/news.md", ""),
    ],
)
def test_version_is_read_from_the_path(path, family, version):
    assert read_version(path) == (family, version)


@pytest.mark.parametrize(
    ("wanted", "version", "is_wanted"),
    [
        ("28.x", "28.1", True),
        ("v28", "28.x", True),
        ("28", "2.8", False),
        ("2.1", "2.11", False),
        ("next", "", True),
        ("latest", "latest", True),
        ("latest", "1.0", False),
    ],
)
def test_version_is_the_wanted_one(wanted, version, is_wanted):
    assert is_version(wanted, version) is is_wanted


def test_versions_are_one_hit_with_the_newest_released_first(versions, search_in):
    answer = search_in(versions, "fake timers").answer
    first, *others = [hit.page.filepath for hit in answer.pages]
    assert first == "website/versioned_docs/version-30.0/Timers.md"
    assert answer.copies[first] == (
        "website/versioned_docs/version-29.7/Timers.md",
        "docs/Timers.md",
    )
    assert not any("Timers" in path for path in others)


def test_removed_text_is_found_in_the_version_that_has_it(versions, search_in):
    hit = search_in(versions, "legacyFakeTimers").answer.pages[0]
    assert hit.page.filepath == "website/versioned_docs/version-29.7/Timers.md"


def test_query_asks_for_a_version(versions, search_in):
    answer = search_in(versions, "fake timers version:29.x").answer
    assert [hit.page.filepath for hit in answer.pages] == [
        "website/versioned_docs/version-29.7/Timers.md"
    ]


def test_configured_version_comes_first(make_repository, opened, search_in):
    config = {".ubp/config.json": '{"search": {"version": "next"}}'}
    workspace = opened(make_repository(PAGES | config))
    answer = search_in(workspace, "fake timers").answer
    assert answer.pages[0].page.filepath == "docs/Timers.md"


def test_pages_of_other_titles_are_no_versions_of_each_other(make_repository, opened, search_in):
    pages = {
        "v1/notes.md": "# Notes on release one\n\nTimers were added.\n",
        "v2/notes.md": "# Notes on release two\n\nTimers were removed.\n",
    }
    answer = search_in(opened(make_repository(pages)), "timers").answer
    assert len(answer.pages) == 2
    assert not answer.copies


def test_text_names_the_other_versions(versions):
    from ubp.server.tools.tool import call_tool, make_tool

    answer = call_tool(make_tool("ubp_search"), versions, {"query": "fake timers"})
    assert "Also in 29.7, next" in answer.text


def test_version_of_more_digits_than_python_reads_is_sorted():
    assert recency("9" * 5_000) > recency("8")


MANUAL = "# Releases\n\n" + "".join(f"- Release {n} mends bug {n}.\n" for n in range(30))
PLACES = {
    "CHANGELOG.md": MANUAL,
    "website/news.md": "---\nslug: news\n---\n" + MANUAL,
    "website/other.md": "# Releases\n\n" + "- A release is made by a tag.\n" * 3,
    "website/draft.md": MANUAL.replace("# Releases", "# Draft of releases"),
}


def test_page_with_nearly_the_same_lines_elsewhere_is_one_hit(make_repository, opened, search_in):
    workspace = opened(make_repository(PLACES))
    answer = search_in(workspace, "releases").answer
    found = [hit.page.filepath for hit in answer.pages]
    assert sorted(found) == ["CHANGELOG.md", "website/draft.md", "website/other.md"]
    assert answer.copies == {"CHANGELOG.md": ("website/news.md",)}
    assert answer.total == 3


def test_place_of_a_copy_is_filled(make_repository, opened, search_in):
    workspace = opened(make_repository(PLACES))
    assert len(search_in(workspace, "releases", limit=3).answer.pages) == 3
