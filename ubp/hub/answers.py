"""The table of the hub's answers: what clients ask over HTTP, and agents as tools."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from ubp.answers.hub.impact import HubImpactRecord, HubImpactRequest
from ubp.answers.hub.impact import text as impact_text
from ubp.answers.hub.pages import (
    HubPagesRecord,
    HubPagesRequest,
    HubStalenessRecord,
    HubStalenessRequest,
    pages_text,
    staleness_text,
)
from ubp.answers.hub.review import HubReviewRecord, HubReviewRequest
from ubp.answers.hub.review import text as review_text
from ubp.answers.hub.search import (
    HubContextRecord,
    HubContextRequest,
    HubFulltextRequest,
    HubSearchRecord,
    HubSearchRequest,
    HubSectionsRecord,
    HubTextRecord,
    HubTextRequest,
    context_text,
    page_text,
    search_text,
    sections_text,
)
from ubp.board.model import MAX_TEXT_CHARACTERS, is_text
from ubp.core.errors import BadArgumentError
from ubp.frame.answer import Request
from ubp.frame.arguments import check_arguments, make_request
from ubp.frame.schema import Schema, request_schema
from ubp.frame.writer import Writer
from ubp.hub import impact, pages, review
from ubp.hub.database import Connection
from ubp.hub.models import HubModel
from ubp.hub.search import Searcher

RequestT = TypeVar("RequestT", bound=Request[Any])
RecordT = TypeVar("RecordT")


@dataclass(frozen=True, slots=True)
class HubAnswer(Generic[RequestT, RecordT]):
    """A question over all readable repositories.

    `name` is its place below `/v1/ask/`. With `tool` it is a tool of that name for agents, with a
    `title` and a `description`. `run` is asked with the reader's name, and joins `readable(reader)`
    in every statement.
    """

    name: str
    request: type[RequestT]
    record: type[RecordT]
    run: Callable[[Connection, str, RequestT], RecordT]
    text: Callable[[RecordT, Writer], Iterator[str]]
    tool: str = ""
    title: str = ""
    description: str = ""

    @property
    def schema(self) -> Schema:
        """The JSON schema of its arguments."""
        kind: Any = self.request
        return request_schema(kind)

    def read(self, arguments: Mapping[str, Any]) -> RequestT:
        """Return the request that arguments describe.

        Raises:
            BadArgumentError: an argument is unknown, missing or not allowed, or a text that no row
                can have.
        """
        for name, value in arguments.items():
            texts = value if isinstance(value, list) else [value]
            if not all(is_text(text) for text in texts if isinstance(text, str)):
                raise BadArgumentError(
                    name,
                    "An argument is not a text that the hub can look for.",
                    cause=f"It must be Unicode without NUL, of at most {MAX_TEXT_CHARACTERS:,}"
                    " characters.",
                )
        kind: Any = self.request
        made: RequestT = make_request(kind, check_arguments(self.schema, arguments))
        return made


AnyHubAnswer = HubAnswer[Any, Any]

BOARD_ANSWERS: tuple[AnyHubAnswer, ...] = (
    HubAnswer(
        "impact",
        HubImpactRequest,
        HubImpactRecord,
        impact.run,
        impact_text,
        tool="ubp_get_impact",
        title="Find pages of all repositories that describe a source",
        description=(
            "Find the pages of any repository that describe a file, folder, symbol or heading of a "
            "repository, and which of them are behind its tip. Use it before changing an API."
        ),
    ),
    HubAnswer(
        "staleness",
        HubStalenessRequest,
        HubStalenessRecord,
        pages.check_staleness,
        staleness_text,
        tool="ubp_check_staleness",
        title="Find outdated pages of all repositories",
        description=(
            "List the references of pages whose sources have changed, in their repository or at "
            "the tip of another one; of one repository, page or owner."
        ),
    ),
    HubAnswer(
        "pages",
        HubPagesRequest,
        HubPagesRecord,
        pages.list_pages,
        pages_text,
        tool="ubp_list_pages",
        title="List pages of all repositories",
        description="List the pages of all repositories, or of one, by owner and staleness.",
    ),
    HubAnswer(
        "review",
        HubReviewRequest,
        HubReviewRecord,
        review.run,
        review_text,
        tool="ubp_review_change",
        title="Find pages of other repositories that a change concerns",
        description=(
            "After you changed a repository: find the pages of other repositories that describe "
            "what you changed."
        ),
    ),
)


def create_answers(model: HubModel) -> tuple[AnyHubAnswer, ...]:
    """Return all answers; those that search share what the process has in memory."""
    searcher = Searcher(model)
    return (
        *BOARD_ANSWERS,
        HubAnswer(
            "search",
            HubSearchRequest,
            HubSearchRecord,
            searcher.search,
            search_text,
            tool="ubp_search",
            title="Search the pages of all repositories",
            description=(
                "Search the documentation of all repositories by words, meaning and links. Returns "
                "pages with the text of the best section, owner, freshness and address."
            ),
        ),
        HubAnswer(
            "fulltext",
            HubFulltextRequest,
            HubSectionsRecord,
            searcher.find_words,
            sections_text,
            tool="ubp_fulltext_search",
            title="Find exact words in all repositories",
            description=(
                "Find sections of any repository with exact words or phrases, such as an error "
                "message. Use it when you know the wording."
            ),
        ),
        HubAnswer(
            "page",
            HubTextRequest,
            HubTextRecord,
            searcher.get_page,
            page_text,
            tool="ubp_get_page",
            title="Read a page of a repository",
            description="Read a page of any repository, or a section of it: filepath#section.",
        ),
        HubAnswer(
            "context",
            HubContextRequest,
            HubContextRecord,
            searcher.find_context,
            context_text,
            tool="ubp_get_context",
            title="Collect what a task needs from all repositories",
            description=(
                "Collect the sections of all repositories that a task needs, within max_tokens. "
                "Use it before you begin a task."
            ),
        ),
    )
