"""A page that is too large to be read: every text of it gives the reason."""

from typing import Any

from ubp.output.agent.pages import page_text as agent_text
from ubp.output.records.pages import page_record
from ubp.output.text.pages import page_text
from ubp.output.wording import Style
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
        "updated_at": record.updated_at,
        "content_notice": "A notice.",
        "problems": [{"line": 1, "message": REASON}],
    }
    assert f"Line 1: {REASON}" in agent_text(answer)
