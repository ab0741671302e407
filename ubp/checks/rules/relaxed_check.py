"""The change keeps its own check from reporting a finding.

With `--base`, with `--pre-push` and in the action, the change is checked a second time with the
configuration, the debt file and the ignore comments that its base has. What this reports as an
error or warning, and the change's own configuration does not, or only as a warning, is listed here:
the change excludes the page, turns the rule off, accepts the finding as debt, adds a comment, makes
Git ignore the missing file, adds a site or `links.root` with which a broken link has a target, or
configures `staleness.ignore_commits`. A change that adopts UBP keeps its own configuration.

The severity is the stricter one of the base's and the change's own, so that no change can turn this
rule off for itself. To let such changes fail, set `check.severity.relaxed-check` to `error`.

What to do: confirm in the review that the finding should not be reported.
"""

from collections.abc import Iterator

from ubp.checks.context import RuleContext
from ubp.checks.finding import Finding

NAME = "relaxed-check"


def find(context: RuleContext) -> Iterator[Finding]:
    """Yield what the base of a change would have reported and the change does not."""
    yield from context.relaxed
