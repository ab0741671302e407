"""Whether a query that is a title, alias, file name or heading finds its page first.

    python benchmarks/search/titles.py CLONE… [--each 40] [--misses]

From each clone, `--each` names of each kind are drawn with a fixed seed. Each is searched as it is
written, and again with other case and punctuation. Names have 3 to 60 characters. A name counts
once: versions of a page (the same path without its version, or nine tenths of the same lines)
count as one page, any of them will do, and so does the version of another language. Names that
different pages share are left out, and counted: of titles with other titles, of headings with other
headings, and for file names, aliases and headings also with titles, since a title has priority, for
headings with file names, too.
"""

import argparse
import random
import re
import unicodedata
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from benchmarks.common.measure import print_table
from ubp.core.languages import without_language
from ubp.index.view import View
from ubp.search.lexical import name_of
from ubp.search.pages import PageQuery
from ubp.search.run import search_pages
from ubp.workspace import Workspace

SEED = 3
KINDS = ("title", "alias", "file name", "heading")
SHORTEST, LONGEST = 3, 60
SAME_LINES = 0.9
VERSION = re.compile(
    r"(?i)(?<![^/])(?:versioned_docs/)?"
    r"(?:(?:version-|v)?\d+(?:\.\d+|\.x)+[\w.-]*|(?:version-|v)\d+|next|latest|current|stable)/"
)


class Name(NamedTuple):
    """A name as it is written, and the pages that have it."""

    kind: str
    text: str
    pages: frozenset[str]


def main() -> None:
    """Print a table of the clones and kinds."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("clones", nargs="+", type=Path)
    parser.add_argument("--each", type=int, default=40, help="names of each kind")
    parser.add_argument("--misses", action="store_true", help="list the names that fail")
    options = parser.parse_args()
    rows = []
    totals = dict.fromkeys(KINDS, (0, 0, 0))
    for clone in options.clones:
        with Workspace.open(str(clone)) as workspace:
            names, shared = read_names(workspace.session.view())
            cells = []
            for kind in KINDS:
                drawn = random.Random(SEED).sample(names[kind], min(options.each, len(names[kind])))
                plain = [is_first(workspace, name.text, name) for name in drawn]
                varied = [is_first(workspace, vary(name.text), name) for name in drawn]
                cells.append(f"{sum(plain)}, {sum(varied)} of {len(drawn)} ({shared[kind]})")
                first, other, count = totals[kind]
                totals[kind] = first + sum(plain), other + sum(varied), count + len(drawn)
                for name, found in zip(drawn, plain, strict=True):
                    if not found and options.misses:
                        print(f"{clone.name}: {kind} {name.text!r}: {sorted(name.pages)[:2]}")
        rows.append([clone.name, *cells])
    rows.append(["all", *(f"{a}, {b} of {count}" for a, b, count in totals.values())])
    print_table("first: as written, varied, of all (left out: shared)", ["", *KINDS], rows)


def read_names(view: View) -> tuple[Mapping[str, list[Name]], Mapping[str, int]]:
    """Return the names of each kind that one page alone has, and how many are shared."""
    pages = view.pages()
    families = group_versions(view)
    sections = view.link_graph().sections_of([page.filepath for page in pages])
    found: dict[str, dict[str, dict[str, set[str]]]] = {kind: defaultdict(dict) for kind in KINDS}
    for page in pages:
        path, facts = page.filepath, page.facts
        headings = [section.heading for section in sections.get(path, ()) if section.heading]
        texts = (
            [facts.title] if facts.title else [],
            facts.aliases,
            [name_of(path)],
            [heading for heading in headings if heading != facts.title],
        )
        for kind, some in zip(KINDS, texts, strict=True):
            for text in some:
                if SHORTEST <= len(text.strip()) <= LONGEST and key_of(text):
                    found[kind][key_of(text)].setdefault(text.strip(), set()).add(path)
    titles = found["title"]
    names: dict[str, list[Name]] = {}
    shared: dict[str, int] = {}
    for kind, by_key in found.items():
        names[kind] = []
        for key, by_text in by_key.items():
            paths = set[str]().union(*by_text.values())
            others = _pages_named(titles, key)
            if kind == "heading":
                others |= _pages_named(found["file name"], key)
            if len({families[path] for path in paths | others}) == 1:
                names[kind].append(Name(kind, min(by_text), family_of(paths, families)))
        shared[kind] = len(by_key) - len(names[kind])
    return names, shared


def _pages_named(names: Mapping[str, Mapping[str, set[str]]], key: str) -> set[str]:
    return set[str]().union(*names[key].values()) if key in names else set()


def group_versions(view: View) -> dict[str, str]:
    """Return for each page the first of its versions, translations and copies."""
    contents = view.read(view.document_paths())
    families: dict[str, str] = {}
    by_key: dict[str, str] = {}
    by_name: dict[str, list[tuple[str, frozenset[bytes]]]] = defaultdict(list)
    for path, data in sorted(contents.items()):
        lines = frozenset((data or b"").splitlines())
        name = without_language(path.rpartition("/")[2])
        key = VERSION.sub("", without_language(path))
        copies = (other for other, other_lines in by_name[name] if is_copy(lines, other_lines))
        first = by_key.get(key) or next(copies, path)
        families[path] = families.get(first, first)
        by_key.setdefault(key, path)
        by_name[name].append((path, lines))
    return families


def is_copy(lines: frozenset[bytes], others: frozenset[bytes]) -> bool:
    """Return whether two pages have nearly the same lines."""
    return len(lines & others) >= SAME_LINES * max(len(lines), len(others))


def family_of(paths: set[str], families: Mapping[str, str]) -> frozenset[str]:
    """Return all versions of these pages."""
    wanted = {families[path] for path in paths}
    return frozenset(path for path, family in families.items() if family in wanted)


def key_of(text: str) -> str:
    """Return a name without differences of case, width, punctuation and plural."""
    words = re.findall(r"[^\W_]+", unicodedata.normalize("NFKC", text).casefold())
    return " ".join(word.removesuffix("s") for word in words)


def vary(text: str) -> str:
    """Return a name with other case and punctuation."""
    words = re.findall(r"[^\W_]+", text)
    return " - ".join(word.swapcase() for word in words)


def is_first(workspace: Workspace, query: str, name: Name) -> bool:
    """Return whether the first page that a query finds has the name."""
    found = search_pages(workspace.session, PageQuery(query, limit=1)).answer
    return any(hit.page.filepath in name.pages for hit in found.pages)


if __name__ == "__main__":
    main()
