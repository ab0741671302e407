"""The names that a page mentions in inline code, code blocks and front matter."""

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from typing import Literal, NamedTuple

from ubp.core.names import (
    fold_name,
    is_camel_case,
    is_constant,
    is_dunder,
    name_key,
    name_words,
)
from ubp.markdown.past_lines import FENCE, INLINE, find_record_lines, has_notice

# The patterns are compiled when they are first used: a hook needs few of them.
Place = Literal["inline", "block", "front matter"]

# Per page; one with more is generated.
MAX_NAMES = 10_000
# A line of code as long was made by a machine, and some patterns take its square.
MAX_CODE = 2_000
# A name with this many words is rarely an example's own: the example repeats what a source defines.
MIN_EXCERPT_WORDS = 3

# `--storage.wal.limit`: options alone have dots in their names.
_NAME = r"(?<![\w%-])(?:--[A-Za-z][\w-]*(?:\.[A-Za-z][\w-]*)+|-{0,2}[A-Za-z_]\w*(?:-\w+)*)"
_DIRECTIVE = r"^:::[ \t]+([\w.]+)"
_COMMENT = r"(?s)<!--.*?(?:-->|\Z)"
_COMPOUND = r"[A-Za-z0-9]_[A-Za-z0-9]|[a-z0-9][A-Z]|[A-Z]{2}[a-z]"
_OPTION = r"--[A-Za-z]"
_ADDRESS = r"\w+://\S+"
_PATH = r"(?<![\w$}>*/:])(?:[\w.@~+-]*/)+[\w.@~+-]*(?![*{$<])"
# `reader/reader` is an image then.
_CONTAINER = r"[ \t]*(?:[$>%#][ \t]+)?(?:sudo[ \t]+)?(?:docker|podman)[ \t]+(?:run|pull)[ \t]"
_COMMAND = (
    r"[ \t]*(?:[$>%#][ \t]|\./|(?:bash|sh|zsh|source|python3?|node|deno|bun|npx|npm|pnpm|yarn"
    r"|make|cd|cat|cp|mv|vim|code|go|cargo|uv|pip|docker|git)[ \t])"
)
# A line of a log, which shows what a program said once, as do the lines below it.
_LOG = (
    r"[ \t]*(?:[\[({\"']{0,2}\d{4}-\d\d-\d\d[T ]\d\d:\d\d"
    r"|\{\"(?:level|ts|time|timestamp|msg|severity)\":"
    r"|(?:time|ts|level)=\S+ |[A-Z](?:\d{4} |\[\d\d-\d\d\|)\d\d:\d\d:\d\d)"
)
_PROMPT = r"[ \t]*\$[ \t]"
# A field that only the cluster writes: the block shows what `kubectl get` printed. Generated
# manifests have it without a value.
_FROM_CLUSTER = (
    r"(?m)^[ \t>]*(?:managedFields|resourceVersion|selfLink|creationTimestamp):(?![ \t]*null)"
)
# Programs whose options pages give beside those of their project.
_OTHER_PROGRAM = (
    r"[ \t]*(?:[$>%#][ \t]+)?(?:sudo[ \t]+)?(apt(?:-get)?|brew|cargo|cmake|curl|docker(?:-compose)?"
    r"|gcloud|gh|git|go|gpg|helm|kubectl|make|nix|npm|openssl|pip3?|pipx|pnpm|podman|rsync|ssh"
    r"|systemctl|tar|uv|wget|yarn)[ \t]"
)
# Any other program at the head of a command: `$ sudo NAME=1 program --option`.
_PROGRAM = (
    r"[ \t]*(?:[$>%#][ \t]+)?(?:sudo[ \t]+)?(?:\w+=\S+[ \t]+)*"
    r"(?:(?:npx|uvx|pnpx|bunx|pipx[ \t]+run)[ \t]+)?([a-z][\w.-]*\w)[ \t]"
)
# A name that is not compound counts if nothing else is in its inline code: `Outcome`, `a.run()`,
# an option of a program in Go: `-read-timeout`, and a header: `X-Read-Timeout`.
_WORD_ALONE = (
    r"[ \t]*(?:(?:[A-Za-z_]\w*(?:\.|::))*([A-Za-z_]\w*)(?:\.|::))?"
    r"([A-Za-z][a-z0-9]{3,}(?:-[a-z0-9]+)*|-?[a-z][a-z0-9]*(?:-[a-z0-9]+)+|[A-Z]{5,}"
    r"|[A-Z][A-Za-z0-9]*(?:-[A-Za-z0-9]+)+)"
    r"(?:\(\))?[ \t]*"
)
_QUALIFIER = r"([A-Za-z_]\w*)(?:\(\))?(?:\.|::|\?\.|->|#)$"
_QUALIFIER_ENDS = (".", "::", "->", "#")
# What the reader is to replace, as in `--name <file_name>`.
_PLACEHOLDER = r"<[\w -]+>|(?<!\$)\{\w+\}"
_WORD = r"[A-Za-z_]\w*"
# A type that a page declares may be shown, and not made: `interface Options {` with its fields.
_DEFINED = (
    r"\b(?:def|class|function|func|fn|const|let|var|for|as|data|newtype)[ \t]+"
    rf"(?:\([^)]*\)[ \t]*)?({_WORD})"
)
_DECLARED = rf"\b(?:def|class|function|func|fn)[ \t]+(?:\([^)]*\)[ \t]*)?({_WORD})"
_ITEM = r"[ \t]*(?:[-*+]|\|)[ \t]+[*_\[]*`"
_PARAMETERS = r"\b(?:def|function|func|fn|async)\b[^(\n]*\(([^)\n]*)"
_ASSIGNED = rf"^[ \t>]*(?:\w+[ \t]+)??({_WORD})(?:[ \t]*,[ \t]*{_WORD})*[ \t]*(?::[^=]+)?:?=(?!=)"
_SET = rf"{_WORD}[ \t]*="
# A variable that a program gets: `LEVEL=1 program`.
_FOR_COMMAND = r"[ \t>$]*(?:\w+=\S*[ \t]+)+[\w./-]"
_DESTRUCTURED = r"\b(?:const|let|var)[ \t]*[{\[]([^}\]\n]*)[}\]]"
_IMPORTED = (
    r"\bfrom[ \t]+([\w.]+)[ \t]+import[ \t]+\(?([^)\n]*)"
    r"|\bimport[ \t]+(?:type[ \t]+)?\{?([^}'\"\n]*)\}?[ \t]*from[ \t]*['\"]([^'\"\n]+)"
)
_SCRIPTS = frozenset(
    {"javascript", "js", "jsx", "typescript", "ts", "tsx", "mjs", "cjs", "mts", "cts"}
    | {"vue", "svelte"}
)
# Languages that declare variables with a keyword or type. Without one, `name = …` is a setting
# (`dump_signal = "QUIT"`) or a named argument; indented, in scripts, a field of a class.
_DECLARING = _SCRIPTS | frozenset(
    {"go", "golang", "rust", "rs", "java", "kotlin", "swift", "c", "cpp", "csharp", "cs", "scala"}
    | {"dart", "zig"}
)
# Languages in which `name = …` otherwise binds a variable of the example, and no key of a
# configuration.
_PROGRAMS = _DECLARING | frozenset(
    {"python", "py", "pycon", "python3", "ruby", "rb", "php", "bash", "sh", "shell", "console"}
    | {"zsh", "julia", "jl", "lua", "elixir", "r", "perl", "groovy", "nix", "graphql", "gql"}
)
_SHELLS = frozenset({"bash", "sh", "shell", "console", "zsh"})


# The number of a line, code in it, where it is, and the language of its block.
_Code = tuple[int, str, Place, str]


class CodeName(NamedTuple):
    """A name as a page writes it in code, its line (from 1) and where it is."""

    text: str
    line: int
    place: Place
    is_output: bool = False
    """Whether it is a path in a block, but not in a command: a program may have printed it."""
    is_program: bool = False
    """Whether it is in a block in a programming language."""
    command: str = ""
    """The program that gets it as an option; "" if the line begins with none."""
    is_known_program: bool = False
    """Whether that program is one whose options many projects' pages give."""
    qualifier: str = ""
    """The name before it: `History` in `History.pushState()`."""
    is_word: bool = False
    """Whether it is a single word, or words with hyphens, which is all of its inline code."""

    @property
    def is_option(self) -> bool:
        """Whether it is a command-line option."""
        return self.text.startswith("--")

    @property
    def is_path(self) -> bool:
        """Whether it is a path of at least two parts, or a folder with a slash at its end."""
        return "/" in self.text

    @property
    def key(self) -> int:
        """The number that stands for it in the index, the same for all spellings of a name."""
        return name_key(self.text if self.is_path else fold_name(self.text))

    @property
    def spelling(self) -> str:
        """A word, an option without its dashes, `readTimeout` or `READ_TIMEOUT`; of others ""."""
        is_spelled = (
            self.is_word or self.is_option or is_camel_case(self.text) or is_constant(self.text)
        )
        return self.text.lstrip("-") if is_spelled else ""


class CodeNames(NamedTuple):
    """The names in a page's code, without those that are its examples' own.

    `imported` has the modules from which examples import a folded name.
    """

    names: tuple[CodeName, ...]
    imported: Mapping[str, str]


def read_code_names(data: bytes) -> CodeNames:
    """Return the compound names, options and paths in a page's code, in its order."""
    from ubp.markdown.front_matter import read_front_matter  # it imports YAML

    body = read_front_matter(data, ()).body
    first_line = data.count(b"\n", 0, body) + 1
    head = data[:body].decode("utf-8", "replace")
    text = data[body:].decode("utf-8", "replace")
    text = re.sub(_COMMENT, lambda comment: "\n" * comment[0].count("\n"), text)
    names: list[CodeName] = []
    own: set[str] = set()
    documented: set[str] = set()
    imported: dict[str, str] = {}
    for number, line in enumerate(head.split("\n"), 1):
        names += _names(line, number, "front matter") if len(line) <= MAX_CODE else ()
    lines = text.split("\n")
    records = find_record_lines(lines)
    # A table of contents still lists what its section calls removed.
    headings = [lines[number] for number in records if lines[number].startswith("#")]
    removed = {name.text for line in headings for name in _names(line[:MAX_CODE], 0, "inline")}
    for number, code, place, language in _commands(_without_output(_code(lines, first_line))):
        if len(code) > MAX_CODE or number - first_line in records:
            continue
        is_program = place == "block" and language in _PROGRAMS - _SHELLS
        found = [name._replace(is_program=is_program) for name in _names(code, number, place)]
        names += found
        if place == "block":
            shown = _shown_name(code, lines, number - first_line)
            own.update(name for name in _own_names(code, language) if name != shown)
            imported.update(_imported_names(code))
        elif documents(lines[number - first_line], code):
            documented.update(name.text for name in found)
        if len(names) > MAX_NAMES:
            break
    # What a page documents an example may define, too.
    own = {name for name in own - documented if len(name_words(name)) < MIN_EXCERPT_WORDS}
    hidden = removed | own
    return CodeNames(tuple([name for name in names if name.text not in hidden]), imported)


def _code(lines: list[str], first: int) -> Iterator[_Code]:
    """Yield the code of each line with its number; of a block with its language."""
    fence = language = ""
    for number, line in enumerate(lines, first):
        match = re.match(FENCE, line)
        if fence:
            if match and match[1].startswith(fence) and not line.strip(" \t>`~"):
                fence = ""
            else:
                yield number, line, "block", language
        elif match:
            fence, language = match[1], match[2].lower()
        elif directive := re.match(_DIRECTIVE, line):
            yield number, directive[1], "inline", ""
        elif "`" in line and not has_notice(line):
            for inline in re.finditer(INLINE, line):
                yield number, inline[2], "inline", ""


def _without_output(code: Iterator[_Code]) -> Iterator[_Code]:
    """Yield code without lines of logs, and without blocks that show objects of a cluster."""

    def block_of(numbered: tuple[int, _Code]) -> int | None:
        number, (line, _, place, _) = numbered
        return line - number if place == "block" else None  # the fence between two is a line, too

    for _, group in groupby(enumerate(code), block_of):
        lines = [line for _, line in group]
        is_block = lines[0][2] == "block"
        if is_block and re.search(_FROM_CLUSTER, "\n".join(text for _, text, *_ in lines)):
            continue
        is_log = False
        for line in lines:
            text = line[1]
            is_log = is_block and (
                re.match(_LOG, text) is not None
                or (is_log and bool(text.strip()) and not re.match(_PROMPT, text))
            )
            if not is_log:
                yield line


def _commands(code: Iterable[_Code]) -> Iterator[_Code]:
    """Yield code with the program of a command before each line that continues it."""
    program = ""
    for number, text, place, language in code:
        is_continued = place == "block" and text.rstrip().endswith("\\")
        own = re.match(_PROGRAM, text)
        if program and place == "block":
            yield number, f"{program} {text}", place, language
        else:
            program = own[1] if own else ""
            yield number, text, place, language
        program = program if is_continued else ""


def _names(code: str, line: int, place: Place) -> Iterator[CodeName]:
    if "/" in code:
        code = re.sub(_ADDRESS, " ", code)
        is_output = place == "block" and not re.match(_COMMAND, code)
        is_container = re.match(_CONTAINER, code)
        for path in () if is_container else re.findall(_PATH, code):
            text = path.removeprefix("./").rstrip("/.")
            if "/" in text.lstrip("/"):
                yield CodeName(text, line, place, is_output)
            elif place == "inline" and path == code.strip() and text:
                yield CodeName(f"{text}/", line, place)
        code = re.sub(_PATH, " ", code)
    known = re.match(_OTHER_PROGRAM, code)
    program = known or re.match(_PROGRAM, code)
    passed_on = code.find(" -- ")  # `npm run program -- --option`
    code = re.sub(_PLACEHOLDER, " ", code)
    if place == "inline" and (word := re.fullmatch(_WORD_ALONE, code)):
        yield CodeName(word[2], line, place, qualifier=word[1] or "", is_word=True)
        return
    for match in re.finditer(_NAME, code):
        text = match[0]
        if re.match(_OPTION, text):
            if program and not 0 <= passed_on < match.start():
                yield CodeName(text, line, place, command=program[1], is_known_program=bool(known))
            else:
                yield CodeName(text, line, place)
        elif re.search(_COMPOUND, text) or is_dunder(text):
            before = code[: match.start()]
            # The search takes long in a long line.
            is_qualified = before.endswith(_QUALIFIER_ENDS)
            qualifier = re.search(_QUALIFIER, before) if is_qualified else None
            yield CodeName(text, line, place, qualifier=qualifier[1] if qualifier else "")


def documents(line: str, code: str) -> bool:
    """Return whether inline code is in a heading, or begins an item or row, perhaps qualified."""
    item = re.match(_ITEM, line)
    if item is None:
        return line.startswith("#")
    before, found, _ = line[item.end() :].partition(code)
    return bool(found) and re.fullmatch(r"(?:\w+\.)*", before) is not None


def _own_names(code: str, language: str) -> Iterator[str]:
    """Yield the names that a line of an example defines for itself."""
    yield from re.findall(_DEFINED, code)
    for group in (*re.findall(_PARAMETERS, code), *re.findall(_DESTRUCTURED, code)):
        yield from re.findall(_WORD, group)
    if language in _SHELLS and re.match(_FOR_COMMAND, code):
        return
    start = code if language in _SCRIPTS else code.lstrip(" \t>")
    if language in _DECLARING and re.match(_SET, start):
        return
    if language in _PROGRAMS and (assigned := re.match(_ASSIGNED, code)):
        yield assigned[1]


def _shown_name(code: str, lines: list[str], number: int) -> str:
    """Return the name of a function or class of which a block shows the head alone, as of an API.

    It is on the line of this number (from 0).
    """
    declared = re.search(_DECLARED, code)
    below = lines[number + 1].strip() if number + 1 < len(lines) else ""
    is_head = declared and (below in {"...", "…"} or re.match(FENCE, below))
    return declared[1] if declared and is_head else ""


def _imported_names(code: str) -> Iterator[tuple[str, str]]:
    for module, names, others, package in re.findall(_IMPORTED, code):
        for name in re.findall(_WORD, names or others):
            yield fold_name(name), module or package
