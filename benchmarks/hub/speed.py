"""Measure searches in a hub's database that `load.py` has filled, for readers of a part of it.

    PYTHONPATH=. python benchmarks/hub/speed.py DATA [--searches 200] [--rate 5] [--warm 100]

Questions are headings of pages drawn at random. For readers of all, 15 %, 10 % and 1 % of the
repositories, it asks at a fixed rate and prints the time from the moment of asking, the CPU of
this process and of all of PostgreSQL's, the statements of a search, and how many of the ten nearest
vectors are those that a comparison with every vector of the table finds.
"""

import argparse
import os
import random
import resource
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import median, quantiles

import numpy as np

from benchmarks.hub.load import SETTINGS
from ubp.answers.hub.search import HubSearchRequest
from ubp.hub.database import Database
from ubp.hub.embedded import run_postgres
from ubp.hub.models import HubModel
from ubp.hub.search import Searcher
from ubp.hub.vectors import nearest
from ubp.index.embed.protocol import EmbeddingModel
from ubp.index.store.codec import unpack_sections
from ubp.search.pages import PageQuery

SHARES = {"*": 1.0, "github.com/p15": 0.15, "github.com/p10": 0.10, "github.com/p1": 0.01}
THREADS = 4
BLOCK = 16_384
NEAREST = 10
TICK = os.sysconf("SC_CLK_TCK")
SAME = 1e-5  # cosines of float32 that are equal


def cpu() -> float:
    """Return the CPU seconds of this process."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def memory() -> int:
    """Return the megabytes that this process has in memory."""
    lines = Path("/proc/self/status").read_text("ascii").splitlines()
    return next(int(line.split()[1]) >> 10 for line in lines if line.startswith("VmRSS"))


def cpu_of_postgres(main: int) -> float:
    """Return the CPU seconds of PostgreSQL: its main process, and all that this has started."""
    ticks = 0
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit():
            continue
        try:
            line = (folder / "stat").read_text("ascii", "replace")
        except OSError:
            continue
        fields = line.rpartition(")")[2].split()
        if int(folder.name) == main:
            ticks += sum(map(int, fields[11:15]))
        elif int(fields[1]) == main:
            ticks += int(fields[11]) + int(fields[12])
    return ticks / TICK


def grant_parts(database: Database, seed: int) -> None:
    """Let each reader read its share of the repositories, drawn at random."""
    chance = random.Random(seed)
    with database.connection() as connection:
        rows = connection.execute("select id from repository order by id").fetchall()
        connection.execute("delete from grants where source = 'benchmark'")
        for reader, share in SHARES.items():
            chosen = chance.sample(rows, max(1, round(share * len(rows)))) if share < 1 else []
            connection.execute(
                "insert into grants (repository, reader, source)"
                " select given, %s, 'benchmark' from unnest(%s::int[]) as given",
                [reader, [number for (number,) in chosen]],
            )


def draw_questions(database: Database, number: int, seed: int) -> list[str]:
    """Return headings of pages drawn at random, each once."""
    with database.connection() as connection:
        rows = connection.execute(
            "select sections from text where chunks <> '[]'"
            " order by md5(blob || %s::bytea) limit %s",
            [str(seed).encode(), 2 * number],
        ).fetchall()
    chance = random.Random(seed)
    found: dict[str, None] = {}
    for (text,) in rows:
        headings = [part.heading for part in unpack_sections(text) if part.heading]
        if headings:
            found[chance.choice(headings)] = None
    return list(found)[:number]


def ask_at_rate(ask: Callable[[str], None], questions: list[str], rate: float) -> list[float]:
    """Ask at a rate per second, and return the seconds from the moment each answer was due."""
    start = time.perf_counter() + 0.1

    def run(due: float, question: str) -> float:
        ask(question)
        return time.perf_counter() - due

    futures = []
    with ThreadPoolExecutor(THREADS) as pool:
        for number, question in enumerate(questions):
            due = start + number / rate
            time.sleep(max(0.0, due - time.perf_counter()))
            futures.append(pool.submit(run, due, question))
        return [future.result() for future in futures]


def count_statements(
    database: Database, searcher: Searcher, reader: str, request: HubSearchRequest
) -> int:
    """Return how many statements a search takes."""
    with database.connection() as connection:
        organisation = searcher.open(connection, reader)
        searcher.find(organisation, PageQuery(request.query, request.mode, request.limit))
    return organisation.statements + 1


def recall(
    database: Database,
    searcher: Searcher,
    model: EmbeddingModel,
    reader: str,
    questions: list[str],
) -> float:
    """Return the share of the nearest vectors of the table that a search by meaning finds."""
    with database.connection() as connection:
        organisation = searcher.open(connection, reader)
        rows = connection.execute(
            "select vector from chunk where repository = any(%s) and vector is not null",
            [list(organisation.tips.by_id)],
        ).fetchall()
    vectors = np.frombuffer(b"".join(bytes(row[0]) for row in rows), dtype=np.int8)
    vectors = vectors.reshape(len(rows), -1)
    lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors, dtype=np.int64))
    found = possible = 0
    for question in questions:
        query = model.encode_query(question)
        if not query.rows.any():
            continue
        cosines = np.concatenate(
            [vectors[part] @ query.rows[0].astype(np.float64) for part in _blocks(len(vectors))]
        ) / np.maximum(lengths, 1)
        least = np.sort(cosines[lengths > 0])[-NEAREST:][0]
        hits = nearest(organisation.tips.chunks, query, NEAREST)
        found += sum(hit.score >= least - SAME for hit in hits)
        possible += min(NEAREST, int((lengths > 0).sum()))
    return found / possible


def _blocks(size: int) -> Iterator[slice]:
    for start in range(0, size, BLOCK):
        yield slice(start, start + BLOCK)


def report(database: Database, main: int, options: argparse.Namespace) -> None:
    """Print what searches cost for each reader."""
    start, before = time.monotonic(), cpu()
    chosen = HubModel()
    searcher = Searcher(chosen)
    with database.connection() as connection:
        model = chosen.get(connection)
        searcher.open(connection, "*")
    assert model is not None
    chunks = searcher.mirror.chunks
    print(
        f"mirror: {len(chunks)} chunks, {chunks.nbytes >> 20} MB, read in"
        f" {time.monotonic() - start:.0f} s ({cpu() - before:.0f} CPU s);"
        f" process {memory()} MB",
        flush=True,
    )
    # Pages have headings in common: four pages give about one question.
    questions = draw_questions(database, 4 * (options.warm + options.searches), options.seed)
    warm, asked = questions[: options.warm], questions[options.warm :][: options.searches]
    for reader, share in SHARES.items():

        def ask(question: str, reader: str = reader) -> None:
            with database.connection() as connection:
                searcher.search(connection, reader, HubSearchRequest(query=question))

        first = [1000 * seconds for seconds in ask_at_rate(ask, warm, options.rate)]
        before, server = cpu(), cpu_of_postgres(main)
        milliseconds = [1000 * seconds for seconds in ask_at_rate(ask, asked, options.rate)]
        client = 1000 * (cpu() - before) / len(asked)
        server = 1000 * (cpu_of_postgres(main) - server) / len(asked)
        used = memory()  # before all vectors are read again to compare
        statements = Counter(
            count_statements(database, searcher, reader, HubSearchRequest(query=question))
            for question in asked[: options.checked]
        )
        near = recall(database, searcher, model, reader, asked[: options.checked])
        print(
            f"reader of {share:.0%}: {len(asked)} searches, {options.rate:g} a second:"
            f" median {median(milliseconds):.0f} ms, p95 {quantiles(milliseconds, n=20)[-1]:.0f},"
            f" longest {max(milliseconds):.0f} (before, with less in memory: median"
            f" {median(first):.0f}, p95 {quantiles(first, n=20)[-1]:.0f}); CPU of a search"
            f" {client:.0f} ms here, {server:.0f} in PostgreSQL; process {used} MB;"
            f" at most {max(statements)} statements;"
            f" recall of meaning {near:.4f}",
            flush=True,
        )
    print(f"load of the machine {os.getloadavg()[0]:.1f}")


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--searches", type=int, default=200)
    parser.add_argument("--rate", type=float, default=5)
    parser.add_argument("--warm", type=int, default=100, help="other searches before")
    parser.add_argument("--checked", type=int, default=20, help="by statements and recall")
    parser.add_argument("--seed", type=int, default=38)
    options = parser.parse_args()
    with (
        run_postgres(str(options.data), settings=SETTINGS) as address,
        Database.open(address) as database,
    ):
        grant_parts(database, options.seed)
        process = (options.data / "postgresql" / "postmaster.pid").read_text().splitlines()[0]
        report(database, int(process), options)


if __name__ == "__main__":
    main()
