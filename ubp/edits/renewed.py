"""The pins of an edited page, and what of its sources' changes the edited text still names."""

from collections.abc import Iterator
from typing import NamedTuple

from ubp.core.model import Evidence, FilePath
from ubp.index.session import Session
from ubp.index.view import View
from ubp.markdown.document import parse_page
from ubp.staleness.assess import assess
from ubp.staleness.evidence import find_evidence
from ubp.staleness.pins import AckOptions, pin_page
from ubp.staleness.state import open_context


class RenewedPins(NamedTuple):
    """A page's bytes with the pins of its sources as they are now, and the names of those."""

    text: bytes
    sources: tuple[str, ...] = ()


def renew_pins(session: Session, view: View, page: FilePath, new: bytes) -> RenewedPins:
    """Return the new bytes of a page with the pins renewed that its old ones have in this view.

    What has no pin gets none: the edit itself is its baseline.
    """
    context = open_context(session, view)
    known = view.page(page)
    if known is None:
        return RenewedPins(new)
    (assessed,) = assess([known], context)
    drifted = tuple(
        verdict
        for verdict in assessed.references
        if verdict.reference.pin is not None and verdict.verdict != "fresh"
    )
    options = AckOptions(
        session.config.keys,
        is_staged=False,
        is_from_history=False,
        reason=None,
        is_hidden=session.is_hidden,
    )
    text, skipped = pin_page(new, assessed._replace(references=drifted), context, options)
    if text == new:
        return RenewedPins(new)
    without_pin = {reference.source_path for reference in skipped}
    names = (verdict.name for verdict in drifted if verdict.name not in without_pin)
    return RenewedPins(text, tuple(names))


def drift_warnings(session: Session, view: View, page: FilePath, new: bytes) -> Iterator[str]:
    """Yield a warning for each source that is new in these bytes, and changed after the page.

    Without pins such sources count as fresh from the edit on, so nothing else will report them.
    """
    known = view.page(page)
    if known is None:
        return
    listed = {reference.source_path for reference in known.facts.references}
    references = tuple(
        reference
        for reference in parse_page(new, session.config.keys).references
        if reference.source_path not in listed and reference.pin is None
    )
    with_new = known._replace(facts=known.facts._replace(references=references))
    own, assessed = assess([known, with_new], open_context(session, view))
    moved = {(verdict.moved_to, verdict.baseline_blob) for verdict in own.references}
    for verdict in assessed.references:
        is_same = (verdict.source_path, verdict.current_blob) in moved
        is_drifted = verdict.current_blob and verdict.verdict not in {"fresh", "unknown"}
        if is_drifted and not is_same:
            yield (
                f"{verdict.name} has changed since the page was last edited, and will count as"
                " fresh: compare the page with that change first."
            )


def find_remaining(
    session: Session, base: View, page: FilePath, new: bytes
) -> tuple[Evidence, ...]:
    """Return the names that the drift of a page's sources changed, and its new text still has.

    The drift is that of the page in the view `base`, before any edit. Names that the sources have
    for the first time are left out: a repair adds them.
    """
    known = base.page(page)
    if known is None:
        return ()
    context = open_context(session, base)
    (assessed,) = assess([known], context)
    found = find_evidence(assessed, context, new)
    return tuple(evidence for evidence in found if evidence.change != "added")
