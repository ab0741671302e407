"""The walls around the kits: what is left when one is taken away."""

import ast
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
KITS = sorted(file.parent.name for file in (ROOT / "ubp/kits").glob("*/__init__.py"))
# Of the suite the tests that read the table, a few seconds of them.
SUITE = (
    "tests/cli/test_commands.py::test_commands_and_their_examples_parse",
    "tests/cli/test_commands.py::test_help_lists_the_commands",
    "tests/cli/test_records.py",
    "tests/cli/test_report.py::test_report_record_matches_its_schema",
    "tests/server/tools/test_registry.py",
    "tests/server/test_wire.py::test_servers_run_side_by_side_and_are_listed",
)


def without_kit(table: str, kit: str) -> str:
    """Return the source of the table without the rows of a kit."""
    lines = table.splitlines(keepends=True)
    rows = (
        row
        for statement in ast.parse(table).body
        if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Tuple)
        for row in statement.value.elts
        if isinstance(row, ast.Call) and isinstance(row.args[0], ast.Constant)
    )
    for row in rows:
        target = row.args[0].value
        if target == kit or target.startswith(f"ubp.kits.{kit}."):
            for number in range(row.lineno - 1, row.end_lineno):
                lines[number] = ""
    return "".join(line for line in lines if line)


@pytest.mark.slow
@pytest.mark.parametrize("kit", KITS)
def test_kit_without_its_folder_and_rows_leaves_a_green_suite(kit, tmp_path):
    for name in ("ubp", "tests", "pyproject.toml", "README.md", "action.yml"):
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, tmp_path / name)
    shutil.rmtree(tmp_path / "ubp/kits" / kit)
    shutil.rmtree(tmp_path / "tests/kits" / kit)
    table = tmp_path / "ubp/table.py"
    table.write_text(without_kit(table.read_text(encoding="utf-8"), kit), encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    program = "import ubp.table; print(ubp.table.__file__)"
    for command in (
        ("-c", program),
        ("-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "-m", "not slow", *SUITE),
    ):
        done = subprocess.run(
            [sys.executable, *command],
            cwd=tmp_path,
            env=environment,
            check=False,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        if command[0] == "-c":
            assert done.stdout.strip() == str(table)
