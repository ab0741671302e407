"""What may stand where a path of a page is being typed."""

from collections.abc import Callable, Sequence

from mcp.types import CompleteRequestParams, CompleteResult, Completion, PromptReference

from ubp.server import prompts, resources
from ubp.server.errors import bad_params
from ubp.server.transport import readable
from ubp.workspace import Workspace

MAX_VALUES = 100  # the protocol's limit


def completer(params: CompleteRequestParams) -> Callable[[Workspace], CompleteResult]:
    """What completes an argument; of an argument that is no path nothing is known.

    Raises:
        MCPError: there is no such prompt or template.
    """
    reference = params.ref
    if isinstance(reference, PromptReference):
        is_known = reference.name in {row.name for row in prompts.ROWS}
        told = reference.name
    else:
        is_known = reference.uri == resources.PAGE_TEMPLATE
        told = reference.uri
    if not is_known:
        raise bad_params(f"There is no {told}.", ref=told)
    if params.argument.name != "filepath":
        return lambda _: _complete([])
    return lambda workspace: _complete(_paths(workspace, params.argument.value))


def _paths(workspace: Workspace, typed: str) -> Sequence[str]:
    """The pages whose paths begin so, then those that hold it somewhere."""
    wanted = typed.casefold()
    paths = [(path.casefold(), path) for path in workspace.session.view().document_paths()]
    begin = [path for folded, path in paths if folded.startswith(wanted)]
    hold = [path for folded, path in paths if wanted in folded and not folded.startswith(wanted)]
    return begin + hold


def _complete(values: Sequence[str]) -> CompleteResult:
    shown = [readable(value) for value in values[:MAX_VALUES]]
    return CompleteResult(
        completion=Completion(values=shown, total=len(values), has_more=len(values) > MAX_VALUES)
    )
