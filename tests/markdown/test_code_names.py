"""The names in a page's code, however long its lines are."""

import time

import pytest

from ubp.markdown.code_names import read_code_names

LONG = "f" * 100_000


@pytest.mark.parametrize(
    "text",
    [
        f"---\nsource_refs: [src/a.py#{LONG}]\n---\n`maxSize`\n",
        f"`src/a.py#{LONG}` and `maxSize`\n",
        f"```python\nsrc/a.py#{LONG}\nmaxSize\n```\n",
        f"`{'.' * 100_000}/` and `maxSize`\n",
    ],
    ids=["front matter", "inline", "block", "dots"],
)
def test_long_line_is_read_in_linear_time_and_hides_no_other_name(text):
    started = time.process_time()
    assert "maxSize" in [name.text for name in read_code_names(text.encode()).names]
    assert time.process_time() - started < 2


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("`--storage.wal.limit=3`", ["--storage.wal.limit"]),
        ("`--read-all.`", ["--read-all"]),
        ("`__fields__` and `__x`", ["__fields__"]),
        ("`sublime_themes/`", ["sublime_themes/"]),
        ("`cat sublime_themes/`", []),
        ("`X-Read-all`", ["X-Read-all"]),
    ],
)
def test_names_in_inline_code(text, names):
    assert [name.text for name in read_code_names(text.encode()).names] == names


def test_names_in_sections_about_the_past_are_left_out():
    text = "`maxSize`\n\n## Change log\n\n`minSize`\n\n```\nreadAll\n```\n"
    assert [name.text for name in read_code_names(text.encode()).names] == ["maxSize"]


def test_name_whose_section_says_that_it_was_removed_is_left_out_of_the_whole_page():
    text = (
        "# Options\n- [`Gateway.PathPrefixes`](#a)\n- `maxSize`\n"
        "### `Gateway.PathPrefixes`\n\n**REMOVED**\n"
        "### Instead of `Gateway.PathPrefixes`\n"
    )
    assert [name.text for name in read_code_names(text.encode()).names] == ["maxSize"]


@pytest.mark.parametrize(
    ("block", "is_mentioned"),
    [
        ("def read_all(path):\n    ...", True),
        ("function readAll(path): string", True),
        ("def read_all(path):\n    return path", False),
        ("const readAll = 1", False),
    ],
)
def test_head_of_a_function_alone_shows_it_and_defines_nothing(block, is_mentioned):
    names = read_code_names(
        f"Use `read_all` and `readAll`.\n\n```js\n{block}\n```\n".encode()
    ).names
    defined = "read_all" if "read_all" in block else "readAll"
    assert (defined in [name.text for name in names]) is is_mentioned


@pytest.mark.parametrize(
    ("block", "is_mentioned"),
    [
        ("```js\nreadAll = 1\n```\n", True),
        ("```js\nconst readAll = 1\n```\n", False),
        ("```js\nclass Reader {\n  readAll = 1\n}\n```\n", False),
        ("```kotlin\nconfig.copy(\n  readAll = 1\n)\n```\n", True),
        ("```py\nreadAll = 1\n```\n", False),
        ("## `readAll`\n\n```py\nreadAll = 1\n```\n", True),
        ("- `readAll`: reads pages\n\n```py\nreadAll = 1\n```\n", True),
        ("| `readAll` | reads |\n\n```py\nreadAll = 1\n```\n", True),
        ("- All: `readAll`\n\n```py\nreadAll = 1\n```\n", False),
        ("```haskell\ndata readAll = Pages\n```\n", False),
    ],
)
def test_example_does_not_define_what_it_sets_or_what_a_heading_documents(block, is_mentioned):
    names = read_code_names(f"Use `readAll`.\n\n{block}".encode()).names
    assert bool(names) is is_mentioned


@pytest.mark.parametrize(
    ("block", "names"),
    [
        ("I[10-04|13:54:30.391] Started maxSize=1", []),
        ("[2013-12-16 16:17:05,267 UTC] [client] [INFO]\nmaxSize (545)\n\nminSize", ["minSize"]),
        ("2013-12-16 16:17:05 started\nmaxSize (545)\n$ run minSize", ["minSize"]),
        ("metadata:\n  creationTimestamp: 2020\nspec:\n  maxSize: 2", []),
        (
            "metadata:\n  creationTimestamp: null\nspec:\n  maxSize: 2",
            ["creationTimestamp", "maxSize"],
        ),
        ("metadata:\n  name: a\nspec:\n  maxSize: 2", ["maxSize"]),
    ],
)
def test_block_that_shows_what_a_program_printed_mentions_nothing(block, names):
    text = f"```\n{block}\n```\n\n```\nreadAll\n```\n"
    assert [name.text for name in read_code_names(text.encode()).names] == [*names, "readAll"]
