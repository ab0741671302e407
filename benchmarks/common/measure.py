"""What the benchmarks share: CPU and memory of a command, and generated repositories."""

import math
import os
import random
import shutil
import statistics
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from ubp.index.store.file import FILE_NAME

START = 1_600_000_000
UBP = str(Path(sys.executable).with_name("ubp"))


def index_of(root: Path) -> Path:
    """The index of a repository with its own `.git` folder; nothing else lies beside it."""
    return root / ".git" / "ubp" / FILE_NAME


def forget_index(root: Path) -> None:
    """Remove the index, so that the next run builds it from nothing."""
    shutil.rmtree(index_of(root).parent, ignore_errors=True)


class Cost(NamedTuple):
    """CPU (user and system, children too) and wall time in milliseconds, peak memory in MB."""

    cpu_ms: float
    wall_ms: float
    peak_mb: float


def cost(
    command: Sequence[str], cwd: Path, ok: Sequence[int] = (0, 1), stdin: Path | None = None
) -> Cost:
    """Run a command once, its output thrown away."""
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    begun = os.times().elapsed
    with (
        open(stdin or os.devnull, "rb") as file,
        subprocess.Popen(
            command,
            cwd=cwd,
            env=environment,
            stdin=file,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        ) as process,
    ):
        errors = process.stderr.read() if process.stderr else b""
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in ok:
        raise SystemExit(f"{' '.join(command)}: exit {process.returncode}\n{errors.decode()}")
    wall = (os.times().elapsed - begun) * 1000
    return Cost((usage.ru_utime + usage.ru_stime) * 1000, wall, usage.ru_maxrss / 1024)


def median(costs: Sequence[Cost]) -> Cost:
    """The median of each column."""
    return Cost(*(statistics.median(column) for column in zip(*costs, strict=True)))


class Shape(NamedTuple):
    """How large a generated repository is; `churn` files change in each commit after the first."""

    pages: int
    references: int  # a page
    sources: int
    commits: int
    churn: int = 2


def generate(root: Path, shape: Shape, seed: int = 7) -> None:
    """Write a repository with `git fast-import`: the same one for the same shape and seed.

    Pages are rewritten now and then in the commit that changes one of their sources, so that
    most are fresh and some have drifted, as in a repository that somebody looks after.
    """
    root.mkdir(parents=True)
    subprocess.run(["git", "init", "-q", "-b", "main", "."], cwd=root, check=True)
    chance = random.Random(seed)
    stream = bytearray()
    sources = [f"src/pkg{n % 40:02}/module_{n:05}.py" for n in range(shape.sources)]
    bound = {n: chance.sample(sources, shape.references) for n in range(shape.pages)}
    users: dict[str, list[int]] = {}
    for page, named in bound.items():
        for source in named:
            users.setdefault(source, []).append(page)
    _commit(
        stream,
        0,
        [(s, f"# {s}\nvalue = 0\n") for s in sources]
        + [(f"docs/area{n % 20:02}/page_{n:04}.md", _page(n, bound[n], 0)) for n in bound],
    )
    for number in range(1, shape.commits):
        changed = chance.sample(sources, shape.churn)
        files = [(s, f"# {s}\nvalue = {number}\n") for s in changed]
        for source in changed:
            if chance.random() < 0.7:
                files += [
                    (f"docs/area{n % 20:02}/page_{n:04}.md", _page(n, bound[n], number))
                    for n in users.get(source, ())
                ]
        _commit(stream, number, files)
    subprocess.run(["git", "fast-import", "--quiet"], cwd=root, input=bytes(stream), check=True)
    subprocess.run(["git", "reset", "-q", "--hard"], cwd=root, check=True)
    subprocess.run(["git", "config", "user.name", "Bench"], cwd=root, check=True)
    subprocess.run(["git", "config", "user.email", "bench@example.com"], cwd=root, check=True)


def _page(number: int, sources: Sequence[str], version: int) -> str:
    references = "".join(f"  - {source}\n" for source in sources)
    body = "Some words about the module and how it is used.\n" * 30
    front_matter = f"---\ntitle: Page {number}\nsource_refs:\n{references}---\n"
    return f"{front_matter}# Page {number}\n\nVersion {version}.\n\n{body}"


def _commit(stream: bytearray, number: int, files: Sequence[tuple[str, str]]) -> None:
    message = f"Commit {number}"
    stream += b"commit refs/heads/main\n"
    stream += f"committer Bench <bench@example.com> {START + number * 3600} +0000\n".encode()
    stream += f"data {len(message)}\n{message}\n".encode()
    for path, text in dict(files).items():
        data = text.encode()
        stream += f"M 100644 inline {path}\ndata {len(data)}\n".encode() + data + b"\n"


def wilson(right: int, total: int) -> tuple[float, float]:
    """Return the 95 % interval of a share."""
    if not total:
        return 0.0, 1.0
    z = 1.96
    share, weight = right / total, 1 + z * z / total
    middle = (share + z * z / (2 * total)) / weight
    width = z * math.sqrt(share * (1 - share) / total + z * z / (4 * total * total)) / weight
    return middle - width, middle + width


def print_table(title: str, header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a Markdown table."""
    print(f"\n{title}\n")
    print("| " + " | ".join(header) + " |")
    print("|" + "---|" * len(header))
    for row in rows:
        print("| " + " | ".join(row) + " |")
