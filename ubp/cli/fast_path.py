"""A parser for the calls of hooks: cyclopts takes 85 ms to import, more than the rest of a hook.

It knows the commonest options of `ubp stale`, `ubp check` and `ubp review`, and the global ones of
every command. A call with anything else (another option, `--help`, `--`, an option given twice)
goes to cyclopts unchanged.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from ubp.cli.terminal import Options, Terminal

# cyclopts also reads `1e3`, `nan` and `1_000`, which no hook uses.
MAX_NUMBER_LENGTH = 9


class FastCall(NamedTuple):
    """A hook's call: the global options, the command, and the fields of its options."""

    options: Options
    command: str
    arguments: dict[str, Any]

    def run(self, terminal: Terminal) -> int:
        """Run the command and return the exit status."""
        if self.command == "check":
            from ubp.cli.run_check import CheckOptions, run_check

            return run_check(CheckOptions(**self.arguments), terminal)
        if self.command == "review":
            from ubp.answers.review.review import ReviewRequest
            from ubp.cli.run_review import run_review

            fields = {**self.arguments}
            stop_hook = fields.pop("stop_hook", False)
            return run_review(ReviewRequest(**fields), terminal, stop_hook=stop_hook)
        from ubp.cli.stale import run_stale
        from ubp.cli.stale_options import StaleOptions

        return run_stale(StaleOptions(**self.arguments), terminal)


class _UnsupportedCallError(Exception):
    pass


def _text(value: str) -> str:
    return value


def _number(value: str) -> float:
    if not value.isdecimal() or len(value) > MAX_NUMBER_LENGTH:
        raise _UnsupportedCallError
    return float(value)


def _one_of(*values: str) -> Callable[[str], str]:
    def read(value: str) -> str:
        if value not in values:
            raise _UnsupportedCallError
        return value

    return read


# Each option's field; of options with a value also how it is read.
_ValueOptions = Mapping[str, tuple[str, Callable[[str], Any]]]

_GLOBAL_FLAGS = {"--json": "json", "--no-color": "no_color", "--quiet": "quiet", "-q": "quiet"}
_GLOBAL_VALUES: _ValueOptions = {"--cwd": ("cwd", _text), "-C": ("cwd", _text)}
_CHANGE_FLAGS = {"--staged": "staged", "--amend": "amend"}
_CHANGE_VALUES: _ValueOptions = {"--base": ("base", _text), "--ref": ("ref", _text)}
_ALARMS: _ValueOptions = {"--alarms": ("alarms", _one_of("any", "named", "judged"))}
_FLAGS = {
    "stale": {**_CHANGE_FLAGS, "--all": "every", "--exit-code": "exit_code"},
    "check": {**_CHANGE_FLAGS, "--pre-push": "pre_push"},
    "review": {"--staged": "staged", "--stop-hook": "stop_hook"},
}
_VALUES: Mapping[str, _ValueOptions] = {
    "stale": {
        **_CHANGE_VALUES,
        **_ALARMS,
        "--days": ("days", _number),
        "--fail-on": ("fail_on", _one_of("stale", "possibly_stale", "never")),
    },
    "check": {
        **_CHANGE_VALUES,
        **_ALARMS,
        "--fail-on": ("fail_on", _one_of("warning", "error", "never")),
    },
    "review": {"--base": ("base", _text)},
}

_META_FLAGS = frozenset({"--", "-h", "--help", "-V", "--version", "--install-completion"})


def parse_fast_call(tokens: Sequence[str]) -> FastCall | None:
    """Parse a hook's call; return None for one that only cyclopts can parse."""
    remaining = iter(tokens)
    options: dict[str, Any] = {}
    arguments: dict[str, Any] = {}
    paths: list[str] = []
    try:
        command = ""
        for token in remaining:
            if not token.startswith("-"):
                command = token
                break
            _read_option(token, remaining, _GLOBAL_FLAGS, _GLOBAL_VALUES, options)
        if command not in _FLAGS:
            return None
        flags, values = _FLAGS[command], _VALUES[command]
        for token in remaining:
            name = token.partition("=")[0]
            if not token:
                return None
            if not token.startswith("-"):
                paths.append(token)
            elif name in flags or name in values:
                _read_option(token, remaining, flags, values, arguments)
            else:
                _read_option(token, remaining, _GLOBAL_FLAGS, _GLOBAL_VALUES, options)
    except _UnsupportedCallError:
        return None
    return FastCall(Options(**options), command, {"paths": tuple(paths), **arguments})


def split_global_options(tokens: Sequence[str]) -> tuple[Options, list[str]] | None:
    """Separate the global options of a call from its command: the meta app would take 15 ms.

    Return None for a call that only the meta app can parse: one that does not begin with a command,
    asks for help, combines short options (`-qv`) or gives one twice.
    """
    flags = {**_GLOBAL_FLAGS, "--verbose": "verbose", "-v": "verbose"}
    command: list[str] = []
    options: dict[str, Any] = {}
    remaining = iter(tokens)
    try:
        for token in remaining:
            name = token.partition("=")[0]
            is_combined = token[:1] == "-" and token[1:2] != "-" and len(token) > len("-q")
            if token in flags or name in _GLOBAL_VALUES:
                _read_option(token, remaining, flags, _GLOBAL_VALUES, options)
            elif name in flags or token in _META_FLAGS or is_combined:
                return None
            else:
                command.append(token)
    except _UnsupportedCallError:
        return None
    return (Options(**options), command) if command and command[0][:1] != "-" else None


def _read_option(
    token: str,
    remaining: Iterator[str],
    flags: Mapping[str, str],
    values: _ValueOptions,
    result: dict[str, Any],
) -> None:
    """Add one option to `result`, taking its value from `remaining` where it follows."""
    name, has_value, value = token.partition("=")
    parsed: Any = True
    if token in flags:
        field = flags[token]
    elif name in values and (not has_value or name.startswith("--")):
        field, read = values[name]
        word = value if has_value else next(remaining, "")
        if not word or word.startswith("-"):
            raise _UnsupportedCallError
        parsed = read(word)
    else:
        raise _UnsupportedCallError
    if field in result:
        raise _UnsupportedCallError
    result[field] = parsed
