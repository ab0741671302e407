"""HTML from templates: values are escaped, and line breaks of a template are not part of a page.

What a repository contains (names, titles, authors, lines of code) can be anything. So every value
that is not markup already is escaped, and characters that would reverse or hide text are shown as
escapes. In a template a line break and the indentation after it count for nothing.
"""

import os
import re
from base64 import b64encode
from collections.abc import Iterable, Iterator
from functools import cache
from hashlib import sha256
from itertools import groupby
from typing import Any

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup, escape

from ubp.checks.rules import missing_source, stale_doc
from ubp.core.model import QUIET_LEVELS, ReferenceVerdict
from ubp.core.shell import ubp_command
from ubp.frame.wording import SHORT_ID, count, day, file_stem, printable, printable_line
from ubp.git.diff import NO_FILE
from ubp.report.values import Report
from ubp.staleness.wording import COUNTED_LEVEL_WORDS, LEVEL_WORDS, time_span

_FOLDER = os.path.dirname(__file__)
_ELEMENTS = {"+": "ins", "-": "del", "@": "b"}
_LINE_BREAK = re.compile(r"\n\s*")


def render(template: str, **values: Any) -> Markup:
    """Return a template of `templates/` filled with these values."""
    return Markup(_environment().get_template(template).render(values))  # noqa: S704  # it escapes


@cache
def _environment() -> Environment:
    environment = Environment(
        autoescape=True,
        finalize=_visible,
        loader=FunctionLoader(_read_template),
        undefined=StrictUndefined,
    )
    environment.filters |= {
        "coordinate": _coordinate,
        "number": format_number,
        "path": path_text,
        "time_span": time_span,
        "percent": lambda share: f"{_coordinate(share * 100)}%",
    }
    environment.globals |= {
        "count": count,
        "day": day,
        "page_title": lambda page: page.facts.title or file_stem(page.filepath),
        "SHORT_ID": SHORT_ID,
        "QUIET_LEVELS": QUIET_LEVELS,
        "LEVEL_WORDS": LEVEL_WORDS,
        "COUNTED_LEVEL_WORDS": COUNTED_LEVEL_WORDS,
    }
    return environment


def _visible(value: Any) -> Any:
    """Return a value as it is written: markup as it is, None as nothing, hidden characters shown.

    What is not markup is escaped after this.
    """
    if isinstance(value, Markup):
        return value
    return "" if value is None else printable(str(value))


def _read_template(name: str) -> str:
    with open(os.path.join(_FOLDER, "templates", name), encoding="utf-8") as file:
        return _LINE_BREAK.sub("", file.read())


def path_text(path: str) -> Markup:
    """Return a path that may be broken into lines after its slashes."""
    return Markup("/<wbr>").join(printable(path).split("/"))


def code_line(content: str) -> Markup:
    """Return a line of a file as markup; its tabs stay."""
    return escape(printable_line(content))


def diff_blocks(lines: Iterable[str]) -> Iterator[tuple[str, Markup]]:
    """Yield a diff as elements: adjacent lines of one kind share one, to save tags."""
    for element, group in groupby(lines, key=_element):
        yield element, Markup("\n").join(map(code_line, group))


_FILE_LINES = ("--- a/", "+++ b/", f"--- {NO_FILE}", f"+++ {NO_FILE}")


def _element(line: str) -> str:
    return "b" if line.startswith(_FILE_LINES) else _ELEMENTS.get(line[:1], "span")


def format_number(number: int) -> str:
    """Return a number with its thousands apart."""
    return f"{number:,}".replace(",", "\N{NARROW NO-BREAK SPACE}")


def _coordinate(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")


def content_policy(styles: Iterable[str], scripts: Iterable[str]) -> str:
    """Return a policy that forbids everything but these styles and scripts, by their hashes."""
    return "; ".join(
        [
            "default-src 'none'",
            f"style-src {' '.join(map(_hash, styles))}",
            f"script-src {' '.join(map(_hash, scripts))}",
            "base-uri 'none'",
            "form-action 'none'",
        ]
    )


def _hash(content: str) -> str:
    return f"'sha256-{b64encode(sha256(content.encode('utf-8')).digest()).decode('ascii')}'"


def read_asset(name: str) -> Markup:
    """Return a style sheet or a script as it is."""
    with open(os.path.join(_FOLDER, name), encoding="utf-8") as file:
        return Markup(file.read())  # noqa: S704  # a file of this package


def rule_name(reference: ReferenceVerdict) -> str:
    """Return the rule of `ubp check` that reports it."""
    return missing_source.NAME if reference.verdict in missing_source.MISSING else stale_doc.NAME


def listing_command(report: Report, *words: str) -> str:
    """Return the `ubp` command that lists what a page leaves out."""
    return ubp_command(*words, keys=report.keys)
