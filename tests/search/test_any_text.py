"""A search answers any query, and a filter removes exactly the pages that do not match."""

import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ubp.answers.search.fulltext_search import FulltextRequest
from ubp.answers.search.fulltext_search import text as fulltext_text
from ubp.answers.search.search import SearchRequest
from ubp.answers.search.search import text as search_text
from ubp.frame.encoding import to_json, to_object
from ubp.frame.wording import joined
from ubp.frame.writer import Writer
from ubp.search.excerpt import PASSAGE_CHARACTERS
from ubp.workspace import Workspace

TAGS, TYPES = ("alpha", "beta", "Gamma/delta", "日本"), ("spec", "api", "guide")
WORDS = ("token", "login", "cake", "検索", "索引", "OAuthの設定", "errors", "sugar", "session")


@pytest.fixture(scope="module")
def searched(tmp_path_factory, bundled):
    """A workspace with pages of every tag and type that hold a few words each."""
    root = tmp_path_factory.mktemp("pages")
    for number in range(24):
        tags = [tag for place, tag in enumerate(TAGS) if number >> place & 1]
        words = [word for place, word in enumerate(WORDS) if (number * 7 + place) % 3]
        folder = root / ("docs/api" if number % 4 == 0 else "docs" if number % 2 else "lib")
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{WORDS[number % 4]}{number}.md").write_text(
            f"---\ntags: [{', '.join(tags)}]\ndoc_type: {TYPES[number % 3]}\n---\n"
            f"# {words[0]} {number}\n\n{' '.join(words)}. See [[{WORDS[0]}{number // 2}]].\n\n"
            f"## {words[-1]}\n\n{' '.join(reversed(words))}。\n",
            encoding="utf-8",
        )
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    with Workspace.open(str(root)) as workspace:
        workspace.session._model = bundled
        yield workspace


FILTERING = ("tag:", "type:api", "-tag:alpha", "path:docs", "path:**/*1.md", "tag:日本")
SIGNS = ('"', "-", "*", "(", ")", "\0", "\ud800", "\uff9e", "'", "\\", "{}", "^", "zzz")
PIECES = st.sampled_from([*WORDS, *FILTERING, "AND", "OR", "NOT", *SIGNS])
TYPED = st.text(max_size=40) | st.lists(PIECES, max_size=8).map(" ".join)
TYPED |= st.lists(PIECES, max_size=8).map("".join)
MODES = st.sampled_from(["hybrid", "fulltext", "semantic"])


@settings(max_examples=80, deadline=None)
@given(query=TYPED, mode=MODES, limit=st.integers(1, 30))
def test_any_text_has_an_answer_that_can_be_encoded(searched, query, mode, limit, search_in):
    answer = search_in(searched, query, mode=mode, limit=limit).answer
    assert len(answer.pages) == min(limit, answer.total)
    assert len({hit.page.filepath for hit in answer.pages}) == len(answer.pages)
    scores = [hit.score for hit in answer.pages]
    assert scores == sorted(scores, reverse=True)
    assert all(0 <= score <= 1 for score in scores)
    for hit in answer.pages:
        best, *others = hit.sections
        assert not any(other.passage for other in others)
        ends = [0, *(end for span in best.passage.highlights for end in span)]
        assert [*ends, len(best.passage.content)] == sorted([*ends, len(best.passage.content)])
        assert len(best.passage.content) <= PASSAGE_CHARACTERS
        assert hit.reason == "direct_match" or hit.near.filepath != hit.page.filepath
    request = SearchRequest(query, limit, mode, include_linked=True, verbose=True, explain=True)
    record = searched.ask(request)
    assert [page.filepath for page in record.results] == [hit.page.filepath for hit in answer.pages]
    sections = searched.ask(FulltextRequest(query, limit))
    for found, text in ((record, search_text), (sections, fulltext_text)):
        to_json(to_object(found)).encode()
        for writer in (Writer(), Writer(is_agent=True), Writer(is_quiet=True)):
            printable = joined(text(found, writer))
            printable.encode()


FILTERS = st.sampled_from(
    [
        ("tag:alpha", lambda page: "alpha" in page.facts.tags),
        ("tag:alpha OR tag:日本", lambda page: {"alpha", "日本"} & {*page.facts.tags}),
        ("tag:gamma/delta tag:beta", lambda page: {"Gamma/delta", "beta"} <= {*page.facts.tags}),
        ("type:api type:guide", lambda page: page.facts.doc_type in {"api", "guide"}),
        ("-type:spec", lambda page: page.facts.doc_type != "spec"),
        ("path:docs", lambda page: page.filepath.startswith("docs/")),
        ("path:*1?.md", lambda page: page.filepath[-5:-4] == "1"),
        ("path:docs -path:docs/api", lambda p: p.filepath.rpartition("/")[0] == "docs"),
        ("NOT tag:beta path:lib", lambda p: p.filepath[:3] == "lib" and "beta" not in p.facts.tags),
    ]
)


@settings(max_examples=60, deadline=None)
@given(
    query=st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(" ".join),
    narrowing=FILTERS,
    mode=MODES,
)
def test_filter_removes_only_what_does_not_match(searched, query, narrowing, mode, search_in):
    text, fits = narrowing

    def found(query):
        pages = search_in(searched, query, mode=mode, limit=30).answer.pages
        return [hit for hit in pages if hit.link_path is None]

    every, filtered = found(query), found(f"{query} {text}")
    left = [hit.page.filepath for hit in every if fits(hit.page)]
    assert sorted(hit.page.filepath for hit in filtered) == sorted(left)
    if mode != "hybrid":
        assert [hit.page.filepath for hit in filtered] == left
