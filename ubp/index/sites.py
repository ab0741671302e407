"""Read the configurations of a snapshot's sites; they are never executed."""

from collections.abc import Callable, Collection, Mapping

from ubp.core.config import Config, SiteSetting
from ubp.core.model import Entry, FilePath
from ubp.index.facts import FileContents
from ubp.index.tree import IndexContext
from ubp.markdown.sites.detect import config_paths, configured_site, find_sites, package_paths
from ubp.markdown.sites.site import Site, Sites

_FOREIGN_FOLDERS = frozenset(
    {".github", "node_modules", "vendor", "fixtures", "__fixtures__", "testdata"}
)


def read_sites(
    context: IndexContext,
    config: Config,
    paths: Collection[FilePath],
    entries: Callable[[Collection[FilePath]], Mapping[FilePath, Entry | None]],
) -> Sites:
    """Return the sites of a snapshot; `paths` contain those of all their configuration files.

    The settings in UBP's own configuration take precedence over a site found in the same folder.
    """
    configured = [_configured(setting) for setting in config.sites if setting.generator != "none"]
    folders = {setting.folder for setting in config.sites}
    configs = [path for path in config_paths(paths) if not is_ignored(path)]
    candidates = sorted({*configs, *package_paths(configs)})
    files = {path: entry for path, entry in entries(candidates).items() if entry and entry.is_file}
    contents = FileContents(context.repository, context.snapshot).read(files) if files else {}
    found = find_sites({path: data for path, data in contents.items() if data is not None})
    kept = (site for site in found if site.folder not in folders)
    return Sites((*configured, *kept), config.link_roots)


def is_ignored(path: FilePath) -> bool:
    """Return whether a file is of GitHub, a package, a theme or a test, not of this project."""
    folders = path.split("/")[:-1]
    is_of_theme = "themes" in folders and "exampleSite" in folders
    return is_of_theme or not _FOREIGN_FOLDERS.isdisjoint(folders)


def _configured(setting: SiteSetting) -> Site:
    return configured_site(setting.generator, setting.folder, setting.root, setting.base)
