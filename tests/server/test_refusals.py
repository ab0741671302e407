"""Errors as agents receive them."""

import pytest

from ubp.core.errors import (
    BadArgumentError,
    ModelError,
    ModelNeededError,
    PageNotFoundError,
    PartNotFoundError,
    StoreError,
    UsageError,
)
from ubp.server.errors import MAX_CHARACTERS, bad_params, translate


@pytest.mark.parametrize(
    ("error", "code", "kind"),
    [
        (ModelNeededError("No model.", hint="Install one."), -32007, "model_needed"),
        (ModelError("No model.", hint="Install one."), -32007, "model_error"),
        (StoreError("No model.", hint="Install one."), -32005, "database_error"),
        (UsageError("No model.", hint="Install one."), -32602, "invalid_params"),
    ],
)
def test_refusal_has_its_kind_and_what_to_do(error, code, kind):
    refusal = translate(error).error
    assert (refusal.code, refusal.data) == (code, {"kind": kind})
    assert refusal.message == "No model. Install one."


@pytest.mark.parametrize(("name", "end"), [("auth", "."), ("a.md", "."), ("who?", "")])
def test_sentences_of_a_refusal_are_apart(name, end):
    error = PageNotFoundError(f"Page not found: {name}", cause="Nothing has this path.")
    assert translate(error).error.message == (
        f"Page not found: {name}{end} Nothing has this path."
        " Use ubp_list_pages to list all pages, or ubp_search to find a page by topic."
    )


def test_refusal_names_arguments_of_the_tool_instead_of_options():
    error = UsageError(
        "--staged cannot be combined with --min-score or --fix.",
        hint="Or run `ubp check --staged`.",
    )
    assert translate(error, (), ("staged", "min_score")).error.message == (
        "`staged` cannot be combined with `min_score` or --fix. Or run `ubp check --staged`."
    )
    assert "--staged cannot" in translate(error).error.message


def test_refusal_of_a_part_of_a_page_does_not_send_to_other_pages():
    error = PartNotFoundError("a.md has no section x.", near=("a.md#y",), cause="None has this id.")
    refusal = translate(error).error
    assert refusal.message == 'a.md has no section x. None has this id. Did you mean "a.md#y"?'
    assert (refusal.code, refusal.data["kind"]) == (-32003, "page_not_found")
    lines = PartNotFoundError("a.md has no line 9.", cause="It has 3 lines.")
    assert translate(lines).error.message == "a.md has no line 9. It has 3 lines."


def test_a_long_text_of_the_client_is_not_repeated_as_a_whole():
    text = "x" * 100_000
    of_tool = translate(BadArgumentError(text, f"Unknown argument: {text}.", hint="See y."))
    for error in (bad_params(f"Unknown: {text}. Available: y.", uri=text).error, of_tool.error):
        assert len(error.message) < MAX_CHARACTERS + 10
        assert error.message.endswith(" y.")
        assert max(map(len, error.data.values())) < MAX_CHARACTERS + 10
