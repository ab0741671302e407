"""The transport: one JSON-RPC message a line, none lost when the client disconnects.

The library's own transport abandons running requests when stdin ends, cannot be stopped while it
waits for a line, and does not answer a line that is not a message. Nothing else differs here.
"""

import asyncio
import json
import math
import os
import re
import select
import threading
from collections.abc import Callable
from contextlib import suppress
from queue import SimpleQueue
from typing import Self, TypeVar

import anyio
from mcp.shared.message import SessionMessage
from mcp.types import (
    INVALID_REQUEST,
    PARSE_ERROR,
    ErrorData,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
    RequestId,
    jsonrpc_message_adapter,
)
from pydantic import ValidationError
from pydantic_core import PydanticSerializationError

from ubp.server.streams import Streams

READ_BYTES = 65536
# How often to check, after the end of the input, whether somebody still reads the answers.
SECONDS_BETWEEN_POLLS = 0.5
# How long to wait for a client that has stopped reading but may still be alive.
SECONDS_TO_FLUSH = 5.0

Json = TypeVar("Json")

CANCELLED = "notifications/cancelled"

_SURROGATES = re.compile("[\ud800-\udfff]")


class StdioTransport:
    """A pair of streams: received messages are in `messages`, `send` queues those to write."""

    def __init__(self, streams: Streams, end_subscriptions: Callable[[], None]) -> None:
        """Attach to the running event loop; `start` begins to read.

        `end_subscriptions` ends the requests that go on until somebody ends them.
        """
        self.has_answered = asyncio.Event()
        self._end_subscriptions = end_subscriptions
        self._streams = streams
        self._loop = asyncio.get_running_loop()
        self._incoming, self.messages = anyio.create_memory_object_stream[
            SessionMessage | Exception
        ](math.inf)
        self._running: set[RequestId] = set()
        self._is_closing = False
        self._outgoing: SimpleQueue[bytes | None] = SimpleQueue()
        self._reader = threading.Thread(target=self._read, name="wire-in", daemon=True)
        self._writer = threading.Thread(target=self._write, name="wire-out", daemon=True)

    def start(self) -> None:
        """Start the threads that read and write."""
        self._reader.start()
        self._writer.start()

    def end(self, seconds: float | None = None) -> None:
        """Take no more requests, and close once those that run are answered; a second call closes.

        After `seconds` it closes in any case. The end of the input does the same without a time
        limit.
        """
        if self._is_closing or not self._running:
            self._close_incoming()
            return
        self._is_closing = True
        self._end_subscriptions()
        self._loop.call_later(SECONDS_BETWEEN_POLLS, self._poll_client)
        if seconds is not None:
            self._loop.call_later(seconds, self._close_incoming)

    def flush(self) -> None:
        """Wait until everything sent is written."""
        self._outgoing.put(None)
        self._writer.join(SECONDS_TO_FLUSH)

    async def send(self, item: SessionMessage) -> None:
        """Queue a message for the client."""
        message = item.message
        self._outgoing.put(to_line(message))
        self.has_answered.set()
        if not isinstance(message, (JSONRPCRequest, JSONRPCNotification)):
            self._finish_request(message.id)

    async def aclose(self) -> None:
        """Do nothing: `flush` writes what was sent."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    def _close_incoming(self) -> None:
        self._is_closing = True
        self._incoming.close()

    def _receive(self, message: JSONRPCMessage) -> None:
        if self._is_closing:
            return
        if isinstance(message, JSONRPCRequest):
            self._running.add(message.id)
        elif isinstance(message, JSONRPCNotification) and message.method == CANCELLED:
            self._finish_request((message.params or {}).get("requestId"))  # it is never answered
        self._incoming.send_nowait(SessionMessage(message))

    def _finish_request(self, request: object) -> None:
        if isinstance(request, (int, str)):
            self._running.discard(request)
        if self._is_closing and not self._running:
            self._close_incoming()

    def _poll_client(self) -> None:
        if self._running and is_abandoned(self._streams.sink):
            self._close_incoming()
        elif self._running:
            self._loop.call_later(SECONDS_BETWEEN_POLLS, self._poll_client)

    def _read(self) -> None:
        rest = bytearray()
        while data := _read_some(self._streams.source):
            rest += data
            if b"\n" in data:
                *lines, rest = rest.split(b"\n")
                for line in lines:
                    self._parse_line(line)
        self._parse_line(rest)
        self._call_in_loop(self.end)

    def _parse_line(self, line: bytearray) -> None:
        if not line.strip():
            return
        try:
            message = jsonrpc_message_adapter.validate_json(line, by_name=False)
        except ValidationError:
            self._outgoing.put(to_line(_refusal(line)))
        else:
            self._call_in_loop(self._receive, message)

    def _write(self) -> None:
        while (line := self._outgoing.get()) is not None:
            try:
                _write_all(self._streams.sink, line)
            except OSError:  # the client is gone
                self._call_in_loop(self._close_incoming)
                return

    def _call_in_loop(self, function: Callable[..., None], *arguments: object) -> None:
        with suppress(RuntimeError):  # the loop has ended
            self._loop.call_soon_threadsafe(function, *arguments)


def to_line(message: JSONRPCMessage) -> bytes:
    """Return a message as a line of bytes.

    Names that are not UTF-8 hold lone surrogates, which JSON readers in other languages reject:
    they are written as the replacement character.
    """
    try:
        return message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n"
    except PydanticSerializationError:
        record = message.model_dump(by_alias=True, exclude_unset=True)
        text = json.dumps(record, ensure_ascii=False, separators=(",", ":"))
        return readable(text).encode() + b"\n"


def readable(text: str) -> str:
    """Return a text with its lone surrogates replaced."""
    return text if text.isascii() else _SURROGATES.sub("\ufffd", text)


def readable_json(value: Json) -> Json:
    """Return a JSON value whose texts have their lone surrogates replaced."""
    text = json.dumps(value, ensure_ascii=False)
    changed = readable(text)
    return value if changed == text else json.loads(changed)


def is_abandoned(descriptor: int) -> bool:
    """Return whether nobody reads from the other end; False where that is not known."""
    if not hasattr(select, "poll"):
        return False
    poll = select.poll()
    poll.register(descriptor, 0)
    return any(event & (select.POLLERR | select.POLLHUP) for _, event in poll.poll(0))


def _refusal(line: bytearray) -> JSONRPCError:
    """Return JSON-RPC's error for a line that is not a message."""
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        error = ErrorData(code=PARSE_ERROR, message="Not valid JSON.")
        return JSONRPCError(jsonrpc="2.0", id=None, error=error)
    request_id = message.get("id") if isinstance(message, dict) else None
    error = ErrorData(code=INVALID_REQUEST, message="Not a valid JSON-RPC 2.0 message.")
    is_id = isinstance(request_id, (int, str)) and not isinstance(request_id, bool)
    return JSONRPCError(jsonrpc="2.0", id=request_id if is_id else None, error=error)


def _read_some(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, READ_BYTES)
    except OSError:  # a terminal that was closed, a socket that was reset
        return b""


def _write_all(descriptor: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]
