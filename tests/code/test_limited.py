"""Symbols of sources that a grammar cannot read in time: the child process ends, not this one."""

import os
import threading

import pytest

from ubp.code import limited
from ubp.code.limited import SourceFile, find_in_files, find_spans
from ubp.code.symbols import read_symbols
from ubp.core import child

PYTHON = b"def f():\n    return 1\n\nclass C:\n    def g(self): ...\n"
NESTED = b"- " * 400 + b"\n"

pytestmark = pytest.mark.skipif(os.name == "nt", reason="Windows has no such limits")


@pytest.fixture(params=["forked", "started"])
def kind_of_child(request, monkeypatch):
    is_forked = request.param == "forked"
    monkeypatch.setattr(child, "_is_single_threaded", lambda: is_forked)


@pytest.mark.usefixtures("kind_of_child")
def test_child_finds_what_is_found_in_this_process():
    symbols = read_symbols(PYTHON, "python")
    names = ("f", "C.g", "missing")
    files = [SourceFile(PYTHON, "python", names), SourceFile(PYTHON, "python", "all")]
    expected = [{name: symbols.find(name) for name in names}, {"": symbols.all()}]
    assert find_in_files(files) == expected
    assert find_spans(PYTHON, "python") == symbols.spans()


@pytest.mark.usefixtures("kind_of_child")
def test_file_that_ends_the_child_is_unreadable_and_those_around_it_are_read():
    files = [
        SourceFile(data, language, ("f",))
        for data, language in [(PYTHON, "python"), (NESTED, "yaml"), (PYTHON, "python")]
    ]
    answers = find_in_files(files)
    assert [answer and len(answer["f"]) for answer in answers] == [1, None, 1]


@pytest.mark.usefixtures("kind_of_child")
def test_file_that_takes_too_much_time_is_unreadable(monkeypatch):
    monkeypatch.setattr(limited, "MAX_CPU_SECONDS", 0)
    before = os.times()
    assert find_in_files([SourceFile(b"<a" * 20_000, "csharp", "all")]) == [None]
    after = os.times()
    assert after.children_user - before.children_user < 6


def test_process_with_other_threads_is_not_forked(monkeypatch):
    monkeypatch.setattr(os, "fork", None)
    stop = threading.Event()
    thread = threading.Thread(target=stop.wait)
    thread.start()
    try:
        assert find_in_files([SourceFile(PYTHON, "python", ("f",))])[0]["f"]
    finally:
        stop.set()
        thread.join()
