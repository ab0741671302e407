"""Clients that write, purge and are killed in one project never get a wrong answer."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

STEADY = Path(__file__).parents[3] / "benchmarks/robustness/rag_steady.py"


@pytest.mark.skipif(sys.platform == "win32", reason="nothing is killed as on POSIX systems")
def test_what_was_confirmed_is_there_and_what_was_purged_is_gone() -> None:
    options = ["--calls", "30", "--clients", "2", "--kills", "1", "--pause", "2"]
    done = subprocess.run(
        [sys.executable, str(STEADY), *options], check=False, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    counts = json.loads(done.stdout)
    assert counts["killed"] == 1
    assert counts["confirmed_documents"] > 0
