"""TOML within limits, wherever it is read."""

import pytest

from ubp.code.dependencies import find_dependencies, find_required_names
from ubp.core.toml import MAX_PARTS, parse_toml
from ubp.markdown.sites.redirects import redirects_in

DEEP = "a" + ".a" * MAX_PARTS + " = 1\n"
REQUIRED = '[project]\ndependencies = ["example>=1.0"]\n'
REDIRECTS = '[[redirects]]\nfrom = "/old"\nto = "/new"\n'


def test_tables_are_returned():
    assert parse_toml("[a]\r\nb.c = 1\r\n") == {"a": {"b": {"c": 1}}}


@pytest.mark.parametrize("text", [DEEP, "a = " + "[" * 10_000, "a = = 1"])
def test_key_of_many_parts_deep_nesting_and_errors_are_value_errors(text):
    with pytest.raises(ValueError, match=r"parts|deeply|Invalid|Unclosed"):
        parse_toml(text)


def test_key_of_many_parts_in_a_string_is_no_key():
    assert parse_toml(f"a = '{DEEP.strip()}'") == {"a": DEEP.strip()}


def test_manifest_and_redirects_with_a_key_of_many_parts_are_not_read():
    for read in (find_dependencies, find_required_names):
        assert read("pyproject.toml", REQUIRED.encode())
        assert read("pyproject.toml", (DEEP + REQUIRED).encode()) == frozenset()
    assert list(redirects_in("netlify.toml", REDIRECTS.encode())) == ["/old"]
    assert list(redirects_in("netlify.toml", (DEEP + REDIRECTS).encode())) == []


def test_long_line_of_a_manifest_names_no_package():
    line = "a" * 3_000 + "==1.0"
    assert find_dependencies("requirements.txt", f"{line}\nexample==1.0\n".encode()) == {
        "example==1.0"
    }
