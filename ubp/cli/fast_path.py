"""The hot calls, understood without cyclopts: what a hook runs must not pay 85 ms for its options.

One row a command; a call that holds anything else than a row knows (another option, `--help`, `--`,
an option given twice) is not understood here and goes to cyclopts unchanged.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from ubp.cli.terminal import Options

# cyclopts reads `1e3`, `nan` and `1_000` too; a hook writes none of them.
MAX_NUMBER_LENGTH = 9


Command = Callable[..., int]


class Call(NamedTuple):
    """A command's function, still to be imported, and what it is called with."""

    load: Callable[[], Command]
    options: Options
    paths: tuple[str, ...]
    arguments: dict[str, Any]


def text(value: str) -> str | None:
    """Take any word."""
    return value


def number(value: str) -> float | None:
    """Take digits."""
    return float(value) if value.isdecimal() and len(value) <= MAX_NUMBER_LENGTH else None


def level(value: str) -> str | None:
    """Take a level that a command can fail on."""
    return value if value in {"stale", "possibly_stale"} else None


Reader = Callable[[str], Any]


class OptionRow(NamedTuple):
    """A hot command: its function, and for each option its parameter and how to read its value."""

    load: Callable[[], Command]
    flags: Mapping[str, str]
    values: Mapping[str, tuple[str, Reader]]


def _stale() -> Command:
    from ubp.cli.stale import stale

    return stale


GLOBAL_FLAGS = {"--json": "json", "--no-color": "no_color", "--quiet": "quiet", "-q": "quiet"}
GLOBAL_VALUES: Mapping[str, tuple[str, Reader]] = {"--cwd": ("cwd", text), "-C": ("cwd", text)}

ROWS: Mapping[str, OptionRow] = {
    "stale": OptionRow(
        load=_stale,
        flags={"--staged": "staged", "--all": "all_", "--exit-code": "exit_code"},
        values={
            "--base": ("base", text),
            "--ref": ("ref", text),
            "--days": ("days", number),
            "--fail-on": ("fail_on", level),
        },
    ),
}


class _NotUnderstood(Exception):  # noqa: N818 - no error: cyclopts will understand it
    pass


def parse_fast_call(tokens: Sequence[str]) -> Call | None:
    """Understand a hot call; None: ask cyclopts."""
    rest = iter(tokens)
    options: dict[str, Any] = {}
    try:
        row = ROWS.get(_command(rest, options))
        if row is None:
            return None
        paths, arguments = _arguments(rest, row, options)
    except _NotUnderstood:
        return None
    return Call(row.load, Options(**options), paths, arguments)


def _command(rest: Iterator[str], options: dict[str, Any]) -> str:
    for token in rest:
        if not token.startswith("-"):
            return token
        _read(token, rest, GLOBAL_FLAGS, GLOBAL_VALUES, options)
    raise _NotUnderstood


def _arguments(
    rest: Iterator[str], row: OptionRow, options: dict[str, Any]
) -> tuple[tuple[str, ...], dict[str, Any]]:
    paths: list[str] = []
    arguments: dict[str, Any] = {}
    for token in rest:
        name = token.partition("=")[0]
        if not token.startswith("-"):
            if not token:
                raise _NotUnderstood
            paths.append(token)
        elif name in row.flags or name in row.values:
            _read(token, rest, row.flags, row.values, arguments)
        else:
            _read(token, rest, GLOBAL_FLAGS, GLOBAL_VALUES, options)
    return tuple(paths), arguments


def _read(
    token: str,
    rest: Iterator[str],
    flags: Mapping[str, str],
    values: Mapping[str, tuple[str, Reader]],
    found: dict[str, Any],
) -> None:
    name, has_value, value = token.partition("=")
    answer: Any = True
    if token in flags:
        parameter = flags[token]
    elif name in values and (not has_value or name.startswith("--")):
        parameter, read = values[name]
        word = value if has_value else next(rest, "")
        answer = read(word) if word and not word.startswith("-") else None
    else:
        raise _NotUnderstood
    if answer is None or parameter in found:
        raise _NotUnderstood
    found[parameter] = answer


def split_global_options(tokens: Sequence[str]) -> tuple[Options, list[str]] | None:
    """Part the global options of a plain call from its command: the meta app costs 15 ms.

    None where the call is not plain: no command first, help, options run together or given twice.
    """
    flags = {**GLOBAL_FLAGS, "--verbose": "verbose", "-v": "verbose"}
    rest: list[str] = []
    options: dict[str, Any] = {}
    words = iter(tokens)
    try:
        for token in words:
            name = token.partition("=")[0]
            if token in flags or name in GLOBAL_VALUES:
                _read(token, words, flags, GLOBAL_VALUES, options)
            elif name in flags or token in _NOT_PLAIN or _is_run_together(token):
                return None
            else:
                rest.append(token)
    except _NotUnderstood:
        return None
    return (Options(**options), rest) if rest and rest[0][:1] != "-" else None


_NOT_PLAIN = frozenset({"--", "-h", "--help", "-V", "--version", "--install-completion"})


def _is_run_together(token: str) -> bool:
    return token[:1] == "-" and token[1:2] != "-" and len(token) > len("-q")
