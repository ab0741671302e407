"""Turn a repository of Markdown into labelled retrieval sets, with nobody's judgement.

    python benchmarks/search/retrieval_sets.py REPOSITORY FOLDER [--commit REV] [--under PATH…]

Each set is a folder with docs.jsonl {id, title, text}, queries.jsonl {id, text} and qrels.tsv, as
benchmarks/search/retrieval.py reads it:

links      the text of a link asks for the page that it leads to; wherever that text leads there,
           the link is taken out of what is indexed. Ids are paths, so that other links still lead
           where they led.
headings   a heading asks for its section's body; each section is a document without its heading,
           titled as its page is.
places     a heading asks for the page that has it, whose other text stays as it is: one a page.
mixed      a Japanese question about an identifier that one page's headings alone have,
           `ref の使い方`, asks for that page, whose other text stays as it is: one a page.
translated a heading of a translation asks for the page that it translates, found by the same path
           and the same anchor (`{#anchor}`); with --translation REPOSITORY FOLDER.

No query is what a document is called anyway (its title, alias, file name), nor does it lead to
several of them, nor is it generic ("see here") or too short to ask for anything. What is sampled
is sampled the same way each time; a larger repository gives up other pages first.
"""

import argparse
import random
import re
import subprocess
import tempfile
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks.search.retrieval_data import Document, Labelled, sample, write_set
from benchmarks.search.retrieval_data import commit as commit_all
from ubp.core.model import Section
from ubp.index.link_graph import GraphEdge
from ubp.markdown.document import parse_page, read_head
from ubp.search.graph import Graph, open_graph
from ubp.workspace import Workspace

QUERIES = 300
DOCUMENTS = 2000
# A shorter answer tells too little to be found by what is left of it.
MIN_TEXT = 120
# Two words, or so many CJK characters: less asks for many things.
MIN_CJK = 4
MAX_QUERY = 120
MIXED = ("{} の使い方", "{} とは何ですか", "{} を設定するには", "{} が動かない")
GENERIC = re.compile(
    r"(?:(?:see|click|read|learn|find out|view|go)\b.*\b(?:here|more|this|details?|docs?)"
    r"|(?:this|the|that|these|following|previous|next|above|below)\b(?: \w+){0,2}"
    r"|back to .*|table of contents|(?:issue|pr|pull request|#)[ #]*\d+.*|v?\d[\d.\s/:-]*"
    r"|.*(?:こちら|ここ|これ|それ|この(?:章|節|ページ|記事)|前の章|次の章)(?:[をにでのへ]?.{0,3})"
    r"|(?:参考|関連|詳細|目次|参照|前述|後述|上記|下記)(?:リンク|資料|情報|ページ|記事)?)",
    re.IGNORECASE,
)


class Pages(NamedTuple):
    """A repository's pages, read once."""

    graph: Graph
    texts: Mapping[str, bytes]
    titles: Mapping[str, str]
    names: Mapping[str, frozenset[str]]  # what a page is called, folded


def main() -> None:
    """Write a repository's sets, and tell how large they are."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("repository", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--commit", default="HEAD")
    parser.add_argument("--under", action="append", default=[])
    parser.add_argument("--translation", nargs=2, metavar=("REPOSITORY", "FOLDER"))
    parser.add_argument("--queries", type=int, default=QUERIES)
    parser.add_argument("--documents", type=int, default=DOCUMENTS)
    options = parser.parse_args()
    found_sets = make_sets(options.repository, options.commit, options.under)
    if options.translation:
        place = (options.repository, options.commit, options.under[0])
        found_sets = {"translated": make_translated(place, options.translation)}
    for kind, found in found_sets.items():
        chosen = sample(found, options.queries, options.documents)
        write_set(chosen, options.folder / kind)
        print(f"{kind}: {len(chosen.answers)} of {len(found.answers)} queries,", end=" ")
        print(f"{len(chosen.documents)} of {len(found.documents)} documents")


def make_sets(repository: Path, commit: str, under: Sequence[str]) -> dict[str, Labelled]:
    """All that a repository gives at a commit."""
    with tempfile.TemporaryDirectory() as root:
        check_out(repository, commit, under, Path(root))
        with Workspace.open(root) as workspace:
            pages = read_pages(open_graph(workspace.session.view()))
            return {kind: make(pages) for kind, make in KINDS.items()}


def check_out(repository: Path, commit: str, under: Sequence[str], root: Path) -> None:
    """Commit the pages that these folders (none: all) held to a repository of its own."""
    folders = [f"{folder.rstrip('/')}/" for folder in under] or [""]
    check_out_pages(repository, commit, [f"{folder}**/*.md" for folder in folders], root)


def check_out_pages(repository: Path, commit: str, globs: Sequence[str], root: Path) -> None:
    """Commit the pages that these globs matched."""
    pages = [f":(glob){glob}" for glob in globs]
    archive = ["git", "-C", str(repository), "archive", commit, *pages]
    with subprocess.Popen(archive, stdout=subprocess.PIPE) as process:
        subprocess.run(["tar", "-x", "-C", str(root)], stdin=process.stdout, check=True)
    if process.returncode:
        raise SystemExit(f"{' '.join(archive)} failed")
    commit_all(root)


def read_pages(graph: Graph) -> Pages:
    """What every set is made of."""
    texts, titles, names = {}, {}, {}
    for row in graph.documents():
        texts[row.path] = graph.text(row.path) or b""
        titles[row.path] = row.title
        stem, folder = Path(row.path).stem, Path(row.path).parent.name
        aliases = parse_page(texts[row.path], ()).aliases
        headings = [s.heading for s in graph.sections(row.path) if s.level == 1 and s.heading]
        called = (row.title, *headings, stem, Path(row.path).name, folder, *aliases)
        names[row.path] = frozenset(map(fold, called))
    return Pages(graph, texts, titles, names)


def make_links(pages: Pages) -> Labelled:
    """The texts of links."""
    edges: dict[str, list[GraphEdge]] = defaultdict(list)
    for edge in pages.graph.all_edges():
        text = read_query(edge.link.label or "")
        if is_telling(text) and edge.resolution.target:
            edges[text].append(edge)
    leading = defaultdict(set)
    for text, found in edges.items():
        leading[fold(text)].update(edge.resolution.target for edge in found)
    answers, cuts = {}, defaultdict(list)
    titles = Counter(name for names in pages.names.values() for name in names)
    for text, found in edges.items():
        target = str(found[0].resolution.target)
        is_one = len(leading[fold(text)]) == 1 and all(edge.source != target for edge in found)
        if is_one and fold(text) not in titles:
            spans = [(edge.source, find_spans(pages.texts[edge.source], edge)) for edge in found]
            if len(body(pages, target)) >= MIN_TEXT and all(places for _, places in spans):
                answers[text] = target
            for source, places in spans:
                cuts[source] += places
    documents = [document(pages, path, cuts[path]) for path in pages.texts]
    return Labelled(tuple(documents), graded(answers))


def make_headings(pages: Pages) -> Labelled:
    """Headings and the bodies of their sections."""
    documents, asked = [], []
    for path in pages.texts:
        for number, section in enumerate(pages.graph.sections(path)):
            _, text = split(pages.texts[path], section)
            if not text.strip():
                continue
            name = f"{path.removesuffix('.md')}-{number}.md"
            documents.append(Document(name, pages.titles[path], text))
            if is_answer(pages, path, section):
                asked.append((read_query(section.heading or ""), name))
    return Labelled(tuple(documents), graded(unique(asked)))


def make_places(pages: Pages) -> Labelled:
    """Headings and the pages that have them."""
    asked, lines = [], {}
    for path in pages.texts:
        found = [s for s in pages.graph.sections(path) if is_answer(pages, path, s)]
        for section in random.Random(path).sample(found, min(1, len(found))):
            heading, _ = split(pages.texts[path], section)
            asked.append((read_query(section.heading or ""), path))
            lines[path] = [(section.byte_start, section.byte_start + len(heading))]
    documents = [document(pages, path, lines.get(path, [])) for path in pages.texts]
    return Labelled(tuple(documents), graded(unique(asked)))


def make_mixed(pages: Pages) -> Labelled:
    """Japanese questions about identifiers of headings, and the pages that have these."""
    named = {
        path: [
            (name, section)
            for section in pages.graph.sections(path)
            for name in _IDENTIFIER.findall(split(text, section)[0].decode("utf-8", "replace"))
        ]
        for path, text in pages.texts.items()
    }
    having = Counter(name for found in named.values() for name in {name for name, _ in found})
    asked, lines = [], {}
    for path, found in named.items():
        chance = random.Random(path)
        own = [(name, section) for name, section in found if having[name] == 1]
        own = [(name, section) for name, section in own if fold(name) not in pages.names[path]]
        for name, section in chance.sample(own, min(1, len(own))):
            heading, _ = split(pages.texts[path], section)
            asked.append((chance.choice(MIXED).format(name), path))
            lines[path] = [(section.byte_start, section.byte_start + len(heading))]
    documents = [document(pages, path, lines.get(path, [])) for path in pages.texts]
    return Labelled(tuple(documents), graded(unique(asked)))


KINDS: Mapping[str, Callable[[Pages], Labelled]] = {
    "links": make_links,
    "headings": make_headings,
    "places": make_places,
    "mixed": make_mixed,
}


def make_translated(place: tuple[Path, str, str], other: tuple[str, str]) -> Labelled:
    """Headings of one language and the pages of another."""
    repository, commit, folder = place
    with tempfile.TemporaryDirectory() as ours, tempfile.TemporaryDirectory() as theirs:
        check_out(repository, commit, [folder], Path(ours))
        check_out(Path(other[0]), "HEAD", [other[1]], Path(theirs))
        corpus, asking = Path(ours, folder), Path(theirs, other[1])
        documents, asked = [], []
        for file in sorted(corpus.rglob("*.md")):
            path = file.relative_to(corpus).as_posix()
            text = file.read_text("utf-8")
            facts = parse_page(text.encode(), ())
            body = text.encode()[read_head(text.encode(), ()).body :].decode()
            documents.append(Document(path, facts.title or file.stem, _ANCHOR.sub("", body)))
            if (asking / path).exists():
                asked += [
                    (anchor, path) for anchor in same_anchors((asking / path).read_text(), text)
                ]
    return Labelled(tuple(documents), graded(unique(asked)))


def same_anchors(asking: str, answering: str) -> list[str]:
    """The headings of a page whose anchors another has too, as far as they differ from its own."""
    there = {match["anchor"]: fold(match["text"]) for match in _HEADING.finditer(answering)}
    found = [(match["anchor"], read_query(match["text"])) for match in _HEADING.finditer(asking)]
    return [
        text
        for anchor, text in found
        if anchor in there and is_telling(text) and fold(text) not in there.values()
    ]


def is_answer(pages: Pages, path: str, section: Section) -> bool:
    """Whether a section's heading asks for what stands below it, and not for the page as such."""
    heading = read_query(section.heading or "")
    if section.level == 0 or not is_telling(heading) or fold(heading) in pages.names[path]:
        return False
    return len(plain(split(pages.texts[path], section)[1])) >= MIN_TEXT


def split(data: bytes, section: Section) -> tuple[bytes, str]:
    """A section's heading as it is written, and its body."""
    text = data[section.byte_start : section.byte_end]
    if section.heading is None:
        return b"", text.decode("utf-8", "replace")
    first, *rest = text.splitlines(keepends=True)
    if not first.lstrip().startswith(b"#") and rest:  # underlined
        first += rest[0]
    return first, text[len(first) :].decode("utf-8", "replace")


def find_spans(data: bytes, edge: GraphEdge) -> list[tuple[int, int]]:
    """Where a link stands with its brackets, of a definition each use; none: it is left alone."""
    link = edge.link
    line = data.splitlines(keepends=True)[: link.line]
    start = sum(map(len, line[:-1]))
    start += len(line[-1].decode("utf-8", "replace")[: link.column - 1].encode())
    if link.kind == "definition":
        label = re.escape((link.label or "").encode())
        uses = re.finditer(rb"\[[^\[\]]*\]\[%s\]|\[%s\](?:\[\])?(?!:)" % (label, label), data)
        return [use.span() for use in uses]
    closing = re.compile(rb"""\s*>?(?:\s+["'(].*?["')])?\s*\)|[^\[\]]*\]\]""", re.DOTALL)
    end = closing.search(data, link.byte_end)
    if end is None or data[start : start + 1] != b"[" or end.start() - link.byte_end > MAX_QUERY:
        return []
    return [(start, end.end())]


def document(pages: Pages, path: str, cuts: Iterable[tuple[int, int]]) -> Document:
    """A page as it is indexed, without these parts of it."""
    data = pages.texts[path]
    start = read_head(data, ()).body
    parts = []
    for first, last in sorted(cuts):
        parts.append(data[start:first])
        start = max(start, last)
    text = b"".join([*parts, data[start:]])
    return Document(path, pages.titles[path], text.decode("utf-8", "replace"))


def body(pages: Pages, path: str) -> str:
    """The words of a page."""
    data = pages.texts[path]
    return plain(data[read_head(data, ()).body :].decode("utf-8", "replace"))


def is_telling(text: str) -> bool:
    """Whether a text asks for something that few documents tell."""
    if len(text) > MAX_QUERY or "/" in text or GENERIC.fullmatch(text) or _DATE.search(text):
        return False
    return len(_CJK.findall(text)) >= MIN_CJK or len(_WORD.findall(text)) >= 2


def unique(asked: Iterable[tuple[str, str]]) -> dict[str, str]:
    """The queries that ask for one document only."""
    found = defaultdict(set)
    for text, answer in asked:
        found[fold(text)].add(answer)
    return {text: answer for text, answer in asked if len(found[fold(text)]) == 1}


def graded(answers: Mapping[str, str]) -> dict[str, dict[str, float]]:
    """Of queries that differ in case only, one; each answer is as good as any."""
    kept = {fold(text): text for text in sorted(answers, reverse=True)}
    return {text: {answers[text]: 1.0} for text in sorted(kept.values())}


def read_query(text: str) -> str:
    """A text as somebody might type it, without the number of a chapter, step or example."""
    text = plain(text)
    number = _NUMBER.match(text)
    return text[number.end() :] if number else text


def plain(text: str) -> str:
    """A text without Markdown's marks, on one line."""
    return " ".join(_MARKS.sub(" ", _LINK.sub(r"\1", text)).split())


def fold(text: str) -> str:
    """Texts that a reader takes for the same are equal."""
    return "".join(_WORD.findall(unicodedata.normalize("NFKC", plain(text)).casefold()))


_LINK = re.compile(r"!?\[([^\[\]]*)\]\([^()]*\)")
_MARKS = re.compile(r"[`*~\\]+|(?<!\w)_+|_+(?!\w)|<[^<>]*>|\{\s*#[^{}]*\}|[\[\]#|]")
_ANCHOR = re.compile(r"[ \t]*\{\s*#[\w-]+\s*\}")
_HEADING = re.compile(
    r"^#{1,4} +(?P<text>.+?)[ \t]*\{\s*#(?P<anchor>[\w-]+)\s*\}[ \t]*$", re.MULTILINE
)
_NUMBER = re.compile(r"(?:\w{3,9} )?\d+(?:\.\d+)*[.:)]\s+|\d+(?:\.\d+)*\s+")
_IDENTIFIER = re.compile(r"`[\W_]*([A-Za-z_$][\w$.-]*\w)[^`]*`")
_DATE = re.compile(
    r"(?<!\w)\d{4}\b|\d\d?:\d\d|\d+\.\d+\.\d+|\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep"
    r"|oct|nov|dec)[a-z]* \d",
    re.IGNORECASE,
)
_CJK = re.compile("[\u3041-\u3096\u30a1-\u30fa\u30fc\u3400-\u4dbf\u4e00-\u9fff]")
_WORD = re.compile(r"[^\W_]+")


if __name__ == "__main__":
    main()
