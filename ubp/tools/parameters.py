"""What input schemas are made of: every character of them is paid for by each agent."""

from collections.abc import Mapping, Sequence
from typing import Any

from ubp.model import LINK_TYPES

Schema = Mapping[str, Any]


def takes(*required: str, **properties: Schema) -> Schema:
    """An input schema; whatever it does not name is refused."""
    schema = {"type": "object", "properties": properties, "additionalProperties": False}
    return {**schema, "required": list(required)} if required else schema


def text(description: str = "", **limits: Any) -> Schema:
    """A string; an empty one is refused everywhere."""
    return _described({"type": "string", **limits}, description)


def number(least: int, most: int, default: int, description: str = "") -> Schema:
    """A whole number between two limits."""
    limits = {"type": "integer", "minimum": least, "maximum": most, "default": default}
    return _described(limits, description)


def share(default: float, description: str = "") -> Schema:
    """A number from 0 to 1."""
    return _described(
        {"type": "number", "minimum": 0, "maximum": 1, "default": default}, description
    )


def flag(description: str, *, default: bool) -> Schema:
    """Yes or no."""
    return _described({"type": "boolean", "default": default}, description)


def choice(*words: str, description: str = "") -> Schema:
    """One of these words, the first where none is told."""
    return _described({"enum": list(words), "default": words[0]}, description)


def several(value: str | Sequence[str] | None) -> tuple[str, ...]:
    """What was given alone or as a list."""
    if value is None:
        return ()
    return (value,) if isinstance(value, str) else tuple(value)


def _described(schema: dict[str, Any], description: str) -> Schema:
    return {**schema, "description": description} if description else schema


FILEPATH = text("path from the repository's root, or its unique end")
REF = text("a Git revision")
QUERY_CHARACTERS = 1000
QUERY = text(
    'words, "a phrase", -word, start*, AND OR NOT, tag:x path:x', maxLength=QUERY_CHARACTERS
)
DOC_TYPE = {
    "type": ["string", "array"],
    "items": {"type": "string"},
    "description": "spec, design, api …; any of them",
}
TAGS = {"type": "array", "items": {"type": "string"}, "description": "all of them"}
LINK_TYPE = {"type": "array", "items": {"enum": list(LINK_TYPES)}}
MAX_TOKENS = {
    "type": "integer",
    "minimum": 200,
    "description": "what matters least is left out",
}
