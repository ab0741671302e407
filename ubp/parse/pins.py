"""Pins written into a page's front matter in place: no byte is touched but theirs.

A pin gets lines of its own, so that re-pins of neighbouring references merge without a conflict: a
text becomes a mapping, and what stands in brackets becomes a block, for only there lines are free.
The result is read again, and unless it says what the page said, with these pins, it is not given.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from ubp.errors import PageError
from ubp.model import SourceReference
from ubp.parse.block import pin_lines, pin_mapping, pin_text
from ubp.parse.edits import Edit, EditError, Text
from ubp.parse.flow import FlowWriter, PinLines
from ubp.parse.front_matter import FrontMatter
from ubp.parse.page import parse_page, read_head
from ubp.parse.references import PIN, Named, Place, Step, find_references, one_line

_HINT = "Write the reference as a list item with `path:` on a line of its own, and try again."


class Pin(NamedTuple):
    """What a reference describes: 7 to 40 digits of an object id, and why that is still true.

    A reason is written on one line.
    """

    blob: str
    reason: str | None = None


def write_pins(data: bytes, keys: Sequence[str], pins: Mapping[SourceReference, Pin]) -> bytes:
    """Return the page with these pins; a reference's reason is replaced, or dropped if None.

    References are known by their `literal` path, which a page has once; their lines may be those
    of another version of the page. The same pins again return the same bytes.

    Raises:
        PageError: the page has no such reference, or YAML that cannot be edited in place.
        ValueError: a pin is no object id.
    """
    found = read_head(data, keys)
    named = {one.reference.literal: one for one in find_references(found, keys)[0]}
    wanted = []
    for reference, pin in pins.items():
        if reference.literal not in named:
            raise PageError(f"The page does not name {reference.literal}.")
        one, new = named[reference.literal], _clean(pin)
        if new != (one.reference.pin, one.reference.reason):
            wanted.append((one, new))
    if not wanted:
        return data
    text = Text(found.text)
    head = text.apply(_edits(text, wanted)).encode("utf-8", "surrogateescape")
    result = head + data[found.body :]
    if not _is_as_wanted(data, result, keys, {one.reference.literal: pin for one, pin in wanted}):
        references = [one.reference for one, _ in wanted]
        raise _refusal(references, "The page would then say something else than it does now.")
    return result


def _clean(pin: Pin) -> Pin:
    if not PIN.fullmatch(pin.blob):
        raise ValueError(f"{pin.blob!r} is no object id")
    reason = one_line(pin.reason or "").encode("utf-8", "replace").decode()
    return Pin(pin.blob.lower(), reason or None)


def _edits(text: Text, wanted: Sequence[tuple[Named, Pin]]) -> Iterator[Edit]:
    flows: dict[int, tuple[Named, Step, dict[int, PinLines]]] = {}
    for one, pin in wanted:
        place = one.place
        with _telling(one):
            flow = _outermost_flow(place)
            if flow is not None:
                *_, lines = flows.setdefault(flow.node.start, (one, flow, {}))
                lines[place.source.start] = PinLines(place.mapping, pin_lines(*pin))
            elif place.mapping is not None:
                yield from pin_mapping(text, one, *pin)
            else:
                yield from pin_text(text, place.trail[-1], pin_lines(*pin))
    for one, flow, lines in flows.values():
        with _telling(one):
            yield from FlowWriter(text, lines).convert(flow)


def _outermost_flow(place: Place) -> Step | None:
    nodes = [node for step in place.trail for node in step if node is not None]
    if any(node.is_shared for node in nodes):
        raise EditError("It stands behind an anchor (&) or an alias (*), so others share it.")
    if place.source.style in {"|", ">"}:
        raise EditError("Its path is a block of text.")
    if place.trail[0].node.is_flow:
        raise EditError("The whole front matter stands in brackets.")
    return next((step for step in place.trail if step.node.is_flow), None)


@contextmanager
def _telling(one: Named) -> Iterator[None]:
    try:
        yield
    except EditError as error:
        raise _refusal([one.reference], str(error)) from error


def _refusal(references: Sequence[SourceReference], why: str) -> PageError:
    written = ", ".join(f"{one.written} (line {one.line})" for one in references)
    return PageError(f"No pin can be written in place for {written}.", cause=why, hint=_HINT)


def _is_as_wanted(
    data: bytes, result: bytes, keys: Sequence[str], wanted: Mapping[str, Pin]
) -> bool:
    before, after = parse_page(data, keys), parse_page(result, keys)
    expected = [
        reference._replace(line=0, pin=pin.blob, reason=pin.reason)
        if (pin := wanted.get(reference.literal))
        else reference._replace(line=0)
        for reference in before.references
    ]
    old, new = read_head(data, keys), read_head(result, keys)
    return (
        [reference._replace(line=0) for reference in after.references] == expected
        and before._replace(references=(), problems=())
        == after._replace(references=(), problems=())
        and {one.message for one in after.problems} <= {one.message for one in before.problems}
        and _names(new) == _names(old)
        and data[old.body :] == result[new.body :]
    )


def _names(head: FrontMatter) -> list[str]:
    return [key.value for key, _ in head.root.pairs] if head.root else []
