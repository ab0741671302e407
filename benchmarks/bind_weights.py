"""Fit the weights of `ubp.binding.weighing`, leaving one repository out at a time to judge them.

    python benchmarks/bind_weights.py CLONE=KEY[,KEY…] …      (needs numpy)

A logistic regression; each repository weighs the same, each page within it too. Evidence never
counts against a source: a weight that came out below zero is put to zero and the rest fitted again
(what a source *is*, a test or a hub, may). The penalty draws each weight to PRIOR, not to zero: of
five repositories one alone may be where a kind of evidence occurs at all.
"""

import sys
from collections.abc import Sequence

import numpy as np
from bind_recovery import HEAD, PROTOCOLS, Recovered, Set, mean, read_sets, recover, row

from ubp.binding.signals import Signals
from ubp.binding.suggestion import MIN_CONFIDENCE
from ubp.binding.weighing import KINDS

PENALTY = 0.03
ROUNDS = 20
PRIOR = 1.0
FIRST_ABOUT_SOURCES = Signals._fields.index("is_test")
ALL_OF, RARE = 40, 8

Examples = tuple[np.ndarray, np.ndarray, np.ndarray]


def examples(one: Set) -> Examples:
    """Signals with a last 1 for the bias, whether right, and the weight of each.

    Of what hardly anything speaks for every eighth is taken, and counts eightfold. A file in a
    directory that is a label is neither right nor wrong. A newcomer's pages are read without a
    model, the others with one.
    """
    rows, right, weights = [], [], []
    for protocol in PROTOCOLS:
        for page in one.pages:
            each = 1 / len(one.pages) / len(PROTOCOLS) / page.labels.count**0.5
            known, files, folders = page.signals[protocol], *page.labels[::2]
            ranked = sorted(known, key=lambda number: -sum(known[number][:FIRST_ABOUT_SOURCES]))
            for place, number in enumerate(ranked):
                is_right = number in files
                is_taken = is_right or place < ALL_OF or place % RARE == 0
                if is_taken and (is_right or not one.sources[number].startswith(folders)):
                    said = known[number]
                    heard = said._replace(meaning=0.0) if protocol == "none" else said
                    rows.append((*heard, 1.0))
                    right.append(is_right)
                    weights.append(each if place < ALL_OF or is_right else each * RARE)
    return np.array(rows), np.array(right, float), np.array(weights)


def fit(parts: Sequence[Examples]) -> tuple[Signals, float]:
    """The weights and the bias."""
    names = Signals._fields
    size = len(names) + 1
    prior = np.array([PRIOR if name in KINDS else 0.0 for name in names] + [-6.0])
    penalty = np.array([PENALTY] * len(names) + [1e-6])
    free = np.ones(size, bool)
    weights = prior.copy()
    while True:
        weights[~free] = 0.0
        weights = _newton(parts, weights, prior, penalty, free)
        bad = [i for i, name in enumerate(names) if name in KINDS and free[i] and weights[i] < 0]
        if not bad:
            return Signals(*map(float, weights[:-1])), float(weights[-1])
        free[min(bad, key=lambda i: weights[i])] = False


def _newton(
    parts: Sequence[Examples],
    weights: np.ndarray,
    prior: np.ndarray,
    penalty: np.ndarray,
    free: np.ndarray,
) -> np.ndarray:
    weights = weights.copy()
    for _ in range(ROUNDS):
        gradient = (penalty * (weights - prior))[free]
        curvature = np.diag(penalty[free])
        for rows, right, weight in parts:
            chance = 1 / (1 + np.exp(-np.clip(rows @ weights, -30, 30)))
            some = rows[:, free]
            gradient = gradient + some.T @ (weight * (chance - right))
            curvature = curvature + (some * (weight * chance * (1 - chance))[:, None]).T @ some
        step = np.linalg.solve(curvature, gradient)
        weights[free] -= np.clip(step, -1, 1)  # a full one may overshoot
        if abs(step).max() < 1e-4:  # no digit that is shown changes
            break
    return weights


def main() -> None:
    """Print what is recovered of a repository by the weights of the others, and the weights."""
    sets = read_sets(sys.argv[1:])
    parts = [examples(one) for one in sets]
    left_out: dict[str, list[Recovered]] = {protocol: [] for protocol in PROTOCOLS}
    for number, one in enumerate(sets):
        weights, bias = fit([part for other, part in enumerate(parts) if other != number])
        for protocol in PROTOCOLS:
            left_out[protocol].append(recover(one, protocol, weights, bias, MIN_CONFIDENCE))
    for protocol, found in left_out.items():
        print(f"\nleft out, bound before: {protocol}\n\n{HEAD}")
        for one, rates in zip(sets, found, strict=True):
            print(row(one.name, rates))
        print(row("mean", mean(found)), flush=True)
    weights, bias = fit(parts)
    print(f"\nBIAS = {bias:.2f}")
    for name, weight in weights._asdict().items():
        print(f"    {name}={weight:.2f},")


if __name__ == "__main__":
    main()
