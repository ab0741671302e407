"""Help texts: two columns, plain, as wide as the terminal; the rich library only measures it."""

import textwrap
from typing import Any

from cyclopts.help import HelpEntry, HelpPanel

from ubp.cli.terminal import Terminal

NARROWEST, WIDEST = 60, 100
LABEL_WIDTH = 26

# What an option's value is called; cyclopts would say STR.
VALUES = {
    "--base": "REV",
    "--ref": "REV",
    "--days": "N",
    "--limit": "N",
    "--depth": "N",
    "--center": "PAGE",
    "--doc-type": "TYPE",
    "--tag": "TAG",
    "--link-type": "TYPE",
    "--key": "NAME",
    "--rule": "NAME",
    "--fail-on": "LEVEL",
    "--reason": "TEXT",
    "--file": "PATH",
    "--format": "NAME",
    "--output-file": "FORMAT=PATH",
    "--html": "[FILE]",
    "--output": "FILE",
    "--commits": "N",
    "--weeks": "N",
    "--label": "TEXT",
    "--cwd": "PATH",
}


class Help:
    """Prints what cyclopts found out about a command."""

    def __init__(self, terminal: Terminal) -> None:
        self._terminal = terminal

    def __call__(self, console: Any, options: Any, panel: HelpPanel) -> None:  # noqa: ARG002  # theirs
        """Print one group of commands, arguments or options."""
        width = min(max(console.width, NARROWEST), WIDEST)
        rows = [(_label(entry), _description(entry)) for entry in panel.entries]
        if not rows:
            return
        indent = min(max(len(label) for label, _ in rows), LABEL_WIDTH) + 4
        lines = [self._terminal.style.bold(f"{_plain(panel.title)}:")]
        for label, description in rows:
            text = textwrap.wrap(description, width - indent) or [""]
            if len(label) > indent - 4:
                lines.append(f"  {label}")
                label = ""  # noqa: PLW2901 - it stands on a line of its own
            lines.append(f"  {label:<{indent - 2}}{text[0]}".rstrip())
            lines += [" " * indent + line for line in text[1:]]
        self._terminal.write("\n".join(lines) + "\n\n")

    def render_usage(self, _console: Any, _options: Any, usage: Any) -> None:
        """Print how a command is called."""
        self._terminal.write(f"Usage: {_plain(usage)}\n\n")

    def render_description(self, console: Any, _options: Any, description: Any) -> None:
        """Print what a command does."""
        width = min(max(console.width, NARROWEST), WIDEST)
        paragraphs = _plain(description).split("\n\n")
        self._terminal.write("\n\n".join(textwrap.fill(p, width) for p in paragraphs) + "\n\n")


def _label(entry: HelpEntry) -> str:
    if entry.positional_label:
        return entry.positional_label
    value = VALUES.get(entry.positive_names[0], "") if entry.positive_names else ""
    names = [*entry.positive_shorts, *entry.positive_names]
    return ", ".join(names) + (f" {value}" if value else "")


def _description(entry: HelpEntry) -> str:
    text = _plain(entry.description)
    return f"{text} One of: {', '.join(entry.choices)}." if entry.choices else text


def _plain(text: Any) -> str:
    """The text of what cyclopts wraps for rich: its own InlineText, rich's Text, or a string."""
    whole = [getattr(text, "primary_renderable", text), *getattr(text, "texts", ())]
    words = (str(getattr(part, "plain", part) or "").strip() for part in whole)
    return " ".join(word for word in words if word)
