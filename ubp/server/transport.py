"""The process's standard streams, kept for the protocol alone, whatever a library prints.

The client's end of stdin and stdout: one JSON-RPC message a line, none lost when it hangs up.

The library's own transport gives up requests under way when stdin ends, cannot leave while it waits
for a line, and answers nothing to a line that is no message. Nothing else is different here.
"""

import asyncio
import json
import math
import os
import re
import select
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from queue import SimpleQueue
from typing import NamedTuple, Self

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


class Streams(NamedTuple):
    """Descriptors of the client's end: what it says and what it hears."""

    source: int
    sink: int


def claim_streams() -> Streams:
    """Take stdin and stdout away from everybody else in this process and below it.

    From here on prints go to stderr, from Python, from C and from programs that are started, and
    who reads stdin finds nothing. They are never given back: what is still in a buffer when the
    process ends must not reach the client.
    """
    streams = Streams(os.dup(0), os.dup(1))
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    sys.stdout.flush()  # what was printed before: to stderr, too
    sys.stdout = sys.stderr
    return streams


BYTES_A_READ = 65536
# While requests are under way after the end of the input: is anybody left to hear the answers?
SECONDS_BETWEEN_POLLS = 0.5
# A client that has stopped reading may still be alive; it is not waited for any longer.
SECONDS_TO_FLUSH = 5.0

CANCELLED = "notifications/cancelled"

_SURROGATES = re.compile("[\ud800-\udfff]")


class StdioTransport:
    """Messages from the client in `messages`; what is sent goes to it in that order."""

    def __init__(self, streams: Streams) -> None:
        """Use it within the running event loop; `start` begins to read."""
        self.has_spoken = asyncio.Event()
        self._streams = streams
        self._loop = asyncio.get_running_loop()
        self._arrivals, self.messages = anyio.create_memory_object_stream[
            SessionMessage | Exception
        ](math.inf)
        self._under_way: set[RequestId] = set()
        self._is_ending = False
        self._departures: SimpleQueue[bytes | None] = SimpleQueue()
        self._reader = threading.Thread(target=self._read, name="wire-in", daemon=True)
        self._writer = threading.Thread(target=self._write, name="wire-out", daemon=True)

    def start(self) -> None:
        """Begin to read and to write."""
        self._reader.start()
        self._writer.start()

    def end(self, seconds: float | None = None) -> None:
        """Take no more requests; hang up once those under way are answered, at once if told twice.

        And after so many seconds. The end of the input does the same, and waits for all of them.
        """
        if self._is_ending or not self._under_way:
            self._hang_up()
            return
        self._is_ending = True
        self._loop.call_later(SECONDS_BETWEEN_POLLS, self._look)
        if seconds is not None:
            self._loop.call_later(seconds, self._hang_up)

    def flush(self) -> None:
        """Wait until everything said is with the client."""
        self._departures.put(None)
        self._writer.join(SECONDS_TO_FLUSH)

    async def send(self, item: SessionMessage) -> None:
        """Say something to the client."""
        message = item.message
        self._departures.put(to_line(message))
        self.has_spoken.set()
        if not isinstance(message, (JSONRPCRequest, JSONRPCNotification)):
            self._settle(message.id)

    async def aclose(self) -> None:
        """Nothing more will be said; `flush` sees to what was."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    def _hang_up(self) -> None:
        self._is_ending = True
        self._arrivals.close()

    def _arrive(self, message: JSONRPCMessage) -> None:
        if self._is_ending:
            return
        if isinstance(message, JSONRPCRequest):
            self._under_way.add(message.id)
        elif isinstance(message, JSONRPCNotification) and message.method == CANCELLED:
            self._settle((message.params or {}).get("requestId"))  # it is never answered
        self._arrivals.send_nowait(SessionMessage(message))

    def _settle(self, request: object) -> None:
        if isinstance(request, (int, str)):
            self._under_way.discard(request)
        if self._is_ending and not self._under_way:
            self._hang_up()

    def _look(self) -> None:
        if self._under_way and is_abandoned(self._streams.sink):
            self._hang_up()
        elif self._under_way:
            self._loop.call_later(SECONDS_BETWEEN_POLLS, self._look)

    def _read(self) -> None:
        rest = bytearray()
        while data := _read_some(self._streams.source):
            rest += data
            if b"\n" in data:
                *lines, rest = rest.split(b"\n")
                for line in lines:
                    self._take(line)
        self._take(rest)
        self._call(self.end)

    def _take(self, line: bytearray) -> None:
        if not line.strip():
            return
        try:
            message = jsonrpc_message_adapter.validate_json(line, by_name=False)
        except ValidationError:
            self._departures.put(to_line(_refusal(line)))
        else:
            self._call(self._arrive, message)

    def _write(self) -> None:
        while (line := self._departures.get()) is not None:
            try:
                _write_all(self._streams.sink, line)
            except OSError:  # the client is gone
                self._call(self._hang_up)
                return

    def _call(self, function: Callable[..., None], *arguments: object) -> None:
        with suppress(RuntimeError):  # the loop has ended, and nobody waits for this any more
            self._loop.call_soon_threadsafe(function, *arguments)


def to_line(message: JSONRPCMessage) -> bytes:
    """A message as it goes over the wire.

    Names that are no UTF-8 hold lone surrogates, which JSON for other languages must not: the
    replacement character stands for them.
    """
    try:
        return message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n"
    except PydanticSerializationError:
        record = message.model_dump(by_alias=True, exclude_unset=True)
        text = json.dumps(record, ensure_ascii=False, separators=(",", ":"))
        return readable(text).encode() + b"\n"


def readable(text: str) -> str:
    """A text without lone surrogates."""
    return text if text.isascii() else _SURROGATES.sub("\ufffd", text)


def is_abandoned(descriptor: int) -> bool:
    """Whether nobody reads any more what is written there; not to be known on every system."""
    if not hasattr(select, "poll"):
        return False
    poll = select.poll()
    poll.register(descriptor, 0)
    return any(event & (select.POLLERR | select.POLLHUP) for _, event in poll.poll(0))


def _refusal(line: bytearray) -> JSONRPCError:
    """What JSON-RPC wants to be said to a line that is no message of it."""
    try:
        told = json.loads(line)
    except (ValueError, RecursionError):
        error = ErrorData(code=PARSE_ERROR, message="The line is not JSON.")
        return JSONRPCError(jsonrpc="2.0", id=None, error=error)
    name = told.get("id") if isinstance(told, dict) else None
    error = ErrorData(code=INVALID_REQUEST, message="The line is no JSON-RPC 2.0 message.")
    is_id = isinstance(name, (int, str)) and not isinstance(name, bool)
    return JSONRPCError(jsonrpc="2.0", id=name if is_id else None, error=error)


def _read_some(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, BYTES_A_READ)
    except OSError:  # a terminal that was closed, a socket that was reset
        return b""


def _write_all(descriptor: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]
