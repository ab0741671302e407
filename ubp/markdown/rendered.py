"""Pages that show something else: a module's docstrings, a component.

They have no prose that could go stale: mkdocstrings (`::: package.module`), Sphinx (`automodule`,
`{eval-rst}`) and components of Vue or React (`<Gallery />`) fill them when the site is built.
"""

import re

# "The API of this module:" above a directive is not a description.
MAX_OWN_WORDS = 12
# Longer pages have prose.
MAX_CHARACTERS = 20_000

_RENDERING = (
    r"^[ \t]*(?::::[ \t]+[A-Za-z_][\w.]*[ \t]*$"
    r"|(?:`{3,}|:{3,})\{(?:auto\w+|eval-rst|click|py:\w+)\}"
    r"|\.\.[ \t]+(?:auto\w+|py:\w+|click)::"
    r"|<[A-Z][\w.]*(?:\s[^<>]*)?/?>)"
)
# What is not prose: comments, scripts, blocks and directives with their options, imports, headings,
# tags, macros.
_MARKUP = (
    r"(?s:<!--.*?(?:-->|\Z)|<(script|style)\b.*?(?:</\1>|\Z))"
    r"|^[ \t]*(?P<fence>`{3,}|:{3,})\{(?s:.*?)(?:^[ \t]*(?P=fence)[ \t]*$|\Z)"
    r"|^(?P<indent>[ \t]*)(?::::[ \t]+\S|\.\.[ \t]+\S).*(?:\n(?:(?P=indent)[ \t]+\S.*|[ \t]*$))*"
    r"|^[ \t]*(?:import|export)\b.*$"
    r"|^[ \t]*\#{1,6}[ \t].*$|^[=-]+[ \t]*$"
    r"|<[^<>]*>|\{\{.*?\}\}|\{%.*?%\}"
)


def has_rendering(text: str) -> bool:
    """Return whether a text has a line that shows something else, as every rendered page has."""
    return re.search(_RENDERING, text, re.MULTILINE) is not None


def is_rendered(body: str) -> bool:
    """Return whether the text of a page, without front matter, only shows something else."""
    if len(body) > MAX_CHARACTERS or not has_rendering(body):
        return False
    prose = re.sub(_MARKUP, " ", body, flags=re.MULTILINE)
    return len(re.findall(r"\w+", prose)) <= MAX_OWN_WORDS
