"""Evidence in meaning: a page's headings and code words, a source's path and what it defines."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from ubp.binding.path_words import words_of
from ubp.binding.sources import Sources
from ubp.parse.mentions import PageMentions

if TYPE_CHECKING:  # it needs numpy, which a plain installation lacks
    from ubp.embed.model import Model

# More words of one text only blur it.
MOST_WORDS = 60
# What is near is held against the source that is next after so many.
MOST_NEAR = 30
# Twice as near as any other by half a cosine: nothing in five repositories stands out more.
FARTHEST_MARGIN = 0.5

Meanings = Callable[[PageMentions], Mapping[int, float]]


def read_meanings(model: "Model", sources: Sources) -> Meanings:
    """What tells of each page how far sources stand out in meaning, from 0 to 1."""
    matrix = model.encode([_source_text(number, sources) for number in range(sources.count)])

    def near(said: PageMentions) -> Mapping[int, float]:
        found = matrix.nearest(model.encode([_page_text(said)]), MOST_NEAR + 1)
        usual = found[-1][1] if found else 0.0
        return {
            number: min((cosine - usual) / FARTHEST_MARGIN, 1.0)
            for number, cosine in found[:MOST_NEAR]
            if cosine > usual
        }

    return near


def _source_text(number: int, sources: Sources) -> str:
    words = sorted(words_of(sources.paths[number]))
    for name in sorted(sources.names[number].defined):
        if len(words) > MOST_WORDS:
            break
        words += sorted(words_of(name))
    return " ".join(words)


def _page_text(said: PageMentions) -> str:
    words = [word for one in said.identifiers[:MOST_WORDS] for word in sorted(words_of(one.text))]
    return " ".join([said.title, said.headings, *words[:MOST_WORDS]])
