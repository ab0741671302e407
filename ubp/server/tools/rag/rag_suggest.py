"""`rag_suggest`: the documents that belong to a text or a piece of code."""

from dataclasses import dataclass
from typing import Annotated, Literal

from ubp.frame.arguments import MaxTokens, between
from ubp.frame.fields import Keyword
from ubp.output.records.rag import RagSuggestRecord, rag_suggest_record
from ubp.rag import ask, suggest
from ubp.server.tools.rag.arguments import MAX_TOP_K, DropLast, Project, json_text
from ubp.server.tools.tool import Tool
from ubp.workspace import Workspace

MAX_CONTEXT_CHARACTERS = 400_000


@dataclass(frozen=True, slots=True)
class RagSuggestRequest:
    """What somebody is looking at."""

    context: Annotated[
        str, "the file, or the selected text", Keyword("maxLength", MAX_CONTEXT_CHARACTERS)
    ]
    project: Project | None = None
    top_k: Annotated[int, *between(1, MAX_TOP_K)] = 3
    context_type: Literal["code", "markdown", "comment"] | None = None
    max_tokens: MaxTokens | None = None


def run(workspace: Workspace, request: RagSuggestRequest) -> RagSuggestRecord:
    """Return the record of the documents, with the reason for each."""
    is_code = request.context_type in {None, "code"}
    suggestions = ask(
        workspace,
        request.project,
        lambda project: suggest(project, request.context, request.top_k, is_code=is_code),
    )
    return rag_suggest_record(suggestions)


RAG_SUGGEST = Tool(
    name="rag_suggest",
    title="Suggest documents for code or text",
    description=(
        "Find the documents that belong to a file or a selection: those that describe this code, "
        "or are about the same, each with the reason. Use it before you change code."
    ),
    request=RagSuggestRequest,
    record=RagSuggestRecord,
    run=run,
    text=json_text,
    fit=DropLast("suggestions"),
    failure="suggest_failed",
)
