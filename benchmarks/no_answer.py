"""How often a search says that no page answers: of questions that a page answers, and of others.

    python benchmarks/no_answer.py [--squad FILE.json…] [--sets SET SET…] [--clones CLONE…]

`--squad`: files in the format of SQuAD (XQuAD, JSQuAD). Every other article is a page, each of its
paragraphs a section; the questions about the articles left out have no answer. `--sets`: folders
as benchmarks/retrieval.py reads them, of different projects; questions about each of the others
have no answer in one. Some have: projects share topics, so the share of those is a lower bound.
`--clones` (OWNER/NAME=FOLDER): of repositories in `data/agent_questions.json`; each is asked its
own questions and those about the others in the same language.
"""

import argparse
import json
import random
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from measure import print_table
from retrieval_data import SEED, Document, read_set, write_repository

from ubp.search.fusion import WEAK_SCORE
from ubp.workspace import Workspace

MAX_QUESTIONS = 300
AGENT_QUESTIONS = Path(__file__).with_name("data") / "agent_questions.json"


class Questions(NamedTuple):
    """Pages (or a clone of them), questions that they answer, and questions that they do not."""

    name: str
    documents: Sequence[Document]
    answered: Sequence[str]
    unanswered: Sequence[str]
    clone: str = ""
    commit: str | None = None


def main() -> None:
    """Print a table of all sets."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--squad", nargs="*", type=Path, default=[])
    parser.add_argument("--sets", nargs="*", type=Path, default=[])
    parser.add_argument("--clones", nargs="*", default=[], metavar="OWNER/NAME=CLONE")
    options = parser.parse_args()
    clones = dict(clone.split("=", 1) for clone in options.clones)
    rows = []
    for questions in [
        *map(read_squad, options.squad),
        *read_sets(options.sets),
        *read_clones(clones),
    ]:
        with tempfile.TemporaryDirectory() as folder:
            if questions.documents:
                write_repository(questions.documents, Path(folder))
            with Workspace.open(questions.clone or folder) as workspace:
                shares = [
                    share_without_answer(workspace, texts, questions.commit)
                    for texts in (questions.answered, questions.unanswered)
                ]
        counts = len(questions.answered), len(questions.unanswered)
        rows.append([questions.name, *map(str, counts), *(f"{share:.2f}" for share in shares)])
    header = ["set", "answered", "not answered", "said of answered", "said of not answered"]
    print_table(f"Best score below {WEAK_SCORE}, or nothing found", header, rows)


def share_without_answer(
    workspace: Workspace, questions: Sequence[str], commit: str | None
) -> float:
    """Return the share of these questions that probably no page answers, as a search says."""
    answers = [workspace.search(question, limit=1, ref=commit).answer for question in questions]
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
    answered, unanswered = map(ask_about, (articles[::2], articles[1::2]))
    return Questions(file.stem, documents, answered, unanswered)


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


def read_clones(clones: Mapping[str, str]) -> Iterator[Questions]:
    """Yield each of these repositories with the questions about the others in its language."""
    rows = json.loads(AGENT_QUESTIONS.read_text("utf-8"))
    asked = {row["repository"]: [question["text"] for question in row["questions"]] for row in rows}
    for row in rows:
        name = row["repository"]
        if name in clones:
            language = asked[name][0].isascii()
            others = [
                text
                for other, texts in asked.items()
                if other != name and texts[0].isascii() == language
                for text in texts
            ]
            yield Questions(name, (), asked[name], others, clones[name], row["commit"])


def sample(questions: Sequence[str]) -> list[str]:
    """Return some questions, the same ones each time."""
    return random.Random(SEED).sample(questions, min(MAX_QUESTIONS, len(questions)))


if __name__ == "__main__":
    main()
