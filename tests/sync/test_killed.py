"""Killed synchronizations; `benchmarks/robustness/kill_sync.py --rounds 100` kills more."""

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "benchmarks/robustness/kill_sync.py"


@pytest.mark.slow
def test_killed_synchronization_leaves_complete_versions():
    command = [sys.executable, str(SCRIPT), "--rounds", "1"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "every version was whole" in done.stdout
