"""What the policy of a collection allows to show of its texts."""

from ubp.core.config import EXCERPT_ONLY
from ubp.core.text import shorten

EXCERPT_CHARACTERS = 1200


def excerpt(text: str, policy: str) -> str:
    """Return what a policy allows to show of a text."""
    return shorten(text, EXCERPT_CHARACTERS) if policy == EXCERPT_ONLY else text
