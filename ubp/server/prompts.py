"""Prompts: what a person has an agent begin with, the repository's facts filled in."""

import re
from collections.abc import Callable, Mapping
from typing import NamedTuple

from mcp.types import (
    GetPromptRequestParams,
    GetPromptResult,
    ListPromptsResult,
    Prompt,
    PromptArgument,
    PromptMessage,
    TextContent,
)

from ubp.server.errors import bad_params
from ubp.server.resources import page_text, run_tool
from ubp.server.tools.arguments import reject_path_traversal
from ubp.server.tools.tool import NOTICE
from ubp.server.transport import readable
from ubp.workspace import Workspace

MAX_RESULTS = 5
CONTEXT_CHARACTERS = 20_000

UPDATE = """\
{notice}

Bring the page {filepath} up to date: its sources changed since it was written.

# What changed

{drift}

# The page

{page}

# What to do

1. Hold every statement of the page against the changes above, and against the code where they are \
not enough. Where page and code disagree, the code is right.
2. Change what is no longer true, and add what a reader of the page now needs. Leave front matter, \
headings, links and tone as they are.
3. If all of it is still true, change nothing.
4. Either way end with `ubp ack {filepath}`: it writes down which state of the sources the page \
describes.
"""

ANSWER = """\
{notice}

Answer this question from the repository's documentation: {question}

# What was found

{found}

# The best page, and what stands around it

{context}

# How to answer

Name the pages that you rely on, with their paths. A page that is stale no longer describes the \
code: say so, and look at the code. If something is missing, call ubp_search with other words, or \
ubp_get_page for another page. If the documentation does not tell, say that it does not.
"""


class PromptRow(NamedTuple):
    """A prompt with its one argument, and how its text is made."""

    name: str
    title: str
    description: str
    argument: str
    meaning: str
    write: Callable[[Workspace, str], str]


def list_prompts() -> ListPromptsResult:
    """All of them."""
    return ListPromptsResult(
        prompts=[
            Prompt(
                name=row.name,
                title=row.title,
                description=row.description,
                arguments=[
                    PromptArgument(name=row.argument, description=row.meaning, required=True)
                ],
            )
            for row in ROWS
        ]
    )


def writer(params: GetPromptRequestParams) -> Callable[[Workspace], GetPromptResult]:
    """What writes a prompt.

    Raises:
        MCPError: there is no such prompt, or its argument is missing.
    """
    row = next((row for row in ROWS if row.name == params.name), None)
    if row is None:
        names = ", ".join(row.name for row in ROWS)
        raise bad_params(f"There is no prompt {params.name}. There are {names}.", name=params.name)
    value = _argument(row, params.arguments or {})

    def write(workspace: Workspace) -> GetPromptResult:
        content = TextContent(text=readable(row.write(workspace, value)))
        return GetPromptResult(
            description=row.description, messages=[PromptMessage(role="user", content=content)]
        )

    return write


def _argument(row: PromptRow, given: Mapping[str, str]) -> str:
    for name in given:
        if name != row.argument:
            told = f"{row.name} has no argument {name}, but {row.argument}: {row.meaning}."
            raise bad_params(told, argument=name)
    value = given.get(row.argument, "").strip()
    if not value:
        raise bad_params(f"{row.name} needs {row.argument}: {row.meaning}.", argument=row.argument)
    return value


def _update(workspace: Workspace, filepath: str) -> str:
    reject_path_traversal({"filepath": filepath})
    return UPDATE.format(
        notice=NOTICE,
        filepath=filepath,
        drift=run_tool(workspace, "ubp_check_staleness", filepath=filepath, include_diff=True).text,
        page=_fenced(page_text(workspace, filepath)),
    )


def _answer(workspace: Workspace, question: str) -> str:
    found = run_tool(workspace, "ubp_search", query=question, limit=MAX_RESULTS)
    results = found.record["results"]
    context = "Nothing was found."
    if results:
        best = results[0]["filepath"]
        answer = run_tool(workspace, "ubp_get_context", filepath=best, max_size=CONTEXT_CHARACTERS)
        context = answer.text
    return ANSWER.format(notice=NOTICE, question=question, found=found.text, context=context)


def _fenced(text: str) -> str:
    """A page between fences that are longer than those in it."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}markdown\n{text.rstrip()}\n{fence}"


ROWS = (
    PromptRow(
        "ubp_update_stale_page",
        "Update a stale page",
        "A page, what changed in its sources since it was written, and what to do.",
        "filepath",
        "the page's path from the repository's root",
        _update,
    ),
    PromptRow(
        "ubp_answer",
        "Answer from the documentation",
        "A question, with the pages that answer it best.",
        "question",
        "what to answer",
        _answer,
    ),
)
