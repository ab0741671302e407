"""Check that a tag can be released, and print the release's notes from CHANGELOG.md.

`python3 .ci/release.py v1.2.3 OWNER/NAME` is what the release workflow runs first.
"""

import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def check_release(tag: str, repository: str, root: Path = ROOT) -> list[str]:
    """Return what must be corrected before this tag can be released from this repository."""
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    package = (root / "ubp/core/version.py").read_text(encoding="utf-8")
    version = re.search(r'^__version__ = "(.+)"$', package, re.MULTILINE)
    address = project["urls"]["Repository"]
    problems = []
    if version is None or tag != f"v{version[1]}":
        found = version[1] if version else "missing"
        problems.append(f"The tag is {tag}, but __version__ in ubp/core/version.py is {found}.")
    if address != f"https://github.com/{repository}":
        problems.append(
            f"Repository in [project.urls] is {address}, but this is {repository}. Correct"
            " pyproject.toml and run `UPDATE_DOCS=1 pytest tests/test_docs.py`."
        )
    if not release_notes(tag, root):
        problems.append(f"CHANGELOG.md has no section for {tag}.")
    return problems


def release_notes(tag: str, root: Path = ROOT) -> str:
    """Return the text of a release's section in CHANGELOG.md, "" if there is none."""
    text = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    heading = re.escape(tag.removeprefix("v"))
    section = re.search(
        rf"^## {heading}(?: [^\n]*)?\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL
    )
    return section[1].strip() if section else ""


def main(tag: str, repository: str) -> int:
    """Print the notes and return 0, or print what is wrong and return 1."""
    problems = check_release(tag, repository)
    for problem in problems:
        print(f"::error title=Release::{problem}")
    if not problems:
        print(release_notes(tag))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
