"""Whether any write of tests/hostile/write_attacks.py gets through: all of them, one by one.

    python benchmarks/robustness/hostile_writes.py [--only WORDS]

Each is a call of a tool that proposes edits. It must be refused, or its proposal must change
nothing but its page, and every form of its review must show what it does and do nothing itself.
"""

import argparse
import sys
import tempfile
from collections import Counter
from pathlib import Path

from benchmarks.common.measure import print_table

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "hostile"))

from victim import Victim, isolate
from write_attacks import WRITES, judge, make_target


def main() -> None:
    """Make the writes, and exit with 1 if one gets through."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", default="", help="those whose names contain this")
    options = parser.parse_args()
    writes = [write for write in WRITES if options.only in write.name]
    through = []
    with tempfile.TemporaryDirectory() as folder:
        isolate(Path(folder))
        victim = Victim(Path(folder) / "target")
        make_target(victim)
        for write in writes:
            if fault := judge(victim, write):
                through.append(f"{write.name}: {str(write.arguments)[:200]}: {fault[:300]}")
            victim.answers.clear()
    counts = Counter((write.name, write.is_refused) for write in writes)
    rows = [
        (name, str(count), "refused" if is_refused else "shown, and harmless")
        for (name, is_refused), count in counts.items()
    ]
    print_table("Writes by agents", ("what is hostile", "writes", "must be"), rows)
    for line in through:
        print("GOT THROUGH ", line.encode("unicode_escape").decode())
    print(f"\n{len(writes)} writes, {len(through)} got through")
    sys.exit(bool(through))


if __name__ == "__main__":
    main()
