"""Records as JSON."""

from collections.abc import Callable, Mapping
from functools import lru_cache, partial
from types import NoneType, UnionType
from typing import Any, NamedTuple, TypeVar, Union, get_args, get_origin, get_type_hints

from ubp.frame.wording import printable_json

# Keys may be added without a new version; a key that changes or goes makes one.
SCHEMA_VERSION = 1

Json = dict[str, Any]
"""A record as its JSON object."""

RecordT = TypeVar("RecordT")

_SCALARS = (str, int, float, type(None))


class _Field(NamedTuple):
    name: str
    is_optional: bool
    default: Any


def to_object(record: Any, *, is_versioned: bool = True) -> Json:
    """Return a record as a JSON object with all of its keys, and the version of its schema."""
    version = {"schema_version": SCHEMA_VERSION} if is_versioned else {}
    return {**version, **_encode(record, _every_field)}


def to_lean_object(record: Any) -> Json:
    """Return a record as a JSON object without the fields that have their defaults."""
    lean: Json = _encode(record, _informative_fields)
    return lean


def from_object(record: type[RecordT], json_object: Mapping[str, Any]) -> RecordT:
    """Return the record that a JSON object, perhaps a lean one, was made of.

    Keys that are not fields are ignored; fields without a key have their defaults.
    """
    decoders = _decoders(record)  # type: ignore[arg-type]  # classes are hashable
    return record(
        **{name: decoders[name](value) for name, value in json_object.items() if name in decoders}
    )


@lru_cache
def _decoders(record: type) -> Mapping[str, Callable[[Any], Any]]:
    """Return for each field of a record how the JSON of its value is read."""
    return {name: _decoder(hint) for name, hint in get_type_hints(record).items()}


def _decoder(hint: Any) -> Callable[[Any], Any]:
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in {Union, UnionType}:
        readers = [_decoder(part) for part in arguments if part is not NoneType]
        return lambda value: None if value is None else readers[0](value)
    if origin is tuple:
        read = _decoder(arguments[0])
        return lambda value: tuple(map(read, value))
    if isinstance(origin, type) and issubclass(origin, Mapping):
        read = _decoder(arguments[1])
        return lambda value: {name: read(item) for name, item in value.items()}
    is_record = hasattr(hint, "_fields") or hasattr(hint, "__dataclass_fields__")
    return partial(from_object, hint) if is_record else _as_it_is


def _as_it_is(value: Any) -> Any:
    return value


def to_json(record: Mapping[str, Any], *, is_indented: bool = False) -> str:
    """Return a JSON object as text that is valid UTF-8 and safe on a terminal."""
    import json

    return printable_json(json.dumps(record, ensure_ascii=False, indent=2 if is_indented else None))


def _encode(value: Any, select: Callable[[Any], Json]) -> Any:
    if isinstance(value, _SCALARS):
        return value
    if isinstance(value, Mapping):
        return {key: _encode(item, select) for key, item in value.items()}
    if type(value) is tuple or isinstance(value, list):
        return [_encode(item, select) for item in value]
    return {name: _encode(item, select) for name, item in select(value).items()}


def _every_field(record: Any) -> Json:
    return {field.name: getattr(record, field.name) for field in _fields(record.__class__)}


def _informative_fields(record: Any) -> Json:
    return {
        field.name: value
        for field in _fields(record.__class__)
        if (value := getattr(record, field.name)) != field.default or not field.is_optional
    }


@lru_cache
def _fields(record: type) -> tuple[_Field, ...]:
    """Return the fields of a NamedTuple or of a dataclass with slots, in order."""
    defaults = defaults_of(record)
    names: tuple[str, ...] = getattr(record, "_fields", ()) or record.__slots__  # type: ignore[attr-defined]  # every record has one of them
    return tuple(_Field(name, name in defaults, defaults.get(name)) for name in names)


def defaults_of(record: type) -> Mapping[str, Any]:
    """Return the fields of a record type that have a default, with it."""
    if hasattr(record, "_field_defaults"):
        defaults: Mapping[str, Any] = record._field_defaults
        return defaults
    from dataclasses import MISSING, fields

    return {field.name: field.default for field in fields(record) if field.default is not MISSING}
