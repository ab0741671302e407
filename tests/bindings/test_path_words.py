"""What paths say about files."""

import pytest

from ubp.bindings.path_words import is_test


@pytest.mark.parametrize(
    ("path", "is_of_tests"),
    [
        ("spec/models/user_spec.rb", True),
        ("spec/support/helper.rb", True),
        ("src/specs/login.ts", True),
        ("pkg/specs/plan.py", False),
        ("specs/openapi.yaml", False),
        ("tests/plan.py", True),
    ],
)
def test_folder_of_specifications_has_tests_only_in_languages_that_call_them_so(path, is_of_tests):
    assert is_test(path) is is_of_tests
