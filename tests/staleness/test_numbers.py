"""Numbers that a change replaces, beside their names in pages."""

from itertools import product

import pytest

from ubp.staleness.numbers import Given, find_given, replaced_numbers

ARGUMENT = 'parser.add(\n    "--read-timeout",\n    type=int,\n    default=30,\n)\n'
OLD, NEW = "module example.com/reader/v2\n", "module example.com/reader/v3 // of 2026\n"


def given(before, after, page):
    """Return where a page gives numbers that a change of a source replaces."""
    old, new = before.splitlines(), after.splitlines()
    removed = [line for line in old if line not in new]
    added = [line for line in new if line not in old]
    found = (find_given(page, each) for each in replaced_numbers(removed, added, before))
    return [each for each in found if each]


@pytest.mark.parametrize(
    ("before", "old", "new", "page", "name"),
    [
        ("READ_TIMEOUT = 30\n", "30", "60", "The read timeout is 30 s.", "read timeout"),
        ("DEFAULT_READ_TIMEOUT = 30\n", "30", "60", "`readTimeout: 30`", "readTimeout"),
        ('flag("5s", &o.readTimeout)\n', "5s", "30s", "--http.read-timeout=5s", "read-timeout"),
        ('rust-version = "1.85"\n', "1.85", "1.87", "It needs Rust version 1.85.", "Rust version"),
        (ARGUMENT, "30", "60", "`--read-timeout` (30 seconds)", "read-timeout"),
        (
            "#[arg(value = 30)]\nread_timeout: u64\n",
            "30",
            "60",
            "`--read-timeout` 30",
            "read-timeout",
        ),
        ("read_retries = 3\n", "3", "5", "## `read_retries`\nDefault: 3", "read_retries"),
        ("read_ahead = True\n", "True", "False", "`read_ahead`, default `True`", "read_ahead"),
    ],
)
def test_page_that_gives_a_replaced_number_beside_its_name_is_found(before, old, new, page, name):
    line = page.count("\n") + 1
    assert given(before, before.replace(old, new), page) == [Given(line, name)]


@pytest.mark.parametrize(
    ("before", "after", "page"),
    [
        ("read_timeout = 30\n", "read_timeout = 60\n", "The write timeout is 30."),
        ("read_timeout = 30\n", "read_timeout = 60\n", "The read timeout was 30 and is 60."),
        ("read_timeout = 30\n", "read_timeout = 60\n", "The read timeout: 2030, 30-31, 1.30"),
        ("read_timeout = 30\n", "read_all(30, 60)\n", "The read timeout is 30."),
        ("read_retries = 3\n", "read_retries = 5\n", "`read_retries: 3`, for example."),
        ("tool-version = 3.1\n", "tool-version = 3.1.2\n", "Tool version 3.1 is needed."),
        ("setTimeout(f, 500)\n", "setTimeout(f, 600)\n", "setTimeout(resolve, 500)"),
        ('version = "1.2"\n', 'version = "1.3"\n', "New in version 1.2."),
    ],
)
def test_other_numbers_and_other_names_are_not_found(before, after, page):
    assert given(before, after, page) == []


def test_many_numbers_that_a_machine_replaced_are_not_found():
    names = ("".join(letters) for letters in product("abcdefghijklmno", repeat=2))
    before = "".join(f"read_{name}_timeout = 30\n" for name in names)
    assert given(before, before.replace("30", "60"), before) == []


@pytest.mark.parametrize(
    ("before", "old", "new", "page", "name"),
    [
        ('requires-python = ">=3.8,<4"\n', "3.8", "3.9", "- Python 3.8+", "Python"),
        ('python = "^3.8"\n', "3.8", "3.10", "It requires **Python 3.8**, and Poetry.", "Python"),
        ("python_requires = >=3.8\n", "3.8", "3.9", "Python 3.8 or later", "Python"),
        ("go 1.21.0\n", "1.21.0", "1.22.1", "Golang version 1.21 or higher.", "Golang version"),
        ("go 1.12\n", "1.12", "1.13", "It requires [Go 1.12][1] or later.", "Go"),
        ("go 1.22.0\n", "1.22", "1.23", "Go 1.22.x or higher.", "Go"),
        ('rust-version = "1.70"\n', "1.70", "1.75", "At least Rust 1.70 is used.", "Rust"),
        ('  "node": ">=18.0.0"\n', "18", "20", "**Node.js >= 18**", "Node.js"),
        ('  "php": "^7.4",\n', "7.4", "8.0", "It works with PHP 7.4 or above.", "PHP"),
        ('elixir: "~> 1.12",\n', "1.12", "1.13", "Elixir v1.12 or later.", "Elixir"),
        ('s.required_ruby_version = ">= 2.7"\n', "2.7", "3.0", "Ruby 2.7 and up", "Ruby"),
    ],
)
def test_page_that_requires_a_raised_version_of_a_language_is_found(before, old, new, page, name):
    assert given(before, before.replace(old, new), page) == [Given(1, name)]


@pytest.mark.parametrize(
    ("before", "after", "page"),
    [
        ("go 1.21.0\n", "go 1.21.5\n", "Go 1.21 or later"),
        ("go 1.21\n", "go 1.22\n", "Go 1.21 added `min`; Go 1.21.4 or later"),
        ("go 1.21\n", "go 1.22\n", "Since 2.0 it needs Go 1.21 or later."),
        ("go 1.21\n", "go 1.22\n", "## Reader 1.x\nIt needs Go 1.21 or later."),
        ("go 1.21\n", "go 1.22\n", "Go 1.21 or later; Go 1.22 is better."),
        ('"node": "18.1.0"\n', '"node": "20.1.0"\n', "Node 18.1.0 or later"),
        ('python = ">=3.8,<4"\n', 'python = ">=3.8,<5"\n', "Python 4 or later"),
    ],
)
def test_other_versions_of_a_language_are_not_found(before, after, page):
    assert given(before, after, page) == []


@pytest.mark.parametrize(
    ("before", "after", "page"),
    [
        (OLD, NEW, "    go get example.com/reader/v2"),
        (OLD, NEW, "go install example.com/reader/v2/cmd/read@latest"),
        (OLD, NEW, 'import "example.com/reader/v2"'),
        (OLD, "module example.org/new-reader\n", "Import `example.com/reader/v2/core`."),
        ("module example.com/reader\n", NEW, "go get -u example.com/reader"),
        (OLD, NEW, "Run `GOFLAGS=-v go run -tags x example.com/reader/v2@v2.1.0`."),
        (OLD, NEW, '\tr "example.com/reader/v2/core" // for records'),
        (OLD, NEW, "\texample.com/reader/v2 v2.1.0"),
        (OLD, NEW, "replace example.com/reader/v2 => ../reader"),
    ],
)
def test_page_that_imports_a_module_by_its_old_path_is_found(before, after, page):
    path = before.split()[1]
    assert given(before, after, page) == [Given(1, path)]


@pytest.mark.parametrize(
    ("before", "after", "page"),
    [
        (OLD, NEW, "go get example.com/reader"),
        (OLD, NEW, "go get example.com/reader/v20 or example.com/reader/v2-beta"),
        (OLD, NEW, "See https://pkg.go.dev/example.com/reader/v2."),
        ("module example.com/reader\n", NEW, "[go get it](https://example.com/reader)"),
        ("module example.com/reader\n", NEW, "Important is example.com/reader, our repository."),
        ("module example.com/reader\n", NEW, "See `example.com/reader`"),
        ("module example.com/reader\n", NEW, "example.com/reader v2 is out"),
        ("module example.com/reader\n", NEW, "gh repo clone example.com/reader"),
        ("module example.com/reader\n", NEW, "Questions: `example.com/reader/issues`"),
        ("module example.com/reader\n", NEW, "[`go get`](example.com/reader/blob/main/a.md)"),
        ("module example.com/reader\n", NEW, 'repository: "example.com/reader"'),
        (OLD, NEW, "sed s,example.com/reader/v2,example.com/reader/v3,"),
        ("module example.com/reader\n", NEW, "<https://example.com/reader>"),
        ("module example.com/reader\n", NEW, 'import "example.com/reader/v2/core"'),
        ("module Reader\n", "module Writer\n", "module Reader"),
    ],
)
def test_addresses_and_other_modules_are_not_found(before, after, page):
    assert given(before, after, page) == []
