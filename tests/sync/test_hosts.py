"""Hosts of mirrors: public addresses only, and the very address that was checked."""

import json
import shutil
import socket
import subprocess
import threading

import pytest

from ubp.core.errors import CollectionError
from ubp.sync.hosts import check_host

NAME = "docs.example"


@pytest.fixture
def listener():
    """A server on this machine: its port, and the first bytes of each connection."""
    server = socket.create_server(("127.0.0.1", 0))
    received = []

    def accept():
        while True:
            try:
                connection, _ = server.accept()
            except OSError:
                return
            with connection:
                connection.settimeout(5)
                received.append(connection.recv(3))

    threading.Thread(target=accept, daemon=True).start()
    yield server.getsockname()[1], received
    server.close()


@pytest.fixture
def closed_port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


@pytest.fixture
def sync(run, repository):
    """Synchronize what a repository's configuration names, and return what is printed."""

    def call(address):
        setting = {"collections": {"xx": {"git": address}}}
        repository.write(".ubp/config.json", json.dumps(setting))
        return run("collections", "sync", cwd=repository.root, status=2)

    return call


def resolve_to(monkeypatch, *addresses):
    def resolve(_host, port, **_options):
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (ip, port)) for ip in addresses]

    monkeypatch.setattr("ubp.sync.hosts.socket.getaddrinfo", resolve)


def trust(*hosts):
    for host in hosts:
        command = ["git", "config", "--global", "--add", "ubp.trustedHosts", host]
        subprocess.run(command, check=True)


PRIVATE = [
    *("https://127.0.0.1:{}/x.git", "https://localhost:{}/x.git", "https://LOCALHOST:{}/x.git"),
    *("https://user@127.0.0.1:{}/x.git", "https://[::ffff:127.0.0.1]:{}/x.git"),
    *("https://2130706433:{}/x.git", "https://0x7f000001:{}/x.git", "https://127.1:{}/x.git"),
    *("https://0:{}/x.git", "https://0177.0.0.1:{}/x.git", "https://127%2e0.0.1:{}/x.git"),
    *("https://localhost.:{}/x.git", "https://\u2460\u2461\u2466.0.0.1:{}/x.git"),
    *("https://example.org\\@127.0.0.1:{}/x.git", "https://a@b@127.0.0.1:{}/x.git"),
    *("https://127.0.0.1:{}\\@example.org/x.git", "https://127.0.0.1:{}#@example.org/x.git"),
    *("ssh://git@127.0.0.1:{}/x.git", "ssh://localhost:{}/x.git", "ssh://[::1]:{}/x.git"),
    *("ssh://a@127.0.0.1@127.0.0.1:{}/x.git", "ssh://2130706433:{}/x.git"),
    *("git@127.0.0.1:x.git", "git@localhost:x.git", "https://169.254.169.254:{}/x.git"),
    *("https://10.0.0.1:{}/x.git", "https://[fd00::1]:{}/x.git", "ssh://192.168.0.1:{}/x.git"),
]


@pytest.mark.parametrize("address", PRIVATE)
def test_sync_private_address_is_not_connected_to(address, sync, listener, closed_port):
    port, received = listener
    shown = [
        sync(address.format(number)).replace(str(number), "PORT") for number in (port, closed_port)
    ]
    assert received == []
    assert shown[0] == shown[1]
    assert "Cannot fetch" in shown[0]


@pytest.mark.parametrize("addresses", [("10.0.0.1",), ("1.1.1.1", "127.0.0.1"), ()])
@pytest.mark.parametrize("scheme", ["https://", "ssh://git@"])
def test_sync_name_with_a_private_address_or_none_has_one_message(
    addresses, scheme, sync, monkeypatch
):
    resolve_to(monkeypatch, *addresses)
    out = sync(f"{scheme}{NAME}/x.git")
    assert f"{NAME} has no address, or one that is not public." in out
    assert not any(address in out for address in addresses)


def test_sync_shared_repository_of_an_import_is_checked(run, repository, listener):
    port, received = listener
    setting = {"url": "https://spec.invalid/", "remote": f"https://127.0.0.1:{port}/x.git"}
    repository.write(".ubp/config.json", json.dumps({"collections": {"xx": setting}}))
    out = run("collections", "sync", cwd=repository.root, status=2)
    assert received == []
    assert "not public" in out or "spec.invalid" in out


@pytest.mark.parametrize("scheme", ["https", "ssh"])
def test_sync_git_connects_to_the_checked_address_whatever_the_name_means_later(
    scheme, sync, listener, monkeypatch
):
    if scheme == "ssh" and shutil.which("ssh") is None:
        pytest.skip("no ssh")
    port, received = listener
    resolve_to(monkeypatch, "127.0.0.1")
    monkeypatch.setattr("ubp.sync.hosts.is_public", lambda _: True)
    monkeypatch.setenv("https_proxy", "http://127.0.0.1:1")
    sync(f"{scheme}://{NAME}:{port}/x.git")
    assert received == [b"SSH" if scheme == "ssh" else b"\x16\x03\x01"]


@pytest.mark.parametrize(
    ("place", "is_trusted"),
    [("--global", True), ("environment", True), ("--local", False), ("collection", False)],
)
def test_sync_only_the_user_can_trust_a_host(  # noqa: PLR0917  # its fixtures
    place, is_trusted, sync, listener, repository, folder, monkeypatch
):
    port, received = listener
    key = "ubp.trustedHosts"
    if place == "environment":
        monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
        monkeypatch.setenv("GIT_CONFIG_KEY_0", key)
        monkeypatch.setenv("GIT_CONFIG_VALUE_0", "other.example 127.0.0.1")
    elif place == "collection":
        folder.mkdir()
        subprocess.run(["git", "init", "-q", "--bare", folder / "xx.git"], check=True)
        config = ["git", "-C", folder / "xx.git", "config", key, "127.0.0.1"]
        subprocess.run(config, check=True)
    else:
        repository.git("config", place, key, "127.0.0.1")
    sync(f"https://127.0.0.1:{port}/x.git")
    assert bool(received) is is_trusted


def test_sync_address_that_the_user_rewrites_is_checked_as_rewritten(sync, listener):
    port, received = listener
    rule = f"url.https://127.0.0.1:{port}/.insteadOf"
    subprocess.run(["git", "config", "--global", rule, "https://docs.example/"], check=True)
    assert "127.0.0.1 has no address, or one that is not public" in sync(f"https://{NAME}/x.git")
    trust("127.0.0.1")
    sync(f"https://{NAME}/x.git")
    assert received


def test_check_host_ssh_keeps_the_command_of_the_user(monkeypatch, tmp_path):
    resolve_to(monkeypatch, "1.1.1.1")
    options = "-o HostName=1.1.1.1 -o HostKeyAlias="

    def command(address, **environment):
        environment = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), **environment}
        variables = check_host(address, str(tmp_path), environment).variables
        return variables["GIT_SSH_COMMAND"]

    address = f"git@{NAME}:x.git"
    assert command(address) == f"ssh {options}{NAME}"
    assert command(address, GIT_SSH="/o p/ssh") == f"'/o p/ssh' {options}{NAME}"
    assert command(address, GIT_SSH_COMMAND="ssh -i key") == f"ssh -i key {options}{NAME}"
    assert command(f"ssh://{NAME}:2222/x") == (
        f"ssh -o HostName=1.1.1.1 -o 'HostKeyAlias=[{NAME}]:2222'"
    )


def test_check_host_addresses_of_https_are_those_that_git_uses(monkeypatch, tmp_path):
    resolve_to(monkeypatch, "1.1.1.1", "2606:4700::1111")
    connection = check_host(f"https://{NAME}/x", str(tmp_path), {"PATH": "/usr/bin:/bin"})
    resolved = f"http.curloptResolve={NAME}:443:1.1.1.1,[2606:4700::1111]"
    assert connection.options == ("-c", resolved, "-c", "http.proxy=")
    with pytest.raises(CollectionError, match="Cannot fetch"):
        check_host("https://docs_\u00e9.example/x", str(tmp_path), {"PATH": "/usr/bin:/bin"})


@pytest.mark.parametrize("change", ["other address", "other name", "none"])
def test_sync_addresses_that_the_base_does_not_name_are_not_fetched(
    change, run, repository, listener
):
    port, received = listener
    trust("127.0.0.1")
    address = f"https://127.0.0.1:{port}/x.git"
    repository.write(".ubp/config.json", json.dumps({"collections": {"xx": {"git": address}}}))
    repository.commit()
    name = "yy" if change == "other name" else "xx"
    own = address.replace("x.git", "y.git") if change == "other address" else address
    setting = {"collections": {name: {"git": own, "include": ["a/**"]}}}
    repository.write(".ubp/config.json", json.dumps(setting))
    repository.commit()
    out = run("collections", "sync", "--base", "HEAD~", cwd=repository.root, status=2)
    assert bool(received) is (change == "none")
    assert ("The configuration of the base does not name this address." in out) is (
        change != "none"
    )
