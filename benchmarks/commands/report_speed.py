"""How long `ubp report --html` takes and how large its file is: CPU, beside `ubp stale`.

python benchmarks/commands/report_speed.py [--repeat 5] [PATH [--key NAME …]]
"""

import argparse
import tempfile
from pathlib import Path

from benchmarks.common.measure import (
    UBP,
    Cost,
    Shape,
    cost,
    forget_index,
    generate,
    median,
    print_table,
)

SHAPES = {
    "1,000 pages, 3,000 references, 2,000 commits": Shape(1000, 3, 3000, 2000),
    "1,000 pages, 3,000 references, 200 commits of 30 files": Shape(1000, 3, 3000, 200, churn=30),
}
WRITE = ["report", "--html", "report.html", "--quiet"]
CASES = (
    ("`ubp stale`", ["stale"]),
    ("`ubp report`, no file", ["report"]),
    ("`ubp report --html`", WRITE),
    ("`ubp report --html --commits 1`", [*WRITE, "--commits", "1"]),
    ("`ubp report --html --commits 60`", [*WRITE, "--commits", "60"]),
    ("`ubp badge`", ["badge"]),
)


def main() -> None:
    """Print a table for each repository."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("path", nargs="?", help="a clone to measure instead of generated ones")
    parser.add_argument("--key", action="append", default=[])
    parser.add_argument("--repeat", type=int, default=5)
    options = parser.parse_args()
    keys = [word for key in options.key for word in ("--key", key)]
    if options.path:
        measure(options.path, Path(options.path), options.repeat, keys)
        return
    with tempfile.TemporaryDirectory() as folder:
        for number, (title, shape) in enumerate(SHAPES.items()):
            root = Path(folder) / str(number)
            generate(root, shape)
            measure(title, root, options.repeat, keys)


def measure(title: str, root: Path, repeat: int, keys: list[str]) -> None:
    """The first run, which learns everything, and the median of later ones."""
    forget_index(root)
    rows = [row("first `ubp report --html`", cost([UBP, *WRITE, *keys], root), root)]
    for name, words in CASES:
        costs = [cost([UBP, *words, *keys], root) for _ in range(repeat)]
        rows.append(row(name, median(costs), root if "html" in name else None))
    (root / "report.html").unlink()
    print_table(title, ["", "CPU s", "wall s", "peak MB", "file MB"], rows)


def row(name: str, value: Cost, root: Path | None) -> list[str]:
    """One line of a table."""
    size = f"{(root / 'report.html').stat().st_size / 1e6:.2f}" if root else ""
    times = (f"{value.cpu_ms / 1000:.2f}", f"{value.wall_ms / 1000:.2f}")
    return [name, *times, f"{value.peak_mb:.0f}", size]


if __name__ == "__main__":
    main()
