import pytest
from hypothesis import given
from hypothesis import strategies as st

from ubp.core.model import Problem, SourceReference
from ubp.markdown.document import parse_page
from ubp.markdown.references import split_tail

KEY = "source_refs"


def references(front_matter: str, *keys: str) -> tuple[SourceReference, ...]:
    return parse_page(f"---\n{front_matter}\n---\n".encode(), keys or (KEY,)).references


def problems(front_matter: str, *keys: str) -> list[tuple[int, str]]:
    facts = parse_page(f"---\n{front_matter}\n---\n".encode(), keys or (KEY,))
    return [tuple(problem) for problem in facts.problems]


def reference(path: str, line: int, **fields: str) -> SourceReference:
    return SourceReference(path, path, path, None, fields.pop("key", KEY), line)._replace(**fields)


# The value of source_refs, and the paths that it lists (with the pin after a "@").
FORMS = """
: src/a.py                                  = src/a.py
: "src/a b.py"                              = src/a b.py
: [src/a.py, 'b', "c"]                      = src/a.py b c
: {path: a, blob: 1234567}                  = a@1234567
: {ref: a}                                  = a
: {file: a, ref: b}                         = b
: {path: a, ref: b, file: c}                = a
: [{path: a, blob: 0123456}, b]             = a@0123456 b
: [{path: a, blob: 1234e567}]               = a@1234e567
: [{path: a, blob: "ABCDEF0"}]              = a@abcdef0
:                                           =
: ~                                         =
: []                                        =
: src/[id].ts                               = src/[id].ts
: "src/**/*.{ts,tsx}"                       = src/**/*.{ts,tsx}
: &x a                                      = a
: !!str 12                                  = 12
: "12"                                      = 12
"""


@pytest.mark.parametrize(
    ("value", "paths"),
    [tuple(map(str.strip, line.rsplit("=", 1))) for line in FORMS.strip().splitlines()],
)
def test_sources_under_a_key_are_read_in_every_form(value: str, paths: str):
    found = references(f"{KEY}{value}")
    pinned_paths = [
        f"{reference.source_path}@{reference.pin}" if reference.pin else reference.source_path
        for reference in found
    ]
    assert " ".join(pinned_paths) == paths
    assert problems(f"{KEY}{value}") == []


def test_block_list_of_strings_and_mappings_is_read():
    found = references(
        "title: x\n"
        "source_refs:\n"
        "  # the session\n"
        "  - src/session.py  # why\n"
        "  - path: ./src//auth.py\n"
        "    blob: 3f2a9c1d04ab\n"
        "    reason: only\n"
        "      a comment\n"
        "    role: ignored\n"
        "  - blob: 3f2a9c1d04ab\n"
        "    file: 設計/\n"
        '  - "quoted.py"'
    )
    assert found == (
        reference("src/session.py", 5),
        SourceReference(
            "./src//auth.py", "src/auth.py", "src/auth.py", None, KEY, 6, "3f2a9c1d04ab",
            "only a comment",
        ),
        SourceReference("設計/", "設計", "設計", None, KEY, 12, "3f2a9c1d04ab"),
        reference("quoted.py", 13),
    )  # fmt: skip


TAILS = [
    ("src/a.py#symbol", "src/a.py", "#symbol"),
    ("src/a.py#L3-L9", "src/a.py", "#L3-L9"),
    ("src/a.py:12", "src/a.py", ":12"),
    ("src/a.py:12-20", "src/a.py", ":12-20"),
    ("src/a.py:12:5", "src/a.py", ":12:5"),
    ("src/a.py::Class::method", "src/a.py", "::Class::method"),
    ("src/a.py#Class::method", "src/a.py", "#Class::method"),
    ("src/a.py:12#x", "src/a.py:12", "#x"),
    ("src/a#b.py", "src/a", "#b.py"),
    ("src/a.py", "src/a.py", None),
    ("a:b.py", "a:b.py", None),
    ("a.py:", "a.py:", None),
    ("a.py:1x", "a.py:1x", None),
    ("#x", "#x", None),
    ("pages/[id].ts", "pages/[id].ts", None),
]


@pytest.mark.parametrize(("written", "path", "tail"), TAILS)
def test_fragment_is_split_from_the_path(written: str, path: str, tail: str | None):
    assert split_tail(written) == (path, tail)


def test_literal_path_keeps_its_fragment():
    assert references("source_refs: [./src/a.py#x, src/auth/, 'src\\b.py:3']") == (
        SourceReference("./src/a.py#x", "src/a.py", "src/a.py#x", "#x", KEY, 2),
        SourceReference("src/auth/", "src/auth", "src/auth", None, KEY, 2),
        SourceReference("src\\b.py:3", "src/b.py", "src\\b.py:3", ":3", KEY, 2),
    )


def test_duplicate_source_counts_once_and_the_first_wins():
    found = references(
        "source_refs: [a, {path: ./a, blob: 1234567}, a#x, a#y, b, a#x]\ncovers: [b, c]",
        "source_refs", "covers", "source_refs",
    )  # fmt: skip
    assert [(reference.literal, reference.pin, reference.key) for reference in found] == [
        ("a", None, "source_refs"),
        ("a#x", None, "source_refs"),
        ("a#y", None, "source_refs"),
        ("b", None, "source_refs"),
        ("c", None, "covers"),
    ]


NESTED = """
code_references:
- ref: src/a.py#x
  implements: y
  blob: 1234567
  reason: why
- ref: src/b.py
docs:
  sources: [c, d]
  more:
    path: e
docs.literal: f
groups:
- files: [g, {path: h, blob: 1234567}]
- files: i
single: {ref: j, blob: 1234567}
"""
KEYS = [
    ("code_references[].ref", "src/a.py@1234567 src/b.py"),
    ("code_references", "src/a.py@1234567 src/b.py"),
    ("docs.sources", "c d"),
    ("docs.sources[]", "c d"),
    ("docs.more", "e"),
    ("docs.more.path", "e"),
    ("docs.literal", "f"),
    ("groups[].files", "g h@1234567 i"),
    ("groups[].files[]", "g h@1234567 i"),
    ("single[].ref", "j@1234567"),
    ("single", "j@1234567"),
    ("missing", ""),
    ("missing[].ref", ""),
    ("docs.missing.deeper", ""),
    ("a..b", ""),
    ("", ""),
]


@pytest.mark.parametrize(("key", "paths"), KEYS)
def test_key_with_dots_is_a_path_into_the_front_matter(key: str, paths: str):
    found = references(NESTED, key)
    pinned_paths = [
        f"{reference.source_path}@{reference.pin}" if reference.pin else reference.source_path
        for reference in found
    ]
    assert " ".join(pinned_paths) == paths
    assert problems(NESTED, key) == []
    assert {reference.key for reference in found} <= {key}


NO_PATHS = [
    ("/etc/passwd", "is an absolute path"),
    ("C:/x", "is an absolute path"),
    ("\\\\server\\x", "is an absolute path"),
    ("../x", "is outside the repository"),
    ("a/../../x#y", "is outside the repository"),
    ("..\\x", "is outside the repository"),
    ("https://x.y/z", "is a URL"),
    ("file:///z", "is a URL"),
    (".", "is the whole repository"),
    ("a/..", "is the whole repository"),
    ("{a,b}" * 9, "is too complex a pattern"),
    ("x" * 5000, "is not a valid path"),
]
ADVICE = "use a path relative to the repository root."
NO_SOURCE = "Expected a string, or a mapping with path, ref or file;"


def shown(path: str) -> str:
    return f'"{path[:80]}…"' if len(path) > 80 else f'"{path}"'


REFUSED = [
    *((f"- '{path}'", f"{shown(path)} {what}; {ADVICE}") for path, what in NO_PATHS),
    ('- "a\\0b"', f'"a\ufffdb" is not a valid path; {ADVICE}'),
    ('- ""', "The reference is empty."),
    ('- " "', "The reference is empty."),
    ("-", "The reference is empty."),
    ("- ~", "The reference is empty."),
    ("- path:", "The reference is empty."),
    ("- 12", '"12" is not a string in YAML (int); put it in quotes.'),
    ("- 1.10", '"1.10" is not a string in YAML (float); put it in quotes.'),
    ("- no", '"no" is not a string in YAML (bool); put it in quotes.'),
    ("- 2024-01-01", '"2024-01-01" is not a string in YAML (timestamp); put it in quotes.'),
    ("- [a]", f"{NO_SOURCE} found a sequence."),
    ("- path: {}", f"{NO_SOURCE} found a mapping."),
    ("- source: a", "Missing path, ref or file: this item has no source."),
]


@pytest.mark.parametrize(("item", "problem"), REFUSED)
def test_value_that_is_not_a_path_is_reported_and_ignored(item: str, problem: str):
    assert references(f"{KEY}:\n{item}\n- kept") == (reference("kept", 4),)
    assert problems(f"{KEY}:\n{item}\n- kept") == [(3, problem)]


@pytest.mark.parametrize("pin", ["123456", "xyz1234", "'1'", "", "[a]", "{}", "1" * 41, "~"])
def test_pin_that_is_not_an_object_id_is_reported_and_ignored(pin: str):
    text = f"{KEY}:\n- path: a\n  blob: {pin}"
    assert references(text) == (reference("a", 3),)
    problem = "blob is not a Git object id (7 to 40 hexadecimal digits); it is ignored."
    assert problems(text) == [(4, problem)]


def test_reason_that_is_not_a_string_is_reported_and_ignored():
    assert problems(f"{KEY}:\n- path: a\n  reason: [b]") == [
        (4, "reason must be a string; the value is ignored.")
    ]
    assert references(f"{KEY}:\n- path: a\n  reason: 12")[0].reason == "12"
    assert references(f"{KEY}:\n- path: a\n  reason:")[0].reason is None


def test_duplicate_key_in_a_reference_is_reported():
    text = f"{KEY}:\n- path: a\n  blob: 1234567\n  blob: 7654321"
    assert references(text) == (reference("a", 3, pin="7654321"),)
    assert problems(text) == [(5, 'Duplicate key "blob"; the last value is used.')]


def test_item_without_the_expected_key_is_reported():
    assert problems("x: [{ref: a}, b, {other: c}]", "x[].ref") == [
        (2, "Missing ref: this item has no source."),
        (2, "Missing ref: this item has no source."),
    ]


def test_source_given_through_an_alias_is_read():
    assert [
        reference.source_path for reference in references("x: &x a\ny: &y [b, *x]\nsource_refs: *y")
    ] == [
        "b",
        "a",
    ]


def test_references_beyond_a_thousand_are_reported_and_ignored():
    text = f"{KEY}:\n" + "\n".join(f"- f{n}" for n in range(1500))
    assert len(references(text)) == 1000
    assert problems(text) == [(1003, "More than 1000 references; the rest are ignored.")]


@given(st.text(max_size=20))
def test_references_never_leave_the_repository(written: str):
    quoted = "'" + written.replace("'", "''").replace("\n", " ") + "'"
    for reference in references(f"{KEY}: [{quoted}]"):
        assert reference.source_path
        assert not reference.source_path.startswith("/")
        assert ".." not in reference.source_path.split("/")
        assert "\0" not in reference.literal


def test_problems_have_types():
    assert parse_page(b"---\nsource_refs: 1\n---\n", (KEY,)).problems == (
        Problem(2, '"1" is not a string in YAML (int); put it in quotes.'),
    )
