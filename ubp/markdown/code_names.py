"""The names that a page mentions in inline code, code blocks and front matter."""

import re
from collections.abc import Iterator, Mapping
from typing import Literal, NamedTuple

from ubp.core.names import fold_name
from ubp.markdown.front_matter import read_front_matter

Place = Literal["inline", "block", "front matter"]

# Per page; one with more is generated.
MAX_NAMES = 10_000

_FENCE = re.compile(r"^[ \t>]*(`{3,}|~{3,})[ \t]*\{?\.?(\w*)")
_INLINE = re.compile(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)")
_NAME = re.compile(r"(?<![\w%-])-{0,2}[A-Za-z_]\w*(?:-\w+)*")
_DIRECTIVE = re.compile(r"^:::[ \t]+([\w.]+)")
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_COMPOUND = re.compile(r"[A-Za-z0-9]_[A-Za-z0-9]|[a-z0-9][A-Z]|[A-Z]{2}[a-z]")
_OPTION = re.compile(r"--[A-Za-z]")
_ADDRESS = re.compile(r"\w+://\S+")
_PATH = re.compile(r"(?<![\w$}>*/:])(?:[\w.@~+-]*/)+[\w.@~+-]*(?![*{$<])")
_COMMAND = re.compile(
    r"[ \t]*(?:[$>%#][ \t]|\./|(?:bash|sh|zsh|source|python3?|node|deno|bun|npx|npm|pnpm|yarn"
    r"|make|cd|cat|cp|mv|vim|code|go|cargo|uv|pip|docker|git)[ \t])"
)
# What the reader is to replace, as in `--name <file_name>`.
_PLACEHOLDER = re.compile(r"<[\w -]+>|(?<!\$)\{\w+\}")
# The page knows that the name is gone, or going.
_PAST = re.compile(
    r"\b(?:deprecat\w*|removed?|removal|renamed?|replaced|no longer|formerly|previously|used to"
    r"|obsolete|legacy|dropped|earlier versions?|older versions?|prior to)\b"
    r"|廃止|削除|非推奨",
    re.IGNORECASE,
)
_WORD = r"[A-Za-z_]\w*"
_DEFINED = re.compile(
    r"\b(?:def|class|function|func|fn|const|let|var|struct|interface|enum|for|as|type)[ \t]+"
    rf"(?:\([^)]*\)[ \t]*)?({_WORD})"
)
_PARAMETERS = re.compile(r"\b(?:def|function|func|fn|async)\b[^(\n]*\(([^)\n]*)")
_ASSIGNED = re.compile(
    rf"^[ \t>]*(?:\w+[ \t]+)??({_WORD})(?:[ \t]*,[ \t]*{_WORD})*[ \t]*(?::[^=]+)?:?=(?!=)"
)
_DESTRUCTURED = re.compile(r"\b(?:const|let|var)[ \t]*[{\[]([^}\]\n]*)[}\]]")
_IMPORTED = re.compile(
    r"\bfrom[ \t]+([\w.]+)[ \t]+import[ \t]+\(?([^)\n]*)"
    r"|\bimport[ \t]+(?:type[ \t]+)?\{?([^}'\"\n]*)\}?[ \t]*from[ \t]*['\"]([^'\"\n]+)"
)
# Languages in which `name = …` binds a variable of the example, and no key of a configuration.
_PROGRAMS = frozenset(
    {"python", "py", "pycon", "python3", "javascript", "js", "jsx", "typescript", "ts", "tsx", "go"}
    | {"golang", "rust", "rs", "ruby", "rb", "java", "kotlin", "php", "swift", "c", "cpp", "csharp"}
    | {"bash", "sh", "shell", "vue", "mjs", "cjs", "svelte"}
)


class CodeName(NamedTuple):
    """A name as a page writes it in code, its line (from 1) and where it is."""

    text: str
    line: int
    place: Place
    is_output: bool = False
    """Whether it is a path in a block, but not in a command: a program may have printed it."""

    @property
    def is_option(self) -> bool:
        """Whether it is a command-line option."""
        return self.text.startswith("--")

    @property
    def is_path(self) -> bool:
        """Whether it is a path of at least two parts."""
        return "/" in self.text


class CodeNames(NamedTuple):
    """The names in a page's code, without those that its examples define themselves.

    `imported` has the modules from which examples import a folded name.
    """

    names: tuple[CodeName, ...]
    imported: Mapping[str, str]


def read_code_names(data: bytes) -> CodeNames:
    """Return the compound names, options and paths in a page's code, in its order."""
    body = read_front_matter(data, ()).body
    first_line = data.count(b"\n", 0, body) + 1
    head = data[:body].decode("utf-8", "replace")
    text = data[body:].decode("utf-8", "replace")
    text = _COMMENT.sub(lambda comment: "\n" * comment[0].count("\n"), text)
    names: list[CodeName] = []
    own: set[str] = set()
    imported: dict[str, str] = {}
    for number, line in enumerate(head.split("\n"), 1):
        names += _names(line, number, "front matter")
    for number, code, place, language in _code(text.split("\n"), first_line):
        names += _names(code, number, place)
        if place == "block":
            own.update(_own_names(code, language))
            imported.update(_imported_names(code))
        if len(names) > MAX_NAMES:
            break
    return CodeNames(tuple([name for name in names if name.text not in own]), imported)


def _code(lines: list[str], first: int) -> Iterator[tuple[int, str, Place, str]]:
    """Yield the code of each line with its number; of a block with its language."""
    fence = language = ""
    for number, line in enumerate(lines, first):
        match = _FENCE.match(line)
        if fence:
            if match and match[1].startswith(fence) and not line.strip(" \t>`~"):
                fence = ""
            else:
                yield number, line, "block", language
        elif match:
            fence, language = match[1], match[2].lower()
        elif directive := _DIRECTIVE.match(line):
            yield number, directive[1], "inline", ""
        elif "`" in line and not _PAST.search(line):
            for inline in _INLINE.finditer(line):
                yield number, inline[2], "inline", ""


def _names(code: str, line: int, place: Place) -> Iterator[CodeName]:
    if "/" in code:
        code = _ADDRESS.sub(" ", code)
        is_output = place == "block" and not _COMMAND.match(code)
        for path in _PATH.findall(code):
            text = path.removeprefix("./").rstrip("/.")
            if "/" in text.lstrip("/"):
                yield CodeName(text, line, place, is_output)
        code = _PATH.sub(" ", code)
    for match in _NAME.finditer(_PLACEHOLDER.sub(" ", code)):
        text = match[0]
        if _OPTION.match(text) or _COMPOUND.search(text):
            yield CodeName(text, line, place)


def _own_names(code: str, language: str) -> Iterator[str]:
    """Yield the names that a line of an example defines for itself."""
    yield from _DEFINED.findall(code)
    for group in (*_PARAMETERS.findall(code), *_DESTRUCTURED.findall(code)):
        yield from re.findall(_WORD, group)
    if language in _PROGRAMS and (assigned := _ASSIGNED.match(code)):
        yield assigned[1]


def _imported_names(code: str) -> Iterator[tuple[str, str]]:
    for module, names, others, package in _IMPORTED.findall(code):
        for name in re.findall(_WORD, names or others):
            yield fold_name(name), module or package
