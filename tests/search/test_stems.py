"""English words match all their forms, unless the user quotes one."""

import sqlite3
from pathlib import Path

import pytest

from ubp.index.store.page_facts import clear_pages
from ubp.search.match import find_terms, stem
from ubp.search.query import read_query
from ubp.search.terms import Term
from ubp.workspace import Workspace

WORDS = """
relational conditional valency hesitancy digitizer conformably radically differently vilely
analogously vietnamization predication operator feudalism decisiveness hopefulness callousness
formality sensitivity sensibility triplicate formative formalize electricity electrical hopeful
goodness revival allowance inference airliner gyroscopic adjustable defensible irritant
replacement adjustment dependent adoption homologous communism activate angularity effective
bowdlerize probate rate cease controlling rolling agreed feed plastered bled motoring sing
conflated troubled sized hopping tanned falling hissing fizzed failing filing happy sky ponies
caresses ties cats caress ies eed is sky2 dying syzygy possibly logically archaeology x
"""


@pytest.fixture(scope="module")
def stems_of_sqlite():
    prose = (Path(__file__).parents[2] / "README.md").read_text("utf-8").lower().split()
    words = sorted({*WORDS.split(), *(word for word in prose if word.isascii() and word.isalpha())})
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE VIRTUAL TABLE words USING fts5(word, tokenize='porter unicode61')")
    connection.execute("CREATE VIRTUAL TABLE found USING fts5vocab(words, 'instance')")
    connection.executemany("INSERT INTO words (rowid, word) VALUES (?, ?)", enumerate(words))
    rows = connection.execute("SELECT doc, term FROM found").fetchall()
    connection.close()
    return {words[number]: term for number, term in rows}


def test_stems_equal_those_of_sqlite(stems_of_sqlite):
    assert {word: stem(word) for word in stems_of_sqlite} == stems_of_sqlite


def test_form_begins_with_the_stem_except_its_last_letter(stems_of_sqlite):
    assert [word for word in stems_of_sqlite if not word.startswith(stem(word)[:-1])] == []


@pytest.fixture
def found(repository, search_in):
    """What a query finds: the names of the pages."""
    repository.write("docs/setup.md", "# Setup\n\nConfigured once, it runs. The configuration…\n")
    repository.write("docs/other.md", "# Other\n\nNothing to configure.\n")
    repository.write("docs/configuring.md", "# Third\n\nNot about that.\n")
    repository.write("docs/cake.md", "# Cake\n\nThe configurator bakes 設定 cakes.\n")
    repository.commit()
    with Workspace.open(str(repository.root)) as workspace:
        yield lambda query, **options: {
            hit.page.filepath.removeprefix("docs/").removesuffix(".md")
            for hit in search_in(workspace, query, mode="fulltext", **options).answer.pages
        }


@pytest.mark.parametrize(
    ("query", "pages"),
    [
        ("configures", {"configuring", "other", "setup", "cake"}),
        ('"configured"', {"setup"}),
        ("configure*", {"other", "setup"}),
        ('configured "bakes"', {"cake", "setup"}),
        ("configured NOT nothing", {"setup"}),
        ("設定 configured", {"cake", "setup"}),
        ("once -configure", {"setup"}),
    ],
)
def test_plain_words_match_all_forms_and_quoted_ones_only_themselves(found, query, pages):
    assert found(query) == pages


def test_section_search_matches_words_as_written(repository, sections):
    repository.write("docs/setup.md", "# Setup\n\nConfigured once, it runs.\n")
    repository.write("docs/other.md", "# Other\n\nNothing to configure.\n")
    repository.commit()
    with Workspace.open(str(repository.root)) as workspace:
        hits = sections(workspace.session.view(), "configure", 9).hits
    assert [hit.page.filepath for hit in hits] == ["docs/other.md"]


def test_forms_are_removed_with_their_pages(repository):
    repository.write("docs/setup.md", "# Setup\n\nConfigured once.\n")
    repository.commit()
    with Workspace.open(str(repository.root)) as workspace:
        workspace.session.view().full_text()
        database = workspace.session.view().context.store.database

        def count(word):
            return [
                database.matches(f"SELECT count(*) FROM {table} WHERE {table} MATCH ?", [word])
                for table in ("words", "stems")
            ]

        assert count('"configure"') == [[(0,)], [(1,)]]
        database.write(clear_pages)
        assert count('"configured"') == [[(0,)], [(0,)]]


def test_snippet_shows_the_form_that_was_found():
    (term,) = read_query("configuring").tree.parts
    text = "Configure it; reconfigured, \uff43onfigured, config, and設定configuration"
    spans = find_terms(text, [term])
    assert [text[span.start : span.end] for span in spans] == [
        "Configure",
        "\uff43onfigured",
        "configuration",
    ]
    assert find_terms(text, [Term("configuring")]) == []


def test_words_that_punctuation_joins_match_together_in_all_forms():
    (term, *_) = read_query("rate-limits").tree.parts
    text = "Rates and limits; the rate_limiting, rate limit, rate of limits, rate-limitless"
    spans = find_terms(text, [term])
    assert [text[span.start : span.end] for span in spans] == ["rate_limiting", "rate limit"]


def test_numbers_of_a_version_match_only_with_the_dots_between_them():
    text = "7) 2\n7.2 and v7.2.4, not 17.2"
    assert [text[span.start : span.end] for span in find_terms(text, [Term("7.2")])] == ["7.2"]
    assert find_terms("v7) 2", [Term("v7.2")]) == []


def test_reason_names_an_identifier_only_where_all_of_it_is(make_repository, opened, search_in):
    pages = {
        "docs/all.md": "# All\n\nSet `CAP_SYS_ADMIN` for it.\n",
        "docs/part.md": "# Part\n\nOther caps are CAP_CHOWN and CAP_KILL.\n",
    }
    hits = search_in(opened(make_repository(pages)), "CAP_SYS_ADMIN", mode="fulltext").answer.pages
    matched = {hit.page.filepath: "CAP_SYS_ADMIN" in hit.matched for hit in hits}
    assert matched == {"docs/all.md": True, "docs/part.md": False}
