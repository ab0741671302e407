"""Leases: how long an open proposal keeps its pages from other sessions.

A lease ends 30 minutes after the last edit, or after the last call of the session that is about the
proposal or one of its pages. The time of such a call is that of an empty file beside the index.
People are never locked out.
"""

import os
from collections.abc import Iterable
from contextlib import suppress

from ubp.core.errors import UsageError
from ubp.core.model import FilePath
from ubp.edits.model import Agent, Proposal
from ubp.edits.proposals import list_proposals
from ubp.git.repository import Repository

LEASE_SECONDS = 30 * 60
SECONDS_PER_MINUTE = 60
FOLDER = "leases"


def check_lock(
    repository: Repository, proposals: Iterable[Proposal], page: FilePath, agent: Agent, now: float
) -> None:
    """Check that no other session has a lease of a page.

    Raises:
        UsageError: the page is locked.
    """
    for proposal in proposals:
        if proposal.session == agent.session or page not in proposal.pages:
            continue
        ends = _end(repository, proposal, now)
        if now < ends:
            minutes = max(1, round((ends - now) / SECONDS_PER_MINUTE))
            since = max(1, round((now - proposal.edits[0].when) / SECONDS_PER_MINUTE))
            raise UsageError(
                f"{page} is locked by proposal {proposal.id}.",
                cause=f"{proposal.client or 'Another agent'} has edited it in another session,"
                f" for {since} min.",
                hint=f"The lock ends in {minutes} min unless that session continues, or when the"
                " proposal is decided.",
            )


def renew(repository: Repository, agent: Agent, about: FilePath | int | None, now: float) -> None:
    """Renew the leases of a session that a call is about: a page, a proposal, or None: all."""
    for proposal in list_proposals(repository) if agent.proposals else ():
        is_own = proposal.session == agent.session
        if is_own and (about is None or about == proposal.id or about in proposal.pages):
            path = _file(repository, proposal.id)
            with suppress(OSError):  # the edit itself keeps the lease for a while
                os.makedirs(os.path.dirname(path), exist_ok=True)
                with open(path, "ab"):
                    os.utime(path, (now, now))


def end(repository: Repository, proposal: int) -> None:
    """Forget the lease of a proposal that was decided."""
    with suppress(OSError):
        os.unlink(_file(repository, proposal))


def _end(repository: Repository, proposal: Proposal, now: float) -> float:
    """Return when a lease ends, 0 if there is none."""
    times = [float(proposal.updated)]
    with suppress(OSError):
        times.append(os.stat(_file(repository, proposal.id)).st_mtime)
    # A commit may be dated in the future, and must not lock its pages until then.
    return max((time + LEASE_SECONDS for time in times if time - LEASE_SECONDS < now), default=0)


def _file(repository: Repository, proposal: int) -> str:
    return os.path.join(repository.data_dir, FOLDER, str(proposal))
