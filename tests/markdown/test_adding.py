"""Sources added to a page's front matter in place."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ubp.core.errors import PageError
from ubp.markdown.document import parse_page
from ubp.markdown.edit_sources import add_sources

KEYS = ("source_refs",)


def added(front_matter, *sources, keys=KEYS, newline="\n"):
    data = f"---\n{front_matter}---\nBody\n".replace("\n", newline).encode()
    result = add_sources(data, keys, sources or ("b.py",)).decode().replace(newline, "\n")
    assert result.startswith("---\n")
    assert result.endswith("---\nBody\n")
    return result[4:-9]


CASES = [
    ("", "source_refs:\n  - b.py\n"),
    ("title: x # t\n", "title: x # t\nsource_refs:\n  - b.py\n"),
    ("# only a comment\n", "# only a comment\nsource_refs:\n  - b.py\n"),
    ("title: |+\n  x\n", "title: |+\n  x\nsource_refs:\n  - b.py\n"),
    ("  title: x\n", "  title: x\n  source_refs:\n    - b.py\n"),
    ("a:\n  - {x: 1}\n  # last\n", "a:\n  - {x: 1}\n  # last\nsource_refs:\n  - b.py\n"),
    ("source_refs:\n- a.py\n", "source_refs:\n- a.py\n- b.py\n"),
    ("source_refs:\n    -  a.py # x\n", "source_refs:\n    -  a.py # x\n    - b.py\n"),
    (
        "source_refs:\n  - a.py\n# about tags\ntags: [x]\n",
        "source_refs:\n  - a.py\n  - b.py\n# about tags\ntags: [x]\n",
    ),
    (
        "source_refs:\n  - path: a.py\n    blob: 0123456\n\ntags: x\n",
        "source_refs:\n  - path: a.py\n    blob: 0123456\n  - path: b.py\n\ntags: x\n",
    ),
    ("source_refs:\n- ref: a.py\n", "source_refs:\n- ref: a.py\n- ref: b.py\n"),
    ("source_refs:\n- {file: a.py}\n", "source_refs:\n- {file: a.py}\n- file: b.py\n"),
    ("source_refs:\n- {role: x}\n", "source_refs:\n- {role: x}\n- path: b.py\n"),
    ("source_refs:\n- |\n  a.py\n", "source_refs:\n- |\n  a.py\n- b.py\n"),
    ("source_refs: [a.py, 'c.py' ] # x\n", "source_refs: [a.py, 'c.py', b.py ] # x\n"),
    ("source_refs: [a.py,]\n", "source_refs: [a.py, b.py,]\n"),
    ("source_refs: []\n", "source_refs: [b.py]\n"),
    ("source_refs: [{path: a.py}]\n", "source_refs: [{path: a.py}, {path: b.py}]\n"),
    ("source_refs: [\n  a.py, # x\n]\n", "source_refs: [\n  a.py, # x\n  b.py,\n]\n"),
    ("source_refs: [\n  a.py # x\n]\n", "source_refs: [\n  a.py, # x\n  b.py\n]\n"),
    ("source_refs: [\n  a.py]\n", "source_refs: [\n  a.py, b.py]\n"),
    ("source_refs:\ntags: x\n", "source_refs:\n  - b.py\ntags: x\n"),
    ("source_refs: # why\n  # - old.py\n", "source_refs: # why\n  - b.py\n  # - old.py\n"),
    ("source_refs: null # x\n", "source_refs: # x\n  - b.py\n"),
    ("source_refs: ''\n", "source_refs:\n  - b.py\n"),
    ("source_refs: a.py # x\n", "source_refs:\n  - a.py # x\n  - b.py\n"),
    ("source_refs:\n  'a.py'\n", "source_refs:\n  - 'a.py'\n  - b.py\n"),
    ("source_refs: 12\n", "source_refs:\n  - 12\n  - b.py\n"),
]


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize(("before", "after"), CASES)
def test_new_source_is_appended_to_the_list(before, after, newline):
    assert added(before, newline=newline) == after


def test_several_new_sources_get_a_line_each():
    assert added("", "b.py", "src/", "b.py") == "source_refs:\n  - b.py\n  - src/\n"
    assert added("source_refs: [a]\n", "b", "c d") == 'source_refs: [a, b, "c d"]\n'
    before = "source_refs: [\n  a.py\n]\n"
    assert added(before, "b", "c") == "source_refs: [\n  a.py,\n  b,\n  c\n]\n"


def test_source_that_is_already_listed_is_not_added_again():
    for before in (
        "source_refs: [./b.py]\n",
        "source_refs:\n- path: b.py\n",
        "source_refs: b.py\n",
    ):
        assert added(before) == before
    assert added("source_refs: [src]\n", "src/") == "source_refs: [src]\n"


@pytest.mark.parametrize(
    ("before", "key", "after"),
    [
        ("", "refs[].path", "refs:\n  - path: b.py\n"),
        ("refs:\n- path: a\n  x: 1\n", "refs[].path", "refs:\n- path: a\n  x: 1\n- path: b.py\n"),
        ("refs: [{ref: a}]\n", "refs[].ref", "refs: [{ref: a}, {ref: b.py}]\n"),
        ("refs: []\n", "refs[].ref", "refs: [{ref: b.py}]\n"),
        ("", "docs.covers", "docs:\n  covers:\n    - b.py\n"),
        ("docs:\n   x: 1\n# y\ny: 2\n", "docs.covers",
         "docs:\n   x: 1\n   covers:\n     - b.py\n# y\ny: 2\n"),
        ("docs:\n  covers: a\n", "docs.covers", "docs:\n  covers:\n    - a\n    - b.py\n"),
        ("docs.covers: [a]\n", "docs.covers", "docs.covers: [a, b.py]\n"),
        ("", "covers[]", "covers:\n  - b.py\n"),
    ],
)  # fmt: skip
def test_dotted_key_is_a_path_into_the_front_matter(before, key, after):
    assert added(before, keys=(key,)) == after


def test_page_keeps_the_key_it_already_uses():
    keys = ("source_refs", "related_files", "code[].path")
    assert added("related_files: [a]\n", keys=keys) == "related_files: [a, b.py]\n"
    assert added("code:\n- path: a\n", keys=keys) == "code:\n- path: a\n- path: b.py\n"
    assert added("title: x\n", keys=keys) == "title: x\nsource_refs:\n  - b.py\n"


@pytest.mark.parametrize(
    ("body", "head", "gap"),
    [
        (b"# Title\n", b"---\nsource_refs:\n  - b.py\n---\n", b"\n"),
        (b"", b"---\nsource_refs:\n  - b.py\n---\n", b""),
        (b"\n# Title\n", b"---\nsource_refs:\n  - b.py\n---\n", b""),
        (b"# Title\r\n\r\nText\n", b"---\r\nsource_refs:\r\n  - b.py\r\n---\r\n", b"\r\n"),
        (b"no line end", b"---\nsource_refs:\n  - b.py\n---\n", b"\n"),
        (b"---\n\nA rule above.\n\n---\n", b"---\nsource_refs:\n  - b.py\n---\n", b"\n"),
        (b"---\nnever closed\n", b"---\nsource_refs:\n  - b.py\n---\n", b"\n"),
        (b"# \xff\xfe\n", b"---\nsource_refs:\n  - b.py\n---\n", b"\n"),
    ],
)
def test_page_without_front_matter_gets_front_matter(body, head, gap):
    assert add_sources(body, KEYS, ["b.py"]) == head + gap + body
    bom = b"\xef\xbb\xbf"
    assert add_sources(bom + body, KEYS, ["b.py"]) == bom + head + gap + body


def test_front_matter_at_the_end_of_the_file_stays_at_the_end():
    assert (
        add_sources(b"---\nx: \xff\n...", KEYS, ["b"]) == b"---\nx: \xff\nsource_refs:\n  - b\n..."
    )


@pytest.mark.parametrize(
    ("path", "written"),
    [
        ("docs/it's.py", "docs/it's.py"),
        ("a b.py", '"a b.py"'),
        ("src/a: b.py", '"src/a: b.py"'),
        ("#a.py", '"#a.py"'),
        ("a #b.py", '"a #b.py"'),
        ("*a.py", '"*a.py"'),
        ("@scope/a.ts", '"@scope/a.ts"'),
        ("pages/[id].ts", '"pages/[id].ts"'),
        ("-x", '"-x"'),
        ("2026", '"2026"'),
        ("1.10", '"1.10"'),
        ("yes", '"yes"'),
        ("null", '"null"'),
        ("日本/語.md", "日本/語.md"),
        (".github/x.yml", ".github/x.yml"),
        ("src/auth/", "src/auth/"),
        ('say "x".py', '"say \\"x\\".py"'),
        ("tab\t.py", '"tab\\U00000009.py"'),
    ],
)
@pytest.mark.parametrize("before", ["", "source_refs:\n  - a\n"])
def test_path_is_quoted_where_yaml_requires_it(path, written, before):
    assert added(before, path) == (before or "source_refs:\n") + f"  - {written}\n"
    assert added("source_refs: [a]\n", path) == f"source_refs: [a, {written}]\n"


REFUSED = [
    (b'{\n  "title": "x"\n}\n', "Its front matter is JSON; UBP reads only YAML and TOML."),
    (b"\xff\xfe#\0 \0x\0", "It is not UTF-8 text."),
    (b"\xff\xfe\xe5\x65", "It is not UTF-8 text."),
    (b"# x\0\n", "It is not UTF-8 text."),
    (b"---\ntitle: [\n---\n", "Line 2: The front matter is not valid YAML:"),
    (b"---\nsource_refs: [a]\n\ntext\n", "Line 1: The front matter is unterminated:"),
    (b"---\n{title: x}\n---\n", "The front matter is written in braces, as a flow mapping."),
    (b"---\nx: &x [a]\nsource_refs: *x\n---\n", "The value of source_refs has an anchor"),
    (b"---\nsource_refs: !!str a\n---\n", "The value of source_refs has an anchor"),
    (b"---\nsource_refs: {path: a}\n---\n", "The value of source_refs is a mapping"),
    (b"---\nsource_refs: |\n  a\n---\n", "Its source is a block scalar."),
    (
        b"---\nsource_refs: a\xe2\x80\xa8x: b\n---\n",
        "The edit would change other parts of the page",
    ),
]


@pytest.mark.parametrize(("data", "why"), REFUSED)
def test_front_matter_that_cannot_be_edited_in_place_is_refused(data, why):
    with pytest.raises(PageError) as caught:
        add_sources(data, KEYS, ["b.py"])
    assert caught.value.message == "Cannot add b.py to the page in place."
    assert caught.value.cause.startswith(why)
    assert caught.value.hint.startswith("Add it by hand, as a list item under source_refs ")


@pytest.mark.parametrize(
    ("front_matter", "key", "why"),
    [
        ("", "a[].b[].c", "The key a[].b[].c refers to nested lists."),
        ("a: x\n", "a[].path", "The value of a is a string, not a list."),
        ("a: [x]\n", "a.b", "The value of a is not a mapping."),
        ("a: {x: 1}\n", "a.b", "The value of a is written in braces, as a flow mapping."),
        ("a: &a\n  x: 1\n", "a.b", "The value of a has an anchor or a tag, or is an alias."),
    ],
)
def test_key_that_is_not_a_mapping_is_refused(front_matter, key, why):
    with pytest.raises(PageError) as caught:
        added(front_matter, keys=(key,))
    assert caught.value.cause == why


@pytest.mark.parametrize("path", ["C:x", "../x", "/x", "", "a\0", "\udcff.py"])
def test_path_that_a_page_cannot_list_is_refused(path):
    with pytest.raises(PageError):
        added("title: x\n", path)


# Properties ---------------------------------------------------------------------------------------

HEADS = st.sampled_from(["", "title: 'x'   # t\n", "# 語\ntags: [a,  b]\n", "o:\n  - {a: b}\n\n"])
NAMED = st.sampled_from(
    [
        "",
        "source_refs:\n",
        "source_refs: []\n",
        "source_refs: a.py\n",
        "source_refs: [a.py, 'b']\n",
        "source_refs:\n- a.py\n",
        "source_refs:\n  - path: a.py\n    blob: 0123456\n  - b # x\n",
        "source_refs: [\n  a.py, # x\n  {path: b} # y\n  ]\n",
        "source_refs: # c\n  # d\n  - a.py\n",
    ]
)
TAILS = st.sampled_from(["", "\n# end\n", "aliases: |\n  a\n", "docs: {hides: [z]}\nlast:   1\n"])
BODIES = st.sampled_from(["", "Body", "# Body\n", "\n---\nsource_refs: [q]\n---\n"])
PATHS = st.lists(
    st.text(st.characters(codec="utf-8", exclude_characters="\\\0"), min_size=1, max_size=9)
    | st.sampled_from(["src/", "x: y", "*z", "no", "3", "~", "a.py"]),
    min_size=1,
    max_size=3,
)


MARK = b"\xef\xbb\xbf"
FRONT_MATTERS = st.just("") | st.builds("---\n{}{}{}---\n".format, HEADS, NAMED, TAILS)


@given(
    FRONT_MATTERS,
    BODIES,
    st.sampled_from(["\n", "\r\n", "\r"]),
    st.sampled_from([b"", MARK]),
    PATHS,
)
def test_page_after_adding_sources_differs_only_in_its_sources(
    front_matter: str,
    body: str,
    newline: str,
    mark: bytes,
    paths: list[str],
):
    text = f"{front_matter}{body}".replace("\n", newline).encode()
    data = mark + text
    before = parse_page(data if front_matter else text, KEYS)
    try:
        result = add_sources(data, KEYS, paths)
    except PageError:
        return
    after = parse_page(result, KEYS)
    old = [reference.literal for reference in before.references]
    new = [reference.literal for reference in after.references]
    assert new[: len(old)] == old
    assert set(new) == {*old, *(path.strip("/") for path in paths if path.strip("/") in new)}
    assert after.problems == before.problems == ()
    assert after._replace(references=()) == before._replace(references=())
    assert [reference.pin for reference in after.references[: len(old)]] == [
        o.pin for o in before.references
    ]
    assert is_within(data, result)
    assert result.endswith(body.replace("\n", newline).encode())
    assert add_sources(result, KEYS, paths) == result


def is_within(old: bytes, new: bytes) -> bool:
    """Whether taking bytes out of the new page gives the old one."""
    rest = iter(new)
    return all(byte in rest for byte in old)
