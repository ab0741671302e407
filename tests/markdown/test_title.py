import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ubp.markdown.document import first_heading, parse_page
from ubp.markdown.parse import parse_markdown

HEADINGS = [
    ("# Title\n", "Title"),
    ("#\tTitle", "Title"),
    ("   # Title ##  \n", "Title"),
    ("# C#\n", "C#"),
    ("# #\n# Second\n", "Second"),
    ("# \n\n# Second\n", "Second"),
    ("# 設計 `code` *x*\n", "設計 `code` *x*"),
    ("text\r\n# Title\r\n", "Title"),
    ("text\r# Title\r", "Title"),
    ("## Sub\n# Title\n", "Title"),
    ("#no space\n", None),
    ("    # code\n", None),
    ("> # quoted\n", None),
    ("- # item\n", None),
    ("text # not\n", None),
    ("", None),
    ("Title\n=====\n", "Title"),
    ("Two\nlines\n=\n", "Two lines"),
    ("## Sub\nTitle\n===\n", "Title"),
    ("\n===\nTitle\n===\n", "Title"),
    ("- item\n===\n# Title\n", "Title"),
    ("> quote\n===\n# Title\n", "Title"),
    ("Title\n=== x\n", None),
    ("Sub\n---\n", None),
    ("First\n===\n# Second\n", "First"),
    ("```\n# code\n```\n# Title\n", "Title"),
    ("````md\n```\n# code\n```\n````\n# Title\n", "Title"),
    ("~~~\n# code\n```\n~~~~\n# Title\n", "Title"),
    ("```\n# code\n", None),
    ("``` a`b\n# Title\n", "Title"),
    ("```x```\n# Title\n", "Title"),
    ("```\ncode\n===\n```\n# Title\n", "Title"),
    ("<!-- # no\n# no -->\n# Title\n", "Title"),
    ("<!-- one --> \n# Title\n", "Title"),
    ("<!-- open\n# no\n", None),
    ("text <!--\n# Title\n", "Title"),
    ("---\n\n# Title\n\n---\n", "Title"),
    ("\ufeff# Title\n", "Title"),
    ("\ufeffTitle\n===\n", "Title"),
]


@pytest.mark.parametrize(("body", "title"), HEADINGS)
def test_title_is_the_first_heading_of_the_body(body: str, title: str | None):
    assert first_heading(body.encode()) == title


def test_undecodable_bytes_in_a_title_are_replaced():
    assert first_heading(b"# Caf\xe9\n") == "Caf\ufffd"


LINES = ["# a", "===", "```", "~~~", "<!--", "-->", "", "text", "- x", "    "]


@given(st.lists(st.sampled_from(LINES)))
def test_title_is_made_of_lines_of_the_page_itself(lines: list[str]):
    title = first_heading("\n".join(lines).encode())
    assert title is None or title in " ".join(lines).replace("# a", "a")


@pytest.mark.parametrize(
    "body",
    [
        "# " + " " * 200_000 + "\n",
        "#" * 200_000 + "\n",
        "# " * 100_000 + "\n## x",
        "`" * 200_000 + "\n",
        ("```a`\n" * 40_000),
        "=" * 200_000 + "x\n",
        ("===\n" * 50_000),
        ("x\n" * 100_000),
        ("x\n===x\n" * 30_000),
        ("<!--" * 50_000),
        ("<!-- -->\n" * 30_000),
        "\n".join("`" * n + "\n" + "`" * n for n in range(3, 400)),
        "\r" * 200_000,
    ],
)
def test_hostile_body_is_scanned_in_linear_time(body: str):
    start = time.process_time()
    first_heading(body.encode())
    assert time.process_time() - start < 5  # one that explodes takes minutes


@pytest.mark.parametrize(
    ("written", "title"),
    [
        ("Start {#start}", "Start"),
        ("Start { .wide #start }", "Start"),
        (r"Start \{#start\}", "Start"),
        ("Start { .wide .tall }", "Start"),
        ("Start {: .wide }", "Start"),
        ("Start {: wide }", "Start"),
        ("Start {: .wide data-level=2}", "Start"),
        ("The set {a, b}", "The set {a, b}"),
        ("`ubp stale` & co", "ubp stale & co"),
        ("One<br>two<br/>three", "One two three"),
        ("**Bold** and *more*", "Bold and more"),
        ("A [link](x.md) and ![image](x.png)", "A link and"),
        ("[[cost - index|Cost study ]] of [[a|b]]", "Cost study of b"),
        ("[[nodiscard]] and ![[a.png|300]]", "[[nodiscard]] and ![[a.png|300]]"),
        ("`[[a|b]]` of [[c|d]]", "[[a|b]] of d"),
        ('Name [![CI: main](i.svg)](https://ci/?q="x") [![z](y) ![](x)](w)', "Name"),
        ("snake_case_name and `__init__`", "snake_case_name and __init__"),
        ("_Emphasis_ a &amp; b \\* c", "Emphasis a & b * c"),
        ("Vec<T> <Badge text='new' />", "Vec"),
        ("`a` <b>x</b> 2 * 3 * 4", "a x 2 * 3 * 4"),
    ],
)
def test_title_has_no_markup_and_equals_the_heading_of_its_section(
    written: str, title: str
) -> None:
    page = f"# {written}\n\ntext\n".encode()

    assert parse_page(page, ()).title == title
    assert parse_markdown(page).sections[0].heading_path == (title,)
