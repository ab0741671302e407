"""Nothing that a page or a user can hold breaks what reads it: hypothesis, 10,000 cases each.

    python benchmarks/robustness/fuzz.py [CASES]

The suite has the same properties with fewer cases; this looks longer, and at inputs that are made
of the pieces that parsers trip over. It prints what a case cost and ends with 1 on a failure.
"""

import sqlite3
import sys
import time
import traceback
from collections.abc import Callable

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ubp.core.text import segment_cjk
from ubp.index.store.fulltext import write_fts5
from ubp.markdown.document import parse_page, read_head
from ubp.markdown.parse import parse_markdown
from ubp.search.excerpt import cut_snippet
from ubp.search.match import find_term, normalize_text
from ubp.search.query import make_match, read_query

CASES = 10_000
KEYS = ("source_refs",)


def sampled(pieces: str) -> st.SearchStrategy[str]:
    """One of these pieces."""
    return st.sampled_from(pieces.split("§"))


MARKDOWN = sampled(
    "\n§\n\n§ §    §\t§# §## §### §===\n§---\n§> §- §1. §* §```\n§~~~§`§``§[§]§(§)§[[§]]§![[§"
    "|§\\§\\|§#§!§[a](b.md)§[[Page|type]]§[a]: b.md\n§<!--§-->§<a href='x'>§</a>§<div>\n§"
    "&amp;§%20§%ff§http://x§*§_§**§~§^§{#id}§|-|\n§:-:§$$§認証§ガ§\u200b§\ufeff§\x00§\r§\r\n§"
    "\x85§\u2028§é§\U0001f600§a§word "
)
YAML = sampled(
    "---\n§---§...\n§\n§ §  §\t§: §- §-§? §| \n§>-\n§&a §*a §!!python/object §!x §<<: §{§}§[§"
    "]§,§\"§'§#§%YAML 1.1\n§\\x§title§source_refs§path§blob§tags§aliases§doc_type§a§認証§0x1F§"
    "1e999§2026-01-01§yes§~§null§src/a.py§../x§/abs§\ufeff§\x00§\r\n§\x85§\ud7ff"
)
QUERY = sampled(
    "\"§(§)§AND§OR§NOT§NEAR§NEAR/2§-§*§^§+§:§{§}§'§,§ §\u3000§a§b.c§d-e§f/g§_§認証§フロー§の§が§"
    "\uff71§\uff9e§\uff21§①§\x00§\ud800§\uffff§\u200b§é§ß§İ§\U0001f600§“§”§\uff11§ー§々"
)


def pieces(of: st.SearchStrategy[str]) -> st.SearchStrategy[bytes]:
    """Pages made of these pieces, of any text, of any bytes."""
    made = st.lists(of, max_size=60).map("".join)
    return (made | st.text(max_size=200)).map(
        lambda text: text.encode("utf-8", "surrogatepass")
    ) | st.binary(max_size=200)


@given(data=pieces(MARKDOWN))
def read_markdown(data: bytes) -> None:
    """Sections and chunks cut back to the bytes; links lie where they say."""
    found = parse_markdown(data, read_head(data, ()).body)
    for part in (*found.sections, *found.chunks):
        assert 0 <= part.byte_start <= part.byte_end <= len(data)
        assert 1 <= part.line_start <= part.line_end
    for link in found.links:
        assert 0 <= link.byte_start <= link.byte_end <= len(data)
        assert link.line >= 1


@given(data=pieces(YAML).map(b"---\n".__add__))
def read_front_matter(data: bytes) -> None:
    """Whatever it is, there are facts; their problems and references have lines."""
    facts = parse_page(data, KEYS)
    assert all(place.line >= 1 for place in (*facts.problems, *facts.references))
    parse_markdown(data, read_head(data, ()).body)


def make_query_reader(connection: sqlite3.Connection) -> Callable[[], None]:
    """Ask FTS5 what a query means, and show what it finds."""

    @given(
        query=st.lists(QUERY, max_size=40).map("".join)
        | st.lists(QUERY, max_size=25).map(" ".join)
        | st.text(max_size=60),
        text=st.lists(QUERY, max_size=40).map("".join) | st.text(max_size=100),
    )
    def read(query: str, text: str) -> None:
        tree = read_query(query).tree
        if tree is None:
            return
        folded = normalize_text(text)
        match = make_match(tree, lambda term: any(find_term(folded, term)))
        connection.execute("SELECT rowid FROM words WHERE words MATCH ?", [write_fts5(match.match)])
        snippet = cut_snippet(text, match.terms)
        for start, end in snippet.highlights:
            assert 0 <= start <= end <= len(snippet.text)

    return read


def main(cases: int = CASES) -> int:
    """Run every target."""
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE VIRTUAL TABLE words USING fts5(body, tokenize='unicode61')")
    connection.execute(
        "INSERT INTO words VALUES (?)", [segment_cjk("OAuthの設定 a b c d-e 認証フロー")]
    )
    targets = {
        "Markdown": read_markdown,
        "front matter": read_front_matter,
        "query syntax": make_query_reader(connection),
    }
    failed = 0
    for name, target in targets.items():
        run = settings(
            max_examples=cases,
            deadline=None,
            database=None,
            suppress_health_check=list(HealthCheck),
        )(target)
        begun = time.perf_counter()
        try:
            run()
        except BaseException:  # noqa: BLE001 - hypothesis raises groups too
            failed += 1
            traceback.print_exc()
        seconds = time.perf_counter() - begun
        print(f"{name:<13} {cases:>7} cases {seconds:6.1f} s, {1000 * seconds / cases:.2f} ms each")
    connection.close()
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
