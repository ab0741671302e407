"""What errors become on their way to an agent."""

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
def test_an_agent_is_told_what_kind_it_is_and_what_to_do(error, code, kind):
    told = translate(error).error
    assert (told.code, told.data) == (code, {"kind": kind})
    assert told.message == "No model. Install one."
