"""What goes into SQLite comes out the same."""

import sqlite3

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ubp.core.model import (
    BaselineQuery,
    Drift,
    FilePath,
    ObjectId,
    PageFacts,
    Problem,
    SourceReference,
)
from ubp.index.store.codec import (
    pack_facts,
    pack_ids,
    pack_path,
    pack_search,
    unpack_facts,
    unpack_id,
    unpack_ids,
    unpack_path,
    unpack_searches,
)

texts = st.text(st.characters(codec="utf-8"))
names = st.binary(min_size=1).map(lambda raw: raw.decode("utf-8", "surrogateescape"))
ids = st.binary(min_size=20, max_size=20).map(lambda raw: ObjectId(raw.hex()))
maybe = st.none() | texts
references = st.builds(
    lambda written, path, literal, *rest: SourceReference(
        written, FilePath(path or written), FilePath(literal or written), *rest
    ),
    texts,
    texts,
    texts,
    maybe,
    texts,
    st.integers(1, 10**6),
    maybe,
    maybe,
)
tuples = st.lists(texts, max_size=3).map(tuple)
facts = st.builds(
    PageFacts,
    maybe,
    texts,
    tuples,
    tuples,
    st.lists(references, max_size=3).map(tuple),
    st.lists(st.builds(Problem, st.integers(1, 99), texts), max_size=2).map(tuple),
)


@given(names)
def test_path_of_any_bytes_survives_sqlite(path: str) -> None:
    with sqlite3.connect(":memory:") as connection:
        (found,) = connection.execute("SELECT ?", [pack_path(path)]).fetchone()
    connection.close()
    assert unpack_path(found) == path


def test_paths_in_utf8_are_text_and_others_are_blobs() -> None:
    assert pack_path("docs/設計.md") == "docs/設計.md"
    assert pack_path("docs/caf\udce9.md") == b"docs/caf\xe9.md"


def test_surrogate_that_no_file_name_has_is_packed_too() -> None:
    assert isinstance(pack_path("\ud800\udce9"), bytes)


@given(st.lists(facts, max_size=4))
def test_facts_survive(pages: list[PageFacts]) -> None:
    assert unpack_facts([pack_facts(page) for page in pages]) == pages


@given(st.lists(st.builds(BaselineQuery, texts, maybe, maybe, st.none() | ids), max_size=4))
def test_searches_survive(searches: list[BaselineQuery]) -> None:
    assert unpack_searches([pack_search(search) for search in searches]) == searches


@given(st.lists(ids, max_size=4).map(tuple))
def test_ids_survive(commits: tuple[ObjectId, ...]) -> None:
    assert unpack_ids(pack_ids(commits)) == Drift(commits, is_complete=True, existed=True).commits


def test_id_of_another_length_is_refused() -> None:
    with pytest.raises(ValueError, match="20 bytes"):
        unpack_id(b"short")


def test_equal_paths_and_ids_share_memory():
    ids = [unpack_id(bytes(range(20))) for _ in range(2)]
    paths = [unpack_path(f"docs/{name}.md") for name in "aa"]
    assert ids[0] is ids[1]
    assert paths[0] is paths[1]
