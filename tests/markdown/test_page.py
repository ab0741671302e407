import itertools
import subprocess
import sys
import time
import timeit

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from ubp.core.model import PageFacts, Problem, SourceReference
from ubp.markdown import document as room
from ubp.markdown.document import parse_page

KEYS = ("source_refs",)
NOTHING = PageFacts(None, "spec", (), (), (), ())


@pytest.fixture
def without_libyaml(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(yaml, "CSafeLoader")


@pytest.mark.usefixtures("without_libyaml")
def test_page_is_parsed_equally_without_libyaml():
    test_page_has_all_its_fields()


def test_page_has_all_its_fields():
    data = (
        "\ufeff---\r\n"
        "# a comment\r\n"
        'title:  "設計: セッション"   # quoted\r\n'
        "doc_type: design\r\n"
        "tags: [a, 2024, 1.10]\r\n"
        "aliases:\r\n- Session\r\n- セッション\r\n"
        "source_refs:\r\n  - src/session.py\r\n"
        "  - path: src/auth.py\r\n    blob: 3f2a9c1d04ab\r\n"
        "---\r\n# Another title\r\n"
    ).encode()
    assert parse_page(data, KEYS) == PageFacts(
        title="設計: セッション",
        doc_type="design",
        tags=("a", "2024", "1.10"),
        aliases=("Session", "セッション"),
        references=(
            SourceReference(
                "src/session.py", "src/session.py", "src/session.py", None, "source_refs", 10
            ),
            SourceReference(
                "src/auth.py", "src/auth.py", "src/auth.py", None, "source_refs", 11, "3f2a9c1d04ab"
            ),
        ),
        problems=(),
    )


@pytest.mark.parametrize("data", [b"", b"\n", b"text", b"\xef\xbb\xbf", b"---\n---\n"])
def test_empty_page_has_default_fields(data: bytes):
    assert parse_page(data, KEYS) == NOTHING


FIELDS = [
    ("title: a  b", "title", "a b"),
    ("title: 1.10", "title", "1.10"),
    ("title: No", "title", "No"),
    ("title: |\n  two\n  lines", "title", "two lines"),
    ("title:", "title", "Heading"),
    ('title: " "', "title", "Heading"),
    ("title: ~", "title", "Heading"),
    ("title: a\ntitle: b", "title", "b"),
    ("other: a", "title", "Heading"),
    ("doc_type: guide", "doc_type", "guide"),
    ("doc_type: our own", "doc_type", "our own"),
    ('doc_type: "12"', "doc_type", "12"),
    ("doc_type:", "doc_type", "spec"),
    ("tags: a", "tags", ("a",)),
    ("tags: a, b ,, a", "tags", ("a", "b")),
    ("tags: [a, 'b c', a]", "tags", ("a", "b c")),
    ("tags:\n- x\n-\n- y", "tags", ("x", "y")),
    ("tags:", "tags", ()),
    ("tags:\n- type: beta\n- type: new", "tags", ()),
    ("aliases: One, Two", "aliases", ("One, Two",)),
    ("aliases: [One, Two]", "aliases", ("One", "Two")),
]


@pytest.mark.parametrize(("front_matter", "field", "value"), FIELDS)
def test_field_is_read_as_written(front_matter: str, field: str, value: object):
    facts = parse_page(f"---\n{front_matter}\n---\n# Heading\n".encode(), KEYS)
    assert getattr(facts, field) == value
    assert facts.problems == () or front_matter == "title: a\ntitle: b"


PROBLEMS = [
    ("title:\n  en: Area\n  zh-CN: 面积图", []),
    *(
        (f"title: {title}", [(2, "title must be a string; the value is ignored.")])
        for title in ("{{ page.title }}", "{Draft}", "{}", "{en: [a]}", "{en: a, note: b}")
    ),
    ("title: [a]", [(2, "title must be a string; the value is ignored.")]),
    ("doc_type: 12", [(2, "doc_type must be a string; the value is ignored.")]),
    ("doc_type: [a]", [(2, "doc_type must be a string; the value is ignored.")]),
    ("tags: {a: b}", [(2, "tags must be a list of strings; the value is ignored.")]),
    ("tags: [[a]]", [(2, "tags must be a list of strings; the value is ignored.")]),
    ("aliases: [{a: b}, c]", [(2, "aliases must be a list of strings; the value is ignored.")]),
    ("title: a\nx: 1\ntitle: b", [(4, 'Duplicate key "title"; the last value is used.')]),
]


@pytest.mark.parametrize(("front_matter", "problems"), PROBLEMS)
def test_invalid_field_is_reported(front_matter: str, problems: list[tuple[int, str]]):
    facts = parse_page(f"---\n{front_matter}\n---\n".encode(), KEYS)
    assert [tuple(problem) for problem in facts.problems] == problems
    assert facts._replace(problems=(), title=None) == NOTHING


def test_template_is_not_reported_as_invalid_unless_it_has_sources():
    template = '---\ntitle: "{{ replace .Name "-" " " | title }}"\n'
    facts = parse_page(f"{template}---\n# Made\n".encode(), KEYS)
    assert (facts.title, facts.problems) == ("Made", ())
    bound = parse_page(f"{template}source_refs: [a.py]\n---\n# Made\n".encode(), KEYS)
    assert [problem.line for problem in bound.problems] == [2]


def test_page_with_invalid_front_matter_is_read_without_it():
    assert parse_page(b"---\ntitle: a: b\n---\n# Heading\n", KEYS) == NOTHING._replace(
        title="Heading",
        problems=(
            Problem(
                2,
                "The front matter is not valid YAML: "
                "mapping values are not allowed in this context.",
            ),
        ),
    )


@pytest.mark.parametrize(
    ("data", "line"),
    [
        (b"---\na: b\ntitle: \xff\n---\n", 3),
        (b"text\r\ntext\rtext\n\xe9\n", 4),
        (b"\xff\xfe#\0 \0T\0", 1),
        ("# ガ".encode("shift-jis"), 1),
    ],
)
def test_bytes_that_are_not_utf8_are_reported_with_their_line(data: bytes, line: int):
    assert parse_page(data, KEYS).problems == (Problem(line, "Not valid UTF-8."),)


def test_giant_title_is_truncated_and_further_problems_are_counted():
    data = b"---\nsource_refs:\n" + b"- 1\n" * 900 + b"---\n# " + b"x" * 100_000
    facts = parse_page(data, KEYS)
    assert len(facts.title) == room.MAX_TITLE_CHARACTERS
    assert len(facts.problems) == room.MAX_PROBLEMS
    assert facts.problems[0].line == 3


def lines(template: str, count: int) -> str:
    return "".join(template.format(n, n + 1) + "\n" for n in range(count))


LEVELS = itertools.pairwise("abcdefghijklmnopqrstuvwxyz")
LAUGHS = "".join(f"{c}: &{c} [{','.join(['*' + b] * 9)}]\n" for b, c in LEVELS)
BOMBS = {
    "brackets": "a: " + "[" * 100_000,
    "braces": "a: " + "{" * 100_000,
    "closed brackets": "a: " + "[" * 20_000 + "]" * 20_000,
    "dashes": "- " * 100_000 + "x",
    "question marks": "? " * 100_000 + "x",
    "indents": "".join(" " * level + "a:\n" for level in range(600)),
    "billion laughs": "source_refs: *z\na: &a [x,x,x,x,x,x,x,x,x]\n" + LAUGHS,
    "more laughs": "a: &a [x,x,x,x,x,x,x,x,x]\n" + LAUGHS + "source_refs: *z\n",
    "wide aliases": f"a: &a [{'x,' * 5000}]\nb: &b [{'*a,' * 5000}]\nsource_refs: *b\n",
    "chain of aliases": "a0: &a0 x\n" + lines("a{1}: &a{1} [*a{0}]", 3000),
    "itself": "source_refs: &a [*a]\n",
    "keys": lines("key{0}: v", 20_000),
    "same key": "title: v\n" * 20_000,
    "items": "source_refs:\n" + "- x\n" * 60_000,
    "mappings": "source_refs:\n" + lines("- path: f{0}\n  blob: 12345678", 4000),
    "pins": "source_refs:\n" + lines("- path: f{0}\n  blob: x", 900),
    "patterns": "source_refs:\n" + f"- '{'{a,b}' * 16}'\n" * 400,
    "tails": "source_refs: '" + ":1" * 100_000 + "'\n",
    "hashes": "source_refs: '" + "#" * 200_000 + "'\n",
    "slashes": "source_refs: '" + "../" * 60_000 + "'\n",
    "long text": "title: " + "x " * 120_000,
    "open quote": 'title: "' + "x\n" * 120_000,
    "commas": "title: [" + "," * 200_000,
    "anchors": "a:\n" + lines("- &a{0} x", 9000),
    "tag": "title: !" + "x" * 200_000 + " y",
    "comments": "#\n" * 120_000,
    "merge keys": "a: &a {x: y}\n" + lines("b{0}: {{<<: *a}}", 4000),
    "escapes": 'title: "\\uD800 \\U0010FFFF \\0"',
    "too far escape": 'title: "\\UFFFFFFFF"',
    "separators": "title: a\u2028b: c\x85d: e",
    "tabs": "title:\tx\n\ty: z\n",
    "over the limit": "title: x\n" * 40_000,
}  # fmt: skip


@pytest.mark.parametrize("bomb", BOMBS)
def test_yaml_bomb_is_refused_quickly(bomb: str):
    start = time.process_time()
    facts = parse_page(f"---\n{BOMBS[bomb]}\n---\n# Title\n".encode(), (*KEYS, "a[].b[].c"))
    assert time.process_time() - start < 5  # one that explodes takes minutes
    assert facts.title
    "".join(map(str, facts)).encode()


SMALL_BOMBS = [name for name, bomb in BOMBS.items() if len(bomb) < 10_000]


@pytest.mark.usefixtures("without_libyaml")
@pytest.mark.parametrize("bomb", ["brackets", "dashes", *SMALL_BOMBS])
def test_yaml_bomb_is_refused_quickly_without_libyaml(bomb: str):
    facts = parse_page(f"---\n{BOMBS[bomb]}\n---\n# Title\n".encode(), KEYS)
    "".join(map(str, facts)).encode()


BITS = [
    *["---\n", "...\n", "source_refs:", "title: ", "path: ", "blob: ", "1234567", "a", "日本"],
    *" \n\t\r-[]{},#'\"?!|>&*",
    *[": ", "- ", "&a ", "*a", "<<", "\r\n", "\ufeff", "\x85", "\0", "\x1b", "\udcff"],
]


@given(st.lists(st.sampled_from(BITS), max_size=30))
def test_arbitrary_bytes_have_facts(bits: list[str]):
    data = ("---\n" + "".join(bits)).encode("utf-8", "surrogateescape")
    facts = parse_page(data, ("source_refs", "a[].b"))
    lines = data.count(b"\n") + data.count(b"\r") + 2
    assert all(1 <= problem.line <= lines for problem in facts.problems)
    assert len({reference.literal for reference in facts.references}) == len(facts.references)


@given(st.binary(max_size=60), st.sampled_from([b"", b"---\n", b"---\r", b"\xef\xbb\xbf---\n"]))
def test_arbitrary_bytes_are_parsed_without_an_exception(data: bytes, head: bytes):
    parse_page(head + data + b"\n---\n", KEYS)


def test_page_without_front_matter_is_parsed_in_microseconds_without_yaml():
    data = b"# Title\n\n" + b"Some text.\n" * 500
    assert min(timeit.repeat(lambda: parse_page(data, KEYS), number=100, repeat=3)) < 100 * 50e-6
    program = (
        "import sys; from ubp.markdown.document import parse_page;"
        "parse_page(b'# Title', ('source_refs',)); parse_page(b'---\\n\\nText\\n', ('a',));"
        "print('yaml' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True)
    assert done.stdout.split() == [b"False"]
