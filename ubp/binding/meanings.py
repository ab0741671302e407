"""Evidence in meaning: a page's headings and code words, a source's path and what it defines."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ubp.binding.path_words import words_of
from ubp.model import FilePath
from ubp.parse.mentions import PageMentions
from ubp.parse.names import SourceNames

if TYPE_CHECKING:  # it needs numpy, which a plain installation lacks
    from ubp.embed.matrix import Matrix
    from ubp.embed.model import Model

# More words of one text only blur it.
MOST_WORDS = 60
# What is near is held against the source that is next after so many.
MOST_NEAR = 30
# Twice as near as any other by half a cosine: nothing in five repositories stands out more.
FARTHEST_MARGIN = 0.5


def encode_sources(
    model: "Model", paths: Sequence[FilePath], names: Sequence[SourceNames]
) -> "Matrix":
    """The meaning of each source."""
    return model.encode([_source_text(*one) for one in zip(paths, names, strict=True)])


def find_meanings(
    model: "Model", sources: "Matrix", pages: Sequence[PageMentions]
) -> list[dict[int, float]]:
    """How far sources stand out in meaning, from 0 to 1, of each page; all of them at once."""
    if not pages:
        return []
    near = sources.nearest_each(model.encode([_page_text(said) for said in pages]), MOST_NEAR + 1)
    return [_standing_out(found) for found in near]


def _standing_out(found: Sequence[tuple[int, float]]) -> dict[int, float]:
    usual = found[-1][1] if found else 0.0
    return {
        number: min((cosine - usual) / FARTHEST_MARGIN, 1.0)
        for number, cosine in found[:MOST_NEAR]
        if cosine > usual
    }


def _source_text(path: FilePath, names: SourceNames) -> str:
    words = sorted(words_of(path))
    for name in sorted(names.defined):
        if len(words) > MOST_WORDS:
            break
        words += sorted(words_of(name))
    return " ".join(words)


def _page_text(said: PageMentions) -> str:
    words = [word for one in said.identifiers[:MOST_WORDS] for word in sorted(words_of(one.text))]
    return " ".join([said.title, said.headings, *words[:MOST_WORDS]])
