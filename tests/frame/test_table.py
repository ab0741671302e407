"""An answer is its module and its row: without them no surface has it."""

import ast
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

SURFACES = """
import json, sys
from ubp.cli.app import build_app, completion_script
from ubp.cli.commands import ROWS as COMMANDS
from ubp.cli.terminal import Options, Terminal
from ubp.output.records import RECORDS
from ubp.server.tools.registry import TOOLSETS
from ubp.table import ROWS, load

app = build_app(Terminal(Options(), sys.stdout, sys.stderr, {}))
print(json.dumps({
    "commands": [row.name for row in COMMANDS],
    "completion": completion_script(app, "bash"),
    "tools": [tool.name for tools in TOOLSETS.values() for tool in tools],
    "records": [row.name for row in RECORDS],
    "requests": [load(row).request.__name__ for row in ROWS],
}))
"""


@pytest.fixture
def surfaces(tmp_path):
    """What a copy of the package offers after these answers are deleted."""

    def read(*modules):
        package = tmp_path / "ubp"
        ignored = shutil.ignore_patterns("__pycache__", "ubp-bilingual-256")
        shutil.copytree(ROOT / "ubp", package, ignore=ignored, dirs_exist_ok=True)
        table = package / "table.py"
        lines = table.read_text(encoding="utf-8").splitlines(keepends=True)
        for module in modules:
            (tmp_path / f"{module.replace('.', '/')}.py").unlink()
            for row in rows_of(table, module):
                lines[row.lineno - 1 : row.end_lineno] = [""] * (row.end_lineno - row.lineno + 1)
        table.write_text("".join(lines), encoding="utf-8")
        environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
        done = subprocess.run(
            [sys.executable, "-c", SURFACES],
            cwd=tmp_path,
            env=environment,
            check=True,
            capture_output=True,
        )
        return json.loads(done.stdout)

    return read


def rows_of(table, module):
    return [
        node
        for node in ast.walk(ast.parse(table.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call)
        and getattr(node.func, "id", "") == "Row"
        and node.args[0].value.startswith(f"{module}:")
    ]


def test_answers_without_their_modules_and_rows_are_on_no_surface(surfaces):
    names = {
        "commands": {"impact", "affected", "suggest-links"},
        "tools": {"ubp_get_impact", "ubp_suggest_links"},
        "records": {"impact", "affected", "suggest-links"},
        "requests": {"ImpactRequest", "AffectedRequest", "SuggestLinksRequest"},
    }
    before = surfaces()
    after = surfaces(
        "ubp.answers.pages.impact",
        "ubp.answers.staleness.affected",
        "ubp.answers.pages.suggest_links",
    )
    for surface, gone in names.items():
        assert gone <= set(before[surface])
        assert set(after[surface]) == set(before[surface]) - gone
    for command in names["commands"]:
        assert command in before["completion"]
        assert command not in after["completion"]
