"""What a repository's own files and history say about it; nothing that it contains is executed."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import pairwise
from math import inf
from statistics import median
from typing import NamedTuple

from ubp.core.model import Entry, FilePath, ObjectId
from ubp.git.repository import Repository
from ubp.git.trees import list_tree
from ubp.index.session import Session, Target
from ubp.kits.notes.note import DAY_SECONDS
from ubp.kits.notes.reports import (
    BuildResult,
    OssReport,
    RepositoryAddress,
    ScorePoint,
    TestResult,
)
from ubp.staleness.state import find_stale

NEEDED_FILES = (
    *("**/*.md", "**/*.mdx", "**/*.markdown"),
    *("LICENSE*", "LICENCE*", "COPYING*", "UNLICENSE*", "license*"),
    *(".github/**", ".gitlab-ci.yml", "pyproject.toml", "package.json", "Cargo.toml"),
)
"""The files whose content is read, as globs; of all others only the names."""

LANGUAGES: Mapping[str, str] = {
    suffix: language
    for language, suffixes in {
        "C": "c h",
        "C#": "cs",
        "C++": "cc cpp cxx hpp hh",
        "Clojure": "clj cljs",
        "Dart": "dart",
        "Elixir": "ex exs",
        "Go": "go",
        "Haskell": "hs",
        "Java": "java",
        "JavaScript": "js jsx mjs cjs",
        "Kotlin": "kt kts",
        "Lua": "lua",
        "OCaml": "ml mli",
        "PHP": "php",
        "Perl": "pl pm",
        "Python": "py pyi",
        "R": "r",
        "Ruby": "rb",
        "Rust": "rs",
        "Scala": "scala",
        "Shell": "sh bash zsh",
        "Swift": "swift",
        "TypeScript": "ts tsx mts cts",
        "Zig": "zig",
    }.items()
    for suffix in suffixes.split()
}
SHOWN_LANGUAGES, SHOWN_PATHS = 5, 3
MAX_LICENSE = 50_000  # characters; the longest licences have 35,000

# The words that tell licences apart, in order: a licence may quote a weaker one.
LICENSES = (
    ("AGPL-3.0", r"GNU AFFERO GENERAL PUBLIC LICENSE\s+Version 3"),
    ("LGPL-3.0", r"GNU LESSER GENERAL PUBLIC LICENSE\s+Version 3"),
    ("LGPL-2.1", r"GNU LESSER GENERAL PUBLIC LICENSE\s+Version 2\.1"),
    ("GPL-3.0", r"GNU GENERAL PUBLIC LICENSE\s+Version 3"),
    ("GPL-2.0", r"GNU GENERAL PUBLIC LICENSE\s+Version 2"),
    ("MPL-2.0", r"Mozilla Public License,? (?:Version|v\.) 2\.0"),
    ("Apache-2.0", r"Apache License,?\s+Version 2\.0"),
    ("EPL-2.0", r"Eclipse Public License\s*-? v(?:ersion)? ?2\.0"),
    ("BSL-1.0", r"Boost Software License - Version 1\.0"),
    ("Unlicense", r"free and unencumbered software released into the public domain"),
    ("CC0-1.0", r"CC0 1\.0 Universal"),
    ("ISC", r"Permission to use, copy, modify, and(?:/or)? distribute this software for any"),
    ("MIT", r"Permission is hereby granted, free of charge, to any person obtaining a\s+copy"),
    ("BSD-3-Clause", r"Redistribution and use in source and binary(?s:.*)Neither the name"),
    ("BSD-2-Clause", r"Redistribution and use in source and binary"),
)
_LICENSE_FILE = re.compile(r"(?:licen[cs]e|copying|unlicense)(?:[.-][^/]*)?", re.IGNORECASE)
_LICENSE_FIELD = re.compile(
    r"""^[ \t]*"?license"?[ \t]*[:=][ \t]*(?:\{[ \t]*text[ \t]*=[ \t]*)?"([^"\n]{1,60})\"""",
    re.MULTILINE,
)
_POLICY = re.compile(r"(?:\.github/|docs/)?SECURITY\.(?:md|rst|txt)|SECURITY", re.IGNORECASE)
_CI = re.compile(
    r"\.github/workflows/[^/]+\.ya?ml|\.gitlab-ci\.yml|\.circleci/config\.yml|\.travis\.yml|"
    r"azure-pipelines\.yml|Jenkinsfile|\.woodpecker(?:/[^/]+)?\.ya?ml|\.forgejo/workflows/[^/]+|"
    r"\.gitea/workflows/[^/]+|\.cirrus\.yml|\.builds/[^/]+\.yml"
)
_WORKFLOW = re.compile(r"\.github/workflows/[^/]+\.ya?ml|(?:.*/)?action\.ya?ml")
_TEST = re.compile(
    r"(?:.*/)?(?:tests?|specs?|__tests__|testing)/.*|(?:.*/)?test_[^/]+\.py|"
    r"(?:.*/)?[^/]+(?:_test\.(?:go|py|rb|cc|cpp)|\.(?:test|spec)\.[cm]?[jt]sx?|Test\.(?:java|kt))",
    re.IGNORECASE,
)
_UPDATES = re.compile(
    r"\.github/dependabot\.ya?ml|(?:\.github/|\.gitlab/)?(?:renovate|\.renovaterc)(?:\.json5?)?"
)
_USES = re.compile(
    r"""^[ \t]*(?:-[ \t]+)?uses:[ \t]*["']?([\w.-]+/[\w./-]+)@([^\s"'#]+)""", re.MULTILINE
)
_COMMIT = re.compile("[0-9a-f]{40}")
_BUILD_CHECK = re.compile(r"build|compile|package|wheel|docker|bundle|dist", re.IGNORECASE)
_TEST_CHECK = re.compile(r"test|spec|pytest|unit|integration|e2e|\bci\b", re.IGNORECASE)
# As GitHub names them, and GitLab ("failed") and Forgejo ("error").
SUCCESSES = {"success"}
FAILURES = {"failure", "timed_out", "startup_failure", "action_required", "failed", "error"}

YEAR = 365 * DAY_SECONDS
RECENT_TAGS = 10
# The greatest age in days, and its points.
ACTIVITY = ((90, 15), (180, 8), (365, 4))
RELEASES = ((365, 10), (inf, 4))
MAIN_AUTHOR = 0.8  # of a year's commits: nobody else maintains it


class Check(NamedTuple):
    """A check of a commit by its CI, and how it ended."""

    name: str
    conclusion: str


class ForgeFacts(NamedTuple):
    """What a forge's public API says of a repository; None: it could not be asked.

    `problem` is why the checks are unknown.
    """

    stars: int | None = None
    checks: tuple[Check, ...] | None = None
    problem: str = "no public API says"


class _History(NamedTuple):
    """The commits and tags of a history, the newest tag first; those of bots are not counted."""

    last_commit_at: int | None
    commits_of_year: int
    authors: Counter[str]
    authors_of_year: Counter[str]
    tags: tuple[tuple[int, str], ...]


def verify(
    session: Session, address: RepositoryAddress, commit: ObjectId, forge: ForgeFacts, now: int
) -> OssReport:
    """Return the report on a commit of a repository, of which `session` has a mirror."""
    repository = session.repository
    files = {path: entry for path, entry in list_tree(repository, commit).items() if entry.is_file}
    read = partial(_read_files, repository, files)
    history = _read_history(repository, commit, now)
    languages = Counter(
        language for path in files if (language := LANGUAGES.get(_suffix(path))) is not None
    )
    workflows = read([path for path in files if _WORKFLOW.fullmatch(path)])
    actions = [(name, ref) for text in workflows.values() for name, ref in _USES.findall(text)]
    summary = find_stale(session, Target(commit), (), every=True)[0].summary
    tag_dates = [date for date, _ in history.tags[:RECENT_TAGS]]
    gaps = [newer - older for newer, older in pairwise(tag_dates)]
    facts = OssReport(
        address.url,
        address.name,
        commit,
        now,
        (),
        stars=forge.stars,
        license=_find_license(files, read),
        language=languages.most_common(1)[0][0] if languages else "",
        languages=tuple(f"{name} {n}" for name, n in languages.most_common(SHOWN_LANGUAGES)),
        authors=len(history.authors),
        authors_of_year=len(history.authors_of_year),
        commits_of_year=history.commits_of_year,
        last_commit_at=history.last_commit_at,
        tags=len(history.tags),
        last_tag=history.tags[0][1] if history.tags else "",
        last_tag_at=history.tags[0][0] if history.tags else None,
        days_between_tags=round(median(gaps) / DAY_SECONDS) if gaps else None,
        actions=len(actions),
        pinned_actions=sum(bool(_COMMIT.fullmatch(ref)) for _, ref in actions),
        security_policy=next((path for path in files if _POLICY.fullmatch(path)), ""),
        ci=tuple(path for path in files if _CI.fullmatch(path)),
        tests=_test_places(files),
        documents=summary.documents,
        bound_documents=summary.bound,
        stale_documents=summary.stale,
        build_result=_build_result(forge.checks),
        test_result=_test_result(forge.checks),
    )
    updates = next((path for path in files if _UPDATES.fullmatch(path)), "")
    top = max(history.authors_of_year.values(), default=0)
    share = top / history.commits_of_year if history.commits_of_year else 1.0
    return facts._replace(points=tuple(_score(facts, updates, share, forge)))


def _score(facts: OssReport, updates: str, top_share: float, forge: ForgeFacts) -> list[ScorePoint]:
    """Return the points of the score; docs/guide/notes.md publishes them."""
    now, has_authors = facts.verified_at, facts.authors_of_year > 1
    commit_age, tag_age = _age(facts.last_commit_at, now), _age(facts.last_tag_at, now)
    pinned = facts.pinned_actions / facts.actions if facts.actions else 0.0
    bound = facts.bound_documents
    fresh = (bound - facts.stale_documents) / bound if bound else 0.0
    activity = "no commit"
    if commit_age is not None:
        activity = f"last commit {commit_age} days before, {facts.commits_of_year} in a year"
    releases = "no tags"
    if tag_age is not None:
        releases = f"{facts.last_tag} {tag_age} days before, {facts.tags} tags"
    actions = "no action of others is used"
    if facts.actions:
        actions = f"{facts.pinned_actions} of {facts.actions} by commit"
    documentation = f"none of {facts.documents} pages names its sources"
    if bound:
        documentation = f"{facts.stale_documents} of {bound} pages with sources are stale"
    policy = facts.security_policy
    return [
        ScorePoint("licence", 10 * bool(facts.license), 10, facts.license or "none was recognized"),
        ScorePoint("security policy", 10 * bool(policy), 10, policy or "there is no SECURITY.md"),
        ScorePoint("activity", _points_of_age(commit_age, ACTIVITY), 15, activity),
        ScorePoint("releases", _points_of_age(tag_age, RELEASES), 10, releases),
        ScorePoint(
            "authors",
            5 * has_authors + 5 * (has_authors and top_share < MAIN_AUTHOR),
            10,
            f"{facts.authors_of_year} in a year, {top_share:.0%} of the commits by one",
        ),
        ScorePoint("CI", 5 * bool(facts.ci), 5, ", ".join(facts.ci[:SHOWN_PATHS]) or "none found"),
        ScorePoint("tests", 10 * bool(facts.tests), 10, ", ".join(facts.tests) or "none found"),
        _check_points(forge),
        ScorePoint("pinned actions", round(10 * pinned), 10 * bool(facts.actions), actions),
        ScorePoint("updates", 5 * bool(updates), 5, updates or "no dependabot or renovate"),
        ScorePoint("documentation", round(5 * fresh), 5 * bool(bound), documentation),
    ]


def _age(moment: int | None, now: int) -> int | None:
    """Return how many days ago a moment was; None: unknown."""
    return None if moment is None else max(0, (now - moment) // DAY_SECONDS)


def _points_of_age(days: int | None, points: Sequence[tuple[float, int]]) -> int:
    """Return the points of the first limit that an age does not exceed."""
    return 0 if days is None else next((each for limit, each in points if days <= limit), 0)


def _check_points(forge: ForgeFacts) -> ScorePoint:
    done = [check for check in forge.checks or () if check.conclusion in SUCCESSES | FAILURES]
    failed = [check.name for check in done if check.conclusion in FAILURES]
    if not done:
        if forge.checks is None:
            return ScorePoint("CI status", 0, 0, f"unknown: {forge.problem}")
        return ScorePoint("CI status", 0, 10, "no checks of the commit")
    evidence = f"{len(failed)} of {len(done)} checks failed" + (f": {failed[0]}" if failed else "")
    return ScorePoint("CI status", 0 if failed else 10, 10, evidence)


def _build_result(checks: Sequence[Check] | None) -> BuildResult:
    found = {c.conclusion for c in checks or () if _BUILD_CHECK.search(c.name)}
    if found & FAILURES:
        return "BUILD_FAILURE"
    return "BUILD_SUCCESS" if found & SUCCESSES else "NOT_RUN"


def _test_result(checks: Sequence[Check] | None) -> TestResult:
    found = {c.conclusion for c in checks or () if _TEST_CHECK.search(c.name)}
    if found & FAILURES:
        return "TEST_FAILURE"
    return "TEST_PASS" if found & SUCCESSES else "NOT_RUN"


def _read_files(
    repository: Repository, files: Mapping[FilePath, Entry], paths: Sequence[FilePath]
) -> dict[FilePath, str]:
    contents = repository.read_blobs({files[path].id for path in paths})
    return {
        path: data.decode("utf-8", "replace")
        for path in paths
        if (data := contents[files[path].id]) is not None
    }


def _find_license(files: Mapping[FilePath, Entry], read: "partial[dict[FilePath, str]]") -> str:
    """Return the SPDX id of the licence at the root, else what the package says; "": unknown."""
    texts = read([path for path in files if _LICENSE_FILE.fullmatch(path)])
    found = [
        next((name for name, words in LICENSES if re.search(words, text)), "")
        for text in (" ".join(text[:MAX_LICENSE].split()) for text in texts.values())
    ]
    if known := sorted(set(filter(None, found))):
        return " OR ".join(known)
    names = ("pyproject.toml", "package.json", "Cargo.toml")
    packages = read([FilePath(name) for name in names if name in files])
    matches = (_LICENSE_FIELD.search(text) for text in packages.values())
    return next((match[1] for match in matches if match), "")


def _test_places(files: Mapping[FilePath, Entry]) -> tuple[str, ...]:
    """Return the folders that contain tests, those with the most first."""
    folders = Counter(
        path.rpartition("/")[0].split("/")[0] or path
        for path in files
        if _suffix(path) in LANGUAGES and _TEST.fullmatch(path)
    )
    return tuple(name for name, _ in folders.most_common(SHOWN_PATHS))


def _suffix(path: str) -> str:
    return path.rpartition("/")[2].rpartition(".")[2].lower() if "." in path else ""


def _read_history(repository: Repository, commit: ObjectId, now: int) -> _History:
    # The mailmap of the repository would be read from a blob that may be absent.
    log = repository.run("log", "--no-mailmap", "--format=%ct%x00%ae", commit)
    authors: Counter[str] = Counter()
    of_year: Counter[str] = Counter()
    last = None
    for line in log.decode("utf-8", "replace").splitlines():
        date, _, author = line.partition("\0")
        moment = int(date)
        last = moment if last is None else max(last, moment)
        if "[bot]" in author:
            continue
        authors[author.casefold()] += 1
        if moment > now - YEAR:
            of_year[author.casefold()] += 1
    listing = repository.run(
        "for-each-ref", "--format=%(creatordate:unix) %(refname:strip=2)", "refs/tags"
    )
    tags = [line.partition(" ") for line in listing.decode("utf-8", "replace").splitlines()]
    dated = sorted(((int(date), name) for date, _, name in tags if date.isdecimal()), reverse=True)
    return _History(last, of_year.total(), authors, of_year, tuple(dated))
