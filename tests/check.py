"""Create the environment in `.venv` and run everything that must pass before a commit lands.

Needs Python 3.11 and git. Words after it go to pytest, and then only the tests run:
`python3 tests/check.py -k search`. `--fast` runs format, lint, types and contracts, and the tests
of what differs from `origin/main` (from `HEAD`, where there is none): those of its package and, as
`ELSEWHERE` says, those of surfaces and of generated text.
The README's install line uses the same environment, with whatever pip `venv` puts there.
"""

import hashlib
import os
import subprocess
import sys
import tomllib
import venv
from collections.abc import Iterable
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


# The tests that a file can break besides those of its package, by the beginning of its path.
ELSEWHERE = {
    "ubp/": (
        "tests/cli/test_hot_path.py",
        "tests/test_citations.py",
        "tests/test_docs.py",
        "tests/test_tidy.py",
    ),
    "ubp/answers/": ("tests/cli", "tests/server"),
    "ubp/checks/rules/": ("tests/cli/test_transcripts.py",),
    "ubp/table.py": ("tests/cli", "tests/frame", "tests/server"),
    "tests/transcripts/": ("tests/cli/test_transcripts.py",),
    "docs/": ("tests/test_docs.py",),
    "README": ("tests/test_docs.py",),
}


def install() -> None:
    """Create `.venv` and install UBP with its development tools, unless that was done before."""
    project = (ROOT / "pyproject.toml").read_bytes()
    wanted = hashlib.sha256(project).hexdigest()
    if INSTALLED.exists() and INSTALLED.read_text() == wanted and runs_this_checkout():
        return
    print("== environment", flush=True)
    if not PYTHON.exists():
        venv.create(ENVIRONMENT, with_pip=True)
    # Not `--group dev`, which needs pip 25.1: Python 3.11 and 3.12 bring an older one.
    tools = tomllib.loads(project.decode())["dependency-groups"]["dev"]
    pip = [PYTHON, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "--editable", ".", *tools], cwd=ROOT, check=True)
    INSTALLED.write_text(wanted)


def runs_this_checkout() -> bool:
    """Return whether the environment imports UBP from here: `pip install .` puts a copy there."""
    if not PYTHON.exists():
        return False
    command = [PYTHON, "-I", "-c", "import ubp; print(ubp.__file__)"]
    module = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False).stdout
    return Path(module.strip()) == ROOT / "ubp" / "__init__.py"


def changed_files() -> list[str]:
    """Return the files that differ from the base, new ones included."""

    def git(*words: str) -> list[str]:
        command = ["git", *words]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        return done.stdout.splitlines()

    base = (git("merge-base", "origin/main", "HEAD") or ["HEAD"])[0]
    return git("diff", "--name-only", base) + git("ls-files", "--others", "--exclude-standard")


def find_tests(changed: Iterable[str]) -> list[str]:
    """Return the folders and files of tests for these files."""
    found = set()
    for path in changed:
        match Path(path).parts:
            case ("tests", name) if name.startswith("test_"):
                found.add(path)
            case ("tests" | "ubp", package, _, *_) if package != "transcripts":
                found.add(f"tests/{package}")
        for start, tests in ELSEWHERE.items():
            found.update(tests if path.startswith(start) else ())
    return sorted(name for name in found if (ROOT / name).exists())


def select_steps(arguments: list[str]) -> list[tuple[str, tuple[str, ...]]]:
    """Return the steps that these arguments ask for, each with its whole command."""
    *checks, (name, command) = STEPS
    if arguments == ["--fast"]:
        tests = find_tests(changed_files())
        return [*checks, (name, (*command, *tests))] if tests else checks
    return [(name, (*command, *arguments))] if arguments else list(STEPS)


def main(arguments: list[str]) -> int:
    """Run the selected steps, also after one that failed, and return 1 if any did."""
    install()
    environment = {**os.environ, "PATH": f"{SCRIPTS}{os.pathsep}{os.environ['PATH']}"}
    # Where it is set, each command that a test starts compiles all its modules again.
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    failed = []
    for name, (program, *rest) in select_steps(arguments):
        print(f"== {name}", flush=True)
        done = subprocess.run([SCRIPTS / program, *rest], cwd=ROOT, env=environment, check=False)
        if done.returncode:
            failed.append(name)
    if failed:
        print(f"failed: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
