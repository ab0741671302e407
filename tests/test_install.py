"""The README's install lines: uv, pipx and pip, from a Git URL and from a checkout."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
SCRIPTS = Path(sys.executable).parent
BIN = "Scripts" if os.name == "nt" else "bin"


@pytest.fixture(scope="session")
def checkout(tmp_path_factory):
    """A clone of what is committed, so that installing leaves nothing in the work tree."""
    clone = tmp_path_factory.mktemp("install") / "ubp"
    subprocess.run(["git", "clone", "--quiet", "--no-hardlinks", ROOT, clone], check=True)
    return clone


@pytest.fixture(scope="session")
def environment(tmp_path_factory):
    """A virtual environment with pip, to be copied: it takes 5 s of CPU to make one."""
    folder = tmp_path_factory.mktemp("environment") / "installed"
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    return folder


@pytest.fixture(scope="session")
def downloads(tmp_path_factory):
    """What the installers download, once for all workers."""
    base = tmp_path_factory.getbasetemp()
    return (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "downloads"


@pytest.mark.parametrize("source", ["checkout", "git url"])
@pytest.mark.parametrize("installer", ["uv", "pipx", "pip"])
def test_ubp_installs_and_runs(  # noqa: PLR0917  # fixtures
    installer, source, checkout, downloads, tmp_path, repository, request
):
    if installer == "pip":
        fresh = request.getfixturevalue("environment")
        shutil.copytree(fresh, tmp_path / "installed", symlinks=True)
    what = str(checkout) if source == "checkout" else f"git+{checkout.as_uri()}"
    run(install_command(installer, what, tmp_path), tmp_path, downloads)
    ubp = next((tmp_path / "installed").rglob(f"{BIN}/ubp*"))
    repository.write("src/a.py", "a\n")
    repository.page("docs/a.md", "src/a.py")
    repository.commit()
    answer = subprocess.run(
        [ubp, "stale"], cwd=repository.root, capture_output=True, text=True, check=True
    )
    assert answer.stderr == ""
    assert "1 page" in answer.stdout
    (weights,) = (tmp_path / "installed").rglob("ubp-bilingual-256/model.safetensors")
    assert {file.name for file in weights.parent.iterdir()} == {
        "LICENSE",
        "README.md",
        "config.json",
        "model.safetensors",
        "modules.json",
        "tokenizer.json",
    }


def install_command(installer, what, folder):
    if installer == "uv":
        return [SCRIPTS / "uv", "tool", "install", "--quiet", "--python", sys.executable, what]
    if installer == "pipx":
        return [SCRIPTS / "pipx", "install", "--quiet", "--python", sys.executable, what]
    # Not `bin/pip`, which names the environment that it was copied from.
    return [folder / "installed" / BIN / "python", "-m", "pip", "install", "--quiet", what]


def run(command, folder, downloads):
    installed = folder / "installed"
    environment = {
        **os.environ,
        "PIP_COMPILE": "0",  # half of the time, for modules that are hardly imported
        "PIP_CACHE_DIR": str(downloads / "pip"),
        "UV_CACHE_DIR": str(downloads / "uv"),
        "UV_TOOL_DIR": str(installed / "tools"),
        "UV_TOOL_BIN_DIR": str(installed / BIN),
        "PIPX_HOME": str(installed / "pipx"),
        "PIPX_BIN_DIR": str(installed / BIN),
    }
    subprocess.run(command, env=environment, cwd=folder, check=True, capture_output=True)
