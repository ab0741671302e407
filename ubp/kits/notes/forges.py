"""What the public APIs of forges say of a repository, and of registries, where a package's is.

One repository is asked about, because somebody named it: `robots.txt`, which is for programs that
follow links, is not read. Only the hosts below are reached, by https.
"""

import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple
from urllib.parse import quote, urlsplit

from ubp.core.errors import CollectionError, UsageError
from ubp.core.model import ObjectId
from ubp.index.collections import collections_dir
from ubp.kits.notes.reports import RepositoryAddress, parse_repository
from ubp.kits.notes.score import Check, ForgeFacts

APIS: dict[str, str] = {
    "github.com": "https://api.github.com",
    "gitlab.com": "https://gitlab.com/api/v4",
    "codeberg.org": "https://codeberg.org/api/v1",
    "pypi.org": "https://pypi.org/pypi",
    "npmjs.com": "https://registry.npmjs.org",
}
MIRRORS = "oss-mirrors"
"""The folder, beside the collections, of the repositories that were verified."""
CACHE = os.path.join(MIRRORS, "forge.http-cache")
# Of a package on PyPI, in any case; the names are free, and these are usual.
REPOSITORY_LABELS = ("source", "sourcecode", "repository", "code", "github", "gitlab", "homepage")


class PackageAddress(NamedTuple):
    """A package of a registry: `pypi.org` or `npmjs.com`."""

    registry: str
    name: str


class _Api(NamedTuple):
    """How a forge is asked: the addresses, below its API, of a repository and of its checks."""

    repository: Callable[[RepositoryAddress], str]
    checks: Callable[[ObjectId], str]
    stars: str
    read_checks: Callable[[Any], list[Check] | None]


def parse_package(url: str) -> PackageAddress | None:
    """Return the package that an address of a registry names; None: it names none."""
    parts = urlsplit(url.strip() if "://" in url else f"https://{url.strip()}")
    host, names = (parts.hostname or "").removeprefix("www."), parts.path.strip("/").split("/")
    if parts.scheme != "https" or len(names) < len(("project", "NAME")):
        return None
    if host == "pypi.org" and names[0] == "project":
        return PackageAddress(host, names[1])
    if host == "npmjs.com" and names[0] == "package":
        is_scoped = names[1].startswith("@")
        return PackageAddress(host, "/".join(names[1:3] if is_scoped else names[1:2]))
    return None


def find_repository(url: str, environment: Mapping[str, str]) -> RepositoryAddress:
    """Return the repository at an address, or that of the package there, as its registry says.

    Raises:
        UsageError: it is the address of neither.
        CollectionError: the registry cannot be asked, or names no repository on a known forge.
    """
    package = parse_package(url)
    if package is None:
        return parse_repository(url)
    base = APIS[package.registry]
    is_python = package.registry == "pypi.org"
    path = f"{quote(package.name, safe='')}/{'json' if is_python else 'latest'}"
    with _asking(os.path.join(collections_dir(environment), CACHE)) as ask:
        found, problem = ask(f"{base}/{path}")
    for address in _addresses(found, is_python=is_python):
        try:
            return parse_repository(address)
        except UsageError:
            continue
    raise CollectionError(
        f"No repository is known of the package {package.name}.",
        cause=problem or "Its registry names none on a forge that can be asked.",
        hint="Use the address of its repository.",
    )


def _addresses(found: Any, *, is_python: bool) -> Iterator[str]:
    """Yield the addresses that may be a package's repository, the likeliest first."""
    if not isinstance(found, dict):
        return
    if is_python:
        info = found.get("info")
        info = info if isinstance(info, dict) else {}
        named = info.get("project_urls")
        labels = {
            "".join(filter(str.isalnum, str(label).lower())): str(address)
            for label, address in (named.items() if isinstance(named, dict) else ())
        }
        yield from (labels[label] for label in REPOSITORY_LABELS if label in labels)
        yield from labels.values()
        yield str(info.get("home_page") or "")
        return
    written = found.get("repository")
    address = str((written.get("url") if isinstance(written, dict) else written) or "")
    address = address.removeprefix("git+").removeprefix("git:").replace("ssh://git@", "https://")
    if address.startswith("//"):
        address = f"https:{address}"
    forge, _, rest = address.partition(":")
    short = {"github": "github.com", "gitlab": "gitlab.com"}.get(forge)
    yield f"https://{short}/{rest}" if short else address


def ask_forge(
    address: RepositoryAddress, commit: ObjectId, environment: Mapping[str, str]
) -> ForgeFacts:
    """Return what the forge's public API says of a repository.

    What cannot be asked is unknown, with the reason, and no reason to fail.
    """
    api, base = _APIS[address.host], APIS[address.host]
    place = f"{base}/{api.repository(address)}"
    with _asking(os.path.join(collections_dir(environment), CACHE)) as ask:
        about, problem = ask(place)
        listing, problem_of_checks = ask(f"{place}/{api.checks(commit)}")
    stars = about.get(api.stars) if isinstance(about, dict) else None
    checks = api.read_checks(listing)
    return ForgeFacts(
        stars if isinstance(stars, int) else None,
        None if checks is None else tuple(checks),
        ""
        if checks is not None
        else problem_of_checks or problem or "its answer is not understood",
    )


_Ask = Callable[[str], tuple[Any, str]]
"""Returns a JSON document, or None and why there is none."""


@contextmanager
def _asking(cache: str) -> Iterator[_Ask]:
    try:
        from ubp.sync import fetch
    except ImportError:
        yield lambda _: (None, "asking needs the extra `collections`")
        return

    def ask(url: str) -> tuple[Any, str]:
        try:
            return json.loads(fetcher.fetch(url).body), ""
        except fetch.FetchError as error:
            return None, f"{urlsplit(url).hostname}: {error.reason}"
        except (ValueError, RecursionError):
            return None, f"{urlsplit(url).hostname}: its answer is not JSON"

    os.makedirs(os.path.dirname(cache), mode=0o700, exist_ok=True)
    fetcher = fetch.Fetcher(
        fetch.open_transport(), cache, accept="application/json", obeys_robots=False
    )
    try:
        yield ask
    finally:
        fetcher.close()


def _check_runs(listing: Any) -> list[Check] | None:
    runs = listing.get("check_runs") if isinstance(listing, dict) else None
    return _checks(runs, "name", ("conclusion", "status"))


def _required(statuses: Any) -> Any:
    """Return the jobs whose failure fails the pipeline."""
    if not isinstance(statuses, list):
        return None
    return [each for each in statuses if isinstance(each, dict) and not each.get("allow_failure")]


def _checks(runs: Any, name: str, states: tuple[str, ...]) -> list[Check] | None:
    if not isinstance(runs, list):
        return None
    return [
        Check(
            str(run.get(name) or ""),
            next((str(run[state]) for state in states if run.get(state)), ""),
        )
        for run in runs
        if isinstance(run, dict)
    ]


_APIS: Mapping[str, _Api] = {
    # docs.github.com/rest/repos, …/checks/runs
    "github.com": _Api(
        lambda address: f"repos/{address.owner}/{address.name}",
        lambda commit: f"commits/{commit}/check-runs?per_page=100",
        "stargazers_count",
        _check_runs,
    ),
    # docs.gitlab.com/api/projects, …/commits
    "gitlab.com": _Api(
        lambda address: "projects/" + quote(f"{address.owner}/{address.name}", safe=""),
        lambda commit: f"repository/commits/{commit}/statuses?per_page=100",
        "star_count",
        lambda listing: _checks(_required(listing), "name", ("status",)),
    ),
    # codeberg.org/api/swagger
    "codeberg.org": _Api(
        lambda address: f"repos/{address.owner}/{address.name}",
        lambda commit: f"commits/{commit}/status",
        "stars_count",
        lambda listing: (
            _checks(listing.get("statuses") or [], "context", ("status", "state"))
            if isinstance(listing, dict) and "state" in listing
            else None
        ),
    ),
}
