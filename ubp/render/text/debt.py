"""`ubp debt` for people: what the debt file accepts, and what it does not."""

from ubp.check.accept import Accepting
from ubp.model import DEBT_FILE
from ubp.render.ansi import Style
from ubp.render.wording import count


def debt_text(done: Accepting, style: Style, *, is_pruning: bool, is_unseen: bool) -> str:
    """What was written, or what would have to be done; `is_unseen`: Git ignores the file."""
    if done.text is not None:
        lines = _written(done, style, is_unseen=is_unseen)
    elif done.accepted or done.settled or done.new:
        lines = _compared(done, style)
    elif is_pruning:
        lines = ["There is no debt file to prune."]
    else:
        lines = [style.green("Nothing is found, so there is no debt to accept.")]
    return "\n".join(lines) + "\n"


def _written(done: Accepting, style: Style, *, is_unseen: bool) -> list[str]:
    accepted = f"{count(done.accepted, 'old finding')} in {count(done.pages, 'page')}"
    if done.settled:
        head = f"Took {count(done.settled, 'line')} out of {DEBT_FILE}; {accepted} remain."
    else:
        head = f"Accepted {accepted}: `ubp check` and `ubp stale` fail on new ones only."
    lines = [style.green(head), *_news(done)]
    if is_unseen:
        lines.append(style.yellow("An ignore file of yours hides it from Git, and so from UBP."))
    command = "git add --force" if is_unseen else "git add"
    return [*lines, "Next:", f"  {style.cyan(f'{command} {DEBT_FILE}')}  shares it"]


def _compared(done: Accepting, style: Style) -> list[str]:
    lines = [f"{DEBT_FILE} accepts {count(done.accepted, 'old finding')}."]
    if done.settled:
        lines += [
            style.red(f"Of its lines {done.settled} accept nothing any more."),
            "Next:",
            f"  {style.cyan('ubp debt --prune')}  takes them out",
        ]
    elif not done.new:
        lines.append(style.green("All of them are still there, and nothing new is."))
    return lines + _news(done)


def _news(done: Accepting) -> list[str]:
    if not done.new:
        return []
    return [
        f"{count(done.new, 'finding')} not accepted: the debt can only shrink.",
        "Put them right (`ubp check` tells them), or remove the file and begin anew.",
    ]
