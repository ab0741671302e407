"""Addresses from which a site redirects, by the files in which hosts and plug-ins look for them.

Netlify and Cloudflare read `_redirects` and `netlify.toml`, Vercel `vercel.json`, Firebase
`firebase.json`; Docusaurus' client-redirects, VitePress, Astro, Next.js and mdBook have them in
their configuration, or in a file `redirects` that it imports.
"""

import re
from collections.abc import Iterable, Iterator, Sequence

from ubp.markdown.sites.literals import block_after, strings_in

_LISTS = tuple(f"redirects.{suffix}" for suffix in ("js", "mjs", "cjs", "ts", "mts", "json"))
_HOSTS = ("vercel.json", "firebase.json")
_LINES = ("_redirects", "layouts/index.redirects")  # the second Hugo makes the first of
REDIRECT_FILES = (*_LINES, "netlify.toml", *_HOSTS, *_LISTS)
MAX_REDIRECTS = 5_000
MAX_WILDCARDS = 2  # of a pattern within a segment: each multiplies the time by the length
MAX_ADDRESS = 1_000  # characters that are matched

_SOURCE = re.compile(r"""["']?\b(?:source|from)["']?\s*:\s*(["'])(/[^"'\n]*)\1""")
_SOURCES = re.compile(r"""["']?\b(?:source|from)["']?\s*:\s*(\[[^\[\]]*\])""")
_PAIR = re.compile(r"""(["'])(/[^"'\n]*)\1\s*:\s*["'`{]""")  # of an object: '/old': '/new'
_BLOCK = re.compile(r"(?i)redirect")
_KEYS = {"netlify.toml": ("redirects",), "book.toml": ("output", "html", "redirect")}
_PART = re.compile(r":splat|:\w+[*+?]?|\(\.\*\)|\*")


def redirects_in(name: str, data: bytes) -> Iterator[str]:
    """Yield the patterns of addresses that a file of this name (`REDIRECT_FILES`) redirects."""
    text = data.decode("utf-8", "replace")
    if name in _LINES:
        for line in text.splitlines():
            words = line.split()
            if len(words) > 1 and words[0].startswith("/"):
                yield words[0]
    elif name in _KEYS:
        yield from _in_toml(name, text)
    elif name in _LISTS or _BLOCK.search(text):  # a program or JSON: its lists of redirects
        if name in _HOSTS:  # of which other lists have sources, too
            text = block_after(text, "redirects")
        yield from (match[2] for match in _SOURCE.finditer(text))
        for match in _SOURCES.finditer(text):
            yield from (address for address in strings_in(match[1]) if address.startswith("/"))
        pairs = text if name in _LISTS else block_after(text, "redirects")
        yield from (match[2] for match in _PAIR.finditer(pairs))


def _in_toml(name: str, text: str) -> Iterator[str]:
    from ubp.core.toml import parse_toml  # few repositories have one

    try:
        entries: object = parse_toml(text)
    except ValueError:
        return
    for key in _KEYS[name]:
        entries = entries.get(key) if isinstance(entries, dict) else None
    yield from _sources(entries, "from")
    for address in entries if isinstance(entries, dict) else ():  # mdBook
        yield address.removesuffix(".html").removesuffix("/index")


def _sources(entries: object, key: str) -> Iterator[str]:
    for entry in entries if isinstance(entries, list) else []:
        source = entry.get(key) if isinstance(entry, dict) else None
        if isinstance(source, str) and source.startswith("/"):
            yield source


def is_too_wide(wildcards: Sequence[str], texts: Sequence[str]) -> bool:
    """Return whether a pattern of these wildcards between these texts may take endless time."""
    deep, here, most = 0, 0, 0
    for wildcard, text in zip(wildcards, texts, strict=False):
        here = 0 if "/" in text else here
        is_name = wildcard[0] == ":" and wildcard != ":splat" and wildcard[-1] not in "*+"
        deep, here = deep + (not is_name), here + is_name
        most = max(most, here)
    return deep + most > MAX_WILDCARDS


def redirect_patterns(addresses: Iterable[str]) -> tuple[re.Pattern[str], ...]:
    """Return the patterns that addresses must match whole, without slashes at the ends.

    A pattern that matches every address is left out: it shows the page of a missing one.
    """
    patterns = []
    for address in addresses:
        parts = _PART.split(address.strip("/"))
        if not "".join(parts).strip("/"):
            continue
        names = _PART.findall(address.strip("/"))
        if is_too_wide(names, parts):
            continue
        texts = [re.escape(part) for part in parts]
        groups = ["[^/]+" if name[0] == ":" and name[-1] not in "*+" else ".*" for name in names]
        whole = "".join(part for pair in zip(texts, [*groups, ""], strict=True) for part in pair)
        pattern = re.sub(r"/\.\*$", "(?:/.*)?", whole)
        patterns.append(re.compile(rf"(?!.{{{MAX_ADDRESS}}}){pattern}"))
        if len(patterns) == MAX_REDIRECTS:
            break
    return tuple(patterns)
