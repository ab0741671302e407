"""Hold the resolved links against a simple independent count, on real repositories.

    python benchmarks/links/link_agreement.py REPOSITORY…

The count knows no Markdown: regular expressions over the text with code and comments cut out; a
wikilink leads to the only page with that path or file name, a Markdown link to the path that it
spells. What both, only UBP, or only the count resolve is told, with examples to look at.
"""

import argparse
import posixpath
import re
from collections import Counter, defaultdict
from pathlib import Path
from urllib.parse import unquote

from benchmarks.common.measure import print_table
from ubp.search.graph import open_graph
from ubp.workspace import Workspace

CODE = re.compile(
    r"^(?P<fence>`{3,}|~{3,}).*?(?:^(?P=fence)|\Z)|`[^`\n]+`|<!--.*?-->", re.DOTALL | re.MULTILINE
)
WIKILINK = re.compile(r"\[\[([^\[\]|#\n\\]+)[^\[\]\n]*\]\]")
MARKDOWN = re.compile(
    r"\]\(<?([^()<>\s#?]+\.(?:md|markdown))[^()\s]*(?:\s+[^()]*)?\)", re.IGNORECASE
)
JAPANESE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")

Pair = tuple[str, str]


def main() -> None:
    """Print a line for each repository, then examples of what differs."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("repositories", nargs="+", type=Path)
    parser.add_argument("--examples", type=int, default=5)
    options = parser.parse_args()
    rows, examples = [], []
    for root in options.repositories:
        told, texts, buckets = ask_ubp(root)
        counted, existing = count(texts)
        japanese = {pair for pair in existing if JAPANESE.search(pair[1])}
        share = len(japanese & told.keys()) / len(japanese) if japanese else 1.0
        only_ubp, only_count = told.keys() - counted, counted - told.keys()
        rows.append(
            [
                root.name,
                str(len(texts)),
                str(sum(buckets.values())),
                " ".join(f"{name} {n}" for name, n in sorted(buckets.items())),
                str(len(told.keys() & counted)),
                str(len(only_ubp)),
                str(len(only_count)),
                f"{share:.3f}",
            ]
        )
        for name, pairs in (("only UBP", only_ubp), ("only the count", only_count)):
            examples += [
                f"{root.name}, {name}: {a} → {b}" for a, b in sorted(pairs)[: options.examples]
            ]
    header = ["repository", "pages", "links", "buckets", "both", "only UBP", "only the count", "ja"]
    print_table("Pairs of pages with a link", header, rows)
    print("\n".join(["", *examples]))


def ask_ubp(root: Path) -> tuple[Counter[Pair], dict[str, str], Counter[str]]:
    """The pairs of pages that UBP finds linked, every page's text, the buckets."""
    with Workspace.open(str(root)) as workspace:
        graph = open_graph(workspace.session.view())
        texts = {
            row.path: (graph.text(row.path) or b"").decode("utf-8", "replace")
            for row in graph.documents()
        }
        pairs = Counter(
            (edge.source, edge.resolution.target)
            for edge in graph.all_edges()
            if edge.resolution.target and edge.resolution.target != edge.source
        )
        return pairs, texts, Counter(graph.buckets())


def count(texts: dict[str, str]) -> tuple[set[Pair], set[Pair]]:
    """The pairs by regular expressions, and those of them that wikilinks make."""
    stems: dict[str, list[str]] = defaultdict(list)
    for path in texts:
        stems[posixpath.splitext(posixpath.basename(path))[0]].append(path)
    pairs, wikilinks = set(), set()
    for path, text in texts.items():
        rest = CODE.sub("", text)
        for name in WIKILINK.findall(rest):
            found = [p for p in (name.strip() + ".md", name.strip()) if p in texts]
            found = found or stems.get(name.strip(), [])
            if len(found) == 1 and found[0] != path:
                wikilinks.add((path, found[0]))
        for link in MARKDOWN.findall(rest):
            target = unquote(link)
            base = "" if target.startswith("/") else posixpath.dirname(path)
            where = posixpath.normpath(posixpath.join(base, target.lstrip("/")))
            if where in texts and where != path:
                pairs.add((path, where))
    return pairs | wikilinks, wikilinks


if __name__ == "__main__":
    main()
