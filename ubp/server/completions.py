"""Completion of page paths in prompts and resource addresses."""

from collections.abc import Callable, Collection, Iterable, Sequence

from mcp.types import CompleteRequestParams, CompleteResult, Completion, PromptReference

from ubp.server import resources
from ubp.server.errors import bad_params
from ubp.server.repositories import REPOSITORY
from ubp.server.transport import readable
from ubp.workspace import Workspace

MAX_VALUES = 100  # the protocol's limit


def completer(
    params: CompleteRequestParams, known_prompts: Collection[str], repositories: Sequence[str] = ()
) -> Callable[[Workspace], CompleteResult]:
    """Return the function that completes an argument of a known prompt or of a resource's address.

    Paths are completed, and names of these repositories; of other arguments nothing is known.

    Raises:
        MCPError: there is no such prompt or template.
    """
    reference = params.ref
    if isinstance(reference, PromptReference):
        exists = reference.name in known_prompts
        name = reference.name
    else:
        own_uri = reference.uri.removesuffix(resources.CHOICE)
        exists = own_uri in {resources.PAGE_TEMPLATE, *(row.uri for row in resources.ROWS)}
        name = reference.uri
    if not exists:
        raise bad_params(f"Unknown prompt or resource template: {name}.", ref=name)
    if params.argument.name == REPOSITORY:
        names = _matching(params.argument.value, repositories)
        return lambda _: _completion(names)
    if params.argument.name != "filepath":
        return lambda _: _completion([])
    return lambda workspace: _completion(
        _matching(params.argument.value, workspace.session.view().document_paths())
    )


def _matching(typed: str, names: Iterable[str]) -> Sequence[str]:
    """Return the names that begin with the typed text, then those that contain it."""
    prefix = typed.casefold()
    folded_names = [(name.casefold(), name) for name in names]
    starting = [name for folded, name in folded_names if folded.startswith(prefix)]
    containing = [
        name for folded, name in folded_names if prefix in folded and not folded.startswith(prefix)
    ]
    return starting + containing


def _completion(values: Sequence[str]) -> CompleteResult:
    shown = [readable(value) for value in values[:MAX_VALUES]]
    return CompleteResult(
        completion=Completion(values=shown, total=len(values), has_more=len(values) > MAX_VALUES)
    )
