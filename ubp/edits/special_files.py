"""Documents that do more than inform: they instruct agents, or the forge and other programs.

Whoever can write one of these steers every later session, so agents may propose it only where
`edit.paths` has its name, and a review says what it is.
"""

import re
from collections.abc import Collection, Iterator

from ubp.core.model import FilePath
from ubp.core.text import fold

INSTRUCTS_AGENTS = "Coding agents follow this file as their instructions."
FORGE_TEMPLATE = "The forge puts this text into new issues or pull requests."
HIDDEN = "Programs and agents read settings from hidden files and folders, such as {}."

_AGENT_NAMES = re.compile(
    r"(?:agents?|claude|codex|copilot-instructions|crush|gemini|jules|opencode|qwen|skill|warp)"
    r"(?:\.(?:local|override))?\.\w+"
    r"|.+\.(?:agent|chatmode|instructions|prompt)\.\w+"
)
_AGENT_FOLDERS = frozenset(
    {
        *(".agent", ".agents", ".aider", ".amazonq", ".augment", ".claude", ".cline"),
        *(".clinerules", ".codex", ".continue", ".cursor", ".gemini", ".goose", ".junie"),
        *(".kiro", ".opencode", ".openhands", ".qwen", ".roo", ".trae", ".windsurf"),
    }
)
# With and without a suffix: a folder of several templates has the name of a single one.
_TEMPLATES = re.compile(r"(?:issue|pull_request|merge_request|discussion)_templates?(?:\.\w+)?")


def purpose_of(path: FilePath) -> str:
    """Return what a document does beside informing its readers, as a sentence; usually ""."""
    return next((purpose for _, purpose in _special_parts(path)), "")


def is_named(path: FilePath, patterns: Collection[str]) -> bool:
    """Return whether one of the patterns is the path of a special file, or of a folder around it.

    A folder counts if its own path has what makes the file special: `.claude` does, `docs` does not
    for `docs/CLAUDE.md`. Wildcards name nothing.
    """
    parts = path.split("/")
    first = next((position for position, _ in _special_parts(path)), len(parts))
    return any("/".join(parts[:end]) in patterns for end in range(first + 1, len(parts) + 1))


def _special_parts(path: FilePath) -> Iterator[tuple[int, str]]:
    """Yield the position of each part that makes a file special, with the reason."""
    parts = [fold(part).rstrip(". ") for part in path.split("/")]
    for position, part in enumerate(parts):
        is_name = position == len(parts) - 1
        if part in _AGENT_FOLDERS or (is_name and _AGENT_NAMES.fullmatch(part)):
            yield position, INSTRUCTS_AGENTS
        elif _TEMPLATES.fullmatch(part):
            yield position, FORGE_TEMPLATE
        elif part.startswith("."):
            yield position, HIDDEN.format(part)
