"""Answers written by a language model of the user's, on this machine."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
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
    return write_answer(find_language_model(environment), "How much sun?", passages)


@pytest.fixture
def model():
    """A server that answers chat completions with the given `replies`, and keeps the requests."""

    class Handler(BaseHTTPRequestHandler):
        replies, requests, status = [], [], 200

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            self.requests.append((self.path, self.headers["Authorization"], json.loads(body)))
            data = self.replies.pop(0)
            data = data if isinstance(data, bytes) else completion(data)
            self.send_response(self.status)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    Handler.environment = {
        "UBP_ASK_URL": f"http://127.0.0.1:{server.server_address[1]}/v1/",
        "UBP_ASK_MODEL": "tiny",
        "UBP_ASK_KEY": "secret",
    }
    yield Handler
    server.shutdown()
    server.server_close()


def completion(text):
    return json.dumps({"choices": [{"message": {"role": "assistant", "content": text}}]}).encode()


def test_model_writes_from_the_passages_and_cites_them(model):
    model.replies.append("Six hours [1].")
    written = write(model.environment)
    assert (written.text, written.model, written.problem) == ("Six hours [1].", "tiny", "")
    ((path, authorization, body),) = model.requests
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
        (completion(None), "has no text"),
        (b"x" * 1_000_001, "too large"),
    ],
    ids=["none", "unknown", "no-answer", "long", "html", "null", "large"],
)
def test_answer_without_citations_is_not_shown(model, reply, problem):
    model.replies.append(reply)
    written = write(model.environment)
    assert written.text == ""
    assert problem in written.problem


def test_failure_of_the_model_is_reported(model):
    model.replies.append("x")
    model.status = 500
    assert "it answered 500" in write(model.environment).problem
    gone = {"UBP_ASK_URL": "http://127.0.0.1:9/v1", "UBP_ASK_MODEL": "tiny"}
    assert "tiny did not answer" in write(gone).problem
