"""`ubp --install-completion`: its record. The script is made of the commands themselves."""

from dataclasses import dataclass
from typing import Annotated


@dataclass(frozen=True, slots=True, kw_only=True)
class CompletionRecord:
    """The installed completion script."""

    shell: Annotated[str, "the shell"]
    path: Annotated[str, "the script"]
