"""The text of `ubp init`."""

from collections.abc import Iterator, Sequence
from itertools import islice

from ubp.core.setup_files import CONFIG_FOLDER, InitResult, PathCount
from ubp.core.shell import git_add, path_argument, ubp_command
from ubp.core.snippets import Snippet
from ubp.frame.wording import Style, count, printable, text_width

RULE_WIDTH = 70
MAX_PATHS = 6
MAX_STEPS = 3
# Fewer findings are fixed sooner than a debt file is reviewed.
MANY_FINDINGS = 10


def initialized_text(result: InitResult, style: Style) -> str:
    """Return what was done and what to do next."""
    lines = [f"Wrote {printable(name)}" for name in result.written]
    if result.is_kept:
        lines.append("Kept the existing configuration")
    bound = f"{result.bound} of {count(result.documents, 'page')}"
    problems = f", {result.problems} with front matter problems" if result.problems else ""
    links = count(result.links, "link")
    sections = f", {count(result.embedded, 'section')} embedded" if result.embedded else ""
    lines += [
        style.green(f"Initialized UBP in {printable(result.root)}"),
        *_scope(result),
        f"  {bound} with sources{problems}; {links}{sections}; indexed in {result.seconds:.2f} s",
        *_preview(result),
    ]
    if result.missing_from_path is not None:
        folder = printable(result.missing_from_path)
        lines.append(style.yellow(f"  The shell does not find `ubp`: add {folder} to PATH"))
    for snippet in result.snippets:
        lines += ["", *_snippet(snippet, style)]
    if result.written:
        command = git_add([CONFIG_FOLDER], result.prefix)
        lines += ["", f"To share the configuration: {style.cyan(command)}"]
    steps = list(islice(_next_steps(result), MAX_STEPS))
    width = max(text_width(command) for command, _ in steps)
    lines += ["", "Next:"]
    for command, purpose in steps:
        gap = " " * (width - text_width(command))
        lines.append(f"  {style.cyan(command)}{gap}  {purpose}")
    return "\n".join(lines) + "\n"


def _scope(result: InitResult) -> Iterator[str]:
    """Yield what is indexed, what is not, and which sites publish it."""
    yield f"  Pages: {_paths(result.indexed) or 'none'}"
    if result.left_out:
        yield f"  Left out: {_paths(result.left_out)}"
    for site in result.sites:
        folders = ", ".join(f"{printable(folder)}/" if folder else "." for folder in site.folders)
        yield f"  Site: {site.generator} ({folders})"
    for rule in result.translations:
        pages, languages = count(rule.pages, "page"), count(rule.languages, "language")
        yield f"  Translations: {printable(rule.page)} ({pages} in {languages})"


def _paths(counts: Sequence[PathCount]) -> str:
    largest = sorted(counts, key=lambda path: -path.pages)
    words = [
        f"{printable(path.path)} ({path.pages})"
        if path.path.endswith("/")
        else printable(path.path)
        for path in largest[:MAX_PATHS]
    ]
    if len(largest) > MAX_PATHS:
        words.append(f"{sum(path.pages for path in largest[MAX_PATHS:])} more")
    return ", ".join(words)


def _next_steps(result: InitResult) -> Iterator[tuple[str, str]]:
    """Yield commands and what they do, the most useful first."""
    if result.broken:
        yield "ubp check", f"lists {count(result.broken, 'broken link')} and what else is wrong"
    if result.acceptable >= MANY_FINDINGS:
        found = count(result.acceptable, "existing finding")
        yield "ubp debt", f"accepts {found}, so that only new ones fail"
    if result.is_large and result.directory:
        directory = path_argument(result.directory, result.prefix)
        yield ubp_command("bind", directory), "proposes sources for the pages of a directory"
    elif result.preview is not None and result.preview.proposed:
        yield "ubp bind", "proposes sources for each page"
    if result.bound:
        yield "ubp stale", "lists stale pages"
    if not result.broken:
        yield "ubp check", "checks links, anchors, names and front matter"
    if result.topic:
        yield ubp_command("search", result.topic), "searches the pages"
    yield "ubp report", "writes a page about the documentation's state"


def _preview(result: InitResult) -> Iterator[str]:
    preview = result.preview
    if preview is not None and preview.proposed:
        bound = f"{result.bound} bound" if result.bound else "none bound"
        proposed = (
            f"proposals for {preview.proposed}, {preview.confident} of them with high confidence"
        )
        yield f"  {count(result.documents, 'page')}, {bound}; {proposed}"
    elif result.is_large:
        yield "  No sources were proposed, because the repository is large"


def _snippet(snippet: Snippet, style: Style) -> list[str]:
    title = f"-- {printable(snippet.title)} --"
    text = (printable(line) for line in snippet.text.rstrip("\n").split("\n"))
    return [style.bold(title.ljust(RULE_WIDTH, "-")), *text]
