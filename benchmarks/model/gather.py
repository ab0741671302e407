"""Write pairs of texts that belong together, from which the embedding model learns.

    python benchmarks/model/gather.py FOLDER PAIRS.tsv [--leave-out NAMES.txt]

FOLDER has clones or bare Git directories, each named `OWNER+NAME`; their `HEAD` is read. NAMES.txt
has a repository a line, as `OWNER+NAME`: those on which the model is measured. A line of PAIRS.tsv
is a text, a text, and the kind of the pair:

- `section`: a heading and its section, of Markdown in repositories whose licence allows derived
  works, as far as the name of the licence in their licence file shows.
- `tldr`: what a command line is for, and the command that it is an example of.
- `list`: a category or a name, and the description of an entry, in lists of tools.
- `ja`: the same in Japanese and in English.

The repositories of the last three kinds are named here. Prints how many pairs each repository has
and the licence that was found: read it before the model is published, it may be that of the code.
"""

import argparse
import random
import re
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

SEED = 7
MOST_PAGES = 600  # of a repository, drawn at random
MOST_SECTIONS = 3000  # of a repository; the page that exceeds it is read to its end
MOST_BYTES = 300_000  # longer pages are generated
MIN_HEADING, MIN_SECTION = 3, 80  # characters
LONGEST = 700  # characters of the second text; the model reads the first 72 tokens
TITLE = 60  # characters of a page's title before a heading
SHARE_WITH_TITLE = 0.3  # of headings, that follow the title of their page
SHARE_OF_NAMES = 0.3  # of tools, whose name is a pair with their description
MIN_DESCRIPTION = 25  # characters of a tool's description
MOST_EXAMPLES = 8  # of a page of tldr
LICENCE_START = 3000  # characters of a licence file in which its name is looked for

TLDR = "tldr-pages+tldr"
LISTS = (
    "vsouza+awesome-ios",
    "fffaraz+awesome-cpp",
    "ziadoz+awesome-php",
    "jaywcjlove+awesome-mac",
    "veggiemonk+awesome-docker",
    "h4cc+awesome-elixir",
    "agarrharr+awesome-cli-apps",
)

# In this order: a text may contain the name of a later one.
_LICENCES = (
    ("Apache-2.0", re.compile(r"Apache License")),
    ("MIT", re.compile(r"MIT License|Permission is hereby granted, free of charge")),
    ("BSD", re.compile(r"Redistribution and use in source and binary")),
    ("CC0", re.compile(r"CC0|Creative Commons Zero|unlicense", re.IGNORECASE)),
    (None, re.compile(r"NonCommercial|NoDeriv")),
    ("CC BY-SA 4.0", re.compile(r"Attribution-ShareAlike 4|ShareAlike 4.0")),
    ("CC BY 4.0", re.compile(r"Attribution 4.0")),
)
_LICENCE_FILE = re.compile(r"(?i)(licen[sc]e|copying)")
_PAGE = re.compile(r"\.mdx?$|\.markdown$")
_NO_PROSE = re.compile(r"(?i)changelog|license|node_modules|release-notes")
_FRONT_MATTER = re.compile(r"^---\n.*?\n---\n", re.DOTALL)
_FENCED = re.compile(r"```.*?```", re.DOTALL)
_HEADING = re.compile(r"^(#{1,6})\s+(.*?)\s*#*$")
_HEADING_WITH_ID = re.compile(r"^(#{1,6})\s+(.*?)\s*(?:\{.*\})?$")
_MARKUP_OF_HEADING = re.compile(r"\{#.*?\}|`|\*|\[([^\]]*)\]\([^)]*\)")
_MARKUP = re.compile(r"<[^>]*>|\[([^\]]*)\]\([^)]*\)|https?://\S+")
_MARKUP_AND_MARKS = re.compile(r"<[^>]*>|\[([^\]]*)\]\([^)]*\)|https?://\S+|[`*]")
_KANA = re.compile("[ぁ-んァ-ン]")

_TLDR_PAGE = re.compile(r"pages(\.ja)?/.*\.md$")
_TLDR_COMMAND = re.compile(r"^# (.*)", re.MULTILINE)
_TLDR_PURPOSE = re.compile(r"^> (?!More info|詳し|See also|Note)(.*)$", re.MULTILINE)
_TLDR_EXAMPLE = re.compile(r"^- (.*):$", re.MULTILINE)

_LIST_HEADING = re.compile(r"#{2,}\s+(.*)")
_LIST_ENTRY = re.compile(r"\s*[-*] \[([^\]]+)\]\([^)]*\)\W*(.*)")
_LIST_MARKUP = re.compile(r"\[([^\]]*)\]\([^)]*\)|!\[.*?\]\(.*?\)")


class Pair(NamedTuple):
    """Two texts that belong together."""

    first: str
    second: str
    kind: str


class Translated(NamedTuple):
    """Documentation in English and, below the path with `old` replaced by `new`, in Japanese."""

    english: str
    japanese: str
    old: str
    new: str


TRANSLATED = (
    Translated("withastro+docs", "withastro+docs", "/en/", "/ja/"),
    Translated(
        "open-telemetry+opentelemetry.io",
        "open-telemetry+opentelemetry.io",
        "content/en/",
        "content/ja/",
    ),
    Translated("reactjs+react.dev", "reactjs+ja.react.dev", "", ""),
    Translated("angular+angular-ja", "angular+angular-ja", ".en.md", ".md"),
)


class Clone:
    """The files of a repository's `HEAD`."""

    def __init__(self, folder: Path) -> None:
        self._git = ("git", "-C", str(folder))

    def paths(self, *arguments: str) -> list[str]:
        """Return the paths of files; Git quotes those that are not ASCII, `read` skips them."""
        listing = self._output("ls-tree", *arguments, "--name-only", "HEAD")
        return listing.decode("utf-8", "replace").split("\n")

    def file(self, path: str) -> str:
        """Return a file's text, "" if there is none."""
        return self._output("show", f"HEAD:{path}").decode("utf-8", "replace")

    def read(self, paths: Sequence[str]) -> Iterator[tuple[str, bytes]]:
        """Yield paths and contents, each followed by a line feed; skip files that are missing."""
        command = (*self._git, "cat-file", "--batch")
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
            for path in paths:
                process.stdin.write(f"HEAD:{path}\n".encode())
                process.stdin.flush()
                _, *kind, size = process.stdout.readline().split()
                if kind == [b"blob"]:
                    yield path, process.stdout.read(int(size) + 1)
            process.stdin.close()

    def texts(self, paths: Sequence[str]) -> dict[str, str]:
        """Return the files' texts by path."""
        return {path: content.decode("utf-8", "replace") for path, content in self.read(paths)}

    def _output(self, *arguments: str) -> bytes:
        return subprocess.run([*self._git, *arguments], capture_output=True, check=False).stdout


def licence(clone: Clone) -> str | None:
    """Return the name of a licence that allows derived works, None if there is none."""
    for path in filter(_LICENCE_FILE.match, clone.paths()):
        start = clone.file(path)[:LICENCE_START]
        return next((name for name, pattern in _LICENCES if pattern.search(start)), None)
    return None


def without_markup(markup: re.Pattern[str], text: str, empty: str = " ") -> str:
    """Return the text with `empty` for markup, and a link's words for a link."""
    return markup.sub(lambda match: match[1] or empty, text)


def one_line(text: str) -> str:
    """Return the text with a space for each run of white space."""
    return re.sub(r"\s+", " ", text).strip()


def pairs_of(rows: Iterator[tuple[str, str, str]]) -> Iterator[Pair]:
    """Yield the rows that have two texts, each on a line."""
    for first, second, kind in rows:
        pair = Pair(one_line(first), one_line(second)[:LONGEST], kind)
        if len(pair.first) >= MIN_HEADING and len(one_line(second)) >= MIN_HEADING:
            yield pair


# Headings and their sections


def headings(text: str) -> Iterator[tuple[str, str]]:
    """Yield a page's headings with the text below each, fences included."""
    body, is_fenced, heading = [], False, None
    for line in text.split("\n"):
        if line.lstrip().startswith("```"):
            is_fenced = not is_fenced
        match = None if is_fenced else _HEADING.match(line)
        if match:
            if heading:
                yield heading, "\n".join(body)
            heading, body = match[2], []
        else:
            body.append(line)
    if heading:
        yield heading, "\n".join(body)


def page_sections(text: str, chance: random.Random) -> Iterator[Pair]:
    """Yield a page's headings, some of them with the page's title, and their sections."""
    title = None
    for heading, section in headings(_FRONT_MATTER.sub("", text)):
        name = without_markup(_MARKUP_OF_HEADING, heading, "").strip()
        body = one_line(without_markup(_MARKUP, _FENCED.sub(" ", section)))
        title = name if title is None else title
        if len(name) < MIN_HEADING or len(body) < MIN_SECTION:
            continue
        if name != title and chance.random() < SHARE_WITH_TITLE:
            name = f"{title[:TITLE]} {name}"
        yield Pair(name.replace("\t", " "), body[:LONGEST], "section")


def sections(clone: Clone, chance: random.Random) -> Iterator[Pair]:
    """Yield headings and sections of a repository's pages, in random order."""
    paths = [path for path in clone.paths("-r") if _PAGE.search(path)]
    paths = [path for path in paths if not _NO_PROSE.search(path)]
    chance.shuffle(paths)
    count = 0
    for _, content in clone.read(paths[:MOST_PAGES]):
        if len(content) > MOST_BYTES:
            continue
        for pair in page_sections(content.decode("utf-8", "replace"), chance):
            yield pair
            count += 1
        if count > MOST_SECTIONS:
            return


# Pages of tldr


class Commands(NamedTuple):
    """A page of tldr: a command, its purpose, and what its examples are for."""

    command: str
    purpose: str
    examples: list[str]


def read_commands(text: str) -> Commands:
    """Return what a page of tldr contains."""
    command = _TLDR_COMMAND.search(text)
    purpose = " ".join(_TLDR_PURPOSE.findall(text))
    return Commands(command[1] if command else "", purpose, _TLDR_EXAMPLE.findall(text))


def command_pairs(clone: Clone) -> Iterator[tuple[str, str, str]]:
    """Yield purposes of commands with the commands, and English with Japanese purposes."""
    texts = clone.texts([path for path in clone.paths("-r") if _TLDR_PAGE.match(path)])
    for path, text in texts.items():
        page = read_commands(text)
        if path.startswith("pages/"):
            yield f"{page.command} {page.purpose}", " ".join(page.examples), "tldr"
            for example in page.examples[:MOST_EXAMPLES]:
                yield example, f"{page.command}: {page.purpose}", "tldr"
        elif original := texts.get(path.replace("pages.ja/", "pages/", 1)):
            yield from translated_commands(page, read_commands(original))


def translated_commands(japanese: Commands, english: Commands) -> Iterator[tuple[str, str, str]]:
    """Yield what two pages about the same command say of it."""
    yield japanese.purpose, f"{english.command}: {english.purpose}", "ja"
    yield english.purpose, f"{japanese.command}: {japanese.purpose}", "ja"
    if len(japanese.examples) == len(english.examples):
        for first, second in zip(japanese.examples, english.examples, strict=True):
            yield first, second, "ja"


# Lists of tools


def list_pairs(clone: Clone, chance: random.Random) -> Iterator[tuple[str, str, str]]:
    """Yield the category of each entry with its description, and some names with theirs."""
    category = ""
    for line in (clone.file("README.md") or clone.file("readme.md")).split("\n"):
        if heading := _LIST_HEADING.match(line):
            category = re.sub(r"[^\w &/-]", "", heading[1])
            continue
        entry = _LIST_ENTRY.match(line)
        if entry and len(entry[2]) > MIN_DESCRIPTION:
            description = _LIST_MARKUP.sub(r"\1", entry[2])
            yield category, description, "list"
            if chance.random() < SHARE_OF_NAMES:
                yield entry[1], description, "list"


# Documentation in two languages


def prose(text: str) -> Iterator[tuple[str, str]]:
    """Yield headings and the text below each without fences; the first has no heading."""
    heading, body, is_fenced = "", [], False
    for line in _FRONT_MATTER.sub("", text).split("\n"):
        if line.lstrip().startswith("```"):
            is_fenced = not is_fenced
        elif not is_fenced:
            if match := _HEADING_WITH_ID.match(line):
                yield heading, "\n".join(body)
                heading, body = match[2], []
            else:
                body.append(line)
    yield heading, "\n".join(body)


def aligned(english: str, japanese: str) -> Iterator[tuple[str, str, str]]:
    """Yield headings and paragraphs of a page and its translation, if both have as many."""
    first, other = list(prose(english)), list(prose(japanese))
    if len(first) != len(other):
        return
    for (heading, section), (ja_heading, ja_section) in zip(first, other, strict=True):
        body = without_markup(_MARKUP_AND_MARKS, section)
        ja_body = without_markup(_MARKUP_AND_MARKS, ja_section)
        if heading and ja_heading and _KANA.search(ja_heading + ja_body):
            yield ja_heading, f"{heading} {body[:300]}", "ja"
            yield heading, f"{ja_heading} {ja_body[:300]}", "ja"
        paragraphs = [part for part in body.split("\n\n") if len(part) > 60]
        ja_parts = [part for part in ja_body.split("\n\n") if len(part) > 30]
        ja_parts = [part for part in ja_parts if _KANA.search(part)]
        if len(paragraphs) == len(ja_parts):
            for part, ja_part in zip(paragraphs, ja_parts, strict=True):
                yield part[:400], ja_part[:400], "ja"


def translations(clone: Clone, ja_clone: Clone, site: Translated) -> Iterator[tuple[str, str, str]]:
    """Yield what the pages of a site have in English and in Japanese."""
    paths = {
        path: path.replace(site.old, site.new)
        for path in clone.paths("-r")
        if re.search(r"\.mdx?$", path)
    }
    there = set(ja_clone.paths("-r"))
    is_one = site.english == site.japanese
    paths = {a: b for a, b in paths.items() if b in there and not (is_one and a == b)}
    texts, ja_texts = clone.texts(list(paths)), ja_clone.texts(list(paths.values()))
    for path, ja_path in paths.items():
        if path in texts and ja_path in ja_texts:
            yield from aligned(texts[path], ja_texts[ja_path])


def gather(clones: dict[str, Clone]) -> Iterator[tuple[str, str, Iterator[Pair]]]:
    """Yield the pairs of each repository, with its name and the licence that was found."""
    chance = random.Random(SEED)
    for name, clone in clones.items():
        if found := licence(clone):
            yield name, found, sections(clone, chance)
    chance = random.Random(SEED)
    if TLDR in clones:
        yield TLDR, "see above", pairs_of(command_pairs(clones[TLDR]))
    for name in (name for name in LISTS if name in clones):
        found = licence(clones[name]) or "unknown: read it"
        yield name, found, pairs_of(list_pairs(clones[name], chance))
    for site in TRANSLATED:
        if site.english in clones and site.japanese in clones:
            rows = translations(clones[site.english], clones[site.japanese], site)
            yield site.english, "see above", pairs_of(rows)


def main() -> None:
    """Write the pairs and print their number for each repository."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("pairs", type=Path)
    parser.add_argument("--leave-out", type=Path, metavar="FILE")
    arguments = parser.parse_args()
    left_out = arguments.leave_out.read_text("utf-8").split() if arguments.leave_out else []
    folders = (path for path in sorted(arguments.folder.iterdir()) if "+" in path.name)
    clones = {path.name: Clone(path) for path in folders if path.name not in left_out}
    with arguments.pairs.open("w", encoding="utf-8") as file:
        for name, found, pairs in gather(clones):
            lines = ["\t".join(pair) + "\n" for pair in pairs]
            file.writelines(lines)
            print(f"{len(lines):6}  {name}  ({found})")


if __name__ == "__main__":
    main()
