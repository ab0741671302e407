"""`ubp version`: what a report of a defect needs to say."""

import platform
from importlib.metadata import version as version_of

from ubp import __version__
from ubp.cli.door import CLEAN
from ubp.cli.terminal import Terminal


def version(*, terminal: Terminal) -> int:
    """Tell UBP's version, and those of what it runs on.

    Args:
        terminal: Where the answer goes.
    """
    record = {
        "ubp": __version__,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "pygit2": version_of("pygit2"),
        "cyclopts": version_of("cyclopts"),
    }
    if terminal.options.json:
        terminal.record(record)
    else:
        terminal.write("".join(f"{name} {number}\n" for name, number in record.items()))
    return CLEAN
