"""Push real repositories with their texts to a hub, and compare its search with UBP's over SQLite.

    python benchmarks/hub/search.py [--each 20] [--seed 38] REPOSITORY...

REPOSITORY is a clone. Queries of eleven kinds are drawn from the pages (`tests/hub/parity.py`), so
many of each; the answers of all repositories as one must be the same pages in the same order. It
prints the differences, the number of statements of a search, CPU of the client and of PostgreSQL,
and the size of the tables.
"""

import argparse
import os
import random
import resource
import tempfile
import threading
import time
from contextlib import ExitStack
from pathlib import Path
from statistics import median, quantiles

from tests.hub.parity import Oracle, compare, make_queries
from ubp.answers.hub.push import PushRequest
from ubp.hub.api import Hub
from ubp.hub.application import HubServer
from ubp.hub.config import HubConfig
from ubp.hub.database import Database
from ubp.hub.embedded import run_postgres
from ubp.hub.models import HubModel
from ubp.hub.process import Place, listen
from ubp.hub.search import Searcher
from ubp.search.pages import PageQuery
from ubp.workspace import Workspace

TOKEN = "token-of-this-benchmark"
SHOWN = 5
TABLES = ("chunk", "text", "file", "page")


def cpu() -> float:
    """Return the CPU seconds of this process."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def cpu_of(process: int) -> float:
    """Return the CPU seconds of another process."""
    fields = Path(f"/proc/{process}/stat").read_text("ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def push(clone: Path, name: str, url: str) -> None:
    """Push a clone with its texts, twice."""
    environment = {**os.environ, "UBP_HUB_TOKEN": TOKEN}
    for _ in range(2):
        start, began = cpu(), time.monotonic()
        with Workspace.open(str(clone), environment=environment) as workspace:
            request = PushRequest(to=url, repository=name, ref="refs/heads/main", texts=True)
            record = workspace.ask(request)
        print(
            f"{clone.name}: {record.outcome}, {record.pages} pages, {record.sent_texts} texts,"
            f" {cpu() - start:.1f} CPU s of client and hub, {time.monotonic() - began:.1f} s",
            flush=True,
        )


def report_parity(
    oracle: Oracle, database: Database, searcher: Searcher, options: argparse.Namespace
) -> None:
    """Compare the answers, and print what differs."""
    for mode in ("fulltext", "semantic", "hybrid"):
        queries = make_queries(oracle, options.each, options.seed)
        parity = compare(oracle, database, searcher, queries, mode)
        total, same = sum(parity.asked.values()), sum(parity.same.values())
        first = sum(parity.same_first.values())
        print(f"{mode}: {same} of {total} the same ({parity.share:.4f}), first page of {first}")
        for kind, asked in parity.asked.items():
            if parity.same[kind] < asked:
                print(f"  {kind}: {parity.same[kind]} of {asked}")
        print("  statements of a search:", dict(sorted(parity.statements.items())), flush=True)
        for kind, text, expected, found in parity.different[:SHOWN]:
            pairs = enumerate(zip(expected, found, strict=False))
            place = next((n for n, pair in pairs if pair[0] != pair[1]), len(found))
            print(f"    {kind}: {text!r} from place {place + 1}")


def report_speed(
    oracle: Oracle, database: Database, searcher: Searcher, options: argparse.Namespace
) -> None:
    """Print what a search costs: headings as questions, the process warm."""
    queries = [
        text for kind, text in make_queries(oracle, 40, options.seed + 1) if kind == "heading"
    ]
    random.Random(options.seed).shuffle(queries)
    client, server, wall = [], [], []
    with database.connection() as connection:
        process = connection.info.backend_pid
        for text in queries:
            before = cpu(), cpu_of(process), time.perf_counter()
            organisation = searcher.open(connection, "*")
            searcher.find(organisation, PageQuery(text))
            client.append(cpu() - before[0])
            server.append(cpu_of(process) - before[1])
            wall.append(time.perf_counter() - before[2])
    for name, seconds in (("client CPU", client), ("PostgreSQL CPU", server), ("wall", wall)):
        milliseconds = [1000 * value for value in seconds]
        p95 = quantiles(milliseconds, n=20)[-1]
        print(
            f"{name}: median {median(milliseconds):.0f} ms, p95 {p95:.0f} ms, mean"
            f" {sum(milliseconds) / len(milliseconds):.0f} ms of {len(milliseconds)} searches"
        )


def report_sizes(database: Database, searcher: Searcher) -> None:
    """Print the size of the tables and of the mirror."""
    with database.connection() as connection:
        ((chunks, pages),) = connection.execute(
            "select (select count(*) from chunk), (select count(*) from text)"
        ).fetchall()
        sizes = {
            table: connection.execute("select pg_total_relation_size(%s)", [table]).fetchone()[0]
            for table in TABLES
        }
    print(
        f"{pages} texts, {chunks} chunks;",
        ", ".join(f"{table} {size / 2**20:.0f} MB" for table, size in sizes.items()),
    )
    chunks = searcher.mirror.chunks
    print(f"mirror: {len(chunks)} chunks, {chunks.nbytes / 2**20:.0f} MB")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
    print(f"peak memory of this process: {peak} MB")


def main() -> None:
    """Push and compare."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("repositories", nargs="+", type=Path)
    parser.add_argument("--each", type=int, default=20)
    parser.add_argument("--seed", type=int, default=38)
    options = parser.parse_args()
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="ubp-hub-"))
        os.chmod(folder, 0o711)
        address = stack.enter_context(run_postgres(folder))
        database = stack.enter_context(Database.open(address))
        database.migrate()
        listener = stack.enter_context(listen(Place("127.0.0.1", 0)))
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        hub = Hub(database, HubConfig(url=url, development_token=TOKEN))
        server = HubServer(hub)
        thread = threading.Thread(target=server.serve, args=(listener,))
        thread.start()
        stack.callback(thread.join)
        stack.callback(server.end)
        clones = {f"github.com/bench/r{n}": clone for n, clone in enumerate(options.repositories)}
        for name, clone in clones.items():
            push(clone, name, url)
        with database.connection() as connection:
            connection.execute("analyze")
        searcher = Searcher(HubModel())
        oracle = Oracle(stack, clones)
        report_parity(oracle, database, searcher, options)
        report_speed(oracle, database, searcher, options)
        report_sizes(database, searcher)


if __name__ == "__main__":
    main()
