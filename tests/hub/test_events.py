"""What has come behind the tip of another repository: announced once, delivered at least once."""

import base64
import hmac
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from tests.hub.test_across import API, PAY, WEB
from ubp.core.errors import ConfigError
from ubp.hub import webhooks
from ubp.hub.config import Hook, HubConfig, parse_config, read_config
from ubp.hub.events import announce
from ubp.hub.webhooks import deliver
from ubp.hub.worker import Worker

TOKEN = "development-token-for-tests"


class Receiver:
    """A server that takes webhooks, after `pause` seconds, unless it `refuses`."""

    def __init__(self) -> None:
        self.taken, self.status, self.pause = [], 200, 0.0
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                size = int(self.headers["Content-Length"])
                body = self.rfile.read(size)
                if len(body) < size:  # its sender was killed
                    return
                headers = {name.lower(): value for name, value in self.headers.items()}
                receiver.taken.append((headers, body))
                time.sleep(receiver.pause)
                self.send_response(receiver.status)
                self.send_header("Location", "/elsewhere")
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/hook"
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.01,))
        self.thread.start()

    def references(self):
        return [found for _, body in self.taken for found in json.loads(body)["data"]["references"]]

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()


@pytest.fixture
def receiver():
    running = Receiver()
    yield running
    running.close()


@pytest.fixture
def hook(receiver, tmp_path):
    (tmp_path / "secret").write_text("secret of the webhook\n")
    return Hook(receiver.url, str(tmp_path / "secret"), "*")


@pytest.fixture
def api(new_repository, hub):
    repository = new_repository("api")
    repository.write("src/pay.py", PAY)
    repository.commit()
    hub.push(repository, API)
    return repository


@pytest.fixture
def web(new_repository, api, hub):
    """Pages about two definitions of the other repository, pinned."""
    repository = new_repository("web")
    write_pages(repository, api.blob("src/pay.py"))
    repository.write("CODEOWNERS", "docs/charge.md @acme/web\n")
    repository.commit()
    hub.push(repository, WEB)
    return repository


def write_pages(repository, pin):
    for name in ("charge", "refund"):
        front = f"source_refs:\n  - path: {API}:src/pay.py#{name}\n    blob: {pin}\n"
        repository.write(f"docs/{name}.md", f"---\n{front}---\n# How to {name}\n")


def change(api, hub, number=100, name="charge"):
    text = f"def charge(amount):\n    return amount * {number}\n\n\ndef refund(amount):\n"
    text += "    return -amount\n" if name == "charge" else f"    return -amount - {number}\n"
    api.write("src/pay.py", text)
    api.commit()
    hub.push(api, API)


def work(hub, *hooks):
    config = HubConfig(hub.url, hooks=hooks)
    with hub.database.connection() as connection:
        new = announce(connection, hooks)
    assert deliver(hub.database, config)
    return new


@pytest.mark.usefixtures("web")
def test_page_that_comes_behind_is_announced_once(hub, api, receiver, hook):
    assert work(hub, hook) == 0
    change(api, hub)
    assert work(hub, hook) == 1
    (found,) = receiver.references()
    assert found == {
        "repository": WEB,
        "page": "docs/charge.md",
        "owners": ["@acme/web"],
        "source": f"{API}:src/pay.py#charge",
        "tip": "behind",
        "commits": 1,
        "text": f"docs/charge.md is behind the tip of {API}:src/pay.py#charge, by 1 commit.",
    }
    change(api, hub, 200)
    assert work(hub, hook) == 0
    change(api, hub, 300, "refund")
    assert work(hub, hook) == 1
    assert [found["page"] for found in receiver.references()] == [
        "docs/charge.md",
        "docs/refund.md",
    ]


def test_page_that_is_reviewed_and_comes_behind_again_is_announced_again(
    hub, api, web, receiver, hook
):
    change(api, hub)
    work(hub, hook)
    write_pages(web, api.blob("src/pay.py"))
    web.commit()
    hub.push(web, WEB)
    assert work(hub, hook) == 0
    assert hub.rows("select count(*) from behind") == [(0,)]
    change(api, hub, 200)
    assert work(hub, hook) == 1
    assert len(receiver.taken) == 2


@pytest.mark.usefixtures("web")
def test_delivery_is_signed_and_has_an_id(hub, api, receiver, hook):
    change(api, hub)
    work(hub, hook)
    ((headers, body),) = receiver.taken
    key, moment = headers["webhook-id"], headers["webhook-timestamp"]
    signed = f"{key}.{moment}.".encode() + body
    digest = hmac.new(b"secret of the webhook", signed, sha256).digest()
    assert headers["webhook-signature"] == f"v1,{base64.b64encode(digest).decode()}"
    assert json.loads(body)["id"] == key
    assert abs(int(moment) - time.time()) < 60


def test_signature_is_that_of_the_specification():
    """The example of Standard Webhooks' own libraries, whose secrets are base64 after a prefix."""
    body = b'{"test": 2432232314}'
    given = (
        b"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
        "msg_p5jXN8AQM9LWM0D4loKWxJek",
        "1614265330",
    )
    assert webhooks.sign(*given, body) == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
    with pytest.raises(ConfigError):
        webhooks.sign(b"whsec_!", "a", "1", body)


@pytest.mark.usefixtures("web")
def test_recipient_sees_no_name_or_path_of_a_repository_that_it_may_not_read(
    hub, api, receiver, hook
):
    hub.grant("github.com/ann", WEB)
    ann = Hook(hook.url, hook.secret_file, "github.com/ann")
    change(api, hub)
    assert work(hub, ann) == 1
    ((_, body),) = receiver.taken
    (found,) = receiver.references()
    assert found["page"] == "docs/charge.md"
    assert (found["source"], found["tip"], found["commits"]) == (None, None, None)
    assert found["text"] == "docs/charge.md: a source in another repository has changed."
    assert b"acme/api" not in body
    assert b"pay" not in body


@pytest.mark.usefixtures("web")
def test_recipient_who_may_not_read_the_page_is_sent_nothing(hub, api, receiver, hook):
    hub.grant("github.com/bob", API)
    change(api, hub)
    assert work(hub, Hook(hook.url, hook.secret_file, "github.com/bob")) == 1
    assert receiver.taken == []
    assert hub.rows("select count(*) from delivery") == [(0,)]


@pytest.mark.usefixtures("web")
def test_grant_that_is_withdrawn_before_the_delivery_counts(hub, api, receiver, hook):
    hub.grant("github.com/ann", WEB)
    ann = Hook(hook.url, hook.secret_file, "github.com/ann")
    change(api, hub)
    with hub.database.connection() as connection:
        announce(connection, [ann])
    hub.execute("delete from grants")
    assert deliver(hub.database, HubConfig(hub.url, hooks=(ann,)))
    assert receiver.taken == []


@pytest.mark.usefixtures("web")
def test_hooks_are_sent_the_pages_of_their_owners_and_repositories(hub, api, receiver, hook):
    def narrowed(**limits):
        return Hook(hook.url, hook.secret_file, "*", **limits)

    for number, (hook_, expected) in enumerate(
        (
            (narrowed(owners=("@acme/web",)), 1),
            (narrowed(owners=("@acme/other",)), 0),
            (narrowed(repositories=(WEB,)), 1),
            (narrowed(repositories=(WEB.replace("acme", "Acme"),)), 1),
            (narrowed(repositories=(API,)), 0),
        )
    ):
        receiver.taken.clear()
        hub.execute("delete from behind")
        change(api, hub, number + 10)
        assert work(hub, hook_) == 1
        assert len(receiver.taken) == expected


@pytest.mark.usefixtures("web")
@pytest.mark.parametrize("status", [500, 404, 302])
def test_delivery_that_is_not_taken_is_tried_again_later_and_at_last_given_up(  # noqa: PLR0917  # fixtures
    hub, api, receiver, hook, status, caplog
):
    config = HubConfig(hub.url, hooks=(hook,))
    receiver.status = status
    change(api, hub)
    with hub.database.connection() as connection:
        announce(connection, [hook])
    assert not deliver(hub.database, config)
    assert len(receiver.taken) == 1
    assert deliver(hub.database, config)  # not due
    assert len(receiver.taken) == 1
    for _ in webhooks.WAITS:
        hub.execute("update delivery set due_at = now()")
        deliver(hub.database, config)
    assert hub.rows("select count(*) from delivery") == [(0,)]
    assert "never took delivery" in caplog.text
    assert len({headers["webhook-id"] for headers, _ in receiver.taken}) == 1


def test_archived_repositories_and_records_are_not_announced(hub, api, web, receiver, hook):
    hub.execute("update repository set archived = true where name = %s", WEB)
    change(api, hub)
    assert work(hub, hook) == 0
    assert web.root
    assert receiver.taken == []


def test_settings_of_hooks_are_checked():
    good = {"url": "https://chat.example.org/hook/", "secret_file": "s", "reader": "github.com/a"}
    hub = {"url": "https://hub.example.org"}
    assert parse_config({**hub, "hooks": [good]}).hooks[0].reader == "github.com/a"
    for hooks in (
        [good, good],
        [{**good, "url": "http://chat.example.org/"}],
        [{**good, "redirect": "yes"}],
        [{"url": good["url"]}],
    ):
        with pytest.raises(ConfigError):
            parse_config({**hub, "hooks": hooks})


def test_setting_that_is_missing_or_wrong_is_named_as_it_is_written():
    hub = {"url": "https://hub.example.org"}
    forge = {"kind": "github", "host": "github.com", "api": "https://api.github.com"}
    wrong = (
        ({**hub, "forges": [forge]}, "An item of forges lacks a setting.", "It has no token_file"),
        ({}, "The configuration lacks a setting.", "It has no url."),
        ({**hub, "clients": {"ISSUER bot": "a"}}, "clients: the value of ISSUER bot is not a", ""),
    )
    for value, message, cause in wrong:
        with pytest.raises(ConfigError) as refused:
            parse_config(value)
        assert refused.value.message.startswith(message)
        assert refused.value.cause.startswith(cause)
    assert "__init__" not in str(refused.value.cause)


def test_configuration_that_does_not_exist_is_named_once(tmp_path):
    with pytest.raises(ConfigError, match="Cannot read") as error:
        read_config(str(tmp_path / "hub.json"))
    assert error.value.cause == "No such file or directory."


def test_killed_worker_loses_nothing_and_announces_nothing_twice(  # noqa: PLR0917  # fixtures
    hub, api, web, receiver, hook, database_address, tmp_path
):
    """The worker is killed at 20 points while pages come behind, one after the other."""
    choose = random.Random(34)
    pins = {}
    for number in range(20):
        api.write(f"src/s{number}.py", f"def f():\n    return {number}\n")
        api.commit()
        pins[number] = api.blob(f"src/s{number}.py")
        front = f"source_refs:\n  - path: {API}:src/s{number}.py#f\n    blob: {pins[number]}\n"
        web.write(f"docs/{number}.md", f"---\n{front}---\n# {number}\n")
    web.commit()
    hub.push(api, API)
    hub.push(web, WEB)
    work(hub, hook)
    receiver.taken.clear()
    receiver.pause = 0.05
    config = tmp_path / "hub.json"
    settings = {"url": hook.url, "secret_file": hook.secret_file, "reader": "*"}
    config.write_text(json.dumps({"url": hub.url, "hooks": [settings]}))
    environment = {**os.environ, "UBP_HUB_DATABASE": database_address}
    program = "\n".join(
        [
            "import os, sys",
            "from ubp.hub.config import read_config",
            "from ubp.hub.database import Database",
            "from ubp.hub.worker import Worker",
            "for line in sys.stdin:",
            "    child = os.fork()",
            "    if not child:",
            "        with Database.open(os.environ['UBP_HUB_DATABASE']) as database:",
            f"            worker = Worker(database, read_config({str(config)!r}))",
            "            while True:",
            "                print(os.getpid(), flush=True)",
            "                worker.work()",
            "    os.waitpid(child, 0)",
            "    print('killed', flush=True)",
        ]
    )
    with subprocess.Popen(
        [sys.executable, "-c", program],
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        bufsize=1,
    ) as process:
        for number in range(20):
            process.stdin.write("go\n")
            pid = int(process.stdout.readline())
            api.write(f"src/s{number}.py", "def f():\n    return -1\n")
            api.commit()
            hub.push(api, API)
            time.sleep(choose.random() * 0.15)
            os.kill(pid, signal.SIGKILL)
            while process.stdout.readline() != "killed\n":
                pass
        process.stdin.close()
    hub.execute("update delivery set due_at = now()")
    receiver.pause = 0.0
    assert Worker(hub.database, HubConfig(hub.url, hooks=(hook,))).work()
    by_id = {headers["webhook-id"]: json.loads(body) for headers, body in receiver.taken}
    pages = [found["page"] for value in by_id.values() for found in value["data"]["references"]]
    assert sorted(pages) == sorted(f"docs/{number}.md" for number in range(20))


def test_verdict_has_the_number_of_commits_where_the_pushes_know_it(hub, api, web):
    def commits():
        _, answer = hub.call("/v1/ask/staleness", token=TOKEN, value={"repository": WEB})
        return {page["filepath"]: page["commits"] for page in answer["references"]}

    for number in (2, 3):
        api.write("src/pay.py", PAY.replace("return amount\n", f"return amount * {number}\n", 1))
        api.commit()
    api.write("other.py", "a = 1\n")
    api.commit()
    hub.push(api, API)
    assert commits() == {"docs/charge.md": 2}
    change(api, hub)
    assert commits() == {"docs/charge.md": 3}
    # From here on somebody has rewritten the history: nobody knows.
    api.git("commit", "-q", "--amend", "-m", "rewritten")
    change(api, hub, 7)
    assert commits() == {"docs/charge.md": None}
    assert web.root
