"""Order and rights of pushes: the newest run wins, and only its own job may push."""

import random
import threading
from itertools import pairwise

import pytest

from ubp.board.model import Board, BoardFile
from ubp.board.wire import (
    Manifest,
    WireError,
    cut,
    digest_of,
    manifest_value,
    piece_text,
    read_manifest,
    read_piece,
)
from ubp.hub.maintenance import find_faults
from ubp.hub.store_push import Missing, take_push, take_upload

NAME, MAIN = "github.com/acme/api", "refs/heads/main"


def board_of(run, files=3):
    blob = f"{run:040x}"
    return Board(blob, tuple(BoardFile(f"docs/{number}.md", blob) for number in range(files)))


def manifest_of(board, run, attempt=1, name=NAME, ref=MAIN):
    return Manifest(name, ref, board.commit, run, attempt, tuple(cut(board)), {})


def push_run(database, run, attempt=1):
    """Push a board whose blobs have the number of the run, as a client does."""
    board = board_of(run)
    manifest = manifest_of(board, run, attempt)
    while True:
        with database.connection() as connection:
            outcome = take_push(connection, manifest)
        if not isinstance(outcome, Missing):
            return outcome
        with database.connection() as connection:
            take_upload(connection, NAME, list(cut(board).values()), [])


def push_into(database, run, outcomes):
    outcomes[run] = push_run(database, run)


def stored(database):
    query = (
        "select distinct ref.run, encode(ref.commit, 'hex'), encode(file.oid, 'hex')"
        " from ref join file on file.ref = ref.id"
    )
    with database.connection() as connection:
        return connection.execute(query).fetchall()


def test_highest_run_wins_in_any_order_at_once(database):
    choose = random.Random(34)
    for shuffle in range(50):
        with database.connection() as connection:
            connection.execute("delete from repository")
        runs = list(range(shuffle * 10 + 1, shuffle * 10 + 11))
        choose.shuffle(runs)
        outcomes = {}
        threads = [
            threading.Thread(target=push_into, args=(database, run, outcomes)) for run in runs
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        newest = max(runs)
        assert stored(database) == [(newest, f"{newest:040x}", f"{newest:040x}")]
        assert set(outcomes) == set(runs)
        assert outcomes[newest] == "written"
        assert set(outcomes.values()) <= {"written", "overtaken"}
    with database.connection() as connection:
        assert list(find_faults(connection)) == []


def test_attempts_of_a_run_are_ordered_and_the_same_one_is_unchanged(database):
    assert push_run(database, 5, 2) == "written"
    assert push_run(database, 5, 1) == "overtaken"
    assert push_run(database, 4, 9) == "overtaken"
    assert push_run(database, 5, 2) == "unchanged"
    assert push_run(database, 5, 3) == "written"


def test_push_that_lacks_a_piece_changes_nothing(database):
    push_run(database, 1)
    with database.connection() as connection:
        missing = take_push(connection, manifest_of(board_of(2), 2))
    assert isinstance(missing, Missing)
    assert stored(database) == [(1, f"{1:040x}", f"{1:040x}")]


def test_pieces_of_larger_boards_are_cut_anew(database):
    sizes = (10, 500, 60, 1)
    for run, files in enumerate(sizes, 1):
        board = board_of(7, files)
        manifest = manifest_of(board, run)
        with database.connection() as connection:
            take_upload(connection, NAME, list(cut(board).values()), [])
            assert take_push(connection, manifest) == "written"
            assert connection.execute("select count(*) from file").fetchone() == (files,)
            assert list(find_faults(connection)) == []
    assert all(a != b for a, b in pairwise(sizes))


WRONG = {
    "repository": ({"repository": "acme/web"}, "another repository"),
    "ref": ({"ref": "refs/heads/other"}, "another ref"),
    "commit": ({"sha": "b" * 40}, "another commit"),
    "run": ({"run_id": "8"}, "another run"),
    "attempt": ({"run_attempt": "2"}, "another run"),
    "unprotected": ({"ref_protected": "false"}, "not protected"),
    "unprotected, unsaid": ({"ref_protected": None}, "not protected"),
    "pull request": ({"event_name": "pull_request"}, "event pull_request"),
    "fork": ({"event_name": "pull_request_target"}, "event pull_request_target"),
    "after a fork's run": ({"event_name": "workflow_run"}, "event workflow_run"),
}


@pytest.mark.parametrize("case", WRONG)
def test_token_that_is_not_of_the_push_is_forbidden(hub, case):
    claims, reason = WRONG[case]
    commit = "a" * 40
    manifest = manifest_value(manifest_of(Board(commit, board_of(1).files), 1))

    status, answer = hub.call("/v1/push", token=hub.job(commit=commit, **claims), value=manifest)

    assert status == 403
    assert reason in answer.decode()
    assert hub.rows("select count(*) from repository") == [(0,)]
    upload = {**manifest, "pieces": [], "parts": []}
    status, _ = hub.call("/v1/upload", token=hub.job(commit=commit, **claims), value=upload)
    assert status == 403


def test_token_of_the_pushed_commit_is_taken(hub):
    commit = "a" * 40
    board = Board(commit, board_of(1).files)
    manifest = manifest_value(manifest_of(board, 1))
    token = hub.job(commit=commit)
    status, answer = hub.call("/v1/push", token=token, value=manifest)
    assert (status, list(answer["missing"]["pieces"])) == (200, list(cut(board)))
    upload = {**manifest, "pieces": list(cut(board).values()), "parts": []}
    assert hub.call("/v1/upload", token=token, value=upload)[0] == 200
    assert hub.call("/v1/push", token=token, value=manifest) == (200, {"outcome": "written"})


def gitlab_job(hub, **claims):
    given = {
        "aud": hub.url,
        "project_path": "acme/api",
        "project_id": "1",
        "ref": "main",
        "ref_type": "branch",
        "ref_protected": "true",
        "sha": "a" * 40,
        "pipeline_id": "7",
        "job_id": "70",
        "pipeline_source": "push",
    }
    return hub.gitlab.sign(**{**given, **claims})


def test_gitlab_pipelines_push_and_those_of_merge_requests_do_not(hub):
    board = Board("a" * 40, board_of(1).files)
    name = "gitlab.example.org/acme/api"
    manifest = manifest_value(manifest_of(board, 7, 70, name=name))
    assert hub.call("/v1/push", token=gitlab_job(hub), value=manifest)[0] == 200
    for claims in (
        {"pipeline_source": "merge_request_event"},
        {"pipeline_source": "external_pull_request_event"},
        {"ref_protected": "false"},
        {"ref_type": "tag"},
        {"ref_type": None},
    ):
        status, _ = hub.call("/v1/push", token=gitlab_job(hub, **claims), value=manifest)
        assert status == 403, claims


def test_jobs_of_other_organisations_have_no_access(hub):
    for repository in ("evil/api", "acme-evil/api", "acme", "acme/../evil/x"):
        status, _ = hub.call("/v1/board", token=hub.job(repository))
        assert status == 401, repository


def test_person_may_not_push_but_a_client_with_the_scope_may_to_configured_refs(hub):
    board = board_of(1)
    manifest = manifest_value(manifest_of(board, 1))
    scope = f"ubp.read ubp.push:{NAME}"
    assert hub.call("/v1/push", token=hub.person(), value=manifest)[0] == 403
    status, answer = hub.call("/v1/push", token=hub.person(scope=scope), value=manifest)
    assert (status, b"configured" in answer) == (403, True)


def test_piece_in_the_wrong_place_is_refused(hub):
    board = Board("a" * 40, tuple(BoardFile(f"{n}.md", "b" * 40) for n in range(200)))
    texts = list(cut(board).values())
    swapped = [texts[1], texts[0], *texts[2:]]
    manifest = manifest_of(board, 1)
    value = {**manifest_value(manifest), "pieces": [digest_of(text) for text in swapped]}
    token = hub.job(commit="a" * 40)
    upload = {**manifest_value(manifest), "pieces": swapped, "parts": []}
    assert hub.call("/v1/upload", token=token, value=upload)[0] == 200
    status, answer = hub.call("/v1/push", token=token, value=value)
    assert (status, b"wrong place" in answer) == (400, True)
    assert piece_text(read_piece(texts[0])) == texts[0]


def test_board_of_an_older_client_is_taken_and_its_links_are_single(hub):
    piece = '[1,0,1,[["a.md","{0}",null,null,["untracked",false,[],[],[["b.md","references"]]]]]]'
    text = piece.format("b" * 40)
    manifest = {**manifest_value(manifest_of(board_of(1), 1)), "version": 1}
    value = {**manifest, "commit": "a" * 40, "pieces": [digest_of(text)]}
    token = hub.job(commit="a" * 40)

    assert (
        hub.call("/v1/upload", token=token, value={**value, "pieces": [text], "parts": []})[0]
        == 200
    )
    assert hub.call("/v1/push", token=token, value=value) == (200, {"outcome": "written"})
    assert hub.rows("select target, links from edge") == [("b.md", 1)]


@pytest.mark.parametrize("version", [0, 3, True, "2", None])
def test_version_that_the_hub_does_not_read_is_refused(version):
    with pytest.raises(WireError, match="reads versions 1 to 2"):
        read_manifest({**manifest_value(manifest_of(board_of(1), 1)), "version": version})


@pytest.mark.parametrize("links", ["0", "1", "-1", "true", "2147483648", "1.5"])
def test_number_of_links_that_no_client_writes_is_refused(links):
    page = f'["untracked",false,[],[],[["b.md","references",{links}]]]'
    with pytest.raises(WireError):
        read_piece(f'[2,0,1,[["a.md","{"b" * 40}",null,null,{page}]]]')
