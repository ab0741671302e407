"""How often a search says that no page answers: of questions that a page answers, and of others.

    python benchmarks/no_answer.py [--squad FILE.json…] [--sets SET SET…]

`--squad`: files in the format of SQuAD (XQuAD, JSQuAD). Every other article is a page, each of its
paragraphs a section; the questions about the articles left out have no answer. `--sets`: folders
as benchmarks/retrieval.py reads them, of different projects; questions about each of the others
have no answer in one. Some have: projects share topics, so the share of those is a lower bound.
"""

import argparse
import json
import random
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from measure import print_table
from retrieval_data import SEED, Document, read_set, write_repository

from ubp.search.fusion import WEAK_SCORE
from ubp.workspace import Workspace

MAX_QUESTIONS = 300


class Questions(NamedTuple):
    """Pages, questions that they answer, and questions that they do not."""

    name: str
    documents: Sequence[Document]
    answered: Sequence[str]
    unanswered: Sequence[str]


def main() -> None:
    """Print a table of all sets."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--squad", nargs="*", type=Path, default=[])
    parser.add_argument("--sets", nargs="*", type=Path, default=[])
    options = parser.parse_args()
    rows = []
    for questions in [*map(read_squad, options.squad), *read_sets(options.sets)]:
        with tempfile.TemporaryDirectory() as folder:
            write_repository(questions.documents, Path(folder))
            with Workspace.open(folder) as workspace:
                shares = [
                    share_without_answer(workspace, texts)
                    for texts in (questions.answered, questions.unanswered)
                ]
        counts = len(questions.answered), len(questions.unanswered)
        rows.append([questions.name, *map(str, counts), *(f"{share:.2f}" for share in shares)])
    header = ["set", "answered", "not answered", "said of answered", "said of not answered"]
    print_table(f"Best score below {WEAK_SCORE}, or nothing found", header, rows)


def share_without_answer(workspace: Workspace, questions: Sequence[str]) -> float:
    """Return the share of these questions that probably no page answers, as a search says."""
    answers = [workspace.search(question, limit=1).answer for question in questions]
    return sum(answer.is_weak or not answer.pages for answer in answers) / len(answers)


def read_squad(file: Path) -> Questions:
    """Return every other article of a file, in random order, as pages."""
    articles = json.loads(file.read_text("utf-8"))["data"]
    random.Random(SEED).shuffle(articles)
    documents = []
    for number, article in enumerate(articles[::2]):
        sections = (
            f"## Part {part}\n\n{paragraph['context']}"
            for part, paragraph in enumerate(article["paragraphs"])
        )
        documents.append(Document(f"{number}.md", article["title"], "\n\n".join(sections)))
    return Questions(file.stem, documents, *map(ask_about, (articles[::2], articles[1::2])))


def ask_about(articles: Sequence[dict]) -> list[str]:  # type: ignore[type-arg]  # JSON
    """Return some of the questions about articles."""
    return sample(
        [
            question["question"]
            for article in articles
            for paragraph in article["paragraphs"]
            for question in paragraph["qas"]
        ]
    )


def read_sets(folders: Sequence[Path]) -> Iterator[Questions]:
    """Yield each set with the questions of all others."""
    sets = {folder: read_set(folder) for folder in folders}
    for folder, labelled in sets.items():
        others = [text for other in sets if other != folder for text in sets[other].answers]
        name = "-".join(folder.resolve().parts[-2:])
        yield Questions(name, labelled.documents, sample([*labelled.answers]), sample(others))


def sample(questions: Sequence[str]) -> list[str]:
    """Return some questions, the same ones each time."""
    return random.Random(SEED).sample(questions, min(MAX_QUESTIONS, len(questions)))


if __name__ == "__main__":
    main()
