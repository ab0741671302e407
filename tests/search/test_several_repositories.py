"""A page's repository is part of its identity and order, and of no word of its path."""

from itertools import permutations

import pytest

from ubp.core.model import ObjectId, Page, PageFacts, in_repository, repository_of
from ubp.search.copies import Preference, fold
from ubp.search.filters import Filters
from ubp.search.fusion import Fused, FusionInput, RankingScores, fuse
from ubp.search.lexical import FileNames, name_of
from ubp.search.terms import Term

NO_FACTS = PageFacts(None, "", (), (), (), ())
API, WEB = in_repository("api", "docs/token.md"), in_repository("web", "docs/token.md")
LATER = in_repository("api", "docs/v2/token.md")


def test_equal_paths_of_two_repositories_are_two_pages():
    assert (in_repository("api", "docs/token.md") == API, API == WEB) == (True, False)
    assert (API == "docs/token.md", API == "docs/token.md") == (False, False)
    assert len({API, WEB, "docs/token.md", in_repository("web", "docs/token.md")}) == 3
    assert (str(WEB), repository_of(WEB), repository_of("docs/token.md")) == (
        "docs/token.md",
        "web",
        "",
    )
    pages = [Page(path, ObjectId("1"), NO_FACTS) for path in (API, WEB)]
    assert pages[0] != pages[1]
    assert [page.repository for page in pages] == ["api", "web"]


@pytest.mark.parametrize(
    "paths", list(permutations(["a.md", API, LATER, WEB, in_repository("web", "a")]))
)
def test_pages_are_sorted_by_repository_and_path(paths):
    assert sorted(paths) == ["a.md", API, LATER, in_repository("web", "a"), WEB]
    assert max(paths) == WEB
    assert sorted(paths, reverse=True) == sorted(paths)[::-1]


def test_rankings_of_equal_paths_are_fused_by_repository():
    scores = RankingScores(words={API: 2.0, WEB: 1.0}, meaning={WEB: 0.9, API: 0.1})
    fused = fuse(scores, FusionInput(max_words_score=4.0))
    assert [(document.path, document.words, document.meaning) for document in fused] == [
        (WEB, 0.25, 0.9),
        (API, 0.5, 0.1),
    ]
    equal = fuse(RankingScores(words={WEB: 1.0, API: 1.0}), FusionInput())
    assert [repository_of(document.path) for document in equal] == ["api", "web"]


def test_name_of_a_repository_is_no_word_of_a_page():
    assert name_of(in_repository("team/web", "README.md")) == "README"
    names = FileNames([API, WEB])
    assert names.matching([Term("api")]) == set()
    assert names.matching([Term("token")]) == {API, WEB}
    assert names.equal(("token",), lambda name: (name,)) == {API, WEB}
    assert Filters(paths=("docs",)).matching_paths([API, WEB]) == [API, WEB]
    assert Filters(paths=("api",)).matching_paths([API, WEB]) == []


def test_versions_of_a_page_are_in_one_repository():
    found = [Fused(path, score, None, None, None) for path, score in ((API, 0.9), (WEB, 0.8))]
    later = Fused(LATER, 0.7, None, None, None)
    folded = fold([*found, later], lambda paths: dict.fromkeys(paths, "Token"), Preference("token"))
    assert len(folded.found) == 2
    assert {repository_of(path) for path in folded.copies} == {"api"}
    assert repository_of(folded.found[1].path) == "web"
