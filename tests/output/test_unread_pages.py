"""A page that is too large to be read: every text of it gives the reason."""

from typing import Any

from ubp.answers.pages.get_context import ContextRequest
from ubp.answers.pages.get_context import text as context_text
from ubp.answers.pages.get_page import PageRequest
from ubp.answers.pages.get_page import text as page_text
from ubp.answers.pages.list_pages import ListPagesRequest
from ubp.answers.pages.list_pages import text as list_text
from ubp.answers.search.search import SearchRequest
from ubp.answers.search.search import text as search_text
from ubp.frame.wording import joined
from ubp.frame.writer import Writer
from ubp.server.tools.tool import call_tool, make_tool
from ubp.workspace import Workspace

REASON = "Cannot read this page: it is larger than 8 MB, or not available in this (partial) clone."


def test_page_over_8_mb_states_why_its_text_is_empty(repository: Any) -> None:
    repository.write("large.md", b"# Large\n" + b"x" * (8 << 20))
    repository.commit()
    with Workspace.open(str(repository.root)) as workspace:
        record = workspace.ask(PageRequest("large.md"))
    assert (record.content, [p.message for p in record.problems]) == ("", [REASON])
    assert f"line 1: {REASON}" in joined(page_text(record, Writer()))
    assert f"Line 1: {REASON}" in joined(page_text(record, Writer(is_agent=True)))


def test_lists_searches_and_context_say_which_page_they_could_not_read(repository: Any) -> None:
    repository.write("large.md", b"# Large\n" + b"x" * (8 << 20))
    repository.write("small.md", "# Small\n\nSee [the other](large.md).\n")
    repository.commit()
    with Workspace.open(str(repository.root)) as workspace:
        listed = workspace.ask(ListPagesRequest())
        found = workspace.ask(SearchRequest("large", mode="fulltext"))
        context = workspace.ask(ContextRequest("small.md"))
        center = workspace.ask(ContextRequest("large.md"))
        answers = [
            call_tool(tool, workspace, arguments)
            for tool, arguments in (
                (make_tool("ubp_list_pages"), {}),
                (make_tool("ubp_search"), {"query": "large", "mode": "fulltext"}),
                (make_tool("ubp_get_context"), {"filepath": "small.md"}),
                (make_tool("ubp_get_context"), {"filepath": "large.md"}),
            )
        ]
    texts = [
        joined(list_text(listed, Writer())),
        joined(search_text(found, Writer())),
        joined(context_text(context, Writer())),
        joined(context_text(center, Writer())),
        *(answer.text for answer in answers),
    ]
    assert [text.count(REASON) for text in texts] == [1] * len(texts)
    records = [
        *(page.unreadable for page in listed.pages),
        *(page.unreadable for page in found.results if page.filepath == "large.md"),
        *(page.unreadable for page in context.related),
        context.center.unreadable,
        center.center.unreadable,
    ]
    assert records == [REASON, None, REASON, REASON, None, REASON]
