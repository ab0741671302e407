"""`ubp hub behind`: the pages of this clone that are behind the tip of another repository.

With `--propose` their pins are moved to the tip by a proposal, which a person reviews.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

from ubp.answers.hub.impact import OUTDATED, DescribingPageRecord, RepositoryName, reference_text
from ubp.answers.hub.pages import MAX_LIMIT, HubStalenessRecord
from ubp.answers.hub.push import find_name
from ubp.core.errors import UsageError
from ubp.core.model import FilePath, SourceReference
from ubp.core.repository_names import split_reference
from ubp.core.shell import ubp_command
from ubp.edits.model import Agent
from ubp.edits.propose import EditRequest, propose
from ubp.frame.encoding import from_object
from ubp.frame.fields import Count
from ubp.frame.wording import count
from ubp.frame.writer import Writer
from ubp.index.session import Session
from ubp.index.view import View
from ubp.markdown.document import parse_page
from ubp.markdown.edit_pins import Pin, write_pins
from ubp.sync.hub_client import HubClient, find_token

PIN_DIGITS = 12
AGENT = "ubp hub behind"  # one proposal at a time: the next call adds to it


@dataclass(frozen=True, slots=True, kw_only=True)
class HubBehindRecord:
    """Pages of a repository whose sources have changed at the tips of others."""

    repository: RepositoryName
    references: Annotated[tuple[DescribingPageRecord, ...], "by page and place in the page"]
    truncated_count: Annotated[Count, "number of references that the hub left out"]
    proposal: Annotated[int | None, "with --propose: the proposal that moves pins; null: none"]
    moved: Annotated[
        Count | None, "with --propose: number of pins that it moves now; null: nobody asked"
    ]


class _NothingToMoveError(UsageError):
    """The page has none of these pins any more: it was edited, or proposed before."""


def ask_behind(
    session: Session, to: str, token_file: str | None, repository: str | None, *, proposes: bool
) -> HubBehindRecord:
    """Ask a hub about this clone's pages, and propose to move their pins if that is wanted.

    Raises:
        UsageError: the address, the token or the repository cannot be used.
        HubError: the hub refuses, or cannot be reached.
        RepositoryError: writing failed.
    """
    client = HubClient(to, find_token(to, token_file, session.environment, session.directory))
    name = find_name(session.repository, repository, session.environment)
    question = {"repository": name, "limit": MAX_LIMIT}
    found = from_object(HubStalenessRecord, client.post("/v1/ask/staleness", question))
    behind = [
        reference
        for reference in found.references
        if reference.tip in OUTDATED and split_reference(reference.source)[0]
    ]
    proposal, moved = _propose(session, behind) if proposes else (None, None)
    return HubBehindRecord(
        repository=name,
        references=tuple(behind),
        truncated_count=found.truncated_count,
        proposal=proposal,
        moved=moved,
    )


def _propose(
    session: Session, references: Sequence[DescribingPageRecord]
) -> tuple[int | None, int]:
    """Propose new pins, a commit for each page; return the proposal and the number of pins."""
    by_page: dict[FilePath, list[DescribingPageRecord]] = defaultdict(list)
    for reference in references:
        if reference.pin and reference.tip_blob and reference.tip == "behind":
            by_page[FilePath(reference.filepath)].append(reference)
    number, moved = None, 0
    view = session.view()
    for page, found in by_page.items():
        if view.page(page) is None:
            continue  # the hub's board is another commit
        names = ", ".join(dict.fromkeys(reference.source for reference in found))
        change = _Moving(session.config.keys, found)
        request = EditRequest(
            Agent(AGENT, AGENT),
            "acknowledge",
            page,
            change,
            f"Move the pin of {names} to the tip. Read the page and what changed there first.",
            proposal=number,
        )
        try:
            number = propose(session, request).proposal.id
        except _NothingToMoveError:
            continue
        moved += change.moved
    return number, moved


class _Moving:
    """The change of a page that moves pins; `moved` is the number of them."""

    def __init__(self, keys: Sequence[str], references: Sequence[DescribingPageRecord]) -> None:
        self._keys = keys
        self._references = references
        self.moved = 0

    def __call__(self, old: bytes | None, _: View) -> bytes:
        pins: dict[SourceReference, Pin] = {}
        for written in parse_page(old or b"", self._keys).references:
            blob = self._tip_of(written)
            if blob:
                pins[written] = Pin(blob[:PIN_DIGITS])
        if not pins:
            raise _NothingToMoveError("The page does not have these pins.")
        self.moved = len(pins)
        return write_pins(old or b"", self._keys, pins)

    def _tip_of(self, written: SourceReference) -> str | None:
        """Return the blob at the tip of a reference, whose repository may have another name now."""
        for reference in self._references:
            _, path = split_reference(reference.source)
            is_same = written.literal.endswith(f":{path}")
            if is_same and written.own_pin and written.own_pin.lower() == reference.pin:
                return reference.tip_blob
        return None


def text(record: HubBehindRecord, write: Writer) -> Iterator[str]:
    """Yield the references by page, and the proposal."""
    pages: Mapping[str, None] = dict.fromkeys(page.filepath for page in record.references)
    if write.is_quiet:
        yield from map(write.name, pages)
        return
    for page in record.references:
        yield f"{write.path(page.filepath)}  {reference_text(page, write)}"
    if record.truncated_count:
        yield f"[{count(record.truncated_count, 'reference')} omitted]"
    verb = "is" if len(pages) == 1 else "are"
    yield f"{count(len(pages), 'page')} {verb} behind the tip of another repository."
    if record.proposal is not None:
        show = ubp_command("proposals", "show", str(record.proposal))
        yield f"Proposal {record.proposal} moves {count(record.moved or 0, 'pin')}: {show}"
    elif pages and record.moved is not None:
        yield "No pin is proposed: an edit or a proposal has moved it, or the source is gone."
