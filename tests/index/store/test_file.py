"""The file: made whole, found unharmed, rebuilt, never in the way, never out of the repository."""

import os
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ubp.core.errors import IndexDamagedError
from ubp.core.model import ObjectId, PageFacts
from ubp.index.store.database import DAMAGED, copy_in_memory
from ubp.index.store.file import (
    FILE_NAME,
    LOCK_STALE_SECONDS,
    UNUSED_SECONDS,
    identify,
    replace_index,
    write_stamp,
)
from ubp.index.store.schema import FORMAT
from ubp.index.store.store import Store, open_store

KEYS = ("source_refs",)
ONE = ObjectId("1" * 40)
TWO = ObjectId("2" * 40)
PAGE = PageFacts("One", "spec", (), (), (), ())
LARGE = PageFacts("x" * 200_000, "spec", (), (), (), ())
on_posix = pytest.mark.skipif(
    os.name == "nt", reason="open files cannot be replaced there, and links need a privilege"
)
OPEN = (
    "import os, sys\n"
    "from ubp.core.model import PageFacts\n"
    "from ubp.index.store.store import open_store\n"
)
SAVE = OPEN + (
    "store = open_store(sys.argv[1], print)\n"
    "store.facts.save({'1' * 40: PageFacts('One', 'spec', (), (), (), ())}, ('source_refs',))\n"
)


def run(program: str, *args: object, **options: object) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", program, *map(str, args)],
        text=True,
        stdout=subprocess.PIPE,
        **options,
    )


def save_and_die(data_dir: Path, digit: str = "1") -> None:
    program = SAVE.replace("'1'", f"'{digit}'") + "os._exit(9)"
    done = subprocess.run([sys.executable, "-c", program, str(data_dir)], check=False)
    assert done.returncode == 9


def fill(open_here: Callable[[], Store]) -> None:
    store = open_here()
    store.facts.save({ONE: PAGE}, KEYS)
    store.close()


def spoil(database: Path, table: str) -> None:
    """Overwrite the first page of a table, and hide it from the file's times, as disks do."""
    with sqlite3.connect(database) as connection:
        (page,) = connection.execute(
            "SELECT rootpage FROM sqlite_master WHERE name = ?", [table]
        ).fetchone()
        (size,) = connection.execute("PRAGMA page_size").fetchone()
    connection.close()
    with database.open("r+b") as file:
        file.seek((page - 1) * size)
        file.write(b"\xff" * size)
    write_stamp(str(database))


@pytest.fixture
def database(data_dir: Path) -> Path:
    return data_dir / FILE_NAME


@pytest.fixture
def make_read_only() -> Iterator[Callable[[Path], None]]:
    """Make a folder unwritable; root, whom permissions do not stop, mounts it so."""
    done: list[Path] = []

    def make(folder: Path) -> None:
        if os.name == "nt" or sys.platform == "darwin":
            pytest.skip("permissions of folders are another matter here")
        if os.geteuid():
            folder.chmod(0o500)
        else:
            mount = ["mount", "--bind", str(folder), str(folder)]
            if subprocess.run(mount, check=False, capture_output=True).returncode:
                pytest.skip("nothing can be mounted here")
        done.append(folder)
        if not os.geteuid():
            subprocess.run(["mount", "-o", "remount,bind,ro", str(folder)], check=True)

    yield make
    for folder in done:
        if os.geteuid():
            folder.chmod(0o700)
        else:
            subprocess.run(["umount", str(folder)], check=True)


def test_opening_creates_a_database_and_no_other_file(store: Store, data_dir: Path) -> None:
    assert store.path == str(data_dir / FILE_NAME)
    store.close()
    assert sorted(os.listdir(data_dir)) == [FILE_NAME, f"{FILE_NAME}-stamp"]


def test_databases_of_two_formats_do_not_rebuild_each_other(
    open_here: Callable[[], Store], data_dir: Path, warnings: list[str]
) -> None:
    fill(open_here)
    program = f"import ubp.index.store.schema as schema; schema.FORMAT += 1\n{SAVE}store.close()"
    other = run(program, data_dir)
    assert other.communicate(timeout=30)[0] == ""
    assert open_here().facts.read([ONE], KEYS) == {ONE: PAGE}
    assert {f"index-{FORMAT}.db", f"index-{FORMAT + 1}.db"} <= set(os.listdir(data_dir))
    assert warnings == []


@pytest.mark.parametrize("does_prune", [False, True])
def test_index_of_another_format_is_removed_when_it_was_not_written_for_long(
    open_here: Callable[[], Store], data_dir: Path, *, does_prune: bool
) -> None:
    if does_prune:
        fill(open_here)
    data_dir.mkdir(exist_ok=True)
    old, new = time.time() - UNUSED_SECONDS - 60, time.time() - UNUSED_SECONDS + 3600
    ages = {
        "index-1.db": old,
        "index-1.db-shm": old,
        "index-2.db": new,
        "index-3.db": old,
        "index-3.db-wal": new,
        "serve.log": old,
    }
    for name, age in ages.items():
        (data_dir / name).write_bytes(b"12345")
        os.utime(data_dir / name, (age, age))
    store = open_here()
    freed = store.prune().freed_bytes if does_prune else 10
    store.close()
    kept = {
        FILE_NAME,
        f"{FILE_NAME}-stamp",
        "index-2.db",
        "index-3.db",
        "index-3.db-wal",
        "serve.log",
    }
    assert (set(os.listdir(data_dir)), freed) == (kept, 10)


def test_database_has_the_required_pragmas(store: Store) -> None:
    pragmas = (
        "journal_mode",
        "synchronous",
        "cache_size",
        "mmap_size",
        "temp_store",
        "foreign_keys",
    )
    assert [store.database.rows(f"PRAGMA {name}")[0][0] for name in (*pragmas, "user_version")] == [
        "wal",
        1,
        -64000,
        0,
        2,
        1,
        FORMAT,
    ]


def test_opening_and_reading_changes_no_byte(
    open_here: Callable[[], Store], database: Path
) -> None:
    fill(open_here)
    before = (database.read_bytes(), database.stat().st_mtime_ns)
    store = open_here()
    assert store.facts.read([ONE], KEYS) == {ONE: PAGE}
    store.close()
    assert (database.read_bytes(), database.stat().st_mtime_ns) == before


@pytest.mark.parametrize(
    ("content", "expected_warnings"),
    [
        (b"no database, but long enough to be one\n" * 100, [DAMAGED]),
        (b"SQLite format 3\0" + b"\xff" * 5000, [DAMAGED]),
        (b"short", [DAMAGED]),
        (b"", []),
    ],
)
def test_file_that_is_not_a_database_is_replaced(
    open_here: Callable[[], Store],
    database: Path,
    warnings: list[str],
    content: bytes,
    expected_warnings: list[str],
) -> None:
    database.parent.mkdir()
    database.write_bytes(content)
    fill(open_here)
    assert warnings == expected_warnings
    assert open_here().facts.read([ONE], KEYS) == {ONE: PAGE}


@pytest.mark.parametrize(
    "change", ["PRAGMA user_version = 999", "DROP TABLE drift", "CREATE VIEW v AS SELECT 1"]
)
def test_database_with_other_tables_is_replaced(
    open_here: Callable[[], Store], database: Path, warnings: list[str], change: str
) -> None:
    fill(open_here)
    with sqlite3.connect(database) as connection:
        connection.execute(change)
    connection.close()
    store = open_here()
    assert warnings == [DAMAGED]
    assert store.facts.missing([ONE], KEYS) == {ONE}
    assert open_here().path
    assert len(warnings) == 1


def test_sqlite_statistics_do_not_change_the_version(
    open_here: Callable[[], Store], database: Path, warnings: list[str]
) -> None:
    fill(open_here)
    with sqlite3.connect(database) as connection:
        connection.execute("ANALYZE")
    connection.close()
    assert open_here().facts.read([ONE], KEYS) == {ONE: PAGE}
    assert warnings == []


def test_damage_found_by_reading_is_repaired_by_removal(
    open_here: Callable[[], Store], database: Path, warnings: list[str]
) -> None:
    fill(open_here)
    spoil(database, "facts")
    store = open_here()
    with pytest.raises(IndexDamagedError):
        store.facts.read([ONE], KEYS)
    assert store.facts.missing([ONE], KEYS) == {ONE}
    assert warnings == [DAMAGED]
    store.facts.save({ONE: PAGE}, KEYS)
    assert open_here().facts.read([ONE], KEYS) == {ONE: PAGE}
    assert warnings == [DAMAGED]


def test_damage_found_by_writing_is_repaired_by_removal(
    open_here: Callable[[], Store], database: Path, warnings: list[str]
) -> None:
    fill(open_here)
    spoil(database, "facts")
    store = open_here()
    with pytest.raises(IndexDamagedError):
        store.facts.save({TWO: PAGE}, KEYS)
    store.facts.save({TWO: PAGE}, KEYS)
    assert store.facts.read([ONE, TWO], KEYS) == {TWO: PAGE}
    assert warnings == [DAMAGED]


@pytest.mark.parametrize("content", ["[", "{}", "[1,2]", "[0,0,0,0,[1],0]"])
def test_values_that_ubp_never_saves_are_damage(
    open_here: Callable[[], Store], database: Path, warnings: list[str], content: str
) -> None:
    fill(open_here)
    with sqlite3.connect(database) as connection:
        connection.execute("UPDATE facts SET content = ?", [content])
    connection.close()
    write_stamp(str(database))
    with pytest.raises(IndexDamagedError):
        open_here().facts.read([ONE], KEYS)
    assert warnings == [DAMAGED]


def test_commits_of_a_killed_writer_are_kept_and_checked_once(
    data_dir: Path, open_here: Callable[[], Store], warnings: list[str]
) -> None:
    save_and_die(data_dir)
    log = data_dir / f"{FILE_NAME}-wal"
    assert log.stat().st_size > 0
    assert open_here().facts.read([ONE], KEYS) == {ONE: PAGE}
    assert log.stat().st_size == 0
    assert warnings == []


@pytest.mark.parametrize("table", ["commit_entries", "facts", "words_data"])
def test_damage_by_another_program_is_found_when_the_database_is_opened(
    database: Path, open_here: Callable[[], Store], warnings: list[str], table: str
) -> None:
    fill(open_here)
    content = database.read_bytes()
    spoil(database, table)
    database.write_bytes(database.read_bytes())
    assert open_here().facts.missing([ONE], KEYS) == {ONE}
    assert warnings == [DAMAGED]
    database.write_bytes(content)
    assert open_here().facts.read([ONE], KEYS) == {ONE: PAGE}
    assert warnings == [DAMAGED]


def test_value_changed_by_another_program_is_found_when_the_database_is_opened(
    database: Path, open_here: Callable[[], Store], warnings: list[str]
) -> None:
    fill(open_here)
    content = database.read_bytes()
    database.write_bytes(content.replace(b'["One"', b'["Two"'))
    assert open_here().facts.missing([ONE], KEYS) == {ONE}
    assert warnings == [DAMAGED]


def test_database_that_was_only_touched_or_copied_is_kept(
    data_dir: Path, database: Path, open_here: Callable[[], Store], warnings: list[str]
) -> None:
    fill(open_here)
    os.utime(database)
    assert open_here().facts.read([ONE], KEYS) == {ONE: PAGE}
    stamp = data_dir / f"{FILE_NAME}-stamp"
    stamp.unlink()
    assert open_here().facts.read([ONE], KEYS) == {ONE: PAGE}
    assert stamp.exists()
    assert warnings == []


def test_session_notices_a_write_by_another_program(database: Path, store: Store) -> None:
    store.facts.save({ONE: PAGE}, KEYS)
    assert store.database.is_known()
    with database.open("r+b") as file:
        file.truncate(4096)
    assert not store.database.is_known()
    with pytest.raises(IndexDamagedError):
        store.database.replace_damaged()
    assert store.database.is_known()


def test_deleted_database_leaves_nothing_behind(
    data_dir: Path, database: Path, open_here: Callable[[], Store]
) -> None:
    save_and_die(data_dir)
    database.unlink()
    store = open_here()
    assert store.facts.missing([ONE], KEYS) == {ONE}
    assert store.path


@on_posix
def test_session_with_the_deleted_database_open_continues(
    open_here: Callable[[], Store], database: Path, warnings: list[str]
) -> None:
    old = open_here()
    database.unlink()
    new = open_here()
    old.facts.save({ONE: PAGE}, KEYS)
    new.facts.save({TWO: PAGE}, KEYS)
    old.close()
    assert new.facts.read([ONE, TWO], KEYS) == {TWO: PAGE}
    new.close()
    assert open_here().facts.read([ONE, TWO], KEYS) == {TWO: PAGE}
    assert warnings == []


@on_posix
def test_processes_that_find_the_same_damage_all_recover(data_dir: Path, database: Path) -> None:
    database.parent.mkdir()
    database.write_bytes(b"no database\n" * 1000)
    program = SAVE + (
        "assert set(store.facts.read(['1' * 40], ('source_refs',))) == {'1' * 40}, 'unsaved'\n"
        "store.close()"
    )
    processes = [run(program, data_dir) for _ in range(6)]
    outputs = [process.communicate(timeout=30)[0] for process in processes]
    assert [process.returncode for process in processes] == [0] * 6
    assert 1 <= "".join(outputs).count(DAMAGED) <= 6
    store = open_store(str(data_dir), pytest.fail)
    assert store.facts.read([ONE], KEYS) == {ONE: PAGE}
    store.close()


@on_posix
def test_symlinked_folder_is_not_followed(
    data_dir: Path, tmp_path: Path, warnings: list[str], open_here: Callable[[], Store]
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    data_dir.symlink_to(outside)
    store = open_here()
    store.facts.save({ONE: PAGE}, KEYS)
    assert store.facts.read([ONE], KEYS) == {ONE: PAGE}
    assert store.path is None
    why = f"{data_dir} is a symbolic link, which is not followed."
    assert warnings == [f"The index is kept in memory only: {why}"]
    assert os.listdir(outside) == []


def test_file_in_place_of_the_folder_is_kept(
    data_dir: Path, warnings: list[str], open_here: Callable[[], Store]
) -> None:
    data_dir.write_text("mine")
    store = open_here()
    store.facts.save({ONE: PAGE}, KEYS)
    assert store.facts.read([ONE], KEYS) == {ONE: PAGE}
    why = f"{data_dir} is a file, not a folder."
    assert warnings == [f"The index is kept in memory only: {why}"]
    assert data_dir.read_text() == "mine"


def test_folder_in_place_of_the_database_is_kept(
    database: Path, open_here: Callable[[], Store]
) -> None:
    database.mkdir(parents=True)
    store = open_here()
    store.facts.save({ONE: PAGE}, KEYS)
    assert store.facts.read([ONE], KEYS) == {ONE: PAGE}
    assert store.path is None
    assert store.database.why_in_memory
    assert os.listdir(database) == []


@on_posix
def test_symlinks_beside_the_database_are_not_written_through(
    data_dir: Path, tmp_path: Path, open_here: Callable[[], Store]
) -> None:
    data_dir.mkdir()
    for name in (f"{FILE_NAME}.new", f"{FILE_NAME}.new-journal", "rebuild.lock"):
        (data_dir / name).symlink_to(tmp_path / "outside")
    open_here().facts.save({ONE: PAGE}, KEYS)
    assert not (tmp_path / "outside").exists()


def test_unwritable_folder_moves_the_index_to_memory(
    tmp_path: Path,
    warnings: list[str],
    open_here: Callable[[], Store],
    make_read_only: Callable[[Path], None],
) -> None:
    make_read_only(tmp_path)
    store = open_here()
    store.facts.save({ONE: PAGE}, KEYS)
    assert store.facts.read([ONE], KEYS) == {ONE: PAGE}
    assert (store.path, warnings) == (None, [])
    assert store.database.why_in_memory
    assert not (tmp_path / "ubp").exists()


def test_read_only_database_is_read(
    data_dir: Path,
    warnings: list[str],
    open_here: Callable[[], Store],
    make_read_only: Callable[[Path], None],
) -> None:
    fill(open_here)
    make_read_only(data_dir)
    store = open_here()
    assert store.facts.read([ONE], KEYS) == {ONE: PAGE}
    store.facts.save({TWO: PAGE}, KEYS)
    assert store.facts.read([ONE, TWO], KEYS) == {ONE: PAGE, TWO: PAGE}
    assert (store.path, warnings) == (None, [])


def test_read_only_database_without_its_log_is_not_trusted(
    data_dir: Path, open_here: Callable[[], Store], make_read_only: Callable[[Path], None]
) -> None:
    save_and_die(data_dir)
    (data_dir / f"{FILE_NAME}-shm").unlink()
    make_read_only(data_dir)
    store = open_here()
    assert store.facts.missing([ONE], KEYS) == {ONE}
    store.facts.save({TWO: PAGE}, KEYS)
    assert store.facts.read([TWO], KEYS) == {TWO: PAGE}


def test_full_disk_moves_the_index_to_memory(
    open_here: Callable[[], Store], warnings: list[str]
) -> None:
    fill(open_here)
    store = open_here()
    (pages,) = store.database.rows("PRAGMA page_count")
    store.database.rows(f"PRAGMA max_page_count = {pages[0]}")
    store.facts.save({TWO: LARGE}, KEYS)
    assert store.facts.read([ONE, TWO], KEYS) == {ONE: PAGE, TWO: LARGE}
    assert (store.path, warnings) == (None, [])
    assert open_here().facts.read([ONE, TWO], KEYS) == {ONE: PAGE}


def test_really_full_disk_moves_the_index_to_memory(
    tmp_path: Path, data_dir: Path, open_here: Callable[[], Store]
) -> None:
    mount = ["mount", "-t", "tmpfs", "-o", "size=300k", "none", str(tmp_path)]
    if not hasattr(os, "geteuid") or os.geteuid():
        pytest.skip("only root can mount")
    if subprocess.run(mount, check=False, capture_output=True).returncode:
        pytest.skip("nothing can be mounted here")
    try:
        store = open_here()
        store.facts.save({ONE: PAGE}, KEYS)
        store.facts.save({TWO: LARGE}, KEYS)
        assert store.facts.read([ONE, TWO], KEYS) == {ONE: PAGE, TWO: LARGE}
        assert store.path is None
        (tmp_path / "filler").write_bytes(b"x" * 50_000)
        (data_dir / FILE_NAME).unlink()
        again = open_here()
        assert again.facts.read([ONE], KEYS) == {}
        again.facts.save({ONE: LARGE}, KEYS)
        assert again.facts.read([ONE], KEYS) == {ONE: LARGE}
        again.close()
        store.close()
    finally:
        subprocess.run(["umount", str(tmp_path)], check=True)


def test_writer_waits_for_another(open_here: Callable[[], Store], database: Path) -> None:
    store = open_here()
    program = (
        "import sqlite3, sys, time\n"
        "c = sqlite3.connect(sys.argv[1], isolation_level=None)\n"
        "c.execute('BEGIN IMMEDIATE'); print('locked', flush=True); sys.stdin.readline()\n"
        "time.sleep(0.3); c.execute('COMMIT'); c.close()"
    )
    other = run(program, database, stdin=subprocess.PIPE)
    assert other.stdin is not None
    assert other.stdout is not None
    assert other.stdout.readline() == "locked\n"
    assert store.facts.missing([ONE], KEYS) == {ONE}  # a reader does not wait
    assert store.path == str(database)
    other.stdin.close()
    store.facts.save({ONE: PAGE}, KEYS)
    assert (other.wait(), store.path) == (0, str(database))
    other.stdout.close()


def test_lock_that_is_never_released_moves_the_index_to_memory(
    open_here: Callable[[], Store], database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(open_here)
    monkeypatch.setattr("ubp.index.store.database.BUSY_SECONDS", 0.05)
    holder = sqlite3.connect(database, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    store = open_here()
    store.facts.save({TWO: PAGE}, KEYS)
    assert store.facts.read([ONE, TWO], KEYS) == {ONE: PAGE, TWO: PAGE}
    assert store.path is None
    holder.close()
    assert open_here().facts.read([ONE, TWO], KEYS) == {ONE: PAGE}


def test_process_killed_while_rebuilding_delays_nobody_for_long(
    data_dir: Path, open_here: Callable[[], Store]
) -> None:
    data_dir.mkdir()
    lock = data_dir / "rebuild.lock"
    lock.touch()
    os.utime(lock, (time.time() - 2 * LOCK_STALE_SECONDS,) * 2)
    assert open_here().path
    assert not lock.exists()


def test_index_is_replaced_right_after_another_process_was_killed_while_rebuilding(
    data_dir: Path, open_here: Callable[[], Store], database: Path
) -> None:
    fill(open_here)
    before = identify(str(database))
    lock = data_dir / "rebuild.lock"
    lock.touch()
    age = LOCK_STALE_SECONDS - 1.3  # older than the second that readers wait, when it is stale
    os.utime(lock, (time.time() - age,) * 2)
    replace_index(str(data_dir))
    assert identify(str(database)) != before


def test_endless_rebuild_costs_a_second_and_moves_the_index_to_memory(
    data_dir: Path, open_here: Callable[[], Store], warnings: list[str]
) -> None:
    data_dir.mkdir()
    (data_dir / "rebuild.lock").touch()
    started = time.monotonic()
    assert open_here().path is None
    assert 0.5 < time.monotonic() - started < 10
    assert warnings == []


def test_database_is_readable_during_an_endless_rebuild(
    data_dir: Path, open_here: Callable[[], Store]
) -> None:
    fill(open_here)
    (data_dir / "rebuild.lock").touch()
    store = open_here()
    assert (store.path, store.facts.read([ONE], KEYS)) == (None, {ONE: PAGE})


def test_locked_database_is_copied_without_waiting(tmp_path: Path) -> None:
    holder = sqlite3.connect(tmp_path / "db", isolation_level=None)
    holder.executescript("CREATE TABLE t (a); BEGIN EXCLUSIVE")
    source = sqlite3.connect(tmp_path / "db", timeout=0.01)
    copy = copy_in_memory(source)
    assert copy.execute("SELECT count(*) FROM facts").fetchone() == (0,)
    for connection in (copy, source, holder):
        connection.close()


def test_damage_in_memory_is_repaired_too(
    open_here: Callable[[], Store],
    database: Path,
    warnings: list[str],
    make_read_only: Callable[[Path], None],
) -> None:
    fill(open_here)
    spoil(database, "facts")
    make_read_only(database.parent)
    store = open_here()
    with pytest.raises(IndexDamagedError):
        store.facts.read([ONE], KEYS)
    again = open_here()  # not with the damaged file
    assert again.facts.read([ONE], KEYS) == {}
    again.facts.save({TWO: PAGE}, KEYS)
    assert again.facts.read([ONE, TWO], KEYS) == {TWO: PAGE}
    assert (again.path, warnings) == (None, [])


def test_interrupted_write_leaves_no_partial_data(store: Store) -> None:
    def save_and_be_interrupted(connection: sqlite3.Connection) -> None:
        connection.execute("INSERT INTO head (\"commit\") VALUES (x'00')")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        store.database.write(save_and_be_interrupted)
    assert store.history.heads() == ()
    store.facts.save({ONE: PAGE}, KEYS)
    assert store.facts.read([ONE], KEYS) == {ONE: PAGE}


def test_closed_store_is_an_error(store: Store) -> None:
    store.close()
    with pytest.raises(sqlite3.ProgrammingError):
        store.history.heads()
