"""Find the blocks of a page with markdown-it's block rules, each tried only where it can match.

markdown-it tries eleven rules on every line. The characters that a rule begins with are known, so
most lines need one rule or none: the same tokens in half the time (a test compares them with those
of the original parser). Tokens that are not used (a paragraph's end, a table's cells) are dropped.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Mapping
from typing import Any, Literal, NamedTuple

from markdown_it import MarkdownIt, rules_block
from markdown_it.common.utils import mdTrim
from markdown_it.parser_block import ParserBlock
from markdown_it.rules_block import StateBlock
from markdown_it.token import Token

from ubp.markdown.source_text import SourceText

# The first line of a block whose content is indented: `!!! note "Title"` (admonition), `???+ note`
# (pymdownx.details), `=== "Tab"` (pymdownx.tabbed).
_TYPE, _TITLE = r"[\w-]+(?:[ ]+[\w-]+)*", r'[ ]+"[^\n]*"'
_CONTAINER = re.compile(
    rf"(?:(?:!!!|\?\?\?\+?)[ ]?(?:{_TYPE})?(?:{_TITLE})?|===[+!]*{_TITLE})[ \t]*"
)
CONTAINER_INDENT = 4
_COMPONENT = re.compile(r"</?[A-Z]")
# A line that is a tag alone, unless what it contains is raw text.
_TAG_ALONE = re.compile(r"</?(?!(?i:pre|script|style|textarea)\b)[A-Za-z][^<>]*>[ \t]*$")
_HEADING = re.compile(r"#{1,6}[ \t]")
_MDX_COMMENT, _MDX_COMMENT_END = "{/*", "*/}"

Rule = Callable[[StateBlock, int, int, bool], bool]

# The depth of containers. markdown-it's default, 20, allows only ten nested lists, and outliners
# write more; a page of nothing but ">" takes ten times as long at 100 as at 20.
MAX_NESTING = 60

# The last argument of a rule: only test whether it matches, or consume the block.
_TEST, _CONSUME = True, False
_WITHOUT_LAST_LF = False


class Block(Token):
    """A token with only the fields that are used; `row_start`: the offset of a cell's table row."""

    __slots__ = ("row_start",)

    def __init__(self, kind: str, tag: str, nesting: Literal[-1, 0, 1]) -> None:
        """Set only the fields that are used: half the time of the dataclass's `__init__`."""
        self.type = kind
        self.tag = tag
        self.nesting = nesting
        self.map: list[int] | None = None
        self.content = ""
        self.hidden = False
        self.row_start = -1


class Blocks(NamedTuple):
    """The blocks in order, and the link reference definitions by their normalized label.

    Contains all blocks outside containers, and the blocks with text inside them: `inline`,
    `heading_open` (its `inline` follows) and `html_block`. A definition's "map" has its lines.
    """

    blocks: list[Block]
    definitions: Mapping[str, Mapping[str, Any]]


def find_blocks(source: SourceText, first_line: int = 0) -> Blocks:
    """Return the blocks of a page from a line on; lines count from 0."""
    environment: dict[str, Any] = {}
    state = _State(source, environment)
    _PARSER.block.tokenize(state, first_line, state.lineMax)
    return Blocks(state.kept, environment.get("references", {}))


class _State(StateBlock):
    """The parser's state, which keeps only the needed tokens."""

    def __init__(self, source: SourceText, env: dict[str, Any]) -> None:
        super().__init__("", _PARSER, env, [])
        self.src = source.text
        self.kept: list[Block] = []
        # the starts, ends and indents of lines, as the base class computes them
        indents = [len(line) - len(line.lstrip(" \t")) for line in source.lines]
        lines = len(source.lines)
        if indents[-1] == len(source.lines[-1]):
            lines -= 1  # a last line of blanks without a line end is not a line
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
        self._comment = range(0)

    def end_of_comment(self, start: int) -> int:
        """Return where the comment of MDX ends that begins at `start`; the text's end: nowhere."""
        if start not in self._comment:  # each part of the text is searched once
            close = self.src.find(_MDX_COMMENT_END, start)
            self._comment = range(start, (close if close >= 0 else len(self.src)) + 1)
        return self._comment[-1]

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
    """The block parser, with rules chosen by the first character of a line."""

    def tokenize(self, state: StateBlock, startLine: int, endLine: int) -> None:  # noqa: N803
        """Do the same as `ParserBlock.tokenize` (markdown-it-py 4.3)."""
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
        rules_block.code(state, line, end, _CONSUME)
        return
    if _may_be_table(state, line, end) and _table(state, line, end):
        return
    character = state.src[state.bMarks[line] + state.tShift[line]]
    for rule in _OPENERS.get(character, ()):
        if rule(state, line, end, _CONSUME):
            return
    _paragraph_or_heading(state, line, end)


def _may_be_table(state: StateBlock, line: int, end: int) -> bool:
    """Return whether the next line can be the delimiter row of a table."""
    if line + 1 >= end:
        return False
    start = state.bMarks[line + 1] + state.tShift[line + 1]
    return start < state.eMarks[line + 1] and state.src[start] in "|-:"


def _table(state: StateBlock, line: int, end: int) -> bool:
    assert isinstance(state, _State)  # noqa: S101 - for the type checker
    count = len(state.kept)
    if not rules_block.table(state, line, end, _CONSUME):
        return False
    for block in state.kept[count:]:
        if block.type == "inline" and block.map:
            row = block.map[0]
            block.row_start = state.bMarks[row] + state.tShift[row]
    return True


def _paragraph_or_heading(state: StateBlock, first: int, end: int) -> None:
    """Consume a paragraph or a setext heading: `lheading` and `paragraph` in a single pass."""
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
            if indent >= 0 and _ends_paragraph(state, line):
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
    """Return the character of a setext heading's underline, "" if the line is none."""
    start = state.bMarks[line] + state.tShift[line]
    marker = state.src[start]
    if marker not in "-=":
        return ""
    rest = state.src[start : state.eMarks[line]].rstrip(" \t").strip(marker)
    return "" if rest else marker


def _ends_paragraph(state: StateBlock, line: int) -> bool:
    character = state.src[state.bMarks[line] + state.tShift[line]]
    for rule in _ENDERS.get(character, ()):
        if rule(state, line, state.lineMax, _TEST):
            return True
    return _may_be_table(state, line, state.lineMax) and rules_block.table(
        state, line, state.lineMax, _TEST
    )


def _definition(state: StateBlock, line: int, end: int, silent: bool) -> bool:  # noqa: FBT001
    """Consume a link reference definition; `[^1]: text` is GitHub's footnote and remains text."""
    if state.src.startswith("[^", state.bMarks[line] + state.tShift[line]):
        return False
    return rules_block.reference(state, line, end, silent)


def _only_at(characters: str, rule: Rule) -> Rule:
    """Return a rule that is tried only on lines that begin with one of these characters."""

    def guarded(state: StateBlock, line: int, end: int, silent: bool) -> bool:  # noqa: FBT001
        start = state.bMarks[line] + state.tShift[line]
        return state.src[start : start + 1] in characters and rule(state, line, end, silent)

    return guarded


def _thematic_break(state: StateBlock, line: int, end: int, silent: bool) -> bool:  # noqa: FBT001
    """Consume a thematic break; most lines that begin like one are list items."""
    start = state.bMarks[line] + state.tShift[line]
    if state.src[start : state.eMarks[line]].strip(state.src[start : start + 1] + " \t"):
        return False
    return rules_block.hr(state, line, end, silent)


def _container(state: StateBlock, first: int, end: int, silent: bool) -> bool:  # noqa: FBT001
    """Consume an admonition, a collapsible block or a tab of MkDocs: its indented lines are text.

    Without indented lines it is a paragraph.
    """
    start = state.bMarks[first] + state.tShift[first]
    if silent or not _CONTAINER.fullmatch(state.src, start, state.eMarks[first]):
        return False
    indent = state.blkIndent + CONTAINER_INDENT
    line = last = first + 1
    while line < end and (state.isEmpty(line) or state.sCount[line] >= indent):
        last = last if state.isEmpty(line) else line + 1
        line += 1
    if last == first + 1:
        return False
    state.push("container_open", "div", 1).map = [first, last]
    outer = state.blkIndent, state.lineMax
    state.blkIndent, state.lineMax = indent, last
    state.md.block.tokenize(state, first + 1, last)
    state.blkIndent, state.lineMax = outer
    state.push("container_close", "div", -1)
    state.line = last
    return True


def _html(state: StateBlock, first: int, end: int, silent: bool) -> bool:  # noqa: FBT001
    """Consume a block of HTML, which ends before what only MDX reads as Markdown.

    MDX reads a tag alone on a line as a block of its own, and CommonMark all up to an empty line.
    So a heading below such tags is one, and a fence below a component.
    """
    if not silent:
        end = _end_of_html(state, first, end)
    return rules_block.html_block(state, first, end, silent)


def _end_of_html(state: StateBlock, first: int, end: int) -> int:
    is_component = _COMPONENT.match(_text(state, first)) is not None
    are_tags = _TAG_ALONE.match(_text(state, first)) is not None
    for line in range(first + 1, end):
        text = _text(state, line)
        if not text or not (is_component or are_tags):
            break
        if is_component and text.startswith(("```", "~~~")):
            return line
        if are_tags and _HEADING.match(text):
            return line
        are_tags = are_tags and _TAG_ALONE.match(text) is not None
    return end


def _text(state: StateBlock, line: int) -> str:
    """Return the text of a line without its indent."""
    return state.src[state.bMarks[line] + state.tShift[line] : state.eMarks[line]]


def _mdx_comment(state: StateBlock, first: int, end: int, silent: bool) -> bool:  # noqa: FBT001
    """Consume a comment of MDX, `{/* … */}`: nothing in it is shown."""
    start = state.bMarks[first] + state.tShift[first]
    if silent or not state.src.startswith(_MDX_COMMENT, start):
        return False
    assert isinstance(state, _State)  # noqa: S101 - for the type checker
    close = state.end_of_comment(start)
    line = bisect_right(state.bMarks, close) - 1
    if line >= end or state.src[close : state.eMarks[line]].rstrip(" \t") != _MDX_COMMENT_END:
        return False
    state.push("comment", "", 0).map = [first, line + 1]
    state.line = line + 1
    return True


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
    "<": (_html,),
    "#": (rules_block.heading,),
    **dict.fromkeys("0123456789", _LIST),
}
_OPENERS: dict[str, tuple[Rule, ...]] = {
    **_ENDERS,
    "[": (_definition,),
    "{": (_mdx_comment,),
    **dict.fromkeys("!?=", (_container,)),
}

# The rules that may end a list item, which markdown-it's list rule tries on each item.
_RULES_IN_LISTS: tuple[tuple[str, str, Rule], ...] = (
    ("fence", "`~", rules_block.fence),
    ("blockquote", ">", rules_block.blockquote),
    ("hr", "*-_", _thematic_break),
)


class _Markdown(MarkdownIt):
    """markdown-it with this block parser; a definition's target remains as written."""

    def __init__(self) -> None:
        super().__init__("commonmark", {"maxNesting": MAX_NESTING})
        self.block = _Parser()
        containers = ["paragraph", "reference", "blockquote", "list"]
        for name, characters, rule in _RULES_IN_LISTS:
            self.block.ruler.at(name, _only_at(characters, rule), {"alt": containers})

    def validateLink(self, url: str) -> bool:  # noqa: ARG002, N802 - markdown-it's name
        return True

    def normalizeLink(self, url: str) -> str:  # noqa: N802 - the same
        return url


_PARSER = _Markdown()
