"""Answers: the passages of notes that answer a question best, verbatim, with a confidence."""

from collections.abc import Sequence
from math import exp
from typing import NamedTuple

from ubp.index.session import Session
from ubp.notes.note import Note
from ubp.notes.search import NoteHit, NoteSearch

MAX_NOTES, MAX_PASSAGES = 8, 8
# The probability that a passage answers: a logistic model of the best note's score and of what it
# is ahead of the second one. Fitted to 1,000 questions of XQuAD and JSQuAD over half of their
# paragraphs, so that about half had an answer (benchmarks/notes.py calibration): of those with 0.8
# and more 0.95 had, and they are 0.59 of all that had. The command itself now fits 6.8, 18.0, -4.2.
SCORE_WEIGHT, LEAD_WEIGHT, BIAS = 7.8, 16.0, -4.6


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


def answer_question(session: Session, question: str) -> NotesAnswer:
    """Return the passages that answer a question best.

    Raises:
        UsageError: the question has a filter that cannot be read.
    """
    hits = NoteSearch(session).find(question, MAX_NOTES).hits
    passages = [
        AnswerPassage(
            hit.note,
            section.extract.text,
            section.extract.line_start,
            section.extract.line_end,
            section.score,
        )
        for hit in hits
        for section in hit.hit.sections
        if section.extract is not None and section.extract.text.strip()
    ]
    passages.sort(key=lambda passage: -passage.score)
    return NotesAnswer(question, tuple(passages[:MAX_PASSAGES]), confidence_of(hits))


def confidence_of(hits: Sequence[NoteHit]) -> float:
    """Return the probability that one of the notes answers."""
    if not hits:
        return 0.0
    lead = hits[0].score - (hits[1].score if len(hits) > 1 else 0.0)
    return round(1 / (1 + exp(-(SCORE_WEIGHT * hits[0].score + LEAD_WEIGHT * lead + BIAS))), 2)
