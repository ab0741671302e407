"""`ubp notes ask` and `ask`: the passages of notes that answer a question, with a confidence.

The user's language model, if there is one, writes an answer that cites them.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from math import exp
from operator import mul
from typing import Annotated, Any, Literal

from ubp.frame.answer import Answer, Request, ToolTraits
from ubp.frame.arguments import QUERY_CHARACTERS, MaxTokens
from ubp.frame.budget import MIN_BEGINNING, TokenLimit, count_breaks
from ubp.frame.encoding import Json
from ubp.frame.fields import Count, Fraction, Keyword, Option, PagePath, Span, Title
from ubp.frame.wording import count, printable_line
from ubp.frame.writer import Writer
from ubp.index.session import Session
from ubp.kits.notes.fields import Author, NoteId, Url, about
from ubp.kits.notes.model_answer import ENVIRONMENT, write_answer
from ubp.kits.notes.search import FoundNotes, NoteHit, NoteSearch
from ubp.search.excerpt import drop_overlaps
from ubp.search.fusion import WEAK_SCORE, WORDS_SHARE
from ubp.search.lexical import STOP_WORDS
from ubp.search.match import find_terms
from ubp.sync.language_model import find_language_model

# Of a budget, for the best passage as the answer, before the same passage among the sources.
ANSWER_SHARE = 0.25
ASK_TOKENS = 4_000
SHOWN_PASSAGES, MAX_LINES = 3, 20  # for people
MAX_NOTES, MAX_PASSAGES = 8, 8
MAX_HIGHLIGHTS, SHOWN_WORDS = 100, 8
# The probability that a passage answers: a logistic model of the best note's score, of what it is
# ahead of the second one, and of the share of the question's words that its passage contains.
# Fitted to 985 cases (questions about people's own notes, asked with the note and without:
# benchmarks/kits/notes.py across), then all times 0.8: another note about the same thing is often
# found where none answers. Of them 63 of 67 with 0.8 and more are right.
SCORE_WEIGHT, LEAD_WEIGHT, COVERAGE_WEIGHT, BIAS = 2.3, 5.2, 2.1, -2.2
# Of a question in another script than the note (Japanese or Chinese, and English): its score, its
# lead, and which share of the question's words in Latin letters it contains (names, mostly), from
# -0.5 to 0.5; 0 without any. Fitted to 1,095 cases of the same sets, then all times 0.75. Of
# them 59 of 67 with 0.8 and more are right.
CROSS_SCORE_WEIGHT, CROSS_LEAD_WEIGHT, CROSS_NAMES_WEIGHT, CROSS_BIAS = 3.3, 9.5, 1.1, -1.6
MAX_CROSS = 0.6  # where a note in the question's own script is better, which was not measured
# Of the same questions 0.04 of the answerable ones and 0.14 of the others have less; across
# languages 0.03 and 0.11.
MIN_CONFIDENCE = 0.25


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerSourceRecord:
    """A passage of a note, verbatim."""

    number: Annotated[int, "what a written answer cites as [1]"]
    tweetId: NoteId
    path: PagePath
    title: Title
    line_start: Annotated[int, "its first line, from 1"]
    line_end: Annotated[int, "its last line"]
    author: Author = ""
    date: Annotated[str, "day on which the note was saved"] = ""
    text: Annotated[str, "the passage"]
    url: Url = ""
    highlights: Annotated[tuple[Span, ...], "words of the question in `text`, in order"] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerRecord:
    """An answer: the best passages, or one that a language model wrote from them."""

    answer: Annotated[str, "the best passage, or the written answer"]
    confidence: Annotated[Fraction, "probability that one of the passages answers"]
    is_weak: Annotated[bool, "whether probably no note answers"] = False
    searched: Annotated[
        Literal["note", "page"],
        "what passages are of: notes of a collection, or a repository's pages",
    ] = "note"
    sources: Annotated[tuple[AnswerSourceRecord, ...], "the passages, best first"] = ()
    truncated_count: Annotated[Count, "passages that are left out because of max_tokens"] = 0
    is_cut: Annotated[bool, "whether the end of the text is left out because of max_tokens"] = False
    written_by: Annotated[str, "model that wrote it from the sources; empty: it is verbatim"] = ""
    why_not_written: Annotated[str, "why the configured model did not write it"] = ""


@dataclass(frozen=True, slots=True)
class AskRequest(Request[AnswerRecord]):
    """A question."""

    question: Annotated[
        str,
        "in natural language",
        Keyword("maxLength", QUERY_CHARACTERS),
        Option(
            "The question, in natural language.",
            is_argument=True,
            is_joined=True,
            missing="a question",
        ),
    ]
    include_sources: Annotated[bool, "list the passages and their notes"] = True
    max_tokens: (
        Annotated[
            MaxTokens,
            Option(
                "With --json: maximum number of tokens; the least relevant passages are dropped.",
                metavar="N",
                default=None,
            ),
        ]
        | None
    ) = ASK_TOKENS


def run(session: Session, request: AskRequest) -> AnswerRecord:
    """Return the passages that answer a question best, or what the user's model writes from them.

    Raises:
        UsageError: the question has a filter that cannot be read, or the model is not configured
            correctly.
    """
    model = find_language_model(
        session.environment, ENVIRONMENT
    )  # a wrong one is an error before any work
    found = NoteSearch(session).find(request.question, MAX_NOTES)
    passages = _passages(found)
    written = write_answer(model, request.question, passages) if model else None
    confidence = confidence_of(found, request.question)
    best = passages[0].text if passages else ""
    return AnswerRecord(
        answer=written.text if written and written.text else best,
        confidence=confidence,
        is_weak=confidence < MIN_CONFIDENCE,
        searched="page" if session.collection is None else "note",
        sources=passages if request.include_sources else (),
        written_by=written.model if written and written.text else "",
        why_not_written=written.problem if written else "",
    )


def _passages(found: FoundNotes) -> tuple[AnswerSourceRecord, ...]:
    """Return the passages of the notes that were found, best first."""
    passages = [
        (hit.note, section.extract, section.score)
        for hit in found.hits
        for section in hit.hit.sections
        if section.extract is not None and section.extract.text.strip()
    ]
    passages.sort(key=lambda passage: -passage[2])
    return tuple(
        AnswerSourceRecord(
            number=number,
            tweetId=note.id,
            path=note.path,
            title=note.title,
            line_start=extract.line_start,
            line_end=extract.line_end,
            author=note.author,
            date=note.day,
            text=extract.text,
            url=note.url,
            highlights=tuple(
                (span.start, span.end)
                for span in drop_overlaps(find_terms(extract.text, found.terms))[:MAX_HIGHLIGHTS]
            ),
        )
        for number, (note, extract, _) in enumerate(passages[:MAX_PASSAGES], 1)
    )


def confidence_of(found: FoundNotes, question: str) -> float:
    """Return the probability that one of the notes answers."""
    if not found.hits:
        return 0.0
    is_cross = [_is_in_another_script(question, hit) for hit in found.hits]
    confidence = 0.0
    if not is_cross[0]:
        weights = SCORE_WEIGHT, LEAD_WEIGHT, COVERAGE_WEIGHT
        confidence = _probability(sum(map(mul, weights, features_of(found))) + BIAS)
    if any(is_cross):
        # Of notes in several languages, those of the question's contain its words, and come first.
        others = found._replace(hits=found.hits[is_cross.index(True) :])
        score, lead, _ = features_of(others)
        evidence = CROSS_SCORE_WEIGHT * score + CROSS_LEAD_WEIGHT * lead + CROSS_BIAS
        evidence += CROSS_NAMES_WEIGHT * _shared_names(question, others.hits[0])
        limit = 1.0 if is_cross[0] else MAX_CROSS
        confidence = max(confidence, min(limit, _probability(evidence)))
    return round(confidence, 2)


def _is_in_another_script(question: str, hit: NoteHit) -> bool:
    return _is_cjk(question) != _is_cjk(f"{hit.note.title} {hit.passage}")


def _shared_names(question: str, hit: NoteHit) -> float:
    """Return the share of the question's Latin words that a note has, less a half; 0: no such."""
    words = {word.lower() for word in _LATIN.findall(question)} - STOP_WORDS
    if not words:
        return 0.0
    text = f"{hit.passage} {hit.note.title} {hit.note.path}".lower()
    return sum(word in text for word in words) / len(words) - 0.5


_LATIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.+#-]{0,40}[A-Za-z0-9+#]")


def _probability(evidence: float) -> float:
    return 1 / (1 + exp(-evidence))


def _is_cjk(text: str) -> bool:
    """Return whether a text is Japanese or Chinese, also with names in Latin letters."""
    return len(_CJK.findall(text)) >= MIN_CJK_SHARE * len(_LETTERS.findall(text))


_CJK, _LETTERS = re.compile("[ぁ-ヿ㐀-鿿]"), re.compile(r"[^\W\d_]")
MIN_CJK_SHARE = 0.2  # "PostgreSQLの中でベクトル検索" has 0.5; English that quotes a word less


def features_of(found: FoundNotes) -> tuple[float, float, float]:
    """Return the best note's score, what it is ahead of the second one, and the coverage."""
    if not found.hits:
        return 0.0, 0.0, 0.0
    # Where no note contains a word of the question, weaker notes than this are left out, and the
    # score is all meaning: of others it is a share.
    first, second, *_ = *(hit.score for hit in found.hits), WEAK_SCORE
    share = 1.0 if found.has_words else 1 - WORDS_SHARE
    return share * first, share * (first - min(first, second)), found.coverage


def fit(record: Json, limit: TokenLimit) -> None:
    """Cut off the end of the answer, as far as a passage has it, then drop the last passages.

    Where one is left, the places of words in it are dropped before its end is cut off.
    """
    if limit.excess(record) <= 0:
        return
    sources = record.get("sources", [])
    if sources and not record.get("written_by"):
        part = {**record, "sources": []}
        limit._replace(most=int(limit.most * ANSWER_SHARE)).truncate(part, part, "answer")
        record["answer"] = part["answer"] or record["answer"][:MIN_BEGINNING]
    if limit.drop(record, _last_parts(record, sources, limit)):
        return
    record["is_cut"] = True
    lines = [count_breaks(source["text"]) for source in sources]
    if not limit.shorten(record, sources):
        limit.shorten(record, [record])
    for source, before in zip(sources, lines, strict=True):
        # Lines may be left out within a passage: those that were cut off are counted, not the rest.
        source["line_end"] -= before - count_breaks(source["text"])


def _last_parts(record: Json, sources: list[Json], limit: TokenLimit) -> Iterator[Any]:
    while len(sources) > 1:
        record["truncated_count"] = record.get("truncated_count", 0) + 1
        yield sources.pop()
    if sources and sources[0].get("highlights"):
        yield limit.clear(sources[0], "highlights")


def text(record: AnswerRecord, write: Writer) -> Iterator[str]:
    """Yield the answer and its passages: for agents all, for people the first ones."""
    yield from _agents_text(record, write) if write.is_agent else _peoples_text(record, write)


def _agents_text(record: AnswerRecord, write: Writer) -> Iterator[str]:
    if not record.answer:
        yield f"The {record.searched}s have no answer. {write.notice()}"
        return
    marker = write.marker(record.answer, *(source.text for source in record.sources))
    confidence = f"confidence {record.confidence}"
    if record.written_by:
        writer = write.name(record.written_by)
        first = f"Written by {writer} from the passages that it cites; {confidence}."
    else:
        why = f" {write.quote(record.why_not_written)}" if record.why_not_written else ""
        weak = f"Probably no {record.searched} answers this. " if record.is_weak else ""
        first = f"{weak}Passages of {record.searched}s, best first; {confidence}.{why}"
    yield f"{first} {write.notice(marker)}"
    if record.written_by or not record.sources:
        yield from write.enclose(record.answer, marker)
    for source in record.sources:
        yield f"[{source.number}] {write.title(source.title)} {about(source, write)}"
        yield f"  lines {source.line_start}-{source.line_end}{_words(source, write)}"
        yield from write.enclose(source.text, marker)
    if record.is_cut:
        yield "[The end of the text is omitted: use a larger max_tokens]"
    if record.truncated_count:
        yield f"[{count(record.truncated_count, 'more passage')}: use a larger max_tokens]"


def _peoples_text(record: AnswerRecord, write: Writer) -> Iterator[str]:
    style = write.style
    if not record.sources:
        yield style.yellow(f"No {record.searched} answers this.")
        yield "Hint: Try other words."
        return
    if record.written_by:
        yield from map(printable_line, record.answer.splitlines())
        yield ""
        yield style.dim(f"Written by {write.name(record.written_by)} from these passages:")
    elif record.why_not_written:
        yield style.yellow(write.quote(record.why_not_written))
    if record.is_weak:
        yield style.yellow(f"Probably no {record.searched} answers this. The nearest passages:")
    yield style.dim(f"Confidence that a passage answers: {record.confidence:.2f}")
    for source in record.sources[:SHOWN_PASSAGES]:
        place = write.name(f"{source.path}:{source.line_start}")
        yield f"{style.bold(f'[{source.number}] {write.title(source.title)}')}  {place}"
        if source.url:
            yield f"    {style.cyan(write.name(source.url))}"
        if not write.is_quiet:
            lines = [*_highlighted_lines(source, write)]
            yield from (f"    {line}" for line in lines[:MAX_LINES])
            if len(lines) > MAX_LINES:
                yield style.dim(f"    … {count(len(lines) - MAX_LINES, 'more line')}")
    if others := record.sources[SHOWN_PASSAGES:]:
        paths = dict.fromkeys(write.name(source.path) for source in others)
        yield style.dim(f"See also: {', '.join(paths)}")


def _words(source: AnswerSourceRecord, write: Writer) -> str:
    """Return which words of the question a passage has."""
    words = {
        source.text[start:end].casefold(): source.text[start:end]
        for start, end in source.highlights
    }
    named = ", ".join(write.name(word) for word in [*words.values()][:SHOWN_WORDS])
    return f"; has {named}" if named else ""


def _highlighted_lines(source: AnswerSourceRecord, write: Writer) -> Iterator[str]:
    start, is_begun = 0, False
    for line in source.text.rstrip("\n").splitlines(keepends=True):
        end = start + len(line)
        spans = [
            (max(first, start) - start, min(last, end) - start)
            for first, last in source.highlights
            if first < end and last > start
        ]
        is_begun = is_begun or bool(line.strip("\r\n"))
        if is_begun:
            content = line.rstrip("\r\n").replace("\t", " ")
            yield write.highlighted(content, spans)
        start = end


ASK = Answer(
    request=AskRequest,
    record=AnswerRecord,
    run=run,
    text=text,
    fit=fit,
    reads_collections=True,
    tool=ToolTraits(
        title="Ask the notes",
        description=(
            "Answer a question from the user's bookmarks and notes: the best passages, verbatim, "
            "with their notes, and the probability that one of them answers."
        ),
    ),
)
