"""`ubp affected` for people."""

from collections.abc import Sequence

from ubp.render.ansi import Style
from ubp.render.wording import count, printable
from ubp.staleness.report import Affected


def affected_text(
    affected: Sequence[Affected], paths: Sequence[str], style: Style, *, is_quiet: bool
) -> str:
    """A line for each reference, then a summary unless `is_quiet`."""
    lines = [
        f"{style.bold(f'{printable(one.page.filepath)}:{reference.line}')}  "
        f"{printable(reference.source_path + (reference.fragment or ''))}"
        for one in affected
        for reference in one.references
    ]
    if not is_quiet:
        asked = printable(", ".join(paths))
        verb = "describes" if len(affected) == 1 else "describe"
        found = f"{count(len(affected), 'page')} {verb} {asked}."
        lines += ["", found] if affected else [style.yellow(f"No page describes {asked}.")]
    return "".join(f"{line}\n" for line in lines)
