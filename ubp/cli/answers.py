"""The commands that are made from the table of answers: their options, and how they run."""

import inspect
import time
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields
from typing import Annotated, Any, get_args, get_origin, get_type_hints

from cyclopts import Parameter

from ubp.cli.error_handler import CLEAN
from ubp.cli.open_workspace import open_workspace
from ubp.cli.parameters import In, check_range, read_collection
from ubp.cli.terminal import Terminal
from ubp.core.errors import UsageError
from ubp.frame.answer import AnyAnswer
from ubp.frame.budget import MEASURES, TokenLimit, build_answer
from ubp.frame.fields import Option
from ubp.frame.schema import given_type, option_of, request_schema
from ubp.frame.wording import joined
from ubp.frame.writer import Writer
from ubp.table import Row, load, row_of_command


def __getattr__(command: str) -> Callable[..., int]:
    """Return the function of a command; cyclopts asks for it where the command is called."""
    return make_command(row_of_command(command))


def make_command(row: Row) -> Callable[..., int]:
    """Return the function that cyclopts reads: a parameter for each option of the request."""
    answer = load(row)
    options = options_of(answer)
    parameters = [_parameter(answer, name, option) for name, option in options.items()]
    if answer.reads_collections:
        parameters.append(_keyword("in_", In, None))
    parameters.append(_keyword("terminal", Terminal, inspect.Parameter.empty))

    def command(**arguments: Any) -> int:
        terminal: Terminal = arguments.pop("terminal")
        collection = arguments.pop("in_", None)
        given = {name: value for name, value in arguments.items() if value is not None}
        _check(row, answer, options, given)
        request = answer.request(**{name: _field_value(value) for name, value in given.items()})
        return _print_answer(answer, request, collection, terminal)

    def call(*arguments: Any, **keywords: Any) -> int:
        return command(**signature.bind(*arguments, **keywords).arguments)

    signature = inspect.Signature(parameters, return_annotation=int)
    call.__signature__ = signature  # type: ignore[attr-defined]  # what cyclopts reads
    call.__name__ = row.command
    call.__doc__ = row.help
    return call


def options_of(answer: AnyAnswer) -> Mapping[str, Option]:
    """Return the fields of a request that the command line has."""
    hints = get_type_hints(answer.request, include_extras=True)
    options = ((name, option_of(hint)) for name, hint in hints.items())
    return {name: option for name, option in options if option is not None}


def _parameter(answer: AnyAnswer, name: str, option: Option) -> inspect.Parameter:
    hint = given_type(get_type_hints(answer.request)[name])
    field = next(field for field in fields(answer.request) if field.name == name)
    default = field.default if option.default is ... else option.default
    if get_origin(hint) is tuple:
        hint, default = list[get_args(hint)[0]] | None, None  # type: ignore[misc]  # made at run time
    elif default in {MISSING, None}:
        hint, default = hint | None, None
    settings = Parameter(name=option.name or None, help=option.help, metavar=option.metavar or None)
    if option.is_argument:
        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
        return inspect.Parameter(name, kind, default=default, annotation=Annotated[hint, settings])
    return _keyword(name, Annotated[hint, settings], default)


def _keyword(name: str, hint: Any, default: Any) -> inspect.Parameter:
    kind = inspect.Parameter.KEYWORD_ONLY
    return inspect.Parameter(name, kind, default=default, annotation=hint)


def _check(
    row: Row, answer: AnyAnswer, options: Mapping[str, Option], given: Mapping[str, Any]
) -> None:
    """Raise `UsageError` where an argument is missing or out of range."""
    schema = request_schema(answer.request)  # type: ignore[arg-type]  # classes are hashable
    for name, option in options.items():
        if name not in given and name in schema.get("required", ()):
            raise UsageError(
                f"Missing argument: {option.missing}.",
                cause=option.cause,
                hint=option.hint or f"Specify one: {row.example}",
            )
        limits = schema["properties"].get(name, {})
        if name in given and "minimum" in limits:
            check_range(
                _name_of(name, option),
                given[name],
                limits.get("maximum"),
                minimum=limits["minimum"],
                why=option.why,
            )


def _name_of(field: str, option: Option) -> str:
    names = (option.name,) if isinstance(option.name, str) else option.name
    return names[0] or f"--{field.replace('_', '-')}"


def _field_value(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _print_answer(
    answer: AnyAnswer, request: Any, collection: str | None, terminal: Terminal
) -> int:
    """Print an answer as text, or with `--json` as its record; return the exit status."""
    started = time.perf_counter()
    reference = read_collection(collection, getattr(request, "ref", None))
    is_json = terminal.options.json
    run = answer.run if is_json or answer.run_for_text is None else answer.run_for_text
    with open_workspace(terminal, collection=reference) as workspace:
        record = run(workspace.session, request)
        prefix = workspace.session.repository.prefix
    if not is_json:
        writer = Writer(terminal.style, is_quiet=terminal.options.quiet, prefix=prefix)
        terminal.write(joined(answer.text(record, writer)))
    elif answer.has_facts:
        limits = [
            TokenLimit(most, MEASURES[name], is_lean=False)
            for name in answer.budgets
            if (most := getattr(request, name, None)) is not None
        ]
        json = build_answer(record, started, fit=answer.fit, limits=limits, is_lean=False)
        terminal.json(json)
    else:
        terminal.record(record)
    return CLEAN if answer.status is None else answer.status(record)
