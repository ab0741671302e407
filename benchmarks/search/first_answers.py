"""Whether the first answer of `ubp_search` contains the fact, and what it costs.

    python benchmarks/search/first_answers.py FOLDER [--half tuned] [--nothing] [--misses]
        [--questions benchmarks/data/answered.tsv]

The questions are in `benchmarks/data/first_answers.tsv`: eleven about each of ten repositories,
with the pages that answer (versions and translations of one page) and a literal string without
which the answer is not there. FOLDER contains a clone of each, named like the repository without
its owner, with its own `.ubp/config.json` if it needs one. Half of the repositories served to tune
the search; the others are "held out". A question counts as answered where the string is in the
text that the client receives from one call with the tool's defaults.

`--nothing` also asks each repository twenty questions of the others, drawn with a fixed seed, and
reports how often the answer says that probably no page fits: wrongly for its own, rightly for
these, and that possibly none does, or probably. Questions are drawn in both languages, whatever the
repository's. `answered.tsv` has questions for that alone, without a string of the answer.
"""

import argparse
import csv
import random
import subprocess
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import NamedTuple

from benchmarks.common.measure import print_table
from ubp.frame.budget import count_tokens
from ubp.server.tools.tool import call_tool, make_tool
from ubp.workspace import Workspace

QUESTIONS = Path(__file__).parents[1] / "data" / "first_answers.tsv"
FIRST = 5
SEED, FOREIGN_QUESTIONS = 33, 20


class Question(NamedTuple):
    """A row of the file: `pages` are those that answer, any of them will do."""

    repository: str
    commit: str
    half: str
    text: str
    pages: frozenset[str]
    fact: str


class Asked(NamedTuple):
    """A question's answer: the place of its page (0: not in the answer), and what it costs."""

    question: Question
    place: int
    has_fact: bool
    tokens: int
    is_weak: bool
    is_doubtful: bool


def main() -> None:
    """Print a table of the repositories."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--half", choices=["tuned", "held out"], help="of these repositories only")
    parser.add_argument("--nothing", action="store_true", help="ask questions of others, too")
    parser.add_argument("--misses", action="store_true", help="list the questions that fail")
    parser.add_argument("--questions", type=Path, default=QUESTIONS)
    parser.add_argument("--max-tokens", type=int, help="instead of the tool's default")
    options = parser.parse_args()
    questions = read_questions(options.questions)
    rows, own, foreign = [], [], []
    for repository, about in questions.items():
        if options.half and about[0].half != options.half:
            continue
        others = [other for name, some in questions.items() if name != repository for other in some]
        drawn = random.Random(f"{SEED} {repository}").sample(others, FOREIGN_QUESTIONS)
        with Workspace.open(str(clone_of(options.folder, about[0]))) as workspace:
            asked = [ask(workspace, question, options.max_tokens) for question in about]
            asked_of_others = [
                ask(workspace, question, options.max_tokens)
                for question in (drawn if options.nothing else ())
            ]
        rows.append(row(f"{repository}, {about[0].half}", asked, asked_of_others))
        own += asked
        foreign += asked_of_others
        for answer in asked if options.misses else ():
            if not answer.has_fact or not 0 < answer.place <= FIRST or answer.is_weak:
                facts = f"fact {answer.has_fact}, weak {answer.is_weak}"
                print(f"{repository}: place {answer.place}, {facts}: {answer.question.text}")
        for answer in asked_of_others if options.misses else ():
            if not answer.is_weak:
                print(f"{repository}: not called weak: {answer.question.text}")
    rows.append(row("all", own, foreign))
    header = ["repository", "questions", "page first", f"page in {FIRST}", "fact", "median tokens"]
    header += ["said wrongly", "or possibly", "of others", "said rightly", "or possibly", "tokens"]
    print_table("", header, rows)


def read_questions(path: Path) -> dict[str, list[Question]]:
    """Return a file's questions about each repository."""
    questions: dict[str, list[Question]] = defaultdict(list)
    with path.open(encoding="utf-8", newline="") as file:
        for line in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
            questions[line["repository"]].append(
                Question(
                    line["repository"],
                    line["commit"],
                    line["half"],
                    line["question"],
                    frozenset(line["pages"].split()),
                    line.get("fact", ""),
                )
            )
    return dict(questions)


def clone_of(folder: Path, question: Question) -> Path:
    """Return the clone of a question's repository; another commit than its own is only named."""
    clone = folder / question.repository.partition("/")[2]
    command = ["git", "-C", str(clone), "rev-parse", "HEAD"]
    head = subprocess.run(command, capture_output=True, check=True, text=True).stdout.strip()
    if head != question.commit:
        print(f"{question.repository}: the clone is at {head}, not at {question.commit}")
    return clone


def ask(workspace: Workspace, question: Question, max_tokens: int | None) -> Asked:
    """Return what one call answers."""
    arguments = {"query": question.text} | ({"max_tokens": max_tokens} if max_tokens else {})
    answer = call_tool(make_tool("ubp_search"), workspace, arguments)
    record = answer.record
    places = [
        place
        for place, result in enumerate(record["results"], 1)
        if not question.pages.isdisjoint([result["filepath"], *copies_of(result)])
    ]
    return Asked(
        question,
        places[0] if places else 0,
        question.fact in answer.text,
        count_tokens(answer.text),
        bool(record.get("is_weak")) or not record["results"],
        bool(record.get("is_doubtful")) or not record["results"],
    )


def copies_of(result: dict[str, list[str]]) -> list[str]:
    """Return the pages that a result represents besides its own."""
    return [*result.get("translations", ()), *result.get("copies", ())]


def row(name: str, asked: Sequence[Asked], others: Sequence[Asked]) -> list[str]:
    """Return a line of the table."""
    count = len(asked)
    in_first = sum(0 < answer.place <= FIRST for answer in asked)
    cells = [
        name,
        str(count),
        str(sum(answer.place == 1 for answer in asked)),
        str(in_first),
        str(sum(answer.has_fact for answer in asked)),
        f"{median(answer.tokens for answer in asked):.0f}",
        str(sum(answer.is_weak for answer in asked)),
        str(sum(answer.is_doubtful for answer in asked)),
    ]
    if not others:
        return [*cells, "0", "-", "-", "-"]
    tokens = [answer.tokens for answer in others if answer.is_weak]
    return [
        *cells,
        str(len(others)),
        str(sum(answer.is_weak for answer in others)),
        str(sum(answer.is_doubtful for answer in others)),
        f"{median(tokens):.0f}" if tokens else "-",
    ]


if __name__ == "__main__":
    main()
