"""Something in the page's front matter cannot be used.

YAML that cannot be read, a source that is no path from the repository's root (absolute, with `..`,
an address), a pin that is no object id, a key that stands twice, bytes that are not UTF-8. The page
is indexed all the same, without what could not be used; so what it says there was not verified.

What to do: correct the line.

To ignore one, write on its line or on the line above: `# ubp: ignore[bad-front-matter]`
"""

from collections.abc import Iterator

from ubp.check.evidence import Evidence
from ubp.check.finding import Finding
from ubp.model import FilePath, Problem

NAME = "bad-front-matter"


def find(evidence: Evidence) -> Iterator[Finding]:
    """Find the problems of pages' front matter."""
    for page in evidence.bound_pages:
        yield from (problem_found(page.filepath, problem) for problem in page.facts.problems)


def problem_found(path: FilePath, problem: Problem) -> Finding:
    """Tell of one problem of the front matter of the page at `path`."""
    return Finding(
        rule=NAME,
        filepath=path,
        line=problem.line,
        message=problem.message,
        subject=problem.message,
    )
