"""A change in one repository, and the pages of others that describe what changed."""

import json

import pytest

from ubp.__main__ import main

API, WEB = "github.com/acme/api", "github.com/acme/web"
PAY = "def charge(amount):\n    return amount\n\n\ndef refund(amount):\n    return -amount\n"


@pytest.fixture
def api(new_repository):
    repository = new_repository("api")
    repository.write("src/pay.py", PAY)
    repository.write(".github/CODEOWNERS", "* @acme/api\n")
    repository.page("docs/pay.md", "src/pay.py", body="# Payments\n")
    repository.commit()
    return repository


@pytest.fixture
def web(new_repository, api):
    """A repository of pages about the other one's code, pinned."""
    repository = new_repository("web")
    pin = api.blob("src/pay.py")
    for name in ("charge", "refund"):
        front = f"source_refs:\n  - path: {API}:src/pay.py#{name}\n    blob: {pin}\n"
        repository.write(f"docs/{name}.md", f"---\n{front}---\n# How to {name}\n")
    repository.write("CODEOWNERS", "docs/ @acme/web\n")
    repository.commit()
    return repository


@pytest.fixture
def elsewhere(tmp_path, monkeypatch):
    """Outside any repository, with a token for the hub."""
    monkeypatch.setenv("UBP_HUB_TOKEN", "development-token-for-tests")
    monkeypatch.chdir(tmp_path)


def asked(hub, source, token):
    status, answer = hub.call("/v1/ask/impact", token=token, value={"source": f"{API}:{source}"})
    assert status == 200
    return {(page["repository"], page["filepath"]): page["tip"] for page in answer["pages"]}


def test_a_changed_symbol_puts_the_pages_of_others_behind_the_tip(hub, api, web):
    hub.push(api, API)
    hub.push(web, WEB)
    for name in (API, WEB):
        hub.grant("github.com/ann", name)
    ann, key = hub.person("ann"), (WEB, "docs/charge.md")
    assert asked(hub, "src/pay.py#charge", ann)[key] == "current"
    api.write("src/pay.py", PAY.replace("return amount\n", "return amount * 100\n", 1))
    api.commit()
    hub.push(api, API)
    found = asked(hub, "src/pay.py", ann)
    assert found[key] == "behind"
    assert found[WEB, "docs/refund.md"] == "current"
    assert found[API, "docs/pay.md"] == "behind"
    assert asked(hub, "src/pay.py#refund", ann).keys() == {
        (API, "docs/pay.md"),
        (WEB, "docs/refund.md"),
    }
    hub.grant("github.com/bob", WEB)
    bob = asked(hub, "src/pay.py", hub.person("bob"))
    assert bob == {(WEB, f"docs/{name}.md"): "unknown" for name in ("charge", "refund")}
    _, answer = hub.call("/v1/ask/staleness", token=ann, value={"repository": WEB})
    (reference,) = answer["references"]
    assert (reference["owners"], reference["source"]) == (
        ["@acme/web"],
        f"{API}:src/pay.py#charge",
    )


def test_a_moved_file_is_found_by_both_of_its_names(hub, api, web):
    hub.push(api, API)
    hub.push(web, WEB)
    api.git("mv", "src/pay.py", "src/money.py")
    api.commit()
    hub.push(api, API)
    token = "development-token-for-tests"
    old, new = (asked(hub, path, token) for path in ("src/pay.py", "src/money.py"))
    assert old[WEB, "docs/charge.md"] == new[WEB, "docs/charge.md"] == "gone"
    _, answer = hub.call("/v1/ask/impact", token=token, value={"source": f"{API}:src/money.py"})
    assert answer["former_paths"] == ["src/pay.py"]
    assert {page["moved_to"] for page in answer["pages"] if page["repository"] == WEB} == {
        "src/money.py"
    }


@pytest.mark.usefixtures("elsewhere")
def test_the_command_asks_the_hub(hub, api, web, capsys):
    hub.push(api, API)
    hub.push(web, WEB)
    assert main(["impact", "--hub", hub.url, f"{API}:src/pay.py#charge"]) == 0
    printed = capsys.readouterr().out
    assert f"docs/charge.md  describes {API}:src/pay.py#charge, owned by @acme/web" in printed
    assert f"2 pages of 2 repositories describe {API}:src/pay.py#charge." in printed
    assert main(["--json", "impact", "--hub", hub.url, f"{API}:src"]) == 0
    assert json.loads(capsys.readouterr().out)["total"] == 3
    assert main(["impact", "--hub", hub.url, "src/pay.py"]) == 2
    assert "names no repository" in capsys.readouterr().err


def test_in_a_clone_a_reference_to_another_repository_is_fresh_at_its_pin(web, capsys, monkeypatch):
    monkeypatch.chdir(web.root)
    assert main(["stale", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["summary"]["fresh"] == 2
    assert main(["check"]) == 0
    web.page("docs/unpinned.md", f"{API}:src/pay.py", body="# Unpinned\n")
    web.commit()
    assert main(["stale"]) == 2
    assert "never existed" not in capsys.readouterr().out
