"""Where models lie: the bundled one, a folder, the user's cache. Nothing here loads one."""

import os
import re
import sys
from collections.abc import Mapping
from importlib.util import find_spec
from typing import NamedTuple

from ubp.core.errors import ModelError, ModelNeededError
from ubp.core.shell import ubp_command

BUNDLED = "ubp-bilingual-256"
LIBRARIES = ("numpy", "model2vec")  # of the `full` extra
INSTALL = "pip install 'ubp[full]'"

_HUB_ID = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*")


class Layout(NamedTuple):
    """How a model's files are called, and the tensor of its vectors."""

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
"""Those that model2vec knows, in its order."""


class ModelLocation(NamedTuple):
    """A model's name as the user says it, and the folder with its files."""

    name: str
    directory: str
    layout: Layout = LAYOUTS[0]


def has_extra() -> bool:
    """Whether what a model needs is installed."""
    return all(find_spec(library) for library in LIBRARIES)


def require_extra() -> None:
    """See that a model can be run.

    Raises:
        ModelNeededError: it cannot.
    """
    if not has_extra():
        raise ModelNeededError(
            "This needs an embedding model, and what runs one is not installed.",
            cause="UBP was installed without its extra `full`.",
            hint=f"Install it: {INSTALL}",
        )


def find_model(
    name: str | None, environment: Mapping[str, str], folder: str = os.curdir
) -> ModelLocation:
    """Where a model lies: None is the bundled one, else a folder or a hub id fetched before.

    A relative folder is looked for in `folder`.

    Raises:
        ModelError: there is none. Nothing is ever fetched.
    """
    if name is None or name == BUNDLED:
        return _place(BUNDLED, os.path.join(os.path.dirname(__file__), BUNDLED))
    directory = os.path.join(folder, os.path.expanduser(name))
    if os.path.isdir(directory):
        return _place(name, directory)
    if is_hub_id(name):
        directory = cache_folder(name, environment)
        if os.path.isdir(directory):
            return _place(name, directory)
        raise ModelError(
            f"The model {name} is not here.",
            cause="It is neither a folder nor a model that was fetched before.",
            hint=f"Fetch it: {ubp_command('model', 'fetch', name)}",
        )
    raise ModelError(
        f"There is no model {name}.",
        cause="It is no folder, and no id such as owner/name.",
        hint="Correct search.model in .ubp/config.json, or take it out for the bundled model.",
    )


def is_hub_id(name: str) -> bool:
    """Whether a model can be fetched under this name."""
    return _HUB_ID.fullmatch(name) is not None


def cache_folder(name: str, environment: Mapping[str, str]) -> str:
    """The folder for a model that is fetched, after the platform's convention."""
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


def _place(name: str, directory: str) -> ModelLocation:
    for layout in LAYOUTS:
        files = (layout.config, layout.weights, layout.tokenizer)
        if all(os.path.isfile(os.path.join(directory, file)) for file in files):
            return ModelLocation(name, directory, layout)
    raise ModelError(
        f"The model {name} is not complete.",
        cause=f"{directory} lacks config.json, model.safetensors or tokenizer.json.",
        hint="Put the files of a model2vec model there, or choose another one.",
    )
