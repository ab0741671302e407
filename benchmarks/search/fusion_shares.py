"""Which share of a score should words have, and does that hold for a set that had no say?

    python benchmarks/search/fusion_shares.py SET… [--queries 150] [--documents N]

Sets are as benchmarks/search/retrieval.py reads them. Told is, for each share that words have
beside meaning, the mean of Recall@5 and MRR@10 of hybrid search. Then each set is left out once:
the share that is best on the others is chosen, and what it gives on the set left out is held
against the share in use and against the best for that set, which nobody can know beforehand.
"""

import argparse
import tempfile
from collections import Counter
from pathlib import Path

import numpy as np
import numpy.typing as npt

from benchmarks.common.measure import print_table
from benchmarks.search.fusing import find
from benchmarks.search.retrieval import judge
from benchmarks.search.retrieval_data import Labelled, read_set, sample, write_repository
from ubp.search.fusion import WORDS_SHARE
from ubp.workspace import Workspace

SHARES = (0.2, 0.3, 0.4, 0.45, 0.5, 0.55, 0.6, 0.7, 0.8)


def main() -> None:
    """Print the table, and what leaving sets out tells."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("sets", nargs="+", type=Path)
    parser.add_argument("--queries", type=int, default=150)
    parser.add_argument("--documents", type=int, help="answers, and others up to so many")
    options = parser.parse_args()
    rows, means = [], []
    for folder in options.sets:
        means.append(measure(sample(read_set(folder), options.queries, options.documents)))
        name = "-".join(folder.resolve().parts[-2:])
        rows.append([name, *(f"{mean:.3f}" for mean in means[-1])])
        print(f"{name}: done", flush=True)
    table = np.array(means)
    rows.append(["mean", *(f"{mean:.4f}" for mean in table.mean(axis=0))])
    print_table("(Recall@5 + MRR@10) / 2", ["set", *map(str, SHARES)], rows)
    leave_out(table)


def measure(chosen: Labelled) -> list[float]:
    """What each share gives on a set."""
    with tempfile.TemporaryDirectory() as folder:
        write_repository(chosen.documents, Path(folder))
        paths = {document.id: document.path for document in chosen.documents}
        with Workspace.open(folder) as workspace:
            values = []
            for text, answers in chosen.answers.items():
                grades = {paths[document]: grade for document, grade in answers.items()}
                found = find(workspace, text)
                pages = [[page.path for page in found.fuse(words=share)] for share in SHARES]
                values.append([np.mean(judge(found_pages, grades)[:2]) for found_pages in pages])
    return [float(mean) for mean in np.array(values).mean(axis=0)]


def leave_out(table: npt.NDArray[np.float64]) -> None:
    """Choose without each set, and tell what that gives on it."""
    chosen = [
        int(np.delete(table, left, axis=0).mean(axis=0).argmax()) for left in range(len(table))
    ]
    counts = Counter(SHARES[number] for number in chosen).most_common()
    print(
        "\nChosen without one set:", ", ".join(f"{share} {times} times" for share, times in counts)
    )
    held = table[range(len(table)), chosen].mean()
    usual = table[:, SHARES.index(WORDS_SHARE)].mean()
    print(f"On the sets left out: {held:.4f}; with {WORDS_SHARE}: {usual:.4f};", end=" ")
    print(f"with the best share of each set: {table.max(axis=1).mean():.4f}")


if __name__ == "__main__":
    main()
