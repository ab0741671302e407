"""Input schemas and the check of arguments against them.

The check knows what our schemas contain (`type`, `enum`, `minimum`, `maximum`, `maxLength`,
`items`, `required`, `default`) and no more, and refuses blank texts. Nothing is converted: a number
in quotation marks is not a number. Null means that an argument is not given. The schemas are short,
since each agent pays for every character of them.
"""

from collections.abc import Iterator, Mapping, Sequence
from math import inf
from typing import Any

from ubp.core.errors import BadArgumentError
from ubp.core.model import LINK_TYPES
from ubp.core.text import closest_name
from ubp.server.tools.budget import MIN_TOKENS

Schema = Mapping[str, Any]

# These arguments are paths relative to the root, as answers contain them.
PATH_ARGUMENTS = frozenset({"filepath", "id", "path", "center"})

_PYTHON_TYPES: Mapping[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list, tuple),
}
_TYPE_NAMES = {
    "string": "a string",
    "integer": "an integer",
    "number": "a number",
    "boolean": "true or false",
    "array": "a list",
}
MAX_SHOWN_CHARACTERS = 60  # of a wrong value


def check_arguments(
    schema: Schema, arguments: Mapping[str, Any], *, has_maxima: bool = True
) -> dict[str, Any]:
    """Return the arguments, with the defaults of those that are not given.

    Without `has_maxima` numbers have no upper limit.

    Raises:
        BadArgumentError: an argument is unknown, missing or not allowed.
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
        schema = properties[name] if has_maxima else {**properties[name], "maximum": inf}
        for fault in _faults(value, schema):
            raise _invalid(name, value, fault)
    defaults = {name: spec["default"] for name, spec in properties.items() if "default" in spec}
    return defaults | {name: _as_integer(value) for name, value in given.items()}


def reject_path_traversal(arguments: Mapping[str, Any]) -> None:
    """Reject absolute paths and paths that contain `..` or a NUL.

    Raises:
        BadArgumentError: an argument is such a path.
    """
    for name in PATH_ARGUMENTS & arguments.keys():
        path = str(arguments[name]).replace("\\", "/")
        if path.startswith("/") or path[1:2] == ":" or ".." in path.split("/") or "\0" in path:
            raise BadArgumentError(
                name,
                f"`{name}` is not a repository-relative path.",
                cause="Absolute paths and paths that contain `..` are not allowed.",
                hint="Use paths as returned by the tools, e.g. docs/auth.md.",
            )


def _faults(value: Any, schema: Schema) -> Iterator[str]:
    """Yield what is wrong with a value: what it must be."""
    types = schema.get("type", ())
    types = (types,) if isinstance(types, str) else types
    if types and not any(_has_type(value, type_name) for type_name in types):
        yield f"must be {' or '.join(_TYPE_NAMES[type_name] for type_name in types)}"
    elif "enum" in schema and value not in schema["enum"]:
        yield f"must be one of {', '.join(map(str, schema['enum']))}"
    elif isinstance(value, str):
        yield from _length_faults(value, schema)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from (f"items {fault}" for fault in _faults(item, schema["items"]))
    elif not isinstance(value, bool):
        yield from _range_faults(value, schema)


def _as_integer(value: Any) -> Any:
    """Return a number like 10.0 as an integer, which it is in JSON."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _has_type(value: Any, type_name: str) -> bool:
    if isinstance(value, bool):
        return type_name == "boolean"
    if type_name == "integer" and isinstance(value, float):
        return value.is_integer()
    return isinstance(value, _PYTHON_TYPES[type_name])


def _length_faults(value: str, schema: Schema) -> Iterator[str]:
    if not value.strip():
        yield "must not be empty"
    if len(value) > schema.get("maxLength", len(value)):
        yield f"must have at most {schema['maxLength']} characters"


def _range_faults(value: float, schema: Schema) -> Iterator[str]:
    minimum, maximum = schema.get("minimum", value), schema.get("maximum", value)
    if not minimum <= value <= maximum:
        limits = [f"at least {minimum}"] if "minimum" in schema else []
        limits += [f"at most {maximum}"] if schema.get("maximum", inf) < inf else []
        yield f"must be {' and '.join(limits)}"


def _unknown(name: str, properties: Mapping[str, Schema]) -> BadArgumentError:
    closest = closest_name(name[:MAX_SHOWN_CHARACTERS], properties)
    return BadArgumentError(
        name,
        f"Unknown argument: `{name[:MAX_SHOWN_CHARACTERS]}`.",
        cause=f"Valid arguments: {', '.join(properties)}." if properties else "None are accepted.",
        hint=f"Did you mean `{closest}`?" if closest else "",
    )


def _missing(name: str, schema: Schema) -> BadArgumentError:
    description = schema.get("description")
    return BadArgumentError(
        name,
        f"Missing required argument: `{name}`.",
        hint=f"Expected: {description}." if description else "",
    )


def _invalid(name: str, value: Any, fault: str) -> BadArgumentError:
    shown = repr(value)
    if len(shown) > MAX_SHOWN_CHARACTERS:
        shown = shown[:MAX_SHOWN_CHARACTERS] + "…"
    return BadArgumentError(name, f"`{name}` {fault}.", cause=f"Got {shown}.")


def object_schema(*required: str, **properties: Schema) -> Schema:
    """Return an input schema; arguments that it does not name are refused."""
    schema = {"type": "object", "properties": properties, "additionalProperties": False}
    return {**schema, "required": list(required)} if required else schema


def text(description: str = "", **limits: Any) -> Schema:
    """Return the schema of a string; blank ones are refused everywhere."""
    return _described({"type": "string", **limits}, description)


def number(minimum: int, maximum: int, default: int, description: str = "") -> Schema:
    """Return the schema of an integer between two limits."""
    limits = {"type": "integer", "minimum": minimum, "maximum": maximum, "default": default}
    return _described(limits, description)


def fraction(default: float, description: str = "") -> Schema:
    """Return the schema of a number from 0 to 1."""
    return _described(
        {"type": "number", "minimum": 0, "maximum": 1, "default": default}, description
    )


def flag(description: str, *, default: bool) -> Schema:
    """Return the schema of a boolean."""
    return _described({"type": "boolean", "default": default}, description)


def choice(*words: str, description: str = "") -> Schema:
    """Return the schema of one of these words; the first is the default."""
    return _described({"enum": list(words), "default": words[0]}, description)


def array_of(value: str | Sequence[str] | None) -> tuple[str, ...]:
    """Return a value that is given alone or as a list as a tuple."""
    if value is None:
        return ()
    return (value,) if isinstance(value, str) else tuple(value)


def _described(schema: dict[str, Any], description: str) -> Schema:
    return {**schema, "description": description} if description else schema


FILEPATH = text("repository-relative path, or a unique ending of it")
REF = text("Git revision")
QUERY_CHARACTERS = 1000
QUERY = text(
    'words, "exact phrase", -exclude, prefix*, AND OR NOT, tag:x, path:x',
    maxLength=QUERY_CHARACTERS,
)
DOC_TYPE = {
    "type": ["string", "array"],
    "items": {"type": "string"},
    "description": "e.g. spec, design, api",
}
TAGS = {
    "type": "array",
    "items": {"type": "string"},
    "description": "pages with all of these tags",
}
LINK_TYPE = {
    "type": "array",
    "items": {"enum": list(LINK_TYPES)},
}
MAX_TOKENS = {"type": "integer", "minimum": MIN_TOKENS}
VERBOSE = flag("add ids, scores and reasons", default=False)
