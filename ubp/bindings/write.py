"""Accepted bindings, written into documents, and refused ones, written into the configuration.

Both edit the file in place: no other character changes.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from ubp.core.errors import ConfigError, PageError, RepositoryError, UsageError
from ubp.core.model import FilePath
from ubp.core.paths import normalize_path
from ubp.git.files import read_file, replace_file
from ubp.git.repository import Repository
from ubp.index.session import Session
from ubp.index.view import View
from ubp.markdown.document import parse_page
from ubp.markdown.edit_pins import Pin, write_pins
from ubp.markdown.edit_sources import Form, add_sources, choose_form
from ubp.markdown.front_matter import LINE_END
from ubp.markdown.text_edits import as_diff
from ubp.staleness.pins import find_pins
from ubp.staleness.state import open_context

Refusal = tuple[FilePath | None, str]
"""A document (None: every document) and a source that was refused for it."""


class WrittenReference(NamedTuple):
    """A source reference that was added, and its pin."""

    source_path: str
    pin: str | None


class WriteResult(NamedTuple):
    """What was written into a document, with a diff, or why it was skipped."""

    filepath: FilePath
    written: tuple[WrittenReference, ...]
    diff: str = ""
    skip_reason: str = ""


class _Container(NamedTuple):
    """An object or list in JSON text: its keys from the root, and the positions of its brackets."""

    keys: tuple[str, ...]
    start: int
    end: int


def form_of(view: View, page: FilePath) -> Form:
    """Return the form that a page's readers do not see, by its site."""
    return choose_form(page, view.sites().of(page))


def bind_pages(
    session: Session,
    sources: Mapping[FilePath, Sequence[str]],
    *,
    pin: bool,
    from_history: bool,
    is_dry: bool,
) -> tuple[WriteResult, ...]:
    """Write sources into pages' front matter, pinned with `pin` or `from_history`.

    Raises:
        UsageError: the repository is bare.
    """
    if session.repository.root is None:
        raise UsageError(
            "Cannot edit pages in a bare repository.",
            cause="It has no work tree.",
            hint="Run `ubp bind` in a clone.",
        )
    pins: Mapping[tuple[FilePath, FilePath], str] = {}
    if pin or from_history:
        paths = {
            page: [path for name in names if (path := normalize_path(name))]
            for page, names in sources.items()
        }
        pins = find_pins(
            paths,
            open_context(session, session.view()),
            from_history=from_history,
            keys=session.config.keys,
        )
    forms = {page: form_of(session.view(), page) for page in sources}
    keys = session.config.keys
    return write_bindings(sources, pins, session.repository, keys, forms, is_dry=is_dry)


def write_bindings(  # noqa: PLR0913  # a write needs as much
    sources_by_page: Mapping[FilePath, Sequence[str]],
    pins: Mapping[tuple[FilePath, FilePath], str],
    repository: Repository,
    keys: Sequence[str],
    forms: Mapping[FilePath, Form],
    *,
    is_dry: bool,
) -> tuple[WriteResult, ...]:
    """Add source references to documents in the work tree; `is_dry`: only return the diffs.

    `forms` say how to write into a document that has no front matter. `pins` are keyed by document
    and source. References that exist already are not added again.
    """
    results = []
    for path, sources in sources_by_page.items():
        try:
            before = read_file(repository, path)
            after = add_sources(before, keys, sources, forms[path])
            existing = {reference.literal for reference in parse_page(before, keys).references}
            new = [
                reference
                for reference in parse_page(after, keys).references
                if reference.literal not in existing
            ]
            written = tuple(
                WrittenReference(reference.written, pins.get((path, reference.literal)))
                for reference in new
            )
            after = _pin(after, written, keys)
            if not is_dry and after != before:
                replace_file(repository, path, after)
        except (PageError, RepositoryError) as error:
            reason = " ".join(filter(None, (error.message, error.cause)))
            results.append(WriteResult(path, (), skip_reason=reason))
        else:
            results.append(WriteResult(path, written, as_diff(path, before, after)))
    return tuple(results)


def _pin(data: bytes, written: Sequence[WrittenReference], keys: Sequence[str]) -> bytes:
    pin_by_path = {normalize_path(reference.source_path): reference.pin for reference in written}
    pins = {
        reference: Pin(pin)
        for reference in parse_page(data, keys).references
        if (pin := pin_by_path.get(reference.literal))
    }
    return write_pins(data, keys, pins) if pins else data


def add_refusals(text: str, refused: Sequence[Refusal]) -> str:
    """Return the text of a `config.json` with these refusals added to `bind.refused`.

    Raises:
        ConfigError: the file cannot be edited in place.
    """
    byte_order_mark = text[:1] if text.startswith("\ufeff") else ""
    text = text[len(byte_order_mark) :]
    settings = json.loads(text)
    existing = settings.get("bind", {}).get("refused", [])
    items = [
        {"page": page, "source": source} if page else {"source": source}
        for page, source in dict.fromkeys(refused)
    ]
    new = [
        item for item in items if item not in existing and all(map(normalize_path, item.values()))
    ]
    if not new:
        return byte_order_mark + text
    containers = {container.keys: container for container in _find_containers(text)}
    result = _insert(text, containers, new)
    expected = {**settings, "bind": {**settings.get("bind", {}), "refused": [*existing, *new]}}
    if json.loads(result) != expected:
        raise ConfigError(
            "Cannot add the refused proposals to config.json in place.",
            hint='Add them by hand: "bind": {"refused": [{"page": "…", "source": "…"}]}',
        )
    return byte_order_mark + result


def _insert(
    text: str, containers: Mapping[tuple[str, ...], _Container], items: Sequence[Mapping[str, str]]
) -> str:
    """Add items to `bind.refused`, with the objects around it that do not exist yet."""
    indented = re.search(r"[\r\n]([ \t]+)\S", text)
    indent = indented[1] if indented else "  "
    lines = [f"{_to_json(item)}," for item in items]
    lines[-1] = lines[-1].removesuffix(",")
    if ("bind", "refused") not in containers:
        lines = ['"refused": [', *(indent + line for line in lines), "]"]
        if ("bind",) not in containers:
            lines = ['"bind": {', *(indent + line for line in lines), "}"]
    container = containers.get(("bind", "refused")) or containers.get(("bind",)) or containers[()]
    line_end = LINE_END.search(text)
    newline = line_end[0] if line_end else "\n"
    first_line = LINE_END.split(text[: container.start])[-1]
    outer = first_line[: len(first_line) - len(first_line.lstrip())]
    before = text[: container.end].rstrip()
    comma = "" if before.endswith(("{", "[")) else ","
    added = "".join(f"{newline}{outer}{indent}{line}" for line in lines)
    return f"{before}{comma}{added}{newline}{outer}{text[container.end :]}"


def _to_json(item: Mapping[str, str]) -> str:
    has_surrogates = any("\ud800" <= c <= "\udfff" for value in item.values() for c in value)
    return json.dumps(item, ensure_ascii=has_surrogates)


def _find_containers(text: str) -> Iterator[_Container]:
    """Yield the objects and lists of valid JSON; the keys of those inside lists mean nothing."""
    open_containers: list[tuple[str, int]] = []
    key, last = "", ""
    for token in _TOKEN.finditer(text):
        match token[0]:
            case ":":
                key = json.loads(last)
            case "{" | "[":
                open_containers.append((key, token.start()))
                key = ""
            case "}" | "]":
                keys = tuple(name for name, _ in open_containers[1:])
                yield _Container(keys, open_containers.pop()[1], token.start())
        last = token[0]


_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+')
