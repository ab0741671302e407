"""The collections of the project around a place: its configuration, and edits of it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

from ubp.core.config import FULL_TEXT, CollectionSetting, Config, has_config
from ubp.core.config_file import load_config
from ubp.core.errors import NotARepositoryError, UsageError
from ubp.core.installation import install_command
from ubp.core.setup_files import read_config, set_collection, write_config
from ubp.frame.answer import Place
from ubp.git.repository import open_repository
from ubp.index.collections import Collection, collections_dir
from ubp.sync.bookmarks import is_export
from ubp.sync.office import EXTRA as OFFICE_EXTRA
from ubp.sync.office import is_office_file
from ubp.sync.repositories import Context

EXTRA = "collections"  # what importing web pages and bookmarks needs
NEEDS = {
    "Importing web pages": ("hishel", "html_to_markdown", "httpx2", "protego", "selectolax"),
    "Importing bookmarks": ("frontmatter",),
    "Importing Word and PDF files and notebooks": (
        *("frontmatter", "html_to_markdown", "mammoth", "pypdf", "selectolax"),
    ),
}


@dataclass(frozen=True, slots=True)
class Project:
    """A project's settings, and the directory of its configuration; None: it has none."""

    config: Config
    config_dir: str | None = None

    def write(self, name: str, entry: Mapping[str, Any] | None) -> None:
        """Write the configuration's entry for a collection, if there is one; None removes it."""
        if self.config_dir is not None:
            write_config(self.config_dir, set_collection(read_config(self.config_dir), name, entry))


def read_project(place: Place) -> Project:
    """Return the project around a place."""
    try:
        with open_repository(place.directory, place.environment) as repository:
            config_dir, is_bare = repository.config_dir, repository.root is None
    except NotARepositoryError:
        return Project(Config())
    if is_bare or not has_config(config_dir):
        return Project(Config())
    config = load_config(config_dir)
    for warning in config.warnings:
        place.warn(warning)
    return Project(config, config_dir)


def network_context(place: Place) -> Context:
    """Return what fetching needs to know of a place."""
    folder = collections_dir(place.environment)
    return Context(folder, place.environment, place.progress, place.clock)


def entry_of(collection: Collection, at: str) -> dict[str, Any]:
    """Return what the configuration contains for a collection."""
    values = {
        "git" if collection.kind == "mirror" else "url": collection.address,
        "at": at,
        "include": list(collection.include),
        "language": collection.language,
        "policy": collection.policy if collection.policy != FULL_TEXT else "",
        "remote": collection.remote,
    }
    return {key: value for key, value in values.items() if value}


def require_extra(collections: Iterable[Collection | CollectionSetting]) -> None:
    """Raise `UsageError` if what one of them needs is missing: all but Markdown does."""
    for collection in collections:
        what, extra = "", EXTRA
        if collection.kind == "import" and "://" in collection.address:
            what = "Importing web pages"
        elif collection.kind == "import" and any(
            map(is_export, [collection.address, *collection.include])
        ):
            what = "Importing bookmarks"
        elif collection.kind == "import" and any(map(is_office_file, collection.include)):
            what, extra = "Importing Word and PDF files and notebooks", OFFICE_EXTRA
        if what and any(find_spec(name) is None for name in NEEDS[what]):
            raise UsageError(
                f"{what} needs the extra `{extra}`.",
                cause="It was installed without it.",
                hint=f"Install it: {install_command(extra)}",
            )
