"""Two workers: long calls hold up no others, and report their progress."""

import asyncio
import itertools
import operator
import threading
import time
from functools import partial

import pytest

from ubp.answers.pages.get_page import PageRequest
from ubp.answers.search.search import SearchRequest
from ubp.core.errors import ConfigError, UsageError
from ubp.core.interruption import checkpoint, with_checkpoints
from ubp.search.dates import read_dates
from ubp.server import scheduler as scheduling
from ubp.server.scheduler import IndexNotReadyError, Scheduler
from ubp.workspace import Workspace

pytestmark = pytest.mark.anyio

PAGES = 12


@pytest.fixture
def written(repository, monkeypatch):
    """A repository that nobody has read, with more pages than are read at once."""
    monkeypatch.setattr(scheduling, "MAX_QUICK_READS", 4)
    monkeypatch.setattr(scheduling, "SECONDS_BETWEEN_REPORTS", 0.01)
    monkeypatch.setattr("ubp.index.vectors.PAGES_PER_BATCH", 2)
    for number in range(PAGES):
        repository.write(
            f"docs/{number}.md", f"# Page {number}\n\nWords{number} [[{number - 1}]]\n"
        )
    repository.commit()
    return repository


@pytest.fixture
async def scheduler(written):
    """A scheduler that runs."""
    scheduler = Scheduler(partial(open_workspace, str(written.root)))
    scheduler.start()
    yield scheduler
    scheduler.close()


def open_workspace(root, progress, **options):
    return Workspace.open(root, progress=progress, **options)


async def be_silent(*_):
    pass


def count_backlinks(workspace):
    return len(workspace.ask(PageRequest("docs/3.md")).backlinks)


def find(mode, workspace):
    found = workspace.ask(SearchRequest("words7", mode=mode))
    return found.search_type, [page.filepath for page in found.results][:1]


async def test_the_first_answer_is_right_where_nothing_was_read(scheduler):
    told = []

    async def report(done, total, step):
        told.append((done, total, step))

    assert await scheduler.answer(count_backlinks, report) == 1
    steps = [done for done, _, _ in told]
    assert steps == sorted(set(steps))
    assert all(done <= total for done, total, _ in told)


async def test_what_needs_no_index_is_answered_while_it_is_built(scheduler):
    is_building, may_go_on = threading.Event(), threading.Event()

    def build(workspace):
        if workspace.session.progress.__self__ is scheduler._slow:
            is_building.set()
            may_go_on.wait(20)
        return count_backlinks(workspace)

    waiting = asyncio.create_task(scheduler.answer(build, be_silent))
    await asyncio.to_thread(is_building.wait, 20)
    assert (
        await scheduler.answer(lambda workspace: workspace.session.config.docs_dir, be_silent) == ""
    )
    assert not waiting.done()
    may_go_on.set()
    assert await waiting == 1


async def test_a_call_is_about_one_state_of_the_work_tree(scheduler, written):
    def look_twice(workspace):
        before = workspace.session.view()
        written.write("docs/new.md", "# New\n")
        return before is workspace.session.view(), before.count_documents()

    assert await scheduler.answer(look_twice, be_silent) == (True, PAGES)
    assert await scheduler.answer(look_twice, be_silent) == (True, PAGES + 1)


async def test_patience_ends_and_the_work_goes_on(written):
    scheduler = Scheduler(partial(open_workspace, str(written.root)), seconds_to_wait=0.05)
    scheduler.start()
    may_go_on = threading.Event()

    def build(workspace):
        if workspace.session.progress.__self__ is scheduler._slow:
            may_go_on.wait(20)
        return count_backlinks(workspace)

    with pytest.raises(IndexNotReadyError) as caught:
        await scheduler.answer(build, be_silent)
    assert "not ready" in caught.value.message
    assert "again" in caught.value.hint
    may_go_on.set()
    await asyncio.gather(*scheduler._abandoned)
    assert await scheduler.answer(count_backlinks, be_silent) == 1
    scheduler.close()


async def test_words_are_found_while_vectors_are_missing(scheduler):
    assert await scheduler.answer(partial(find, "hybrid"), be_silent) == (
        "fulltext_fallback",
        ["docs/7.md"],
    )
    keeping = asyncio.create_task(scheduler.keep_ready())
    while (await scheduler.answer(partial(find, "hybrid"), be_silent))[0] != "hybrid":
        assert not keeping.done()
    keeping.cancel()


async def test_the_dates_of_all_pages_are_known_before_anybody_asks(scheduler, written):
    keeping = asyncio.create_task(scheduler.keep_ready())
    head, dates = written.head(), {}
    while len(dates) < PAGES:
        assert not keeping.done()
        await asyncio.sleep(0.01)
        dates = await scheduler.answer(
            lambda ws: ws.session.store.history.first_changes(head), be_silent
        )
    assert {change.commit for change in dates.values()} == {head}
    keeping.cancel()


async def test_one_model_outlives_workspaces_that_are_opened_anew(scheduler, written):
    keeping = asyncio.create_task(scheduler.keep_ready())
    while (await scheduler.answer(partial(find, "hybrid"), be_silent))[0] != "hybrid":
        assert not keeping.done()
    before = await scheduler.answer(
        lambda workspace: (id(workspace), id(workspace.session.model())), be_silent
    )
    for file in written.index.parent.glob("index-*"):
        file.unlink()
    after = await scheduler.answer(
        lambda workspace: (id(workspace), id(workspace.session.model())), be_silent
    )
    assert (after[0] != before[0], after[1] == before[1]) == (True, True)
    keeping.cancel()


async def test_both_workers_share_vectors_and_documents_of_the_commit(scheduler):
    assert await scheduler.answer(count_backlinks, be_silent) == 1

    def read(workspace):
        view = workspace.session.view()
        meaning = view.semantic_index(workspace.session.model())
        read_dates(workspace.session)
        return (
            meaning._vectors,
            meaning._parts[0],
            view.context.cache.common.of_commit(view.snapshot.commit, "documents", dict),
            view.of_commit("created_at", dict),
            view.pages(),
        )

    slow = await scheduler._slow.run(read, lambda *_: None)
    quick = await scheduler._quick.run(read, lambda *_: None)
    assert len(quick[0]) == len(quick[2]) == len(quick[3]) == len(quick[4]) == PAGES
    assert all(map(operator.is_, slow[:4], quick[:4]))
    assert all(map(operator.is_, slow[4], quick[4]))


async def test_workers_of_different_configurations_share_nothing(scheduler, written):
    def documents(workspace):
        view = workspace.session.view()
        return len(view.document_paths()), view.context.cache.common

    before = await scheduler._slow.run(documents, lambda *_: None)
    written.write(".ubp/config.json", '{"source": {"exclude": ["docs/3.md"]}}')
    after = await scheduler._quick.run(documents, lambda *_: None)
    assert (before[0], after[0]) == (PAGES, PAGES - 1)
    assert before[1] is not after[1]


async def test_two_threads_that_read_at_once_agree(scheduler, written):
    """While pages are committed, edited, read and embedded by both workers."""
    meet = threading.Barrier(2)

    def read(workspace):
        meet.wait(20)
        view = workspace.session.view()
        meaning = view.semantic_index(workspace.session.model())
        best = [(h.path, h.score) for h in meaning.nearest("words7", 5)]
        return [page.filepath for page in view.pages()], best, view.bound_pages()

    for number in range(12):
        written.write(f"docs/{number}.md", f"---\nsource_refs: [a.py]\n---\n# Words7 {number}\n")
        if number % 2:
            written.commit()
        first, second = await asyncio.gather(
            scheduler._slow.run(read, lambda *_: None),
            scheduler._quick.run(read, lambda *_: None),
        )
        with Workspace.open(str(written.root)) as alone:
            view = alone.session.view()
            meaning = view.semantic_index(alone.session.model())
            expected = (
                [page.filepath for page in view.pages()],
                [(h.path, h.score) for h in meaning.nearest("words7", 5)],
                view.bound_pages(),
            )
        assert first == second == expected


async def test_who_asks_for_meaning_alone_waits_for_it(scheduler):
    assert (await scheduler.answer(partial(find, "semantic"), be_silent))[0] == "semantic"


async def test_another_revision_that_nobody_has_read_takes_the_same_way(scheduler, written):
    before = written.head()
    for number in range(PAGES):
        written.write(f"docs/{number}.md", f"# Page {number}\n")
    written.commit()
    assert await scheduler.answer(count_backlinks, be_silent) == 0

    def count_before(workspace):
        return len(workspace.ask(PageRequest("docs/3.md", ref=before)).backlinks)

    assert await scheduler.answer(count_before, be_silent) == 1


async def test_work_that_nobody_waits_for_is_given_up(scheduler):
    is_working, is_given_up = threading.Event(), threading.Event()

    def work(workspace):
        is_working.set()
        try:
            while True:
                workspace.session.progress("Waiting", 1, 1)
        finally:
            is_given_up.set()

    waiting = asyncio.create_task(scheduler.answer(work, be_silent))
    await asyncio.to_thread(is_working.wait, 20)
    waiting.cancel()
    assert await asyncio.to_thread(is_given_up.wait, 20)
    assert await scheduler.answer(count_backlinks, be_silent) == 1


ENDLESS_QUERY = """
WITH RECURSIVE number(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number) SELECT max(n) FROM number
"""


def query_for_ever(workspace):
    workspace.session.store.database.rows(ENDLESS_QUERY)


def count_for_ever(_):
    for _ in with_checkpoints(itertools.count()):
        pass


LONG_WORK = [query_for_ever, count_for_ever]


@pytest.mark.parametrize("work", LONG_WORK)
async def test_a_cancelled_call_ends_at_once(scheduler, work):
    assert await scheduler.answer(count_backlinks, be_silent) == 1
    for _ in range(3):
        waiting = asyncio.create_task(scheduler.answer(work, be_silent))
        await asyncio.sleep(0.05)
        waiting.cancel()
        cancelled = time.perf_counter()
        assert await scheduler.answer(count_backlinks, be_silent) == 1
        assert time.perf_counter() - cancelled < 2  # 0.02 s where nothing else runs
    assert scheduler._quick._workspace.session.store.path is not None


@pytest.mark.parametrize("work", LONG_WORK)
async def test_a_long_call_gives_way_to_the_next_one_and_goes_on(scheduler, work):
    assert await scheduler.answer(count_backlinks, be_silent) == 1

    def work_until_moved(workspace):
        if workspace.session.progress.__self__ is scheduler._slow:
            return "moved"
        return work(workspace)

    waiting = asyncio.create_task(scheduler.answer(work_until_moved, be_silent))
    await asyncio.sleep(0.05)
    assert not waiting.done()
    asked = time.perf_counter()
    assert await scheduler.answer(count_backlinks, be_silent) == 1
    assert time.perf_counter() - asked < 2  # 0.12 s where nothing else runs
    assert await waiting == "moved"


async def test_the_slow_worker_waits_for_a_job_of_the_quick_one(scheduler, monkeypatch):
    monkeypatch.setattr(scheduling, "SECONDS_TO_GIVE_WAY", 20)
    assert await scheduler.answer(count_backlinks, be_silent) == 1
    steps, is_over = itertools.count(), threading.Event()

    def work_slowly(_):
        while not is_over.is_set():
            checkpoint()
            next(steps)

    def work_quickly(_):
        time.sleep(0.1)
        before = next(steps)
        time.sleep(0.3)
        return next(steps) - before

    slow = asyncio.create_task(scheduler._slow.run(work_slowly, lambda *_: None))
    await asyncio.sleep(0.1)
    assert await scheduler.answer(work_quickly, be_silent) == 1
    after = next(steps)
    await asyncio.sleep(0.3)
    assert next(steps) > after + 1
    is_over.set()
    await slow


async def test_the_slow_worker_does_not_wait_for_a_job_that_waits_for_it(scheduler):
    assert await scheduler.answer(count_backlinks, be_silent) == 1
    is_done = threading.Event()

    def work_slowly(_):
        for _ in with_checkpoints(range(100), every=1):
            time.sleep(0.001)
        is_done.set()

    def work_quickly(_):
        return is_done.wait(20)

    asked = time.perf_counter()
    slow = asyncio.create_task(scheduler._slow.run(work_slowly, lambda *_: None))
    assert await scheduler.answer(work_quickly, be_silent)
    assert time.perf_counter() - asked < 5  # 0.4 s where nothing else runs
    await slow


async def test_a_long_call_that_nobody_waits_behind_is_not_moved(scheduler, monkeypatch):
    monkeypatch.setattr(scheduling, "SECONDS_TO_HOLD_UP", 0.0)

    def work(workspace):
        for _ in with_checkpoints(range(5000)):
            pass
        return workspace.session.progress.__self__ is scheduler._quick

    assert await scheduler.answer(work, be_silent)


async def test_a_call_that_writes_is_not_begun_again(scheduler, monkeypatch):
    monkeypatch.setattr(scheduling, "SECONDS_TO_HOLD_UP", 0.0)
    assert await scheduler.answer(count_backlinks, be_silent) == 1
    written, is_asked = [], threading.Event()

    def write(_):
        written.append(1)
        is_asked.wait(20)
        for _ in with_checkpoints(range(5000)):
            pass
        return len(written)

    writing = asyncio.create_task(scheduler.answer(write, be_silent, writes=True))
    asking = asyncio.create_task(scheduler.answer(count_backlinks, be_silent))
    await asyncio.sleep(0.05)
    is_asked.set()
    assert (await writing, await asking) == (1, 1)


async def test_a_call_that_writes_is_waited_for(written):
    scheduler = Scheduler(partial(open_workspace, str(written.root)), seconds_to_wait=0.0)
    scheduler.start()
    assert await scheduler.answer(count_backlinks, be_silent, writes=True) == 1
    scheduler.close()


async def test_a_panic_of_a_library_ends_its_call_and_nothing_else(scheduler):
    class PanicException(BaseException):
        """As Rust's panics are raised."""

    def panic(_):
        raise PanicException("index out of bounds")

    with pytest.raises(RuntimeError, match="PanicException: index out of bounds"):
        await scheduler.answer(panic, be_silent)
    assert await scheduler.answer(count_backlinks, be_silent) == 1


async def test_errors_reach_who_asks_and_end_nothing(scheduler):
    def fail(_):
        raise UsageError("No.")

    with pytest.raises(UsageError):
        await scheduler.answer(fail, be_silent)
    assert await scheduler.answer(count_backlinks, be_silent) == 1


async def test_a_configuration_that_cannot_be_read_is_read_again_by_the_next(scheduler, written):
    assert await scheduler.answer(count_backlinks, be_silent) == 1
    file = written.write(".ubp/config.json", "{")
    for _ in range(2):
        with pytest.raises(ConfigError):
            await scheduler.answer(count_backlinks, be_silent)
    file.unlink()
    assert await scheduler.answer(count_backlinks, be_silent) == 1


async def test_where_nothing_can_be_written_the_index_is_kept_in_memory(written):
    written.write(".git/ubp", "a file")
    scheduler = Scheduler(partial(open_workspace, str(written.root)))
    scheduler.start()
    for _ in range(2):
        assert await scheduler.answer(count_backlinks, be_silent) == 1
    scheduler.close()


async def test_a_bare_repository_is_followed_when_its_head_moves(written, tmp_path):
    bare = tmp_path / "bare.git"
    written.git("clone", "--quiet", "--bare", ".", str(bare))
    other = Scheduler(partial(open_workspace, str(bare)))
    other.start()
    assert await other.answer(count_backlinks, be_silent) == 1
    written.write("docs/4.md", "# Page 4\n")
    written.commit()
    written.git("push", "--quiet", str(bare), "main")
    assert await other.answer(count_backlinks, be_silent) == 0
    other.close()
