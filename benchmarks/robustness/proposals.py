"""Whether proposals stay right: agents edit while they are killed, and a person reviews and works.

    python benchmarks/robustness/proposals.py [--calls 10000] [--kills 200] [--seed 1]
        [--minutes 600]

Four agents, processes of their own, create, change, acknowledge, bind and withdraw; now and then
one is killed. Meanwhile a person edits, commits, amends, rebases, switches branches, accepts
and rejects. Wrong is: a work tree or an index that changed while the person did nothing, an
accepted proposal that is not on its branch, a rejected or withdrawn text that is in the history, a
proposal that lacks a confirmed edit, a page that stays locked, a log without an entry, an object
that git misses.
"""

import argparse
import hashlib
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Thread

from benchmarks.common.measure import print_table
from ubp.core.errors import RepositoryError, UbpError, UsageError
from ubp.core.model import FilePath
from ubp.edits import changes, leases
from ubp.edits.model import Agent, Proposal
from ubp.edits.proposals import list_proposals, read_log
from ubp.edits.propose import EditRequest, propose
from ubp.edits.review import accept, reject, withdraw
from ubp.workspace import Workspace

AGENTS, PAGES, SOURCES = 4, 24, 6
CALLS_OF_A_PROCESS = 60  # then it ends, and another one takes its place
CALLS_BETWEEN_ACTS, REVIEWED_AT_ONCE = 6, 3
BRANCHES = ("main", "other")
LEASE_SECONDS = 5


def git(root: str, *args: str) -> str:
    """Run git and return its output."""
    done = subprocess.run(["git", *args], cwd=root, check=True, capture_output=True, text=True)
    return done.stdout


def make_repository(root: str) -> None:
    """Make pages that describe sources and link to each other."""
    git(root, "init", "--quiet", "--initial-branch=main")
    git(root, "config", "user.name", "Rae Viewer")
    git(root, "config", "user.email", "rae@example.com")
    for number in range(SOURCES):
        write(root, f"src/s{number}.py", f"def f{number}():\n    return 0\n")
    for number in range(PAGES):
        head = f"---\nsource_refs:\n  - src/s{number % SOURCES}.py\n---\n"
        link = f"[next](p{(number + 1) % PAGES}.md)"
        write(root, f"docs/p{number}.md", f"{head}# Page {number}\n\n{link}\n\n## Notes\n\nNone.\n")
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "--message", "start")
    git(root, "branch", "other")


def write(root: str, path: str, text: str) -> None:
    """Write a file."""
    file = Path(root) / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


def run_agent(root: str, name: str, seed: int, calls: int) -> None:
    """Make calls, and print a line of JSON for each that was confirmed or refused."""
    chance = random.Random(seed)
    leases.LEASE_SECONDS = LEASE_SECONDS
    agent = Agent("bench 1", name)
    with Workspace.open(root) as workspace:
        for number in range(calls):
            agent.recent.clear()
            answer = call(workspace, agent, chance, f"{name}-{seed}-{number}")
            print(json.dumps(answer), flush=True)


def call(workspace: Workspace, agent: Agent, chance: random.Random, mark: str) -> dict[str, object]:
    """Make one call and return what became of it."""
    page = f"docs/p{chance.randrange(PAGES)}.md"
    session = workspace.session
    action = chance.choice(["update"] * 5 + ["create", "acknowledge", "bind", "withdraw", "list"])
    text = f"Mark {mark}."
    change = changes.append(text)
    if action == "create":
        page = f"docs/new-{mark}.md"
        change = changes.create(session, f"# {mark}\n\n{text}\n", "guide", [])
    elif action == "acknowledge":
        change = changes.acknowledge(session, page, None, mark)
    elif action == "bind":
        change = changes.bind(session, page, [f"src/s{chance.randrange(SOURCES)}.py"])
    elif action == "update" and chance.random() < 0.3:
        change = changes.replace_section(f"## Notes\n\n{text}\n", "notes")
    try:
        if action == "list":
            return {
                "did": "list",
                "open": [p.id for p in list_proposals(workspace.session.repository)],
            }
        if action == "withdraw":
            own = [
                p.id
                for p in list_proposals(workspace.session.repository)
                if p.session == agent.session
            ]
            if not own:
                return {"did": "nothing"}
            withdraw(workspace.session, own[0], agent, mark)
            return {"did": "withdraw", "id": own[0]}
        result = propose(workspace.session, EditRequest(agent, action, page, change, mark))
    except UbpError as error:
        return {"did": "refused", "why": type(error).__name__, "message": error.message}
    has_mark = action in {"create", "update"}
    return {
        "did": "proposed",
        "id": result.proposal.id,
        "page": page,
        "mark": text if has_mark else "",
        "reason": mark,
    }


class Wrong(Exception):  # noqa: N818 - an outcome, not a fault of this program
    """Something that must never happen."""


class Person:
    """Who works in the repository, reviews, and watches that nobody else changes it."""

    def __init__(self, root: str, seed: int) -> None:
        """`root` is the work tree."""
        self.root = root
        self.chance = random.Random(seed)
        self.accepted: dict[int, str] = {}
        self.accepted_marks: set[str] = set()
        self.counts: Counter[str] = Counter()
        self.state = self.look()

    def look(self) -> str:
        """Return a digest of the work tree, the index and HEAD."""
        digest = hashlib.sha256()
        for folder, folders, names in os.walk(self.root):
            folders[:] = sorted(set(folders) - {".git"})
            for path in (Path(folder, name) for name in sorted(names)):
                digest.update(os.fsencode(path) + b"\0" + path.read_bytes())
        digest.update(git(self.root, "ls-files", "--stage").encode())
        digest.update(git(self.root, "rev-parse", "HEAD").encode())
        digest.update(git(self.root, "symbolic-ref", "HEAD").encode())
        return digest.hexdigest()

    def act(self) -> None:
        """Check that nothing moved, then do something."""
        if self.look() != self.state:
            raise Wrong("the work tree, the index or HEAD changed while the person did nothing")
        action = self.chance.choice(
            [
                *([self.review] * 5),
                *(self.edit, self.commit, self.amend, self.rebase, self.switch),
            ]
        )
        action()
        self.state = self.look()

    def review(self) -> None:
        """Accept or reject some proposals."""
        with Workspace.open(self.root) as workspace:
            proposals = list(list_proposals(workspace.session.repository))
            self.chance.shuffle(proposals)
            for proposal in proposals[:REVIEWED_AT_ONCE]:
                self.decide(workspace, proposal)

    def decide(self, workspace: Workspace, proposal: Proposal) -> None:
        """Accept or reject a proposal."""
        marks = self.texts(proposal.tip, proposal.pages)
        try:
            if self.chance.random() < 0.6:
                head = git(self.root, "rev-parse", "HEAD").strip()
                commit = accept(workspace.session, proposal.id, proposal.tip)
                self.counts["accepted"] += 1
                if commit != head:
                    self.accepted[proposal.id] = self.branch()
                after = self.texts(commit, proposal.pages)
                missing = [
                    m for m in marks - self.texts(proposal.base, proposal.pages) if m not in after
                ]
                if missing:
                    raise Wrong(f"proposal {proposal.id} was accepted without {missing}")
                self.accepted_marks |= marks
            else:
                reject(workspace.session, proposal.id, "no")
                self.counts["rejected"] += 1
        except RepositoryError as error:
            if "conflicts" not in error.message:
                raise
            with suppress(UsageError):  # it moved meanwhile
                reject(workspace.session, proposal.id, "conflict")
            self.counts["conflicts"] += 1
        except UsageError as error:
            is_dirty = "not committed" in error.message
            self.counts["page was changed" if is_dirty else "moved while reviewed"] += 1

    def texts(self, commit: str, pages: tuple[str, ...]) -> set[str]:
        """Return the marks in these pages of a commit."""
        found = set()
        for page in pages:
            done = subprocess.run(
                ["git", "show", f"{commit}:{page}"],
                cwd=self.root,
                check=False,
                capture_output=True,
                text=True,
            )
            found |= {line for line in done.stdout.split("\n") if line.startswith("Mark ")}
        return found

    def branch(self) -> str:
        """Return the current branch."""
        return git(self.root, "symbolic-ref", "--short", "HEAD").strip()

    def edit(self) -> None:
        """Change a source or a page, and leave it uncommitted."""
        path = self.chance.choice([f"src/s{self.chance.randrange(SOURCES)}.py", "docs/p0.md"])
        file = Path(self.root) / path
        file.write_text(f"{file.read_text()}# {time.monotonic_ns()}\n")
        self.counts["edits left uncommitted"] += 1

    def commit(self) -> None:
        """Change a source and commit all that is changed."""
        number = self.chance.randrange(SOURCES)
        write(
            self.root, f"src/s{number}.py", f"def f{number}():\n    return {time.monotonic_ns()}\n"
        )
        git(self.root, "commit", "--quiet", "--all", "--message", "change")
        self.counts["commits"] += 1

    def amend(self) -> None:
        """Add a line to the last commit's message, and all that is changed to the commit."""
        message = git(self.root, "show", "--no-patch", "--format=%B", "HEAD").strip()
        subject, _, rest = message.partition("\n")
        subject = f"{subject.partition(', amended')[0]}, amended {time.monotonic_ns()}"
        git(
            *(self.root, "commit", "--quiet", "--amend", "--all"),
            *("--cleanup=verbatim", "--message", f"{subject}\n{rest}"),
        )
        self.counts["amended"] += 1

    def rebase(self) -> None:
        """Put the last commits onto a commit that was made elsewhere."""
        count = int(git(self.root, "rev-list", "--count", "HEAD"))
        if count < 6:
            return
        self.commit()
        branch, base = self.branch(), f"HEAD~{self.chance.randrange(1, 5)}"
        upstream = git(self.root, "rev-parse", base).strip()
        git(self.root, "switch", "--quiet", "--detach", upstream)
        write(self.root, f"elsewhere/{time.monotonic_ns()}.txt", "x\n")
        git(self.root, "add", "--all")
        git(self.root, "commit", "--quiet", "--message", "elsewhere")
        onto = git(self.root, "rev-parse", "HEAD").strip()
        git(self.root, "switch", "--quiet", branch)
        git(self.root, "rebase", "--quiet", "--onto", onto, upstream)
        self.counts["rebased"] += 1

    def switch(self) -> None:
        """Go to the other branch."""
        self.commit()
        git(self.root, "switch", "--quiet", BRANCHES[self.branch() == BRANCHES[0]])
        self.counts["switched"] += 1


def follow(process: subprocess.Popen[str], answers: "SimpleQueue[dict[str, object]]") -> None:
    """Put what an agent says into a queue."""
    assert process.stdout is not None
    for line in process.stdout:
        if line.endswith("\n"):
            answers.put(json.loads(line))


def listen(answers: "SimpleQueue[dict[str, object]]") -> list[dict[str, object]]:
    """Return all that the agents have answered; wait a moment for some of it."""
    heard: list[dict[str, object]] = []
    with suppress(Empty):
        while True:
            is_enough = len(heard) >= CALLS_BETWEEN_ACTS
            heard.append(answers.get_nowait() if is_enough else answers.get(timeout=1))
    return heard


def check_end(root: str, confirmed: list[dict[str, object]], person: Person) -> None:
    """Check the log against what was confirmed, and the objects."""
    with Workspace.open(root) as workspace:
        entries = list(read_log(workspace.session.repository))
        logged = {(entry.proposal, entry.reason) for entry in entries if entry.event == "proposed"}
        missing = [a for a in confirmed if (a["id"], a["reason"]) not in logged]
        if missing:
            raise Wrong(f"confirmed, and not in the log: {missing[:3]}")
        ended = {entry.proposal for entry in entries if entry.event != "proposed"}
        still = {proposal.id: proposal for proposal in list_proposals(workspace.session.repository)}
        lost = {a["id"] for a in confirmed} - ended - still.keys()
        if lost:
            raise Wrong(f"neither open nor decided: {lost}")
        for answer in confirmed:
            proposal = still.get(int(str(answer["id"])))
            reasons = {edit.reason for edit in proposal.edits} if proposal else {answer["reason"]}
            if answer["reason"] not in reasons:
                raise Wrong(f"proposal {answer['id']} lacks a confirmed edit")
    history = git(root, "log", "--patch", "--format=", *BRANCHES)
    applied = {line[1:] for line in history.split("\n") if line.startswith("+Mark ")}
    refused = {entry.proposal for entry in entries if entry.event in {"rejected", "withdrawn"}}
    applied -= person.accepted_marks  # of a proposal that had a later edit
    wrong = [a for a in confirmed if a["id"] in refused and a["mark"] in applied]
    if wrong:
        raise Wrong(f"rejected or withdrawn, and applied: {wrong[:3]}")
    for branch in BRANCHES:
        messages = set(git(root, "log", "--format=%B", branch).split("\n"))
        lost_there = [
            number
            for number, where in person.accepted.items()
            if where == branch and f"UBP-Proposal: {number}" not in messages
        ]
        if lost_there:
            raise Wrong(f"accepted on {branch}, and not there: {lost_there}")
    check_locks(root)
    git(root, "reflog", "expire", "--expire=now", "--all")
    git(root, "gc", "--quiet", "--prune=now")
    git(root, "fsck", "--strict", "--no-dangling")


def check_locks(root: str) -> None:
    """Check that a new session can edit each page once the leases have ended."""
    time.sleep(LEASE_SECONDS + 1)
    leases.LEASE_SECONDS = LEASE_SECONDS
    agent = Agent("bench 1", "last")
    with Workspace.open(root) as workspace:
        head = workspace.session.repository.resolve("HEAD")
        for number in range(PAGES):
            agent.recent.clear()
            change = changes.append(f"Last {number}.")
            page = FilePath(f"docs/p{number}.md")
            result = propose(workspace.session, EditRequest(agent, "update", page, change, "last"))
            if result.proposal.base != head:
                raise Wrong(f"{page} is edited in the proposal of a session that has ended")


def run(calls: int, kills: int, seed: int, seconds_at_most: float) -> None:
    """Run the agents and the person, and print what happened."""
    chance = random.Random(seed)
    confirmed: list[dict[str, object]] = []
    refused: Counter[str] = Counter()
    done = killed = 0
    with tempfile.TemporaryDirectory() as root:
        make_repository(root)
        person = Person(root, seed)
        answers: SimpleQueue[dict[str, object]] = SimpleQueue()
        agents: dict[int, subprocess.Popen[str]] = {}
        started = time.monotonic()
        share = 0.0
        while share < 1:
            for place in range(AGENTS):
                process = agents.get(place)
                if process is None or process.poll() is not None:
                    command = [
                        *(sys.executable, __file__, "--agent", root, f"a{place}"),
                        *(str(chance.randrange(10**9)), str(CALLS_OF_A_PROCESS)),
                    ]
                    agents[place] = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
                    Thread(target=follow, args=(agents[place], answers), daemon=True).start()
            person.act()
            heard = listen(answers)
            done += len(heard)
            confirmed += [answer for answer in heard if answer["did"] == "proposed"]
            refused.update(str(a["why"]) for a in heard if a["did"] == "refused")
            share = max(done / calls, (time.monotonic() - started) / seconds_at_most)
            if killed < min(kills, kills * share):
                victim = chance.choice(list(agents.values()))
                victim.send_signal(signal.SIGKILL)
                victim.wait()
                killed += 1
        for process in agents.values():
            process.terminate()
            process.wait()
        time.sleep(0.5)
        check_end(root, confirmed, person)
        seconds = time.monotonic() - started
    rows = [
        ("calls", str(done)),
        ("edits proposed", str(len(confirmed))),
        *((f"refused: {name}", str(number)) for name, number in sorted(refused.items())),
        *((name, str(number)) for name, number in sorted(person.counts.items())),
        ("agents killed", str(killed)),
        ("wrong", "0"),
        ("seconds", f"{seconds:.0f}"),
        ("seconds of CPU", f"{cpu_seconds():.0f}"),
    ]
    print_table("Proposals", ("what", "number"), rows)


def cpu_seconds() -> float:
    """Return the CPU that this process and the agents that have ended have used."""
    usage = os.times()
    return usage.user + usage.system + usage.children_user + usage.children_system


def main() -> None:
    """Run the benchmark, or one of its agents."""
    if sys.argv[1:2] == ["--agent"]:
        root, name, seed, calls = sys.argv[2:]
        run_agent(root, name, int(seed), int(calls))
        return
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=10_000)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=600, help="stop after this time")
    options = parser.parse_args()
    run(options.calls, options.kills, options.seed, options.minutes * 60)


if __name__ == "__main__":
    main()
