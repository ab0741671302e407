"""Recognize how a repository names its translated pages, and how it pins them.

Three layouts are known: a folder for each language beside that of the originals (`docs/ja/a.md`
and `docs/en/a.md`), a folder for each language inside that of the originals (`docs/ja/a.md` and
`docs/a.md`, or the folder `i18n` of Docusaurus), and a language in the file's name (`a.ja.md`).
"""

import json
import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from ubp.core.languages import LANGUAGE_CODE, same_language
from ubp.core.model import FilePath
from ubp.core.translations import LANGUAGE, PATH, TranslationRule, find_originals
from ubp.git.repository import Repository
from ubp.git.trees import resolve_objects
from ubp.index.view import View
from ubp.markdown.document import read_head
from ubp.markdown.references import PIN
from ubp.markdown.yaml_nodes import Node
from ubp.staleness.originals import Original, find_original

# Half of the translations must have their original: `api/it/` beside `api/en/` is not a layout.
MIN_SHARE = 0.5
MIN_TRANSLATIONS = 2
SAMPLED_PAGES = 100  # whose front matter is read for pins
MIN_PINNED_SHARE = 0.2  # a team may have begun with a few

DOCUSAURUS = f"i18n/{LANGUAGE}/docusaurus-plugin-content-docs/current/{PATH}"

_CODE = re.compile(LANGUAGE_CODE)
# After a hyphen or an underscore some codes are English words: sign-in, check-it, by-id.
_IN_NAME = re.compile(
    rf"(?P<stem>.+)(?P<mark>[._-])(?P<lang>{LANGUAGE_CODE})(?P<suffix>\.(?:md|mdx|markdown))"
)
_PLAIN_WORDS = frozenset({"id", "is", "it", "no", "he", "hi", "be", "am", "da", "el", "et", "ms"})


class ProposedRule(NamedTuple):
    """A rule, and how many translations it finds, in how many languages."""

    rule: TranslationRule
    pages: int
    languages: int

    @property
    def setting(self) -> dict[str, object]:
        """The rule as the configuration writes it."""
        setting: dict[str, object] = {"page": self.rule.page, "source": self.rule.source}
        if self.rule.pin:
            setting["pin"] = self.rule.pin
        if self.rule.languages:
            setting["languages"] = list(self.rule.languages)
        return setting


def propose_rules(view: View, repository: Repository) -> tuple[ProposedRule, ...]:
    """Return the rules that fit the documents of a snapshot, the one with most pages first.

    A page is counted for the first of them that finds it; rules that find less are left out.
    """
    paths = view.document_paths()
    left = set(paths)
    proposed: list[ProposedRule] = []
    scored = [(len(found), rule, found) for rule, found in _candidates(view, paths)]
    for _, rule, found in sorted(scored, key=lambda item: (-item[0], len(item[1].page))):
        own = {path: language for path, language in found.items() if path in left}
        if len(own) < min(MIN_TRANSLATIONS, len(found)):
            continue
        left -= own.keys()
        pinned = rule._replace(pin=_find_pin(view, repository, sorted(own)))
        proposed.append(ProposedRule(pinned, len(own), len({*map(same_language, own.values())})))
    return tuple(proposed)


def find_unclear_layouts(view: View) -> tuple[str, ...]:
    """Return the patterns of pages in several languages for which no rule can be proposed.

    What shows the language of their originals is contradictory, or most pages of the others have
    no original in it.
    """
    paths = view.document_paths()
    existing = set(paths)
    unclear = []
    for prefix, folders in _language_folders(paths).items():
        page = f"{prefix}{LANGUAGE}/{PATH}"
        fitting = [
            folder
            for folder in folders
            if len(folders) > 1
            and _translations(TranslationRule(page, f"{prefix}{folder}/{PATH}"), paths, existing)
        ]
        original = find_original(view, prefix, folders) if fitting else Original()
        if not original.is_clear or (original.folder and original.folder not in fitting):
            unclear.append(page)
    return tuple(unclear)


def rules_text(rules: Sequence[ProposedRule]) -> str:
    """Return the setting of the configuration, in one line."""
    return f'"translations": {json.dumps([rule.setting for rule in rules], ensure_ascii=False)}'


def _candidates(
    view: View, paths: Collection[FilePath]
) -> Iterator[tuple[TranslationRule, dict[FilePath, str]]]:
    """Yield rules that fit, and the translations that each finds, with their languages."""
    existing = set(paths)
    for rule in sorted({*_folder_rules(view, paths), *_name_rules(paths)}):
        if found := _translations(rule, paths, existing):
            yield rule, found


def _translations(
    rule: TranslationRule, paths: Collection[FilePath], existing: Collection[FilePath]
) -> dict[FilePath, str]:
    """Return the translations that a rule finds, with their languages; none where it fits not."""
    matches = {path: match for path in paths if (match := rule.match(path))}
    found = {path: match[0] for path, match in matches.items() if match[1] in existing}
    is_enough = len(found) >= MIN_TRANSLATIONS or _is_readme(rule, found)
    has_originals = len(found) >= MIN_SHARE * len(matches) and find_originals([rule], paths)
    return found if is_enough and has_originals else {}


def _is_readme(rule: TranslationRule, found: Collection[FilePath]) -> bool:
    return bool(found) and "/" not in rule.page


def _language_folders(paths: Collection[FilePath]) -> dict[str, list[str]]:
    """Return the folders with names of languages, by what is above: English, then by pages."""
    languages: dict[str, Counter[str]] = {}
    for path in paths:
        prefix = ""
        for folder in path.split("/")[:-1]:
            if _CODE.fullmatch(folder):
                languages.setdefault(prefix, Counter())[folder] += 1
            prefix += f"{folder}/"
    return {
        prefix: sorted(counts, key=lambda code: (not code.lower().startswith("en"), -counts[code]))
        for prefix, counts in languages.items()
    }


def _folder_rules(view: View, paths: Collection[FilePath]) -> Iterator[TranslationRule]:
    """Yield rules for the folders that have the name of a language."""
    for prefix, folders in _language_folders(paths).items():
        page = f"{prefix}{LANGUAGE}/{PATH}"
        original = find_original(view, prefix, folders).folder if len(folders) > 1 else None
        if original:
            yield TranslationRule(page, f"{prefix}{original}/{PATH}")
        yield TranslationRule(page, f"{prefix}{PATH}")
        if prefix.endswith("i18n/"):
            docs = f"{prefix.removesuffix('i18n/')}docs/{PATH}"
            yield TranslationRule(f"{prefix.removesuffix('i18n/')}{DOCUSAURUS}", docs)


def _name_rules(paths: Collection[FilePath]) -> Iterator[TranslationRule]:
    """Yield rules for file names that end with a language."""
    found: dict[tuple[str, str], set[str]] = {}
    existing = set(paths)
    for path in paths:
        match = _IN_NAME.fullmatch(path)
        if match is None or (match["mark"] != "." and match["lang"].lower() in _PLAIN_WORDS):
            continue
        if match["stem"] + match["suffix"] in existing:
            found.setdefault((match["mark"], match["suffix"]), set()).add(match["lang"])
    for (mark, suffix), languages in found.items():
        names = () if mark == "." else tuple(sorted(languages))
        yield TranslationRule(f"{PATH}{mark}{LANGUAGE}{suffix}", PATH + suffix, languages=names)


def _find_pin(view: View, repository: Repository, paths: Sequence[FilePath]) -> str | None:
    """Return the front matter key that pins most of these pages to commits or blobs."""
    step = max(1, len(paths) // SAMPLED_PAGES)
    contents = view.read(paths[::step])
    pins: dict[str, list[str]] = {}
    for data in contents.values():
        root = read_head(data or b"", ()).root
        for key, text in _scalars(root) if root else ():
            if PIN.fullmatch(text):
                pins.setdefault(key, []).append(text.lower())
    for key, values in sorted(pins.items(), key=lambda item: -len(item[1])):
        objects = resolve_objects(values, repository, has_commits=True)
        known = sum(value in objects for value in values)
        if len(values) >= MIN_PINNED_SHARE * len(contents) and known * 2 >= len(values):
            return key
    return None


def _scalars(root: Node, prefix: str = "", depth: int = 0) -> Iterator[tuple[str, str]]:
    """Yield the dotted keys and texts of the scalars in nested mappings."""
    for key, value in root.pairs:
        name = f"{prefix}{key.value}"
        if value.kind == "scalar" and value.text:
            yield name, value.text.strip()
        elif value.kind == "mapping" and depth < MAX_PIN_DEPTH:
            yield from _scalars(value, f"{name}.", depth + 1)


MAX_PIN_DEPTH = 3
