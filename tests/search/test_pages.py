"""The pages that answer, and why: all legs, on real repositories."""

import random
import subprocess
from dataclasses import replace

import pytest

from ubp.answers.search.search import SearchRequest, run
from ubp.core.errors import ModelError, UsageError
from ubp.frame.wording import moment
from ubp.search.proximity import MAX_LINKS

FILLER = "Lorem ipsum dolor sit amet consectetur.\n"
AUTH, SESSIONS, ERRORS, COOKING = "docs/auth.md", "docs/sessions.md", "docs/errors.md", "cooking.md"
PAGES = {
    AUTH: (
        "---\ntitle: Authentication\ndoc_type: design\ntags: [security]\n---\n# Authentication\n\n"
        "A login gives a token. Tokens expire after an hour.\n\n## Refresh tokens\n\n"
        "A refresh token lives for 30 days; see [[sessions|depends_on]].\n"
    ),
    SESSIONS: (
        "---\ntags: [security, draft]\n---\n# Sessions\n\nNothing but a hexadecimal number that is"
        " kept in memory, for as long as the browser stays open; see [errors](errors.md).\n"
    ),
    ERRORS: (
        "# 認証エラー\n\nトークンの有効期限が切れると401を返す。\n\n## 復旧手順\n\nやり直す。\n"
    ),
    COOKING: "# Chocolate cake\n\nBeat eggs with sugar, add flour and bake.\n",
}


@pytest.fixture
def written(repository):
    for path, text in PAGES.items():
        repository.write(path, text)
    repository.commit("Begin")
    return repository


def paths(found):
    return [hit.page.filepath for hit in found.answer.pages]


def test_words_meaning_and_links_are_combined(opened, written, search_in):
    found = search_in(opened(written.root), "token expiry")
    first, *others = found.answer.pages
    assert (first.page.filepath, first.reason) == (AUTH, "direct_match")
    assert first.matched == ("token",)
    assert 0.1 < first.breakdown.words < 0.5  # it contains one of the two words
    assert first.breakdown.meaning > 0.3
    assert {hit.page.filepath for hit in others} >= {ERRORS}
    assert found.search_type == "hybrid"
    assert [hit.score for hit in found.answer.pages] == sorted(
        (hit.score for hit in found.answer.pages), reverse=True
    )


def test_page_reached_only_by_a_link_names_the_linking_page(opened, written, search_in):
    workspace = opened(written.root, model="none")
    by_path = {hit.page.filepath: hit for hit in search_in(workspace, "refresh").answer.pages}
    linked = by_path[SESSIONS]
    assert (linked.reason, linked.near.filepath) == ("direct_link", AUTH)
    assert (linked.link_path.link.link_type, linked.link_path.direction) == (
        "depends_on",
        "outlink",
    )
    assert "lives for 30 days" in linked.link_path.link.context
    further = by_path[ERRORS]
    assert (further.reason, further.near.filepath, further.link_path.depth) == ("2hop", SESSIONS, 2)
    assert COOKING not in by_path
    assert linked.score > further.score > 0
    assert set(paths(search_in(workspace, "refresh", depth=1))) == {AUTH, SESSIONS}
    assert paths(search_in(workspace, "refresh", link_types=["extends"])) == [AUTH]
    assert paths(search_in(workspace, "refresh", mode="fulltext")) == [AUTH]


def test_links_never_rank_a_page_before_a_stronger_direct_hit(opened, repository, search_in):
    repository.write("hit.md", "token token token\n")
    for number in range(9):
        links = " ".join(f"[[weak{other}|depends_on]]" for other in range(9) if other != number)
        repository.write(f"weak{number}.md", f"One token. {FILLER * 9}{links}\n")
    repository.commit()
    assert paths(search_in(opened(repository.root, model="none"), "token"))[0] == "hit.md"


def test_page_that_links_to_everything_raises_no_page(opened, repository, search_in):
    names = [f"p{number}.md" for number in range(MAX_LINKS + 1)]
    repository.write("all.md", "Needle.\n" + "".join(f"[x]({name})\n" for name in names))
    repository.write("some.md", "Needle.\n\n[x](p7.md)\n")
    for name in names:
        repository.write(name, FILLER)
    repository.commit()
    found = search_in(opened(repository.root, model="none"), "needle", depth=3)
    assert sorted(paths(found)) == ["all.md", "p7.md", "some.md"]


def test_link_of_the_work_tree_counts_and_a_removed_one_does_not(opened, written, search_in):
    workspace = opened(written.root, model="none")
    written.write(AUTH, PAGES[AUTH].replace("[[sessions|depends_on]]", "[[cooking|extends]]"))
    by_path = {hit.page.filepath: hit for hit in search_in(workspace, "refresh").answer.pages}
    assert set(by_path) == {AUTH, COOKING}
    assert by_path[COOKING].link_path.link.link_type == "extends"
    written.remove(COOKING)
    assert paths(search_in(workspace, "refresh")) == [AUTH]
    assert ERRORS in paths(search_in(workspace, "refresh", ref="HEAD"))


def test_modes_use_only_their_legs(opened, written, search_in):
    workspace = opened(written.root)
    words = search_in(workspace, "token", mode="fulltext")
    assert (words.search_type, paths(words)) == ("fulltext", [AUTH])
    assert words.answer.pages[0].breakdown == (1.0, None, None)
    meaning = search_in(workspace, "password lifetime", mode="semantic")
    assert (meaning.search_type, paths(meaning)[0]) == ("semantic", AUTH)
    assert meaning.answer.pages[0].breakdown.words is None


def test_search_without_a_model_uses_words_and_links_and_says_why(opened, written, search_in):
    workspace = opened(written.root, model="none")
    found = search_in(workspace, "refresh")
    assert (found.search_type, paths(found)) == ("fulltext_fallback", [AUTH, SESSIONS, ERRORS])
    assert "search.model" in found.fallback.reason
    assert search_in(workspace, "refresh", mode="fulltext").fallback is None
    with pytest.raises(UsageError, match="needs an embedding model"):
        search_in(workspace, "refresh", mode="semantic")


def test_missing_model_fails_only_a_search_by_meaning(opened, written, search_in):
    workspace = opened(written.root, model="no/such-model")
    found = search_in(workspace, "refresh")
    assert found.search_type == "fulltext_fallback"
    assert "ubp model fetch" in found.fallback.hint
    with pytest.raises(ModelError):
        search_in(workspace, "refresh", mode="semantic")


@pytest.mark.parametrize("mode", ["hybrid", "fulltext", "semantic"])
def test_filters_apply_in_every_mode(opened, written, mode, search_in):
    workspace = opened(written.root)
    queries = {
        "token tag:draft": {SESSIONS},
        "token tag:security -tag:draft": {AUTH},
        "token type:design": {AUTH},
        "token path:cooking.md": {COOKING},
        "token -path:docs": {COOKING},
        "token tag:nothing": set(),
    }
    for query, admitted in queries.items():
        assert set(paths(search_in(workspace, query, mode=mode))) <= admitted, query
    assert paths(search_in(workspace, "token", mode=mode, doc_types=["design"])) == [AUTH]
    assert paths(search_in(workspace, "token", mode=mode, tags=["draft", "other"])) == []


def test_filters_are_applied_before_limits(opened, repository, search_in):
    for number in range(120):
        repository.write(f"a/{number}.md", f"token token {number}\n")
    repository.write("b/last.md", f"One token. {FILLER}")
    repository.commit()
    workspace = opened(repository.root)
    for mode in ("hybrid", "fulltext", "semantic"):
        assert paths(search_in(workspace, "token path:b", mode=mode, limit=1)) == ["b/last.md"], (
            mode
        )


def test_filters_alone_list_their_pages_in_order(opened, written, search_in):
    workspace = opened(written.root)
    found = search_in(workspace, "tag:security")
    assert (paths(found), found.answer.total) == ([AUTH, SESSIONS], 2)
    assert found.answer.pages[0].sections[0].passage.content.startswith("A login gives a token.")
    assert paths(search_in(workspace, "tag:security", limit=1)) == [AUTH]
    assert paths(search_in(workspace, "", doc_types=["design"])) == [AUTH]
    assert paths(search_in(workspace, "???")) == []


@pytest.mark.parametrize("mode", ["hybrid", "fulltext"])
def test_operators_apply_to_whole_pages(opened, written, mode, search_in):
    workspace = opened(written.root, model="none")
    queries = {
        "login AND days": {AUTH},
        "login AND eggs": set(),
        "eggs OR login": {AUTH, COOKING},
        "token NOT days": set(),
        "token -days": set(),
        "401 -復旧手順": set(),
        "トークン NOT eggs": {ERRORS},
        "(eggs OR login) NOT 30": {COOKING},
        '"refresh token"': {AUTH},
        '"token refresh"': set(),
        "refr*": {AUTH},
        "cook*": {COOKING},
        "cooking AND eggs": {COOKING},
        "eggs -cooking": set(),
    }
    for query, answering in queries.items():
        hits = search_in(workspace, query, mode=mode).answer.pages
        assert {h.page.filepath for h in hits if h.link_path is None} == answering, query
        assert {hit.page.filepath for hit in hits} == answering, query


def test_literal_query_finds_nothing_by_meaning_alone(opened, written, search_in):
    workspace = opened(written.root)
    assert paths(search_in(workspace, '"chocolate cake"')) == [COOKING]
    assert paths(search_in(workspace, '"cake recipes"')) == []
    assert paths(search_in(workspace, "cake AND recipes")) == []
    assert COOKING in paths(search_in(workspace, "cake recipes"))
    assert COOKING not in paths(search_in(workspace, "cake -eggs"))


def test_longer_answer_begins_with_the_pages_of_a_shorter_one(opened, repository, search_in):
    chance = random.Random(7)
    words = ["token", "login", "cake", "sugar", "session", "error", "lorem", "ipsum"]
    for number in range(60):
        text = " ".join(chance.choices(words, k=30))
        repository.write(f"{number}.md", f"{text} [[{chance.randint(0, 59)}]]\n")
    repository.commit()
    workspace = opened(repository.root)
    for query in ("token cake", "a session that ends", "sugar -cake"):
        longest = search_in(workspace, query, limit=20).answer
        for limit in (1, 5, 10):
            pages = search_in(workspace, query, limit=limit).answer.pages
            assert pages == longest.pages[:limit]


def test_section_found_by_both_legs_is_listed_once(opened, repository, search_in):
    parts = "".join(
        f"## Part {name}\n\n{'A token opens the door. ' * 30}\n\n" for name in "abcdefg"
    )
    repository.write("a.md", f"# Tokens\n\n{parts}")
    repository.commit()
    (page,) = search_in(opened(repository.root), "token opens door").answer.pages
    headings = [hit.section.heading for hit in page.sections]
    assert len(headings) == len(set(headings)) == 3
    assert [hit.passage is not None for hit in page.sections] == [True, False, False]
    assert page.sections[0].score == page.score
    assert [hit.score for hit in page.sections] == sorted(
        (hit.score for hit in page.sections), reverse=True
    )


def test_joined_chunk_leads_to_the_section_with_the_words(opened, repository, search_in):
    repository.write("a.md", "# A\n\nIntro.\n\n## One\n\nFirst.\n\n## Two\n\nA needle.\n")
    repository.commit()
    (page,) = search_in(opened(repository.root), "needle").answer.pages
    (section,) = page.sections
    assert (section.section.heading, section.line) == ("Two", 11)


def test_linked_pages_are_listed_only_on_request(opened, written):
    workspace = opened(written.root, model="none")
    request = SearchRequest("login", mode="fulltext")
    (page,) = workspace.ask(request).results
    assert page.linked_pages == ()
    (page,) = workspace.ask(replace(request, include_linked=True)).results
    (end,) = page.linked_pages
    assert (page.filepath, end.filepath, end.direction, end.link_type, end.staleness) == (
        AUTH,
        SESSIONS,
        "outlink",
        "depends_on",
        "untracked",
    )
    assert end.summary.startswith("Nothing but a hexadecimal number")
    assert len(end.summary) <= 120
    (page,) = workspace.ask(replace(request, include_linked=True, link_types=("extends",))).results
    assert page.linked_pages == ()


def test_search_of_an_edit_and_of_a_revision_uses_their_own_text(opened, written, search_in):
    workspace = opened(written.root)
    written.write(COOKING, "# Bread\n\nKnead dough with yeast.\n")
    written.write("new.md", "# Yeast\n\nA new page.\n")
    assert set(paths(search_in(workspace, "yeast", mode="fulltext"))) == {COOKING, "new.md"}
    assert paths(search_in(workspace, "chocolate", mode="fulltext")) == []
    assert paths(search_in(workspace, "chocolate cake", ref="HEAD"))[0] == COOKING
    assert "new.md" not in paths(search_in(workspace, "yeast", ref="HEAD"))
    (hit, *_) = search_in(workspace, "knead dough").answer.pages
    assert hit.sections[0].passage.content == "Knead dough with yeast."


def test_found_pages_have_dates_and_staleness(opened, repository):
    repository.write("src/a.py", "1\n")
    repository.page("a.md", "src/a.py", body="A needle.\n")
    repository.commit()
    repository.write("src/a.py", "2\n")
    repository.commit()
    workspace = opened(repository.root, model="none", clock=lambda: repository.clock + 9 * 86_400)
    (found,) = workspace.ask(SearchRequest("needle")).results
    assert (found.filepath, found.staleness) == ("a.md", "stale")
    assert found.updated_at == moment(repository.clock - 86_400)
    (undated,) = run(workspace.session, SearchRequest("needle"), is_dated=False).results
    assert undated == replace(found, updated_at=None)


def test_excluded_pages_are_in_no_result(opened, written):
    written.write("private/secret.md", "# Token\n\nA secret token, see [auth](../docs/auth.md).\n")
    written.write(AUTH, PAGES[AUTH] + "\nSee [[secret]].\n")
    written.commit()
    workspace = opened(written.root)
    for query in ("token", "secret", "path:private", "secret*", "-tag:draft"):
        found = workspace.ask(SearchRequest(query, include_linked=True, depth=3)).results
        shown = {page.filepath for page in found}
        shown |= {linked.filepath for page in found for linked in page.linked_pages}
        assert "private/secret.md" not in shown, query


def test_search_of_an_empty_repository_finds_nothing(opened, repository, search_in):
    workspace = opened(repository.root)
    for query in ("token", "tag:x", "", "-token", "a AND b"):
        assert search_in(workspace, query).answer[1:4] == ((), 0, True)
    repository.write("src/a.py", "1\n")
    repository.commit()
    assert paths(search_in(workspace, "token")) == []


def test_bare_repository_is_searched_at_its_head(opened, written, tmp_path, search_in):
    bare = tmp_path / "bare.git"
    subprocess.run(["git", "clone", "-q", "--bare", str(written.root), str(bare)], check=True)
    found = search_in(opened(bare), "token expiry")
    assert paths(found)[0] == AUTH
    assert found.answer.pages[0].sections[0].passage.content.startswith("A login gives a token.")


def test_absent_page_does_not_prevent_finding_others(opened, written, tmp_path, search_in):
    written.git("config", "uploadpack.allowFilter", "true")
    written.git("config", "uploadpack.allowAnySHA1InWant", "true")
    partial = tmp_path / "partial.git"
    subprocess.run(
        ["git", "clone", "-q", "--bare", "--filter=blob:none", f"file://{written.root}", partial],
        check=True,
    )
    there = written.git("rev-parse", f"HEAD:{COOKING}")
    subprocess.run(["git", "-C", partial, "fetch", "-q", "origin", there], check=True)
    workspace = opened(partial)
    assert paths(search_in(workspace, "cake")) == [COOKING]
    assert paths(search_in(workspace, "sessions")) == [SESSIONS]  # by the name of its file
    (section,) = search_in(workspace, "sessions").answer.pages[0].sections
    assert (section.section, section.passage) == (None, None)


def test_page_at_several_paths_is_one_hit_and_found_at_each(opened, repository, search_in):
    for path in ("a.md", "b.md"):
        repository.write(path, "# One\n\nA needle.\n")
    repository.commit()
    workspace = opened(repository.root)
    found = search_in(workspace, "needle")
    assert (paths(found), found.answer.copies) == (["a.md"], {"a.md": ("b.md",)})
    assert paths(search_in(workspace, "needle path:b.md")) == ["b.md"]


def test_search_reports_the_time_of_its_steps(opened, written, search_in):
    ticks = iter(range(1000))
    workspace = opened(written.root, model="none", clock=lambda: float(next(ticks)))
    found = search_in(workspace, "token")
    assert found.watch.milliseconds["words"] == 1000.0
    assert list(found.watch.milliseconds)[:3] == ["snapshot", "vectors", "scope"]
