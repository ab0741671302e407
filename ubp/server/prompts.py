"""Prompts: tasks that a person gives to an agent, with the repository's facts filled in.

Documents are resources of their own in a prompt, so that their text cannot pass for a part of it.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple
from urllib.parse import quote

from mcp.types import (
    EmbeddedResource,
    GetPromptResult,
    ListPromptsResult,
    Prompt,
    PromptArgument,
    PromptMessage,
    TextContent,
)

from ubp.answers.pages.get_context import ContextRequest
from ubp.answers.pages.get_context import text as context_text
from ubp.answers.staleness.check_staleness import CheckedRecord
from ubp.answers.staleness.check_staleness import text as checked_text
from ubp.core.model import Level
from ubp.frame.encoding import from_object
from ubp.frame.quoting import enclose_titles, name
from ubp.frame.wording import joined, list_names
from ubp.frame.writer import Writer
from ubp.index.session import Session
from ubp.server.errors import bad_params
from ubp.server.repositories import QUERY, REPOSITORY, Repositories
from ubp.server.resources import embed_page, read_page, run_tool
from ubp.server.tools.tool import NOTICE
from ubp.server.transport import readable
from ubp.table import kit_prompts
from ubp.workspace import Workspace

MAX_RESULTS = 5
CONTEXT_CHARACTERS = 20_000

Content = TextContent | EmbeddedResource

UPDATE = """\
{notice}

Update the page {page}{reason}. The page is attached below.

# What changed

{drift}"""

CHANGED = ": its sources changed since it was written"
REASONS: Mapping[Level, str] = {"stale": CHANGED, "possibly_stale": CHANGED}

UPDATE_STEPS = """\
# What to do

1. Compare every statement of the page with the changes above, and with the code where the changes \
are not enough. Where page and code disagree, the code is right.
2. Correct what is no longer true, and add what a reader of the page now needs to know. Keep the \
front matter, headings, links and tone as they are.
3. If everything is still true, change nothing.
"""

ACKNOWLEDGE_STEP = """\
4. In either case, finish with this command, which marks the page as reviewed against the current \
sources:

    {command}
"""

ANSWER = """\
{notice}

Answer this question from the repository's documentation: {question}

# Search results

{found}"""

CONTEXT = """
# The best page, attached below, and the pages linked with it

{context}"""

ANSWER_STEPS = """\
# How to answer

Cite the pages that you rely on by their paths. A stale page may no longer match the code: say so, \
and check the code. If something is missing, call ubp_search with other words, or ubp_get_page for \
another page. If the documentation does not contain the answer, say so.
"""


class PromptRow(NamedTuple):
    """A prompt with its one argument, and the function that writes its contents."""

    name: str
    title: str
    description: str
    argument: str
    meaning: str
    write: Callable[[Workspace, str], Iterator[Content]]


def list_prompts(repositories: Repositories) -> ListPromptsResult:
    """Return all prompts; where there are several repositories, each has an argument for one."""
    names = repositories.names
    choice = PromptArgument(
        name=REPOSITORY, description=f"{list_names(names)}; by default the first", required=False
    )
    return ListPromptsResult(
        prompts=[
            Prompt(
                name=row.name,
                title=row.title,
                description=row.description,
                arguments=[
                    PromptArgument(name=row.argument, description=row.meaning, required=True),
                    *([choice] if names else []),
                ],
            )
            for row in prompt_rows(repositories)
        ]
    )


def prompt_rows(repositories: Repositories) -> tuple[PromptRow, ...]:
    """Return the prompts of a server."""
    prompts = (prompt for kit in repositories.kits for prompt in kit_prompts(kit))
    return (*ROWS, *(PromptRow(*row[:-1], partial(_write_text, row.write)) for row in prompts))


def writer(
    name: str,
    arguments: Mapping[str, str],
    repository: str = "",
    known: Sequence[PromptRow] | None = None,
) -> Callable[[Workspace], GetPromptResult]:
    """Return the function that writes a prompt, which says which `repository` it is about.

    `known` are the prompts of the server, by default those of every one.

    Raises:
        MCPError: there is no such prompt, or its argument is missing.
    """
    known = ROWS if known is None else known
    row = next((row for row in known if row.name == name), None)
    if row is None:
        names = ", ".join(row.name for row in known)
        raise bad_params(f"Unknown prompt: {name}. Available: {names}.", name=name)
    value = _argument(row, arguments)

    def write(workspace: Workspace) -> GetPromptResult:
        contents = [*row.write(workspace, value)]
        if repository:
            contents = [_text(f"Repository {repository}:\n"), *map(in_repository, contents)]
        messages = [PromptMessage(role="user", content=content) for content in contents]
        return GetPromptResult(description=row.description, messages=messages)

    def in_repository(content: Content) -> Content:
        if isinstance(content, EmbeddedResource):
            content.resource.uri = f"{content.resource.uri}{QUERY}{quote(repository)}"
        return content

    return write


def _argument(row: PromptRow, given: Mapping[str, str]) -> str:
    for argument in given:
        if argument != row.argument:
            message = f"Unknown argument of {row.name}: {argument}. Valid: {row.argument}."
            raise bad_params(message, argument=argument)
    value = given.get(row.argument, "").strip()
    if not value:
        raise bad_params(
            f"Missing argument of {row.name}: {row.argument} ({row.meaning}).",
            argument=row.argument,
        )
    return value


def _write_update(workspace: Workspace, filepath: str) -> Iterator[Content]:
    path, text = read_page(workspace, filepath)
    record = run_tool(workspace, "ubp_check_staleness", filepath=path, for_update=True).record
    checked = from_object(CheckedRecord, record)
    documents = tuple(replace(document, content=None) for document in checked.documents)
    drift = joined(checked_text(replace(checked, documents=documents), Writer(is_agent=True)))
    (document,) = checked.documents
    reason = REASONS.get(document.staleness, " where it no longer matches the code")
    yield _text(UPDATE.format(notice=NOTICE, page=name(path), reason=reason, drift=drift))
    yield embed_page(path, text)
    command = document.acknowledge
    last = ACKNOWLEDGE_STEP.format(command=command) if command else ""
    yield _text(UPDATE_STEPS + last)


def _write_answer(workspace: Workspace, question: str) -> Iterator[Content]:
    results = run_tool(workspace, "ubp_search", query=question, limit=MAX_RESULTS)
    text = ANSWER.format(notice=NOTICE, question=question, found=results.text)
    if hits := results.record["results"]:
        best = hits[0]["filepath"]
        request = ContextRequest(best, max_size=CONTEXT_CHARACTERS)
        context = workspace.ask(request)
        center = replace(context.center, content="")
        related = joined(context_text(replace(context, center=center), Writer(is_agent=True)))
        yield _text(text + CONTEXT.format(context=related))
        yield embed_page(best, context.center.content)
    else:
        yield _text(text)
    yield _text(ANSWER_STEPS)


def _write_text(
    write: Callable[[Session, str], str], workspace: Workspace, value: str
) -> Iterator[Content]:
    yield _text(write(workspace.session, value))


def _text(text: str) -> TextContent:
    return TextContent(type="text", text=readable(enclose_titles(text)))


ROWS = (
    PromptRow(
        "ubp_update_stale_page",
        "Update a stale page",
        "Provides a page, the changes in its sources since it was written, and steps to update it.",
        "filepath",
        "repository-relative path of the page",
        _write_update,
    ),
    PromptRow(
        "ubp_answer",
        "Answer from the documentation",
        "Provides a question and the pages that best answer it.",
        "question",
        "the question to answer",
        _write_answer,
    ),
)
