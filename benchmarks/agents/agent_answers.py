"""What one call of `ubp_search` gives an agent: the page, the answer's key term, and its tokens.

    python benchmarks/agents/agent_answers.py OWNER/NAME=CLONE … [--qmd QMD]
    python benchmarks/agents/agent_answers.py --specs toml=CLONE graphql=CLONE rust=CLONE

The questions, with the page and a term without which the answer is not there, are in
`benchmarks/data/agent_questions.json`. Each clone is asked about the commit named there, with the
tool's defaults. The key term counts where it is in the text that the client receives. `--qmd` asks
the same of that program's keyword search (its models come from a hub), of five results; it must
have a collection named like each clone's folder, of its Markdown files. `--specs`: the questions of
`benchmarks/data/spec_questions.json`, and how often lines of a section that answers are in the
response; nothing was chosen by them.
"""

import argparse
import json
import re
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from ubp.frame.budget import count_tokens
from ubp.markdown.outline import find_section, read_outline
from ubp.server.tools.tool import call_tool, make_tool
from ubp.workspace import Workspace

QUESTIONS = Path(__file__).parents[1] / "data" / "agent_questions.json"
SPEC_QUESTIONS = QUESTIONS.with_name("spec_questions.json")
TOML = "toml.md"  # a specification of one page; its questions name sections alone
MIN_LINES = 3  # of the section, unless it is shorter
FIRST = 5


class Asked(NamedTuple):
    """A question's answer: whether page and term are in it, and what it costs."""

    text: str
    has_page: bool
    has_term: bool
    tokens: int


def ask(workspace: Workspace, question: Mapping[str, str], arguments: Mapping[str, Any]) -> Asked:
    """Return what one call answers."""
    answer = call_tool(make_tool("ubp_search"), workspace, {"query": question["text"], **arguments})
    pages = [result["filepath"] for result in answer.record["results"][:FIRST]]
    return Asked(
        question["text"],
        question["page"] in pages,
        question["term"] in answer.text,
        count_tokens(answer.text),
    )


def ask_qmd(program: str, clone: str, question: Mapping[str, str]) -> Asked:
    """Return what one call of `qmd search` answers."""
    name = Path(clone).resolve().name
    command = [program, "search", question["text"], "-c", name, "-n", str(FIRST)]
    text = subprocess.run(command, capture_output=True, check=True, text=True).stdout
    pages = [
        match[1]
        for match in re.finditer(rf"^qmd://{re.escape(name)}/(.+?):\d+", text, re.MULTILINE)
    ]
    return Asked(
        question["text"],
        _plain(question["page"]) in map(_plain, pages),
        question["term"] in text,
        count_tokens(text),
    )


def has_section(workspace: Workspace, clone: Path, case: Mapping[str, Any]) -> bool:
    """Return whether lines of a section that answers are in the response of one call."""
    answer = call_tool(make_tool("ubp_search"), workspace, {"query": case["question"]})
    answering = [name.rpartition("#") for name in case["sections"]]
    return any(
        has_lines(clone, result["filepath"], name, section)
        for result in answer.record["results"]
        for section in result["sections"]
        for path, _, name in answering
        if section.get("text") and result["filepath"] == (path or TOML)
    )


def has_lines(clone: Path, path: str, name: str, shown: Mapping[str, int]) -> bool:
    """Return whether lines of a section, without those below it, are among the lines shown."""
    outline = read_outline((clone / path).read_bytes())
    section = find_section(outline, name)
    if section is None:
        return False
    starts = (other.line_start for other in outline if other.line_start > section.line_start)
    end = min(section.line_end, min(starts, default=section.line_end + 1) - 1)
    first = max(section.line_start, shown["text_start"])
    lines = min(end, shown["text_end"]) - first + 1
    return lines >= min(MIN_LINES, end - section.line_start + 1)


def _plain(path: str) -> str:
    """Return a path as qmd's addresses have it, which keep letters and digits only."""
    return re.sub(r"\W+|_", "-", path.casefold())


def main() -> None:
    """Ask every question of the repositories that are given."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("clones", nargs="*", default=[], metavar="OWNER/NAME=CLONE")
    parser.add_argument("--specs", nargs="*", default=[], metavar="NAME=CLONE")
    parser.add_argument("--max-tokens", type=int, help="instead of the tool's default")
    parser.add_argument("--qmd", help="the program of that name, to ask it too")
    parser.add_argument("--misses", action="store_true", help="list the questions that fail")
    options = parser.parse_args()
    clones = dict(clone.split("=", 1) for clone in options.clones)
    arguments = {"max_tokens": options.max_tokens} if options.max_tokens else {}
    everything: list[Asked] = []
    rival: list[Asked] = []
    for row in json.loads(QUESTIONS.read_text(encoding="utf-8")):
        if row["repository"] in clones:
            clone = clones[row["repository"]]
            with Workspace.open(clone) as workspace:
                given = {"ref": row["commit"], **arguments}
                asked = [ask(workspace, question, given) for question in row["questions"]]
            report(row["repository"], asked, has_misses=options.misses)
            everything += asked
            if options.qmd:
                answers = [ask_qmd(options.qmd, clone, question) for question in row["questions"]]
                report("  qmd", answers, has_misses=False)
                rival += answers
    if everything:
        report("all", everything, has_misses=False)
    specifications = json.loads(SPEC_QUESTIONS.read_text(encoding="utf-8"))
    for name, clone in (argument.split("=", 1) for argument in options.specs):
        with Workspace.open(clone) as workspace:
            found = sum(has_section(workspace, Path(clone), case) for case in specifications[name])
        print(f"{name}: an answering section in {found} of {len(specifications[name])} responses")
    if rival:
        report("  qmd", rival, has_misses=False)


def report(name: str, asked: Iterable[Asked], *, has_misses: bool) -> None:
    """Print one line: the shares of questions, and the median of tokens."""
    rows = list(asked)
    pages = sum(row.has_page for row in rows) / len(rows)
    terms = sum(row.has_term for row in rows) / len(rows)
    tokens = median(row.tokens for row in rows)
    print(
        f"{name}: {len(rows)} questions, page in the first {FIRST} {pages:.2f},"
        f" key term {terms:.2f}, median {tokens:.0f} tokens"
    )
    for row in rows if has_misses else ():
        if not (row.has_page and row.has_term):
            print(f"  {'page' if not row.has_page else 'term'} missing: {row.text}")


if __name__ == "__main__":
    main()
