"""`--json` of search, get-page, list-pages and get-graph: the shapes of their schemas."""

import pytest

from ubp.core.paths import doc_id

AUTH, SESSIONS, TWIN, COPY = "docs/auth.md", "docs/sessions.md", "docs/a/twin.md", "docs/b/twin.md"
ALWAYS = {"schema_version", "content_notice", "query_time_ms", "token_estimate"}
BEGUN = "2023-11-15T22:13:20Z"


@pytest.fixture
def asked(ubp, linked, valid, schemas):
    """Ask with `--json`; the record, once it is known to fit the command's schema."""

    def ask(*tokens, shape=None):
        answer = ubp(linked, *tokens, "--json")
        assert (answer.status, answer.err) == (0, "")
        record = valid(schemas[shape or tokens[0]], answer.record)
        return {name: value for name, value in record.items() if name not in ALWAYS}

    return ask


@pytest.fixture
def linked(repository, at):
    """Pages that link to each other in every way."""
    repository.write("src/auth.py", "1\n")
    repository.write(
        AUTH,
        "---\ntitle: Authentication\ndoc_type: design\ntags: [Security, login]\n"
        "source_refs:\n  - src/auth.py\n---\n# Login\n\nA token expires, see"
        " [[sessions|depends_on]] and [[twin]].\n\n## Errors\n\nNo [[nowhere#at all]], no"
        " [file](../src/auth.py), no [place](#errors).\n",
    )
    repository.write(SESSIONS, "# Sessions\n\nA session holds a token ([auth](auth.md#errors)).\n")
    repository.write(TWIN, "Twin one.\n")
    repository.write(COPY, "Twin two.\n")
    repository.commit("Begin")
    repository.write("src/auth.py", "2\n")
    repository.commit("Change the source")
    at(repository, days=9)
    return repository


def test_section_has_its_position_and_its_snippet(asked):
    record = asked("search", "--fulltext", "session", shape="search-fulltext")
    (hit,) = record.pop("results")
    assert hit.pop("rank") < 0
    assert hit == {
        "doc_id": doc_id(SESSIONS),
        "filepath": SESSIONS,
        "title": "Sessions",
        "section_heading": None,
        "line": 3,
        "snippet": "Sessions A session holds a token (auth).",
        "highlights": [[11, 18]],
    }
    assert record == {
        "total_found": 1,
        "is_total_exact": True,
        "query": {
            "text": "session",
            "is_boolean": False,
            "is_shortened": False,
            "cuts": [],
            "unknown_words": [],
            "is_filtered": False,
            "unknown_fields": [],
            "unread_operators": [],
            "excluded": [],
        },
        "search_type": "fulltext",
    }


@pytest.mark.parametrize("option", ["--fulltext", "--no-content"])
def test_query_has_its_filters_and_the_fields_that_no_page_has(asked, option):
    shape = "search-fulltext" if option == "--fulltext" else "search"
    query = asked("search", option, "token", "--tag", "x", "titel:Login", shape=shape)["query"]
    assert query["is_filtered"]
    assert query["unknown_fields"] == [{"written": "titel:Login", "closest": "title"}]
    query = asked("search", option, "token", shape=shape)["query"]
    assert (query["is_filtered"], query["unknown_fields"]) == (False, [])


def test_fulltext_search_refuses_an_option_that_it_lacks(ubp, linked):
    answer = ubp(linked, "search", "--fulltext", "token", "--mode", "semantic")
    assert answer.status == 2
    assert answer.err == (
        "Error: --fulltext cannot be combined with --mode.\n"
        "  Hint: Remove one of the two options.\n"
    )


def test_page_has_its_score_sections_and_staleness(asked):
    first, second = asked("search", "token", "expires", "--mode", "fulltext")["results"]
    (section,) = first.pop("sections")
    assert section.pop("content").startswith("A token expires, see [[sessions|depends_on]]")
    assert section.pop("text").startswith("# Login\n\nA token expires, see [[sessions|depends_on]]")
    assert section == {
        "section_id": doc_id(AUTH),
        "heading": None,
        "heading_path": ["Login"],
        "line_start": 8,
        "line_end": 10,
        "line": 10,
        "score": 1.0,
        "highlights": [[2, 7], [8, 15]],
        "text_start": 8,
        "text_end": 14,
    }
    assert first == {
        "collection": None,
        "doc_id": doc_id(AUTH),
        "filepath": AUTH,
        "title": "Authentication",
        "doc_type": "design",
        "updated_at": BEGUN,
        "score": 1.0,
        "score_breakdown": {
            "vector_similarity": None,
            "graph_proximity": None,
            "fulltext": 1.0,
        },
        "relevance_reason": "direct_match",
        "relevance_text": "Holds “expires”, “token”.",
        "link_type": None,
        "link_context": None,
        "link_page": None,
        "staleness": "stale",
        "stale_refs": [
            {"source_path": "src/auth.py", "verdict": "modified", "since": "2023-11-16T22:13:20Z"}
        ],
        "unreadable": None,
        "translations": [],
        "copies": [],
        "linked_pages": [],
        "legs": None,
    }
    assert (second["filepath"], second["staleness"]) == (SESSIONS, "untracked")
    assert 0 <= second["score"] < 1


def test_texts_can_be_omitted(asked):
    (first, *_) = asked("search", "token", "--no-content", "--mode", "fulltext")["results"]
    assert {section["content"] for section in first["sections"]} == {None}
    record = asked("search", "--fulltext", "token", "--no-content", shape="search-fulltext")
    assert {result["snippet"] for result in record["results"]} == {None}


def test_page_found_by_a_link_names_the_link_and_its_origin(asked, linked):
    linked.write(".ubp/config.json", '{"search": {"model": "none"}}')
    record = asked("search", "expires", "--include-links", "--limit", "2")
    first, second = record["results"]
    assert (first["filepath"], first["relevance_reason"]) == (AUTH, "direct_match")
    assert [page["filepath"] for page in first["linked_pages"]] == [TWIN, SESSIONS]
    assert first["linked_pages"][1] == {
        "doc_id": doc_id(SESSIONS),
        "filepath": SESSIONS,
        "title": "Sessions",
        "link_type": "depends_on",
        "link_context": "A token expires, see [[sessions|depends_on]] and [[twin]].",
        "direction": "outlink",
        "summary": "A session holds a token (auth).",
        "staleness": "untracked",
    }
    assert second["filepath"] == SESSIONS
    assert second["link_page"] == {
        "doc_id": doc_id(AUTH),
        "filepath": AUTH,
        "title": "Authentication",
        "direction": "outlink",
    }
    reason = [second[name] for name in ("relevance_reason", "relevance_text", "link_type")]
    assert reason == [
        "direct_link",
        "Linked from Authentication (docs/auth.md) as depends_on.",
        "depends_on",
    ]
    assert "A token expires" in second["link_context"]
    assert second["sections"][0]["content"].startswith("A session holds a token")
    assert (record["total_found"], record["truncated_count"]) == (3, 1)
    assert record["search_type"] == "fulltext_fallback"
    assert record["fallback"]["hint"].startswith("Remove the setting")


def test_answer_can_be_explained(asked):
    record = asked("search", "token", "expires", "--mode", "fulltext", "--explain")
    first, second = (result["legs"]["words"] for result in record["results"])
    assert (first["place"], first["normalised"], second["place"]) == (1, 1.0, 2)
    assert first["raw"] > second["raw"] > 0
    assert record["results"][0]["legs"].keys() == {"words", "meaning", "links"}
    assert record["explanation"]["candidates"]["words"] == {
        "pages": 2,
        "places": 2,
        "is_cut": False,
    }
    assert {"scope", "words", "fusion", "sections"} <= record["explanation"]["milliseconds"].keys()
    assert asked("search", "token", "--mode", "fulltext")["explanation"] is None


def test_empty_answer_is_a_record(asked):
    assert asked("search", "xyzzy", "--mode", "fulltext")["results"] == []
    record = asked("search", "--fulltext", "???", shape="search-fulltext")
    assert (record["results"], record["total_found"]) == ([], 0)


def test_limits_are_reported(asked):
    record = asked("search", "--fulltext", "token twin", "--limit", "1", shape="search-fulltext")
    assert (len(record["results"]), record["total_found"]) == (1, 4)


def test_page_has_its_links_and_backlinks(asked):
    record = asked("get-page", "auth.md")
    links = [
        (link["filepath"], link["target"], link["link_type"], link["line"], link["is_ambiguous"])
        for link in record["outlinks"]
    ]
    assert links == [
        (SESSIONS, None, "depends_on", 10, False),
        (TWIN, None, "references", 10, True),
        (None, "nowhere#at all", "references", 14, False),
    ]
    assert record["outlinks"][2]["doc_id"] is record["outlinks"][2]["title"] is None
    assert record["outlinks"][0]["doc_id"] == doc_id(SESSIONS)
    assert record["outlinks"][0]["title"] == "Sessions"
    assert "A token expires" in record["outlinks"][0]["link_context"]
    assert record["backlinks"] == [
        {
            "doc_id": doc_id(SESSIONS),
            "filepath": SESSIONS,
            "title": "Sessions",
            "link_type": "references",
            "link_context": "A session holds a token ([auth](auth.md#errors)).",
            "line": 3,
        }
    ]
    assert (record["created_at"], record["updated_at"]) == (BEGUN, BEGUN)
    assert record["tags"] == ["Security", "login"]


def test_page_has_the_verdicts_on_its_sources(asked, linked):
    record = asked("get-page", AUTH)
    assert record["staleness"] == "stale"
    assert record["stale_refs"] == [
        {
            "source_path": "src/auth.py",
            "verdict": "modified",
            "since": "2023-11-16T22:13:20Z",
            "reason": "Modified since 2023-11-16.",
            "commits": [
                {
                    "id": linked.head(),
                    "date": "2023-11-16T22:13:20Z",
                    "author": "Ann Author",
                    "subject": "Change the source",
                }
            ],
            "commit_count": 1,
        }
    ]
    assert asked("get-page", SESSIONS)["stale_refs"] == []


def test_sections_tile_the_content(asked):
    record = asked("get-page", AUTH)
    assert [section["heading"] for section in record["sections"]] == [None, "Errors"]
    assert [section["section_order"] for section in record["sections"]] == [0, 1]
    assert record["content"] == "\n\n".join(section["content"] for section in record["sections"])


def test_page_may_be_named_by_its_id(asked, ubp, linked):
    assert asked("get-page", doc_id(COPY))["filepath"] == COPY
    for name in ("twin.md", "docs", doc_id("docs/none.md")):
        assert ubp(linked, "get-page", name).status == 2


def test_old_revision_is_answered_from_its_own_tree(asked, linked):
    linked.write(SESSIONS, "# Sittings\n\nNothing links here.\n")
    linked.commit("Rename")
    assert asked("get-page", SESSIONS)["title"] == "Sittings"
    old = asked("get-page", SESSIONS, "--ref", "HEAD~1")
    assert (old["title"], len(old["outlinks"])) == ("Sessions", 1)
    words = ("--mode", "fulltext")
    assert asked("search", '"session"', "--ref", "HEAD~1", *words)["total_found"] == 1
    assert asked("search", '"session"', *words)["total_found"] == 0
    named, _ = asked("search", "sessions", *words)["results"]  # by the file's name
    assert (named["filepath"], named["sections"][0]["line"]) == (SESSIONS, 3)
    assert asked("get-graph", "--ref", "HEAD~1")["edges"] != asked("get-graph")["edges"]


def test_edited_page_has_the_dates_of_its_commits(asked, linked):
    linked.write(SESSIONS, "# Sessions\n\nEdited.\n")
    linked.write("docs/new.md", "# New\n")

    def dates_of(page):
        record = asked("get-page", page)
        return record["created_at"], record["updated_at"], record["uncommitted"]

    assert dates_of(SESSIONS) == (BEGUN, BEGUN, True)
    assert dates_of("docs/new.md") == (None, None, True)
    assert dates_of(TWIN) == (BEGUN, BEGUN, False)


def test_page_may_be_named_by_a_part_of_its_title(asked, ubp, linked):
    assert asked("get-page", "--title", "authentication")["filepath"] == AUTH
    assert asked("get-page", "--title", "SESS")["filepath"] == SESSIONS
    for title in ("twin", "t", "no such title"):
        assert ubp(linked, "get-page", "--title", title).status == 2


def test_pages_are_listed_filtered_and_sorted(asked, linked):
    def listed(*tokens):
        return [page["filepath"] for page in asked("list-pages", *tokens)["pages"]]

    assert listed() == [AUTH, SESSIONS, TWIN, COPY]
    assert listed("--doc-type", "design") == [AUTH]
    assert listed("--tag", "security", "--tag", "#login") == [AUTH]
    assert listed("--tag", "other") == []
    linked.write("docs/z.md", "# A\n")
    linked.commit("Add")
    assert listed("--sort", "updated_at", "--order", "desc")[0] == "docs/z.md"
    assert listed("--sort", "filepath", "--order", "desc")[0] == "docs/z.md"
    assert listed()[0] == "docs/z.md"
    first = asked("list-pages", "--doc-type", "design")
    assert (first["total"], first["documents"]) == (1, 5)
    counts = [first["pages"][0][f"{kind}link_count"] for kind in ("", "outgoing_", "incoming_")]
    assert counts == [3, 2, 1]


def test_graph_has_pages_and_typed_edges(asked):
    record = asked("get-graph")
    paths = {node["id"]: node["filepath"] for node in record["nodes"]}
    assert sorted(paths.values()) == [TWIN, AUTH, COPY, SESSIONS]
    edges = {(paths[e["source"]], paths[e["target"]], e["type"]) for e in record["edges"]}
    assert edges == {
        (AUTH, SESSIONS, "depends_on"),
        (AUTH, TWIN, "references"),
        (SESSIONS, AUTH, "references"),
    }
    assert (record["total_nodes"], record["truncated_count"]) == (4, 0)
    node = next(node for node in record["nodes"] if node["filepath"] == AUTH)
    assert node == {
        "id": doc_id(AUTH),
        "filepath": AUTH,
        "title": "Authentication",
        "doc_type": "design",
        "depth": None,
        "staleness": "stale",
        "outgoing_link_count": 2,
        "incoming_link_count": 1,
    }


def test_graph_with_a_center_ends_at_its_depth(asked):
    def depths(*tokens):
        nodes = asked("get-graph", "--center", *tokens)["nodes"]
        return {node["filepath"]: node["depth"] for node in nodes}

    assert depths(SESSIONS, "--depth", "1") == {SESSIONS: 0, AUTH: 1}
    assert depths(SESSIONS) == {SESSIONS: 0, AUTH: 1, TWIN: 2}
    assert depths(TWIN, "--link-type", "depends_on") == {TWIN: 0}


def test_context_has_its_page_and_related_pages(asked):
    record = asked("get-context", "auth.md", "--depth", "1")
    center, (first, second) = record.pop("center"), record.pop("related")
    assert center == {
        "doc_id": doc_id(AUTH),
        "filepath": AUTH,
        "title": "Authentication",
        "doc_type": "design",
        "content": center["content"],
        "sections": [
            {"heading": None, "line_start": 8, "line_end": 10, "is_cut": False},
            {"heading": "Errors", "line_start": 12, "line_end": 14, "is_cut": False},
        ],
        "full_size": None,
        "staleness": "stale",
        "stale_refs": [
            {
                "source_path": "src/auth.py",
                "verdict": "modified",
                "since": "2023-11-16T22:13:20Z",
            }
        ],
        "unreadable": None,
    }
    assert first == {
        "doc_id": doc_id(SESSIONS),
        "filepath": SESSIONS,
        "title": "Sessions",
        "doc_type": "spec",
        "link_type": "depends_on",
        "direction": "outlink",
        "depth": 1,
        "via": None,
        "link_context": "A token expires, see [[sessions|depends_on]] and [[twin]].",
        "summary": "A session holds a token (auth).",
        "headings": [],
        "hidden_headings": 0,
        "staleness": "untracked",
        "unreadable": None,
    }
    assert (second["filepath"], second["link_type"]) == (TWIN, "references")
    assert record["truncated_count"] == 0
    far = asked("get-context", TWIN)["related"]
    assert [(page["filepath"], page["via"]) for page in far] == [(AUTH, None), (SESSIONS, AUTH)]


def test_suggestion_has_both_sections_and_the_reason(asked, linked):
    text = "A secret key signs the backups, and the key is rotated every month."
    linked.write("docs/keys.md", f"# Keys\n\n{text}\n")
    linked.write(
        "docs/rotation.md",
        "# Key rotation\n\nEvery month the secret key that signs backups is replaced by another.\n",
    )
    linked.commit()
    (suggestion,) = asked("suggest-links", "docs/keys.md")["suggestions"]
    assert suggestion["first"] == {
        "doc_id": doc_id("docs/keys.md"),
        "filepath": "docs/keys.md",
        "title": "Keys",
        "doc_type": "spec",
        "heading_path": ["Keys"],
        "line_start": 1,
        "line_end": 3,
        "content": text,
        "staleness": "untracked",
    }
    assert suggestion["second"]["filepath"] == "docs/rotation.md"
    assert {"backups", "signs", "secret"} <= set(suggestion["shared_terms"])
    assert 0.8 <= suggestion["score"] <= 1 >= suggestion["similarity"]


def test_context_over_the_budget_lists_what_is_missing(asked):
    record = asked("get-context", AUTH, "--max-size", "100")
    assert record["center"]["content"].endswith("and [[twin]].")
    assert record["center"]["sections"][1]["is_cut"] is True
    assert record["center"]["full_size"] > 100 >= record["total_size"]
    assert (record["related"], record["truncated_count"]) == ([], 2)


def test_impact_has_its_chains(asked):
    record = asked("impact", "src/auth.py")
    first, second = record.pop("impacted")
    assert record == {
        "path": "src/auth.py",
        "kind": "source",
        "exists": True,
        "total": 2,
        "probable": [],
        "less_probable": [],
        "compared": 0,
        "truncated_count": 0,
    }
    nothing = dict.fromkeys(("link_type", "source_path", "moved_to", "target"))
    step = {**nothing, "filepath": AUTH, "source_path": "src/auth.py", "line": 6}
    assert first == {
        "doc_id": doc_id(AUTH),
        "filepath": AUTH,
        "title": "Authentication",
        "doc_type": "design",
        "depth": 1,
        "reason": "source_reference",
        "chain": [step],
        "staleness": "stale",
    }
    assert second["chain"] == [
        step,
        {**nothing, "filepath": SESSIONS, "link_type": "references", "line": 3},
    ]
    assert asked("impact", "docs/a", "--limit", "1")["impacted"][0]["chain"][0] == {
        **nothing,
        "filepath": AUTH,
        "link_type": "references",
        "target": TWIN,
        "line": 10,
    }


@pytest.mark.parametrize(
    "call",
    [
        "get-context",
        "get-context docs/auth.md --depth 4",
        "get-context docs/auth.md --max-size 0",
        "impact",
        "impact docs --depth 0",
        "impact docs --limit 0",
        "get-graph --limit 0",
        "suggest-links --limit 0",
        "suggest-links --min-score 1.5",
        "get-graph --center docs/auth.md --depth 6",
    ],
)
def test_numbers_out_of_range_are_refused(ubp, linked, call):
    answer = ubp(linked, *call.split())
    assert (answer.status, answer.out) == (2, "")
    assert "Hint:" in answer.err


def test_formats_agree_on_json(ubp, linked):
    by_format = ubp(linked, "get-graph", "--format", "json").record
    other = ubp(linked, "get-graph", "--json").record
    assert {**by_format, "query_time_ms": 0} == {**other, "query_time_ms": 0}
