"""Who calls: a client and its session, which proposals name."""

import secrets
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from mcp.server.context import ServerRequestContext

from ubp.edits.model import Agent

MAX_SESSIONS = 1_000
SESSION_BYTES = 6
ABOUT = (("model", "ubp/model", "ubp-model"), ("task", "ubp/task", "ubp-task"))
SESSION_HEADERS = ("mcp-session-id", "ubp-session")


def _about(meta: Mapping[str, Any], headers: Mapping[str, str]) -> dict[str, str]:
    """Return the model and the task that a request names, in its `_meta` or its headers.

    What it does not name stays as an earlier one has named it.
    """
    given = ((field, meta.get(key) or headers.get(header)) for field, key, header in ABOUT)
    return {field: value for field, value in given if isinstance(value, str) and value.strip()}


class Agents:
    """The sessions of this process.

    On stdio there is one. Over HTTP, clients of the handshake era have an id for each. Since
    2026-07-28 the protocol has no sessions: all calls from a program of the same name are one,
    unless it is configured to send a header UBP-Session, with a value of its own.
    """

    def __init__(self) -> None:
        """Begin without any."""
        self._agents: dict[tuple[str, ...], Agent] = {}

    def calling(self, context: ServerRequestContext[Any]) -> Agent:
        """Return the agent that made a request, with the model and the task that it names."""
        params = context.session.client_params
        info = params.client_info if params else None
        client = f"{info.name} {info.version}".strip() if info else "agent"
        headers = getattr(context.request, "headers", {})
        key = client, *(headers.get(name, "") for name in SESSION_HEADERS)
        known = self._agents.pop(key, None) or Agent(client, secrets.token_hex(SESSION_BYTES))
        named = _about(context.meta or {}, headers)
        agent = replace(
            known, model=named.get("model", known.model), task=named.get("task", known.task)
        )
        while len(self._agents) >= MAX_SESSIONS:
            del self._agents[next(iter(self._agents))]  # the one that has not called for longest
        self._agents[key] = agent
        return agent
