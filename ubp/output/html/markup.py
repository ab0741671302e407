"""HTML built from values: a plain text is escaped wherever it comes in, markup is a type.

What a repository holds (names, titles, authors, lines of code) can be anything. So nothing is ever
put into markup as it is: `tag` escapes every child and every attribute that is not markup already,
and characters that would turn a text around or hide it are shown as escapes.
"""

import os
import re
from collections.abc import Iterable
from html import escape as escape_markup
from typing import Literal

from ubp.core.model import ReferenceVerdict
from ubp.core.shell import ubp_command
from ubp.output.wording import printable, printable_line
from ubp.report.values import Report

_FOLDER = os.path.dirname(__file__)
_PLACE = re.compile(r"\{\{(\w+)\}\}")
_VOID = frozenset({"br", "circle", "input", "line", "meta", "path", "rect"})

Attribute = str | int | bool | None


class Html(str):
    """Markup: a text that needs no escaping any more."""

    __slots__ = ()


def text(content: str) -> Html:
    """A text as markup."""
    return content if isinstance(content, Html) else Html(escape_markup(printable(content)))


def code_line(content: str) -> Html:
    """A line of a file as markup; its tabs stay."""
    return Html(escape_markup(printable_line(content)))


def tag(name: str, *children: str | None, **attributes: Attribute) -> Html:
    """An element. `class_` is written `class`, `data_level` is `data-level`; None: no attribute."""
    written = "".join(
        f" {_attribute_name(key)}" + ("" if value is True else f'="{text(str(value))}"')
        for key, value in attributes.items()
        if value is not None and value is not False
    )
    if name in _VOID:
        return Html(
            f"<{name}{written}>" if name in {"br", "input", "meta"} else f"<{name}{written}/>"
        )
    return Html(f"<{name}{written}>{join(children)}</{name}>")


def path_text(path: str) -> Html:
    """A path that may be broken into lines behind its slashes."""
    return Html(text(path).replace("/", "/<wbr>"))


def scrollable(table: Html, label: str) -> Html:
    """A table that may be wider than a telephone: the keyboard, too, can get to its end."""
    return tag("div", table, class_="scroll", tabindex=0, role="group", aria_label=label)


def join(parts: Iterable[str | None], between: Literal["", "\n"] = "") -> Html:
    """Several pieces one behind the other."""
    return Html(between.join(text(part) for part in parts if part is not None))


def fill(template: str, **parts: str) -> Html:
    """A template with `{{name}}` replaced; what is put in is not looked through again."""
    return Html(_PLACE.sub(lambda match: text(parts[match[1]]), template))


def read_asset(name: str) -> Html:
    """A file of the template."""
    with open(os.path.join(_FOLDER, name), encoding="utf-8") as file:
        return Html(file.read())


def _attribute_name(key: str) -> str:
    return key.rstrip("_").replace("_", "-")


STALE, MISSING = "stale-doc", "missing-source"
_GONE = frozenset({"deleted", "moved", "not_found"})


def rule_words(answer: ReferenceVerdict) -> str:
    """The rule of `ubp check` that finds it."""
    return MISSING if answer.verdict in _GONE else STALE


def remainder(number: int, report: Report, *words: str) -> Html | None:
    """How many more there are than are shown, and the `ubp` command that lists them."""
    if number <= 0:
        return None
    command = ubp_command(*words, keys=report.keys)
    return tag("p", f"and {number} more, which ", tag("code", command), " lists.", class_="none")
