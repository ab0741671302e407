"""A change of one repository, before it is merged, and the pages of others that describe it."""

import json

import pytest

from tests.hub.test_across import API, PAY, WEB
from tests.hub.test_identity import MCP
from ubp.__main__ import main
from ubp.answers.hub.review import MAX_CHANGES, find_changes
from ubp.index.session import Target
from ubp.workspace import Workspace

TOKEN = "development-token-for-tests"
SESSION = """class Session:
    def login(self):
        return 1

    def logout(self):
        return 2
"""


@pytest.fixture
def api(new_repository):
    repository = new_repository("api")
    repository.write("src/pay.py", PAY)
    repository.write("src/session.py", SESSION)
    repository.write("data.txt", "1\n")
    repository.commit()
    return repository


@pytest.fixture
def web(new_repository, api, hub):
    """Pages that describe parts of the other repository, whole files, and a folder."""
    repository = new_repository("web")
    sources = {
        "charge": "src/pay.py#charge",
        "refund": "src/pay.py#refund",
        "pay": "src/pay.py",
        "src": "src/",
        "login": "src/session.py#login",
        "class": "src/session.py#Session",
        "logout": "src/session.py#Session.logout",
        "data": "data.txt",
    }
    for name, source in sources.items():
        repository.page(f"docs/{name}.md", f"{API}:{source}", body=f"# {name}\n")
    repository.write("CODEOWNERS", "* @acme/web\n")
    repository.commit()
    hub.push(api, API)
    hub.push(repository, WEB)
    return repository


def changes(repository, **target):
    with Workspace.open(str(repository.root)) as workspace:
        return find_changes(workspace.session, Target(**target))


def asked(hub, changed, token=TOKEN, repository=API):
    value = {"repository": repository, "changes": changed}
    status, answer = hub.call("/v1/ask/review", token=token, value=value)
    assert status == 200, answer
    return {page["filepath"].removeprefix("docs/").removesuffix(".md") for page in answer["pages"]}


@pytest.mark.usefixtures("web")
def test_pages_on_what_changed_are_concerned_and_those_on_other_definitions_are_not(hub, api):
    api.write("src/pay.py", PAY.replace("return amount\n", "return amount * 100\n", 1))
    assert changes(api) == ["src/pay.py#charge"]
    assert asked(hub, changes(api)) == {"charge", "pay", "src"}

    api.write("src/session.py", SESSION.replace("return 1", "return 3"))
    api.git("checkout", "-q", "-b", "topic")
    api.commit()
    expected = ["src/pay.py#charge", "src/session.py#Session.login"]
    assert changes(api, ref="HEAD", base="main") == expected
    assert asked(hub, expected) == {"charge", "pay", "src", "login", "class"}


@pytest.mark.usefixtures("web")
def test_files_without_definitions_and_files_that_are_gone_count_as_a_whole(hub, api):
    api.write("data.txt", "2\n")
    api.git("rm", "-q", "src/pay.py")
    api.write("src/session.py", "print(1)\n" + SESSION)
    assert changes(api) == ["data.txt", "src/pay.py", "src/session.py#"]
    assert asked(hub, ["data.txt"]) == {"data"}
    assert asked(hub, ["src/pay.py"]) == {"charge", "refund", "pay", "src"}
    assert asked(hub, ["src/session.py#"]) == {"src"}
    assert asked(hub, ["other.txt"]) == set()


def test_excluded_files_are_not_asked_about(api):
    api.write(".ubp/config.json", '{"source": {"exclude": ["data.txt"]}}')
    api.write("data.txt", "2\n")
    api.write("private/x.py", "a = 1\n")
    assert changes(api) == [".ubp/config.json"]


def test_reader_sees_the_pages_of_readable_repositories_alone(hub, api, web, new_repository):
    other = new_repository("other")
    other.page("docs/other.md", f"{API}:src/pay.py", body="# Other\n")
    other.commit()
    hub.push(other, "github.com/acme/other")
    hub.grant("github.com/ann", WEB)
    ann = hub.person("ann")
    assert asked(hub, ["src/pay.py"]) == {"charge", "refund", "pay", "src", "other"}
    assert asked(hub, ["src/pay.py"], ann) == {"charge", "refund", "pay", "src"}
    assert asked(hub, ["src/pay.py"], hub.person("bob")) == set()
    # What is in the changed repository itself is for `ubp review`.
    assert asked(hub, ["docs/charge.md"], repository=WEB) == set()
    assert api.root != web.root


@pytest.mark.parametrize(
    "value",
    [
        {"repository": "api", "changes": []},
        {"repository": API, "changes": ["a"] * (MAX_CHANGES + 1)},
        {"repository": API, "changes": ["a\0b"]},
        {"repository": API, "changes": "a"},
        {"repository": API},
    ],
    ids=["name", "many", "NUL", "text", "none"],
)
def test_change_that_is_none_is_refused(hub, value):
    assert hub.call("/v1/ask/review", token=TOKEN, value=value)[0] == 400


@pytest.mark.usefixtures("web")
def test_agents_have_it_as_a_tool(hub):
    arguments = {"repository": API, "changes": ["src/pay.py#charge"]}
    params = {"name": "ubp_review_change", "arguments": arguments}
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    _, answer = hub.call("/mcp", token=TOKEN, body=json.dumps(call).encode(), **MCP)
    shown = json.loads(answer)["result"]["content"][0]["text"]
    assert f'docs/charge.md  describes "{API}:src/pay.py#charge"' in shown
    assert "3 pages of 1 other repository describe what this change changes." in shown


@pytest.mark.usefixtures("web")
def test_command_prints_a_list_or_the_comment_of_a_pull_request(hub, api, capsys, monkeypatch):
    monkeypatch.setenv("UBP_HUB_TOKEN", TOKEN)
    monkeypatch.chdir(api.root)
    command = ["hub", "review", "--to", hub.url, "--repository", API]
    assert main([*command, "--format", "markdown"]) == 0
    assert capsys.readouterr().out == ""
    api.write("src/pay.py", PAY.replace("return amount\n", "return amount * 100\n", 1))
    assert main(command) == 0
    assert capsys.readouterr().out.splitlines() == [
        f"{WEB}:",
        f"  docs/charge.md  describes {API}:src/pay.py#charge, unknown, owned by @acme/web",
        f"  docs/pay.md  describes {API}:src/pay.py, unknown, owned by @acme/web",
        f"  docs/src.md  describes {API}:src, unknown, owned by @acme/web",
        "3 pages of 1 other repository describe what this change changes.",
    ]
    assert main([*command, "--format", "markdown", "--limit", "1"]) == 0
    comment = capsys.readouterr().out
    assert comment.startswith("### UBP: 1 page of 1 other repository describes what this change")
    assert f"| `docs/charge.md` | `{API}:src/pay.py#charge` | `@acme/web` |" in comment
    assert comment.endswith("\n2 more: `ubp hub review --limit 1000`\n")
    assert main(["--json", *command]) == 0
    assert json.loads(capsys.readouterr().out)["total"] == 3
