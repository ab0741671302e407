"""Everything that must pass before a commit lands: format, lint, types, import contracts, tests.

Run it with the environment that the README sets up; words after it go to pytest.
"""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SCRIPTS = Path(sys.executable).parent

STEPS = (
    ("format", ("ruff", "format", "--check", ".")),
    ("lint", ("ruff", "check", ".")),
    ("types", ("mypy",)),
    ("import contracts", ("lint-imports",)),
    ("tests", ("pytest", "--numprocesses", "auto", "--dist", "worksteal")),
)


def main(arguments: list[str]) -> int:
    """Run every step, also after one that failed, and return 1 if any did."""
    environment = {**os.environ, "PATH": f"{SCRIPTS}{os.pathsep}{os.environ['PATH']}"}
    failed = []
    for name, (program, *rest) in STEPS:
        extra = arguments if program == "pytest" else []
        print(f"== {name}", flush=True)
        done = subprocess.run(
            [str(SCRIPTS / program), *rest, *extra], cwd=ROOT, env=environment, check=False
        )
        if done.returncode:
            failed.append(name)
    if failed:
        print(f"failed: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
