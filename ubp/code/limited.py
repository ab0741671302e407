"""Read symbols in a child process, whose CPU time and memory the system limits.

A grammar cannot be interrupted, some take the square or the cube of the length of code that may
mean several things (16 kB of `<a` in C#: 12 s), and some end the process (300 nested lists in
YAML), so that all of them run in a child (`benchmarks/robustness/parsers.py` measures it). What was
found is stored by blob, so that each version is parsed once.
"""

from collections.abc import Iterator, Sequence
from typing import Any, Literal, NamedTuple

from ubp.code.symbols import Symbols, read_symbols
from ubp.core.child import Limits, call_limited
from ubp.core.source import Part

# For each file; the slowest that is read otherwise, with 20,000 definitions, takes 0.8 s.
MAX_CPU_SECONDS = 2
# More than this process has already; 2 MB of Python take 0.3 GB.
MAX_MEMORY = 1 << 30

Wanted = tuple[str, ...] | Literal["all", "spans"]
"""The names to find, or all definitions, or the name, first and last line of each."""


class SourceFile(NamedTuple):
    """The bytes of a source file, its language, and what is wanted of it."""

    data: bytes
    language: str
    wanted: Wanted


def find_in_files(files: Sequence[SourceFile]) -> list[dict[str, tuple[Part, ...]] | None]:
    """Return the definitions of the wanted names of each file; "all" has them below "".

    None: a file cannot be read, because it is too large, or takes too much time or memory.
    """
    return [
        None if answer is None else {name: _parts(rows) for name, rows in answer.items()}
        for answer in _ask(files)
    ]


def find_spans(data: bytes, language: str) -> tuple[tuple[str, int, int], ...]:
    """Return the qualified name, first and last line of each definition; none if unreadable."""
    (answer,) = _ask([SourceFile(data, language, "spans")])
    return tuple(answer[""]) if answer else ()


def _ask(files: Sequence[SourceFile]) -> list[Any]:
    return call_limited(read_file, files, Limits(MAX_CPU_SECONDS, MAX_MEMORY), _import_grammars)


def _import_grammars() -> None:
    import ast_grep_py  # noqa: F401  # takes 6 to 20 ms, once instead of in each child


def _parts(rows: Sequence[Any]) -> tuple[Part, ...]:
    return tuple([Part(tuple(names), *others) for names, *others in rows])


def read_file(file: Sequence[Any]) -> dict[str, list[Any]] | None:
    """Return what is wanted of a `SourceFile`, of parts as tuples; None: it is too large."""
    data, language, wanted = file
    symbols = read_symbols(data, language)
    if symbols is None:
        return None
    if wanted == "spans":
        return {"": list(symbols.spans())}
    return {name: [tuple(part) for part in parts] for name, parts in _found(symbols, wanted)}


def _found(symbols: Symbols, wanted: Wanted) -> Iterator[tuple[str, tuple[Part, ...]]]:
    if isinstance(wanted, str):
        yield "", symbols.all()
    else:
        for name in wanted:
            yield name, symbols.find(name)
