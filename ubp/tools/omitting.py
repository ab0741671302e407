"""Answers without what is empty: agents pay for every null."""

from collections.abc import Mapping
from typing import Any

Schema = Mapping[str, Any]


def without_empty(record: Mapping[str, Any], schema: Schema) -> dict[str, Any]:
    """A record whose empty fields (null, "", [], {}, false) are left out.

    Those that the schema requires stay: there being empty tells something.
    """
    properties = schema["properties"]
    required = schema.get("required", ())
    kept = {}
    for name, value in record.items():
        if name in required or not _is_empty(value):
            is_plain = isinstance(value, str | int | float)  # as most are
            kept[name] = value if is_plain else _inside(value, properties.get(name, {}))
    return kept


def _inside(value: Any, schema: Schema) -> Any:
    if isinstance(value, Mapping) and "properties" in schema:
        return without_empty(value, schema)
    if isinstance(value, list | tuple) and "items" in schema:
        return [_inside(item, schema["items"]) for item in value]
    return value


def _is_empty(value: Any) -> bool:
    return not value and (value is None or value is False or value in ("", [], {}, ()))
