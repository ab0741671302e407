"""Synchronizations that are killed; `benchmarks/kill_sync.py --rounds 100` does it more often."""

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "benchmarks/kill_sync.py"


@pytest.mark.slow
def test_killed_synchronizations_leave_whole_versions():
    command = [sys.executable, str(SCRIPT), "--rounds", "1"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "every version was whole" in done.stdout
