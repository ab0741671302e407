"""Models that a repository's configuration chooses: what they may be, and how they fail."""

import json
import os
import shutil
from pathlib import Path

import pytest

from ubp.answers.search.search import SearchRequest
from ubp.core.errors import ModelError
from ubp.workspace import Workspace


@pytest.fixture
def configured(repository):
    """Set `search.model` in the repository's configuration."""

    def configure(name: str) -> Path:
        repository.write(".ubp/config.json", json.dumps({"search": {"model": name}}))
        return repository.root

    return configure


@pytest.fixture
def pages(repository):
    repository.write("login.md", "# Login\n\nThe cat signs in.\n")
    repository.write("logout.md", "")
    repository.commit()
    return repository


def place_of(root):
    with Workspace.open(str(root)) as workspace:
        return workspace.session.model_place()


def refusal_of(root):
    with pytest.raises(ModelError) as caught:
        place_of(root)
    return caught.value


def test_model_in_the_repository_is_used(pages, configured, small_folder):
    shutil.copytree(small_folder, pages.root / "models" / "small")
    assert place_of(configured("models/small")).directory == str(pages.root / "models/small")


def test_repository_cannot_choose_a_folder_outside(
    pages, configured, small_folder, tmp_path, monkeypatch
):
    shutil.copytree(small_folder, tmp_path / "outside")
    monkeypatch.setenv("HOME", str(tmp_path))
    relative = os.path.relpath(tmp_path / "outside", pages.root)
    for name in (
        str(tmp_path / "outside"),
        relative,
        "~/outside",
        f"docs/../{relative}",
        "..",
        "/nowhere",
    ):
        error = refusal_of(configured(name))
        assert error.message == f"The model {name} is outside the repository."
        assert error.hint.startswith("If you trust it, run: git config --global ubp.searchModel ")


def test_repository_cannot_choose_a_folder_outside_through_a_link(pages, configured, small_folder):
    (pages.root / "linked").symlink_to(small_folder)
    assert "outside the repository" in refusal_of(configured("linked")).message
    inside = shutil.copytree(small_folder, pages.root / "model")
    (inside / "model.safetensors").unlink()
    (inside / "model.safetensors").symlink_to(Path(small_folder) / "model.safetensors")
    assert "outside the repository" in refusal_of(configured("model")).message


def test_git_configuration_of_the_user_may_choose_any_folder_and_wins(
    pages, configured, small_folder, monkeypatch
):
    root = configured("/nowhere")
    pages.git("config", "--global", "ubp.searchModel", str(small_folder))
    assert place_of(root).directory == str(small_folder)
    monkeypatch.setenv("HOME", str(small_folder.parent))
    pages.git("config", "ubp.searchModel", "~/small")
    assert place_of(root).directory == str(small_folder)
    pages.git("config", "ubp.searchModel", "none")
    assert place_of(root) is None


def test_search_with_a_panicking_tokenizer_uses_keywords(pages, configured, small_folder):
    broken_model(pages.root / "model", small_folder)
    with Workspace.open(str(configured("model"))) as workspace:
        found = workspace.ask(SearchRequest("cat"))
        assert [page.filepath for page in found.results] == ["login.md"]
        assert found.search_type == "fulltext_fallback"
        assert found.fallback.reason.startswith("PanicException: ")
        with pytest.raises(ModelError, match="Cannot use the model model"):
            workspace.ask(SearchRequest("cat", mode="semantic"))


def test_search_with_a_tokenizer_that_panics_on_the_query_uses_keywords(
    repository, configured, small_folder
):
    repository.write("cat.md", "")  # nothing to embed
    broken_model(repository.root / "model", small_folder)
    with Workspace.open(str(configured("model"))) as workspace:
        found = workspace.ask(SearchRequest("cat"))
        assert [page.filepath for page in found.results] == ["cat.md"]
        assert found.search_type == "fulltext_fallback"


def broken_model(folder, small_folder):
    """Write a model whose tokenizer loads, and panics as soon as it reads a text."""
    shutil.copytree(small_folder, folder)
    tokenizer = json.loads((folder / "tokenizer.json").read_text())
    tokenizer["pre_tokenizer"] = {"type": "FixedLength", "length": 0}
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer))
