"""Notes: whether `ask` finds the answers, how sure it may be, and trends over years.

    python benchmarks/notes.py ask CLONE
    python benchmarks/notes.py calibration SET SET…
    python benchmarks/notes.py trends CLONE

CLONE: of the repository in `data/notes_questions.json`, at its commit. Its 50 questions were
written from a random sample of the notes before any answer was looked at, each with the file and a
few characters that the answer contains; 15 others have no answer there. SET: a folder as
benchmarks/retrieval.py reads them; half of its documents, chosen at random, are the notes.
"""

import argparse
import json
import random
import tempfile
from math import log
from pathlib import Path

from measure import print_table
from retrieval_data import SEED, read_set, write_repository

from ubp.core.errors import UbpError
from ubp.notes.ask import MAX_NOTES, answer_question, confidence_of
from ubp.notes.note import parse_date
from ubp.notes.search import NoteSearch
from ubp.notes.trends import find_trends
from ubp.workspace import Workspace

QUESTIONS = Path(__file__).with_name("data") / "notes_questions.json"
MAX_QUESTIONS = 500
SURE = 0.8


def main() -> None:
    """Run what the first argument names."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("what", choices=("ask", "calibration", "trends"))
    parser.add_argument("folders", nargs="+", type=Path)
    options = parser.parse_args()
    for folder in options.folders:
        {"ask": ask, "calibration": calibrate, "trends": trends}[options.what](folder)


def ask(clone: Path) -> None:
    """Ask the questions about a clone, and print how many were answered and how sure."""
    asked = json.loads(QUESTIONS.read_text("utf-8"))
    judged = []
    with Workspace.open(str(clone)) as workspace:
        for row in asked["questions"]:
            answer = answer_question(workspace.session, row["question"])
            is_found = any(
                passage.note.path == row["file"] and row["answer"].lower() in passage.text.lower()
                for passage in answer.passages
            )
            judged.append((answer.confidence, is_found))
            if not is_found:
                paths = ", ".join(dict.fromkeys(each.note.path for each in answer.passages))
                print(f"not found ({answer.confidence}): {row['question']}\n  {paths}")
        others = [
            answer_question(workspace.session, text).confidence for text in asked["unanswerable"]
        ]
    found = sum(is_found for _, is_found in judged)
    print(f"\nanswer among the sources: {found} of {len(judged)} ({found / len(judged):.2f})")
    print_bins([*judged, *((confidence, False) for confidence in others)])


def calibrate(folder: Path) -> None:
    """Ask a set's questions of half of its documents."""
    questions = read_set(folder)
    documents = list(questions.documents)
    random.Random(SEED).shuffle(documents)
    kept = documents[: len(documents) // 2]
    texts = random.Random(SEED).sample(
        sorted(questions.answers), min(MAX_QUESTIONS, len(questions.answers))
    )
    judged = []
    with tempfile.TemporaryDirectory() as root:
        write_repository(kept, Path(root))
        with Workspace.open(root) as workspace:
            search = NoteSearch(workspace.session)
            for text in texts:
                try:
                    hits = search.find(text, MAX_NOTES).hits
                except UbpError:
                    continue
                paths = {hit.note.path for hit in hits}
                judged.append((confidence_of(hits), bool(paths & {*questions.answers[text]})))
    print(f"\n{folder.name}: {len(judged)} questions")
    print_bins(judged)


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
        view = workspace.session.view()
        for year in range(2020, 2027):
            for day in ("03-31", "06-30", "09-30", "12-31"):
                until = parse_date(f"{year}-{day}")
                found = find_trends(workspace.session, view, "3m", until=until)
                topics = ", ".join(f"{t.name} {t.notes} {t.trend}" for t in found.topics[:6])
                tools = ", ".join(tool.name for tool in found.new_tools[:5])
                print(
                    f"{year}-{day}: {found.notes} notes ({found.before} before): {topics}; {tools}"
                )


if __name__ == "__main__":
    main()
