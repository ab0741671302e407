"""`ubp push`: what a clone knows of its commit, sent to the organisation's hub.

It is sent in pieces that the hub lacks, and counts once all of them are there: an interrupted push
is continued, and one that changes nothing sends nothing.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from ubp.board.commits import count_commits
from ubp.board.model import Board
from ubp.board.parts import FileParts, find_parts_of, parsers_of
from ubp.board.read import read_board
from ubp.board.texts import BATCH_BYTES, MAX_TEXT_BYTES, text_row
from ubp.board.wire import (
    Manifest,
    batches,
    cut,
    manifest_value,
    parts_value,
    read_name,
    read_ref,
    to_text,
)
from ubp.core.errors import HubError, UbpError, UsageError
from ubp.core.model import ObjectId
from ubp.core.repository_names import repository_name
from ubp.frame.answer import Answer, Request
from ubp.frame.fields import Count, GitId, Option
from ubp.frame.wording import SHORT_ID, count
from ubp.frame.writer import Writer
from ubp.git.repository import Repository
from ubp.index.session import Session, Target
from ubp.sync.hub_client import TIMEOUT_SECONDS, HubClient, find_token

# Characters in one request: what a slow line sends again after it broke.
BATCH_CHARACTERS = 4 << 20
TEXTS_PER_READ = 256
TEXTS_SECONDS = 600.0  # the first push of a large repository writes its words into the index
ROUNDS = 4  # what is sent may be deleted meanwhile, as garbage

Outcome = Literal["written", "unchanged", "overtaken", "failed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PushRecord:
    """What became of a push, and what was sent."""

    outcome: Annotated[
        Outcome,
        "written; unchanged: the hub had it; overtaken: it has a newer run's; failed: see error",
    ]
    repository: Annotated[str | None, "name of the repository for all of the organisation"]
    ref: Annotated[str | None, "ref that was pushed"]
    commit: Annotated[GitId | None, "commit that was pushed"]
    files: Annotated[Count, "number of files on the board"]
    pages: Annotated[Count, "of these, pages"]
    unnamed: Annotated[Count, "number of files left out, whose paths are not UTF-8"]
    sent_pieces: Annotated[Count, "number of pieces of the board that the hub lacked"]
    sent_parts: Annotated[Count, "number of files whose definitions or sections it lacked"]
    sent_texts: Annotated[Count, "with texts: number of pages whose texts it lacked"] = 0
    searched: Annotated[
        str | None,
        "with texts: ref whose texts the hub keeps instead of this one's; null: it keeps these",
    ] = None
    error: Annotated[str | None, "with soft: why nothing was pushed"] = None


@dataclass(frozen=True, slots=True)
class PushRequest(Request[PushRecord]):
    """Where to push to, and as which repository and ref."""

    to: Annotated[
        str,
        "address of the hub",
        Option(
            "The hub's address: https, or http on this machine.",
            metavar="URL",
            missing="--to",
            cause="It names the hub that receives the board.",
            hint="Add its address: ubp push --to https://hub.example.org",
        ),
    ]
    token_file: Annotated[
        str | None,
        "file with the token",
        Option(
            "A file with the token. By default it is in $UBP_HUB_TOKEN, or is asked of GitHub "
            "Actions.",
            metavar="FILE",
        ),
    ] = None
    repository: Annotated[
        str | None,
        "name of the repository, as github.com/acme/api",
        Option(
            "The repository, as github.com/acme/api; by default that of the CI's job, or of the "
            "remote `origin`.",
            metavar="NAME",
        ),
    ] = None
    ref: Annotated[
        str | None,
        "ref whose board this is, as refs/heads/main",
        Option("The ref; by default that of the CI's job, or the current branch.", metavar="REF"),
    ] = None
    texts: Annotated[
        bool,
        "send the texts of pages, too",
        Option(
            "Send the texts of the pages, too, so that they can be searched on the hub; what the "
            "configuration excludes is not sent."
        ),
    ] = False
    soft: Annotated[
        bool,
        "report failures, and succeed",
        Option("Report a failure, and exit with status 0: documentation blocks no build."),
    ] = False


def run(session: Session, request: PushRequest) -> PushRecord:
    """Send the board of HEAD.

    Raises:
        UsageError: the address, the token, the repository or the ref cannot be used.
        HubError: the hub cannot be reached, or refuses.
    """
    try:
        return _push(session, request)
    except UbpError as error:
        if not request.soft:
            raise
        sentences = (error.message, error.cause, error.hint)
        return PushRecord(
            outcome="failed",
            repository=None,
            ref=None,
            commit=None,
            files=0,
            pages=0,
            unnamed=0,
            sent_pieces=0,
            sent_parts=0,
            error=" ".join(filter(None, sentences)),
        )


def _push(session: Session, request: PushRequest) -> PushRecord:
    environment = session.environment
    token = find_token(request.to, request.token_file, environment, session.directory)
    client = HubClient(request.to, token, TEXTS_SECONDS if request.texts else TIMEOUT_SECONDS)
    name = find_name(session.repository, request.repository, environment)
    ref = find_ref(session.repository, request.ref, environment)
    board = read_board(session, "HEAD")
    sending = _Sending(session, client, board, name, ref)
    if request.texts:
        sending.add_texts(board)
    outcome = sending.send()
    return PushRecord(
        outcome=outcome,
        repository=name,
        ref=ref,
        commit=board.commit,
        files=len(board.files),
        pages=sum(file.page is not None for file in board.files),
        unnamed=board.unnamed,
        sent_pieces=sending.pieces,
        sent_parts=sending.parts,
        sent_texts=sending.texts,
        searched=sending.searched,
    )


class _Sending:
    """A push under way; `pieces`, `parts` and `texts` count what was sent."""

    def __init__(
        self, session: Session, client: HubClient, board: Board, name: str, ref: str
    ) -> None:
        self._session = session
        self._client = client
        self._pieces = cut(board)
        self._paths = {file.path for file in board.files}
        self._parsers = parsers_of(session, session.view(Target(ref=board.commit)))
        run, attempt = find_run(session.environment)
        parts = {parser: tuple(sorted(blobs)) for parser, blobs in self._parsers.items()}
        self._manifest = Manifest(name, ref, board.commit, run, attempt, (*self._pieces,), parts)
        self._pages: frozenset[ObjectId] | None = None  # None: their texts are not sent
        self._sent: set[ObjectId] = set()
        self.pieces = 0
        self.parts = 0
        self.texts = 0
        self.searched: str | None = None  # another ref, whose texts the hub keeps

    def add_texts(self, board: Board) -> None:
        """Send the texts of the board's pages, too."""
        self._pages = frozenset(file.blob for file in board.files if file.page is not None)

    def send(self) -> Outcome:
        """Send what the hub lacks until it has all of it, and return what it did.

        Raises:
            HubError: it refuses, or lacks something again and again.
        """
        value = manifest_value(self._manifest)
        if self._pages is not None:
            value["texts"] = "all"
        rounds = ROUNDS
        while rounds:
            answer = self._client.post("/v1/push", value)
            outcome = answer.get("outcome") if isinstance(answer, dict) else None
            if outcome in {"written", "unchanged", "overtaken"}:
                searched = answer.get("searched")
                self.searched = searched if isinstance(searched, str) else None
                return outcome  # type: ignore[no-any-return]  # one of these three
            missing = _missing(answer)
            if "since" not in value or value["since"] is None:
                value |= self._count_commits(answer.get("commit"))
            self._send_pieces(missing["pieces"])
            self._send_parts(missing["parts"])
            # A partial clone may lack blobs: they are asked for once.
            value = {**value, "parts": {}}
            if missing["texts"] and self._send_texts(missing["texts"]):
                continue  # the hub asks for some at a time
            if missing["texts"]:
                value["texts"] = "sent"
            rounds -= 1
        raise HubError(
            "The hub lacks parts of the board that were sent.",
            cause="They may have been deleted as garbage meanwhile.",
            hint="Push again.",
        )

    def _count_commits(self, since: Any) -> dict[str, Any]:
        """Return what the manifest has about the commits since the board that the hub has."""
        if not isinstance(since, str):
            return {}
        repository, commit = self._session.repository, self._manifest.commit
        counts = count_commits(repository, since, commit, self._paths)
        return {} if counts is None else {"since": since, "commits": counts}

    def _send_pieces(self, digests: list[str]) -> None:
        texts = [self._pieces[digest] for digest in digests if digest in self._pieces]
        for batch in batches(texts, len, BATCH_CHARACTERS):
            self._upload(batch, [])
            self.pieces += len(batch)

    def _send_parts(self, missing: Mapping[str, list[str]]) -> None:
        rows = (
            parts_value(parts)
            for parser, blobs in missing.items()
            for parts in self._find_parts(parser, blobs)
        )
        for batch in batches(rows, lambda row: len(to_text(row)), BATCH_CHARACTERS):
            self._upload([], batch)
            self.parts += len(batch)

    def _send_texts(self, missing: list[str]) -> int:
        """Send the texts of these blobs, and return how many there are; of others none exists."""
        known = (self._pages or frozenset()) - self._sent
        wanted = [ObjectId(blob) for blob in missing if blob in known]
        self._sent.update(wanted)
        before = self.texts
        for ids in batches(wanted, lambda _: 1, TEXTS_PER_READ):
            contents = self._session.repository.read_blobs(ids)
            present = [
                (blob, data)
                for blob, data in contents.items()
                if data is not None and len(data) <= MAX_TEXT_BYTES
            ]
            for batch in batches(present, lambda text: len(text[1]), BATCH_BYTES):
                head = manifest_value(self._manifest)
                del head["pieces"]
                rows = [text_row(*text) for text in batch]
                self._client.post("/v1/texts", {**head, "parts": {}, "texts": rows})
                self.texts += len(batch)
        return self.texts - before

    def _find_parts(self, parser: str, blobs: list[str]) -> Iterator[FileParts]:
        known = self._parsers.get(parser, {})
        wanted = {ObjectId(blob): known[ObjectId(blob)] for blob in blobs if blob in known}
        return find_parts_of(self._session, parser, wanted)

    def _upload(self, pieces: list[str], parts: list[Any]) -> None:
        head = manifest_value(self._manifest)
        del head["pieces"]
        self._client.post("/v1/upload", {**head, "pieces": pieces, "parts": parts})


def _missing(answer: Any) -> dict[str, Any]:
    try:
        missing = answer["missing"]
        parts = {name: list(ids) for name, ids in missing["parts"].items()}
        texts = list(missing.get("texts", ()))
        return {"pieces": list(missing["pieces"]), "parts": parts, "texts": texts}
    except (KeyError, TypeError, AttributeError) as error:
        raise HubError("The hub does not answer as a hub does.") from error


def find_name(repository: Repository, given: str | None, environment: Mapping[str, str]) -> str:
    """Return the name of a repository: as given, as the CI's job knows it, or by its remote.

    Raises:
        UsageError: it has none that others know.
    """
    github, gitlab = environment.get("GITHUB_REPOSITORY"), environment.get("CI_PROJECT_URL")
    if given:
        name = repository_name(f"https://{given}")
    elif github:
        server = environment.get("GITHUB_SERVER_URL", "https://github.com")
        name = repository_name(f"{server}/{github}")
    elif gitlab:
        name = repository_name(gitlab)
    else:
        remote = repository.run("config", "--get", "remote.origin.url", ok=(0, 1))
        name = repository_name(remote.decode(errors="replace").strip())
    try:
        return read_name(name)
    except ValueError as error:
        message = "The repository has no name for the hub."
        cause = (
            "It is that of the CI's job or of the remote `origin`, and neither is an address of a"
            " forge."
        )
        if given:
            message = f"{given} is not the name of a repository."
            cause = "It must be the host of a forge and the path there."
        raise UsageError(
            message, cause=cause, hint="Give it: --repository github.com/acme/api"
        ) from error


def find_ref(repository: Repository, given: str | None, environment: Mapping[str, str]) -> str:
    """Return the ref of a push: as given, as the CI's job knows it, or the current branch.

    Raises:
        UsageError: there is none.
    """
    branch, tag = environment.get("CI_COMMIT_BRANCH"), environment.get("CI_COMMIT_TAG")
    if given:
        ref = given
    elif environment.get("GITHUB_REF"):
        ref = environment["GITHUB_REF"]
    elif branch or tag:
        ref = f"refs/heads/{branch}" if branch else f"refs/tags/{tag}"
    else:
        ref = repository.run("symbolic-ref", "--quiet", "HEAD", ok=(0, 1)).decode().strip()
    try:
        return read_ref(ref)
    except ValueError as error:
        raise UsageError(
            "There is no ref to push.",
            cause="HEAD is not a branch." if not ref else f"{ref} is not a full name.",
            hint="Give it: --ref refs/heads/main",
        ) from error


def find_run(environment: Mapping[str, str]) -> tuple[int | None, int]:
    """Return the number of the CI's run and its attempt, by which a hub orders pushes.

    None: not in CI.
    """
    for run, attempt in (("GITHUB_RUN_ID", "GITHUB_RUN_ATTEMPT"), ("CI_PIPELINE_ID", "CI_JOB_ID")):
        number, again = environment.get(run, ""), environment.get(attempt, "")
        if number.isdecimal():
            return int(number), int(again) if again.isdecimal() else 0
    return None, 0


def text(record: PushRecord, write: Writer) -> Iterator[str]:
    """Yield a line: what was pushed, or why it was not."""
    if record.outcome == "failed":
        yield write.style.yellow(f"Nothing was pushed. {write.name(record.error or '')}")
        return
    if write.is_quiet:
        return
    commit = (record.commit or "")[:SHORT_ID]
    place = f"{write.name(record.repository or '')} {write.name(record.ref or '')} at {commit}"
    if record.outcome == "overtaken":
        yield f"{place}: a newer run has been pushed; this one was left out."
    elif record.outcome == "unchanged":
        yield f"{place}: the hub has it already."
    else:
        sent = f"{count(record.sent_pieces, 'piece')} and the parts of"
        sent += f" {count(record.sent_parts, 'file')}"
        if record.sent_texts:
            sent += f", {count(record.sent_texts, 'text')}"
        board = f"{count(record.files, 'file')}, {count(record.pages, 'page')}"
        yield f"{place}: pushed {board}; sent {sent}."
    if record.searched:
        yield write.style.yellow(
            "The texts were not taken: the hub keeps those of"
            f" {write.name(record.searched)} alone, as the default branch or the first ref that"
            " was pushed."
        )
    if record.unnamed:
        yield f"{count(record.unnamed, 'file')} with names that are not UTF-8 were left out."


PUSH = Answer(
    request=PushRequest,
    record=PushRecord,
    run=run,
    text=text,
    has_facts=False,
)
