"""Pages found by meaning or links answer a literal query only if they contain its text."""

import pytest

from ubp.index.fulltext import FullTextSearch
from ubp.search import pages
from ubp.search.lexical import FETCHED
from ubp.search.query import read_query
from ubp.search.run import file_names
from ubp.search.scope import find_literal

PHRASE = '"baked bread"'
NAMED = FETCHED + 5


@pytest.fixture
def written(repository):
    repository.write("text.md", "# Ovens\n\nIt smells of baked bread.\n")
    repository.write("near.md", "# Bread\n\nBread is baked in an oven.\n")
    for number in range(NAMED):
        repository.write(
            f"{number}/Baked bread.md", f"Oven {number}: bread rises, then it bakes.\n"
        )
    repository.commit()
    return repository


@pytest.fixture
def looked_through(monkeypatch):
    """What was looked for where chunks were looked for in certain pages."""
    asked = []
    holding = FullTextSearch.holding

    def note(full_text, match, within=None):
        asked.append(match)
        return holding(full_text, match, within)

    monkeypatch.setattr(FullTextSearch, "holding", note)
    return asked


def test_text_is_found_in_the_page_or_in_its_name(opened, written):
    workspace = opened(written.root, model="none")
    view = workspace.session.view()
    names = file_names(view)
    asked = view, read_query(PHRASE), names, ["text.md", "near.md", "3/Baked bread.md"]
    assert find_literal(*asked) == {"text.md", "3/Baked bread.md"}
    assert find_literal(*asked, by_name=True) == {"3/Baked bread.md"}


def test_literal_search_reads_only_names_where_words_found_all(
    opened, written, looked_through, search_in
):
    found = search_in(opened(written.root), PHRASE, limit=20).answer
    assert {"text.md"} < {page.path for page in found.fused} == {
        "text.md", *(f"{number}/Baked bread.md" for number in range(NAMED))
    }  # fmt: skip
    assert looked_through == []


def test_literal_search_reads_only_names_where_words_found_some(
    opened, written, looked_through, monkeypatch, search_in
):
    monkeypatch.setattr(pages, "CHUNKS", FETCHED)
    for number in range(FETCHED):
        written.write(f"more/{number}.md", f"Baked bread, loaf {number}.\n")
    written.commit()
    found = search_in(opened(written.root), PHRASE).answer
    paths = {page.path for page in found.fused}
    assert "near.md" not in paths
    assert len(paths) >= FETCHED
    assert paths & {f"{number}/Baked bread.md" for number in range(NAMED)}
    assert looked_through == []
