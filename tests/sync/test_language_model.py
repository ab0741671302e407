"""Which language model is asked: only one that the user's environment names, at a safe address."""

import pytest

from ubp.core.errors import UsageError
from ubp.sync.language_model import find_language_model


def test_model_is_found_only_if_the_environment_names_one():
    assert find_language_model({"OPENAI_API_KEY": "x"}, "UBP_ASK") is None


@pytest.mark.parametrize(
    "url", ["http://example.com/v1", "ftp://localhost/v1", "http://127.0.0.1.example.com", "https:"]
)
def test_passages_are_sent_only_by_https_or_to_this_machine(url):
    with pytest.raises(UsageError, match="passages may be sent to"):
        find_language_model({"UBP_ASK_URL": url, "UBP_ASK_MODEL": "tiny"}, "UBP_ASK")
    with pytest.raises(UsageError, match="UBP_ASK_MODEL is not"):
        find_language_model({"UBP_ASK_URL": "https://example.com"}, "UBP_ASK")
