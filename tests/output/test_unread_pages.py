"""A page that is too large to be read: every text of it gives the reason."""

from typing import Any

from ubp.answers.pages.list_pages import ListPagesRequest
from ubp.answers.pages.list_pages import text as list_text
from ubp.frame.wording import Style, joined
from ubp.frame.writer import Writer
from ubp.output.agent.pages import page_text as agent_text
from ubp.output.records.pages import context_record, page_record
from ubp.output.records.search import search_record
from ubp.output.text.pages import context_text, page_text
from ubp.output.text.search import SearchTextOptions, pages_text
from ubp.server.tools.docs.get_context import GET_CONTEXT
from ubp.server.tools.docs.search import SEARCH
from ubp.server.tools.tool import call_tool, make_tool
from ubp.workspace import Workspace

REASON = "Cannot read this page: it is larger than 8 MB, or not available in this (partial) clone."


def test_a_page_over_8_mb_says_why_its_text_is_empty(repository: Any) -> None:
    repository.write("large.md", b"# Large\n" + b"x" * (8 << 20))
    repository.commit()
    with Workspace.open(str(repository.root)) as workspace:
        read = workspace.page("large.md")
    assert f"line 1: {REASON}" in page_text(read, Style(is_on=False), is_quiet=False)
    record = page_record(read)
    assert (record.content, [p.message for p in record.problems]) == ("", [REASON])
    answer = {
        "doc_id": record.doc_id,
        "filepath": record.filepath,
        "title": record.title,
        "doc_type": record.doc_type,
        "staleness": record.staleness,
        "blob": record.blob,
        "updated_at": record.updated_at,
        "content_notice": "A notice.",
        "problems": [{"line": 1, "message": REASON}],
    }
    assert f"Line 1: {REASON}" in agent_text(answer)


def test_lists_searches_and_context_say_which_page_they_could_not_read(repository: Any) -> None:
    repository.write("large.md", b"# Large\n" + b"x" * (8 << 20))
    repository.write("small.md", "# Small\n\nSee [the other](large.md).\n")
    repository.commit()
    style = Style(is_on=False)
    with Workspace.open(str(repository.root)) as workspace:
        listed = workspace.ask(ListPagesRequest())
        found = workspace.search("large", mode="fulltext")
        context = workspace.context("small.md")
        center = workspace.context("large.md")
        answers = [
            call_tool(tool, workspace, arguments)
            for tool, arguments in (
                (make_tool("ubp_list_pages"), {}),
                (SEARCH, {"query": "large", "mode": "fulltext"}),
                (GET_CONTEXT, {"filepath": "small.md"}),
                (GET_CONTEXT, {"filepath": "large.md"}),
            )
        ]
    texts = [
        joined(list_text(listed, Writer())),
        pages_text(found, SearchTextOptions(style)),
        context_text(context, style, is_quiet=False),
        context_text(center, style, is_quiet=False),
        *(answer.text for answer in answers),
    ]
    assert [text.count(REASON) for text in texts] == [1] * len(texts)
    records = [
        *(page.unreadable for page in listed.pages),
        *(page.unreadable for page in search_record(found).results if page.filepath == "large.md"),
        *(page.unreadable for page in context_record(context).related),
        context_record(context).center.unreadable,
        context_record(center).center.unreadable,
    ]
    assert records == [REASON, None, REASON, REASON, None, REASON]
