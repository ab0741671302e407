"""What the hub answers over HTTP, without the transport: who may call what, and the log of it."""

import json
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from psycopg import Rollback

from ubp.board.texts import read_text_rows
from ubp.board.wire import (
    Manifest,
    WireError,
    compress,
    decompress,
    file_row,
    read_manifest,
    read_name,
    read_parts,
    read_ref,
)
from ubp.core.errors import ConfigError, HubError, ModelError, UbpError, UsageError
from ubp.core.model import ObjectId
from ubp.frame.encoding import to_object
from ubp.hub.answers import AnyHubAnswer, create_answers
from ubp.hub.audit import MAX_KEPT, Audit, Call
from ubp.hub.config import HubConfig
from ubp.hub.database import Connection, Database, DatabaseDownError
from ubp.hub.forges import read_webhook
from ubp.hub.identity import (
    EVERYTHING,
    PUSH,
    READ,
    Identities,
    Identity,
    IssuerDownError,
    Job,
    OtherOwnerError,
    UnauthorizedError,
)
from ubp.hub.metrics import Metrics
from ubp.hub.models import HubModel
from ubp.hub.read_board import read_stored_board
from ubp.hub.read_text import read_texts
from ubp.hub.repositories import identify, queue_comparison
from ubp.hub.store_push import Missing, take_push, take_upload
from ubp.hub.store_texts import (
    TextPush,
    read_wanted,
    searched_ref,
    stage_texts,
    take_texts,
)

READS = frozenset({"ask", "board"})
"""What a replica of the database answers, where there is one."""
LOG = logging.getLogger(__name__)


class RefusedError(Exception):
    """A call that is not answered: a status, and three sentences for the caller."""

    def __init__(
        self, status: HTTPStatus, message: str, *, cause: str = "", hint: str = ""
    ) -> None:
        """Store the status and the sentences."""
        super().__init__(message)
        self.status = status
        self.value = {"error": {"message": message, "cause": cause, "hint": hint}}


@dataclass(frozen=True, slots=True)
class Reply:
    """A status, and a value that is sent compressed; an error is sent as JSON."""

    status: HTTPStatus
    value: Any

    @property
    def body(self) -> bytes:
        """The bytes to send."""
        if self.status == HTTPStatus.OK:
            return compress(self.value)
        return json.dumps(self.value).encode()


class Hub:
    """The hub's database, its callers' identities, its log and its answers."""

    def __init__(
        self,
        database: Database,
        config: HubConfig,
        answers: Sequence[AnyHubAnswer] | None = None,
        model: HubModel | None = None,
    ) -> None:
        self.database = database
        self.config = config
        self._model = model or HubModel()
        offered = create_answers(self._model) if answers is None else answers
        self.answers = {answer.name: answer for answer in offered}
        self.identities = Identities(config)
        self.metrics = Metrics()
        self.audit = Audit(database, config.audit_key(), MAX_KEPT if database.has_replica else 0)

    def call(self, method: str, token: str | None, question: bytes, answer: "Handler") -> Reply:
        """Return the reply to a call, and add it to the log."""
        started = time.perf_counter()
        reader, reply = "", None
        try:
            identity = self.identify(token)
            reader = identity.reader
            is_read = method in READS
            database = self.database.reading if is_read else self.database
            with database.connection(is_snapshot=is_read) as connection:
                reply = Reply(HTTPStatus.OK, answer(connection, identity))
        except RefusedError as error:
            reply = Reply(error.status, error.value)
        except WireError as error:
            reply = _failed(HTTPStatus.BAD_REQUEST, "The hub cannot read this.", f"{error}.")
        except (DatabaseDownError, IssuerDownError, ModelError) as error:
            reply = unavailable(error)
        except UbpError as error:
            reply = _of_error(HTTPStatus.BAD_REQUEST, error)
        return self.finish(method, reader, question, reply, time.perf_counter() - started)

    def finish(
        self, method: str, reader: str, question: bytes, reply: Reply, seconds: float
    ) -> Reply:
        """Count a call and add it to the log; one that cannot be logged is not answered."""
        if reader:
            call = Call(reader, method, question, reply.status, round(seconds * 1000))
            try:
                self.audit.write(call)
            except HubError as error:
                reply = unavailable(error)
        self.metrics.call(method, reply.status, seconds)
        return reply

    def identify(self, token: str | None) -> Identity:
        """Return who calls.

        Raises:
            RefusedError: the token does not count.
            IssuerDownError: nobody knows whether it does.
        """
        if token is None:
            raise RefusedError(
                HTTPStatus.UNAUTHORIZED,
                "The hub needs a token.",
                cause="The request has no header Authorization: Bearer TOKEN.",
                hint="See docs/guide/organisation.md.",
            )
        try:
            return self.identities.verify(token)
        except OtherOwnerError as error:
            raise RefusedError(
                HTTPStatus.UNAUTHORIZED,
                "The hub does not accept this token.",
                cause=f"{str(error)[0].upper()}{str(error)[1:]}.",
                hint="Ask whoever runs the hub to add its owner to `owners`.",
            ) from error
        except UnauthorizedError as error:
            raise RefusedError(
                HTTPStatus.UNAUTHORIZED,
                "The hub does not accept this token.",
                cause="It has expired, or was not issued for this hub, or not by an issuer that it"
                " knows.",
                hint=f"Its audience must be {self.config.url}.",
            ) from error

    def push(self, body: bytes) -> "Handler":
        """Return what answers a push."""

        def answer(connection: Connection, identity: Identity) -> Any:
            value = decompress(body)
            manifest = read_manifest(value)
            wanted = read_wanted(value.get("texts"))
            self._check_pusher(identity, manifest)
            forge_id = _forge_id(identity)
            fingerprint = self._model.fingerprint(connection) if wanted != "none" else None
            with connection.transaction() as transaction:
                done = take_push(connection, manifest, forge_id)
                if isinstance(done, Missing):
                    parts = {parser: list(blobs) for parser, blobs in done.parts.items()}
                    missing = {"pieces": list(done.pieces), "parts": parts}
                    return {"missing": missing, "commit": done.commit}
                texts: tuple[ObjectId, ...] = ()
                searched = manifest.ref
                if done != "overtaken":
                    repository, _ = identify(connection, manifest.repository, forge_id)
                    if wanted != "none":
                        searched = searched_ref(connection, repository) or manifest.ref
                    push = TextPush(repository, manifest.ref, wanted, is_new=done == "written")
                    texts = take_texts(connection, push, fingerprint)
                if texts:
                    raise Rollback(transaction)
            if texts:
                return {"missing": {"pieces": [], "parts": {}, "texts": list(texts)}}
            self.metrics.push(done)
            is_searched = searched == manifest.ref
            return {"outcome": done} if is_searched else {"outcome": done, "searched": searched}

        return answer

    def upload(self, body: bytes) -> "Handler":
        """Return what answers an upload of pieces and parts."""

        def answer(connection: Connection, identity: Identity) -> Any:
            value, manifest = _read_upload(body)
            pieces, parts = value.get("pieces"), value.get("parts")
            if not isinstance(pieces, list) or not isinstance(parts, list):
                raise WireError("the upload has no lists of pieces and parts")
            self._check_pusher(identity, manifest)
            read = [*map(read_parts, parts)]
            take_upload(connection, manifest.repository, pieces, read, _forge_id(identity))
            return {}

        return answer

    def upload_texts(self, body: bytes) -> "Handler":
        """Return what answers an upload of pages' texts."""

        def answer(connection: Connection, identity: Identity) -> Any:
            value, manifest = _read_upload(body)
            self._check_pusher(identity, manifest)
            model = self._model.get(connection)
            read = read_texts(read_text_rows(value.get("texts")), model)
            repository, _ = identify(connection, manifest.repository, _forge_id(identity))
            stage_texts(connection, repository, read, self._model.fingerprint(connection))
            return {}

        return answer

    def _check_pusher(self, identity: Identity, manifest: Manifest) -> None:
        """Check that a caller may push this commit to this ref.

        Raises:
            RefusedError: it may not.
        """
        job = identity.job
        if EVERYTHING in identity.scopes:
            refusal = ""
        elif job is not None:
            refusal = _refusal_of(job, manifest)
        elif f"{PUSH}{manifest.repository}" not in identity.scopes:
            refusal = "the token is not one of a CI job of this repository"
        elif manifest.ref not in self.config.refs:
            refusal = "the ref is not one of those that the hub is configured with"
        else:
            refusal = ""
        if refusal:
            raise _forbidden(refusal)

    def board(self, query: Mapping[str, str]) -> "Handler":
        """Return what answers with the board that is kept of a ref."""

        def answer(connection: Connection, identity: Identity) -> Any:
            require_scope(identity, READ)
            repository, ref = read_name(query.get("repository")), read_ref(query.get("ref"))
            board = read_stored_board(connection, identity.reader, repository, ref)
            if board is None:
                raise RefusedError(
                    HTTPStatus.NOT_FOUND,
                    "The hub has no board of this ref that you may read.",
                    hint="Push it first, or ask who may read the repository.",
                )
            return {"commit": board.commit, "files": [file_row(file) for file in board.files]}

        return answer

    def ask(self, name: str, body: bytes) -> "Handler":
        """Return what answers a question of the table."""

        def answer(connection: Connection, identity: Identity) -> Any:
            require_scope(identity, READ)
            found = self.answers.get(name)
            if found is None:
                raise RefusedError(
                    HTTPStatus.NOT_FOUND,
                    f"The hub has no answer {name}.",
                    hint=f"It has: {', '.join(self.answers) or 'none'}.",
                )
            value = decompress(body)
            if not isinstance(value, dict):
                raise UsageError("The question is not an object.")
            return to_object(found.run(connection, identity.reader, found.read(value)))

        return answer

    def webhook(self, host: str, headers: Mapping[str, str], body: bytes) -> HTTPStatus:
        """Queue what a forge says has changed; the worker asks the forge about it."""
        forge = next((forge for forge in self.config.forges if forge.host == host), None)
        if forge is None:
            return HTTPStatus.NOT_FOUND
        try:
            is_signed, path = read_webhook(forge, headers, body)
            if not is_signed:
                return HTTPStatus.UNAUTHORIZED
            with self.database.connection() as connection:
                queue_comparison(connection, host, path)
        except (HubError, ConfigError) as error:
            LOG.warning("A webhook of %s cannot be taken: %s %s", host, error.message, error.cause)
            return HTTPStatus.SERVICE_UNAVAILABLE  # the forge has it, and can send it again
        return HTTPStatus.ACCEPTED

    def is_ready(self) -> bool:
        """Return whether the database that is read answers."""
        try:
            with self.database.reading.connection() as connection:
                connection.execute("select 1")
        except HubError:
            return False
        return True


Handler = Callable[[Connection, Identity], Any]


def require_scope(identity: Identity, scope: str) -> None:
    """Check that a token has a scope.

    Raises:
        RefusedError: it has not.
    """
    if scope not in identity.scopes:
        raise RefusedError(
            HTTPStatus.FORBIDDEN,
            "The token does not allow this.",
            cause=f"It lacks the scope {scope}.",
            hint="Ask whoever administers the provider of your tokens.",
        )


def _read_upload(body: bytes) -> tuple[Mapping[str, Any], Manifest]:
    """Return an upload, and the manifest of its push, whose pieces it does not list."""
    value = decompress(body)
    if not isinstance(value, dict):
        raise WireError("the upload is not an object")
    return value, read_manifest({**value, "pieces": ["0" * 64], "parts": {}})


def _forge_id(identity: Identity) -> str | None:
    return identity.job.forge_id if identity.job else None


def _refusal_of(job: Job, manifest: Manifest) -> str:
    """Return why a job may not push this; "" if it may."""
    checks = (
        (not job.refusal, job.refusal),
        (job.repository == manifest.repository, "the token is of another repository"),
        (job.ref == manifest.ref, "the token is of another ref"),
        (job.commit == manifest.commit, "the token is of another commit"),
        ((job.run, job.attempt) == (manifest.run, manifest.attempt), "the token is of another run"),
        (job.is_protected, "the ref is not protected"),
    )
    return next((reason for is_met, reason in checks if not is_met), "")


def _forbidden(reason: str) -> RefusedError:
    return RefusedError(
        HTTPStatus.FORBIDDEN,
        "The hub does not take this push.",
        cause=f"{reason[0].upper()}{reason[1:]}.",
        hint="Push from a job of a protected branch, for the commit that it runs on.",
    )


def _failed(status: HTTPStatus, message: str, cause: str) -> Reply:
    return Reply(status, {"error": {"message": message, "cause": cause, "hint": ""}})


def unavailable(error: UbpError) -> Reply:
    """Return the reply to a call that could be answered later."""
    return _of_error(HTTPStatus.SERVICE_UNAVAILABLE, error)


def _of_error(status: HTTPStatus, error: UbpError) -> Reply:
    sentences = {"message": error.message, "cause": error.cause, "hint": error.hint}
    return Reply(status, {"error": sentences})
