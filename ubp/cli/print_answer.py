"""How an answer is printed; without cyclopts, which `ubp review` of a hook does not need."""

import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

from ubp.cli.error_handler import CLEAN
from ubp.cli.open_workspace import open_workspace
from ubp.cli.terminal import Terminal
from ubp.core.errors import UsageError
from ubp.core.model import FilePath
from ubp.frame.answer import AnyAnswer
from ubp.frame.budget import MEASURES, TokenLimit, build_answer
from ubp.frame.wording import joined
from ubp.frame.writer import Writer

if TYPE_CHECKING:
    from ubp.index.collections import CollectionReference

OTHERS = "others"  # the field of requests for the other collections that they are about


def print_answer(  # noqa: PLR0913  # what is asked, of what, and how it is printed
    answer: AnyAnswer,
    request: Any,
    terminal: Terminal,
    *,
    collection: str | None = None,
    keys: Sequence[str] = (),
    format_: str = "text",
) -> int:
    """Print an answer as text, or with `--json` as its record; return the exit status.

    `collection` (`NAME[@REV]`, for some answers several) is read instead of the repository; `keys`
    of front matter list sources, by default the configured ones; `format_` is one of `formats`.
    """
    started = time.perf_counter()
    ref = getattr(request, "ref", None)
    if reads_several(answer):
        reference, *others = read_collections(collection, ref) or (None,)
    else:
        reference, others = read_collection(collection, ref), []
    is_json = terminal.options.json
    prefix = FilePath("")
    record = answer.run_anywhere(terminal, request) if answer.run_anywhere else None
    if record is None:
        run = answer.run if is_json else answer.run_for_people or answer.run_for_text or answer.run
        with ExitStack() as stack:
            workspace, *more = (
                stack.enter_context(open_workspace(terminal, keys=keys, collection=each))
                for each in (reference, *others)
            )
            for other in more:
                other.session.share_model(workspace.session)
            if more:
                request = replace(request, **{OTHERS: tuple(other.session for other in more)})
            record = run(workspace.session, request)
            prefix = workspace.session.repository.prefix
    if is_json and answer.has_facts:
        limits = [
            TokenLimit(most, MEASURES[name], is_lean=False)
            for name in answer.budgets
            if (most := getattr(request, name, None)) is not None
        ]
        terminal.json(build_answer(record, started, fit=answer.fit, limits=limits, is_lean=False))
    elif is_json:
        terminal.record(record, is_versioned=answer.is_versioned)
    elif answer.formats and format_ in answer.formats:
        terminal.write(answer.formats[format_](record))
    else:
        writer = Writer(
            terminal.style, is_quiet=terminal.options.quiet, prefix=prefix, keys=tuple(keys)
        )
        terminal.show(joined(answer.text(record, writer)))
    return CLEAN if answer.status is None else answer.status(record)


def print_record(
    record: Any, text: Callable[[Any, Writer], Iterable[str]], terminal: Terminal
) -> int:
    """Print what no answer of the table is, as text or as its record; return the exit status."""
    if terminal.options.json:
        terminal.record(record)
    else:
        terminal.show(joined(text(record, Writer(terminal.style, is_quiet=terminal.options.quiet))))
    return CLEAN


def reads_several(answer: AnyAnswer) -> bool:
    """Return whether a request can be about several collections."""
    return any(field.name == OTHERS for field in fields(answer.request))


def read_collections(names: str | None, ref: str | None) -> "tuple[CollectionReference, ...]":
    """Return the collections that `--in` names, separated by commas.

    Raises:
        UsageError: it is not valid, or `--ref` was given, too.
    """
    if names is None:
        return ()
    if ref is not None:
        raise UsageError(
            "--in cannot be combined with --ref.", hint=f"Write the revision as --in NAME@{ref}."
        )
    from ubp.index.collections import parse_reference

    return tuple(dict.fromkeys(parse_reference(name.strip()) for name in names.split(",")))


def read_collection(name: str | None, ref: str | None) -> "CollectionReference | None":
    """Return the collection that `--in` names, for a command that reads one of them.

    Raises:
        UsageError: it is not valid or names several, or `--ref` was given, too.
    """
    references = read_collections(name, ref)
    if len(references) > 1:
        raise UsageError(
            f"Only one collection can be read: {name}.",
            hint="`ubp search`, without --fulltext, accepts several.",
        )
    return references[0] if references else None
