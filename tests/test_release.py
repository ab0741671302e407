"""What the release workflow checks before it builds, and the notes that it attaches."""

import importlib.util
import shutil
import subprocess
from pathlib import Path

import pytest

from ubp import __version__

ROOT = Path(__file__).resolve().parent.parent
TAG = f"v{__version__}"


def load(name):
    spec = importlib.util.spec_from_file_location(name, ROOT / f".ci/{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def release():
    return load("release")


@pytest.fixture
def clone(tmp_path):
    """A clone of this repository, with the files of the work tree that have an owner's address."""
    root = tmp_path / "clone"
    subprocess.run(["git", "clone", "--quiet", ROOT, root], check=True)
    for path in ("pyproject.toml", "README.md", "README.ja.md"):
        shutil.copy(ROOT / path, root / path)
    return root


@pytest.fixture
def published(tmp_path):
    """The files of a release, in a repository that has an address."""
    (tmp_path / "ubp/core").mkdir(parents=True)
    shutil.copy(ROOT / "ubp/core/version.py", tmp_path / "ubp/core")
    shutil.copy(ROOT / "CHANGELOG.md", tmp_path)
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    (tmp_path / "pyproject.toml").write_text(text.replace("/OWNER/", "/ann/"), encoding="utf-8")
    return tmp_path


def test_tag_of_the_version_can_be_released(release, published):
    assert release.check_release(TAG, "ann/ubp", published) == []


def test_other_tag_cannot_be_released(release, published):
    assert release.check_release("v99.0.0", "ann/ubp", published) == [
        f"The tag is v99.0.0, but __version__ in ubp/core/version.py is {__version__}.",
        "CHANGELOG.md has no section for v99.0.0.",
    ]


def test_repository_with_another_address_cannot_be_released(release, published):
    (problem,) = release.check_release(TAG, "bob/ubp", published)
    assert problem.startswith("Repository in [project.urls] is https://github.com/ann/ubp, but")


def test_notes_are_the_section_of_the_version(release, tmp_path):
    text = "# Changelog\n\n## 1.1.0 (2026-12-01)\n\n- New.\n\n## 1.0.0\n\n- Old.\n"
    (tmp_path / "CHANGELOG.md").write_text(text)
    assert release.release_notes("v1.1.0", tmp_path) == "- New."
    assert release.release_notes("v1.0.0", tmp_path) == "- Old."
    assert not release.release_notes("v1.0", tmp_path)


def test_changelog_has_the_current_version(release):
    assert release.release_notes(TAG)


def test_command_fills_the_owner_into_every_address(release, clone):
    changed = load("owner").fill("ann", clone)
    assert {"README.md", "pyproject.toml", "editors/vscode/package.json"} <= set(changed)
    words = ["git", "grep", "--files-with-matches", "OWNER/ubp", "--", ":!.ci", ":!tests"]
    left = subprocess.run(words, cwd=clone, capture_output=True, text=True, check=False)
    assert not left.stdout
    assert release.check_release(TAG, "ann/ubp", clone) == []


def test_name_that_the_forge_refuses_is_filled_into_nothing(clone):
    with pytest.raises(SystemExit, match="is not the name of a user"):
        load("owner").fill("ann/../bob", clone)
