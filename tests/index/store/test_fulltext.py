"""The best chunks of a full text, those of equal rank in order, all from one scan."""

import random
from array import array

import pytest

from ubp.index.match import AnyOf, Phrase
from ubp.index.store.fulltext import ChunkRows, FullTextIndex, RowMatch, Statistics
from ubp.workspace import Workspace

EQUAL = 40


def all_count(blobs):
    return blobs


@pytest.fixture
def view(repository):
    for number in range(EQUAL):
        repository.write(f"{number}.md", f"A tie, number {number:02}.\n")
    repository.write("long.md", "A tie and much else, which makes it longer than the others are.\n")
    repository.commit()
    with Workspace.open(str(repository.root)) as workspace:
        workspace.session.view().full_text()
        yield workspace.session.view()


@pytest.fixture
def database(view):
    return view.context.store.database


@pytest.fixture
def search(view, database):
    """Search for a term, or for more, in all chunks."""
    index = FullTextIndex(database)
    chunks = view.link_graph().query_stored(lambda graph: index.chunks_of("words", graph))

    def search(limit, select=all_count, adding=()):
        weights = {Phrase("tie"): 1.0, Phrase("longer"): 1.0}
        statistics = Statistics(chunks, weights, chunks.extent)
        return index.search(RowMatch([Phrase("tie")], adding=adding), statistics, limit, select)

    return search


@pytest.fixture
def scans(database, monkeypatch):
    """The words whose places were listed."""
    asked = []
    rows = database.rows

    def count(sql, arguments=(), **options):
        if "_instance" in sql:
            asked.append(arguments[0])
        return rows(sql, arguments, **options)

    monkeypatch.setattr(database, "rows", count)
    return asked


@pytest.fixture
def every(search):
    """All chunks with the word, as they must be ordered: the long one last."""
    found = search(100)
    assert len({row.rank for row in found[:EQUAL]}) == 1
    assert found[EQUAL].rank > found[0].rank
    assert found[:EQUAL] == sorted(found[:EQUAL])
    return found


@pytest.mark.parametrize("limit", [1, 7, EQUAL, EQUAL + 1, 100])
def test_equal_ranks_at_the_limit_are_ordered(search, scans, every, limit):
    scans.clear()
    assert search(limit) == every[:limit]
    assert scans == ["tie"]


def test_excluded_rows_are_skipped_without_another_scan(search, scans, every):
    last = every[-3:]
    scans.clear()
    found = search(2, {row.blob for row in last}.intersection)
    assert (found, scans) == (last[:2], ["tie"])


def test_rows_that_another_order_may_raise_are_kept_behind_equal_ranks(search, every):
    best, *others = search(5, adding=[Phrase("longer")])
    assert best.blob == every[-1].blob
    assert [row.blob for row in others] == [row.blob for row in every[:4]]


def test_chunks_of_a_snapshot_are_those_of_the_graph_and_its_changes():
    chunks = ChunkRows(0, array("i"), 0, 0).changed((), {7: 70, 9: 90})
    assert (chunks.first, list(chunks.lengths), chunks.size, chunks.words) == (
        7,
        [70, -1, 90],
        2,
        160,
    )
    later = chunks.changed([9], {5: 50, 7: 70, 10: 1})
    assert (later.first, list(later.lengths)) == (5, [50, -1, 70, -1, -1, 1])
    assert (later.size, later.words) == (3, 121)
    assert list(chunks.lengths) == [70, -1, 90]


@pytest.mark.parametrize("limit", [1, 5, 20])
def test_added_terms_count_for_every_chunk_that_the_others_find(repository, limit):
    chance = random.Random(limit)
    common, rare = ["the", "type", "value"], ["option", "rarely"]
    for number in range(300):
        words = [word for word in common if chance.random() < 0.4] * chance.randint(1, 4)
        words += [word for word in rare if chance.random() < 0.3]
        words += ["filler"] * chance.randint(5, 60)
        repository.write(f"{number}.md", " ".join(words))
    repository.commit()
    terms, adding = [[Phrase(word) for word in words] for words in (rare, common)]
    with Workspace.open(str(repository.root)) as workspace:
        full_text = workspace.session.view().full_text()
        every = full_text.search(RowMatch([*terms, *adding]), 300)
        has_rare = {hit.blob for hit in full_text.search(RowMatch(terms), 300)}
        expected = [hit for hit in every if hit.blob in has_rare][:limit]
        found = full_text.search(RowMatch(terms, adding=adding), limit)
    assert len(expected) == limit
    assert [hit.rank for hit in found] == pytest.approx([hit.rank for hit in expected])


@pytest.mark.parametrize("table", ["words", "stems"])
def test_words_are_listed_as_often_as_ranks_say(repository, table):
    chance = random.Random(table)
    words = ["pin", "Pins", "pinned", "spin", "Ärger", "認証", *["other"] * 60]
    for number in range(90):
        title, heading, body = (" ".join(chance.choices(words, k=k)) for k in (2, 3, 9))
        alias = chance.choice(words)
        page = f"---\naliases: [{alias}]\n---\n# {title}\n\n## {heading}\n\n{body}\n"
        repository.write(f"{number}.md", page)
    repository.commit()
    terms = [Phrase(word, is_prefix=is_prefix) for word in words[:5] for is_prefix in (0, 1)]
    match = RowMatch(terms, (4, 8, 1, 4), table=table)
    with Workspace.open(str(repository.root)) as workspace:
        full_text = workspace.session.view().full_text()
        every = AnyOf((Phrase("pin", is_prefix=True), Phrase("spin"), Phrase("Ärger")))
        listed = full_text.search(match, 300)
        ranked = full_text.search(match._replace(condition=every), 300)  # of rows, by FTS5
    assert 20 < len(listed) < 90
    assert listed[0].rank < -1
    assert [hit[:3] for hit in listed] == [hit[:3] for hit in ranked]
    assert [hit.rank for hit in listed] == pytest.approx([hit.rank for hit in ranked])
