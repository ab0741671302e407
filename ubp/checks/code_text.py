"""What a repository's code shows: which words it has, and what Hugo's shortcodes make of a page."""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property

from ubp.checks.context import RuleContext
from ubp.checks.page_text import letters_of
from ubp.core.model import FilePath

MAX_CODE_BYTES = 500_000
_CODE = re.compile(
    r"\.(?:[cm]?[jt]sx?|vue|svelte|astro|py|rb|php|go|rs|java|kt|swift|cs|c|cc|cpp|h|html?|njk|liquid"
    r"|hbs|erb|j2|jinja2?|ya?ml|json5?|toml|cue|csv|xml|proto|graphqls?)$",
    re.IGNORECASE,
)
_TEXT = re.compile(_CODE.pattern + r"|\.(?:md|markdown|rst|txt|inc|ipynb|myst)$", re.IGNORECASE)
_TEMPLATE = re.compile(r"\.(?:html?|liquid|rb)$", re.IGNORECASE)
# What makes folders, and no headings.
_SCRIPT = re.compile(
    r"\.(?:sh|bash|bat|ps1|mk)$|(?:^|/)(?:make|just|docker|rake)file$", re.IGNORECASE
)
# What a build runs, and may write pages with; Hugo's configuration may mount a file as a page.
_BUILD = re.compile(
    _SCRIPT.pattern + r"|\.(?:gradle|kts)$|(?:^|/)(?:nox|task|mage)file(?:\.\w+)?$"
    r"|(?:^|/)(?:package\.json|tasks\.py|conf\.py|hugo\.(?:toml|ya?ml))$"
    r"|(?:^|/)(?:scripts?|tools?|hack|bin|ci)/[^/]+$"
    r"|^\.(?:github/workflows/|gitlab|circleci/|buildkite/).*\.ya?ml$",
    re.IGNORECASE,
)
_SHORTCODE = re.compile(r"(?:^|/)layouts/_?shortcodes/(?P<name>.+?)(?:\.[\w.]+)?$")
# Hugo's own that make no heading.
_PLAIN_SHORTCODES = frozenset(
    {"figure", "gist", "highlight", "param", "qr", "ref", "relref", "vimeo", "x", "youtube"}
)
# What a template may make a heading of: texts that it is given, and those of other files. What it
# has itself is read as every template is.
_MAKES_HEADING = re.compile(
    rb"<h(?:\{|[1-6](?:(?!</h)[\s\S]){0,2000}?\{\{)|\bid=[\"']?[^\"'\s>]*\{\{"
    rb"|\.(?:Content|Summary|RawContent|Plain|Fragments|Render\w*)\b|RenderString|markdownify|readFile"
    rb"|partial|template|transform|GetPage|^[ \t]*#{1,6}[ \t]",
    re.MULTILINE,
)


class CodeText:
    """The letters of names and texts in the repository's code and data, all read once."""

    def __init__(self, context: RuleContext) -> None:
        self._context = context

    @cached_property
    def _files(self) -> Mapping[FilePath, bytes]:
        return {path: _squash(data) for path, data in self._read(_CODE, _SCRIPT)}

    def _read(self, *patterns: re.Pattern[str]) -> Iterator[tuple[FilePath, bytes]]:
        view = self._context.view
        documents = frozenset(view.document_paths())
        paths = [
            path
            for path, entry in view.files()
            if entry.is_file
            and path not in documents
            and any(pattern.search(path) for pattern in patterns)
        ]
        return read_files(self._context, paths)

    def is_named_in_build(self, name: str) -> bool:
        """Return whether a script of the build names a file, which it may then write."""
        lowered = name.lower().encode("utf-8", "surrogateescape")
        written = rb"(?<![\w.-])" + re.escape(lowered) + rb"(?![\w.-])"
        return re.search(written, self._build) is not None

    @cached_property
    def _build(self) -> bytes:
        return b"\n".join(data.lower() for _, data in self._read(_BUILD))

    def names_label(self, name: str) -> bool:
        """Return whether any text has the name of a label, and not only references to it."""
        written = re.escape(name.encode("utf-8", "surrogateescape").lower())
        # the name first: a pattern that begins with its letters is found 15 times as fast
        label = written + rb"(?<![`<a-z0-9-]" + written + rb")(?![\w-])"
        return re.search(label, self._texts) is not None

    def defines_label(self, name: str) -> bool:
        """Return whether a text defines a label in a way that is not read from pages."""
        written = re.escape(name.encode("utf-8", "surrogateescape").lower())
        before = rb"(?:\.\. _`?|:name:[ \t]*|:label:[ \t]*|\{#)"
        return re.search(before + written + rb"(?![\w-])", self._texts) is not None

    @cached_property
    def _texts(self) -> bytes:
        """All texts that may define labels, pages of other formats among them."""
        view = self._context.view
        paths = [path for path, entry in view.files() if entry.is_file and _TEXT.search(path)]
        return b"\n".join(data.lower() for _, data in read_files(self._context, paths))

    def makes_folder(self, name: str) -> bool:
        """Return whether a file has the name of a folder, which it may make."""
        return self._spells(letters_of(name), self._files.values())

    def spells(self, letters: str, folder: str) -> bool:
        """Return whether a file in a folder, other than a script, has a word of these letters."""
        return self._spells(letters, self._matching(_CODE, folder))

    def spells_in_template(self, letters: str, folder: str) -> bool:
        """Return whether a template of a site has a word of these letters."""
        return self._spells(letters, self._matching(_TEMPLATE, folder))

    def _matching(self, pattern: re.Pattern[str], folder: str) -> Iterator[bytes]:
        within = f"{folder}/" if folder else ""
        return (
            data
            for path, data in self._files.items()
            if path.startswith(within) and pattern.search(path)
        )

    def _spells(self, letters: str, files: Iterable[bytes]) -> bool:
        wanted = letters.encode("utf-8", "surrogateescape")
        whole = re.compile(
            # after "#" it is a link
            rb"(?<![a-z0-9\x80-\xff#])" + re.escape(wanted) + rb"(?![a-z0-9\x80-\xff])"
        )
        return any(wanted in data and whole.search(data) for data in files)

    @cached_property
    def plain_shortcodes(self) -> frozenset[str]:
        """The shortcodes of Hugo whose templates, in all sites and themes, make no heading."""
        templates: dict[str, set[FilePath]] = {}
        for path, _ in self._context.view.files():
            if match := _SHORTCODE.search(path):
                templates.setdefault(match["name"], set()).add(path)
        paths = [path for found in templates.values() for path in found]
        contents = dict(read_files(self._context, paths))
        plain = {
            name
            for name, found in templates.items()
            if all(path in contents and not _MAKES_HEADING.search(contents[path]) for path in found)
        }
        return (_PLAIN_SHORTCODES - templates.keys()).union(plain)


def read_files(context: RuleContext, paths: Iterable[FilePath]) -> Iterator[tuple[FilePath, bytes]]:
    """Yield the files that are not too large, with their contents."""
    from ubp.git.snapshot import read_documents  # few checks read code

    view = context.view
    entries = {path: entry for path, entry in view.entries(list(paths)).items() if entry}
    for path, data in read_documents(view.context.repository, view.snapshot, entries).items():
        if data is not None and len(data) <= MAX_CODE_BYTES:
            yield path, data


def _squash(data: bytes) -> bytes:
    """Return a text in lower case without what slugs make hyphens of."""
    return data.lower().translate(None, b" \t-_*`~")
