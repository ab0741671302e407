"""Where a page's blocks stand: markdown-it's block rules, each asked only where it can match.

markdown-it asks eleven rules about every line. A rule's first character is known, so that most
lines need one or none: the same tokens in half the time (a test compares them with the
untouched parser). Tokens that nobody reads (a paragraph's end, a table's cells) are not kept.
"""

from collections.abc import Callable, Mapping
from typing import Any, Literal, NamedTuple

from markdown_it import MarkdownIt, rules_block
from markdown_it.common.utils import mdTrim
from markdown_it.parser_block import ParserBlock
from markdown_it.rules_block import StateBlock
from markdown_it.token import Token

from ubp.markdown.source_text import SourceText

Rule = Callable[[StateBlock, int, int, bool], bool]

# Containers open at once. markdown-it's own limit, 20, ends at ten nested lists, which outliners
# write; a page of nothing but ">" takes ten times as long at 100 as at 20, still under a second.
MAX_NESTING = 60

# What a rule's last argument says: only look whether it matches, or take the block.
_LOOK, _TAKE = True, False
_WITHOUT_LAST_LF = False


class Block(Token):
    """A token with what we read of it; `row_start`: where a table cell's row begins in the text."""

    __slots__ = ("row_start",)

    def __init__(self, kind: str, tag: str, nesting: Literal[-1, 0, 1]) -> None:
        """Set what the rules and we read, nothing else: half the time of the dataclass's own."""
        self.type = kind
        self.tag = tag
        self.nesting = nesting
        self.map: list[int] | None = None
        self.content = ""
        self.hidden = False
        self.row_start = -1


class Blocks(NamedTuple):
    """The blocks in order, and the link reference definitions by their normalised label.

    Kept are all blocks outside of containers, and inside of them what holds text: `inline`,
    `heading_open` (its `inline` follows) and `html_block`. A definition's "map" has its lines.
    """

    blocks: list[Block]
    definitions: Mapping[str, Mapping[str, Any]]


def find_blocks(source: SourceText, first_line: int = 0) -> Blocks:
    """Find the blocks of a page from a line on; lines count from 0."""
    environment: dict[str, Any] = {}
    state = _State(source, environment)
    _PARSER.block.tokenize(state, first_line, state.lineMax)
    return Blocks(state.kept, environment.get("references", {}))


class _State(StateBlock):
    """The block phase's state: keeps few tokens, and light ones."""

    def __init__(self, source: SourceText, env: dict[str, Any]) -> None:
        super().__init__("", _PARSER, env, [])
        self.src = source.text
        self.kept: list[Block] = []
        self._mark(source)

    def _mark(self, source: SourceText) -> None:
        """Note where lines begin and end, and their indents, as the base class does."""
        indents = [len(line) - len(line.lstrip(" \t")) for line in source.lines]
        lines = len(source.lines)
        if indents[-1] == len(source.lines[-1]):
            lines -= 1  # a last line of blanks without an end is none
        starts = source.starts
        self.bMarks = [*starts[:lines], len(source.text)]
        self.eMarks = [*(start - 1 for start in starts[1 : lines + 1]), len(source.text)]
        self.tShift = [*indents[:lines], 0]
        self.sCount = [
            *(
                len(line[:indent].expandtabs(4)) if indent else 0
                for line, indent in zip(source.lines[:lines], indents, strict=False)
            ),
            0,
        ]
        self.bsCount = [0] * (lines + 1)
        self.lineMax = lines

    def push(self, ttype: str, tag: str, nesting: Literal[-1, 0, 1]) -> Token:
        block = Block(ttype, tag, nesting)
        if nesting < 0:
            self.level -= 1
        block.level = self.level
        if nesting > 0:
            self.level += 1
        if ttype in _ALWAYS_KEPT or (block.level == 0 and nesting >= 0):
            self.kept.append(block)
        return block


_ALWAYS_KEPT = frozenset({"inline", "heading_open", "html_block"})


class _Parser(ParserBlock):
    """The block phase with rules chosen by a line's first character."""

    def tokenize(self, state: StateBlock, startLine: int, endLine: int) -> None:  # noqa: N803
        """Do what `ParserBlock.tokenize` does (markdown-it-py 4.3), rule by rule the same."""
        line = startLine
        has_empty_lines = False
        while line < endLine:
            state.line = line = state.skipEmptyLines(line)
            if line >= endLine or state.sCount[line] < state.blkIndent:
                break
            if state.level >= state.md.options.maxNesting:
                state.line = endLine
                break
            _find_block(state, line, endLine)
            state.tight = not has_empty_lines
            line = state.line
            if line - 1 < endLine and state.isEmpty(line - 1):
                has_empty_lines = True
            if line < endLine and state.isEmpty(line):
                has_empty_lines = True
                line += 1
                state.line = line


def _find_block(state: StateBlock, line: int, end: int) -> None:
    if state.sCount[line] - state.blkIndent >= 4:  # noqa: PLR2004 - CommonMark's indented code
        rules_block.code(state, line, end, _TAKE)
        return
    if _may_be_table(state, line, end) and _table(state, line, end):
        return
    character = state.src[state.bMarks[line] + state.tShift[line]]
    for rule in _OPENERS.get(character, ()):
        if rule(state, line, end, _TAKE):
            return
    _text(state, line, end)


def _may_be_table(state: StateBlock, line: int, end: int) -> bool:
    """Tell whether the line after this one can be a table's delimiter row."""
    if line + 1 >= end:
        return False
    start = state.bMarks[line + 1] + state.tShift[line + 1]
    return start < state.eMarks[line + 1] and state.src[start] in "|-:"


def _table(state: StateBlock, line: int, end: int) -> bool:
    assert isinstance(state, _State)  # noqa: S101 - for the type checker: we made it
    known = len(state.kept)
    if not rules_block.table(state, line, end, _TAKE):
        return False
    for block in state.kept[known:]:
        if block.type == "inline" and block.map:
            row = block.map[0]
            block.row_start = state.bMarks[row] + state.tShift[row]
    return True


def _text(state: StateBlock, first: int, end: int) -> None:
    """Take a paragraph or a heading with an underline: `lheading` and `paragraph` in one pass."""
    parent, state.parentType = state.parentType, "paragraph"
    underline = ""
    line = first + 1
    while line < state.lineMax and not state.isEmpty(line):
        indent = state.sCount[line]
        if indent - state.blkIndent <= 3:  # noqa: PLR2004 - deeper is a lazy continuation
            if line < end and indent >= state.blkIndent:
                underline = _underline(state, line)
                if underline:
                    break
            if indent >= 0 and _ends_text(state, line):
                break
        line += 1
    content = mdTrim(state.getLines(first, line, state.blkIndent, _WITHOUT_LAST_LF))
    state.line = line + 1 if underline else line
    if underline:
        heading = state.push("heading_open", "h1" if underline == "=" else "h2", 1)
        heading.map = [first, state.line]
    inline = state.push("inline", "", 0)
    inline.content = content
    inline.map = [first, line]
    if underline:
        state.push("heading_close", "", -1)
    state.parentType = parent


def _underline(state: StateBlock, line: int) -> str:
    start = state.bMarks[line] + state.tShift[line]
    marker = state.src[start]
    if marker not in "-=":
        return ""
    rest = state.src[start : state.eMarks[line]].rstrip(" \t").strip(marker)
    return "" if rest else marker


def _ends_text(state: StateBlock, line: int) -> bool:
    character = state.src[state.bMarks[line] + state.tShift[line]]
    for rule in _ENDERS.get(character, ()):
        if rule(state, line, state.lineMax, _LOOK):
            return True
    return _may_be_table(state, line, state.lineMax) and rules_block.table(
        state, line, state.lineMax, _LOOK
    )


def _definition(state: StateBlock, line: int, end: int, silent: bool) -> bool:  # noqa: FBT001
    """Take a link reference definition; `[^1]: text` is GitHub's footnote and stays text."""
    if state.src.startswith("[^", state.bMarks[line] + state.tShift[line]):
        return False
    return rules_block.reference(state, line, end, silent)


def _only_at(characters: str, rule: Rule) -> Rule:
    """Ask a rule only where a line begins with one of these characters."""

    def asked(state: StateBlock, line: int, end: int, silent: bool) -> bool:  # noqa: FBT001
        start = state.bMarks[line] + state.tShift[line]
        return state.src[start : start + 1] in characters and rule(state, line, end, silent)

    return asked


def _thematic_break(state: StateBlock, line: int, end: int, silent: bool) -> bool:  # noqa: FBT001
    """Take a thematic break; most lines that begin like one are list items."""
    start = state.bMarks[line] + state.tShift[line]
    if state.src[start : state.eMarks[line]].strip(state.src[start : start + 1] + " \t"):
        return False
    return rules_block.hr(state, line, end, silent)


_LIST: tuple[Rule, ...] = (rules_block.list_block,)
_RULE_OR_LIST: tuple[Rule, ...] = (_thematic_break, rules_block.list_block)
_ENDERS: dict[str, tuple[Rule, ...]] = {
    "`": (rules_block.fence,),
    "~": (rules_block.fence,),
    ">": (rules_block.blockquote,),
    "*": _RULE_OR_LIST,
    "-": _RULE_OR_LIST,
    "_": (_thematic_break,),
    "+": _LIST,
    "<": (rules_block.html_block,),
    "#": (rules_block.heading,),
    **dict.fromkeys("0123456789", _LIST),
}
_OPENERS: dict[str, tuple[Rule, ...]] = {**_ENDERS, "[": (_definition,)}


# What may end a list item, asked for each item by markdown-it's own list rule.
_ASKED_IN_LISTS: tuple[tuple[str, str, Rule], ...] = (
    ("fence", "`~", rules_block.fence),
    ("blockquote", ">", rules_block.blockquote),
    ("hr", "*-_", _thematic_break),
)


class _Markdown(MarkdownIt):
    """markdown-it with our block phase; a definition's target is kept as it is written."""

    def __init__(self) -> None:
        super().__init__("commonmark", {"maxNesting": MAX_NESTING})
        self.block = _Parser()
        containers = ["paragraph", "reference", "blockquote", "list"]
        for name, characters, rule in _ASKED_IN_LISTS:
            self.block.ruler.at(name, _only_at(characters, rule), {"alt": containers})

    def validateLink(self, url: str) -> bool:  # noqa: ARG002, N802 - markdown-it's name
        return True

    def normalizeLink(self, url: str) -> str:  # noqa: N802 - the same
        return url


_PARSER = _Markdown()
