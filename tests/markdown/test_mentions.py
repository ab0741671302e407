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


def test_a_page_tells_paths_identifiers_and_headings_but_nothing_of_its_front_matter():
    said = read_mentions(PAGE.encode())
    assert said.headings == "Sessions Storage"
    assert [one for one in said.paths if "/" in one.text] == [
        Mention("src/auth/session.py", 6, 1),
        Mention("pages/[id].ts", 6, 1),
        Mention("(app)/page.tsx.", 6, 1),
    ]
    assert Mention("load_token", 7, 2) in said.identifiers
    assert {one.text for one in said.identifiers} == {
        *("expire", "load_token", "store", "open_it"),
    }
    assert said.fenced == {"store"}


def test_line_ends_and_bytes_that_are_no_text_change_nothing():
    crlf = PAGE.replace("\n", "\r\n").encode()
    assert read_mentions(crlf).identifiers == read_mentions(PAGE.encode()).identifiers
    assert [one.text for one in read_mentions(b"\xff see a/b.py \xfe").paths] == ["a/b.py"]
