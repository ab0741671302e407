"""A badge as an SVG picture for a README, and as the record that badge services read."""

from collections.abc import Mapping

from ubp.output.html.markup import Html, tag
from ubp.output.wording import printable
from ubp.report.values import Badge

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
_HEIGHT = 20


def badge_svg(badge: Badge) -> str:
    """Return the picture, which needs no font from the network."""
    left, right = (_width(words) + 2 * _PADDING for words in (badge.label, badge.message))
    title = f"{badge.label}: {badge.message}"
    width = f"{left + right:g}"
    clip = tag("clipPath", tag("rect", width=width, height=_HEIGHT, rx=4), id="r")
    fields = tag(
        "g",
        tag("rect", width=f"{left:g}", height=_HEIGHT, fill=LABEL_COLOR),
        tag("rect", x=f"{left:g}", width=f"{right:g}", height=_HEIGHT, fill=COLORS[badge.color]),
        clip_path="url(#r)",
    )
    words = tag(
        "g",
        _label(badge.label, 0),
        _label(badge.message, left),
        fill="#fff",
        font_family="Verdana,DejaVu Sans,Geneva,sans-serif",
        font_size=11,
        aria_hidden="true",
    )
    picture = tag(
        "svg",
        tag("title", title),
        clip,
        fields,
        words,
        xmlns="http://www.w3.org/2000/svg",
        width=width,
        height=_HEIGHT,
        viewBox=f"0 0 {width} {_HEIGHT}",
        role="img",
        aria_label=title,
    )
    return f"{picture}\n"


def _label(words: str, left: float) -> Html:
    return tag(
        "text",
        words,
        x=f"{left + _PADDING:g}",
        y=14,
        textLength=f"{_width(words):g}",
        lengthAdjust="spacingAndGlyphs",
    )


def _width(words: str) -> float:
    """Return the width in pixels of a text as it is written, escapes included."""
    from unicodedata import east_asian_width

    return sum(
        _FULL_WIDTH
        if east_asian_width(character) in {"F", "W"}
        else _CHARACTER_WIDTHS.get(character, _DEFAULT_WIDTH)
        for character in printable(words)
    )
