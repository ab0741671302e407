"""No attack of the list achieves anything; each names the rule that stops it."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from attacks import BY_CLIENTS, RULES
from catalogue import ALL, ATTACKS, TESTED
from editor_attacks import BY_EDITORS, prepare_editor
from http_attacks import ON_HTTP, HttpServer
from repository_attacks import AMONG_REPOSITORIES, prepare_other, serve_both
from victim import NOW, SECRET, Editor, Server, Victim

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs pipes, links and such names")


@pytest.fixture(scope="module", autouse=True)
def environment(isolate):
    with pytest.MonkeyPatch.context() as monkeypatch:
        isolate(monkeypatch)
        yield


@pytest.fixture(scope="module")
def template(tmp_path_factory):
    return Victim(tmp_path_factory.mktemp("template"))


@pytest.mark.parametrize("attack", [pytest.param(attack, id=attack.name) for attack in TESTED])
def test_an_attack_on_a_repository_achieves_nothing(attack, template, tmp_path, monkeypatch):
    monkeypatch.setenv("UBP_NOW", str(NOW))
    victim = Victim(tmp_path, template)
    attack.build(victim)
    assert attack.judge(victim) == ""


def named(abuses):
    return [pytest.param(abuse, id=abuse.name) for abuse in abuses]


@pytest.fixture(scope="module")
def server(template, tmp_path_factory):
    served = Server(Victim(tmp_path_factory.mktemp("served"), template).root)
    yield served
    served.close()


@pytest.mark.parametrize("abuse", named(BY_CLIENTS))
def test_an_abuse_of_the_server_achieves_nothing(abuse, server):
    assert abuse.judge(abuse.send(server)) == ""


@pytest.fixture(scope="module")
def server_of_both(template, tmp_path_factory):
    victim = Victim(tmp_path_factory.mktemp("first"), template)
    served = serve_both(victim, prepare_other(template, tmp_path_factory.mktemp("second")))
    yield served
    served.close()


@pytest.mark.parametrize("abuse", named(AMONG_REPOSITORIES))
def test_an_abuse_of_a_server_of_two_repositories_achieves_nothing(abuse, server_of_both):
    assert abuse.judge(abuse.send(server_of_both)) == ""


@pytest.fixture(scope="module")
def editor(template, tmp_path_factory):
    victim = Victim(tmp_path_factory.mktemp("edited"), template)
    prepare_editor(victim)
    started = Editor(victim.root)
    yield started
    started.close()
    assert not victim.harm.exists()


@pytest.mark.parametrize("abuse", named(BY_EDITORS))
def test_an_abuse_of_the_language_server_achieves_nothing(abuse, editor):
    assert abuse.judge(editor, abuse.send(editor)) == ""


@pytest.fixture(scope="module")
def http_server(template, tmp_path_factory):
    started = HttpServer(Victim(tmp_path_factory.mktemp("http"), template).root)
    yield started
    started.close()


@pytest.mark.parametrize("abuse", named(ON_HTTP))
def test_an_abuse_of_the_server_on_http_achieves_nothing(abuse, http_server):
    assert abuse.judge(http_server) == ""


def test_attacks_have_names_of_their_own_and_every_rule_stops_some():
    for attacks in (ATTACKS, BY_CLIENTS, AMONG_REPOSITORIES, BY_EDITORS, ON_HTTP):
        names = [attack.name for attack in attacks]
        assert sorted(names) == sorted(set(names))
    assert {attack.rule for attack in ALL} == RULES.keys()


def test_the_threat_model_names_every_rule_and_counts_the_attacks():
    model = (Path(__file__).parents[2] / "SECURITY.md").read_text(encoding="utf-8")
    assert [rule for rule in RULES if f"**{rule}**" not in model] == []
    assert f"make {len(ALL)} attacks" in model


def test_the_judge_notices_what_an_attack_achieves(template, tmp_path, monkeypatch):
    monkeypatch.setenv("UBP_NOW", str(NOW))
    victim = Victim(tmp_path, template)
    victim.write("docs/b.md", f"# {SECRET}\n")
    victim.ubp("list-pages")
    assert "outside the repository was read" in victim.achieved()
    victim.harm.touch()
    assert victim.achieved() == "a program was run"
