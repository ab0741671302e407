"""`ubp init` for people: what was written, what was found, what to paste."""

from collections.abc import Iterator

from ubp.init import Initialized
from ubp.render.ansi import Style
from ubp.render.wording import count, printable
from ubp.snippets import Snippet

RULE_WIDTH = 70
# Fewer are put right sooner than a file is reviewed that accepts them.
MANY_FINDINGS = 10


def initialized_text(done: Initialized, style: Style) -> str:
    """What was done and what to do next."""
    lines = [f"Wrote {printable(name)}" for name in done.written]
    if done.is_kept:
        lines.append("Kept the configuration that was there")
    named = f"{done.bound} of {count(done.documents, 'page')}"
    problems = f", {done.problems} with front matter problems" if done.problems else ""
    links = count(done.links, "link")
    sections = f", {count(done.embedded, 'section')} embedded" if done.embedded else ""
    lines += [
        style.green(f"Initialized UBP in {printable(done.root)}"),
        f"  {named} name sources{problems}; {links}{sections}; indexed in {done.seconds:.2f} s",
        *_preview(done),
        "",
        "Next:",
        *_first_step(done, style),
        f"  {style.cyan('ubp stale')}     tells which pages no longer describe their sources",
    ]
    if done.written:
        lines.append(f"  {style.cyan('git add .ubp')}  shares the configuration and nothing else")
    if done.acceptable >= MANY_FINDINGS:
        accepts = f"{style.cyan('ubp debt')} accepts them, so that only new ones fail"
        lines.append(f"  {count(done.acceptable, 'finding')} are there already: {accepts}")
    for snippet in done.snippets:
        lines += ["", *_snippet(snippet, style)]
    return "\n".join(lines) + "\n"


def _preview(done: Initialized) -> Iterator[str]:
    preview = done.preview
    if preview is not None and preview.proposed:
        bound = f"{done.bound} bound" if done.bound else "none bound"
        could = f"{preview.proposed} could be, {preview.confident} with confidence"
        yield f"  {count(done.documents, 'page')}, {bound}; {could}"
    elif done.is_large:
        yield "  What the pages describe was not looked for: there is too much to look at"


def _first_step(done: Initialized, style: Style) -> Iterator[str]:
    if done.is_large:
        yield f"  {style.cyan('ubp bind DIR')}  proposes what the pages of a folder describe"
    elif done.preview is not None and done.preview.proposed:
        yield f"  {style.cyan('ubp bind')}      proposes what each page describes"


def _snippet(snippet: Snippet, style: Style) -> list[str]:
    title = f"-- {printable(snippet.title)} --"
    text = (printable(line) for line in snippet.text.rstrip("\n").split("\n"))
    return [style.bold(title.ljust(RULE_WIDTH, "-")), *text]
