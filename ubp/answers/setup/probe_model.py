"""`ubp model test`: whether the model in use answers, and tells related texts from others."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated

from ubp.core.shell import ubp_command
from ubp.frame.answer import Answer, Request
from ubp.frame.fields import Count, Line
from ubp.frame.writer import Writer
from ubp.index.embed.locate import EndpointPlace, require_extra
from ubp.index.session import Session

# A sentence, the same in other words, in Japanese, and something else.
SENTENCE = "To log in, enter your password and press the button."
PARAPHRASE = "Users sign in by typing their secret and clicking."
JAPANESE = "ログインするには、パスワードを入力してボタンを押します。"
OTHER = "The volcano covered the valley with ash for several weeks."

SAME = 0.99  # of a model's vectors of the same text, computed in another batch


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelTestRecord:
    """What a model answers to four sentences of UBP's own."""

    name: Annotated[str, "name of the model"]
    host: Annotated[str | None, "host of its server; null if it runs on this machine"]
    dimensions: Annotated[Line, "number of dimensions of a vector"]
    seconds: Annotated[float | None, "time of the answer; null without a server"]
    tokens: Annotated[Count | None, "tokens that the server counted; null if unknown"]
    paraphrase: Annotated[float, "cosine of a sentence with the same in other words"]
    japanese: Annotated[float, "cosine of the sentence with the same in Japanese"]
    other: Annotated[float, "cosine of the sentence with one about something else"]
    is_same: Annotated[
        bool | None, "whether it is the model that made the vectors; null if there are none"
    ] = None


@dataclass(frozen=True, slots=True)
class ModelTestRequest(Request[ModelTestRecord]):
    """Nothing but the model in use is asked; no text of the repository is sent."""


def run(session: Session, _request: ModelTestRequest) -> ModelTestRecord:
    """Ask the model in use for the vectors of sentences.

    Raises:
        ModelNeededError: there is no embedding model.
        ModelError: it cannot be used, or its server does not answer.
    """
    from ubp.index.embed.vectors import cosines_of

    require_extra()
    place = session.model_place()
    sentences = (SENTENCE, PARAPHRASE, JAPANESE, OTHER)
    seconds = tokens = is_same = None
    if isinstance(place, EndpointPlace):
        from ubp.index.embed.embeddings_api import PROBE, probe
        from ubp.index.embed.known import read_known

        answer, seconds = probe(place, (*sentences, PROBE))
        known = read_known(place, session.repository.data_dir)
        if known is not None:
            is_same = len(known.probe) == len(answer.vectors[-1]) and (
                cosines_of([known.probe, answer.vectors[-1]])[0] >= SAME
            )
        vectors, tokens = answer.vectors[:-1], answer.tokens or None
        name, host = place.name, place.host
    else:
        model = session.required_model()
        vectors = model.encode(list(sentences)).rows.tolist()
        name, host = model.name, None
    cosines = cosines_of(vectors)
    return ModelTestRecord(
        name=name,
        host=host,
        dimensions=len(vectors[0]),
        seconds=None if seconds is None else round(seconds, 3),
        tokens=tokens,
        paraphrase=cosines[0],
        japanese=cosines[1],
        other=cosines[2],
        is_same=is_same,
    )


def text(record: ModelTestRecord, write: Writer) -> Iterator[str]:
    """Yield what the model answers, and what is wrong with it."""
    if write.is_quiet:
        return
    at = f" at {write.name(record.host)}" if record.host else ""
    time = "" if record.seconds is None else f" in {record.seconds:.2f} s"
    tokens = "" if record.tokens is None else f", {record.tokens} tokens counted"
    yield f"{write.name(record.name)}{at}: vectors of {record.dimensions} numbers{time}{tokens}."
    yield f"{'Other words:':<22}{record.paraphrase:.2f}"
    yield f"{'In Japanese:':<22}{record.japanese:.2f}"
    yield f"{'Another subject:':<22}{record.other:.2f}"
    if record.paraphrase <= record.other:
        yield (
            "A sentence is no closer to the same in other words than to another subject: the model "
            "is none for sentences, or its server combines the vectors of words in the wrong way."
        )
    if record.japanese <= record.other:
        yield "It does not read Japanese and English alike: pages are found in their language only."
    if record.is_same is False:
        yield (
            "It is another model than the one that made the vectors of this repository. Name it "
            f"differently in UBP_EMBED_MODEL, and run: {ubp_command('model', 'embed')}"
        )


TEST_MODEL = Answer(
    request=ModelTestRequest, record=ModelTestRecord, run=run, text=text, has_facts=False
)
