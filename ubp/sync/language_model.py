"""Ask a language model of the user's, over an API like OpenAI's (`ubp.core.endpoint`)."""

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from ubp.core.endpoint import Endpoint, find_endpoint

MAX_TOKENS = 800
MAX_COUNT = 10**9  # tokens that a server may count for one answer
TIMEOUT_SECONDS = 60.0


class Completion(NamedTuple):
    """What a model answered, and the tokens that its server counted; 0 where it did not."""

    text: str
    prompt_tokens: int
    completion_tokens: int


def find_language_model(environment: Mapping[str, str], prefix: str) -> Endpoint | None:
    """Return the model that the environment names; None and errors as `find_endpoint`."""
    return find_endpoint(environment, prefix, sent="passages", extra="collections")


class NoCompletionError(Exception):
    """The model could not be asked, or did not answer."""


def complete(
    model: Endpoint,
    instructions: str,
    message: str,
    *,
    schema: Mapping[str, Any] | None = None,
) -> Completion:
    """Return what a model answers to a message, by a JSON schema if one is given.

    The server may ignore the schema: the text is as it came.

    Raises:
        NoCompletionError: it does not answer, or with something else than a text.
    """
    body: dict[str, Any] = {
        "model": model.name,
        "temperature": 0,
        "max_tokens": MAX_TOKENS,
        "messages": [
            {"role": "system", "content": instructions},
            {"role": "user", "content": message},
        ],
    }
    if schema is not None:
        body["response_format"] = {
            "type": "json_schema",
            "json_schema": {"name": "answer", "strict": True, "schema": schema},
        }
    data = _post(model, body)
    try:
        answer = json.loads(data)
        text = answer["choices"][0]["message"]["content"]
        usage = answer.get("usage") or {}
        counts = (usage.get("prompt_tokens"), usage.get("completion_tokens"))
    except (ValueError, KeyError, IndexError, TypeError, AttributeError, RecursionError) as error:
        raise NoCompletionError("its answer is not a chat completion") from error
    if not isinstance(text, str):
        raise NoCompletionError("its answer has no text")
    prompt, completion = (n if type(n) is int and 0 <= n <= MAX_COUNT else 0 for n in counts)
    return Completion(text, prompt, completion)


def _post(model: Endpoint, body: Mapping[str, Any]) -> bytes:
    from ubp.core.http import EndpointClient, EndpointError, Limits  # they import httpx2

    client = EndpointClient(model, Limits(seconds=TIMEOUT_SECONDS))
    try:
        return client.post("/chat/completions", body)
    except EndpointError as error:
        raise NoCompletionError(str(error)) from error
    finally:
        client.close()
