"""The check of arguments against their schema, and the requests that are made of them.

The check knows what our schemas contain (`type`, `enum`, `minimum`, `maximum`, `maxLength`,
`items`, `properties`, `required`) and no more, and refuses blank texts. Nothing is converted: a
number in quotation marks is not a number. Null means that an argument is not given.
"""

from collections.abc import Iterator, Mapping
from dataclasses import is_dataclass
from keyword import iskeyword
from typing import Annotated, Any, TypeVar, get_type_hints

from ubp.core.errors import BadArgumentError
from ubp.core.model import LinkType
from ubp.core.text import closest_name, shorten
from ubp.edits.model import Agent
from ubp.frame.budget import MIN_TOKENS
from ubp.frame.fields import GIVEN, Keyword
from ubp.frame.schema import Schema, given_type

# The types of arguments that several tools take. Their descriptions are short, since each agent
# pays for every character of them.
QUERY_CHARACTERS = 1000
Query = Annotated[
    str,
    'word "phrase" -word prefix* AND OR NOT tag:x path:x field:x date>2026',
    Keyword("maxLength", QUERY_CHARACTERS),
]
PageArgument = Annotated[str, "path from the root, or its unique ending"]
IdArgument = Annotated[str, "doc_id, instead of filepath"]
Ref = str  # a Git revision: the name says so, and agents pay for every character
# One type may be given without a list.
DocTypes = Annotated[
    tuple[str, ...], "e.g. spec, design, api", Keyword("type", ("string", "array"))
]
Tags = Annotated[tuple[str, ...], "with all of these"]
LinkTypes = tuple[LinkType, ...]
MaxTokens = Annotated[int, Keyword("minimum", MIN_TOKENS)]
Caller = Annotated[Agent | None, GIVEN]  # the agent that asks; None: a person or a program

# These arguments are paths relative to the root, as answers contain them.
PATH_ARGUMENTS = frozenset({"filepath", "id", "path", "center"})

_PYTHON_TYPES: Mapping[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list, tuple),
    "object": (dict,),
}
_TYPE_NAMES = {
    "string": "a string",
    "integer": "an integer",
    "number": "a number",
    "boolean": "true or false",
    "array": "a list",
    "object": "an object",
}
MAX_SHOWN_CHARACTERS = 60  # of a wrong value
MAX_INTEGER = 2**53 - 1
"""Every program reads JSON's integers up to here alike (RFC 8259, section 6)."""

RequestT = TypeVar("RequestT")


def check_arguments(schema: Schema, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments that are given, as values of their fields: lists are tuples.

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
        for fault in _faults(value, properties[name]):
            raise _invalid(name, value, fault)
    return {name: _field_value(value, properties[name]) for name, value in given.items()}


def make_request(request: type[RequestT], given: Mapping[str, Any]) -> RequestT:
    """Return a request with these checked arguments, and the defaults of the others.

    An object becomes the dataclass that is the type of its field.
    """
    fields = {name + "_" * iskeyword(name): value for name, value in given.items()}
    objects = [name for name, value in fields.items() if isinstance(value, dict)]
    if objects:
        hints = get_type_hints(request)
        types = {name: given_type(hints[name]) for name in objects}
        fields |= {
            name: make_request(type_, fields[name])
            for name, type_ in types.items()
            if isinstance(type_, type) and is_dataclass(type_)
        }
    return request(**fields)


def between(minimum: float, maximum: float) -> tuple[Keyword, Keyword]:
    """Return the limits of a number, for the `Annotated` of its field."""
    return Keyword("minimum", minimum), Keyword("maximum", maximum)


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
    types = _type_names(schema)
    if types and not any(_has_type(value, type_name) for type_name in types):
        yield f"must be {' or '.join(_TYPE_NAMES[type_name] for type_name in types)}"
    elif "enum" in schema and value not in schema["enum"]:
        yield f"must be one of {', '.join(map(str, schema['enum']))}"
    elif isinstance(value, str):
        yield from _length_faults(value, schema)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from (f"items {fault}" for fault in _faults(item, schema["items"]))
    elif isinstance(value, dict):
        if "properties" not in schema:  # any fields
            return
        yield from _object_faults(value, schema["properties"])
    elif not isinstance(value, bool):
        yield from _range_faults(value, schema)


def _object_faults(value: Mapping[str, Any], properties: Mapping[str, Schema]) -> Iterator[str]:
    for name, item in value.items():
        if name not in properties:
            yield f"has no field `{name[:MAX_SHOWN_CHARACTERS]}`; it has {', '.join(properties)}"
        elif item is not None:
            yield from (f"field `{name}` {fault}" for fault in _faults(item, properties[name]))


def _type_names(schema: Schema) -> tuple[str, ...]:
    types = schema.get("type", ())
    return (types,) if isinstance(types, str) else tuple(types)


def _field_value(value: Any, schema: Schema) -> Any:
    """Return a list as a tuple, also one of which the only item is given, and 10.0 as an integer.

    In JSON 10.0 is an integer.
    """
    if isinstance(value, dict) and "properties" not in schema:
        return value
    if isinstance(value, dict):
        items = {name: item for name, item in value.items() if item is not None}
        return {
            name: _field_value(item, schema["properties"][name]) for name, item in items.items()
        }
    if "array" in _type_names(schema):
        return (value,) if isinstance(value, str) else tuple(value)
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
    minimum = schema.get("minimum", -MAX_INTEGER)
    maximum = schema.get("maximum", MAX_INTEGER)
    if not minimum <= value <= maximum:
        limits = [f"at least {minimum}"] if "minimum" in schema or value < 0 else []
        limits += [f"at most {maximum}"] if "maximum" in schema or value > 0 else []
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
    shown = shorten(repr(value), MAX_SHOWN_CHARACTERS)
    return BadArgumentError(name, f"`{name}` {fault}.", cause=f"Got {shown}.")
