"""The tool set `specs`: answers about specifications, each with its citation."""

import json
import shutil

import pytest

from ubp.__main__ import main
from ubp.core.errors import BadArgumentError, CollectionError, PageNotFoundError
from ubp.core.model import ObjectId
from ubp.core.policy import EXCERPT_CHARACTERS
from ubp.git.repository import open_repository
from ubp.index.addresses import page_address, save_addresses
from ubp.index.collections import Collection
from ubp.kits.specs.sections import find_spec_sections
from ubp.search.excerpt import PASSAGE_CHARACTERS
from ubp.search.run import open_search
from ubp.server.errors import error_result, translate
from ubp.server.tools.registry import offer_collections, select_tools
from ubp.server.tools.tool import call_tool
from ubp.workspace import Workspace

GO = """# The Language {#language}

It is small.

## Types {#Types}

A type determines a set of values.

### Slice types {#Slice_types}

A slice is a descriptor for a contiguous segment of an underlying array.

#### Growing {#Growing}

Appending grows it.

## Statements {#Statements}

Statements control execution.
"""
CHANGED = GO.replace("a contiguous segment", "a segment").replace("## Statements", "## Commands")
TOML = "# TOML\n\n## Keys\n\n" + "A key is bare or quoted. " * 100 + "\n"


@pytest.fixture(scope="module")
def machine(isolate, repository_in, tmp_path_factory):
    """Two specifications: `go` with the versions 1.0 and 2.0, and `toml`, excerpts only."""
    root = tmp_path_factory.mktemp("specs")
    with pytest.MonkeyPatch.context() as monkeypatch:
        isolate(monkeypatch)
        monkeypatch.setenv("UBP_COLLECTIONS", str(root / "collections"))
        texts = {"go-spec": (GO, CHANGED), "toml": (TOML,)}
        commits = {}
        for name, versions in texts.items():
            upstream = repository_in(root / name)
            upstream.git("config", "uploadpack.allowFilter", "true")
            if name == "go-spec":
                upstream.write("spec.md", "# Draft\n")
                upstream.commit()
                upstream.git("tag", "0.9")
                upstream.git("tag", "old-v0.8-dev")
                upstream.git("branch", "work")
            for number, text in enumerate(versions, 1):
                upstream.write("spec.md", text)
                commits[f"{name}@{number}.0"] = upstream.commit()
                upstream.git("tag", f"{number}.0")
            options = ["--language", name.removesuffix("-spec")]
            options += ["--policy", "excerpt_only"] if name == "toml" else []
            add = ["collections", "add", name, upstream.root.as_uri(), *options, "--yes"]
            assert main(["-C", str(root), "-q", *add]) == 0
        assert main(["-C", str(root), "-q", "collections", "sync", "go-spec@1.0"]) == 0
    return root, commits


@pytest.fixture
def call(machine, repository, monkeypatch, valid):
    """Call a tool in a project and return its record and its text."""
    monkeypatch.setenv("UBP_COLLECTIONS", str(machine[0] / "collections"))
    repository.write("README.md", "# Project\n")
    repository.commit()
    tools = {tool.name: tool for tool in select_tools(["specs"])}
    with Workspace.open(str(repository.root)) as workspace:

        def ask(name, **arguments):
            found = call_tool(tools[name], workspace, arguments)
            valid(tools[name].output_schema, found.record)
            assert found.record.pop("content_notice") in found.text.replace("; delimited", ".;")
            del found.record["token_estimate"], found.record["query_time_ms"]
            return found

        yield ask


@pytest.fixture
def citation(machine):
    """The citation of the section about slices in a version."""
    root, commits = machine

    def cite(version):
        return {
            "title": "Slice types",
            "section_path": "The Language > Types > Slice types",
            "section_id": "Slice_types",
            "url": f"{(root / 'go-spec').as_uri()}/spec.md#Slice_types",
            "language": "go",
            "doc": "go-spec",
            "version": version,
            "commit": commits[f"go-spec@{version}"],
            "source_policy": "local_fulltext_ok",
        }

    return cite


def test_languages_are_listed_with_their_documents(call):
    assert call("list_languages").record == {
        "languages": [
            {"language": "go", "docs": ["go-spec"]},
            {"language": "toml", "docs": ["toml"]},
        ]
    }


def test_versions_are_releases_newest_first_and_say_which_were_fetched(call, machine):
    root, commits = machine
    found = call("list_versions", language="go")
    (newest, oldest, absent) = found.record["versions"]
    assert newest.pop("fetched_at")
    assert newest == {
        "version": "2.0",
        "source_url": (root / "go-spec").as_uri(),
        "doc": "go-spec",
        "commit": commits["go-spec@2.0"],
        "is_release": True,
        "is_fetched": True,
        "is_current": True,
    }
    assert (oldest["version"], oldest["is_fetched"], oldest["is_current"]) == ("1.0", True, False)
    assert (absent["version"], absent["is_fetched"], "fetched_at" in absent) == (
        "0.9",
        False,
        False,
    )
    assert "not fetched" in found.text
    assert "ubp collections sync go-spec@VERSION" in found.text


def test_version_has_one_name_however_it_was_asked_for(call, machine):
    _, commits = machine
    for asked in ("main", commits["go-spec@2.0"], "2.0", None):
        record = call("build_learning_plan", language="go", total_weeks=1, version=asked).record
        assert record["version"] == "2.0"


def test_compared_branch_has_the_name_of_its_commit(call):
    changes = call("compare_versions", language="go", **{"from": "1.0", "to": "main"}).record
    names = {(change["old"]["version"], change["new"]["version"]) for change in changes["changes"]}
    assert names == {("1.0", "2.0")}
    changes = call("compare_versions", language="go", **{"from": "main", "to": "1.0"}).record
    names = {(change["old"]["version"], change["new"]["version"]) for change in changes["changes"]}
    assert names == {("2.0", "1.0")}


def test_question_finds_sections_with_their_citations(call, citation):
    found = call("search_spec", query="slice of an array", language="go", filters={"limit": 2})
    first = found.record["results"][0]
    text = "A slice is a descriptor for a segment of an underlying array."
    assert first.pop("score") < 0
    snippet = {"text": text, "start_char": 0, "end_char": len(text)}
    assert first == {**citation("2.0"), "snippet": snippet}
    assert "go-spec 2.0, commit" in found.text


def test_sections_that_a_budget_leaves_out_are_counted(call):
    whole = call("search_spec", query="slice OR array", language="go")
    total = len(whole.record["results"])
    assert total > 1
    cut = call("search_spec", query="slice OR array", language="go", max_tokens=200)
    shown = len(cut.record["results"])
    assert 1 <= shown < total
    assert cut.record["truncated_count"] == total - shown
    assert f"[{total - shown} more section" in cut.text


def test_second_search_reads_no_headings_again(call, monkeypatch):
    first = call("search_spec", query="slice", language="go").record
    monkeypatch.setattr("ubp.kits.specs.sections.read_headings", lambda _: pytest.fail("again"))
    assert call("search_spec", query="slice", language="go").record == first


def test_filters_limit_the_sections(call):
    record = call(
        "search_spec", query="execution", language="go", filters={"section_path_prefix": "types"}
    ).record
    paths = [result["section_path"] for result in record["results"]]
    assert all(path.startswith("The Language > Types") for path in paths)
    with pytest.raises(CollectionError, match="no document other of go"):
        call("search_spec", query="x", language="go", filters={"doc": "other"})
    with pytest.raises(BadArgumentError, match="`filters` has no field `limt`"):
        call("search_spec", query="x", language="go", filters={"limt": 2})


def test_question_without_a_word_of_the_text_or_its_meaning_finds_nothing(repository):
    repository.write("spec.md", GO)
    repository.commit()
    with Workspace.open(str(repository.root)) as workspace:
        view, context = open_search(workspace.session)
        assert find_spec_sections(view, "world cup", 5, context) == ()
        assert find_spec_sections(view, "subarrays", 5, context)


def test_filter_finds_sections_that_many_better_ones_precede(machine, repository, monkeypatch):
    monkeypatch.setenv("UBP_COLLECTIONS", str(machine[0] / "collections"))
    for number in range(150):
        repository.write(f"{number}.md", f"# Slices {number}\n\n" + "A slice of slices. " * 8)
    others = "Strings, numbers, maps, channels and functions have a length. " * 4
    repository.write("z.md", f"# Others\n\nText.\n\n## Arrays\n\n{others}Each has a slice.\n")
    repository.commit()
    with Workspace.open(str(repository.root)) as workspace:
        view, context = open_search(workspace.session)
        best = find_spec_sections(view, "slice", 5, context)
        assert not any("Others" in section.heading.path for section in best)
        found = find_spec_sections(
            view, "slice", 5, context, is_wanted=lambda heading: "Others" in heading.path
        )
        assert found[0].heading.path == ("Others", "Arrays")
        filtered = find_spec_sections(
            view, "path:z.md", 5, context, is_wanted=lambda heading: "Arrays" in heading.path
        )
        assert [section.heading.path for section in filtered] == [("Others", "Arrays")]


def test_section_is_read_whole_in_the_requested_version(call, citation):
    record = call("get_section", language="go", section_id="Slice_types", version="1.0").record
    text = GO[GO.index("### Slice") : GO.index("## Statements")].strip()
    content = {"excerpt": text, "is_truncated": False, "fulltext_available": True}
    assert record == {"citation": citation("1.0"), "content": {**content, "fulltext": text}}
    with pytest.raises(PageNotFoundError, match="No section has the id Slices") as caught:
        call("get_section", language="go", section_id="Slices")
    assert "Use a section_id as a search returns it." in str(error_result(translate(caught.value)))


def test_collection_of_excerpts_shows_only_excerpts_on_every_surface(call, repository, capsys):
    found = call("get_section", language="toml", section_id="keys")
    content = found.record["content"]
    assert (len(content["excerpt"]), content["is_truncated"]) == (EXCERPT_CHARACTERS, True)
    assert (content["fulltext_available"], "fulltext" in content) == (False, False)
    assert "only excerpts" in found.text
    capsys.readouterr()
    for command in (["get-page", "spec.md"], ["get-context", "spec.md"], ["search", "key"]):
        assert main(["-C", str(repository.root), *command, "--in", "toml"]) == 0
        assert capsys.readouterr().out.count("A key is bare") <= EXCERPT_CHARACTERS // 25
    assert PASSAGE_CHARACTERS <= EXCERPT_CHARACTERS


def test_missing_version_is_an_error(call):
    for name, arguments in (
        ("search_spec", {"query": "slices", "version": "1.1"}),
        ("get_section", {"section_id": "Slice_types", "version": "1.1"}),
        ("compare_versions", {"from": "1.0", "to": "1.1"}),
        ("build_learning_plan", {"total_weeks": 1, "version": "1.1"}),
    ):
        with pytest.raises(CollectionError, match=r"The version 1\.1 of go is not here") as caught:
            call(name, language="go", **arguments)
        assert "2.0, 1.0" in caught.value.cause
        assert error_result(translate(caught.value)).is_error
    with pytest.raises(CollectionError, match="no specification of GOL here") as caught:
        call("list_versions", language="GOL")
    assert caught.value.hint == "Did you mean go?"


def test_unknown_language_is_added_with_its_name(call):
    with pytest.raises(CollectionError, match=r"no specification of C\+\+ here") as caught:
        call("list_versions", language="C++")
    assert caught.value.cause == "There are: go, toml."
    assert caught.value.hint.endswith("ubp collections add NAME SOURCE --language C++")


def test_language_is_found_whatever_its_case(call, citation):
    assert call("list_versions", language="GO").record["language"] == "go"
    section = call("get_section", language="Go", section_id="Slice_types").record
    assert section["citation"] == citation("2.0")
    record = call("compare_versions", language="Go", **{"from": "1.0", "to": "2.0"}).record
    assert record["language"] == "go"


def test_versions_are_compared_by_sections(call, citation):
    found = call("compare_versions", language="go", **{"from": "1.0", "to": "2.0"})
    change = {
        "kind": "changed",
        "old": citation("1.0"),
        "new": citation("2.0"),
        "words": [{"kind": "removed", "text": "contiguous"}],
    }
    assert found.record["changes"][0] == change
    assert [each["new"]["title"] for each in found.record["changes"]] == ["Slice types", "Commands"]
    answer = call(
        "compare_versions", language="go", section_id="Types", **{"from": "1.0", "to": "2.0"}
    )
    assert answer.record == {
        "language": "go",
        "old_version": "1.0",
        "new_version": "2.0",
        "total_changes": 1,
        "changes": [change],
    }


@pytest.fixture
def grammar(repository, repository_in, tmp_path, monkeypatch):
    """Call a tool about a local repository with two versions of a grammar."""
    monkeypatch.setenv("UBP_COLLECTIONS", str(tmp_path / "collections"))
    upstream = repository_in(tmp_path / "grammar")
    for number, word in enumerate(("old", "new"), 1):
        rules = "".join(f"Rule {each} is {word} here.\n\n" for each in range(20))
        code = "```\na\n" + "\n" * number + "b\n```\n"
        upstream.write("spec.md", f"# Grammar\n\n{code}\n## Rules\n\n{rules}## {word}\n")
        upstream.commit()
        upstream.git("tag", f"{number}.0")
    add = ["collections", "add", "grammar", str(upstream.root), "--language", "ebnf", "--yes"]
    assert main(["-C", str(tmp_path), "-q", *add]) == 0
    repository.write("README.md", "# Project\n")
    repository.commit()
    tools = {tool.name: tool for tool in select_tools(["specs"])}
    with Workspace.open(str(repository.root)) as workspace:
        yield lambda name, **asked: call_tool(tools[name], workspace, {"language": "ebnf", **asked})


def test_words_that_a_budget_leaves_out_of_a_comparison_are_counted(grammar):
    versions = {"from": "1.0", "to": "2.0"}
    whole = grammar("compare_versions", **versions)
    cut = grammar("compare_versions", **versions, max_tokens=420)
    code, _, added, removed = whole.record["changes"]
    assert [code["kind"], added["kind"], removed["kind"]] == ["changed", "added", "removed"]
    assert "  + an empty line of code\n" in whole.text
    assert whole.text.count("grammar 1.0, commit") == 3  # the changed ones, and the removed one
    assert "omitted" not in whole.text
    _, changed, *others = cut.record["changes"]
    total, shown = (
        sum(len(words["text"].split()) for words in change.get("words", ()))
        for change in (whole.record["changes"][1], changed)
    )
    assert 0 < changed["omitted_words"] == total - shown
    assert f"[{total - shown} words omitted: use section_id or a larger max_tokens]" in cut.text
    assert "old" not in changed
    assert [change["words"][0]["text"] for change in others] == ["new", "old"]
    assert "[2 citations in 1.0 omitted, with the ids of the newer ones: use" in cut.text


def test_section_that_a_budget_cuts_is_as_long_as_it_allows_and_says_so(grammar):
    whole = grammar("get_section", section_id="rules")
    cut = grammar("get_section", section_id="rules", max_tokens=200)
    assert "omitted" not in whole.text
    text, shown = (answer.record["content"]["fulltext"] for answer in (whole, cut))
    assert text.startswith(shown)
    assert len(shown) > len(text) // 3
    assert "[The end of the text is omitted: use a larger max_tokens]" in cut.text


def test_missing_version_of_a_local_repository_is_fetched_there(grammar, tmp_path):
    with pytest.raises(CollectionError, match=r"The version 3\.0 of ebnf is not here") as caught:
        grammar("get_section", section_id="rules", version="3.0")
    directory = tmp_path / "grammar"
    assert caught.value.hint == f"A person can fetch it there: git -C {directory} fetch"


def test_plan_has_every_section_once_and_the_focus_first(call):
    record = call(
        "build_learning_plan", language="go", total_weeks=2, focus_areas=["commands"]
    ).record
    planned = [section["section_id"] for week in record["weeks"] for section in week["sections"]]
    assert planned == ["language", "Statements", "Types", "Slice_types", "Growing"]
    assert [week["week"] for week in record["weeks"]] == [1, 2]
    assert [week["theme"] for week in record["weeks"]] == [
        "The Language, Commands, Types",
        "Types",
    ]


def test_areas_that_no_heading_contains_are_named(call):
    found = call("build_learning_plan", language="go", total_weeks=1, focus_areas=["slice", "Nope"])
    assert found.record["unknown_areas"] == ["Nope"]
    assert 'No heading contains "Nope".' in found.text


@pytest.mark.usefixtures("call")
def test_project_offers_its_own_specifications(machine, repository):
    address = (machine[0] / "toml").as_uri()
    setting = {"toml": {"git": address, "language": "toml"}}
    repository.write(".ubp/config.json", json.dumps({"collections": setting}))
    tools = {tool.name: tool for tool in select_tools(["specs"])}
    with Workspace.open(str(repository.root)) as workspace:
        answer = call_tool(tools["list_languages"], workspace, {})
    assert [each["language"] for each in answer.record["languages"]] == ["toml"]
    (tool,) = offer_collections([tools["get_section"]], ["toml"], ["toml"])
    assert tool.input_schema["properties"]["language"]["enum"] == ["toml"]
    assert "enum" not in tools["get_section"].input_schema["properties"]["language"]


@pytest.mark.usefixtures("call")
def test_own_repositories_are_offered_beside_those_of_the_project(
    machine, repository, repository_in, tmp_path, monkeypatch
):
    own = repository_in(tmp_path / "rust")
    own.write("spec.md", "# Rust\n\n## Traits\n\nA trait is an interface.\n")
    own.commit()
    shutil.copytree(machine[0] / "collections", tmp_path / "collections")
    monkeypatch.setenv("UBP_COLLECTIONS", str(tmp_path / "collections"))
    add = ["collections", "add", "rust", str(own.root), "--language", "rust", "--yes"]
    assert main(["-C", str(tmp_path), "-q", *add]) == 0
    setting = {"toml": {"git": (machine[0] / "toml").as_uri(), "language": "toml"}}
    repository.write(".ubp/config.json", json.dumps({"collections": setting}))
    tools = {tool.name: tool for tool in select_tools(["specs"])}
    with Workspace.open(str(repository.root)) as workspace:
        answer = call_tool(tools["list_languages"], workspace, {})
    assert [each["language"] for each in answer.record["languages"]] == ["rust", "toml"]


def test_specs_tools_are_offered_only_on_request():
    default = [tool.name for tool in select_tools()]
    assert "search_spec" not in default
    assert [tool.name for tool in select_tools(["+specs"])][: len(default)] == default
    assert [tool.name for tool in select_tools([], ["get_section"])] == ["get_section"]


@pytest.mark.parametrize(
    ("kind", "address", "expected"),
    [
        ("mirror", "https://github.com/o/r.git", "https://github.com/o/r/blob/COMMIT/a%20b.md#x"),
        ("mirror", "git@gitlab.com:o/r.git", "https://gitlab.com/o/r/-/blob/COMMIT/a%20b.md#x"),
        ("import", "https://go.dev/ref/spec", "https://go.dev/ref/other.html#x"),
    ],
)
def test_address_leads_to_the_section(repository, kind, address, expected):
    repository.commit()
    commit = ObjectId("0" * 40)
    with open_repository(str(repository.root), {}) as opened:
        save_addresses(opened, {"a b.md": "https://go.dev/ref/other.html"})
        collection = Collection("spec", kind, address)
        found = page_address(opened, collection, commit, "a b.md", "x")
    assert found == expected.replace("COMMIT", commit)
