"""Retrieval sets on disk (docs.jsonl, queries.jsonl, qrels.tsv), and as a repository of pages."""

import json
import random
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

SEED = 7


class Document(NamedTuple):
    """A document as it is indexed; an id that ends in .md is the path of its page."""

    id: str
    title: str
    text: str

    @property
    def path(self) -> str:
        """Where its page stands."""
        return self.id if self.id.endswith(".md") else f"{self.id}.md"


class Labelled(NamedTuple):
    """A set: documents, and for each query the documents that answer it, with their grades."""

    documents: tuple[Document, ...]
    answers: Mapping[str, Mapping[str, float]]


def read_set(folder: Path) -> Labelled:
    """Read a set; queries that ask the same in the same words are one."""
    documents = tuple(
        Document(str(document["id"]), document.get("title") or "", document["text"])
        for document in _read_lines(folder / "docs.jsonl")
    )
    grades: dict[str, dict[str, float]] = {}
    for line in (folder / "qrels.tsv").read_text("utf-8").splitlines()[1:]:
        query, document, grade = line.split("\t")
        if float(grade) > 0:
            grades.setdefault(query, {})[document] = float(grade)
    answers: dict[str, dict[str, float]] = {}
    for query in _read_lines(folder / "queries.jsonl"):
        answers.setdefault(query["text"], {}).update(grades.get(str(query["id"]), {}))
    return Labelled(documents, {text: grades for text, grades in answers.items() if grades})


def write_set(chosen: Labelled, folder: Path) -> None:
    """Write a set."""
    folder.mkdir(parents=True, exist_ok=True)
    queries = [{"id": f"q{n}", "text": text} for n, text in enumerate(chosen.answers)]
    answers = [
        f"q{n}\t{document}\t{grade:g}"
        for n, grades in enumerate(chosen.answers.values())
        for document, grade in grades.items()
    ]
    _write_lines(
        folder / "docs.jsonl", [_json(document._asdict()) for document in chosen.documents]
    )
    _write_lines(folder / "queries.jsonl", map(_json, queries))
    _write_lines(folder / "qrels.tsv", ["query_id\tdoc_id\trelevance", *answers])


def sample(found: Labelled, queries: int, documents: int | None = None) -> Labelled:
    """A part of a set: as many queries, their answers, and other documents up to that number."""
    chance = random.Random(SEED)
    answers = dict(found.answers)
    if len(answers) > queries:
        answers = {text: answers[text] for text in sorted(chance.sample(sorted(answers), queries))}
    if documents is None:
        return Labelled(found.documents, answers)
    wanted = {document for grades in answers.values() for document in grades}
    others = [document.id for document in found.documents if document.id not in wanted]
    wanted.update(chance.sample(others, min(len(others), max(0, documents - len(wanted)))))
    return Labelled(
        tuple(document for document in found.documents if document.id in wanted), answers
    )


def write_repository(documents: Iterable[Document], root: Path) -> None:
    """Commit each document as a page: its title as front matter, then its text."""
    for document in documents:
        path = root / document.path
        path.parent.mkdir(parents=True, exist_ok=True)
        title = f"---\ntitle: {json.dumps(document.title, ensure_ascii=False)}\n---\n\n"
        text = f"{title if document.title else ''}{document.text}\n"
        path.write_text(text, "utf-8", "surrogateescape", newline="")
    commit(root)


def commit(root: Path) -> None:
    """Make a repository of a folder."""
    git = ["git", "-C", str(root), "-c", "user.name=Bench", "-c", "user.email=bench@example.com"]
    subprocess.run([*git, "init", "-q"], check=True)
    subprocess.run([*git, "add", "-A"], check=True)
    subprocess.run([*git, "commit", "-q", "-m", "Begin"], check=True)


def _read_lines(path: Path) -> list[dict[str, str]]:
    # Not splitlines(): JSON leaves characters in its strings that end lines to Unicode.
    return [json.loads(line) for line in path.read_text("utf-8").split("\n") if line]


def _json(value: Mapping[str, str]) -> str:
    return json.dumps(value, ensure_ascii=False)


def _write_lines(path: Path, lines: Iterable[str]) -> None:
    path.write_text("".join(f"{line}\n" for line in lines), "utf-8", "surrogateescape")
