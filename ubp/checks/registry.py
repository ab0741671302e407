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
    ignored_fragment,
    missing_anchor,
    missing_source,
    obsolete_debt,
    orphan_doc,
    relaxed_check,
    removed_name,
    stale_doc,
    stale_translation,
    unbound_page,
    unknown_link_type,
)
from ubp.core.errors import UsageError
from ubp.core.text import closest_name


class Rule(NamedTuple):
    """A rule: its module, whose docstring is its manual, and its default severity."""

    module: ModuleType
    severity: Setting

    @property
    def name(self) -> str:
        """Its name in commands, comments and the configuration."""
        return str(self.module.NAME)

    @property
    def find(self) -> Callable[[RuleContext], Iterator[Finding]]:
        """Its function, which yields findings."""
        find: Callable[[RuleContext], Iterator[Finding]] = self.module.find
        return find

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
    Rule(unbound_page, "error"),
    Rule(removed_name, "error"),
    Rule(broken_link, "error"),
    Rule(missing_anchor, "warning"),
    Rule(ambiguous_link, "warning"),
    Rule(unknown_link_type, "warning"),
    Rule(orphan_doc, "off"),
    Rule(broad_source, "off"),
    Rule(bad_front_matter, "warning"),
    Rule(ignored_fragment, "warning"),
    Rule(obsolete_debt, "error"),
    Rule(relaxed_check, "warning"),
    Rule(stale_translation, "warning"),
)
NAMES = tuple(rule.name for rule in RULES)
# The rules that compare sources with history: in a shallow clone it may be too short for them.
VERIFYING = frozenset({stale_doc.NAME, missing_source.NAME})
# The rules that find in a change only what it introduces.
COMPARING = VERIFYING | {removed_name.NAME, stale_translation.NAME, unbound_page.NAME}


def find_rules(names: Sequence[str]) -> tuple[Rule, ...]:
    """Return the rules of these names, in the table's order.

    Raises:
        UsageError: a rule does not exist.
    """
    for name in names:
        if name not in NAMES:
            closest = closest_name(name, NAMES)
            guess = f"Did you mean {closest}? " if closest else ""
            raise UsageError(
                f'Unknown rule "{name}".',
                cause=f"Available rules: {', '.join(NAMES)}.",
                hint=f"{guess}Run `ubp explain` to list all rules.",
            )
    return tuple(rule for rule in RULES if rule.name in names)
