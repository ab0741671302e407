"""`ubp badge`: how fresh the documentation is, as a picture for a README."""

from ubp.cli.door import CLEAN
from ubp.cli.files import check_folder, write_file
from ubp.cli.opening import open_workspace
from ubp.cli.terminal import Terminal
from ubp.render.badge import badge_record, badge_svg
from ubp.render.wording import printable
from ubp.report.badge import LABEL, make_badge
from ubp.report.values import Levels


def badge(
    *,
    output: str | None = None,
    label: str = LABEL,
    ref: str | None = None,
    key: list[str] | None = None,
    terminal: Terminal,
) -> int:
    """Draw a badge: the share of fresh pages among those that name sources.

    Args:
        output: Write it to this file instead of printing it.
        label: What stands on its left side (docs).
        ref: Of this revision instead of the work tree.
        key: A front matter key that names sources, instead of the configured ones; repeatable.
        terminal: Where the answer goes.
    """
    if output is not None:
        check_folder(output, terminal)
    with open_workspace(terminal, keys=key or ()) as workspace:
        summary = workspace.stale(ref=ref).summary
    made = make_badge(Levels(*(getattr(summary, name) for name in Levels._fields)), label)
    if output is not None:
        write_file(output, badge_svg(made), terminal)
    if terminal.options.json:
        terminal.record(badge_record(made))
    elif output is None:
        terminal.speak_utf8()
        terminal.write(badge_svg(made))
    elif not terminal.options.quiet:
        terminal.write(f"{printable(made.label)}: {made.message}. Wrote {printable(output)}.\n")
    return CLEAN
