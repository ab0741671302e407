"""The pages of other repositories that a change concerns, as a comment on a pull request."""

from itertools import groupby

from ubp.answers.hub.impact import DescribingPageRecord
from ubp.answers.hub.review import HubReviewRecord, headline
from ubp.output.ci.markdown import MAX_CHARACTERS, code

NOTE = "They are not wrong yet: once this is merged, their owners see them as behind the tip."


def markdown_text(record: HubReviewRecord) -> str:
    """Return a heading and a table for each repository; "" if no page is concerned."""
    if not record.total:
        return ""
    text = f"### UBP: {headline(record)}\n\n{NOTE}\n"
    left = record.total
    for repository, found in groupby(record.pages, lambda page: page.repository):
        head = f"\n**{code(repository)}**\n\n| page | describes | owners |\n|---|---|---|\n"
        for page in found:
            row = head + _row(page)
            if len(text) + len(row) > MAX_CHARACTERS:
                break
            text, head, left = text + row, "", left - 1
    return f"{text}\n{left} more: `ubp hub review --limit 1000`\n" if left else text


def _row(page: DescribingPageRecord) -> str:
    owners = " ".join(map(code, page.owners))  # as code: nobody is notified
    return f"| {code(page.filepath)} | {code(page.source)} | {owners} |\n"
