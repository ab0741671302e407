"""Source code without comments and docstrings."""

import ast
import io
import tokenize
from collections import Counter
from pathlib import Path

import pytest

import ubp
from ubp.code.comments import MAX_BYTES, without_comments


@pytest.mark.parametrize(
    ("path", "before", "after"),
    [
        ("a.py", 'x = "# a"  # b\n', 'x = "# a"  \n'),
        (
            "a.py",
            'def f():\n    r"""A."""\n    return """b"""\n',
            'def f():\n\n    return """b"""\n',
        ),
        ("a.py", 'f(\n    "a"\n)\nx = \\\n"b"\n', 'f(\n    "a"\n)\nx = \\\n"b"\n'),
        ("a.py", "'a'; x = 1\n", "'a'; x = 1\n"),
        ("a.py", '"""never closed # a\n', '"""never closed # a\n'),
        ("a.sh", "echo $# a#b # c\n", "echo $# a#b \n"),
        ("a.yml", "a: it's # b\nc: '# d'\n", "a: it's \nc: '# d'\n"),
        ("a.ts", "u('http://a'); // b\n`// c\n`/* d\n */\n", "u('http://a'); \n`// c\n`\n"),
        ("a.js", r"/https?:\/\/a/.test(b)", r"/https?:\/\/a/.test(b)"),
        ("a.js", "a()\n/* never closed\n", "a()\n/* never closed\n"),
        ("a.rs", "fn f<'a>(x: &'a str) { '\"' } // b\n", "fn f<'a>(x: &'a str) { '\"' } \n"),
        ("a.go", "x := `// a` // b\n", "x := `// a` \n"),
        ("a.css", "a { b: url(http://c) } /* d */", "a { b: url(http://c) } "),
        ("a.sql", "select '--a' -- b\n", "select '--a' \n"),
        ("a.md", "# It's <!-- a\nb --> c\n", "# It's  c\n"),
        (
            "a.ex",
            '@doc """\nIt\'s `b`.\n"""\n@doc "c"\nx = """\n# d\n"""\n',
            '\n\nx = """\n# d\n"""\n',
        ),
        ("a.json", '{"a": "// b"}', '{"a": "// b"}'),
        ("LICENSE", "# a\n", "# a\n"),
    ],
)
def test_comments_and_docstrings_are_removed_and_strings_stay(path, before, after):
    assert without_comments(before.encode(), path) == after.encode()


def test_python_without_comments_has_the_same_names_and_no_comment():
    for path in sorted(Path(ubp.__file__).parent.rglob("*.py")):
        data = path.read_bytes()
        stripped = without_comments(data, str(path))
        kinds = {tokenize.NAME, tokenize.COMMENT}
        code, found = (
            Counter(token.string for token in tokens if token.type in kinds)
            for tokens in map(_tokens, (data, stripped))
        )
        comments = {text for text in code if text.startswith("#")}
        assert found == Counter({k: n for k, n in code.items() if k not in comments}), path
        docstring = ast.get_docstring(ast.parse(data), clean=False)
        assert docstring is None or docstring.encode() not in stripped, path


def _tokens(data):
    return tokenize.generate_tokens(io.StringIO(data.decode()).readline)


@pytest.mark.parametrize(
    ("path", "text"), [("a.c", "/*"), ("a.py", '"""'), ("a.rs", "'\\"), ("a.md", "<!--")]
)
def test_signs_without_end_take_linear_time(path, text):
    data = (text * MAX_BYTES)[:MAX_BYTES].encode()
    assert len(without_comments(data, path)) <= len(data)


def test_too_large_file_is_returned_unchanged():
    data = b"# a\n" * MAX_BYTES
    assert without_comments(data, "a.py") is data
