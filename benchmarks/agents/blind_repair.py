"""Ten repairs of pages by agents with UBP and without it, judged by who does not know the side.

    python -m benchmarks.agents.blind_repair draw [--seed 1] [--tasks 10] --into DIR CLONE …
    python -m benchmarks.agents.blind_repair brief --into DIR --side SIDE --call COMMAND > FILE
    python -m benchmarks.agents.blind_repair call --into DIR --side SIDE TASK shell COMMAND
    python -m benchmarks.agents.blind_repair call --into DIR --side with TASK NAME ARGUMENTS
    python -m benchmarks.agents.blind_repair call --into DIR --side SIDE TASK done REASON
    python -m benchmarks.agents.blind_repair form --into DIR > form.jsonl
    python -m benchmarks.agents.blind_repair table --into DIR --judged JUDGED

`draw` takes commits of the main line that changed code and one page together, at random with a
seed, as many of each clone as it can be even. A task is the state after such a commit with the page
as it was before: what the author then wrote is the truth, which agents do not see. Each side has a
repository of its own without any later object; that of `with` also lists sources as UBP proposes
them, and has an index. `--into` must be outside of any repository that agents read.

`brief` prints what an agent is told, the same for both sides but for the list of tools; it does not
mention the comparison. COMMAND stands for `call` with a side. Agents call through it; each call
and what it returned are logged. Everybody may run shell commands in the repository; `with` may also
call UBP's default tools and those that propose edits. `done` writes the edit to a file.
`form` prints for each edit, the two of a task in an order by hash and without their sides or front
matter (pins would reveal them), the page, the change of the code, the author's edit and the
agent's. The judge writes a JSON object: for each key `correct` (it adds no false sentence, and
leaves none that the change makes false), `complete` (all that the author repaired, or as good) and
`quality` of the edit, each 0, 1 or 2. `table` prints them with calls and tokens for each side.
"""

import argparse
import json
import random
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from statistics import mean, median
from typing import Any, NamedTuple

from benchmarks.agents.blind_comparison import MOST_CHARACTERS, log, run_shell
from benchmarks.common.measure import print_table
from ubp.bindings.sources import is_source_path
from ubp.core.errors import UbpError
from ubp.core.model import FilePath, ObjectId
from ubp.edits.model import Agent
from ubp.edits.proposals import list_proposals
from ubp.frame.budget import count_tokens
from ubp.git.diff import diff_blobs
from ubp.markdown.document import read_head
from ubp.server.protocol import instructions
from ubp.server.tools.registry import select_tools
from ubp.server.tools.tool import call_tool
from ubp.workspace import Workspace

SIDES = {"with": "a", "without": "b"}  # folders: agents see their names
BRIEF = """\
# Ten pages to bring up to date

Each task is a Git repository of its own, in which code has changed after a page of its
documentation was written, in the last commit. Find out what the page gets wrong or lacks because
of that change, and correct that and no more. Write as the page is written. If it needs no edit,
leave it. Keep to the order of the tasks, and finish each before you begin the next.

{tasks}

Do everything with this command, which runs in the repository of the task that you name (nothing
else: no other tool, no other folder, no network):

```console
$ {call} TASK shell 'COMMAND'
{usage}$ {call} TASK done 'REASON'
```

`shell` runs any command (git, grep, sed, an editor's script) for at most 60 s and shows at most
30,000 characters. {tool}`done` ends a task: REASON is a sentence about what you changed and why.

Calls and the text that they return are counted: make as few as you need to be sure, and read no
more than you need. Your edits are in the work tree{or_proposal}; commit nothing. You have finished
when all ten tasks are done.
{tools}"""
USAGE = """\
$ {call} TASK NAME 'ARGUMENTS'
"""
TOOL = "NAME is one of the tools below, with its arguments as JSON. "
TOOLS = """
## Tools

{instructions}

{definitions}
"""
MARKS = ("correct", "complete", "quality")
MAX_SOURCES = 8  # changed files of a commit; more are a rewrite
MIN_WORDS = 4  # of the author's edit, on added or removed lines
KEYS = ("source_refs",)


class Task(NamedTuple):
    """A page before its repair in the state after it: the clone, the author's commit, the page."""

    id: str
    clone: str
    commit: str
    page: str


def git(root: Path, *args: str) -> str:
    """Run git and return its output."""
    done = subprocess.run(["git", *args], cwd=root, check=True, capture_output=True)
    return done.stdout.decode("utf-8", "replace")


def candidates(clone: Path) -> Iterator[tuple[str, str]]:
    """Yield the commits that modify one page and a few sources, each with the page."""
    output = git(clone, "log", "--no-merges", "--first-parent", "--format=%x00%H", "--name-status")
    for record in output.split("\0")[1:]:
        commit, *lines = [line for line in record.splitlines() if line]
        changes = [tuple(line.split("\t")[:2]) for line in lines]
        pages = [name for status, name in changes if status == "M" and is_page(name)]
        sources = [n for s, n in changes if s in {"M", "D"} and is_code(n)]
        is_small = 0 < len(sources) <= MAX_SOURCES
        if len(pages) == 1 and is_small and says_something(clone, commit, pages[0]):
            yield commit, pages[0]


def is_page(name: str) -> bool:
    """Return whether a file describes the code: no changelog and no contributors' file."""
    words = ("change", "release", "history", "news", "contribut", "security", "license")
    return name.endswith((".md", ".mdx")) and not any(word in name.lower() for word in words)


def is_code(name: str) -> bool:
    """Return whether a file may be a source of a page, and is none itself."""
    return is_source_path(FilePath(name)) and not name.endswith((".md", ".mdx", ".txt"))


def says_something(clone: Path, commit: str, page: str) -> bool:
    """Return whether the author's edit is more than a number or a link."""
    lines = edit_of(clone, commit, page).splitlines()[2:]
    changed = " ".join(line[1:] for line in lines if line[:1] in {"+", "-"})
    return sum(word.isalpha() for word in changed.split()) >= MIN_WORDS


def edit_of(clone: Path, commit: str, page: str) -> str:
    """Return the author's edit of the page."""
    before, after = (git(clone, "show", f"{rev}:{page}") for rev in (f"{commit}~", commit))
    return body_diff(page, before, after)


def body_diff(page: str, before: str, after: str) -> str:
    """Return the diff of two versions of a page without their front matter."""
    bodies = []
    for text in (before, after):
        data = text.encode("utf-8", "surrogateescape")
        bodies.append(data[read_head(data, KEYS).body :].lstrip(b"\r\n"))
    return diff_blobs(page, *bodies).text


def draw(clones: Sequence[Path], into: Path, number: int, seed: int) -> None:
    """Draw the tasks, and make a repository for each side of each."""
    chance = random.Random(seed)
    tasks: list[Task] = []
    for index, clone in enumerate(clones):
        found = list(candidates(clone))
        chance.shuffle(found)
        wanted = (number - len(tasks)) // (len(clones) - index)
        drawn = {page: commit for commit, page in found}  # each page once
        tasks += [
            Task(f"t{len(tasks) + position}", str(clone.resolve()), commit, page)
            for position, (page, commit) in enumerate(list(drawn.items())[:wanted], 1)
        ]
    into.mkdir(parents=True, exist_ok=True)
    for task in tasks:
        for side in SIDES:
            prepare(task, root_of(into, task.id, side), binds=side == "with")
    rows = [task._asdict() for task in tasks]
    (into / "tasks.json").write_text(json.dumps(rows, indent=1), encoding="utf-8")
    print_table("Tasks", ("task", "clone", "commit", "page"),
                [(t.id, Path(t.clone).name, t.commit[:10], t.page) for t in tasks])  # fmt: skip


def prepare(task: Task, root: Path, *, binds: bool) -> None:
    """Make a repository that ends with the change of the code; `binds`: UBP's own bindings."""
    clone = Path(task.clone)
    parent = git(clone, "rev-parse", f"{task.commit}~").strip()
    # Only what is older is fetched: the author's repair is not there to be found.
    root.mkdir(parents=True)
    git(root, "init", "--quiet")
    git(root, "fetch", "--quiet", "--no-tags", clone.as_uri(), parent)
    git(root, "checkout", "--quiet", "-B", "main", parent)
    git(root, "config", "user.name", "Author")
    git(root, "config", "user.email", "author@example.invalid")
    if binds:
        subprocess.run(["ubp", "bind", "--write", "--history"], cwd=root, check=True,
                       capture_output=True)  # fmt: skip
        git(root, "commit", "--quiet", "--all", "--allow-empty", "--message=List sources")
    command = ["git", "diff", "--binary", parent, task.commit, "--", ".", f":(exclude){task.page}"]
    patch = subprocess.run(command, cwd=clone, check=True, capture_output=True).stdout
    subprocess.run(["git", "apply", "--index", "-"], cwd=root, check=True, input=patch)
    git(root, "commit", "--quiet", "--message=Change the code")
    if binds:
        subprocess.run(["ubp", "reindex"], cwd=root, check=True, capture_output=True)


def root_of(into: Path, task: str, side: str) -> Path:
    """Return the repository of a side's task; logs and edits are beside it."""
    return into / SIDES[side] / task


def read_tasks(into: Path) -> dict[str, Task]:
    """Return the tasks by their ids."""
    rows = json.loads((into / "tasks.json").read_text(encoding="utf-8"))
    return {row["id"]: Task(*(row[name] for name in Task._fields)) for row in rows}


def brief(into: Path, side: str, command: str) -> str:
    """Return what an agent is told."""
    parts = dict.fromkeys(("usage", "tool", "or_proposal", "tools"), "")
    if side == "with":
        offered = select_tools(["+edit"])
        definitions = "\n".join(
            f"- `{tool.name}`: {tool.shown_description} Arguments:"
            f" `{json.dumps(tool.input_schema, ensure_ascii=False)}`"
            for tool in offered
        )
        shown = instructions([tool.name for tool in offered])
        parts = {
            "usage": USAGE.format(call=command),
            "tool": TOOL,
            "or_proposal": " or in a proposal",
            "tools": TOOLS.format(instructions=shown, definitions=definitions),
        }
    tasks = "\n".join(f"- {task.id}: `{task.page}`" for task in read_tasks(into).values())
    return BRIEF.format(tasks=tasks, call=command, **parts)


def call(options: argparse.Namespace) -> None:
    """Make a call for an agent, print what it returns, and log what it cost."""
    task, name, *arguments = options.words
    if task not in read_tasks(options.into):
        raise SystemExit(f"unknown task: {task}")
    root = root_of(options.into, task, options.side)
    if name == "shell":
        text = run_shell(arguments[0], str(root))
    elif name == "done":
        text = finish(options.into, task, root)
    elif options.side == "with":
        text = call_ubp(name, arguments[0] if arguments else "{}", root)
    else:
        raise SystemExit(f"unknown command: {name}")
    text = text[:MOST_CHARACTERS]
    asked = " ".join([name, *arguments])
    tokens = {"asked": count_tokens(asked), "tokens": count_tokens(text)}
    log(root.with_suffix(".jsonl"), {"call": asked, **tokens, "answer": text})
    print(text)


def finish(into: Path, task: str, root: Path) -> str:
    """Write a task's edit to a file and return what it changes."""
    asked = read_tasks(into)[task]
    before = git(root, "show", f"HEAD:{asked.page}")
    edit = body_diff(asked.page, before, result_of(asked, root))
    root.with_suffix(".diff").write_text(edit, encoding="utf-8")
    changed = [line for line in edit.splitlines()[2:] if line[:1] in {"+", "-"}]
    return f"{task} is done: {len(changed)} changed lines of {asked.page}."


def call_ubp(name: str, arguments: str, root: Path) -> str:
    """Return the text of a tool's answer, or of its error; the calls of a task are one session."""
    tools = {tool.name: tool for tool in select_tools(["+edit"])}
    if name not in tools:
        return f"unknown tool: {name}; there are {', '.join(tools)}"
    file = root.with_suffix(".session.json")
    known = json.loads(file.read_text()) if file.exists() else {"judged": [], "proposals": []}
    agent = Agent("agent", root.name)
    agent.judged.update(map(ObjectId, known["judged"]))
    agent.proposals.update(known["proposals"])
    try:
        with Workspace.open(str(root)) as workspace:
            return call_tool(tools[name], workspace, json.loads(arguments), agent=agent).text
    except UbpError as error:
        return f"error: {error.message} {error.cause} {error.hint}"
    except ValueError as error:
        return f"error: the arguments are not JSON: {error}"
    finally:
        state = {"judged": sorted(agent.judged), "proposals": sorted(agent.proposals)}
        file.write_text(json.dumps(state))


def result_of(task: Task, root: Path) -> str:
    """Return the page as the agent left it: in its last proposal, else in the work tree."""
    with Workspace.open(str(root)) as workspace:
        proposals = list_proposals(workspace.session.repository)
        own = [proposal.tip for proposal in proposals if task.page in proposal.pages]
    if own:
        return git(root, "show", f"{own[-1]}:{task.page}")
    return (root / task.page).read_text(encoding="utf-8", errors="replace")


def key_of(task: Task, side: str) -> str:
    """Return a name for an edit that does not reveal its side."""
    return sha256(f"{task.commit} {task.page} {side}".encode()).hexdigest()[:12]


def form(into: Path) -> None:
    """Print what the judge reads, a line of JSON for each edit, the two of a task in a row."""
    for task in read_tasks(into).values():
        clone = Path(task.clone)
        others = ["--", ".", f":(exclude){task.page}"]
        code = git(clone, "diff", f"{task.commit}~", task.commit, *others)
        edits = {key_of(task, side): root_of(into, task.id, side) for side in SIDES}
        for key, root in sorted(edits.items()):
            row = {
                "key": key,
                "task": task.id,
                "page": git(clone, "show", f"{task.commit}~:{task.page}"),
                "code": code[:MOST_CHARACTERS],
                "authors_edit": edit_of(clone, task.commit, task.page),
                "edit": root.with_suffix(".diff").read_text(encoding="utf-8") or "(no edit)",
                **dict.fromkeys(MARKS),
            }
            print(json.dumps(row, ensure_ascii=False))


def rows_of_table(into: Path, judged: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    """Yield a row for each side."""
    tasks = read_tasks(into).values()
    for side in SIDES:
        logs = [root_of(into, task.id, side).with_suffix(".jsonl") for task in tasks]
        lines = [file.read_text(encoding="utf-8").splitlines() for file in logs if file.exists()]
        calls = [
            [row for row in map(json.loads, task) if not row["call"].startswith("done ")]
            for task in lines
        ]
        returned = [sum(row["tokens"] for row in task) for task in calls]
        marks = [judged[key_of(task, side)] for task in tasks]
        yield (
            side,
            str(len(calls)),
            *(f"{mean(mark[name] for mark in marks):.2f}" for name in MARKS),
            str(sum(map(len, calls))),
            str(sum(not row["call"].startswith("shell ") for task in calls for row in task)),
            f"{sum(row['asked'] for task in calls for row in task):,}",
            f"{sum(returned):,}",
            f"{round(median(returned)):,}" if returned else "",
        )


def main() -> None:
    """Do what the first argument says."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    names = ("draw", "brief", "call", "form", "table")
    drawing, briefing, calling, writing, showing = map(commands.add_parser, names)
    for command in (drawing, briefing, calling, writing, showing):
        command.add_argument("--into", type=Path, required=True)
    for command in (briefing, calling):
        command.add_argument("--side", choices=SIDES, required=True)
    drawing.add_argument("clones", nargs="+", type=Path)
    drawing.add_argument("--tasks", type=int, default=10)
    drawing.add_argument("--seed", type=int, default=1)
    briefing.add_argument("--call", required=True)
    calling.add_argument("words", nargs="+")
    showing.add_argument("--judged", type=Path, required=True)
    options = parser.parse_args()
    options.into = options.into.resolve()
    if options.command == "draw":
        draw(options.clones, options.into, options.tasks, options.seed)
    elif options.command == "brief":
        print(brief(options.into, options.side, options.call))
    elif options.command == "call":
        call(options)
    elif options.command == "form":
        form(options.into)
    else:
        judged = json.loads(options.judged.read_text(encoding="utf-8"))
        head = ("side", "tasks", *MARKS, "calls", "of these UBP's", "tokens asked",
                "tokens returned", "median")  # fmt: skip
        print_table("Repairs", head, list(rows_of_table(options.into, judged)))


if __name__ == "__main__":
    main()
