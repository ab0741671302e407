"""The changes that agents can propose: functions from the old bytes of a page to the new ones.

What a change is not about stays byte for byte the same: front matter, other sections, line ends.
"""

from collections.abc import Sequence

from ubp.bindings.write import form_of
from ubp.core.errors import BadArgumentError
from ubp.core.model import FilePath
from ubp.core.paths import normalize_path
from ubp.core.text import closest_name
from ubp.edits.propose import Change
from ubp.index.session import Session
from ubp.index.view import View
from ubp.markdown.document import read_head
from ubp.markdown.edit_sources import add_sources, rename_sources
from ubp.markdown.new_page import write_page
from ubp.markdown.outline import closest_section, find_section, list_sections, read_outline
from ubp.markdown.source_text import BOM, SourceText
from ubp.staleness.assess import assess
from ubp.staleness.pins import AckOptions, pin_page
from ubp.staleness.state import open_context


def create(session: Session, content: str, doc_type: str | None, sources: Sequence[str]) -> Change:
    """Return the change that makes a new page; `sources` are paths in the repository."""

    def change(_: bytes | None, view: View) -> bytes:
        fields: dict[str, object] = {"doc_type": doc_type} if doc_type else {}
        if sources:
            _check_sources(session, view, sources)
            fields[_plain_key(session)] = list(sources)
        if fields and read_head(content.encode("utf-8", "surrogatepass"), session.config.keys).body:
            raise BadArgumentError(
                "content",
                "`content` has front matter, and `doc_type` or `source_refs` are given.",
                hint=f"Write {' and '.join(fields)} into the front matter of `content`.",
            )
        return write_page(content, fields)

    return change


def replace(session: Session, content: str) -> Change:
    """Return the change that replaces a page, or its body where `content` has no front matter."""

    def change(old: bytes | None, _: View) -> bytes:
        before = old or b""
        body = _encode(content, before)
        keys = session.config.keys
        if read_head(body, keys).body:
            return body
        return before[: read_head(before, keys).body] + _separated(before, body, keys)

    return change


def replace_section(content: str, name: str) -> Change:
    """Return the change that replaces a section, its heading and all below it."""

    def change(old: bytes | None, _: View) -> bytes:
        before = old or b""
        outline = read_outline(before)
        section = find_section(outline, name)
        if section is None:
            closest = closest_section(outline, name)
            raise BadArgumentError(
                "section",
                f"The page has no section {name}.",
                cause=list_sections(outline),
                hint=f"Did you mean {closest}?" if closest else "",
            )
        source = SourceText(before)
        last = section.line_end - 1
        start = source.byte_at(section.line_start - 1, 0)
        end = source.byte_at(last, len(source.lines[last]))
        return before[:start] + _encode(content.rstrip("\n"), before) + before[end:]

    return change


def append(content: str) -> Change:
    """Return the change that adds a text at the end of a page, after a blank line."""

    def change(old: bytes | None, _: View) -> bytes:
        before = old or b""
        text = _encode(f"\n\n{content.strip()}\n", before)
        return before.rstrip(b"\r\n") + text

    return change


def acknowledge(session: Session, page: FilePath, source: str | None, reason: str) -> Change:
    """Return the change that pins the sources of a page, or one of them, as they are now."""

    def change(old: bytes | None, view: View) -> bytes:
        context = open_context(session, view)
        known = view.page(page)
        (assessed,) = assess([known], context) if known else (None,)
        references = assessed.references if assessed else ()
        chosen = [v for v in references if source is None or source in {v.name, v.source_path}]
        if assessed is None or not chosen:
            names = [verdict.name for verdict in references]
            closest = closest_name(source or "", names)
            hint = "" if references else "Propose sources with ubp_bind."
            raise BadArgumentError(
                "source_path" if source else "filepath",
                f"{page} does not list {source}." if source else f"{page} lists no sources.",
                cause=f"It lists {', '.join(names[:10])}." if names else "",
                hint=f"Did you mean {closest}?" if closest else hint,
            )
        options = AckOptions(session.config.keys, False, False, reason, session.is_hidden)  # noqa: FBT003
        assessed = assessed._replace(references=tuple(chosen))
        text, skipped = pin_page(old or b"", assessed, context, options)
        if text == old:
            why = skipped[0].reason if skipped else "its sources have not changed"
            raise BadArgumentError("filepath", f"Nothing to acknowledge in {page}: {why}.")
        return text

    return change


def bind(session: Session, page: FilePath, sources: Sequence[str]) -> Change:
    """Return the change that adds sources to a page's front matter.

    A source to which one of the page's own moved takes its place.
    """

    def change(old: bytes | None, view: View) -> bytes:
        _check_sources(session, view, sources)
        known = view.page(page)
        assessed = assess([known], open_context(session, view)) if known else ()
        listed = {reference.literal for reference in known.facts.references} if known else set()
        wanted = {*map(_normalized, sources)} - listed
        moved = {
            verdict.new_name: verdict.reference.literal
            for assessment in assessed
            for verdict in assessment.references
            if verdict.verdict == "moved" and verdict.reference.language is None
        }
        renames = {old: new for new, old in moved.items() if new in wanted}
        data = rename_sources(old or b"", session.config.keys, renames) if renames else old or b""
        return add_sources(data, session.config.keys, sources, form_of(view, page))

    return change


def _normalized(source: str) -> str:
    path, separator, part = source.partition("#")
    return f"{normalize_path(path)}{separator}{part}"


def _check_sources(session: Session, view: View, sources: Sequence[str]) -> None:
    paths = []
    for source in sources:
        path = normalize_path(source.partition("#")[0])
        if path is None:
            raise BadArgumentError("sources", f"{source} is not a path in the repository.")
        paths.append(path)
    for path, entry in view.entries(paths).items():
        if entry is None and not any(character in path for character in "*?["):
            raise BadArgumentError(
                "sources",
                f"There is no file or folder {path}.",
                hint=f"Did you mean {closest}?"
                if (closest := _closest_file(session, view, path))
                else "Use paths from the root.",
            )


def _closest_file(session: Session, view: View, path: FilePath) -> str | None:
    """Return the file that was probably meant: one of the same name, or of the same folder."""
    folder, _, name = path.rpartition("/")
    same = [
        file
        for file, _ in view.files()
        if file.rpartition("/")[2] == name and not session.is_hidden(file)
    ]
    children = [file for file in view.children(FilePath(folder)) if not session.is_hidden(file)]
    return closest_name(path, same, cutoff=0.0) or closest_name(path, children)


def _plain_key(session: Session) -> str:
    """Return a configured key that is a list of paths at the top level."""
    keys = session.config.keys
    return next((key for key in keys if key.isidentifier()), "source_refs")


def _encode(content: str, like: bytes) -> bytes:
    """Return a text as bytes, with the line ends of another one."""
    text = content.replace("\r\n", "\n")
    if like.count(b"\r\n") * 2 > like.count(b"\n"):
        text = text.replace("\n", "\r\n")
    return text.encode("utf-8", "surrogatepass")


def _separated(before: bytes, body: bytes, keys: Sequence[str]) -> bytes:
    """Return a new body with the blank line, or none, that followed the front matter before."""
    head_end = read_head(before, keys).body
    old_body = before[head_end:]
    gap = old_body[: len(old_body) - len(old_body.lstrip(b"\r\n"))] if head_end else b""
    text = gap + body.lstrip(b"\r\n") if gap else body
    is_marked = head_end == 0 and before.startswith(BOM)
    text = BOM + text if is_marked and not text.startswith(BOM) else text
    return text if text.endswith(b"\n") else text + (b"\r\n" if b"\r\n" in body else b"\n")
