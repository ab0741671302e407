"""The commands that are made from the table of answers: their options, and how they run."""

import inspect
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import MISSING, fields
from importlib import import_module
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

from cyclopts import App, Parameter, Token

from ubp.cli.commands import example_text
from ubp.cli.parameters import check_range
from ubp.cli.print_answer import print_answer, reads_several
from ubp.cli.terminal import Terminal
from ubp.core.errors import UsageError
from ubp.frame.answer import AnyAnswer
from ubp.frame.fields import Option
from ubp.frame.schema import given_type, limits_of, option_of
from ubp.table import KITS, ROWS, Row, answers_of_options, load, subcommands

REQUEST = "request"
# What a function by hand may take besides its options: the request, the names of the options that
# were given, the keys of front matter, the collection to read, and the terminal.
GIVEN_BY_FRAME = frozenset({REQUEST, "given", "keys", "collection", "terminal"})


def __getattr__(command: str) -> Callable[..., int] | App:
    """Return the function of a command, or its app where it has commands of its own.

    cyclopts asks for it where the command is called.
    """
    row = next((row for row in ROWS if row.command == command), None)
    kit = next((kit for kit in KITS if kit.name == command), None)
    rows = [*subcommands(command)]
    if row is not None and not rows:
        return _function(row)
    group = row or kit
    if group is None:
        raise AttributeError(command)
    app = App(name=command, help_epilogue=example_text(group.example))
    if row is not None:
        app.default(_function(row))
    for each in rows:
        app.command(
            _function(each),
            name=each.command.removeprefix(f"{command} "),
            help=each.help,
            help_epilogue=example_text(each.example),
        )
    return app


def _function(row: Row) -> Callable[..., int]:
    """Return the function of a command: one by hand, unless it takes a request."""
    function = _by_hand(row)
    if function is not None and REQUEST not in inspect.signature(function).parameters:
        return function
    return make_command(row)


def _by_hand(row: Row) -> Callable[..., int] | None:
    if not row.by_hand:
        return None
    module, _, name = row.by_hand.partition(":")
    function: Callable[..., int] = getattr(import_module(module), name)
    return function


def make_command(row: Row) -> Callable[..., int]:
    """Return the function that cyclopts reads: a parameter for each option of the request.

    Options that ask another answer instead add the options that only that one has. A function by
    hand has those of its keyword parameters, and may take some of `GIVEN_BY_FRAME`, too.
    """
    answer = load(row)
    instead = answers_of_options(row.command)
    parameters = _request_parameters(answer, *map(load, instead.values()))
    parameters += [
        _keyword(flag, Annotated[bool, Parameter(help=other.help)], default=False)
        for flag, other in instead.items()
    ]
    own = _own_parameters(row)
    parameters += [*own.values(), *_common_parameters(answer, has_format="format_" not in own)]
    signature = inspect.Signature(parameters, return_annotation=int)

    def command(*arguments: Any, **keywords: Any) -> int:
        given = signature.bind(*arguments, **keywords).arguments
        terminal: Terminal = given.pop("terminal")
        in_, keys = given.pop("in_", None), tuple(given.pop("key", None) or ())
        collection = ",".join(in_) if isinstance(in_, list) else in_
        format_ = "text" if "format_" in own else given.pop("format_", "text")
        if format_ == "json":
            terminal.set(terminal.options._replace(json=True))
        asked = next((other for flag, other in instead.items() if given.pop(flag, False)), row)
        asked_answer = load(asked)
        _check_combination(row, asked, given, own if asked is row else ())
        request = make_request(row, asked_answer, options_of(asked_answer), given)
        function = _by_hand(asked)
        if function is None:
            return print_answer(
                asked_answer, request, terminal, collection=collection, keys=keys, format_=format_
            )
        known = {"given": frozenset(given), "keys": keys, "collection": collection}
        taken = inspect.signature(function).parameters.keys()
        rest = {name: value for name, value in given.items() if name in own}
        rest |= {name: value for name, value in known.items() if name in taken}
        return function(request, **rest, terminal=terminal)

    command.__signature__ = signature  # type: ignore[attr-defined]  # what cyclopts reads
    command.__name__ = row.command.rpartition(" ")[2]
    command.__doc__ = row.help
    return command


def _request_parameters(*answers: AnyAnswer) -> list[inspect.Parameter]:
    """Return the parameters of several answers' options, each once."""
    parameters: dict[str, inspect.Parameter] = {}
    for answer in answers:
        for name, option in options_of(answer).items():
            if option.help:
                parameters.setdefault(name, _parameter(answer, name, option))
    return list(parameters.values())


def _own_parameters(row: Row) -> dict[str, inspect.Parameter]:
    """Return the options that only a command's function by hand has."""
    function = _by_hand(row)
    if function is None:
        return {}
    parameters = inspect.signature(function).parameters
    return {name: parameters[name] for name in parameters if name not in GIVEN_BY_FRAME}


def _common_parameters(answer: AnyAnswer, *, has_format: bool) -> list[inspect.Parameter]:
    """Return the parameters that commands have because of traits of their answers."""
    parameters = []
    if answer.formats and has_format:
        names = Literal["text", "json", *answer.formats]  # type: ignore[valid-type]  # made at run time
        settings = Parameter(name=["--format", "-f"], metavar="FORMAT", help="Output format.")
        parameters.append(_keyword("format_", Annotated[names, settings], "text"))
    if answer.reads_collections:
        settings = Parameter(
            name="--in", metavar="NAME[@REV]", help="Use a collection instead of this repository."
        )
        type_: Any = str | None
        if reads_several(answer):
            type_, settings = (
                list[str] | None,
                Parameter(
                    name="--in",
                    metavar="NAME[@REV]",
                    help="Use a collection instead of this repository; several count as one.",
                ),
            )
        parameters.append(_keyword("in_", Annotated[type_, settings], None))
    if answer.reads_keys:
        settings = Parameter(
            metavar="NAME",
            help="Front matter key that lists sources, instead of the configured keys; repeatable.",
        )
        parameters.append(_keyword("key", Annotated[list[str] | None, settings], None))
    return [*parameters, _keyword("terminal", Terminal, inspect.Parameter.empty)]


def _check_combination(row: Row, asked: Row, given: Collection[str], own: Collection[str]) -> None:
    """Raise `UsageError` where an option was given that what is asked does not have."""
    accepted = options_of(load(asked))
    names = {_parameter_name(name, option) for name, option in accepted.items()}
    refused = next((name for name in given if name not in names and name not in own), None)
    if refused is None:
        return
    others = answers_of_options(row.command)
    answers = [load(each) for each in (row, *others.values())]
    options = (options_of(answer).get(refused) for answer in answers)
    name = option_name(refused, next(filter(None, options), Option("")))
    if asked is row:
        needed = next(flag for flag, other in others.items() if refused in options_of(load(other)))
        raise UsageError(f"{name} requires --{needed}.", hint=f"Add --{needed}.")
    flag = asked.command.rpartition(" ")[2]
    raise UsageError(
        f"{flag} cannot be combined with {name}.", hint="Remove one of the two options."
    )


def make_request(
    row: Row, answer: AnyAnswer, options: Mapping[str, Option], arguments: Mapping[str, Any]
) -> Any:
    """Return the request that the arguments of a command make; None is not given.

    Raises:
        UsageError: an argument is missing or out of range.
    """
    given: dict[str, Any] = {
        name: _value(value, option)
        for name, option in options.items()
        if (value := arguments.get(_parameter_name(name, option))) is not None
    }
    for name, option in options.items():
        if option.default is not ...:
            given.setdefault(name, option.default)
        names = {name, *option.alternatives}
        if option.alternatives and len(names & given.keys()) != 1:
            raise UsageError(f"Expected {option.missing}.", hint=option.hint)
        is_missing = not given.get(name) or (option.is_joined and not given[name].strip())
        if option.missing and not option.alternatives and is_missing:
            raise UsageError(
                f"Missing argument: {option.missing}.",
                cause=option.cause,
                hint=option.hint or f"Specify one: {row.example}",
            )
    check_limits(answer, given)
    return answer.request(**given)


def _value(value: Any, option: Option) -> Any:
    if option.is_joined:
        return " ".join(value).strip()
    return tuple(value) if isinstance(value, list) else value


def check_limits(answer: AnyAnswer, given: Mapping[str, Any]) -> None:
    """Raise `UsageError` where a number is outside the limits of its option."""
    hints = get_type_hints(answer.request, include_extras=True)
    for name, option in options_of(answer).items():
        limits = limits_of(hints[name])
        if given.get(name) is not None and "minimum" in limits:
            check_range(
                option_name(name, option),
                given[name],
                limits.get("maximum"),
                minimum=limits["minimum"],
                why=option.why,
            )


def options_of(answer: AnyAnswer) -> Mapping[str, Option]:
    """Return the fields of a request that the command line has."""
    hints = get_type_hints(answer.request, include_extras=True)
    options = ((name, option_of(hint)) for name, hint in hints.items())
    return {name: option for name, option in options if option is not None}


def _parameter_name(field: str, option: Option) -> str:
    return str(option.name) if option.is_argument and option.name else field


def _parameter(answer: AnyAnswer, name: str, option: Option) -> inspect.Parameter:
    hint = given_type(get_type_hints(answer.request)[name])
    field = next(field for field in fields(answer.request) if field.name == name)
    default = field.default if option.default is ... else option.default
    names = None if option.is_argument else option.name or None
    settings = Parameter(name=names, help=option.help, metavar=option.metavar or None)
    is_list = get_origin(hint) is tuple
    if option.is_argument and (is_list or option.is_joined):
        value = get_args(hint)[0] if is_list else hint
        if option.choices:
            value = Literal[*option.choices]
            settings = Parameter(help=option.help, converter=_as_given, show_choices=False)
        item: Any = Annotated[value, settings]
        place = _parameter_name(name, option)
        return inspect.Parameter(place, inspect.Parameter.VAR_POSITIONAL, annotation=item)
    if is_list:
        hint, default = list[get_args(hint)[0]] | None, None  # type: ignore[misc]  # made at run time
    elif default in {MISSING, None}:
        hint, default = hint | None, None
    if option.is_argument:
        return inspect.Parameter(
            _parameter_name(name, option),
            inspect.Parameter.POSITIONAL_OR_KEYWORD,
            default=default,
            annotation=Annotated[hint, settings],
        )
    return _keyword(name, Annotated[hint, settings], default)


def _as_given(_: Any, tokens: Sequence[Token]) -> str:
    return tokens[0].value


def _keyword(name: str, hint: Any, default: Any) -> inspect.Parameter:
    kind = inspect.Parameter.KEYWORD_ONLY
    return inspect.Parameter(name, kind, default=default, annotation=hint)


def option_name(field: str, option: Option) -> str:
    """Return the name of a field as it is written on the command line: `--include-links`."""
    names = (option.name,) if isinstance(option.name, str) else option.name
    return names[0] or f"--{field.replace('_', '-')}"
