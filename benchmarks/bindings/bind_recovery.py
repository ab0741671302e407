"""What `ubp bind` recovers of the bindings that people made: they are hidden, and proposed again.

    python benchmarks/bindings/bind_recovery.py CLONE=KEY[,KEY…] …

The labels are the sources that pages of these clones name in front matter under these keys, as far
as they stand at HEAD and are not documents: a glob means the files that match it, a tail
(`#symbol`, `:12`) is cut off, a directory stays a directory. Recall and first right are told over
the files alone; a proposal counts as right where it is a label or lies in a directory that is one.
Only bodies are read, never front matter, so what is hidden cannot leak; history is what it is.

Two protocols: `none`, no page is bound, which is a newcomer's case; `others`, all pages but the one
that is asked about are, which is everybody else's.
"""

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from ubp.bindings.evidence import EvidenceIndex, open_evidence
from ubp.bindings.features import (
    BIAS,
    KINDS,
    MIN_CONFIDENCE,
    WEIGHTS,
    Signals,
    confidence,
    read_signals,
)
from ubp.core.model import FilePath, Page
from ubp.core.paths import Glob, is_glob
from ubp.workspace import Workspace

MOST = 10
PROTOCOLS = ("none", "others")
BOUNDS = (0.0, 0.2, 0.4, 0.6, 0.7, 0.8, 0.9, 1.1)


class Labels(NamedTuple):
    """What a page names: files by their numbers (-1: no candidate), and directories."""

    files: frozenset[int]
    missed: int
    folders: tuple[str, ...]

    @property
    def count(self) -> int:
        """How many files there are to be found."""
        return len(self.files) + self.missed


class Labelled(NamedTuple):
    """A page with its labels, and the signals of each source under both protocols."""

    page: FilePath
    labels: Labels
    signals: Mapping[str, Mapping[int, Signals]]


class Set(NamedTuple):
    """The labelled pages of a repository, and the paths of its sources."""

    name: str
    pages: tuple[Labelled, ...]
    sources: tuple[FilePath, ...]


class Recovered(NamedTuple):
    """How much was found: means over pages, and over what would be written."""

    pages: int
    recall: float
    first: float
    precision: float
    written: int
    served: float


def read_set(directory: str, keys: Sequence[str]) -> Set:
    """Read a clone's labels, and the evidence for its sources."""
    with Workspace.open(directory, keys=keys) as workspace:
        view = workspace.session.view()
        pages = [page for page in view.bound_pages() if page.facts.references]
        bound = {
            page.filepath: [reference.source_path for reference in page.facts.references]
            for page in pages
        }
        names = [page.filepath for page in pages]
        gathered = open_evidence(workspace.session, view, bound)
        gathered.load(view, names)
        found = []
        for page in pages:
            labels = _labels(page, workspace, gathered)
            if labels.count:
                found.append(Labelled(page.filepath, labels, dict(_signals(page, gathered))))
        name = os.path.basename(os.path.normpath(directory))
        return Set(name, tuple(found), tuple(gathered.sources.paths))


def _signals(page: Page, gathered: EvidenceIndex) -> Iterator[tuple[str, Mapping[int, Signals]]]:
    said = gathered.raw_signals(page.filepath)
    yield "others", read_signals(said, gathered.sources, gathered.activities)
    yield "none", read_signals(said._replace(siblings={}), gathered.sources, gathered.activities)


def _labels(page: Page, workspace: Workspace, gathered: EvidenceIndex) -> Labels:
    view, numbers = workspace.session.view(), gathered.sources.numbers
    documents = frozenset(view.document_paths())
    files, folders, missed = set(), [], set()
    for reference in page.facts.references:
        path = reference.literal if view.entry(reference.literal) else reference.source_path
        entry = view.entry(path)
        if entry is None and is_glob(path):
            glob = Glob(path)
            files |= {number for source, number in numbers.items() if glob.matches(source)}
        elif entry and entry.is_directory and path:
            folders.append(f"{path}/")
        elif path in numbers:
            files.add(numbers[path])
        elif entry and path not in documents and not workspace.session.is_hidden(path):
            missed.add(path)
    return Labels(frozenset(files), len(missed), tuple(folders))


def recover(
    labelled_set: Set, protocol: str, weights: Signals, bias: float, least: float
) -> Recovered:
    """Propose sources for every page again, and count what is right."""
    recalls, firsts, right, written, served = [], [], 0, 0, 0
    for page in labelled_set.pages:
        odds = {
            number: bias + sum(map(float.__mul__, weights, signals))
            for number, signals in page.signals[protocol].items()
        }
        ranked = sorted(odds, key=lambda number: (-odds[number], number))[:MOST]
        hits = [number in page.labels.files for number in ranked]
        recalls.append(sum(hits) / page.labels.count)
        firsts.append(hits[:1] == [True])
        taken = [number for number in ranked if confidence(odds[number]) >= least]
        right += sum(_is_right(number, page.labels, labelled_set.sources) for number in taken)
        written += len(taken)
        served += bool(taken)
    count = len(labelled_set.pages)
    precision = right / written if written else 1.0
    return Recovered(
        count, sum(recalls) / count, sum(firsts) / count, precision, written, served / count
    )


def odds_of(
    labelled_set: Set, protocol: str, weights: Signals, bias: float
) -> Iterator[tuple[float, bool]]:
    """Of every proposal among the first ten its logarithm of odds, and whether it is right."""
    for page in labelled_set.pages:
        odds = [
            (bias + sum(map(float.__mul__, weights, signals)), number)
            for number, signals in page.signals[protocol].items()
        ]
        for value, number in sorted(odds, reverse=True)[:MOST]:
            yield value, _is_right(number, page.labels, labelled_set.sources)


def _is_right(number: int, labels: Labels, sources: Sequence[FilePath]) -> bool:
    return number in labels.files or sources[number].startswith(labels.folders)


def mean(several: Sequence[Recovered]) -> Recovered:
    """The mean of repositories, each counting the same; what was written is added up."""
    means = [sum(values) / len(several) for values in zip(*several, strict=True)]
    return Recovered(*means)._replace(
        pages=sum(result.pages for result in several),
        written=sum(result.written for result in several),
    )


def row(name: str, found: Recovered) -> str:
    """A line of a table in Markdown."""
    numbers = (found.recall, found.first, found.precision, found.served)
    shown = " | ".join(f"{number:.2f}" for number in numbers)
    return f"| {name} | {found.pages} | {shown} | {found.written} |"


HEAD = """| repository | pages | recall@10 | first right | precision | pages served | written |
|---|---|---|---|---|---|---|"""


def table(sets: Sequence[Set], protocol: str, least: float = MIN_CONFIDENCE) -> str:
    """What the weights in use recover of each repository."""
    found = [recover(labelled_set, protocol, WEIGHTS, BIAS, least) for labelled_set in sets]
    lines = [row(labelled_set.name, rates) for labelled_set, rates in zip(sets, found, strict=True)]
    return "\n".join([HEAD, *lines, row("mean", mean(found))])


def ablation(sets: Sequence[Set], protocol: str) -> Iterator[str]:
    """The means without each kind of evidence."""
    yield HEAD.replace("repository", "without")
    for kind in sorted(set(KINDS.values())):
        silent = {name: 0.0 for name, of in KINDS.items() if of == kind}
        weights = WEIGHTS._replace(**silent)
        yield row(
            kind,
            mean(
                [
                    recover(labelled_set, protocol, weights, BIAS, MIN_CONFIDENCE)
                    for labelled_set in sets
                ]
            ),
        )


def bins(told: Sequence[tuple[float, bool]]) -> str:
    """How many proposals are right, by their confidence."""
    lines = ["| confidence | proposals | right |", "|---|---|---|"]
    for least, most in pairwise(BOUNDS):
        here = [right for odds, right in told if least <= confidence(odds) < most]
        share = f"{sum(here) / len(here):.2f}" if here else ""
        lines.append(f"| {least:.1f} to {min(most, 1.0):.1f} | {len(here)} | {share} |")
    return "\n".join(lines)


def read_sets(arguments: Sequence[str]) -> list[Set]:
    """The sets that CLONE=KEY,KEY name."""
    pairs = (argument.rpartition("=") for argument in arguments)
    return [read_set(directory, keys.split(",")) for directory, _, keys in pairs]


def main() -> None:
    """Print the tables."""
    sets = read_sets(sys.argv[1:])
    for protocol in PROTOCOLS:
        print(f"\nbound before: {protocol}\n\n{table(sets, protocol)}\n")
        print("\n".join(ablation(sets, protocol)))


if __name__ == "__main__":
    main()
