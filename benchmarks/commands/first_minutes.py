"""From the README's first line to the first answer of the MCP server, on a machine without UBP.

    python benchmarks/commands/first_minutes.py [REPOSITORY] [--python PYTHON]

In a temporary folder: a virtual environment, this checkout with its extra `full` installed from the
package index, `ubp init` in a clone of the repository (without one, a small one is made), and the
command that its snippet prints, asked over stdio. Seconds of wall and CPU, children too, a step.
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
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        steps = measure(Path(folder), given.repository, given.python)
    steps.append(Spent("all", sum(step.wall for step in steps), sum(step.cpu for step in steps)))
    rows = [(step.step, f"{step.wall:.1f}", f"{step.cpu:.1f}") for step in steps]
    print_table("The first minutes", ("step", "seconds", "CPU"), rows)


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
