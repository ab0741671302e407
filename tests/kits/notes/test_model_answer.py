"""Answers written by a language model of the user's, on this machine."""

from typing import NamedTuple

import pytest

from ubp.kits.notes.model_answer import write_answer
from ubp.sync.language_model import find_language_model


class Passage(NamedTuple):
    """A part of a note."""

    title: str
    text: str


def write(environment):
    """Return what the environment's model writes from a passage."""
    passages = [Passage("Tomatoes", "Six hours of sun.")]
    return write_answer(find_language_model(environment, "UBP_ASK"), "How much sun?", passages)


def test_model_writes_from_the_passages_and_cites_them(chat_model):
    chat_model.replies.append("Six hours [1].")
    written = write(chat_model.environment)
    assert (written.text, written.model, written.problem) == ("Six hours [1].", "tiny", "")
    ((path, authorization, body),) = chat_model.requests
    assert (path, authorization) == ("/v1/chat/completions", "Bearer secret")
    assert (body["model"], body["temperature"]) == ("tiny", 0)
    assert body["messages"][1]["content"] == (
        "[1] Tomatoes\nSix hours of sun.\n\nQuestion: How much sun?"
    )


@pytest.mark.parametrize(
    ("reply", "problem"),
    [
        ("Six hours.", "cites no passage"),
        ("Six hours [2].", "cites what is not a passage"),
        ("NO ANSWER", "found no answer"),
        ("[1]" * 2000, "too long"),
        (b"<html>", "not a chat completion"),
        (b'{"choices": [{"message": {"content": null}}]}', "has no text"),
        (b"x" * 1_000_001, "too large"),
    ],
    ids=["none", "unknown", "no-answer", "long", "html", "null", "large"],
)
def test_answer_without_citations_is_not_shown(chat_model, reply, problem):
    chat_model.replies.append(reply)
    written = write(chat_model.environment)
    assert written.text == ""
    assert problem in written.problem


def test_failure_of_the_model_is_reported(chat_model):
    chat_model.replies.append("x")
    chat_model.statuses.append(500)
    assert "it answered 500" in write(chat_model.environment).problem
    gone = {"UBP_ASK_URL": "http://127.0.0.1:9/v1", "UBP_ASK_MODEL": "tiny"}
    assert "tiny did not answer" in write(gone).problem
