"""What an agent spends on ten questions: with UBP's tools, and with grep and reading.

    python benchmarks/agents/agent_effort.py CLONE

CLONE is one of sert-xx/unified-blueprint at db7040f (48 pages, many of them twice, in English and
in Japanese). Nobody thinks here: both agents follow rules, and both are told when they have read
enough, which no real agent is. A question is answered when every page that it needs was read whole,
in either language. These pages were chosen by reading the repository: those that decide the matter,
not the requirements that mention everything. The test is not blind: some labels were corrected
after the first results had been seen, by whoever wrote the search. Neither agent reads a page
twice, nor its translation.

With UBP: one `ubp_search` for the question as it stands, then `ubp_get_context` for the best page,
then `ubp_get_page` for the next ones as found, then for those that are linked with the best one.

With grep: the question's words (of four letters or more, without stop words; of Japanese its runs
of kanji or katakana), in two ways: one `grep -ril` for each of the four longest words, and the
files are read by how many words they hold; or one `grep -rciE` for all words, and the files are
read by how many lines match. A grep is a call, and so is a file read.

"There" tells whether the first two calls, search and context, brought every page that is needed:
whole, in a passage or in a summary. Tokens are what comes back, estimated as `token_estimate` is:
for UBP the texts (in brackets the JSON, which some clients show instead), for grep its output and
the files. Precision@5 is how many of the first five pages found hold the matter's own term, which
is no part of the question. A star: the needed pages were not all found.
"""

import re
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import mean
from typing import Any, NamedTuple

from ubp.frame.budget import count_tokens
from ubp.frame.encoding import to_json
from ubp.server.tools.tool import AnyTool, ToolAnswer, call_tool, make_tool
from ubp.workspace import Workspace

MOST_READ = 10  # then an agent gives up
FIRST = 5
LEAST_LETTERS = 4
WORDS = 4


Texts = Mapping[str, str]
Record = dict[str, Any]


class Question(NamedTuple):
    """A question, the pages that it needs (a bar stands between two that will do), a term."""

    text: str
    needed: tuple[str, ...]
    term: str


QUESTIONS = (
    Question(
        "How is the score of a search result computed?",
        ("search-algorithm",),
        r"final_score|graph_proximity|vector_similarity",
    ),
    Question(
        "How are bursts of file changes batched before they are indexed?",
        ("async-pipeline",),
        r"debounc|デバウンス",
    ),
    Question(
        "When does a page count as stale, and where is that stored?",
        ("staleness-detection", "database-schema"),
        r"possibly_stale|source_refs_state",
    ),
    Question(
        "How are wiki links resolved, and what becomes of links to missing pages?",
        ("async-pipeline|database-schema",),
        r"dangling|ダングリング|link[ -]?resol|リンク解決",
    ),
    Question(
        "Which embedding model was selected, and against which others?",
        ("embedding-model",),
        r"multilingual-e5|MiniLM",
    ),
    Question(
        "What does the tool return that gathers context for an agent?",
        ("mcp-tools",),
        r"ubp_get_context|get-context",
    ),
    Question(
        "How do users of TaskFlow log in, and why was that way decided?",
        ("authentication", "002-auth-strategy"),
        r"JWT|OAuth",
    ),
    Question(
        "Which database did TaskFlow choose, and how is it deployed?",
        ("001-database-choice", "deployment"),
        r"PostgreSQL",
    ),
    Question(
        "サーバーの多重起動はどう防止されるか",
        ("mcp-tools|cli-commands|architecture",),
        r"serve\.lock|プロセスロック|process lock",
    ),
    Question(
        "埋め込みキューの失敗はどう再試行されるか",
        ("async-pipeline",),
        r"embedding ?(queue|キュー)|embedding-queue",
    ),
)

STOP_WORDS = frozenset(
    re.findall(
        "[a-z]+",
        "against also and are become becomes before did does for has have how into its others that"
        " the their then they this was way were what when where which while who why with",
    )
)


class Effort(NamedTuple):
    """What a question cost: calls, tokens (of texts and of JSON), and whether it was answered."""

    calls: int
    tokens: int
    json_tokens: int
    is_answered: bool


class Answered(NamedTuple):
    """How UBP answered: at what cost, what it found, whether two calls brought what is needed."""

    effort: Effort
    found: tuple[str, ...]
    is_there: bool


Row = tuple[Question, Answered, Effort, Effort]


def main() -> None:
    """Ask, and print the table."""
    root = Path(sys.argv[1])
    pages = subprocess.run(
        ["git", "-C", root, "ls-files", "-z", "*.md"], capture_output=True, check=True
    )
    texts = {
        path: (root / path).read_text(encoding="utf-8")
        for path in pages.stdout.decode().split("\0")
        if path
    }
    with Workspace.open(str(root)) as workspace:
        rows = [
            (question, ask_ubp(question, workspace), *ask_grep(question, texts))
            for question in QUESTIONS
        ]
    print("| question | P@5 | there | calls: UBP | grep a word | grep all | tokens: UBP | grep |")
    print("|---|---|---|---|---|---|---|---|")
    for question, ours, each, once in rows:
        calls = " | ".join(str(e.calls) + "*" * (not e.is_answered) for e in (ours[0], each, once))
        tokens = f"{ours.effort.tokens:,} ({ours.effort.json_tokens:,}) | {each.tokens:,}"
        there = "yes" if ours.is_there else "no"
        right = precision(question, ours.found, texts)
        print(f"| {question.text} | {right:.1f} | {there} | {calls} | {tokens} |")
    summarise(rows, texts)


def summarise(rows: Sequence[Row], texts: Texts) -> None:
    """Print what all questions took together."""
    sides = [[row[1].effort for row in rows], [row[2] for row in rows], [row[3] for row in rows]]
    calls = [sum(answer.calls for answer in side) for side in sides]
    tokens = [sum(answer.tokens for answer in side) for side in sides]
    right = mean(precision(row[0], row[1].found, texts) for row in rows)
    there = sum(row[1].is_there for row in rows)
    as_json = sum(answer.json_tokens for answer in sides[0])
    print(
        f"| all | {right:.2f} | {there} of {len(rows)} | {' | '.join(map(str, calls))}"
        f" | {tokens[0]:,} ({as_json:,}) | {tokens[1]:,} |\n"
    )
    for way, number, other in zip(("a word", "all words"), calls[1:], tokens[1:], strict=True):
        print(
            f"Against a grep for {way}: {1 - calls[0] / number:.0%} fewer calls,"
            f" {1 - tokens[0] / other:.0%} fewer tokens."
        )


def ask_ubp(question: Question, workspace: Workspace) -> Answered:
    """Search, read the best page with its surroundings, then the others."""
    answers: list[ToolAnswer] = []

    def use(tool: AnyTool, **arguments: str) -> Record:
        answers.append(call_tool(tool, workspace, arguments))
        return answers[-1].record

    found = [
        result["filepath"]
        for result in use(make_tool("ubp_search"), query=question.text)["results"]
    ]
    read, linked = found[:1], []
    if found:
        around = use(make_tool("ubp_get_context"), filepath=found[0])["related"]
        linked = [page["filepath"] for page in around]
    for path in dict.fromkeys([*found[1:], *linked]):
        if is_answered(question, read) or len(read) == MOST_READ:
            break
        if is_new(path, read):
            use(make_tool("ubp_get_page"), filepath=path)
            read.append(path)
    effort = Effort(
        calls=len(answers),
        tokens=sum(count_tokens(answer.text) for answer in answers),
        json_tokens=sum(count_tokens(to_json(answer.record)) for answer in answers),
        is_answered=is_answered(question, read),
    )
    return Answered(effort, tuple(found), is_answered(question, [*found, *linked]))


def ask_grep(question: Question, texts: Texts) -> tuple[Effort, Effort]:
    """Grep in both ways, and read file after file."""
    words = words_of(question.text)
    each = read_files(question, grep_each(words, texts), texts)
    return each, read_files(question, grep_once(words, texts), texts)


class Grepped(NamedTuple):
    """What greps printed, how many they were, and the files in the order to read them."""

    output: str
    calls: int
    files: tuple[str, ...]


def grep_once(words: Sequence[str], texts: Texts) -> Grepped:
    """One grep for all words; the files with the most matching lines first."""
    pattern = re.compile("|".join(map(re.escape, words)), re.IGNORECASE)
    lines = {path: len(matching(pattern, text)) for path, text in texts.items()}
    counted = {path: number for path, number in lines.items() if number}
    output = "\n".join(f"{path}:{number}" for path, number in counted.items())
    return Grepped(output, 1, tuple(sorted(counted, key=lambda path: (-counted[path], path))))


def grep_each(words: Sequence[str], texts: Texts) -> Grepped:
    """One grep for each of the longest words; the files that hold the most words first."""
    longest = sorted(words, key=len, reverse=True)[:WORDS]
    patterns = [re.compile(re.escape(word), re.IGNORECASE) for word in longest]
    listed = [
        [path for path, text in texts.items() if pattern.search(text)] for pattern in patterns
    ]
    held = Counter(path for paths in listed for path in paths)
    output = "\n".join(path for paths in listed for path in paths)
    return Grepped(output, len(longest), tuple(sorted(held, key=lambda path: (-held[path], path))))


def read_files(question: Question, grepped: Grepped, texts: Texts) -> Effort:
    """Read them until the question is answered."""
    read: list[str] = []
    for path in grepped.files:
        if is_answered(question, read) or len(read) == MOST_READ:
            break
        if is_new(path, read):
            read.append(path)
    tokens = count_tokens(grepped.output) + sum(count_tokens(texts[path]) for path in read)
    return Effort(grepped.calls + len(read), tokens, tokens, is_answered(question, read))


def words_of(question: str) -> list[str]:
    """What an agent would grep for."""
    words = re.findall(r"[A-Za-z]+|[\u4e00-\u9fff]{2,}|[\u30a1-\u30ff]{2,}", question)
    return [
        word
        for word in words
        if not word.isascii() or (len(word) >= LEAST_LETTERS and word.lower() not in STOP_WORDS)
    ]


def is_answered(question: Question, read: Sequence[str]) -> bool:
    """Whether every page that it needs was read."""
    names = {name_of(path) for path in read}
    return all(names & set(needed.split("|")) for needed in question.needed)


def name_of(path: str) -> str:
    """What a page is called in either language."""
    return re.sub(r"(\.ja)?\.md$", "", path.rpartition("/")[2])


def is_new(path: str, read: Sequence[str]) -> bool:
    """Whether neither the page nor its translation was read."""
    return re.sub(r"\.ja\.md$", ".md", path) not in {re.sub(r"\.ja\.md$", ".md", p) for p in read}


def precision(question: Question, found: Sequence[str], texts: Texts) -> float:
    """How many of the first pages found are about the matter."""
    term = re.compile(question.term, re.IGNORECASE)
    return sum(bool(term.search(texts[path])) for path in found[:FIRST]) / FIRST


def matching(pattern: re.Pattern[str], text: str) -> list[str]:
    """The lines that match."""
    return [line for line in text.splitlines() if pattern.search(line)]


if __name__ == "__main__":
    main()
