"""Errors as agents receive them."""

import pytest

from ubp.core.errors import ModelError, ModelNeededError, StoreError, UsageError
from ubp.server.errors import translate


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
