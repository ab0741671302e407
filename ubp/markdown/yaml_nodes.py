"""YAML as a tree whose values know where they stand and how they are written.

The tree grows from YAML's events, not by `yaml.compose`: that recurses in C without a limit, so
that a page of a hundred thousand brackets ends the process (PyYAML 6.0.3 with libyaml 0.2.5), it
forgets anchors, and it is the slower of the two (35 µs against 25 for twelve lines).
"""

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

if TYPE_CHECKING:
    from yaml.events import AliasEvent, CollectionStartEvent, Event, ScalarEvent

# A thousand references with pins and reasons are 8,000 events, four levels deep.
MAX_EVENTS = 12_000
MAX_DEPTH = 50

_ESCAPES = {'"': '\\"', "\\": "\\\\"}
# What ends or changes a plain scalar, in brackets too.
_NOT_PLAIN = re.compile(r"""^[-?:#&*!|>'"%@`]|[,\[\]{}\s\\]|:$""")
_HALF_A_CHARACTER = re.compile("[\ud800-\udfff]")  # "\\ud800" without libyaml; no file can hold it


class Node(NamedTuple):
    """A value; `start` and `end` are its places in the text.

    `value` is a scalar's text and `style` its quote ("" is plain, "|" and ">" are blocks), `items`
    are a sequence's, `pairs` a mapping's keys and values. `is_shared`: an anchor or an alias.
    """

    kind: Literal["scalar", "sequence", "mapping"]
    start: int
    end: int
    value: str = ""
    style: str = ""
    tag: str | None = None
    items: tuple["Node", ...] = ()
    pairs: tuple[tuple["Node", "Node"], ...] = ()
    is_flow: bool = False
    is_shared: bool = False

    @property
    def type(self) -> str:
        """What YAML takes it for, such as "str", "int", "null", "timestamp" or "sequence"."""
        if self.kind != "scalar":
            return self.kind
        if self.tag is not None or self.style:
            return (self.tag or "str").rpartition(":")[2]
        from yaml.resolver import Resolver

        for tag, pattern in Resolver.yaml_implicit_resolvers.get(self.value[:1], ()):
            if pattern.match(self.value):
                return str(tag).rpartition(":")[2]
        return "str"

    @property
    def text(self) -> str | None:
        """A scalar's text as it was written ("1.10", "0123456"); None for null and collections."""
        return None if self.type in {"null", "sequence", "mapping"} else self.value

    def get(self, name: str) -> "tuple[Node, Node] | None":
        """Return a mapping's key and value; of several the last, which YAML loaders take too."""
        for key, value in reversed(self.pairs):
            if key.kind == "scalar" and key.value == name:
                return key, value
        return None

    def repeated_keys(self) -> "list[Node]":
        """Return the keys of a mapping that stood in it before."""
        seen: set[str] = set()
        repeated = []
        for key, _ in self.pairs:
            if key.kind == "scalar" and key.value in seen:
                repeated.append(key)
            seen.add(key.value)
        return repeated


class BadYamlError(Exception):
    """This is no YAML, or beyond the limits; `place` is where in the text."""

    def __init__(self, message: str, place: int) -> None:
        super().__init__(message)
        self.place = place


def read_yaml(text: str, offset: int = 0) -> Node | None:
    """Read one document, its places counted from `offset`; None where there is no value.

    Raises:
        BadYamlError: it cannot be read; its `place` counts from `offset` too.
    """
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # the latter where libyaml is missing
    try:
        return _grow(yaml.parse(text, Loader=loader), offset)
    except yaml.MarkedYAMLError as error:
        place = _place(error.problem_mark or error.context_mark, offset)
        raise BadYamlError(str(error.problem or error.context), place) from error
    except yaml.reader.ReaderError as error:
        raise _refused_character(text, offset) from error
    except (ValueError, OverflowError) as error:  # "\UFFFFFFFF" without libyaml
        raise BadYamlError(str(error), offset) from error


def write_scalar(text: str) -> str:
    """Write a text of one line as a block's value, in quotes only where YAML needs them."""
    is_plain = text[:1].isalpha() and text.isprintable() and not set(text) & set(":#")
    if is_plain and text[-1] != " " and Node("scalar", 0, 0, text).type == "str":
        return text
    quoted = (_ESCAPES.get(c) or (c if c.isprintable() else _escape(c)) for c in text)
    return '"' + "".join(quoted) + '"'


def write_word(text: str, quote: str = "") -> str:
    """Write a text as a value that may stand in brackets, with this quote where that is enough."""
    if quote == "'" and text.isprintable():
        return "'" + text.replace("'", "''") + "'"
    is_text = Node("scalar", 0, 0, text).type == "str"
    if not quote and is_text and text.isprintable() and not _NOT_PLAIN.search(text):
        return text
    quoted = write_scalar(f"#{text}")  # which needs quotes
    return '"' + quoted[2:]


def _escape(character: str) -> str:
    return f"\\U{ord(character):08x}"


def _grow(events: "Iterable[Event]", offset: int) -> Node | None:
    import yaml

    top: list[Node] = []
    open_ones: list[tuple[CollectionStartEvent, list[Node]]] = []
    anchors: dict[str | None, Node] = {}
    for count, event in enumerate(events):
        inside = open_ones[-1][1] if open_ones else top
        if count > MAX_EVENTS or len(open_ones) > MAX_DEPTH:
            place = _place(event.start_mark, offset)
            raise BadYamlError("it has too many values, or nests too deeply", place)
        match event:
            case yaml.ScalarEvent():
                inside.append(_scalar(event, offset))
                anchors[event.anchor] = inside[-1]
            case yaml.CollectionStartEvent():
                open_ones.append((event, []))
            case yaml.CollectionEndEvent():
                start, children = open_ones.pop()
                inside = open_ones[-1][1] if open_ones else top
                inside.append(_collection(start, children, _place(event.end_mark, offset), offset))
                anchors[start.anchor] = inside[-1]
            case yaml.AliasEvent():
                inside.append(_alias(event, anchors, offset))
            case yaml.DocumentStartEvent() if top:
                place = _place(event.start_mark, offset)
                raise BadYamlError("a second document begins", place)
            case _:
                pass
    return top[0] if top else None


def _place(mark: Any, offset: int) -> int:
    return offset + (mark.index if mark else 0)


def _scalar(event: "ScalarEvent", offset: int) -> Node:
    return Node(
        "scalar",
        _place(event.start_mark, offset),
        _place(event.end_mark, offset),
        value=_HALF_A_CHARACTER.sub("\ufffd", event.value),
        style=event.style or "",
        tag=event.tag,
        is_shared=event.anchor is not None,
    )


def _collection(start: "CollectionStartEvent", children: list[Node], end: int, offset: int) -> Node:
    import yaml

    is_mapping = isinstance(start, yaml.MappingStartEvent)
    return Node(
        "mapping" if is_mapping else "sequence",
        _place(start.start_mark, offset),
        end,
        items=() if is_mapping else tuple(children),
        pairs=tuple(zip(children[::2], children[1::2], strict=True)) if is_mapping else (),
        is_flow=bool(start.flow_style),
        is_shared=start.anchor is not None,
    )


def _alias(event: "AliasEvent", anchors: dict[str | None, Node], offset: int) -> Node:
    start, end = _place(event.start_mark, offset), _place(event.end_mark, offset)
    if event.anchor not in anchors:
        raise BadYamlError(f"the alias *{event.anchor} has no anchor before it", start)
    return anchors[event.anchor]._replace(start=start, end=end, is_shared=True)


def _refused_character(text: str, offset: int) -> BadYamlError:
    from yaml.reader import Reader

    found = Reader.NON_PRINTABLE.search(text)
    place = found.start() if found else 0
    return BadYamlError(f"the character U+{ord(text[place]):04X} is not allowed", offset + place)
