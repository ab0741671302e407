"""Measure sections and merged search over collections that are on this machine.

`python benchmarks/kits/collections_search.py NAME …` reads the collections from `UBP_COLLECTIONS`,
or the user's own. For each it prints how many headings the outline has, against the lines that
begin with `#` outside of fences; then, for headings as queries, how often the page with the heading
is among the first five of its own collection, and of all collections merged by score.
"""

import argparse
import os
import random
import re
import time
from dataclasses import replace

from ubp.answers.search.search import SearchRequest, run
from ubp.git.trees import list_tree
from ubp.index.session import Session, Target
from ubp.index.tree import document_filter
from ubp.markdown.outline import read_outline
from ubp.workspace import Workspace

TOP = 5
FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
FRONT_MATTER = re.compile(r"\A---\n.*?\n---\n", re.DOTALL)
ATX = re.compile(r" {0,3}#{1,6}(?:[ \t]|$)")


def count_headings(text: str) -> int:
    """Return the number of ATX headings, found line by line without a Markdown parser."""
    fence, found = "", 0
    for line in text.split("\n"):
        match = FENCE.match(line)
        if fence:
            if match and match[1].startswith(fence) and not line.strip(" `~"):
                fence = ""
        elif match:
            fence = match[1]
        else:
            found += bool(ATX.match(line))
    return found


def read_documents(workspace: Workspace) -> dict[str, bytes]:
    """Return the documents of an opened collection by path."""
    repository, session = workspace.session.repository, workspace.session
    is_document = document_filter(session.config)
    entries = list_tree(repository, session.snapshot(Target()).commit or "")
    chosen = {path: entry.id for path, entry in entries.items() if is_document(path, entry)}
    contents = repository.read_blobs(set(chosen.values()))
    return {path: contents[blob] or b"" for path, blob in chosen.items()}


def find(session: Session, request: SearchRequest) -> list[tuple[str | None, str]]:
    """Return the collections and paths of the pages that are found."""
    found = run(session, request, is_dated=False).results
    return [(page.collection, page.filepath) for page in found]


def main() -> None:
    """Measure, and print tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="+")
    parser.add_argument("--mode", default="hybrid", choices=["hybrid", "fulltext"])
    parser.add_argument("--queries", type=int, default=20, help="of each collection")
    options = parser.parse_args()
    chance = random.Random(1)
    opened = {name: Workspace.open_collection(name, directory="/") for name in options.names}
    first, *others = opened.values()
    for other in others:
        other.session.share_model(first.session)
    questions = []
    print("| collection | pages | headings | found |\n|---|---|---|---|")
    for name, workspace in opened.items():
        documents = read_documents(workspace)
        expected = found = 0
        headings = []
        for path, data in documents.items():
            text = re.sub(
                r"\A---\n.*?\n---\n", "", data.decode("utf-8", "replace"), flags=re.DOTALL
            )
            outline = [section for section in read_outline(data) if section.level]
            expected += count_headings(text)
            found += len(outline)
            headings += [(s.heading, path) for s in outline if s.level > 1 and " " in s.heading]
        print(f"| {name} | {len(documents)} | {expected} | {found} |")
        by_text = {}
        for heading, path in headings:
            by_text.setdefault(heading.casefold(), []).append((heading, path))
        unique = [pairs[0] for pairs in by_text.values() if len(pairs) == 1]
        chance.shuffle(unique)
        questions += [(name, *pair) for pair in unique[: options.queries]]
    alone = merged = 0
    started = time.process_time()
    own = {name: [0, 0, 0] for name in opened}
    for name, heading, path in questions:
        request = SearchRequest(heading, mode=options.mode, limit=TOP)
        in_own = (name, path) in find(opened[name].session, request)
        in_merged = (name, path) in find(
            first.session, replace(request, others=tuple(other.session for other in others))
        )
        own[name][0] += 1
        own[name][1] += in_own
        own[name][2] += in_merged
        alone += in_own
        merged += in_merged
    print(f"\n| {options.mode} | questions | Recall@{TOP} alone | merged |\n|---|---|---|---|")
    for name, (total, found_alone, found_merged) in own.items():
        print(f"| {name} | {total} | {found_alone / total:.2f} | {found_merged / total:.2f} |")
    total = len(questions)
    print(f"| all | {total} | {alone / total:.2f} | {merged / total:.2f} |")
    print(f"\n{(time.process_time() - started) / total / len(opened) * 1000:.0f} ms CPU a search")
    for workspace in opened.values():
        workspace.close()


if __name__ == "__main__":
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    main()
