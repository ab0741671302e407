"""The model that comes with the package."""

import os
import subprocess
import sys

import numpy as np
import pytest
from model2vec import StaticModel

from ubp.index.embed.locate import find_model
from ubp.index.embed.model import load_model
from ubp.index.embed.text import strip_markup

TEXTS = [
    "How long does a session live?",
    "セッションの有効期限はどれくらいか",
    "Bananas are rich in potassium.",
    "",
    "🙂",
    "`ttl` in **minutes**\n\n| a | b |\n",
]


@pytest.fixture(scope="module")
def model():
    return load_model(find_model(None, {}))


def test_vectors_equal_those_of_model2vec(model):
    own = StaticModel.from_pretrained(model.place.directory)
    assert np.array_equal(model.encode(TEXTS).rows, own.encode(TEXTS))
    queries = [*map(strip_markup, TEXTS), "how do tokens expire", "word " * 400, "", "🙂"]
    assert np.array_equal(model.encode_queries(queries).rows, own.encode(queries))


def test_vector_of_a_query_needs_no_model2vec():
    code = (
        "import sys\n"
        "from ubp.index.embed.locate import find_model\n"
        "from ubp.index.embed.model import load_model\n"
        "assert load_model(find_model(None, {})).encode_query('token').rows.any()\n"
        "print('model2vec' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_vectors_of_two_languages_with_the_same_meaning_are_close(model):
    vectors = model.encode(TEXTS)
    (first, _), (second, near), (_, far) = vectors.nearest(vectors[0], 3)
    assert (first, second) == (0, 1)
    assert near > 0.5 > far


def test_unknown_words_are_far_from_everything(model):
    vectors = model.encode(["🙂", *TEXTS])
    assert vectors.nearest(vectors[0], 1) == [(0, 0.0)]
    assert not np.isnan(vectors.rows).any()


def test_no_texts_give_no_vectors(model):
    assert model.encode([]).rows.shape == (0, model.dimensions) == (0, 256)


def test_loading_the_model_imports_no_network_client():
    program = (
        "import sys; from ubp.index.embed.model import load_model;"
        "from ubp.index.embed.locate import find_model;"
        "load_model(find_model(None, {})).encode(['a']);"
        "print(*{'huggingface_hub', 'httpx', 'requests', 'http.client'} & set(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, env=os.environ
    )
    assert done.stdout.strip() == ""
