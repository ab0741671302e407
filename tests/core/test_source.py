import pytest

from ubp.core.source import (
    GlobSource,
    PartSource,
    PathSource,
    SourceMap,
    glob_source,
    possible_sources,
)


@pytest.mark.parametrize(
    ("name", "sources"),
    [
        ("src", (PathSource("src"),)),
        ("src/*.py", (PathSource("src/*.py"), GlobSource("src", "src/*.py"))),
        ("**/a.py", (PathSource("**/a.py"), GlobSource("", "**/a.py"))),
        ("pages/[id].ts", (PathSource("pages/[id].ts"), GlobSource("pages", "pages/[id].ts"))),
    ],
)
def test_written_path_names_a_literal_path_first_and_a_glob_second(name, sources):
    assert possible_sources(name) == sources
    assert {source.name for source in sources} == {name}


def test_path_and_glob_of_the_same_text_are_different_sources():
    path, glob = possible_sources("src/*.py")
    assert path != glob
    assert (path.watched, glob.watched) == (("src/*.py", None), ("src", "src/*.py"))


@pytest.mark.parametrize(
    ("source", "path", "expected"),
    [
        (PathSource("src"), "src", True),
        (PathSource("src"), "src/a/b.py", True),
        (PathSource("src"), "src2/a.py", False),
        (PathSource("src/a.py"), "src", False),
        (glob_source("src/*.py"), "src/a.py", True),
        (glob_source("src/*.py"), "src/a/b.py", False),
        (glob_source("src/*.py"), "src", False),
    ],
)
def test_source_matches_the_files_that_belong_to_it(source, path, expected):
    assert source.matches(path) is expected
    assert list(SourceMap([(source, "value")]).matching(path)) == ["value"] * expected


@pytest.mark.parametrize(
    ("source", "path", "expected"),
    [
        (PathSource("src/a.py"), "", True),
        (PathSource("src/a.py"), "src", True),
        (PathSource("src/a.py"), "src/*.py", True),
        (PathSource("src/a.py"), "lib/*.py", False),
        (PathSource("src/a.py"), "src/a", False),
        (PathSource("src"), "src/*.py", True),
        (glob_source("src/*.py"), "src", True),
        (glob_source("src/*.py"), "", True),
        (glob_source("src/*.py"), "src/a.py", True),
        (glob_source("src/*.py"), "src/a.js", False),
        (glob_source("*.py"), "src", False),
    ],
)
def test_source_overlaps_what_contains_it_and_what_it_contains(source, path, expected):
    assert source.overlaps(path) is expected


def test_source_map_lists_files_then_directories_then_globs():
    names = ("**/*.py", "src/auth/*.py", "src", "src/auth", "src/auth/session.py", "other")
    by_source = SourceMap((possible_sources(name)[-1], name) for name in names)
    assert list(by_source.matching("src/auth/session.py")) == [
        "src/auth/session.py",
        "src/auth",
        "src",
        "src/auth/*.py",
        "**/*.py",
    ]
    assert list(by_source.matching("src/auth/session.js")) == ["src/auth", "src"]


@pytest.mark.parametrize(
    ("path", "fragment", "expected"),
    [
        ("a.py", "#login", PartSource("a.py", "symbol", "login")),
        ("a.py", "#L3-L9", PartSource("a.py", "lines", "L3-L9")),
        ("a.md", "#L3", PartSource("a.md", "lines", "L3")),
        ("a.md", "#Token life", PartSource("a.md", "section", "Token life")),
        ("a.py", "#", PathSource("a.py")),
        ("a.py", "::login", PathSource("a.py")),
        ("a.py", ":12", PathSource("a.py")),
        ("pages/[id].ts", "#get", PartSource("pages/[id].ts", "symbol", "get")),
    ],
)
def test_fragment_names_a_part_of_a_literal_path(path, fragment, expected):
    source, *others = possible_sources(path, fragment)
    assert source == expected
    assert others == ([glob_source(path)] if "[" in path else [])


def test_part_is_watched_and_matched_as_its_file():
    part = PartSource("src/a.py", "symbol", "login")
    assert part.name == "src/a.py#login"
    assert part.watched == ("src/a.py", None)
    assert (part.matches("src/a.py"), part.matches("src/a.py/b")) == (True, False)
    assert (part.overlaps("src"), part.overlaps("src/*.py"), part.overlaps("lib")) == (
        True,
        True,
        False,
    )
    assert list(SourceMap([(part, "value")]).matching("src/a.py")) == ["value"]


@pytest.mark.parametrize(
    ("fragment", "lines"),
    [("L3", (3, 3)), ("L3-L9", (3, 9)), ("L9-3", (3, 9)), ("L0-L2", (1, 2))],
)
def test_lines_of_a_range_are_in_order(fragment, lines):
    assert PartSource("a.py", "lines", fragment).lines == lines
