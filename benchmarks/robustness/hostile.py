"""Whether any attack of tests/hostile gets through: whole sizes, in processes with limits.

    python benchmarks/robustness/hostile.py [--only WORDS] [--every-command]

The tests run the same list at a tenth of the size. Here each attack has a process of its own, which
may take 2 GB of address space and 60 s of CPU. `--every-command` asks all commands about each
repository, not only those that an attack aims at.
"""

import argparse
import os
import resource
import sys
import tempfile
import traceback
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks.common.measure import print_table

os.environ["HOSTILE_SCALE"] = "1"
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "hostile"))

import victim
from attacks import BY_CLIENTS, EVERYTHING, Attack
from catalogue import ATTACKS
from editor_attacks import BY_EDITORS, prepare_editor
from http_attacks import ON_HTTP, HttpServer
from repository_attacks import AMONG_REPOSITORIES, prepare_other, serve_both
from victim import Editor, Server, Victim, isolate

MAX_BYTES, MAX_SECONDS = 2 << 30, 60


class Outcome(NamedTuple):
    """What an attack achieved ("" if nothing), and what its process took."""

    name: str
    rule: str
    fault: str
    seconds: float
    megabytes: float


def main() -> None:
    """Run the attacks, and exit with 1 if one gets through."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", default="", help="run the attacks whose names contain this")
    parser.add_argument("--every-command", action="store_true", help="run all commands")
    options = parser.parse_args()
    commands = EVERYTHING if options.every_command else ()
    attacks = [attack for attack in ATTACKS if options.only in attack.name]
    victim.MAX_CPU_SECONDS = MAX_SECONDS
    with tempfile.TemporaryDirectory() as folder:
        isolate(Path(folder))
        template = Victim(_make(folder, "template"))
        outcomes = [
            _run(attack, Victim(_make(folder, str(number)), template), commands)
            for number, attack in enumerate(attacks)
        ]
        outcomes += [
            outcome for outcome in _abuse(Path(folder), template) if options.only in outcome.name
        ]
    rules = Counter(outcome.rule for outcome in outcomes)
    rows = [(rule, str(count)) for rule, count in rules.most_common()]
    print_table("Rules and the attacks that they stop", ("rule", "attacks"), rows)
    print()
    for outcome in sorted(outcomes, key=lambda outcome: -outcome.seconds)[:5]:
        print(f"{outcome.seconds:5.1f} s of CPU, {outcome.megabytes:4.0f} MB  {outcome.name}")
    through = [outcome for outcome in outcomes if outcome.fault]
    for outcome in through:
        print(f"GOT THROUGH  {outcome.name}: {outcome.fault}")
    print(f"{len(outcomes)} attacks, {len(through)} got through")
    sys.exit(bool(through))


def _run(attack: Attack, target: Victim, commands: Sequence[tuple[str, ...]]) -> Outcome:
    """Run an attack in a process of its own."""
    report = target.folder / "fault"
    process = os.fork()
    if not process:
        status = 1
        try:
            resource.setrlimit(resource.RLIMIT_AS, (MAX_BYTES, MAX_BYTES))
            resource.setrlimit(resource.RLIMIT_CPU, (MAX_SECONDS, MAX_SECONDS))
            attack.build(target)
            fault = attack.judge(target)
            for command in commands if not fault else ():
                target.ubp(*command)
            report.write_text(fault or target.achieved())
            status = 0
        except BaseException:  # noqa: BLE001  # what it is, stderr has
            traceback.print_exc()
        finally:
            os._exit(status)
    _, status, usage = os.wait4(process, 0)
    fault = report.read_text() if report.exists() else f"ended with {status}"
    seconds = usage.ru_utime + usage.ru_stime
    return Outcome(attack.name, attack.rule, fault, seconds, usage.ru_maxrss / 1000)


def _abuse(folder: Path, template: Victim) -> Iterator[Outcome]:
    """Abuse servers: on stdin and stdout, of two repositories, of an editor, and on HTTP."""
    server = Server(Victim(_make(folder, "served"), template).root)
    for abuse in BY_CLIENTS:
        yield Outcome(abuse.name, abuse.rule, abuse.judge(abuse.send(server)), 0.0, 0.0)
    server.close()
    other = prepare_other(template, _make(folder, "second"))
    server = serve_both(Victim(_make(folder, "first"), template), other)
    for abuse in AMONG_REPOSITORIES:
        yield Outcome(abuse.name, abuse.rule, abuse.judge(abuse.send(server)), 0.0, 0.0)
    server.close()
    edited = Victim(_make(folder, "edited"), template)
    prepare_editor(edited)
    editor = Editor(edited.root)
    for attempt in BY_EDITORS:
        fault = attempt.judge(editor, attempt.send(editor)) or edited.achieved()
        yield Outcome(attempt.name, attempt.rule, fault, 0.0, 0.0)
    editor.close()
    http_server = HttpServer(Victim(_make(folder, "http"), template).root)
    for request in ON_HTTP:
        yield Outcome(request.name, request.rule, request.judge(http_server), 0.0, 0.0)
    http_server.close()


def _make(folder: str, name: str) -> Path:
    path = Path(folder) / name
    path.mkdir()
    return path


if __name__ == "__main__":
    main()
