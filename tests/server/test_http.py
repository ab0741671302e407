"""Streamable HTTP: the same answers for several clients at once, and nothing without the token."""

import asyncio
import os
import re
import signal
import stat
import subprocess
import sys
from contextlib import asynccontextmanager, contextmanager

import httpx2
import pytest
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client

from ubp.core.errors import UsageError
from ubp.server.loopback import http_options, listen_on_loopback

pytestmark = pytest.mark.anyio

TOKEN = "a-token-of-26-characters-x"  # of the server below
CALL = {"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {}}


@pytest.fixture(scope="module")
def repository(shared_repository):
    """A page whose source can change, and a name that is not UTF-8."""
    shared_repository.write("src/a.py", "1\n")
    shared_repository.page("docs/a.md", "src/a.py", body="# A\n\nThe token expires.\n")
    (shared_repository.root / os.fsdecode(b"docs/b\xff.md")).write_text("# B\n\nMore tokens.\n")
    shared_repository.commit()
    return shared_repository


@contextmanager
def serving(repository, environment, *options):
    """The address of a server on a free port."""
    with subprocess.Popen(
        [sys.executable, "-m", "ubp", "serve", "--http", "--port", "0", *options],
        cwd=repository.root,
        env={**environment, "UBP_SERVE_TOKEN": TOKEN},
        stderr=subprocess.PIPE,
        text=True,
    ) as server:
        for line in server.stderr:
            if line.startswith("Serving at "):
                break
        assert server.stderr.readline() == (
            "Clients must send the header Authorization: Bearer $UBP_SERVE_TOKEN\n"
        )
        try:
            yield line.split()[2]
        finally:  # also after a failure: else it would be waited for without end
            server.send_signal(signal.SIGTERM)
            rest = server.stderr.read()
    assert server.returncode == 0, rest
    assert TOKEN not in rest
    assert rest.count("received SIGTERM, stopping") == 1


@pytest.fixture(scope="module")
def address(repository, module_environment):
    with serving(repository, module_environment, "--output-schema") as found:
        yield found


@asynccontextmanager
async def connected(address, mode="auto", **headers):
    headers = {"Authorization": f"Bearer {TOKEN}", **headers}
    async with (
        httpx2.AsyncClient(headers=headers) as http,
        Client(streamable_http_client(address, http_client=http), mode=mode) as client,
    ):
        yield client


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_two_clients_at_once_get_what_stdio_answers(address, mode):
    async with connected(address, mode) as client, connected(address) as other:
        assert len((await client.list_tools()).tools) == 10
        answers = await asyncio.gather(
            *(one.call_tool("ubp_search", {"query": "token"}) for one in (client, other) * 3)
        )
        for answer in answers:
            assert [page["filepath"] for page in answer.structured_content["results"]] == [
                "docs/a.md",
                "docs/b\ufffd.md",
            ]
        with pytest.raises(MCPError, match="Unknown resource"):
            await client.read_resource("ubp://page/none.md")


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Authorization": ""}, 401),
        ({"Authorization": f"Bearer {TOKEN}x"}, 401),
        ({"Authorization": f"Basic {TOKEN}"}, 401),
        ({"Host": "example.org"}, 421),
        ({"Host": "127.0.0.1.example.org:80"}, 421),
        ({"Origin": "https://example.org"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "http://localhost:3000"}, 200),
    ],
)
async def test_requests_are_refused_unless_they_have_the_token_and_names_of_this_machine(
    address, headers, status
):
    given = {
        "Authorization": f"bearer {TOKEN}",
        "Accept": "application/json, text/event-stream",
        **headers,
    }
    opening = {
        **CALL,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        },
    }
    async with httpx2.AsyncClient() as client:
        answer = await client.post(address, json=opening, headers=given)
    assert answer.status_code == status


async def test_without_a_token_there_is_no_file_and_no_address(address):
    async with httpx2.AsyncClient() as client:
        for path in ("", "/", "/.well-known/oauth-protected-resource"):
            answer = await client.get(address.removesuffix("/mcp") + path)
            assert answer.status_code == 401


async def test_a_client_that_listens_learns_that_a_page_became_stale(address, repository):
    page = "ubp://page/docs/a.md"
    async with connected(address) as client:
        assert "Staleness: fresh." in (await client.read_resource(page)).contents[0].text
        async with client.listen(resource_subscriptions=[page, "ubp://stale"]) as subscription:
            repository.write("src/a.py", "2\n")
            async with asyncio.timeout(20):
                updated = {(await anext(subscription)).uri for _ in range(2)}
        assert updated == {page, "ubp://stale"}
        text = (await client.read_resource(page)).contents[0].text
        assert re.search(r"Staleness: \w*stale: src/a.py modified", text)
    repository.write("src/a.py", "1\n")


class TestOptions:
    """Where the token comes from."""

    def test_a_new_token_is_shown(self, tmp_path):
        options = http_options(0, None, {}, str(tmp_path), list)
        assert options.shown_token == options.token
        assert len(options.token) > 40

    def test_a_file_that_does_not_exist_gets_a_new_token_for_its_owner_only(self, tmp_path):
        options = http_options(0, "token", {"UBP_SERVE_TOKEN": TOKEN}, str(tmp_path), list)
        file = tmp_path / "token"
        assert file.read_text() == f"{options.token}\n"
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert options == http_options(0, "token", {}, str(tmp_path), list)
        assert options.shown_token == "<the content of token>"  # where it is

    @pytest.mark.parametrize("token", ["", "short", "with spaces in the middle of it", "é" * 20])
    def test_an_unusable_token_is_an_error_that_does_not_show_it(self, tmp_path, token):
        (tmp_path / "token").write_text(token)
        for given in ({"UBP_SERVE_TOKEN": token}, {}):
            with pytest.raises(UsageError) as caught:
                http_options(0, None if given else "token", given, str(tmp_path), list)
            assert "does not contain a usable token" in caught.value.message
            assert not token or token not in str(caught.value)

    def test_a_port_in_use_is_an_error(self):
        with listen_on_loopback(0) as listener:
            port = listener.getsockname()[1]
            with pytest.raises(UsageError, match=f"Cannot listen on 127.0.0.1:{port}"):
                listen_on_loopback(port)


async def test_clients_of_one_program_are_told_apart_by_a_header(repository, module_environment):
    page = {"filepath": "docs/a.md", "sources": ["docs"], "reason": "why"}
    with serving(repository, module_environment, "--toolsets", "edit") as place:
        async with connected(place, **{"UBP-Session": "a"}) as client:
            assert not (await client.call_tool("ubp_bind", page)).is_error
        for headers in ({"UBP-Session": "b"}, {}):
            async with connected(place, **headers) as client:
                answer = await client.call_tool("ubp_bind", page)
                assert "docs/a.md is locked by proposal 1." in answer.content[0].text
    repository.git("branch", "--quiet", "-D", "ubp/proposals/1")


@pytest.mark.parametrize("is_linked", [False, True])
@pytest.mark.parametrize("is_committed", [False, True])
def test_token_file_that_git_tracks_is_refused(is_linked, is_committed, new_repository, tmp_path):
    repository = new_repository("tracked")
    repository.write("token", TOKEN).chmod(0o600)
    repository.git("add", "token")
    if is_committed:
        repository.commit()
    name = repository.root / "token"
    if is_linked:
        name = tmp_path / "link"
        name.symlink_to(repository.root / "token")
    with pytest.raises(UsageError, match="is not secret"):
        http_options(0, str(name), {}, str(tmp_path), list)


@pytest.mark.skipif(os.name == "nt", reason="modes")
@pytest.mark.parametrize("mode", [0o620, 0o602, 0o622, 0o666, 0o777])
def test_token_file_that_others_can_write_is_refused(mode, tmp_path):
    file = tmp_path / "token"
    file.write_text(TOKEN)
    file.chmod(mode)
    with pytest.raises(UsageError, match="can be replaced") as error:
        http_options(0, "token", {}, str(tmp_path), list)
    assert error.value.cause == f"The mode of the file is {mode:o}."


@pytest.mark.skipif(os.name == "nt", reason="modes")
@pytest.mark.parametrize(
    ("mode", "count"), [(0o600, 0), (0o400, 0), (0o640, 1), (0o604, 1), (0o444, 1)]
)
def test_token_file_that_others_can_read_is_used_with_a_warning(
    mode, count, new_repository, tmp_path
):
    repository = new_repository("ignoring")
    repository.write(".gitignore", "token\n")
    repository.commit()
    for folder in (tmp_path, repository.root):
        file = folder / "token"
        file.write_text(TOKEN)
        file.chmod(mode)
        warnings = []
        assert http_options(0, "token", {}, str(folder), warnings.append).token == TOKEN
        assert len(warnings) == count
