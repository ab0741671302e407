"""A query that is one identifier: the lines of pages with it, and the definition in code."""

import os

import pytest

from ubp.answers.search.identifier import peoples_lines
from ubp.answers.search.search import SearchRequest
from ubp.frame.writer import Writer
from ubp.search.identifier import read_identifier
from ubp.server.tools.tool import call_tool, make_tool
from ubp.workspace import Workspace


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("max_tokens", "max_tokens"),
        (" `max_tokens` ", "max_tokens"),
        ("--no-lock", "--no-lock"),
        ("getUserById()", "getUserById"),
        ("client.get(url, timeout)", "client.get"),
        ("Parser::parse", "Parser::parse"),
        ("UV_CACHE_DIR", "UV_CACHE_DIR"),
        ("exclude-newer", "exclude-newer"),
        ("pyproject.toml", "pyproject.toml"),
        ("middleware", None),
        ("HTTP", None),
        ("max_tokens of a search", None),
        ("tag:max_tokens", None),
        ("トークン", None),
        ("1.5", None),
        ("", None),
    ],
)
def test_identifier_is_one_name_as_code_is_written(query, name):
    assert read_identifier(query) == name


@pytest.fixture
def project(repository):
    repository.write("docs/a.md", "# A\n\nSet `max_tokens` to 3.\n\nNot max_tokens_in_all.\n")
    repository.write("docs/b.md", "# B\n\n```python\nask(max_tokens=3)\n```\n")
    repository.write("CHANGELOG.md", "# Changelog\n\n- Add `max_tokens`.\n")
    repository.write(
        "src/limits.py", "def max_tokens(\n    text, *, most: int = 3\n) -> int:\n    pass\n"
    )
    repository.write("tests/test_limits.py", "def max_tokens():\n    pass\n")
    repository.write("src/secret/keys.py", "def max_tokens():\n    return 'secret'\n")
    repository.write("src/use.py", "from limits import max_tokens\n\nprint(max_tokens('a'))\n")
    repository.write(".ubp/config.json", '{"source": {"exclude": ["src/secret/**"]}}')
    repository.commit()
    return repository


def identifier_at(root, query, **options):
    with Workspace.open(str(root), model="none") as workspace:
        return workspace.ask(SearchRequest(query, **options)).identifier


def identifier_of(repository, query, **options):
    return identifier_at(repository.root, query, **options)


def places(found):
    return [(record.source_path, record.line, record.text) for record in found.definitions]


def test_identifier_has_each_line_and_its_definition_tests_and_changelogs_last(project):
    found = identifier_of(project, "max_tokens")
    assert places(found) == [
        ("src/limits.py", 1, "def max_tokens( text, *, most: int = 3 ) -> int:"),
        ("tests/test_limits.py", 1, "def max_tokens():"),
    ]
    assert all(record.is_certain for record in found.definitions)
    lines = [(line.filepath, line.line, line.text) for line in found.lines]
    assert sorted(lines[:2]) == [
        ("docs/a.md", 3, "Set `max_tokens` to 3."),
        ("docs/b.md", 4, "ask(max_tokens=3)"),
    ]
    assert lines[2:] == [("CHANGELOG.md", 3, "- Add `max_tokens`.")]
    assert (found.total_lines, found.total_pages, found.total_definitions) == (3, 3, 2)


def test_words_and_names_that_nothing_has_have_no_identifier(project):
    assert identifier_of(project, "tokens") is None
    assert identifier_of(project, "min_tokens") is None
    assert identifier_of(project, "max_tokens", no_content=True) is None


def test_work_tree_counts_as_it_is_and_a_revision_as_it_was(project):
    project.write("src/limits.py", "x = 1\n\n\ndef max_tokens(a):\n    pass\n")
    assert places(identifier_of(project, "max_tokens"))[0] == (
        "src/limits.py", 4, "def max_tokens(a):"
    )  # fmt: skip
    assert places(identifier_of(project, "max_tokens", ref="HEAD"))[0][:2] == ("src/limits.py", 1)


def test_code_of_a_partial_clone_is_searched_unless_it_lacks_files(project, tmp_path):
    project.git("config", "uploadpack.allowFilter", "true")
    project.git("config", "uploadpack.allowAnySHA1InWant", "true")
    source, whole, bare = f"file://{project.root}", tmp_path / "whole", tmp_path / "bare.git"
    project.git("clone", "-q", "--filter=blob:limit=4m", source, str(whole))
    project.git("clone", "-q", "--bare", "--filter=blob:none", source, str(bare))
    page = project.git("rev-parse", "HEAD:docs/a.md")
    project.git("-C", str(bare), "fetch", "-q", "origin", page)
    found = identifier_at(whole, "max_tokens")
    assert (places(found), found.is_code_searched) == (
        places(identifier_of(project, "max_tokens")),
        True,
    )
    found = identifier_at(bare, "max_tokens")
    assert (found.total_lines, found.definitions, found.is_code_searched) == (1, (), False)
    first, *_ = peoples_lines(found, Writer())
    assert first == (
        "max_tokens: in 1 line of 1 page, code not searched: this partial clone lacks files"
    )


def test_definition_behind_a_link_out_of_the_repository_is_not_shown(project, tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "limits.py").write_text("def max_tokens(leak):\n    pass\n")
    source = project.root / "src"
    source.rename(tmp_path / "moved")
    source.symlink_to(outside, target_is_directory=True)
    found = identifier_of(project, "max_tokens")
    assert "leak" not in str(found)
    assert "secret" not in str(found)


@pytest.mark.parametrize(
    ("query", "path", "text", "signature", "is_certain"),
    [
        ("--read-timeout", "src/cli.py", 'add_argument("--read-timeout", type=int)\n', None, False),
        ("--read-timeout", "src/a.rs", "pub struct A {\n    pub read_timeout: u8,\n}\n",
         "pub read_timeout: u8,", False),
        ("MAX_SIZE", "src/a.py", "MAX_SIZE: int = 3\n", "MAX_SIZE: int = 3", True),
        ("CacheBucket", "src/a.rs", "pub enum CacheBucket {\n    A,\n}\n",
         "pub enum CacheBucket", True),
        ("Session.login", "src/a.py", "class Session:\n    def login(self):\n        pass\n",
         "def login(self):", True),
        ("Session.login", "src/a.py", "class Other:\n    def login(self):\n        pass\n",
         "", True),
        ("getUser", "src/a.ts", "export function getUser(id: string): User {\n}\n",
         "export function getUser(id: string): User", True),
        ("config.toml", "src/a.py", "toml = 1\nconfig = 2\n", "", True),
    ],
)  # fmt: skip
def test_definition_is_found_as_the_language_writes_it(  # noqa: PLR0917  # its columns
    query, path, text, signature, is_certain, repository
):
    repository.write("docs/a.md", f"# A\n\n`{query}`\n")
    repository.write(path, text)
    repository.commit()
    found = identifier_of(repository, query)
    expected = [] if signature == "" else [signature or text.strip()]
    assert [record.text for record in found.definitions] == expected
    assert [record.is_certain for record in found.definitions] == [is_certain] * len(expected)


def test_line_that_versions_of_a_page_share_is_listed_once(repository):
    for version in ("1.0", "2.0"):
        repository.write(f"docs/{version}/a.md", f"# A\n\nSet `max_size`.\n\nIn {version}.\n")
    repository.write("docs/2.0/b.md", "# B\n\nSet `max_size`.\n")
    repository.commit()
    found = identifier_of(repository, "max_size")
    lines = [(line.filepath.rpartition("/")[2], line.copies) for line in found.lines]
    assert sorted(lines) == [
        ("a.md", 1),
        ("b.md", 0),
    ]


def test_agents_read_lines_as_grep_prints_them_within_the_budget(project):
    for number in range(60):
        body = f"# Page {number}\n\nHere {number} is `max_tokens`, and a sentence about it.\n"
        project.write(f"docs/more/{number}.md", body)
    project.commit()
    with Workspace.open(str(project.root), model="none") as workspace:
        answers = [
            call_tool(
                make_tool("ubp_search"), workspace,
                {"query": "max_tokens", "max_tokens": most}, is_structured=is_structured,
            )
            for is_structured in (False, True)
            for most in (300, 900)
        ]  # fmt: skip
    for answer in answers:
        assert answer.record["results"]
        assert answer.record["identifier"]["lines"]
        assert answer.record["identifier"]["total_lines"] == 63
    text = answers[1].text
    assert "max_tokens: defined in code at 2 places, in 63 lines of 63 pages\n<<<" in text
    assert "\nsrc/limits.py:1: def max_tokens( text, *, most: int = 3 ) -> int:\n" in text
    assert "more lines: use a larger max_tokens]" in text


def test_file_name_of_an_odd_form_stays_on_its_line(repository):
    repository.write("docs/a.md", "# A\n\n`max_size`\n")
    if os.name != "nt":
        repository.write("src/a\nb.py", "def max_size():\n    pass\n")
    repository.commit()
    with Workspace.open(str(repository.root), model="none") as workspace:
        answer = call_tool(make_tool("ubp_search"), workspace, {"query": "max_size"})
    assert "\nb.py" not in answer.text


def test_lines_are_those_of_the_pages_that_are_asked_for(project):
    project.write("docs/c.md", "---\ndoc_type: guide\n---\n# C\n\nA `max_tokens` of 9.\n")
    project.commit()
    found = identifier_of(project, "max_tokens", doc_type=("guide",))
    assert [(line.filepath, line.line) for line in found.lines] == [("docs/c.md", 6)]
