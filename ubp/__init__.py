"""UBP ties Markdown pages to the code that they describe, and Git tells when they part.

`ubp.Workspace` is the Python API.
"""

from typing import TYPE_CHECKING, Any

from ubp.core.version import __version__ as __version__

if TYPE_CHECKING:  # for type checkers; `ubp stale` imports this module, but no workspace
    from ubp.workspace import Workspace as Workspace


def __getattr__(name: str) -> Any:
    """Import the API where it is used."""
    if name != "Workspace":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from ubp.workspace import Workspace

    return Workspace
