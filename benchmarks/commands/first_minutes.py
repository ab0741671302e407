"""From the README's first line to the first answer of the MCP server, on a machine without UBP.

    python benchmarks/commands/first_minutes.py [REPOSITORY] [--python PYTHON] [--max-cpu SECONDS]

In a temporary folder: a virtual environment, this checkout with its extra `full` installed from the
package index, `ubp check` of a small site of MkDocs, in which one of three links is broken, and
which must report that one; with --max-cpu it fails if that takes more CPU. Then `ubp init` in a
clone of the repository (without one, a small one is made), and the command that its snippet prints,
asked over stdio. Seconds of wall and CPU, children too, a step.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.common.measure import Shape, generate, print_table

CHECKOUT = Path(__file__).parents[2]
SMALL = Shape(pages=30, references=2, sources=100, commits=20)
QUESTION = "How does this work?"
SITE = {
    "mkdocs.yml": "site_name: Sample\n",
    "docs/index.md": "# Sample\n\nThe [set-up](setup.md), and how to [log in](setup.md#log-in).\n",
    "docs/setup.md": "# Set-up\n\nSee the [limits](limit.md).\n\n## Log in\n\nType your name.\n",
    "docs/limits.md": "# Limits\n\nTen requests a minute.\n",
}
FINDING = "docs/setup.md:3:9  error  broken-link: limit.md does not exist."
LEFT_OUT = ("PYTHONPATH", "VIRTUAL_ENV", "PYTHONDONTWRITEBYTECODE", "XDG_CACHE_HOME")


class Spent(NamedTuple):
    """A step, and its seconds."""

    step: str
    wall: float
    cpu: float


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("repository", nargs="?", type=Path)
    parser.add_argument("--python", default=sys.executable, help="the machine's Python")
    parser.add_argument("--max-cpu", type=float, help="limit to the first finding, in seconds")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        steps = measure(Path(folder), given.repository, given.python)
    first = 1 + next(number for number, step in enumerate(steps) if step.step == "ubp check")
    cpu = sum(step.cpu for step in steps[:first])
    steps.insert(first, Spent("to the first finding", sum(s.wall for s in steps[:first]), cpu))
    alone = [step for step in steps if step.step != "to the first finding"]
    steps.append(Spent("all", sum(step.wall for step in alone), sum(step.cpu for step in alone)))
    rows = [(step.step, f"{step.wall:.1f}", f"{step.cpu:.1f}") for step in steps]
    print_table("The first minutes", ("step", "seconds", "CPU"), rows)
    if given.max_cpu is not None and cpu > given.max_cpu:
        raise SystemExit(f"The first finding takes {cpu:.1f} s of CPU, more than {given.max_cpu}.")


def measure(folder: Path, repository: Path | None, python: str) -> list[Spent]:
    """Do it all."""
    environment = {name: value for name, value in os.environ.items() if name not in LEFT_OUT}
    environment["HOME"] = str(folder)
    root = folder / "repository"
    if repository is None:
        generate(root, SMALL)
    else:
        subprocess.run(["git", "clone", "-q", str(repository), str(root)], check=True)
    programs = folder / "venv" / ("Scripts" if os.name == "nt" else "bin")
    pip = [str(programs / "python"), "-m", "pip", "install", "--quiet", "--no-cache-dir"]
    ubp = str(programs / "ubp")
    return [
        run("python -m venv", [python, "-m", "venv", str(folder / "venv")], folder, environment),
        run("pip install '.[full]'", [*pip, f"{CHECKOUT}[full]"], folder, environment),
        find_first(ubp, write_site(folder / "site"), environment),
        run("ubp stale", [ubp, "stale"], root, environment),
        run("ubp init --yes", [ubp, "init", "--yes"], root, environment),
        ask(snippet(ubp, root, environment), folder, environment),
    ]


def run(step: str, command: Sequence[str], cwd: Path, environment: Mapping[str, str]) -> Spent:
    """Run a command, and see that it does what it should."""
    wall, cpu = time.perf_counter(), children_cpu()
    done = subprocess.run(
        command, cwd=cwd, env=environment, capture_output=True, check=False, text=True
    )
    if done.returncode:
        raise SystemExit(f"{step}: exit {done.returncode}\n{done.stdout}{done.stderr}")
    return Spent(step, time.perf_counter() - wall, children_cpu() - cpu)


def write_site(root: Path) -> Path:
    """Write the sample site, and commit it."""
    for name, text in SITE.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    author = ["-c", "user.name=a", "-c", "user.email=a@example.com"]
    for words in (["init", "-q"], ["add", "."], [*author, "commit", "-qm", "Begin"]):
        subprocess.run(["git", *words], cwd=root, check=True)
    return root


def find_first(ubp: str, root: Path, environment: Mapping[str, str]) -> Spent:
    """Check the site, and see that its broken link is found and nothing else."""
    wall, cpu = time.perf_counter(), children_cpu()
    done = subprocess.run(
        [ubp, "check", "--quiet"],
        cwd=root,
        env=environment,
        capture_output=True,
        check=False,
        text=True,
    )
    if done.stdout.splitlines() != [FINDING]:
        raise SystemExit(f"ubp check: not the finding of the site:\n{done.stdout}{done.stderr}")
    return Spent("ubp check", time.perf_counter() - wall, children_cpu() - cpu)


def snippet(ubp: str, root: Path, environment: Mapping[str, str]) -> list[str]:
    """The command that `ubp init` tells Claude Desktop."""
    command = [ubp, "init", "--yes", "--json"]
    done = subprocess.run(command, cwd=root, env=environment, capture_output=True, check=True)
    told = next(
        snippet
        for snippet in json.loads(done.stdout)["snippets"]
        if snippet["name"] == "claude-desktop"
    )
    server = json.loads(told["text"])["mcpServers"]["ubp"]
    return [server["command"], *server["args"], "--output-schema"]


def ask(command: Sequence[str], cwd: Path, environment: Mapping[str, str]) -> Spent:
    """Start the server as a client does, and wait for an answer to a question."""
    wall, cpu = time.perf_counter(), children_cpu()
    with subprocess.Popen(
        command,
        cwd=cwd,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as server:
        shaken = {"protocolVersion": "2025-11-25", "capabilities": {}}
        shaken["clientInfo"] = {"name": "benchmark", "version": "1"}
        request(server, 1, "initialize", shaken)
        call = {"name": "ubp_search", "arguments": {"query": QUESTION}}
        answer = request(server, 2, "tools/call", call)
        seconds = time.perf_counter() - wall
        server.communicate()
    kind = answer["result"]["structuredContent"]["search_type"]
    return Spent(f"first answer of ubp serve ({kind})", seconds, children_cpu() - cpu)


def request(
    server: subprocess.Popen[bytes], number: int, method: str, params: Mapping[str, Any]
) -> dict[str, Any]:
    """Ask, and return the answer."""
    assert server.stdin
    assert server.stdout
    message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
    server.stdin.write(json.dumps(message).encode() + b"\n")
    server.stdin.flush()
    answer: dict[str, Any] = json.loads(server.stdout.readline())
    if answer.get("id") != number or "result" not in answer:
        raise SystemExit(f"{method}: {answer}")
    return answer


def children_cpu() -> float:
    """Seconds of CPU that ended children have taken."""
    times = os.times()
    return times.children_user + times.children_system


if __name__ == "__main__":
    main()
