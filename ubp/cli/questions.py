"""Questions to somebody at a terminal; Enter takes the default."""

from collections.abc import Sequence

from ubp.cli.terminal import Terminal


def ask(terminal: Terminal, question: str, default: str) -> str:
    """One answer; the default is shown in parentheses."""
    shown = default or "none"
    terminal.write(f"{terminal.style.cyan('?')} {question}: ({shown}) ")
    terminal.flush()
    answer = terminal.stdin.readline()
    if not answer:  # the end of the input: Ctrl-D
        raise KeyboardInterrupt
    return answer.strip() or default


def ask_list(terminal: Terminal, question: str, default: Sequence[str]) -> tuple[str, ...]:
    """Several answers, separated by commas or spaces."""
    answer = ask(terminal, question, ", ".join(default))
    words = (word.strip() for word in answer.replace(",", " ").split())
    return tuple(word for word in words if word != "none")


def choose(terminal: Terminal, question: str, choices: Sequence[str]) -> str:
    """One of the choices, by its first letters; the first one is the default."""
    while True:
        answer = ask(terminal, f"{question} [{'/'.join(choices)}]", choices[0]).lower()
        found = [choice for choice in choices if choice.startswith(answer)]
        if len(found) == 1:
            return found[0]
