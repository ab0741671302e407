"""The front matter of a page contains an error.

The rule reports invalid YAML or TOML, keys that are nearly those of sources (`source_ref`), sources
that are not repository-relative paths (absolute paths, paths with `..`, URLs), pins that are not
Git object ids, duplicate keys, and invalid UTF-8. The page is still indexed, but without the
invalid part, so the sources listed there are not verified.

What to do: correct the line.

To ignore an error, add a comment on its line or the line above:
`# ubp: ignore[bad-front-matter]`
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
