"""What of a chunk the model reads."""

import time

import pytest

from ubp.index.embed.text import KEY_BYTES, embedding_key, strip_markup, text_to_embed


def words(title, heading_path, body):
    return text_to_embed(title, heading_path, body).split()


def test_text_for_the_model_has_only_words():
    text = '## See [the *API*](../a_b.md "T"), `user_id`: <br/> https://x.org/a?b=1 を設定する。\n'
    assert strip_markup(text).split() == ["See", "the", "API", "user", "id", "を設定する"]
    assert strip_markup("C++ | vector<int>").split() == ["C", "vector"]
    assert strip_markup("!? 🙂").strip() == ""


def test_text_for_the_model_is_what_people_read():
    text = """
<!-- ubp: ignore[broken-link] -->
| Name | [Value][v] |
|------|:--------:|
| [[Token|depends_on]] | ![image of it](a(1).png) |

[v]: https://example.org "Values"
"""
    assert " ".join(strip_markup(text).split()) == "Name Value Token depends on image of it"


def test_text_for_the_model_has_title_and_headings_once():
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
def test_text_for_the_model_has_code_where_there_is_little_else(body, read):
    assert text_to_embed(None, (), body).split() == strip_markup(read).split()


def test_key_covers_the_whole_text():
    chunk = ("Auth", ("Auth", "Tokens"), "They expire.")
    others = [
        ("Other", ("Auth", "Tokens"), "They expire."),
        ("Auth", ("Tokens",), "They expire."),
        ("Auth", ("Auth Tokens",), "They expire."),
        ("Auth", ("Auth", "Tokens"), "They expire"),
        (None, ("Auth", "Auth", "Tokens"), "They expire."),
    ]
    keys = {embedding_key(*arguments) for arguments in [chunk, *others]}
    assert len(keys) == 1 + len(others)
    assert {len(key) for key in keys} == {KEY_BYTES}
    assert embedding_key(*chunk) == embedding_key(*chunk)


def test_text_that_is_not_unicode_is_read():
    assert words("\ud800", (), "\udcff a") == ["a"]
    assert len(embedding_key("\ud800", (), "\udcff")) == KEY_BYTES


@pytest.mark.parametrize(
    "text",
    ["[", "](", "<!--", "<", "```\n", "~~~\n```\n", "| ", "_", "a_", "](" + "a" * 299, "<a "],
)
def test_long_text_is_prepared_in_linear_time(text):
    begun = time.process_time()
    assert len(text_to_embed(None, (), text * 100_000)) <= 8_000
    assert time.process_time() - begun < 1
