"""The weights of titles, headings, text and file names."""

import random

import pytest

from ubp.search.lexical import MIN_COMMON, FileNames
from ubp.search.named import name_key
from ubp.search.sections import MAX_COUNTED
from ubp.search.terms import Term
from ubp.workspace import Workspace


@pytest.fixture
def found(repository, sections):
    """Commit pages and search them: the paths of the hits."""
    workspaces = []

    def search(pages, query, limit=10):
        for path, text in pages.items():
            repository.write(path, text)
        repository.commit()
        workspaces.append(Workspace.open(str(repository.root)))
        return [h.page.filepath for h in sections(workspaces[-1].session.view(), query, limit).hits]

    yield search
    for workspace in workspaces:
        workspace.close()


FILLER = "Lorem ipsum dolor sit amet consectetur.\n"


def test_headings_rank_before_titles_and_aliases_and_these_before_text(found):
    pages = {
        "a.md": f"# One\n\n{FILLER}A token here.\n",
        "b.md": f"# Token\n\n{FILLER}",
        "c.md": f"# Three\n\n## Token\n\n{FILLER}",
        "e.md": f"# Five\n\n{FILLER}",
    }
    assert found(pages, "token") == ["c.md", "b.md", "a.md"]


def test_term_of_very_many_chunks_is_ranked_where_it_names_them(found, monkeypatch):
    pages = {f"{number}.md": f"# Page {number}\n\n{FILLER}A token.\n" for number in range(8)}
    pages |= {"titled.md": f"# Token\n\n{FILLER}", "z.md": f"# Z\n\n{'Token. ' * 40}"}
    monkeypatch.setattr("ubp.search.lexical.FETCHED", 1)
    assert found(pages, "token", 1) == ["z.md"]
    monkeypatch.setattr("ubp.search.lexical.MAX_MATCHES", 9)
    assert found({}, "token", 1) == ["titled.md"]
    # Only one chunk is named so: all are ranked.
    assert len(found({}, "token")) == 10


def test_file_name_with_other_punctuation_is_the_same_name():
    names = FileNames(["--.md", "_re_.md", "Re.md", "more.md", "a/re s.md", "b/[re].md"])
    found = names.equal(("re",), name_key)
    assert found == {"_re_.md", "Re.md", "b/[re].md"}


def test_page_is_found_by_its_file_name_alone(found):
    pages = {"docs/token-expiry.md": FILLER, "docs/token/README.md": FILLER, "docs/x.md": FILLER}
    assert found(pages, "token") == ["docs/token/README.md", "docs/token-expiry.md"]
    assert found({}, "tok") == []
    assert found({}, "tok*") == ["docs/token/README.md", "docs/token-expiry.md"]


def test_file_name_does_not_restore_a_page_that_the_query_excludes(found):
    pages = {"token.md": f"Token and draft. {FILLER}", "other.md": f"A token. {FILLER}"}
    assert found(pages, "token -draft") == ["other.md"]
    assert found({}, "token NOT draft") == ["other.md"]


def test_file_names_are_distinguished_and_their_common_words_do_not_count():
    names = FileNames(["a/認証フロー.md", "b/oauth_setup.md", "c/OAuthの設定.md", "d/index.md"])
    assert set(names.score([Term("認証")])) == {"a/認証フロー.md"}
    assert set(names.score([Term("OAUTH")])) == {"b/oauth_setup.md", "c/OAuthの設定.md"}
    assert set(names.score([Term("oauth setup")])) == {"b/oauth_setup.md"}
    assert set(names.score([Term("d")])) == {"d/index.md"}
    many = FileNames([f"{n} page.md" for n in range(MIN_COMMON + 1)])
    assert many.score([Term("page")]) == {}
    assert set(many.score([Term("7")])) == {"7 page.md"}


def test_matches_beyond_the_limit_are_not_counted(repository, sections):
    for n in range(MAX_COUNTED + 5):
        repository.write(f"{n}.md", f"A token {n}.\n")
    repository.commit()
    with Workspace.open(str(repository.root)) as workspace:
        view = workspace.session.view()
        some = sections(view, "token", 5)
        assert (some.total, some.is_exact) == (MAX_COUNTED, False)
        whole = sections(view, "token", 500)
        assert (whole.total, whole.is_exact) == (MAX_COUNTED + 5, True)
        assert len(whole.hits) == MAX_COUNTED + 5


def test_index_of_names_finds_what_a_search_of_each_finds():
    choose = random.Random(38)
    words = ["use", "used", "using", "us", "user", "Uses", "re-use", "usé", "usage", "us2", "2use"]
    words += ["run", "running", "使use", "use使", "設定", "api", "API_keys", "é"]
    joined = (
        choose.choice(" -_").join(choose.choices(words, k=choose.randrange(1, 5)))
        for _ in range(400)
    )
    paths = [f"{number}/{choose.choice('._-x')}{name}.md" for number, name in enumerate(joined)]
    scanned, indexed = FileNames(paths), FileNames(paths, is_indexed=True)
    terms = [Term(word, is_stemmed=True) for word in words]
    terms += [Term(word) for word in words] + [Term("", words="api keys", is_stemmed=True)]
    found = [term for term in terms if scanned.score([term])]
    assert len(found) > 10
    for term in terms:
        assert indexed.score([term]) == scanned.score([term])
        assert [indexed.shares(term, n) for n in (0, 5, 400)] == [
            scanned.shares(term, n) for n in (0, 5, 400)
        ]
