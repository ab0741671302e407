"""A local server with OpenAI's API for embeddings, in the shapes that servers document.

Its vectors sum those of words, so that texts with the same words are close.
"""

import json
import re
import threading
import time
import zlib
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import NamedTuple

import numpy as np

KEY = "sk-test-0123456789abcdef"
NATIVE = 48


RATE_LIMIT = {"error": {"message": "Rate limit reached", "code": "rate_limit_exceeded"}}
NOTHING = {}


class Shape(NamedTuple):
    """How a server differs: the path, the header of the key, limits, errors, usage."""

    path: str = "/v1/embeddings"
    header: str = "Authorization"
    scheme: str = "Bearer "
    fields: tuple = ("model", "input")
    max_texts: int = 2048
    max_tokens: int = 8192
    too_many: tuple = (400, {"error": {"message": "too many inputs"}})
    too_long: tuple = (400, {"error": {"message": "maximum context length is exceeded"}})
    busy: dict = RATE_LIMIT
    usage: tuple = ("prompt_tokens", "total_tokens")
    extra: dict = NOTHING
    is_reversed: bool = False


SHAPES = {
    "openai": Shape(fields=("model", "input", "dimensions")),
    "azure v1": Shape(path="/openai/v1/embeddings", fields=("model", "input", "dimensions")),
    "azure deployment": Shape(
        path="/openai/deployments/small/embeddings?api-version=2024-10-21",
        fields=("model", "input", "dimensions"),
    ),
    "voyage": Shape(
        fields=("model", "input", "input_type", "output_dimension"),
        max_texts=1000,
        too_many=(400, {"detail": "The batch size limit is 1000."}),
        too_long=(400, {"detail": "max allowed tokens per submitted batch"}),
        busy={"detail": "You have exceeded your rate limit."},
        usage=("total_tokens",),
    ),
    "ollama": Shape(
        fields=("model", "input", "dimensions"),
        too_long=(400, {"error": {"message": "input length exceeds the context length"}}),
        busy={"error": {"message": "server busy, please try again", "type": "api_error"}},
    ),
    "vllm": Shape(
        fields=("model", "input", "dimensions"),
        too_long=(
            400,
            {"object": "error", "message": "maximum context length", "type": "BadRequestError"},
        ),
        extra={"id": "embd-1", "created": 1},
    ),
    "lm studio": Shape(usage=()),
    "tei": Shape(
        max_texts=32,
        max_tokens=512,
        too_many=(422, {"error": "batch size 64 > maximum allowed batch size 32"}),
        too_long=(413, {"error": "`inputs` must have less than 512 tokens", "type": "Validation"}),
        busy={"error": "Model is overloaded", "error_type": "overloaded"},
    ),
    "llama.cpp": Shape(
        max_tokens=512,
        too_long=(
            500,
            {
                "error": {
                    "code": 500,
                    "message": "input is too large to process. increase the physical batch size",
                    "type": "server_error",
                }
            },
        ),
        busy={"error": {"code": 503, "message": "Loading model", "type": "unavailable_error"}},
        is_reversed=True,
    ),
}


class Server:
    """A server of one shape; it keeps the bodies of `requests`."""

    def __init__(self, shape=SHAPES["openai"], key=KEY):
        self.shape, self.key = shape, key
        self.requests, self.statuses, self.retry_after = [], [], "0"
        self.bodies = []  # whole answers that take the place of vectors
        self.delay = 0.0
        self.seed = b""
        self.answered = 0  # texts whose vectors were sent
        self.at_once = self.most_at_once = 0
        self.awaited = 1  # requests at once for which the first ones wait
        self._lock = threading.Condition()
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                with server._lock:
                    server.at_once += 1
                    server.most_at_once = max(server.most_at_once, server.at_once)
                    server._lock.notify_all()
                    server._lock.wait_for(lambda: server.most_at_once >= server.awaited, 10)
                try:
                    status, answer = server.answer(self.path, self.headers, body)
                    time.sleep(server.delay)
                finally:
                    with server._lock:
                        server.at_once -= 1
                data = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
                try:
                    self.send_response(status)
                    self.send_header("Content-Length", str(len(data)))
                    if status in {429, 503}:
                        self.send_header("Retry-After", server.retry_after)
                    self.end_headers()
                    self.wfile.write(data)
                except OSError:  # the client may be gone
                    return
                if status == 200:
                    server.answered += len(body["input"])

            def log_message(self, *_):
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()

    @property
    def host(self):
        return f"127.0.0.1:{self._server.server_address[1]}"

    def environment(self, **values):
        """Return the variables that name the server."""
        path, _, query = self.shape.path.partition("?")
        base = path.removesuffix("/embeddings") + (f"?{query}" if query else "")
        named = {"URL": f"http://{self.host}{base}", "MODEL": "tiny", "KEY": self.key, **values}
        return {f"UBP_EMBED_{name}": value for name, value in named.items()}

    @property
    def sent(self):
        """Every text that was sent."""
        return [text for body in self.requests for text in body["input"]]

    def close(self):
        self._server.shutdown()
        self._server.server_close()

    def answer(self, path, headers, body):
        with self._lock:
            self.requests.append(body)
            planned = self.statuses.pop(0) if self.statuses else 200
            whole = self.bodies.pop(0) if self.bodies else None
        if planned != 200:
            error = {"error": {"message": "The server had an error"}}
            return planned, self.shape.busy if planned in {429, 503} else error
        refusal = self.refuse(path, headers, body)
        return refusal or (200, self.embed(body) if whole is None else whole)

    def refuse(self, path, headers, body):
        shape, texts = self.shape, body["input"]
        key, unknown = headers.get(shape.header), body.keys() - set(shape.fields)
        refusals = [
            (path != shape.path, (404, {"error": "Unexpected endpoint or method"})),
            (key != shape.scheme + self.key, (401, {"error": {"message": f"Incorrect: {key}"}})),
            (unknown, (400, {"error": {"message": f"unknown fields {sorted(unknown)}"}})),
            (len(texts) > shape.max_texts, shape.too_many),
            (any(len(text.split()) > shape.max_tokens for text in texts), shape.too_long),
        ]
        return next((refusal for is_refused, refusal in refusals if is_refused), None)

    def embed(self, body):
        shape, texts = self.shape, body["input"]
        size = body.get("dimensions") or body.get("output_dimension") or NATIVE
        data = [
            {"object": "embedding", "index": number, "embedding": vector(text, size, self.seed)}
            for number, text in enumerate(texts)
        ]
        ordered = data[::-1] if shape.is_reversed else data
        answer = {"object": "list", "data": ordered, "model": body["model"], **shape.extra}
        usage = dict.fromkeys(shape.usage, sum(len(text.split()) for text in texts))
        return answer | ({"usage": usage} if usage else {})


def vector(text, size=NATIVE, seed=b""):
    """Return the sum of the vectors of the words of a text."""
    total = np.full(size, 0.3)
    for word in re.findall(r"\w+", text.lower()):
        total += np.random.default_rng(zlib.crc32(seed + word.encode())).normal(size=size)
    return [round(float(number), 6) for number in total]
