"""What the release workflow checks and writes, and the notes that it attaches."""

import hashlib
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

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


@pytest.fixture
def packages(tmp_path, monkeypatch):
    """The files of other package managers for a wheel, and the folder that has them."""
    monkeypatch.syspath_prepend(ROOT / ".ci")
    wheel = tmp_path / "ubp-1.2.3-py3-none-any.whl"
    wheel.write_bytes(b"wheel")
    load("packages").write_packages(wheel, tmp_path / "packages", "a==1 \\\n    --hash=sha256:0\n")
    return tmp_path / "packages"


def test_formula_has_the_wheel_with_its_hash_and_what_it_requires(packages):
    text = (packages / "homebrew/Formula/ubp.rb").read_text(encoding="utf-8")
    assert 'releases/download/v1.2.3/ubp-1.2.3-py3-none-any.whl", using: :nounzip' in text
    assert f'sha256 "{hashlib.sha256(b"wheel").hexdigest()}"' in text
    assert "    a==1 \\\n        --hash=sha256:0\n  TEXT\n" in text
    description = re.search(r'desc "(.*)"', text)[1]
    assert len(description) <= 80


def test_entries_of_registries_name_the_version_and_the_program(packages):
    mason = yaml.safe_load((packages / "mason/packages/ubp/package.yaml").read_text())
    assert mason["source"] == {"id": "pkg:pypi/ubp@1.2.3?extra=lsp"}
    assert mason["bin"] == {"ubp": "pypi:ubp"}
    mise = tomllib.loads((packages / "mise/registry/ubp.toml").read_text())
    assert (mise["backends"], mise["test"]["expected"]) == (["pipx:ubp"], "ubp {{version}}")


@pytest.mark.skipif(os.name == "nt", reason="asdf runs in POSIX shells")
def test_plugin_of_asdf_lists_the_tags_of_releases_in_order(packages, repository):
    repository.commit("Begin")
    for tag in ("v1.10.0", "v1.2.0", "v1", "x"):
        repository.git("tag", tag)
    listed = subprocess.run(
        [packages / "asdf/bin/list-all"],
        env={**os.environ, "UBP_REPOSITORY": repository.root.as_uri()},
        capture_output=True,
        text=True,
        check=True,
    )
    assert listed.stdout == "1.2.0 1.10.0\n"


@pytest.mark.parametrize("script", sorted((ROOT / ".ci").glob("*.sh")), ids=lambda file: file.name)
def test_shellcheck_finds_nothing_in_scripts(script):
    program = Path(sys.executable).parent / "shellcheck"
    done = subprocess.run([program, script], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "")


def test_jobs_of_the_release_publish_only_in_steps_that_a_rehearsal_leaves_out(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / ".ci")
    rehearse = load("rehearse")
    jobs = yaml.safe_load((ROOT / rehearse.WORKFLOW).read_text(encoding="utf-8"))["jobs"]
    steps = [step for job in jobs.values() for step in job["steps"]]
    left = {step["name"] for step in steps if step.get("name", "").startswith(rehearse.LEAVING)}
    writing = re.compile(r"docker push|docker login|gh |vsce publish|ovsx publish|secrets\.")
    for step in steps:
        if step.get("name") not in left:
            assert not writing.search(yaml.safe_dump(step)), step
            assert "publish" not in step.get("uses", "")
    assert len(left) == 6
