"""The pages of a clone that are behind, and the proposal that moves their pins."""

import json

import pytest

from tests.hub.test_across import API, PAY, WEB
from ubp.__main__ import main
from ubp.hub.repositories import identify

FRONT = """---
title: Pay
source_refs:
  - path: {api}:src/pay.py#charge
    blob: {pin}
    reason: Read in spring.
  - {api}:src/other.py
  # a comment that stays
  - path: {api}:src/pay.py#refund
    blob: {pin}
---
# Pay
"""


@pytest.fixture
def clone(new_repository, hub, monkeypatch):
    """A clone whose page is behind for one of its two pinned sources."""
    api, web = new_repository("api"), new_repository("web")
    api.write("src/pay.py", PAY)
    api.commit()
    hub.push(api, API)
    pin = api.blob("src/pay.py")
    web.write("docs/pay.md", FRONT.format(api=API, pin=pin[:12]))
    web.write(
        "docs/whole.md", f"---\nsource_refs:\n  - path: {API}:src/pay.py\n    blob: {pin}\n---\n"
    )
    web.commit()
    hub.push(web, WEB)
    api.write("src/pay.py", PAY.replace("return amount\n", "return amount * 100\n", 1))
    api.commit()
    hub.push(api, API)
    api.write("src/pay.py", PAY.replace("return amount\n", "return amount * 200\n", 1))
    api.commit()
    hub.push(api, API)
    web.tip = api.blob("src/pay.py")
    monkeypatch.setenv("UBP_HUB_TOKEN", "development-token-for-tests")
    monkeypatch.chdir(web.root)
    return web


def behind(hub, *options):
    return ["hub", "behind", "--to", hub.url, "--repository", WEB, *options]


def test_pages_are_listed_with_what_they_describe(hub, clone, capsys):
    before = clone.git("status", "--porcelain", "--branch")
    assert main(behind(hub)) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 4
    assert f"docs/pay.md  describes {API}:src/other.py, gone at the tip" in lines[0] + lines[1]
    assert any(f"{API}:src/pay.py#charge, behind the tip" in line for line in lines)
    assert lines[-1] == "2 pages are behind the tip of another repository."
    assert clone.git("status", "--porcelain", "--branch") == before
    assert main(["-q", *behind(hub)]) == 0
    assert capsys.readouterr().out == "docs/pay.md\ndocs/whole.md\n"


def test_proposal_moves_the_pins_that_are_behind_and_nothing_else(hub, clone, capsys):
    assert main(["--json", *behind(hub, "--propose")]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["moved"] == 2
    number = answer["proposal"]
    assert main(["proposals", "accept", str(number)]) == 0
    shown = clone.git("show", "HEAD:docs/pay.md")
    first, second = (part for part in shown.split("blob: ")[1:])
    assert first.startswith(clone.tip[:12])
    assert not second.startswith(clone.tip[:12])
    assert "Read in spring" not in shown
    assert "# a comment that stays" in shown
    assert clone.tip[:12] in clone.git("show", "HEAD:docs/whole.md")


def test_second_proposal_of_the_same_pins_adds_nothing(hub, clone, capsys):
    assert main(["--json", *behind(hub, "--propose")]) == 0
    first = json.loads(capsys.readouterr().out)
    assert main(["--json", *behind(hub, "--propose")]) == 0
    again = json.loads(capsys.readouterr().out)
    assert (first["moved"], again["moved"], again["proposal"]) == (2, 0, None)
    assert main(behind(hub, "--propose")) == 0
    assert "\nNo pin is proposed: an edit or a proposal has moved it" in capsys.readouterr().out
    assert main(behind(hub)) == 0
    assert "No pin is proposed" not in capsys.readouterr().out
    assert clone.root


def test_repository_that_was_renamed_is_meant_and_one_that_was_never_pushed_is_named(
    hub, clone, capsys
):
    renamed = "github.com/acme/site"
    hub.execute("update repository set forge_id = id::text")
    ((key,),) = hub.rows("select forge_id from repository where name = %s", WEB)
    with hub.database.connection() as connection:
        identify(connection, renamed, key)
    assert main(behind(hub)) == 0
    assert capsys.readouterr().out.endswith("2 pages are behind the tip of another repository.\n")
    assert main(["hub", "diff", *behind(hub)[2:]]) == 0
    capsys.readouterr()

    other = ["hub", "behind", "--to", hub.url, "--repository", "github.com/acme/new"]
    assert main(other) == 2
    assert "The hub has no board of github.com/acme/new" in capsys.readouterr().err
    assert clone.root
