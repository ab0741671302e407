"""How well cosines agree with people: Spearman's rank correlation on pairs of sentences.

    python benchmarks/search/similarity.py [--model FOLDER_OR_ID] TSV...

Each line of a TSV is a score, a sentence, a sentence. The vectors are those that the index would
keep, a byte a number, beside those of the model itself and 16-bit floats.
"""

import argparse
import os
from pathlib import Path

import numpy as np

from benchmarks.common.measure import print_table
from ubp.index.embed.locate import find_model
from ubp.index.embed.model import Model, load_model
from ubp.index.embed.vectors import Matrix, quantize

RESAMPLES = 1000


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model")
    parser.add_argument("files", nargs="+", type=Path, metavar="TSV")
    arguments = parser.parse_args()
    model = load_model(find_model(arguments.model, os.environ))
    rows = [row(model, file) for file in arguments.files]
    print_table(
        f"Spearman, {model.name} (brackets: 95 % of {RESAMPLES} resamples)",
        ("set", "pairs", "as kept (int8)", "16-bit floats", "the model's own"),
        rows,
    )


def row(model: Model, file: Path) -> tuple[str, ...]:
    """One set."""
    lines = [line.split("\t") for line in file.read_text("utf-8").splitlines() if line]
    scores = np.array([float(score) for score, *_ in lines])
    sides = [model.encode([line[side] for line in lines]) for side in (1, 2)]
    found = []
    for store in (as_bytes, as_floats, lambda matrix: matrix):
        first, other = (store(side).rows for side in sides)
        found.append((first * other).sum(axis=1))
    low, high = interval(scores, found[0])
    kept, floats, own = (f"{spearman(scores, cosines):.4f}" for cosines in found)
    return file.name, str(len(lines)), f"{kept} ({low:.3f} to {high:.3f})", floats, own


def as_bytes(matrix: Matrix) -> Matrix:
    """What comes back from the index."""
    numbers = np.frombuffer(quantize(matrix), dtype=np.int8)
    return Matrix(numbers.reshape(matrix.rows.shape))


def as_floats(matrix: Matrix) -> Matrix:
    """What would come back if the index kept twice as much."""
    return Matrix(matrix.rows.astype(np.float16))


def spearman(first: np.ndarray, other: np.ndarray) -> float:
    """The correlation of the ranks, equal values sharing the mean of theirs."""
    return float(np.corrcoef(ranks(first), ranks(other))[0, 1])


def ranks(values: np.ndarray) -> np.ndarray:
    """The rank of each value."""
    _, places, counts = np.unique(values, return_inverse=True, return_counts=True)
    return (np.cumsum(counts) - (counts + 1) / 2)[places]


def interval(first: np.ndarray, other: np.ndarray) -> tuple[float, float]:
    """Within which the correlation lies in 95 of 100 resamples of the pairs."""
    generator = np.random.default_rng(7)
    samples = generator.integers(0, len(first), (RESAMPLES, len(first)))
    found = [spearman(first[sample], other[sample]) for sample in samples]
    return float(np.quantile(found, 0.025)), float(np.quantile(found, 0.975))


if __name__ == "__main__":
    main()
