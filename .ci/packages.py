"""Write what other package managers need to install a release: Homebrew, mason, mise, asdf.

    python .ci/packages.py DIST FOLDER

DIST has the wheel of the release. FOLDER gets a folder for each: `homebrew` is a tap, `asdf` a
plugin, `mason` and `mise` have the entry for their registries. The version is the wheel's, the
repository that of pyproject.toml. uv finds the requirements of the formula with their hashes.
"""

import hashlib
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PYTHON = "3.13"
# Homebrew takes at most 80 characters, and neither an article at the beginning nor a full stop.
DESCRIPTION = "Finds Markdown pages that no longer match the code, from Git blob ids"
EXTRAS = ("full", "lsp", "symbols")  # for people at a terminal or an editor

FORMULA = """\
class Ubp < Formula
  desc "{description}"
  homepage "{repository}"
  url "{repository}/releases/download/v{version}/{wheel}", using: :nounzip
  sha256 "{sha256}"
  license all_of: ["MIT", "CC-BY-SA-4.0"]

  depends_on "git"
  depends_on "python@{python}"

  # Wheels of all platforms by their hashes; pip takes no other.
  REQUIREMENTS = <<~'TEXT'.freeze
{requirements}
  TEXT

  def install
    system "python{python}", "-m", "venv", libexec
    pip = [libexec/"bin/python", "-m", "pip", "install", "--no-deps", "--only-binary=:all:"]
    (buildpath/"requirements.txt").write REQUIREMENTS
    system(*pip, "--require-hashes", "--requirement", "requirements.txt")
    system(*pip, Dir["*.whl"].first)
    bin.install_symlink libexec/"bin/ubp"
  end

  test do
    assert_equal "ubp #{{version}}", shell_output("#{{bin}}/ubp --version").strip
  end
end
"""
MASON = """\
---
name: ubp
description: {description}
homepage: {repository}
licenses:
  - MIT
  - CC-BY-SA-4.0
languages:
  - Markdown
categories:
  - LSP
  - Linter

source:
  id: pkg:pypi/ubp@{version}?extra=lsp

bin:
  ubp: pypi:ubp
"""
MISE = """\
backends = ["pipx:ubp"]
description = "{description}"
test = {{ cmd = "ubp --version", expected = "ubp {{{{version}}}}" }}
"""
ASDF = {
    "list-all": """\
#!/usr/bin/env bash
# Print the versions, the oldest first.
set -euo pipefail
git ls-remote --tags --refs "${{UBP_REPOSITORY:-{repository}}}" 'v*.*.*' |
  sed 's|.*refs/tags/v||' | sort -V | xargs
""",
    "download": """\
#!/usr/bin/env bash
# pip downloads and installs in one step: see `install`.
set -euo pipefail
mkdir -p "$ASDF_DOWNLOAD_PATH"
""",
    "install": """\
#!/usr/bin/env bash
set -euo pipefail
python3 -m venv "$ASDF_INSTALL_PATH/venv"
"$ASDF_INSTALL_PATH/venv/bin/python" -m pip install --quiet "ubp[{extras}]==$ASDF_INSTALL_VERSION"
mkdir -p "$ASDF_INSTALL_PATH/bin"
ln -s ../venv/bin/ubp "$ASDF_INSTALL_PATH/bin/ubp"
""",
}


def find_requirements() -> str:
    """Return what UBP and its extras require, each with its version and the hashes of its files."""
    extras = [word for extra in EXTRAS for word in ("--extra", extra)]
    command = ["uv", "pip", "compile", "--universal", "--generate-hashes", "--no-annotate"]
    options = ["--no-header", "--quiet", "--python-version", PYTHON, "pyproject.toml"]
    done = subprocess.run(  # noqa: S603
        [*command, *options, *extras], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return done.stdout


def write_packages(wheel: Path, folder: Path, requirements: str) -> list[Path]:
    """Write the files of all package managers for a wheel, and return them."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    fields = {
        "description": DESCRIPTION,
        "extras": ",".join(EXTRAS),
        "python": PYTHON,
        "repository": project["urls"]["Repository"],
        "requirements": "".join(f"    {line}\n" for line in requirements.splitlines()).rstrip(),
        "sha256": hashlib.sha256(wheel.read_bytes()).hexdigest(),
        "version": wheel.name.split("-")[1],
        "wheel": wheel.name,
    }
    files = {
        "homebrew/Formula/ubp.rb": FORMULA,
        "mason/packages/ubp/package.yaml": MASON,
        "mise/registry/ubp.toml": MISE,
        **{f"asdf/bin/{name}": text for name, text in ASDF.items()},
    }
    written = []
    for name, text in files.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text.format(**fields), encoding="utf-8", newline="\n")
        if name.startswith("asdf/"):
            file.chmod(0o755)
        written.append(file)
    return written


def main(dist: str, folder: str) -> None:
    """Write the files for the one wheel in DIST."""
    (wheel,) = Path(dist).glob("ubp-*.whl")
    for file in write_packages(wheel, Path(folder), find_requirements()):
        print(file)


if __name__ == "__main__":
    main(*sys.argv[1:])
