"""The README's install lines: uv, pipx and pip, from a Git URL and from a checkout."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
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


TOOLS = {"ruff": "ruff", "mypy": "mypy", "import-linter": "lint-imports", "pytest": "pytest"}
INSTALL_LINE = re.search(
    r"^\$ (python3 -m venv .*)$", (ROOT / "README.md").read_text(encoding="utf-8"), re.MULTILINE
)[1]
CHECK_LINE = "python3 tests/check.py"


@pytest.fixture(scope="session")
def tools(tmp_path_factory):
    """Wheels in place of the development tools, newer than any: their programs do nothing."""
    folder = tmp_path_factory.mktemp("tools")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    for requirement in project["dependency-groups"]["dev"]:
        name, exact = re.match(r"([\w-]+)(?:\[.*\])?(?:==([\w.]+))?", requirement).groups()
        module, version = name.replace("-", "_"), exact or "9999"
        info = f"{module}-{version}.dist-info"
        files = {
            f"played_{module}.py": "def main():\n    pass\n",
            f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
            f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        }
        if name in TOOLS:
            entry = f"[console_scripts]\n{TOOLS[name]} = played_{module}:main\n"
            files[f"{info}/entry_points.txt"] = entry
        record = "".join(f"{path},,\n" for path in [*files, f"{info}/RECORD"])
        with zipfile.ZipFile(folder / f"{module}-{version}-py3-none-any.whl", "w") as wheel:
            for path, text in {**files, f"{info}/RECORD": record}.items():
                wheel.writestr(path, text)
    return folder


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="the README's line is for a POSIX shell")
def test_the_line_of_the_readme_and_the_check_work_in_one_clone_in_either_order(
    checkout, downloads, tools, tmp_path
):
    clone = tmp_path / "ubp"
    subprocess.run(["git", "clone", "--quiet", checkout, clone], check=True)
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.base_prefix) / BIN}{os.pathsep}{os.environ['PATH']}",
        "PIP_COMPILE": "0",
        "PIP_CACHE_DIR": str(downloads / "pip"),
        "PIP_FIND_LINKS": str(tools),
    }

    def type_line(line):
        done = subprocess.run(
            line,
            shell=True,
            cwd=clone,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    assert "page" in type_line(INSTALL_LINE)
    # The line installs a copy of UBP: what runs the tests imports the checkout again.
    assert "== tests" in type_line(CHECK_LINE)
    module = type_line(f"{clone}/.venv/bin/python -I -c 'import ubp; print(ubp.__file__)'")
    assert Path(module.strip()) == clone / "ubp" / "__init__.py"
    assert "page" in type_line(INSTALL_LINE)
