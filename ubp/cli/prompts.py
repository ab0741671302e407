"""Questions that are asked and answered in lines, at a terminal."""

from collections.abc import Sequence

from ubp.cli.terminal import Terminal


def ask(terminal: Terminal, question: str, default: str) -> str:
    """Ask for a line of text, showing the default in parentheses; Enter takes it.

    Raises:
        KeyboardInterrupt: the input ended.
    """
    terminal.write(f"{terminal.style.cyan('?')} {question}: ({default or 'none'}) ")
    terminal.flush()
    answer = terminal.stdin.readline()
    if not answer:  # Ctrl-D
        raise KeyboardInterrupt
    return answer.strip() or default


def ask_list(terminal: Terminal, question: str, default: Sequence[str]) -> tuple[str, ...]:
    """Ask for several words, separated by commas or spaces; "none" means no word."""
    answer = ask(terminal, question, ", ".join(default))
    return tuple(word for word in answer.replace(",", " ").split() if word != "none")


def choose(terminal: Terminal, question: str, choices: Sequence[str]) -> str:
    """Ask for one of the choices, which its first letters select; Enter takes the first one."""
    while True:
        answer = ask(terminal, f"{question} [{'/'.join(choices)}]", choices[0]).lower()
        matches = [choice for choice in choices if choice.startswith(answer)]
        if len(matches) == 1:
            return matches[0]
