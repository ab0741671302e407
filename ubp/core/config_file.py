"""`.ubp/config.json`: read, held against config.schema.json, reduced to what this version uses.

A checked-in configuration can make UBP read less, never more: patterns stay in the repository,
and what is excluded from the start stays excluded. The schema, which editors use too, is the only
description of the file; settings of later versions are checked by it and otherwise left alone.
"""

import os
import re
import stat
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NoReturn

from ubp.core.config import (
    BUILT_IN_EXCLUDE,
    DEFAULT_INCLUDE,
    DEFAULT_KEYS,
    DEFAULT_THRESHOLD_DAYS,
    Config,
    Ignored,
)
from ubp.core.errors import ConfigError
from ubp.core.model import FilePath
from ubp.core.paths import is_glob, is_too_complex, nfc, normalize_path

# Ten thousand refused bindings still fit.
MAX_CONFIG_BYTES = 1024 * 1024

_SCHEMA_PATH = os.path.join(os.path.dirname(__file__), "config.schema.json")
_HINT = "Correct it, or take it out: every setting is optional."
_MAX_WARNINGS = 20  # each looks its line up, so a hostile file must not have more
_SHOWN_CHARACTERS = 60  # of a wrong value, so that the sentence stays on a line
_TYPES: dict[str, Any] = {"object": dict, "array": list, "string": str, "number": (int, float)}

Trail = tuple[str | int, ...]  # where a value stands: ("source", "include", 0)


def load_config(config_dir: str) -> Config:
    """Read `<config_dir>/config.json`; the defaults where there is none.

    Raises:
        ConfigError: no JSON, a value of the wrong type, or a link that leaves the repository.
    """
    path = os.path.join(config_dir, "config.json")
    name = f"{os.path.basename(config_dir)}/config.json"
    try:
        data = _read(path, name)
    except (FileNotFoundError, NotADirectoryError):
        return Config()
    except OSError as error:
        raise ConfigError(f"{name} cannot be read.", cause=str(error.strerror)) from error
    return _File(name, data).config()


def schema_text() -> str:
    """Return the JSON schema of the configuration."""
    with open(_SCHEMA_PATH, encoding="utf-8") as file:
        return file.read()


def _read(path: str, name: str) -> bytes:
    folder = os.path.dirname(path)
    if os.path.islink(path) or os.path.islink(folder):
        inside = os.path.join(os.path.realpath(os.path.dirname(folder)), "")
        if not os.path.realpath(path).startswith(inside) or not os.path.exists(path):
            raise ConfigError(
                f"{name} is not read.",
                cause="It is a symbolic link that leads out of the repository, or nowhere.",
                hint="Put the file itself in its place.",
            )
    status = os.stat(path)
    if not stat.S_ISREG(status.st_mode) or status.st_size > MAX_CONFIG_BYTES:
        raise ConfigError(
            f"{name} is not read.",
            cause=f"It is no file, or larger than {MAX_CONFIG_BYTES} bytes.",
            hint="Remove it, and `ubp init` writes a new one.",
        )
    with open(path, "rb") as file:
        return file.read()


class _File:
    """One configuration file on its way from bytes to settings; it knows its lines."""

    def __init__(self, name: str, data: bytes) -> None:
        self.name = name
        self.text = self._decode(data)
        self.warnings: list[str] = []
        self.schema: dict[str, Any] = {}

    def config(self) -> Config:
        import json

        self.schema = json.loads(schema_text())
        settings = self._parse()
        self._check(settings, self.schema, ())
        return self._reduce(settings)

    def _decode(self, data: bytes) -> str:
        try:
            return data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            line = data.count(b"\n", 0, error.start) + 1
            return self._refuse(str(line), "these bytes are no UTF-8", "expected: UTF-8")

    def _parse(self) -> Any:
        import json

        try:
            return json.loads(self.text, object_pairs_hook=self._object)
        except json.JSONDecodeError as error:
            self._refuse(f"{error.lineno}:{error.colno}", "this is no JSON", error.msg)
        except (RecursionError, ValueError):
            why = "it nests too deeply, or a number has thousands of digits"
            self._refuse("1", "this is no configuration", why)

    def _object(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        settings = dict(pairs)
        if len(settings) < len(pairs):
            twice = Counter(key for key, _ in pairs).most_common(1)[0][0]
            self.warnings.append(f'{self.name}: "{twice}" stands twice; the last one counts.')
        return settings

    def _check(self, value: Any, schema: dict[str, Any], trail: Trail) -> None:
        """Hold a value against the part of JSON schema that config.schema.json uses."""
        if "$ref" in schema:
            schema = {**self.schema["$defs"][schema["$ref"].rpartition("/")[2]], **schema}
        if not _is_valid(value, schema):
            self._expect(schema["description"], value, trail)
        if isinstance(value, list):
            for index, item in enumerate(value):
                self._check(item, schema["items"], (*trail, index))
        if isinstance(value, dict):
            for key, item in value.items():
                self._check_setting(key, item, schema, trail)

    def _check_setting(self, key: str, value: Any, schema: dict[str, Any], trail: Trail) -> None:
        rule = schema.get("properties", {}).get(key, schema["additionalProperties"])
        if rule:
            self._check(value, rule, (*trail, key))
        elif len(self.warnings) < _MAX_WARNINGS:
            self._warn(key, list(schema["properties"]), trail)

    def _warn(self, key: str, known: list[str], trail: Trail) -> None:
        place = _dotted(trail) or "this file"
        advice = _advice(key, known, f"{place} has {', '.join(known)}.")
        line = self._line((*trail, key))
        self.warnings.append(f'{self.name}:{line}: "{key}" is no setting; {advice}')

    def _reduce(self, settings: dict[str, Any]) -> Config:
        source, staleness = settings.get("source", {}), settings.get("staleness", {})
        for name in ("include", "exclude"):
            for index, pattern in enumerate(source.get(name, ())):
                if normalize_path(pattern) is None or is_too_complex(pattern):
                    self._expect("a simpler pattern", pattern, ("source", name, index))
        root = normalize_path(nfc(settings.get("links", {}).get("root", "")))
        check = settings.get("check", {})
        ignored = check.get("ignore", ())
        for index, one in enumerate(ignored):
            if is_too_complex(one["path"]):
                self._expect("a simpler pattern", one["path"], ("check", "ignore", index, "path"))
            self._know(one["rule"], ("check", "ignore", index, "rule"))
        docs_dir = normalize_path(nfc(settings.get("docs_dir", "")))
        include = source.get("include", [docs_dir] if docs_dir else DEFAULT_INCLUDE)
        exclude = source.get("exclude", ())
        return Config(
            docs_dir or FilePath(""),
            tuple(wide for pattern in include for wide in _included(pattern)),
            BUILT_IN_EXCLUDE + tuple(wide for pattern in exclude for wide in _excluded(pattern)),
            tuple(staleness.get("keys", DEFAULT_KEYS)),
            float(staleness.get("threshold_days", DEFAULT_THRESHOLD_DAYS)),
            tuple(self.warnings),
            tuple(check.get("severity", {}).items()),
            tuple(Ignored(tuple(_excluded(one["path"])), one["rule"]) for one in ignored),
            (root,) if root else (),
            settings.get("search", {}).get("model"),
            _refused(settings.get("bind", {}).get("refused", ())),
        )

    def _know(self, rule: str, trail: Trail) -> None:
        """Warn of a rule that nobody knows; that one is misspelt, or of a later version."""
        known = self.schema["properties"]["check"]["properties"]["severity"]["properties"]
        if rule not in known and len(self.warnings) < _MAX_WARNINGS:
            self.warnings.append(
                f'{self.name}:{self._line(trail)}: "{rule}" is no rule; '
                + _advice(rule, list(known), f"there are {', '.join(known)}.")
            )

    def _expect(self, expected: str, value: Any, trail: Trail) -> NoReturn:
        import json

        kinds: dict[Any, str] = {dict: "an object", list: "a list" if value else "an empty list"}
        shown = kinds.get(type(value)) or json.dumps(value, ensure_ascii=False)
        what = f"{_dotted(trail) or 'this'} is {shown[:_SHOWN_CHARACTERS]}"
        self._refuse(str(self._line(trail)), what, f"expected: {expected}")

    def _refuse(self, place: str, what: str, why: str) -> NoReturn:
        why = f"{why[0].upper()}{why[1:]}."
        raise ConfigError(f"{self.name}:{place}: {what}.", cause=why, hint=_HINT)

    def _line(self, trail: Trail) -> int:
        return next((line for place, line in _places(self.text) if place == trail), 1)


def _advice(word: str, known: list[str], otherwise: str) -> str:
    from ubp.core.text import closest_name  # compiles patterns that a valid file never needs

    closest = closest_name(word, known)
    return f'did you mean "{closest}"?' if closest else otherwise


def _dotted(trail: Trail) -> str:
    parts = (f"[{part}]" if isinstance(part, int) else f".{part}" for part in trail)
    return "".join(parts).lstrip(".")


def _is_valid(value: Any, schema: dict[str, Any]) -> bool:
    if "enum" in schema:
        return bool(value in schema["enum"])
    if not isinstance(value, _TYPES[schema["type"]]) or isinstance(value, bool):
        return False
    if isinstance(value, str):
        length = schema.get("minLength", 0) <= len(value) <= schema.get("maxLength", len(value))
        return length and bool(re.search(schema.get("pattern", ""), value))
    if isinstance(value, list):
        return bool(schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", len(value)))
    if isinstance(value, dict):
        return all(key in value for key in schema.get("required", ()))
    return bool(schema["minimum"] <= value <= schema["maximum"])  # False for NaN


def _refused(pairs: Sequence[Mapping[str, str]]) -> frozenset[tuple[FilePath, FilePath]]:
    return frozenset(
        (page, source)
        for pair in pairs
        if (page := normalize_path(nfc(pair["page"])))
        and (source := normalize_path(nfc(pair["source"])))
    )


def _included(pattern: str) -> list[str]:
    # "docs" and "docs/" mean the documents below it, as a person who writes that expects
    path = normalize_path(nfc(pattern)) or ""
    if is_glob(path) and not pattern.endswith("/"):
        return [path]
    below = [f"{path}/{documents}".lstrip("/") for documents in DEFAULT_INCLUDE]
    return [path, *below] if path and not pattern.endswith("/") else below


def _excluded(pattern: str) -> list[str]:
    # as in .gitignore, what lies in an excluded folder is excluded
    path = (normalize_path(nfc(pattern)) or "**").removesuffix("/**")
    return [path] if path == "**" else [path, f"{path}/**"]


_JSON_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:\n]|[^\s{}\[\],:"]+')


def _places(json_text: str) -> Iterator[tuple[Trail, int]]:
    """Walk through valid JSON and tell where each key and each item of a list stands."""
    import json

    trail: list[str | int | None] = []  # None: the next text is a key
    line = 1
    for match in _JSON_TOKEN.finditer(json_text):
        text = match[0]
        if text == "\n":
            line += 1
        elif text in {"}", "]"}:
            trail.pop()
        elif text == ",":
            last = trail[-1]
            trail[-1] = last + 1 if isinstance(last, int) else None
        elif text != ":":
            is_key = bool(trail) and trail[-1] is None
            if is_key:
                trail[-1] = str(json.loads(text))
            if is_key or (trail and isinstance(trail[-1], int)):
                yield tuple(part for part in trail if part is not None), line
            if text in {"{", "["}:
                trail.append(None if text == "{" else 0)
