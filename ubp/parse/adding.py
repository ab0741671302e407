"""Sources added to a page's front matter, which is made where there is none; all else stays.

Only characters are put in, apart from a `null` or `""` that gives way to a list. The result is read
again, and unless it says what the page said, with these sources, it is not given.
"""

import re
from collections.abc import Sequence

from ubp.errors import PageError
from ubp.parse.edits import EditError, Text
from ubp.parse.front_matter import NO_FRONT_MATTER, FrontMatter
from ubp.parse.list_items import edit_list, is_extended, new_block
from ubp.parse.page import parse_page, read_head
from ubp.parse.references import find_references
from ubp.parse.yaml_tree import Node
from ubp.paths import normalise

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
    wanted = [one for one in dict.fromkeys(sources) if normalise(one) not in named]
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
    return {normalise(one) for one in wanted}
