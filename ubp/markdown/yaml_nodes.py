"""Parse YAML into a tree of nodes with their offsets and styles.

The tree is built from YAML's events, not by `yaml.compose`, which recurses in C without a limit, so
that a page of a hundred thousand brackets ends the process (PyYAML 6.0.3 with libyaml 0.2.5), loses
anchors, and is slower (35 µs instead of 25 for twelve lines).
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
# What ends or changes a plain scalar, also in a flow collection.
_NOT_PLAIN = re.compile(r"""^[-?:#&*!|>'"%@`]|[,\[\]{}\s\\]|:$""")
_LONE_SURROGATE = re.compile(
    "[\ud800-\udfff]"
)  # "\\ud800" without libyaml; no UTF-8 file can contain it


class Node(NamedTuple):
    """A YAML value; `start` and `end` are its offsets in the text.

    `value` is the text of a scalar, `style` its quote ("" for plain, "|" and ">" for blocks);
    `items` belong to a sequence, `pairs` of keys and values to a mapping. `is_shared`: it has an
    anchor, or is an alias.
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
        """The YAML type, such as "str", "int", "null", "timestamp" or "sequence"."""
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
        """Return a mapping's key and value; of repeated keys the last, as YAML loaders do."""
        for key, value in reversed(self.pairs):
            if key.kind == "scalar" and key.value == name:
                return key, value
        return None

    def repeated_keys(self) -> "list[Node]":
        """Return the keys of a mapping that repeat an earlier one."""
        seen: set[str] = set()
        repeated = []
        for key, _ in self.pairs:
            if key.kind == "scalar" and key.value in seen:
                repeated.append(key)
            seen.add(key.value)
        return repeated


class BadYamlError(Exception):
    """The text is not valid YAML, or exceeds the limits; `offset` is where in the text."""

    def __init__(self, message: str, offset: int) -> None:
        super().__init__(message)
        self.offset = offset


def read_yaml(text: str, offset: int = 0) -> Node | None:
    """Return the tree of a YAML document, None if it has no value; `offset` is added to offsets.

    Raises:
        BadYamlError: the text cannot be parsed; `offset` is added to its offset too.
    """
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # the latter where libyaml is missing
    try:
        return _build_tree(yaml.parse(text, Loader=loader), offset)
    except yaml.MarkedYAMLError as error:
        where = _position(error.problem_mark or error.context_mark, offset)
        raise BadYamlError(str(error.problem or error.context), where) from error
    except yaml.reader.ReaderError as error:
        match = yaml.reader.Reader.NON_PRINTABLE.search(text)
        index = match.start() if match else 0
        message = f"the character U+{ord(text[index]):04X} is not allowed"
        raise BadYamlError(message, offset + index) from error
    except (ValueError, OverflowError) as error:  # "\UFFFFFFFF" without libyaml
        raise BadYamlError(str(error), offset) from error


def write_scalar(text: str) -> str:
    """Return a line of text as a scalar of a block collection, quoted only if YAML needs it."""
    is_plain = text[:1].isalpha() and text.isprintable() and not set(text) & set(":#")
    if is_plain and text[-1] != " " and Node("scalar", 0, 0, text).type == "str":
        return text
    escaped = (
        _ESCAPES.get(character)
        or (character if character.isprintable() else f"\\U{ord(character):08x}")
        for character in text
    )
    return '"' + "".join(escaped) + '"'


def write_flow_scalar(text: str, quote: str = "") -> str:
    """Return a text as a scalar of a flow collection, in this quote if that is possible."""
    if quote == "'" and text.isprintable():
        return "'" + text.replace("'", "''") + "'"
    is_string = Node("scalar", 0, 0, text).type == "str"
    if not quote and is_string and text.isprintable() and not _NOT_PLAIN.search(text):
        return text
    quoted = write_scalar(f"#{text}")  # "#" forces quotes
    return '"' + quoted[2:]


def _build_tree(events: "Iterable[Event]", offset: int) -> Node | None:
    import yaml

    top: list[Node] = []
    open_collections: list[tuple[CollectionStartEvent, list[Node]]] = []
    anchors: dict[str | None, Node] = {}
    # What an alias repeats counts each time: ten lines can make a tree of 9^10 values, which are
    # shared here, but not by those who walk through it.
    count = 0
    starts: list[int] = []
    sizes: dict[str | None, int] = {}
    for event in events:
        count += 1
        siblings = open_collections[-1][1] if open_collections else top
        if count > MAX_EVENTS or len(open_collections) > MAX_DEPTH:
            where = _position(event.start_mark, offset)
            raise BadYamlError("too many values, or nested too deeply", where)
        match event:
            case yaml.ScalarEvent():
                siblings.append(_scalar(event, offset))
                anchors[event.anchor] = siblings[-1]
            case yaml.CollectionStartEvent():
                open_collections.append((event, []))
                starts.append(count)
            case yaml.CollectionEndEvent():
                start, children = open_collections.pop()
                siblings = open_collections[-1][1] if open_collections else top
                siblings.append(
                    _collection(start, children, _position(event.end_mark, offset), offset)
                )
                anchors[start.anchor] = siblings[-1]
                sizes[start.anchor] = count - starts.pop()
            case yaml.AliasEvent():
                count += sizes.get(event.anchor, 0)
                siblings.append(_alias(event, anchors, offset))
            case yaml.DocumentStartEvent() if top:
                where = _position(event.start_mark, offset)
                raise BadYamlError("unexpected start of a second document", where)
            case _:
                pass
    return top[0] if top else None


def _position(mark: Any, offset: int) -> int:
    return offset + (mark.index if mark else 0)


def _scalar(event: "ScalarEvent", offset: int) -> Node:
    return Node(
        "scalar",
        _position(event.start_mark, offset),
        _position(event.end_mark, offset),
        value=_LONE_SURROGATE.sub("\ufffd", event.value),
        style=event.style or "",
        tag=event.tag,
        is_shared=event.anchor is not None,
    )


def _collection(start: "CollectionStartEvent", children: list[Node], end: int, offset: int) -> Node:
    import yaml

    is_mapping = isinstance(start, yaml.MappingStartEvent)
    return Node(
        "mapping" if is_mapping else "sequence",
        _position(start.start_mark, offset),
        end,
        tag=start.tag,
        items=() if is_mapping else tuple(children),
        pairs=tuple(zip(children[::2], children[1::2], strict=True)) if is_mapping else (),
        is_flow=bool(start.flow_style),
        is_shared=start.anchor is not None,
    )


def _alias(event: "AliasEvent", anchors: dict[str | None, Node], offset: int) -> Node:
    start, end = _position(event.start_mark, offset), _position(event.end_mark, offset)
    if event.anchor not in anchors:
        raise BadYamlError(f"undefined alias *{event.anchor}", start)
    return anchors[event.anchor]._replace(start=start, end=end, is_shared=True)
