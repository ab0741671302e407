"""What a kit offers agents besides tools: resources at addresses of its own, and prompts."""

from collections.abc import Callable
from typing import NamedTuple

from ubp.index.session import Session


class KitResource(NamedTuple):
    """A resource, or with names in braces in its address the template of some.

    `record_name` is the short name of its record.
    """

    uri: str
    name: str
    title: str
    description: str
    record_name: str
    record: type

    @property
    def is_template(self) -> bool:
        """Whether the address has names in braces."""
        return "{" in self.uri


class KitResources(NamedTuple):
    """The resources of a kit, whose addresses begin with its `scheme`.

    `read` returns the record of an address; None: no resource has it.
    """

    scheme: str
    rows: tuple[KitResource, ...]
    read: Callable[[Session, str], object | None]


class KitPrompt(NamedTuple):
    """A prompt with its one argument, and the function that writes its text."""

    name: str
    title: str
    description: str
    argument: str
    meaning: str
    write: Callable[[Session, str], str]
