"""What agents need for twenty questions with UBP and without it; neither they nor the judge knew.

    python benchmarks/agents/blind_comparison.py call --log FILE --root DIR [--ubp] begin QUESTION
    python benchmarks/agents/blind_comparison.py call --log FILE --root DIR [--ubp] shell COMMAND
    python benchmarks/agents/blind_comparison.py call --log FILE --root DIR --ubp NAME ARGUMENTS
    python benchmarks/agents/blind_comparison.py collect with=LOG,ANSWERS… without=LOG,ANSWERS…
    python benchmarks/agents/blind_comparison.py judge
    python benchmarks/agents/blind_comparison.py table

The questions (benchmarks/data/blind_questions.json) were written by an agent that only read the
pages. Others answered them, ten each, a fresh one for each part and side: all could run shell
commands in a checkout without the questions (`call … shell`), half of them could also call UBP's
tools (`call … ubp_search`). The agents were not told about the comparison. Each call was logged
with the tokens it returned; answers were cut at 30,000 characters, as the shells of agents cut
them. `collect` merged logs and answers into benchmarks/data/blind_comparison.json; one more agent
judged the answers (`judge` prints them in an order by hash, without their side) and wrote
benchmarks/data/blind_judged.json. `table` prints the result.
"""

import argparse
import hashlib
import json
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.common.measure import print_table
from ubp.core.errors import UbpError
from ubp.frame.budget import count_tokens
from ubp.server.tools.registry import TOOLSETS
from ubp.server.tools.tool import call_tool
from ubp.workspace import Workspace

DATA = Path(__file__).parents[1] / "data"
QUESTIONS, ANSWERS, JUDGED = (
    DATA / f"blind_{name}.json" for name in ("questions", "comparison", "judged")
)
MOST_CHARACTERS = 30_000
SECONDS = 60
SIDES = ("with", "without")


def call(options: argparse.Namespace) -> None:
    """Make a call for an agent, print what it returns, and log what it cost."""
    name, *arguments = options.words
    if name == "begin":
        log(options.log, {"begin": arguments[0]})
        return
    if name == "shell":
        text = run_shell(arguments[0], options.root)
    elif options.ubp:
        text = call_ubp(name, arguments[0] if arguments else "{}", options.root)
    else:
        raise SystemExit(f"unknown command: {name}")
    text = text[:MOST_CHARACTERS]
    log(options.log, {"call": " ".join([name, *arguments]), "tokens": count_tokens(text)})
    print(text)


def log(file: Path, entry: Mapping[str, object]) -> None:
    """Append a line of JSON."""
    with file.open("a", encoding="utf-8") as lines:
        lines.write(json.dumps(entry, ensure_ascii=False) + "\n")


def run_shell(command: str, root: str) -> str:
    """Return what a command prints in the checkout."""
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=root,
        check=False,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=SECONDS,
    )
    return done.stdout.decode(errors="replace")


def call_ubp(name: str, arguments: str, root: str) -> str:
    """Return the text of a tool's answer, or of its error."""
    tools = {tool.name: tool for tools in TOOLSETS.values() for tool in tools}
    if name not in tools:
        return f"unknown tool: {name}; there are {', '.join(tools)}"
    try:
        with Workspace.open(root) as workspace:
            return call_tool(tools[name], workspace, json.loads(arguments)).text
    except UbpError as error:
        return f"error: {error.message}"
    except ValueError as error:
        return f"error: the arguments are not JSON: {error}"


def collect(parts: Sequence[str]) -> None:
    """Merge logs and answers."""
    rows = []
    for part in parts:
        side, _, files = part.partition("=")
        log_file, _, answers_file = files.partition(",")
        answers = {row["id"]: row for row in json.loads(Path(answers_file).read_text())}
        calls: dict[str, list[Any]] = {}
        current = ""
        for line in Path(log_file).read_text(encoding="utf-8").splitlines():
            entry = json.loads(line)
            if "begin" in entry:
                current = entry["begin"]
            else:
                calls.setdefault(current, []).append([entry["call"], entry["tokens"]])
        for question, answer in answers.items():
            rows.append(
                {
                    "id": question,
                    "side": side,
                    "answer": answer["answer"],
                    "pages": answer["pages"],
                    "calls": calls.get(question, []),
                }
            )
    rows.sort(key=lambda row: (row["id"], row["side"]))
    lines = ",\n".join(f" {json.dumps(row, ensure_ascii=False)}" for row in rows)
    ANSWERS.write_text(f"[\n{lines}\n]\n", encoding="utf-8")


def key_of(row: Mapping[str, Any]) -> str:
    """Return a name for an answer that does not tell its side."""
    return hashlib.sha256(f"{row['id']} {row['side']}".encode()).hexdigest()[:12]


def judge() -> None:
    """Print the answers without their side, with the question and the right answer."""
    questions = {row["id"]: row for row in json.loads(QUESTIONS.read_text())}
    rows = sorted(json.loads(ANSWERS.read_text()), key=lambda row: (row["id"], key_of(row)))
    for row in rows:
        question = questions[row["id"]]
        shown = {name: question[name] for name in ("question", "answer", "must_have")}
        print(json.dumps({"key": key_of(row), **shown, "given": row["answer"]}, ensure_ascii=False))


def count_pages(question: Mapping[str, Any], pages: Sequence[str]) -> tuple[int, int]:
    """Return how many of the needed pages an answer names, and how many are needed."""
    instead = question.get("pages_instead", {})
    named = {page.removeprefix("./").partition(":")[0].partition("#")[0] for page in pages}
    found = sum(bool({page, *instead.get(page, [])} & named) for page in question["pages"])
    return found, len(question["pages"])


def rows_of_table() -> Iterator[tuple[str, ...]]:
    """Yield a row for each project and side."""
    questions = {row["id"]: row for row in json.loads(QUESTIONS.read_text())}
    answers = json.loads(ANSWERS.read_text())
    judged = json.loads(JUDGED.read_text())
    for project in dict.fromkeys(row["project"] for row in questions.values()):
        for side in SIDES:
            rows = [
                row
                for row in answers
                if row["side"] == side and questions[row["id"]]["project"] == project
            ]
            pages = [count_pages(questions[row["id"]], row["pages"]) for row in rows]
            tokens = [sum(tokens for _, tokens in row["calls"]) for row in rows]
            yield (
                project,
                side,
                str(len(rows)),
                str(sum(judged[key_of(row)]["right"] for row in rows)),
                f"{sum(found for found, _ in pages)} of {sum(needed for _, needed in pages)}",
                str(sum(len(row["calls"]) for row in rows)),
                f"{sum(tokens):,}",
                f"{round(median(tokens)):,}",
            )


def main() -> None:
    """Do what the first argument says."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    calling = commands.add_parser("call")
    calling.add_argument("--log", type=Path, required=True)
    calling.add_argument("--root", required=True)
    calling.add_argument("--ubp", action="store_true")
    calling.add_argument("words", nargs="+")
    collecting = commands.add_parser("collect")
    collecting.add_argument("parts", nargs="+")
    commands.add_parser("judge")
    commands.add_parser("table")
    options = parser.parse_args()
    if options.command == "call":
        call(options)
    elif options.command == "collect":
        collect(options.parts)
    elif options.command == "judge":
        judge()
    else:
        head = ("project", "UBP", "questions", "right", "pages needed that were named", "calls",
                "tokens", "median")  # fmt: skip
        print_table("Twenty questions", head, list(rows_of_table()))


if __name__ == "__main__":
    main()
