"""Ask a hub what this clone cannot know."""

from collections.abc import Mapping
from dataclasses import asdict

from ubp.answers.hub.impact import HubImpactRecord, HubImpactRequest
from ubp.answers.hub.search import HubSearchRecord, HubSearchRequest
from ubp.frame.encoding import from_object
from ubp.sync.hub_client import HubClient, find_token


def ask_impact(
    address: str,
    token_file: str | None,
    request: HubImpactRequest,
    environment: Mapping[str, str],
    directory: str,
) -> HubImpactRecord:
    """Return the pages of all repositories that describe a source.

    Raises:
        UsageError: the address cannot be used, or there is no token.
        HubError: the hub refuses, or cannot be reached.
    """
    token = find_token(address, token_file, environment, directory)
    question = {"source": request.source, "limit": request.limit}
    return from_object(HubImpactRecord, HubClient(address, token).post("/v1/ask/impact", question))


def ask_search(
    address: str,
    token_file: str | None,
    request: HubSearchRequest,
    environment: Mapping[str, str],
    directory: str,
) -> HubSearchRecord:
    """Return the best pages of all repositories that the token's owner may read.

    Raises:
        UsageError: the address cannot be used, or there is no token.
        HubError: the hub refuses, or cannot be reached.
    """
    token = find_token(address, token_file, environment, directory)
    question = {name: value for name, value in asdict(request).items() if value is not None}
    return from_object(HubSearchRecord, HubClient(address, token).post("/v1/ask/search", question))
