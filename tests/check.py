"""Create the environment in `.venv` and run everything that must pass before a commit lands.

Needs Python 3.11 and git. Words after it go to pytest: `python3 tests/check.py -k search`.
"""

import hashlib
import os
import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ENVIRONMENT = ROOT / ".venv"
SCRIPTS = ENVIRONMENT / ("Scripts" if os.name == "nt" else "bin")
PYTHON = SCRIPTS / ("python.exe" if os.name == "nt" else "python")
# The content of pyproject.toml that was installed last.
INSTALLED = ENVIRONMENT / "installed.sha256"

STEPS = (
    ("format", ("ruff", "format", "--check", ".")),
    ("lint", ("ruff", "check", ".")),
    ("types", ("mypy",)),
    ("import contracts", ("lint-imports",)),
    ("tests", ("pytest", "--numprocesses", "auto", "--dist", "worksteal")),
)


def install() -> None:
    """Create `.venv` and install UBP with its development tools, unless that was done before."""
    wanted = hashlib.sha256((ROOT / "pyproject.toml").read_bytes()).hexdigest()
    if PYTHON.exists() and INSTALLED.exists() and INSTALLED.read_text() == wanted:
        return
    print("== environment", flush=True)
    if not PYTHON.exists():
        venv.create(ENVIRONMENT, with_pip=True, upgrade_deps=True)
    pip = [PYTHON, "-m", "pip", "install", "--quiet", "--editable", ".", "--group", "dev"]
    subprocess.run(pip, cwd=ROOT, check=True)
    INSTALLED.write_text(wanted)


def main(arguments: list[str]) -> int:
    """Run every step, also after one that failed, and return 1 if any did."""
    install()
    environment = {**os.environ, "PATH": f"{SCRIPTS}{os.pathsep}{os.environ['PATH']}"}
    # Where it is set, each command that a test starts compiles all its modules again.
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    failed = []
    for name, (program, *rest) in STEPS:
        extra = arguments if program == "pytest" else []
        print(f"== {name}", flush=True)
        done = subprocess.run(
            [SCRIPTS / program, *rest, *extra], cwd=ROOT, env=environment, check=False
        )
        if done.returncode:
            failed.append(name)
    if failed:
        print(f"failed: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
