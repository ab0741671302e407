"""How to tie the first page to what it describes."""

import re
from collections.abc import Iterator

from ubp.model import FilePath
from ubp.render.text.telling import Telling
from ubp.render.text.typed import typed
from ubp.render.wording import printable
from ubp.staleness.report import StaleReport

_PLAIN_SCALAR = r"[A-Za-z0-9_./][\w./-]*"


def explain(report: StaleReport, telling: Telling) -> Iterator[str]:
    """Lines of front matter to paste, and the next command."""
    example, style = telling.example, telling.style
    if not report.summary.documents:
        yield "Pages are the files that `source.include` in .ubp/config.json admits: by default"
        yield "**/*.md and **/*.markdown, which Git does not ignore."
        return
    page = example.page if example else FilePath("a page")
    source = example.source if example else "path/of/its/source"
    mention = f", which mentions {printable(source)}" if example and example.is_named else ""
    has_front_matter = example is not None and example.has_front_matter
    place = "In the front matter of" if has_front_matter else "At the top of"
    fence = [] if has_front_matter else ["---"]
    yield ""
    yield "A page names the files that it describes, from the repository's root."
    yield f"{place} {printable(page)}{mention}, write:"
    yield ""
    for line in (*fence, f"{telling.key}:", f"  - {_yaml(source)}", *fence):
        yield style.cyan(line)
    yield ""
    yield f"Then: {telling.command('stale', *([typed(page, telling.prefix)] if example else []))}"
    yield f"Or let all pages' sources be proposed: {telling.command('bind')}"
    if example and example.other_key and example.other_key not in telling.keys:
        key = example.other_key
        yield f"Or do pages name them under `{key}` already? {style.cyan(f'ubp stale --key {key}')}"


def _yaml(path: str) -> str:
    if re.fullmatch(_PLAIN_SCALAR, path):
        return path
    return "'" + printable(path).replace("'", "''") + "'"
