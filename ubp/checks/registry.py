"""The table of rules."""

import inspect
from collections.abc import Callable, Iterator, Sequence
from types import ModuleType
from typing import NamedTuple

from ubp.checks.context import RuleContext
from ubp.checks.finding import Finding, Setting
from ubp.checks.rules import (
    ambiguous_link,
    bad_front_matter,
    broad_source,
    broken_link,
    missing_anchor,
    missing_source,
    obsolete_debt,
    orphan_doc,
    stale_doc,
    unknown_link_type,
)
from ubp.core.errors import UsageError
from ubp.core.text import closest_name


class Rule(NamedTuple):
    """A rule: its module, which holds its manual, name and function; its severity by default."""

    module: ModuleType
    severity: Setting

    @property
    def name(self) -> str:
        """What it is called everywhere."""
        return str(self.module.NAME)

    @property
    def find(self) -> Callable[[RuleContext], Iterator[Finding]]:
        """The function that finds."""
        found: Callable[[RuleContext], Iterator[Finding]] = self.module.find
        return found

    @property
    def summary(self) -> str:
        """The first line of its manual."""
        return self.manual.partition("\n")[0]

    @property
    def manual(self) -> str:
        """What `ubp explain` prints."""
        return inspect.cleandoc(self.module.__doc__ or "")


RULES = (
    Rule(stale_doc, "error"),
    Rule(missing_source, "error"),
    Rule(broken_link, "error"),
    Rule(missing_anchor, "warning"),
    Rule(ambiguous_link, "warning"),
    Rule(unknown_link_type, "warning"),
    Rule(orphan_doc, "off"),
    Rule(broad_source, "off"),
    Rule(bad_front_matter, "warning"),
    Rule(obsolete_debt, "error"),
)
NAMES = tuple(rule.name for rule in RULES)
# The rules that ask Git what became of sources: where history is too short, they cannot answer.
VERIFYING = frozenset({stale_doc.NAME, missing_source.NAME})


def find_rules(names: Sequence[str]) -> tuple[Rule, ...]:
    """The rules of these names, in the table's order.

    Raises:
        UsageError: there is no such rule.
    """
    for name in names:
        if name not in NAMES:
            raise _no_rule(name)
    return tuple(rule for rule in RULES if rule.name in names)


def _no_rule(name: str) -> UsageError:
    closest = closest_name(name, NAMES)
    guess = f"Did you mean {closest}? " if closest else ""
    return UsageError(
        f"There is no rule {name}.",
        cause=f"The rules are {', '.join(NAMES)}.",
        hint=f"{guess}`ubp explain` tells what each of them finds.",
    )
