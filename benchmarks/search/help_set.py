"""Turn graded questions about English help pages into a retrieval set.

    python benchmarks/search/help_set.py CLONE FOLDER

CLONE is one of flowing-abyss/obsidian-hybrid-search (MIT), bare or not: it brings 171 pages of
Obsidian's help, and 58 questions with the pages that answer them, wholly (1) or in part (0.5).
Its own evaluation and ours (benchmarks/search/retrieval.py) compute nDCG alike.
"""

import argparse
import json
import subprocess
import tempfile
from pathlib import Path

from benchmarks.search.retrieval_data import Document, Labelled, write_set
from benchmarks.search.retrieval_sets import check_out_pages

QUESTIONS = "eval/golden-sets/obsidian-help.json"
PAGES = "fixtures/obsidian-help/en"


def main() -> None:
    """Write the set."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("clone", type=Path)
    parser.add_argument("folder", type=Path)
    options = parser.parse_args()
    show = ["git", "-C", str(options.clone), "show", f"HEAD:{QUESTIONS}"]
    questions = json.loads(subprocess.run(show, capture_output=True, check=True).stdout)
    grades = {
        question["query"]: dict.fromkeys(question["partial_paths"], 0.5)
        | dict.fromkeys(question["relevant_paths"], 1.0)
        for question in questions
    }
    with tempfile.TemporaryDirectory() as root:
        check_out_pages(options.clone, "HEAD", [f"{PAGES}/**/*.md"], Path(root))
        top = Path(root, PAGES)
        documents = tuple(
            Document(page.relative_to(top).as_posix(), "", page.read_text("utf-8"))
            for page in sorted(top.rglob("*.md"))
        )
    write_set(Labelled(documents, grades), options.folder)
    print(f"{len(grades)} questions, {len(documents)} pages")


if __name__ == "__main__":
    main()
