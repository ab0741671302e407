"""A badge as an SVG picture for a README, and as the record that badge services read."""

from collections.abc import Mapping

from ubp.answers.report.badge import BadgeRecord
from ubp.frame.wording import printable
from ubp.output.html.markup import render

# Dark enough for white letters (WCAG's 4.5 to 1), unlike the colors of badge services.
COLORS: Mapping[str, str] = {
    "brightgreen": "#1e7b3c",
    "green": "#46781d",
    "yellowgreen": "#667010",
    "yellow": "#866307",
    "orange": "#a9500c",
    "red": "#bb2d27",
    "lightgrey": "#5b6473",
}
LABEL_COLOR = "#3b424d"

# The widths of characters of 11 px, to half a pixel, in DejaVu Sans, which is as wide as Verdana.
# Other fonts are stretched to that, so that no letter leaves its field.
_WIDTHS = {
    3.0: "'IJijl",
    3.5: " ,./:;\\|",
    4.0: "-f",
    4.5: "!()[]rt",
    5.0: '"',
    5.5: "*_`s",
    6.0: "?Lcz",
    6.5: "FPTYakovxy",
    7.5: "ABCRVXZ",
    8.0: "NU",
    8.5: "&DGHOQ",
    9.0: "#+<=>^w~",
    9.5: "M",
    10.5: "%m",
    11.0: "@W",
}
_CHARACTER_WIDTHS = {
    character: width for width, characters in _WIDTHS.items() for character in characters
}
_DEFAULT_WIDTH, _FULL_WIDTH = 7.0, 11.0
_PADDING = 6


def badge_svg(badge: BadgeRecord) -> str:
    """Return the picture, which needs no font from the network."""
    picture = render(
        "badge.svg",
        badge=badge,
        left=_width(badge.label),
        right=_width(badge.message),
        padding=_PADDING,
        label_color=LABEL_COLOR,
        color=COLORS[badge.color],
    )
    return f"{picture}\n"


def _width(words: str) -> float:
    """Return the width in pixels of a text as it is written, escapes included."""
    from unicodedata import east_asian_width

    return sum(
        _FULL_WIDTH
        if east_asian_width(character) in {"F", "W"}
        else _CHARACTER_WIDTHS.get(character, _DEFAULT_WIDTH)
        for character in printable(words)
    )
