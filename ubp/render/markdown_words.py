"""What comes from a repository, written so that no reader of Markdown takes it for markup.

It stands in code, where GitHub makes no mention, reference or link of it. Code between backticks
in a table can hold no bar that every reader understands alike; a text with one stands between
`<code>` tags, every sign that could mean something written as a character reference.
"""

import re

from ubp.model import FilePath
from ubp.render.machine import uri_of
from ubp.render.outcome import Outcome
from ubp.render.wording import printable

# A path may have 4,096 bytes and a commit's subject any number: nobody reads more in a table.
LONGEST_TEXT = 160
LONGEST_COMMIT = 90
LONGEST_MESSAGE = 300

_SIGN = re.compile(r"[^\w /-]|_")


def code(text: str, longest: int = LONGEST_TEXT) -> str:
    """A text as code, on one line, cut where it is too long."""
    shown = printable(text)
    if len(shown) > longest:
        shown = shown[: longest - 1] + "…"
    if "|" in shown or not shown.strip():
        return f"<code>{_SIGN.sub(lambda match: f'&#{ord(match[0])};', shown)}</code>"
    fence = _fence(shown, least=1)
    space = " " if len(fence) > 1 or shown != shown.strip() else ""
    return f"{fence}{space}{shown}{space}{fence}"


def place(path: FilePath, line: int | None, outcome: Outcome) -> str:
    """A page, or a line of it, and where it can be seen, if that is known."""
    shown = code(f"{path}:{line}" if line else path)
    seen = outcome.provenance
    if seen is None or seen.pages is None:
        return shown
    return f"[{shown}]({seen.pages}{uri_of(path)}{f'#L{line}' if line else ''})"


def fenced(text: str, language: str) -> str:
    """Lines of a file as a block of code, whatever fences they hold themselves."""
    fence = _fence(text, least=3)
    return f"{fence}{language}\n{text}\n{fence}\n"


def _fence(text: str, *, least: int) -> str:
    """Backticks, more than stand together anywhere in the text."""
    longest = max(map(len, re.findall("`*", text)))
    return "`" * max(least, longest + 1)
