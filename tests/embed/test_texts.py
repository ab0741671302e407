"""What of a chunk the model reads."""

import time

import pytest

from ubp.embed.text import KEY_BYTES, bare, key_of, text_to_embed


def words(title, heading_path, body):
    return text_to_embed(title, heading_path, body).split()


def test_the_model_reads_words_only():
    text = '## See [the *API*](../a_b.md "T"), `user_id`: <br/> https://x.org/a?b=1 を設定する。\n'
    assert bare(text).split() == ["See", "the", "API", "user", "id", "を設定する"]
    assert bare("C++ | vector<int>").split() == ["C", "vector"]
    assert bare("!? 🙂").strip() == ""


def test_it_reads_what_people_read():
    text = """
<!-- ubp: ignore[broken-link] -->
| Name | [Value][v] |
|------|:--------:|
| [[Token|depends_on]] | ![image of it](a(1).png) |

[v]: https://example.org "Values"
"""
    assert " ".join(bare(text).split()) == "Name Value Token depends on image of it"


def test_the_title_and_each_heading_are_told_once():
    auth = words("Auth", ("Auth", "Tokens"), "They expire.")
    assert auth == ["Auth", "Tokens", "They", "expire"]
    assert words(None, (), "They expire.") == ["They", "expire"]
    assert words("`ttl`", ("Of `ttl`",), "") == ["ttl", "Of", "ttl"]


CODE = "```python\nimport token\n```\n"
PROSE = "A token is taken from the request, and is checked before anything else is."


@pytest.mark.parametrize(
    ("body", "read"),
    [
        (f"{PROSE}\n\n{CODE}", PROSE),
        (f"> {CODE.replace(chr(10), chr(10) + '> ')}\n{PROSE}", PROSE),
        (f"Like this:\n\n{CODE}", "Like this import token"),
        (f"import json\n```\n{PROSE}\n", f"import json {PROSE}"),
        (f"~~~\n```\n~~~\n{PROSE}\n```\nimport re\n```\n", f"{PROSE} import re"),
    ],
    ids=["code beside prose", "quoted", "little prose", "the end of a long one", "odd"],
)
def test_code_is_read_where_there_is_little_else(body, read):
    assert text_to_embed(None, (), body).split() == bare(read).split()


def test_the_key_covers_all_that_is_read():
    chunk = ("Auth", ("Auth", "Tokens"), "They expire.")
    others = [
        ("Other", ("Auth", "Tokens"), "They expire."),
        ("Auth", ("Tokens",), "They expire."),
        ("Auth", ("Auth Tokens",), "They expire."),
        ("Auth", ("Auth", "Tokens"), "They expire"),
        (None, ("Auth", "Auth", "Tokens"), "They expire."),
    ]
    keys = {key_of(*one) for one in [chunk, *others]}
    assert len(keys) == 1 + len(others)
    assert {len(key) for key in keys} == {KEY_BYTES}
    assert key_of(*chunk) == key_of(*chunk)


def test_what_is_no_unicode_is_read_nevertheless():
    assert words("\ud800", (), "\udcff a") == ["a"]
    assert len(key_of("\ud800", (), "\udcff")) == KEY_BYTES


@pytest.mark.parametrize(
    "text",
    ["[", "](", "<!--", "<", "```\n", "~~~\n```\n", "| ", "_", "a_", "](" + "a" * 299, "<a "],
)
def test_no_text_takes_long(text):
    begun = time.process_time()
    assert len(text_to_embed(None, (), text * 100_000)) <= 8_000
    assert time.process_time() - begun < 1
