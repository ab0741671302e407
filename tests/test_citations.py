"""Docstrings and comments cite names, files and sections that exist."""

import ast
import io
import re
import tokenize
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


# A file that a command writes, and the prefix of branches. Other pages below `docs/` than ours are
# those of invented repositories.
EXAMPLES = {"ubp.sarif", "ubp/proposals/"}

NAME = re.compile(r"(?<![\w./-])(?:ubp|benchmarks)(?:\.[A-Za-z_]\w*)+(?![\w/-])")
PATH = re.compile(
    r"(?<![\w./:-])(?:(?:ubp|benchmarks|tests|fixtures|editors|docs/(?:guide|reference|decisions))/"
    r"[\w./*-]*[\w*/]|docs/(?:design|measurements)[\w.]*\w)"
)
SECTION = re.compile(
    r"(?<![\w./-])(?P<page>(?:[\w-]+/)*(?:[\w-]+\.md|README|SECURITY|CHANGELOG)),"
    r' (?:section )?"(?P<heading>[^"]+)"'
)


def texts(source):
    """The comments and docstrings of a module, each on one line."""
    comment = []
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            comment.append(token.string.lstrip("#: "))
        elif token.type != tokenize.NL:
            yield " ".join(comment)
            comment = []
    yield " ".join(comment)
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            yield " ".join(str(node.value.value).split())


@cache
def names_in(module):
    """What a module defines or imports, with the members of each class."""
    return members(ast.parse(module.read_text(encoding="utf-8")).body)


def members(statements):
    found = {}
    for statement in statements:
        if isinstance(statement, ast.ClassDef):
            found[statement.name] = members(statement.body)
        elif isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
            found[statement.name] = {}
        elif isinstance(statement, ast.Import | ast.ImportFrom):
            found |= {(alias.asname or alias.name): {} for alias in statement.names}
        elif isinstance(statement, ast.If | ast.Try):
            found |= members(statement.body) | members(statement.orelse)
        else:
            stored = (leaf for leaf in ast.walk(statement) if isinstance(leaf, ast.Name))
            found |= {leaf.id: {} for leaf in stored if isinstance(leaf.ctx, ast.Store)}
    return found


def name_exists(dotted):
    parts = dotted.split(".")
    place = ROOT / parts[0]
    for number, part in enumerate(parts[1:], start=1):
        if (place / part).is_dir():
            place /= part
            continue
        is_module = (place / f"{part}.py").is_file()
        module = place / (f"{part}.py" if is_module else "__init__.py")
        names = names_in(module) if module.is_file() else {}
        for attribute in parts[number + is_module :]:
            if attribute not in names:
                return False
            names = names[attribute]
        return True
    return True


def path_exists(path):
    return any(ROOT.glob(path.rstrip("/"))) if "*" in path else (ROOT / path).exists()


def section_exists(page, heading):
    path = ROOT / (page if page.endswith(".md") else f"{page}.md")
    return path.is_file() and re.search(
        rf"^#+ {re.escape(heading)}$", path.read_text(encoding="utf-8"), re.MULTILINE
    )


def missing(text):
    yield from (name for name in NAME.findall(text) if not name_exists(name))
    yield from (path for path in PATH.findall(text) if not path_exists(path))
    yield from (
        match[0] for match in SECTION.finditer(text) if not section_exists(**match.groupdict())
    )


def broken_citations(source):
    joined = re.sub(r"\n\s*(?:# ?)?", " ", source)
    if EXAMPLES.issuperset(missing(joined)):
        return set()  # without taking the source apart, which takes ten times as long
    return {cited for text in texts(source) for cited in missing(text)} - EXAMPLES


def test_citations_in_docstrings_and_comments_lead_to_what_exists():
    broken = {
        f"{module.relative_to(ROOT).as_posix()}: {cited}"
        for folder in ("ubp", "tests", "benchmarks")
        for module in sorted((ROOT / folder).rglob("*.py"))
        if module != Path(__file__)
        for cited in broken_citations(module.read_text(encoding="utf-8"))
    }
    assert broken == set()


def test_broken_citation_in_a_comment_or_docstring_of_several_lines_is_found():
    source = """
def f():
    \"\"\"As in README,
    "Speed".\"\"\"
    return 1  # see ubp/gone.py


# As in `ubp.gone.name`
# for reasons.
PATH = "ubp/other.py"
"""
    assert broken_citations(source) == {'README, "Speed"', "ubp/gone.py", "ubp.gone.name"}


@pytest.mark.parametrize(
    ("text", "broken"),
    [
        ("see ubp.core.policy.excerpt", []),
        ("see ubp.index.collections.excerpt", ["ubp.index.collections.excerpt"]),
        ("see ubp.core.model.FilePath and ubp.markdown.", []),
        ("see ubp.index.collections.Collection.is_stored", []),
        ("see ubp.index.collections.Collection.gone", ["ubp.index.collections.Collection.gone"]),
        ("see ubp/core/model.py, `tests/cli/`, ubp/*/model.py.", []),
        ("see docs/guide/gone.md and docs/example.md", ["docs/guide/gone.md"]),
        ("see ubp/core/gone.py and tests/*/gone.py", ["ubp/core/gone.py", "tests/*/gone.py"]),
        ('as in docs/design.md, "The index"; README, "Install"', []),
        ('as in README, "Speed"', ['README, "Speed"']),
        ("https://example.org/docs/a.md and src/ubp/b.py", []),
    ],
)
def test_citation_is_broken_where_its_target_does_not_exist(text, broken):
    assert list(missing(text)) == broken


PROMISE = re.compile(r"\*\*([^*]+)\*\*")
TEST = re.compile(r"\[[\w.]+\]\((tests/[\w/.]+)\)(?:: ((?:`\w+`(?:, )?)+))?")
BENCHMARK = re.compile(r"`(benchmarks/[\w/.]+\.py)`")


def promises(model):
    """Yield the name of each promise in the threat model's table, and what follows it there.

    A row without a name is a promise, too, with the name of its input.
    """
    table = model.partition("| input |")[2].partition("\n\n")[0]
    for row in table.splitlines()[2:]:
        source, _, stops = row.strip("| ").split(" | ")
        begin, *named = PROMISE.split(stops)
        yield from zip(named[::2], named[1::2], strict=True) if named else [(source, begin)]


def untested(model):
    """What the threat model promises without a test or benchmark that exists."""
    for name, text in promises(model):
        tests = list(TEST.finditer(text))
        if not tests and not any((ROOT / script).is_file() for script in BENCHMARK.findall(text)):
            yield f"{name}: no test"
        for path, functions in (test.groups(default="") for test in tests):
            place = ROOT / path
            defined = names_in(place) if place.suffix == ".py" and place.is_file() else {}
            wanted = re.findall(r"\w+", functions)
            yield from (f"{name}: {path}, {test}" for test in wanted if test not in defined)
            if not place.exists():
                yield f"{name}: {path}"


def test_every_promise_of_the_threat_model_names_a_test_that_exists():
    model = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    assert sum(1 for _ in promises(model)) > 30
    assert list(untested(model)) == []


def test_promise_without_a_test_or_with_a_missing_one_is_found():
    here = "[here](tests/test_citations.py)"
    model = f"""
| input | what it must not achieve | the rules that stop it |
|---|---|---|
| a | b | **tested**: yes ({here}: `untested`, `gone`); **not tested**: no |
| a | b | **measured**: `benchmarks/robustness/parsers.py`; **gone**: [a](tests/gone.py) |
| quoted | b | says ({here}) |
| silent | b | says nothing |

Text
"""
    assert list(untested(model)) == [
        "tested: tests/test_citations.py, gone",
        "not tested: no test",
        "gone: tests/gone.py",
        "silent: no test",
    ]
