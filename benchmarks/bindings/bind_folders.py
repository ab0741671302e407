"""How many of the directories that `ubp bind` proposes are right, on bindings that people made.

    python benchmarks/bindings/bind_folders.py CLONE=KEY[,KEY…] …

The labels are what pages of these clones name in front matter under these keys, while nothing is
bound. A directory is right where it is named or lies in one that is, or where two of its files,
and half of them, are named.
"""

import os
import sys
from collections.abc import Iterator

from benchmarks.common.measure import print_table
from ubp.bindings.evidence import EvidenceIndex, open_evidence
from ubp.bindings.features import MIN_CONFIDENCE, confidence, read_signals, score
from ubp.bindings.folders import SURE, Folder, find_folders
from ubp.workspace import Workspace

Judged = tuple[float, bool]


def judge(directory: str, keys: list[str]) -> Iterator[Judged]:
    """The confidence of each directory that is proposed for a clone's pages, and if it is right."""
    with Workspace.open(directory, keys=keys) as workspace:
        view = workspace.session.view()
        pages = [page for page in view.bound_pages() if page.facts.references]
        gathered = open_evidence(workspace.session, view, {})
        gathered.load(view, [page.filepath for page in pages])
        for page in pages:
            named = [reference.source_path for reference in page.facts.references]
            for folder in proposed(page.filepath, gathered):
                yield folder.confidence, is_right(folder, named, gathered)


def proposed(page: str, gathered: EvidenceIndex) -> list[Folder]:
    """The directories for a page."""
    said, sources = gathered.raw_signals(page), gathered.sources
    signals = read_signals(said, sources, gathered.activities)
    sure = {number: confidence(score(signal)) for number, signal in signals.items()}
    return find_folders(page, sure, said.text_mentions.folders, sources, gathered.co_change)


def is_right(folder: Folder, named: list[str], gathered: EvidenceIndex) -> bool:
    """Whether people bound the page to a directory, or to what makes half of it."""
    if any(f"{folder.path}/".startswith(f"{path}/") for path in named):
        return True
    count = sum(gathered.sources.paths[number] in named for number in folder.sources)
    return count > 1 and 2 * count >= len(folder.sources)


def share(judged: list[Judged], least: float, below: float) -> str:
    """Of the directories that are so sure, how many are right."""
    right = [is_so for sure, is_so in judged if least <= sure < below]
    return f"{sum(right)} of {len(right)}"


def main() -> None:
    """Print the table."""
    together: list[Judged] = []
    rows = []
    for argument in sys.argv[1:]:
        directory, _, keys = argument.rpartition("=")
        judged = list(judge(directory, keys.split(",")))
        together += judged
        rows.append((os.path.basename(os.path.normpath(directory)), judged))
    bounds = ((MIN_CONFIDENCE, 2), (SURE, MIN_CONFIDENCE), (0.1, SURE), (0, 0.1))
    print_table(
        "Directories that are right",
        ["", "written", "less sure", "named, called alike", "named"],
        [
            [name, *(share(rates, *each) for each in bounds)]
            for name, rates in [*rows, ("all", together)]
        ],
    )


if __name__ == "__main__":
    main()
