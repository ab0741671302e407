"""`ubp collections remove`: a collection, unregistered, or deleted with what was fetched."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated

from ubp.answers.collections.project import network_context, read_project
from ubp.core.errors import UsageError
from ubp.frame.answer import Answer, Place, Request
from ubp.frame.fields import Option
from ubp.frame.writer import Writer
from ubp.index.collections import check_name
from ubp.sync.run import remove_collection


@dataclass(frozen=True, slots=True, kw_only=True)
class RemovedCollectionRecord:
    """What was removed of a collection."""

    name: Annotated[str, "its name"]
    is_removed: Annotated[bool, "whether it existed on this machine and was removed"]
    is_purged: Annotated[bool, "whether its repository was deleted"]
    is_removed_from_configuration: Annotated[
        bool, "whether it was removed from the project's configuration"
    ]


@dataclass(frozen=True, slots=True)
class RemoveCollectionRequest(Request[RemovedCollectionRecord]):
    """The collection to remove from this machine's list and from the project's configuration."""

    name: Annotated[
        str,
        "name of the collection",
        Option(
            "The name of the collection.",
            is_argument=True,
            missing="the name of a collection",
        ),
    ]
    purge: Annotated[
        bool, "delete what was fetched, too", Option("Delete what was fetched, too.")
    ] = False


def run(place: Place, request: RemoveCollectionRequest) -> RemovedCollectionRecord:
    """Remove a collection from this machine's list and from the project's configuration.

    Raises:
        UsageError: there is no such collection.
    """
    name = request.name
    check_name(name)
    project = read_project(place)
    is_configured = any(setting.name == name for setting in project.config.collections)
    existed = remove_collection(name, network_context(place), purge=request.purge)
    if not existed and not is_configured:
        raise UsageError(
            f"There is no collection {name}.", hint="List them with `ubp collections`."
        )
    if is_configured:
        project.write(name, None)
    return RemovedCollectionRecord(
        name=name,
        is_removed=existed,
        is_purged=request.purge and existed,
        is_removed_from_configuration=is_configured,
    )


def text(record: RemovedCollectionRecord, write: Writer) -> Iterator[str]:
    """Yield what was removed."""
    if not write.is_quiet:
        yield f"Removed {record.name}"


REMOVE = Answer(
    request=RemoveCollectionRequest,
    record=RemovedCollectionRecord,
    run=run,
    run_anywhere=run,
    text=text,
    has_facts=False,
)
