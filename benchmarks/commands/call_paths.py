"""How far a call travels: the modules and packages of UBP that it runs through.

Traces calls in this process on a small repository that it makes, after one call that builds the
index. *changes* counts consecutive calls in different modules (packages).

Run: python benchmarks/commands/call_paths.py
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import redirect_stdout
from itertools import pairwise
from pathlib import Path
from types import FrameType
from typing import Any, TextIO

import ubp
from ubp.__main__ import main

PACKAGE = Path(ubp.__file__).parent
CALLS = (
    ("stale",),
    ("stale", "--staged", "docs/sessions.md"),
    ("check", "--staged"),
    ("search", "token"),
    ("search", "token", "--json"),
    ("get-context", "docs/sessions.md"),
    ("MCP", "ubp_search"),
    ("bind", "--write", "docs/login.md"),
    ("proposals", "accept", "1"),
)


def make_repository(root: Path) -> None:
    """Two pages that link to each other, one of them bound to a staged source."""

    def git(*arguments: str) -> None:
        subprocess.run(["git", *arguments], cwd=root, check=True)

    git("init", "-q")
    git("config", "user.name", "A")
    git("config", "user.email", "a@example.org")
    for folder in ("docs", "src"):
        (root / folder).mkdir()
    (root / "src/session.py").write_text("ttl = 30\n")
    page = "---\nsource_refs: [src/session.py]\n---\n# Sessions\n\nA token, see [[login]].\n"
    (root / "docs/sessions.md").write_text(page)
    (root / "docs/login.md").write_text("# Login\n\nA login gives a token: [s](sessions.md).\n")
    git("add", ".")
    git("commit", "-qm", "Begin")
    (root / "src/session.py").write_text("ttl = 15\n")
    git("add", ".")


def trace(call: Callable[[], Any]) -> tuple[int, int, int, int, int, int]:
    """Modules, packages, calls, changes of module and of package; modules of UBP imported."""
    path: list[str] = []

    def profile(frame: FrameType, event: str, _: object) -> None:
        file = frame.f_code.co_filename
        is_function = event == "call" and frame.f_code.co_name != "<module>"
        if is_function and file.startswith(f"{PACKAGE}{os.sep}"):
            path.append(file[len(str(PACKAGE)) + 1 :])

    sys.setprofile(profile)
    try:
        call()
    finally:
        sys.setprofile(None)
    packages = [file.split(os.sep)[0] for file in path]
    return (
        len(set(path)),
        len(set(packages)),
        len(path),
        sum(before != after for before, after in pairwise(path)),
        sum(before != after for before, after in pairwise(packages)),
        sum(name.split(".")[0] == "ubp" for name in sys.modules),
    )


def trace_tool(name: str) -> tuple[int, int, int, int, int, int]:
    """The second call of a tool, by its table and an open workspace, as a server makes it."""
    from ubp.server.tools.registry import select_tools
    from ubp.server.tools.tool import call_tool
    from ubp.workspace import Workspace

    (tool,) = select_tools(tools=[name])
    with Workspace.open(".") as workspace:
        call_tool(tool, workspace, {"query": "token"})
        return trace(lambda: call_tool(tool, workspace, {"query": "token"}))


def measure(call: tuple[str, ...]) -> str:
    """A row of the table: the same call, traced in a process of its own."""
    done = subprocess.run(
        [sys.executable, __file__, *call], capture_output=True, text=True, check=True
    )
    name = f"`ubp {' '.join(call)}`" if call[0] != "MCP" else f"MCP `{call[1]}`, warm"
    return f"| {name} | {done.stdout.strip()} |"


def prepare(call: tuple[str, ...], nowhere: TextIO) -> None:
    """Build the index with the same call, or with one that leaves it to do; make a proposal."""
    if call[0] == "MCP":
        return
    first = [word for word in call if word != "--write"]
    if call[0] == "proposals":
        subprocess.run(["git", "commit", "-qm", "Change"], check=True)
        propose()
        first = ["proposals"]
    program = [sys.executable, "-m", "ubp", *first]
    subprocess.run(program, stdout=nowhere, stderr=nowhere, check=False)


def propose() -> None:
    """Propose an edit of a page, as an agent does."""
    from ubp.edits.model import Agent
    from ubp.server.tools.registry import select_tools
    from ubp.server.tools.tool import call_tool
    from ubp.workspace import Workspace

    (tool,) = select_tools(tools=["ubp_update_page"])
    blob = subprocess.check_output(["git", "rev-parse", "HEAD:docs/login.md"], text=True).strip()
    edit = {"filepath": "docs/login.md", "content": "# Login\n", "reason": "Shorter."}
    with Workspace.open(".") as workspace:
        agent = Agent("call_paths", "1")
        call_tool(tool, workspace, {**edit, "expected_blob": blob}, agent=agent)


def run(call: tuple[str, ...]) -> None:
    """Trace one call in a new repository, and print the figures."""
    with tempfile.TemporaryDirectory() as folder:
        make_repository(Path(folder))
        os.chdir(folder)
        with open(os.devnull, "w", encoding="utf-8") as nowhere, redirect_stdout(nowhere):
            prepare(call, nowhere)
            figures = trace(lambda: main(list(call))) if call[0] != "MCP" else trace_tool(call[1])
        os.chdir("/")
    print(" | ".join(f"{figure:,}" for figure in figures))


if __name__ == "__main__":
    if sys.argv[1:]:
        run(tuple(sys.argv[1:]))
    else:
        print("| call | modules | packages | calls | module changes | package changes | imported |")
        print("|---|---|---|---|---|---|---|")
        for arguments in CALLS:
            print(measure(arguments))
