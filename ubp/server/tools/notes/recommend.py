"""`recommend`: tools and articles among the notes that meet a project's needs."""

from dataclasses import dataclass
from typing import Annotated

from ubp.frame.arguments import QUERY_CHARACTERS
from ubp.frame.fields import Keyword
from ubp.notes.recommend import recommend
from ubp.notes.reports import ReportFinder
from ubp.output.agent.notes import recommendations_text
from ubp.output.records.notes import RecommendationsRecord, recommendations_record
from ubp.server.tools.tool import Tool
from ubp.workspace import Workspace


@dataclass(frozen=True, slots=True)
class RecommendRequest:
    """What a project is, has and needs."""

    project_context: Annotated[
        str, "what the project is for", Keyword("maxLength", QUERY_CHARACTERS)
    ]
    tech_stack: Annotated[tuple[str, ...], "what it uses already"] = ()
    needs: Annotated[tuple[str, ...], "what it needs, one by one"] = ()


def run(workspace: Workspace, request: RecommendRequest) -> RecommendationsRecord:
    """Return the record of the recommendations."""
    session = workspace.session
    found = recommend(
        session,
        request.project_context,
        request.tech_stack,
        request.needs,
        ReportFinder(session).find,
    )
    return recommendations_record(found)


RECOMMEND = Tool(
    name="recommend",
    title="Recommend tools and articles",
    description=(
        "Recommend tools and articles from the user's bookmarks and notes for a project. Each has "
        "the need that it meets and the notes that say so."
    ),
    request=RecommendRequest,
    record=RecommendationsRecord,
    run=run,
    text=recommendations_text,
    budgets=(),
    reads_collections=True,
)
