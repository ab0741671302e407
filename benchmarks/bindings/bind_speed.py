"""How long `ubp bind` takes for 300 pages, 2,000 sources of 8 KB and 14,000 commits.

python benchmarks/bindings/bind_speed.py
"""

import random
import subprocess
import sys
import tempfile
from itertools import pairwise
from pathlib import Path

from benchmarks.common.measure import Shape, cost, generate, median, print_table

SHAPE = Shape(pages=300, references=3, sources=2_000, commits=14_000)
WORDS, WORDS_A_SOURCE, WORDS_A_PAGE = 40_000, 300, 120
ASK = """
from ubp.answers.bindings.bind import BindRequest
from ubp.workspace import Workspace
with Workspace.open(".") as workspace:
    workspace.ask(BindRequest(every=True))
"""


def main() -> None:
    """Print the table."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "long"
        generate(root, SHAPE)
        fill(root)
        command = [sys.executable, "-c", ASK]
        first = cost(command, root)
        again = median([cost(command, root) for _ in range(3)])
        figures = (first.cpu_ms, again.cpu_ms, first.peak_mb)
        print_table(
            "300 pages, 2,000 sources",
            ["first, CPU ms", "again", "peak MB"],
            [[f"{figure:.0f}" for figure in figures]],
        )


def fill(root: Path) -> None:
    """Give sources and pages text, in one commit more: few words are used much, most seldom."""
    chance = random.Random(7)
    words = [f"word_{number:x}_name" for number in range(WORDS)]
    often = [1 / (rank + 10) for rank in range(WORDS)]
    for number, source in enumerate((root / "src").rglob("*.py")):
        used = chance.choices(words, often, k=WORDS_A_SOURCE)
        lines = [
            f"def own_{number}_{place}(value):\n    return {name}({other})"
            for place, (name, other) in enumerate(pairwise(used))
        ]
        source.write_text("\n".join(lines[::2]))
    for page in root.rglob("*.md"):
        said = " ".join(f"`{word}`" for word in chance.choices(words, often, k=WORDS_A_PAGE))
        page.write_text(f"{page.read_text()}\n## More\n\n{said}\n")
    subprocess.run(
        ["git", "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qam", "Fill"],
        cwd=root,
        check=True,
    )


if __name__ == "__main__":
    main()
