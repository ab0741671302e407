"""Does a gallery of themes or plugins outrank the manual?

    python benchmarks/search/galleries.py CLONE --manual FOLDER… --gallery FOLDER… [--ask how]
        [--queries 90]

Headings that one page of the manual alone has are drawn with a fixed seed and asked, as they are,
as a question ("how do I …") or after the page's title: the mean reciprocal rank of the page, how
often it is first, how often a page of the gallery is, and how many of these come before it. A
folder is the beginning of a path.
"""

import argparse
import random
from collections import defaultdict
from pathlib import Path

from ubp.core.model import FilePath
from ubp.index.session import Session
from ubp.search.pages import PageQuery
from ubp.search.run import search_pages

SEED = 1
DEPTH = 10
FORMS = {"plain": "{heading}", "how": "how do I {heading}", "title": "{title} {heading}"}


def main() -> None:
    """Print a line of figures."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("clone", type=Path)
    parser.add_argument("--manual", nargs="+", required=True)
    parser.add_argument("--gallery", nargs="+", required=True)
    parser.add_argument("--ask", choices=FORMS, default="how")
    parser.add_argument("--queries", type=int, default=90)
    options = parser.parse_args()
    gallery = tuple(options.gallery)
    with Session.open(str(options.clone)) as session:
        questions = draw(session, tuple(options.manual), gallery, FORMS[options.ask])
        ranks, firsts, before = [], 0, 0
        for question, page in questions[: options.queries]:
            answer = search_pages(session, PageQuery(question, limit=DEPTH)).answer
            found = [hit.page.filepath for hit in answer.pages]
            place = found.index(page) if page in found else DEPTH
            ranks.append(1 / (place + 1) if place < DEPTH else 0.0)
            above = [path for path in found[:place] if path.startswith(gallery)]
            firsts += bool(above) and found[0] == above[0]
            before += len(above)
    print(
        f"{len(ranks)} questions: MRR@10 {sum(ranks) / len(ranks):.3f}, first {ranks.count(1.0)},"
        f" a page of the gallery first {firsts}, before the page {before}"
    )


def draw(
    session: Session, manual: tuple[str, ...], gallery: tuple[str, ...], form: str
) -> list[tuple[str, FilePath]]:
    """Return questions and the pages of the manual that answer them."""
    view = session.view()
    paths = [
        path
        for path in view.document_paths()
        if path.startswith(manual) and not path.startswith(gallery)
    ]
    pages = view.pages_at(paths)
    with_heading: dict[str, set[FilePath]] = defaultdict(set)
    for path, sections in view.link_graph().sections_of(paths).items():
        for section in sections:
            if section.heading and len(section.heading) > 3:
                with_heading[section.heading.strip()].add(path)
    questions = [
        (
            form.format(
                heading=heading.lower() if form.startswith("how") else heading,
                title=pages[path].facts.title or "",
            ),
            path,
        )
        for heading, found in with_heading.items()
        if len(found) == 1
        for path in found
    ]
    random.Random(SEED).shuffle(questions)
    return questions


if __name__ == "__main__":
    main()
