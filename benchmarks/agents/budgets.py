"""Results within a budget as text and as a record, and what lists, graphs and contexts cost.

python benchmarks/agents/budgets.py REPOSITORY [QUERY ...]

Searches are asked for the titles of 20 pages, drawn with a seed, unless queries are given. A
`record` is what `ubp serve --output-schema` sends, once; tokens are UBP's estimate.
"""

import json
import random
import subprocess
import sys
from collections.abc import Iterator, Sequence
from statistics import median
from typing import Any, NamedTuple

from benchmarks.common.measure import UBP
from ubp.frame.budget import count_tokens

SEED, QUERIES, LIMIT = 33, 20, 10
BUDGETS = (300, 1_000, 3_000)
OPTIONS = ({}, {"include_linked": True}, {"verbose": True})
HANDSHAKE = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "budgets", "version": "1"},
}


class Answer(NamedTuple):
    """What was sent: its size, and the record."""

    tokens: int
    record: dict[str, Any]


class Server:
    """A server on stdio, whose answers are texts or records."""

    def __init__(self, root: str) -> None:
        """Start it."""
        self._process = subprocess.Popen(
            [UBP, "--quiet", "-C", root, "serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self._number = 0
        self._ask("initialize", HANDSHAKE)

    def call(self, tool: str, arguments: dict[str, Any], *, is_record: bool) -> Answer:
        """Call a tool; a text has no record."""
        meta = {"_meta": {"ubp/record": True}} if is_record else {}
        result = self._ask("tools/call", {"name": tool, "arguments": arguments, **meta})
        text = result["content"][0]["text"]
        return Answer(count_tokens(text), json.loads(text) if is_record else {"text": text})

    def close(self) -> None:
        """Disconnect."""
        self._process.communicate()

    def _ask(self, method: str, params: dict[str, Any]) -> Any:
        self._number += 1
        message = {"jsonrpc": "2.0", "id": self._number, "method": method, "params": params}
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(json.dumps(message).encode() + b"\n")
        self._process.stdin.flush()
        while True:
            answer = json.loads(self._process.stdout.readline())
            if answer.get("id") == self._number:
                return answer["result"]


def shown(answer: Answer, items: str) -> int:
    """Return how many results an answer has; the first word of a text is their number."""
    if items in answer.record:
        return len(answer.record[items])
    word = answer.record["text"].split()[0]
    return int(word) if word.isdigit() else 0


def compare(server: Server, tool: str, items: str, calls: Sequence[dict[str, Any]]) -> str:
    """Return a row: the mean number of results of both forms, their ratio, and the sizes."""
    forms = [[server.call(tool, call, is_record=form) for call in calls] for form in (False, True)]
    numbers = [[shown(answer, items) for answer in form] for form in forms]
    text, record = (sum(form) / len(form) for form in numbers)
    fewest = min(numbers[1])
    sizes = [median(answer.tokens for answer in form) for form in forms]
    ratio = record / text if text else 0
    return (
        f"| {text:.1f} | {record:.1f} | {ratio:.2f} | {fewest} | {sizes[0]:.0f} / {sizes[1]:.0f} |"
    )


def rows(server: Server, queries: Sequence[str]) -> Iterator[str]:
    """Yield the rows about searches, lists and graphs."""
    for budget in BUDGETS:
        for options in OPTIONS:
            calls = [
                {"query": query, "limit": LIMIT, "max_tokens": budget, **options}
                for query in queries
            ]
            name = " ".join(["ubp_search", *options])
            yield f"| {name} | {budget} {compare(server, 'ubp_search', 'results', calls)}"
        calls = [{"query": query, "max_tokens": budget} for query in queries]
        row = compare(server, "ubp_fulltext_search", "results", calls)
        yield f"| ubp_fulltext_search | {budget} {row}"
        yield f"| ubp_list_pages | {budget} " + compare(
            server, "ubp_list_pages", "pages", [{"max_tokens": budget}]
        )


def main(root: str, *queries: str) -> None:
    """Print the tables."""
    server = Server(root)
    listed = server.call("ubp_list_pages", {"limit": 1_000}, is_record=True).record["pages"]
    titles = sorted({page["title"] for page in listed})
    chosen = queries or random.Random(SEED).sample(titles, min(QUERIES, len(titles)))
    print(
        "| | budget | text | record | ratio | fewest | tokens, median |\n"
        "|---|---|---|---|---|---|---|"
    )
    for row in rows(server, list(chosen)):
        print(row, flush=True)
    pages = [
        page["filepath"] for page in random.Random(SEED).sample(listed, min(QUERIES, len(listed)))
    ]
    for tool, calls in (
        ("ubp_list_pages", [{}]),
        ("ubp_get_graph", [{}]),
        ("ubp_get_context", [{"filepath": page} for page in pages]),
    ):
        for form in (False, True):
            sizes = [server.call(tool, call, is_record=form).tokens for call in calls]
            name = "record" if form else "text"
            print(f"{tool} {name}: median {median(sizes):.0f}, most {max(sizes)} tokens")
    server.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
