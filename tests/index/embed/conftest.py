"""Small models, made with model2vec itself."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest
from model2vec import StaticModel
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace

from ubp.index.embed.locate import find_model
from ubp.index.embed.model import load_model

MakeModel = Callable[..., str]

# Words of three meanings; `it` and what is unknown mean nothing.
WORDS = {
    "cat": (1, 0, 0),
    "kitten": (0.9, 0.1, 0),
    "dog": (0.6, 0.6, 0),
    "car": (0, 0, 1),
    "lorry": (0, 0.1, 0.9),
    "it": (0, 0, 0),
}


@pytest.fixture(scope="session")
def make_model(tmp_path_factory) -> MakeModel:
    """Write a model and return its folder: `make_model({"word": (1, 0), ...})`."""

    def make(words: Mapping[str, Sequence[float]] = WORDS, dtype: str = "float32") -> str:
        names = ["[UNK]", *words]
        tokenizer = Tokenizer(
            WordLevel({name: number for number, name in enumerate(names)}, unk_token="[UNK]")
        )
        tokenizer.pre_tokenizer = Whitespace()
        rows = np.array([[0] * len(next(iter(words.values()))), *words.values()], dtype=dtype)
        folder = tmp_path_factory.mktemp("models") / "small"
        StaticModel(rows, tokenizer, normalize=True).save_pretrained(folder, model_name="small")
        return str(folder)

    return make


@pytest.fixture(scope="session")
def small_folder(make_model: MakeModel) -> Path:
    return Path(make_model())


@pytest.fixture(scope="session")
def small(small_folder: Path):
    return load_model(find_model(str(small_folder), {}))
