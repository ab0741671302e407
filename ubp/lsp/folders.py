"""Folders and files as the client spells them: below which folder a file is."""

import ntpath
import os
import posixpath
from types import ModuleType
from typing import Final

PATHS: Final[ModuleType] = ntpath if os.name == "nt" else posixpath
"""How the system compares names."""


def path_below(folder: str, file: str, paths: ModuleType = PATHS) -> str | None:
    """Return the path of a file below a folder, with slashes; "" is the folder, None elsewhere.

    Windows ignores case, also that of drive letters, and takes slashes of both kinds.
    """
    outer, inner = paths.normcase(folder).rstrip(paths.sep), paths.normcase(file)
    if inner.rstrip(paths.sep) == outer:
        return ""
    if not inner.startswith(outer + paths.sep):
        return None
    return file[len(outer) + 1 :].replace(paths.sep, "/")


def shown_root(folder: str, real_folder: str, root: str, paths: ModuleType = PATHS) -> str:
    """Return a repository's root as the client spells it.

    `folder` is the client's: it may be below the root, or lead there by a link; `real_folder` is
    the same without links.
    """
    below = path_below(root, real_folder, paths)
    if below is None:
        return root
    outer = folder.rstrip(paths.sep) or folder
    if not below:
        return outer
    tail = paths.normcase(paths.sep + below)
    return (paths.normcase(outer).endswith(tail) and outer[: -len(tail)]) or root
