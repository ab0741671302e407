"""Texts that once took the square of their length, or more: time and memory must grow with it.

`benchmarks/robustness/parsers.py` gives every parser 100 kB of each of its separators and
nesting signs.
"""

import re
import time
import tracemalloc
from collections.abc import Callable

import pytest

from ubp.code.dependencies import find_required_names
from ubp.markdown.front_matter import read_front_matter
from ubp.markdown.sites.redirects import redirect_patterns
from ubp.markdown.sites.site import _rewrite_rules
from ubp.markdown.toml_nodes import BadTomlError, read_toml
from ubp.staleness.evidence import _NUMBER, _PATH

# Linear work takes four times as long for four times the text, quadratic work sixteen times.
MAX_RATIO = 9


def cpu(parse: Callable[[str], object], text: str) -> float:
    """Return the least CPU time of three runs, and never less than the clock can measure."""
    seconds = []
    for _ in range(3):
        start = time.process_time()
        parse(text)
        seconds.append(time.process_time() - start)
    return max(min(seconds), 0.002)


def assert_linear(parse: Callable[[str], object], text: Callable[[int], str], count: int) -> None:
    assert cpu(parse, text(4 * count)) < MAX_RATIO * cpu(parse, text(count))


@pytest.mark.parametrize(
    "text",
    [
        "a" + ".a" * 2000 + " = 1\n",
        "[a" + " . a" * 2000 + "]\n",
        "[[a" + '."a"' * 2000 + "]]\n",
        "x = {a" + ".'a'" * 2000 + " = 1}\n",
        "# '''\na" + ".a" * 2000 + " = 1 # '''\n",
        'x = ["\\"", {a' + ".a" * 2000 + ' = 1}] # "\n',
        "x = ['''a'''', {a" + ".a" * 2000 + " = 1}] # '\n",
        'x = """\\""""\na' + ".a" * 2000 + ' = """ """\n',
        "a" + '.","' * 2000 + " = 1\n",
    ],
    ids=["key", "table", "array", "inline", "comment", "escape", "literal", "lines", "comma"],
)
def test_toml_key_of_many_parts_is_refused_before_it_takes_memory(text):
    tracemalloc.start()
    try:
        with pytest.raises(BadTomlError, match="a key has more than 50 parts"):
            read_toml(text)
        assert tracemalloc.get_traced_memory()[1] < 2_000_000
    finally:
        tracemalloc.stop()


def test_toml_dots_that_are_in_no_key_are_read():
    text = f"a.b.c = '{'a.' * 99}'\nd = [{'1.5, ' * 99}]\n# {'a.' * 99}\ne = '''\n{'a.' * 99}'''\n"
    assert len(read_toml(text).pairs) == 3


def test_toml_keys_that_are_not_written_as_they_are_read_take_linear_time():
    def escaped_keys(count: int) -> str:
        return "".join(f'"\\u0061{number}" = "\\n{number}"\n' for number in range(count))

    assert_linear(read_toml, escaped_keys, 600)


@pytest.mark.parametrize("fence", ["---", "+++"])
def test_front_matter_over_64_kb_is_a_problem_and_is_not_parsed(fence):
    mark = "= '" if fence == "+++" else ": '"
    pages = [f"{fence}\ntitle {mark}{'x' * size}'\n{fence}\n" for size in (65_000, 66_000)]
    inside, beyond = (read_front_matter(page.encode(), ("title",)) for page in pages)
    assert inside.root is not None
    assert beyond.root is None
    assert ["larger than 64 KiB" in problem.message for problem in beyond.problems] == [True]


def test_redirects_of_many_wildcards_are_left_out():
    addresses = [f"/{'*a' * 12}b", "/:a:b:c/x", "/old/:page/*"]
    start = time.process_time()
    patterns = redirect_patterns(addresses)
    assert not any(pattern.fullmatch("a" * 120) for pattern in patterns)
    assert [bool(pattern.fullmatch("old/b/c")) for pattern in patterns] == [True]
    assert not any(pattern.fullmatch(f"old/b/{'c' * 1_000}") for pattern in patterns)
    assert time.process_time() - start < 1


@pytest.mark.parametrize(
    "rule", [("".join(f"a:p{n}*" for n in range(12)) + "b", "y"), (":1a/x.md", "y.md")]
)
def test_rewrites_of_many_wildcards_or_no_names_are_left_out(rule):
    assert not _rewrite_rules((rule,))


def test_lines_of_one_sign_take_linear_time():
    assert_linear(
        lambda text: find_required_names("requirements.txt", text.encode()),
        lambda size: f"ab{'=' * size}x",
        2_000,
    )
    for text in ("1", "1.", "~"):
        assert_linear(
            lambda line: list(re.finditer(f"{_PATH}|{_NUMBER}", line, re.ASCII)),
            lambda size, text=text: f"{text * size}1x",
            5_000,
        )
