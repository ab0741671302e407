"""Whether the cases of `ubp review` can be decided, and its alarms are right, at first look.

`python benchmarks/staleness/review_cases.py draw OUT CLONE…` takes COMMITS random changes of the
main line of each clone `…/OWNER+NAME/repo`. What `ubp bind --write` proposes 400 commits before its
tip is put into the pages of each change's base, which are fresh there. Of the cases of all changes,
those below the least probability included, it draws some of each of the STRATA, and writes each to
OUT/cases/NUMBER.md, and what is known of it to OUT/cases.json. A blind reader of such a file sees
nothing else: neither the probability nor the repository.

`… corrected OUT CLONE…` draws cases of which more are right: of CORRECTED_COMMITS commits of each
clone that edit sources and pages together, without their edits of pages, and of LATER_COMMITS that
edit no page, where one is edited within LATER_DAYS. Nothing is bound. Of the cases of a probability
of LEAST_CORRECTED or more it draws some of each of the ORIGINS: of pages that the commit edits
(`same`), of pages that are edited within LATER_DAYS after it (`later`), and of others; at most
MAX_PER_COMMIT of a commit. It writes the same files, numbered at random over all clones.

`… table OUT` joins them with the judgements of `benchmarks/data/review.tsv`: `judged` by a reader
of the whole page and the whole change (right: it made something in the page untrue, or incomplete
where the page lists things completely), `first` and `second` by blind readers of the case alone.
"""

import csv
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.common.measure import print_table, wilson
from benchmarks.staleness.replay import git
from benchmarks.staleness.review import LAST, MAX_FILES, MAX_PAGES, is_page, without_pages
from ubp.answers.bindings.bind import BindRequest
from ubp.answers.staleness.stale import report_stale
from ubp.bindings.path_words import is_test
from ubp.checks.removed_names import describes_present, is_source
from ubp.code.definitions import language_of
from ubp.index.session import Target
from ubp.review.excerpt import case_text
from ubp.review.model import Case
from ubp.review.run import Extent, review_change
from ubp.staleness.model import is_certain
from ubp.workspace import Workspace

JUDGED = Path(__file__).parents[1] / "data" / "review.tsv"
SEED = 20261124
BINDING_AGE = 400  # commits
COMMITS = 15
# The least probability of a stratum, and how many of its cases are drawn from each repository.
STRATA = ((0.1, 6), (0.02, 2), (0.0, 2))
MAX_CHANGED_FILES = 60  # nobody reviews a larger change page by page
DOCUMENTS = (".md", ".mdx", ".markdown", ".rst", ".txt")

CORRECTED_SEED = 20261125
CORRECTED_COMMITS, LATER_COMMITS, LATER_DAYS = 20, 6, 30
LEAST_CORRECTED = 0.05
# How many cases are drawn of each repository, by who edited the page, if anybody did.
ORIGINS = {"same": 4, "later": 2, "other": 4}
MAX_PER_COMMIT = 3
WORKERS = 2

Row = dict[str, Any]


def draw(out: Path, clones: Iterable[str]) -> None:
    """Write the cases of repositories that have none yet."""
    (out / "cases").mkdir(parents=True, exist_ok=True)
    known = out / "cases.json"
    rows: list[Row] = json.loads(known.read_text()) if known.exists() else []
    done = {row["repository"] for row in rows}
    for clone in map(Path, clones):
        name = clone.parent.name
        if name in done:
            continue
        found = list(cases_of(clone))
        generator = random.Random(f"{SEED} {name}")
        drawn = []
        for least, number in STRATA:
            group = [row for row in found if row["stratum"] == least]
            group.sort(key=lambda row: (row["commit"], row["page"]))
            drawn += generator.sample(group, min(number, len(group)))
        generator.shuffle(drawn)
        counts = Counter(row["stratum"] for row in found)
        for row in drawn:
            row |= {"repository": name, "number": len(rows) + 1, "group": counts[row["stratum"]]}
            (out / "cases" / f"{row['number']:03}.md").write_text(row.pop("text"))
            rows.append(row)
        known.write_text(json.dumps(rows, indent=1))
        print(name, dict(counts), "cases,", sum(row["is_alarm"] for row in found), "alarms")


def cases_of(clone: Path) -> Iterator[Row]:
    """Yield the cases of random changes of a repository, as it would have been bound."""
    commits = git(clone, "rev-list", "--first-parent", "HEAD").split()
    age = min(BINDING_AGE, len(commits) - 1)
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "clone.git"
        run("git", "clone", "--quiet", "--shared", "--bare", "--", str(clone), str(root))
        bindings = bindings_at(root, commits[age], Path(folder) / "bound")
        steps = list(zip(commits[1 : age + 1], commits[:age], strict=True))
        random.Random(f"{SEED} {clone.parent.name}").shuffle(steps)
        wanted = [step for step in steps if changes_source(root, *step)][:COMMITS]
        print(clone.parent.name, len(bindings), "pages bound", flush=True)
        pairs = [(new, bound_pair(root, old, new, bindings)) for old, new in wanted]
        with Workspace.open(str(root)) as workspace:
            for new, (base, tip) in pairs:
                target = Target(tip, base=base)
                alarms = {
                    assessed.page.filepath
                    for assessed in report_stale(workspace.session, target).introduced
                    if any(map(is_certain, assessed.references))
                }
                for case in cases_from(workspace, target, 0.0):
                    yield {
                        "commit": new,
                        "page": case.filepath,
                        "kinds": [reason.kind for reason in case.reasons],
                        "probability": round(case.probability, 4),
                        "stratum": next(least for least, _ in STRATA if case.probability >= least),
                        "is_alarm": case.filepath in alarms,
                        "text": case_text(
                            case, [git(root, "log", "-1", "--format=%s", new).strip()]
                        ),
                    }


def draw_corrected(out: Path, clones: Sequence[str]) -> None:
    """Write cases of commits whose documentation was edited in the same commit or after it."""
    with ProcessPoolExecutor(WORKERS) as pool:
        rows = [row for drawn in pool.map(drawn_corrected, clones) for row in drawn]
    random.Random(CORRECTED_SEED).shuffle(rows)
    (out / "cases").mkdir(parents=True)
    for number, row in enumerate(rows, 1):
        (out / "cases" / f"{number:03}.md").write_text(row.pop("text"))
        row["number"] = number
    (out / "cases.json").write_text(json.dumps(rows, indent=1))


def drawn_corrected(clone: str) -> Sequence[Row]:
    """Return the cases that are drawn of a clone: some of each origin, few of each commit."""
    name = Path(clone).parent.name
    found = list(corrected_cases(Path(clone)))
    found.sort(key=lambda row: (row["commit"], row["page"]))
    random.Random(f"{CORRECTED_SEED} {name}").shuffle(found)
    drawn: list[Row] = []
    for origin, number in ORIGINS.items():
        left = number
        for row in found:
            of_commit = sum(row["commit"] == other["commit"] for other in drawn)
            if left and row["origin"] == origin and of_commit < MAX_PER_COMMIT:
                drawn.append(row)
                left -= 1
    print(name, dict(Counter(row["origin"] for row in found)), "cases", flush=True)
    return drawn


def corrected_cases(clone: Path) -> Iterator[Row]:
    """Yield the probable cases of random commits after which a page was edited, by origin."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "clone.git"
        run("git", "clone", "--quiet", "--shared", "--bare", "--", str(clone), str(root))
        for commit, edited, later in corrected_commits(root):
            tip = without_pages(root, commit)
            with Workspace.open(str(root)) as workspace:
                target = Target(tip, base=f"{commit}^")
                cases = cases_from(workspace, target, LEAST_CORRECTED)
            subject = git(root, "log", "-1", "--format=%s", commit).strip()
            for case in cases:
                origins = {"same": edited, "later": later}
                yield {
                    "repository": clone.parent.name,
                    "commit": commit,
                    "page": case.filepath,
                    "probability": round(case.probability, 4),
                    "kinds": [reason.kind for reason in case.reasons],
                    "is_alarm": False,  # no page lists a source
                    "origin": next(
                        (name for name in origins if case.filepath in origins[name]), "other"
                    ),
                    "text": case_text(case, [subject]),
                }


class Commit(NamedTuple):
    """A commit: its time in seconds, the number of its files, and the pages that it edits."""

    name: str
    time: int
    file_count: int
    has_code: bool
    pages: Collection[str]


def corrected_commits(root: Path) -> Sequence[tuple[str, Collection[str], Collection[str]]]:
    """Return commits, each with the pages that it edits, and that are edited soon after it."""
    history = list(main_line(root))
    found = []
    for index, commit in enumerate(history):
        if commit.has_code and commit.file_count <= MAX_FILES:
            later: set[str] = set()
            for after in reversed(history[:index]):
                if after.time - commit.time > LATER_DAYS * 86_400:
                    break
                later.update(after.pages)
            found.append((commit.name, commit.pages, later.difference(commit.pages)))
    random.Random(CORRECTED_SEED).shuffle(found)
    same = [step for step in found if 0 < len(step[1]) <= MAX_PAGES]
    later_only = [step for step in found if not step[1] and step[2]]
    return same[:CORRECTED_COMMITS] + later_only[:LATER_COMMITS]


def main_line(root: Path) -> Iterator[Commit]:
    """Yield the last commits of the main line, newest first."""
    options = ("--first-parent", "--no-renames", "--name-status", "--format=%x01%H %ct")
    for block in git(root, "log", *options, f"-{LAST}").split("\x01")[1:]:
        first, *lines = block.strip().splitlines()
        name, time = first.split()
        files = [line.split("\t") for line in lines if line]
        pages = [path for status, path in files if status == "M" and is_page(path)]
        yield Commit(
            name=name,
            time=int(time),
            file_count=len(files),
            has_code=any(is_code(path) for _, path in files),
            pages=frozenset(filter(describes_present, pages)),
        )


def is_code(path: str) -> bool:
    """Return whether a file is code, and not a test."""
    return is_source(path) and not is_test(path) and language_of(path) is not None


def cases_from(workspace: Workspace, target: Target, least: float) -> Sequence[Case]:
    """Return the cases of a change of at least this probability."""
    extent = Extent(1_000, least)
    return review_change(workspace.session, target, (), extent).cases


def changes_source(root: Path, old: str, new: str) -> bool:
    """Return whether a change is of a size to review, and of more than documents."""
    paths = git(root, "diff", "--name-only", "--no-renames", old, new).splitlines()
    sources = [path for path in paths if not path.endswith(DOCUMENTS)]
    return bool(sources) and len(paths) <= MAX_CHANGED_FILES


def bindings_at(root: Path, commit: str, checkout: Path) -> Mapping[str, list[str]]:
    """Return what `ubp bind --write` proposes at a commit: sources by page."""
    run("git", "clone", "--quiet", "--shared", "--no-checkout", "--", str(root), str(checkout))
    # A mirror may lack its largest files, which git cannot write then.
    checkout_commit = ["git", "-C", str(checkout), "checkout", "--quiet", "--detach", commit]
    subprocess.run(checkout_commit, check=False)
    with Workspace.open(str(checkout)) as workspace:
        record = workspace.ask(BindRequest(dry_run=True))
    shutil.rmtree(checkout)
    return {
        page.filepath: [source.source_path for source in page.sources] for page in record.written
    }


def bound_pair(
    root: Path, old: str, new: str, bindings: Mapping[str, Sequence[str]]
) -> tuple[str, str]:
    """Return a change as two new commits, the first without a parent, whose pages are bound."""
    base = bound_commit(root, old, bindings, ())
    return base, bound_commit(root, new, bindings, (base,))


def bound_commit(
    root: Path, commit: str, bindings: Mapping[str, Sequence[str]], parents: Sequence[str]
) -> str:
    """Write a commit whose tree is that of `commit`, with bindings in the pages; return its id."""
    environment = {"GIT_INDEX_FILE": str(root / "bound.index"), "GIT_DIR": str(root)}
    run("git", "read-tree", commit, environment=environment)
    lines = []
    listed = run("git", "ls-tree", "-r", "-z", commit, environment=environment).split(b"\0")
    entries = {
        line.partition(b"\t")[2].decode(): line.split()[2].decode() for line in listed if line
    }
    for page, sources in bindings.items():
        if page in entries:
            text = run("git", "cat-file", "blob", entries[page], environment=environment)
            references = "".join(f"  - {json.dumps(source)}\n" for source in sources)
            block = f"<!-- ubp\nsource_refs:\n{references}-->\n".encode()
            if text.startswith(b"---\n"):
                block = f"source_refs:\n{references}".encode()
                bound = b"---\n" + block + text[4:]
            elif page.endswith(".mdx"):
                bound = b"---\nsource_refs:\n" + references.encode() + b"---\n" + text
            else:
                bound = block + text
            written = ("git", "hash-object", "-w", "--stdin")
            blob = run(*written, data=bound, environment=environment).decode().strip()
            lines.append(f"100644 {blob}\t{page}")
    index = ("git", "update-index", "--index-info")
    run(*index, data="\n".join([*lines, ""]).encode(), environment=environment)
    tree = run("git", "write-tree", "--missing-ok", environment=environment).decode().strip()
    date = git(root, "log", "-1", "--format=%ct +0000", commit).strip()
    identity = {
        f"GIT_{who}_{what}": value
        for who in ("AUTHOR", "COMMITTER")
        for what, value in (("NAME", "A"), ("EMAIL", "a@example.org"), ("DATE", date))
    }
    message = git(root, "log", "-1", "--format=%s", commit)
    command = ("git", "commit-tree", tree, *(word for parent in parents for word in ("-p", parent)))
    return run(*command, data=message.encode(), environment=environment | identity).decode().strip()


def run(*command: str, data: bytes = b"", environment: Mapping[str, str] | None = None) -> bytes:
    """Run a command and return what it prints."""
    return subprocess.run(
        command,
        input=data,
        env={**os.environ, **(environment or {})},
        check=True,
        stdout=subprocess.PIPE,
    ).stdout


def table(out: Path) -> None:
    """Print how many cases are right, by probability, and what the blind readers found."""
    with JUDGED.open() as file:
        judged = {
            (row["repository"], row["commit"], row["page"]): row
            for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        }
    rows = [
        row | judged[key]
        for row in json.loads((out / "cases.json").read_text())
        if (key := (row["repository"], row["commit"][:12], row["page"])) in judged
    ]
    decided = [row for row in rows if row["judged"] in {"right", "wrong"}]
    groups = {
        "all": decided,
        "the default alarm": [row for row in decided if row["is_alarm"]],
        "0.3 to 1": [row for row in decided if row["probability"] >= 0.3],
        "0.1 to 0.3": [row for row in decided if 0.1 <= row["probability"] < 0.3],
        "below 0.1": [row for row in decided if row["probability"] < 0.1],
    }
    print_table(
        "Cases that are right",
        ("cases", "right", "mean probability"),
        [
            (
                name,
                share(sum(row["judged"] == "right" for row in group), len(group)),
                f"{sum(row['probability'] for row in group) / max(1, len(group)):.2f}",
            )
            for name, group in groups.items()
        ],
    )
    right = [row for row in decided if row["judged"] == "right"]
    readers = []
    for reader in ("first", "second"):
        said = [row for row in decided if row[reader] == "yes"]
        both = [row for row in decided if row[reader] in {"yes", "unsure"}]
        readers.append(
            (
                reader,
                share(sum(row["judged"] == "right" for row in said), len(said)),
                share(sum(row[reader] == "yes" for row in right), len(right)),
                share(sum(row["judged"] == "right" for row in both), len(both)),
            )
        )
    print_table("Blind readers", ("reader", "yes is right", "found", "unsure counted"), readers)
    alarms = [row for row in right if "bound" in row["kinds"]]
    print("alarms of bound pages that are right and that the default reports:", end=" ")
    print(share(sum(row["is_alarm"] for row in alarms), len(alarms)))


def share(part: int, whole: int) -> str:
    """Return a share with its interval."""
    low, high = wilson(part, whole)
    percent = f"{part / whole:.0%}" if whole else "-"
    return f"{part} of {whole}: {percent} ({low:.0%} to {high:.0%})"


if __name__ == "__main__":
    if sys.argv[1] == "draw":
        draw(Path(sys.argv[2]), sys.argv[3:])
    elif sys.argv[1] == "corrected":
        draw_corrected(Path(sys.argv[2]), sys.argv[3:])
    else:
        table(Path(sys.argv[2]))
