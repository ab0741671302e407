"""Where links lead: the table of cases, and what must hold for any snapshot."""

import posixpath
import re
import unicodedata
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from ubp.core.model import FilePath, Link
from ubp.core.text import fold
from ubp.markdown import resolve as resolving
from ubp.markdown.parse import parse_markdown
from ubp.markdown.resolve import (
    PageNameForms,
    Resolution,
    Targets,
    page_names,
    requested_names,
    resolve,
    stem,
)
from ubp.markdown.sites.anchors import HeadingName, PageAnchors
from ubp.markdown.sites.detect import configured_site
from ubp.markdown.sites.site import NO_SITES, OWN_ANCHORS, Root, Sites

FIXTURE = Path(__file__).parents[2] / "fixtures" / "links" / "cases.md"
ROOTS = (FilePath("site"),)


class Case(NamedTuple):
    name: str
    source: FilePath
    written: str
    bucket: str
    target: FilePath | None


def _rows(heading: str) -> Iterator[list[str]]:
    part = FIXTURE.read_text("utf-8").split(f"## {heading}\n")[1].split("\n## ")[0]
    for row in re.findall(r"^\|(.*)\|$", part, re.MULTILINE)[2:]:
        yield [_cell(cell) for cell in re.split(r"(?<!\\)\|", row)]


def _cell(cell: str) -> str:
    text = cell.strip()
    code = re.fullmatch(r"(`+) ?(.*?) ?\1", text)
    return (code[2] if code else text).replace("\\|", "|").replace("\\\\", "\\")


def _on_disk(path: str) -> FilePath:
    name = "docs/ガイド.md"
    return FilePath(unicodedata.normalize("NFD", name) if path == name else path)


PAGES = [
    PageNameForms(_on_disk(path), title, tuple(filter(None, aliases.split(", "))))
    for path, title, aliases in _rows("Pages")
]
CASES = [
    Case(f"{number} {name}", FilePath(source), written, bucket, _on_disk(target) or None)
    for number, name, source, written, bucket, target in _rows("Cases")
]


@pytest.fixture
def targets() -> Targets:
    made = Targets(lambda _: PageAnchors(ids=("install",)), Sites(link_roots=ROOTS))
    for page in PAGES:
        made.add_page(page)
    for (path,) in _rows("Other files"):
        made.add_file(FilePath(path))
    return made


def _links(written: str) -> tuple[Link, ...]:
    return parse_markdown(written.replace("⏎", "\n").encode()).links


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_link_leads_where_the_table_says(case: Case, targets: Targets) -> None:
    led = [resolve(case.source, link, targets) for link in _links(case.written)]

    assert led or case.bucket == "none"
    assert {(found.bucket, found.target) for found in led} == (
        set() if case.bucket == "none" else {(case.bucket, case.target)}
    )


def test_a_link_within_its_page_asks_for_its_anchor() -> None:
    links = _links("[[#a]] [b](#C) [c](#)")

    assert list(map(requested_names, links)) == [{"#a"}, {"#c"}, frozenset()]


def test_a_page_spelt_as_the_link_is_wins_over_one_in_the_same_folder() -> None:
    known = Targets()
    for path in ("People/BookFusion.md", "Plugins/Deep/bookfusion.md"):
        known.add_page(PageNameForms(FilePath(path), None, ()))
    for source in ("People/BookFusion.md", "People/Other.md"):
        led = [
            resolve(FilePath(source), link, known)
            for link in _links("[[bookfusion]] [[BookFUSION]]")
        ]
        assert led == [
            Resolution("resolved", FilePath("Plugins/Deep/bookfusion.md")),
            Resolution("resolved", FilePath("People/BookFusion.md")),
        ]


@pytest.mark.parametrize("aliases", [(), ("shared",)])
def test_wikilinks_to_a_name_of_many_pages_take_time_linear_in_their_number(
    aliases: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    looked_at: list[str] = []
    for name in ("_has_same_case", "_folder"):
        function = getattr(resolving, name)

        def count(path: str, *rest: str, call: Callable[..., object] = function) -> object:
            looked_at.append(path)
            return call(path, *rest)

        monkeypatch.setattr(resolving, name, count)
    counts = []
    for size in (10, 40):
        targets = Targets()
        for number in range(size):
            name = f"page{number}" if aliases else "shared"
            targets.add_page(PageNameForms(FilePath(f"d{number}/{name}.md"), None, aliases))
        looked_at.clear()
        (link,) = _links("[[shared]]")
        for number in range(size):
            assert resolve(FilePath(f"d{number}/from.md"), link, targets).target
        counts.append(len(looked_at))
    assert counts[1] <= 4 * counts[0]


def test_an_ambiguous_link_names_all_candidates(targets: Targets) -> None:
    (link,) = _links("[[errors]]")

    assert resolve(FilePath("README.md"), link, targets) == Resolution(
        "ambiguous",
        FilePath("docs/api/v1/errors.md"),
        (FilePath("docs/api/v1/errors.md"), FilePath("docs/api/v2/errors.md")),
    )


@pytest.mark.parametrize(
    ("written", "candidates"),
    [
        ("old/login.md", ["docs/auth/login.md"]),
        ("overview.md", ["docs/auth/overview.md", "docs/billing/overview.md"]),
        ("docs/billing/overview.md", ["docs/billing/overview.md"]),
        ("/home/ann/nowhere.md", []),
    ],
)
def test_a_missing_page_names_those_that_may_be_meant(
    written: str, candidates: list[str], targets: Targets
) -> None:
    (link,) = _links(f"[a]({written})")

    assert resolve(FilePath("docs/setup.md"), link, targets) == Resolution(
        "missing", None, tuple(map(FilePath, candidates))
    )


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("[[setup]]", None),
        ("[a](https://example.com#x)", "no link"),
        ("[[nowhere#Install]]", None),
        ("[[setup#Install]]", True),
        ("[[setup#install]]", True),
        ("[[setup#Other#Install]]", True),
        ("[[setup#Other]]", False),
        ("[a](docs/setup.md#Install)", True),
        ("[a](docs/setup.md#other)", False),
        ("[a](docs/setup.md#)", True),
        ("[a](docs/setup.md#L10-L20)", True),
        ("[a](docs/setup.md#:~:text=x)", True),
        ("[a](#top)", True),
        ("[a](#install)", True),
        ("[[#Gone]]", False),
    ],
)
def test_an_anchor_is_looked_up_in_the_target(
    written: str, expected: object, targets: Targets
) -> None:
    links = _links(written)
    found = [resolve(FilePath("README.md"), link, targets).has_anchor for link in links]

    assert found == ([] if expected == "no link" else [expected])


def test_a_headings_anchor_is_found_by_its_words() -> None:
    text = "## 認証 フロー: v1.2 & `code`\n## Ünïcode_x\n## A\n## A\n"
    anchors = parse_markdown(text.encode()).anchors
    targets = Targets(lambda _: anchors)
    asked = "[[#認証 フロー: v1.2 & code]] [a](#認証-フロー-v12--code) [[#ünïcode_x]] [b](#a-1)"

    assert all(resolve(FilePath("p.md"), link, targets).has_anchor for link in _links(asked))


# Few names, so that they meet; both Unicode forms, both cases, names that folders answer to.
NAMES = [
    "a",
    "A",
    "b",
    "readme",
    "README",
    "index",
    "é",
    "e\u0301",
    "ガ",
    "カ\u3099",
    "x y",
    "v1.2",
]
FOLDERS = ["", "a", "A", "docs", "docs/a", "b/docs/c"]
paths = st.builds(
    lambda folder, name, suffix: FilePath(f"{folder}/{name}{suffix}".lstrip("/")),
    st.sampled_from(FOLDERS),
    st.sampled_from(NAMES),
    st.sampled_from([".md", ".MD", ".markdown"]),
)
names = st.one_of(st.none(), st.sampled_from([*NAMES, "T", "t", "a/b"]))
pages = st.builds(
    lambda path, title, alias: PageNameForms(path, title, (alias,) if alias else ()),
    paths,
    names,
    names,
)
files = st.builds(FilePath, st.sampled_from(["a.png", "a/a.png", "docs/A.png", "docs/b.md", "a"]))
written = st.one_of(
    st.sampled_from(
        [*NAMES, "T", "a/b", "a.md", "docs/a", "../a", "./b", "/a", "a.png", ".", "A/"]
    ),
    paths,
).map(lambda target: f"[[{target}]] [x](<{target}>)")


@given(paths, paths)
@settings(deadline=None)
def test_a_relative_link_from_one_page_to_another_leads_there(
    source: FilePath, target: FilePath
) -> None:
    targets = Targets()
    targets.add_page(PageNameForms(target, None, ()))
    relative = posixpath.relpath(target, posixpath.dirname(source) or ".")
    (link,) = _links(f"[x]({quote(relative)})")

    assert resolve(source, link, targets) == Resolution("resolved", target)


Snapshot = tuple[list[PageNameForms], list[FilePath]]
snapshots = st.tuples(st.lists(pages), st.lists(files))


@given(snapshots, snapshots, written, paths)
@settings(max_examples=300, deadline=None)
def test_changing_targets_in_place_equals_building_them_anew(
    before: Snapshot, after: Snapshot, text: str, source: FilePath
) -> None:
    changed = _targets(before)
    for path in {*before[1], *(page.path for page in before[0])}:
        changed.remove(path)
    for page in after[0]:
        changed.add_page(page)
    for path in after[1]:
        changed.add_file(path)
    built = _targets(after)

    for link in _links(text):
        assert resolve(source, link, changed) == resolve(source, link, built)


@given(snapshots, pages, written, paths)
@settings(max_examples=300, deadline=None)
def test_only_links_that_ask_for_a_name_of_a_page_can_feel_it_come_or_go(
    others: Snapshot, page: PageNameForms, text: str, source: FilePath
) -> None:
    without, with_page, with_file = _targets(others), _targets(others), _targets(others)
    without.remove(page.path)
    with_page.add_page(page)
    with_file.add_file(page.path)

    for link in _links(text):
        led = resolve(source, link, without)
        asked = requested_names(link)
        assert asked & page_names(page) or resolve(source, link, with_page) == led
        assert stem(page.path) in asked or resolve(source, link, with_file) == led


@given(snapshots, written, paths)
@settings(max_examples=300, deadline=None)
def test_for_a_link_the_pages_that_answer_to_it_are_enough(
    snapshot: Snapshot, text: str, source: FilePath
) -> None:
    paths_of_all = {*snapshot[1], *(page.path for page in snapshot[0])}
    # No tree of Git has a file and a folder of the same name.
    some_files = [file for file in snapshot[1] if not _is_folder(file, paths_of_all)]
    some_pages = {page.path: page for page in snapshot[0] if page.path not in some_files}.values()
    targets = _targets((list(some_pages), some_files))

    for link in _links(text):
        asked = requested_names(link)
        few = _targets(
            (
                [page for page in some_pages if page_names(page) & asked],
                [path for path in some_files if stem(path) in asked],
            )
        )
        assert resolve(source, link, few) == resolve(source, link, targets)


def _is_folder(path: FilePath, paths: set[FilePath]) -> bool:
    return any(other.startswith(f"{path}/") for other in paths)


ROOTED = (Root("docs"), Root("docs/{lang}", "{lang}", "en"), Root(""))
SITES = [
    Sites((site._replace(roots=roots, static=(FilePath("docs"),)),))
    for name in ("mkdocs", "vitepress", "docusaurus", "hugo", "mdbook", "jekyll", "sphinx")
    for site in [configured_site(name, FilePath(""), FilePath(""), "/x/")]
    for roots in (site.roots, ROOTED)
]


@given(snapshots, pages, written, paths, st.sampled_from(SITES))
@settings(max_examples=200, deadline=None)
def test_in_a_site_too_only_links_that_ask_for_a_name_can_feel_a_page_come_or_go(
    others: Snapshot, page: PageNameForms, text: str, source: FilePath, sites: Sites
) -> None:
    assume(fold(source) != fold(page.path))  # whose own links come and go with it
    without, with_page, with_file = (_targets(others, sites) for _ in range(3))
    without.remove(page.path)
    with_page.add_page(page)
    with_file.add_file(page.path)

    for link in _links(text):
        led = resolve(source, link, without)
        asked = requested_names(link)
        assert asked & page_names(page, sites) or resolve(source, link, with_page) == led
        assert stem(page.path) in asked or resolve(source, link, with_file) == led


@pytest.mark.parametrize(
    ("name", "text"),
    [("mkdocs", "[x](<index>)"), ("mkdocs", "[x](.)"), ("mdbook", "[x](<index>)")],
)
def test_page_that_a_site_publishes_as_a_folder_answers_to_links_within_it(
    name: str, text: str
) -> None:
    page, source = PageNameForms(FilePath("a.md"), None, ()), FilePath("a/b.md")
    sites = next(sites for sites in SITES if sites.sites[0].style.name == name)
    (link,) = _links(text)
    assert resolve(source, link, _targets(([page], []), sites)).target == "a.md"
    assert requested_names(link) & page_names(page, sites)


class Headings(tuple[HeadingName, ...]):
    """Headings that count how often somebody reads all of them."""

    __slots__ = ()
    reads = 0

    def __iter__(self) -> Iterator[HeadingName]:
        type(self).reads += 1
        return super().__iter__()


def test_headings_of_a_page_are_read_once_for_all_anchors_that_a_site_makes_itself() -> None:
    site = configured_site("mkdocs", FilePath(""), FilePath(""), "")
    sites = Sites((site._replace(options=((OWN_ANCHORS, "yes"),)),))
    anchors = PageAnchors(Headings([HeadingName(2, "Set up")]))
    targets = Targets(lambda _: anchors, sites)
    targets.add_page(PageNameForms(FilePath("a.md"), None, ()))
    reads, leads = [], []
    for anchor in ("set-it-up", "setup", "away", "A_B"):
        (link,) = _links(f"[x](#{anchor})")
        leads.append(resolve(FilePath("a.md"), link, targets).has_anchor)
        reads.append(Headings.reads)
    assert leads == [False, True, False, True]
    assert len(set(reads)) == 1


def _targets(snapshot: Snapshot, sites: Sites = NO_SITES) -> Targets:
    made = Targets(sites=sites)
    for page in snapshot[0]:
        made.add_page(page)
    for path in snapshot[1]:
        made.add_file(path)
    return made
