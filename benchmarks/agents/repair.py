"""Whether the package for a stale page holds what its authors' own repair was about.

    python benchmarks/agents/repair.py [--pages 8] [--seed 1] CLONE=KEY,KEY …

For each clone, bound pages are drawn from its main line that an author edited although, or because,
their sources had changed since the page's last commit. The state before that edit is checked out.
The identifiers concerned are those in lines that the edit changed and in lines of the sources that
had changed by then: names with an underscore, a digit or a capital inside, of four letters or more.
Edits of more than 10 pages at once, and those that concern no identifier, are left out.

With UBP: one call of `ubp_check_staleness` with `for_update` and 4,000 tokens. Without: the page is
read, `git log` names its last commit, and one `git diff` shows what changed in its sources since,
which an agent is told; it is measured whole, and cut so that all of it fits into 4,000 tokens.
"""

import argparse
import random
import re
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import mean, median
from typing import NamedTuple

from benchmarks.common.measure import print_table
from ubp.core.model import FilePath
from ubp.frame.budget import count_tokens
from ubp.markdown.document import read_head
from ubp.markdown.references import find_references
from ubp.server.tools.tool import call_tool, make_tool
from ubp.workspace import Workspace

MAX_TOKENS = 4_000
MAX_PAGES_AT_ONCE = 10
CALLS_WITHOUT = 3
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{3,}")
_IS_IDENTIFIER = re.compile(r"[a-z0-9][A-Z]|[A-Za-z]_[A-Za-z]|[A-Za-z][0-9]")
_CHANGED = re.compile(r"^[-+](?!\+\+ |-- )(.*)", re.MULTILINE)


class Case(NamedTuple):
    """A page before its repair: the commit, the identifiers concerned, and what git shows.

    `new` are those of the identifiers that the page does not have yet.
    """

    repair: str
    page: FilePath
    concerned: frozenset[str]
    new: frozenset[str]
    without: str


class Outcome(NamedTuple):
    """How many of the identifiers each package holds, and how large it is."""

    case: Case
    held: int
    held_new: int
    tokens: int
    held_without: int
    tokens_without: int


def git(clone: Path, *args: str) -> str:
    """Run git and return its output."""
    done = subprocess.run(["git", *args], cwd=clone, check=True, capture_output=True)
    return done.stdout.decode("utf-8", "replace")


def identifiers(text: str) -> frozenset[str]:
    """Return the identifiers in changed lines of a diff."""
    words = {word for line in _CHANGED.findall(text) for word in _NAME.findall(line)}
    return frozenset(word for word in words if _IS_IDENTIFIER.search(word))


def repairs(clone: Path, chance: random.Random) -> Iterator[tuple[str, FilePath]]:
    """Yield commits of the main line with pages that they modify, in random order."""
    log = git(clone, "log", "--first-parent", "--format=%x00%H", "--name-only", "-z",
              "--diff-filter=M", "-m", "--", "*.md")  # fmt: skip
    found = []
    for record in log.split("\0\0"):
        commit, *names = [part.strip("\n") for part in record.strip("\0").split("\0")]
        if len(names) <= MAX_PAGES_AT_ONCE:
            found += [(commit, FilePath(name)) for name in names if name]
    chance.shuffle(found)
    return iter(found)


def read_case(clone: Path, keys: Sequence[str], repair: str, page: FilePath) -> Case | None:
    """Return a page before a commit, if its sources had changed and the commit is about that."""
    data = git(clone, "show", f"{repair}~:{page}").encode()
    sources = [
        found.reference.source_path for found in find_references(read_head(data, keys), keys)[0]
    ]
    baseline = git(clone, "log", "-1", "--format=%H", f"{repair}~", "--", page).strip()
    if not sources or not baseline:
        return None
    drift = git(clone, "diff", baseline, f"{repair}~", "--", *filter(None, sources))
    edit = git(clone, "diff", f"{repair}~", repair, "--", page)
    concerned = identifiers(drift) & identifiers(edit)
    if not concerned:
        return None
    text = data.decode("utf-8", "replace")
    new = concerned - set(_NAME.findall(text))
    return Case(repair, page, concerned, new, f"{baseline}\n{text}\n{drift}")


def measure(root: Path, keys: Sequence[str], case: Case) -> Outcome:
    """Return what both packages of a page hold; `root` is a clone to check its state out in."""
    git(root, "checkout", "--quiet", "--force", "--detach", f"{case.repair}~")
    git(root, "clean", "--quiet", "--force", "-d", "-x")
    with Workspace.open(str(root), keys=keys) as workspace:
        arguments = {"filepath": case.page, "for_update": True, "max_tokens": MAX_TOKENS}
        text = call_tool(make_tool("ubp_check_staleness"), workspace, arguments).text
    words = set(_NAME.findall(text))
    cut = case.without
    while (excess := count_tokens(cut) - MAX_TOKENS) > 0:
        cut = cut[: -max(1, excess * 2)]
    return Outcome(
        case,
        len(case.concerned & words),
        len(case.new & words),
        count_tokens(text),
        len(case.concerned & set(_NAME.findall(cut))),
        count_tokens(case.without),
    )


def draw(clone: Path, keys: Sequence[str], pages: int, chance: random.Random) -> list[Case]:
    """Return so many pages of a clone, each once."""
    cases: dict[FilePath, Case] = {}
    for repair, page in repairs(clone, chance):
        if len(cases) == pages:
            break
        if page not in cases and (case := read_case(clone, keys, repair, page)):
            cases[page] = case
    return list(cases.values())


def main() -> None:
    """Print a table with a row for each clone, and the pages that miss something."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("clones", nargs="+", metavar="CLONE=KEY,KEY")
    parser.add_argument("--pages", type=int, default=8, help="pages of each clone")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    rows, everything = [], []
    for argument in options.clones:
        name, _, listed = argument.rpartition("=")
        clone, keys = Path(name).resolve(), listed.split(",")
        chance = random.Random(options.seed)
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder) / "clone"
            git(clone, "clone", "--quiet", "--shared", "--no-checkout", str(clone), str(root))
            cases = draw(root, keys, options.pages, chance)
            outcomes = [measure(root, keys, case) for case in cases]
        title = clone.parent.name if clone.name == "repo" else clone.name
        rows.append(row(title.replace("+", "/"), outcomes))
        everything += outcomes
        for outcome in outcomes:
            case = outcome.case
            print(f"{title} {case.repair[:12]} {case.page}: {len(case.concerned)} concerned,"
                  f" {outcome.held} in {outcome.tokens} tokens; git: {outcome.held_without},"
                  f" {outcome.tokens_without} whole", flush=True)  # fmt: skip
    head = ("repository", "pages", "all held", "identifiers", "new to the page", "tokens, median",
            "git: all held in 4,000", "identifiers", "tokens whole, median")  # fmt: skip
    print_table("Repair", head, [*rows, row("all", everything)])
    print(f"\nCalls for a page: 1 with UBP, {CALLS_WITHOUT} without.")


def row(title: str, outcomes: Sequence[Outcome]) -> tuple[str, ...]:
    """Return a row of the table."""
    sizes = [len(outcome.case.concerned) for outcome in outcomes]
    pairs = list(zip(outcomes, sizes, strict=True))
    new = sum(len(outcome.case.new) for outcome in outcomes)
    return (
        title,
        str(len(outcomes)),
        str(sum(outcome.held == size for outcome, size in pairs)),
        f"{mean(outcome.held / size for outcome, size in pairs):.2f}",
        f"{sum(outcome.held_new for outcome in outcomes)} of {new}",
        f"{median(outcome.tokens for outcome in outcomes):,.0f}",
        str(sum(outcome.held_without == size for outcome, size in pairs)),
        f"{mean(outcome.held_without / size for outcome, size in pairs):.2f}",
        f"{median(outcome.tokens_without for outcome in outcomes):,.0f}",
    )


if __name__ == "__main__":
    main()
