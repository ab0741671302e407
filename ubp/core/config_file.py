"""Read `.ubp/config.json`, validate it with config.schema.json, and build the `Config`.

A configuration in the repository can make UBP read less, never more: patterns stay inside the
repository, and the built-in exclusions cannot be lifted. The schema, which editors use too, is the
file's only description; unknown settings, as of later versions, are warned of and ignored.
"""

import json
import os
import re
import stat
from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence
from typing import Any, NoReturn

from ubp.core.config import (
    BUILT_IN_EXCLUDE,
    COLLECTION_NAME,
    COLLECTION_NAME_RULE,
    DEFAULT_ALARMS,
    DEFAULT_INCLUDE,
    DEFAULT_KEYS,
    DEFAULT_THRESHOLD_DAYS,
    FULL_TEXT,
    CollectionSetting,
    Config,
    EditSettings,
    Ignored,
    SiteSetting,
)
from ubp.core.errors import ConfigError
from ubp.core.files import read_regular_file
from ubp.core.model import FilePath
from ubp.core.paths import is_glob, is_too_complex, nfc, normalize_path
from ubp.core.translations import LANGUAGE, PATH, TranslationRule

# Room for ten thousand refused bindings.
MAX_CONFIG_BYTES = 1024 * 1024

_SCHEMA_PATH = os.path.join(os.path.dirname(__file__), "config.schema.json")
_HINT = "Fix or remove it; every setting is optional."
_MAX_WARNINGS = 20  # each one scans the file for its line, which a hostile file must not repeat
_MAX_VALUE_CHARACTERS = 60  # of a wrong value in a message, which stays on one line
_JSON_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:\n]|[^\s{}\[\],:"]+')
_TYPES: dict[str, Any] = {"object": dict, "array": list, "string": str, "number": (int, float)}

Trail = tuple[str | int, ...]  # the keys and indexes to a value: ("source", "include", 0)


def load_config(config_dir: str) -> Config:
    """Return the configuration in `<config_dir>/config.json`, the defaults if there is none.

    Raises:
        ConfigError: the file is not valid JSON, has a value of the wrong type, cannot be read, or
            is a symbolic link that leads out of the repository.
    """
    path = os.path.join(config_dir, "config.json")
    name = f"{os.path.basename(config_dir)}/config.json"
    try:
        data = _read(path, name)
    except (FileNotFoundError, NotADirectoryError):
        return Config()
    except OSError as error:
        raise ConfigError(f"Cannot read {name}.", cause=str(error.strerror)) from error
    return parse_config(data, name)


def parse_config(data: bytes, name: str) -> Config:
    """Return the configuration in the bytes of a file of this name.

    Raises:
        ConfigError: they are not valid JSON, or have a value of the wrong type.
    """
    return _Loader(name, data).load()


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
                f"Cannot read {name}.",
                cause="It is a symbolic link that is broken or leads out of the repository.",
                hint="Replace it with a regular file.",
            )
    status = os.stat(path)
    if not stat.S_ISREG(status.st_mode) or status.st_size > MAX_CONFIG_BYTES:
        raise ConfigError(
            f"Cannot read {name}.",
            cause=f"It is not a regular file, or is larger than {MAX_CONFIG_BYTES} bytes.",
            hint="Remove it and run `ubp init` to write a new one.",
        )
    return read_regular_file(path)


class _Loader:
    """Parses and validates one configuration file; its messages name lines."""

    def __init__(self, name: str, data: bytes) -> None:
        self.name = name
        self.text = self._decode(data)
        self.warnings: list[str] = []
        self.schema: dict[str, Any] = {}

    def load(self) -> Config:
        self.schema = json.loads(schema_text())
        settings = self._parse()
        self._validate(settings, self.schema, ())
        return self._build(settings)

    def _decode(self, data: bytes) -> str:
        try:
            return data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            line = data.count(b"\n", 0, error.start) + 1
            return self._refuse(str(line), "Not valid UTF-8", "the file must be encoded in UTF-8")

    def _parse(self) -> Any:
        try:
            return json.loads(self.text, object_pairs_hook=self._build_object)
        except json.JSONDecodeError as error:
            self._refuse(f"{error.lineno}:{error.colno}", "Not valid JSON", error.msg)
        except (RecursionError, ValueError):
            why = "it is nested too deeply, or a number has thousands of digits"
            self._refuse("1", "Invalid configuration", why)

    def _build_object(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        settings = dict(pairs)
        if len(settings) < len(pairs):
            repeated = Counter(key for key, _ in pairs).most_common(1)[0][0]
            self.warnings.append(
                f'{self.name}: Duplicate key "{repeated}"; the last value is used.'
            )
        return settings

    def _validate(self, value: Any, schema: dict[str, Any], trail: Trail) -> None:
        """Validate a value with the part of JSON Schema that config.schema.json uses."""
        if "$ref" in schema:
            schema = {**self.schema["$defs"][schema["$ref"].rpartition("/")[2]], **schema}
        if not _is_valid(value, schema):
            self._expect(schema["description"], value, trail)
        if isinstance(value, list):
            for index, item in enumerate(value):
                self._validate(item, schema["items"], (*trail, index))
        if isinstance(value, dict):
            for key, item in value.items():
                known = schema.get("properties", {})
                if item_schema := known.get(key, schema["additionalProperties"]):
                    self._validate(item, item_schema, (*trail, key))
                elif len(self.warnings) < _MAX_WARNINGS:
                    parent = _dotted(trail) or "this file"
                    advice = _advice(key, list(known), f"{parent} accepts {', '.join(known)}.")
                    line = self._line((*trail, key))
                    self.warnings.append(f'{self.name}:{line}: Unknown setting "{key}"; {advice}')

    def _build(self, settings: dict[str, Any]) -> Config:
        source, staleness = settings.get("source", {}), settings.get("staleness", {})
        for name in ("include", "exclude"):
            for index, pattern in enumerate(source.get(name, ())):
                if normalize_path(pattern) is None or is_too_complex(pattern):
                    self._expect("a simpler pattern", pattern, ("source", name, index))
        records = staleness.get("records", ())
        for index, pattern in enumerate(records):
            if normalize_path(pattern) is None or is_too_complex(pattern):
                self._expect("a simpler pattern", pattern, ("staleness", "records", index))
        root = normalize_path(nfc(settings.get("links", {}).get("root", "")))
        check = settings.get("check", {})
        ignored = check.get("ignore", ())
        for index, entry in enumerate(ignored):
            if is_too_complex(entry["path"]):
                self._expect("a simpler pattern", entry["path"], ("check", "ignore", index, "path"))
            self._warn_of_unknown_rule(entry["rule"], ("check", "ignore", index, "rule"))
        docs_dir = normalize_path(nfc(settings.get("docs_dir", "")))
        include = source.get("include", [docs_dir] if docs_dir else DEFAULT_INCLUDE)
        exclude = source.get("exclude", ())
        return Config(
            docs_dir or FilePath(""),
            tuple(path for pattern in include for path in _included(pattern)),
            BUILT_IN_EXCLUDE + tuple(path for pattern in exclude for path in _excluded(pattern)),
            tuple(staleness.get("keys", DEFAULT_KEYS)),
            float(staleness.get("threshold_days", DEFAULT_THRESHOLD_DAYS)),
            tuple(self.warnings),
            tuple(check.get("severity", {}).items()),
            tuple(
                Ignored(tuple(_excluded(entry["path"])), entry["rule"], entry.get("reason", ""))
                for entry in ignored
            ),
            (root,) if root else (),
            settings.get("search", {}).get("model"),
            _refused(settings.get("bind", {}).get("refused", ())),
            self._collections(settings.get("collections", {})),
            tuple(map(_site, settings.get("sites", ()))),
            tuple(path for entry in records for path in _excluded(entry)),
            tuple(staleness.get("ignore_commits", ())),
            int(staleness["quiet_after"]) if "quiet_after" in staleness else None,
            staleness.get("pin"),
            self._translations(
                settings.get("translations", ()), settings.get("collections", {}).keys()
            ),
            self._edit(settings.get("edit", {})),
            settings.get("search", {}).get("version"),
            staleness.get("alarms", DEFAULT_ALARMS),
        )

    def _edit(self, settings: Mapping[str, Any]) -> EditSettings:
        paths = settings.get("paths", ())
        for index, pattern in enumerate(paths):
            if normalize_path(pattern) is None or is_too_complex(pattern):
                self._expect("a simpler pattern", pattern, ("edit", "paths", index))
        default, rate = EditSettings(), settings.get("rate", {})
        return EditSettings(
            tuple(path for pattern in paths for path in _excluded(pattern)),
            int(settings.get("max_page_bytes", default.max_page_bytes)),
            int(rate.get("edits", default.edits_per_minute)),
            int(rate.get("bytes", default.bytes_per_minute)),
        )

    def _translations(
        self, settings: Sequence[Mapping[str, Any]], collections: Container[str]
    ) -> tuple[TranslationRule, ...]:
        rules = []
        for index, entry in enumerate(settings):
            for name, counts in (("page", (1, 1)), ("source", (0, 1))):
                pattern = entry[name]
                if (pattern.count(LANGUAGE), pattern.count(PATH)) != counts:
                    has = f"{LANGUAGE} and {PATH}" if name == "page" else PATH
                    but = "" if name == "page" else f", and no {LANGUAGE}"
                    expected = f"a pattern that contains {has} once{but}"
                    self._expect(expected, pattern, ("translations", index, name))
            page, source = (normalize_path(nfc(entry[name])) or "" for name in ("page", "source"))
            if "collection" in entry:
                if entry["collection"] not in collections:
                    trail = ("translations", index, "collection")
                    self._expect("the name of one of the collections", entry["collection"], trail)
                source = FilePath(f"{entry['collection']}:{source}")
            languages = tuple(entry.get("languages", ()))
            rules.append(TranslationRule(page, source, entry.get("pin"), languages))
        return tuple(rules)

    def _collections(self, settings: Mapping[str, Any]) -> tuple[CollectionSetting, ...]:
        collections = []
        for name, entry in settings.items():
            trail = ("collections", name)
            if not re.fullmatch(COLLECTION_NAME, name):
                self._refuse(
                    str(self._line(trail)),
                    f"Invalid name of a collection: {json.dumps(name[:_MAX_VALUE_CHARACTERS])}",
                    COLLECTION_NAME_RULE,
                )
            if ("git" in entry) == ("url" in entry):
                self._expect("either git or url in each collection", entry, trail)
            for index, pattern in enumerate(entry.get("include", ())):
                if is_too_complex(pattern):
                    self._expect("a simpler pattern", pattern, (*trail, "include", index))
            collections.append(
                CollectionSetting(
                    name,
                    "mirror" if "git" in entry else "import",
                    entry.get("git") or entry["url"],
                    entry.get("at", ""),
                    tuple(entry.get("include", ())),
                    entry.get("language", ""),
                    entry.get("policy", FULL_TEXT),
                    entry.get("remote", ""),
                )
            )
        return tuple(collections)

    def _warn_of_unknown_rule(self, rule: str, trail: Trail) -> None:
        # an error would make a configuration for a later version unusable
        known = self.schema["properties"]["check"]["properties"]["severity"]["properties"]
        if rule not in known and len(self.warnings) < _MAX_WARNINGS:
            self.warnings.append(
                f'{self.name}:{self._line(trail)}: Unknown rule "{rule}"; '
                + _advice(rule, list(known), f"the rules are {', '.join(known)}.")
            )

    def _expect(self, expected: str, value: Any, trail: Trail) -> NoReturn:
        kinds: dict[Any, str] = {dict: "an object", list: "a list" if value else "an empty list"}
        shown = kinds.get(type(value)) or json.dumps(value, ensure_ascii=False)
        name = f"value for {_dotted(trail)}" if trail else "configuration"
        what = f"Invalid {name}: {shown[:_MAX_VALUE_CHARACTERS]}"
        self._refuse(str(self._line(trail)), what, f"expected {expected}")

    def _refuse(self, location: str, what: str, why: str) -> NoReturn:
        why = f"{why[0].upper()}{why[1:]}."
        raise ConfigError(f"{self.name}:{location}: {what}.", cause=why, hint=_HINT)

    def _line(self, trail: Trail) -> int:
        return next((line for other, line in _locate_values(self.text) if other == trail), 1)


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


def _site(setting: Mapping[str, str]) -> SiteSetting:
    folder = normalize_path(nfc(setting.get("folder", ""))) or FilePath("")
    root = normalize_path(nfc(setting["root"])) if "root" in setting else folder
    return SiteSetting(setting["generator"], folder, root or FilePath(""), setting.get("base", ""))


def _refused(pairs: Sequence[Mapping[str, str]]) -> frozenset[tuple[FilePath | None, FilePath]]:
    refused = set()
    for pair in pairs:
        page = normalize_path(nfc(pair["page"])) if "page" in pair else None
        source = normalize_path(nfc(pair["source"]))
        if source and (page or "page" not in pair):
            refused.add((page, source))
    return frozenset(refused)


def _included(pattern: str) -> list[str]:
    # "docs" and "docs/" include the documents below the folder, as users expect
    path = normalize_path(nfc(pattern)) or ""
    if is_glob(path) and not pattern.endswith("/"):
        return [path]
    below = [f"{path}/{default}".lstrip("/") for default in DEFAULT_INCLUDE]
    return [path, *below] if path and not pattern.endswith("/") else below


def _excluded(pattern: str) -> list[str]:
    # as in .gitignore, everything in an excluded folder is excluded
    path = (normalize_path(nfc(pattern)) or "**").removesuffix("/**")
    return [path] if path == "**" else [path, f"{path}/**"]


def _locate_values(json_text: str) -> Iterator[tuple[Trail, int]]:
    """Yield the trail and the line of each key and each list item in valid JSON."""
    trail: list[str | int | None] = []  # None: the next token is a key
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
