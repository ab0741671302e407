"""Items added to the list under a key of front matter, whichever way the list is written.

Sources added to a page's front matter, which is made where there is none; all else stays.

Only characters are put in, apart from a `null` or `""` that gives way to a list. The result is read
again, and unless it says what the page said, with these sources, it is not given.

Sources renamed in a page's front matter in place: no byte is touched but their paths'.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from ubp.core.errors import PageError
from ubp.core.model import FilePath
from ubp.core.paths import normalize_path
from ubp.markdown.document import parse_page, read_head
from ubp.markdown.front_matter import NO_FRONT_MATTER, FrontMatter
from ubp.markdown.references import PATH_NAMES, ParsedReferences, find_references
from ubp.markdown.text_edits import Edit, EditError, Text
from ubp.markdown.yaml_nodes import Node, write_word

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


_BOM = b"\xef\xbb\xbf"
_LINE_END = re.compile(rb"\r\n|\r|\n")
_OTHER_ENCODINGS = (b"\xff\xfe", b"\xfe\xff")
# Hugo and Zola have TOML between such lines, and Hugo JSON between braces: two heads are none.
_OTHER_HEAD = re.compile(rb"(?:\xef\xbb\xbf)?(?:\+\+\+|\{)[ \t]*[\r\n]")
_CLOSING = re.compile(r"(?:\r\n|\r|\n)(?:---|\.\.\.)[ \t]*(?:\r\n|\r|\n)?\Z")


def add_sources(data: bytes, keys: Sequence[str], sources: Sequence[str]) -> bytes:
    """Return the page with these sources behind those that it names; none is named twice.

    They go under the first of `keys` that the page has, else under the first of all. A source is a
    path from the root; a directory's may end in "/".

    Raises:
        PageError: the page cannot be edited in place.
    """
    found = read_head(data, keys)
    named = {one.reference.literal for one in find_references(found, keys)[0]}
    wanted = [one for one in dict.fromkeys(sources) if normalize_path(one) not in named]
    if not wanted:
        return data
    key = next((key for key in keys if _has(found.root, key)), keys[0])
    try:
        result = _add(data, found, key, wanted)
    except EditError as error:
        raise _refusal(key, wanted, str(error)) from error
    if not _is_as_wanted(data, result, keys, wanted):
        told = "The page would then say something else than it does now, or not name them."
        raise _refusal(key, wanted, told)
    return result


def _has(root: Node | None, key: str) -> bool:
    first = re.split(r"\[\]|\.", key)[0]
    return root is not None and (root.get(key) or root.get(first)) is not None


def _add(data: bytes, found: FrontMatter, key: str, wanted: Sequence[str]) -> bytes:
    if found.problems:
        problem = found.problems[0]
        raise EditError(f"Line {problem.line}: {problem.message}")
    if data.startswith(_OTHER_ENCODINGS) or b"\0" in data:
        raise EditError("It is no text in UTF-8.")
    if found == NO_FRONT_MATTER:
        if _OTHER_HEAD.match(data):
            raise EditError("Its front matter is TOML or JSON, and UBP reads YAML.")
        return _with_head(data, new_block(key, wanted))
    text, closing = Text(found.text), _CLOSING.search(found.text)
    end = closing.start() if closing else len(found.text)
    root = found.root or Node("mapping", end, end)
    edits = edit_list(text, root, key, wanted, end)
    return text.apply(edits).encode("utf-8", "surrogateescape") + data[found.body :]


def _refusal(key: str, wanted: Sequence[str], why: str) -> PageError:
    name = re.split(r"\[\]|\.", key)[0]
    return PageError(
        f"{', '.join(wanted)} cannot be written into the page in place.",
        cause=why,
        hint=f"Write it by hand, as an item of a list under {name} in YAML front matter.",
    )


def _with_head(data: bytes, lines: Sequence[str]) -> bytes:
    """Put front matter before a page's first character; behind it there is an empty line."""
    bom = _BOM if data.startswith(_BOM) else b""
    body = data[len(bom) :]
    found = _LINE_END.search(body)
    newline = found[0] if found else b"\n"
    head = newline.join([b"---", *(line.encode() for line in lines), b"---", b""])
    gap = b"" if not body or body.startswith((b"\r", b"\n")) else newline
    return bom + head + gap + body


def _is_as_wanted(data: bytes, result: bytes, keys: Sequence[str], wanted: Sequence[str]) -> bool:
    old, new = read_head(data, keys), read_head(result, keys)
    if old == NO_FRONT_MATTER:  # the mark stands before the front matter then, not before the text
        data = data.removeprefix(_BOM)
    before, after = parse_page(data, keys), parse_page(result, keys)
    count, body = len(before.references), data[old.body :]
    return (
        {one._replace(line=0) for one in before.references}
        == {one._replace(line=0) for one in after.references if one.literal not in _paths(wanted)}
        and len(after.references) == count + len(wanted)
        and _paths(wanted) <= {one.literal for one in after.references}
        and after._replace(references=(), problems=())
        == before._replace(references=(), problems=())
        and {one.message for one in after.problems} <= {one.message for one in before.problems}
        and (old.root is None or is_extended(old.root, new.root))
        and result.endswith(body)
        and result[new.body :].lstrip(b"\r\n") == body.lstrip(b"\r\n")
    )


def _paths(wanted: Sequence[str]) -> set[str | None]:
    return {normalize_path(one) for one in wanted}


def rename_sources(data: bytes, keys: Sequence[str], renames: Mapping[FilePath, FilePath]) -> bytes:
    """Return the page with these sources renamed, from `literal` paths (see SourceReference).

    A tail such as `#symbol` stays, and so do quotes.

    Raises:
        PageError: the page names no such source, or cannot be edited in place.
    """
    found = read_head(data, keys)
    named = {one.reference.literal: one for one in find_references(found, keys)[0]}
    if lacking := sorted(renames.keys() - named.keys()):
        raise PageError(f"The page does not name {', '.join(lacking)}.")
    text = Text(found.text)
    try:
        edits = list(_edits(text, {named[old]: new for old, new in renames.items()}))
    except EditError as error:
        raise PageError("The sources cannot be renamed in place.", cause=str(error)) from error
    result = text.apply(edits).encode("utf-8", "surrogateescape") + data[found.body :]
    if not _is_renamed(data, result, keys, renames):
        raise PageError(
            "The sources cannot be renamed in place.",
            cause="The page would then say something else than it does now.",
        )
    return result


def _edits(text: Text, renames: Mapping[ParsedReferences, FilePath]) -> Iterator[Edit]:
    for one, path in renames.items():
        source = one.place.source
        if source.is_shared:
            raise EditError("It stands behind an anchor (&) or an alias (*), so others share it.")
        if source.style in {"|", ">"} or source.tag:
            raise EditError("Its path is a block of text, or has a tag.")
        written = path + (one.reference.fragment or "")
        yield Edit(source.start, text.end(source), write_word(written, source.style))


def _is_renamed(
    data: bytes, result: bytes, keys: Sequence[str], renames: Mapping[FilePath, FilePath]
) -> bool:
    before, after = parse_page(data, keys), parse_page(result, keys)
    expected = [
        (renames.get(one.literal, one.source_path), one.fragment, one.line, one.pin, one.reason)
        for one in before.references
    ]
    found = [
        (one.source_path, one.fragment, one.line, one.pin, one.reason) for one in after.references
    ]
    return (
        found == expected
        and after._replace(references=()) == before._replace(references=())
        and data[read_head(data, keys).body :] == result[read_head(result, keys).body :]
    )
