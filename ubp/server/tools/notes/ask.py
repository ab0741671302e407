"""`ask`: the passages of notes that answer a question, or an answer written from them."""

from dataclasses import dataclass
from typing import Annotated

from ubp.frame.arguments import QUERY_CHARACTERS, MaxTokens
from ubp.frame.budget import TokenLimit
from ubp.frame.encoding import Json
from ubp.frame.fields import Keyword
from ubp.notes.ask import answer_question
from ubp.output.agent.notes import answer_text
from ubp.output.records.notes import AnswerRecord, answer_record
from ubp.server.tools.tool import Tool
from ubp.sync.answer import write_answer
from ubp.workspace import Workspace

ASK_TOKENS = 4_000


@dataclass(frozen=True, slots=True)
class AskRequest:
    """A question."""

    question: Annotated[str, "in natural language", Keyword("maxLength", QUERY_CHARACTERS)]
    include_sources: Annotated[bool, "list the passages and their notes"] = True
    max_tokens: MaxTokens = ASK_TOKENS


def run(workspace: Workspace, request: AskRequest) -> AnswerRecord:
    """Return the record of the answer; the user's language model writes it, if there is one."""
    answer = answer_question(workspace.session, request.question)
    written = write_answer(answer, workspace.session.environment)
    return answer_record(answer, written, has_sources=request.include_sources)


def fit_answer(record: Json, limit: TokenLimit) -> None:
    """Drop the last passages, then cut off the end of the answer."""
    sources = record.get("sources", [])
    if not limit.drop(record, iter(lambda: sources.pop() if sources else None, None)):
        limit.truncate(record, record, "answer")


ASK = Tool(
    name="ask",
    title="Ask the notes",
    description=(
        "Answer a question from the user's bookmarks and notes: the best passages, verbatim, with "
        "their notes, and the probability that one of them answers."
    ),
    request=AskRequest,
    record=AnswerRecord,
    run=run,
    text=answer_text,
    fit=fit_answer,
    reads_collections=True,
)
