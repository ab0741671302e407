"""Send what is behind the tip to the webhooks of the configuration: at least once, signed.

The headers are those of Standard Webhooks: the signature is that of the id, the time and the body.
What is sent is limited to what the recipient may read at that moment.
"""

import base64
import binascii
import hmac
import json
import logging
import time
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from hashlib import sha256
from http.client import HTTPException
from typing import Any
from urllib.request import Request

from ubp.core.direct import open_directly
from ubp.core.errors import ConfigError
from ubp.frame.records import moment_or_none
from ubp.frame.wording import count
from ubp.hub.config import Hook, HubConfig, read_secret
from ubp.hub.database import Connection, Database

SECONDS = 10.0
# After each failure; then it is given up, three days after the first one.
WAITS = (30.0, 120.0, 600.0, 3_600.0, *(6 * 3_600.0,) * 12)
SECRET_PREFIX = b"whsec_"
LOG = logging.getLogger(__name__)


def deliver(database: Database, config: HubConfig) -> bool:
    """Send all that is due, and return whether all of it was taken."""
    hooks = {hook.url: hook for hook in config.hooks}
    succeeded = True
    while True:
        with database.connection() as connection:
            row = connection.execute(
                "select id, hook, items, at, tries from delivery where due_at <= now()"
                " order by id limit 1 for update skip locked"
            ).fetchone()
            if row is None:
                return succeeded
            key, url, items, at, tries = row
            hook = hooks.get(url)
            body = _body(connection, hook, key, at, items) if hook else None
            error = _send(hook, key, body) if hook and body else ""
            if error and tries < len(WAITS):
                succeeded = False
                LOG.warning("The webhook %s fails: %s.", url, error)
                connection.execute(
                    "update delivery set tries = tries + 1,"
                    " due_at = now() + make_interval(secs => %s) where id = %s",
                    [WAITS[tries], key],
                )
            else:
                if error:
                    LOG.error("The webhook %s never took delivery %d: %s.", url, key, error)
                connection.execute("delete from delivery where id = %s", [key])


def _body(
    connection: Connection, hook: Hook, key: int, at: datetime, items: Sequence[Mapping[str, Any]]
) -> bytes | None:
    """Return what a recipient may know of a delivery; None: nothing."""
    wanted = {item[name] for item in items for name in ("repository", "source")}
    rows = connection.execute(
        "select r.id, r.name from repository r join readable(%s) v on v.repository = r.id"
        " where r.id = any(%s)",
        [hook.reader, list(wanted)],
    )
    shown = list(_references(items, dict(rows.fetchall())))
    if not shown:
        return None
    value = {
        "type": "ubp.behind",
        "id": str(key),
        "timestamp": moment_or_none(int(at.timestamp())),
        "data": {"references": shown},
    }
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")


def _references(
    items: Sequence[Mapping[str, Any]], names: Mapping[int, str]
) -> Iterator[dict[str, Any]]:
    """Yield the references of readable pages; a source that is not readable is not described."""
    for item in items:
        repository, source = names.get(item["repository"]), names.get(item["source"])
        if repository is None:
            continue
        path = f"{item['path']}#{item['fragment']}" if item["fragment"] else item["path"]
        yield {
            "repository": repository,
            "page": item["page"],
            "owners": item["owners"],
            "source": f"{source}:{path}" if source else None,
            "tip": item["tip"] if source else None,
            "commits": item["commits"] if source else None,
            "text": _sentence(item, f"{source}:{path}" if source else None),
        }


def _sentence(item: Mapping[str, Any], source: str | None) -> str:
    if source is None:
        return f"{item['page']}: a source in another repository has changed."
    if item["tip"] == "gone":
        return f"{item['page']}: {source} is gone at the tip."
    commits = f", by {count(item['commits'], 'commit')}" if item["commits"] else ""
    return f"{item['page']} is behind the tip of {source}{commits}."


def _send(hook: Hook, key: int, body: bytes) -> str:
    """Send a delivery, and return why it was not taken; "" if it was."""
    try:
        moment = str(int(time.time()))
        signature = sign(read_secret(hook.secret_file), str(key), moment, body)
        headers = {
            "Content-Type": "application/json",
            "User-Agent": "ubp",
            "webhook-id": str(key),
            "webhook-timestamp": moment,
            "webhook-signature": signature,
        }
        request = Request(hook.url, body, headers, method="POST")  # noqa: S310  # checked by the configuration
        with open_directly(request, SECONDS) as response:
            response.read(1)
    except ConfigError as error:
        return error.message.rstrip(".")
    except (OSError, HTTPException) as error:
        return str(error)
    return ""


def sign(secret: bytes, key: str, moment: str, body: bytes) -> str:
    """Return the signature of a delivery, as `webhook-signature` has it."""
    if secret.startswith(SECRET_PREFIX):
        try:
            secret = base64.b64decode(secret.removeprefix(SECRET_PREFIX), validate=True)
        except binascii.Error as error:
            raise ConfigError("The secret of a webhook is not base64 after whsec_.") from error
    signed = b".".join((key.encode(), moment.encode(), body))
    digest = hmac.new(secret, signed, sha256).digest()
    return f"v1,{base64.b64encode(digest).decode('ascii')}"
