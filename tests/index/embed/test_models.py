"""Models of every kind that model2vec reads, and files that are none."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from model2vec import StaticModel
from safetensors.numpy import load_file, save_file
from tokenizers import Tokenizer
from tokenizers.models import Unigram

from ubp.core.errors import ModelError
from ubp.index.embed.locate import find_model
from ubp.index.embed.model import load_model
from ubp.index.embed.model_files import dimensions, fingerprint, stamp
from ubp.index.embed.text import strip_markup

TEXTS = ["cat dog", "", "nothing known", "lorry it cat", "car " * 600]


@pytest.fixture
def folder(tmp_path, make_model):
    """A copy of the small model that a test may change."""
    return Path(shutil.copytree(make_model(), tmp_path / "model"))


def load(folder):
    return load_model(find_model(str(folder), {}))


def tensors(folder, **changes):
    """Write other tensors into a model."""
    save_file({**load_file(folder / "model.safetensors"), **changes}, folder / "model.safetensors")


def as_sentence_transformers(folder):
    (vectors,) = load_file(folder / "model.safetensors").values()
    inner = folder / "0_StaticEmbedding"
    inner.mkdir()
    save_file({"embedding.weight": vectors}, inner / "model.safetensors")
    (folder / "tokenizer.json").rename(inner / "tokenizer.json")
    (folder / "config.json").rename(folder / "config_sentence_transformers.json")
    (folder / "model.safetensors").unlink()


def as_few_vectors(folder):
    tensors(
        folder,
        embeddings=np.eye(3, dtype=np.float32),
        mapping=np.array([0, 0, 0, 1, 2, 2, 1]),
        weights=np.array([0, 1, 0.5, 2, 1, 3, 1], dtype=np.float32),
    )


def as_unigram(folder):
    tokenizer = Tokenizer(
        Unigram([("?", -9.0), ("cat", -1.0), ("dog", -1.0), (" ", -1.0)], unk_id=0)
    )
    rows = np.array([[9, 9], [1, 0], [0, 1], [0, 0]], dtype=np.float16)
    shutil.rmtree(folder)
    StaticModel(rows, tokenizer, normalize=False).save_pretrained(folder)


def as_truncated(folder):
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, "max_length": 2}))


@pytest.mark.parametrize(
    "change",
    [as_sentence_transformers, as_few_vectors, as_unigram, as_truncated],
)
def test_models_of_each_kind_load_as_in_model2vec(change, folder):
    change(folder)
    own = StaticModel.from_pretrained(folder)
    rows = own.encode(TEXTS).astype(np.float32)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    model = load(folder)
    assert np.allclose(model.encode(TEXTS).rows, rows / np.where(lengths, lengths, 1), atol=1e-6)
    queries = model.encode_queries(TEXTS)
    assert queries.rows.tobytes() == model.encode(list(map(strip_markup, TEXTS))).rows.tobytes()
    assert dimensions(model.place) == model.dimensions == own.dim


@pytest.mark.parametrize("dtype", ["float64", "float16", "int8"])
def test_tensors_may_have_any_number_type(dtype, make_model):
    model = load(make_model({"cat": (1, 0), "dog": (3, 3)}, dtype))
    for encode in (model.encode, model.encode_queries):
        assert encode(["dog"]).rows.tobytes() == model.encode(["dog"]).rows.tobytes()
    assert model.encode(["dog"]).nearest(model.encode(["cat"]), 1) == [
        (0, pytest.approx(0.7071, abs=1e-3))
    ]


@pytest.mark.parametrize(
    ("file", "content"),
    [
        ("config.json", b"{"),
        ("config.json", b"[]"),
        ("tokenizer.json", b"{}"),
        ("tokenizer.json", b'{"model": {"type": "Unigram", "unk_id": 7, "vocab": []}}'),
        ("model.safetensors", b""),
        ("model.safetensors", b"\xff" * 64),
        ("model.safetensors", b"\x02\0\0\0\0\0\0\0{}"),
        ("model.safetensors", b"\x02\0\0\0\0\0\0\0[]"),
        ("model.safetensors", b'\x11\0\0\0\0\0\0\0{"embeddings": 1}'),
    ],
)
def test_broken_file_is_an_error_in_three_parts(file, content, folder):
    (folder / file).write_bytes(content)
    with pytest.raises(ModelError, match=r"Cannot use the model .*\.") as caught:
        load(folder)
    assert caught.value.cause
    assert caught.value.hint.startswith("Fetch it again, or choose another model")


@pytest.mark.parametrize(
    "changes",
    [
        {"embeddings": np.zeros((2, 3), np.float32)},
        {"embeddings": np.zeros(7, np.float32)},
        {"embeddings": np.zeros((7, 0), np.float32)},
        {"embeddings": np.zeros((7, 3), np.int32)},
        {"mapping": np.full(7, 99)},
    ],
    ids=["too few", "no rows", "no columns", "unknown type", "a mapping to nowhere"],
)
def test_tensors_of_unexpected_shape_are_an_error(changes, folder):
    tensors(folder, **changes)
    with pytest.raises(ModelError, match="Cannot use the model"):
        load(folder).encode(["cat"])


def test_vectors_with_nan_are_refused(folder):
    rows = load_file(folder / "model.safetensors")["embeddings"]
    rows[1:3] = [[np.nan, 0, 0], [np.inf, 1, 0]]
    tensors(folder, embeddings=rows)
    found = load(folder).encode(["cat", "kitten", "car"])
    assert found.rows.tolist() == [[0, 0, 0], [0, 0, 0], [0, 0, 1]]


def test_model_changed_while_it_is_read_is_refused(folder, monkeypatch):
    from ubp.index.embed import model

    read = model._read_parts

    def meddle(place):
        (folder / "config.json").write_text('{"normalize": true }')
        return read(place)

    monkeypatch.setattr(model, "_read_parts", meddle)
    with pytest.raises(ModelError) as caught:
        load(folder)
    assert "changed while being read" in caught.value.cause


def test_model_that_lacks_a_file_is_incomplete(folder):
    (folder / "tokenizer.json").unlink()
    with pytest.raises(ModelError, match="is incomplete"):
        find_model(str(folder), {})
    place = find_model(None, {})._replace(directory=str(folder))
    for ask in (stamp, fingerprint):
        with pytest.raises(ModelError, match="Cannot read the model"):
            ask(place)


def test_folder_in_the_repository_wins_over_the_cache(folder):
    assert find_model("model", {}, str(folder.parent)).directory == str(folder)
    assert find_model("./model", {}, str(folder.parent)).name == "./model"
    with pytest.raises(ModelError, match=r"Model not found: \./other"):
        find_model("./other", {}, str(folder.parent))


def test_fingerprint_depends_on_the_contents_of_files(folder, tmp_path):
    place = find_model(str(folder), {})
    copy = find_model(shutil.copytree(folder, tmp_path / "copy"), {})
    assert fingerprint(copy) == fingerprint(place)
    assert stamp(copy) != stamp(place)
    for name in ("config.json", "tokenizer.json", "model.safetensors"):
        before = fingerprint(copy)
        with (tmp_path / "copy" / name).open("ab") as file:
            file.write(b" ")
        assert fingerprint(copy) != before
    (folder / "README.md").write_text("Another card.")
    assert fingerprint(place) == fingerprint(find_model(str(folder), {}))


def test_model_is_shared_while_it_is_in_use_and_its_files_are_unchanged(folder):
    model = load(folder)
    assert load(folder) is model
    (folder / "config.json").write_text('{"normalize": false}')
    assert load(folder) is not model
