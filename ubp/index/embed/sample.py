"""Sections drawn from a repository, to compare models on its own headings and titles.

A heading, or a title, asks for the section that it is of. The text of the section is embedded
without both, since it would be found by them else. The same sections are drawn each time.
"""

import random
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from ubp.index.embed.protocol import EmbeddingModel
from ubp.index.embed.vectors import Matrix

SEED = 35
MAX_SECTIONS, MAX_QUERIES = 600, 150
MIN_BODY = 80  # characters: less than that answers nothing
FIRST = 5

_HEADING = re.compile(r"^\s{0,3}#{1,6}\s.*$|^(?:=+|-+)\s*$", re.MULTILINE)


class Section(NamedTuple):
    """A chunk of a page, without its title and its headings."""

    page: str
    title: str
    heading: str
    body: str


class Sample(NamedTuple):
    """Sections, and the headings and titles that ask for some of them."""

    sections: Sequence[Section]
    headings: Sequence[str]
    titles: Sequence[str]


class Recall(NamedTuple):
    """The shares of headings and of titles whose section, or page, is among the first five."""

    headings: float
    titles: float


def draw(sections: Sequence[Section]) -> Sample:
    """Return a sample; names that several pages have are not asked for."""
    choose = random.Random(SEED)  # noqa: S311  # not a secret
    drawn = [section for section in sections if len(section.body) >= MIN_BODY]
    if len(drawn) > MAX_SECTIONS:
        drawn = choose.sample(drawn, MAX_SECTIONS)
    return Sample(
        drawn,
        _names(choose, [(section.heading, section.page) for section in drawn]),
        _names(choose, [(section.title, section.page) for section in drawn]),
    )


def without_headings(text: str) -> str:
    """Return the text of a chunk without lines that are headings."""
    return _HEADING.sub("", text).strip()


def measure(model: EmbeddingModel, sample: Sample) -> Recall:
    """Return how many headings and titles find their section; errors as `model.encode`."""
    sections = sample.sections
    texts = model.encode([model.text_of(None, (), section.body) for section in sections])
    pages = np.array([section.page for section in sections])
    headings = [
        _is_found(order, [section.heading == name for section in sections])
        for name, order in zip(sample.headings, _orders(texts, model, sample.headings), strict=True)
    ]
    titles = []
    for name, order in zip(sample.titles, _orders(texts, model, sample.titles), strict=True):
        first = list(dict.fromkeys(pages[order].tolist()))[:FIRST]
        titles.append(any(section.title == name and section.page in first for section in sections))
    return Recall(_mean(headings), _mean(titles))


def _names(choose: random.Random, named: Sequence[tuple[str, str]]) -> list[str]:
    pages: dict[str, set[str]] = {}
    for name, page in named:
        if name:
            pages.setdefault(name, set()).add(page)
    names = [name for name, where in pages.items() if len(where) == 1]
    return choose.sample(names, min(MAX_QUERIES, len(names)))


def _orders(texts: Matrix, model: EmbeddingModel, names: Sequence[str]) -> Iterator[list[int]]:
    """Yield the numbers of the texts for each name, the nearest first."""
    cosines = model.encode_queries(names).rows @ texts.rows.T
    for row in cosines:
        yield np.argsort(-row, kind="stable").tolist()


def _is_found(order: Sequence[int], is_wanted: Sequence[bool]) -> bool:
    return any(is_wanted[number] for number in order[:FIRST])


def _mean(found: Sequence[bool]) -> float:
    return sum(found) / len(found) if found else 0.0
