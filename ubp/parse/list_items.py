"""Items added to the list under a key of front matter, whichever way the list is written."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ubp.parse.edits import Edit, EditError, Text
from ubp.parse.references import PATH_NAMES
from ubp.parse.yaml_tree import Node, write_word

_INDENT = "  "


class _Key(NamedTuple):
    """Where a list stands: the names on the way to it, and the name that a source has in an item.

    `leaf` is "" where an item is the source itself.
    """

    names: tuple[str, ...]
    leaf: str = ""

    def item(self, source: str) -> str:
        """Write an item that names a source."""
        return f"{self.leaf}: {write_word(source)}" if self.leaf else write_word(source)


def new_block(key: str, sources: Sequence[str]) -> list[str]:
    """Write a key with its list, as lines of a front matter that has neither.

    Raises:
        EditError: the key leads into lists of lists.
    """
    found = _read_key(key)
    return _block(found, [found.item(one) for one in sources])


def edit_list(text: Text, root: Node, key: str, sources: Sequence[str], end: int) -> list[Edit]:
    """Put sources behind those under a key; `end` is where a new key of the root has its place.

    Raises:
        EditError: they cannot be put there without changing something else.
    """
    found = _Key((key,)) if root.get(key) else _read_key(key)
    _check_mapping(root, None)
    return list(_edit(text, root, found, sources, end))


def is_extended(old: Node, new: Node | None) -> bool:
    """Whether a tree says all that another one says, in the same order, and more of it in lists."""
    if old.kind == "scalar":
        if old.type == "null" or not old.value:
            return True
        if new is not None and new.kind == "sequence":
            return bool(new.items) and is_extended(old, new.items[0])
        return new is not None and _scalar(old) == _scalar(new)
    if new is None or new.kind != old.kind or (new.is_flow, new.tag) != (old.is_flow, old.tag):
        return False
    pairs = zip(old.pairs, new.pairs, strict=False)
    return (
        len(old.items) <= len(new.items)
        and len(old.pairs) <= len(new.pairs)
        and all(is_extended(*two) for two in zip(old.items, new.items, strict=False))
        and all(_scalar(a[0]) == _scalar(b[0]) and is_extended(a[1], b[1]) for a, b in pairs)
    )


def _read_key(key: str) -> _Key:
    *names, last = key.removesuffix("[]").split(".")
    if names and names[-1].endswith("[]"):
        names[-1] = names[-1].removesuffix("[]")
        found = _Key(tuple(names), last)
    else:
        found = _Key((*names, last))
    if any("[]" in name for name in (*found.names, found.leaf)):
        raise EditError(f"The key {key} leads into lists of lists.")
    return found


def _block(key: _Key, items: Sequence[str]) -> list[str]:
    lines = [f"{_INDENT * level}{write_word(name)}:" for level, name in enumerate(key.names)]
    return [*lines, *(f"{_INDENT * len(key.names)}- {item}" for item in items)]


def _edit(text: Text, mapping: Node, key: _Key, sources: Sequence[str], end: int) -> Iterator[Edit]:
    name, *deeper = key.names
    pair = mapping.get(name)
    if pair is None:
        indent = text.indent(mapping.pairs[0][0].start) if mapping.pairs else ""
        joint = text.newline(end) + indent
        lines = _block(key, [key.item(one) for one in sources])
        yield Edit(end, end, "".join(f"{joint}{line}" for line in lines))
    elif deeper:
        _check_mapping(pair[1], pair[0])
        place = text.line_end(_end(text, pair[1]))
        yield from _edit(text, pair[1], key._replace(names=tuple(deeper)), sources, place)
    else:
        yield from _extend(text, pair, key, sources)


def _check_mapping(mapping: Node, key: Node | None) -> None:
    what = f"What stands under {key.value}" if key else "The whole front matter"
    if mapping.kind != "mapping":
        raise EditError(f"{what} is no mapping.")
    if mapping.is_shared or mapping.tag:
        raise EditError(f"{what} has an anchor, or is an alias or tagged.")
    if mapping.is_flow:
        raise EditError(f"{what} stands in brackets.")


def _extend(
    text: Text, pair: tuple[Node, Node], key: _Key, sources: Sequence[str]
) -> Iterator[Edit]:
    name, value = pair
    if value.is_shared or value.tag:
        raise EditError(f"What stands under {name.value} has an anchor, or is an alias or tagged.")
    if value.kind == "mapping":
        raise EditError(f"What stands under {name.value} is a mapping and no list.")
    if value.kind == "sequence":
        leaf = key.leaf or _path_name(value)
        items = [key._replace(leaf=leaf).item(one) for one in sources]
        if value.is_flow:
            yield from _into_brackets(text, value, [f"{{{x}}}" if leaf else x for x in items])
        else:
            yield _below(text, value, items)
    elif value.type == "null" or not value.value:
        yield from _in_place_of_nothing(text, pair, [key.item(one) for one in sources])
    elif key.leaf:
        raise EditError(f"What stands under {name.value} is a text and no list.")
    else:
        yield from _behind_a_text(text, pair, [key.item(one) for one in sources])


def _path_name(sequence: Node) -> str:
    """How the last item names its source; "": it is a text."""
    last = sequence.items[-1] if sequence.items else None
    if last is None or last.kind != "mapping":
        return ""
    return next((name for name in PATH_NAMES if last.get(name)), PATH_NAMES[0])


def _below(text: Text, sequence: Node, items: Sequence[str]) -> Edit:
    indent = text.indent(sequence.start)
    return text.insert_below(_end(text, sequence), indent, [f"- {item}" for item in items])


def _in_place_of_nothing(
    text: Text, pair: tuple[Node, Node], items: Sequence[str]
) -> Iterator[Edit]:
    name, value = pair
    end = text.end(value)
    if value.start < end:  # `null`, `~` or `""`
        yield Edit(len(text.text[: value.start].rstrip()), end, "")
    indent = text.indent(name.start) + _INDENT
    yield text.insert_below(max(name.end, end), indent, [f"- {item}" for item in items])


def _behind_a_text(text: Text, pair: tuple[Node, Node], items: Sequence[str]) -> Iterator[Edit]:
    """Make a text the first item of a list; it keeps its quotes and its comment."""
    name, value = pair
    if value.style in {"|", ">"}:
        raise EditError("Its source is a block of text.")
    if text.before(value.start).strip():
        colon = text.text.index(":", name.end)
        indent = text.indent(name.start) + _INDENT
        yield Edit(colon + 1, colon + 1, f"{text.newline(text.line_end(colon))}{indent}-")
    else:
        indent = text.indent(value.start)
        yield Edit(value.start, value.start, "- ")
    yield text.insert_below(text.end(value), indent, [f"- {item}" for item in items])


def _into_brackets(text: Text, sequence: Node, items: Sequence[str]) -> Iterator[Edit]:
    if not sequence.items:
        yield Edit(sequence.start + 1, sequence.start + 1, ", ".join(items))
        return
    end = text.end(sequence.items[-1])
    rest = text.text[end : text.line_end(end)].lstrip(" \t")
    has_comma = rest.startswith(",")
    comment = rest.removeprefix(",").lstrip(" \t")
    if text.before(sequence.items[-1].start).strip() or (comment and comment[0] != "#"):
        yield Edit(end, end, "".join(f", {item}" for item in items))
        return
    if not has_comma:
        yield Edit(end, end, ",")
    place = text.line_end(end)
    joint = text.newline(place) + text.indent(sequence.items[-1].start)
    listed = f",{joint}".join(items) + ("," if has_comma else "")
    yield Edit(place, place, f"{joint}{listed}")


def _end(text: Text, node: Node) -> int:
    """Where a node's last character stands; the YAML reader adds comments behind blocks."""
    if not node.is_flow and node.items:
        return max(_end(text, node.items[-1]), node.start + 1)
    if not node.is_flow and node.pairs:
        name, value = node.pairs[-1]
        return max(name.end, _end(text, value))
    return text.end(node)


def _scalar(node: Node) -> tuple[str, str, str | None, str]:
    """A scalar as it is read; where a block of text is the last value, its end may be a line's."""
    value = node.value.rstrip("\n") if node.style in {"|", ">"} else node.value
    return node.kind, value, node.tag, node.style
