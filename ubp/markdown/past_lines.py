"""The lines of a page that say what was: they mention names that need not exist any more.

Light patterns, without a parser of Markdown: a hook reads every page with them.
"""

import re
from collections.abc import Iterator, Sequence

FENCE = r"^[ \t>]*(`{3,}|~{3,})[ \t]*\{?\.?(\w*)"
INLINE = r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)"

# Participles. The verbs alone say what a program does ("remove files", "can be used to"), and what
# is deprecated still exists: where it is gone, that sentence is out of date, too.
_GONE = r"(?:removed|renamed|replaced|dropped|deleted|discontinued|superseded)"
_RELEASE = r"(?:v?\d|version|release)"
_NOTICE = (
    rf"(?i)\b(?:been|was|were|be)\s+(?:\w+\s+)?{_GONE}\b|\b(?:been|was|were)\s+deprecated\b"
    rf"|\b{_GONE}\s+(?:in\b|since\b|as of\b|(?:with|from)\s+{_RELEASE})"
    rf"|\b{_GONE}\b[^.]{{0,20}}\b(?:19|20)\d\d\b|[(\[]{_GONE}[)\]]|\*\*{_GONE}\*\*"
    r"|\brenamed\s+(?:to|from)\b"
    r"|\b(?:no longer|formerly|obsolete|(?:earlier|older|previous) (?:versions?|releases?))\b"
    rf"|\b(?:prior to|before)\s+{_RELEASE}|\bin (?:versions? |v)\d[\d.]*\.x\b"
    r"|(?<!\bbe )\bused to (?:be|have|exist|live|mean)\b"
    r"|廃止|削除され|削除済"
)
# What is to be removed still exists.
_FUTURE = (
    r"(?i)\b(?:will|shall|may|might|(?<!had )to)\s+(?:\w+\s+)?be\s+(?:\w+\s+)?"
    rf"{_GONE}\b(?:\s+in\b)?"
)
# The first paragraph of a page, or of a section, whose subject is gone.
_PAGE_GONE = (
    r"(?i)\bthis\s+(?:\w+\s+){1,3}(?:was|were|is|has been|have been)\s+(?:now\s+)?"
    r"(?:removed|discontinued|superseded|archived)\b"
)
_SECTION_GONE = (
    _PAGE_GONE
    + r"|\A\W*removed\b|\b(?:was|were|has been|have been)\s+removed\s+(?:in|since|as of)\b"
)
# A version (not a numbered section), release notes, the way from one version to another.
_RECORD_HEADING = (
    r"(?i)[\W_]*(?:change[- ]?log\b|(?:(?:breaking|notable|recent|other) )?changes[\W_]*$"
    r"|release[- ]notes?\b|releases[\W_]*$|what.?s (?:new|changed)\b"
    r"|(?:version |release )?history[\W_]*$|unreleased\b|removed\b"
    r"|(?:migrat|upgrad)(?:ion|e|ing)(?: guide| notes?)?[\W_]*$"
    r"|(?:migrat|upgrad)(?:ion|e|ing) (?:from|to|away)\b"
    r"|(?:version |release )?v?\d+\.\d+[\w.+-]*(?:[\W_]*$|\]?\(http|[\W_]+\d{4}\b|[\W_]+unreleased)"
    r"|(?:\d{4}-\d\d-\d\d[\W_]+)?(?:meeting (?:notes|minutes)|minutes)\b|\d{4}-\d\d-\d\d\b"
    r"|.*[(\[]removed\b|変更履歴|リリースノート)"
)
_HEADING = r" {0,3}(#{1,6})[ \t]+(.*)"
_UNDERLINE = r" {0,3}(?:(=+)|-{2,})[ \t]*$"
# A longer line is not a heading that people wrote; some patterns take its square.
_MAX_HEADING = 200
# Lines of a first paragraph, with the markers of an admonition around it.
_MAX_OPENING = 8


def has_notice(line: str) -> bool:
    """Return whether the prose of a line says that something is gone, or was otherwise."""
    prose = re.sub(INLINE, "``", line)
    if not re.search(_NOTICE, prose):
        return False
    return re.search(_NOTICE, re.sub(_FUTURE, "", prose)) is not None


def find_record_lines(lines: Sequence[str]) -> frozenset[int]:
    """Return the lines, from 0, of sections that record the past; all where the page does.

    A section ends before the next heading of its level.
    """
    headings = list(_headings(lines))
    if _is_gone(lines, 0, headings[0][0] if headings else len(lines), _PAGE_GONE):
        return frozenset(range(len(lines)))
    found: set[int] = set()
    for number, (line, level, text) in enumerate(headings):
        end = headings[number + 1][0] if number + 1 < len(headings) else len(lines)
        gone = _SECTION_GONE if number else _PAGE_GONE
        if re.match(_RECORD_HEADING, text) or _is_gone(lines, line + 1, end, gone):
            following = (other for other, depth, _ in headings[number + 1 :] if depth <= level)
            found.update(range(line, next(following, len(lines))))
    return frozenset(found)


def _headings(lines: Sequence[str]) -> Iterator[tuple[int, int, str]]:
    """Yield the line, level and text of each heading."""
    fence = above = ""
    for number, line in enumerate(lines):
        opening = re.match(FENCE, line)
        if fence:
            if opening and opening[1].startswith(fence) and not line.strip(" \t>`~"):
                fence = ""
        elif opening:
            fence = opening[1]
        elif heading := re.match(_HEADING, line):
            yield number, len(heading[1]), heading[2][:_MAX_HEADING]
        elif above and (underline := re.match(_UNDERLINE, line)):
            yield number - 1, 1 if underline[1] else 2, above[:_MAX_HEADING]
        above = "" if fence or line.lstrip().startswith(("#", "|", "-", ">")) else line.strip()


def _is_gone(lines: Sequence[str], start: int, end: int, pattern: str) -> bool:
    opening = [line for line in lines[start:end] if line.strip()][:_MAX_OPENING]
    return re.search(pattern, re.sub(INLINE, "``", "\n".join(opening))) is not None
