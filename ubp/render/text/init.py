"""`ubp init` for people: what was written, what was found, what to paste."""

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
        "",
        "Next:",
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


def _snippet(snippet: Snippet, style: Style) -> list[str]:
    title = f"-- {printable(snippet.title)} --"
    text = (printable(line) for line in snippet.text.rstrip("\n").split("\n"))
    return [style.bold(title.ljust(RULE_WIDTH, "-")), *text]
