"""What `page.md#…` may name."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ubp.core.model import FilePath
from ubp.core.text import fold, slug
from ubp.markdown.parse import parse_markdown
from ubp.markdown.sites.detect import configured_site, site_anchors

GITHUB = configured_site("github", FilePath(""), FilePath(""), "")


def _anchors(text: str) -> set[str]:
    return set(site_anchors(parse_markdown(text.encode()).anchors, GITHUB))


@pytest.mark.parametrize(
    ("heading", "anchor"),
    [
        ("Getting Started", "getting-started"),
        ("What's new in v1.2?", "whats-new-in-v12"),
        ("A & B", "a--b"),
        ("snake_case_name", "snake_case_name"),
        ("*Emphasis*, _more_ and __strong__", "emphasis-more-and-strong"),
        ("`ubp stale --json`", "ubp-stale---json"),
        ("[Link](x.md) and ~~gone~~", "link-and-gone"),
        ("A &amp; B \\* <b>bold</b>", "a--b--bold"),
        ("認証 フロー(詳細)", "認証-フロー詳細"),
        ("ガイド、「はじめに」", "ガイドはじめに"),
        ("Ünïcode Straße", "ünïcode-straße"),
        ("① First Ⅳ", "-first-ⅳ"),
        ("हिन्दी भाषा", "हिन्दी-भाषा"),
    ],
)
def test_heading_gets_the_anchor_of_github(heading: str, anchor: str) -> None:
    section = parse_markdown(f"## {heading}\n".encode()).sections[0]

    assert section.anchor == anchor


def test_heading_with_emoji_or_image_is_found_with_and_without_the_hyphen() -> None:
    assert _anchors("## 🚀 Launch\n## ![logo](x.png) Logo\n## End :tada:\n") == {
        *("-launch", "launch", "-logo", "logo", "end-tada"),
    }


def test_equal_anchors_are_numbered_as_github_numbers_them() -> None:
    assert _anchors("# A\n## A\n## A-1\n## a\n") == {"a", "a-1", "a-1-1", "a-2"}


def test_headings_of_all_levels_and_in_containers_have_anchors() -> None:
    text = "###### Six\n> # Quoted\n\n- ## Listed\n\nUnder\nlined\n---\n"

    assert _anchors(text) == {"six", "quoted", "listed", "under-lined"}


def test_headings_in_code_and_comments_have_no_anchors() -> None:
    assert _anchors("```\n# code\n```\n\n    # code\n\n<!--\n# gone\n<h2>gone</h2>\n-->\n") == set()


def test_html_ids_are_anchors_and_html_headings_have_anchors() -> None:
    text = (
        '<h1 align="center">My <em>Project</em> &amp; More</h1>\n\n'
        '<a id="first"></a>\n\ntext <a name=\'Second\'></a> <span class="x" id=third>\n\n'
        '<div\n  id="fourth">\n</div>\n\n<a href="#x">no</a>\n'
    )

    assert _anchors(text) == {"my-project--more", "first", "Second", "third", "fourth"}


def test_explicit_ids_of_generators_and_block_ids_are_anchors() -> None:
    text = "## Setup {#Install}\n\nA statement. ^claim-1\n\n- item ^item\n\n5 ^ 3 and x^2\n"

    assert _anchors(text) == {"setup-install", "Install", "^claim-1", "^item"}


def test_explicit_id_may_have_escaped_braces() -> None:
    assert "recipient" in _anchors(
        "### [`recipient`](#recipient)[`App`](app.mdx) \\{#recipient\\}\n"
    )


def test_fence_below_a_component_of_mdx_is_code() -> None:
    tab = '<TabItem value="{0}">\n```{0}\n# {0}\n\n# more\n```\n</TabItem>\n'
    text = f"<Tabs>\n{tab.format('go')}{tab.format('rust')}</Tabs>\n\n## After\n"

    assert _anchors(text) == {"after"}
    assert _anchors("<div>\n```go\n\n# one\n```\n</div>\n\n## After\n") == {"one"}  # as GitHub


def test_heading_below_a_tag_is_one_of_mdx() -> None:
    assert _anchors('<div class="x">\n  ## Part\n\n  <Chart />\n</div>\n') == {"part"}
    assert _anchors("<Tabs>\n<Tab>\n## Part\n") == {"part"}
    assert _anchors("<div>\ntext\n## Part\n</div>\n\n<pre>\n# code\n</pre>\n") == set()
    assert _anchors("<div>\n<pre>\n# code\n</pre>\n</div>\n") == set()


def test_comments_of_mdx_show_nothing() -> None:
    comment = "{{/* TODO ![x](a.png)\n\n## No\n\n[y](b.md) */}}{0}\n\n## Yes\n"

    assert _anchors(comment.format("")) == {"yes"}
    assert not parse_markdown(comment.format("").encode()).links
    assert not parse_markdown(comment.format("").encode()).embedded
    assert _anchors(comment.format(" text")) == {"no", "yes"}


def test_references_in_a_heading_are_links() -> None:
    assert _anchors("## See [this][r]\n\n[r]: x.md\n") == {"see-this"}


def test_very_long_heading_is_not_searched_for_markup() -> None:
    assert _anchors("## " + "*a* " * 1000) == {"-".join(["a"] * 1000)}


@pytest.mark.parametrize(
    ("name", "other"),
    [("README", "readme"), ("カ\u3099", "ガ"), ("E\u0301", "é"), ("STRASSE", "straße"), ("Ω", "ω")],
)
def test_names_are_equal_whatever_their_case_and_unicode_form(name: str, other: str) -> None:
    assert fold(name) == fold(other)


@given(st.text())
def test_fold_is_idempotent(text: str) -> None:
    assert fold(fold(text)) == fold(text)


@given(st.text())
def test_anchor_contains_no_white_space(text: str) -> None:
    assert not any(character.isspace() for character in slug(text))
