"""Train a static embedding model further on a thesaurus and on pairs of texts.

    nice python benchmarks/model/train.py PAIRS.tsv OUT --model FOLDER [--seeds 1 2 3 4]

PAIRS.tsv is what `gather.py` writes; OUT is a folder for `model.safetensors`, FOLDER the model that
learns: the one before this training (README.md). Every vector of a token is a parameter; a text is
the mean of its tokens' vectors, of length 1. A step draws groups of the thesaurus, sections and
other pairs, and Adam brings the two texts of a pair nearer to each other than to the other texts of
the batch (InfoNCE in both directions). What is written, as int8, lies between the model that learns
and the mean of the models of all seeds, 0.7 of the way: so it keeps more of what it could.
Needs torch (`pip install torch`), which is not a dependency of UBP; a seed takes 134 to 137 seconds
of one core for 1,500 steps. Prints the loss and how far the vectors moved.
"""

import argparse
import json
import re
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from safetensors.numpy import load_file, save_file
from tokenizers import Tokenizer
from torch.nn.functional import cross_entropy, embedding_bag, normalize

ROOT = Path(__file__).parents[2]
THESAURUS = ROOT / "benchmarks/data/thesaurus.txt"
MOST_TOKENS = 72  # of a text
SHARE_ACROSS = 0.35  # of groups with both languages, that give an English and a Japanese phrase
SAME = 0.75  # cosine in the first model above which two groups do not repel each other
WARM_UP = 100  # steps until the learning rate is reached; it then falls to 0
LEAST_RATE = 1e-4
DECAY, DECAY_OF_SQUARES, EPSILON = 0.9, 0.999, 1e-8  # Adam
FAR = -1e4  # what a pair that is masked has instead of its cosine
LARGEST = 127  # of int8
LARGEST_TO_CLIP = 140  # above, all vectors are scaled instead, but for a share of the numbers
KEPT_PERCENT = 99.95  # of the numbers, which are not clipped then
STEPS_SHOWN = 500


class Texts:
    """The tokens of many texts in one array, and where those of each begin."""

    def __init__(self, tokenizer: Tokenizer, unknown: int | None, texts: Sequence[str]) -> None:
        encodings = tokenizer.encode_batch_fast(list(texts), add_special_tokens=False)
        known = [[token for token in each.ids if token != unknown] or [0] for each in encodings]
        known = [tokens[:MOST_TOKENS] for tokens in known]
        self._lengths = np.array([len(tokens) for tokens in known])
        self._starts = np.concatenate([[0], np.cumsum(self._lengths)[:-1]])
        self._tokens = np.concatenate([np.array(tokens) for tokens in known]).astype(np.int64)

    def take(self, rows: np.ndarray) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the tokens of these texts one after the other, and where each text begins."""
        lengths = self._lengths[rows]
        begins = np.concatenate([[0], np.cumsum(lengths)[:-1]])
        places = np.repeat(self._starts[rows] - begins, lengths) + np.arange(lengths.sum())
        return torch.from_numpy(self._tokens[places]), torch.from_numpy(begins.astype(np.int64))


class Batch(NamedTuple):
    """Pairs of a step: the texts of each side, and which of the others are not its opposites."""

    first: tuple[torch.Tensor, torch.Tensor]
    second: tuple[torch.Tensor, torch.Tensor]
    mask: torch.Tensor | None  # None: what the first model says


class Pairs:
    """Pairs of texts, of which those with the same first text do not repel each other."""

    def __init__(self, tokenizer: Tokenizer, unknown: int | None, rows: list[list[str]]) -> None:
        self._first = Texts(tokenizer, unknown, [first for first, *_ in rows])
        self._second = Texts(tokenizer, unknown, [second for _, second, *_ in rows])
        numbers: dict[str, int] = {}
        self._keys = np.array([numbers.setdefault(row[0].lower(), len(numbers)) for row in rows])

    def draw(self, chance: np.random.Generator, count: int) -> Batch:
        """Return `count` of the pairs."""
        rows = chance.choice(len(self._keys), count, replace=False)
        keys = self._keys[rows]
        mask = torch.from_numpy(keys[:, None] == keys[None, :])
        mask.fill_diagonal_(False)  # noqa: FBT003 - torch takes the value by position alone
        return Batch(self._first.take(rows), self._second.take(rows), mask)


class Groups:
    """Groups of phrases that mean the same, the English ones of each before the Japanese."""

    def __init__(self, tokenizer: Tokenizer, unknown: int | None, lines: Sequence[str]) -> None:
        phrases: list[str] = []
        groups = []
        for english, japanese in map(read_line, dict.fromkeys(lines)):
            if len(english) + len(japanese) > 1:
                groups.append((len(phrases), len(english), len(japanese)))
                phrases += english + japanese
        self._texts = Texts(tokenizer, unknown, phrases)
        self._groups = np.array(groups)

    def draw(self, chance: np.random.Generator, count: int) -> Batch:
        """Return two phrases of each of `count` groups.

        They are of two languages for a part of the groups that have both; otherwise two of the
        English ones, or any two where there are fewer than two of these.
        """
        count = min(count, len(self._groups))
        rows = chance.choice(len(self._groups), count, replace=False)
        start, english, japanese = self._groups[rows].T
        across = (japanese > 0) & (english > 0) & (chance.random(count) < SHARE_ACROSS)
        among = np.where(english > 1, english, english + japanese)
        first = np.where(
            across,
            (chance.random(count) * english).astype(int),
            (chance.random(count) * among).astype(int),
        )
        other = (chance.random(count) * (among - 1)).astype(int)
        other += other >= first
        foreign = english + (chance.random(count) * np.maximum(japanese, 1)).astype(int)
        second = np.where(across, foreign, other)
        swapped = chance.random(count) < 0.5
        first, second = np.where(swapped, second, first), np.where(swapped, first, second)
        return Batch(self._texts.take(start + first), self._texts.take(start + second), None)


def read_line(line: str) -> tuple[list[str], list[str]]:
    """Return the English and the Japanese phrases of a line of the thesaurus."""
    english, _, japanese = line.strip().partition("|")
    sides = english.split(";"), re.split("[;\uff1b]", japanese)
    first, other = ([phrase.strip() for phrase in side if phrase.strip()] for side in sides)
    return first, other


class Sets(NamedTuple):
    """What is learned from."""

    groups: Groups
    sections: Pairs
    others: Pairs

    def draw(self, chance: np.random.Generator, options: argparse.Namespace) -> list[Batch]:
        """Return the pairs of a step."""
        return [
            self.groups.draw(chance, options.groups),
            self.sections.draw(chance, options.sections),
            self.others.draw(chance, options.others),
        ]


def read_sets(options: argparse.Namespace) -> Sets:
    """Return the tokens of the thesaurus and of the pairs."""
    file = options.model / "tokenizer.json"
    tokenizer = Tokenizer.from_file(str(file))
    unknown = json.loads(file.read_text("utf-8"))["model"].get("unk_id")
    lines = options.thesaurus.read_text("utf-8").split("\n")
    with options.pairs.open(encoding="utf-8") as pairs:
        rows = [line.rstrip("\n").split("\t") for line in pairs]
    is_section = [row[-1] == "section" for row in rows]
    of_sections = [row for row, is_one in zip(rows, is_section, strict=True) if is_one]
    of_others = [row for row, is_one in zip(rows, is_section, strict=True) if not is_one]
    return Sets(
        Groups(tokenizer, unknown, lines),
        Pairs(tokenizer, unknown, of_sections),
        Pairs(tokenizer, unknown, of_others),
    )


class Adam:
    """The optimizer; only the vectors of the tokens in a batch move, and only their moments."""

    def __init__(self, vectors: torch.Tensor) -> None:
        self._mean = torch.zeros_like(vectors)
        self._squares = torch.zeros_like(vectors)
        self._steps = 0

    def steps(self, tokens: torch.Tensor, gradient: torch.Tensor, rate: float) -> torch.Tensor:
        """Return by how much the vectors of these tokens are to be reduced."""
        self._steps += 1
        mean = self._mean[tokens].mul_(DECAY).add_(gradient, alpha=1 - DECAY)
        squares = self._squares[tokens].mul_(DECAY_OF_SQUARES)
        squares = squares.addcmul_(gradient, gradient, value=1 - DECAY_OF_SQUARES)
        self._mean[tokens], self._squares[tokens] = mean, squares
        roots = (squares / (1 - DECAY_OF_SQUARES**self._steps)).sqrt() + EPSILON
        return rate * (mean / (1 - DECAY**self._steps)) / roots


def embed(vectors: torch.Tensor, tokens: torch.Tensor, begins: torch.Tensor) -> torch.Tensor:
    """Return the texts' vectors, of length 1."""
    return normalize(embedding_bag(tokens, vectors, begins, mode="mean"), dim=1)


def contrast(
    first: torch.Tensor, second: torch.Tensor, mask: torch.Tensor, temperature: float
) -> torch.Tensor:
    """Return the loss of pairs, in both directions."""
    cosines = (first @ second.T / temperature).masked_fill(mask, FAR)
    right = torch.arange(len(first))
    return (cross_entropy(cosines, right) + cross_entropy(cosines.T, right)) / 2


def loss_of(
    batch: Batch, moving: torch.Tensor, first_model: torch.Tensor, temperature: float
) -> torch.Tensor:
    """Return the loss of a batch, whose tokens are rows of both matrices."""
    sides = [embed(moving, *side) for side in (batch.first, batch.second)]
    mask = batch.mask
    if mask is None:
        before = [embed(first_model, *side) for side in (batch.first, batch.second)]
        mask = before[0] @ before[1].T > SAME
        mask.fill_diagonal_(False)  # noqa: FBT003 - torch takes the value by position alone
    return contrast(*sides, mask, temperature)


def renumbered(batches: Sequence[Batch]) -> tuple[torch.Tensor, Iterator[Batch]]:
    """Return the tokens of these batches, each once, and the batches with places among them."""
    sides = [side for batch in batches for side in (batch.first, batch.second)]
    tokens, places = torch.unique(torch.cat([side[0] for side in sides]), return_inverse=True)
    parts = iter(places.split([len(side[0]) for side in sides]))
    return tokens, (
        Batch((next(parts), batch.first[1]), (next(parts), batch.second[1]), batch.mask)
        for batch in batches
    )


def train(
    vectors: torch.Tensor, sets: Sets, options: argparse.Namespace, seed: int
) -> torch.Tensor:
    """Return the vectors after training."""
    chance = np.random.default_rng(seed)
    trained, adam, begin = vectors.clone(), Adam(vectors), time.monotonic()
    for step in range(options.steps):
        rate = options.rate * min(1, (step + 1) / WARM_UP) * (1 - step / options.steps)
        tokens, batches = renumbered(sets.draw(chance, options))
        moving = trained[tokens].requires_grad_()
        before = vectors[tokens]
        loss = sum(loss_of(batch, moving, before, options.temperature) for batch in batches)
        loss.backward()
        with torch.no_grad():
            trained[tokens] = moving - adam.steps(tokens, moving.grad, rate + LEAST_RATE)
        if step % STEPS_SHOWN == 0:
            elapsed = time.monotonic() - begin
            print(f"seed {seed}, step {step}: loss {float(loss.detach()):.3f}, {elapsed:.0f} s")
    return trained


def as_bytes(vectors: np.ndarray) -> np.ndarray:
    """Return the numbers as int8; what is out of range is clipped, if it is not far."""
    sizes = np.abs(vectors)
    scale = LARGEST / np.percentile(sizes, KEPT_PERCENT) if sizes.max() > LARGEST_TO_CLIP else 1
    return np.clip(np.rint(vectors * scale), -LARGEST, LARGEST).astype(np.int8)


def main() -> None:
    """Train with each seed, and write what lies between the old model and their mean."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pairs", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--model", type=Path, required=True, help="the one before this training")
    parser.add_argument("--thesaurus", type=Path, default=THESAURUS)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3, 4])
    parser.add_argument("--steps", type=int, default=1500)
    parser.add_argument("--rate", type=float, default=0.35, help="the largest learning rate")
    parser.add_argument("--temperature", type=float, default=0.09)
    parser.add_argument("--groups", type=int, default=1024, help="of the thesaurus, a step")
    parser.add_argument("--sections", type=int, default=320, help="a step")
    parser.add_argument("--others", type=int, default=320, help="other pairs, a step")
    parser.add_argument("--share", type=float, default=0.7, help="of what was learned")
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    tensors = load_file(options.model / "model.safetensors")
    vectors = torch.tensor(tensors["embeddings"].astype(np.float32))
    sets = read_sets(options)
    found = []
    for seed in options.seeds:
        trained = train(vectors, sets, options, seed).numpy()
        moved = np.linalg.norm(trained - vectors.numpy(), axis=1)
        middle, far = np.percentile(moved, [50, 99])
        print(f"seed {seed}: vectors moved by {middle:.1f} in the median, {far:.1f} at the 99th")
        found.append(as_bytes(trained))
    mean = np.mean([each.astype(np.float32) for each in found], axis=0)
    mixed = options.share * mean + (1 - options.share) * vectors.numpy()
    tensors["embeddings"] = as_bytes(mixed)
    options.out.mkdir(parents=True, exist_ok=True)
    save_file(tensors, options.out / "model.safetensors")


if __name__ == "__main__":
    main()
