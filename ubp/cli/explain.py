"""`ubp explain`: a rule's manual."""

from ubp.check.table import RULES, find_rules
from ubp.cli.door import CLEAN
from ubp.cli.terminal import Terminal
from ubp.render.check_records import rules_record
from ubp.render.text.rules import manuals_text, rules_text


def explain(*rules: str, terminal: Terminal) -> int:
    """Print the manual of a rule of `ubp check`; without a rule, the list of them.

    Args:
        rules: Names of rules.
        terminal: Where the answer goes.
    """
    chosen = find_rules(rules) if rules else RULES
    if terminal.options.json:
        terminal.record(rules_record(chosen))
    elif rules:
        terminal.write(manuals_text(chosen, terminal.style))
    else:
        terminal.write(rules_text(chosen, terminal.style))
    return CLEAN
