"""What the review of bindings is worth, and the order of `ubp stale`, judged by what came later.

    python benchmarks/bindings/binding_review.py [--every 50] GIT_DIR[:KEY,KEY…]…

A main line is replayed: at each commit the pages are bound as they were then, and a source that
changes without its page is a firing.

*The review*: every so many commits `ubp bind --review` is asked, knowing the last 500 and nothing
of what comes; its proposals (hubs and noise taken out, wide ones made narrower) are taken, and the
commits up to the next review tell what is left of the firings, of those that a change of the page
followed within thirty days (where the history goes on so long), of those that one followed in a
commit that touched fewer than twenty bound pages (larger ones are sweeps, which concern no source),
and how many of the changes that touched both would still have been bound.

*The order*: each change of a source is ranked among all of them by what the commits before it say
(`ubp.staleness.ranking`). AUC is the probability that one at which the page changed, too, ranks
above one at which it did not; then the same for firings and whether a change of the page followed.
"""

import argparse
import subprocess
from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, cached_property
from pathlib import Path
from typing import NamedTuple

from benchmarks.common.measure import print_table
from ubp.bindings.review import NOISY, WINDOW, Binding, review_bindings
from ubp.core.model import FilePath, ObjectId, PairCount
from ubp.core.paths import is_glob
from ubp.git.change_log import LoggedChange
from ubp.markdown.document import parse_page
from ubp.staleness.ranking import MAX_COMMITS, CommitIndex, score_reference

REVIEWED = 500
SWEEP = 20
QUARTER = 4
SUFFIXES = (".md", ".markdown")

Bound = Mapping[FilePath, tuple[FilePath, ...]]  # page -> sources
Scored = list[tuple[float, bool]]


class Step(NamedTuple):
    """A commit of the main line, the files that it touched, and the bindings that it leaves."""

    date: int
    touched: frozenset[FilePath]
    bound: Bound


class Event(NamedTuple):
    """A bound source changed at a step."""

    step: int
    page: FilePath
    source: FilePath


class Past:
    """The whole history of a repository, and what is asked of it."""

    def __init__(self, git_dir: Path, keys: Sequence[str]) -> None:
        self.steps = list(read_steps(git_dir, keys))
        names = {n for s in self.steps for page, named in s.bound.items() for n in (page, *named)}
        self.touches = CommitIndex((step.touched for step in self.steps), names)
        pages = {page for step in self.steps for page in step.bound}
        calm = ((s.touched if len(s.touched & s.bound.keys()) < SWEEP else ()) for s in self.steps)
        self.calm = CommitIndex(calm, pages)

    @cached_property
    def events(self) -> list[Event]:
        """Every change of a source that a page named before and after it."""
        return [
            Event(number, page, source)
            for number in range(1, len(self.steps))
            for page, named in self.steps[number].bound.items()
            for source in dict.fromkeys(named)
            if source in self.steps[number - 1].bound.get(page, ())
            and is_among(self.touches.of(source), number)
        ]

    def is_together(self, event: Event) -> bool:
        """Whether the page changed in the same commit."""
        return event.page in self.steps[event.step].touched

    def is_followed(self, event: Event, touches: CommitIndex) -> bool | None:
        """Whether the page changed within thirty days; None: history ends before that."""
        date = self.steps[event.step].date
        if date + WINDOW > self.steps[-1].date:
            return None
        later = touches.of(event.page)
        at = bisect_right(later, event.step)
        return at < len(later) and self.steps[later[at]].date - date <= WINDOW

    def tally(self, event: Event) -> PairCount:
        """What the last commits before an event say of its pair, as `count_together` counts."""
        source, page = self.touches.of(event.source), self.touches.of(event.page)
        start = max(0, event.step - MAX_COMMITS)
        at = bisect_left(page, start)
        if at < len(page) and page[at] < event.step:
            start = page[at]
        changed = source[bisect_left(source, start) : bisect_left(source, event.step)]
        return PairCount(len(changed), sum(is_among(page, number) for number in changed))

    @cache  # noqa: B019  # one repository at a time
    def hanging(self, step: int) -> Counter[FilePath]:
        """How many pages named each source before a step."""
        bound = self.steps[step - 1].bound
        return Counter(source for named in bound.values() for source in set(named))


def main() -> None:
    """Replay each repository and print two tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--every", type=int, default=50)
    parser.add_argument("repository", nargs="+", metavar="GIT_DIR[:KEY,KEY…]")
    options = parser.parse_args()
    reviews, orders = [], []
    for argument in options.repository:
        path, _, keys = argument.partition(":")
        git_dir = Path(path)
        past = Past(git_dir, keys.split(",") if keys else ["source_refs"])
        name = git_dir.name if git_dir.name not in {"repo", ".git"} else git_dir.parent.name
        reviews.append([name, *judge_reviews(past, options.every)])
        orders.append([name, *judge_order(past)])
    reviewed = ["bindings called noise", "firings left", "followed ones kept", "without sweeps"]
    print_table("Review", ["repository", *reviewed, "changes of both kept"], reviews)
    ordered = ["changes", "AUC, same commit", "top quarter", "firings", "AUC, followed"]
    print_table("Order", ["repository", *ordered, "top quarter, followed"], orders)


def judge_reviews(past: Past, every: int) -> list[str]:
    """Take the proposals of a review every so many commits; a line of the table."""
    counts: Counter[str] = Counter()
    events = defaultdict(list)
    for event in past.events:
        events[event.step // every].append(event)
    for period, found in sorted(events.items()):
        start = period * every
        if not start:
            continue
        dropped, narrowed, reviewed = review_at(past, start)
        counts["bindings"] += reviewed
        counts["noise"] += len(dropped) + len(narrowed)
        for event in found:
            key = event.page, event.source
            if event.source in past.steps[start - 1].bound.get(event.page, ()):
                files = narrowed.get(key)
                is_left = key not in dropped and (
                    files is None or bool(past.steps[event.step].touched & files)
                )
                count_event(counts, past, event, is_left=is_left)
    noise, bindings = counts["noise"], counts["bindings"]
    return [
        f"{noise} of {bindings} ({percent(noise, bindings)})",
        *(share(counts, what) for what in ("fired", "followed", "calm", "together")),
    ]


def review_at(
    past: Past, start: int
) -> tuple[set[tuple[str, str]], dict[tuple[str, str], frozenset[FilePath]], int]:
    """What a review says before a step: noise, narrower bindings, and how many there are."""
    steps = past.steps[max(0, start - REVIEWED) : start]
    log = [
        LoggedChange(ObjectId(f"{n:040x}"), step.date, tuple(sorted(step.touched)))
        for n, step in enumerate(steps)
    ][::-1]
    hanging = past.hanging(start)
    bindings = [
        Binding(page, source, 1, "modified", hanging[source], is_wide(past, source))
        for page, named in past.steps[start - 1].bound.items()
        for source in dict.fromkeys(named)
    ]
    older = past.steps[start - len(log)].bound.keys() if len(log) == REVIEWED else frozenset()
    reviewed = review_bindings(bindings, log, older.__contains__, lambda _: True)
    keyed = {
        (reviewed_binding.binding.filepath, reviewed_binding.binding.source_path): reviewed_binding
        for reviewed_binding in reviewed
    }
    dropped = {
        key for key, reviewed_binding in keyed.items() if reviewed_binding.judgement in NOISY
    }
    narrowed = {
        key: frozenset(reviewed_binding.proposal)
        for key, reviewed_binding in keyed.items()
        if reviewed_binding.proposal
    }
    return dropped, narrowed, len(bindings)


def is_wide(past: Past, source: FilePath) -> bool:
    """Whether a source is a folder or glob: it was touched in a commit that has no such file."""
    numbers = past.touches.of(source)
    return is_glob(source) or (bool(numbers) and source not in past.steps[numbers[0]].touched)


def count_event(counts: Counter[str], past: Past, event: Event, *, is_left: bool) -> None:
    """Count a change of a source, and whether it would still have counted."""
    if past.is_together(event):
        kinds = ["together"]
    else:
        kinds = ["fired"]
        kinds += ["followed"] if past.is_followed(event, past.touches) else []
        kinds += ["calm"] if past.is_followed(event, past.calm) else []
    for kind in kinds:
        counts[kind] += 1
        counts[f"{kind}, left"] += is_left


def judge_order(past: Past) -> list[str]:
    """How well the order tells changes that matter from others; a line of the table."""
    together: Scored = []
    followed: Scored = []
    for event in past.events:
        score = score_reference(past.tally(event), past.hanging(event.step)[event.source])
        is_together = past.is_together(event)
        together.append((score, is_together))
        is_followed = past.is_followed(event, past.touches)
        if not is_together and is_followed is not None:
            followed.append((score, is_followed))
    return [
        str(len(together)),
        f"{auc(together):.2f}",
        top_quarter(together),
        str(len(followed)),
        f"{auc(followed):.2f}",
        top_quarter(followed),
    ]


def auc(scored: Scored) -> float:
    """The probability that a true one ranks above a false one; equal ones are halves."""
    ranks, before, positives = 0.0, 0, 0
    groups: defaultdict[float, list[bool]] = defaultdict(list)
    for score, is_true in scored:
        groups[score].append(is_true)
    for _, group in sorted(groups.items()):
        ranks += sum(group) * (before + (len(group) + 1) / 2)
        before += len(group)
        positives += sum(group)
    negatives = before - positives
    if not positives or not negatives:
        return float("nan")
    return (ranks - positives * (positives + 1) / 2) / (positives * negatives)


def top_quarter(scored: Scored) -> str:
    """The share of true ones in the first quarter, ties shared out, beside that of all."""
    wanted = max(1, len(scored) // QUARTER)
    groups: defaultdict[float, list[bool]] = defaultdict(list)
    for score, is_true in scored:
        groups[score].append(is_true)
    left, found = wanted, 0.0
    for _, group in sorted(groups.items(), reverse=True):
        taken = min(left, len(group))
        found += taken * sum(group) / len(group)
        left -= taken
    overall = sum(is_true for _, is_true in scored)
    return f"{found / wanted:.2f} against {overall / max(1, len(scored)):.2f}"


def read_steps(git_dir: Path, keys: Sequence[str]) -> Iterator[Step]:
    """The main line, oldest first, with the bindings of the pages at each commit."""
    out = run(
        *(git_dir, "log", "--first-parent", "-m", "--raw", "-z", "--no-renames", "--no-abbrev"),
        *("--reverse", "--format=%x01%ct", "HEAD"),
    )
    records = [record.replace("\n", "").split("\0") for record in out.split("\x01")[1:]]
    parsed = read_pages(git_dir, records, keys)
    bound: dict[FilePath, tuple[FilePath, ...]] = {}
    for date, *fields in records:
        changes = list(zip(fields[0::2], fields[1::2], strict=False))
        for raw, path in changes:
            blob = raw.split()[3]
            named = parsed.get(blob, ()) if path.endswith(SUFFIXES) else ()
            bound = {page: sources for page, sources in bound.items() if page != path}
            if named:
                bound[FilePath(path)] = named
        yield Step(int(date), frozenset(FilePath(path) for _, path in changes), bound)


def read_pages(
    git_dir: Path, records: Sequence[Sequence[str]], keys: Sequence[str]
) -> dict[str, tuple[FilePath, ...]]:
    """What each version of each page names."""
    blobs = {
        raw.split()[3]
        for _, *fields in records
        for raw, path in zip(fields[0::2], fields[1::2], strict=False)
        if path.endswith(SUFFIXES) and not raw.endswith("D")
    }
    names = "\n".join([*blobs, ""]).encode()
    command = ["git", "-C", str(git_dir), "cat-file", "--batch"]
    out = subprocess.run(command, input=names, capture_output=True, check=True).stdout
    found, position = {}, 0
    while position < len(out):
        end = out.index(b"\n", position)
        name, _, size = out[position:end].decode().split()
        facts = parse_page(out[end + 1 : end + 1 + int(size)], list(keys))
        found[name] = tuple(reference.source_path for reference in facts.references)
        position = end + 2 + int(size)
    return found


def is_among(numbers: Sequence[int], number: int) -> bool:
    """Whether a sorted row has a number."""
    at = bisect_left(numbers, number)
    return at < len(numbers) and numbers[at] == number


def run(git_dir: Path, *args: str) -> str:
    """What git says."""
    command = ["git", "-C", str(git_dir), *args]
    done = subprocess.run(command, check=True, capture_output=True)
    return done.stdout.decode(errors="surrogateescape")


def share(counts: Counter[str], what: str) -> str:
    """How many of them would be left."""
    left, whole = counts[f"{what}, left"], counts[what]
    return f"{left} of {whole} ({percent(left, whole)})"


def percent(part: int, whole: int) -> str:
    """A share."""
    return f"{100 * part / whole:.0f} %" if whole else "-"


if __name__ == "__main__":
    main()
