"""Limits that no linter checks: a module fits in a head, a function on a screen."""

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parent.parent / "ubp"
MOST_LINES_OF_A_MODULE = 300
MOST_LINES_OF_A_FUNCTION = 50

MODULES = sorted(PACKAGE.rglob("*.py"))


@pytest.mark.parametrize("module", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_modules_and_functions_stay_short(module):
    text = module.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= MOST_LINES_OF_A_MODULE
    functions = [
        node
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    lengths = {f.name: (f.end_lineno or f.lineno) - f.lineno + 1 for f in functions}
    assert {n: lines for n, lines in lengths.items() if lines > MOST_LINES_OF_A_FUNCTION} == {}
