"""Measure the hook where pages reference symbols: 300 references in 60 changed files of 312 lines.

Usage: symbol_hook.py [ROUNDS] [CHANGED]

Each round changes the first CHANGED (1) of the ten functions of every file, stages the files, and
runs `ubp stale --staged`; with -1 the last one, which no page references. The index knows HEAD, as
after any earlier run.
"""

import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

from benchmarks.common.measure import UBP, cost

FILES, FUNCTIONS, PAGES, SYMBOLS = 60, 10, 100, 3
STATEMENTS = 9


def source(file: int, value: int, changed: int) -> str:
    """Return a module; `value` is in the first functions, or with a negative number the last."""
    lines = ["import os", ""]
    numbers = range(FUNCTIONS)
    with_value = numbers[:changed] if changed >= 0 else numbers[changed:]
    for number in numbers:
        lines.append(f"def fn{number}(a, b, c={value if number in with_value else 0}):")
        lines.append(f'    """Return {file} {number}."""')
        for k in range(STATEMENTS):
            lines.append(f'    value{k} = compute(a, b + {k}, key="x{k}", other=[c, {k}])')
            lines += [f"    if value{k} > {k} and b:", f"        a.append(value{k})"]
        lines += ["    return a", ""]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Print the median of the rounds."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 9
    changed = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        git = ["git", "-c", "user.name=A", "-c", "user.email=a@example.com", "-C", name]

        def write(value: int) -> None:
            for file in range(FILES):
                (folder / f"src/m{file}.py").write_text(source(file, value, changed))
            subprocess.run([*git, "add", "--all"], check=True)

        for directory in ("src", "docs"):
            (folder / directory).mkdir()
        subprocess.run([*git, "init", "--quiet"], check=True)
        for page in range(PAGES):
            functions = [page // 20, *(page // 20 + 1 + k for k in range(1, SYMBOLS))]
            references = "".join(
                f"  - src/m{(page * SYMBOLS + k) % FILES}.py#fn{function}\n"
                for k, function in enumerate(functions)
            )
            text = f"---\nsource_refs:\n{references}---\n# Page {page}\n"
            (folder / f"docs/p{page}.md").write_text(text)
        write(0)
        subprocess.run([*git, "commit", "--quiet", "-m", "Begin"], check=True)
        cost([UBP, "stale"], folder)
        times = []
        for value in range(1, rounds + 1):
            write(value)
            times.append(cost([UBP, "stale", "--staged"], folder).cpu_ms)
    print(f"{median(times):.0f} ms of CPU (least {min(times):.0f}) in {rounds} rounds")


if __name__ == "__main__":
    main()
