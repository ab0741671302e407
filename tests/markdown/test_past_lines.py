"""Which lines of a page are about what was, and which describe what a program does."""

import time

import pytest

from ubp.markdown.past_lines import find_record_lines, has_notice


@pytest.mark.parametrize(
    "line",
    [
        "`read_all` was removed.",
        "`read_all` has been removed, use `aread_all`.",
        "Removed in 3.0: `read_all`",
        "`read_all` (removed)",
        "`read_all` (`string`, **Removed** Use `aread_all`.)",
        "Removed on 2024-01-03.",
        "`read_all` was renamed to `aread_all`.",
        "`read_all` is no longer there.",
        "`read_all` used to be a method.",
        "`read_all` has been deprecated.",
        "`read_all` was removed and will be replaced in 3.0.",
        "It had to be removed.",
        "Before v2, call `read_all`.",
        "In version 1.0.x it is called `read_all`.",
        "`read_all` は削除されました。",
    ],
)
def test_line_with_a_participle_is_a_notice(line):
    assert has_notice(line)


@pytest.mark.parametrize(
    "line",
    [
        "`--prune-cache`: Remove files that no project uses.",
        "`--prune-cache` removes files before they are read.",
        "`min_open` and `max_open` can be used to exclude that boundary.",
        "`--read-all` (deprecated)",
        "`read_all` is deprecated.",
        "It will be removed.",
        "`read_all` is to be replaced in version 3.",
        "`--was-removed` and `--legacy-reader`",
        "`read_all` runs before each request.",
        "`read_all` was added in version 1.0.",
        "Drop `read_all`; rename `page_size`.",
        "キャッシュを削除する: `--prune-cache`",
    ],
)
def test_line_that_says_what_a_program_does_is_no_notice(line):
    assert not has_notice(line)


@pytest.mark.parametrize(
    "heading",
    [
        "## Change Log",
        "## Changelog",
        "### Release notes",
        "## Migration",
        "## Migrating from 1.x",
        "## Upgrading to 2.0",
        "## 18.9b0",
        "## [1.2.3] - 2020-01-02",
        "## v1.2 (2020-01-02)",
        "## Version 1.2",
        "## Unreleased",
        "## Reader (removed in 3.0)",
        "Changes\n-------",
        "## 変更履歴",
    ],
)
def test_section_about_the_past_is_a_record_up_to_the_next_of_its_level(heading):
    text = f"# Reader\nUse it.\n{heading}\nText.\n### Details\nText.\n## Options\nText."
    lines = text.split("\n")
    start, end = 2, lines.index("### Details")
    deep = end if heading.startswith("###") else lines.index("## Options")
    assert find_record_lines(lines) == frozenset(range(start, deep))


@pytest.mark.parametrize(
    "heading",
    [
        "## 2.1 Installation",
        "## 2. Reader",
        "## Migrations",
        "## Changes of the file format are detected",
        "## Remove files",
        "## Python 3.12 support",
        "```\n## 1.2.3\n```",
    ],
)
def test_section_about_the_present_is_no_record(heading):
    assert find_record_lines(f"# Reader\n{heading}\nText.".split("\n")) == frozenset()


def test_page_or_section_whose_subject_was_removed_is_a_record():
    page = "# Rule\n\n::: danger\nThis rule was removed in v9.\n:::\n\n## Options\n\nText."
    assert len(find_record_lines(page.split("\n"))) == 9
    section = "# Rules\nAll of them.\n## First\nIt was removed in v9.\n## Second\nText."
    assert find_record_lines(section.split("\n")) == frozenset({2, 3})
    mention = "# Rules\nThe option `x` was removed in v9.\n## Second\nText."
    assert find_record_lines(mention.split("\n")) == frozenset()


@pytest.mark.parametrize(
    "line", ["# " + "1.0." * 30_000 + "x", "#" + " " * 60_000 + "x", "a" * 99_999]
)
def test_long_line_is_read_in_linear_time(line):
    started = time.process_time()
    find_record_lines([line, line])
    has_notice(line)
    assert time.process_time() - started < 2
