"""Elements of a web page that CSS hides from its readers, but not from a language model.

Read are the page's own style sheets and `style` attributes. Sheets in other files are not fetched;
the names of classes that usually hide text stand for these. What is invisible is removed with the
other hidden elements; text in the color of its background is marked instead, because the background
may come from a sheet that was not read.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from selectolax.lexbor import LexborHTMLParser, LexborNode, SelectolaxError

MARK_START, MARK_END = "[hidden in the page: ", "]"
# Shown only on demand, and read aloud only.
HIDDEN_ELEMENTS = (
    "dialog:not([open]), [popover], .sr-only, .visually-hidden, .visuallyhidden,"
    " .screen-reader-text, .assistive-text,"
    " .screen-reader-only, .show-for-sr, .element-invisible, .cdk-visually-hidden,"
    " .hidden-visually, .u-visually-hidden, .govuk-visually-hidden"
)
MAX_SHEET_CHARACTERS = 1_000_000
# Each rule is looked for in the whole page: 3 s at most.
MAX_RULES_TIMES_ELEMENTS = 20_000_000
MAX_MATCHES = 500_000  # of 400 bytes each
MAX_NESTED_RULES = 8
SPECIFICITY_OF_ATTRIBUTES = (1 << 30, 0, 0)

_COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)", re.DOTALL)
_ESCAPE = re.compile(r"\\(?:([0-9a-f]{1,6})\s?|(.))", re.IGNORECASE | re.DOTALL)
_COMMA_OR_PARENTHESIS = re.compile(r"[(),]")
_BRACES = re.compile(r"[{}]")
_PRINT = re.compile(r"(?:only\s+)?(?:print|speech)\b(?!.*,)", re.IGNORECASE)
_NUMBER = re.compile(r"([+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)([a-z%]*)")
_HEX = re.compile(r"#([0-9a-f]{3,8})\b")
_RGB = re.compile(r"rgba?\(([^()]*)\)")
_HSL = re.compile(r"hsla?\(([^()]*)\)")
_WORD = re.compile(r"[a-z]+\b(?![(-])")

# The least sizes that somebody could read, by unit.
_LEAST_SIZES = {"": 1.0, "px": 3.0, "pt": 2.0, "em": 0.25, "rem": 0.25, "%": 25.0, "ex": 0.5}
_LEAST_OPACITY = 0.1
_LEAST_SCALE = 0.1
_LEAST_BOX = 2.0  # px
_FAR = 900.0  # px, of any unit: outside of every screen
_SAME_COLOR = 12  # of 255
_RGB_CHANNELS = 3
_COLORS = {
    "white": (255, 255, 255),
    "black": (0, 0, 0),
    "transparent": None,
}
_PROPERTIES = frozenset(
    [
        "display",
        "visibility",
        "opacity",
        "filter",
        "font",
        "font-size",
        "color",
        "-webkit-text-fill-color",
        "background",
        "background-color",
        "clip",
        "clip-path",
        "height",
        "max-height",
        "width",
        "max-width",
        "overflow",
        "overflow-x",
        "overflow-y",
        "position",
        "left",
        "right",
        "top",
        "bottom",
        "margin-left",
        "margin-top",
        "text-indent",
        "transform",
        "scale",
        "zoom",
        "content-visibility",
    ]
)

Values = dict[str, tuple[tuple[int, ...], str]]
"""The values of properties, each with the precedence of its declaration."""


@dataclass(slots=True)
class _Styled:
    node: LexborNode
    values: Values = field(default_factory=dict)


def hide(parser: LexborHTMLParser, body: LexborNode) -> None:
    """Give each element that CSS hides the attribute `hidden`, and mark text without contrast."""
    styled = _styled_elements(parser, body)
    backgrounds: dict[int, object] = {}
    for element in styled.values():
        values = {name: value for name, (_, value) in element.values.items()}
        if _is_invisible(values):
            element.node.attrs["hidden"] = ""
        elif _has_no_contrast(element.node, values, styled, backgrounds):
            _mark(element.node)
    for node in body.css(HIDDEN_ELEMENTS):
        node.attrs["hidden"] = ""


def _styled_elements(parser: LexborHTMLParser, body: LexborNode) -> dict[int, _Styled]:
    """Return the elements with declarations that may hide them, by the address of their node."""
    styled: dict[int, _Styled] = {}

    def add(node: LexborNode, specificity: tuple[int, ...], declarations: str) -> None:
        element = styled.setdefault(node.mem_id, _Styled(node))
        for name, value, is_important in _declarations(declarations):
            precedence = (int(is_important), *specificity)
            if name not in element.values or element.values[name][0] <= precedence:
                element.values[name] = precedence, value

    for attribute, name in (("color", "color"), ("bgcolor", "background-color"), ("text", "color")):
        for node in body.css(f"[{attribute}]"):
            add(node, (0, 0, 0), f"{name}:{node.attributes.get(attribute) or ''}")
    sheets = "\n".join(
        sheet.text()
        for sheet in parser.css("style")
        if not _PRINT.match(sheet.attributes.get("media") or "")
    )
    for selector, declarations, node in _matches(sheets[:MAX_SHEET_CHARACTERS], body):
        add(node, _specificity(selector), declarations)
    for node in body.css("[style]"):
        add(node, SPECIFICITY_OF_ATTRIBUTES, node.attributes.get("style") or "")
    return styled


def _matches(sheet: str, body: LexborNode) -> Iterator[tuple[str, str, LexborNode]]:
    """Yield the elements that rules match, with a selector and declarations, within limits."""
    rules_left = MAX_RULES_TIMES_ELEMENTS // max(1, len(body.css("*")))
    matches_left = MAX_MATCHES
    rules = ((rule, text) for rule, text in _rules(sheet) if any(_declarations(text)))
    for rule, declarations in rules:
        for selector in _selectors(rule):
            rules_left -= 1
            if rules_left < 0 or matches_left < 0:
                return
            try:
                found = body.css(selector.strip())
            except SelectolaxError:  # `:hover`, `::before`: no state of the page as it opens
                continue
            matches_left -= len(found)
            for node in found:
                yield selector, declarations, node


def _selectors(rule: str) -> Iterator[str]:
    """Yield the selectors of a list, whose commas are not in parentheses."""
    start = depth = 0
    for match in _COMMA_OR_PARENTHESIS.finditer(rule):
        if match[0] == ",":
            if not depth:
                yield rule[start : match.start()]
                start = match.end()
        else:
            depth = depth + 1 if match[0] == "(" else max(0, depth - 1)
    yield rule[start:]


def _rules(sheet: str) -> Iterator[tuple[str, str]]:
    """Yield the selectors and declarations of a style sheet, also of nested and conditional rules.

    A condition may be true in some window; only what is for print is left out.
    """
    sheet = _COMMENT.sub(" ", sheet)
    start = 0
    open_rules: list[str | None] = []  # None: for print, or in such a block
    for brace in _BRACES.finditer(sheet):
        text = sheet[start : brace.start()]
        start = brace.end()
        outer = open_rules[-1] if open_rules else ""
        if brace[0] == "{":
            declarations, _, prelude = text.rpartition(";")
            if outer and declarations:
                yield outer, declarations
            if len(open_rules) < MAX_NESTED_RULES:
                open_rules.append(_inner_rule(outer, prelude.strip()))
        elif open_rules:
            if outer:
                yield outer, text
            open_rules.pop()
    if start < len(sheet) and open_rules and open_rules[-1]:  # browsers close what is open
        yield open_rules[-1], sheet[start:]


def _inner_rule(outer: str | None, prelude: str) -> str | None:
    if outer is None or (prelude.startswith("@media") and _PRINT.match(prelude[6:].strip())):
        return None
    if prelude.startswith("@"):
        return outer
    if "&" in prelude:
        return prelude.replace("&", f":is({outer})" if outer else ":root")
    return f":is({outer}) :is({prelude})" if outer else prelude


def _declarations(text: str) -> Iterator[tuple[str, str, bool]]:
    """Yield the properties that may hide text, with their values, in lower case."""
    text = _ESCAPE.sub(_unescape, _COMMENT.sub(" ", text)).lower()
    for declaration in text.split(";"):
        name, _, value = declaration.partition(":")
        if (name := name.strip()) in _PROPERTIES:
            value, mark, _ = value.partition("!")
            yield name, value.strip(), bool(mark)


def _unescape(match: re.Match[str]) -> str:
    if match[2]:
        return match[2]
    code = int(match[1], 16)
    return chr(code) if 0 < code < 0x110000 else ""  # noqa: PLR2004  # the end of Unicode


def _specificity(selector: str) -> tuple[int, int, int]:
    return (
        selector.count("#"),
        len(re.findall(r"[.\[]|(?<!:):(?!:)", selector)),
        len(re.findall(r"(?:^|[\s>+~(])[a-z]", selector, re.IGNORECASE)),
    )


def _is_invisible(values: Mapping[str, str]) -> bool:
    def get(name: str) -> str:
        return values.get(name, "")

    return (
        get("display") == "none"
        or get("visibility") in {"hidden", "collapse"}
        or get("content-visibility") == "hidden"
        or _is_below(get("opacity"), _LEAST_OPACITY, 10.0)
        or re.search(r"opacity\(\s*0*(?:\.0\d*|0?%?)\s*\)", get("filter")) is not None
        or _is_too_small(get("font-size"))
        or _is_too_small(_size_of_font(get("font")))
        or any(_is_below(get(name), _LEAST_SCALE, 10.0) for name in ("zoom", "scale"))
        or any(_color(get(name)) is None for name in ("color", "-webkit-text-fill-color"))
        or _is_transformed_away(get("transform"))
        or _is_out_of_sight(values)
    )


def _is_out_of_sight(values: Mapping[str, str]) -> bool:
    """Return whether an element is cut to nothing, or moved out of the window."""
    clip = values.get("clip", "")
    if clip.startswith("rect"):
        numbers = [float(number) for number, _ in _NUMBER.findall(clip)]
        edges = numbers if len(numbers) == 4 else [0.0]  # noqa: PLR2004  # top, right, bottom, left
        if max(edges) - min(edges) <= _LEAST_BOX:
            return True
    path = values.get("clip-path", "")
    if path.startswith(("inset", "circle", "ellipse", "polygon")) and _is_empty_shape(path):
        return True
    is_cut = any(
        word in values.get(name, "")
        for name in ("overflow", "overflow-x", "overflow-y")
        for word in ("hidden", "clip", "scroll", "auto")
    )
    boxes = ("height", "max-height", "width", "max-width")
    if is_cut and any(_is_below(values.get(name, ""), _LEAST_BOX, 0.0) for name in boxes):
        return True
    moved = (*("left", "right", "top", "bottom"), *("margin-left", "margin-top", "text-indent"))
    return any(_is_far(values.get(name, "")) for name in moved)


def _is_empty_shape(path: str) -> bool:
    numbers = [float(number) for number, _ in _NUMBER.findall(path)]
    if not numbers:
        return True
    if path.startswith("inset"):
        return "%" in path and max(numbers) >= 50  # noqa: PLR2004  # of both sides: nothing is left
    if path.startswith("polygon"):
        return max(numbers[0::2]) - min(numbers[0::2]) == 0 or (
            max(numbers[1::2], default=0) - min(numbers[1::2], default=0) == 0
        )
    return numbers[0] <= 0


def _is_transformed_away(transform: str) -> bool:
    for name, arguments in re.findall(r"([\w-]+)\(([^()]*)\)", transform):
        numbers = [float(number) for number, _ in _NUMBER.findall(arguments)]
        if name.startswith("scale") and any(abs(number) < _LEAST_SCALE for number in numbers):
            return True
        if name == "matrix" and numbers[:1] and abs(numbers[0]) < _LEAST_SCALE and len(numbers) > 3:  # noqa: PLR2004  # a, b, c, d
            return abs(numbers[1]) < _LEAST_SCALE
        if name in {"rotatex", "rotatey"} and numbers and abs(numbers[0]) % 180 == 90:  # noqa: PLR2004  # degrees: seen from the side
            return True
        if name.startswith("translate") and any(abs(number) >= _FAR for number in numbers):
            return True
    return False


def _is_below(value: str, least: float, percent: float) -> bool:
    """Return whether a number is smaller than `least`, or than a percentage."""
    match = _NUMBER.fullmatch(value.strip())
    return match is not None and float(match[1]) < (percent if match[2] == "%" else least)


def _is_too_small(value: str) -> bool:
    match = _NUMBER.fullmatch(value.strip())
    return match is not None and float(match[1]) < _LEAST_SIZES.get(match[2], 0.25)


def _size_of_font(value: str) -> str:
    """Return the size in a value of `font`: it alone has a unit, before the line's height."""
    sizes = re.findall(r"(?<![\w.])((?:\d+\.?\d*|\.\d+)(?:px|pt|em|rem|%|ex))", value)
    return sizes[0] if sizes else "0" if re.search(r"(?<![\w.])0(?:[\s/]|\Z)", value) else ""


def _is_far(value: str) -> bool:
    match = _NUMBER.fullmatch(value.strip())
    if match is None:
        return False
    factor = {"em": 16, "rem": 16, "vw": 10, "vh": 10, "%": 10}.get(match[2], 1)
    return float(match[1]) * factor <= -_FAR


def _color(value: str) -> object:
    """Return the channels of the first color in a value; None: transparent; "": unknown."""
    if match := _HEX.search(value):
        digits = match[1]
        if len(digits) <= 4:  # noqa: PLR2004  # one digit for each channel
            digits = "".join(digit * 2 for digit in digits)
        channels = [int(digits[start : start + 2], 16) for start in range(0, len(digits) - 1, 2)]
        return None if channels[3:] == [0] else tuple(channels[:_RGB_CHANNELS])
    if match := _RGB.search(value) or _HSL.search(value):
        numbers = [
            float(number) * (2.55 if unit == "%" else 1)
            for number, unit in _NUMBER.findall(match[1])
        ]
        if numbers[_RGB_CHANNELS:] and numbers[_RGB_CHANNELS] <= _LEAST_OPACITY:
            return None
        return tuple(numbers[:_RGB_CHANNELS]) if match[0].startswith("rgb") else match[0]
    if "url(" in value or "gradient(" in value or "var(" in value:
        return ""
    word = next((match[0] for match in _WORD.finditer(value) if match[0] != "none"), "")
    if word in {"inherit", "initial", "unset", "revert", "currentcolor"}:
        return ""
    return _COLORS.get(word, word)


def _has_no_contrast(
    node: LexborNode,
    values: Mapping[str, str],
    styled: Mapping[int, _Styled],
    backgrounds: dict[int, object],
) -> bool:
    """Return whether text has the color of its background, which is white unless one is named."""
    color = _color(values.get("-webkit-text-fill-color") or values.get("color", ""))
    return color != "" and _is_same(color, _background(node, styled, backgrounds))


def _background(
    node: LexborNode, styled: Mapping[int, _Styled], backgrounds: dict[int, object]
) -> object:
    """Return the color behind a node, and remember it for all that it was looked for in."""
    passed = []
    current: LexborNode | None = node
    found: object = _COLORS["white"]
    while current is not None:
        if current.mem_id in backgrounds:
            found = backgrounds[current.mem_id]
            break
        passed.append(current.mem_id)
        element = styled.get(current.mem_id)
        values = element.values if element else {}
        names = [name for name in ("background", "background-color") if name in values]
        if names:
            own = _color(max(values[name] for name in names)[1])
            if own is not None:
                found = own
                break
        current = current.parent
    backgrounds.update(dict.fromkeys(passed, found))
    return found


def _is_same(color: object, background: object) -> bool:
    if isinstance(color, tuple) and isinstance(background, tuple):
        pairs = zip(color, background, strict=False)
        return all(abs(one - other) <= _SAME_COLOR for one, other in pairs)
    return color == background


def _mark(node: LexborNode) -> None:
    if not node.text().strip():
        return
    first = node.child
    if first is not None:
        first.insert_before(MARK_START)
    node.insert_child(MARK_END)
