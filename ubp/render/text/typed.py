"""Paths as they are typed in the folder where the user stands."""

import posixpath

from ubp.model import FilePath
from ubp.render.wording import shell_word


def typed(path: FilePath, prefix: FilePath) -> str:
    """A path seen from the folder `prefix`, quoted for a shell where it must be."""
    seen = posixpath.relpath(path, prefix) if prefix else path
    return shell_word(f"./{seen}" if seen.startswith("-") else seen)
