"""Translations: pages whose original a rule of the configuration names.

A translation is assessed as a page with one source, its original. Nothing else is different.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from ubp.core.languages import same_language
from ubp.core.model import (
    Assessment,
    FilePath,
    ObjectId,
    Page,
    ReferenceVerdict,
    SourceReference,
)
from ubp.core.translations import (
    LANGUAGE,
    TranslationRule,
    find_original,
    find_originals,
)
from ubp.index.view import View
from ubp.markdown.document import read_head
from ubp.staleness.model import GONE, LanguageCount, StalenessContext

# Where the reference comes from, as the key of a source reference: the configuration's.
SETTING = "translations"


class _Origin(NamedTuple):
    """The rule that a translation matches, its language, and the path of its original."""

    rule: TranslationRule
    language: str
    original: FilePath


def find_translations(
    view: View, rules: Sequence[TranslationRule], paths: Collection[FilePath] | None = None
) -> list[Page]:
    """Return the translations as pages with one reference, in path order.

    With `paths` only those that are one of them, or whose original is.
    """
    origins = view.derived("translations", partial(_find_origins, view, tuple(rules)))
    chosen = {
        path: origin
        for path, origin in origins.items()
        if paths is None or path in paths or origin.original in paths
    }
    pages = view.pages_at(list(chosen))
    return [_translation(pages[path], chosen[path]) for path in chosen if path in pages]


def as_translation(page: Page, rules: Sequence[TranslationRule]) -> Page | None:
    """Return a page with the reference to its original alone; None: it is not a translation."""
    found = find_original(rules, page.filepath)
    return _translation(page, _Origin(*found)) if found else None


def _find_origins(view: View, rules: tuple[TranslationRule, ...]) -> dict[FilePath, _Origin]:
    return {
        path: _Origin(*found)
        for path in view.document_paths()
        if (found := find_original(rules, path))
    }


def _translation(page: Page, origin: _Origin) -> Page:
    pin = next((pin for pin in page.facts.pins if pin.key == origin.rule.pin), None)
    reference = SourceReference(
        origin.original,
        origin.original,
        origin.original,
        None,
        SETTING,
        pin.line if pin else 1,
        pin.pin if pin else None,
        None,
        origin.rule.pin,
        origin.language,
    )
    return page._replace(facts=page.facts._replace(references=(reference,), problems=()))


def find_unchanged(
    references: Iterable[ReferenceVerdict], context: StalenessContext
) -> frozenset[ReferenceVerdict]:
    """Return the references to originals of which nothing changed but the sources that they list.

    A renewed pin is nothing to translate.
    """
    modified = [
        (reference, ObjectId(reference.baseline_blob))
        for reference in references
        if reference.verdict == "modified"
        and reference.baseline_blob
        and reference.reference.key == SETTING
    ]
    paths = {reference.source_path for reference, _ in modified}
    pages, current = context.view.pages_at(paths), context.view.read(paths)
    earlier = context.repository.read_blobs({blob for _, blob in modified})
    unchanged: set[ReferenceVerdict] = set()
    for reference, blob in modified:
        page, new = pages.get(reference.source_path), current.get(reference.source_path)
        old = earlier.get(blob)
        if page and page.facts.references and new is not None and old is not None:
            keys = {re.split(r"[.\[]", source.key)[0] for source in page.facts.references}
            if _without_sources(old, keys) == _without_sources(new, keys):
                unchanged.add(reference)
    return frozenset(unchanged)


def _without_sources(data: bytes, keys: Collection[str]) -> tuple[object, bytes]:
    """Return the fields of a page without those of these keys, and its text."""
    head = read_head(data, sorted(keys))
    if head.root is None:
        return [], data.strip()
    fields = [
        (key.value, head.text[node.start : node.end])
        for key, node in head.root.pairs
        if key.value not in keys
    ]
    return fields, data[head.body :].strip()


def count_languages(
    view: View, rules: Sequence[TranslationRule], assessments: Iterable[Assessment]
) -> tuple[LanguageCount, ...]:
    """Count the translations of each language by what became of them, and the missing ones.

    A language has the name that most of its translations have: "pt-BR" beside one of "pt-br".
    """
    verdicts: dict[str, list[ReferenceVerdict]] = {}
    names: dict[str, Counter[str]] = {}
    for assessment in assessments:
        for verdict in assessment.references:
            name = verdict.reference.language or ""
            names.setdefault(same_language(name), Counter())[name] += 1
            verdicts.setdefault(same_language(name), []).append(verdict)
    written = {name for counter in names.values() for name in counter}
    missing: dict[str, Collection[FilePath]] = {}
    for name, lacking in _find_missing(view, rules, written).items():
        language = same_language(name)
        missing[language] = lacking & {*missing.get(language, lacking)}
        names.setdefault(language, Counter([name]))
    shown = {counter.most_common(1)[0][0]: language for language, counter in names.items()}
    return tuple(
        _count(name, verdicts.get(language, ()), missing.get(language, ()))
        for name, language in sorted(shown.items())
    )


def _count(
    language: str, verdicts: Sequence[ReferenceVerdict], missing: Collection[FilePath]
) -> LanguageCount:
    return LanguageCount(
        language=language,
        fresh=sum(verdict.verdict == "fresh" for verdict in verdicts),
        stale=sum(verdict.verdict in {"modified", "created"} for verdict in verdicts),
        orphaned=sum(verdict.verdict in GONE for verdict in verdicts),
        unknown=sum(verdict.verdict == "unknown" for verdict in verdicts),
        missing=tuple(sorted(missing)),
    )


def _find_missing(
    view: View, rules: Sequence[TranslationRule], assessed: Collection[str]
) -> Mapping[str, set[FilePath]]:
    """Return the originals that each language lacks.

    The languages of a rule are those that it lists, else those with a translation of one of them,
    or with `assessed` translations. A page that never had an original is not a translation.
    """
    paths = view.document_paths()
    origins = view.derived("translations", partial(_find_origins, view, tuple(rules)))
    missing: dict[str, set[FilePath]] = {}
    for rule, originals in find_originals(rules, paths).items():
        own = {origin for origin in origins.values() if origin.rule == rule}
        translated = {(origin.language, origin.original) for origin in own}
        existing = {*originals}
        languages = rule.languages or {
            language
            for language, original in translated
            if original in existing or language in assessed
        }
        for language in languages:
            own_pattern = rule.page.replace(LANGUAGE, language)
            if own_pattern == rule.source:  # the originals' own language
                continue
            lacking = {path for path in originals if (language, path) not in translated}
            missing.setdefault(language, set()).update(lacking)
    return missing
