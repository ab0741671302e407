"""JSON schemas (2020-12), generated from the types of records and of requests."""

from collections.abc import Mapping
from functools import cache
from inspect import getdoc
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from ubp.frame.encoding import SCHEMA_VERSION, defaults_of
from ubp.frame.fields import GIVEN, AnswerFacts, Keyword, Option

Schema = dict[str, Any]

_JSON_TYPES = {str: "string", int: "integer", float: "number", bool: "boolean"}


@cache
def record_schema(
    record: type, *, is_answer: bool = False, is_versioned: bool = True, is_lean: bool = False
) -> Schema:
    """Return the schema of a record, with `AnswerFacts` if it `is_answer`.

    Every key is required; the schema of the lean form, without `schema_version`, does not require
    the keys that have a default.
    """
    schema = _object_schema(record, is_lean=is_lean)
    if is_answer:
        facts = _object_schema(AnswerFacts, is_lean=False)
        schema["properties"] |= facts["properties"]
        schema["required"] += facts["required"]
    if is_versioned and not is_lean:
        version = {"const": SCHEMA_VERSION, "description": "version of this schema"}
        schema["properties"] = {"schema_version": version, **schema["properties"]}
        schema["required"] = ["schema_version", *schema["required"]]
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}


@cache
def request_schema(request: type) -> Schema:
    """Return the schema of the arguments of a request: a dataclass whose fields are annotated.

    A field that is None or empty by default is not required and has no default in the schema: each
    agent pays for every character. An underscore at the end of a name, as in `continue_`, is cut
    off. Fields that only people can give are left out.
    """
    defaults = defaults_of(request)
    properties, required = {}, []
    for field, hint in get_type_hints(request, include_extras=True).items():
        option = option_of(hint)
        if (option is not None and option.is_only) or GIVEN in metadata_of(hint):
            continue
        name = field.removesuffix("_")
        properties[name] = _schema(given_type(hint), is_lean=True)
        if field not in defaults:
            required.append(name)
        elif defaults[field] not in (None, ()):
            properties[name]["default"] = defaults[field]
        if "properties" in properties[name]:  # an object, of which every field is optional
            hints = get_type_hints(given_type(hint), include_extras=True)
            fields = {name: _schema(given_type(h), is_lean=True) for name, h in hints.items()}
            properties[name] |= {"properties": fields, "additionalProperties": False}
            del properties[name]["required"]
    schema = {"type": "object", "properties": properties, "additionalProperties": False}
    return {**schema, "required": required} if required else schema


def limits_of(hint: Any) -> Schema:
    """Return the schema of the type of an argument, which has its limits."""
    return _schema(given_type(hint), is_lean=True)


def given_type(hint: Any) -> Any:
    """Return the type of an argument that is given: what is not given is None in the request."""
    alternatives = [type_ for type_ in get_args(hint) if type_ is not NoneType]
    is_optional = get_origin(hint) in {Union, UnionType} and len(alternatives) == 1
    return alternatives[0] if is_optional else hint


def option_of(hint: Any) -> Option | None:
    """Return how the command line has a field of this type, None if it does not."""
    return next((note for note in metadata_of(hint) if isinstance(note, Option)), None)


def metadata_of(hint: Any) -> tuple[Any, ...]:
    """Return the `Annotated` of a field, also of one that may be None."""
    metadata: tuple[Any, ...] = getattr(given_type(hint), "__metadata__", ())
    return metadata


def _object_schema(record: type, *, is_lean: bool) -> Schema:
    hints = get_type_hints(record, include_extras=True)
    optional = defaults_of(record) if is_lean else ()
    return {
        "type": "object",
        "description": " ".join((getdoc(record) or "").partition("\n\n")[0].split()),
        "properties": {name: _schema(hint, is_lean=is_lean) for name, hint in hints.items()},
        "required": [name for name in hints if name not in optional],
    }


def _schema(hint: Any, *, is_lean: bool) -> Schema:
    """Return the schema of a field's type; of several descriptions the outermost applies."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Annotated:
        schema = _schema(arguments[0], is_lean=is_lean)
        for annotation in arguments[1:]:
            if isinstance(annotation, Keyword):
                value = annotation.value
                schema[annotation.name] = list(value) if isinstance(value, tuple) else value
            elif isinstance(annotation, str):
                schema["description"] = annotation
        return schema
    if origin in {Union, UnionType}:
        return _union_schema(arguments, is_lean=is_lean)
    if origin is Literal:
        return {"enum": list(arguments)}
    if origin is not None:
        return _container_schema(origin, arguments, is_lean=is_lean)
    if hint in _JSON_TYPES:
        return {"type": _JSON_TYPES[hint]}
    return _object_schema(hint, is_lean=is_lean)


def _container_schema(origin: type, arguments: tuple[Any, ...], *, is_lean: bool) -> Schema:
    """Return the schema of a tuple of any length or of two items, or of a mapping of names."""
    if issubclass(origin, Mapping):
        if arguments[1] is object:  # any values
            return {"type": "object"}
        values = _schema(arguments[1], is_lean=is_lean)
        return {"type": "object", "additionalProperties": values}
    items = _schema(arguments[0], is_lean=is_lean)
    if arguments[-1] is Ellipsis:
        return {"type": "array", "items": items}
    size = len(arguments)
    return {"type": "array", "items": items, "minItems": size, "maxItems": size}


def _union_schema(alternatives: tuple[Any, ...], *, is_lean: bool) -> Schema:
    schemas = [_schema(hint, is_lean=is_lean) for hint in alternatives if hint is not NoneType]
    is_nullable = NoneType in alternatives
    if "enum" in schemas[0]:
        words = [word for schema in schemas for word in schema["enum"]]
        return schemas[0] | {"enum": [*words, None] if is_nullable else words}
    types = [schema["type"] for schema in schemas]
    merged = schemas[0] if len(schemas) == 1 else {}
    return merged | {"type": [*types, "null"] if is_nullable else types}
