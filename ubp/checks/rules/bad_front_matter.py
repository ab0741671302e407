"""Something in the page's front matter cannot be used.

YAML that cannot be read, a source that is no path from the repository's root (absolute, with `..`,
an address), a pin that is no object id, a key that stands twice, bytes that are not UTF-8. The page
is indexed all the same, without what could not be used; so what it says there was not verified.

What to do: correct the line.

To ignore one, write on its line or on the line above: `# ubp: ignore[bad-front-matter]`
"""

from collections.abc import Iterator

from ubp.checks.context import RuleContext
from ubp.checks.finding import Finding
from ubp.core.model import FilePath, Problem

NAME = "bad-front-matter"


def find(context: RuleContext) -> Iterator[Finding]:
    """Yield the problems in pages' front matter."""
    for page in context.bound_pages:
        for problem in page.facts.problems:
            yield problem_finding(page.filepath, problem)


def problem_finding(path: FilePath, problem: Problem) -> Finding:
    """Return the finding for a problem in the front matter of the page at `path`."""
    return Finding(
        rule=NAME,
        filepath=path,
        line=problem.line,
        message=problem.message,
        subject=problem.message,
    )
