"""Ask a language model of the user's, over an API like OpenAI's.

It is asked only where the user's environment names it: with the prefix `UBP_ASK`, `UBP_ASK_URL`
(such as http://localhost:11434/v1), `UBP_ASK_MODEL`, and `UBP_ASK_KEY` if it wants one. A
repository's configuration cannot name it, since passages are sent there.
"""

import ipaddress
import json
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

from ubp.core.errors import UsageError
from ubp.core.installation import install_command

if TYPE_CHECKING:
    import httpx2

TIMEOUT_SECONDS = 60.0
MAX_RESPONSE_BYTES = 1_000_000
MAX_TOKENS = 800
MAX_COUNT = 10**9  # tokens that a server may count for one answer
OK, TOO_MANY_REQUESTS, UNAVAILABLE = 200, 429, 503
# A server that is busy is asked again, after as long as it says.
ATTEMPTS, MAX_WAIT_SECONDS = 3, 20.0


class LanguageModel(NamedTuple):
    """A language model that the user has configured."""

    url: str
    name: str
    key: str


class Completion(NamedTuple):
    """What a model answered, and the tokens that its server counted; 0 where it did not."""

    text: str
    prompt_tokens: int
    completion_tokens: int


def find_language_model(environment: Mapping[str, str], prefix: str) -> LanguageModel | None:
    """Return the model that the environment names in `PREFIX_URL` and `PREFIX_MODEL`, or None.

    Raises:
        UsageError: its address is neither https nor on this machine, it has no name, or the library
            that asks it is not installed.
    """
    url = environment.get(f"{prefix}_URL", "").strip().rstrip("/")
    if not url:
        return None
    name = environment.get(f"{prefix}_MODEL", "").strip()
    if not name:
        raise UsageError(
            f"{prefix}_URL is set, but {prefix}_MODEL is not.",
            hint=f"Set {prefix}_MODEL to its name.",
        )
    parts = urlsplit(url)
    if not parts.hostname or not (
        parts.scheme == "https" or (parts.scheme == "http" and _is_loopback(parts.hostname))
    ):
        raise UsageError(
            f"{prefix}_URL is not an address that passages may be sent to.",
            cause="It must be https, or http on this machine.",
            hint="Use an address such as http://localhost:11434/v1.",
        )
    try:
        import httpx2  # noqa: F401  # an error before any work
    except ModuleNotFoundError as error:
        raise UsageError(
            "Asking a language model requires packages that are not installed.",
            hint=f"Install them: {install_command('collections')}",
        ) from error
    return LanguageModel(url, name, environment.get(f"{prefix}_KEY", ""))


class NoCompletionError(Exception):
    """The model could not be asked, or did not answer."""


def complete(
    model: LanguageModel,
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


def _post(model: LanguageModel, body: Mapping[str, Any]) -> bytes:
    """Return what the server answers, which is asked again while it is busy."""
    import httpx2

    headers = {"Authorization": f"Bearer {model.key}"} if model.key else {}
    try:
        with httpx2.Client(timeout=TIMEOUT_SECONDS, trust_env=False) as client:
            for attempt in range(1, ATTEMPTS + 1):
                with client.stream(
                    "POST", f"{model.url}/chat/completions", json=body, headers=headers
                ) as response:
                    status = response.status_code
                    is_busy = status in {TOO_MANY_REQUESTS, UNAVAILABLE}
                    if not is_busy or attempt == ATTEMPTS:
                        return _read(response)
                    wait = _seconds(response.headers.get("Retry-After", ""), attempt)
                time.sleep(wait)
    except (httpx2.HTTPError, httpx2.InvalidURL) as error:
        raise NoCompletionError(str(error) or type(error).__name__) from error
    raise AssertionError("the last attempt returns or raises")


def _read(response: "httpx2.Response") -> bytes:
    if response.status_code != OK:
        raise NoCompletionError(f"it answered {response.status_code}")
    start = time.monotonic()
    data = bytearray()
    for chunk in response.iter_bytes():
        data += chunk
        if len(data) > MAX_RESPONSE_BYTES:
            raise NoCompletionError("its answer is too large")
        if time.monotonic() - start > TIMEOUT_SECONDS:
            raise NoCompletionError("its answer takes too long")
    return bytes(data)


def _seconds(retry_after: str, attempt: int) -> float:
    """Return how long to wait: what the server says in seconds, else longer each time."""
    wait = float(retry_after) if retry_after.strip().isdecimal() else 2.0**attempt
    return min(wait, MAX_WAIT_SECONDS)


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
