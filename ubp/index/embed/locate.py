"""Locate embedding models without loading them: the bundled one, a folder, the user's cache."""

import os
import re
import sys
from collections.abc import Mapping
from importlib.util import find_spec
from typing import NamedTuple
from urllib.parse import urlsplit

from ubp.core.endpoint import Endpoint, find_endpoint
from ubp.core.errors import ModelError, ModelNeededError, UsageError
from ubp.core.shell import join, ubp_command

BUNDLED = "ubp-bilingual-256"
LIBRARIES = ("numpy", "model2vec")  # of EXTRA
# In Git's configuration, which no commit can change.
USER_SETTING = "ubp.searchModel"
EXTRA = "full"
# The prefix of the environment's variables that name a server's model. Without UBP_EMBED_URL the
# user's Git configuration may name it (ENDPOINT_SETTINGS), but never the key.
ENVIRONMENT = "UBP_EMBED"
ENDPOINT_SETTINGS = {
    f"{ENVIRONMENT}_URL": "ubp.embedurl",
    f"{ENVIRONMENT}_MODEL": "ubp.embedmodel",
    f"{ENVIRONMENT}_DIMENSIONS": "ubp.embeddimensions",
    f"{ENVIRONMENT}_QUERY_PREFIX": "ubp.embedqueryprefix",
    f"{ENVIRONMENT}_PASSAGE_PREFIX": "ubp.embedpassageprefix",
}
MAX_DIMENSIONS = 8192

_HUB_ID = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*")


class Layout(NamedTuple):
    """The names of a model's files, and of the tensor with its vectors."""

    config: str
    weights: str
    tokenizer: str
    tensor: str


LAYOUTS = (
    Layout("config.json", "model.safetensors", "tokenizer.json", "embeddings"),
    Layout(
        "config_sentence_transformers.json",
        "model.safetensors",
        "tokenizer.json",
        "embedding.weight",
    ),
    Layout(
        "config_sentence_transformers.json",
        "0_StaticEmbedding/model.safetensors",
        "0_StaticEmbedding/tokenizer.json",
        "embedding.weight",
    ),
)
"""The layouts that model2vec supports, in its order."""


class ModelLocation(NamedTuple):
    """A model's name as configured, and the folder with its files."""

    name: str
    directory: str
    layout: Layout = LAYOUTS[0]


class EndpointPlace(NamedTuple):
    """A model of a server: what to ask of it, and the price of a million tokens if it is known.

    `dimensions` is None where the model's own number is wanted.
    """

    endpoint: Endpoint
    dimensions: int | None = None
    query_prefix: str = ""
    passage_prefix: str = ""
    price: float | None = None

    @property
    def name(self) -> str:
        """The model's name."""
        return self.endpoint.name

    @property
    def host(self) -> str:
        """The host of the server, with its port."""
        return urlsplit(self.endpoint.url).netloc

    def price_of(self, tokens: int) -> float | None:
        """Return the price of tokens, if that of a million is known."""
        return None if self.price is None else self.price * tokens / 1_000_000


Place = ModelLocation | EndpointPlace


def has_extra() -> bool:
    """Return whether the libraries that run a model are installed."""
    return all(find_spec(library) for library in LIBRARIES)


def require_extra() -> None:
    """Check that the libraries that run a model are installed.

    Raises:
        ModelNeededError: they are not.
    """
    if not has_extra():
        from ubp.core.installation import install_command  # it takes 15 ms to import

        raise ModelNeededError(
            "This needs an embedding model, but the libraries to run it are not installed.",
            cause=f"UBP was installed without the `{EXTRA}` extra.",
            hint=f"Install it: {install_command(EXTRA)}",
        )


def find_model(
    name: str | None, environment: Mapping[str, str], folder: str = os.curdir
) -> ModelLocation:
    """Locate a model: None is the bundled one, else a folder or a hub id fetched before.

    A relative path is resolved against `folder`. Nothing is ever fetched.

    Raises:
        ModelError: the model does not exist, or lacks files.
    """
    if name is None or name == BUNDLED:
        return _location(BUNDLED, os.path.join(os.path.dirname(__file__), BUNDLED))
    directory = os.path.join(folder, os.path.expanduser(name))
    if os.path.isdir(directory):
        return _location(name, directory)
    if is_hub_id(name):
        directory = cache_folder(name, environment)
        if os.path.isdir(directory):
            return _location(name, directory)
        raise ModelError(
            f"Model not found: {name}",
            cause="It is neither a folder nor a fetched model.",
            hint=f"Fetch it: {ubp_command('model', 'fetch', name)}",
        )
    raise ModelError(
        f"Model not found: {name}",
        cause="It is neither a folder nor a model id (OWNER/NAME).",
        hint="Fix search.model in .ubp/config.json, or remove it to use the bundled model.",
    )


def find_repository_model(
    name: str | None, environment: Mapping[str, str], root: str
) -> ModelLocation:
    """Locate a model that a repository's configuration names; its folder must be below `root`.

    Raises:
        ModelError: it is elsewhere, does not exist, or lacks files.
    """
    if name is None or name == BUNDLED:
        return find_model(name, environment)
    directory = os.path.join(root, os.path.expanduser(name))
    if not _is_below(directory, root):
        raise _outside(name)
    place = find_model(name, environment, root)
    files = (place.layout.config, place.layout.weights, place.layout.tokenizer)
    is_fetched = place.directory != directory
    if not is_fetched and not all(_is_below(os.path.join(directory, file), root) for file in files):
        raise _outside(name)
    return place


def find_endpoint_model(
    environment: Mapping[str, str], settings: Mapping[str, str]
) -> EndpointPlace | None:
    """Return the server's model that the environment names, else the user's `settings` of Git.

    Raises:
        ModelError: its address is not safe, or a value is none.
    """
    values = dict(environment)
    if not values.get(f"{ENVIRONMENT}_URL"):
        values |= {
            name: settings[key] for name, key in ENDPOINT_SETTINGS.items() if key in settings
        }
    try:
        endpoint = find_endpoint(values, ENVIRONMENT, sent="texts", extra=EXTRA)
    except UsageError as error:
        raise ModelError(error.message, cause=error.cause, hint=error.hint) from error
    if endpoint is None:
        return None
    written = values.get(f"{ENVIRONMENT}_DIMENSIONS", "").strip()
    if written and not (written.isdecimal() and 0 < int(written[:6]) <= MAX_DIMENSIONS):
        raise ModelError(
            f"Invalid {ENVIRONMENT}_DIMENSIONS: {written}.",
            hint=f"Write a number from 1 to {MAX_DIMENSIONS}, or remove it.",
        )
    price = values.get(f"{ENVIRONMENT}_PRICE", "").strip()
    if price and not re.fullmatch(r"\d{1,6}(?:\.\d{1,6})?", price):
        raise ModelError(
            f"Invalid {ENVIRONMENT}_PRICE: {price}.",
            hint="Write the price of a million tokens: 0.02",
        )
    return EndpointPlace(
        endpoint,
        int(written) if written else None,
        values.get(f"{ENVIRONMENT}_QUERY_PREFIX", ""),
        values.get(f"{ENVIRONMENT}_PASSAGE_PREFIX", ""),
        float(price) if price else None,
    )


def is_hub_id(name: str) -> bool:
    """Return whether a name is an id that the hub could have."""
    return _HUB_ID.fullmatch(name) is not None


def cache_folder(name: str, environment: Mapping[str, str]) -> str:
    """Return the folder for a fetched model, by the platform's convention."""
    home = os.path.expanduser("~")
    if root := environment.get("XDG_CACHE_HOME"):
        pass
    elif sys.platform == "win32":
        root = environment.get("LOCALAPPDATA") or os.path.join(home, "AppData", "Local")
    elif sys.platform == "darwin":
        root = os.path.join(home, "Library", "Caches")
    else:
        root = os.path.join(home, ".cache")
    return os.path.join(root, "ubp", "models", name.replace("/", "--"))


def _is_below(path: str, folder: str) -> bool:
    """Return whether a path is in a folder, wherever symbolic links lead."""
    return os.path.realpath(path).startswith(os.path.join(os.path.realpath(folder), ""))


def _outside(name: str) -> ModelError:
    trust = join(["git", "config", "--global", USER_SETTING, name])
    return ModelError(
        f"The model {name} is outside the repository.",
        cause="search.model in .ubp/config.json, which commits change, cannot name such a folder.",
        hint=f"If you trust it, run: {trust}",
    )


def _location(name: str, directory: str) -> ModelLocation:
    for layout in LAYOUTS:
        files = (layout.config, layout.weights, layout.tokenizer)
        if all(os.path.isfile(os.path.join(directory, file)) for file in files):
            return ModelLocation(name, directory, layout)
    raise ModelError(
        f"The model {name} is incomplete.",
        cause=f"{directory} lacks config.json, model.safetensors or tokenizer.json.",
        hint="Put the files of a model2vec model there, or choose another model.",
    )
