"""Attacks by commits, configurations, Git's own files, clients and pull requests.

Each row names the rule that stops it (RULES, and SECURITY.md).
"""

import json
import os
import re
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import yaml
from victim import SECRET, START, Server, Victim

RULES = {
    "no execution": "git runs without hooks, pagers, fsmonitor, textconv or lazy fetching, and UBP"
    " executes nothing from a repository (ubp/git/command.py)",
    "hidden repository": "a Git directory that no `.git` leads to is refused (ubp/git/locate.py)",
    "own history": "replace refs are ignored, and ages are bounded by the clock"
    " (ubp/git/command.py, ubp/staleness/drift.py)",
    "own index": "the index is read from the Git directory only (ubp/index/store/file.py)",
    "inside": "paths are checked component by component, and links never followed"
    " (ubp/core/paths.py, ubp/git/files.py)",
    "valid paths": "entries that git would not check out are skipped (ubp/git/output.py)",
    "bounded input": "bytes, nesting, events and matches are limited"
    " (ubp/markdown, ubp/git/output.py)",
    "linear parsing": "patterns and parsers take linear time (ubp/markdown/inline.py)",
    "safe YAML": "front matter is data: no tags, bounded aliases (ubp/markdown/yaml_nodes.py)",
    "valid configuration": "config.json is checked against its schema (ubp/core/config_file.py)",
    "own model": "search.model stays inside the repository, and a model that fails is left out"
    " (ubp/index/embed/locate.py)",
    "escaped output": "control, direction and invisible characters are escaped, in each format by"
    " its own rules (ubp/frame/wording.py, ubp/output/ci)",
    "checked arguments": "arguments are checked against their schema, and paths are relative"
    " (ubp/frame/arguments.py)",
    "checked messages": "a line that is not a message is refused, and the next one is read"
    " (ubp/server/transport.py)",
    "interruptible calls": "calls end at their next checkpoint (ubp/core/interruption.py)",
    "no expressions": "action.yml takes inputs from the environment, never as text of a script",
    "relaxed checks": "what a change hides from its own check is listed (ubp/checks/relaxed.py)",
    "checked proposals": "what is read of a fetched branch or log is checked, and what accepting"
    " would change is shown, and is what agents may write (ubp/edits/proposals.py, review.py)",
    "own network": "collections are fetched by https or ssh from public addresses, as many and as"
    " large as the limits allow (ubp/sync/fetch.py)",
    "hidden text": "what a reader of a web page does not see is not imported, and its text is no"
    " markup (ubp/sync/convert.py)",
    "token on HTTP": "a server on HTTP listens on loopback, and answers only requests that have"
    " its token and name this machine (ubp/server/http.py, ubp/server/loopback.py)",
    "quoted commands": "one function quotes every command that is printed (ubp/core/shell.py)",
}


SCALE = float(os.environ.get("HOSTILE_SCALE", "0.1"))  # benchmarks/robustness/hostile.py sets 1


def many(count: int) -> int:
    """Return how many things an attack of this size has at the scale of this run."""
    return int(count * SCALE)


class Attack(NamedTuple):
    """What is done to a repository, and a judge of what it achieved ("" if nothing)."""

    name: str
    rule: str
    build: Callable[[Victim], object]
    judge: Callable[[Victim], str]


class Abuse(NamedTuple):
    """What a client sends to a server, and a judge of the answers ("" if it achieved nothing)."""

    name: str
    rule: str
    send: Callable[[Server], list[dict[str, Any]]]
    judge: Callable[[list[dict[str, Any]]], str]


STALE = ("stale", "--json")
CHECK = ("check", "--format", "github")
LIST = ("list-pages",)
WORDS = ("search", "page", "--mode", "fulltext")
EVERYTHING = (
    *(("check", "--format", name) for name in ("text", "sarif", "gitlab", "markdown", "html")),
    ("stale", "--diff"),
    ("list-pages", "--json"),
    ("get-page", "docs/a.md"),
    ("get-context", "docs/a.md", "--json"),
    ("get-graph",),
    ("impact", "src/a.py"),
    ("search", "page"),
    ("coverage",),
    ("bind",),
    ("status",),
    ("report",),
    ("reindex", "--skip-embedding"),
)


class Unharmed(NamedTuple):
    """Judges that nothing is achieved by commands, and that the stale page is still reported."""

    commands: tuple[tuple[str, ...], ...]

    def __call__(self, victim: Victim) -> str:
        """Return what was achieved."""
        before = victim.files()
        answers = [victim.ubp(*command) for command in (STALE, *self.commands)]
        if fault := victim.achieved():
            return fault
        if victim.files() != before:
            return "files were written"
        try:
            pages = answers[0].record["documents"]
        except (ValueError, KeyError):
            return f"no answer: {answers[0].out[:200]}{answers[0].err[:200]}"
        levels = {page["filepath"]: page["staleness"] for page in pages}
        return "" if levels.get("docs/a.md") == "stale" else f"the stale page is {levels}"


def unharmed(*commands: tuple[str, ...]) -> Unharmed:
    return Unharmed(commands)


def refused(*commands: tuple[str, ...]) -> Callable[[Victim], str]:
    """Judge that the commands end with an error, and nothing is achieved."""

    def judge(victim: Victim) -> str:
        before = victim.files()
        answers = [victim.ubp(*command) for command in commands]
        if fault := victim.achieved():
            return fault
        if victim.files() != before:
            return "files were written"
        accepted = [answer.tokens for answer in answers if answer.status != 2]
        return f"accepted: {accepted}" if accepted else ""

    return judge


class Written(NamedTuple):
    """Builds by committing a file."""

    path: str
    content: str | bytes

    def __call__(self, victim: Victim) -> None:
        """Write the file and commit it."""
        victim.write(self.path, self.content)
        victim.commit()


def text(path: str, content: str | bytes) -> Written:
    return Written(path, content)


def front_matter(content: str) -> Callable[[Victim], object]:
    return text("docs/bad.md", f"---\n{content}\n---\n# Bad\n")


def config(value: Any) -> Callable[[Victim], object]:
    return text(".ubp/config.json", value if isinstance(value, str) else json.dumps(value))


def git_config(*pairs: tuple[str, str]) -> Callable[[Victim], object]:
    """Build by configuration of the user's repository that programs of the repository would run."""

    def build(victim: Victim) -> None:
        program = victim.program("tools/run.sh")
        victim.write(".gitattributes", "* diff=bad merge=bad\n")
        victim.commit()
        for name, value in pairs:
            victim.git("config", name, value.replace("PROGRAM", str(program)))
        victim.write("src/a.py", "three\n")

    return build


def link(path: str, target: str) -> Callable[[Victim], object]:
    def build(victim: Victim) -> None:
        file = victim.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.symlink_to(target.replace("OUTSIDE", str(victim.secret.parent)))
        victim.commit()

    return build


def source(*paths: str) -> Callable[[Victim], object]:
    def build(victim: Victim) -> None:
        sources = [path.replace("OUTSIDE", str(victim.secret.parent)) for path in paths]
        victim.page("docs/bad.md", *sources, body=f"# Bad\n\n[x]({sources[0]}) [[{sources[0]}]]\n")
        victim.commit()

    return build


def both(*builds: Callable[[Victim], object]) -> Callable[[Victim], object]:
    def build(victim: Victim) -> None:
        for one in builds:
            one(victim)

    return build


def named(*names: str | bytes) -> Callable[[Victim], object]:
    """Build by pages of these names, each stale and with a broken link."""

    def build(victim: Victim) -> None:
        for name in names:
            victim.page(os.fsdecode(name), "src/a.py", body="# Bad\n\n[gone](gone.md)\n")
        victim.commit()
        victim.write("src/a.py", "three\n")
        victim.commit()

    return build


def model(**changes: Any) -> Callable[[Victim], object]:
    """Build by a model of the repository's own, with another tokenizer."""

    def build(victim: Victim) -> None:
        import numpy as np
        from model2vec import StaticModel
        from tokenizers import Tokenizer
        from tokenizers.models import WordLevel

        tokenizer = Tokenizer(WordLevel({"[UNK]": 0, "page": 1}, unk_token="[UNK]"))
        StaticModel(np.eye(2, dtype="float32"), tokenizer).save_pretrained(victim.root / "model")
        file = victim.root / "model" / "tokenizer.json"
        file.write_text(json.dumps({**json.loads(file.read_text()), **changes}))
        config({"search": {"model": "model"}})(victim)

    return build


def hide_repository(victim: Victim) -> None:
    lines = ["[core]", "\trepositoryFormatVersion = 0", "\tworktree = .", "\tfsmonitor = RUN"]
    lines += ['[filter "bad"]', "\tclean = RUN", '[diff "bad"]', "\ttextconv = RUN"]
    victim.write("sub/config", "\n".join(lines).replace("RUN", str(victim.program("run.sh"))))
    victim.write("sub/HEAD", "ref: refs/heads/main\n")
    for path in ("sub/objects/.keep", "sub/refs/.keep", "sub/docs/a.md"):
        victim.write(path, "")
    victim.write("sub/.gitattributes", "* filter=bad diff=bad\n")
    victim.commit()


def replace_history(victim: Victim) -> None:
    first, head = victim.git("rev-list", "--reverse", "HEAD").split()
    victim.git("replace", head, first)


def replace_blob(victim: Victim) -> None:
    victim.git(
        "replace",
        victim.git("rev-parse", "HEAD:src/a.py"),
        victim.git("rev-parse", "HEAD~:src/a.py"),
    )


def graft(victim: Victim) -> None:
    victim.write(".git/info/grafts", victim.git("rev-parse", "HEAD") + "\n")


def fetch_missing(victim: Victim) -> None:
    """Make a partial clone whose remote is a program, and lose an object."""
    victim.git("config", "core.repositoryFormatVersion", "1")
    victim.git("config", "extensions.partialClone", "origin")
    victim.git("config", "remote.origin.promisor", "true")
    victim.git("config", "remote.origin.url", f"ext::{victim.program('run.sh')}")
    victim.git("config", "protocol.ext.allow", "always")
    blob = victim.git("rev-parse", "HEAD~:src/a.py")
    (victim.root / ".git/objects" / blob[:2] / blob[2:]).unlink()


def submodule(url: str, path: str) -> Callable[[Victim], object]:
    def build(victim: Victim) -> None:
        lines = (
            f'[submodule "{path}"]\n\tpath = {path}\n\turl = {url}\n\tupdate = !{victim.touch}\n'
        )
        victim.write(".gitmodules", lines)
        victim.git("add", ".gitmodules")
        commit = victim.git("rev-parse", "HEAD")
        victim.git("update-index", "--add", "--cacheinfo", f"160000,{commit},sub")
        victim.git("commit", "--quiet", "--message", "submodule")

    return build


def at_date(seconds: int) -> Callable[[Victim], object]:
    """Build by a drift that claims this date."""

    def build(victim: Victim) -> None:
        person = b"A <a@example.com> %d +0000" % seconds
        parent = victim.git("rev-parse", "HEAD~")
        tree = victim.git("rev-parse", "HEAD^{tree}")
        victim.commit_object(
            *(b"tree " + tree.encode(), b"parent " + parent.encode()),
            *(b"author " + person, b"committer " + person),
        )

    return build


def person(name: bytes, message: bytes = b"change\n", *more: bytes) -> Callable[[Victim], object]:
    """Build by a drift with this author and message."""

    def build(victim: Victim) -> None:
        by = name + b" <a@example.com> %d +0000" % START
        parent = victim.git("rev-parse", "HEAD~")
        tree = victim.git("rev-parse", "HEAD^{tree}")
        headers = (b"tree " + tree.encode(), b"parent " + parent.encode(), b"author " + by)
        victim.commit_object(*headers, b"committer " + by, *more, message=message)

    return build


def entries(*names: str, mode: str = "100644") -> Callable[[Victim], object]:
    """Build by a commit whose tree has entries that git itself refuses."""

    def build(victim: Victim) -> None:
        content = b"---\nsource_refs: [a.py]\n---\n# Bad\n"
        victim.commit_tree([(mode, name, content) for name in names])

    return build


def unlistable(victim: Victim) -> str:
    """Judge a commit that is asked about, because it cannot be checked out."""
    before = victim.files()
    for command in (
        ("stale", "--ref", "HEAD"),
        ("list-pages", "--ref", "HEAD"),
        ("check", "--ref", "HEAD"),
    ):
        victim.ubp(*command)
    return victim.achieved() or ("" if victim.files() == before else "files were written")


def plant_index(victim: Victim) -> None:
    victim.ubp("stale")
    (index,) = (victim.root / ".git/ubp").glob("index-*.db")
    content = index.read_bytes().replace(b"src/a.py", b"src/b.py")
    for name in ("knowledge.db", index.name):
        victim.write(f".ubp/{name}", content)
        victim.git("add", "--force", f".ubp/{name}")
    victim.commit()


def special_file(kind: str) -> Callable[[Victim], object]:
    def build(victim: Victim) -> None:
        path = victim.root / "docs/pipe.md"
        if kind == "pipe":
            os.mkfifo(path)
        elif kind == "socket":
            folder = os.getcwd()
            os.chdir(path.parent)  # its address may have 107 characters
            try:
                with socket.socket(socket.AF_UNIX) as server:
                    server.bind(path.name)
            finally:
                os.chdir(folder)
        else:
            path.mkdir()

    return build


def pinned_stays(name: str) -> Callable[[Victim], str]:
    """Judge a command that writes through a link which leads outside."""

    def judge(victim: Victim) -> str:
        before = victim.secret.read_bytes()
        answer = victim.ubp(*name.split())
        if victim.secret.read_bytes() != before or len(os.listdir(victim.secret.parent)) > 1:
            return f"ubp {name} wrote outside the repository"
        return victim.achieved() or ("" if answer.status else f"ubp {name} ended with 0")

    return judge


def in_folder(*commands: tuple[str, ...], folder: str) -> Callable[[Victim], str]:
    def judge(victim: Victim) -> str:
        answers = [victim.ubp(*command, cwd=folder) for command in commands]
        accepted = [answer.tokens for answer in answers if answer.status != 2]
        return victim.achieved() or (f"accepted: {accepted}" if accepted else "")

    return judge


def no_expressions(_: Victim) -> str:
    action = Path(__file__).resolve().parents[2] / "action.yml"
    steps = yaml.safe_load(action.read_text(encoding="utf-8"))["runs"]["steps"]
    scripts = [step["run"] for step in steps if "run" in step]
    found = [match for script in scripts for match in re.findall(r"\$\{\{.*?\}\}", script)]
    unsafe = [
        step["name"] for step in steps if re.search(r"python[\d.]* (?!-I)", step.get("run", ""))
    ]
    unpinned = [
        step["uses"]
        for step in steps
        if not re.search("@[0-9a-f]{40}$", step.get("uses", "@" + "0" * 40))
    ]
    return f"{found} {unsafe} {unpinned}" if found or unsafe or unpinned or not scripts else ""


def base_option(victim: Victim) -> str:
    """Judge options of git in the name of a base."""
    names = (
        "--output=pwned",
        "-x",
        "--upload-pack=touch pwned",
        "HEAD:src/a.py",
        "a..b",
        "@{u}",
        "",
    )
    answers = [victim.ubp("check", "--base", name) for name in names]
    if (victim.root / "pwned").exists():
        return "git took the name of a base for an option"
    accepted = [answer.tokens for answer in answers if answer.status != 2]
    return victim.achieved() or (f"accepted: {accepted}" if accepted else "")


def relax(build: Callable[[Victim], object], comment: str = "") -> Callable[[Victim], object]:
    """Build by a change that breaks a link, and tells its own check not to mind."""

    def build_both(victim: Victim) -> None:
        config({"docs_dir": "docs"})(victim)
        victim.git("tag", "base")
        victim.write("docs/b.md", f"# B\n\n{comment}[gone](gone.md)\n")
        build(victim)
        victim.commit()

    return build_both


def relaxed(victim: Victim) -> str:
    """Judge that what a change hides from its own check is listed."""
    answer = victim.ubp("check", "--base", "base")
    is_listed = "relaxed-check" in answer.out or "broken-link" in answer.out
    return victim.achieved() or ("" if is_listed else f"hidden: {answer.out}{answer.err}")


def pull_request(victim: Victim) -> str:
    """Judge what a change prints in a job's log, in its summary and in a comment."""
    answers = [
        victim.ubp("check", "--base", "HEAD~1", "--format", name)
        for name in ("github", "markdown", "html")
    ]
    if fault := victim.achieved():
        return fault
    github, markdown, html = (answer.out for answer in answers)
    if any(not line.startswith("::") for line in github.splitlines() if "touch" in line):
        return f"a line is not an annotation: {github[:200]}"
    if re.search("<(?:script>alert|img src=x)", html):
        return "HTML of a page is markup"
    if re.search(r"^(?:[^`<\n]|<(?!code))*@everyone", markdown, re.MULTILINE):
        return "a comment mentions somebody"
    return ""


def sparse(path: str) -> Callable[[Victim], object]:
    """Build by a large file that takes no room on the disk."""

    def build(victim: Victim) -> None:
        os.truncate(victim.write(path, b""), many(1 << 28))

    return build


def pictured(victim: Victim) -> str:
    """Judge the graph as an HTML file: no markup of a page, and nothing is written elsewhere."""
    before = victim.files()
    answer = victim.ubp("get-graph", "--format", "html", "--output", "graph.html")
    if fault := victim.achieved():
        return fault
    picture = victim.root / "graph.html"
    is_written = picture.is_file() and not picture.is_symlink()
    html = picture.read_text(encoding="utf-8") if is_written else ""
    tags = [
        tag.casefold()
        for tag in re.findall(r"<(?:script|img|iframe|svg)\b[^>]*>", html, re.IGNORECASE)
    ]
    if any(not re.fullmatch(r"<script(?: [\w-]+=\"[\w/+-]*\")*>", tag) for tag in tags):
        return f"HTML of a page is markup: {tags}"
    if html and len(tags) != SCRIPTS_OF_A_GRAPH:
        return f"{len(tags)} scripts"
    if {name: status for name, status in victim.files().items() if name in before} != before:
        return "files were written"
    return "" if html or answer.status == 2 else f"no answer: {answer.err[:200]}"


def compared(*versions: str) -> Callable[[Victim], str]:
    """Judge the comparison of versions: an answer or an error, and no markup of a page."""

    def judge(victim: Victim) -> str:
        before = victim.files()
        for version in versions:
            victim.ubp("diff", version)
            victim.ubp("diff", version, "--json")
            markdown = victim.ubp("diff", version, "--format", "markdown").out
            if re.search(r"(?<!\\)<(?:script>alert|img src=x)", re.sub("`+[^`]*`+", "", markdown)):
                return f"HTML of a page is markup: {markdown[:300]}"
            if re.search(r"^(?:[^`<\n]|<(?!code))*@everyone", markdown, re.MULTILINE):
                return "a comment mentions somebody"
        if fault := victim.achieved():
            return fault
        return "files were written" if victim.files() != before else ""

    return judge


def collected(build: Callable[[Victim], object]) -> Callable[[Victim], object]:
    """Build by a collection of the user's with the same hostile content."""

    def register(victim: Victim) -> None:
        build(victim)
        other = victim.folder / "other"
        victim.git("clone", "--quiet", "--no-checkout", ".", str(other))
        folder = victim.folder / "collections"
        folder.mkdir()
        record = {"name": "other", "kind": "local", "address": str(other), "include": []}
        (folder / "other.json").write_text(json.dumps(record))

    return register


def in_collection(*commands: tuple[str, ...]) -> Callable[[Victim], str]:
    """Judge that commands about the registered collection achieve nothing."""

    def judge(victim: Victim) -> str:
        before = victim.files()
        os.environ["UBP_COLLECTIONS"] = str(victim.folder / "collections")
        try:
            answers = [victim.ubp(*command) for command in commands]
        finally:
            del os.environ["UBP_COLLECTIONS"]
        if fault := victim.achieved():
            return fault
        changed = {name for name in before if victim.files().get(name) != before[name]}
        if changed:
            return f"files were written: {changed}"
        return "" if any(answer.status != 2 for answer in answers) else f"{answers}"

    return judge


def asks_nothing(*commands: tuple[str, ...]) -> Callable[[Victim], str]:
    """Judge that commands with names of collections run and fetch nothing."""

    def judge(victim: Victim) -> str:
        before = victim.files()
        os.environ["UBP_COLLECTIONS"] = str(victim.folder / "collections")
        try:
            for command in commands:
                victim.ubp(*command)
        finally:
            del os.environ["UBP_COLLECTIONS"]
        collections = str(victim.folder / "collections")
        written = {name for name in victim.files() if not name.startswith(collections)}
        return victim.achieved() or ("files were written" if written != before.keys() else "")

    return judge


def sections(count: int, words: int) -> str:
    """Return a page of so many sections, with words that differ from any other page's."""
    seed = f"{count}x{words}"
    return "\n".join(
        f"## H{number}\n\n" + " ".join(f"w{seed}n{number}p{place}" for place in range(words))
        for number in range(count)
    )


def rewritten(before: str, after: str) -> Callable[[Victim], object]:
    """Build by a page in two versions."""

    def build(victim: Victim) -> None:
        victim.write("docs/big.md", before)
        victim.commit()
        victim.write("docs/big.md", after)
        victim.commit()

    return build


SCRIPTS_OF_A_GRAPH = 3
ESCAPES = "\x1b[31mred\x1b]52;c;cHdu\x07\x9b2J\x1b]8;;https://example.com\x1b\\x\r\b"
INJECTIONS = (
    "docs/a\n::set-output name=x::y.md",
    "docs/%0A::error::touch.md",
    "docs/<script>alert(1)</script>.md",
    "docs/<img src=x onerror=alert(1)>.md",
    "docs/`@everyone` @everyone | x.md",
    "docs/](https://example.com).md",
)

INCLUDES = ('--8<-- "FILE"', "{! FILE !}", "<<< FILE", "{{#include FILE}}", "::: FILE")
ON_REPOSITORIES = (
    # What a file is
    Attack(
        "page that is a link to a file outside",
        "inside",
        link("docs/b.md", "OUTSIDE/secret.md"),
        unharmed(CHECK, LIST, ("get-page", "docs/b.md"), WORDS),
    ),
    Attack(
        "folder that is a link to one outside",
        "inside",
        link("docs/more", "OUTSIDE"),
        unharmed(CHECK, LIST, ("get-page", "docs/more/secret.md"), WORDS),
    ),
    Attack(
        "source that is a link to a file outside",
        "inside",
        both(link("src/b.py", "OUTSIDE/secret.md"), source("src/b.py")),
        unharmed(CHECK, ("stale", "--diff")),
    ),
    Attack("link to itself", "inside", link("docs/loop.md", "loop.md"), unharmed(CHECK, LIST)),
    Attack(
        "folder that links to its parent", "inside", link("docs/up", ".."), unharmed(CHECK, LIST)
    ),
    Attack(
        "link to an endless device",
        "inside",
        link("docs/zero.md", "/dev/zero"),
        unharmed(CHECK, LIST),
    ),
    Attack("named pipe in place of a page", "inside", special_file("pipe"), unharmed(CHECK, LIST)),
    Attack("socket in place of a page", "inside", special_file("socket"), unharmed(CHECK, LIST)),
    Attack(
        "folder with the name of a page", "inside", special_file("folder"), unharmed(CHECK, LIST)
    ),
    Attack(
        "source with an absolute path",
        "inside",
        source("OUTSIDE/secret.md"),
        unharmed(CHECK, ("stale", "--diff")),
    ),
    Attack(
        "source above the root",
        "inside",
        source("../outside/secret.md", "src/../../outside/secret.md"),
        unharmed(CHECK, ("stale", "--diff")),
    ),
    Attack(
        "source with a drive letter",
        "inside",
        source("C:/outside/secret.md", "..\\outside\\secret.md"),
        unharmed(CHECK),
    ),
    Attack(
        "source in the Git directory",
        "inside",
        source(".git/config", ".git/HEAD"),
        unharmed(CHECK, ("stale", "--diff")),
    ),
    Attack(
        "include of a file outside",
        "inside",
        text(
            "docs/b.md",
            "# B\n\n" + "\n".join(INCLUDES).replace("FILE", "../../outside/secret.md"),
        ),
        unharmed(CHECK, ("get-page", "docs/b.md"), WORDS),
    ),
    Attack(
        "source glob of many stars",
        "linear parsing",
        source("*a" * 60 + "b", "**/" * 60 + "x", "{a,b}" * 40),
        unharmed(CHECK),
    ),
    Attack("source glob above the root", "inside", source("../*/*.md", "/**"), unharmed(CHECK)),
    # What a page contains
    Attack(
        "page of 9 MB",
        "bounded input",
        text("docs/b.md", "# B\n\n" + "word " * 1_800_000),
        unharmed(CHECK),
    ),
    Attack(
        "one long line",
        "linear parsing",
        text("docs/b.md", "x" * many(2_000_000)),
        unharmed(CHECK, LIST),
    ),
    Attack(
        "nested quotations",
        "bounded input",
        text("docs/b.md", ">" * many(20_000) + " x\n"),
        unharmed(CHECK),
    ),
    Attack(
        "nested lists",
        "bounded input",
        text("docs/b.md", "".join(f"{'  ' * n}- x\n" for n in range(many(1500)))),
        unharmed(CHECK),
    ),
    Attack(
        "opening brackets",
        "linear parsing",
        text("docs/b.md", "[" * many(50_000)),
        unharmed(CHECK),
    ),
    Attack(
        "brackets and parentheses",
        "linear parsing",
        text("docs/b.md", "[a](" * many(20_000)),
        unharmed(CHECK),
    ),
    Attack(
        "backticks of growing length",
        "linear parsing",
        text("docs/b.md", " ".join("`" * n for n in range(1, many(800)))),
        unharmed(CHECK),
    ),
    Attack(
        "emphasis that never ends",
        "linear parsing",
        text("docs/b.md", "*a **b _c __d " * many(10_000)),
        unharmed(CHECK),
    ),
    Attack(
        "comments that never end",
        "linear parsing",
        text("docs/b.md", "<!-- a " * many(30_000)),
        unharmed(CHECK, ("get-context", "docs/a.md")),
    ),
    Attack(
        "tags that never end",
        "linear parsing",
        text("docs/b.md", "<a href='" * many(20_000) + "\n\n" + "![" * many(20_000)),
        unharmed(CHECK),
    ),
    Attack(
        "table of many columns",
        "bounded input",
        text(
            "docs/b.md",
            ("|a" * many(2000) + "|\n")
            + ("|-" * many(2000) + "|\n")
            + ("|x" * many(2000) + "|\n") * 50,
        ),
        unharmed(CHECK),
    ),
    Attack(
        "flood of links",
        "bounded input",
        text("docs/b.md", "".join(f"[x](gone{n}.md)\n" for n in range(many(35_000)))),
        unharmed(("check", "--quiet", "docs/a.md")),
    ),
    Attack(
        "flood of link definitions",
        "linear parsing",
        text("docs/b.md", "".join(f"[r{n}]: a.md\n[r{n}]\n\n" for n in range(many(20_000)))),
        unharmed(("check", "docs/a.md")),
    ),
    Attack(
        "flood of headings",
        "bounded input",
        text("docs/b.md", "".join(f"## H {n % 9}\n\n" for n in range(many(20_000)))),
        unharmed(CHECK, ("get-context", "docs/b.md", "--max-size", "2000")),
    ),
    Attack(
        "heading of 1 MB",
        "bounded input",
        text("docs/b.md", "# " + "h" * 1_000_000 + "\n"),
        unharmed(CHECK, LIST),
    ),
    Attack(
        "anchors of one name",
        "linear parsing",
        text("docs/b.md", "# a\n" * many(10_000) + "[x](#a-9999)\n"),
        unharmed(CHECK),
    ),
    Attack(
        "bytes that are not UTF-8",
        "escaped output",
        text("docs/b.md", b"# \xff\xfe\x80\n\n[x](\xff.md)\n"),
        unharmed(CHECK, LIST, ("get-page", "docs/b.md")),
    ),
    Attack(
        "UTF-16",
        "escaped output",
        text("docs/b.md", "# B\n[x](gone.md)\n".encode("utf-16")),
        unharmed(CHECK, LIST),
    ),
    Attack(
        "NUL bytes",
        "escaped output",
        text("docs/b.md", "# a\0b\n\n[x](a\0b.md)\n"),
        unharmed(CHECK, LIST, ("get-page", "docs/b.md")),
    ),
    Attack(
        "control sequences in a title",
        "escaped output",
        text("docs/b.md", f"# {ESCAPES}\n\n[{ESCAPES}]({ESCAPES}.md)\n"),
        unharmed(CHECK, LIST, ("get-page", "docs/b.md"), ("get-graph",)),
    ),
    Attack(
        "invisible characters in a title",
        "escaped output",
        text("docs/b.md", "# pay\u200bpal\u200f\u202e\u2066\ufeff\U000e0041\u3164\n"),
        unharmed(CHECK, LIST, ("get-page", "docs/b.md")),
    ),
    Attack(
        "control sequences in front matter",
        "escaped output",
        front_matter(
            f"title: {json.dumps(ESCAPES)}\ntags: [{json.dumps(ESCAPES)}]\n"
            f"source_refs: [{json.dumps(ESCAPES)}]"
        ),
        unharmed(CHECK, LIST),
    ),
    Attack(
        "YAML that doubles",
        "safe YAML",
        front_matter(
            "\n".join(
                [
                    "a0: &a0 [x, x]",
                    *(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12)),
                ]
            )
        ),
        unharmed(CHECK),
    ),
    Attack(
        "YAML that contains itself",
        "safe YAML",
        front_matter("source_refs: &a [*a, src/a.py]"),
        unharmed(CHECK, LIST),
    ),
    Attack(
        "YAML that names a Python object",
        "safe YAML",
        lambda victim: front_matter(
            f"x: !!python/object/apply:os.system ['{victim.touch}']\nsource_refs: [src/a.py]"
        )(victim),
        unharmed(CHECK),
    ),
    Attack(
        "nested YAML",
        "safe YAML",
        front_matter("source_refs: " + "[" * many(20_000)),
        unharmed(CHECK),
    ),
    Attack(
        "YAML with many keys",
        "safe YAML",
        front_matter("\n".join(f"k{n}: v" for n in range(many(50_000)))),
        unharmed(CHECK),
    ),
    Attack(
        "YAML merge keys",
        "safe YAML",
        front_matter(
            "\n".join(
                [
                    "b0: &b0 {a: 1}",
                    *(f"b{n}: &b{n} {{<<: [*b{n - 1}, *b{n - 1}]}}" for n in range(1, 40)),
                ]
            )
        ),
        unharmed(CHECK),
    ),
    Attack(
        "YAML number of 5,000 digits",
        "safe YAML",
        front_matter(
            f"x: {'9' * 5000}\ny: 0x{'f' * 5000}\nz: 9999-99-99\nsource_refs: [{'9' * 5000}]"
        ),
        unharmed(CHECK),
    ),
    Attack(
        "front matter that never ends",
        "bounded input",
        text("docs/b.md", "---\n" + "a: b\n" * many(100_000)),
        unharmed(CHECK),
    ),
    Attack(
        "TOML and JSON front matter",
        "bounded input",
        both(
            text("docs/b.md", "+++\n" + "[a" * many(20_000) + "\n+++\n"),
            text("docs/c.md", ";;;\n" + "[" * many(20_000) + "\n;;;\n"),
        ),
        unharmed(CHECK),
    ),
    Attack(
        "flood of sources",
        "bounded input",
        lambda victim: (
            victim.page("docs/b.md", *(f"src/{n}.py" for n in range(many(10_000)))),
            victim.commit(),
        ),
        unharmed(("check", "docs/a.md")),
    ),
    # What a file is called
    Attack(
        "names that inject into logs and comments",
        "escaped output",
        named(*INJECTIONS),
        unharmed(CHECK, ("check", "--format", "markdown"), LIST),
    ),
    Attack(
        "names with control characters",
        "escaped output",
        named("docs/\x1b[2Jx.md", "docs/\r\n.md", "docs/\x7f\x08.md", b"docs/\xff\xfe.md"),
        unharmed(CHECK, LIST, ("stale",)),
    ),
    Attack(
        "names with direction marks",
        "escaped output",
        named(
            "docs/\u202egpj.md",
            "docs/\u200b.md",
            "docs/\u200fa.md",
            "docs/\u2066x\u2069.md",
            "docs/\U000e0041.md",
        ),
        unharmed(CHECK, LIST, ("stale",)),
    ),
    Attack(
        "names that look like options",
        "quoted commands",
        named("--output=pwned.md", "-rf.md", "docs/--all.md"),
        unharmed(CHECK, LIST, ("stale", "--diff")),
    ),
    Attack(
        "names with pathspec magic",
        "quoted commands",
        named(":(top)x.md", ":!a.md", "docs/[a]*.md", "docs/?.md"),
        unharmed(CHECK, LIST, ("stale", "--diff")),
    ),
    Attack(
        "names with shell syntax",
        "quoted commands",
        named(*(f"docs/{name}.md" for name in ("$(touch x)", "`id`", "'; id; '", "a & id"))),
        unharmed(CHECK, ("stale",)),
    ),
    Attack(
        "names of 255 bytes, 3,500 bytes deep",
        "bounded input",
        named("docs/" + "/".join(["d" * 200] * 15) + "/" + "n" * 240 + ".md"),
        unharmed(CHECK, LIST),
    ),
    Attack(
        "nested folders", "bounded input", named("d/" * many(300) + "x.md"), unharmed(CHECK, LIST)
    ),
    Attack(
        "twins of case",
        "valid paths",
        named("docs/A.md", "docs/a.MD", "DOCS/a.md"),
        unharmed(CHECK, LIST),
    ),
    Attack(
        "twins of Unicode form",
        "valid paths",
        named("docs/\u00e9.md", "docs/e\u0301.md"),
        unharmed(CHECK, LIST),
    ),
    Attack(
        "tree entries above the root",
        "valid paths",
        entries("..", ".", "../../x.md", "a/b.md"),
        unlistable,
    ),
    Attack(
        "tree entry of a Git directory",
        "valid paths",
        entries(".git", ".GIT", "git~1", ".git\u200c"),
        unlistable,
    ),
    Attack(
        "tree entries of one name",
        "valid paths",
        entries("a.md", "a.md", "a.py", "a.py"),
        unlistable,
    ),
    Attack("tree entry without a name", "valid paths", entries("", "\n.md", "x\\y.md"), unlistable),
    Attack(
        "tree entry of an unknown mode",
        "valid paths",
        entries("a.md", "a.py", mode="777777"),
        unlistable,
    ),
    # Configuration
    Attack(
        "configuration nested 100,000 times",
        "valid configuration",
        config("[" * 100_000),
        refused(STALE, CHECK),
    ),
    Attack(
        "configuration with a number of 10,000 digits",
        "valid configuration",
        config('{"staleness": {"threshold_days": ' + "9" * 10_000 + "}}"),
        refused(STALE, CHECK),
    ),
    Attack(
        "configuration that is not a number",
        "valid configuration",
        config('{"staleness": {"threshold_days": NaN}}'),
        refused(STALE),
    ),
    Attack(
        "configuration of 2 MB",
        "valid configuration",
        config(" " * 2_000_000 + "{}"),
        refused(STALE),
    ),
    Attack(
        "configuration that is not UTF-8",
        "valid configuration",
        text(".ubp/config.json", b'{"\xff": 1}'),
        refused(STALE),
    ),
    Attack(
        "configuration that links outside",
        "inside",
        link(".ubp/config.json", "OUTSIDE/secret.md"),
        refused(STALE),
    ),
    Attack(
        "folder of the configuration that links outside",
        "inside",
        link(".ubp", "OUTSIDE"),
        unharmed(CHECK),
    ),
    Attack("init through a link", "inside", link(".ubp", "OUTSIDE"), pinned_stays("init --yes")),
    Attack(
        "debt file that links outside",
        "inside",
        both(link(".ubp/debt.txt", "OUTSIDE/secret.md"), text("docs/b.md", "[x](gone.md)\n")),
        pinned_stays("debt"),
    ),
    Attack(
        "pages that are included from above",
        "inside",
        config({"source": {"include": ["../**", "/outside/**"]}}),
        refused(STALE),
    ),
    Attack(
        "documentation folder above the root",
        "inside",
        config({"docs_dir": "../outside", "links": {"root": "../.."}}),
        lambda victim: (victim.ubp(*CHECK), victim.ubp(*LIST), victim.achieved())[-1],
    ),
    Attack(
        "pattern that takes exponential time",
        "linear parsing",
        config({"source": {"exclude": ["{a,b}" * 30]}}),
        refused(STALE),
    ),
    Attack(
        "10,000 patterns",
        "linear parsing",
        config({"source": {"exclude": [f"x{n}/*a*b*c" for n in range(5000)]}}),
        refused(STALE, CHECK),
    ),
    Attack(
        "control sequences in a setting",
        "escaped output",
        config({ESCAPES: 1, "search": {ESCAPES: 2}, "docs\u202e": 3}),
        unharmed(CHECK),
    ),
    Attack(
        "control sequences in the value of a setting",
        "escaped output",
        config({"check": {"ignore": [{"path": "*", "rule": ESCAPES}]}}),
        refused(STALE, CHECK),
    ),
    Attack(
        "model outside the repository",
        "own model",
        lambda victim: config({"search": {"model": str(victim.secret.parent)}})(victim),
        unharmed(("search", "page"), ("model",)),
    ),
    Attack(
        "model that links outside",
        "own model",
        both(link("model", "OUTSIDE"), config({"search": {"model": "model"}})),
        unharmed(("search", "page"), ("model",)),
    ),
    Attack(
        "model whose tokenizer panics",
        "own model",
        model(pre_tokenizer={"type": "FixedLength", "length": 0}),
        unharmed(("search", "page"), ("search", "text")),
    ),
    Attack(
        "model whose tokenizer backtracks",
        "own model",
        both(
            model(
                pre_tokenizer={
                    "type": "Split",
                    "pattern": {"Regex": "(a+)+(a+)+$"},
                    "behavior": "Isolated",
                    "invert": False,
                }
            ),
            text("docs/b.md", "# B\n\n" + "a" * 3000 + "!\n"),
        ),
        unharmed(("search", "page")),
    ),
    Attack(
        "model that is not a model",
        "own model",
        both(
            model(),
            lambda victim: victim.write("model/model.safetensors", b"\xff" * 64),
            lambda victim: victim.commit(),
        ),
        unharmed(("search", "page"), ("model",)),
    ),
    Attack("planted index", "own index", plant_index, unharmed(CHECK)),
    Attack(
        "comments that ignore everything with long rules",
        "linear parsing",
        text("docs/b.md", "<!-- ubp: ignore " + "x," * many(50_000) + " -->\n"),
        unharmed(CHECK),
    ),
    # Git's own files
    Attack(
        "bare repository hidden in a folder",
        "hidden repository",
        hide_repository,
        in_folder(STALE, CHECK, ("status",), folder="sub"),
    ),
    Attack(
        "bare repository hidden beside",
        "hidden repository",
        hide_repository,
        unharmed(CHECK, ("stale", "--diff")),
    ),
    Attack("replaced commit", "own history", replace_history, unharmed(CHECK)),
    Attack("replaced blob", "own history", replace_blob, unharmed(CHECK, ("stale", "--diff"))),
    Attack(
        "graft that cuts off history",
        "own history",
        graft,
        lambda victim: (victim.ubp(*STALE), victim.ubp(*CHECK), victim.achieved())[-1],
    ),
    Attack("drift dated in 2100", "own history", at_date(4_102_444_800), unharmed(CHECK)),
    Attack("drift dated before 1970", "own history", at_date(0), unharmed(CHECK)),
    Attack("drift dated beyond all clocks", "own history", at_date(2**62), unharmed(CHECK)),
    Attack("fsmonitor", "no execution", git_config(("core.fsmonitor", "PROGRAM")), unharmed(CHECK)),
    Attack(
        "hooks of the repository",
        "no execution",
        both(
            git_config(("core.hooksPath", "tools")),
            *(
                lambda victim, name=name: victim.program(f"tools/{name}")
                for name in ("post-index-change", "fsmonitor-watchman", "reference-transaction")
            ),
        ),
        unharmed(CHECK),
    ),
    Attack(
        "pager and editor",
        "no execution",
        git_config(
            ("core.pager", "PROGRAM"),
            ("core.editor", "PROGRAM"),
            ("pager.log", "PROGRAM"),
            ("pager.status", "PROGRAM"),
        ),
        unharmed(CHECK, ("stale", "--diff")),
    ),
    Attack(
        "external diff and textconv",
        "no execution",
        git_config(
            ("diff.external", "PROGRAM"),
            ("diff.bad.textconv", "PROGRAM"),
            ("diff.bad.command", "PROGRAM"),
            ("merge.bad.driver", "PROGRAM"),
        ),
        unharmed(CHECK, ("stale", "--diff")),
    ),
    Attack(
        "aliases of git's commands",
        "no execution",
        git_config(
            *(
                (f"alias.{name}", "!PROGRAM")
                for name in ("status", "rev-parse", "log", "cat-file", "config")
            )
        ),
        unharmed(CHECK),
    ),
    Attack(
        "credential helper and ssh command",
        "no execution",
        git_config(
            ("credential.helper", "!PROGRAM"),
            ("core.sshCommand", "PROGRAM"),
            ("core.gitProxy", "PROGRAM"),
            ("core.askPass", "PROGRAM"),
        ),
        unharmed(CHECK),
    ),
    Attack(
        "signature program",
        "no execution",
        git_config(
            ("gpg.program", "PROGRAM"), ("log.showSignature", "true"), ("commit.gpgSign", "true")
        ),
        unharmed(CHECK, ("stale", "--diff")),
    ),
    Attack(
        "included configuration of the work tree",
        "no execution",
        both(
            lambda victim: victim.write(
                "gitconfig",
                f"[core]\n\tfsmonitor = {victim.program('run.sh')}\n\thooksPath = tools\n",
            ),
            git_config(("include.path", "../gitconfig")),
        ),
        unharmed(CHECK),
    ),
    Attack(
        "configuration of the worktree",
        "no execution",
        both(
            git_config(("extensions.worktreeConfig", "true")),
            lambda victim: victim.write(
                ".git/config.worktree",
                f"[core]\n\tfsmonitor = {victim.root}/tools/run.sh\n\thooksPath = tools\n",
            ),
        ),
        unharmed(CHECK),
    ),
    Attack(
        "remote that is a program, and a missing object",
        "no execution",
        fetch_missing,
        lambda victim: (victim.ubp(*STALE), victim.ubp("stale", "--diff"), victim.achieved())[-1],
    ),
    Attack(
        "attributes without a driver",
        "no execution",
        text(
            ".gitattributes",
            "* filter=bad diff=bad merge=bad ident working-tree-encoding=UTF-7 eol=crlf\n"
            "*.md text=auto export-subst\n",
        ),
        lambda victim: (victim.ubp(*STALE), victim.ubp(*CHECK), victim.achieved())[-1],
    ),
    Attack(
        "flood of attributes",
        "bounded input",
        text(".gitattributes", "".join(f"x{n} a{n}=b\n" for n in range(many(50_000)))),
        unharmed(CHECK),
    ),
    Attack(
        "attributes that link outside",
        "inside",
        link(".gitattributes", "OUTSIDE/secret.md"),
        unharmed(CHECK),
    ),
    Attack(
        "submodule whose address is an option",
        "no execution",
        submodule("--upload-pack=touch pwned", "sub"),
        unharmed(CHECK, LIST),
    ),
    Attack(
        "submodule above the root",
        "inside",
        submodule("../outside", "../outside"),
        unharmed(CHECK, LIST),
    ),
    Attack(
        "alternates that lead to a pipe",
        "bounded input",
        lambda victim: (
            os.mkfifo(victim.folder / "pipe"),
            victim.write(
                ".git/objects/info/alternates", f"{victim.folder}/pipe\n../../../../gone\n"
            ),
        ),
        unharmed(CHECK),
    ),
    Attack(
        "alternates of themselves",
        "bounded input",
        lambda victim: victim.write(
            ".git/objects/info/alternates", f"{victim.root}/.git/objects\n"
        ),
        unharmed(CHECK),
    ),
    Attack(
        "damaged commit graph",
        "bounded input",
        lambda victim: victim.write(
            ".git/objects/info/commit-graph", b"CGPH\x01\x01\xff\x00" + b"\xff" * 500
        ),
        unharmed(CHECK),
    ),
    Attack(
        "damaged index of Git",
        "bounded input",
        lambda victim: victim.write(
            ".git/index", b"DIRC\x00\x00\x00\x02\xff\xff\xff\xff" + b"x" * 100
        ),
        refused(STALE, CHECK),
    ),
    Attack(
        "shallow file with garbage",
        "bounded input",
        lambda victim: victim.write(".git/shallow", "x" * 40 + "\n"),
        lambda victim: (victim.ubp(*STALE), victim.achieved())[-1],
    ),
    Attack(
        "mailmap with control sequences",
        "escaped output",
        text(".mailmap", f"{ESCAPES} <ann@example.com>\n"),
        unharmed(CHECK, ("stale",)),
    ),
    Attack(
        "author with control sequences",
        "escaped output",
        person(b"\x1b[31mA\x07\xe2\x80\xae\xe2\x80\x8b", b"\x1b]0;x\x07 ::error::x\n"),
        unharmed(CHECK, ("stale",)),
    ),
    Attack(
        "author that injects into logs and comments",
        "escaped output",
        person(
            b"::error::x @everyone [x](https://example.com)",
            b"::set-output name=x::y\n\n<script>alert(1)</script>\n",
        ),
        unharmed(
            CHECK, ("check", "--format", "markdown"), ("check", "--format", "html"), ("stale",)
        ),
    ),
    Attack(
        "message of 1 MB",
        "bounded input",
        person(b"A", b"x" * 1_000_000),
        unharmed(CHECK, ("stale",)),
    ),
    Attack(
        "message in an unknown encoding",
        "escaped output",
        person(b"A\xff", b"\xff\xfe\n", b"encoding utf-7-\x1b[31m"),
        unharmed(CHECK, ("stale",)),
    ),
    Attack(
        "branch with shell syntax",
        "quoted commands",
        lambda victim: victim.git("checkout", "--quiet", "-b", "x$(touch${IFS}harm);`id`\u202e"),
        unharmed(CHECK, ("status",), ("status", "--json")),
    ),
    Attack(
        "sparse files as a page and as a source",
        "bounded input",
        both(source("src/sparse.bin"), sparse("docs/b.md"), sparse("src/sparse.bin")),
        unharmed(CHECK, LIST, ("get-page", "docs/b.md")),
    ),
    # The graph as a file
    Attack("names of pages in a picture", "escaped output", named(*INJECTIONS), pictured),
    Attack(
        "titles of pages in a picture",
        "escaped output",
        both(
            text(
                "docs/b.md",
                "---\ntitle: '</script><script>alert(1)</script><!--<script>'\n---\n"
                "# <img src=x onerror=alert(1)>\n\n</script><svg onload=alert(1)>\u2028 [[a]]\n",
            ),
            text("docs/c.md", "# ]]><iframe src=//x>\n\n[[b]] " + ESCAPES),
        ),
        pictured,
    ),
    Attack("picture through a link", "inside", link("graph.html", "OUTSIDE/secret.md"), pictured),
    Attack(
        "default picture through a link",
        "inside",
        both(config({}), link(".ubp/graph.html", "OUTSIDE/secret.md")),
        unharmed(("get-graph", "--format", "html")),
    ),
    # Two versions
    Attack(
        "names of pages of two versions",
        "escaped output",
        named(*INJECTIONS),
        compared("HEAD~2..HEAD", "HEAD~..HEAD"),
    ),
    Attack(
        "texts of two versions",
        "escaped output",
        rewritten(
            "# A\n\nold\n",
            f"# <img src=x onerror=alert(1)> @everyone\n\n@everyone {ESCAPES}"
            "\n::error::x\n\n## `` ` ``\n\n<script>alert(1)</script>\n",
        ),
        compared("HEAD~..HEAD"),
    ),
    Attack(
        "thousands of sections in two versions",
        "bounded input",
        rewritten(sections(many(4000), 6), sections(many(4001), 6)),
        compared("HEAD~..HEAD"),
    ),
    Attack(
        "a long section in two versions",
        "bounded input",
        rewritten(sections(1, many(200_000)), sections(1, many(200_001))),
        compared("HEAD~..HEAD"),
    ),
    Attack(
        "versions that are options",
        "checked arguments",
        lambda _: None,
        compared("--output=x..HEAD", "HEAD..--output=x", "HEAD..-x", "HEAD:..HEAD^{tree}"),
    ),
    Attack(
        "page of two versions outside",
        "inside",
        link("docs/b.md", "OUTSIDE/secret.md"),
        asks_nothing(
            ("diff", "HEAD~..HEAD", "docs/b.md"),
            ("diff", "HEAD~..HEAD", "../outside/secret.md"),
            ("diff", "HEAD~..HEAD", "/etc/passwd"),
            ("diff", "HEAD~..HEAD", "docs/a.md#../../x"),
        ),
    ),
    # Collections
    Attack(
        "names and texts in a collection",
        "escaped output",
        collected(both(text("docs/b.md", f"# {ESCAPES}\n\npage {ESCAPES}\n"), named(*INJECTIONS))),
        in_collection(
            ("search", "page", "--in", "other", "--mode", "fulltext"),
            ("list-pages", "--in", "other"),
            ("get-page", "docs/b.md", "--in", "other"),
            ("get-graph", "--in", "other"),
            ("diff", "other@HEAD~..HEAD"),
        ),
    ),
    Attack(
        "links to files outside in a collection",
        "inside",
        collected(link("docs/b.md", "OUTSIDE/secret.md")),
        in_collection(
            ("search", "page", "--in", "other", "--mode", "fulltext"),
            ("get-page", "docs/b.md", "--in", "other"),
            ("get-page", "../outside/secret.md", "--in", "other"),
            ("list-pages", "--in", "other"),
        ),
    ),
    Attack(
        "names of collections that are paths and options",
        "checked arguments",
        lambda _: None,
        asks_nothing(
            *(
                ("search", "page", f"--in={name}")
                for name in (
                    "../outside",
                    "/etc",
                    "x@--upload-pack=touch harm",
                    "-x",
                    "a/../b",
                    "\n",
                )
            ),
            ("diff", "../outside@a..b"),
            ("diff", "x@--output=harm..HEAD"),
        ),
    ),
    Attack(
        "addresses of collections that run programs",
        "no execution",
        lambda victim: config(
            {
                "collections": {
                    "ext": {"git": f"ext::sh -c '{victim.touch}'"},
                    "pack": {"git": "--upload-pack=touch harm"},
                    "file": {"git": str(victim.secret.parent)},
                    "local": {"git": "ssh://-oProxyCommand=touch%20harm/x"},
                    "web": {"url": "file:///etc/passwd"},
                }
            }
        )(victim),
        asks_nothing(
            ("collections",),
            ("collections", "sync"),
            ("search", "page", "--in", "ext"),
            ("check",),
        ),
    ),
    # Pull requests
    Attack("names and titles of a change", "escaped output", named(*INJECTIONS), pull_request),
    *(
        Attack(f"change that hides a finding by {name}", "relaxed checks", build, relaxed)
        for name, build in (
            ("a severity", relax(config({"check": {"severity": {"broken-link": "off"}}}))),
            ("an exclusion", relax(config({"source": {"exclude": ["docs/b.md"]}}))),
            (
                "an ignored path",
                relax(config({"check": {"ignore": [{"path": "docs/**", "rule": "broken-link"}]}})),
            ),
            ("a comment", relax(lambda _: None, "<!-- ubp: ignore broken-link -->\n")),
        )
    ),
    Attack("name of the base that is an option", "checked arguments", lambda _: None, base_option),
    Attack(
        "inputs of the action as text of a script", "no expressions", lambda _: None, no_expressions
    ),
)


def request(number: Any, method: str, /, **parameters: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": parameters}


def call(tool: str, /, **arguments: Any) -> Callable[[Server], list[dict[str, Any]]]:
    """Call a tool once."""
    return calls((tool, arguments))


def calls(*wanted: tuple[str, Any]) -> Callable[[Server], list[dict[str, Any]]]:
    """Call tools, one after the other."""

    def send(server: Server) -> list[dict[str, Any]]:
        return [
            server.ask("tools/call", {"name": tool, "arguments": arguments})
            for tool, arguments in wanted
        ]

    return send


def lines(*messages: bytes | dict[str, Any]) -> Callable[[Server], list[dict[str, Any]]]:
    """Send lines, then a request that shows that the server still answers; return all answers."""

    def send(server: Server) -> list[dict[str, Any]]:
        server.send(*messages)
        answer = server.ask("ping", {})
        return [*answer["before"], answer]

    return send


def methods(*wanted: tuple[str, dict[str, Any]]) -> Callable[[Server], list[dict[str, Any]]]:
    return lambda server: [server.ask(method, parameters) for method, parameters in wanted]


def is_refused(answers: list[dict[str, Any]]) -> str:
    """Judge that each answer is an error, without secrets or paths of this machine."""
    accepted = [answer for answer in answers if not _is_error(answer)]
    return leaks(answers) or (f"accepted: {str(accepted)[:200]}" if accepted else "")


def leaks(answers: list[dict[str, Any]]) -> str:
    """Judge that no answer has a secret, and none is an internal error."""
    written = json.dumps(answers)
    if SECRET in written or "root:x:0" in written:
        return f"leaked: {written[:200]}"
    if "internal_error" in written:
        return f"failed: {written[:300]}"
    return ""


def count_refused(number: int) -> Callable[[list[dict[str, Any]]], str]:
    """Judge that so many lines are refused, and that the server answers the next."""

    def judge(answers: list[dict[str, Any]]) -> str:
        *before, last = answers
        errors = [answer for answer in before if _is_error(answer)]
        if "result" not in last or len(errors) != number or len(before) != number:
            return f"{len(errors)} of {number} refused: {str(before)[:300]}"
        return leaks(answers)

    return judge


def _is_error(answer: dict[str, Any]) -> bool:
    return "error" in answer or bool(answer.get("result", {}).get("isError"))


def flood(server: Server) -> list[dict[str, Any]]:
    """Send 300 calls and cancel them all."""
    numbers = range(300)
    messages = [
        request(number, "tools/call", name="ubp_list_pages", arguments={}) for number in numbers
    ]
    cancelled = [
        {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": number}}
        for number in numbers
    ]
    server.send(*messages, *cancelled)
    return [server.ask("ping", {})]


TRAVERSALS = (
    *(
        "../outside/secret.md",
        "/etc/passwd",
        "docs/../../outside/secret.md",
        "..\\outside\\secret.md",
    ),
    *(
        "C:/outside/secret.md",
        "docs/a.md\0.md",
        "\\\\host\\share",
        "./../outside/secret.md",
        "docs/./../../x",
    ),
)
ENCODED = (
    "..%2foutside%2fsecret.md",
    "%2e%2e/outside/secret.md",
    "file:///etc/passwd",
    "~/secret.md",
    ".git/config",
    "\u2025/outside/secret.md",
)
PATH_TOOLS = (
    ("ubp_get_page", "filepath"),
    ("ubp_get_context", "filepath"),
    ("ubp_get_graph", "center"),
    ("ubp_check_staleness", "filepath"),
)

BY_CLIENTS = (
    Abuse(
        "paths that leave the repository",
        "checked arguments",
        calls(*((tool, {name: path}) for tool, name in PATH_TOOLS for path in TRAVERSALS)),
        is_refused,
    ),
    Abuse(
        "encoded paths",
        "checked arguments",
        calls(*(("ubp_get_page", {"filepath": path}) for path in ENCODED)),
        is_refused,
    ),
    Abuse(
        "impact of paths that leave the repository",
        "checked arguments",
        calls(*(("ubp_get_impact", {"path": path}) for path in TRAVERSALS)),
        is_refused,
    ),
    Abuse(
        "revisions that are options",
        "checked arguments",
        calls(
            *(
                ("ubp_get_page", {"filepath": "docs/a.md", "ref": ref})
                for ref in (
                    "--output=pwned",
                    "-x",
                    "HEAD:src/a.py",
                    "a..b",
                    "^HEAD",
                    "HEAD --all",
                    "\0",
                )
            )
        ),
        is_refused,
    ),
    Abuse(
        "revisions that search by patterns",
        "interruptible calls",
        calls(
            *(
                ("ubp_list_pages", {"ref": ref})
                for ref in (
                    ":/(a*)*(a*)*(a*)*b",
                    "HEAD^{/((a+)+)+$}",
                    "HEAD@{99999999999}",
                    "x" * 5000,
                )
            )
        ),
        leaks,
    ),
    Abuse(
        "arguments of wrong types",
        "checked arguments",
        calls(
            *(
                ("ubp_get_page", {"filepath": value})
                for value in (1, [], {}, True, ["docs/a.md"], {"a": "b"})
            ),
            ("ubp_list_pages", {"limit": "10"}),
            ("ubp_list_pages", {"limit": True}),
            ("ubp_search", {"query": ["a"]}),
        ),
        is_refused,
    ),
    Abuse(
        "numbers beyond limits",
        "checked arguments",
        calls(
            ("ubp_list_pages", {"limit": 10**30}),
            ("ubp_list_pages", {"limit": -1}),
            ("ubp_get_context", {"filepath": "docs/a.md", "depth": 1e308}),
            ("ubp_get_graph", {"center": "docs/a.md", "depth": 99}),
        ),
        is_refused,
    ),
    Abuse(
        "unknown arguments",
        "checked arguments",
        calls(
            ("ubp_get_page", {"filepath": "docs/a.md", "__class__": "x"}),
            ("ubp_search", {"query": "a", "sql": "1"}),
        ),
        is_refused,
    ),
    Abuse(
        "query of 1 MB", "checked arguments", call("ubp_search", query="a " * 500_000), is_refused
    ),
    Abuse(
        "query with the syntax of full text search",
        "checked arguments",
        calls(
            *(
                ("ubp_fulltext_search", {"query": query})
                for query in (
                    '" OR 1=1 --',
                    "NEAR(a b, 5) AND *",
                    "words : x",
                    "a" * 900,
                    "((((" * 200,
                    "- - -",
                    '"""',
                    "^a",
                    "{x}:y",
                    "NOT NOT",
                )
            )
        ),
        leaks,
    ),
    Abuse(
        "cursors that were altered",
        "checked arguments",
        calls(
            *(
                ("ubp_list_pages", {"cursor": cursor})
                for cursor in ("AAAA", "W10", "x" * 10_000, "W1sxXSwyLDNd", "\ud800")
            )
        ),
        is_refused,
    ),
    Abuse(
        "lone surrogates",
        "checked messages",
        lines(
            json.dumps(
                request(1, "tools/call", name="ubp_search", arguments={"query": "\ud800\udfff"})
            ).encode()
        ),
        leaks,
    ),
    Abuse(
        "unknown tools",
        "checked arguments",
        calls(("ubp_exec", {}), ("../ubp_search", {}), ("x" * 100_000, {}), ("", {})),
        is_refused,
    ),
    Abuse(
        "unknown methods",
        "checked messages",
        methods(("tools/exec", {}), ("sampling/createMessage", {}), ("\x1b[31m", {})),
        is_refused,
    ),
    Abuse(
        "resources outside",
        "checked arguments",
        methods(
            *(
                ("resources/read", {"uri": uri})
                for uri in (
                    "file:///etc/passwd",
                    "ubp://../../etc/passwd",
                    "ubp:///etc/passwd",
                    "ubp://page/../outside/secret.md",
                    "ubp://page/%2e%2e/outside/secret.md",
                    "http://127.0.0.1/",
                    "",
                )
            )
        ),
        is_refused,
    ),
    Abuse(
        "prompts that do not exist",
        "checked arguments",
        methods(
            ("prompts/get", {"name": "../x"}),
            ("prompts/get", {"name": "x", "arguments": {"a": "b" * many(100_000)}}),
        ),
        is_refused,
    ),
    Abuse(
        "completions of everything",
        "checked arguments",
        methods(
            (
                "completion/complete",
                {
                    "ref": {"type": "ref/resource", "uri": "file:///{path}"},
                    "argument": {"name": "path", "value": "../" * 1000},
                },
            ),
            (
                "completion/complete",
                {"ref": {"type": "ref/prompt", "name": "x"}, "argument": {"name": "", "value": ""}},
            ),
        ),
        leaks,
    ),
    Abuse(
        "lines that are not messages",
        "checked messages",
        lines(
            b"{",
            b"nonsense",
            b"[]",
            b"1",
            b'"x"',
            b"null",
            b"\xff\xfe{}",
            b'{"jsonrpc": "1.0", "id": 1, "method": "ping"}',
        ),
        count_refused(8),
    ),
    Abuse(
        "batch of requests",
        "checked messages",
        lines(json.dumps([request(1, "ping"), request(2, "ping")]).encode()),
        count_refused(1),
    ),
    Abuse(
        "JSON nested 100,000 times",
        "checked messages",
        lines(
            b"[" * 100_000,
            b'{"a":' * 100_000,
            b'{"jsonrpc":"2.0","id":1,"method":"ping","params":'
            + b'{"a":' * 5000
            + b"1"
            + b"}" * 5000
            + b"}",
        ),
        count_refused(3),
    ),
    Abuse(
        "line of 20 MB",
        "checked messages",
        lines(b'{"jsonrpc": "2.0", "x": "' + b"x" * 20_000_000),
        count_refused(1),
    ),
    Abuse(
        "ids of wrong types",
        "checked messages",
        lines(
            *(
                json.dumps({"jsonrpc": "2.0", "id": number, "method": "ping"}).encode()
                for number in (True, None, [1], {"a": 1}, 1.5)
            )
        ),
        leaks,
    ),
    Abuse(
        "empty lines and carriage returns",
        "checked messages",
        lines(b"", b"   ", b"\r", b"\t"),
        count_refused(0),
    ),
    Abuse(
        "cancellation of unknown calls",
        "checked messages",
        lines(
            *(
                {
                    "jsonrpc": "2.0",
                    "method": "notifications/cancelled",
                    "params": {"requestId": number},
                }
                for number in (99, "x", None, -1, 10**30)
            ),
            {"jsonrpc": "2.0", "method": "notifications/cancelled"},
        ),
        leaks,
    ),
    Abuse(
        "answers to nothing",
        "checked messages",
        lines(
            {"jsonrpc": "2.0", "id": 77, "result": {}},
            {"jsonrpc": "2.0", "id": "z", "error": {"code": 1, "message": "x"}},
        ),
        leaks,
    ),
    Abuse("300 calls that are cancelled at once", "interruptible calls", flood, leaks),
    Abuse(
        "second handshake",
        "checked messages",
        methods(
            (
                "initialize",
                {
                    "protocolVersion": "1999-01-01",
                    "capabilities": {},
                    "clientInfo": {"name": "x", "version": "1"},
                },
            ),
            ("initialize", {}),
        ),
        leaks,
    ),
)
