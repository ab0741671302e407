"""Ask a language model of the user's, over an API like OpenAI's.

It is asked only where the user's environment names it: `UBP_ASK_URL` (such as
http://localhost:11434/v1), `UBP_ASK_MODEL`, and `UBP_ASK_KEY` if it wants one. A repository's
configuration cannot name it, since the passages are sent there.
"""

import ipaddress
import json
from collections.abc import Mapping
from typing import NamedTuple
from urllib.parse import urlsplit

from ubp.core.errors import UsageError

URL, MODEL, KEY = "UBP_ASK_URL", "UBP_ASK_MODEL", "UBP_ASK_KEY"
TIMEOUT_SECONDS = 60.0
MAX_RESPONSE_BYTES = 1_000_000
MAX_TOKENS = 800
OK = 200


class LanguageModel(NamedTuple):
    """A language model that the user has configured."""

    url: str
    name: str
    key: str


def find_language_model(environment: Mapping[str, str]) -> LanguageModel | None:
    """Return the model that the environment names, or None.

    Raises:
        UsageError: its address is neither https nor on this machine, or it has no name.
    """
    url = environment.get(URL, "").strip().rstrip("/")
    if not url:
        return None
    name = environment.get(MODEL, "").strip()
    if not name:
        raise UsageError(f"{URL} is set, but {MODEL} is not.", hint=f"Set {MODEL} to its name.")
    parts = urlsplit(url)
    if not parts.hostname or not (
        parts.scheme == "https" or (parts.scheme == "http" and _is_loopback(parts.hostname))
    ):
        raise UsageError(
            f"{URL} is not an address that passages may be sent to.",
            cause="It must be https, or http on this machine.",
            hint="Use an address such as http://localhost:11434/v1.",
        )
    return LanguageModel(url, name, environment.get(KEY, ""))


class NoCompletionError(Exception):
    """The model could not be asked, or did not answer."""


def complete(model: LanguageModel, instructions: str, message: str) -> str:
    """Return what a model answers to a message.

    Raises:
        NoCompletionError: it does not answer, or with something else than a text.
    """
    import httpx2

    body = {
        "model": model.name,
        "temperature": 0,
        "max_tokens": MAX_TOKENS,
        "messages": [
            {"role": "system", "content": instructions},
            {"role": "user", "content": message},
        ],
    }
    headers = {"Authorization": f"Bearer {model.key}"} if model.key else {}
    try:
        with (
            httpx2.Client(timeout=TIMEOUT_SECONDS, trust_env=False) as client,
            client.stream(
                "POST", f"{model.url}/chat/completions", json=body, headers=headers
            ) as response,
        ):
            if response.status_code != OK:
                raise NoCompletionError(f"it answered {response.status_code}")
            data = bytearray()
            for chunk in response.iter_bytes():
                data += chunk
                if len(data) > MAX_RESPONSE_BYTES:
                    raise NoCompletionError("its answer is too large")
        text = json.loads(data)["choices"][0]["message"]["content"]
    except (httpx2.HTTPError, httpx2.InvalidURL) as error:
        raise NoCompletionError(str(error) or type(error).__name__) from error
    except (ValueError, KeyError, IndexError, TypeError) as error:
        raise NoCompletionError("its answer is not a chat completion") from error
    if not isinstance(text, str):
        raise NoCompletionError("its answer has no text")
    return text


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
