"""`ubp suggest-links`: pairs of similar pages that are not linked."""

from functools import partial
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from ubp.cli.parameters import In, Number, Revision, check_range, read_collection
from ubp.cli.reading import RecordFormat, print_answer
from ubp.cli.terminal import Terminal
from ubp.core.errors import UsageError
from ubp.index.embed.locate import require_extra
from ubp.workspace import MAX_SUGGESTED, MIN_SCORE

if TYPE_CHECKING:
    from ubp.search.suggest_links import LinkSuggestions


def suggest_links(  # noqa: PLR0913  # the command's options
    page: str | None = None,
    *,
    min_score: Annotated[float, Parameter(metavar="N")] = MIN_SCORE,
    limit: Number = MAX_SUGGESTED,
    ref: Revision = None,
    in_: In = None,
    terminal: Terminal,
) -> int:
    """Run `ubp suggest-links`.

    Args:
        page: Only pairs with this page: path, unique path suffix, or `doc_id`.
        min_score: Minimum score, from 0 to 1 (0.8); at 0.8, four in five pairs deserve a link.
        limit: Maximum number of pairs (10).
        ref: Use this revision instead of the work tree.
        in_: Use a collection instead of this repository.
        terminal: Where the answer goes.
    """
    check_range("--limit", limit)
    if not 0 <= min_score <= 1:
        raise UsageError(
            f"Invalid --min-score: {min_score:g}.",
            cause="At 0.8, four pairs in five deserve a link; at 0.5, three in five.",
            hint="Must be from 0 to 1.",
        )
    require_extra()  # what follows imports its libraries
    from ubp.output.text.suggestions import suggestions_text

    return print_answer(
        terminal,
        lambda workspace: workspace.suggest_links(page, min_score=min_score, limit=limit, ref=ref),
        partial(suggestions_text, style=terminal.style, is_quiet=terminal.options.quiet),
        _load_format,
        collection=read_collection(in_, ref),
    )


def _load_format() -> "RecordFormat[LinkSuggestions]":
    from ubp.output.records.suggestions import suggestions_record

    return RecordFormat(suggestions_record)
