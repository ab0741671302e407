"""The addresses of a collection's pages: where an import came from, and where forges show files."""

import json
import os
from collections.abc import Mapping
from urllib.parse import quote

from ubp.core.files import write_atomically
from ubp.core.model import FilePath, ObjectId
from ubp.git.repository import Repository
from ubp.index.collections import Collection

ADDRESSES_FILE = "addresses.json"
"""In the data directory of an import: the address of each page, by its path."""

FRAGMENT = "/?:@!$&'()*+,;="
"""What a fragment contains as it is (RFC 3986): PDF viewers want `#page=3`, and not `%3D`."""

# Where forges show a file of a commit, below the address of the repository.
_FILES = {
    "github.com": "blob",
    "gitlab.com": "-/blob",
    "codeberg.org": "src/commit",
    "bitbucket.org": "src",
}


def save_addresses(repository: Repository, addresses: Mapping[FilePath, str]) -> None:
    """Remember the addresses from which the pages of an import came."""
    os.makedirs(repository.data_dir, exist_ok=True)
    data = json.dumps(addresses, ensure_ascii=False, indent=0).encode()
    write_atomically(os.path.join(repository.data_dir, ADDRESSES_FILE), data)


def page_address(
    repository: Repository, collection: Collection, commit: ObjectId, path: FilePath, fragment: str
) -> str:
    """Return the address of a section: of an import where it came from, else of its commit."""
    anchor = f"#{quote(fragment, safe=FRAGMENT)}" if fragment else ""
    address = collection.address
    if collection.kind == "import":
        return f"{_addresses(repository).get(path, address)}{anchor}"
    base = address.removesuffix("/").removesuffix(".git")
    if base.startswith("git@"):
        base = "https://" + base.removeprefix("git@").replace(":", "/", 1)
    host = base.partition("://")[2].partition("/")[0]
    if host in _FILES:
        return f"{base}/{_FILES[host]}/{commit}/{quote(path)}{anchor}"
    return f"{base}/{quote(path)}{anchor}"


def _addresses(repository: Repository) -> Mapping[FilePath, str]:
    try:
        with open(os.path.join(repository.data_dir, ADDRESSES_FILE), encoding="utf-8") as file:
            found = json.load(file)
    except (OSError, ValueError):  # an import of a folder, or of an earlier version of UBP
        return {}
    return found if isinstance(found, dict) else {}
