"""A link's target written anew so that it leads to another page, in the style of the old one."""

import posixpath
from collections.abc import Sequence
from urllib.parse import quote

from ubp.model import FilePath, Link
from ubp.targets import without_suffix

WIKILINKS = frozenset({"wikilink", "embed"})

# What would end a wikilink's target; a Markdown link's is percent-encoded.
_ENDS_WIKILINK = frozenset("[]|#^\\\n\r")
# Everything that Markdown or a URL could take for something else; letters of any script stay.
_ENCODED = frozenset(" \t\n\r()<>#?%\\|\"'`*[]")


def rewritten(
    link: Link, source: FilePath, target: FilePath, namesakes: Sequence[FilePath]
) -> str | None:
    """Write a link's target so that it leads from the page `source` to `target`.

    `namesakes` are all pages with the target's file name. None: it cannot be written.
    """
    if link.kind in WIKILINKS:
        return _wikilink(link.target, target, namesakes)
    return _path(source, link.target, target)


def _wikilink(written: str, target: FilePath, namesakes: Sequence[FilePath]) -> str | None:
    name = without_suffix(target)
    is_path = "/" in written or len(namesakes) > 1
    text = name if is_path else name.rpartition("/")[2]
    if without_suffix(written) != written:
        text += target[len(name) :]
    return None if _ENDS_WIKILINK & set(text) or text != text.strip() else text


def _path(source: FilePath, written: str, target: FilePath) -> str | None:
    if written.startswith("~"):
        return None
    if written.startswith("/") and written.split("/")[1] == target.split("/")[0]:
        return _encode(f"/{target}")
    seen = posixpath.relpath(target, source.rpartition("/")[0] or ".")
    is_dotted = written.startswith("./") and not seen.startswith("../")
    return _encode(f"./{seen}" if is_dotted else seen)


def _encode(path: str) -> str:
    return "".join(quote(c, safe="") if c in _ENCODED else c for c in path)
