"""No answer depends on what the index contains; benchmarks/robustness/index_states.py asks more."""

import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).parents[1] / "benchmarks/robustness/index_states.py"


def test_answers_about_random_histories_are_the_same_whatever_is_indexed() -> None:
    done = subprocess.run(
        [sys.executable, str(SCRIPT), "--quick"], check=False, capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")
