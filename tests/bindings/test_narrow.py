"""Symbols instead of a file: proposed where a page names few of them and its history agrees."""

import pytest

from ubp.answers.bindings.bind import BindRequest, propose
from ubp.answers.bindings.review_bindings import NarrowedRecord, ReviewBindingsRequest
from ubp.answers.staleness.stale import report_stale
from ubp.bindings.narrow import Narrowed, replay
from ubp.bindings.suggest import choose_bindings
from ubp.git.change_log import LoggedChange
from ubp.index.session import Target
from ubp.workspace import Workspace

DAY = 86_400
OTHERS = [f"part_{number}" for number in range(20)]


def source(values):
    """A module of functions; `values` are what some of them return."""
    functions = [f"def {name}():\n    return {values.get(name, 0)}\n" for name in OTHERS]
    session = f"class Session:\n    def login(self):\n        return {values.get('login', 0)}\n"
    return "\n".join([*functions, session])


def build(repository, *, with_page, edits_after="login"):
    """A hub that changes 13 times, `Session.login` once of these, and a page about it.

    `edits_after`: the page is edited after the change of this function.
    """
    values = {}
    repository.write("src/auth.py", source(values))
    repository.write("docs/other.md", "# Other\n")
    with_page("begin")
    repository.commit("begin")
    for number, name in enumerate([*OTHERS[:6], "login", *OTHERS[6:12]], 1):
        values[name] = number
        repository.write("src/auth.py", source(values))
        repository.commit(f"change {name}")
        if name == edits_after:
            with_page("again")
            repository.commit("describe it")


def bound_page(repository):
    def write(text):
        repository.page("docs/auth.md", "src/auth.py", body=f"# Auth\n\n`Session.login` {text}\n")

    return write


def review(repository):
    with Workspace.open(str(repository.root)) as workspace:
        found = workspace.ask(ReviewBindingsRequest())
    return {binding.source_path: binding for binding in found.bindings}


def test_symbols_are_proposed_for_a_bound_hub_where_they_keep_every_edit(repository):
    build(repository, with_page=bound_page(repository))
    found = review(repository)["src/auth.py"]
    assert found.judgement == "wide"
    assert found.proposal == ("src/auth.py#Session.login",)
    assert found.narrowed == NarrowedRecord(fired=13, fired_left=1, edits=1, edits_left=1)
    assert (
        str(Narrowed(fired=13, fired_left=1, edits=1, edits_left=1))
        == "fires 13 times → 1, keeps the only edit"
    )


def test_symbols_are_not_proposed_where_they_would_miss_an_edit(repository):
    build(repository, with_page=bound_page(repository), edits_after=OTHERS[3])
    found = review(repository)["src/auth.py"]
    assert (found.judgement, found.proposal, found.narrowed) == ("sound", (), None)


def test_symbols_are_not_proposed_for_a_page_that_names_many(repository):
    names = ", ".join(f"`{name}`" for name in OTHERS[:4])
    build(
        repository,
        with_page=lambda text: repository.page(
            "docs/auth.md", "src/auth.py", body=f"# Auth\n\n`Session.login`, {names} {text}\n"
        ),
    )
    assert review(repository)["src/auth.py"].proposal == ()


def test_bound_symbol_fires_only_at_its_own_changes(repository):
    build(
        repository,
        with_page=lambda text: repository.page(
            "docs/auth.md", "src/auth.py#login", "src/auth.py#part_0", body=f"# Auth\n\n{text}\n"
        ),
    )
    found = review(repository)
    assert {name: replay.changed for name, replay in found.items()} == {
        "src/auth.py#login": 1,
        "src/auth.py#part_0": 1,
    }


def test_symbol_is_proposed_and_written_instead_of_the_file(repository):
    def write(text):
        repository.write("docs/auth.md", f"# Auth\n\n`Session.login` in `src/auth.py`: {text}\n")

    build(repository, with_page=write)
    with Workspace.open(str(repository.root), model="none") as workspace:
        suggestions = propose(workspace.session, BindRequest())
        chosen = choose_bindings(suggestions, 0.2)
        assert chosen == {"docs/auth.md": ["src/auth.py#Session.login"]}
        evidence = suggestions.pages[0].suggestions[0].evidence[0]
        assert (evidence.kind, evidence.detail) == (
            "symbol",
            "fires 13 times → 1, keeps the only edit",
        )
        record = workspace.ask(BindRequest(write=True, pin=True, min_confidence=0.2))
        (page,) = record.written
        head = repository.git("rev-parse", "HEAD:src/auth.py").strip()
        assert [(reference.source_path, reference.pin) for reference in page.sources] == [
            ("src/auth.py#Session.login", head[:12])
        ]
    with Workspace.open(str(repository.root)) as workspace:
        (page,) = report_stale(workspace.session, Target(), ["docs/auth.md"]).pages
        assert page.level == "fresh"


def test_file_with_a_refused_symbol_is_not_proposed(repository):
    build(
        repository,
        with_page=lambda text: repository.write(
            "docs/auth.md", f"`Session.login` in `src/auth.py` {text}"
        ),
    )
    repository.write(
        ".ubp/config.json",
        '{"bind": {"refused": [{"page": "docs/auth.md", "source": "src/auth.py#Session.login"}]}}',
    )
    with Workspace.open(str(repository.root), model="none") as workspace:
        assert choose_bindings(propose(workspace.session, BindRequest()), 0.2) == {}


@pytest.mark.parametrize(
    ("changed", "page", "fired", "edits"),
    [
        ([], [0], 0, set()),
        ([2, 1], [0], 2, {0}),
        ([2, 1], [1], 1, {1}),
        ([3], [0], 1, set()),
        ([1], [2], 1, set()),
    ],
    ids=["unchanged", "followed", "followed and together", "too late", "edited before"],
)
def test_replay_counts_alarms_and_the_edits_they_announced(changed, page, fired, edits):
    log = [LoggedChange(f"{n:040x}", -n * 14 * DAY, ()) for n in range(4)]
    assert replay(changed, page, log) == (fired, edits)
