"""Which weights find pages best? A measurement, run by hand; its table stands in ubp/search.

    python benchmarks/search/search_weights.py REPOSITORY... [--data FOLDER]

Queries whose answer is known: the titles of pages and the texts of headings (of which a page may
have many in common with others), the labels under which other pages link to a page, and with
`--data` questions about paragraphs (folders with docs.jsonl, queries.jsonl, qrels.tsv, as JSQuAD
and XQuAD are laid out). Titles alone would make the title's weight as large as it can be; labels
and questions, written by somebody else, hold against that.
"""

import argparse
import json
import random
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from ubp.index.fulltext import FullTextSearch
from ubp.index.view import View
from ubp.search.graph import open_graph
from ubp.search.lexical import Corpus, FileNames, Weights, rank
from ubp.search.query import read_query
from ubp.workspace import Workspace

QUERIES = 300
DEPTH = 10
WEIGHTINGS = (  # title, headings, body, aliases; the file's name
    Weights((1, 1, 1, 1), 0),
    Weights((4, 1, 1, 1), 0),
    Weights((2, 2, 1, 2), 0),
    Weights((4, 2, 1, 4), 0),
    Weights((8, 2, 1, 8), 0),
    Weights((4, 4, 1, 4), 0),
    Weights((4, 8, 1, 4), 0),
    Weights((4, 8, 1, 4), 0.25),
    Weights((4, 8, 1, 4), 0.5),
    Weights((4, 16, 1, 4), 0.25),
    Weights((8, 8, 1, 8), 0.25),
    Weights((4, 4, 1, 4), 0.25),
    Weights((4, 4, 1, 4), 0.5),
    Weights((4, 4, 1, 4), 1),
    Weights((4, 4, 1, 4), 4),
)


class Question(NamedTuple):
    """A query, and the pages that answer it."""

    text: str
    answers: frozenset[str]


def main() -> None:
    """Print a table for each repository: mean reciprocal rank of the first right page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("repositories", nargs="*", type=Path)
    parser.add_argument("--data", action="append", default=[], type=Path)
    arguments = parser.parse_args()
    for repository in arguments.repositories:
        measure(repository, None)
    for folder in arguments.data:
        with tempfile.TemporaryDirectory() as root:
            measure(Path(root), write_pages(folder, Path(root)), folder.name)


def measure(root: Path, questions: dict[str, list[Question]] | None, name: str = "") -> None:
    """Ask all questions under all weightings."""
    with Workspace.open(str(root)) as workspace:
        view = workspace.session.view()
        kinds = questions or dict(ask_repository(view))
        full_text, names = view.full_text(), FileNames(view.document_paths())
        print(f"\n{name or root.name}: {', '.join(f'{len(q)} {k}' for k, q in kinds.items())}")
        for weights in WEIGHTINGS:
            means = [
                sum(reciprocal(full_text, names, q, weights) for q in asked) / max(1, len(asked))
                for asked in kinds.values()
            ]
            print(
                f"{weights.columns} {weights.file_name:>4}",
                *(f"{mean:8.4f}" for mean in means),
                flush=True,
            )


def reciprocal(
    full_text: FullTextSearch, names: FileNames, question: Question, weights: Weights
) -> float:
    """1 / the place of the first right page among the pages that are found."""
    ranking = rank(Corpus(full_text, names), read_query(question.text), 5 * DEPTH, weights)
    paths = list(dict.fromkeys(place.path for place in ranking.places))[:DEPTH]
    places = [place for place, path in enumerate(paths, 1) if path in question.answers]
    return 1 / places[0] if places else 0.0


def ask_repository(view: View) -> Iterator[tuple[str, list[Question]]]:
    """What the repository's own pages call each other."""
    graph = open_graph(view)
    titles: dict[str, set[str]] = {}
    headings: dict[str, set[str]] = {}
    labels: dict[str, set[str]] = {}
    documents = random.Random(7).sample(graph.documents(), min(2000, len(graph.documents())))
    for document in documents:
        titles.setdefault(document.title, set()).add(document.path)
        for section in graph.sections(document.path):
            if section.heading:
                headings.setdefault(section.heading, set()).add(document.path)
        for edge in graph.outlinks(document.path):
            if edge.link.label and edge.resolution.target not in {None, document.path}:
                labels.setdefault(edge.link.label, set()).add(str(edge.resolution.target))
    yield "titles", sample(titles)
    # A heading of many pages (Usage, Links) asks for none of them.
    yield "headings", sample({text: paths for text, paths in headings.items() if len(paths) == 1})
    yield "labels", sample(labels)


def sample(found: dict[str, set[str]]) -> list[Question]:
    """Some of these questions."""
    questions = [Question(text, frozenset(paths)) for text, paths in sorted(found.items())]
    return random.Random(7).sample(questions, min(QUERIES, len(questions)))


def write_pages(folder: Path, root: Path) -> dict[str, list[Question]]:
    """Write a set of paragraphs as pages; the questions about them."""
    subprocess.run(["git", "init", "--quiet", str(root)], check=True)
    for line in (folder / "docs.jsonl").read_text("utf-8").splitlines():
        document = json.loads(line)
        title = json.dumps(document["title"], ensure_ascii=False)
        page = f"---\ntitle: {title}\n---\n\n{document['text']}\n"
        (root / f"{document['id']}.md").write_text(page, "utf-8")
    rows = (folder / "qrels.tsv").read_text("utf-8").splitlines()[1:]
    right = dict(row.split("\t")[:2] for row in rows)
    questions = [
        Question(question["text"], frozenset({f"{right[str(question['id'])]}.md"}))
        for question in map(json.loads, (folder / "queries.jsonl").read_text("utf-8").splitlines())
    ]
    return {"questions": random.Random(7).sample(questions, min(QUERIES, len(questions)))}


if __name__ == "__main__":
    main()
