"""What leaves a clone: nothing of excluded files, and no sentence of any page."""

import os
import re
import shutil
import subprocess

from ubp.hub.embedded import find_programs

SENTENCES = (
    "The quick brown fox pays the invoice twice.",
    "Charges are refunded within seven days of the order.",
)
HIDDEN = ("private/plans.md", "docs/merger.secret.md", "keys/id.pem", "vendor/a/b.md")


def make_pages(repository):
    repository.write(".ubp/config.json", '{"source": {"exclude": ["keys/**"]}}')
    repository.write("src/pay.py", "def charge():\n    '''Take hidden-docstring money.'''\n")
    repository.write(
        "docs/pay.md",
        "---\ntitle: Payment for grown-ups\nsource_refs:\n  - path: src/pay.py#charge\n"
        "    reason: Read it twice and found it good.\n  - keys/id.pem\n---\n"
        f"# How do customers pay\n\n{SENTENCES[0]} [the secret deal](../private/plans.md)\n\n"
        f"## Why refunds are slow in winter\n\n{SENTENCES[1]} [other](other.md)\n",
    )
    repository.write("docs/other.md", "# Other\n")
    for path in HIDDEN:
        repository.write(path, f"# {path}\n\nNobody may read of Project Unobtainium.\n")
    repository.commit("Tell nobody of Unobtainium")


FORBIDDEN = re.compile(
    "quick brown|refunded within|Read it twice|grown-ups|How do customers|how-do-customers|"
    "refunds are slow|refunds-are-slow|secret deal|hidden-docstring|Unobtainium|"
    "plans\\.md|merger|id\\.pem|vendor",
    re.IGNORECASE,
)


def test_wire_and_database_have_no_sentence_and_nothing_of_excluded_files(
    repository, hub, database_address, sent
):
    make_pages(repository)
    hub.push(repository)

    wire = "".join(sent)
    assert "docs/pay.md" in wire
    assert "charge" in wire  # what a page describes is not a secret
    assert FORBIDDEN.search(wire) is None

    dump = dump_of(hub, database_address)
    assert "docs/pay.md" in dump
    assert FORBIDDEN.search(dump) is None
    assert "development-token-for-tests" not in dump


def dump_of(hub, address):
    """Return all rows as text, by PostgreSQL's own program where it is installed."""
    program = os.path.join(find_programs() or "", "pg_dump")
    if shutil.which(program):
        command = [program, "--data-only", "--inserts", "--dbname", address]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout
    tables = hub.rows("select relname from pg_stat_user_tables")
    return repr([hub.rows(f"select * from {table}") for (table,) in tables])
