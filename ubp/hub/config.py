"""The hub's configuration: its address, who issues tokens, and which forges grant access.

A JSON file that `--config` or UBP_HUB_CONFIG names. Secrets are in files or in the environment,
never in it or in the database.
"""

import json
import os
import secrets
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, field, fields
from typing import Any, Literal, TypeVar

from ubp.core.errors import ConfigError
from ubp.core.text import closest_name
from ubp.sync.hub_client import is_loopback

CONFIG_VARIABLE = "UBP_HUB_CONFIG"
DATABASE_VARIABLE = "UBP_HUB_DATABASE"
REPLICA_VARIABLE = "UBP_HUB_REPLICA"
IssuerKind = Literal["people", "github", "gitlab"]
ForgeKind = Literal["github", "gitlab"]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Issuer:
    """Who issues tokens that the hub accepts.

    Of `people` (and their agents) `login_claim` is the claim with the account of the `forge`; a
    token without it that a client got for itself is granted access by the client's name. Of
    `github` and `gitlab` the tokens are those of CI jobs of the repositories that `owners`
    (organisations, users or groups) have on the host `forge`. `keys` is the address of the signing
    keys; by default the issuer's discovery document names it.
    """

    kind: IssuerKind
    issuer: str
    forge: str
    owners: tuple[str, ...] = ()
    keys: str = ""
    login_claim: str = "github_login"


@dataclass(frozen=True, slots=True)
class Forge:
    """A forge whose grants a worker reads, with a token of the file `token_file`.

    `groups` are the organisations, or groups, whose repositories it asks for.
    `webhook_secret_file` has the secret of the forge's webhooks.
    """

    kind: ForgeKind
    host: str
    api: str
    token_file: str
    groups: tuple[str, ...]
    webhook_secret_file: str = ""


@dataclass(frozen=True, slots=True)
class Hook:
    """A webhook that is told what has come behind the tip of another repository.

    `reader` is the account or client whose rights limit what it learns: github.com/ann, or
    "client:ISSUER CLIENT". `repositories` and `owners` narrow it to their pages. The secret of
    `secret_file` signs what is sent.
    """

    url: str
    secret_file: str
    reader: str
    repositories: tuple[str, ...] = ()
    owners: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class HubConfig:
    """The settings; `url` is the hub's address for clients, which tokens must name as audience.

    `refs` are the refs that may be pushed even though the token does not call them protected.
    `clients` are repositories by the name of a client: its grants. `development_token` is accepted
    for everything, of a hub that is tried out on one machine.
    """

    url: str
    issuers: tuple[Issuer, ...] = ()
    forges: tuple[Forge, ...] = ()
    refs: tuple[str, ...] = ()
    clients: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    hooks: tuple[Hook, ...] = ()
    audit_key_file: str = ""
    audit_months: int = 12
    event_months: int = 24
    development_token: str = ""

    @property
    def resource(self) -> str:
        """The address of the MCP endpoint: the resource of RFC 8707 and RFC 9728."""
        return f"{self.url}/mcp"

    def audit_key(self) -> bytes:
        """Return the key of the digests of questions; a new one where none is configured."""
        return read_secret(self.audit_key_file) if self.audit_key_file else secrets.token_bytes(32)


def read_config(path: str) -> HubConfig:
    """Return the configuration of a file.

    Raises:
        ConfigError: it cannot be read, or has a setting that is unknown or wrong.
    """
    try:
        with open(path, encoding="utf-8") as file:
            value = json.load(file)
    except OSError as error:
        raise ConfigError(f"Cannot read {path}.", cause=f"{error.strerror}.") from error
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"Cannot read {path}.", cause=f"{error}.") from error
    try:
        return parse_config(value)
    except ConfigError as error:
        raise ConfigError(f"{path}: {error.message}", cause=error.cause, hint=error.hint) from error


def parse_config(value: Any) -> HubConfig:
    """Return the configuration that a JSON value describes.

    Raises:
        ConfigError: a setting is unknown or wrong.
    """
    config = _make(HubConfig, value, "the configuration", _PARSERS)
    check_url(config.url, "url")
    for issuer in config.issuers:
        check_url(issuer.issuer, "issuer")
        if issuer.keys:
            check_url(issuer.keys, "keys")
        _choose(issuer.kind, ("people", "github", "gitlab"), "kind")
        if issuer.kind != "people" and not issuer.owners:
            raise ConfigError(
                f"The issuer {issuer.issuer} has no owners.",
                cause="Jobs of anybody's repositories have tokens of it.",
                hint='Name the organisation\'s: "owners": ["acme"]',
            )
    if len({issuer.issuer for issuer in config.issuers}) != len(config.issuers):
        raise ConfigError("Two issuers have the same address.")
    for hook in config.hooks:
        check_url(hook.url.rstrip("/"), "url")
    if len({hook.url for hook in config.hooks}) != len(config.hooks):
        raise ConfigError("Two webhooks have the same address.")
    for forge in config.forges:
        check_url(forge.api, "api")
        _choose(forge.kind, ("github", "gitlab"), "kind")
    return config


def check_url(url: str, name: str) -> None:
    """Check that an address is https, or http on this machine, without a slash at its end.

    Raises:
        ConfigError: it is not.
    """
    scheme, _, rest = url.partition("://")
    host = rest.partition("/")[0].rpartition("@")[2].rpartition(":")[0] or rest.partition("/")[0]
    is_safe = scheme == "https" or (scheme == "http" and is_loopback(host.strip("[]")))
    if not rest or not is_safe or url.endswith("/"):
        raise ConfigError(
            f"{name} is not an address of a server: {url}",
            cause="It must be https, or http on this machine, without a slash at its end.",
        )


def read_secret(path: str) -> bytes:
    """Return the secret in a file.

    Raises:
        ConfigError: it cannot be read, or is empty.
    """
    try:
        with open(path, "rb") as file:
            secret = file.read(65_536).strip()
    except OSError as error:
        raise ConfigError(f"Cannot read {path}.", cause=f"{error.strerror}.") from error
    if not secret:
        raise ConfigError(f"{path} is empty.", cause="It must contain a secret.")
    return secret


def check_secrets(config: HubConfig) -> None:
    """Check that all files with secrets can be read.

    Raises:
        ConfigError: one cannot, or is empty.
    """
    config.audit_key()
    for forge in config.forges:
        read_secret(forge.token_file)
        if forge.webhook_secret_file:
            read_secret(forge.webhook_secret_file)
    for hook in config.hooks:
        read_secret(hook.secret_file)


def database_address(environment: Mapping[str, str]) -> str:
    """Return the address of the hub's database, of the environment.

    Raises:
        ConfigError: it names none.
    """
    address = _address(environment, DATABASE_VARIABLE)
    if not address:
        raise ConfigError(
            "The hub has no database.",
            cause=f"Neither {DATABASE_VARIABLE} nor {DATABASE_VARIABLE}_FILE is set.",
            hint="Set it to postgresql://USER:PASSWORD@HOST/NAME, or start one with --embedded.",
        )
    return address


def replica_address(environment: Mapping[str, str]) -> str:
    """Return the address of a read replica of the hub's database; "" if there is none.

    Raises:
        ConfigError: the file that should have it cannot be read, or is empty.
    """
    return _address(environment, REPLICA_VARIABLE)


def _address(environment: Mapping[str, str], variable: str) -> str:
    """Return the value of a variable, or of the file that it names with `_FILE`."""
    address, file = environment.get(variable, ""), environment.get(f"{variable}_FILE", "")
    return address or (read_secret(file).decode("utf-8", "replace") if file else "")


def find_config(path: str | None, environment: Mapping[str, str], directory: str) -> HubConfig:
    """Return the configuration that is given, or that the environment names.

    Raises:
        ConfigError: there is none, or it is wrong.
    """
    name = path or environment.get(CONFIG_VARIABLE, "")
    if not name:
        raise ConfigError(
            "The hub has no configuration.",
            cause=f"Neither --config nor {CONFIG_VARIABLE} is given.",
            hint="See docs/guide/organisation.md; to try a hub: ubp hub up --embedded --data hub",
        )
    return read_config(os.path.join(directory, name))


def _make(
    kind: type[T], value: Any, what: str, parsers: Mapping[str, Callable[[Any, str], Any]]
) -> T:
    if not isinstance(value, dict):
        raise ConfigError(f"{what} is not an object.")
    names = set(parsers)
    for name in value.keys() - names:
        closest = closest_name(name, names)
        raise ConfigError(
            f"Unknown setting {name}.", hint=f"Did you mean {closest}?" if closest else ""
        )
    values = {name: parsers[name](given, name) for name, given in value.items()}
    missing = [
        each.name
        for each in fields(kind)  # type: ignore[arg-type]  # each is a dataclass
        if each.name not in values and each.default is MISSING and each.default_factory is MISSING
    ]
    if missing:
        raise ConfigError(
            f"{what[0].upper()}{what[1:]} lacks a setting.",
            cause=f"It has no {' and no '.join(missing)}.",
            hint="See docs/guide/organisation.md.",
        )
    return kind(**values)


def _string(value: Any, name: str) -> str:
    if not isinstance(value, str) or not value:
        raise ConfigError(f"{name} is not a text.")
    return value


def _strings(value: Any, name: str) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise ConfigError(f"{name} is not a list.")
    return tuple(_string(item, name) for item in value)


def _months(value: Any, name: str) -> int:
    if type(value) is not int or value < 1:
        raise ConfigError(f"{name} is not a number of months.")
    return value


def _clients(value: Any, name: str) -> Mapping[str, tuple[str, ...]]:
    if not isinstance(value, dict):
        raise ConfigError(f"{name} is not an object.")
    return {
        client: _strings(repositories, f"{name}: the value of {client}")
        for client, repositories in value.items()
    }


def _items(
    kind: type[T], parsers: Mapping[str, Callable[[Any, str], Any]]
) -> Callable[[Any, str], tuple[T, ...]]:
    def parse(value: Any, name: str) -> tuple[T, ...]:
        if not isinstance(value, list):
            raise ConfigError(f"{name} is not a list.")
        return tuple(_make(kind, item, f"an item of {name}", parsers) for item in value)

    return parse


def _choose(value: str, choices: tuple[str, ...], name: str) -> None:
    if value not in choices:
        raise ConfigError(f"Unknown {name}: {value}.", hint=f"Use one of {', '.join(choices)}.")


_PARSERS: Mapping[str, Callable[[Any, str], Any]] = {
    "url": _string,
    "issuers": _items(
        Issuer,
        {
            **dict.fromkeys(("kind", "issuer", "forge", "keys", "login_claim"), _string),
            "owners": _strings,
        },
    ),
    "forges": _items(
        Forge,
        {
            **dict.fromkeys(("kind", "host", "api", "token_file", "webhook_secret_file"), _string),
            "groups": _strings,
        },
    ),
    "hooks": _items(
        Hook,
        {
            **dict.fromkeys(("url", "secret_file", "reader"), _string),
            **dict.fromkeys(("repositories", "owners"), _strings),
        },
    ),
    "refs": _strings,
    "clients": _clients,
    "audit_key_file": _string,
    "audit_months": _months,
    "event_months": _months,
}
