"""Draw the moving picture of the first minute from the tutorial, whose output a test has seen.

    python .ci/cast.py

It writes docs/first-minute.svg: one scene for each of `SCENES`, shown one after the other for ever.
Where a reader asks for less motion, the last scene is shown. No script, no font, no address.
"""

import re
from html import escape
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TUTORIAL = ROOT / "docs/tutorial.md"
PICTURE = ROOT / "docs/first-minute.svg"

# The beginning of a command, what is typed in its place, and how many seconds its output is shown.
SCENES = (
    ("ubp check", "ubp check", 5),
    ("ubp check --fix", "ubp check --fix", 4),
    ("ubp bind --write", "ubp bind --write --history", 4),
    ('git commit --quiet --all -m "Shorten', 'git commit -am "Shorten sessions"', 7),
    ("ubp ack --staged", "ubp ack --staged docs/sessions.md", 5),
)
COLUMNS, LINES = 108, 11
CHARACTER, LINE, MARGIN, BAR = 8.4, 20, 18, 30
COLOURS = (
    (re.compile(r"\berror\b|\[1\]"), "bad"),
    (re.compile(r"\bwarning\b|\bpossibly stale\b"), "warn"),
    (re.compile(r"\bfixed\b|\bpinned to\b|\badded\b"), "good"),
    (re.compile(r"^(?:docs|src)/\S+"), "path"),
)
TITLE = (
    "The first minute: a broken link is fixed, a page is bound to its source,"
    " and a commit that outdates it is stopped"
)
STYLE = """
text { font: 14px ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; fill: #d7dce5; }
.prompt { fill: #7d8799; } .typed { fill: #ffffff; font-weight: 600; }
.bad { fill: #ff7b72; } .warn { fill: #e3b341; } .good { fill: #7ee787; } .path { fill: #79c0ff; }
.scene { opacity: 0; }
@media (prefers-reduced-motion: reduce) { .scene:last-of-type { opacity: 1; animation: none; } }
""".strip()


def blocks(page: str) -> list[tuple[str, list[str]]]:
    """Return each command of the page with the lines that it printed."""
    found = []
    for block in re.findall(r"^```console\n(.*?)^```$", page, re.MULTILINE | re.DOTALL):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, *output = part.splitlines()
            found.append((command, output))
    return found


def place(text: str, row: int) -> str:
    """Return text in a row of the terminal."""
    return f'<text x="{MARGIN}" y="{BAR + (row + 1) * LINE}" xml:space="preserve">{text}</text>'


def draw_line(text: str, row: int) -> str:
    """Return a line of output, its known words in colour."""
    marks = sorted(
        (found.start(), found.end(), name)
        for pattern, name in COLOURS
        for found in pattern.finditer(text)
    )
    parts, at = [], 0
    for start, end, name in marks:
        if start >= at:
            parts += [
                escape(text[at:start]),
                f'<tspan class="{name}">{escape(text[start:end])}</tspan>',
            ]
            at = end
    parts.append(escape(text[at:]))
    return place("".join(parts), row)


def draw_scene(
    number: int, typed: str, output: list[str], timing: tuple[float, float, float]
) -> str:
    """Return one scene: the command, and its output a moment later."""
    start, seconds, total = timing
    prompt = f'<tspan class="prompt">$ </tspan><tspan class="typed">{escape(typed)}</tspan>'
    shown = output[: LINES - 1]
    lines = [draw_line(line[:COLUMNS], row + 1) for row, line in enumerate(shown)]
    first, last = 100 * start / total, 100 * (start + seconds) / total
    frames = (
        f"@keyframes scene{number} {{ 0%, {first:.3f}% {{ opacity: 0; }}"
        f" {first + 0.01:.3f}%, {last - 0.01:.3f}% {{ opacity: 1; }}"
        f" {last:.3f}%, 100% {{ opacity: 0; }} }}"
        f" #scene{number} {{ animation: scene{number} {total}s step-end infinite; }}"
    )
    body = "\n".join([place(prompt, 0), *lines])
    return f'<style>{frames}</style>\n<g class="scene" id="scene{number}">\n{body}\n</g>'


def draw(page: str) -> str:
    """Return the picture.

    Raises:
        SystemExit: The tutorial has no longer a command that a scene shows.
    """
    total = sum(seconds for _, _, seconds in SCENES)
    scenes, start, found = [], 0, blocks(page)
    for number, (beginning, typed, seconds) in enumerate(SCENES):
        output = next((lines for command, lines in found if command.startswith(beginning)), None)
        if output is None:
            raise SystemExit(f"docs/tutorial.md has no command {beginning!r}")
        scenes.append(draw_scene(number, typed, output, (start, seconds, total)))
        start += seconds
    width, height = round(2 * MARGIN + COLUMNS * CHARACTER), BAR + LINES * LINE + 2 * MARGIN
    lights = "".join(
        f'<circle cx="{MARGIN + 4 + 18 * number}" cy="{BAR / 2}" r="5" fill="{colour}"/>'
        for number, colour in enumerate(("#ff5f57", "#febc2e", "#28c840"))
    )
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img">',
            f"<title>{TITLE}</title>",
            f"<style>{STYLE}</style>",
            f'<rect width="{width}" height="{height}" rx="8" fill="#161b22"/>',
            lights,
            *scenes,
            "</svg>",
            "",
        ]
    )


if __name__ == "__main__":
    PICTURE.write_text(draw(TUTORIAL.read_text(encoding="utf-8")), encoding="utf-8", newline="\n")
