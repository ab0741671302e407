"""CODEOWNERS as GitHub reads it: of the lines that match a file, the last one counts."""

import pytest

from ubp.board.owners import Owners

# The examples of GitHub's documentation, one below the other.
EXAMPLE = """\
# This is a comment.
*       @global-owner1 @global-owner2
*.js    @js-owner #This is an inline comment.
*.go docs@example.com
*.txt @octo-org/octocats
/build/logs/ @doctocat
docs/* docs@example.com
apps/ @octocat
/docs/ @doctocat
/scripts/ @doctocat @octocat
**/logs @octocat
/apps/ @octocat
/apps/github
"""

DOCUMENTED = [
    ("README.md", "@global-owner1 @global-owner2"),
    ("src/deep/file.py", "@global-owner1 @global-owner2"),
    ("app.js", "@js-owner"),
    ("src/app.js", "@js-owner"),
    ("src/main.go", "docs@example.com"),
    ("notes.txt", "@octo-org/octocats"),
    ("build/logs/today.log", "@octocat"),
    ("build/logs/deep/today.log", "@octocat"),
    ("build/other.log", "@global-owner1 @global-owner2"),
    ("docs/getting-started.md", "@doctocat"),
    ("docs/build-app/troubleshooting.md", "@doctocat"),
    ("other/docs/page.md", "@global-owner1 @global-owner2"),
    ("apps/web/index.html", "@octocat"),
    ("deep/apps/web/index.html", "@octocat"),
    ("scripts/run.sh", "@doctocat @octocat"),
    ("deep/scripts/run.sh", "@global-owner1 @global-owner2"),
    ("deeply/nested/logs/a.txt", "@octocat"),
    ("apps/github", ""),
    ("apps/github/main.go", ""),
]

ALONE = [
    # pattern, path, whether it matches
    ("*", "a", True),
    ("*", "a/b/c.md", True),
    ("*.md", "a.md", True),
    ("*.md", "docs/a.md", True),
    ("*.md", "docs/a.mdx", False),
    ("/*.md", "a.md", True),
    ("/*.md", "docs/a.md", False),
    ("docs/*", "docs/a.md", True),
    ("docs/*", "docs/deep/a.md", False),
    ("docs/*", "web/docs/a.md", False),
    ("docs/*.md", "docs/a.md", True),
    ("docs/*.md", "docs/deep/a.md", False),
    ("docs/**", "docs/deep/a.md", True),
    ("docs/**/*.md", "docs/deep/er/a.md", True),
    ("docs/**/*.md", "docs/a.md", True),
    ("docs/", "docs/a.md", True),
    ("docs/", "web/docs/deep/a.md", True),
    ("docs/", "docs", False),
    ("/docs/", "docs/deep/a.md", True),
    ("/docs/", "web/docs/a.md", False),
    ("docs", "docs/a.md", True),
    ("docs", "docs", True),
    ("docs", "web/docs/a.md", True),
    ("/docs", "docs/a.md", True),
    ("/docs", "web/docs/a.md", False),
    ("docs/api", "docs/api/a.md", True),
    ("docs/api", "web/docs/api/a.md", False),
    ("**/logs", "logs/a", True),
    ("**/logs", "a/b/logs/c/d", True),
    ("**/logs", "a/blogs/c", False),
    ("/a/**/z.md", "a/z.md", True),
    ("/a/**/z.md", "a/b/c/z.md", True),
    ("/a/**/z.md", "b/a/z.md", False),
    ("a?.md", "ab.md", True),
    ("a?.md", "abc.md", False),
    ("a?.md", "a/.md", False),
    (r"my\ docs/", "my docs/a.md", True),
    ("Docs/", "docs/a.md", False),
    ("!docs/", "docs/a.md", False),
    ("d[o]cs/", "docs/a.md", False),
    ("日本/", "日本/a.md", True),
]


@pytest.mark.parametrize(("path", "owners"), DOCUMENTED)
def test_last_line_that_matches_counts(path, owners):
    assert " ".join(Owners.parse(EXAMPLE).of(path)) == owners


@pytest.mark.parametrize(("pattern", "path", "is_owned"), ALONE)
def test_pattern_matches_as_on_github(pattern, path, is_owned):
    assert Owners.parse(f"{pattern} @a\n").of(path) == (("@a",) if is_owned else ())
