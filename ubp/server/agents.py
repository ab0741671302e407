"""Who calls: a client and its session, which proposals name."""

import secrets
from typing import Any

from mcp.server.context import ServerRequestContext

from ubp.edits.model import Agent

MAX_SESSIONS = 1_000
SESSION_BYTES = 6
SESSION_HEADER = "mcp-session-id"


class Agents:
    """The sessions of this process.

    On stdio there is one. Over HTTP, clients of the handshake era have an id for each; of others
    all calls from a program of the same name are one session.
    """

    def __init__(self) -> None:
        """Begin without any."""
        self._agents: dict[tuple[str, str], Agent] = {}

    def calling(self, context: ServerRequestContext[Any]) -> Agent:
        """Return the agent that made a request."""
        params = context.session.client_params
        info = params.client_info if params else None
        client = f"{info.name} {info.version}".strip() if info else "agent"
        headers = getattr(context.request, "headers", {})
        key = client, headers.get(SESSION_HEADER, "")
        if key not in self._agents:
            while len(self._agents) >= MAX_SESSIONS:
                del self._agents[next(iter(self._agents))]
            self._agents[key] = Agent(client, secrets.token_hex(SESSION_BYTES))
        return self._agents[key]
