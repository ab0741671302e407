"""Prompts about projects: `rag_search_context` and `rag_code_docs`."""

import json
from collections.abc import Sequence

from ubp.frame.kit import KitPrompt
from ubp.frame.writer import NOTICE
from ubp.index.session import Session
from ubp.kits.rag.projects import ask
from ubp.kits.rag.rag_search import find_passages
from ubp.kits.rag.rag_suggest import suggest

MAX_RESULTS = 3
MAX_SHOWN = 200  # characters of each passage in a prompt

SEARCH_CONTEXT = """\
Based on the search query "{query}", here are related documents from the knowledge base:

{results}

You can use this information to provide more accurate and contextual responses.

{notice}
"""

CODE_DOCS = """\
Here are the documents that belong to this code:

{results}

You can use this information to provide more accurate and contextual responses.

{notice}
"""


def _write_search_context(session: Session, query: str) -> str:
    results, _ = ask(session, None, lambda project: find_passages(project, query, MAX_RESULTS))
    lines = [(result.file_path, result.text) for result in results]
    return SEARCH_CONTEXT.format(query=query, results=_list(lines), notice=NOTICE)


def _write_code_docs(session: Session, code: str) -> str:
    found = ask(session, None, lambda project: suggest(project, code, MAX_RESULTS, is_code=True))
    lines = [(f"{page.file_path} ({page.reason})", page.snippet) for page in found]
    return CODE_DOCS.format(results=_list(lines), notice=NOTICE)


def _list(lines: Sequence[tuple[str, str]]) -> str:
    """Return numbered passages, each on one line in quotation marks, which it cannot end."""
    shown = [
        f"{number}. {name}:\n   {json.dumps(_cut(text), ensure_ascii=False)}"
        for number, (name, text) in enumerate(lines, 1)
    ]
    return "\n\n".join(shown) or "None were found."


def _cut(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= MAX_SHOWN else f"{line[:MAX_SHOWN]}…"


PROMPTS = (
    KitPrompt(
        "rag_search_context",
        "Context for a search query",
        "Provides the passages of the knowledge base that answer a query.",
        "query",
        "the query",
        _write_search_context,
    ),
    KitPrompt(
        "rag_code_docs",
        "Documents for code",
        "Provides the documents that belong to a piece of code.",
        "code",
        "the code",
        _write_code_docs,
    ),
)
