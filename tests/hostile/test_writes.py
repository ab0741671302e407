"""Agents' writes that must not get through; benchmarks/robustness/hostile_writes.py makes all."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from victim import NOW, Victim
from write_attacks import WRITES, Write, judge, make_target

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs links and such names")

# What got through once, and the last one of each kind.
FOUND = {
    *("docs/con.md", "docs/x?.md", "docs/" + "x" * 300 + ".md", "%2e%2e/outside/secret.md"),
    *("# X\n\na\x9bb\n", "\ud800", "<!-- ubp: ignore[broken-link] -->\n[x](gone.md)", "../**"),
}


def was_found(write):
    values = [value for value in write.arguments.values() if isinstance(value, str)]
    values += write.arguments.get("source_refs", ())
    return write.tool == "ubp_create_page" and bool(FOUND & {*values})


TESTED = [*{write.name: write for write in WRITES}.values(), *filter(was_found, WRITES)]


@pytest.fixture(scope="module")
def victim(isolate, tmp_path_factory):
    with pytest.MonkeyPatch.context() as monkeypatch:
        isolate(monkeypatch)
        monkeypatch.setenv("UBP_NOW", str(NOW))
        made = Victim(tmp_path_factory.mktemp("written"))
        make_target(made)
        yield made


@pytest.mark.parametrize(
    "write",
    [pytest.param(write, id=f"{number} {write.name}") for number, write in enumerate(TESTED)],
)
def test_a_write_gets_through_nowhere(write, victim):
    fault = judge(victim, write)
    victim.answers.clear()
    assert fault == ""


def test_the_list_is_long_and_all_that_was_found_is_tested():
    assert len(WRITES) >= 500
    assert len([*filter(was_found, WRITES)]) >= len(FOUND)


def test_the_judge_notices_what_is_not_refused_and_what_no_review_shows(victim):
    page = {"filepath": "docs/fine.md", "content": "# X\n", "reason": "Because."}
    write = Write("fine", "ubp_create_page", page)
    assert judge(victim, write) == "it was not refused"
    assert judge(victim, write._replace(is_refused=False)) == ""
    write = write._replace(is_refused=False, warning="a secret")
    assert judge(victim, write) == "the review has no warning"
