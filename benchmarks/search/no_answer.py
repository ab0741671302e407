"""How often a search says that no page answers: of questions that a page answers, and of others.

    python benchmarks/search/no_answer.py [--squad FILE…] [--sets SET SET…] [--clones CLONE…]
        [--fit]

`--squad`: files in the format of SQuAD (XQuAD, JSQuAD), or folders of their paragraphs and
questions as benchmarks/search/retrieval.py reads them. Every other article is a page, each of its
paragraphs a section; the questions about the articles left out have no answer. `--sets`: folders
as benchmarks/search/retrieval.py reads them, of different projects; questions about each of the
others have no answer in one. Some have: projects share topics, so the share of those is a lower
bound. `--clones` (OWNER/NAME=FOLDER): of repositories in `benchmarks/data`; each is asked its
own questions and those about the others in the same language, except where both are about
JavaScript or both are languages' specifications: "How do I write a comment?" has an answer in each.

`--fit` chooses the weights of the signs (`ubp/search/fusion.py`) by a logistic regression over the
sets, all weighted alike, and the limit so that 0.05 of the answered questions are below it; and for
each set by all others, which says how well such constants do on sets not seen. Questions about
which nothing is known, because what they find is named so, count as answered.
"""

import argparse
import json
import random
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from benchmarks.common.measure import print_table
from benchmarks.search.retrieval_data import SEED, Document, read_set, write_repository
from ubp.search.fusion import WEAK, Signs
from ubp.search.pages import PageQuery
from ubp.search.run import search_pages
from ubp.workspace import Workspace

MAX_QUESTIONS = 300
MOST_OF_ANSWERED = 0.05
DATA = Path(__file__).parents[1] / "data"
SPECIFICATIONS = {
    "toml": "toml-lang/toml",
    "graphql": "graphql/graphql-spec",
    "rust": "rust-lang/reference",
}
SAME_SUBJECT = (
    {*SPECIFICATIONS.values()},
    {"asciidwango/js-primer", "vuejs-translations/docs-ja"},
)
NAMED, NOTHING = Signs(1.0, 1.0, 1.0), Signs(0.0, 0.0, 0.0)
PARAGRAPHS = 5  # of each of XQuAD's articles, which have no titles


Floats = npt.NDArray[np.float64]


class Questions(NamedTuple):
    """Pages (or a clone of them), questions that they answer, and questions that they do not."""

    name: str
    documents: Sequence[Document]
    answered: Sequence[str]
    unanswered: Sequence[str]
    clone: str = ""
    commit: str | None = None


class Asked(NamedTuple):
    """For each question of a set whether a page answers it, and what the search found.

    `features` are the signs.
    """

    name: str
    is_answered: npt.NDArray[np.bool_]
    features: Floats
    is_weak: npt.NDArray[np.bool_]

    def shares(self, is_weak: npt.NDArray[np.bool_]) -> tuple[float, float]:
        """Return the shares of the answered and of the other questions that are called weak."""
        return float(is_weak[self.is_answered].mean()), float(is_weak[~self.is_answered].mean())

    @property
    def weights(self) -> Floats:
        """The weights of the questions: both kinds count alike, however many there are."""
        answered = self.is_answered.mean()
        size = len(self.is_answered)
        return np.where(self.is_answered, 1 / answered, 1 / (1 - answered)) / size


class Constants(NamedTuple):
    """The constant and the weights of a logistic regression, and the least sum of an answer."""

    weights: Floats
    least: float

    def sums(self, features: Floats) -> Floats:
        """Return the logarithms of the odds that a page answers."""
        return np.asarray(self.weights[0] + features @ self.weights[1:])

    def are_weak(self, features: Floats) -> npt.NDArray[np.bool_]:
        """Return which questions probably no page answers."""
        return np.asarray(self.sums(features) < self.least)


def main() -> None:
    """Print a table of all sets."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--squad", nargs="*", type=Path, default=[])
    parser.add_argument("--sets", nargs="*", type=Path, default=[])
    parser.add_argument("--clones", nargs="*", default=[], metavar="OWNER/NAME=CLONE")
    parser.add_argument("--fit", action="store_true", help="choose the constants")
    options = parser.parse_args()
    clones = dict(clone.split("=", 1) for clone in options.clones)
    sets = [
        ask_all(questions)
        for questions in [
            *map(read_squad, options.squad),
            *read_sets(options.sets),
            *read_clones(clones),
        ]
    ]
    rows = [row(asked, asked.shares(asked.is_weak)) for asked in sets]
    header = ["set", "answered", "not answered", "said of answered", "said of not answered"]
    title = f"Confidence below {WEAK}"
    print_table(title, header, [*rows, mean_row(rows)])
    if options.fit:
        print_fitted(sets, header)


def row(asked: Asked, shares: tuple[float, float]) -> Sequence[str]:
    """Return a line of a table."""
    answered = int(asked.is_answered.sum())
    counts = answered, len(asked.is_answered) - answered
    return [asked.name, *map(str, counts), *(f"{share:.2f}" for share in shares)]


def mean_row(rows: Sequence[Sequence[str]]) -> Sequence[str]:
    """Return the last line of a table."""
    means = (sum(float(line[column]) for line in rows) / len(rows) for column in (3, 4))
    return ["mean", "", "", *(f"{mean:.3f}" for mean in means)]


def print_fitted(sets: Sequence[Asked], header: Sequence[str]) -> None:
    """Print the constants of all sets, and how well those of all others do on each."""
    rows = []
    for asked in sets:
        constants = fit([other for other in sets if other is not asked])
        rows.append(row(asked, asked.shares(constants.are_weak(asked.features))))
    constants = fit(sets)
    weights = ", ".join(f"{weight:.1f}" for weight in constants.weights)
    least = 1 / (1 + np.exp(-constants.least))
    title = f"{weights}, below {least:.2f}; fitted to other sets"
    print_table(title, header, [*rows, mean_row(rows)])


def fit(sets: Sequence[Asked]) -> Constants:
    """Return the constants of a logistic regression."""
    features = np.concatenate([asked.features for asked in sets])
    is_answered = np.concatenate([asked.is_answered for asked in sets])
    weights = np.concatenate([asked.weights for asked in sets])
    inputs = np.column_stack([np.ones(len(features)), features])
    slopes = np.zeros(inputs.shape[1])
    for _ in range(50):  # Newton's method
        odds = 1 / (1 + np.exp(-inputs @ slopes))
        gradient = inputs.T @ (weights * (is_answered - odds))
        hessian = (inputs * (weights * odds * (1 - odds))[:, None]).T @ inputs
        slopes += np.linalg.solve(hessian + 1e-9 * np.eye(len(slopes)), gradient)
    sums = Constants(slopes, 0.0).sums(features)[is_answered]
    order = np.argsort(sums)
    hit = np.cumsum(weights[is_answered][order])
    return Constants(slopes, float(sums[order][np.searchsorted(hit, MOST_OF_ANSWERED * hit[-1])]))


def ask_all(questions: Questions) -> Asked:
    """Ask a set's questions."""
    with tempfile.TemporaryDirectory() as folder:
        if questions.documents:
            write_repository(questions.documents, Path(folder))
        with Workspace.open(questions.clone or folder) as workspace:
            answers = [
                search_pages(workspace.session, PageQuery(text, limit=1), questions.commit).answer
                for text in (*questions.answered, *questions.unanswered)
            ]
    return Asked(
        questions.name,
        np.arange(len(answers)) < len(questions.answered),
        np.array([answer.signs or (NAMED if answer.pages else NOTHING) for answer in answers]),
        np.array([answer.is_weak or not answer.pages for answer in answers]),
    )


def read_squad(path: Path) -> Questions:
    """Return every other article of a file or folder, in random order, as pages."""
    articles = [*(read_paragraphs(path) if path.is_dir() else read_articles(path))]
    random.Random(SEED).shuffle(articles)
    documents = []
    for number, article in enumerate(articles[::2]):
        sections = (f"## Part {part}\n\n{text}" for part, text in enumerate(article.paragraphs))
        documents.append(Document(f"{number}.md", article.title, "\n\n".join(sections)))
    answered, unanswered = (
        sample([question for article in some for question in article.questions])
        for some in (articles[::2], articles[1::2])
    )
    return Questions(path.stem, documents, answered, unanswered)


class Article(NamedTuple):
    """An article, and the questions about it."""

    title: str
    paragraphs: Sequence[str]
    questions: Sequence[str]


def read_articles(file: Path) -> Iterator[Article]:
    """Yield the articles of a file in the format of SQuAD."""
    for article in json.loads(file.read_text("utf-8"))["data"]:
        paragraphs = article["paragraphs"]
        questions = [question["question"] for part in paragraphs for question in part["qas"]]
        yield Article(article["title"], [part["context"] for part in paragraphs], questions)


def read_paragraphs(folder: Path) -> Iterator[Article]:
    """Yield the articles of a set of paragraphs: by title, else five paragraphs each."""
    labelled = read_set(folder)
    articles: dict[str, list[Document]] = defaultdict(list)
    for number, document in enumerate(labelled.documents):
        articles[document.title or f"Article {number // PARAGRAPHS}"].append(document)
    questions: dict[str, list[str]] = defaultdict(list)
    for text, documents in labelled.answers.items():
        questions[next(iter(documents))].append(text)
    for title, documents in articles.items():
        texts = [document.text for document in documents]
        yield Article(
            title, texts, [text for document in documents for text in questions[document.id]]
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
    asked, commits = read_questions()
    for name in (name for name in asked if name in clones):
        is_english = asked[name][0].isascii()
        others = [
            text
            for other, texts in asked.items()
            if other != name and texts[0].isascii() == is_english
            for text in texts
            if not any({name, other} <= subject for subject in SAME_SUBJECT)
        ]
        yield Questions(name, (), asked[name], sample(others), clones[name], commits.get(name))


def read_questions() -> tuple[dict[str, list[str]], dict[str, str]]:
    """Return the questions about each repository, and the commit that they are about."""
    asked: dict[str, list[str]] = {}
    commits: dict[str, str] = {}
    for part in read_json("agent_questions.json"):
        asked[part["repository"]] = [question["text"] for question in part["questions"]]
        commits[part["repository"]] = part["commit"]
    for part in read_json("japanese_questions.json"):
        if part["repository"] in asked:
            japanese = [row["text"] for row in part["questions"] if row["kind"] != "english"]
            asked[part["repository"]] += japanese
    for name, questions in read_json("spec_questions.json").items():
        asked[SPECIFICATIONS[name]] = [question["question"] for question in questions]
    return asked, commits


def read_json(name: str) -> Any:
    """Return the content of a file of questions."""
    return json.loads((DATA / name).read_text("utf-8"))


def sample(questions: Sequence[str]) -> list[str]:
    """Return some questions, the same ones each time."""
    return random.Random(SEED).sample(questions, min(MAX_QUESTIONS, len(questions)))


if __name__ == "__main__":
    main()
