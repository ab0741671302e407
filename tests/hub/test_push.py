"""Pushes: the hub has what the clone has, after each of them, and writes no more than that."""

import os
import random
from types import SimpleNamespace

from ubp.answers.hub.compare import compare_with_hub
from ubp.hub.read_board import read_stored_board
from ubp.workspace import Workspace

TABLES = ("repository", "ref", "piece", "upload", "file", "page", "reference", "edge", "parsed")


def differences(hub, repository, name="github.com/acme/api"):
    with Workspace.open(str(repository.root), environment=hub_environment()) as workspace:
        return compare_with_hub(workspace.session, hub.url, None, name, None)


def hub_environment():
    return {**os.environ, "UBP_HUB_TOKEN": "development-token-for-tests"}


def row_versions(hub):
    """Return where each row is, and which transaction wrote it: a write changes one of them."""
    return [
        hub.rows(f"select ctid::text, xmin::text from {table} order by ctid")
        for table in (*TABLES, "part", "event")
    ]


def test_hub_has_what_the_clone_has(repository, hub):
    repository.write("src/pay.py", "def charge():\n    return 1\n\n\ndef refund():\n    return 2\n")
    repository.page("docs/pay.md", "src/pay.py#charge", body="See [the other](other.md).\n" * 2)
    repository.write("docs/other.md", "# Other\n")
    repository.write("CODEOWNERS", "* @acme/all\n/docs/pay.md @ann\n")
    commit = repository.commit()

    record = hub.push(repository)

    assert (record.outcome, record.commit, record.pages) == ("written", commit, 2)
    assert differences(hub, repository) == []
    assert hub.rows("select path, owners, level from page order by path") == [
        ("docs/other.md", ["@acme/all"], "untracked"),
        ("docs/pay.md", ["@ann"], "fresh"),
    ]
    assert hub.rows("select path, fragment, verdict, pin from reference") == [
        ("src/pay.py", "charge", "fresh", None)
    ]
    assert hub.rows("select page, target, type, links from edge") == [
        ("docs/pay.md", "docs/other.md", "references", 2)
    ]
    parts = hub.rows("select count(*) from part where parser like 'python %%'")
    assert parts == [(2,)]


def test_same_push_again_writes_no_row(repository, hub):
    repository.page("docs/a.md", "src/a.py")
    repository.write("src/a.py", "a = 1\n")
    repository.commit()
    hub.push(repository)
    before = row_versions(hub)

    record = hub.push(repository)

    assert (record.outcome, record.sent_pieces, record.sent_parts) == ("unchanged", 0, 0)
    assert row_versions(hub) == before
    assert all(before[:3])


def test_only_changed_pieces_and_parts_are_sent(repository, hub):
    for number in range(300):
        repository.write(f"docs/{number}.md", f"# Page {number}\n")
    repository.commit()
    first = hub.push(repository)
    repository.write("docs/7.md", "# Page 7, changed\n")
    repository.commit()

    record = hub.push(repository)

    assert (first.sent_pieces, first.sent_parts) == (8, 300)
    assert (record.outcome, record.sent_pieces, record.sent_parts) == ("written", 1, 1)
    assert differences(hub, repository) == []


def test_board_that_a_push_replaces_while_it_is_read_is_read_again(repository, hub):
    repository.write("src/a.py", "a = 1\n")
    repository.page("docs/a.md", "src/a.py")
    repository.commit()
    hub.push(repository)
    repository.write("docs/b.md", "# B\n")
    head = repository.commit()
    with hub.database.connection() as connection:
        asked = []

        def execute(query, *args):
            found = connection.execute(query, *args)
            asked.append(query)
            if len(asked) == 1:
                hub.push(repository)
            return found

        reading = SimpleNamespace(execute=execute)
        board = read_stored_board(reading, "*", "github.com/acme/api", "refs/heads/main")
    assert board.commit == head
    assert [file.path for file in board.files] == ["docs/a.md", "docs/b.md", "src/a.py"]


def test_no_difference_after_each_of_many_pushes(new_repository, hub):
    choose = random.Random(34)
    for name in ("api", "web"):
        repository = new_repository(name)
        pages: dict[str, str] = {}
        for number in range(10):
            change_at_random(repository, choose, pages, number)
            repository.commit(f"change {number}")
            hub.push(repository, f"github.com/acme/{name}")
            assert differences(hub, repository, f"github.com/acme/{name}") == []


def change_at_random(repository, choose, pages, number):
    for _ in range(choose.randrange(1, 12)):
        path = f"docs/{choose.randrange(40)}.md"
        source = f"src/{choose.randrange(5)}.py"
        if path in pages and choose.random() < 0.2:
            repository.remove(path)
            del pages[path]
            continue
        link = choose.choice(sorted(pages) or ["none.md"]).rpartition("/")[2]
        text = f"Text {choose.random()} [link]({link})\n\n## Part {number}\n\nMore.\n"
        repository.page(path, choose.choice([source, f"{source}#f", "src/"]), body=text)
        pages[path] = text
    name = choose.randrange(5)
    repository.write(f"src/{name}.py", f"def f():\n    return {choose.randrange(3)}\n")
    owners = "".join(f"/docs/{choose.randrange(40)}.md @team{n}\n" for n in range(3))
    repository.write(".github/CODEOWNERS", owners)


def test_events_say_what_became_of_files_and_levels(repository, hub):
    repository.write("src/a.py", "a = 1\n")
    repository.page("docs/a.md", "src/a.py")
    repository.commit()
    hub.push(repository)
    old = repository.blob("src/a.py")
    repository.write("src/a.py", "a = 2\n")
    repository.commit()

    hub.push(repository)

    assert hub.rows("select kind, path, before, after from event order by id") == [
        ("page", "docs/a.md", None, "fresh"),
        ("page", "docs/a.md", "fresh", "stale"),
        ("file", "src/a.py", old, repository.blob("src/a.py")),
    ]


def test_reference_into_a_collection_names_its_repository(repository, hub):
    repository.write(
        ".ubp/config.json",
        '{"collections": {"api": {"git": "https://github.com/acme/api.git", "at": "1234567"}}}',
    )
    repository.page("docs/a.md", "api:src/pay.py#charge")
    repository.commit()

    hub.push(repository, "github.com/acme/web")

    assert hub.rows("select repository, path, fragment from reference") == [
        ("github.com/acme/api", "src/pay.py", "charge")
    ]
