"""Fit the weights of `ubp.bindings.features`, leaving one repository out at a time to judge them.

    python benchmarks/bindings/bind_weights.py CLONE=KEY[,KEY…] …      (needs numpy)

A logistic regression; each repository weighs the same, each page within it too. Evidence never
counts against a source: a weight that came out below zero is put to zero and the rest fitted again
(what a source *is*, a test or a hub, may). The penalty draws each weight to PRIOR, not to zero: of
five repositories one alone may be where a kind of evidence occurs at all. Where that is so it is
not fitted by itself: a source that names the page weighs what a path in the page does. A few are
held by hand.

What is predicted of the repositories that were left out tells how sure a score really is: by two
numbers, the scale and the shift of its logarithm of odds. What is printed is with those in use.
"""

import sys
from collections.abc import Sequence

import numpy as np

from benchmarks.bindings.bind_recovery import (
    HEAD,
    PROTOCOLS,
    Recovered,
    Set,
    bins,
    mean,
    odds_of,
    read_sets,
    recover,
    row,
    table,
)
from ubp.bindings.features import KINDS, MIN_CONFIDENCE, Signals

PENALTY, FIRM = 0.03, 1e4
ROUNDS = 20
PRIOR = 1.0
# A bare file name is a manifest's most often: in one repository it misleads (0.25 right first when
# it is left out, with the 2.3 that the others fit; 0.44 with this), elsewhere it changes nothing.
# Pages without history weigh what the fit gives when all history is taken away.
HELD = {"name": 0.5, "without_history": 0.5}
FIRST_ABOUT_SOURCES = Signals._fields.index("is_test")
ALL_OF, RARE = 40, 8
# What is less likely than one in fifty is not proposed at all.
LEAST_ODDS = -4.0

Examples = tuple[np.ndarray, np.ndarray, np.ndarray]


def examples(labelled_set: Set) -> Examples:
    """Signals with a last 1 for the bias, whether right, and the weight of each.

    Of sources with hardly any evidence every eighth is taken, and counts eightfold. A file in a
    directory that is a label is neither right nor wrong.
    """
    rows, right, weights = [], [], []
    for protocol in PROTOCOLS:
        for page in labelled_set.pages:
            each = 1 / len(labelled_set.pages) / len(PROTOCOLS) / page.labels.count**0.5
            known, files, folders = page.signals[protocol], *page.labels[::2]
            ranked = sorted(known, key=lambda number: -sum(known[number][:FIRST_ABOUT_SOURCES]))
            for place, number in enumerate(ranked):
                is_right = number in files
                is_taken = is_right or place < ALL_OF or place % RARE == 0
                if is_taken and (is_right or not labelled_set.sources[number].startswith(folders)):
                    rows.append((*_as_path(known[number]), 1.0))
                    right.append(is_right)
                    weights.append(each if place < ALL_OF or is_right else each * RARE)
    return np.array(rows), np.array(right, float), np.array(weights)


def _as_path(said: Signals) -> Signals:
    return said._replace(path=1.0, path_most=1.0, link=0.0) if said.link else said


def fit(parts: Sequence[Examples]) -> tuple[Signals, float]:
    """The weights and the bias."""
    names = Signals._fields
    size = len(names) + 1
    usual = {name: PRIOR if name in KINDS else 0.0 for name in names}
    prior = np.array([HELD.get(name, usual[name]) for name in names] + [-6.0])
    penalty = np.array([FIRM if name in HELD else PENALTY for name in names] + [1e-6])
    free = np.ones(size, bool)
    weights = prior.copy()
    while True:
        weights[~free] = 0.0
        weights = _newton(parts, weights, prior, penalty, free)
        bad = [i for i, name in enumerate(names) if name in KINDS and free[i] and weights[i] < 0]
        if not bad:
            found = Signals(*map(float, weights[:-1]))
            return found._replace(link=found.path + found.path_most), float(weights[-1])
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


def calibrate(several: Sequence[Sequence[tuple[float, bool]]]) -> tuple[float, float]:
    """Scale and shift that make a logarithm of odds true; each of the repositories counts alike."""
    odds = np.concatenate([[proposal[0] for proposal in told] for told in several])
    right = np.concatenate([[float(proposal[1]) for proposal in told] for told in several])
    each = np.concatenate([[1 / len(told)] * len(told) for told in several])
    rows = np.stack([odds, np.ones(len(odds))], 1)
    kept = odds > LEAST_ODDS
    part = rows[kept], right[kept], each[kept]
    free, none = np.ones(2, bool), np.zeros(2)
    scale, shift = _newton([part], np.array([1.0, 0.0]), none, none, free)
    return float(scale), float(shift)


def main() -> None:
    """Print what is recovered of a repository by the weights of the others, and the weights."""
    sets = read_sets(sys.argv[1:])
    parts = [examples(labelled_set) for labelled_set in sets]
    fits = [
        fit([part for other, part in enumerate(parts) if other != number])
        for number in range(len(sets))
    ]
    told = {
        protocol: [
            list(odds_of(labelled_set, protocol, *found))
            for labelled_set, found in zip(sets, fits, strict=True)
        ]
        for protocol in PROTOCOLS
    }
    scale, shift = calibrate([*told["none"], *told["others"]])
    for protocol in PROTOCOLS:
        found = [
            recover(labelled_set, protocol, *weights, MIN_CONFIDENCE)
            for labelled_set, weights in zip(sets, fits, strict=True)
        ]
        _tell(f"left out, bound before: {protocol}", sets, found)
        print(bins([proposal for proposals in told[protocol] for proposal in proposals]))
        print(f"\nthe weights in use, bound before: {protocol}\n\n{table(sets, protocol)}")
    weights, bias = fit(parts)
    print(f"\nBIAS = {bias:.2f}\nSCALE, SHIFT = {scale:.2f}, {shift:.2f}")
    for name, weight in weights._asdict().items():
        print(f"    {name}={weight:.2f},")


def _tell(title: str, sets: Sequence[Set], found: Sequence[Recovered]) -> None:
    print(f"\n{title}\n\n{HEAD}")
    for labelled_set, rates in zip(sets, found, strict=True):
        print(row(labelled_set.name, rates))
    print(f"{row('mean', mean(found))}\n", flush=True)


if __name__ == "__main__":
    main()
