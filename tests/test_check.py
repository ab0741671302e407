"""`tests/check.py --fast` runs the tests that a change can break."""

import pytest

from tests.check import ELSEWHERE, ROOT, find_tests

SHARED = [*ELSEWHERE["ubp/"]]


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("ubp/search/impact.py", ["tests/search", *SHARED]),
        ("ubp/answers/pages/impact.py", ["tests/cli", "tests/server", *SHARED]),
        ("ubp/table.py", ["tests/cli", "tests/frame", "tests/server", *SHARED]),
        (
            "ubp/checks/rules/orphan_doc.py",
            ["tests/checks", "tests/cli/test_transcripts.py", *SHARED],
        ),
        ("tests/transcripts/check.console", ["tests/cli/test_transcripts.py"]),
        ("tests/cli/conftest.py", ["tests/cli"]),
        ("tests/test_tidy.py", ["tests/test_tidy.py"]),
        ("tests/test_that_was_removed.py", []),
        ("docs/design.md", ["tests/test_docs.py"]),
        ("CONTRIBUTING.md", []),
    ],
)
def test_find_tests_a_changed_file_are_those_that_it_can_break(path, expected):
    assert find_tests([path]) == sorted(expected)


def test_files_and_tests_that_are_named_exist():
    named = {*ELSEWHERE, *(name for tests in ELSEWHERE.values() for name in tests)}
    assert {name for name in named if not list(ROOT.glob(f"{name.rstrip('/')}*"))} == set()
