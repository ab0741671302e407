import fnmatch
import itertools
import re
import time
import unicodedata
import uuid

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ubp.core import paths
from ubp.core.paths import (
    DOCUMENT_NAMESPACE,
    Glob,
    closest_path,
    doc_id,
    is_glob,
    is_too_complex,
    match_any,
    nfc,
)

NORMALISED = [
    ("a/b.py", "a/b.py"),
    ("./a//b/../c/", "a/c"),
    ("a/", "a"),
    (".", ""),
    ("", ""),
    ("a/..", ""),
    ("a b/日本.md", "a b/日本.md"),
    ("...", "..."),
    (".../..a", ".../..a"),
    ("~/a", "~/a"),
    ("a\\b", "a\\b"),
    ("/a", None),
    ("//server/a", None),
    ("\\\\server\\a", None),
    ("C:/a", None),
    ("c:a", None),
    ("./C:/a", None),
    ("a/../\\\\server/a", None),
    ("..", None),
    ("../a", None),
    ("a/../../a", None),
    ("a\0b", None),
]

MATCHES = """
    **/*.md            ; a.md a/b.md a/.b/c.md            ; a.mdx a.MD
    docs/**/*.md       ; docs/a.md docs/b/c.md            ; a.md xdocs/a.md docs
    docs/*.md          ; docs/a.md docs/.md               ; docs/b/c.md
    docs/**            ; docs/a docs/a/b                  ; docs doc/a
    **                 ; a a/b                            ;
    **/**/a            ; a x/a x/y/a                      ; xa
    a/**/b/**/c        ; a/b/c a/x/b/y/z/c a/b/b/c        ; a/c a/b/xc
    **/vendor/**       ; vendor/a x/vendor/a x/vendor/y/z ; vendor vendors/a
    a**b               ; ab axxb                          ; a/b
    a?c                ; abc a.c                          ; ac a/c
    *.{ts,tsx}         ; a.ts a.tsx                       ; a.t a.tsxx a/b.ts
    {src,lib/x}/**/*.c ; src/a.c lib/x/y/a.c              ; lib/a.c
    a{b,c{d,e},}f      ; abf acdf acef af                 ; acf
    {a}                ; {a}                              ; a
    {{cookie}}/*.py    ; {{cookie}}/a.py                  ; cookie/a.py
    {a                 ; {a                               ; a
    {a,{b}             ; {a,{b}                           ; a b
    {**/,}x            ; x a/x                            ; ax
    pages/[id].ts      ; pages/[id].ts pages/i.ts         ; pages/id.ts
    pages/[id]/*.ts    ; pages/[id]/a.ts pages/d/a.ts     ; pages/id/a.ts
    pages/[[...s]].tsx ; pages/[[...s]].tsx               ; pages/s.tsx
    [slug].[jt]s       ; [slug].ts s.js [slug].[jt]s      ; slug.ts
    [0-9][0-9]-*.md    ; 01-a.md                          ; 0a-a.md a01-a.md
    [!a]               ; b [!a]                           ; a /
    [^a-c]             ; d [^a-c]                         ; b
    [!]]               ; a                                ; ]
    []]                ; ] []]                            ; [
    [z-a]              ; [z-a]                            ; z a
    [+-9]              ; + 5                              ; /
    a[b/c]d            ; a[b/c]d                          ; abd acd
    [*                 ; [ [a                             ; a
    *a*b*              ; ab xaxbx                         ; ba
    (a|b)+$            ; (a|b)+$                          ; a
    日*/設計.md        ; 日本/設計.md                     ; 日本/設計.txt
"""

PATTERN_TEXT = st.text(alphabet="ab*?/[]{},!-", max_size=9)
PATH_TEXT = st.text(alphabet="ab/[]-", min_size=1, max_size=7)


def table(text: str) -> list[tuple[str, list[str], list[str]]]:
    rows = (line.split(";") for line in text.strip().splitlines())
    return [(pattern.strip(), yes.split(), no.split()) for pattern, yes, no in rows]


@pytest.mark.parametrize(("written", "expected"), NORMALISED)
def test_path_is_normalised_as_git_writes_it(written: str, expected: str | None):
    assert paths.normalize_path(written) == expected


@given(st.text(alphabet="a./\\:", max_size=12))
@example("./\\")
@example("./a:/.")
def test_normalised_path_is_stable_and_inside_the_repository(text: str):
    path = paths.normalize_path(text)
    if path is not None:
        assert paths.normalize_path(path) == path
        assert not path.startswith("/")
        assert ".." not in path.split("/")


@pytest.mark.parametrize(("pattern", "matching", "others"), table(MATCHES))
def test_glob_matches_only_the_listed_paths(pattern: str, matching: list[str], others: list[str]):
    glob = Glob(pattern)
    assert [path for path in [*matching, *others] if glob.matches(path)] == matching


def test_glob_has_the_literal_folders_before_its_first_wildcard():
    prefixes = {
        "src/a/*.py": "src/a",
        "*.py": "",
        "src/{a,b}/c": "src",
        "pages/[id]/*.ts": "pages",
        "src/a.py": "src",
        "src/{a/b,c}/d": "src",
        "**/x": "",
        "a/**": "a",
    }
    assert {pattern: Glob(pattern).prefix for pattern in prefixes} == prefixes


@pytest.mark.parametrize("pattern", ["*", "a?", "[ab]", "a[!b]", "{a,b}", "{x{a,b}}", "[id].ts"])
def test_pattern_with_wildcards_is_a_glob(pattern: str):
    assert is_glob(pattern)


@pytest.mark.parametrize("path", ["", "a/b.py", "{a}", "{{x}}", "[a", "[]", "[a/b]", "a]b", "a,b}"])
def test_pattern_without_wildcards_is_a_plain_path(path: str):
    assert not is_glob(path)


@given(PATTERN_TEXT, PATH_TEXT)
def test_glob_agrees_with_a_slow_and_simple_matcher(pattern: str, path: str):
    path = "/".join(filter(None, path.split("/"))) or "a"
    expected = any(simple_match(p, path) for p in simple_braces(pattern))
    assert Glob(pattern).matches(path) == expected
    assert match_any(("zzz", pattern), path) == expected


@given(PATTERN_TEXT)
def test_plain_path_matches_itself_alone(pattern: str):
    if not is_glob(pattern):
        assert Glob(pattern).matches(pattern)
        assert simple_braces(pattern) == [pattern]


@given(PATTERN_TEXT, PATH_TEXT)
def test_matches_are_all_below_the_prefix(pattern: str, path: str):
    glob = Glob(pattern)
    if glob.matches(path) and glob.prefix:
        assert path.startswith(glob.prefix + "/")


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("**/" * 20 + "a", "x/" * 200 + "b"),
        ("**/a/" * 20 + "b", "a/" * 200 + "c"),
        ("**/*a*/" * 10 + "b", "aaaa/" * 200 + "c"),
        ("*" * 500 + "a", "b" * 4000),
        ("*a" * 40 + "b", "a" * 4000),
        ("a*" * 200 + "b", "a" * 4000),
        ("*[ab]" * 4 + "*[ab]c", "a" * 4000),
        ("[ab]" * 200, "a" * 200 + "c"),
        ("[[]a]" * 60, "[" * 300),
        ("?*" * 100 + "b", "a" * 4000),
        ("{a,aa}" * 6 + "b", "a" * 4000),
        ("{a,aa}" * 40, "a" * 40),
        ("{" * 1000, "{" * 999),
        ("{," * 500, "a"),
        ("{a,b}" * 16, "a" * 15),
        ("x" * 100_000, "x"),
    ],
)
def test_hostile_pattern_is_matched_quickly(pattern: str, path: str):
    start = time.process_time()
    assert not Glob(pattern).matches(path)
    is_glob(pattern)
    assert time.process_time() - start < 5  # one that explodes takes minutes


def test_pattern_over_the_limits_matches_nothing():
    for pattern in ["{a,b}" * 16, "*" * 2000]:
        assert is_too_complex(pattern)
        assert not Glob(pattern).matches(pattern)
        assert not Glob(pattern).matches("a" * 16)
    assert not is_too_complex("src/**/{a,b,c}/*.{ts,tsx,js}")


def test_closest_path_has_the_same_name_then_the_longest_common_start_then_the_alphabet():
    others = ["x/a.md", "docs/deep/a.md", "docs/a.txt", "docs/b/a.md"]
    assert closest_path("docs/a.md", others) == "docs/b/a.md"
    assert closest_path("docs/deeper/a.md", others) == "docs/deep/a.md"
    assert closest_path("docs/new.md", others[2:3]) == "docs/a.txt"
    assert closest_path("docs/a.md", []) is None


def test_empty_pattern_list_matches_nothing():
    assert not match_any((), "a")
    assert not match_any((), "")


@given(st.text())
def test_doc_id_is_the_uuid5_of_the_composed_path(path: str):
    path = path.encode("utf-8", "replace").decode()
    namespace = uuid.uuid5(uuid.NAMESPACE_URL, "urn:ubp:document")
    assert namespace.bytes == DOCUMENT_NAMESPACE
    assert doc_id(path) == str(uuid.uuid5(namespace, unicodedata.normalize("NFC", path)))


def test_doc_id_does_not_depend_on_the_unicode_form():
    assert doc_id("docs/ガイド.md") == doc_id(unicodedata.normalize("NFD", "docs/ガイド.md"))
    assert nfc(unicodedata.normalize("NFD", "é")) == "é"


def test_names_that_are_not_utf8_have_distinct_doc_ids():
    ids = {doc_id("a.md"), doc_id("a\udce9.md"), doc_id("a\udcff.md")}
    assert len(ids) == 3
    assert all(re.fullmatch(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", id_) for id_ in ids)


def simple_braces(pattern: str) -> list[str]:
    for opening in (i for i, character in enumerate(pattern) if character == "{"):
        depth, cuts = 0, [opening]
        for index in range(opening, len(pattern)):
            depth += {"{": 1, "}": -1}.get(pattern[index], 0)
            if depth == 1 and pattern[index] == ",":
                cuts.append(index)
            if depth == 0:
                cuts.append(index)
                break
        if depth == 0 and len(cuts) > 2:
            options = [pattern[a + 1 : b] for a, b in itertools.pairwise(cuts)]
            # braces already passed are text: hide them from the next round
            head = pattern[:opening].replace("{", "\1")
            expanded = [simple_braces(head + o + pattern[index + 1 :]) for o in options]
            return [text.replace("\1", "{") for texts in expanded for text in texts]
    return [pattern]


def simple_match(pattern: str, path: str) -> bool:
    return match_segments(pattern.split("/"), path.split("/"))


def match_segments(patterns: list[str], parts: list[str]) -> bool:
    if not patterns or not parts:
        return not patterns and not parts
    if patterns[0] == "**":
        if all(p == "**" for p in patterns):
            return True
        return match_segments(patterns[1:], parts) or match_segments(patterns, parts[1:])
    return match_segment(patterns[0], parts[0]) and match_segments(patterns[1:], parts[1:])


def match_segment(pattern: str, part: str) -> bool:
    brackets = list(re.finditer(r"\[(?:[!^].|[^!^/])[^\]/]*\]", pattern))
    for chosen in range(1 << len(brackets)):
        text, position = "", 0
        for number, bracket in enumerate(brackets):
            text += pattern[position : bracket.start()]
            as_text = bracket[0].replace("[", "[[]") if chosen >> number & 1 else bracket[0]
            text += as_text
            position = bracket.end()
        # an opening bracket outside of the pairs is text
        pieces = re.split(r"(\[\[\]|\[(?:[!^].|[^!^/])[^\]/]*\])", text + pattern[position:])
        whole = "".join(p if n % 2 else p.replace("[", "[[]") for n, p in enumerate(pieces))
        if fnmatch.fnmatchcase(part, whole):
            return True
    return False


@pytest.mark.parametrize(
    "path",
    ["docs/a.md", "docs/console.md", "docs/com.md", "docs/.hidden/a b.md", "設計/é.md", "com10.md"],
)
def test_windows_has_ordinary_names(path):
    assert paths.is_windows_path(path)


@pytest.mark.parametrize(
    "path",
    [
        *("aux.md", "docs/CON", "nul.tar.gz", "lpt1", "com\xb9.md", "docs/what?.md", "a:b.md"),
        *("a|b.md", 'a"b.md', "<a>.md", "a*.md", "a\\b.md", "docs./a.md", "docs /a.md", "a\tb.md"),
    ],
)
def test_windows_refuses_names_of_devices_signs_and_ends(path):
    assert not paths.is_windows_path(path)
