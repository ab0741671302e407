"""Identifiers in camel case are found by their parts; ordinary words are not cut."""

import pytest

from ubp.core.text import identifier_parts
from ubp.workspace import Workspace


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("getUserById", ["get User By Id"]),
        ("call parseHTML5(x)", ["parse HTML 5"]),
        ("XMLHttpRequest", ["XML Http Request"]),
        ("the `TokenStore`", ["Token Store"]),
        ("auth.TokenStore", ["Token Store"]),
        ("TokenStore(path)", ["Token Store"]),
        ("readTimeout readTimeout", ["read Timeout"]),
        ("GitHub JavaScript McDonald", []),
        ("iPhone JSON APIs README.md max_tokens --no-lock okenizes 設定", []),
    ],
)
def test_only_identifiers_in_camel_case_have_parts(text, parts):
    assert identifier_parts(text) == parts


@pytest.fixture
def search(repository, search_in):
    repository.page("docs/users.md", body="# Users\n\nCall `getUserById` with an id.\n")
    repository.page("docs/tokens.md", body="# Tokens\n\nA `TokenStore` keeps them.\n")
    repository.page("docs/host.md", body="# Host\n\nThe code is on GitHub.\n")
    for number in range(9):
        repository.page(f"docs/other{number}.md", body=f"# Other {number}\n\nText {number}.\n")
    repository.commit()

    def run(query):
        with Workspace.open(str(repository.root), model="none") as workspace:
            return search_in(workspace, query).answer.pages

    return run


@pytest.mark.parametrize("query", ["getUser", "UserById", "user by id", "getUserById", "GetUser"])
def test_identifier_is_found_by_its_first_or_last_parts(query, search):
    assert [hit.page.filepath for hit in search(query)][:1] == ["docs/users.md"]


def test_part_of_an_identifier_is_highlighted_and_named_once(search):
    (hit,) = search("getUser")
    assert hit.matched == ("getUser",)
    passage = hit.sections[0].passage
    assert [passage.content[start:end] for start, end in passage.highlights] == ["getUser"]


def test_part_of_a_word_does_not_match_the_name_of_a_file(search, repository):
    repository.page("docs/walrus.md", body="# Animal\n\nIt sings.\n")
    repository.commit()
    assert [hit.page.filepath for hit in search("walrus")] == ["docs/walrus.md"]
    assert search("alru") == ()


@pytest.mark.parametrize(
    ("query", "page"),
    [
        ("okenStor", "docs/tokens.md"),
        ("UserByI", "docs/users.md"),
        ("etUserByI id", "docs/users.md"),
        ("ithu", "docs/host.md"),
        ("ithu とは", "docs/host.md"),
    ],
)
def test_part_of_a_word_that_no_section_has_finds_the_words_that_contain_it(search, query, page):
    assert search(query)[0].page.filepath == page


def test_part_of_many_words_and_a_word_that_exists_find_no_longer_words(
    search, repository, search_in
):
    assert search("the")[0].page.filepath == "docs/host.md"  # not `other`, which contains it
    assert {hit.page.filepath for hit in search("the")} == {"docs/host.md"}
    for word in ("zebraa", "zebrab", "zebrac", "zebrad", "zebrae", "category"):
        repository.page(f"docs/{word}.md", body=f"# Animal\n\nA {word}.\n")
    repository.commit()
    assert search("ebra") == ()  # many words
    assert search("cat") == ()  # less than half of a word
    with Workspace.open(str(repository.root), model="none") as workspace:
        answer = search_in(workspace, "ebrae").answer
    assert [(cut.run, cut.pieces) for cut in answer.cuts] == [("ebrae", ("zebrae",))]
    assert answer.pages[0].page.filepath == "docs/zebrae.md"


def test_part_of_a_word_of_another_version_alone_is_not_found(search, repository):
    assert search("okenStor")
    repository.page("docs/tokens.md", body="# Tokens\n\nNothing keeps them.\n")
    repository.commit()
    assert search("okenStor") == ()
