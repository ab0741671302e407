"""A hook of MkDocs: links that leave docs/ lead to the repository's files, as on the forge.

Headers of tables that are empty become plain cells, which screen readers do not announce.

The repository's address is that of pyproject.toml, the only place that names its owner.
"""

import posixpath
import re
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
DOCS = "docs"
# The target of a link or picture that begins with a step up.
TARGET = re.compile(r"(?<=\]\()(?:\.\./)[^)\s]+(?=\))")
FENCE = re.compile(r"^(```.*?^```$)", re.MULTILINE | re.DOTALL)


def repository() -> str:
    """Return the address of the repository."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    address: str = project["urls"]["Repository"]
    return address


def on_config(config: Any) -> Any:
    """Set the address that the header of each page links to."""
    config.repo_url = repository()
    config.repo_name = "/".join(repository().split("/")[-2:])
    config.edit_uri = f"edit/main/{DOCS}/"
    return config


def on_page_markdown(markdown: str, *, page: Any, **_: Any) -> str:
    """Return a page with links to files outside of docs/ as addresses of the repository."""
    return "".join(
        part if part.startswith("```") else rewrite(part, page.file.src_uri)
        for part in FENCE.split(markdown)
    )


def on_page_content(html: str, **_: Any) -> str:
    """Return a page without empty headers."""
    return html.replace("<th></th>", "<td></td>")


def rewrite(text: str, path: str) -> str:
    """Return text of a page below docs/ with links that leave docs/ as addresses."""

    def address(found: re.Match[str]) -> str:
        target, _, fragment = found[0].partition("#")
        whole = posixpath.normpath(posixpath.join(DOCS, posixpath.dirname(path), target))
        if whole.startswith(f"{DOCS}/"):
            return found[0]
        return f"{repository()}/blob/main/{whole}" + (f"#{fragment}" if fragment else "")

    return TARGET.sub(address, text)
