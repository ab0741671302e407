"""`ubp explain` for people."""

from collections.abc import Sequence

from ubp.check.table import Rule
from ubp.render.ansi import Style


def manuals_text(rules: Sequence[Rule], style: Style) -> str:
    """The manuals, one below the other."""
    return "\n\n".join(
        f"{style.bold(rule.name)} ({rule.severity})\n\n{rule.manual}" for rule in rules
    ).join(["", "\n"])


def rules_text(rules: Sequence[Rule], style: Style) -> str:
    """A line for each rule."""
    width = max(len(rule.name) for rule in rules)
    names = [style.bold(rule.name) + " " * (width - len(rule.name)) for rule in rules]
    lines = [
        f"{name}  {rule.severity:<7}  {rule.summary}"
        for name, rule in zip(names, rules, strict=True)
    ]
    return "\n".join([*lines, "", "`ubp explain RULE` prints its manual."]) + "\n"
