"""The badge as a picture: readable, in any font, whatever the label."""

from xml.etree import ElementTree as ET

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ubp.answers.report.badge import COLORS as NAMES
from ubp.answers.report.badge import NOTHING_VERIFIED, BadgeRecord
from ubp.frame.wording import printable
from ubp.output.badge import COLORS, LABEL_COLOR, badge_svg

SVG = "{http://www.w3.org/2000/svg}"


def luminance(color):
    """As WCAG 2 defines it."""
    parts = [int(color[n : n + 2], 16) / 255 for n in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


@pytest.mark.parametrize("color", [*COLORS.values(), LABEL_COLOR])
def test_white_text_is_readable_on_every_badge_color(color):
    assert 1.05 / (luminance(color) + 0.05) >= 4.5


def test_badge_colors_are_all_known():
    assert {name for _, name in NAMES} | {NOTHING_VERIFIED} == COLORS.keys()


def test_badge_is_as_wide_as_its_text():
    root = ET.fromstring(
        badge_svg(BadgeRecord(label="docs", message="96% fresh", color="brightgreen"))
    )
    assert root.attrib["aria-label"] == root.find(f"{SVG}title").text == "docs: 96% fresh"
    words = [(text.text, text.attrib["x"]) for text in root.iter(f"{SVG}text")]
    assert words == [("docs", "6"), ("96% fresh", "43")]
    widths = [float(rect.attrib["width"]) for rect in root.iter(f"{SVG}rect")]
    assert widths == [105.0, 37.0, 68.0]
    lengths = [float(text.attrib["textLength"]) for text in root.iter(f"{SVG}text")]
    assert lengths == [25.0, 56.0]


def test_wide_characters_make_wide_fields():
    root = ET.fromstring(badge_svg(BadgeRecord(label="文書", message="96% fresh", color="green")))
    assert [text.attrib["textLength"] for text in root.iter(f"{SVG}text")] == ["22", "56"]


@settings(deadline=None)
@given(st.text())
def test_badge_label_cannot_break_out(label):
    root = ET.fromstring(badge_svg(BadgeRecord(label=label, message="96% fresh", color="red")))
    assert [child.tag.removeprefix(SVG) for child in root] == ["title", "clipPath", "g", "g"]
    (left, _) = root.iter(f"{SVG}text")
    assert (left.text or "") == printable(label)
