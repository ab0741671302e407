"""Which addresses are reached: public ones only, whatever names resolve to."""

import socket
import threading

import httpcore2
import httpx2
import pytest

from ubp.sync.fetch import FetchError, PublicNetwork, PublicTransport, check_url
from ubp.sync.hosts import is_public

PRIVATE = """
127.0.0.1 10.1.2.3 172.16.0.1 192.168.1.1 169.254.169.254 100.64.0.1 0.0.0.0 224.0.0.1
255.255.255.255 ::1 :: fe80::1 fe80::1%eth0 fc00::1 ff02::1 ::ffff:127.0.0.1
::ffff:169.254.169.254 2002:7f00:1:: 64:ff9b::10.0.0.1 64:ff9b::7f00:1
"""


@pytest.mark.parametrize("address", PRIVATE.split())
def test_private_addresses_are_recognized(address):
    assert not is_public(address)


@pytest.mark.parametrize("address", ["1.1.1.1", "2606:4700:4700::1111", "64:ff9b::101:101"])
def test_public_address_is_recognized(address):
    assert is_public(address)


@pytest.fixture
def listener():
    """A port of this machine, and how many connections it accepted."""
    server = socket.create_server(("127.0.0.1", 0))
    accepted = []

    def accept() -> None:
        while True:
            try:
                connection, _ = server.accept()
            except OSError:
                return
            accepted.append(connection)
            connection.close()

    threading.Thread(target=accept, daemon=True).start()
    yield server.getsockname()[1], accepted
    server.close()


def resolve_to(monkeypatch, *addresses):
    found = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, 443)) for address in addresses]
    monkeypatch.setattr("ubp.sync.hosts.socket.getaddrinfo", lambda *_, **__: found)


@pytest.mark.parametrize("others", [(), ("1.1.1.1",)])
def test_host_with_a_private_address_is_not_connected_to(listener, monkeypatch, others):
    port, accepted = listener
    resolve_to(monkeypatch, *others, "127.0.0.1")
    with pytest.raises(FetchError, match=r"has the address 127.0.0.1, which is not public"):
        PublicNetwork().connect_tcp("inside.example", port)
    assert accepted == []


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]", "2130706433", "0x7f.1"])
def test_request_to_this_machine_is_refused_in_every_spelling(listener, host):
    port, accepted = listener
    transport = PublicTransport()
    request = httpx2.Request("GET", f"https://{host}:{port}/")
    with pytest.raises((FetchError, httpcore2.ConnectError)):
        transport.handle_request(request)
    transport.close()
    assert accepted == []


def test_connection_uses_the_address_that_was_checked(monkeypatch):
    connected = []

    def connect(_self, host, *_args, **_options):
        connected.append(host)
        raise httpcore2.ConnectError("refused")

    monkeypatch.setattr(httpcore2.SyncBackend, "connect_tcp", connect)
    resolve_to(monkeypatch, "1.1.1.1", "1.0.0.1")
    with pytest.raises(httpcore2.ConnectError):
        PublicNetwork().connect_tcp("public.example", 443)
    assert connected == ["1.1.1.1", "1.0.0.1"]


@pytest.mark.parametrize(
    "url",
    [
        "http://a.example/",
        "ftp://a.example/",
        "file:///etc/passwd",
        "https:///x",
        "https://u:p@a.example/",
        "https://[::1",
        "https://a.example:0/",
        "https://a.example:99999/",
    ],
)
def test_address_without_https_is_refused(url):
    with pytest.raises(FetchError):
        check_url(url)
