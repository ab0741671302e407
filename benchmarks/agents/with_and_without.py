"""What thirty questions cost with UBP, and with grep and reading; a script asks, no model thinks.

    python benchmarks/agents/with_and_without.py [--transcript FILE] OWNER/NAME=CLONE …

Ten questions are about UBP's own documentation (benchmarks/data/own_questions.json, written by
whoever wrote this, with the answering page and a term that the answer must contain); the first ten
of each repository are those of benchmarks/data/agent_questions.json, asked of the commit that is
named there.

With UBP: `ubp_search` as the question stands; then `ubp_get_page` for the pages in the order in
which they were found. With grep: one `grep -ril` for each of the four longest words, then the files
with most of the words first. Each stops when what was returned contains the term and is of the
answering page, which no real agent is told, or after ten pages.
"""

import argparse
import json
import re
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.agents.agent_effort import grep_each, words_of
from benchmarks.common.measure import print_table
from ubp.frame.budget import count_tokens
from ubp.server.tools.tool import call_tool, make_tool
from ubp.workspace import Workspace

MOST_READ = 10
QUESTIONS_OF_EACH = 10
DATA = Path(__file__).parents[1] / "data"


class Asked(NamedTuple):
    """The calls of a question, with the tokens that each returned, and whether it was answered."""

    calls: tuple[tuple[str, int], ...]
    is_answered: bool

    @property
    def tokens(self) -> int:
        """What all calls returned."""
        return sum(tokens for _, tokens in self.calls)


def ask_ubp(question: Mapping[str, str], workspace: Workspace) -> Asked:
    """Search, then read the pages that were found."""
    answer = call_tool(make_tool("ubp_search"), workspace, {"query": question["text"]})
    calls = [(f"ubp_search {question['text']}", count_tokens(answer.text))]
    results = answer.record["results"]
    found = [result["filepath"] for result in results]
    if question["page"] in found and question["term"] in answer.text:
        return Asked(tuple(calls), is_answered=True)
    for path in found[:MOST_READ]:
        page = call_tool(make_tool("ubp_get_page"), workspace, {"filepath": path}).text
        calls.append((f"ubp_get_page {path}", count_tokens(page)))
        if path == question["page"]:
            return Asked(tuple(calls), is_answered=True)
    return Asked(tuple(calls), is_answered=False)


def ask_grep(question: Mapping[str, str], texts: Mapping[str, str]) -> Asked:
    """Grep the longest words, then read the files."""
    grepped = grep_each(words_of(question["text"]), texts)
    calls = [("grep -ril, of each word", 0)] * (grepped.calls - 1)
    calls.append(("grep -ril, of each word", count_tokens(grepped.output)))
    for path in grepped.files[:MOST_READ]:
        calls.append((f"read {path}", count_tokens(texts[path])))
        if path == question["page"]:
            return Asked(tuple(calls), is_answered=True)
    return Asked(tuple(calls), is_answered=False)


def ask_all(
    root: Path, questions: Sequence[Mapping[str, str]]
) -> Iterator[tuple[Mapping[str, str], Asked, Asked]]:
    """Yield the questions with what both ways took, in a work tree."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "*.md"], cwd=root, check=True, capture_output=True
    )
    paths = [path for path in listed.stdout.decode().split("\0") if path]
    texts = {path: (root / path).read_text(encoding="utf-8", errors="replace") for path in paths}
    with Workspace.open(str(root)) as workspace:
        for question in questions:
            yield question, ask_ubp(question, workspace), ask_grep(question, texts)


def check_out(clone: str, commit: str, folder: str) -> Path:
    """Return a work tree of a clone at a commit."""
    root = Path(folder) / re.sub(r"\W", "-", clone)
    subprocess.run(
        ["git", "clone", "--quiet", "--shared", "--no-checkout", clone, str(root)], check=True
    )
    subprocess.run(["git", "checkout", "--quiet", "--detach", commit], cwd=root, check=True)
    return root


def main() -> None:
    """Ask, and print a row for each repository."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("clones", nargs="*", metavar="OWNER/NAME=CLONE")
    parser.add_argument("--transcript", type=Path, help="write every call to this file")
    options = parser.parse_args()
    given = {
        row["repository"]: row for row in json.loads((DATA / "agent_questions.json").read_text())
    }
    own = json.loads((DATA / "own_questions.json").read_text())
    rows, transcript = [], []
    with tempfile.TemporaryDirectory() as folder:
        parts: list[tuple[str, Path, Any]] = [
            ("UBP", check_out(str(Path(__file__).resolve().parents[2]), "HEAD", folder), own)
        ]
        for name, _, clone in (argument.partition("=") for argument in options.clones):
            root = check_out(clone, given[name]["commit"], folder)
            parts.append((name, root, given[name]["questions"]))
        for name, root, questions in parts:
            asked = list(ask_all(root, questions[:QUESTIONS_OF_EACH]))
            rows.append(row(name, asked))
            transcript += [
                {"repository": name, "question": question["text"], "page": question["page"],
                 "with": with_ubp._asdict(), "without": without._asdict()}
                for question, with_ubp, without in asked
            ]  # fmt: skip
    if options.transcript:
        options.transcript.write_text(json.dumps(transcript, ensure_ascii=False, indent=1) + "\n")
    head = ("repository", "questions", "found", "calls", "tokens", "grep: found", "calls", "tokens")
    print_table("With UBP and without", head, rows)


def row(name: str, asked: Sequence[tuple[Mapping[str, str], Asked, Asked]]) -> tuple[str, ...]:
    """Return a row of the table."""
    sides = [[each[1] for each in asked], [each[2] for each in asked]]
    cells = []
    for side in sides:
        cells += [
            str(sum(each.is_answered for each in side)),
            str(sum(len(each.calls) for each in side)),
            f"{sum(each.tokens for each in side):,}",
        ]
    return (name, str(len(asked)), *cells)


if __name__ == "__main__":
    main()
