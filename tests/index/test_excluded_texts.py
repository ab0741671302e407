"""Texts that the configuration excludes later do not stay in the index's file."""

import json
from typing import Any

import pytest

from ubp.answers.search.search import SearchRequest
from ubp.answers.staleness.stale import report_stale
from ubp.core.config import Config, is_narrower, scope_key
from ubp.index.session import Target
from ubp.workspace import Workspace

SECRET = b"xylophone"
XYLOPHONE = SearchRequest("xylophone", mode="fulltext")


@pytest.mark.parametrize("is_committed", [True, False])
def test_texts_of_an_excluded_page_leave_the_index(repository: Any, *, is_committed: bool) -> None:
    repository.write("docs/kept.md", "# Kept\n\nOrdinary words, see [[plan]].\n")
    repository.commit()
    repository.write("docs/plan.md", "# Xylophone\n\nThe xylophone [plan](xylophone.md).\n")
    if is_committed:
        repository.commit()
    with Workspace.open(str(repository.root)) as workspace:
        assert workspace.ask(XYLOPHONE).total_found == 1
    assert SECRET in all_bytes(repository)
    repository.write(".ubp/config.json", json.dumps({"source": {"exclude": ["docs/plan.md"]}}))
    with Workspace.open(str(repository.root)) as workspace:
        report_stale(workspace.session, Target())
    assert SECRET not in all_bytes(repository)
    with Workspace.open(str(repository.root)) as workspace:
        assert workspace.ask(XYLOPHONE).results == ()
        assert workspace.ask(SearchRequest("ordinary", mode="fulltext")).total_found == 1


def test_scope_is_narrower_if_it_excludes_more_or_includes_less() -> None:
    scope = scope_key(Config(include=("a", "b"), exclude=("c",)))
    assert not is_narrower(scope, scope)
    assert is_narrower(scope_key(Config(include=("a",), exclude=("c",))), scope)
    assert is_narrower(scope_key(Config(include=("a", "b"), exclude=("c", "d"))), scope)
    assert not is_narrower(scope_key(Config(include=("a", "b", "x"), exclude=())), scope)
    assert not is_narrower(scope_key(Config(include=("a", "b"), exclude=())), scope)


def all_bytes(repository: Any) -> bytes:
    files = repository.index.parent.iterdir()
    return b"".join(file.read_bytes().lower() for file in files if file.is_file())
