"""Arguments held against an input schema, exactly and with words that help to put them right.

It knows what our schemas say (`type`, `enum`, `minimum`, `maximum`, `maxLength`, `items`,
`required`, `default`) and no more, and refuses texts of blanks. Nothing is converted: a number in
quotation marks is no number. Null stands for an argument that is not given.

What input schemas are made of: every character of them is paid for by each agent.
"""

from collections.abc import Iterator, Mapping, Sequence
from math import inf
from typing import Any

from ubp.core.errors import BadArgumentError
from ubp.core.model import LINK_TYPES
from ubp.core.text import closest_name

Schema = Mapping[str, Any]

# Paths are from the root, as answers tell them.
PATHS = frozenset({"filepath", "id", "path", "center"})

_KINDS: Mapping[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list, tuple),
}
_NAMES = {
    "string": "a string",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "array": "a list",
}
SHOWN_CHARACTERS = 60  # of a wrong value


def check_arguments(
    schema: Schema, arguments: Mapping[str, Any], *, has_maxima: bool = True
) -> dict[str, Any]:
    """The arguments with the defaults of those that are not given.

    Without `has_maxima` numbers may be as large as anybody likes.

    Raises:
        BadArgumentError: one is unknown, missing or not allowed.
    """
    properties: Mapping[str, Schema] = schema["properties"]
    given = {name: value for name, value in arguments.items() if value is not None}
    for name in given:
        if name not in properties:
            raise _unknown(name, properties)
    for name in schema.get("required", ()):
        if name not in given:
            raise _missing(name, properties[name])
    for name, value in given.items():
        one = properties[name] if has_maxima else {**properties[name], "maximum": inf}
        for wrong in _faults(value, one):
            raise _wrong(name, value, wrong)
    defaults = {name: one["default"] for name, one in properties.items() if "default" in one}
    return defaults | {name: _whole(value) for name, value in given.items()}


def reject_path_traversal(arguments: Mapping[str, Any]) -> None:
    """Refuse paths that no answer ever told: absolute ones, those with `..` or a NUL.

    Raises:
        BadArgumentError: there is one.
    """
    for name in PATHS & arguments.keys():
        path = str(arguments[name]).replace("\\", "/")
        if path.startswith("/") or path[1:2] == ":" or ".." in path.split("/") or "\0" in path:
            raise BadArgumentError(
                name,
                f"`{name}` is no path from the repository's root.",
                cause="Absolute paths and those that climb with .. are refused.",
                hint="Give it as answers tell it, as in docs/auth.md.",
            )


def _faults(value: Any, schema: Schema) -> Iterator[str]:
    """What a value should have been, if it is not."""
    kinds = schema.get("type", ())
    kinds = (kinds,) if isinstance(kinds, str) else kinds
    if kinds and not any(_is(value, kind) for kind in kinds):
        yield f"must be {' or '.join(_NAMES[kind] for kind in kinds)}"
    elif "enum" in schema and value not in schema["enum"]:
        yield f"must be one of {', '.join(map(str, schema['enum']))}"
    elif isinstance(value, str):
        yield from _length_faults(value, schema)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from (f"{fault} in each place" for fault in _faults(item, schema["items"]))
    elif not isinstance(value, bool):
        yield from _range_faults(value, schema)


def _whole(value: Any) -> Any:
    """A number like 10.0 is a whole one in JSON."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _is(value: Any, kind: str) -> bool:
    if isinstance(value, bool):
        return kind == "boolean"
    if kind == "integer" and isinstance(value, float):
        return value.is_integer()
    return isinstance(value, _KINDS[kind])


def _length_faults(value: str, schema: Schema) -> Iterator[str]:
    if not value.strip():
        yield "must not be empty"
    if len(value) > schema.get("maxLength", len(value)):
        yield f"must have at most {schema['maxLength']} characters"


def _range_faults(value: float, schema: Schema) -> Iterator[str]:
    least, most = schema.get("minimum", value), schema.get("maximum", value)
    if not least <= value <= most:
        ends = [f"at least {least}"] if "minimum" in schema else []
        ends += [f"at most {most}"] if schema.get("maximum", inf) < inf else []
        yield f"must be {' and '.join(ends)}"


def _unknown(name: str, properties: Mapping[str, Schema]) -> BadArgumentError:
    closest = closest_name(name[:SHOWN_CHARACTERS], properties)
    return BadArgumentError(
        name,
        f"There is no argument `{name[:SHOWN_CHARACTERS]}`.",
        cause=f"Arguments are {', '.join(properties)}." if properties else "It takes none.",
        hint=f"Did you mean `{closest}`?" if closest else "",
    )


def _missing(name: str, schema: Schema) -> BadArgumentError:
    told = schema.get("description")
    return BadArgumentError(name, f"`{name}` is missing.", hint=f"It is: {told}." if told else "")


def _wrong(name: str, value: Any, wrong: str) -> BadArgumentError:
    shown = repr(value)
    if len(shown) > SHOWN_CHARACTERS:
        shown = shown[:SHOWN_CHARACTERS] + "…"
    return BadArgumentError(name, f"`{name}` {wrong}.", cause=f"It is {shown}.")


def object_schema(*required: str, **properties: Schema) -> Schema:
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


def fraction(default: float, description: str = "") -> Schema:
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


def array_of(value: str | Sequence[str] | None) -> tuple[str, ...]:
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
