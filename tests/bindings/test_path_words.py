"""What paths say about files."""

import pytest

from ubp.bindings.path_words import is_test, records_past


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


@pytest.mark.parametrize("folder", ["test-app", "test_app", "gem/testapps"])
def test_application_for_tests_is_a_test_and_no_other_application_is(folder):
    assert is_test(f"{folder}/config/routes.rb")
    assert not is_test("latest-app/config/routes.rb")


@pytest.mark.parametrize(
    ("path", "is_of_past"),
    [
        ("docs/proposals/limits.md", True),
        ("docs/proposals-done/limits.md", True),
        ("docs/proposals_accepted/limits.md", True),
        ("docs/rfcs-rejected/limits.md", True),
        ("docs/proposals-api/limits.md", False),
    ],
)
def test_folder_of_proposals_may_say_what_became_of_them(path, is_of_past):
    assert records_past(path) is is_of_past
