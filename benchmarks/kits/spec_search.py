"""Ask questions whose answering sections are known, as the tool `search_spec` does.

The questions of `benchmarks/data/spec_questions.json` were written from the tables of contents,
before any search: each with the ids of the sections that answer it. Those of `spec_drawn.json` were
written by a reader of sections that were drawn at random; the drawn one is the first of each. Every
specification is a repository with Markdown; give clones of those that the data names:

    python benchmarks/kits/spec_search.py toml=CLONE graphql=CLONE rust=CLONE

Printed are Recall@1, @5 and @10 and the mean reciprocal rank, with and without the embedding
model, and the CPU seconds of the first answer over a fresh mirror and of the next process.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

DATA = Path(__file__).parents[1] / "data"
DRAWN = json.loads((DATA / "spec_drawn.json").read_text("utf-8"))
QUESTIONS = json.loads((DATA / "spec_questions.json").read_text("utf-8")) | {
    name: drawn["questions"] for name, drawn in DRAWN.items()
}
INCLUDE = {"toml": ["toml.md"], "graphql": ["spec/**"], "rust": ["src/**"]} | {
    name: drawn["include"] for name, drawn in DRAWN.items()
}
DEPTH = 10


def ask_all(language: str, *, is_lexical: bool) -> list[int | None]:
    """Return the rank, from 1, of the first right section for each question; None: not found."""
    from ubp.kits.specs import sections as search
    from ubp.kits.specs.search_spec import SpecSearchRequest
    from ubp.workspace import Workspace

    share = search.MEANING_SHARE
    search.MEANING_SHARE = 0.0 if is_lexical else share
    ranks: list[int | None] = []
    with Workspace.open() as workspace:
        for case in QUESTIONS[language]:
            answer = workspace.ask(SpecSearchRequest(case["question"], language))
            found = [result.section_id for result in answer.results]
            right = [found.index(name) + 1 for name in case["sections"] if name in found]
            ranks.append(min(right, default=None))
    search.MEANING_SHARE = share
    return ranks


def report(name: str, ranks: list[int | None]) -> None:
    """Print one line of shares."""
    shares = [
        sum(rank is not None and rank <= limit for rank in ranks) / len(ranks)
        for limit in (1, 5, DEPTH)
    ]
    reciprocal = sum(1 / rank for rank in ranks if rank) / len(ranks)
    print(
        f"{name:24} {len(ranks):4} questions  R@1 {shares[0]:.2f}  R@5 {shares[1]:.2f}"
        f"  R@{DEPTH} {shares[2]:.2f}  MRR {reciprocal:.2f}"
    )


def cpu_of(*tokens: str) -> float:
    """Return the CPU seconds of a command."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(tokens, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("clones", nargs="+", metavar="NAME=CLONE")
    clones = dict(argument.split("=", 1) for argument in parser.parse_args().clones)
    with tempfile.TemporaryDirectory() as folder:
        os.environ["UBP_COLLECTIONS"] = os.path.join(folder, "collections")
        os.chdir(folder)
        subprocess.run(["git", "init", "--quiet", "."], check=True)
        ubp = [sys.executable, "-m", "ubp"]
        every: dict[str, list[int | None]] = {"hybrid": [], "words": []}
        for name, clone in clones.items():
            address = Path(clone).resolve().as_uri()
            options = ["--kind", "mirror", "--language", name]
            options += [f"--include={pattern}" for pattern in INCLUDE[name]]
            add = [*ubp, "-q", "collections", "add", name, address, *options, "--yes"]
            subprocess.run(add, check=True)
            search = [*ubp, "search", "--in", name, "type"]
            first, second, third = (cpu_of(*search) for _ in range(3))
            print(f"{name}: first answer {first:.2f} s CPU, then {second:.2f} and {third:.2f}")
            for mode in every:
                ranks = ask_all(name, is_lexical=mode == "words")
                every[mode] += ranks
                report(f"{name}, {mode}", ranks)
        for mode, ranks in every.items():
            report(f"all, {mode}", ranks)


if __name__ == "__main__":
    main()
