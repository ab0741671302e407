"""The client of servers that the user names: bounded in time and size, and silent about the key."""

import socket
import threading
import time

import pytest

from ubp.core.endpoint import Endpoint, find_endpoint, is_safe_address, join_address
from ubp.core.errors import UsageError
from ubp.core.http import EndpointClient, EndpointError, Limits

KEY = "sk-secret-1234567890"


@pytest.fixture
def serve():
    """Serve one connection with a function from its socket; return the server's URL."""
    listeners = []

    def start(answer):
        listener = socket.create_server(("127.0.0.1", 0))
        listeners.append(listener)

        def run():
            try:
                while True:
                    connection, _ = listener.accept()
                    with connection:
                        connection.recv(65_536)
                        answer(connection)
            except OSError:  # the client has gone, or the test has ended
                pass

        threading.Thread(target=run, daemon=True).start()
        return f"http://127.0.0.1:{listener.getsockname()[1]}/v1"

    yield start
    for listener in listeners:
        listener.close()


def ask(url, **limits):
    client = EndpointClient(Endpoint(url, "tiny", KEY), Limits(**limits))
    try:
        return client.post("/embeddings", {"input": ["x"]})
    finally:
        client.close()


def reply(status, body):
    return f"HTTP/1.1 {status} X\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode()


@pytest.mark.parametrize("part", ["headers", "body"])
def test_server_that_sends_a_byte_at_a_time_is_given_up_in_time(serve, part):
    def drip(connection):
        if part == "body":
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n")
        for _ in range(200):
            connection.sendall(b"X")
            time.sleep(0.02)

    start = time.monotonic()
    with pytest.raises(EndpointError, match="takes too long"):
        ask(serve(drip), seconds=0.3)
    assert time.monotonic() - start < 2


def test_answer_that_is_too_large_is_not_read(serve):
    def flood(connection):
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100000000\r\n\r\n")
        while True:
            connection.sendall(b"x" * 65_536)

    with pytest.raises(EndpointError, match="too large"):
        ask(serve(flood), max_bytes=200_000)


@pytest.mark.parametrize(
    "body",
    [
        f'{{"error": {{"message": "Incorrect API key: {KEY}", "code": "invalid_api_key"}}}}',
        f'{{"detail": "Incorrect API key: {KEY}"}}',
        f'{{"error": "Incorrect API key: {KEY}", "error_type": "Validation"}}',
        f"Incorrect API key: {KEY}",
    ],
)
def test_error_of_a_server_is_shown_without_the_key(serve, body):
    with pytest.raises(EndpointError) as refused:
        ask(serve(lambda connection: connection.sendall(reply(401, body))))
    assert str(refused.value) == "it answered 401: Incorrect API key: …"
    assert refused.value.status == 401


def test_redirect_is_not_followed(serve):
    answer = b"HTTP/1.1 302 X\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n"
    with pytest.raises(EndpointError, match="it answered 302"):
        ask(serve(lambda connection: connection.sendall(answer)))


def test_key_is_not_in_the_representation_of_an_endpoint():
    assert KEY not in repr(Endpoint("https://example.com/v1", "tiny", KEY))


@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("https://api.openai.com/v1", "https://api.openai.com/v1/embeddings"),
        ("http://localhost:8080/v1/embeddings", "http://localhost:8080/v1/embeddings"),
        (
            "https://x.openai.azure.com/openai/deployments/small?api-version=2024-10-21",
            "https://x.openai.azure.com/openai/deployments/small/embeddings?api-version=2024-10-21",
        ),
    ],
)
def test_address_of_a_call_is_below_the_url(url, address):
    assert join_address(url, "/embeddings") == address


@pytest.mark.parametrize(
    "url", ["https://me:secret@example.com/v1", "http://10.0.0.1/v1", "https://x:port/", "v1"]
)
def test_address_with_a_password_or_on_another_machine_without_tls_is_refused(url):
    assert not is_safe_address(url)
    with pytest.raises(UsageError) as refused:
        find_endpoint({"X_URL": url, "X_MODEL": "m"}, "X", sent="texts", extra="full")
    assert "secret" not in str(refused.value)
