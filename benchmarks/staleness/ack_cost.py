"""What `ubp ack` and its hook of commit messages cost: medians of CPU, beside bare Python.

    python benchmarks/staleness/ack_cost.py [--repeat 11]

In the repository of `stale_speed.py`: `ubp ack` of one stale page, and the prepare-commit-msg hook
where no reason is waiting.
"""

import argparse
import subprocess
import tempfile
from pathlib import Path

from benchmarks.common.measure import UBP, cost, generate, median, print_table
from benchmarks.staleness.stale_speed import BARE, WARM, reset, row


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeat", type=int, default=11)
    repeat = parser.parse_args().repeat
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "warm"
        generate(root, WARM)
        cost([UBP, "stale"], root)
        stale = subprocess.run([UBP, "stale", "-q"], cwd=root, capture_output=True, check=False)
        page = stale.stdout.decode().split(":")[0]
        message = root / ".git" / "MESSAGE"
        message.write_text("Reviewed\n")
        hook = ["ack", "--commit-message", str(message)]
        cases = [
            ("`ubp ack PAGE`", ["ack", page]),
            ("`ubp ack PAGE --reason WHY`", ["ack", page, "--reason", "a comment"]),
            ("hook, no reason is waiting", hook),
        ]
        rows = []
        for name, words in cases:
            costs, bare = [], []
            for _ in range(repeat):
                (root / ".git/ubp/reviewed.json").unlink(missing_ok=True)
                bare.append(cost(BARE, root))
                costs.append(cost([UBP, *words], root))
                reset(root)
            rows.append(row(name, median(costs), median(bare)))
    names = ["", "CPU ms", "of bare Python", "wall ms", "peak MB"]
    print_table("300 pages, 900 references, 2,000 sources, 300 commits", names, rows)


if __name__ == "__main__":
    main()
