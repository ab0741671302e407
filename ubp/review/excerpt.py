"""Choose what a case shows: the passages of the page and the hunks of the change that decide it.

All of a case is at most MAX_TOKENS long. Lines with the evidence come first, on both sides; around
them what shares most names with the other side, rare names counting more.
"""

import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, lru_cache
from hashlib import sha256
from typing import NamedTuple, Protocol

from ubp.bindings.path_words import is_test, path_stem
from ubp.bindings.sources import is_manifest, is_routine
from ubp.code.definitions import find_definitions, language_of
from ubp.code.signatures import Signature, changed_signatures
from ubp.core.model import FilePath
from ubp.review.changed_files import ChangedFiles, changed_lines
from ubp.review.model import Case, Excerpt, Hunk, Passage

MAX_TOKENS = 1_500
DIGEST_DIGITS = 32
PAGE_TOKENS, CHANGE_TOKENS, EXTRA_TOKENS = 680, 500, 180
MAX_PASSAGE_TOKENS, MAX_HUNK_TOKENS = 420, 330
MAX_HEADINGS_TOKENS = 80
SHORTEST_WORD = 3
SUBJECT_TOKENS = 80
# How much of each budget is used until the whole case fits.
SHRINKING = (1.0, 0.88, 0.76, 0.64, 0.5, 0.35)
# A section is ranked by its parts of this size, cut at blank lines.
PART_TOKENS = 250
MAX_CHARACTERS = 320  # of a line; around the evidence
MAX_FILES, MAX_DESTINATIONS, MAX_SIGNATURES, MAX_MANIFEST_LINES = 6, 4, 3, 6

# A name that both versions have in changed lines says less than one that came or went.
KEPT_WEIGHT = 0.35
EVIDENCE_FACTOR, EVIDENCE_BONUS = 3.0, 8.0
HEADING_FACTOR = 1.6
TEST_FACTOR = 0.4

_LEXEME = r"[A-Za-z0-9]+|[^\x00-\x7f]+|[^\w\s]"
_WORD = r"[A-Za-z_][A-Za-z0-9_]*|\d+(?:\.\d+)+|\d{2,}"
_WORD_PART = r"_|(?<=[a-z0-9])(?=[A-Z])"
_LETTERS_PER_TOKEN = 5
_FENCE = r"\s*(?:>\s*)*(`{3,}|~{3,})"
_ITEM = r"\s*(?:[-*+]|\d+[.)])\s"
_ROW = r"\s*\|"
_AT_FORGE = r"/(?:blob|edit|raw|tree)/[\w.-]+/"
# Words that every language has.
_STOP = (
    "the and for that this with from are not you can will have has was its all any but use used"
    " using when then else return import const let var def self class function new true false none"
    " null string int bool type name value data public static async await export default"
)


@lru_cache(maxsize=20_000)
def count_tokens(text: str) -> int:
    """Return how many tokens a model reads at most: five letters each, and every sign one."""
    words = re.findall(_LEXEME, text)
    return text.count("\n") // 2 + sum(
        -(-len(word) // _LETTERS_PER_TOKEN) if word[0].isascii() else len(word) for word in words
    )


class AnySignature(Protocol):
    """A signature, as an engine's value or in a record."""

    @property
    def before(self) -> str:
        """The text before the change."""

    @property
    def after(self) -> str:
        """The text after the change."""


class _Part(NamedTuple):
    """A part of a section: the number of its first line, and its lines."""

    heading: str
    start: int
    lines: Sequence[str]
    is_first: bool

    @property
    def text(self) -> str:
        return "\n".join(self.lines)


class _Names(NamedTuple):
    """What evidence there is: names as written, their words, and the reasons by their lines."""

    names: tuple[str, ...]
    words: frozenset[str]
    reasons: Mapping[int, str]


def build_excerpt(case: Case, page: bytes, hunks: Sequence[Hunk], files: ChangedFiles) -> Excerpt:
    """Return what a reader needs of a page and of the hunks of the sources of a case."""
    names = _evidence(case)
    excerpt = Excerpt()
    for shrink in SHRINKING:
        excerpt = _build(case, page, hunks, files, names, shrink)
        if (
            count_tokens(case_text(replace(case, excerpt=excerpt), ()))
            <= MAX_TOKENS - SUBJECT_TOKENS
        ):
            break
    return excerpt


def _build(  # noqa: PLR0913, PLR0917  # what a case is made of
    case: Case,
    page: bytes,
    hunks: Sequence[Hunk],
    files: ChangedFiles,
    names: _Names,
    shrink: float,
) -> Excerpt:
    text = page.decode("utf-8", "replace")
    parts, headings = _parts(page, text)
    old_words = _word_counts(changed_lines(hunks, "-"))
    new_words = _word_counts(changed_lines(hunks, "+"))
    moved = {w for w in {*old_words, *new_words} if old_words[w] != new_words[w]}
    changed_words = {*old_words, *new_words, *names.words}
    frequency = Counter(word for part in parts for word in _words(part.text))

    def page_score(piece: str) -> float:
        shared = _words(piece) & changed_words
        score = sum(
            math.log(1 + len(parts) / frequency[word])
            * (1 if word in moved else KEPT_WEIGHT)
            * (EVIDENCE_FACTOR if word in names.words else 1)
            for word in shared
            if frequency[word]
        )
        return score + sum(EVIDENCE_BONUS for name in names.names if name in piece)

    things = names.words | {word for path in case.sources for word in _words(path_stem(path))}
    passages, unused = _choose_passages(
        parts,
        page_score,
        things,
        int(PAGE_TOKENS * shrink),
        names,
    )
    extra = _extras(case, text, names, hunks, files, int(EXTRA_TOKENS * shrink))
    unused += int(EXTRA_TOKENS * shrink) - count_tokens("\n".join(_extra_lines(extra)))
    chosen = _choose_hunks(hunks, _words(text), names, int(CHANGE_TOKENS * shrink) + max(0, unused))
    return replace(
        extra,
        headings=_cut_headings(headings),
        passages=passages,
        page_lines=text.count("\n") + 1,
        hunks=chosen,
        hunk_count=len(hunks),
        file_count=len({hunk.path for hunk in hunks}),
        added=sum(1 for _ in changed_lines(hunks, "+")),
        removed=sum(1 for _ in changed_lines(hunks, "-")),
    )


def _evidence(case: Case) -> _Names:
    names = tuple(
        dict.fromkeys(name.name.lstrip("-") for reason in case.reasons for name in reason.names)
    )
    return _Names(
        names,
        frozenset(word for name in names for word in _words(name)),
        {reason.line: reason.text for reason in reversed(case.reasons)},
    )


# The same lines are asked about for each size of a case, and the hunks for each case.
@lru_cache(maxsize=20_000)
def _words(text: str) -> frozenset[str]:
    """Return the words of the names in a text, in lower case, whole and in parts."""
    return frozenset(part for word in set(re.findall(_WORD, text)) for part in _word_parts(word))


@lru_cache(maxsize=20_000)
def _word_parts(word: str) -> tuple[str, ...]:
    parts = {part.lower() for part in (word, *re.split(_WORD_PART, word))}
    return tuple(
        part
        for part in parts
        if (len(part) >= SHORTEST_WORD or part[:1].isdigit()) and part not in _stop_words()
    )


@cache
def _stop_words() -> frozenset[str]:
    return frozenset(_STOP.split())


def _word_counts(lines: Iterable[str]) -> Counter[str]:
    return Counter(word for line in lines for word in _words(line))


@lru_cache(maxsize=2)
def _parts(page: bytes, text: str) -> tuple[list[_Part], list[str]]:
    """Return the page in parts, cut before headings and at blank lines, and its headings."""
    # A parser, which no server needs at its start.
    from ubp.markdown.document import read_head
    from ubp.markdown.outline import read_headings

    lines = text.split("\n")
    spans = list(read_headings(page))
    first = page.count(b"\n", 0, read_head(page, ()).body)
    starts = [(first + 1, ""), *((span.line_start, span.heading) for span in spans)]
    ends = [start - 1 for start, _ in starts[1:]] + [len(lines)]
    parts: list[_Part] = []
    for (start, heading), end in zip(starts, ends, strict=True):
        is_first = True
        for part_start, part_end in _cut_section(lines, start, end):
            part = lines[part_start - 1 : part_end]
            if any(line.strip() for line in part):
                parts.append(_Part(heading, part_start, part, is_first))
                is_first = False
    return parts, [span.heading for span in spans]


def _cut_section(lines: Sequence[str], start: int, end: int) -> Iterator[tuple[int, int]]:
    fence, size, first = "", 0, start
    for number in range(start, end + 1):
        line = lines[number - 1]
        if match := re.match(_FENCE, line):
            fence = "" if fence and match[1].startswith(fence) else fence or match[1][:3]
        size += count_tokens(line)
        if not fence and not line.strip() and size > PART_TOKENS and number < end:
            yield first, number
            first, size = number + 1, 0
    yield first, end


def _choose_passages(
    parts: Sequence[_Part],
    score: Callable[[str], float],
    things: Collection[str],
    budget: int,
    names: _Names,
) -> tuple[tuple[Passage, ...], int]:
    """Return the passages that share most with the change, in the page's order, and what is left.

    The part with a line that a reason names comes first.
    """

    def rank(part: _Part) -> float:
        density = 1 + math.log(1 + count_tokens(part.text) / 60)
        factor = HEADING_FACTOR if _words(part.heading) & {*things} else 1.0
        end = part.start + len(part.lines)
        is_marked = any(part.start <= line < end for line in names.reasons)
        return factor * (score(part.text) + (EVIDENCE_BONUS if is_marked else 0)) / density

    ranks = {number: rank(part) for number, part in enumerate(parts)}
    order = sorted(ranks, key=lambda number: (-ranks[number], number))
    chosen: dict[int, tuple[list[tuple[int, str]], bool]] = {}
    if order and ranks[order[0]] > 0 and 0 not in order[:1]:
        # What the page is about.
        lead = [
            (parts[0].start + n, _clip(line, 200, ()))
            for n, line in enumerate(parts[0].lines)
            if line.strip()
        ][:4]
        while lead and count_tokens("\n".join(line for _, line in lead)) > 90:  # noqa: PLR2004
            lead.pop()
        budget -= count_tokens("\n".join(line for _, line in lead))
        beginning = (lead, len(lead) == len([line for line in parts[0].lines if line.strip()]))
    else:
        beginning = ([], False)
    for number in order:
        if budget < 60 or (chosen and ranks[number] <= 0):  # noqa: PLR2004
            break
        part = parts[number]
        numbered = list(enumerate(part.lines, part.start))
        lines, is_whole = _cut(numbered, score, min(budget, MAX_PASSAGE_TOKENS), names)
        size = count_tokens("\n".join(line for _, line in lines)) + 8
        if lines and size <= budget + 8:
            chosen[number] = lines, is_whole
            budget -= size
    if beginning[0] and 0 not in chosen:
        chosen[0] = beginning
    return tuple(
        Passage(parts[number].heading, tuple(lines), is_whole)
        for number, (lines, is_whole) in sorted(chosen.items())
    ), budget


def _cut(
    lines: Sequence[tuple[int, str]],
    score: Callable[[str], float],
    budget: int,
    names: _Names,
) -> tuple[list[tuple[int, str]], bool]:
    """Return the units around the best lines, within the budget, and whether that is all.

    A unit is a row of a table, with the table's head, a list item, or a line.
    """
    clipped = [
        (number, _clip(line, MAX_CHARACTERS, _names_in(line, names, number)))
        for number, line in lines
    ]
    if count_tokens("\n".join(line for _, line in clipped)) <= budget:
        return _trim(clipped), True
    units = _units([line for _, line in lines])
    scores = [
        score("\n".join(lines[i][1] for i in unit))
        + (EVIDENCE_BONUS if any(lines[i][0] in names.reasons for i in unit) else 0)
        for unit in units
    ]
    kept: set[int] = set()
    used = 0
    for best in sorted(range(len(units)), key=lambda n: (-scores[n], n)):
        head = _table_head(units, [line for _, line in lines], best)
        for number in (best, *head, best - 1, best + 1):
            if not 0 <= number < len(units) or kept.issuperset(units[number]):
                continue
            size = sum(count_tokens(clipped[i][1]) + 1 for i in units[number])
            if used + size > budget and number == best and not kept:
                # One unit is too long: its lines with most names.
                for i in sorted(units[number], key=lambda i: (-score(lines[i][1]), i)):
                    size = count_tokens(clipped[i][1]) + 1
                    if used + size <= budget:
                        kept.add(i)
                        used += size
                break
            if used + size > budget:
                break
            kept.update(units[number])
            used += size
        else:
            continue
        break
    return [clipped[i] for i in sorted(kept) if clipped[i][1].strip()], False


def _units(lines: Sequence[str]) -> list[list[int]]:
    """Return the indexes of the lines that belong together: an item with what continues it."""
    units: list[list[int]] = []
    is_item = False
    for number, line in enumerate(lines):
        continues = is_item and line[:1] in " \t" and line.strip() and not re.match(_ITEM, line)
        if continues and not re.match(_ROW, line):
            units[-1].append(number)
        else:
            units.append([number])
            is_item = bool(re.match(_ITEM, line))
    return units


def _table_head(units: Sequence[Sequence[int]], lines: Sequence[str], at: int) -> list[int]:
    """Return the units that are the head of the table whose row a unit is."""
    if not re.match(_ROW, lines[units[at][0]]):
        return []
    first = at
    while first > 0 and re.match(_ROW, lines[units[first - 1][0]]):
        first -= 1
    return [first, first + 1] if at > first + 1 else []


def _trim(lines: list[tuple[int, str]]) -> list[tuple[int, str]]:
    while lines and not lines[-1][1].strip():
        lines.pop()
    while lines and not lines[0][1].strip():
        lines.pop(0)
    return lines


def _names_in(line: str, names: _Names, number: int) -> Sequence[str]:
    """Return the names of the evidence in a line, or the longest word of the reason for it."""
    if len(line) <= MAX_CHARACTERS:
        return ()
    found = [name for name in names.names if name in line]
    words = [word.strip("`.,:;()") for word in names.reasons.get(number, "").split()]
    return found or sorted((word for word in words if word and word in line), key=len)[-1:]


def _clip(line: str, limit: int, names: Sequence[str]) -> str:
    """Return a line, of a long one the part around the first of these names."""
    if len(line) <= limit:
        return line
    at = min((line.find(name) for name in names if name in line), default=0)
    start = max(0, min(at - limit // 3, len(line) - limit))
    end = start + limit
    return f"{'… ' if start else ''}{line[start:end]}{' …' if end < len(line) else ''}"


def _cut_headings(headings: Sequence[str]) -> tuple[str, ...]:
    shown: list[str] = []
    used = 0
    for heading in headings:
        used += count_tokens(heading) + 1
        if used > MAX_HEADINGS_TOKENS:
            return (*shown, f"… {len(headings) - len(shown)} more")
        shown.append(heading)
    return tuple(shown)


def rank_hunks(hunks: Sequence[Hunk], page: str, names: Sequence[str]) -> list[float]:
    """Return how near each hunk is to a page; `names` are those of changed code that it has."""
    score = _scorer(hunks, _words(page), names)
    return [_rank(hunk, score) for hunk in hunks]


def _scorer(
    hunks: Sequence[Hunk], page_words: Collection[str], names: Sequence[str]
) -> Callable[[str], float]:
    """Return what scores changed lines: words that they share with the page, rare ones more."""
    frequency = Counter(word for hunk in hunks for word in _words("\n".join(hunk.lines)))
    wanted = {*page_words}

    def score(text: str) -> float:
        total = sum(
            math.log(1 + len(hunks) / frequency[word])
            for word in _words(text) & wanted
            if frequency[word]
        )
        return total + sum(EVIDENCE_BONUS for name in names if name in text)

    return score


def _rank(hunk: Hunk, score: Callable[[str], float]) -> float:
    changed = "\n".join(line for line in hunk.lines if line[:1] in {"+", "-"})
    factor = TEST_FACTOR if is_test(hunk.path) else 1.0
    return factor * score(changed) / (1 + math.log(1 + len(hunk.lines) / 8))


def _choose_hunks(
    hunks: Sequence[Hunk], page_words: Collection[str], names: _Names, budget: int
) -> tuple[Hunk, ...]:
    """Return the hunks that decide: for each name of the evidence one, then the nearest ones."""
    score = _scorer(hunks, page_words, names.names)

    def line_score(line: str) -> float:
        return score(line) if line[:1] in {"+", "-"} else -1.0

    ranks = [_rank(hunk, score) for hunk in hunks]
    order = sorted(range(len(hunks)), key=lambda number: (-ranks[number], number))
    deciding = list(_deciding(hunks, names, order))
    order = [*deciding, *(number for number in order if number not in deciding)]
    chosen: dict[int, Hunk] = {}
    for position, number in enumerate(order):
        if budget < 50:  # noqa: PLR2004
            break
        hunk = hunks[number]
        # The hunks that decide share the budget, so that none takes it all.
        most = (
            max(90, budget // max(1, len(deciding) - position))
            if position < len(deciding)
            else budget
        )
        lines, is_whole = _cut(
            list(enumerate(hunk.lines)),
            line_score,
            min(most, budget, MAX_HUNK_TOKENS),
            _Names((), frozenset(), {}),  # a line begins with its sign
        )
        if not any(line[:1] in {"+", "-"} for _, line in lines):
            continue
        chosen[number] = replace(hunk, lines=tuple(_with_gaps(lines)), is_whole=is_whole)
        budget -= count_tokens("\n".join(line for _, line in lines)) + 10
    return tuple(chosen[number] for number in sorted(chosen))


def _deciding(hunks: Sequence[Hunk], names: _Names, order: Sequence[int]) -> Iterator[int]:
    """Yield for each name of the evidence the best hunk whose changed lines have it."""
    found: set[int] = set()
    for name in names.names:
        has_name = [
            number
            for number in order
            if any(name in line for line in hunks[number].lines if line[:1] in {"+", "-"})
        ]
        if has_name and found.isdisjoint(has_name[:1]):
            found.add(has_name[0])
            yield has_name[0]


def _with_gaps(lines: Sequence[tuple[int, str]]) -> Iterator[str]:
    previous = None
    for number, line in lines:
        if previous is not None and number != previous + 1:
            yield " …"
        yield line
        previous = number


def _extras(  # noqa: PLR0913, PLR0917  # what a case is made of
    case: Case,
    page: str,
    names: _Names,
    hunks: Sequence[Hunk],
    files: ChangedFiles,
    budget: int,
) -> Excerpt:
    """Return what else decides: files that came or went, where names went, whole signatures."""
    paths = list(dict.fromkeys([*case.sources, *(hunk.path for hunk in hunks)]))
    destinations = tuple(_destinations(case, files))[:MAX_DESTINATIONS]
    # Another package may define now what no file of the change does.
    is_gone = not destinations and any(
        change == "removed" for reason in case.reasons for _, _, change in reason.names
    )
    manifests = tuple(_manifest_lines(page, names, files)) if is_gone else ()
    excerpt = Excerpt(
        files=tuple(_file_events(page, paths, files))[:MAX_FILES],
        destinations=destinations,
        manifests=manifests[:MAX_MANIFEST_LINES],
        signatures=tuple(_signatures(page, names, paths, files))[:MAX_SIGNATURES],
    )
    # The least important first.
    for name in ("manifests", "signatures", "files", "destinations"):
        while getattr(excerpt, name) and count_tokens("\n".join(_extra_lines(excerpt))) > budget:
            excerpt = replace(excerpt, **{name: getattr(excerpt, name)[:-1]})
    return excerpt


def _file_events(page: str, paths: Sequence[FilePath], files: ChangedFiles) -> Iterator[str]:
    """Yield what became of files: those of the case, then those that the page mentions."""
    events = {path: status for path in files.paths if (status := files.status(path))}
    for path in paths:
        if path in events:
            yield f"{path}: {events.pop(path)}"
    gone = {
        path: status
        for path, status in events.items()
        if status != "added" and not status.startswith("renamed from")
    }
    tails = Counter(tail for path in gone for tail in _tails(path))
    for path, status in gone.items():
        name = path.rpartition("/")[2]
        is_unique = tails[name] == 1 and not is_routine(name)  # many are called `README.md`
        if is_unique:
            written = rf"(?<![\w-]){re.escape(name)}"
        else:
            # `../guide/README.md`, as far as it can be no other; at a forge, the whole path
            own = [path, *(tail for tail in _tails(path) if "/" in tail and tails[tail] == 1)]
            written = (
                rf"(?:(?<![\w./-])(?:\.{{0,2}}/)*(?:{'|'.join(map(re.escape, own))})"
                rf"|{_AT_FORGE}{re.escape(path)})"
            )
        if re.search(rf"{written}(?![\w-])", page):
            yield f"{path}: {status}"


def _tails(path: FilePath) -> Iterator[str]:
    """Yield `a/b/c`, `b/c` and `c` of `a/b/c`."""
    parts = path.split("/")
    return ("/".join(parts[start:]) for start in range(len(parts)))


def _destinations(case: Case, files: ChangedFiles) -> Iterator[str]:
    """Yield where removed names are defined now, as far as the change shows it."""
    for reason in case.reasons:
        for name, _, change in reason.names:
            if change != "removed" or language_of(name):  # a file's name defines nothing
                continue
            bare = name.rpartition(".")[2].lstrip("-")
            for path in files.sources:
                if path == reason.path or is_test(path) or not _defines_newly(bare, path, files):
                    continue
                pattern = rf"(?<![\w-]){re.escape(bare)}(?![\w-])"
                added = changed_lines(files.hunks(path), "+")
                line = next((line for line in added if re.search(pattern, line)), None)
                if line is not None:
                    yield f"{name}: now in {path}: {_clip(line.strip(), 120, [bare])}"
                    break


def _defines_newly(name: str, path: FilePath, files: ChangedFiles) -> bool:
    """Return whether the change defines a name in this file."""
    language = language_of(path)
    before, after = files.versions(path)
    if language is None or after is None or name.encode() not in after:
        return False
    old_names = find_definitions(before, language).names if before else frozenset()
    return name in find_definitions(after, language).names - old_names


def _manifest_lines(page: str, names: _Names, files: ChangedFiles) -> Iterator[str]:
    """Yield the changed lines of manifests, those that share words with the page first."""
    words = _words(page) | names.words
    lines = [
        (path, sign, line.strip())
        for path in files.paths
        if is_manifest(path) and path not in files.documents
        for sign in "-+"
        for line in changed_lines(files.hunks(path), sign)
        if line.strip()
    ]
    lines.sort(key=lambda item: not (_words(item[2]) & words))
    return (f"{path}: {sign}{_clip(line, 120, ())}" for path, sign, line in lines)


def _signatures(
    page: str, names: _Names, paths: Sequence[FilePath], files: ChangedFiles
) -> Iterator[Signature]:
    """Yield the changed signatures of definitions that the page mentions."""
    for path in paths:
        if path in files.paths and not is_test(path):
            for signature in changed_signatures(*files.versions(path)):
                is_named = re.search(rf"(?<!\w){re.escape(signature.name)}(?!\w)", page)
                parameters = _words(signature.before) ^ _words(signature.after)
                if signature.before and signature.after and (is_named or parameters & names.words):
                    yield signature


def _extra_lines(excerpt: Excerpt) -> Iterator[str]:
    yield from excerpt.files
    yield from extra_lines(excerpt.destinations, excerpt.manifests, excerpt.signatures)


def extra_lines(
    destinations: Iterable[str], manifests: Iterable[str], signatures: Iterable[AnySignature]
) -> Iterator[str]:
    """Yield the lines about where names went, manifests and signatures."""
    yield from (f"Where it went: {line}" for line in destinations)
    yield from (f"Manifest: {line}" for line in manifests)
    for signature in signatures:
        yield from ("Signature before:", signature.before, "Signature after:", signature.after)


def case_text(case: Case, subjects: Sequence[str]) -> str:
    """Return a case as a text of at most MAX_TOKENS, for a reader who sees nothing else."""
    excerpt = case.excerpt
    lines = [f"Page: {case.filepath}"]
    if case.sources:
        more = f" and {len(case.sources) - 4} more" if len(case.sources) > 4 else ""  # noqa: PLR2004
        lines.append(f"Source: {', '.join(case.sources[:4])}{more}")
    lines += [f"Commit: {_clip(subject, 150, ())}" for subject in subjects[:2]]
    lines += [f"Why: {_clip(reason.text, 300, ())}" for reason in case.reasons[:3]]
    if case.sentence and case.reasons[0].names:
        lines.append(f"Line {case.line} of the page: {case.sentence}")
    shown = sum(len(passage.lines) for passage in excerpt.passages)
    lines += ["", f"## The page ({excerpt.page_lines} lines; shown: {shown})"]
    if excerpt.headings:
        lines.append(f"Headings: {' | '.join(excerpt.headings)}")
    for passage in excerpt.passages:
        start = passage.lines[0][0]
        lines += ["", passage_heading(passage.heading, start, is_whole=passage.is_whole)]
        lines += passage_lines(passage)
    heading = change_heading(
        excerpt.file_count,
        excerpt.added,
        excerpt.removed,
        excerpt.hunk_count,
        len(excerpt.hunks),
    )
    lines += ["", heading, *_extra_lines(excerpt)]
    last = None
    for hunk in excerpt.hunks:
        if hunk.path != last:
            lines.append(f"--- {hunk.path}")
            last = hunk.path
        lines.append(hunk_heading(hunk.old_start, hunk.new_start, is_whole=hunk.is_whole))
        lines += hunk.lines
    return "\n".join(lines) + "\n"


def case_digest(case: Case) -> str:
    """Return 32 digits that stay the same as long as what a reader sees of a case does."""
    text = case_text(case, ()).encode("utf-8", "surrogatepass")
    return sha256(text).hexdigest()[:DIGEST_DIGITS]


def passage_heading(heading: str, line: int, *, is_whole: bool) -> str:
    """Return the line above a passage."""
    title = f'section "{_clip(heading, 80, ())}"' if heading else "beginning"
    return f"[{title}, from line {line}{'' if is_whole else ', in part'}]"


def passage_lines(passage: Passage) -> Iterator[str]:
    """Yield the lines of a passage, with a mark where some are left out."""
    previous = None
    for number, line in passage.lines:
        if previous is not None and number > previous + 1:
            yield "…"
        yield line
        previous = number


def change_heading(files: int, added: int, removed: int, hunks: int, shown: int) -> str:
    """Return the heading of what a case shows of the change."""
    files_, hunks_ = "file" if files == 1 else "files", "hunk" if hunks == 1 else "hunks"
    counted = f"{files} {files_}, +{added} -{removed} lines, {hunks} {hunks_}"
    return f"## The change ({counted}; shown: {shown})"


def hunk_heading(old_start: int, new_start: int, *, is_whole: bool) -> str:
    """Return the line above a hunk."""
    return f"@@ -{old_start} +{new_start} @@{'' if is_whole else ' (in part)'}"
