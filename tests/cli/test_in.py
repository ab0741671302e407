"""`--in NAME[@REV]`: the reading commands about other repositories, and sections of pages."""

import json

import pytest

from ubp.__main__ import main

PAGE = """# Types

Text of types.

## Slices {#Slice_types}

A slice has a length. See [maps](maps.md).

#### Growing

Use `append` to grow a slice.

## Arrays

An array has a fixed length.
"""


@pytest.fixture(scope="module")
def shared(isolate, repository_in, tmp_path_factory):
    """Two mirrors: `spec` with versions v1 and v2, and `notes`; their upstreams are beside them."""
    root = tmp_path_factory.mktemp("shared")
    with pytest.MonkeyPatch.context() as monkeypatch:
        isolate(monkeypatch)
        monkeypatch.setenv("UBP_COLLECTIONS", str(root / "collections"))
        spec = repository_in(root / "spec")
        spec.git("config", "uploadpack.allowFilter", "true")
        spec.write("types.md", PAGE.replace("fixed", "constant"))
        spec.write(
            "maps.md",
            "# Maps\n\nA map has keys. See [slices](types.md#Slice_types).\n\n`max_size`\n",
        )
        spec.write("long.md", "# Long\n\n" + "word " * 1000 + "\n")
        spec.commit()
        spec.git("tag", "v1")
        spec.write("types.md", PAGE)
        spec.commit()
        notes = repository_in(root / "notes")
        notes.write("a.md", "# Slices of bread\n\nBread is cut into slices.\n\n`max_size`\n")
        notes.commit()
        for name, upstream in (("spec", spec), ("notes", notes)):
            url = upstream.root.as_uri()
            assert main(["-C", str(root), "-q", "collections", "add", name, url, "--yes"]) == 0
        assert main(["-C", str(root), "-q", "collections", "sync", "spec@v1"]) == 0
    return root


@pytest.fixture
def collections(shared, repository, monkeypatch):
    """A project on the machine of these collections."""
    monkeypatch.setenv("UBP_COLLECTIONS", str(shared / "collections"))
    repository.write("README.md", "# Project\n\nNothing about it.\n")
    repository.commit()
    return repository


def test_search_of_a_collection_shows_its_name(asked, collections):
    record = asked(collections, "search", "fixed", "length", "--in", "spec", "--mode", "fulltext")
    found = record["results"][0]
    assert (found["collection"], found["filepath"]) == ("spec", "types.md")
    assert "spec:types.md" not in json.dumps(record)


def test_search_of_another_version_finds_its_words(ubp, collections):
    tokens = ("search", "--fulltext", "constant", "--in")
    assert "No results" in ubp(collections, *tokens, "spec").out
    assert "types.md:15" in ubp(collections, *tokens, "spec@v1").out


def test_several_collections_are_searched_as_one(ubp, asked, collections):
    tokens = ("search", "slices", "--mode", "fulltext", "--in", "spec,notes")
    record = asked(collections, *tokens)
    assert {found["collection"] for found in record["results"]} == {"spec", "notes"}
    scores = [found["score"] for found in record["results"]]
    assert scores == sorted(scores, reverse=True)
    assert record["total_found"] == len(scores)
    assert "notes:a.md" in ubp(collections, *tokens).out
    assert len(asked(collections, *tokens, "--limit", "1")["results"]) == 1
    apart = asked(collections, *tokens[:-1], "spec", "--in", "notes")
    assert apart["results"] == record["results"]


def test_identifier_is_looked_for_in_all_collections_and_its_lines_name_them(ubp, collections):
    tokens = ("search", "max_size", "--in", "notes,spec")
    output = ubp(collections, *tokens).out
    assert "max_size: in 2 lines of 2 pages" in output
    assert "notes:a.md:5: `max_size`" in output
    assert "spec:maps.md:5: `max_size`" in output
    assert "spec:maps.md:5: `max_size`" in ubp(collections, *tokens[:-1], "spec").out


def test_words_that_a_collection_has_by_chance_are_no_answer(asked, collections):
    tokens = ("search", "map keys bread", "--mode", "fulltext", "--in", "spec,notes")
    best, *others = asked(collections, *tokens)["results"]
    assert (best["filepath"], best["score"]) == ("maps.md", 1)
    assert all(found["score"] < 1 for found in others)


def test_search_of_two_versions_finds_the_page_in_each(asked, collections):
    record = asked(collections, "search", "growing", "--in", "spec", "--in", "spec@v1")
    found = [(result["collection"], result["filepath"]) for result in record["results"]]
    assert found.count(("spec", "types.md")) == 2


def test_search_of_several_collections_is_explained(asked, collections):
    tokens = ("search", "slices", "--explain", "--in", "spec", "--in", "notes")
    record = asked(collections, *tokens)
    assert record["explanation"]["candidates"]["words"]["pages"] == 3
    assert all(found["legs"]["words"] for found in record["results"][:3])


def test_other_reading_commands_answer_about_a_collection(ubp, collections):
    assert ubp(collections, "list-pages", "--in", "spec", "--quiet").out == (
        "long.md\nmaps.md\ntypes.md\n"
    )
    assert "An array" in ubp(collections, "get-page", "types.md", "--in", "spec").out
    assert "A map has keys" in ubp(collections, "get-context", "maps.md", "--in", "spec").out
    assert "3 pages, 2 links" in ubp(collections, "get-graph", "--in", "spec").out
    assert ubp(collections, "suggest-links", "--in", "spec").status == 0


@pytest.mark.parametrize(
    ("tokens", "message"),
    [
        (("list-pages", "--in", "nope"), "There is no collection nope."),
        (("list-pages", "--in", "spce"), "Did you mean spec?"),
        (("list-pages", "--in", "spec@v9"), "The collection spec has no version v9."),
        (("list-pages", "--in", "spec", "--ref", "v1"), "--in cannot be combined with --ref."),
        (("list-pages", "--in", "spec,notes"), "Only one collection can be read"),
        (("search", "x", "--fulltext", "--in", "spec,notes"), "Only one collection can be read"),
        (("list-pages", "--in", "../spec"), "Invalid name of a collection"),
        (("list-pages", "--in", "spec@"), "No version after the @"),
    ],
)
def test_unreadable_collection_is_explained(ubp, collections, tokens, message):
    answer = ubp(collections, *tokens)
    assert answer.status == 2
    assert message in answer.err


def test_pin_of_the_project_selects_the_version(ubp, collections, shared):
    upstream = shared / "spec"
    v1 = collections.git("-C", str(upstream), "rev-parse", "v1")
    setting = {"git": upstream.as_uri(), "at": v1}
    collections.write(".ubp/config.json", json.dumps({"collections": {"spec": setting}}))
    assert "constant" in ubp(collections, "get-page", "types.md", "--in", "spec").out
    assert "fixed" in ubp(collections, "get-page", "types.md", "--in", "spec@main").out


def test_project_cannot_read_a_collection_of_another_address(ubp, collections):
    setting = {"git": "https://example.org/other.git"}
    collections.write(".ubp/config.json", json.dumps({"collections": {"spec": setting}}))
    answer = ubp(collections, "list-pages", "--in", "spec")
    assert "is not the one on this machine" in answer.err


def test_policy_of_excerpts_cuts_pages(asked, collections, shared):
    setting = {"git": (shared / "spec").as_uri(), "policy": "excerpt_only"}
    collections.write(".ubp/config.json", json.dumps({"collections": {"spec": setting}}))
    record = asked(collections, "get-page", "long.md", "--in", "spec")
    assert len(record["content"]) <= 1200
    assert record["sections"] == []
    context = asked(collections, "get-context", "long.md", "--in", "spec")
    assert len(context["center"]["content"]) <= 1200


@pytest.mark.parametrize("name", ["Slice_types", "slices", "Slices", "slices-slice_types"])
def test_section_of_a_page_is_read_by_its_id_slug_or_heading(asked, collections, name):
    record = asked(collections, "get-page", f"types.md#{name}", "--in", "spec")
    assert record["content"].startswith("## Slices {#Slice_types}\n\nA slice")
    assert record["content"].endswith("Use `append` to grow a slice.")
    assert [link["filepath"] for link in record["outlinks"]] == ["maps.md"]
    assert [section["heading"] for section in record["sections"]] == ["Slices"]


def test_section_at_any_level_is_read(asked, ubp, collections):
    record = asked(collections, "get-page", "types.md#growing", "--in", "spec")
    assert record["content"] == "#### Growing\n\nUse `append` to grow a slice."
    assert record["sections"][0]["heading_path"] == ["Types", "Slices", "Growing"]
    answer = ubp(collections, "get-page", "types.md#growin", "--in", "spec")
    assert "types.md has no section growin." in answer.err
    assert "types.md#growing" in answer.err


def test_section_ids_of_answers_resolve(asked, collections):
    record = asked(collections, "search", "length", "--in", "spec", "--mode", "fulltext")
    for section in record["results"][0]["sections"]:
        page = asked(collections, "get-page", section["section_id"], "--in", "spec")
        assert page["filepath"] == "types.md"


def test_page_with_a_hash_in_its_name_is_not_a_section(asked, repository):
    repository.write("c#.md", "# C#\n\n## Part\n\nText.\n")
    repository.commit()
    assert asked(repository, "get-page", "c#.md")["title"] == "C#"


def test_ids_of_equal_paths_differ_between_collections(asked, collections):
    collections.write("types.md", PAGE)
    collections.commit()
    own = asked(collections, "get-page", "types.md")["doc_id"]
    other = asked(collections, "get-page", "types.md", "--in", "spec")["doc_id"]
    assert own != other
    assert asked(collections, "get-page", other, "--in", "spec")["filepath"] == "types.md"
    listed = asked(collections, "list-pages", "--in", "spec")["pages"]
    assert other in {page["doc_id"] for page in listed}
    search = ("search", "slice", "length", "--in", "spec")
    for found in (
        asked(collections, *search, "--mode", "fulltext"),
        asked(collections, *search, "--fulltext", shape="search-fulltext"),
    ):
        assert other in {result["doc_id"] for result in found["results"]}
    graph = asked(collections, "get-graph", "--center", "types.md", "--in", "spec")
    assert other in {graph["center"], *(node["id"] for node in graph["nodes"])}
