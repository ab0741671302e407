"""Differences between two versions of source code by their statements."""

import pytest

from ubp.code.statements import MAX_BYTES, differing_statements


def compare(old, new, path="a.py"):
    return tuple(text.decode() for text in differing_statements(old.encode(), new.encode(), path))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("def f(a: int, *, b: 'X' = 1) -> str:\n", "def f(\n    a,\n    *,\n    b=1,\n):\n"),
        ("async def f(x: dict[str, int] = {}) -> C[[int], str]:\n", "async def f(x={}):\n"),
        ("@property\ndef a(self) -> 'T': return 1\n", "@property\ndef a(self): return 1\n"),
        ("x: int = 1\nself.y: T = {}\n", "x = 1\nself.y = {}\n"),
        (
            "class A:\n    def f(self):\n        x: int\n",
            "class A:\n    def f(self):\n        x: T\n",
        ),
        ("x = 'a' 'b'\n", 'x = (\n    "a"\n    "b"\n)\n'),
        ("x = '\\n'\n", 'x = "\\n"\n'),
        ("from a import b, c\n", "from a import (\n    b,\n    c,\n)\n"),
        ("if (a and\n    b):\n    pass\n", "if a and b:\n    pass\n"),
        ("f(a, b)\nx = [1,2]\n", "f(\n    a,\n    b,\n)\nx = [\n    1,\n    2,\n]\n"),
        ("f(x=a if b else c)\n", "f(\n    x=(\n        a if b else c\n    ),\n)\n"),
        ("x = a + \\\n    b\n", "x = (\n    a\n    + b\n)\n"),
        ("a()\nif b:\n    c()\n", "if b:\n    a()\n    c()\n"),
        ("import typing\na()\n", "from __future__ import annotations\na()\n"),
        ("def a(): pass\n", "__all__ = ['a']\ndef a(): pass\n"),
        ("__all__ = ['a']\n", "__all__ = (\n    'a',\n    'b',\n)\n"),
    ],
)
def test_formatting_and_annotations_are_no_difference(old, new):
    assert compare(old, new) == ("", "")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("x = (1,)", "x = (1)"),
        ("x = f()", "x = f"),
        ("x = (a + b) * c", "x = a + b * c"),
        ("y in (a, b)", "y in a, b"),
        ("assert (a, b)", "assert a, b"),
        ("x[1,]", "x[1]"),
        ("f((a for a in b), c)", "f(a for a in b, c)"),
        ("x = 'ab'", "x = 'a b'"),
        ("x = '\\1' '2'", "x = '\\12'"),
        ("x = r'a' 'b'", "x = 'ab'"),
        ("def f(a, b=1): pass", "def f(a, b=2): pass"),
        ("def f(a: T = lambda b: 1): pass", "def f(a: T = lambda c: 1): pass"),
        ("def f(a: Annotated[int, Query(1)]): pass", "def f(a: int): pass"),
        ("def f(a: Literal['a']): pass", "def f(a: Literal['b']): pass"),
        ("    limit: int = 1", "    limit: str = 1"),  # of a class that begins above
    ],
)
def test_statements_that_may_do_something_else_are_different(old, new):
    assert compare(f"a()\n{old}\n", f"{new}\na()\n") == (old, new)


@pytest.mark.parametrize(
    ("begin", "old", "new"),
    [
        ("@dataclass\nclass A:\n", "    limit: int", "    limit: str"),
        ("@app.get('/')\n", "def f(limit: int): pass", "def f(limit: str): pass"),
        ("@cache\n@app.get('/')\n", "async def f() -> int: pass", "async def f() -> str: pass"),
    ],
)
def test_types_that_a_program_can_read_are_different(begin, old, new):
    assert compare(f"{begin}{old}\n", f"{begin}{new}\n") == (old, new)


def test_lines_of_a_changed_statement_stay_as_they_are():
    assert compare("f(\n  a=1,\n  b=2,\n)\n", "f(\n  a=1,\n  b=3,\n)\ng()\n") == (
        "f(\n  a=1,\n  b=2,\n)",
        "f(\n  a=1,\n  b=3,\n)\ng()",
    )


def test_statement_that_is_repeated_less_often_is_different():
    assert compare("a()\na( )\n", "a()\n") == ("a( )", "")


def test_names_that_all_no_longer_lists_are_different():
    assert compare("__all__ = ['a', 'b']\n", "__all__ = ['a', 'c']\n") == ('"b",', "")
    assert compare("__all__ = ['a']\n", "") == ("", "")


@pytest.mark.parametrize("path", ["a.pyi", "a.go", "LICENSE"])
def test_other_files_are_returned_whole(path):
    assert compare("a: int\n", "a: str\n", path) == ("a: int\n", "a: str\n")
    long = b"a()\n" * (MAX_BYTES // 4 + 1)
    assert differing_statements(long, long, "a.py") == (long, long)


@pytest.mark.parametrize(
    "text",
    [
        *("'", '"""a', "f(", ")", "(((", "x = ", "def", "def f", "def f(", "def f(a:", "x:"),
        *("@", "lambda", "__all__ = [", "\\", "x = ()", "(,)", "[,]", "x = (,)", "a.", "async def"),
    ],
)
def test_code_with_errors_is_compared(text):
    assert compare(text, text) == ("", "")
    assert compare(text, "other()\n")[1].startswith("other()")


@pytest.mark.parametrize(
    "text",
    [
        *('"ab" ' * 30_000, "(" * 80_000, "()" * 60_000, "a." * 60_000, "@" + "a" * 100_000),
        "def f(" + "a: b = c, " * 15_000 + "): pass",
        "x = " + "(" * 20_000 + "a" + ")" * 20_000,
    ],
    ids=["texts", "open", "pairs", "dots", "decorator", "parameters", "nested"],
)
def test_hostile_code_takes_linear_time(text):
    assert [version.rstrip("\n") for version in compare(text, f"{text}z")] == [text, f"{text}z"]
