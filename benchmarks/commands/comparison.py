"""Which of ten planted defects each documentation tool finds, in one small repository.

    python benchmarks/commands/comparison.py [--mkdocs PROGRAM] [--markdownlint PROGRAM]
        [--remark PROGRAM] [--docrot PROGRAM] [--staledocs PROGRAM]

A program that is not named is not run. Each is run once over the whole repository, with the options
in `TOOLS`; staledocs is first told that each page describes the source that UBP's page lists, and
that all is well, by its own `init` and `ack`. A defect counts as found where one line of the output
has both the page's name and the word in `DEFECTS`.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from benchmarks.common.measure import print_table


class Defect(NamedTuple):
    """What is wrong, on which page, and a word that a report of it contains."""

    text: str
    page: str
    word: str


class Tool(NamedTuple):
    """A program, and the calls whose output is read."""

    name: str
    calls: tuple[tuple[str, ...], ...]


DEFECTS = (
    Defect("link to a page that does not exist", "links.md", "gone.md"),
    Defect("link to a heading that another page does not have", "links.md", "lifetime"),
    Defect("link to a heading that the page itself does not have", "links.md", "no-such-part"),
    Defect("`[[WikiLink]]` to a page that does not exist", "links.md", "Missing Page"),
    Defect("option that the last commit removed, in a code span", "options.md", "--retry-limit"),
    Defect("function that the last commit renamed", "api.md", "close_session"),
    Defect("value that the last commit changed, in prose", "sessions.md", "session.py"),
    Defect("file that the last commit deleted, in prose", "files.md", "legacy.py"),
    Defect("heading that skips a level", "style.md", "MD001"),
    Defect("list with two markers", "style.md", "MD004"),
)
TOOLS = (
    Tool("ubp", (("check",), ("check", "--base", "HEAD~1"))),
    Tool("mkdocs", (("build", "--strict", "--site-dir", "{folder}/site"),)),
    Tool("markdownlint", (("docs/*.md",),)),
    Tool(
        "remark",
        (("--no-color", "--use", "{modules}/remark-validate-links/index.js", "--quiet", "docs"),),
    ),
    Tool("docrot", (("check",),)),
    Tool("staledocs", (("check",), ("explain",))),
)
BEFORE = {
    "mkdocs.yml": "site_name: Sample\nvalidation:\n  anchors: warn\n",
    "pyproject.toml": '[project]\nname = "acme"\nversion = "1"\n',
    "src/acme/__init__.py": "",
    "src/acme/session.py": (
        "TTL_MINUTES = 30\n\n\ndef open_session(user):\n    return user\n\n\n"
        "def close_session(session):\n    return session\n"
    ),
    "src/acme/cli.py": (
        "import argparse\n\n\ndef parse():\n    parser = argparse.ArgumentParser()\n"
        '    parser.add_argument("--retry-limit", type=int)\n'
        '    parser.add_argument("--verbose", action="store_true")\n    return parser\n'
    ),
    "src/acme/legacy.py": "def old():\n    return 1\n",
    "docs/index.md": "# Sample\n\nSee [links](links.md), [options](options.md).\n",
    "docs/links.md": (
        "# Links\n\nA [page](gone.md), a [part](sessions.md#lifetime), [below](#no-such-part),"
        " [[Missing Page]].\n"
    ),
    "docs/options.md": "# Options\n\nUse `--retry-limit 3` on bad networks, `--verbose` for all.\n",
    "docs/api.md": "# API\n\n`open_session` begins a session, `close_session` ends it.\n",
    "docs/sessions.md": "# Sessions\n\n## How long\n\nA session lives for 30 minutes.\n",
    "docs/files.md": "# Files\n\nOld clients use `src/acme/legacy.py`.\n",
    "docs/style.md": "# Style\n\n### Deep\n\n- one\n\n* two\n",
}
BOUND = {"docs/sessions.md": "src/acme/session.py"}


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for tool in TOOLS[1:]:
        parser.add_argument(f"--{tool.name}", type=Path, metavar="PROGRAM")
    given = vars(parser.parse_args())
    found = {}
    for tool in TOOLS:
        program = Path(sys.executable).with_name("ubp") if tool.name == "ubp" else given[tool.name]
        if program is not None:
            with tempfile.TemporaryDirectory() as folder:
                found[tool.name] = run(tool, program.absolute(), Path(folder))
    rows = [(d.text, *("yes" if d in found[name] else "" for name in found)) for d in DEFECTS]
    print_table("Planted defects that are found", ("defect", *found), rows)


def run(tool: Tool, program: Path, folder: Path) -> set[Defect]:
    """Return the defects that a tool names."""
    root = folder / "sample"
    make(root)
    if tool.name == "staledocs":
        pair_pages(root, program)
    change(root)
    lines: list[str] = []
    for arguments in tool.calls:
        modules = program.parent.parent  # where npm puts a package's programs: node_modules/.bin
        words = [argument.format(folder=folder, modules=modules) for argument in arguments]
        lines += named_lines(call(root, str(program), *words))
    return {defect for defect in DEFECTS if any(names(line, defect) for line in lines)}


def call(root: Path, *command: str | Path) -> str:
    """Return what a program prints in the repository, whatever its exit status."""
    done = subprocess.run(
        command, cwd=root, env=environment(), capture_output=True, text=True, check=False
    )
    return done.stdout + done.stderr


def named_lines(output: str) -> Iterator[str]:
    """Yield each line, with the last line before it that ends with a page's path."""
    heading = ""
    for line in output.splitlines():
        if re.search(r"^\S.*\.md(?: +\[\w+\])?$|^\S+\.md$", line):
            heading = line
        yield f"{heading} {line}"


def names(line: str, defect: Defect) -> bool:
    """Return whether a line reports a defect."""
    return defect.page in line and defect.word in line


def make(root: Path) -> None:
    """Make the repository as it was before the last commit."""
    for path, text in BEFORE.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        source = BOUND.get(path)
        front = f"---\nsource_refs:\n  - {source}\n---\n\n" if source else ""
        (root / path).write_text(front + text, encoding="utf-8")
    git(root, "init", "--quiet")
    git(root, "remote", "add", "origin", "https://github.com/acme/acme.git")  # remark asks for it
    commit(root, "Begin")


def change(root: Path) -> None:
    """Remove an option, rename a function, change a value and delete a file."""
    session, command = root / "src/acme/session.py", root / "src/acme/cli.py"
    text = session.read_text(encoding="utf-8").replace("close_session", "end_session")
    session.write_text(text.replace("= 30", "= 15"), encoding="utf-8")
    kept = [line for line in command.read_text().splitlines(keepends=True) if "retry" not in line]
    command.write_text("".join(kept), encoding="utf-8")
    (root / "src/acme/legacy.py").unlink()
    commit(root, "Change")


def pair_pages(root: Path, program: Path) -> None:
    """Pair the bound pages with their sources for staledocs, and acknowledge them."""
    pairs = [{"doc": page, "code": [source]} for page, source in BOUND.items()]
    others = [path for path in BEFORE if path.startswith("docs/") and path not in BOUND]
    settings = {
        "version": 1,
        "gate": "strict",
        "source": {"include": ["src/**"]},
        "docs": {"include": ["docs/**"]},
        "pairs": pairs,
        "standalone": others,
    }
    (root / ".staledocs.yaml").write_text(json.dumps(settings), encoding="utf-8")
    commit(root, "Pair pages")
    ack = [program, "ack", *BOUND]
    asked = call(root, *ack)
    token = re.search(r"--confirm (\w+)", asked)
    if token is None:
        raise SystemExit(f"staledocs asked for no confirmation: {asked}")
    note = f"read {' '.join(BOUND)}"
    confirm = [*ack, "--confirm", token[1], "-m", note]
    subprocess.run(confirm, cwd=root, env=environment(), check=True, capture_output=True)
    commit(root, "Acknowledge")


def environment() -> dict[str, str]:
    """Return the environment of all programs."""
    author = {"GIT_AUTHOR_NAME": "Ann", "GIT_AUTHOR_EMAIL": "ann@example.org"}
    committer = {"GIT_COMMITTER_NAME": "Ann", "GIT_COMMITTER_EMAIL": "ann@example.org"}
    return {**os.environ, **author, **committer, "NO_COLOR": "1"}


def commit(root: Path, subject: str) -> None:
    """Commit everything."""
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "--allow-empty", "--message", subject)


def git(root: Path, *words: str) -> None:
    """Run git."""
    subprocess.run(["git", *words], cwd=root, env=environment(), check=True, capture_output=True)


if __name__ == "__main__":
    main()
