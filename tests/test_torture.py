"""Killed at any moment, and asked by several processes at once, the index answers rightly."""

import subprocess
import sys
from pathlib import Path

import pytest

TORTURE = Path(__file__).parents[1] / "benchmarks/robustness/torture.py"


@pytest.mark.skipif(sys.platform == "win32", reason="nothing is killed as on POSIX systems")
def test_the_next_answer_is_right_whatever_happened() -> None:
    done = subprocess.run(
        [sys.executable, str(TORTURE), "--quick"], check=False, capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")
