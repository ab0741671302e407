"""Download embedding models from the Hugging Face hub, when the user asks for it."""

import os
import shutil
import tempfile
from collections.abc import Collection, Mapping
from functools import partial
from types import TracebackType
from typing import Any, Self, cast

from ubp.core.errors import ModelError, UsageError
from ubp.core.model import Progress
from ubp.index.embed.locate import LAYOUTS, ModelLocation, cache_folder, find_model, is_hub_id

# They say where a model is from and what its license permits.
CARDS = ("README.md", "LICENSE", "LICENSE.txt", "LICENSE.md", "NOTICE")

MEGABYTE = 1_000_000


def fetch(name: str, environment: Mapping[str, str], progress: Progress) -> ModelLocation:
    """Download a model into the user's cache, test it, and replace the one that may be there.

    Raises:
        UsageError: the name is not a hub id.
        ModelError: the model cannot be downloaded, or is of another kind.
    """
    if not is_hub_id(name):
        raise UsageError(
            f"{name} is not a model id.",
            cause="A model id is OWNER/NAME, such as minishlab/potion-multilingual-128M.",
            hint="To use a local folder, run: git config ubp.searchModel FOLDER",
        )
    target = cache_folder(name, environment)
    parent = os.path.dirname(target)
    try:
        os.makedirs(parent, exist_ok=True)
        folder = tempfile.mkdtemp(prefix=".fetching-", dir=parent)
    except OSError as error:
        raise ModelError("Cannot store the model.", cause=str(error)) from error
    try:
        _download(name, folder, environment, progress)
        from ubp.index.embed.model import load_model

        load_model(find_model(folder, {})._replace(name=name)).encode(["text"])
        _replace(folder, target)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return find_model(name, environment)


def _download(name: str, folder: str, environment: Mapping[str, str], progress: Progress) -> None:
    # 0.3 s of CPU; nothing else that UBP does needs it.
    from huggingface_hub import HfApi

    hub = HfApi(endpoint=environment.get("HF_ENDPOINT"))
    try:
        for file in _files_of_model(name, hub.list_repo_files(name)):
            bar = partial(_Bar, progress, f"Fetching {os.path.basename(file)} (MB)")
            # The hub's client accepts any callable, whatever its annotation says.
            hub.hf_hub_download(name, file, local_dir=folder, tqdm_class=cast("type[Any]", bar))
    except ModelError:
        raise
    except Exception as error:  # of the hub, the transport, the system: no common base
        raise ModelError(
            f"Cannot fetch the model {name}.",
            cause=" ".join(str(error).split()) or type(error).__name__,
            hint="Check the id and the network connection, then try again.",
        ) from error
    shutil.rmtree(os.path.join(folder, ".cache"), ignore_errors=True)  # the client's records


def _files_of_model(name: str, files: Collection[str]) -> list[str]:
    for layout in LAYOUTS:
        needed = [layout.config, layout.tokenizer, layout.weights]
        if set(needed) <= set(files):
            return [*needed, *(card for card in CARDS if card in files)]
    raise ModelError(
        f"{name} is not a model2vec model.",
        cause="It lacks config.json, model.safetensors or tokenizer.json.",
        hint="Choose a static embedding model, such as minishlab/potion-multilingual-128M.",
    )


def _replace(folder: str, target: str) -> None:
    os.chmod(folder, 0o755)  # noqa: S103  # an ordinary folder; `mkdtemp` made it private
    try:
        if os.path.isdir(target):
            old = tempfile.mkdtemp(prefix=".old-", dir=os.path.dirname(target))
            os.replace(target, os.path.join(old, "model"))
            shutil.rmtree(old, ignore_errors=True)
        os.replace(folder, target)
    except OSError as error:
        raise ModelError("Cannot install the model.", cause=str(error)) from error


class _Bar:
    """What the hub's client uses of a tqdm progress bar."""

    def __init__(
        self, progress: Progress, step: str, *, total: int | None = None, initial: int = 0, **_: Any
    ) -> None:
        self._progress = progress
        self._step = step
        self.total = total or 0
        self.n = initial

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self.close()

    def update(self, size: float | None = 1) -> None:
        """Report that so many more bytes have arrived."""
        self.n += int(size or 0)
        self._progress(self._step, self.n // MEGABYTE, max(self.total, self.n) // MEGABYTE)

    def close(self) -> None:
        """Do nothing: there is no bar to remove."""

    def __getattr__(self, _: str) -> Any:
        return self._ignore  # descriptions, colors, refreshing

    @staticmethod
    def _ignore(*_: Any, **__: Any) -> None:
        return None
