import frontmatter
import pytest
import yaml
from frontmatter.default_handlers import YAMLHandler
from hypothesis import given
from hypothesis import strategies as st

from ubp.markdown.front_matter import read_front_matter

NAMES = ("title", "source_refs")

MAPPINGS = [  # page, the mapping's keys, the body
    ("---\ntitle: x\n---\nBody\n", ["title"], "Body\n"),
    ("---\ntitle: x\n...\nBody\n", ["title"], "Body\n"),
    ("--- \t\ntitle: x\n---\t \nBody\n", ["title"], "Body\n"),
    ("\ufeff---\ntitle: x\n---\nBody\n", ["title"], "Body\n"),
    ("---\r\ntitle: x\r\n---\r\nBody\r\n", ["title"], "Body\r\n"),
    ("---\rtitle: x\r---\rBody\r", ["title"], "Body\r"),
    ("---\ntitle: x\n---", ["title"], ""),
    ("---\n\ntitle: x\n\n---\n", ["title"], ""),
    ("---\n# a comment\nother: x\n---\nBody\n", ["other"], "Body\n"),
    ("---\ntext: |\n  ---\n  x\n---\nBody\n", ["text"], "Body\n"),
    ("---\n---\nBody\n", [], "Body\n"),
    ("---\n\n---\nBody\n", [], "Body\n"),
    ("---\n# title: x\n---\nBody\n", [], "Body\n"),
]
TEXTS_ONLY = [
    "",
    "Body\n",
    " ---\ntitle: x\n---\n",
    "\n---\ntitle: x\n---\n",
    "----\ntitle: x\n----\n",
    "---",
    "---\n",
    "---\n\nText\n",
    "---\nText\n\nMore\n",
    "---\n\nText: it says\n\n---\n",
    "---\n\n# Title\n\nText\n\n---\n",
    "---\n\n# Title\n\n---\n",
    "---\n\n- item\n\n---\n",
    "---\nTwo lines\nof text\n---\n",
    "---\n*x* and [y](z): q\nof: text\n---\n",
    "---\n\n" + "x " * 200_000 + "\n---\n",
]
# Each of ten lines repeats the one before it nine times: 9^10 values for who walks through them.
ALIASES = "a: &a0 [x]\n" + "".join(
    f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 11)
)
WRONG = [  # page, the body, the problem's line and end
    ("---\n- a\n- b\n---\nBody\n", "Body\n", 2, "is a sequence, not a mapping."),
    ("---\nhello\n---\nBody\n", "Body\n", 2, "is a scalar, not a mapping."),
    ("---\na: b\ntitle: x: y\n---\n", "", 3, "mapping values are not allowed in this context."),
    ("---\n\ntitle: [a\n---\nBody\n", "Body\n", 3, "did not find expected ',' or ']'."),
    ("---\na: *b\n---\nBody\n", "Body\n", 2, "undefined alias *b."),
    ("---\na: &b [*b]\n---\nBody\n", "Body\n", 2, "undefined alias *b."),
    ("---\na: b\0\n---\nBody\n", "Body\n", 2, "the character U+0000 is not allowed."),
    ("---\na: b\n--- c: d\n---\nBody\n", "Body\n", 3, "unexpected start of a second document."),
    ("---\r\na: b\r\nc: \x1b\r\n---\r\n", "", 3, "the character U+001B is not allowed."),
    ("---\ra: b\rc: [\r---\r", "", 3, "did not find expected node content."),
    ("---\na: " + "[" * 99 + "\n---\n", "", 2, "too many values, or nested too deeply."),
    ("---\n" + ALIASES + "---\n", "", 6, "too many values, or nested too deeply."),
    ("---\ntitle: " + "x" * 70_000 + "\n---\nBody\n", "Body\n", 1, "64 KiB and is ignored."),
    ("---\ntitle: x\n\n# Body\n", "---\ntitle: x\n\n# Body\n", 1, "missing closing ---."),
    ('---\r\n"title" : x\r\n\r\n', '---\r\n"title" : x\r\n\r\n', 1, "missing closing ---."),
]


def read(page: str) -> tuple[list[str], str, list[tuple[int, str]]]:
    data = page.encode()
    found = read_front_matter(data, NAMES)
    keys = [key.value for key, _ in found.root.pairs] if found.root else []
    return keys, data[found.body :].decode(), [(p.line, p.message) for p in found.problems]


@pytest.mark.parametrize(("page", "keys", "body"), MAPPINGS)
def test_mapping_between_fences_is_front_matter(page: str, keys: list[str], body: str):
    assert read(page) == (keys, body, [])


@pytest.mark.parametrize("page", TEXTS_ONLY)
def test_page_that_begins_with_a_rule_or_text_keeps_all_its_text(page: str):
    assert read(page) == ([], page, [])


@pytest.mark.parametrize(("page", "body", "line", "message"), WRONG)
def test_invalid_front_matter_is_reported_with_its_line(
    page: str, body: str, line: int, message: str
):
    keys, rest, problems = read(page)
    assert (keys, rest, [problem[0] for problem in problems]) == ([], body, [line])
    assert problems[0][1].startswith("The front matter ")
    assert problems[0][1].endswith(message)


def test_values_have_positions_whatever_precedes_them():
    page = '\ufeff---\r\nä: "日本 🐍"  # 語\r\nb: [ x , {y: z}]\r\n\xa0c:\r\n  - d\r\n---\r\n'
    found = read_front_matter(page.encode(), NAMES)
    (_, first), (_, two), (_, three) = found.root.pairs
    spans = [first, two, *two.items, three.items[0]]
    assert [found.text[node.start : node.end] for node in spans] == [
        '"日本 🐍"',
        "[ x , {y: z}]",
        "x",
        "{y: z}",
        "d",
    ]
    assert [found.line(node.start) for node in spans] == [2, 3, 3, 3, 5]


def test_undecodable_bytes_keep_positions_right():
    found = read_front_matter(b"---\na: \xff\xe3\x81\nb: c\n---\n", NAMES)
    (_, a), (_, b) = found.root.pairs
    assert (a.value, b.value) == ("\ufffd\ufffd\ufffd", "c")
    assert found.text[b.start : b.end] == "c"
    assert found.text.encode("utf-8", "surrogateescape") == b"---\na: \xff\xe3\x81\nb: c\n---\n"


KEYS = st.text(alphabet="abcdé語_", min_size=1, max_size=5)
CHARACTERS = st.characters(
    codec="utf-8", exclude_categories=["Cs", "Cc"], exclude_characters="\ufeff\ufffe\uffff"
)
TEXTS = st.text(alphabet=CHARACTERS, max_size=12)
VALUES = st.recursive(
    TEXTS | st.integers() | st.booleans() | st.none(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=6,
)


@given(st.dictionaries(KEYS, VALUES, min_size=1, max_size=5), st.booleans())
def test_well_formed_pages_are_parsed_as_python_frontmatter_parses_them(
    fields: dict[str, object],
    in_flow: bool,  # noqa: FBT001
):
    dumped = yaml.safe_dump(fields, allow_unicode=True, default_flow_style=in_flow, width=10_000)
    page = f"---\n{dumped}---\n\n# Title\n"
    metadata, body = frontmatter.parse(page, handler=YAMLHandler())
    found = read_front_matter(page.encode(), NAMES)
    assert found.problems == ()
    assert page.encode()[found.body :].decode().strip() == body
    assert [key.value for key, _ in found.root.pairs] == list(yaml.safe_load(dumped))
    for key, node in found.root.pairs:
        assert same(node, metadata[key.value])


def same(node, value: object) -> bool:
    if isinstance(value, dict):
        return all(same(node.get(str(key))[1], item) for key, item in value.items())
    if isinstance(value, list):
        return [same(*pair) for pair in zip(node.items, value, strict=True)] == [True] * len(value)
    if isinstance(value, str):
        return node.type == "str" and node.text == value
    return node.type == {int: "int", bool: "bool", type(None): "null"}[type(value)]
