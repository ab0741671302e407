"""Texts of pages: those of the tip are in the database, no others, and what they say is UBP's."""

import random
import sqlite3
import zlib
from collections import Counter

import pytest

from tests.hub.test_secrets import HIDDEN, dump_of, make_pages
from ubp.answers.hub.push import text as push_text
from ubp.answers.hub.search import HubSearchRequest
from ubp.board.texts import blob_id, text_row
from ubp.core.errors import HubError
from ubp.core.text import segment_cjk
from ubp.frame.writer import Writer
from ubp.hub.bm25 import Positions, count_occurrences
from ubp.hub.maintenance import collect_garbage
from ubp.hub.models import HubModel
from ubp.hub.search import Searcher
from ubp.hub.tokens import MAX_POSITIONS, vectors, write_tsquery
from ubp.hub.worker import Worker
from ubp.index.match import AllOf, Phrase, Without
from ubp.index.store.fulltext import write_fts5
from ubp.index.store.tokenizer import COLUMNS
from ubp.sync.hub_client import HubClient

SHORT = "# Payment\n\nCustomers pay by invoice.\n\n## Refunds\n\n返金は七日以内です。\n"
TEXTS = ("search_state", "text", "chunk", "posting", "staged_text", "staged_chunk")


def stored(hub):
    """Return the texts that are kept, by path at the tip."""
    rows = hub.rows(
        "select p.path, t.body from repository r join page p on p.ref = r.tip"
        " join file f using (ref, path)"
        " left join text t on t.repository = r.id and t.blob = f.oid order by p.path"
    )
    return {path: body and zlib.decompress(body).decode() for path, body in rows}


def text_versions(hub):
    return [hub.rows(f"select ctid::text, xmin::text from {table}") for table in TEXTS]


def test_push_without_texts_stores_none(repository, hub):
    repository.write("docs/pay.md", SHORT)
    repository.commit()

    record = hub.push(repository)

    assert record.sent_texts == 0
    assert text_versions(hub) == [[]] * len(TEXTS)


def test_texts_of_the_tip_are_stored_and_changes_alone_are_sent(repository, hub):
    repository.write("docs/pay.md", SHORT)
    repository.write("docs/other.md", "# Other\n\nNothing.\n")
    repository.commit()
    first = hub.push(repository, texts=True)
    repository.write("docs/other.md", "# Other\n\nSomething.\n")
    repository.commit()
    second = hub.push(repository, texts=True)
    before = text_versions(hub)

    assert (first.outcome, first.sent_texts) == ("written", 2)
    assert (second.outcome, second.sent_texts) == ("written", 1)
    assert stored(hub) == {"docs/pay.md": SHORT, "docs/other.md": "# Other\n\nSomething.\n"}
    assert hub.rows("select count(*) from text") == [(2,)]
    assert hub.rows("select count(*) from staged_text") == [(0,)]
    chunks = hub.rows("select count(*), sum(length), sum(stem_length), max(id) from chunk")
    state = hub.rows("select chunks, words, stems, last_id from search_state")
    assert chunks == state
    assert hub.rows("select count(*) from chunk where length(vector) <> 256") == [(0,)]

    again = hub.push(repository, texts=True)
    assert (again.outcome, again.sent_texts) == ("unchanged", 0)
    assert text_versions(hub) == before


def test_texts_of_the_default_branch_are_taken_and_those_of_others_are_said_not_to_be(
    repository, hub
):
    repository.write("docs/pay.md", SHORT)
    repository.commit()
    hub.push(repository, texts=True, GITHUB_REF="refs/heads/release")
    repository.write("docs/pay.md", "# Payment\n\nBy card.\n")
    repository.commit()
    other = hub.push(repository, texts=True, GITHUB_REF="refs/heads/main")
    assert (other.sent_texts, other.searched) == (0, "refs/heads/release")
    lines = list(push_text(other, Writer()))
    assert lines[0].endswith("sent 1 piece and the parts of 1 file.")
    assert lines[1].startswith("The texts were not taken: the hub keeps those of refs/heads/rel")
    assert stored(hub) == {"docs/pay.md": SHORT}
    assert hub.push(repository, GITHUB_REF="refs/heads/main").searched is None

    hub.execute("update repository set default_branch = 'trunk'")
    trunk = hub.push(repository, texts=True, GITHUB_REF="refs/heads/trunk")
    assert (trunk.sent_texts, trunk.searched) == (1, None)
    assert stored(hub) == {"docs/pay.md": "# Payment\n\nBy card.\n"}


def test_words_are_listed_again_only_if_texts_have_changed(repository, hub):
    repository.write("docs/pay.md", SHORT)
    repository.commit()
    hub.push(repository, texts=True)
    rows = "select ctid::text, xmin::text from posting"
    before = hub.rows(rows)
    repository.write("src/pay.py", "def pay():\n    return 1\n")
    repository.commit()
    assert hub.push(repository, texts=True).outcome == "written"
    assert hub.rows(rows) == before != []
    assert hub.rows("select version, listed from search_state") == [(2, 2)]

    repository.remove("docs/pay.md")
    repository.commit()
    hub.push(repository, texts=True)
    assert hub.rows(rows) == []
    assert hub.rows("select version, listed from search_state") == [(3, 3)]


def test_ids_rise_although_the_last_chunk_was_deleted(repository, hub):
    repository.write("docs/a.md", "# A\n\nFirst.\n")
    repository.commit()
    hub.push(repository, texts=True)
    ((last,),) = hub.rows("select max(id) from chunk")
    repository.write("docs/a.md", "# A\n\nSecond.\n")
    repository.commit()

    hub.push(repository, texts=True)

    assert hub.rows("select min(id) > %s from chunk", last) == [(True,)]


def test_page_deleted_by_a_push_without_texts_is_gone(repository, hub, database_address):
    repository.write("docs/secret.md", "# S\n\nUnobtainium is in the cellar.\n")
    repository.write("docs/other.md", "# Other\n")
    repository.commit()
    hub.push(repository, texts=True)
    repository.remove("docs/secret.md")
    repository.commit()

    hub.push(repository)

    assert stored(hub) == {"docs/other.md": "# Other\n"}
    assert "nobtainium" not in dump_of(hub, database_address)


def test_texts_of_excluded_files_never_leave_the_clone(repository, hub, database_address, sent):
    make_pages(repository)
    hub.push(repository, texts=True)

    wire = "".join(sent)
    assert "quick brown fox" in wire
    assert sorted(stored(hub)) == ["docs/other.md", "docs/pay.md"]
    assert "Project Unobtainium" not in wire + dump_of(hub, database_address)
    assert not any(path in dict(stored(hub)) for path in HIDDEN)


def test_text_of_another_blob_is_refused(repository, hub):
    repository.write("docs/a.md", "# A\n")
    commit = repository.commit()
    head = {
        "version": 1,
        "repository": "github.com/acme/api",
        "ref": "refs/heads/main",
        "commit": commit,
        "run": None,
        "attempt": 0,
        "parts": {},
    }
    row = text_row(blob_id(b"# A\n"), b"# B\n")

    status, answer = hub.call(
        "/v1/texts", token="development-token-for-tests", value={**head, "texts": [row]}
    )

    assert (status, b"not that of its blob" in answer) == (400, True)
    assert hub.rows("select count(*) from staged_text") == [(0,)]


def test_interrupted_push_is_continued(repository, hub, monkeypatch):
    for number in range(6):
        repository.write(f"docs/{number}.md", f"# {number}\n\nZebra {number}.\n")
    repository.commit()
    monkeypatch.setattr("ubp.answers.hub.push.BATCH_BYTES", 30)
    post = HubClient.post

    def break_off(self, path, value):
        if path == "/v1/texts" and hub.rows("select count(*) from staged_text") == [(2,)]:
            raise HubError("The line is broken.")
        return post(self, path, value)

    monkeypatch.setattr(HubClient, "post", break_off)
    with pytest.raises(HubError):
        hub.push(repository, texts=True)
    board = hub.rows("select count(*) from file")
    monkeypatch.setattr(HubClient, "post", post)

    record = hub.push(repository, texts=True)

    assert board == [(0,)]
    assert record.sent_texts == 4
    assert len(stored(hub)) == 6
    assert hub.rows("select count(*) from staged_text") == [(0,)]


def test_texts_of_another_branch_than_the_tip_are_not_kept(repository, hub):
    repository.write("docs/a.md", "# A\n")
    repository.commit()
    hub.push(repository, texts=True)
    repository.git("checkout", "-q", "-b", "draft")
    repository.write("docs/draft.md", "# Draft\n")
    repository.commit()

    record = hub.push(repository, texts=True)

    assert (record.outcome, record.sent_texts) == ("written", 0)
    assert hub.rows("select count(*) from text") == [(1,)]


def test_garbage_of_texts_is_deleted_and_live_texts_stay(repository, hub):
    for number in range(8):
        repository.write("docs/a.md", f"# A\n\nState {number}.\n")
        repository.write(f"docs/{number}.md", f"# {number}\n")
        repository.commit()
        hub.push(repository, texts=True)
        with hub.database.connection() as connection:
            collect_garbage(connection, hub.hub.config, upload_hours=0)
    kept = stored(hub)

    assert len(kept) == 9
    assert None not in kept.values()
    for table in ("text", "staged_text", "staged_chunk"):
        expected = 9 if table == "text" else 0
        assert hub.rows(f"select count(*) from {table}") == [(expected,)]
    chunks = hub.rows("select count(*), sum(length), sum(stem_length) from chunk")
    assert hub.rows("select chunks, words, stems from search_state") == chunks


def test_worker_reads_texts_of_an_older_version_again_and_every_process_finds_them(
    repository, new_repository, hub, monkeypatch
):
    monkeypatch.setattr("ubp.hub.store_texts.TEXTS_AT_ONCE", 2)
    for number in range(3):
        repository.write(f"docs/{number}.md", f"# Page {number}\n\nCustomers pay by invoice.\n")
    repository.commit()
    other = new_repository("other")
    other.write("docs/pay.md", SHORT)
    other.commit()
    hub.push(repository, texts=True)
    hub.push(other, "github.com/acme/web", texts=True)
    chunks = (
        "select repository, blob, number, length, vector, words, stems from chunk order by 1, 2, 3"
    )
    expected = hub.rows(chunks), hub.rows("select chunks, words, stems from search_state")
    searchers = hub.hub.answers["search"].run.__self__, Searcher(HubModel())

    def find(mode, searchers=searchers):
        request = HubSearchRequest(query="customers pay invoice", mode=mode)
        with hub.database.connection() as connection:
            found = [searcher.search(connection, "*", request).results for searcher in searchers]
        (hits,) = {
            tuple((hit.repository, hit.filepath, hit.line) for hit in hits) for hits in found
        }
        return hits

    before = find("fulltext", searchers[:1]), find("semantic", searchers[:1])
    hub.execute("update text set format = format - 1")
    hub.execute("update chunk set words = '', stems = '', number = number + 7, length = 0")
    hub.execute("update chunk set vector = decode(repeat('00', 256), 'hex')")
    hub.execute("update search_state set version = version + 1, chunks = 0")
    old = find("fulltext"), find("semantic")
    again = hub.push(other, "github.com/acme/web")
    ended, versions = Worker(hub.database, hub.hub.config), text_versions(hub)
    ended.end()
    assert ended.work()
    assert (text_versions(hub), ended.wait()) == (versions, False)

    assert Worker(hub.database, hub.hub.config).work()
    assert (len(before[0]), old, again.outcome) == (4, ((), ()), "unchanged")
    assert (hub.rows(chunks), hub.rows("select chunks, words, stems from search_state")) == expected
    assert (find("fulltext"), find("semantic")) == before
    assert hub.rows("select count(*) from staged_text") == [(0,)]
    versions = text_versions(hub)
    assert Worker(hub.database, hub.hub.config).work()
    assert text_versions(hub) == versions


def test_worker_without_a_model_leaves_texts_that_have_vectors(repository, hub, monkeypatch):
    repository.write("docs/pay.md", SHORT)
    repository.commit()
    hub.push(repository, texts=True)
    hub.execute("update text set format = format - 1")
    versions = text_versions(hub)
    monkeypatch.setattr("ubp.hub.models.bundled_model", lambda: None)

    assert Worker(hub.database, hub.hub.config).work()
    assert text_versions(hub) == versions


@pytest.mark.parametrize(
    "content",
    [
        b"# \0\xff\xfe \xed\xa0\x80\n\n" + b"word " * 70_000,
        b"# Long\n\n" + b"x" * 1_000_000 + b"\n",
        (
            b"---\ntitle: \"'; drop table chunk; --\"\ntags: [\"\\\\'\", ':*A']\n---\n"
            b"\n' \\ ':1A & !'\n"
        ),
        b"# " + b"heading " * 30_000 + b"\n\nBody.\n",
        "# 絵文字 👩‍👩‍👧‍👦 \u202e\n\n".encode() + "漢字".encode() * 40_000,
        b"",
    ],
    ids=["nul and surrogates", "a megabyte", "quotes", "heading", "cjk", "empty"],
)
def test_hostile_text_is_stored(repository, hub, content):
    repository.write("docs/a.md", content)
    repository.commit()

    record = hub.push(repository, texts=True)

    assert (record.outcome, record.sent_texts) == ("written", 1)
    ((body,),) = hub.rows("select body from text")
    assert zlib.decompress(body) == content


def matches(hub, words, match):
    vector = vectors("words", [words])[0].literal
    query = write_tsquery(match, "words")
    ((found,),) = hub.rows("select %s::tsvector @@ %s::tsquery", vector, query)
    return found


def test_queries_match_what_fts5_matches(hub):
    words = ("Token expiry", "How tokens expire", "The token's life is 5 minutes", "expiry")

    def is_found(match):
        return matches(hub, words, match)

    assert is_found(Phrase("token expiry"))
    assert is_found(Phrase("token exp", is_prefix=True))
    assert not is_found(Phrase("expiry how"))  # the end of a column and the start of the next
    assert is_found(Phrase("token", column="title", is_first=True))
    assert not is_found(Phrase("expiry", column="title", is_first=True))
    assert is_found(Phrase("expiry", column="aliases"))
    assert not is_found(Phrase("minutes", column="title"))
    assert is_found(AllOf((Phrase("token"), Phrase("minutes"))))
    assert not is_found(Without(Phrase("token"), Phrase("minutes")))
    assert not is_found(Phrase("!!!"))
    assert not is_found(Phrase("x" * 3_000))


def test_japanese_phrases_match_as_in_fts5(hub):
    chance = random.Random(38)
    letters = "設定のaz1 -"
    database = sqlite3.connect(":memory:")
    database.execute(
        f"CREATE VIRTUAL TABLE text USING fts5({', '.join(COLUMNS)}, tokenize='unicode61')"
    )
    outcomes = Counter()
    for _ in range(400):
        columns = ["".join(chance.choices(letters, k=chance.randint(0, 12))) for _ in COLUMNS]
        words = tuple(map(segment_cjk, columns))
        start = chance.randint(0, 8)
        drawn = "".join(chance.choices(letters, k=chance.randint(1, 4)))
        written = segment_cjk(columns[2][start : start + chance.randint(1, 6)] or drawn)
        phrase = Phrase(
            " ".join(written.replace("-", " ").split()),
            is_prefix=chance.random() < 0.3,
            column=chance.choice([None, None, *COLUMNS]),
        )
        if not phrase.words:
            continue
        phrase = phrase._replace(is_first=phrase.column is not None and chance.random() < 0.3)
        database.execute("DELETE FROM text")
        database.execute("INSERT INTO text VALUES (?, ?, ?, ?)", words)
        found = database.execute("SELECT 1 FROM text(?)", [write_fts5(phrase)]).fetchone()
        if phrase.is_first and phrase.column != "title":
            continue  # `^` is before a title only
        assert matches(hub, words, phrase) == bool(found), (words, phrase)
        outcomes[bool(found), " " in phrase.words] += 1
    assert min(outcomes.values()) > 10


def test_beginning_of_a_japanese_word_counts_each_place_once(hub):
    vector = vectors("words", [("", "", segment_cjk("設定の設定を設定する"), "")])[0].literal
    rows = hub.rows("select u.lexeme, u.positions, u.weights from unnest(%s::tsvector) u", vector)
    words = {word: Positions(*found) for word, *found in rows}

    def count(text, **options):
        return count_occurrences(words, Phrase(segment_cjk(text).strip(), **options), "words")

    assert (count("設"), count("設定"), count("設定の")) == (3, 3, 1)
    assert (count("設", is_prefix=True), count("設定", is_prefix=True)) == (3, 3)


def test_repeated_word_keeps_as_many_positions_as_postgresql():
    vector = vectors("words", [("", "", "word " * 1_000, "")])[0]

    assert vector.length == 1_000
    assert vector.literal.count(",") == MAX_POSITIONS - 1
