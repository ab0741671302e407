"""HTML built from values: plain text is escaped on the way in, markup has a type of its own.

What a repository contains (names, titles, authors, lines of code) can be anything. So `tag` escapes
every child and every attribute that is not markup already, and characters that would reverse or
hide text are shown as escapes.
"""

import os
import re
from base64 import b64encode
from collections.abc import Iterable
from hashlib import sha256
from html import escape as escape_markup
from typing import Literal

from ubp.checks.rules import missing_source, stale_doc
from ubp.core.model import ReferenceVerdict
from ubp.core.shell import ubp_command
from ubp.output.wording import printable, printable_line
from ubp.report.values import Report

_FOLDER = os.path.dirname(__file__)
_PLACE = re.compile(r"\{\{(\w+)\}\}")
_VOID = frozenset({"br", "circle", "input", "line", "meta", "path", "rect"})

Attribute = str | int | bool | None


class Html(str):
    """Markup: text that needs no escaping any more."""

    __slots__ = ()


def text(content: str) -> Html:
    """Return a text as markup."""
    return content if isinstance(content, Html) else Html(escape_markup(printable(content)))


def code_line(content: str) -> Html:
    """Return a line of a file as markup; its tabs stay."""
    return Html(escape_markup(printable_line(content)))


def tag(name: str, *children: str | None, **attributes: Attribute) -> Html:
    """Return an element.

    `class_` is written `class`, `data_level` is `data-level`; None omits an attribute.
    """
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
    """Return a path that may be broken into lines after its slashes."""
    return Html(text(path).replace("/", "/<wbr>"))


def scrollable(table: Html, label: str) -> Html:
    """Return a table that scrolls sideways, by keyboard too, on a narrow screen."""
    return tag("div", table, class_="scroll", tabindex=0, role="group", aria_label=label)


def join(parts: Iterable[str | None], between: Literal["", "\n"] = "") -> Html:
    """Return pieces of markup one after the other."""
    return Html(between.join(text(part) for part in parts if part is not None))


def fill(template: str, **parts: str) -> Html:
    """Return a template with each `{{name}}` replaced; values are not searched again."""
    return Html(_PLACE.sub(lambda match: text(parts[match[1]]), template))


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


def read_asset(name: str) -> Html:
    """Return a file of the template."""
    with open(os.path.join(_FOLDER, name), encoding="utf-8") as file:
        return Html(file.read())


def _attribute_name(key: str) -> str:
    return key.rstrip("_").replace("_", "-")


def rule_name(reference: ReferenceVerdict) -> str:
    """Return the rule of `ubp check` that reports it."""
    return missing_source.NAME if reference.verdict in missing_source.MISSING else stale_doc.NAME


def remainder(number: int, report: Report, *words: str) -> Html | None:
    """Return how many more there are, and the `ubp` command that lists them."""
    if number <= 0:
        return None
    command = ubp_command(*words, keys=report.keys)
    return tag("p", f"and {number} more: run ", tag("code", command), class_="none")
