"""Prompts: tasks that a person gives to an agent, with the repository's facts filled in.

Documents are resources of their own in a prompt, so that their text cannot pass for a part of it.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from mcp.types import (
    EmbeddedResource,
    GetPromptRequestParams,
    GetPromptResult,
    ListPromptsResult,
    Prompt,
    PromptArgument,
    PromptMessage,
    TextContent,
)

from ubp.core.shell import path_argument, ubp_command
from ubp.output.agent.pages import context_text, name
from ubp.server.errors import bad_params
from ubp.server.resources import embed_page, read_page, run_tool
from ubp.server.tools.tool import NOTICE
from ubp.server.transport import readable
from ubp.workspace import Workspace

MAX_RESULTS = 5
CONTEXT_CHARACTERS = 20_000

Content = TextContent | EmbeddedResource

UPDATE = """\
{notice}

Bring the page {page} up to date: its sources changed since it was written. The page follows.

# What changed

{drift}"""

UPDATE_STEPS = """\
# What to do

1. Compare every statement of the page with the changes above, and with the code where they are \
not enough. Where page and code disagree, the code is right.
2. Change what is no longer true, and add what a reader of the page now needs. Leave front matter, \
headings, links and tone as they are.
3. If all of it is still true, change nothing.
4. Either way end with this command, which records the state of the sources that the page describes:

    {command}
"""

ANSWER = """\
{notice}

Answer this question from the repository's documentation: {question}

# What was found

{found}"""

CONTEXT = """
# The best page, which follows, and the pages around it

{context}"""

ANSWER_STEPS = """\
# How to answer

Name the pages that you rely on, with their paths. A page that is stale no longer describes the \
code: say so, and look at the code. If something is missing, call ubp_search with other words, or \
ubp_get_page for another page. If the documentation does not tell, say that it does not.
"""


class PromptRow(NamedTuple):
    """A prompt with its one argument, and the function that writes its contents."""

    name: str
    title: str
    description: str
    argument: str
    meaning: str
    write: Callable[[Workspace, str], Iterator[Content]]


def list_prompts() -> ListPromptsResult:
    """Return all prompts."""
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
    """Return the function that writes a prompt.

    Raises:
        MCPError: there is no such prompt, or its argument is missing.
    """
    row = next((row for row in ROWS if row.name == params.name), None)
    if row is None:
        names = ", ".join(row.name for row in ROWS)
        raise bad_params(f"There is no prompt {params.name}. There are {names}.", name=params.name)
    value = _argument(row, params.arguments or {})

    def write(workspace: Workspace) -> GetPromptResult:
        contents = row.write(workspace, value)
        messages = [PromptMessage(role="user", content=content) for content in contents]
        return GetPromptResult(description=row.description, messages=messages)

    return write


def _argument(row: PromptRow, given: Mapping[str, str]) -> str:
    for argument in given:
        if argument != row.argument:
            message = f"{row.name} has no argument {argument}, but {row.argument}: {row.meaning}."
            raise bad_params(message, argument=argument)
    value = given.get(row.argument, "").strip()
    if not value:
        raise bad_params(f"{row.name} needs {row.argument}: {row.meaning}.", argument=row.argument)
    return value


def _write_update(workspace: Workspace, filepath: str) -> Iterator[Content]:
    path, text = read_page(workspace, filepath)
    drift = run_tool(workspace, "ubp_check_staleness", filepath=path, include_diff=True).text
    yield _text(UPDATE.format(notice=NOTICE, page=name(path), drift=drift))
    yield embed_page(path, text)
    yield _text(UPDATE_STEPS.format(command=ubp_command("ack", path_argument(path))))


def _write_answer(workspace: Workspace, question: str) -> Iterator[Content]:
    results = run_tool(workspace, "ubp_search", query=question, limit=MAX_RESULTS)
    text = ANSWER.format(notice=NOTICE, question=question, found=results.text)
    if hits := results.record["results"]:
        best = hits[0]["filepath"]
        context = run_tool(workspace, "ubp_get_context", filepath=best, max_size=CONTEXT_CHARACTERS)
        center = context.record["center"]
        related = context_text({**context.record, "center": {**center, "content": ""}})
        yield _text(text + CONTEXT.format(context=related))
        yield embed_page(best, center["content"])
    else:
        yield _text(text)
    yield _text(ANSWER_STEPS)


def _text(text: str) -> TextContent:
    return TextContent(type="text", text=readable(text))


ROWS = (
    PromptRow(
        "ubp_update_stale_page",
        "Update a stale page",
        "A page, what changed in its sources since it was written, and what to do.",
        "filepath",
        "the page's path from the repository's root",
        _write_update,
    ),
    PromptRow(
        "ubp_answer",
        "Answer from the documentation",
        "A question, with the pages that answer it best.",
        "question",
        "what to answer",
        _write_answer,
    ),
)
