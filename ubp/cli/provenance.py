"""Where the repository can be seen: what CI says, else what Git calls its origin."""

import re
from collections.abc import Mapping
from urllib.parse import quote, urlsplit

from ubp.model import Snapshot
from ubp.render.outcome import Provenance
from ubp.workspace import Workspace

_SCP = re.compile(r"(?:[^@/\s]+@)?(?P<host>[^:/\s]{2,}):(?P<path>(?!//)\S+)")
_HOST = re.compile(r"[\w.-]+")
_SCHEMES = frozenset({"http", "https", "ssh", "git"})


def find_provenance(
    workspace: Workspace, snapshot: Snapshot, environment: Mapping[str, str]
) -> Provenance | None:
    """The repository's address, without whatever in it is secret; None where it has none."""
    commit = snapshot.commit
    revision = None if snapshot.changes else commit
    github = environment.get("GITHUB_SERVER_URL"), environment.get("GITHUB_REPOSITORY")
    if all(github):
        url = _public("/".join(filter(None, github)))
        branch = environment.get("GITHUB_HEAD_REF") or environment.get("GITHUB_REF_NAME")
        pages = f"{url}/blob/{commit}/"
    elif project := environment.get("CI_PROJECT_URL"):
        url, branch = _public(project), environment.get("CI_COMMIT_REF_NAME")
        pages = f"{url}/-/blob/{commit}/"
    else:
        url, branch, pages = _origin(workspace), None, ""
    if url is None:
        return None
    return Provenance(url, revision, branch, pages if commit and pages else None)


def _origin(workspace: Workspace) -> str | None:
    out = workspace.repository.run("config", "--get", "remote.origin.url", ok=(0, 1))
    return _public(out.decode("utf-8", "replace").strip())


def _public(address: str) -> str | None:
    """An address without user, password and query; None for a folder of this machine."""
    scp = _SCP.fullmatch(address)
    if scp and "://" not in address:
        return f"ssh://{scp['host']}/{quote(scp['path'].lstrip('/'), safe='/~%')}"
    try:
        parts = urlsplit(address)
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        return None
    if parts.scheme not in _SCHEMES or not _HOST.fullmatch(parts.hostname or ""):
        return None
    return f"{parts.scheme}://{parts.hostname}{port}{quote(parts.path, safe='/~%')}"
