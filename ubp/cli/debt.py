"""`ubp debt`: old findings that a repository accepts, so that only new ones fail."""

from ubp.cli.door import CLEAN, FINDINGS
from ubp.cli.opening import open_workspace
from ubp.cli.terminal import Terminal
from ubp.errors import UsageError
from ubp.init import write_debt_file
from ubp.model import DEBT_FILE
from ubp.render.check_records import debt_record
from ubp.render.text.debt import debt_text


def debt(*, prune: bool = False, terminal: Terminal) -> int:
    """Accept the findings of today: write them to the debt file, where there is none yet.

    Args:
        prune: Take out of the file what was put right since.
        terminal: Where the answer goes.
    """
    is_unseen = False
    with open_workspace(terminal) as workspace:
        root = workspace.repository.root
        if root is None:
            raise UsageError(
                "A bare repository has no place for a debt file.",
                cause="It has no work tree.",
                hint="Run `ubp debt` in a clone, and commit what it writes.",
            )
        done = workspace.accept(is_pruning=prune)
        if done.text is not None:
            write_debt_file(root, done.text)
            is_unseen = workspace.view().entry(DEBT_FILE) is None
    if terminal.options.json:
        terminal.record(debt_record(done))
    elif not terminal.options.quiet:
        terminal.write(debt_text(done, terminal.style, is_pruning=prune, is_unseen=is_unseen))
    is_settled = done.settled and done.text is None
    return FINDINGS if done.new or is_settled else CLEAN
