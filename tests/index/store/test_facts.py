"""Facts: written once, found by blob and keys."""

from collections.abc import Callable

from ubp.core.model import FilePath, ObjectId, PageFacts, Problem, SourceReference
from ubp.index.store.store import Store

KEYS = ("source_refs",)
REFERENCE = SourceReference("a.py", FilePath("a.py"), FilePath("a.py"), None, "source_refs", 2)


def blob(number: int) -> ObjectId:
    return ObjectId(f"{number:040x}")


def facts(title: str, *references: SourceReference) -> PageFacts:
    return PageFacts(title, "spec", ("tag",), (), references, (Problem(1, "odd"),))


def test_saved_facts_are_found_by_the_next_connection(open_here: Callable[[], Store]) -> None:
    first = open_here()
    first.facts.save({blob(1): facts("One", REFERENCE)}, KEYS)
    first.close()
    assert open_here().facts.read([blob(1), blob(2)], KEYS) == {blob(1): facts("One", REFERENCE)}


def test_facts_under_other_keys_are_separate(store: Store) -> None:
    store.facts.save({blob(1): facts("One", REFERENCE)}, KEYS)
    store.facts.save({blob(1): facts("One")}, ("related_files",))
    assert store.facts.read([blob(1)], KEYS) == {blob(1): facts("One", REFERENCE)}
    assert store.facts.read([blob(1)], ("related_files",)) == {blob(1): facts("One")}
    assert store.facts.missing([blob(1)], (*KEYS, "related_files")) == {blob(1)}


def test_more_facts_than_fit_into_one_statement_are_read(store: Store) -> None:
    pages = {blob(n): facts(str(n)) for n in range(1, 2001)}
    store.facts.save(pages, KEYS)
    assert store.facts.read(list(pages), KEYS) == pages
    assert store.facts.missing([*pages, blob(0)], KEYS) == {blob(0)}


def test_removed_facts_are_missing(store: Store) -> None:
    store.facts.save({blob(1): facts("One"), blob(2): facts("Two")}, KEYS)
    store.forget_pages([blob(1)])
    assert store.facts.missing([blob(1), blob(2)], KEYS) == {blob(1)}


def test_two_connections_see_the_writes_of_each_other(open_here: Callable[[], Store]) -> None:
    store, other = open_here(), open_here()
    store.facts.save({blob(1): facts("One")}, KEYS)
    other.facts.save({blob(1): facts("One"), blob(2): facts("Two")}, KEYS)
    assert store.facts.read([blob(1), blob(2)], KEYS) == other.facts.read([blob(1), blob(2)], KEYS)
    assert len(store.facts.read([blob(1), blob(2)], KEYS)) == 2
