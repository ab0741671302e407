"""The record of words that two versions of a section have, or that one of them lacks."""

from dataclasses import dataclass
from typing import Annotated

from ubp.search.compare import WordKind


@dataclass(frozen=True, slots=True, kw_only=True)
class WordsRecord:
    """Consecutive words of a changed section."""

    kind: Annotated[WordKind, "which version has them: equal means both"]
    text: Annotated[
        str, "the words, without markup; 10,000 at most of a section that is not compared"
    ]
