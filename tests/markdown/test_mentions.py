"""Mentions in pages: paths as they are written, code by place and shape, lines of the file."""

from ubp.markdown.mentions import Mention, read_mentions

PAGE = """\
---
source_refs: [src/hidden.py]
---
# Sessions

See [the code](src/auth/session.py) and `pages/[id].ts`, (app)/page.tsx.
`expire` calls load_token; prose does not. load_token again.

## Storage

```python
store = open_it("x")
```
"""


def test_mentions_are_paths_identifiers_and_headings_of_the_body_alone():
    said = read_mentions(PAGE.encode())
    assert said.headings == "Sessions Storage"
    assert [path for path in said.paths if "/" in path.text] == [
        Mention("src/auth/session.py", 6, 1),
        Mention("pages/[id].ts", 6, 1),
        Mention("(app)/page.tsx.", 6, 1),
    ]
    assert Mention("load_token", 7, 2) in said.identifiers
    assert {identifier.text for identifier in said.identifiers} == {
        *("expire", "load_token", "store", "open_it"),
    }
    assert said.fenced == {"store"}


def test_line_ends_and_undecodable_bytes_do_not_change_mentions():
    crlf = PAGE.replace("\n", "\r\n").encode()
    assert read_mentions(crlf).identifiers == read_mentions(PAGE.encode()).identifiers
    assert [path.text for path in read_mentions(b"\xff see a/b.py \xfe").paths] == ["a/b.py"]


def test_link_to_a_file_at_a_forge_is_a_mention_of_its_address_and_not_of_its_text():
    address = "https://github.com/acme/api/blob/main/src/index.ts"
    said = read_mentions(f"[core - src/index.ts]({address}), [src/a.ts](../src/a.ts)\n".encode())
    assert [path.text for path in said.paths if path.text != "-"] == [
        address.removeprefix("https:"),
        "src/a.ts",
        "../src/a.ts",
    ]


def test_link_to_a_page_of_the_site_is_no_mention_of_a_file():
    said = read_mentions(
        b"[a](/drivers/a), [b](/drivers/b#use), [c](/src/c.ts), [`lib/d`](/drivers/d), `/api/e`\n"
    )
    assert [path.text for path in said.paths if len(path.text) > 1] == [
        "/src/c.ts",
        "lib/d",
        "/api/e",
    ]


def test_inline_code_with_spaces_may_be_a_path_if_it_ends_like_a_file():
    said = read_mentions(
        b"`docs/my file.py`, `a b.rb`, `run the tests`, `x = y.z`, `it: a.py`\n\n"
        b"```\ndocs/other file.py\n```\n"
    )
    assert [path for path in said.paths if " " in path.text] == [
        Mention("docs/my file.py", 1, 1),
        Mention("a b.rb", 1, 1),
    ]


def test_languages_are_those_of_fenced_code_as_written():
    said = read_mentions(b"```cpp\na\n```\n~~~ {.Python .x}\n~~~\n```\nruby\n```\n````c++\n````\n")
    assert said.languages == {"cpp", "Python", "c++"}
