"""No attack of the list achieves anything; each names the rule that stops it."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from attacks import RULES
from catalogue import ABUSES, ATTACKS, TESTED
from victim import NOW, SECRET, Server, Victim

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs pipes, links and such names")


@pytest.fixture(scope="module")
def template(isolate, tmp_path_factory):
    with pytest.MonkeyPatch.context() as monkeypatch:
        isolate(monkeypatch)
        return Victim(tmp_path_factory.mktemp("template"))


@pytest.mark.parametrize("attack", [pytest.param(attack, id=attack.name) for attack in TESTED])
def test_an_attack_on_a_repository_achieves_nothing(attack, template, tmp_path, monkeypatch):
    monkeypatch.setenv("UBP_NOW", str(NOW))
    victim = Victim(tmp_path, template)
    attack.build(victim)
    assert attack.judge(victim) == ""


@pytest.fixture(scope="module")
def server(isolate, tmp_path_factory):
    with pytest.MonkeyPatch.context() as monkeypatch:
        isolate(monkeypatch)
        served = Server(Victim(tmp_path_factory.mktemp("served")).root)
        yield served
        served.close()


@pytest.mark.parametrize("abuse", [pytest.param(abuse, id=abuse.name) for abuse in ABUSES])
def test_an_abuse_of_the_server_achieves_nothing(abuse, server):
    assert abuse.judge(abuse.send(server)) == ""


def test_attacks_have_names_of_their_own_and_every_rule_stops_some():
    attacks = [*ATTACKS, *ABUSES]
    assert len({attack.name for attack in attacks}) == len(attacks) >= 100
    assert {attack.rule for attack in attacks} == RULES.keys()


def test_the_threat_model_names_every_rule_and_counts_the_attacks():
    model = (Path(__file__).parents[2] / "SECURITY.md").read_text(encoding="utf-8")
    assert [rule for rule in RULES if f"**{rule}**" not in model] == []
    assert f"makes {len(ATTACKS) + len(ABUSES)} attacks" in model


def test_the_judge_notices_what_an_attack_achieves(template, tmp_path, monkeypatch):
    monkeypatch.setenv("UBP_NOW", str(NOW))
    victim = Victim(tmp_path, template)
    victim.write("docs/b.md", f"# {SECRET}\n")
    victim.ubp("list-pages")
    assert "outside the repository was read" in victim.achieved()
    victim.harm.touch()
    assert victim.achieved() == "a program was run"
