"""Whether `rag_suggest` finds the document that belongs to a source: bindings, turned round.

    python benchmarks/kits/rag_suggest.py CLONE=KEY[,KEY…] …

The labels are the pages of these clones that name a source file under these keys; all of these
references are hidden. For each source, or as many as `--sources` says, spread evenly over their
paths, the text is given, and no path: the right document is one that names this source. Three texts
of each are asked about: the file as it is, the file without its first tenth (an edited version),
and its first thirty lines, a selection.
"""

import argparse
import os
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from ubp.core.model import FilePath
from ubp.index.view import View
from ubp.kits.rag.projects import open_project
from ubp.kits.rag.rag_suggest import suggest
from ubp.workspace import Workspace

MOST = 5
SELECTED_LINES = 30
WAYS = ("whole file", "edited file", "selection")


class Asked(NamedTuple):
    """A source's text, and the documents that name it."""

    source: FilePath
    text: str
    documents: frozenset[FilePath]


def read_labels(workspace: Workspace, view: View) -> Mapping[FilePath, frozenset[FilePath]]:
    """Return the documents that name each source file."""
    documents = frozenset(view.document_paths())
    labels: dict[FilePath, set[FilePath]] = defaultdict(set)
    for page in view.bound_pages():
        for reference in page.facts.references:
            literal = view.entry(reference.literal)
            path = reference.literal if literal else reference.source_path
            entry = view.entry(path)
            is_source = path not in documents and not workspace.session.is_hidden(path)
            if entry and entry.is_file and is_source:
                labels[path].add(page.filepath)
    return {path: frozenset(pages) for path, pages in sorted(labels.items())}


def read_asked(workspace: Workspace, most: int) -> Iterator[Asked]:
    """Yield the sources that are asked about."""
    view = workspace.session.view()
    labels = read_labels(workspace, view)
    step = max(1, len(labels) / most)
    paths = [path for number, path in enumerate(labels) if int(number % step) == 0][:most]
    entries = {path: entry for path, entry in view.entries(paths).items() if entry}
    blobs = workspace.session.repository.read_blobs({entry.id for entry in entries.values()})
    for path, entry in entries.items():
        data = blobs[entry.id]
        if data:
            yield Asked(path, data.decode("utf-8", "surrogateescape"), labels[path])


def texts_of(text: str) -> Mapping[str, str]:
    """Return what is asked of a source's text."""
    lines = text.splitlines(keepends=True)
    edited = "".join(lines[len(lines) // 10 or 1 :])
    return dict(zip(WAYS, (text, edited, "".join(lines[:SELECTED_LINES])), strict=True))


def measure(directory: str, keys: Sequence[str], most: int) -> tuple[int, Mapping[str, float]]:
    """Return the number of sources, and for each way the share with the right document."""
    hits: dict[str, int] = defaultdict(int)
    with Workspace.open(directory, keys=keys) as workspace:
        asked = list(read_asked(workspace, most))
    # Without keys no page names any source.
    with (
        Workspace.open(directory, keys=["nothing_names_this_key"]) as workspace,
        open_project(workspace.session, None) as project,
    ):
        for question in asked:
            for way, text in texts_of(question.text).items():
                found = suggest(project, text, MOST, is_code=True) if text.strip() else ()
                hits[way] += not question.documents.isdisjoint(page.file_path for page in found)
    return len(asked), {way: hits[way] / (len(asked) or 1) for way in WAYS}


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("clones", nargs="+", metavar="CLONE=KEY,KEY")
    parser.add_argument("--sources", type=int, default=100, help="asked about in each clone")
    options = parser.parse_args()
    print(f"| repository | sources | {' | '.join(WAYS)} |\n|---|---|{'---|' * len(WAYS)}")
    rows = []
    for argument in options.clones:
        directory, _, keys = argument.rpartition("=")
        count, shares = measure(directory, keys.split(","), options.sources)
        rows.append(shares)
        name = os.path.basename(os.path.normpath(directory))
        shown = " | ".join(f"{shares[way]:.2f}" for way in WAYS)
        print(f"| {name} | {count} | {shown} |", flush=True)
    means = " | ".join(f"{sum(row[way] for row in rows) / len(rows):.2f}" for way in WAYS)
    print(f"| **mean** | | {means} |")


if __name__ == "__main__":
    main()
