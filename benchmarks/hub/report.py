"""Report on a made-up organisation, and measure the CPU of the program and of its database.

    PYTHONPATH=. python benchmarks/hub/report.py [--repositories 2000] [--pages 125]

By default 2,000 repositories with 250,000 pages and 500,000 references. The rows are written into
the tables (`tests/hub/organisation.py`), which takes minutes and is not counted. Printed are the
CPU seconds of `ubp hub report --html` in this process, those of the database's backend, and the
size of the file; then the same for questions about sources, and what the database needs for
questions about repositories that a reader may not read, which must be what missing ones cost.
"""

import argparse
import os
import random
import resource
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median, quantiles
from typing import TypeVar

from tests.hub.organisation import NOW, Size, fill
from ubp.answers.hub.impact import HubImpactRequest
from ubp.answers.hub.pages import HubPagesRequest, HubStalenessRequest
from ubp.hub import impact, pages
from ubp.hub.database import Connection, Database
from ubp.hub.embedded import run_postgres
from ubp.hub.report import build_report
from ubp.output.html.organisation import organisation_html

T = TypeVar("T")
READER = "github.com/user-1"
ROUNDS = 400


def own_cpu() -> float:
    """Return the CPU seconds of this process."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def backend_cpu(connection: Connection) -> float:
    """Return the CPU seconds of the process that answers a connection."""
    process = connection.info.backend_pid
    fields = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def backend_nanoseconds(connection: Connection) -> int:
    """Return how long the process that answers a connection has run on a processor."""
    process = connection.info.backend_pid
    return int(Path(f"/proc/{process}/schedstat").read_text(encoding="ascii").split()[0])


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
    for reader in ("*", READER):
        measure_report(connection, reader)
    sources = [f"{chance.choice(names)}:src/m1/f01.py" for _ in range(200)]
    measured(
        connection,
        "200 questions about sources of any repository",
        lambda: [impact.run(connection, "*", HubImpactRequest(source)) for source in sources],
    )
    hidden = add_hidden(connection)
    compare_unreadable(connection, hidden, chance)


def add_hidden(connection: Connection) -> list[str]:
    """Add repositories that describe each other and that no reader sees; return their names."""
    connection.execute(_HIDDEN)
    connection.execute("analyze")
    found = connection.execute("select name from repository where name like '%/hidden-%'")
    return [name for (name,) in found.fetchall()]


_HIDDEN = """
create temporary table model as select r.tip as ref from repository r where r.tip is not null
order by (select count(*) from reference x where x.ref = r.tip) desc limit 1;
insert into repository (name)
select 'github.com/acme/hidden-' || n from generate_series(100, 139) n;
create temporary table hidden as select id from repository where name like '%/hidden-%';
insert into ref (repository, name, commit)
select h.id, 'refs/heads/main', m.commit from hidden h, model join ref m on m.id = model.ref;
update repository r set tip = ref.id from ref join hidden h on h.id = ref.repository
where r.id = h.id;
create temporary table tip as select r.id, r.tip from repository r join hidden h using (id);
insert into file (ref, path, piece, digest, oid, changed, changed_at)
select tip, path, piece, digest, oid, changed, changed_at from tip, model join file using (ref);
insert into page (ref, path, level, is_record, owners)
select tip, path, level, is_record, owners from tip, model join page using (ref);
insert into reference (ref, page, number, repository, path, fragment, pin, verdict, level,
    baseline_kind, baseline, current, since, commits, note)
select tip, page, number, 'github.com/acme/hidden-' || 100 + (id + number + length(page)) % 40,
    path, fragment, pin, verdict, level, baseline_kind, baseline, current, since, commits, note
from tip, model join reference using (ref);
"""


def compare_unreadable(connection: Connection, names: list[str], chance: random.Random) -> None:
    """Ask about repositories that a reader may not read, and about missing ones.

    By turns, so that what else the machine does counts for both. A missing one has the name of an
    unreadable one with other last digits.
    """
    pages.list_pages(connection, READER, HubPagesRequest(repository=names[0]))
    for what, ask in (
        ("a source", _ask_impact),
        ("pages", _ask_pages),
        ("staleness", _ask_staleness),
    ):
        taken: tuple[list[float], list[float]] = [], []
        for _ in range(ROUNDS):
            name = chance.choice(names)
            pair = [(0, name), (1, f"{name[:-2]}xx")]
            chance.shuffle(pair)
            for place, asked in pair:
                before = backend_nanoseconds(connection)
                ask(connection, asked)
                taken[place].append((backend_nanoseconds(connection) - before) / 1e6)
        quarters = [quantiles(times, n=4) for times in taken]
        more = median(a - b for a, b in zip(*taken, strict=True))
        print(
            f"{what} of {len(names)} unreadable repositories: median {quarters[0][1]:.3f} ms of"
            f" the database ({quarters[0][0]:.3f} to {quarters[0][2]:.3f}), of missing ones"
            f" {quarters[1][1]:.3f} ({quarters[1][0]:.3f} to {quarters[1][2]:.3f}); median"
            f" difference {more:+.3f} ms, unreadable dearer in"
            f" {sum(a > b for a, b in zip(*taken, strict=True))} of {ROUNDS}"
        )


def _ask_impact(connection: Connection, name: str) -> None:
    impact.run(connection, READER, HubImpactRequest(f"{name}:src/m1/f01.py"))


def _ask_pages(connection: Connection, name: str) -> None:
    pages.list_pages(connection, READER, HubPagesRequest(repository=name))


def _ask_staleness(connection: Connection, name: str) -> None:
    pages.check_staleness(connection, READER, HubStalenessRequest(repository=name))


def measure_report(connection: Connection, reader: str) -> None:
    """Report to a reader."""
    record = measured(
        connection, f"report to {reader}", lambda: build_report(connection, reader, NOW)
    )
    page = measured(connection, "its page", lambda: organisation_html(record, "acme"))
    print(f"{len(page.encode()):,} bytes, {len(record.repositories)} repositories")


if __name__ == "__main__":
    main()
