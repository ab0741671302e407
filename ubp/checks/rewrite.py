"""New targets for links, in the style of the old ones.

Apart from `ubp.checks.fix`, which loads the Markdown parser: the rules that propose a fix do not.
"""

import posixpath
import re
from collections.abc import Sequence
from urllib.parse import quote

from ubp.checks.finding import WIKILINKS
from ubp.core.model import FilePath, Link
from ubp.markdown.resolve import (
    is_file,
    is_hugo_ref,
    keeps_suffix,
    own_language,
    ref_folder,
    without_sphinx_suffix,
    without_suffix,
)
from ubp.markdown.sites.site import Site, absolute_links, relative_address

# Characters that would end a wikilink's target; a Markdown link's is percent-encoded.
_WIKILINK_DELIMITERS = frozenset("[]|#^\\\n\r")
# What no reference is read with: what would end it, patterns and the name of the page itself.
_NO_HUGO_REF = re.compile(r"[\s\"'`#?:=%{}<>]")
_NO_SPHINX_REF = re.compile(r"[\n`*?\[{}<>]|^self$")
_ENDS_WIKILINK = re.compile(r"[\[\]|#^]")
# Characters with a meaning in Markdown or URLs; letters of any script are not encoded.
_ENCODED = frozenset(" \t\n\r()<>#?%\\|\"'`*[]")


def rewrite_link(
    link: Link, source: FilePath, target: FilePath, namesakes: Sequence[FilePath]
) -> str | None:
    """Return a new target for a link, in the style of the old one, from page `source` to `target`.

    `namesakes` are all pages with the target's file name. None: it cannot be written.
    """
    if link.kind in WIKILINKS:
        return _wikilink_target(link.target, target, namesakes)
    return _path_target(link.target, source, target)


def rewrite_address(link: Link, site: Site, source: FilePath, target: FilePath) -> str | None:
    """Return the address of a page of a site for a link that has an address, None: it has none.

    From the root or relative, with or without a slash or `.html` at its end, as the old one.
    """
    old = link.target
    suffix = ".html" if old.lower().endswith((".html", ".htm")) else ""
    if link.kind in WIKILINKS or is_file(old) or not old.endswith(suffix):
        return None
    if suffix and without_suffix(target).rpartition("/")[2].lower() in site.style.folder_pages:
        return None
    if old.startswith("/"):
        base = f"/{site.base.strip('/')}".rstrip("/")
        address = next(iter(absolute_links(site, target)), None)
        if address is not None and not f"{old}/".startswith(f"{base}/"):
            address = address.removeprefix(base)
    else:
        address = relative_address(site, source, target)
        has_dot = old.startswith("./") and address is not None and not address.startswith(".")
        address = f"./{address}" if has_dot else address
    if address is None:
        return None
    end = suffix or "/" * (old.endswith("/") or address == "/")
    return percent_encode(address.rstrip("/") + end)


def rewrite_ref(link: Link, site: Site, source: FilePath, target: FilePath) -> str | None:
    """Return the path of a page as a reference has it, from the root or relative, as the old one.

    A suffix, and a slash at the end, are there if the old one has them. None: the path cannot be
    written in one.
    """
    old, path = link.target, str(target)
    if is_hugo_ref(link):
        named, language = target, own_language(target)
        if language and own_language(source):
            bare = without_suffix(target)
            named = FilePath(bare.removesuffix(language) + target.removeprefix(bare))
        path = named if is_file(old) else re.sub(r"/_?index$", "", without_suffix(named))
    elif not keeps_suffix(link):
        path = without_sphinx_suffix(target)
    if old.startswith("/"):
        within = (f"{root.folder}/" for root in site.roots)
        folders = [folder for folder in within if path.startswith(folder)]
        text = f"/{path.removeprefix(max(folders, default='', key=len))}"
    else:
        text = posixpath.relpath(path, ref_folder(link, source) or ".")
        text = f"./{text}" if old.startswith("./") and not text.startswith(".") else text
    unwritable = _NO_HUGO_REF if is_hugo_ref(link) else _NO_SPHINX_REF
    return None if unwritable.search(text) else text + "/" * old.endswith("/")


def respell_target(link: Link, target: FilePath) -> str:
    """Return the target of a link with the names of a path that has as many, as it is written.

    A suffix that the link leaves out stays out, and so do dots and slashes.
    """
    written = link.target.rstrip("/")
    names = without_suffix(target).split("/")
    old = written.split("/")
    suffix = target[len(without_suffix(target)) :] if without_suffix(written) != written else ""
    kept = [name for name in old if name in {"", ".", ".."}]
    count = len(old) - len(kept)
    new = iter(names[len(names) - count :])
    path = "/".join(name if name in {"", ".", ".."} else next(new) for name in old)
    return percent_encode(path + suffix + "/" * link.target.endswith("/"))


def _wikilink_target(old: str, target: FilePath, namesakes: Sequence[FilePath]) -> str | None:
    name = without_suffix(target)
    needs_path = "/" in old or len(namesakes) > 1
    text = name if needs_path else name.rpartition("/")[2]
    if without_suffix(old) != old:
        text += target[len(name) :]
    return None if _WIKILINK_DELIMITERS & set(text) or text != text.strip() else text


def _path_target(old: str, source: FilePath, target: FilePath) -> str | None:
    if old.startswith("~"):
        return None
    if old.startswith("/") and old.split("/")[1] == target.split("/")[0]:
        return percent_encode(f"/{target}")
    relative = relative_target(source, target)
    has_dot = old.startswith("./") and not relative.startswith("../")
    return f"./{relative}" if has_dot else relative


def relative_target(source: FilePath, target: FilePath) -> str:
    """Return the path of a file relative to the page `source`, as a link has it."""
    return percent_encode(posixpath.relpath(target, source.rpartition("/")[0] or "."))


def wikilink_heading(heading: str) -> str:
    """Return the text of a heading as a wikilink names it."""
    return " ".join(_ENDS_WIKILINK.sub(" ", heading).split())


def percent_encode(path: str) -> str:
    """Return a path or an anchor without characters that have a meaning in Markdown or URLs."""
    if _ENCODED.isdisjoint(path):
        return path
    return "".join(quote(letter, safe="") if letter in _ENCODED else letter for letter in path)
