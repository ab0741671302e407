"""Fill a hub's database with the real pages of many repositories, up to a number of sections.

    PYTHONPATH=. python benchmarks/hub/load.py DATA --sections 1000000 MIRROR...

DATA is a folder for PostgreSQL's files. The pages of each mirror are cut in path order into
repositories of 100 pages, and all of these are pushed in a random order by the functions that take
pushes. Repositories that are there already are skipped, so a second run continues the first one.
`--versions 3` adds the pages of two older commits under other names. The indexes of words are built
at the end, which costs less than to keep them up to date. Only pages are on the boards: no source
is parsed.
"""

import argparse
import os
import posixpath
import random
import re
import subprocess
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from ubp.board.model import Board, BoardEdge, BoardFile, BoardPage
from ubp.board.wire import Manifest, cut
from ubp.core.model import FilePath, ObjectId
from ubp.core.paths import PAGE_SUFFIXES
from ubp.hub.database import Connection, Database
from ubp.hub.embedded import run_postgres
from ubp.hub.models import bundled_model
from ubp.hub.read_text import ReadText, read_texts
from ubp.hub.store_push import take_push, take_upload
from ubp.hub.store_texts import TextPush, stage_texts, take_texts

REF = "refs/heads/main"
PAGES = 100  # of a repository
MAX_PAGE_BYTES = 1 << 20
LINK = re.compile(r"\]\((?!\w+:|/|#)([^)#\s]+)")
# A quarter of a machine with 8 GB. A load that a crash ends is repeated.
SETTINGS = {
    "shared_buffers": "2GB",
    "effective_cache_size": "5GB",
    "work_mem": "32MB",
    "maintenance_work_mem": "1GB",
    "max_wal_size": "8GB",
    "random_page_cost": "1.1",
}
LOAD_SETTINGS = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}
WORDS = ("chunk_words", "chunk_stems")  # the indexes that are built at the end


class Part(NamedTuple):
    """A hundred pages of a commit: a repository of the hub. `pages` are paths and blobs."""

    mirror: str
    name: str
    commit: str
    time: int
    pages: tuple[tuple[str, str], ...]


class ReadPart(NamedTuple):
    """A part as it is stored."""

    part: Part
    files: tuple[BoardFile, ...]
    texts: tuple[ReadText, ...]


def git(mirror: str, *words: str, given: bytes | None = None) -> bytes:
    """Return what git prints."""
    command = ["git", "-C", mirror, *words]
    return subprocess.run(command, check=True, capture_output=True, input=given).stdout


def parts_of(mirror: Path, versions: int) -> Iterator[Part]:
    """Yield the parts of a mirror's newest commit, and of older ones at equal distances."""
    listed = git(str(mirror), "log", "--first-parent", "--format=%H %ct", "HEAD").decode()
    commits = [line.split() for line in listed.splitlines()]
    project = mirror.parent.name if mirror.name == "repo" else mirror.name
    owner, _, short = project.partition("+")
    for version in range(versions):
        commit, seconds = commits[len(commits) * version // versions]
        rows = git(str(mirror), "ls-tree", "-r", "-l", "-z", commit).decode("utf-8", "ignore")
        pages = []
        for row in rows.split("\0")[:-1]:
            about, path = row.split("\t", 1)
            _, kind, blob, size = about.split()
            is_page = kind == "blob" and path.lower().endswith(PAGE_SUFFIXES)
            if is_page and 0 < int(size) <= MAX_PAGE_BYTES:
                pages.append((path, blob))
        for number, start in enumerate(range(0, len(pages), PAGES)):
            name = f"github.com/{owner}/{short or owner}-{version}-{number}"
            chosen = tuple(pages[start : start + PAGES])
            yield Part(str(mirror), name, commit, int(seconds), chosen)


_model = bundled_model()


def read_part(part: Part) -> ReadPart:
    """Read the pages of a part, as the hub does; in a process of its own."""
    wanted = "\n".join(blob for _, blob in part.pages).encode()
    output = git(part.mirror, "cat-file", "--batch", given=wanted)
    texts: dict[ObjectId, bytes] = {}
    start = 0
    while start < len(output):
        end = output.index(b"\n", start)
        blob, _, size = output[start:end].decode().split()
        texts[ObjectId(blob)] = output[end + 1 : end + 1 + int(size)]
        start = end + 2 + int(size)
    known = {path for path, _ in part.pages}
    files = []
    for path, blob in part.pages:
        written = LINK.findall(texts[ObjectId(blob)].decode("utf-8", "replace"))
        folder = posixpath.dirname(path)
        found = Counter(posixpath.normpath(posixpath.join(folder, link)) for link in written)
        edges = tuple(
            BoardEdge(FilePath(target), "references", count)
            for target, count in sorted(found.items())
            if target in known
        )
        page = BoardPage("untracked", is_record=False, owners=(), references=(), edges=edges)
        file = BoardFile(FilePath(path), ObjectId(blob), ObjectId(part.commit), part.time, page)
        files.append(file)
    return ReadPart(part, tuple(files), read_texts(texts, _model))


def store_part(connection: Connection, read: ReadPart, model: bytes | None) -> int:
    """Push a part, and return the number of its sections."""
    part = read.part
    pieces = cut(Board(ObjectId(part.commit), read.files))
    manifest = Manifest(part.name, REF, ObjectId(part.commit), None, 0, tuple(pieces), {})
    take_upload(connection, part.name, list(pieces.values()), ())
    take_push(connection, manifest)
    found = connection.execute("select id from repository where name = %s", [part.name]).fetchone()
    assert found is not None
    stage_texts(connection, found[0], read.texts, model)
    take_texts(connection, TextPush(found[0], REF, "all", is_new=True), model)
    connection.execute("delete from upload where repository = %s", [found[0]])
    return sum(len(text.chunks) for text in read.texts)


@contextmanager
def without_word_indexes(database: Database) -> Iterator[None]:
    """Drop the indexes of words, and build them again in the end."""
    with database.connection() as connection:
        rows = connection.execute(
            "select indexname, indexdef from pg_indexes where indexname = any(%s)", [list(WORDS)]
        ).fetchall()
        for name, _ in rows:
            connection.execute(f"drop index {name}")
    try:
        yield
    finally:
        with database.connection() as connection:
            connection.execute("set local statement_timeout = 0")
            for name, definition in rows:
                start = time.monotonic()
                connection.execute(definition)
                print(f"{name}: built in {time.monotonic() - start:.0f} s", flush=True)


def load(database: Database, parts: Sequence[Part], options: argparse.Namespace) -> None:
    """Read parts in processes and store them, until the hub has enough sections."""
    processes, sections = options.processes, options.sections
    model = _model and _model.fingerprint
    start = time.monotonic()
    with database.connection() as connection:
        rows = connection.execute("select name from repository").fetchall()
        ((total,),) = connection.execute("select count(*) from chunk").fetchall()
    known = {name for (name,) in rows}
    waiting = [part for part in reversed(parts) if part.name not in known]
    running: set[Future[ReadPart]] = set()
    stored = 0
    with ProcessPoolExecutor(processes) as pool:
        while total < sections and (waiting or running):
            if time.monotonic() - start > 60 * options.minutes:
                waiting.clear()
            while waiting and len(running) < 2 * processes:
                running.add(pool.submit(read_part, waiting.pop()))
            done, running = wait(running, return_when=FIRST_COMPLETED)
            for future in done:
                with database.connection() as connection:
                    total += store_part(connection, future.result(), model)
                stored += 1
                if stored % 50 == 0:
                    seconds = time.monotonic() - start
                    print(f"{stored} repositories, {total} sections, {seconds:.0f} s", flush=True)


def main() -> None:
    """Load."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("mirrors", nargs="+", type=Path)
    parser.add_argument("--sections", type=int, default=100_000)
    parser.add_argument("--minutes", type=float, default=600, help="stop reading after this time")
    parser.add_argument("--versions", type=int, default=1)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--seed", type=int, default=38)
    options = parser.parse_args()
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    parts = [part for mirror in options.mirrors for part in parts_of(mirror, options.versions)]
    random.Random(options.seed).shuffle(parts)
    print(f"{len(parts)} repositories with {sum(len(part.pages) for part in parts)} pages")
    with (
        run_postgres(str(options.data), settings={**SETTINGS, **LOAD_SETTINGS}) as address,
        Database.open(address) as database,
    ):
        database.migrate()
        with without_word_indexes(database):
            load(database, parts, options)
        with database.connection() as connection:
            connection.execute("set local statement_timeout = 0")
            connection.execute("analyze")
            rows = connection.execute(
                "select count(*), count(distinct vector), count(distinct repository) from chunk"
            ).fetchall()
        sections, different, repositories = rows[0]
        print(f"{sections} sections ({different} different vectors), {repositories} repositories")


if __name__ == "__main__":
    main()
