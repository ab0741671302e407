"""What forges grant: the repositories of organisations and groups, and who may read them.

Only the worker asks forges, never a request. What is documented is used and no more: GitHub's
"List organization repositories" and "List repository collaborators", GitLab's "List a group's
projects" and "List all members of a project, including inherited ones".
"""

import hmac
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from http.client import HTTPException
from typing import Any
from urllib.error import HTTPError
from urllib.parse import quote
from urllib.request import Request

from ubp.core.direct import open_directly
from ubp.core.errors import HubError
from ubp.core.repository_names import checked_name
from ubp.hub.config import Forge, read_secret

PAGE = 100  # the largest that both forges allow
MAX_PAGES = 1_000
MAX_BYTES = 32 << 20  # of an answer
SECONDS = 30.0
REPORTER = 20  # the first access level of GitLab that may read the code of a private project


@dataclass(frozen=True, slots=True)
class ForgeRepository:
    """A repository as a forge has it; `readers` are the accounts that may read its code."""

    forge_id: str
    name: str
    visibility: str
    is_archived: bool
    default_branch: str
    readers: frozenset[str]


class ForgeClient:
    """Asks a forge with the token of its file."""

    def __init__(self, forge: Forge) -> None:
        self.forge = forge
        token = read_secret(forge.token_file).decode("ascii", "replace")
        self._headers = {"Authorization": f"Bearer {token}", "Accept": "application/json"}

    def repositories(self) -> Iterator[ForgeRepository]:
        """Yield the repositories of all groups.

        Raises:
            HubError: the forge does not answer as documented.
        """
        for group in self.forge.groups:
            if self.forge.kind == "github":
                listing = self._pages(f"/orgs/{quote(group, safe='')}/repos?type=all")
            else:
                path = f"/groups/{quote(group, safe='')}/projects?include_subgroups=true"
                listing = self._pages(path)
            for found in listing:
                yield self._read(found)

    def repository(self, path: str) -> ForgeRepository | None:
        """Return the repository at a path, as `acme/api`; None: the forge has none.

        Raises:
            HubError: the forge does not answer as documented.
        """
        if self.forge.kind == "github":
            address = f"/repos/{quote(path)}"
        else:
            address = f"/projects/{quote(path, safe='')}"
        found = self._get(address, is_missing_allowed=True)
        return None if found is None else self._read(found)

    def _read(self, value: Any) -> ForgeRepository:
        try:
            if self.forge.kind == "github":
                path = value["full_name"]
                members = self._collaborators(path)
                default = "private" if value.get("private", True) else "public"
            else:
                path = value["path_with_namespace"]
                members = self._members(value["id"])
                default = "private"
            visibility = value.get("visibility", default)
            found = ForgeRepository(
                str(value["id"]),
                checked_name(f"{self.forge.host}/{path}"),
                visibility if visibility in {"public", "internal"} else "private",
                bool(value.get("archived")),
                str(value.get("default_branch") or ""),
                frozenset(f"{self.forge.host}/{login.lower()}" for login in members),
            )
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise self._undocumented() from error
        if not found.name:
            raise self._undocumented()
        return found

    def _undocumented(self) -> HubError:
        return HubError(f"{self.forge.host} does not answer as documented.")

    def _collaborators(self, path: str) -> list[str]:
        return [
            str(member["login"])
            for member in self._pages(f"/repos/{quote(path)}/collaborators?affiliation=all")
            if member.get("permissions", {}).get("pull")
        ]

    def _members(self, project: int) -> list[str]:
        return [
            str(member["username"])
            for member in self._pages(f"/projects/{int(project)}/members/all?")
            if member.get("state") == "active" and member.get("access_level", 0) >= REPORTER
        ]

    def _pages(self, path: str) -> Iterator[Any]:
        separator = "" if path.endswith("?") else "&"
        for page in range(1, MAX_PAGES + 1):
            items = self._get(f"{path}{separator}per_page={PAGE}&page={page}")
            if not isinstance(items, list):
                raise self._undocumented()
            yield from items
            if len(items) < PAGE:
                return
        raise HubError(f"{self.forge.host} has too many repositories or members.")

    def _get(self, path: str, *, is_missing_allowed: bool = False) -> Any:
        request = Request(f"{self.forge.api}{path}", headers=self._headers)  # noqa: S310  # checked by the configuration
        try:
            with open_directly(request, SECONDS) as response:
                return json.loads(response.read(MAX_BYTES))
        except HTTPError as error:
            with error:
                if error.code == 404 and is_missing_allowed:  # noqa: PLR2004  # not found
                    return None
                raise HubError(
                    f"{self.forge.host} refuses.",
                    cause=f"It answered {error.code}.",
                    hint="Check the token of the worker and its rights.",
                ) from error
        except (OSError, HTTPException, ValueError) as error:
            raise HubError(f"{self.forge.host} cannot be read.", cause=f"{error}.") from error


def read_webhook(forge: Forge, headers: Mapping[str, str], body: bytes) -> tuple[bool, str]:
    """Return whether a webhook is the forge's, and the path of the repository it is about.

    "": it is about several, such as a team.
    """
    secret = read_secret(forge.webhook_secret_file) if forge.webhook_secret_file else b""
    if forge.kind == "github":
        given = headers.get("x-hub-signature-256", "")
        expected = "sha256=" + hmac.new(secret, body, sha256).hexdigest()
    else:
        given, expected = headers.get("x-gitlab-token", ""), secret.decode("utf-8", "replace")
    is_signed = hmac.compare_digest(given.encode(errors="replace"), expected.encode())
    if not secret or not is_signed:
        return False, ""
    try:
        value = json.loads(body)
        if forge.kind == "github":
            path = value.get("repository", {}).get("full_name", "")
        else:
            path = value.get("project", {}).get("path_with_namespace", "") or value.get(
                "project_path_with_namespace", ""
            )
    except (ValueError, AttributeError, RecursionError):
        return True, ""
    is_named = isinstance(path, str) and checked_name(f"{forge.host}/{path}")
    return True, path if is_named else ""
