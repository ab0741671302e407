"""What changed between two versions of documents, for people and as Markdown."""

import re
from collections.abc import Iterator

from ubp.frame.wording import SHORT_ID, Style, count, joined, printable
from ubp.search.compare import SectionChange, SectionPlace, VersionComparison, Words

# Of words that both versions have, so many are shown beside a change.
CONTEXT_WORDS = 8
# Of a section that is only in one version.
MAX_WORDS = 60
GAP = "…"


def comparison_text(
    comparison: VersionComparison, name: str, style: Style, *, is_quiet: bool
) -> str:
    """Return the changed sections, each with its words as `git diff --word-diff` writes them."""
    lines: list[str] = []
    for change in comparison.changes:
        paint = {"added": style.green, "removed": style.red}.get(change.kind, style.yellow)
        lines.append(f"{paint(f'{change.kind:<8}')} {printable(_name(change))}")
        if is_quiet:
            continue
        if change.old and change.new and change.kind == "moved":
            lines.append(f"  {style.dim(f'from {printable(_place(change.old))}')}")
        if change.words:
            lines.append(f"  {_words(change, style)}")
    if not is_quiet:
        lines += [*([""] if lines else []), summary(comparison, name)]
    return joined(lines)


def comparison_markdown(comparison: VersionComparison, name: str) -> str:
    """Return the changed sections as a Markdown list."""
    lines = [f"**{_escape(summary(comparison, name))}**", ""]
    for change in comparison.changes:
        lines.append(f"- **{change.kind}** {_escape(_name(change))}")
        if change.old and change.new and change.kind == "moved":
            lines.append(f"  from {_escape(_place(change.old))}")
        if change.words:
            lines.append("  " + "".join(_markdown_words(change)))
    return joined(lines)


def summary(comparison: VersionComparison, name: str) -> str:
    """Return how many sections changed: `go (1.21..1.22): 3 sections: 2 changed, 1 added.`."""
    counts = dict.fromkeys(("added", "changed", "moved", "removed"), 0)
    for change in comparison.changes:
        counts[change.kind] += 1
    parts = [f"{number} {kind}" for kind, number in counts.items() if number]
    versions = f"{comparison.old[:SHORT_ID]}..{comparison.new[:SHORT_ID]}"
    label = f"{printable(name)} ({versions})" if name else versions
    if not parts:
        return f"{label}: no section changed."
    return f"{label}: {count(len(comparison.changes), 'section')}: {', '.join(parts)}."


def _name(change: SectionChange) -> str:
    place = change.new or change.old
    return _place(place) if place else ""


def _place(place: SectionPlace) -> str:
    fragment = f"#{place.id}" if place.id else ""
    path = f"  {' > '.join(place.heading_path)}" if place.heading_path else ""
    return f"{place.filepath}{fragment}{path}"


def _words(change: SectionChange, style: Style) -> str:
    parts = []
    for words in _shortened(change):
        text = printable(words.text)
        if words.kind == "added":
            parts.append(style.green(f"{{+{text}+}}"))
        elif words.kind == "removed":
            parts.append(style.red(f"[-{text}-]"))
        else:
            parts.append(text)
    return " ".join(parts)


def _markdown_words(change: SectionChange) -> Iterator[str]:
    for number, words in enumerate(_shortened(change)):
        mark = {"added": "**", "removed": "~~", "equal": ""}[words.kind]
        yield f"{' ' if number else ''}{mark}{_escape(words.text)}{mark}"


def _shortened(change: SectionChange) -> Iterator[Words]:
    """Yield the words with less of what both versions have, and of long additions."""
    last = len(change.words) - 1
    for number, words in enumerate(change.words):
        tokens = words.text.split(" ")
        if words.kind != "equal":
            is_long = len(tokens) > MAX_WORDS
            text = " ".join([*tokens[:MAX_WORDS], GAP] if is_long else tokens)
            yield Words(words.kind, text)
            continue
        before = [] if number == 0 else tokens[:CONTEXT_WORDS]
        after = [] if number == last else tokens[-CONTEXT_WORDS:]
        if len(tokens) <= len(before) + len(after):
            yield words
        else:
            yield Words("equal", " ".join([*before, GAP, *after]))


def _escape(text: str) -> str:
    escaped = re.sub(r"[\\`*_\[\]<>~|#]", r"\\\g<0>", printable(text))
    # Where it becomes a comment, @name would notify somebody and #12 refer to an issue: hosts look
    # for them in the text that Markdown yields, so that no escape of Markdown's helps.
    return re.sub(r"@(?=\w)|#(?=\d)", r"\g<0><!-- -->", escaped)
