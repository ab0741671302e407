"""Who calls: tokens of the organisation's provider and of CI jobs, verified by their issuers' keys.

The hub is a resource server: it issues nothing, and stores no secret. A token counts if its issuer
is configured, its signature is that of a current key of the issuer, it has not expired, and it was
issued for this hub.
"""

import hmac
import json
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from http.client import HTTPException
from threading import Lock
from typing import Any
from urllib.error import URLError
from urllib.request import Request

import jwt

from ubp.core.direct import open_directly
from ubp.core.errors import ConfigError, HubError
from ubp.core.repository_names import checked_name
from ubp.hub.config import HubConfig, Issuer, check_url

READ = "ubp.read"
PUSH = "ubp.push:"  # and the repository, of clients that push without a CI's token
EVERYTHING = "*"
# Asymmetric ones alone: with HS256 the public key would be the secret.
ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "EdDSA")
SKEW_SECONDS = 60
MAX_TOKEN_CHARACTERS = 32_768
MAX_KEYS_BYTES = 1 << 20
KEYS_SECONDS = 3_600  # after which keys are read again
# A token with an unknown key has them read again, but not more often: anybody can send one.
MIN_SECONDS_BETWEEN_READS = 10
SECONDS_AFTER_FAILURE = 1  # the issuer may be back, and nobody can be identified meanwhile
FETCH_SECONDS = 5.0
RETRY_SECONDS = (0.1, 0.5)  # before an issuer that could not be read is asked again

# Jobs that run reviewed code only. Those of pull and merge requests may run a fork's.
GITHUB_EVENTS = frozenset({"push", "schedule", "workflow_dispatch"})
GITLAB_SOURCES = frozenset({"push", "schedule", "web", "api"})


class UnauthorizedError(Exception):
    """The token does not count; the sentence is for the log, not for the caller."""


class OtherOwnerError(UnauthorizedError):
    """The token counts elsewhere: it is of a repository that is not one of the organisation's."""


class IssuerDownError(HubError):
    """An issuer's keys cannot be read, and nobody knows whether its token counts: 503, not 401."""


@dataclass(frozen=True, slots=True)
class Job:
    """A job of a CI: the repository, ref, commit and run of its token.

    `forge_id` is the forge's number of the repository, which no other one ever has. `refusal` is
    why it may not push; "" if it may.
    """

    repository: str
    forge_id: str
    ref: str
    commit: str
    run: int
    attempt: int
    is_protected: bool
    refusal: str


@dataclass(frozen=True, slots=True)
class Identity:
    """A caller: the name by which grants are looked up, its scopes, and its CI job, if it is one.

    `client` is who holds the token, `subject` whom it is about.
    """

    reader: str
    scopes: frozenset[str]
    job: Job | None = None
    issuer: str = ""
    subject: str = ""
    client: str = ""
    expires_at: int | None = None


class Identities:
    """Verifies tokens by a configuration; safe for several threads."""

    def __init__(self, config: HubConfig) -> None:
        self._config = config
        self._issuers = {issuer.issuer: issuer for issuer in config.issuers}
        self._keys = {name: _Keys(issuer) for name, issuer in self._issuers.items()}

    def verify(self, token: str) -> Identity:
        """Return whose token this is.

        Raises:
            UnauthorizedError: it does not count.
            IssuerDownError: the keys of its issuer cannot be read.
        """
        development = self._config.development_token
        if development and hmac.compare_digest(token.encode(), development.encode()):
            return Identity(EVERYTHING, frozenset({READ, EVERYTHING}), client="development")
        if len(token) > MAX_TOKEN_CHARACTERS:
            raise UnauthorizedError("the token is too long")
        try:
            header = jwt.get_unverified_header(token)
            claimed = jwt.decode(token, options={"verify_signature": False}).get("iss")
        except (jwt.PyJWTError, ValueError, RecursionError) as error:
            raise UnauthorizedError("the token is not a JSON web token") from error
        issuer = self._issuers.get(claimed) if isinstance(claimed, str) else None
        if issuer is None:
            raise UnauthorizedError("the issuer is not configured")
        claims = self._decode(token, issuer, header)
        return _IDENTIFY[issuer.kind](issuer, claims, self._config)

    def _decode(self, token: str, issuer: Issuer, header: Mapping[str, Any]) -> dict[str, Any]:
        algorithm = header.get("alg")
        if algorithm not in ALGORITHMS:
            raise UnauthorizedError("the algorithm is not accepted")
        key = self._keys[issuer.issuer].find(header.get("kid"))
        try:
            claims: dict[str, Any] = jwt.decode(
                token,
                key,
                algorithms=[algorithm],
                audience=[self._config.url, self._config.resource],
                issuer=issuer.issuer,
                leeway=SKEW_SECONDS,
                options={"require": ["exp", "iss", "aud", "sub"]},
            )
        except (jwt.PyJWTError, ValueError, TypeError) as error:
            raise UnauthorizedError(str(error)) from error
        return claims


def _person(issuer: Issuer, claims: Mapping[str, Any], _: HubConfig) -> Identity:
    """Return a person, by the forge's account if there is one, or a client that acts for itself."""
    login, subject = claims.get(issuer.login_claim), str(claims["sub"])
    client = str(claims.get("azp") or claims.get("client_id") or claims.get("cid") or subject)
    scope = claims.get("scope", claims.get("scp", ""))
    words = scope.split() if isinstance(scope, str) else scope if isinstance(scope, list) else []
    if isinstance(login, str) and login.strip():
        reader = f"{issuer.forge}/{login.strip().lower()}"
    elif subject == client or _is_service_account(claims, client):
        reader = f"client:{issuer.issuer} {client}"
    else:  # a person without an account, for whom nobody is granted anything
        reader = f"person:{issuer.issuer} {subject}"
    return Identity(
        reader,
        frozenset(map(str, words)),
        None,
        issuer.issuer,
        subject,
        client,
        int(claims["exp"]) + SKEW_SECONDS,
    )


def _is_service_account(claims: Mapping[str, Any], client: str) -> bool:
    """Return whether a token of Keycloak is about a client's own account, not about a person.

    Its subject is the account's number, and only tokens that clients get for themselves have the
    claim `client_id` ("clientId" in older versions): a person may be called like such an account.
    """
    is_for_itself = client in (claims.get("client_id"), claims.get("clientId"))
    return is_for_itself and claims.get("preferred_username") == f"service-account-{client.lower()}"


def _github(issuer: Issuer, claims: Mapping[str, Any], config: HubConfig) -> Identity:
    event = claims.get("event_name")
    refusal = "" if event in GITHUB_EVENTS else f"a job of the event {event} pushes no board"
    return _job(
        issuer,
        claims,
        Job(
            _repository(issuer, claims.get("repository")),
            str(_number(claims.get("repository_id"))),
            str(claims.get("ref", "")),
            str(claims.get("sha", "")),
            _number(claims.get("run_id")),
            _number(claims.get("run_attempt")),
            _is_true(claims.get("ref_protected")) or claims.get("ref") in config.refs,
            refusal,
        ),
    )


def _gitlab(issuer: Issuer, claims: Mapping[str, Any], config: HubConfig) -> Identity:
    source, kind = claims.get("pipeline_source"), claims.get("ref_type")
    # Of a merge request from a fork, the claims about the project are the fork's.
    refusal = "" if source in GITLAB_SOURCES else f"a pipeline of {source} pushes no board"
    prefix = {"branch": "refs/heads/", "tag": "refs/tags/"}.get(str(kind), "")
    ref = f"{prefix}{claims.get('ref', '')}"
    if not prefix:
        refusal = refusal or "the ref is neither a branch nor a tag"
    return _job(
        issuer,
        claims,
        Job(
            _repository(issuer, claims.get("project_path")),
            str(_number(claims.get("project_id"))),
            ref,
            str(claims.get("sha", "")),
            _number(claims.get("pipeline_id")),
            _number(claims.get("job_id")),
            _is_true(claims.get("ref_protected")) or ref in config.refs,
            refusal,
        ),
    )


_IDENTIFY: Mapping[str, Callable[[Issuer, Mapping[str, Any], HubConfig], Identity]] = {
    "people": _person,
    "github": _github,
    "gitlab": _gitlab,
}


def _job(issuer: Issuer, claims: Mapping[str, Any], job: Job) -> Identity:
    # A job of a pull request may run a fork's code: it reads nothing that is not public.
    kind = "job" if job.refusal else "ci"
    reader = f"{kind}:{job.repository}#{job.forge_id}"
    return Identity(
        reader,
        frozenset({READ}),
        job,
        issuer.issuer,
        str(claims["sub"]),
        reader,
        int(claims["exp"]) + SKEW_SECONDS,
    )


def _repository(issuer: Issuer, path: Any) -> str:
    name = checked_name(f"{issuer.forge}/{path}")
    if not name:
        raise UnauthorizedError("the token names no repository")
    # Anybody's jobs on a public forge have tokens of the same issuer.
    starts = tuple(f"{issuer.forge}/{owner}/".lower() for owner in issuer.owners)
    if not name.lower().startswith(starts):  # forges ignore case
        raise OtherOwnerError(f"the repository {name} has none of the issuer's owners")
    return name


def _number(value: Any) -> int:
    text = str(value)
    if not (text.isascii() and text.isdecimal() and len(text) < 19):  # noqa: PLR2004  # bigint
        raise UnauthorizedError("the token lacks the number of its repository or run")
    return int(text)


def _is_true(value: Any) -> bool:
    return value is True or value == "true"


class _Keys:
    """The signing keys of an issuer, read again when they are old or one is missing."""

    def __init__(self, issuer: Issuer) -> None:
        self._issuer = issuer
        self._keys: dict[str, Any] = {}
        self._read_at = float("-inf")  # or could not be read
        self._failure: Exception | None = None  # of the last reading
        self._lock = Lock()

    def find(self, name: Any) -> Any:
        """Return the key of this name, or the only one of a token that names none.

        Raises:
            UnauthorizedError: there is none.
            IssuerDownError: the issuer does not say which keys it has now.
        """
        # Whose key is known waits for nobody: any caller can have the issuer asked.
        if self._lock.acquire(blocking=self._named(name) is None):
            try:
                self._read_if_due(is_known=self._named(name) is not None)
            finally:
                self._lock.release()
        key, failure = self._named(name), self._failure
        if key is None and failure is not None:
            raise IssuerDownError(
                "The hub cannot tell whether this token counts.",
                cause=f"The keys of {self._issuer.issuer} cannot be read.",
                hint="Try again in a moment.",
            ) from failure
        if key is None:
            raise UnauthorizedError("the token's key is not one of the issuer's")
        return key

    def _named(self, name: Any) -> Any:
        keys = self._keys
        if not name and len(keys) == 1:
            return next(iter(keys.values()))
        return keys.get(name) if isinstance(name, str) else None

    def _read_if_due(self, *, is_known: bool) -> None:
        age = time.monotonic() - self._read_at
        pause = SECONDS_AFTER_FAILURE if self._failure else MIN_SECONDS_BETWEEN_READS
        if age <= (KEYS_SECONDS if is_known else pause):
            return
        try:
            self._keys, self._failure = self._read(), None
        except (OSError, HTTPException, ValueError, LookupError, TypeError, ConfigError) as error:
            self._failure = error  # the keys that are known still count
        self._read_at = time.monotonic()

    def _read(self) -> dict[str, Any]:
        address: Any = self._issuer.keys
        if not address:
            document = _fetch(f"{self._issuer.issuer}/.well-known/openid-configuration")
            address = document.get("jwks_uri") if isinstance(document, dict) else None
            if not isinstance(address, str):
                raise ValueError("the issuer names no keys")
        found = {}
        for key in _fetch(address)["keys"]:
            # A key that is not understood is for others (RFC 7517, section 5).
            with suppress(jwt.PyJWTError, AttributeError):
                if key.get("use", "sig") == "sig" and key.get("kty") in {"RSA", "EC", "OKP"}:
                    found[str(key.get("kid", ""))] = jwt.PyJWK(key)
        return found


def _fetch(address: str) -> Any:
    """Return what an issuer answers, which is asked again if the connection fails."""
    check_url(address, "keys")
    for seconds in RETRY_SECONDS:
        try:
            return _open(address)
        except (OSError, HTTPException, ValueError):
            time.sleep(seconds)
    return _open(address)


def _open(address: str) -> Any:
    try:
        with open_directly(Request(address), FETCH_SECONDS) as response:  # noqa: S310  # checked
            return json.loads(response.read(MAX_KEYS_BYTES))
    except URLError as error:
        raise OSError(str(error)) from error
