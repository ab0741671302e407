"""Answers: the passages of notes that answer a question best, verbatim, with a confidence."""

from math import exp
from operator import mul
from typing import NamedTuple

from ubp.index.session import Session
from ubp.notes.note import Note
from ubp.notes.search import FoundNotes, NoteSearch
from ubp.search.fusion import WEAK_SCORE, WORDS_SHARE

MAX_NOTES, MAX_PASSAGES = 8, 8
# The probability that a passage answers: a logistic model of the best note's score, of what it is
# ahead of the second one, and of the share of the question's words that its passage contains.
# Fitted to 2,000 questions of XQuAD (English, German, Chinese) and JSQuAD over half of their
# paragraphs, so that about half had an answer (benchmarks/kits/notes.py calibration): of those with
# 0.8 and more 0.93 had, and they are 0.61 of all that had; fitted without one of the four sets,
# 0.81 to 1.00 of that.
SCORE_WEIGHT, LEAD_WEIGHT, COVERAGE_WEIGHT, BIAS = 7.8, 9.0, 4.9, -5.5
# Less have 0.06 of the same questions that had an answer, and 0.70 of the others.
MIN_CONFIDENCE = 0.25


class AnswerPassage(NamedTuple):
    """A part of a note, verbatim; lines count from 1."""

    note: Note
    text: str
    line_start: int
    line_end: int
    score: float


class NotesAnswer(NamedTuple):
    """The passages that answer a question, best first; `confidence` that one of them does."""

    question: str
    passages: tuple[AnswerPassage, ...]
    confidence: float

    @property
    def is_weak(self) -> bool:
        """Whether probably no note answers."""
        return self.confidence < MIN_CONFIDENCE


def answer_question(session: Session, question: str) -> NotesAnswer:
    """Return the passages that answer a question best.

    Raises:
        UsageError: the question has a filter that cannot be read.
    """
    found = NoteSearch(session).find(question, MAX_NOTES)
    passages = [
        AnswerPassage(
            hit.note,
            section.extract.text,
            section.extract.line_start,
            section.extract.line_end,
            section.score,
        )
        for hit in found.hits
        for section in hit.hit.sections
        if section.extract is not None and section.extract.text.strip()
    ]
    passages.sort(key=lambda passage: -passage.score)
    return NotesAnswer(question, tuple(passages[:MAX_PASSAGES]), confidence_of(found))


def confidence_of(found: FoundNotes) -> float:
    """Return the probability that one of the notes answers."""
    if not found.hits:
        return 0.0
    weights = SCORE_WEIGHT, LEAD_WEIGHT, COVERAGE_WEIGHT
    evidence = sum(map(mul, weights, features_of(found))) + BIAS
    return round(1 / (1 + exp(-evidence)), 2)


def features_of(found: FoundNotes) -> tuple[float, float, float]:
    """Return the best note's score, what it is ahead of the second one, and the coverage."""
    if not found.hits:
        return 0.0, 0.0, 0.0
    # Where no note contains a word of the question, weaker notes than this are left out, and the
    # score is all meaning: of others it is a share.
    first, second, *_ = *(hit.score for hit in found.hits), WEAK_SCORE
    share = 1.0 if found.has_words else 1 - WORDS_SHARE
    return share * first, share * (first - min(first, second)), found.coverage
