"""Compare what a clone knows of HEAD with what the hub keeps (`ubp hub diff`)."""

from ubp.answers.hub.push import find_name, find_ref
from ubp.board.compare import board_of, differences
from ubp.board.read import read_board
from ubp.index.session import Session
from ubp.sync.hub_client import HubClient, find_token


def compare_with_hub(
    session: Session, to: str, token_file: str | None, repository: str | None, ref: str | None
) -> list[str]:
    """Return what differs, a line for each file.

    Raises:
        UsageError: the address, the token, the repository or the ref cannot be used.
        HubError: the hub cannot be reached, or has no such board.
    """
    environment = session.environment
    client = HubClient(to, find_token(to, token_file, environment, session.directory))
    query = {
        "repository": find_name(session.repository, repository, environment),
        "ref": find_ref(session.repository, ref, environment),
    }
    stored = board_of(client.get("/v1/board", query))
    return list(differences(read_board(session, "HEAD"), stored))
