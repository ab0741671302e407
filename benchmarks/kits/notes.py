"""Notes: whether `ask` finds the answers, how sure it may be, and trends over years.

    python benchmarks/kits/notes.py ask CLONE
    python benchmarks/kits/notes.py calibration SET SET…
    python benchmarks/kits/notes.py cross XQUAD
    python benchmarks/kits/notes.py across FOLDER
    python benchmarks/kits/notes.py trends CLONE

CLONE: of the repository in `benchmarks/data/notes_questions.json`, at its commit. Its 50 questions
were written from a random sample of the notes before any answer was looked at, each with the file
and a few characters that the answer contains; 15 others have no answer there. SET: a folder as
benchmarks/search/retrieval.py reads them; half of its documents, chosen at random, are the notes.
XQUAD: a clone of google-deepmind/xquad (CC BY-SA 4.0), whose questions are asked in Chinese over
the English paragraphs and the other way round. FOLDER has clones, named OWNER+NAME or without the
owner, of the repositories in `benchmarks/data/notes_across.json`: 360 questions about 120 of their
notes, 240 of them Japanese over English notes and English over Japanese ones, none translated, by a
reader who saw the notes alone; and of those in `notes_further.json`: 180 about 120 others, in
`notes_drawn.json`: 100 about 50 Japanese ones, in `notes_blind.json` and `notes_trained.json`: 200
about 100 each, and in `notes_last.json`: 200 about 100 others of the same repositories. Each is
asked twice, over all notes and without those that the questions are about; `without` is what a
second reader says of the passages that are found then.
"""

import argparse
import json
import random
import shutil
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from math import log
from pathlib import Path
from typing import NamedTuple

from benchmarks.common.measure import print_table
from benchmarks.search.retrieval_data import SEED, Document, read_set, write_repository
from ubp.core.errors import UbpError
from ubp.kits.notes.ask import MAX_NOTES, MIN_CONFIDENCE, AskRequest, confidence_of, features_of
from ubp.kits.notes.search import NoteSearch
from ubp.kits.notes.trends import TrendsRequest
from ubp.workspace import Workspace

DATA = Path(__file__).parents[1] / "data"
QUESTIONS = DATA / "notes_questions.json"
SETS = ("across", "further", "drawn", "blind", "trained", "last")
ACROSS = [DATA / f"notes_{name}.json" for name in SETS]
MAX_QUESTIONS = 500
SURE = 0.8


def main() -> None:
    """Run what the first argument names."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("what", choices=("across", "ask", "calibration", "cross", "trends"))
    parser.add_argument("folders", nargs="+", type=Path)
    options = parser.parse_args()
    if options.what == "calibration":
        calibrate(options.folders)
        return
    for folder in options.folders:
        {"across": across, "ask": ask, "cross": cross, "trends": trends}[options.what](folder)


def ask(clone: Path) -> None:
    """Ask the questions about a clone, and print how many were answered and how sure."""
    asked = json.loads(QUESTIONS.read_text("utf-8"))
    judged = []
    with Workspace.open(str(clone)) as workspace:
        for row in asked["questions"]:
            answer = workspace.ask(AskRequest(row["question"]))
            is_found = any(
                source.path == row["file"] and row["answer"].lower() in source.text.lower()
                for source in answer.sources
            )
            judged.append((answer.confidence, is_found))
            if not is_found:
                paths = ", ".join(dict.fromkeys(source.path for source in answer.sources))
                print(f"not found ({answer.confidence}): {row['question']}\n  {paths}")
        others = [workspace.ask(AskRequest(text)).confidence for text in asked["unanswerable"]]
    found = sum(is_found for _, is_found in judged)
    print(f"\nanswer among the sources: {found} of {len(judged)} ({found / len(judged):.2f})")
    print_bins([*judged, *((confidence, False) for confidence in others)])


class Judged(NamedTuple):
    """A question: what the confidence is computed from, and whether one of the notes is right."""

    features: tuple[float, float, float]
    confidence: float
    is_right: bool


def calibrate(folders: list[Path]) -> None:
    """Print how often the confidence is right for sets, and the model that fits them all best."""
    judged = []
    for folder in folders:
        of_set = list(ask_half(folder))
        print(f"\n{folder.name}: {len(of_set)} questions")
        print_bins([(each.confidence, each.is_right) for each in of_set])
        judged += of_set
    sure = [each for each in judged if each.confidence >= SURE]
    right = sum(each.is_right for each in sure)
    found = sum(each.is_right for each in judged)
    print(f"\n{found} of {len(judged)} questions are answered; of {len(sure)} with a confidence of")
    print(f"{SURE} and more {right / len(sure):.2f}, and these are {right / found:.2f} of {found}")
    weights = fit([each.features for each in judged], [each.is_right for each in judged])
    print("score, lead, coverage and bias:", " ".join(f"{weight:.1f}" for weight in weights))


def fit(features: list[tuple[float, ...]], right: list[bool]) -> list[float]:
    """Return the weights and the bias of a logistic regression, by Newton's method."""
    import numpy as np

    rows = np.c_[np.array(features), np.ones(len(features))]
    weights = np.zeros(rows.shape[1])
    for _ in range(50):
        probability = 1 / (1 + np.exp(-rows @ weights))
        curvature = (rows.T * (probability * (1 - probability))) @ rows
        gradient = rows.T @ (np.array(right, float) - probability)
        weights += np.linalg.solve(curvature + 1e-6 * np.eye(len(weights)), gradient)
    return [float(weight) for weight in weights]


def ask_half(folder: Path) -> Iterator[Judged]:
    """Ask a set's questions of half of its documents."""
    questions = read_set(folder)
    documents = list(questions.documents)
    paths = {document.id: document.path for document in documents}
    random.Random(SEED).shuffle(documents)
    kept = documents[: len(documents) // 2]
    texts = random.Random(SEED).sample(
        sorted(questions.answers), min(MAX_QUESTIONS, len(questions.answers))
    )
    with tempfile.TemporaryDirectory() as root:
        write_repository(kept, Path(root))
        with Workspace.open(root) as workspace:
            search = NoteSearch(workspace.session)
            for text in texts:
                try:
                    found = search.find(text, MAX_NOTES)
                except UbpError:
                    continue
                wanted = {paths[document] for document in questions.answers[text]}
                is_right = any(hit.note.path in wanted for hit in found.hits)
                yield Judged(features_of(found), confidence_of(found, text), is_right)


def cross(clone: Path) -> None:
    """Print how often the confidence is right across languages, in both directions."""
    paragraphs = {language: _paragraphs(clone, language) for language in ("en", "zh")}
    for notes, questions in (("en", "zh"), ("zh", "en")):
        numbers = list(range(len(paragraphs[notes])))
        chance = random.Random(SEED)
        chance.shuffle(numbers)
        asked = [
            (number, text)
            for number, (_, texts) in enumerate(paragraphs[questions])
            for text in texts
        ]
        chance.shuffle(asked)
        judged = []
        with tempfile.TemporaryDirectory() as root:
            kept = [
                Document(str(number), "", paragraphs[notes][number][0])
                for number in numbers[: len(numbers) // 2]
            ]
            paths = {document.id: document.path for document in kept}
            write_repository(kept, Path(root))
            with Workspace.open(root) as workspace:
                search = NoteSearch(workspace.session)
                for number, text in asked[:MAX_QUESTIONS]:
                    try:
                        found = search.find(text, MAX_NOTES)
                    except UbpError:
                        continue
                    wanted = paths.get(str(number))
                    is_right = any(hit.note.path == wanted for hit in found.hits)
                    judged.append((confidence_of(found, text), is_right))
        print(f"\nquestions in {questions} over {notes}: {len(judged)}")
        print_bins(judged)


def across(folder: Path) -> None:
    """Print how often the confidence is right for notes and questions in two languages."""
    for path in ACROSS:
        rows = json.loads(path.read_text("utf-8"))["questions"]
        if all(_clone_of(folder, row).is_dir() for row in rows):
            print(f"\n{path.name}")
            ask_set(folder, rows)


def ask_set(folder: Path, asked: Sequence[Mapping[str, str]]) -> None:
    """Print how often the confidence is right for a set of questions."""
    for notes in sorted({row["notes"] for row in asked}):
        rows = [row for row in asked if row["notes"] == notes]
        clones = {_clone_of(folder, row) for row in rows}
        drawn = {f"{_clone_of(folder, row).name}/{row['path']}" for row in rows}
        # What lies at the root of a clone is about it: a list of all notes, for one.
        found = [path for clone in sorted(clones) for path in clone.glob("*/**/*.md")]
        named = {str(path.relative_to(folder)): path for path in found}
        judged: dict[str, list[tuple[float, bool]]] = {"en": [], "ja": []}
        weak = Counter[str]()
        for is_whole in (True, False):
            kept = {name: path for name, path in named.items() if is_whole or name not in drawn}
            with tempfile.TemporaryDirectory() as root, _copy(kept, Path(root)) as workspace:
                for row in rows:
                    answer = workspace.ask(AskRequest(row["question"], max_tokens=None))
                    wanted = f"{_clone_of(folder, row).name}/{row['path']}"
                    is_found = any(source.path == wanted for source in answer.sources)
                    is_right = is_found if is_whole else row.get("without") == "yes"
                    judged[row["language"]].append((answer.confidence, is_right))
                    weak[row["language"]] += is_whole and answer.is_weak
        for language, of_language in judged.items():
            print(f"\nquestions in {language} over {notes}: {len(of_language)}")
            print(f"below {MIN_CONFIDENCE} of {len(of_language) // 2} answerable: {weak[language]}")
            print_bins(of_language)


def _clone_of(folder: Path, row: Mapping[str, str]) -> Path:
    """Return the clone that a question is about: OWNER+NAME, or below its name alone."""
    owned = folder / row["repository"].replace("/", "+")
    return owned if owned.is_dir() else folder / row["repository"].rpartition("/")[2]


@contextmanager
def _copy(files: Mapping[str, Path], root: Path) -> Iterator[Workspace]:
    """Open a repository with copies of files."""
    for name, path in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, root / name)
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    with Workspace.open(str(root)) as workspace:
        yield workspace


def _paragraphs(clone: Path, language: str) -> list[tuple[str, list[str]]]:
    articles = json.loads((clone / f"xquad.{language}.json").read_text("utf-8"))["data"]
    return [
        (paragraph["context"], [answer["question"] for answer in paragraph["qas"]])
        for article in articles
        for paragraph in article["paragraphs"]
    ]


def print_bins(judged: list[tuple[float, bool]]) -> None:
    """Print how often answers were right, by confidence."""
    rows = []
    for low in (0.0, 0.2, 0.4, 0.6, SURE):
        inside = [
            right for confidence, right in judged if low <= confidence < low + 0.2 + (low == SURE)
        ]
        if inside:
            rows.append([f"{low:.1f}", str(len(inside)), f"{sum(inside) / len(inside):.2f}"])
    loss = -sum(
        log(max(1e-9, confidence if right else 1 - confidence)) for confidence, right in judged
    )
    print_table(f"log loss {loss / len(judged):.3f}", ["from", "questions", "right"], rows)


def trends(clone: Path) -> None:
    """Print the trends of each quarter of a clone's history."""
    with Workspace.open(str(clone)) as workspace:
        for year in range(2020, 2027):
            for day in ("03-31", "06-30", "09-30", "12-31"):
                found = workspace.ask(TrendsRequest("3m", until=f"{year}-{day}"))
                topics = ", ".join(f"{t.topic} {t.count} {t.trend}" for t in found.topTopics[:6])
                tools = ", ".join(tool.name for tool in found.newTools[:5])
                counts = f"{found.notes} notes ({found.notes_before} before)"
                print(f"{year}-{day}: {counts}: {topics}; {tools}")


if __name__ == "__main__":
    main()
