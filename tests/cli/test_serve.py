"""`ubp serve`: what it offers, and what keeps it from serving; how it serves is in tests/server."""

import json
import subprocess
import sys

import pytest

from ubp.cli import serve as command
from ubp.core.running import registered_server
from ubp.server.tools.registry import TOOLSETS

DOCS = [tool.name for tool in TOOLSETS["docs"]]
MAINTENANCE = [tool.name for tool in TOOLSETS["maintenance"]]


@pytest.fixture
def offered(monkeypatch, repository, ubp):
    """What would be served for some options."""
    offers = []

    def record(_, offer, **options):
        offers.append(([tool.name for tool in offer.tools], offer[1], options["level"]))

    monkeypatch.setattr("ubp.server.process.serve_repositories", record)

    def run(*options):
        answer = ubp(repository, "serve", *options)
        assert (answer.status, answer.out, answer.err) == (0, "", "")
        return offers.pop()

    return run


@pytest.mark.parametrize(
    ("options", "tools"),
    [
        ([], [*DOCS, *MAINTENANCE]),
        (["--toolsets", "maintenance"], MAINTENANCE),
        (["--tools", "ubp_get_page, ubp_search"], ["ubp_search", "ubp_get_page"]),
        (["--toolsets", "maintenance", "--tools", "ubp_get_page"], ["ubp_get_page", *MAINTENANCE]),
        (["--tools", "ubp_get_page", "--exclude-tools", "ubp_get_page"], []),
        (["--toolsets", "docs", "--exclude-tools", "ubp_search"], DOCS[1:]),
        (["--read-only"], [*DOCS, *MAINTENANCE]),
    ],
)
def test_tools_are_selected_and_exclusion_wins(offered, options, tools):
    assert offered(*options)[0] == tools


@pytest.mark.parametrize(
    ("options", "level"), [([], 20), (["--quiet"], 40), (["--verbose"], 10), (["-q"], 40)]
)
def test_log_has_the_requested_level(offered, options, level):
    assert offered(*options)[2] == level


def test_schemas_of_answers_are_offered_on_request(offered):
    assert offered()[1] is False
    assert offered("--no-output-schema")[1] is False
    assert offered("--output-schema")[1] is True


def test_list_without_default_sets_says_so(monkeypatch, repository, ubp):
    monkeypatch.setattr("ubp.server.process.serve_repositories", lambda *_, **__: None)
    answer = ubp(repository, "serve", "--toolsets", "specs,rag")
    assert answer.err == (
        "Warning: specs,rag replaces the default sets docs and maintenance; +specs,rag adds to"
        " them.\n"
    )
    assert ubp(repository, "serve", "--toolsets", "+specs,rag").err == ""


def test_directories_are_relative_to_where_the_command_runs(monkeypatch, repository, ubp):
    given = []
    serve = "ubp.server.process.serve_repositories"
    monkeypatch.setattr(serve, lambda directories, _, **__: given.append(directories))
    for name in ("one", "two"):
        (repository.root / name).mkdir()
    assert ubp(repository, "serve", "one", "two").status == 0
    assert given == [[str(repository.root / "one"), str(repository.root / "two")]]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--toolsets", "doc"], "Unknown tool set: doc."),
        (["--exclude-tools", "ubp_serch"], "Unknown tool: ubp_serch."),
        (["missing"], "There is no directory missing."),
        (["--port", "1"], "--port requires --http."),
        (["--http", "--port", "65536"], "Invalid --port: 65536."),
    ],
)
def test_invalid_call_serves_nothing(repository, ubp, options, message):
    answer = ubp(repository, "serve", *options)
    assert answer.status == 2
    assert answer.out == ""
    assert answer.err.startswith(f"Error: {message}")


def test_serve_without_the_library_names_the_install_command(repository, ubp, monkeypatch):
    monkeypatch.setattr(command, "find_spec", lambda _: None)
    answer = ubp(repository, "serve")
    assert answer.status == 2
    assert "pip install" in answer.err


def test_language_server_without_its_extra_says_how_to_install_it(repository, ubp, monkeypatch):
    monkeypatch.setattr(command, "find_spec", lambda _: None)
    answer = ubp(repository, "lsp")
    assert answer.status == 2
    assert "`ubp lsp` requires the extra `lsp`." in answer.err
    assert "[lsp]" in answer.err


def test_serve_without_a_repository_prints_nothing_on_the_wire(spawn, tmp_path):
    class Nowhere:
        root = tmp_path

    done = spawn(Nowhere, "serve", stdin=None)
    assert (done.returncode, done.stdout) == (0, "")
    assert "is not in a Git repository. Every answer says so." in done.stderr


def test_status_lists_running_servers(repository, ubp):
    repository.write("a.md", "# A\n")
    ubp(repository, "status")
    data_dir = str(repository.index.parent)
    with registered_server(data_dir):
        (server,) = json.loads(ubp(repository, "status", "--json").out)["servers"]
        text = ubp(repository, "status").out
    assert f"Server:        running (PID {server['pid']}, since " in text
    assert ubp(repository, "status", "--json").record["servers"] == []
    assert "Server:" not in ubp(repository, "status").out


def test_serve_loads_no_model_and_no_other_command():
    heavy = {"numpy", "model2vec", "mcp", "markdown_it", "ubp.cli.bind_session"}
    load = "import sys, ubp.cli.serve, ubp.server.process, ubp.server.tools.registry"
    program = f"{load}; print({heavy} & {{*sys.modules}})"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, check=True, text=True
    )
    assert done.stdout == "set()\n"
