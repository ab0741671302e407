"""The other packages that a manifest requires."""

import json
import re
from collections.abc import Iterator, Mapping

from ubp.core.toml import parse_toml

MAX_LINE = 2_000  # a longer line names no package

_JSON = r"(?:package|composer|deno)\.jsonc?"
_TOML = r"(?:cargo|pyproject|pipfile|libs\.versions)(?:\.toml)?"
_LINES = (
    r"go\.mod|(?:[\w.-]+[-_.])?requirements(?:[-_.][\w.-]+)?\.(?:txt|in)|setup\.(?:py|cfg)"
    r"|gemfile|.*\.gemspec|build\.gradle(?:\.kts)?|pom\.xml|mix\.exs"
)
# Of a library's users nobody gets what it is developed with.
_TABLES = frozenset(
    {"dependencies", "peerDependencies", "optionalDependencies", "require", "requires", "imports"}
    | {"build-dependencies", "optional-dependencies", "libraries", "packages"}
)
# `name>=1.2`, `gem "name", "~> 1.2"`, `group:name:1.2`, `example.org/name v1.2`
_WITH_VERSION = (
    r"(?!\W*(?:version|module|go|toolchain)\b)(?=.*[\w.-]+(?:\[[\w,-]*\])?[\"']?"
    r"(?:[ \t]*(?:[=~<>!^:,]+)[ \t]*[\"']?[~^<>=]*[ \t]*|[ \t]+v)\d)(.+)"
)
_VERSION_TAG = r"<version>[^<]*</version>"
_VERSION_KEYS = frozenset({"version", "git", "rev", "tag", "branch", "url"})
_ANY_TABLE = r"(?i)dependencies$|^(?:require|requires|require-dev|imports|libraries|packages)$"
_REQUIRED_NAME = (
    r"(?m)^[ \t]*(?:require[ \t]+|(?:gem|compile|implementation|api)[ \t(]*)?[\"']?"
    r"([A-Za-z][\w./:@-]*\w)(?=[\"']?(?:\[[\w,-]*\])?"
    r"(?:[ \t]*+[=~<>!^:,]++[ \t]*+[\"']?[~^<>=]*+[ \t]*+|[ \t]+v)\d)"
    r"|<artifactId>([\w.-]+)"
)
_OWN_NAME = r"""(?m)(?:^|[{,])[ \t]*"?name"?[ \t]*[:=][ \t]*["']([^"']+)["']|^module[ \t]+(\S+)"""
# What lies in the same repository.
_LOCAL = r"(?:workspace|link|file|portal|path):|\*$"


def is_dependency_manifest(path: str) -> bool:
    """Return whether a file lists the packages that a project requires."""
    return re.fullmatch(f"{_JSON}|{_TOML}|{_LINES}", path.rpartition("/")[2].lower()) is not None


def find_dependencies(path: str, data: bytes) -> frozenset[str]:
    """Return what a manifest requires, each with its version as written; none if it is broken."""
    name = path.rpartition("/")[2].lower()
    text = data.decode("utf-8", "replace")
    try:
        if re.fullmatch(_JSON, name):
            return frozenset(_in_tables(json.loads(text)))
        if re.fullmatch(_TOML, name):
            return frozenset(_in_tables(parse_toml(text)))
    except (ValueError, RecursionError):
        return frozenset()
    lines = [line.strip() for line in text.split("\n") if len(line) <= MAX_LINE]
    return frozenset(
        line for line in lines if re.match(_WITH_VERSION, line) or re.search(_VERSION_TAG, line)
    )


def find_required_names(path: str, data: bytes) -> frozenset[str]:
    """Return the names of all packages that a manifest requires, for development, too."""
    name = path.rpartition("/")[2].lower()
    text = data.decode("utf-8", "replace")
    try:
        if re.fullmatch(_JSON, name):
            return frozenset(_names_in_tables(json.loads(text)))
        if re.fullmatch(_TOML, name):
            return frozenset(_names_in_tables(parse_toml(text)))
    except (ValueError, RecursionError):
        return frozenset()
    return frozenset(first or second for first, second in re.findall(_REQUIRED_NAME, text))


def find_package_name(data: bytes) -> str | None:
    """Return the name that a manifest gives its own package; None: it gives none."""
    found = re.search(_OWN_NAME, data.decode("utf-8", "replace"))
    return (found[1] or found[2]) if found else None


def _names_in_tables(tree: object) -> Iterator[str]:
    if isinstance(tree, Mapping):
        for key, value in tree.items():
            if not re.search(_ANY_TABLE, key):
                yield from _names_in_tables(value)
            elif isinstance(value, Mapping):
                yield from (str(name) for name in value)
                yield from (name for item in value.values() for name in _names_in_list(item))
            else:
                yield from _names_in_list(value)


def _names_in_list(items: object) -> Iterator[str]:
    for item in items if isinstance(items, list) else ():
        if isinstance(item, str) and (found := re.match(r"[\w.@/-]+", item)):
            yield found[0]


def _in_tables(tree: object) -> Iterator[str]:
    """Yield the requirements in the tables of a manifest that list them, wherever they are."""
    if isinstance(tree, Mapping):
        for key, value in tree.items():
            if key in _TABLES:
                yield from _requirements(value)
            elif key not in {"dev-dependencies", "dev"}:
                yield from _in_tables(value)


def _requirements(table: object, name: str = "") -> Iterator[str]:
    if isinstance(table, str) and not re.match(_LOCAL, table):
        yield f"{name} {table}".strip()
    elif isinstance(table, list):
        for item in table:
            yield from _requirements(item, name)
    elif isinstance(table, Mapping):
        if name and not _VERSION_KEYS.isdisjoint(table):
            yield f"{name} {[table.get(key) for key in sorted(_VERSION_KEYS)]}"
        elif not (name and {"path", "workspace"} & table.keys()):
            for key, value in table.items():
                yield from _requirements(value, str(key))
