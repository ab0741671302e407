"""The mechanism that reads, parses and saves the facts of blobs."""

import os
from collections.abc import Iterator
from typing import Any

import pytest

from ubp.core.model import Entry, FilePath, ObjectId
from ubp.git.repository import Repository, open_repository
from ubp.git.snapshot import hash_files, read_worktree
from ubp.index import facts as facts_module
from ubp.index.facts import BlobFacts, Contents, FileContents

Texts = dict[ObjectId, str]


class Table:
    """A store of texts in memory, and a parser that notes what it is given."""

    def __init__(self) -> None:
        self.texts: Texts = {}
        self.saved_meanwhile: Texts = {}
        self.saves: list[int] = []
        self.steps: list[tuple[int, int]] = []

    def missing(self, blobs: Any) -> set[ObjectId]:
        return {blob for blob in blobs if blob not in self.texts}

    def load(self, blobs: Any) -> Texts:
        return {blob: self.texts[blob] for blob in blobs if blob in self.texts}

    def parse(self, batches: Iterator[Contents], _total: int) -> Iterator[Texts]:
        for batch in batches:
            yield {blob: data.decode() for blob, data in batch.items()}

    def save(self, texts: Texts) -> None:
        self.saves.append(len(texts))
        self.texts |= texts | self.saved_meanwhile

    def facts(self, repository: Repository, files_per_save: int = 1) -> BlobFacts[str]:
        contents = FileContents(repository, read_worktree(repository))
        return BlobFacts(
            contents,
            self.parse,
            self.save,
            lambda *step: self.steps.append(step),
            files_per_save=files_per_save,
        )


@pytest.fixture
def opened(repository: Any) -> Iterator[Repository]:
    for number in range(40):
        repository.write(f"docs/{number:02}.md", f"{number}\n")
    repository.commit()
    with_index = open_repository(str(repository.root), os.environ)
    yield with_index
    with_index.close()


def entries(repository: Repository, names: list[str]) -> dict[FilePath, Entry]:
    hashed = hash_files(repository, [FilePath(name) for name in names])
    return {path: entry for path, entry in hashed.items() if entry}


NAMES = [f"docs/{number:02}.md" for number in range(40)]


def test_saved_facts_are_not_parsed_again(opened: Repository) -> None:
    table, files = Table(), entries(opened, NAMES)
    expected = {entry.id: f"{int(path[5:7])}\n" for path, entry in files.items()}
    first = table.facts(opened)
    assert first.get(files, table.load) == expected == table.texts
    assert (first.parsed, first.are_all_saved()) == (40, True)
    second = table.facts(opened)
    assert second.get(files, table.load) == expected
    second.learn(files, table.missing)
    assert second.parsed == 0


def test_facts_are_saved_in_groups_and_reported_then(opened: Repository) -> None:
    table = Table()
    table.facts(opened, files_per_save=20).learn(entries(opened, NAMES), table.missing)
    assert table.saves == [40]  # 16 files of the first batch, then the other 24
    assert table.steps == [(40, 40)]
    table = Table()
    table.facts(opened).learn(entries(opened, NAMES), table.missing)
    assert (table.saves, table.steps) == ([16, 24], [(16, 40), (40, 40)])


def test_facts_that_another_process_saves_meanwhile_are_not_parsed(opened: Repository) -> None:
    table, files = Table(), entries(opened, NAMES)
    facts = table.facts(opened)
    table.saved_meanwhile = {entry.id: "theirs" for entry in list(files.values())[16:]}
    assert len(facts.get(files, table.load)) == 40
    assert (facts.parsed, table.saves) == (16, [16])
    assert table.steps == [(16, 40), (40, 40)]


def test_facts_of_changed_bytes_are_returned_but_not_saved(
    opened: Repository, repository: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository.write("docs/00.md", "new\n")
    table, files = Table(), entries(opened, ["docs/00.md", "docs/01.md"])
    monkeypatch.setattr(
        facts_module, "read_documents", lambda *arguments: dict.fromkeys(arguments[2], b"later\n")
    )
    facts = table.facts(opened)
    changed = files[FilePath("docs/00.md")].id
    for _ in range(2):  # the second time from memory
        assert facts.get(files, table.load)[changed] == "later\n"
    assert list(table.texts.values()) == ["1\n"]
    assert (facts.parsed, facts.is_saved(changed), facts.are_all_saved()) == (2, False, False)


def test_unreadable_blob_has_no_facts(opened: Repository) -> None:
    table = Table()
    files = entries(opened, ["docs/00.md"])
    missing = ObjectId("1" * 40)
    files[FilePath("docs/gone.md")] = files[FilePath("docs/00.md")]._replace(id=missing)
    facts = table.facts(opened)
    assert list(facts.get(files, table.load).values()) == ["0\n"]
    assert (facts.unreadable, facts.is_saved(missing)) == ({missing}, False)
    assert table.steps == [(2, 2)]
