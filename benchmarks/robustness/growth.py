"""How CPU time grows with what a repository repeats: names, wikilinks, aliases and globs.

python benchmarks/robustness/growth.py [--size 1000]

Each shape is checked at once, twice and four times the size. Linear growth doubles at most, apart
from what every run costs. Exits 1 if the last step is more than threefold.
"""

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from benchmarks.common.measure import UBP, cost, print_table

MAX_GROWTH = 3.0  # of twice the size; the square would be fourfold

Files = dict[str, str]


def renamed_names(size: int) -> tuple[Files, Files]:
    """A page that names what a change renames."""
    names = [f"field_{number}_name" for number in range(size)]
    source = "".join(f"{name} = 1\n" for name in names)
    page = "# Fields\n\n" + "".join(f"`{name}`\n" for name in names)
    return {"src/fields.py": source, "docs/fields.md": page}, {
        "src/fields.py": source.replace("_name", "_title")
    }


def wikilinks(size: int) -> tuple[Files, Files]:
    """Pages of one name that are linked by it."""
    return {f"d{number}/x.md": "# X\n[[x]]\n" for number in range(size)}, {}


def aliases(size: int) -> tuple[Files, Files]:
    """Pages that share an alias, and are linked by it."""
    page = "---\naliases: [shared]\n---\n# P{0}\n[[shared]]\n"
    return {f"docs/p{number}.md": page.format(number) for number in range(size)}, {}


def globs(size: int) -> tuple[Files, Files]:
    """Pages with a glob each, and as many files in the folder that they search."""
    page = '---\nsource_refs:\n  - "src/*m{0}.py"\n---\n# P\n'
    pages = {f"docs/p{number}.md": page.format(number) for number in range(size)}
    return pages | {f"src/m{number}.py": f"x{number} = 1\n" for number in range(size)}, {}


SHAPES: tuple[Callable[[int], tuple[Files, Files]], ...] = (
    renamed_names,
    wikilinks,
    aliases,
    globs,
)


def measure(shape: Callable[[int], tuple[Files, Files]], size: int) -> float:
    """Return the CPU seconds of a check of a shape, from an empty index."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        git = ["git", "-C", folder, "-c", "user.name=Bench", "-c", "user.email=bench@example.com"]
        subprocess.run([*git, "init", "-q", "."], check=True)
        before, changes = shape(size)
        for files in (before, changes):
            for path, text in files.items():
                (root / path).parent.mkdir(parents=True, exist_ok=True)
                (root / path).write_text(text)
            subprocess.run([*git, "add", "--all"], check=True)
            subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "x"], check=True)
        base = ["--base", "HEAD^"] if changes else []  # a state is checked as a whole
        return cost([UBP, "check", *base], root).cpu_ms / 1000


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", type=int, default=1000)
    size = parser.parse_args().size
    rows, is_linear = [], True
    for shape in SHAPES:
        seconds = [measure(shape, size * factor) for factor in (1, 2, 4)]
        is_linear &= seconds[2] <= MAX_GROWTH * seconds[1]
        rows.append([shape.__name__, *(f"{value:.1f}" for value in seconds)])
    print_table("CPU seconds", ["shape", f"n = {size:,}", "2n", "4n"], rows)
    sys.exit(0 if is_linear else 1)


if __name__ == "__main__":
    main()
