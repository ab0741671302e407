"""Filters on the fields of front matter: what they match, and how they are read from a query."""

import subprocess

import pytest

from ubp.answers.search.fulltext_search import FulltextRequest
from ubp.core.dates import parse_date
from ubp.core.errors import UsageError
from ubp.index.worker import read_page
from ubp.search.fields import FieldFilter, make_filter
from ubp.search.filters import Filters, parse_filters
from ubp.search.query import read_query
from ubp.workspace import Workspace

NAMES = ("category", "author", "date", "stars", "Label", "カテゴリ")
FIELDS = {
    "category": "AI-Tools",
    "author": "@mona",
    "date": "2026-01-31T23:30:00-02:00",
    "stars": "1200",
    "Label": ("one", "Second label"),
    "カテゴリ": "検索",
}


@pytest.mark.parametrize(
    ("name", "operator", "value", "is_match"),
    [
        ("category", ":", "ai-tools", True),
        ("category", "=", "AI", False),
        ("Category", ":", "AI*", True),
        ("author", ":", "@mona", True),
        ("author", ":", "mona", False),
        ("label", ":", "second label", True),
        ("label", ":", "third", False),
        ("カテゴリ", ":", "検索", True),
        ("stars", ">", "1000", True),
        ("stars", ">=", "1200", True),
        ("stars", "<", "1200.5", True),
        ("stars", "<=", "999", False),
        ("category", ">", "1", False),
        ("date", ":", "2026-02", True),  # in UTC
        ("date", ":", "2026", True),
        ("date", ">=", "2026-02-01", True),
        ("date", ">", "2026-02", False),
        ("date", "<=", "2026-02", True),
        ("date", "<", "2026-02-01T01:31:00Z", True),
        ("date", "<", "2026-02-01T01:30:00Z", False),
        ("missing", ":", "x", False),
    ],
)
def test_condition_is_compared_with_each_value(name, operator, value, is_match):
    assert make_filter(name, operator, value).matches(FIELDS) is is_match


@pytest.mark.parametrize(
    ("text", "date"),
    [
        ("2026", (2026,)),
        ("2026-01", (2026, 1)),
        ("2026/1/5", (2026, 1, 5)),
        ("2026-01-05 10:30", (2026, 1, 5, 10, 30)),
        ("2026-01-05T10:30:15.5+09:00", (2026, 1, 5, 1, 30, 15)),
        ("2026-13", ()),
        ("2026-02-30", ()),
        ("20260101", ()),
        ("0000", ()),
        ("9999-12-31T23:59-23:59", ()),
    ],
)
def test_only_existing_dates_are_dates(text, date):
    assert parse_date(text) == date


@pytest.mark.parametrize(
    ("text", "rest", "filters"),
    [
        ("category:AI cake", "cake", Filters(fields=((FieldFilter("category", ":", "AI"),),))),
        (
            'label:"a b" OR label:c author:@d',
            "",
            Filters(
                fields=(
                    (FieldFilter("label", ":", "a b"), FieldFilter("label", ":", "c")),
                    (FieldFilter("author", ":", "@d"),),
                )
            ),
        ),
        (
            "cake AND date>=2026-01-01",
            "cake",
            Filters(fields=((FieldFilter("date", ">=", "2026-01-01"),),)),
        ),
        (
            "-category:x NOT stars>5",
            "",
            Filters(
                excluded_fields=(FieldFilter("category", ":", "x"), FieldFilter("stars", ">", "5"))
            ),
        ),
        ("tags:a", "", Filters(tags=(("a",),))),
        ("カテゴリ：検索", "", Filters(fields=((FieldFilter("カテゴリ", ":", "検索"),),))),  # noqa: RUF001  # a wide colon
    ],
)
def test_filters_on_fields_are_removed_from_a_query(text, rest, filters):
    assert parse_filters(text.replace("\uff1a", ":"), lambda: NAMES) == (rest, filters)
    assert read_query(text, field_names=lambda: NAMES).filters == filters


@pytest.mark.parametrize(
    "text",
    ["std::x", "category::x", "node:fs", "category", "category://x", '"category:x"', "a=b", "x>=3"],
)
def test_text_that_is_not_a_filter_stays_in_the_query(text):
    query = read_query(text, field_names=lambda: NAMES)
    assert query.filters == Filters()
    assert query.unknown_fields == ()
    assert query.tree is not None


def test_names_of_fields_are_read_only_for_queries_that_may_have_a_filter():
    def fail():
        raise AssertionError

    for text in ("token expiry", "tag:x -type:y path:z", '"a:b"', "std::vector"):
        read_query(text, field_names=fail)


@pytest.mark.parametrize(
    ("text", "unknown"),
    [
        ("categroy:x", (("categroy:x", "category"),)),
        ("published>=2026-01-01", (("published>=2026-01-01", None),)),
    ],
)
def test_field_that_no_page_has_is_reported(text, unknown):
    assert read_query(text, field_names=lambda: NAMES).unknown_fields == unknown


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("date=>2026-01-01", "Unknown operator in the filter date=>2026-01-01."),
        ("category!=x", "Unknown operator in the filter category!=x."),
        ("date>=2026-13-01", "No such date in the filter date>=2026-13-01."),
        ("date<yesterday", "Neither a date nor a number in the filter date<yesterday."),
    ],
)
def test_invalid_filter_is_an_error(text, message):
    with pytest.raises(UsageError) as caught:
        read_query(text, field_names=lambda: NAMES)
    assert caught.value.message == message
    assert caught.value.hint.endswith(f'"{text}"')


def test_fields_are_the_scalars_and_lists_of_scalars_of_front_matter():
    long = "x" * 300
    many = "".join(f"k{number}: v\n" for number in range(60))
    front_matter = (
        "category: AI-Tools\nversion: 1.10\ndate: 2026-01-31\ndraft: true\nempty:\n"
        f"tags: [a, 2]\nnested: {{a: b}}\nmixed: [a, [b]]\nlong: {long}\n"
    )
    rows = read_page(f"---\n{front_matter}---\n# A\n".encode())
    assert rows.fields == (
        '{"category":"AI-Tools","version":"1.10","date":"2026-01-31","draft":"true",'
        f'"tags":["a","2"],"long":"{long[:200]}"}}'
    )
    assert read_page(f"---\n{many}---\n# A\n".encode()).fields.count(":") == 50
    assert (
        read_page(b'+++\ncategory = "x"\nstars = 5\n+++\n').fields == '{"category":"x","stars":"5"}'
    )
    assert read_page(b"# A\n").fields == "{}"


@pytest.fixture
def notes(tmp_path):
    root = tmp_path / "notes"
    root.mkdir()
    for name, fields in {
        "a": "category: tools\ndate: 2026-01-15\nauthor: '@a'",
        "b": "category: tools\ndate: 2026-02-15\ntags: [x]",
        "c": "category: talks\ndate: 2026-02-20",
    }.items():
        (root / f"{name}.md").write_text(f"---\n{fields}\n---\n# Cake {name}\n\nA cake.\n")
    (root / "plain.md").write_text("# Cake\n\nA cake without fields.\n")
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    return root


def test_filters_limit_pages_and_sections(notes, search_in):
    def found(query):
        pages = [
            hit.page.filepath for hit in search_in(workspace, query, mode="fulltext").answer.pages
        ]
        if "cake" in query:
            sections = {hit.filepath for hit in workspace.ask(FulltextRequest(query)).results}
            assert sections == set(pages)
        return "".join(sorted(path.removesuffix(".md") for path in pages))

    with Workspace.open(str(notes)) as workspace:
        assert found("cake category:tools") == "ab"
        assert found("category:tools date>=2026-02") == "b"
        assert found("cake category:tools OR category:talks -date:2026-02-15") == "ac"
        assert found("cake -category:tools") == "cplain"
        assert found("tags:x cake") == "b"
        assert found("cake author:@a") == "a"
        assert found("cake category:other") == ""


def test_fields_follow_changes_of_files(notes, search_in):
    with Workspace.open(str(notes)) as workspace:
        assert search_in(workspace, "category:talks").answer.total == 1
        (notes / "plain.md").write_text("---\ncategory: talks\n---\n# Plain\n")
        (notes / "c.md").unlink()
        hits = search_in(workspace, "category:talks").answer.pages
        assert [hit.page.filepath for hit in hits] == ["plain.md"]
