"""The log of calls, how long it is kept, and what health and metrics say."""

import hmac
import json
from hashlib import sha256

from tests.hub.conftest import running_hub
from tests.hub.test_identity import BOARD, list_tools
from ubp.__main__ import main
from ubp.hub.audit import drop_partitions
from ubp.hub.config import HubConfig
from ubp.hub.maintenance import collect_garbage


def calls(hub):
    return hub.rows("select reader, method, status from audit order by id")


def test_each_call_is_a_row_with_a_keyed_digest_of_the_question(
    database_address, issuers, tmp_path
):
    key = tmp_path / "key"
    key.write_bytes(b"secret of the log\n")
    with running_hub(database_address, issuers, audit_key_file=str(key)) as hub:
        hub.call(BOARD, token=hub.person())
        hub.call("/v1/ask/none", token=hub.person("bob"), value={"query": "pay"})
        hub.call(BOARD, token=hub.person(scope="openid"))
        hub.call(BOARD)  # nobody: only counted

        assert calls(hub) == [
            ("github.com/ann", "board", 404),
            ("github.com/bob", "ask", 404),
            ("github.com/ann", "board", 403),
        ]
        question = BOARD.partition("?")[2].replace("/", "%2F").encode()
        digest = hmac.new(b"secret of the log", question, sha256).digest()[:16]
        assert hub.rows("select question from audit order by id limit 1") == [(digest,)]


def test_logs_are_deleted_by_the_month(hub):
    for month in ("2020-01-15", "2020-02-15"):
        hub.execute("select make_partition('audit', %s::timestamptz)", month)
        hub.execute(
            "insert into audit (at, reader, method, question, status, milliseconds)"
            " values (%s, 'r', 'm', '', 200, 1)",
            month,
        )
    hub.call(BOARD, token=hub.person())
    with hub.database.connection() as connection:
        garbage = collect_garbage(connection, HubConfig(url=hub.url, audit_months=12))
    assert garbage.partitions == ("audit_2020_01", "audit_2020_02")
    assert len(calls(hub)) == 1
    with hub.database.connection() as connection:
        assert drop_partitions(connection, "audit", 12) == []


def test_parts_of_blobs_that_no_board_or_pin_has_are_deleted_when_they_are_old(repository, hub):
    repository.write("src/a.py", "def f():\n    return 1\n")
    repository.commit()
    hub.push(repository)
    pinned = repository.blob("src/a.py")
    repository.write("src/a.py", "def f():\n    return 2\n")
    repository.commit()
    hub.push(repository)
    other = repository.blob("src/a.py")
    repository.write("src/a.py", "def f():\n    return 3\n")
    repository.write(
        "docs/a.md", f"---\nsource_refs:\n  - path: src/a.py\n    blob: {pinned[:12]}\n---\n"
    )
    repository.commit()
    hub.push(repository)
    hub.execute("update parsed set at = now() - interval '500 days'")
    with hub.database.connection() as connection:
        assert collect_garbage(connection, hub.hub.config).parsed == 1
    kept = {blob.hex() for (blob,) in hub.rows("select blob from parsed where parser like 'py%%'")}
    assert kept == {pinned, repository.blob("src/a.py")}
    assert other not in kept


def test_health_and_metrics_name_nobody(repository, hub):
    repository.write("a.md", "# A\n")
    repository.commit()
    hub.push(repository)
    hub.call(BOARD, token=hub.person())
    assert hub.call("/healthz") == (200, b"ok\n")

    status, answer = hub.call("/metrics")

    text = answer.decode()
    assert status == 200
    assert 'ubp_hub_pushes_total{outcome="written"} 1' in text
    assert 'ubp_hub_calls_total{method="board",status="404"} 1' in text
    assert "ubp_hub_call_seconds_count" in text
    for secret in ("acme", "ann", "token", "Bearer"):
        assert secret not in text


def test_tools_are_called_in_the_name_of_each_caller(hub):
    status, answer = list_tools(hub, hub.person())
    assert status == 200
    assert "tools" in json.loads(answer)["result"]


def test_command_prints_the_calls_since_a_date(hub, database_address, monkeypatch, capsys):
    hub.call(BOARD, token=hub.person())
    hub.execute(
        "insert into audit (reader, method, question, status, milliseconds)"
        " values ('r', 'ask', '\\x01', 200, 7)"
    )
    monkeypatch.setenv("UBP_HUB_DATABASE", database_address)
    assert main(["hub", "audit", "--since", "2026-11-01"]) == 0
    first, second = capsys.readouterr().out.splitlines()
    assert "  404  " in first
    assert "  board  github.com/ann  " in first
    assert second.endswith("  200       7 ms  ask  r  01")
    assert main(["--json", "hub", "audit", "--since", "2999-01-01"]) == 0
    assert capsys.readouterr().out == ""
    assert main(["hub", "audit", "--since", "yesterday"]) == 2
    assert "is not a date" in capsys.readouterr().err
