"""Arguments are validated exactly against their schema, and errors say how to correct them."""

import re
from dataclasses import dataclass
from typing import Annotated, Literal

import pytest

from ubp.core.errors import BadArgumentError, PageNotFoundError
from ubp.frame.arguments import (
    DocTypes,
    LinkTypes,
    Query,
    between,
    check_arguments,
    make_request,
    reject_path_traversal,
)
from ubp.frame.schema import request_schema


@dataclass(frozen=True, slots=True)
class Example:
    """A request with a field of each kind."""

    query: Query
    limit: Annotated[int, *between(1, 20), "how many"] = 10
    mode: Literal["hybrid", "fulltext"] = "hybrid"
    include_linked: bool = True
    link_types: LinkTypes = ()
    doc_type: DocTypes = ()
    filepath: str | None = None
    continue_: str | None = None


SCHEMA = request_schema(Example)


def read(**arguments):
    return make_request(Example, check_arguments(SCHEMA, arguments))


def test_schema_is_generated_from_the_fields_of_a_request():
    types = ["references", "depends_on", "implements", "extends", "conflicts_with"]
    assert request_schema(Example) == {
        "type": "object",
        "properties": {
            "query": {
                "type": "string",
                "maxLength": 1000,
                "description": 'word "phrase" -word prefix* AND OR NOT tag:x path:x field:x '
                "date>2026",
            },
            "limit": {
                "type": "integer",
                "minimum": 1,
                "maximum": 20,
                "description": "how many",
                "default": 10,
            },
            "mode": {"enum": ["hybrid", "fulltext"], "default": "hybrid"},
            "include_linked": {"type": "boolean", "default": True},
            "link_types": {"type": "array", "items": {"enum": types}},
            "doc_type": {
                "type": ["string", "array"],
                "items": {"type": "string"},
                "description": "e.g. spec, design, api",
            },
            "filepath": {"type": "string"},
            "continue": {"type": "string"},
        },
        "additionalProperties": False,
        "required": ["query"],
    }


def test_omitted_argument_has_its_default():
    assert read(query="a", limit=3.0, doc_type=None) == Example("a", limit=3)
    assert read(query="a", include_linked=False) == Example("a", include_linked=False)


def test_type_is_given_alone_or_in_a_list():
    assert read(query="a", doc_type="api") == Example("a", doc_type=("api",))
    assert read(query="a", doc_type=["api", "spec"]) == Example("a", doc_type=("api", "spec"))


def test_argument_that_is_a_python_keyword_has_a_field():
    assert read(query="a", **{"continue": "40@0"}) == Example("a", continue_="40@0")


@pytest.mark.parametrize(
    ("arguments", "name", "sentence"),
    [
        ({}, "query", "Missing required argument: `query`."),
        ({"query": None}, "query", "Missing required argument: `query`."),
        ({"query": ""}, "query", "`query` must not be empty."),
        ({"query": " \n"}, "query", "`query` must not be empty."),
        ({"query": "a" * 1001}, "query", "`query` must have at most 1000 characters."),
        ({"query": 1}, "query", "`query` must be a string."),
        ({"query": "a", "limit": "5"}, "limit", "`limit` must be an integer."),
        ({"query": "a", "limit": 2.5}, "limit", "`limit` must be an integer."),
        ({"query": "a", "limit": True}, "limit", "`limit` must be an integer."),
        ({"query": "a", "limit": float("nan")}, "limit", "`limit` must be an integer."),
        ({"query": "a", "limit": 0}, "limit", "`limit` must be at least 1 and at most 20."),
        ({"query": "a", "limit": 21}, "limit", "`limit` must be at least 1 and at most 20."),
        ({"query": "a", "include_linked": 1}, "include_linked", "must be true or false"),
        ({"query": "a", "mode": "best"}, "mode", "must be one of hybrid, fulltext"),
        ({"query": "a", "link_types": "extends"}, "link_types", "must be a list"),
        ({"query": "a", "link_types": ["knows"]}, "link_types", "items must be one of"),
        ({"query": "a", "doc_type": 3}, "doc_type", "must be a string or a list"),
        ({"query": "a", "filepath": ""}, "filepath", "`filepath` must not be empty."),
        ({"q": "a"}, "q", "Unknown argument: `q`."),
        ({"query": "a", "limits": 3}, "limits", "Unknown argument: `limits`."),
    ],
)
def test_invalid_argument_is_named(arguments, name, sentence):
    with pytest.raises(BadArgumentError, match=re.escape(sentence)) as caught:
        check_arguments(SCHEMA, arguments)
    assert caught.value.argument == name


def test_unknown_argument_is_answered_with_the_nearest_one():
    with pytest.raises(BadArgumentError) as caught:
        check_arguments(SCHEMA, {"query": "a", "path": "docs/a.md"})
    assert caught.value.hint == "Did you mean `filepath`?"
    assert "query, limit, mode" in caught.value.cause


def test_invalid_value_is_quoted_truncated():
    with pytest.raises(BadArgumentError) as caught:
        check_arguments(SCHEMA, {"query": ["x" * 5000], "y" * 5000: 1})
    assert len(caught.value.message + caught.value.cause + caught.value.hint) < 300


@pytest.mark.parametrize(
    "path",
    [
        "/etc/passwd",
        "../x.md",
        "docs/../../x.md",
        "docs/..",
        "a\\..\\b",
        "C:/x.md",
        "C:\\x",
        "a\0b",
    ],
)
@pytest.mark.parametrize("name", ["filepath", "id", "path", "center"])
def test_paths_that_no_answer_contains_are_refused(name, path):
    with pytest.raises(BadArgumentError) as caught:
        reject_path_traversal({name: path, "query": "../x"})
    assert caught.value.argument == name


def test_path_may_contain_dots():
    reject_path_traversal({"filepath": "docs/v1..2/...md", "path": "a/.b"})


SECRET = "docs/private/plan.md"  # excluded by default


@pytest.fixture
def guarded(repository):
    """A repository with what must not be served."""
    repository.write(SECRET, "# Plan\n\nSecret.\n")
    repository.write("docs/open.md", "# Open\n")
    repository.write("secret.txt", "Secret.\n")
    (repository.root / "docs/link.md").symlink_to("../secret.txt")
    (repository.root / "docs/out.md").symlink_to("/etc/hostname")
    repository.commit()
    return repository


@pytest.mark.parametrize(
    "path",
    [
        SECRET,
        "plan.md",
        "private",
        "secret.txt",
        "docs/link.md",
        "docs/out.md",
        ".git/config",
        "docs%2fopen.md",
        "%2e%2e/secret.txt",
        "docs/open.md%00",
        "docs\uff0fopen.md",
        "a" * 5000,
    ],
)
@pytest.mark.usefixtures("guarded")
def test_only_documents_are_served(path, answer):
    for name in ("get_page", "check_staleness"):
        with pytest.raises(PageNotFoundError) as caught:
            answer(name, filepath=path)
        assert "private" not in str(caught.value.near)


@pytest.mark.usefixtures("guarded")
def test_errors_suggest_no_excluded_page(answer):
    for wrong in ("docs/private/plans.md", "plan", "docs/private/open.md"):
        with pytest.raises(PageNotFoundError) as caught:
            answer("get_page", filepath=wrong)
        assert set(caught.value.near) <= {"docs/open.md"}
    with pytest.raises(PageNotFoundError) as caught:
        answer("get_page", title="Plan")
    assert caught.value.near == ()
    assert [page["filepath"] for page in answer("list_pages").record["pages"]] == ["docs/open.md"]


@pytest.mark.parametrize(
    ("value", "limit"),
    [
        (10**400, "at least 200 and at most 9007199254740991"),
        (1e308, "at least 200 and at most 9007199254740991"),
        (-(10**400), "at least 200"),
    ],
)
def test_integer_that_json_does_not_carry_is_refused(value, limit):
    schema = {"properties": {"max_tokens": {"type": "integer", "minimum": 200}}}
    assert check_arguments(schema, {"max_tokens": 2**53 - 1}) == {"max_tokens": 2**53 - 1}
    with pytest.raises(BadArgumentError, match=f"`max_tokens` must be {limit}[.]"):
        check_arguments(schema, {"max_tokens": value})
