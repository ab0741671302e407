"""Excerpts, token estimates and similar names."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ubp.core.text import (
    Budget,
    closest_name,
    closest_names,
    estimate_tokens,
    summarize,
    truncate_page,
    without_markup,
)

PAGE = """# Login

A token opens a session. It expires.

## Errors

```python
# no heading

raise Expired
```

They are listed below."""


@pytest.mark.parametrize(
    ("size", "kept"),
    [
        (len(PAGE), PAGE),
        (len(PAGE) - 1, PAGE[: PAGE.index("\n\nThey")]),
        (PAGE.index("raise"), PAGE[: PAGE.index("\n\n## Errors")]),
        (PAGE.index("## Errors") + 11, PAGE[: PAGE.index("\n\n## Errors")]),
        (PAGE.index("## Errors") - 3, PAGE[: PAGE.index(" It expires")]),
        (PAGE.index("session"), ""),
        (0, ""),
    ],
)
def test_excerpt_of_a_page_ends_with_a_paragraph_or_a_sentence(size, kept):
    assert truncate_page(PAGE, Budget(size).fits) == kept


def test_excerpt_of_a_page_may_be_limited_in_tokens():
    text = "日本語の文。\n\n" * 10
    kept = truncate_page(text, Budget(tokens=13).fits)
    assert kept == "日本語の文。\n\n日本語の文。"
    assert Budget(100, 13).minus(kept) == Budget(100 - len(kept), 1)


def test_excerpt_without_a_limit_is_the_whole_text():
    assert Budget().fits("x" * 10_000)
    assert Budget().minus("x") == Budget()


@pytest.mark.parametrize(
    ("text", "summary"),
    [
        ("# Title\n\nA first\nparagraph.\n\nAnother.\n", "A first paragraph. Another."),
        ("Title\n=====\n\n[![CI](a.svg)](b) ![x][y]\n\n<br>\nText.", "Title Text."),
        ("[![CI]][ci] [![docs][badge]][site] ![logo]\n[![x](y)]\n\nText.", "Text."),
        ("<!-- hidden\n\ntext -->\n| a | b |\n|---|---|\n\n[x]: y.md\nShown.", "Shown."),
        (
            "See [the page](a.md) and [[Other|depends_on]].",
            "See the page and [[Other|depends_on]].",
        ),
        ("Text.\n\n```\ncode\n```\n\nMore.", "Text. More."),
        ("%% a note\nfor editors %%Text, 5 %% of it.", "Text, 5 %% of it."),
        (
            '{{< youtube "x" >}}\n\n{{% note %}}\nText {{< here >}}.\n{{% /note %}}\n',
            "Text {{< here >}}.",
        ),
        (":::tip Advice\nText.\n:::\n", "Text."),
        ("## Only headings\n\n---\n", ""),
        ("", ""),
    ],
)
def test_summary_is_the_first_prose_of_a_page(text, summary):
    assert summarize(text) == summary


@pytest.mark.parametrize(
    ("text", "summary"),
    [
        ("One two. Three four five six seven", "One two."),
        ("Version 1.2, e.g. this one. And more of it", "Version 1.2, e.g. this one."),
        ("One two three four five six seven", "One two three four five six…"),
        (
            "認証は安全である。有効期限は一時間とする。それから必ず更新されると",
            "認証は安全である。有効期限は一時間とする。",
        ),
        ("認" * 100, "認" * 29 + "…"),
        ("x" * 100, ""),
    ],
)
def test_long_summary_ends_with_a_sentence_or_an_ellipsis(text, summary):
    assert summarize(text, 30) == summary


def test_excerpt_keeps_the_words_of_table_cells_apart():
    assert summarize("So <tr><td>one</td><td>tw<b>o</b></td></tr> is<br>it.") == "So one two is it."


@given(st.text(alphabet="ab .。!\n#`~|[]()日本", max_size=200), st.integers(0, 60))
def test_excerpt_is_a_beginning_that_fits(text, size):
    kept = truncate_page(text, Budget(size).fits)
    assert text.startswith(kept)
    assert len(kept) <= size or kept == text
    assert len(summarize(text, size)) <= max(size, 0)


@pytest.mark.parametrize(
    "unit", ["![", "[![", "[a](", ".", "`", "<!--", "%%", "%% a", "a ", "| ", "- ", "["]
)
def test_excerpt_of_any_text_takes_linear_time(unit):
    text = unit * (200_000 // len(unit))
    started = time.process_time()
    truncate_page(text, Budget(1000).fits)
    summarize(text)
    assert time.process_time() - started < 2


def test_tokens_are_words_and_characters():
    assert [estimate_tokens(text) for text in ("", "one", "one two three", "認証 flow")] == [
        0,
        2,
        4,
        4,
    ]


def test_closest_name_is_the_most_similar_one_or_none():
    assert closest_name("broken-lnk", ["stale-doc", "broken-link", "orphan-doc"]) == "broken-link"
    assert closest_name("broken-lnk", {"stale-doc": 1}) is None
    assert closest_name("depend", ["depends_on"], 0.9) is None


def test_closest_names_are_limited_and_ordered_by_similarity():
    names = ["docs/page.md", "docs/pages.md", "docs/cage.md", "README.md"]
    assert closest_names("docs/pages.md", names, 2, 0.5) == ["docs/pages.md", "docs/page.md"]


@pytest.mark.parametrize(
    ("written", "prose"),
    [
        ("A [link](x.md), **bold** and ~~gone~~.", "A link, bold and gone."),
        ("[a][r] ![image](x.png) [**b**](y)", "a  b"),
        ("a [![image](x.png)](y) b", "a  b"),
        ("<script setup>\nimport A from 'a'\n</script>\n\ntext", "\n\n\n\ntext"),
        ("a <b>x</b> <!-- no\n--> c", "a x \n c"),
        ("<td>a</td><td>b<br/>s<b>u</b>b<p\n></p>", " a  b sub\n "),
        ("## Head\n\n`**a** [b](c)`", "Head\n\n`**a** [b](c)`"),
        ("```js\na[0](1) ** 2 ** 3\n```\nafter", "\na[0](1) ** 2 ** 3\n\nafter"),
        ("a[0] and 2 ** 3 ** 4, *one* and __init__", "a[0] and 2 ** 3 ** 4, *one* and __init__"),
        ("## 行動規範 {#code-of-conduct}\nSee {#x} here", "行動規範\nSee {#x} here"),
        (":::tip\nRead.\n:::\n::: info Title\n::: a.b", "\nRead.\n\n Title\n a.b"),
    ],
)
def test_markup_is_removed_from_prose_but_not_from_code(written, prose):
    assert without_markup(written) == prose
    assert without_markup(written).count("\n") == written.count("\n")
