"""Whose name a page mentions, by the sentence around it: this repository's, or another project's.

Pages also mention what other packages, programs and standards have: `pushState` of HTML5, or a key
of the OpenTelemetry collector. The same name may be one of ours by chance.
"""

import re
from collections.abc import Callable, Sequence

# Lines around a mention; a longer paragraph is a table or was made by a machine.
MAX_LINES = 12
MAX_CHARACTERS = 2_000
# Shorter words of an address are of every one: `en`, `v2`.
MIN_WORD = 3

_BREAK = r"\s*$|\s*(?:[-*+]|\d+[.)])\s|\s*[|>#]|\s*(?:```|~~~)"
_SENTENCE = r"(?<=[.!?])[ \n]+(?=[A-Z`*_\[(])"
_PROPER = r"[A-Z][\w.+#]*\w"
# `HTML5's `, `OpenTelemetry option `, `RequireJs config for ` before the mention
_BEFORE = (
    rf"\b({_PROPER})(?:'|\u2019)s\s+(?:[\w-]+\s+){{0,2}}(?:\(?e\.g\.,?\s+)?[`\[\w*.()]*$",
    rf"\b((?=\w*[a-z0-9][A-Z]|\w*[A-Z]{{2}}\w*\d){_PROPER})\s+(?:[\w-]+\s+){{0,2}}[`\[]*$",
)
# ` option of rsync`, ` provided by Acorn` after it
_AFTER = (
    rf"^[\w.*()]*`?\]?(?:\([^)]*\)|\[[^\]]*\])?\s+(?:[\w-]+\s+){{0,2}}"
    rf"(?:of|from|by)\s+(?:the\s+)?`?({_PROPER}|[a-z][\w-]+(?=`))`?"
)
# "the `django-filter` library includes …": wherever it is in the sentence.
_PACKAGE = (
    r"`([\w.@/-]+)`?\s+(?:packages?|library|crate|gem|plug-?in|extension|add-?on)\b"
    r"|\b(?:packages?|library|crate|gem|plug-?in)\s+`([\w.@/-]+)`"
)
_LINK = r"\[(`[^`\n]+`)\](?:\((<?[^)\s]*)\)?|\[([^\]\n]*)\]|(?!:))"
_SITE = r"<?(?:https?:)?//"
_COMMIT = r"/[0-9a-f]{40}(?:/|$)"


def is_of_others(
    lines: Sequence[str], number: int, name: str, is_ours: Callable[[str], bool]
) -> bool:
    """Return whether a line of prose (from 1) says that a name in it belongs to another project.

    It is the text of a link to a site that has no word of ours in its address, or to a commit,
    whose names need not exist any more; or its sentence gives it an owner. `is_ours` is asked
    whether a word is the name of something in this repository.
    """
    line = lines[number - 1][:MAX_CHARACTERS]
    position = line.find(name)
    if position < 0:
        return False
    target = find_link_target(lines, number, position)
    if target and re.match(_SITE, target):
        if re.search(_COMMIT, target):
            return True
        words = re.split(r"[./:#?=&_()<>-]+", target.partition("//")[2])
        return not any(is_ours(word) for word in words if len(word) >= MIN_WORD)
    before, after = _sentence(lines, number, position, len(name))
    owners = [match[1] for pattern in _BEFORE if (match := re.search(pattern, before))]
    owners += [match[1] for match in [re.search(_AFTER, after)] if match]
    for around in (before, after):
        owners += [first or second for first, second in re.findall(_PACKAGE, around)]
    return any(not is_ours(owner) for owner in owners)


def find_link_target(lines: Sequence[str], number: int, position: int) -> str | None:
    """Return the target of the link whose text is the code at a position of a line (from 1).

    None: it is in no such link.
    """
    for link in re.finditer(_LINK, lines[number - 1][:MAX_CHARACTERS]):
        if link.start() <= position < link.end(1):
            if link[2]:
                return link[2]
            label = f"[{link[3] or link[1]}]:".lower()
            found = (line.strip() for line in lines if line.strip().lower().startswith(label))
            return next((line[len(label) :].strip() for line in found), None)
    return None


def _sentence(lines: Sequence[str], number: int, position: int, length: int) -> tuple[str, str]:
    """Return what stands before and after a part of a line in its sentence."""
    start = end = number - 1
    while start > max(0, number - MAX_LINES) and not re.match(_BREAK, lines[start]):
        if re.match(r"\s*$", lines[start - 1]):
            break
        start -= 1
    while end + 1 < min(len(lines), number + MAX_LINES) and not re.match(_BREAK, lines[end + 1]):
        end += 1
    line = lines[number - 1]
    before = "\n".join([*lines[start : number - 1], line[:position]])[-MAX_CHARACTERS:]
    after = "\n".join([line[position + length :], *lines[number : end + 1]])[:MAX_CHARACTERS]
    return re.split(_SENTENCE, before)[-1], re.split(_SENTENCE, after)[0]
