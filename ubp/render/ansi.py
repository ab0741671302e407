"""Colours for terminals: nine lines of ANSI instead of a library of 75 ms."""


class Style:
    """Paints text, or leaves it as it is where `is_on` is False."""

    __slots__ = ("is_on",)

    def __init__(self, *, is_on: bool = False) -> None:
        self.is_on = is_on

    def red(self, text: str) -> str:
        """An error, a stale page, a removed line."""
        return self._paint("31", text)

    def green(self, text: str) -> str:
        """Success, an added line."""
        return self._paint("32", text)

    def yellow(self, text: str) -> str:
        """A warning, a page that may be stale."""
        return self._paint("33", text)

    def cyan(self, text: str) -> str:
        """A hint, something to type."""
        return self._paint("36", text)

    def bold(self, text: str) -> str:
        """A heading."""
        return self._paint("1", text)

    def dim(self, text: str) -> str:
        """What matters least."""
        return self._paint("2", text)

    def _paint(self, code: str, text: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self.is_on and text else text
