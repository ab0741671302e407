"""Compare the commits that changed a symbol, by UBP's rule, with those that `git log -L` lists.

Usage: symbol_agreement.py REPOSITORY [SYMBOLS [COMMITS]]

For definitions of at least four lines in the repository's sources, drawn at random with a fixed
seed, and for each of the last COMMITS that touched their file, UBP's answer is whether the tokens
of the definition differ from those in the first parent; Git's answer is whether `git log -L
START,END:FILE` lists the commit. Git follows lines, and so lists commits that changed comments or
white space only: those are counted apart, by the text of the definition without them as regular
expressions see it. Where a definition was written anew under an old name, Git's answer ends.

Also counted: the versions that `PartReader.find_untouched` would leave unread, and how many of
those differ (none should).
"""

import random
import re
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache

from ubp.code.symbols import Symbols, find_language
from ubp.core.model import FilePath
from ubp.core.source import Part
from ubp.index.parts import _compare

LANGUAGES = {
    *("python", "go", "rust", "java", "csharp", "ruby", "php", "kotlin", "scala", "bash", "cpp"),
    *("c", "typescript", "tsx", "javascript", "swift", "dart", "lua"),
}
HASH_COMMENTS = {"python", "ruby", "bash"}
SYMBOLS_PER_FILE = 2
MIN_LINES = 4
MAX_EXAMPLES = 12


@lru_cache(maxsize=4096)
def git(repository: str, *args: str) -> bytes:
    """Return the output of git, empty where it fails."""
    command = ["git", "-C", repository, *args]
    return subprocess.run(command, capture_output=True, check=False).stdout


@lru_cache(maxsize=512)
def parse(data: bytes, language: str) -> Symbols:
    """Return the definitions of a file."""
    return Symbols(data, language)


def bare_texts(data: bytes, language: str, parts: tuple[Part, ...]) -> list[str]:
    """Return definitions without comments and white space, in another way than UBP's."""
    lines = data.decode("utf-8", "replace").splitlines()
    texts = []
    for part in parts:
        text = "\n".join(lines[part.line_start - 1 : part.line_end])
        if language in HASH_COMMENTS:
            text = re.sub(r"(?m)(?<!['\"\w])#.*$", "", text)
        else:
            text = re.sub(r"(?s)/\*.*?\*/", "", text)
            text = re.sub(r"(?m)(?<![:'\"])//.*$", "", text)
        texts.append(re.sub(r"\s+", "", text))
    return texts


def draw(repository: str, wanted: int) -> list[tuple[str, str, Part]]:
    """Return definitions with the paths and languages of their files."""
    rng = random.Random(20)  # a sample
    files = git(repository, "ls-tree", "-r", "--name-only", "HEAD").decode().splitlines()
    sources = [path for path in files if find_language(FilePath(path)) in LANGUAGES]
    rng.shuffle(sources)
    drawn: list[tuple[str, str, Part]] = []
    for path in sources:
        language = find_language(FilePath(path)) or ""
        parts = parse(git(repository, "show", f"HEAD:{path}"), language).all()
        names = Counter(part.names[0] for part in parts)
        long = [
            part
            for part in parts
            if part.line_end - part.line_start + 1 >= MIN_LINES and names[part.names[0]] == 1
        ]
        sample = rng.sample(long, min(SYMBOLS_PER_FILE, len(long)))
        drawn += [(path, language, part) for part in sample]
        if len(drawn) >= wanted:
            break
    return drawn[:wanted]


def versions(repository: str, path: str, depth: int) -> Iterator[tuple[str, bytes, bytes]]:
    """Yield the commits that touched a file with its bytes before and after."""
    log = git(repository, "log", "--no-merges", "--format=%H", f"-n{depth}", "--", path)
    for commit in log.decode().split():
        before = git(repository, "show", f"{commit}^:{path}")
        after = git(repository, "show", f"{commit}:{path}")
        if before and after:
            yield commit, before, after


def main() -> None:
    """Print the counts, and the commits about which the two differ."""
    repository = sys.argv[1]
    wanted = int(sys.argv[2]) if len(sys.argv) > 2 else 60
    depth = int(sys.argv[3]) if len(sys.argv) > 3 else 400
    counts: Counter[str] = Counter()
    examples = []
    started = time.process_time()
    drawn = draw(repository, wanted)
    for path, language, part in drawn:
        name = part.names[0]
        span = f"-L{part.line_start},{part.line_end}:{path}"
        output = git(repository, "log", "--no-merges", "--no-patch", "--format=%H %ct", span)
        listed = dict(line.split() for line in output.decode().splitlines())
        oldest = min(map(int, listed.values()), default=0)
        for commit, before, after in versions(repository, path, depth):
            old, new = (parse(data, language).find(name) for data in (before, after))
            if not old or not new:
                continue
            differs = [p.digest for p in old] != [p.digest for p in new]
            by_git = commit in listed
            counts["checked"] += 1
            counts["changed"] += differs
            if _compare(before, after).leaves(name, old):
                counts["untouched"] += 1
                counts["wrong"] += differs
            if differs == by_git:
                counts["agreed"] += 1
            elif by_git and bare_texts(before, language, old) == bare_texts(after, language, new):
                counts["trivial"] += 1
            elif int(git(repository, "log", "-1", "--format=%ct", commit)) < oldest:
                counts["older"] += 1
            else:
                side = "UBP" if differs else "git"
                counts[side] += 1
                examples.append(f"    {side} alone: {commit[:10]} {path} {name}")
    print(f"{repository}: {len(drawn)} symbols, {counts['checked']} commits of their files")
    print(f"  {counts['changed']} changed by UBP's rule; agreed {counts['agreed']},")
    print(f"  git alone for comments or white space {counts['trivial']},")
    print(f"  git alone otherwise {counts['git']}, UBP alone {counts['UBP']},")
    print(f"  UBP alone before the lines that git follows began {counts['older']}")
    print(f"  left unread {counts['untouched']}, of which changed {counts['wrong']}")
    print(f"  {time.process_time() - started:.1f} s of CPU")
    print("\n".join(examples[:MAX_EXAMPLES]))


if __name__ == "__main__":
    main()
