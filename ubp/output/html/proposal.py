"""A proposal as one HTML file: who and why, its effect, and its pages before and after.

Like the report, the file needs no network and no other file. It shows the pages as readers see
them, block beside block; what they contain is text that does nothing.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from markupsafe import Markup, escape

from ubp.core.model import Level
from ubp.core.shell import join, path_argument, ubp_command
from ubp.core.version import __version__
from ubp.edits.proposals import branch_of
from ubp.edits.review import PageChange, Review
from ubp.edits.source_changes import SourceChange
from ubp.frame.wording import SHORT_ID, clock, printable_line
from ubp.git.diff import changed_spans
from ubp.markdown.document import read_head
from ubp.markdown.render import render_blocks
from ubp.output.html.markup import content_policy, diff_blocks, read_asset, render
from ubp.staleness.wording import describe_noted

# Larger pages take a browser seconds to show; their diffs remain.
MAX_RENDERED_BYTES = 300_000
MAX_DIFF_LINES = 3_000
# Equal blocks that are shown before and after a changed one; the others are folded.
CONTEXT_BLOCKS = 1


class _Row(NamedTuple):
    """Blocks that changed; or equal ones, in `before`, of which some are folded."""

    before: Sequence[Markup]
    after: Sequence[Markup] = ()
    is_equal: bool = False
    is_folded: bool = False


class _Source(NamedTuple):
    name: str
    words: str
    names: str
    diff: Iterator[tuple[str, Markup]]
    cut_lines: int


class _Page(NamedTuple):
    change: PageChange
    sources: Sequence[_Source]
    levels: tuple[Level | None, Level | None]
    rows: Sequence[_Row] | None
    diff: Iterator[tuple[str, Markup]]
    cut_lines: int
    diff_command: str
    stale_command: str


def proposal_html(review: Review, keys: Sequence[str]) -> str:
    """Return the whole file; `keys` are the front matter keys that list sources."""
    proposal, effect = review.proposal, review.effect
    number, at = str(proposal.id), proposal.tip[:SHORT_ID]
    style = Markup("\n").join(map(read_asset, ("report.css", "proposal.css")))
    model = f" ({proposal.model})" if proposal.model else ""
    page = render(
        "proposal.html",
        policy=content_policy([style], []),
        version=__version__,
        title=f"Proposal {number}: {proposal.title}",
        style=style,
        subtitle=[
            f"by {proposal.client}{model}, session {proposal.session}",
            *([f"task: {proposal.task}"] if proposal.task else []),
            f"branch {branch_of(proposal.id)}, since {proposal.base[:SHORT_ID]}",
            f"{clock(proposal.updated)} UTC",
        ],
        edits=proposal.edits,
        clock=clock,
        pages=[_page(review, change, keys) for change in review.changes],
        findings=[
            *(("introduced", finding) for finding in effect.introduced),
            *(("fixed", finding) for finding in effect.fixed),
        ],
        commands=[
            ("Accept", ubp_command("proposals", "accept", number, "--at", at)),
            ("Revise", ubp_command("proposals", "edit", number)),
            ("Reject", f"{ubp_command('proposals', 'reject', number)} --reason TEXT"),
        ],
    )
    return f"{page}\n"


def _page(review: Review, change: PageChange, keys: Sequence[str]) -> _Page:
    before, after = change.before or b"", change.after or b""
    lines = change.diff.split("\n")
    proposal = review.proposal
    revisions = f"{proposal.base[:SHORT_ID]}..{branch_of(proposal.id)}"
    is_small = max(len(before), len(after)) <= MAX_RENDERED_BYTES
    return _Page(
        change,
        [_source(source) for source in change.sources],
        (review.effect.before.get(change.page), review.effect.after.get(change.page)),
        list(_rows(_blocks(before, keys), _blocks(after, keys))) if is_small else None,
        diff_blocks(lines[:MAX_DIFF_LINES]),
        max(0, len(lines) - MAX_DIFF_LINES),
        join(["git", "diff", revisions, "--", change.page]),
        ubp_command("stale", "--diff", path_argument(change.page)),
    )


def _source(source: SourceChange) -> _Source:
    lines = source.diff.split("\n") if source.diff else []
    return _Source(
        source.name,
        describe_noted(source.verdict, None, ""),
        ", ".join(printable_line(evidence.name) for evidence in source.evidence),
        diff_blocks(lines[:MAX_DIFF_LINES]),
        max(0, len(lines) - MAX_DIFF_LINES),
    )


def _blocks(data: bytes, keys: Sequence[str]) -> list[Markup]:
    """Return the blocks of a page as HTML: its front matter, then what its body consists of."""
    end = read_head(data, keys).body
    head, body = (
        part.decode("utf-8", "replace").replace("\r\n", "\n") for part in (data[:end], data[end:])
    )
    blocks = [_visible(block) for block in render_blocks(body)]
    if head:
        code = _visible(escape(head.strip()))
        blocks.insert(0, Markup('<pre class="head"><code>{}</code></pre>').format(code))
    return blocks


def _visible(html: str) -> Markup:
    """Return markup with hidden characters shown; entities of a page have become such by now."""
    return Markup("\n".join(map(printable_line, html.split("\n"))))  # noqa: S704  # from `render`


def _rows(before: list[Markup], after: list[Markup]) -> Iterator[_Row]:
    done = 0
    for old, new in changed_spans(before, after):
        yield from _equal(before[done : old.start], is_first=done == 0, is_last=False)
        yield _Row(before[old.start : old.stop], after[new.start : new.stop])
        done = old.stop
    yield from _equal(before[done:], is_first=done == 0, is_last=True)


def _equal(blocks: list[Markup], *, is_first: bool, is_last: bool) -> Iterator[_Row]:
    """Yield equal blocks: shown next to changes, folded elsewhere."""
    start = 0 if is_first else min(CONTEXT_BLOCKS, len(blocks))
    end = len(blocks) if is_last else max(start, len(blocks) - CONTEXT_BLOCKS)
    for part, is_folded in (
        (blocks[:start], False),
        (blocks[start:end], end - start > 1),
        (blocks[end:], False),
    ):
        if part:
            yield _Row(part, is_equal=True, is_folded=is_folded)
