"""The argument `collection`, which reading tools take where the project names collections."""

from collections.abc import Collection, Sequence

from ubp.core.errors import BadArgumentError, UsageError
from ubp.core.text import closest_name
from ubp.frame.schema import Schema
from ubp.frame.wording import list_names
from ubp.index.collections import parse_reference
from ubp.workspace import Workspace

COLLECTION = "collection"


def collection_schema(names: Sequence[str]) -> Schema:
    """Return the schema of the argument for these collections."""
    description = f"read this instead of the project: {list_names(names)} (or NAME@REV)"
    return {"type": "string", "description": description}


def open_collection(
    workspace: Workspace, collection: str, names: Collection[str], *, ref: str | None
) -> Workspace:
    """Open the collection that an argument names, one of `names`.

    Raises:
        BadArgumentError: it is not one of them, or `ref` is given too.
        CollectionError: there is no such collection or version on this machine.
        RepositoryError: it cannot be read.
    """
    if ref is not None:
        raise BadArgumentError(
            "ref",
            "`ref` cannot be combined with `collection`.",
            hint="Write the revision as NAME@REV in `collection`.",
        )
    try:
        reference = parse_reference(collection)
    except UsageError as error:
        raise BadArgumentError(COLLECTION, error.message, cause=error.cause) from error
    if reference.name not in names:
        closest = closest_name(reference.name, names)
        raise BadArgumentError(
            COLLECTION,
            f"This project has no collection {reference.name}.",
            cause=f"It has {list_names(sorted(names))}.",
            hint=f"Did you mean {closest}?" if closest else "",
        )
    return workspace.in_collection(reference.name, reference.version)
