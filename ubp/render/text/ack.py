"""`ubp ack` for people: what was pinned, what could not be, what to do with it."""

from collections.abc import Iterator, Sequence

from ubp.model import FilePath
from ubp.render.ansi import Style
from ubp.render.text.typed import typed
from ubp.render.wording import count, printable
from ubp.staleness.report import Acknowledgement

# One command names this many pages; more make it unreadable.
MOST_PAGES = 5


def acknowledge_text(
    done: Sequence[Acknowledgement], prefix: FilePath, style: Style, *, is_staged: bool
) -> str:
    """Page by page, then a summary and the next command."""
    lines = [line for one in done if one.pinned or one.left for line in _page(one, style)]
    changed = [one for one in done if one.pinned]
    pinned = sum(len(one.pinned) for one in done)
    if not changed:
        lines.append(
            "Nothing was pinned." if lines else "Nothing to pin: no reference has drifted."
        )
        return "\n".join(lines) + "\n"
    lines.append(f"{count(pinned, 'reference')} pinned in {count(len(changed), 'page')}.")
    if not is_staged:
        names = " ".join(typed(one.filepath, prefix) for one in changed[:MOST_PAGES])
        more = " …" if len(changed) > MOST_PAGES else ""
        lines.append(f"Next: {style.cyan(f'git add {names}{more}')}")
    return "\n".join(lines) + "\n"


def _page(one: Acknowledgement, style: Style) -> Iterator[str]:
    yield style.bold(printable(one.filepath))
    for pinned in one.pinned:
        before = f" (was {pinned.before})" if pinned.before else ""
        name = printable(pinned.source_path)
        yield f"  {name}  {style.green(f'pinned to {pinned.pin}')}{printable(before)}"
    for left in one.left:
        yield f"  {printable(left.source_path)}  {style.yellow('left')}: {printable(left.reason)}"
