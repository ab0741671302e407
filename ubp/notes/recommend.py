"""Recommendations: the tools and articles among the notes that meet a project's needs."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from ubp.core.text import fold
from ubp.index.session import Session
from ubp.notes.names import find_names
from ubp.notes.note import Note, read_all_notes
from ubp.notes.reports import OssReport
from ubp.notes.search import NoteHit, NoteSearch
from ubp.notes.trends import is_common, names_of
from ubp.search.fusion import WEAK_SCORE

NOTES_PER_NEED, ARTICLES_PER_NEED, MAX_RECOMMENDED = 8, 3, 10
MAX_NEEDS = 10
MIN_SHARE = 0.6  # of the best note's score: notes far behind it answer something else
# What a note is worth more for each part of the project's stack that it mentions, and a tool or
# article for each further note and need.
STACK_BONUS, FURTHER_BONUS = 0.1, 0.2

FindReport = Callable[[str], OssReport | None]
"""Returns the report on the repository at an address; None: there is none."""


class Recommendation(NamedTuple):
    """A tool or an article, the needs that it meets, and the notes that say so, best first."""

    kind: Literal["tool", "article"]
    name: str
    needs: tuple[str, ...]
    notes: tuple[Note, ...]
    score: float
    report: OssReport | None = None


@dataclass
class _Candidate:
    """What was found for one tool or article so far."""

    kind: Literal["tool", "article"]
    name: str
    best: float = 0.0
    needs: dict[str, None] = field(default_factory=dict)
    notes: dict[Note, None] = field(default_factory=dict)
    repository: str = ""

    def add(self, need: str, note: Note, score: float) -> None:
        self.needs[need] = None
        self.notes[note] = None
        self.best = max(self.best, score)

    @property
    def score(self) -> float:
        further = len(self.notes) + len(self.needs) - 2
        return self.best * (1 + FURTHER_BONUS * further)


def recommend(
    session: Session,
    context: str,
    stack: Sequence[str],
    needs: Sequence[str],
    find_report: FindReport,
) -> tuple[Recommendation, ...]:
    """Return what the notes recommend for these needs; without any, for the whole context.

    Raises:
        UsageError: a need has a filter that cannot be read.
    """
    found = _Search(session, stack)
    candidates: dict[str, _Candidate] = {}
    for need in list(dict.fromkeys(needs))[:MAX_NEEDS] or [context]:
        hits = found.hits(need)
        for key, mentioning in found.tools(hits).items():
            written, repository = found.written(key, mentioning)
            tool = candidates.setdefault(f"tool {key}", _Candidate("tool", written))
            tool.repository = tool.repository or repository
            for hit in mentioning:
                tool.add(need, hit.note, found.worth(hit))
        for hit in hits[:ARTICLES_PER_NEED]:
            key = f"article {hit.note.path}"
            article = candidates.setdefault(key, _Candidate("article", hit.note.title))
            article.add(need, hit.note, found.worth(hit))
    best = sorted(candidates.values(), key=lambda candidate: -candidate.score)
    return tuple(
        Recommendation(
            candidate.kind,
            candidate.name,
            tuple(candidate.needs),
            tuple(candidate.notes),
            candidate.score,
            find_report(candidate.repository) if candidate.repository else None,
        )
        for candidate in best[:MAX_RECOMMENDED]
    )


class _Search:
    """The notes of a session, and which names in them are worth recommending."""

    def __init__(self, session: Session, stack: Sequence[str]) -> None:
        self._search = NoteSearch(session)
        notes = read_all_notes(session, self._search.view)
        self._names = names_of(self._search.view, tuple(notes.values()))
        self._stack = {fold(name) for name in stack}
        mentions = Counter(
            key for names in self._names.values() for key in (*names.tools, *names.words)
        )
        self._common = {key for key, number in mentions.items() if is_common(number, len(notes))}

    def hits(self, need: str) -> list[NoteHit]:
        """Return the notes that answer a need, best first."""
        hits = self._search.find(need, NOTES_PER_NEED).hits
        least = max(WEAK_SCORE, MIN_SHARE * max((hit.score for hit in hits), default=0.0))
        return sorted((hit for hit in hits if hit.score >= least), key=lambda hit: -self.worth(hit))

    def worth(self, hit: NoteHit) -> float:
        """Return the score of a note, a little more where it mentions the project's stack."""
        text = fold("\n".join([hit.note.title, *hit.note.tags, hit.passage]))
        return hit.score * (1 + STACK_BONUS * sum(name in text for name in self._stack))

    def tools(self, hits: Sequence[NoteHit]) -> dict[str, list[NoteHit]]:
        """Return the names that several of these notes mention, or that a title has."""
        mentions: dict[str, list[NoteHit]] = {}
        for hit in hits:
            names = find_names(f"{hit.note.title}\n\n{hit.passage}\n{hit.note.url}")
            found = names.tools.keys() | names.words.keys()
            for key in found - self._common - self._stack:
                mentions.setdefault(key, []).append(hit)
        return {
            key: found
            for key, found in sorted(mentions.items())
            if len(found) > 1 or self._is_subject(key, found[0])
        }

    def _is_subject(self, key: str, hit: NoteHit) -> bool:
        """Return whether a single note is about a tool: its title has the name."""
        return key in self._names[hit.note.path].tools and key in fold(hit.note.title)

    def written(self, key: str, hits: Sequence[NoteHit]) -> tuple[str, str]:
        """Return a name as it is written, and the address of its repository ("": unknown)."""
        names = [self._names[hit.note.path] for hit in hits]
        addresses = (found.repositories.get(key) for found in names)
        written = (found.tools.get(key) or found.words.get(key) for found in names)
        return next(filter(None, written), key), next(filter(None, addresses), "")
