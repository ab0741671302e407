"""How long the action's own steps take after its installation, and how much they fetch.

    python benchmarks/commands/action_speed.py [--commits 14000] [--repeat 3]

A remote of 14,000 commits with 200 pages that name sources is served over file://, as GitHub serves
parts of repositories. Each run starts from a checkout that is one commit deep, as actions/checkout
leaves it, and takes the steps of action.yml as a runner does, from the fetch on. The tests' own
runner is used.
"""

import argparse
import importlib.util
import shutil
import statistics
import subprocess
import tempfile
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from benchmarks.common.measure import Shape, generate, print_table

ROOT = Path(__file__).resolve().parents[2]
TIMED = (
    "Fetch the commits to compare",
    "Run UBP",
    "Write the pull request comment",
    "Set the exit status",
)
BRANCH_COMMITS = 4


class Case(NamedTuple):
    """An event, and how far its branch started behind the head of main."""

    title: str
    event: str
    behind: int


CASES = (
    Case("pull request, from main's head", "pull_request", 0),
    Case("pull request, 50 commits behind", "pull_request", 50),
    Case("pull request, 1,000 commits behind", "pull_request", 1000),
    Case("push of 4 commits to main", "push", 0),
    Case("schedule: all pages", "schedule", 0),
)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--commits", type=int, default=14_000)
    parser.add_argument("--repeat", type=int, default=3)
    options = parser.parse_args()
    shape = Shape(pages=200, references=3, sources=2000, commits=options.commits)
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        generate(work / "project", shape)
        runner = open_runner(work)
        rows = [measure(runner, work / "project", case, options.repeat) for case in CASES]
    print_table(
        f"{shape.commits:,} commits, {shape.pages} bound pages, a checkout one commit deep, file://",
        ["", "wall s", "CPU s", "of it the fetch, wall s", "objects fetched", "of", "exit"],
        rows,
    )


def open_runner(work: Path) -> Any:
    """The tests' runner, with the project's history at its remote."""
    harness = load_harness()
    remote = work / "remote.git"
    git(work, "clone", "--quiet", "--bare", str(work / "project"), str(remote))
    for key in ("uploadpack.allowFilter", "uploadpack.allowAnySHA1InWant"):
        git(remote, "config", key, "true")
    return harness.Runner(work, remote)


def measure(runner: Any, project: Path, case: Case, repeat: int) -> list[str]:
    """Make the case's commits, push them, and run the action in fresh checkouts."""
    trunk = git(project, "rev-parse", "main")
    ref, event, sha = make_event(project, case, trunk)
    git(project, "push", "--quiet", "--force", str(runner.remote), f"{sha}:{ref}")
    walls, cpus, fetches, fetched, status = [], [], [], "", 0
    for _ in range(repeat):
        place = runner.checkout(sha, ref)
        job = runner.run(place, case.event, event, ref=ref, sha=sha)
        taken = [job.seconds[step] for step in TIMED if step in job.seconds]
        walls.append(sum(wall for wall, _ in taken))
        cpus.append(sum(cpu for _, cpu in taken))
        fetches.append(taken[0][0])
        fetched = job.steps[TIMED[0]].split("Fetched ")[1].split()[0]
        status = job.status
        shutil.rmtree(place)
    whole = git(project, "rev-list", "--objects", "--count", "--all")
    return [
        case.title,
        f"{statistics.median(walls):.1f}",
        f"{statistics.median(cpus):.1f}",
        f"{statistics.median(fetches):.1f}",
        f"{int(fetched):,}",
        f"{int(whole):,}",
        str(status),
    ]


def make_event(project: Path, case: Case, trunk: str) -> tuple[str, dict[str, Any], str]:
    """The ref that is checked out, the event's payload, and the commit checked out."""
    if case.event == "schedule":
        return "refs/heads/main", {}, trunk
    git(project, "checkout", "--quiet", "--detach", f"{trunk}~{case.behind}")
    for number in range(BRANCH_COMMITS):
        for source in sorted((project / "src").rglob("*.py"))[number * 5 : number * 5 + 5]:
            source.write_text(f"{case.title} = {number}\n")
        git(project, "commit", "--quiet", "--all", "-m", f"{case.title} {number}")
    head = git(project, "rev-parse", "HEAD")
    if case.event == "push":
        event = {"before": trunk, "repository": {"default_branch": "main"}}
        return "refs/heads/main", event, head
    # GitHub tries a pull request as the merge of its head into the base.
    git(project, "checkout", "--quiet", "--detach", trunk)
    git(project, "merge", "--quiet", "--no-ff", "-X", "theirs", "-m", "Try", head)
    tried = git(project, "rev-parse", "HEAD")
    event = {"pull_request": {"number": 1, "base": {"sha": trunk}, "head": {"sha": head}}}
    return f"refs/pull/{case.behind + 1}/merge", event, tried


def load_harness() -> ModuleType:
    """The module of the tests' runner."""
    spec = importlib.util.spec_from_file_location("harness", ROOT / "tests/action/conftest.py")
    if spec is None or spec.loader is None:
        raise SystemExit("tests/action/conftest.py is not there")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def git(root: Path, *args: str) -> str:
    """What git says."""
    done = subprocess.run(["git", *args], cwd=root, check=True, capture_output=True, text=True)
    return done.stdout.strip()


if __name__ == "__main__":
    main()
