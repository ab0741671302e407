"""Answers over all repositories: by an oracle of what a reader may see, and by brute force."""

import random
from collections import Counter, defaultdict
from datetime import UTC, datetime

import pytest

from tests.hub.organisation import NOW, Size, fill
from ubp.__main__ import main
from ubp.answers.hub.impact import HubImpactRequest
from ubp.answers.hub.pages import HubPagesRequest, HubStalenessRequest
from ubp.answers.hub.report import text
from ubp.answers.hub.review import HubReviewRequest
from ubp.core.errors import BadArgumentError
from ubp.frame.encoding import to_object
from ubp.frame.writer import Writer
from ubp.hub import impact, pages, review
from ubp.hub.report import build_report
from ubp.hub.repositories import identify
from ubp.output.html.organisation import organisation_html

READERS = ["nobody", *(f"github.com/user-{number}" for number in range(7)), "job:x", "ci:x"]
CALLS = 200
MANY_CALLS = 10_000
REPORTS = 0.05  # of the calls: each has ten statements


@pytest.fixture
def connection(database):
    with database.connection() as opened:
        yield opened


def random_call(chance, names):
    """Return the name of a random question, and a function that asks it for a reader."""
    name, path = chance.choice(names), f"src/m{chance.randrange(5)}/f{chance.randrange(12):02}.py"
    source = chance.choice([name, f"{name}:{path}", f"{name}:src", f"{name}:{path}#Session"])
    run, request = chance.choice(
        [
            (impact.run, HubImpactRequest(source, limit=chance.choice([3, 100]))),
            (pages.list_pages, HubPagesRequest(limit=7, after=chance.choice([None, "5"]))),
            (pages.list_pages, HubPagesRequest(repository=name, owner="@acme/team-1")),
            (pages.check_staleness, HubStalenessRequest(owner=chance.choice([None, "none"]))),
            (pages.check_staleness, HubStalenessRequest(repository=name, limit=5)),
            (review.run, HubReviewRequest(name, (path, "src/m1/f01.py#charge"))),
        ]
    )
    if chance.random() < REPORTS:
        run, request = report, None

    def ask(opened, reader):
        try:
            return to_object(run(opened, reader, request))
        except BadArgumentError as error:  # of a repository that the reader may not see
            return error.message

    return f"{run.__name__} {request}", ask


def report(opened, reader, _):
    return build_report(opened, reader, NOW)


def readable(connection, reader):
    rows = connection.execute("select repository from readable(%s)", [reader])
    return frozenset(number for (number,) in rows)


def grant_anew(connection, chance):
    """Give each reader other repositories, and each repository another visibility."""
    connection.execute("delete from grants")
    for (number,) in connection.execute("select id from repository").fetchall():
        visibility = chance.choice(["public", "private", "private", "internal"])
        readers = [reader for reader in READERS[1:] if chance.random() < 0.3]
        connection.execute(
            "update repository set visibility = %s, removed_at = %s where id = %s",
            [visibility, NOW if chance.random() < 0.1 else None, number],
        )
        connection.execute(
            "insert into grants (repository, reader) select %s, unnest(%s::text[])",
            [number, readers],
        )


def ask_and_compare(connection, chance, names, calls):
    """Ask in the names of readers, and the same of a hub that has nothing else than they see."""
    by_sight = defaultdict(list)
    sight = {reader: readable(connection, reader) for reader in READERS}
    for _ in range(calls):
        reader = chance.choice(READERS)
        name, call = random_call(chance, names)
        by_sight[sight[reader]].append((name, call, call(connection, reader)))
    for visible, asked in by_sight.items():
        connection.execute("savepoint all_of_it")
        connection.execute("delete from repository where not id = any(%s)", [list(visible)])
        expected = {}
        for name, call, given in asked:
            if name not in expected:
                expected[name] = call(connection, "*")
            assert given == expected[name], name
        connection.execute("rollback to savepoint all_of_it")
    return len(by_sight)


def test_an_answer_is_that_of_a_hub_which_has_nothing_else(connection):
    names, chance = fill(connection), random.Random(7)
    assert ask_and_compare(connection, chance, names, CALLS) > 5


def test_report_for_a_reader_who_may_see_nothing_is_refused(
    database, database_address, monkeypatch, capsys
):
    with database.connection() as connection:
        fill(connection, Size(2, 2, 2, 1))
        connection.execute("update repository set visibility = 'private'")
        connection.execute("delete from grants")
        connection.execute("insert into grants select id, 'github.com/ann' from repository")
    monkeypatch.setenv("UBP_HUB_DATABASE", database_address)
    assert main(["hub", "report", "--reader", "github.com/ann"]) == 0
    assert " in 0 repositories" not in capsys.readouterr().out
    assert main(["hub", "report", "--reader", "ann"]) == 2
    assert "ann may see no repository of this hub." in capsys.readouterr().err


@pytest.mark.slow
def test_ten_thousand_answers_are_those_of_hubs_which_have_nothing_else(connection):
    names, chance = fill(connection, Size(8, 6, 12, 2)), random.Random(8)
    connection.execute("set local statement_timeout = 0")
    calls = seen = 0
    while calls < MANY_CALLS:
        grant_anew(connection, chance)
        seen += ask_and_compare(connection, chance, names, MANY_CALLS // 10)
        calls += MANY_CALLS // 10
    assert seen > 50


def test_impact_is_that_of_brute_force(connection):
    names, chance = fill(connection, Size(6, 20, 12, 3)), random.Random(3)
    rows = connection.execute(
        "select r.name, x.page, x.number, case x.repository when '' then r.name"
        " else x.repository end, x.path, x.fragment from reference x"
        " join repository r on r.tip = x.ref order by 1, 2, 3"
    ).fetchall()
    found = 0
    for _ in range(500):
        name = chance.choice(names)
        path = chance.choice(["", "src", f"src/m{chance.randrange(5)}", "src/nothing.py"])
        if chance.random() < 0.6:
            number = chance.randrange(12)
            path = f"src/m{number % 5}/f{number:02}.py"
        symbol = chance.choice(["", "", "charge", "Session", "login"]) if ".py" in path else ""
        expected = [
            (repository, page, f"{source}#{fragment}" if fragment else source)
            for repository, page, _, target, source, fragment in rows
            if target == name and shares(source, fragment, path, symbol)
        ]
        asked = f"{name}:{path}#{symbol}" if symbol else f"{name}:{path}" if path else name
        answer = impact.run(connection, "*", HubImpactRequest(asked, limit=1000))
        pages_found = [
            (page.repository, page.filepath, page.source.removeprefix(f"{name}:"))
            for page in answer.pages
        ]
        assert pages_found == expected, asked
        found += len(expected)
    assert found > 1000


def shares(source, fragment, path, symbol):
    """Whether two sources have something in common, said another way than the hub does."""
    one, other = source.split("/"), path.split("/") if path else []
    length = min(len(one), len(other))
    if one[:length] != other[:length]:
        return False
    related = {"": True, "charge": fragment == "charge", "Session": "Session" in fragment}
    return not (symbol and fragment) or related.get(symbol, fragment.endswith("login"))


def test_months_are_those_that_the_events_lead_to(connection):
    fill(connection)
    events = connection.execute(
        "select e.at, e.ref, e.path, e.after from event e order by e.at, e.id"
    ).fetchall()
    report = build_report(connection, "*", NOW)
    assert [month.month for month in report.months][::11] == ["2025-12", "2026-11"]
    for month in report.months:
        year, number = map(int, month.month.split("-"))
        end = datetime(year + number // 12, number % 12 + 1, 1, tzinfo=UTC)
        levels = {(ref, path): after for at, ref, path, after in events if at < end}
        assert to_object(month.levels, is_versioned=False) == counted(levels.values())
    assert report.months[-1].levels == report.levels
    assert report.months[0].levels != report.levels


def counted(levels):
    counts = Counter(levels)
    names = ("stale", "possibly_stale", "unknown", "fresh", "untracked")
    return {name: counts[name] for name in names}


def test_archived_removed_and_renamed_repositories_are_counted_once(connection):
    names, new = fill(connection), "github.com/acme/new"
    before = build_report(connection, "*", NOW)
    connection.execute("update repository set archived = true where name = %s", [names[0]])
    connection.execute("update repository set forge_id = '7' where name = %s", [names[1]])
    identify(connection, new, "7")
    connection.execute("update repository set removed_at = now() where name = %s", [names[3]])
    after = build_report(connection, "*", NOW)
    rows = {row.repository: row for row in after.repositories}
    assert rows[names[0]].is_archived
    assert names[1] not in rows
    assert new in rows
    assert names[3] not in rows
    gone = [row for row in before.repositories if row.repository in {names[0], names[3]}]
    expected = before.levels.fresh - sum(row.levels.fresh for row in gone)
    assert after.levels.fresh == expected
    by_old_name = impact.run(connection, "*", HubImpactRequest(f"{names[1]}:src"))
    by_new_name = impact.run(connection, "*", HubImpactRequest(f"{new}:src"))
    assert by_old_name == by_new_name
    assert {page.source.partition(":")[0] for page in by_new_name.pages} >= {new}


@pytest.mark.parametrize("after", ["zzz", "", "-1", "9" * 5_000, "1000000"])
def test_list_that_goes_on_nowhere_is_an_error(connection, after):
    fill(connection)
    with pytest.raises(BadArgumentError) as raised:
        pages.list_pages(connection, "*", HubPagesRequest(after=after))
    assert raised.value.argument == "after"
    assert raised.value.message.startswith("Invalid `after`")


def test_list_goes_on_where_the_answer_before_ended(connection):
    fill(connection)
    first = pages.list_pages(connection, "*", HubPagesRequest(limit=3))
    rest = pages.list_pages(connection, "*", HubPagesRequest(after=first.next_after, limit=1_000))
    assert rest.total == first.total == 3 + len(rest.pages)
    assert rest.next_after is None


def test_owners_and_totals_are_those_of_the_pages(connection):
    fill(connection)
    report = build_report(connection, "*", NOW)
    rows = connection.execute("select owners, level from page").fetchall()
    expected = {
        owner: counted(level for owners, level in rows if owner in (owners or [None]))
        for owner in {name for owners, _ in rows for name in owners or [None]}
    }
    found = {row.owner: to_object(row.levels, is_versioned=False) for row in report.owners}
    assert found == expected
    assert to_object(report.levels, is_versioned=False) == counted(level for _, level in rows)
    assert len(report.pages) + report.hidden_pages == len(
        {(page.repository, page.filepath) for page in report.pages}
    )


def test_report_of_hostile_names_is_a_page_without_a_script(connection):
    names = fill(connection)
    evil = "<script>alert(1)</script>"
    connection.execute("update page set owners = array[%s] where ref = 2", [evil])
    page = organisation_html(build_report(connection, "*", NOW), "acme")
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert" in page
    assert f'href="https://{names[0]}"' in page
    assert "/blob/" in page
    assert "not committed" not in page  # the months of the trend have no commits


def test_report_of_one_page_is_a_sentence(connection):
    fill(connection)
    counts = "update page set level = case when (ref, path) = (1, 'docs/d0/p000.md') then %s"
    connection.execute(f"{counts} else 'untracked' end", ["fresh"])
    record = build_report(connection, "*", NOW)
    assert next(text(record, Writer())).startswith("1 of 1 page with sources is fresh, in 12 rep")
    html = organisation_html(record, "acme")
    assert "1 of 1 page with sources still describes them; " in html


def test_a_source_without_a_repository_is_refused(connection):
    with pytest.raises(BadArgumentError, match="names no repository"):
        impact.run(connection, "*", HubImpactRequest("src/pay.py"))
