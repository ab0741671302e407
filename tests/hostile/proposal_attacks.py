"""Attacks by branches of proposals and logs of decisions that were fetched, not written by UBP."""

import json
from collections.abc import Callable

from attacks import ESCAPES, INJECTIONS, Attack
from victim import NOW, START, Victim

NUMBER = 7
BRANCH = f"ubp/proposals/{NUMBER}"
SHOW = ("proposals", "show", str(NUMBER))
REVIEW = (
    SHOW,
    ("proposals",),
    ("proposals", "log"),
    ("proposals", "--json"),
    ("proposals", "show", str(NUMBER), "--json"),
    ("proposals", "pr", str(NUMBER)),
    ("proposals", "log", "--json"),
)

Build = Callable[[Victim], object]


def trailers(victim: Victim, **changes: str | None) -> str:
    """Return the trailers of an agent's edit; None leaves one out."""
    values: dict[str, str | None] = {
        "Proposal": str(NUMBER),
        "Base": victim.git("rev-parse", "HEAD"),
        "Action": "update",
        "Page": '"docs/a.md"',
        "Client": "agent 1.0",
        "Session": "s1",
    }
    values |= {name.replace("_", "-"): value for name, value in changes.items()}
    return "".join(f"UBP-{name}: {value}\n" for name, value in values.items() if value is not None)


def proposed(
    change: Build | None = None,
    reason: str = "Because.",
    **changes: str | None,
) -> Build:
    """Build by a branch whose commits claim to be an agent's edits of `docs/a.md`."""

    def build(victim: Victim) -> None:
        message = f"Update docs/a.md\n\n{reason}\n\n{trailers(victim, **changes)}"
        head = victim.git("rev-parse", "--abbrev-ref", "HEAD")
        victim.git("checkout", "--quiet", "-b", BRANCH)
        victim.page("docs/a.md", "src/a.py", body="# Page\n\nNew text.\n")
        if change is not None:
            change(victim)
        victim.git("add", "--all", "--force")
        victim.git("commit", "--quiet", "--cleanup=verbatim", "--message", message)
        victim.git("checkout", "--quiet", "--force", head)

    return build


def crafted(*headers: bytes, message: bytes | None = None) -> Build:
    """Build by a proposal's commit with these headers beside its tree and its parent."""

    def build(victim: Victim) -> None:
        head = victim.git("rev-parse", "HEAD")
        branch = victim.git("symbolic-ref", "HEAD")
        proposed()(victim)
        tree = victim.git("rev-parse", f"{BRANCH}^{{tree}}")
        text = message or f"Update\n\nWhy.\n\n{trailers(victim)}".encode()
        first = (b"tree " + tree.encode(), b"parent " + head.encode())
        victim.git("checkout", "--quiet", "--detach")
        commit = victim.commit_object(*first, *headers, message=text)
        victim.git("update-ref", f"refs/heads/{BRANCH}", commit)
        victim.git("symbolic-ref", "HEAD", branch)

    return build


def long_chain(victim: Victim) -> None:
    """Add 500 commits to a proposal."""
    proposed()(victim)
    tip, message = victim.git("rev-parse", BRANCH), f"Update\n\nWhy.\n\n{trailers(victim)}"
    commit = f"commit refs/heads/{BRANCH}\ncommitter A <a@example.com> {START} +0000\n"
    commit += f"data {len(message)}\n{message}\n"
    first = commit + f"from {tip}\n"
    victim.git("fast-import", "--quiet", stdin=(first + commit * 499).encode())


def person(header: bytes, when: bytes = b"%d" % START, name: bytes = b"A") -> bytes:
    return b"%s %s <a@example.com> %s +0000" % (header, name, when)


def people(when: bytes = b"%d" % START, name: bytes = b"A") -> tuple[bytes, ...]:
    return person(b"author", when, name), person(b"committer", when, name)


def file(path: str, content: str = "x\n", *, is_program: bool = False) -> Build:
    def change(victim: Victim) -> None:
        victim.write(path, content).chmod(0o755 if is_program else 0o644)

    return change


def remains(victim: Victim) -> str:
    """Judge that a review achieves nothing, and the proposal is not accepted."""
    head, before = victim.git("rev-parse", "HEAD"), victim.files()
    for command in REVIEW:
        victim.ubp(*command)
    accepted = [victim.ubp("proposals", "accept", *options).status for options in ((str(NUMBER),),)]
    if fault := victim.achieved():
        return fault
    if victim.git("rev-parse", "HEAD") != head or victim.files() != before:
        return "the branch or the work tree has changed"
    if victim.git("status", "--porcelain"):
        return f"the index has changed: {victim.git('status', '--porcelain')}"
    return "" if accepted == [2] else f"accepted: {accepted}"


def shown(victim: Victim) -> str:
    """Judge that a proposal is accepted at most with what its review has shown."""
    before = victim.git("rev-parse", "HEAD")
    outside = {name: status for name, status in victim.files().items() if "/outside/" in name}
    answers = [victim.ubp(*command) for command in REVIEW]
    victim.ubp("proposals", "accept", str(NUMBER))
    if fault := victim.achieved():
        return fault
    changed = victim.git("diff", "--name-only", "-z", before, "HEAD").split("\0")
    review = answers[0].out
    missing = [path for path in changed if path and f"+++ b/{path}" not in review]
    if missing:
        return f"accepted without being shown: {missing}"
    if any(victim.files().get(name) != status for name, status in outside.items()):
        return "files were written outside"
    return ""


def entry(number: int = 1, **changes: str | None) -> Build:
    """Build by a log with an entry of these trailers."""

    def build(victim: Victim) -> None:
        values: dict[str, str | None] = {
            "Event": "accepted",
            "Proposal": str(number),
            "Page": '"docs/a.md"',
            "Client": "agent 1.0",
            "By": "Ann",
            "Last": str(number),
        }
        values |= {name.replace("_", "-"): value for name, value in changes.items()}
        lines = "".join(f"UBP-{name}: {text}\n" for name, text in values.items() if text)
        tree = victim.git("rev-parse", "HEAD^{tree}")
        commit = victim.git("commit-tree", tree, "-m", f"accepted {number}\n\nWhy.\n\n{lines}")
        victim.git("update-ref", "refs/ubp/log", commit)

    return build


def listed(victim: Victim) -> str:
    """Judge that the log and the open proposals can be read, and a decision still be recorded."""
    for command in REVIEW:
        victim.ubp(*command)
    proposed()(victim)
    answer = victim.ubp("proposals", "reject", str(NUMBER), "--reason", "It is wrong.")
    log = victim.ubp("proposals", "log", "--json")
    if fault := victim.achieved():
        return fault
    if answer.status:
        return f"a decision cannot be recorded: {answer.err}"
    events = [(each["event"], each["id"]) for each in log.record["entries"]]
    return "" if ("rejected", NUMBER) in events else f"the log is {log.out[:300]}"


def agent_may_write(victim: Victim) -> str:
    """Judge that an agent can still propose an edit of the page."""
    from ubp.edits.changes import append
    from ubp.edits.model import Agent
    from ubp.edits.proposals import list_proposals
    from ubp.edits.propose import EditRequest, propose
    from ubp.workspace import Workspace

    agent = Agent("other 1.0", "s2")
    with Workspace.open(str(victim.root)) as workspace:
        request = EditRequest(agent, "update", "docs/a.md", append("More."), "It changed.")
        result = propose(workspace.session, request)
        is_read = result.proposal in list_proposals(workspace.session.repository)
    return victim.achieved() or ("" if is_read else "the proposal cannot be read")


def orphan(victim: Victim) -> None:
    message = f"Update\n\nWhy.\n\n{trailers(victim)}"
    tree = victim.git("rev-parse", "HEAD^{tree}")
    commit = victim.git("commit-tree", tree, "-m", message)
    victim.git("update-ref", f"refs/heads/{BRANCH}", commit)


def link_to_secret(victim: Victim) -> None:
    (victim.root / "docs/a.md").unlink()
    (victim.root / "docs/a.md").symlink_to(victim.secret)


def submodule(victim: Victim) -> None:
    (victim.root / "docs/a.md").unlink()
    victim.write("docs/.keep", "")
    commit = victim.git("rev-parse", "HEAD")
    victim.git("update-index", "--add", "--cacheinfo", f"160000,{commit},docs/sub.md")
    (victim.root / "docs/sub.md").mkdir()


PROPOSALS: tuple[Attack, ...] = (
    *(
        Attack(f"proposal that begins at {name}", "checked proposals", build, remains)
        for name, build in (
            ("an option that writes a file", proposed(Base="--output=pwned")),
            ("an option that runs a program", proposed(Base="--upload-pack=touch harm")),
            ("a branch that moves", proposed(Base="HEAD")),
            ("a range", proposed(Base="HEAD~1..HEAD")),
            ("a commit that does not exist", proposed(Base="1" * 40)),
            ("nothing", proposed(Base=None)),
            ("itself", orphan),
        )
    ),
    Attack(
        "proposal that begins at a file",
        "checked proposals",
        lambda victim: proposed(Base=victim.git("rev-parse", "HEAD:src/a.py"))(victim),
        remains,
    ),
    Attack(
        "proposal that begins at a commit of another history",
        "checked proposals",
        lambda victim: proposed(
            Base=victim.git("commit-tree", victim.git("rev-parse", "HEAD^{tree}"), "-m", "x")
        )(victim),
        remains,
    ),
    *(
        Attack(
            f"page of a proposal that is {name}", "checked proposals", proposed(Page=page), shown
        )
        for name, page in (
            ("no JSON", "docs/a.md"),
            ("a number", "17"),
            ("a list", '["docs/a.md"]'),
            ("nested 100,000 times", "[" * 100_000),
            ("a number of 5,000 digits", "9" * 5000),
            ("outside", '"../outside/secret.md"'),
            ("absolute", '"/etc/passwd"'),
            ("a NUL", '"docs/a\\u0000.md"'),
            ("half a character", '"docs/\\ud800.md"'),
            ("missing", None),
        )
    ),
    *(
        Attack(f"action of a proposal that is {name}", "checked proposals", build, shown)
        for name, build in (
            ("unknown", proposed(Action="execute")),
            ("a control sequence", proposed(Action=ESCAPES.replace("\r", ""))),
            ("missing", proposed(Action=None)),
        )
    ),
    *(
        Attack(f"proposal that also changes {name}", "checked proposals", proposed(change), remains)
        for name, change in (
            ("a source", file("src/a.py", "evil\n")),
            ("another page", file("docs/other.md", "# Other\n")),
            ("a workflow", file(".github/workflows/ci.yml", "on: push\n")),
            ("the configuration of UBP", file(".ubp/config.json", "{}")),
            ("attributes", file(".gitattributes", "* filter=bad\n")),
            ("a program", file("run.sh", "#!/bin/sh\n", is_program=True)),
            ("a file without a suffix", file("Makefile", "all:\n\ttouch harm\n")),
        )
    ),
    *(
        Attack(
            f"proposal of {name}",
            "checked proposals",
            proposed(file(path, "evil\n"), Page=json.dumps(path)),
            remains,
        )
        for name, path in (
            ("a source", "src/a.py"),
            ("a workflow", ".github/workflows/ci.yml"),
            ("a page in the folder of workflows", ".github/x.md"),
            ("the configuration of UBP", ".ubp/config.json"),
            ("owners", "docs/CODEOWNERS"),
        )
    ),
    Attack(
        "proposal that makes a page a program",
        "checked proposals",
        proposed(lambda victim: (victim.root / "docs/a.md").chmod(0o755)),
        remains,
    ),
    Attack(
        "proposal that makes a page a link to a file outside",
        "inside",
        proposed(link_to_secret),
        remains,
    ),
    Attack("proposal that adds a submodule", "checked proposals", proposed(submodule), remains),
    Attack(
        "proposal that replaces a folder by a link",
        "inside",
        proposed(lambda victim: (victim.root / "more").symlink_to(victim.secret.parent)),
        remains,
    ),
    Attack(
        "later commit of a proposal that changes a source",
        "checked proposals",
        lambda victim: (
            proposed()(victim),
            victim.git("checkout", "--quiet", BRANCH),
            victim.write("src/a.py", "evil\n"),
            victim.commit("Correct a typing error"),
            victim.git("checkout", "--quiet", "-"),
        ),
        remains,
    ),
    Attack(
        "proposal of names that inject into logs and comments",
        "escaped output",
        proposed(
            lambda victim: [victim.write(name, "# X\n\n[gone](gone.md)\n") for name in INJECTIONS],
            Page=json.dumps(INJECTIONS[0]),
        ),
        remains,
    ),
    *(
        Attack(f"control sequences in the {name} of a proposal", "escaped output", build, shown)
        for name, build in (
            ("text", proposed(file("docs/a.md", f"# {ESCAPES}\n\u202e\u200b\n"))),
            ("reason", proposed(reason=f"Because {ESCAPES} \u202e\u2066 \U000e0041")),
            ("client", proposed(Client="agent\x1b[31m\u202e\u200b\x9b2J")),
            ("session", proposed(Session="s\x1b]0;x\x07\u2066")),
            ("model", proposed(Model="m\x1b[2J")),
        )
    ),
    Attack(
        "shell syntax in a proposal",
        "quoted commands",
        proposed(reason="$(touch harm) `touch harm` '; touch harm; '", Client="$(touch harm)"),
        shown,
    ),
    *(
        Attack(f"commit of a proposal {name}", "checked proposals", build, judge)
        for name, build, judge in (
            ("without an author", crafted(person(b"committer")), remains),
            ("without people", crafted(b"encoding UTF-8"), remains),
            ("at no time", crafted(*people(b"x")), remains),
            ("beyond all clocks", crafted(*people(b"%d" % 2**62)), remains),
            ("by a name with markup", crafted(*people(name=b"A> <b\x1b[31m\xff>")), shown),
            (
                "with a NUL in its message",
                crafted(*people(), message=b"x\0y\n\nUBP-Proposal: 7\n"),
                remains,
            ),
            ("in an unknown encoding", crafted(*people(), b"encoding utf-7-\x1b[31m"), shown),
        )
    ),
    Attack("proposal of 501 commits", "bounded input", long_chain, remains),
    Attack(
        "branches with strange numbers",
        "checked proposals",
        lambda victim: [
            victim.git("update-ref", f"refs/heads/ubp/proposals/{name}", "HEAD")
            for name in ("0", "-1", "\u0663", "\u00b2", "9" * 200, "1.5", "1e9", "x/7", "$(touch)")
        ],
        listed,
    ),
    Attack(
        "proposal dated in the future",
        "own history",
        crafted(*people(b"%d" % (NOW + 10**8))),
        agent_may_write,
    ),
    Attack(
        "branches with the numbers of the next proposals",
        "checked proposals",
        lambda victim: [
            victim.git("update-ref", f"refs/heads/ubp/proposals/{number}", "HEAD")
            for number in range(1, 20)
        ],
        agent_may_write,
    ),
    *(
        Attack(f"log with {name}", "checked proposals", build, listed)
        for name, build in (
            ("an unknown event", entry(Event=f"executed{ESCAPES}".replace("\r", ""))),
            ("a proposal that is not a number", entry(Proposal="x")),
            ("a proposal of 5,000 digits", entry(Proposal="9" * 5000)),
            ("no proposal", entry(Proposal=None)),
            ("a page that is no JSON", entry(Page="docs/a.md")),
            ("a page that is a list", entry(Page="[1]")),
            ("a page that is nested", entry(Page="[" * 100_000)),
            ("a page outside", entry(Page='"../outside/secret.md"')),
            ("control sequences", entry(By="A\x1b[31m\u202e", Client="c\x1b[2J")),
            ("an accepted commit that is an option", entry(Accepted_As="--output=pwned")),
            ("a last number that is none", entry(Last="x")),
            ("a last number of 5,000 digits", entry(Last="9" * 5000)),
            ("no last number", entry(Last=None)),
        )
    ),
    Attack(
        "log that is not a log",
        "checked proposals",
        lambda victim: victim.git("update-ref", "refs/ubp/log", "HEAD"),
        listed,
    ),
    Attack(
        "log that is a file",
        "checked proposals",
        lambda victim: victim.git(
            "update-ref", "refs/ubp/log", victim.git("rev-parse", "HEAD:src/a.py")
        ),
        remains,
    ),
)
