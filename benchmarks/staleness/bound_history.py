"""The alarms of a repository as if `ubp bind --write` had bound its pages some commits ago.

`python benchmarks/staleness/bound_history.py run OUT COMMITS CLONE...` binds the pages of each
clone (`.../OWNER+NAME/repo`) as of COMMITS first parents ago (at most 500), puts these sources,
without pins, into the pages of every later commit, and writes the firings (see `firings.py`) to
OUT/NAME.json. Finished repositories are not repeated.

`... draw OUT NAMED OTHERS` draws NAMED firings with evidence and OTHERS without, at most
PER_REPOSITORY from a repository and one from a commit, and prints them as JSON.
"""

import json
import random
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pygit2

from benchmarks.staleness.firings import find_firings
from benchmarks.staleness.replay import git

SEED = 20261206
PER_REPOSITORY = 6
KEY = "source_refs"

Block = bytes  # the lines of front matter that list a page's sources


def bind(clone: Path, commit: str, folder: Path) -> Mapping[str, Block]:
    """Return what `ubp bind --write` adds to the front matter of each page as of a commit."""
    root = folder / "bound"
    run = ["git", "clone", "--quiet", "--shared", "--no-checkout", "--", str(clone), str(root)]
    subprocess.run(run, check=True)
    git(root, "checkout", "--quiet", "--detach", commit)
    command = [sys.executable, "-m", "ubp", "bind", "--write", "--quiet", "--key", KEY]
    subprocess.run(command, cwd=root, check=False, stdout=subprocess.DEVNULL)
    blocks: dict[str, list[str]] = defaultdict(list)
    page = ""
    for line in git(root, "diff", "--unified=0", "--no-prefix").splitlines():
        if line.startswith("+++ "):
            page = line[4:]
        elif line.startswith("+") and line.strip() not in {"+---", "+"}:
            blocks[page].append(line[1:])
    return {
        page: "".join(f"{line}\n" for line in lines).encode()
        for page, lines in blocks.items()
        if lines[0].startswith(f"{KEY}:")
    }


def write_history(
    target: Path, clone: Path, commits: list[str], bound: Mapping[str, Block]
) -> None:
    """Write these commits with the sources in the front matter; the subjects are the commits."""
    run = ["git", "clone", "--quiet", "--shared", "--bare", "--", str(clone), str(target)]
    subprocess.run(run, check=True)
    repository = pygit2.Repository(str(target))
    written: dict[tuple[pygit2.Oid, str], pygit2.Oid] = {}

    def with_sources(blob: pygit2.Oid, page: str) -> pygit2.Oid:
        if (blob, page) not in written:
            found = repository[blob]
            data = found.data if isinstance(found, pygit2.Blob) else b""
            has_front_matter = data.startswith(b"---\n")
            rest = data[4:] if has_front_matter else b"---\n" + data
            text = b"---\n" + bound[page] + rest
            written[blob, page] = repository.create_blob(text)
        return written[blob, page]

    def tree_with(tree: pygit2.Tree, pages: Mapping[tuple[str, ...], str]) -> pygit2.Oid:
        builder = repository.TreeBuilder(tree)
        folders: dict[str, dict[tuple[str, ...], str]] = defaultdict(dict)
        for (name, *rest), page in pages.items():
            if rest:
                folders[name][tuple(rest)] = page
            else:
                builder.insert(name, with_sources(tree[name].id, page), tree[name].filemode)
        for name, inner in folders.items():
            below = tree[name]
            if isinstance(below, pygit2.Tree):
                builder.insert(name, tree_with(below, inner), pygit2.enums.FileMode.TREE)
        return builder.write()

    parents: list[pygit2.Oid] = []
    for commit in commits:
        original = repository[commit]
        there = {tuple(page.split("/")): page for page in bound if page in original.tree}
        tree = tree_with(original.tree, there)
        author, committer = original.author, original.committer
        parents = [repository.create_commit(None, author, committer, commit, tree, parents)]
    repository.create_reference("refs/heads/bound", parents[0], force=True)
    repository.set_head("refs/heads/bound")


def replay(clone: Path, limit: int) -> dict[str, Any]:
    """Return the firings in the newest commits of a clone that is bound before them."""
    listed = git(clone, "rev-list", "--first-parent", f"--max-count={limit + 1}", "HEAD")
    commits = listed.split()[::-1]
    with tempfile.TemporaryDirectory() as folder:
        bound = bind(clone, commits[0], Path(folder))
        firings: list[dict[str, Any]] = []
        if bound:
            history = Path(folder) / "history.git"
            write_history(history, clone, commits, bound)
            firings = list(find_firings(history, [KEY]))
            for firing in firings:
                firing["commit"] = git(
                    history, "log", "-1", "--format=%s", firing["commit"]
                ).strip()
    return {
        "clone": str(clone),
        "commits": len(commits) - 1,
        "bound": len(bound),
        "firings": firings,
    }


def run(out: Path, limit: int, clones: list[str]) -> None:
    """Replay the clones that have no result yet."""
    out.mkdir(parents=True, exist_ok=True)
    for clone in map(Path, clones):
        target = out / f"{clone.parent.name}.json"
        if not target.exists():
            result = replay(clone, limit)
            target.write_text(json.dumps(result, indent=1))
            named = sum(firing["is_named"] for firing in result["firings"])
            print(clone.parent.name, result["bound"], len(result["firings"]), named, flush=True)


def draw(out: Path, named: int, others: int) -> Iterator[dict[str, Any]]:
    """Yield firings with and without evidence, in the order of chance."""
    drawn: list[dict[str, Any]] = []
    chance = random.Random(SEED)
    for is_named, count in ((True, named), (False, others)):
        found: list[dict[str, Any]] = []
        for path in sorted(out.glob("*.json")):
            firings = [
                {"repository": path.stem, **firing}
                for firing in json.loads(path.read_text())["firings"]
                if firing["is_named"] == is_named
            ]
            chance.shuffle(firings)
            of_commits = {firing["commit"]: firing for firing in firings}
            found += list(of_commits.values())[:PER_REPOSITORY]
        drawn += chance.sample(found, min(count, len(found)))
    chance.shuffle(drawn)
    yield from drawn


if __name__ == "__main__":
    command, folder, *arguments = sys.argv[1:]
    if command == "run":
        run(Path(folder), int(arguments[0]), arguments[1:])
    else:
        drawn = list(draw(Path(folder), int(arguments[0]), int(arguments[1])))
        print(json.dumps(drawn, indent=1))
