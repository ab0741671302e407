"""`ubp version`: what a bug report needs."""

import platform
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from importlib.metadata import version
from typing import Annotated

from ubp.core.version import __version__
from ubp.frame.answer import Answer, Place, Request
from ubp.frame.writer import Writer


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionRecord:
    """Version information for bug reports."""

    ubp: Annotated[str, "version of UBP"]
    python: Annotated[str, "version of Python"]
    platform: Annotated[str, "operating system"]
    pygit2: Annotated[str, "version of pygit2"]
    cyclopts: Annotated[str, "version of cyclopts"]


@dataclass(frozen=True, slots=True)
class VersionRequest(Request[VersionRecord]):
    """Which versions of UBP, and of what it needs most, are in use."""


def run(_place: Place, _request: VersionRequest) -> VersionRecord:
    """Return the versions in use."""
    return VersionRecord(
        ubp=__version__,
        python=platform.python_version(),
        platform=platform.platform(),
        pygit2=version("pygit2"),
        cyclopts=version("cyclopts"),
    )


def text(record: VersionRecord, _write: Writer) -> Iterator[str]:
    """Yield a line for each version."""
    return (f"{name} {number}" for name, number in asdict(record).items())


VERSION = Answer(
    request=VersionRequest,
    record=VersionRecord,
    run=run,
    run_anywhere=run,
    text=text,
    has_facts=False,
)
