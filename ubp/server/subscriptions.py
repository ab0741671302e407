"""Subscriptions: clients learn that a resource changed, for example that a page became stale.

Nothing watches files: while somebody is subscribed, the subscribed resources are read again every
few seconds, and whoever subscribed to one whose text differs is notified. Clients of the protocol's
handshake era subscribe with `resources/subscribe`, later ones with `subscriptions/listen`.
"""

import asyncio
import logging
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from typing import Any

from mcp import MCPError
from mcp.server.context import ServerRequestContext
from mcp.server.session import ServerSession
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ResourceUpdated
from mcp.types import (
    EmptyResult,
    SubscribeRequestParams,
    SubscriptionsListenRequestParams,
    SubscriptionsListenResult,
    UnsubscribeRequestParams,
)

from ubp.core.errors import UbpError
from ubp.server.errors import bad_params
from ubp.server.repositories import Repositories
from ubp.server.resources import check_address, read_text
from ubp.workspace import Workspace

SECONDS_BETWEEN_CHECKS = 2.0
# Checking takes at most this share of the time, however large the repository is.
SHARE_OF_TIME = 0.05
MAX_ADDRESSES = 1000  # of all clients

LOG = logging.getLogger(__name__)

Context = ServerRequestContext[Any]
Connection = int


class Subscriptions:
    """Who wants to know about which resources, and what these were when they were last read."""

    def __init__(self, repositories: Repositories) -> None:
        """Watch resources of these repositories."""
        self._repositories = repositories
        self._bus = InMemorySubscriptionBus()
        self._listen = ListenHandler(self._bus)
        self._sessions: dict[Connection, tuple[ServerSession, set[str]]] = {}
        self._listened: Counter[str] = Counter()
        self._digests: dict[str, bytes] = {}
        self._wanted = asyncio.Event()

    async def listen(
        self, context: Context, params: SubscriptionsListenRequestParams
    ) -> SubscriptionsListenResult:
        """Answer `subscriptions/listen`: notify this client until it ends the request.

        Raises:
            MCPError: an address is not one of a resource, or there are too many.
        """
        addresses = [*dict.fromkeys(params.notifications.resource_subscriptions or ())]
        self._check_addresses(addresses)
        self._listened.update(addresses)
        try:
            await self._watch(addresses)
            return await self._listen(context, params)
        finally:
            self._listened.subtract(addresses)
            self._forget()

    async def subscribe(self, context: Context, params: SubscribeRequestParams) -> EmptyResult:
        """Answer `resources/subscribe`: notify this client until it unsubscribes or leaves.

        Raises:
            MCPError: the address is not one of a resource, or there are too many.
        """
        self._check_addresses([params.uri])
        # The library has no public name for what lives as long as a client is connected.
        connection = context.session._connection  # noqa: SLF001  # see above
        if id(connection) not in self._sessions:
            self._sessions[id(connection)] = context.session, set()
            connection.exit_stack.callback(self._leave, id(connection))
        self._sessions[id(connection)][1].add(params.uri)
        await self._watch([params.uri])
        return EmptyResult()

    async def unsubscribe(self, context: Context, params: UnsubscribeRequestParams) -> EmptyResult:
        """Answer `resources/unsubscribe`."""
        connection = context.session._connection  # noqa: SLF001  # as in `subscribe`
        if id(connection) in self._sessions:
            self._sessions[id(connection)][1].discard(params.uri)
            self._forget()
        return EmptyResult()

    def close(self) -> None:
        """End all requests to listen, each with a last answer."""
        self._listen.close()

    async def notify_changes(self) -> None:
        """Notify clients of changes, as long as this task runs."""
        while True:
            await self._wanted.wait()
            started = time.monotonic()
            await asyncio.sleep(SECONDS_BETWEEN_CHECKS)
            try:
                took = await self._check()
            except (MCPError, UbpError):
                continue  # the next call reports it
            except Exception:
                LOG.exception("checking the resources that clients subscribed to failed")
                continue
            await asyncio.sleep(max(0.0, took / SHARE_OF_TIME - (time.monotonic() - started)))

    async def _check(self) -> float:
        """Notify clients of what changed since the last check; return the seconds that it took."""
        started = time.monotonic()
        known = {**self._digests}
        for address, digest in (await self._read([*known])).items():
            if address in self._digests and digest != known[address]:
                self._digests[address] = digest
                await self._notify(address)
        return time.monotonic() - started

    async def _notify(self, address: str) -> None:
        LOG.debug("%s changed", address)
        await self._bus.publish(ResourceUpdated(address))
        for session, addresses in [*self._sessions.values()]:
            if address in addresses:
                await session.send_resource_updated(address)

    def _check_addresses(self, addresses: Sequence[str]) -> None:
        for address in addresses:
            check_address(address, self._repositories)
        if len({*self._digests, *addresses}) > MAX_ADDRESSES:
            raise bad_params(f"Too many subscriptions: at most {MAX_ADDRESSES} resources.")

    async def _watch(self, addresses: Sequence[str]) -> None:
        """Read resources for the first time, so that no later change is missed."""
        new = [address for address in addresses if address not in self._digests]
        self._digests.update(await self._read(new))
        self._forget()
        if self._digests:
            self._wanted.set()

    async def _read(self, addresses: Sequence[str]) -> Mapping[str, bytes]:
        """Return a digest of each resource; of one that does not exist it is empty."""
        by_repository: dict[str, dict[str, str]] = {}
        for address in addresses:
            served, own_address = check_address(address, self._repositories)
            by_repository.setdefault(served.name, {})[address] = own_address
        digests: dict[str, bytes] = {}
        for name, own_addresses in by_repository.items():

            def read(
                workspace: Workspace, wanted: Mapping[str, str] = own_addresses
            ) -> dict[str, bytes]:
                return {key: _digest(workspace, address) for key, address in wanted.items()}

            scheduler = self._repositories.choose(name).scheduler
            digests.update(await scheduler.answer(read, _report_nothing))
        return digests

    def _leave(self, connection: Connection) -> None:
        self._sessions.pop(connection, None)
        self._forget()

    def _forget(self) -> None:
        """Stop reading what nobody is subscribed to."""
        wanted = {address for address, number in self._listened.items() if number > 0}
        wanted.update(*(addresses for _, addresses in self._sessions.values()))
        self._listened = +self._listened
        self._digests = {key: self._digests[key] for key in wanted if key in self._digests}
        if not self._digests:
            self._wanted.clear()


def _digest(workspace: Workspace, address: str) -> bytes:
    try:
        text = read_text(workspace, address)
    except MCPError:  # there is no such page now
        return b""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


async def _report_nothing(*_: object) -> None:
    """Ignore progress."""
