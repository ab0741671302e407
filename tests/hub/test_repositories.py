"""A repository is the one with its number at the forge: names are reused, and change."""

import json
import os
import signal
import subprocess
import sys
import threading

import pytest

from tests.hub.conftest import running_hub
from tests.hub.test_grants import FakeForge, fake_forge, readers
from tests.hub.test_identity import BOARD
from ubp.__main__ import main
from ubp.hub import repositories
from ubp.hub.config import Forge
from ubp.hub.grants import compare_forge
from ubp.hub.maintenance import collect_garbage
from ubp.hub.worker import Worker

API = "github.com/acme/api"


@pytest.fixture
def forge():
    with fake_forge() as running:
        yield running


@pytest.fixture
def settings(forge, tmp_path):
    (tmp_path / "token").write_text("forge-token\n")
    return Forge("github", "github.com", forge.url, str(tmp_path / "token"), ("acme",))


@pytest.fixture
def hub(database_address, issuers, settings):
    with running_hub(database_address, issuers, forges=(settings,)) as running:
        yield running


def push_as_job(hub, repository, key: int, path: str = "acme/api", run: int = 1):
    """Push a clone from a job of the repository with this number at the forge."""
    commit = repository.git("rev-parse", "HEAD").strip()
    token = hub.job(path, commit, repository_id=str(key), run_id=str(run))
    environment = {"GITHUB_RUN_ID": str(run), "GITHUB_RUN_ATTEMPT": "1"}
    return hub.push(
        repository, f"github.com/{path}", token, GITHUB_REF="refs/heads/main", **environment
    )


def names(hub):
    return hub.rows("select name, forge_id, removed_at is null from repository order by id")


@pytest.fixture
def old(repository, hub, forge, settings):
    """The board of a repository that ann may read."""
    repository.write("a.md", "# A\n")
    repository.commit()
    push_as_job(hub, repository, 1)
    forge.add(1, "acme/api", "ann")
    compare_forge(hub.database, settings)
    assert hub.call(BOARD, token=hub.person())[0] == 200
    return repository


@pytest.mark.usefixtures("old")
def test_new_repository_of_an_old_name_begins_without_readers_before_the_forge_is_compared(
    new_repository, hub
):
    new = new_repository("new")
    new.write("secret.md", "# Secret\n")
    new.commit()

    assert hub.call(BOARD, token=hub.job(repository_id="2"))[0] == 404  # nor does its own job read
    assert push_as_job(hub, new, 2).outcome == "written"

    assert hub.call(BOARD, token=hub.person())[0] == 404
    assert names(hub) == [(f"{API}#1", "1", False), (API, "2", True)]
    assert readers(hub) == [(f"{API}#1", "github.com/ann")]
    status, board = hub.call(BOARD, token=hub.job(repository_id="2"))
    assert (status, [row[0] for row in board["files"]]) == (200, ["secret.md"])
    assert hub.call(BOARD, token=hub.job(repository_id="1"))[0] == 404


@pytest.mark.usefixtures("old")
def test_worker_asks_the_forge_about_a_repository_that_is_new(new_repository, hub, forge):
    worker = Worker(hub.database, hub.hub.config)
    worker.work()
    new = new_repository("new")
    new.write("b.md", "# B\n")
    new.commit()
    push_as_job(hub, new, 2)
    forge.repositories.clear()
    forge.add(2, "acme/api", "bob")
    assert worker.work()
    assert hub.call(BOARD, token=hub.person("bob"))[0] == 200
    assert hub.call(BOARD, token=hub.person("ann"))[0] == 404


def test_renamed_repository_keeps_board_and_readers_and_is_found_by_its_former_name(
    old, new_repository, hub
):
    web = new_repository("web")
    web.write(
        "docs/a.md", f"---\nsource_refs:\n  - path: {API}:a.md\n    blob: {old.blob('a.md')}\n---\n"
    )
    web.commit()
    push_as_job(hub, web, 5, "acme/web")
    old.write("a.md", "# A, changed\n")
    old.commit()

    push_as_job(hub, old, 1, "acme/payments", run=2)

    renamed = "github.com/acme/payments"
    assert (renamed, "1", True) in names(hub)
    assert hub.call(BOARD.replace("acme/api", "acme/payments"), token=hub.person())[0] == 200
    assert hub.call(BOARD, token=hub.person())[0] == 200
    token = "development-token-for-tests"
    for name in (API, renamed):
        _, answer = hub.call("/v1/ask/impact", token=token, value={"source": f"{name}:a.md"})
        (page,) = answer["pages"]
        assert (answer["repository"], page["tip"], page["source"]) == (
            renamed,
            "behind",
            f"{renamed}:a.md",
        )


def test_former_name_that_another_repository_takes_is_that_one(old, new_repository, hub):
    push_as_job(hub, old, 1, "acme/payments", run=2)
    assert hub.rows("select name from former_name") == [(API,)]
    new = new_repository("new")
    new.write("b.md", "# B\n")
    new.commit()
    push_as_job(hub, new, 2)
    assert hub.rows("select name from former_name") == []
    _, answer = hub.call(
        "/v1/ask/impact", token="development-token-for-tests", value={"source": f"{API}:a.md"}
    )
    assert (answer["repository"], answer["exists"]) == (API, False)


def test_repository_that_was_removed_and_pushes_again_has_no_reader_until_the_forge_is_asked(
    old, hub, forge, settings
):
    hub.execute("update repository set visibility = 'internal'")
    removed = dict(forge.repositories)
    forge.repositories.clear()
    compare_forge(hub.database, settings)
    old.write("b.md", "# B\n")
    old.commit()
    push_as_job(hub, old, 1, run=2)
    assert hub.call(BOARD, token=hub.person())[0] == 404
    forge.repositories.update(removed)
    assert Worker(hub.database, hub.hub.config).work()
    assert hub.call(BOARD, token=hub.person())[0] == 200


def test_removed_repository_loses_all_that_there_is_after_some_days(
    old, new_repository, hub, forge, settings
):
    old.write("a.md", "# A\n\nOf the old one.\n")
    old.commit()
    assert hub.push(old, texts=True).sent_texts == 1
    new = new_repository("new")
    new.write("b.md", "# B\n")
    new.commit()
    forge.repositories.clear()
    forge.add(2, "acme/api", "ann")
    compare_forge(hub.database, settings)
    hub.push(new, texts=True)
    calls = hub.rows("select count(*) from audit")
    tables = ("text", "chunk", "ref", "event", "parsed")

    def repositories_of(table):
        key = (
            "(select repository from ref where ref.id = ref)" if table == "event" else "repository"
        )
        return len(hub.rows(f"select distinct {key} from {table}"))

    for days, expected in ((6, 2), (8, 1)):
        hub.execute(
            "update repository set removed_at = now() - make_interval(days => %s)"
            " where removed_at is not null",
            days,
        )
        with hub.database.connection() as connection:
            collect_garbage(connection, hub.hub.config)
        assert [repositories_of(table) for table in tables] == [expected] * len(tables)
    assert [name for name, *_ in names(hub)] == [API]
    assert hub.rows("select count(*) from audit") == calls


def test_command_deletes_removed_repositories_at_once(  # noqa: PLR0917  # fixtures
    old, hub, database_address, tmp_path, monkeypatch, capsys
):
    hub.execute("update repository set removed_at = now()")
    config = tmp_path / "hub.json"
    config.write_text(json.dumps({"url": hub.url}))
    monkeypatch.setenv("UBP_HUB_DATABASE", database_address)
    command = ["hub", "gc", "--config", str(config)]
    assert main(command) == 0
    assert capsys.readouterr().out.startswith("Deleted 0 removed repositories, ")
    assert main([*command, "--removed-days", "0"]) == 0
    assert capsys.readouterr().out.startswith("Deleted 1 removed repository, ")
    assert hub.rows("select count(*) from file") == [(0,)]
    assert old.root


def test_number_of_another_forge_is_another_repository(database):
    with database.connection() as connection:
        first, _ = repositories.identify(connection, API, "1")
        other, _ = repositories.identify(connection, "gitlab.example.org/acme/api", "1")
        assert first != other
        assert repositories.identify(connection, API, "1") == (first, False)
        assert repositories.identify(connection, API, None) == (first, False)


def test_board_of_a_client_becomes_that_of_the_repository_with_the_name(database):
    with database.connection() as connection:
        first, _ = repositories.identify(connection, API, None)
        assert repositories.identify(connection, API, "1") == (first, True)
        other, _ = repositories.identify(connection, API, "2")
        assert other != first


def test_pushes_of_a_new_repository_at_once_make_one_row(database):
    found = []

    def identify():
        with database.connection() as connection:
            found.append(repositories.identify(connection, API, "1")[0])

    threads = [threading.Thread(target=identify) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8
    assert len(set(found)) == 1


class HangingForge(FakeForge):
    """A forge that answers only once it may."""

    def __init__(self) -> None:
        self.is_asked, self.may_answer = threading.Event(), threading.Event()
        super().__init__()

    def answer(self, path):
        self.is_asked.set()
        self.may_answer.wait(60)
        return super().answer(path)


def test_webhook_survives_a_worker_that_is_killed_while_it_asks_the_forge(
    hub, database_address, tmp_path
):
    hanging = HangingForge()
    try:
        forge = {
            "kind": "github",
            "host": "github.com",
            "api": hanging.url,
            "token_file": str(tmp_path / "token"),
            "groups": ["acme"],
        }
        config = tmp_path / "hub.json"
        config.write_text(json.dumps({"url": hub.url, "forges": [forge]}))
        with hub.database.connection() as connection:
            repositories.queue_comparison(connection, "github.com", "acme/api")
        with subprocess.Popen(
            [sys.executable, "-m", "ubp", "hub", "work", "--config", config],
            env={**os.environ, "UBP_HUB_DATABASE": database_address},
        ) as process:
            assert hanging.is_asked.wait(60)
            process.send_signal(signal.SIGKILL)
        assert hub.rows("select path from webhook") == [("acme/api",)]
        hanging.add(1, "acme/api", "ann")
        hanging.may_answer.set()
        settings = Forge("github", "github.com", hanging.url, forge["token_file"], ("acme",))
        assert Worker(hub.database, hub.hub.config.__class__(hub.url, forges=(settings,))).work()
        assert readers(hub) == [(API, "github.com/ann")]
        assert hub.rows("select path from webhook") == []
    finally:
        hanging.may_answer.set()
        hanging.close()
