"""Report on a made-up organisation, and measure the CPU of the program and of its database.

    PYTHONPATH=. python benchmarks/hub/report.py [--repositories 2000] [--pages 125]

By default 2,000 repositories with 250,000 pages and 500,000 references. The rows are written into
the tables (`tests/hub/organisation.py`), which takes minutes and is not counted. Printed are the
CPU seconds of `ubp hub report --html` in this process, those of the database's backend, and the
size of the file; then the same for questions about sources: of any repository, and of those that
a reader may not read, which must cost what missing ones cost.
"""

import argparse
import os
import random
import resource
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from tests.hub.organisation import NOW, Size, fill
from ubp.answers.hub.impact import HubImpactRequest
from ubp.hub import impact
from ubp.hub.database import Connection, Database
from ubp.hub.embedded import run_postgres
from ubp.hub.report import build_report
from ubp.output.html.organisation import organisation_html

T = TypeVar("T")


def own_cpu() -> float:
    """Return the CPU seconds of this process."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def backend_cpu(connection: Connection) -> float:
    """Return the CPU seconds of the process that answers a connection."""
    process = connection.info.backend_pid
    fields = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def measured(connection: Connection, name: str, run: Callable[[], T]) -> T:
    """Run something, and print how much CPU it took here and in the database."""
    before = own_cpu(), backend_cpu(connection), time.monotonic()
    result = run()
    after = own_cpu(), backend_cpu(connection), time.monotonic()
    own, backend, wall = (later - earlier for later, earlier in zip(after, before, strict=True))
    print(f"{name}: {own:.2f} CPU s here, {backend:.2f} in the database, {wall:.1f} s in all")
    return result


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repositories", type=int, default=2_000)
    parser.add_argument("--pages", type=int, default=125)
    parser.add_argument("--references", type=int, default=2)
    parser.add_argument("--seed", type=int, default=34)
    options = parser.parse_args()
    size = Size(options.repositories, options.pages, references=options.references)
    with tempfile.TemporaryDirectory(prefix="ubp-hub-") as folder:
        os.chmod(folder, 0o711)
        with run_postgres(folder) as address, Database.open(address) as database:
            database.migrate()
            with database.connection() as connection:
                names = fill(connection, size, options.seed)
            with database.connection() as connection:
                connection.execute("set local statement_timeout = 0")
                measure(connection, names, random.Random(options.seed))


def measure(connection: Connection, names: list[str], chance: random.Random) -> None:
    """Report to everybody and to a reader of some, and ask about sources."""
    counted = connection.execute(
        "select (select count(*) from page), (select count(*) from reference)"
    ).fetchone()
    print(f"{len(names)} repositories, {counted} pages and references")
    for reader in ("*", "github.com/user-1"):
        measure_report(connection, reader)
    readable = connection.execute(
        "select r.name from repository r join readable('github.com/user-1') v"
        " on v.repository = r.id"
    ).fetchall()
    unreadable = sorted({*names} - {name for (name,) in readable})
    missing = [f"{name}-missing" for name in unreadable]
    for reader, what, chosen in (
        ("*", "any repository", names),
        ("github.com/user-1", "unreadable repositories", unreadable),
        ("github.com/user-1", "missing repositories", missing),
    ):
        sources = [f"{chance.choice(chosen)}:src/m1/f01.py" for _ in range(200)]
        measured(
            connection,
            f"200 questions about sources of {what}",
            lambda reader=reader, sources=sources: [  # type: ignore[misc]
                impact.run(connection, reader, HubImpactRequest(source)) for source in sources
            ],
        )


def measure_report(connection: Connection, reader: str) -> None:
    """Report to a reader."""
    record = measured(
        connection, f"report to {reader}", lambda: build_report(connection, reader, NOW)
    )
    page = measured(connection, "its page", lambda: organisation_html(record, "acme"))
    print(f"{len(page.encode()):,} bytes, {len(record.repositories)} repositories")


if __name__ == "__main__":
    main()
