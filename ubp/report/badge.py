"""How fresh the documentation is, in two words and a colour."""

from typing import NamedTuple

from ubp.report.values import Levels

LABEL = "docs"

# From so many percent on; the names are those that badges have everywhere.
COLOURS = (
    (95, "brightgreen"),
    (85, "green"),
    (70, "yellowgreen"),
    (50, "yellow"),
    (30, "orange"),
    (0, "red"),
)
NOTHING_VERIFIED = "lightgrey"


class Badge(NamedTuple):
    """What stands left, what stands right, and the name of the right side's colour."""

    label: str
    message: str
    colour: str


def make_badge(levels: Levels, label: str = LABEL) -> Badge:
    """The share of fresh pages; a page that nobody could verify is not fresh."""
    percent = levels.fresh_percent
    if percent is None:
        return Badge(label, "unknown" if levels.bound else "no sources", NOTHING_VERIFIED)
    colour = next(name for least, name in COLOURS if percent >= least)
    return Badge(label, f"{percent} % fresh", colour)
