"""`--json` everywhere: one object, of the shape that its schema describes."""

import json

import jsonschema
import pytest

from ubp.frame.encoding import to_json
from ubp.output.records import RECORDS
from ubp.table import KITS, ROWS, kit_resources


@pytest.fixture
def varied(repository, at):
    """A repository with every verdict and level."""
    for name in ("kept", "changed", "deleted", "moved", "recent", "api/x"):
        repository.write(f"src/{name}.py", "".join(f"{name} {n}\n" for n in range(9)))
    repository.page("docs/a.md", "src/kept.py#L3", "src/changed.py", "src/deleted.py", title="A")
    repository.page("docs/b.md", "src/moved.py", "src/later.py", "src/never.py", "src/api/")
    repository.page("docs/c.md", "src/**/x.py", "docs/a.md", "src/recent.py")
    repository.write("docs/d.md", "# No sources\n")
    repository.write("docs/e.md", "---\nsource_refs: [\n---\n")
    repository.write(
        "docs/f.md", "---\nsource_refs:\n  - path: src/kept.py\n    blob: 0123456\n---\n"
    )
    repository.commit("Begin")
    repository.write("src/changed.py", "other\n")
    repository.remove("src/deleted.py")
    repository.git("mv", "src/moved.py", "src/api/new.py")
    repository.write("src/later.py", "later\n")
    repository.commit("Change much")
    at(repository, days=9)
    repository.write("src/recent.py", "not committed\n")
    return repository


def test_stale_record_lists_pages_that_are_not_fresh(varied, asked):
    record = asked(varied, "stale")
    levels = {document["filepath"]: document["staleness"] for document in record["documents"]}
    assert levels == {
        "docs/a.md": "stale",
        "docs/b.md": "stale",
        "docs/c.md": "possibly_stale",
        "docs/e.md": "untracked",
        "docs/f.md": "stale",
    }
    verdicts = {
        answer["source_path"]: answer["verdict"]
        for document in record["documents"]
        for answer in document["references"]
    }
    assert verdicts == {
        "src/kept.py": "modified",
        "src/changed.py": "modified",
        "src/deleted.py": "deleted",
        "src/moved.py": "moved",
        "src/later.py": "created",
        "src/never.py": "not_found",
        "src/api": "modified",
        "src/**/x.py": "fresh",
        "docs/a.md": "fresh",
        "src/recent.py": "modified",
    }
    assert record["summary"] == {
        "documents": 6,
        "bound": 4,
        "verified": 4,
        "untracked": 2,
        "fresh": 0,
        "possibly_stale": 1,
        "stale": 3,
        "unknown": 0,
    }


def test_reference_record_has_every_key(drifted, asked):
    (document,) = asked(drifted, "stale")["documents"]
    head, first = drifted.head(), drifted.git("rev-parse", "HEAD~1")
    assert document == {
        "doc_id": document["doc_id"],
        "filepath": "docs/a.md",
        "title": "A",
        "staleness": "stale",
        "references": [
            {
                "source_path": "src/a.py",
                "verdict": "modified",
                "staleness": "stale",
                "baseline": "history",
                "baseline_commit": first,
                "baseline_blob": drifted.git("rev-parse", "HEAD~1:src/a.py"),
                "current_blob": drifted.blob("src/a.py"),
                "moved_to": None,
                "note": None,
                "since": "2023-11-16T22:13:20Z",
                "age_days": 10,
                "commits": [
                    {
                        "id": head,
                        "date": "2023-11-16T22:13:20Z",
                        "author": "Ann Author",
                        "subject": "Change a",
                    }
                ],
                "evidence": [],
                "is_unread": False,
                "is_noted": False,
                "judgement": None,
                "collection": None,
                "unfetched": None,
                "line": 4,
                "key": "source_refs",
                "pin_key": None,
                "language": None,
                "fragment": None,
                "pin": None,
                "reason": None,
                "is_debt": None,
                "diff": None,
            }
        ],
        "problems": [],
    }


def test_stale_record_with_all_lists_every_page(varied, asked):
    levels = [
        (document["filepath"], document["staleness"])
        for document in asked(varied, "stale --all")["documents"]
    ]
    assert levels == [
        ("docs/a.md", "stale"),
        ("docs/b.md", "stale"),
        ("docs/f.md", "stale"),
        ("docs/c.md", "possibly_stale"),
        ("docs/d.md", "untracked"),
        ("docs/e.md", "untracked"),
    ]


def test_paths_limit_the_counts_too(varied, asked):
    record = asked(varied, "stale", "docs/c.md", "docs/d.md")
    assert [document["filepath"] for document in record["documents"]] == ["docs/c.md"]
    assert record["summary"]["documents"] == 2
    assert record["summary"]["bound"] == 1
    assert record["summary"]["untracked"] == 1


def test_change_record_separates_old_debts(drifted, asked):
    drifted.page("docs/both.md", "src/a.py", "src/b.py")
    drifted.commit("Describe both")
    drifted.write("src/a.py", "3\n")
    drifted.commit("Change a")
    drifted.write("src/b.py", "3\n")
    drifted.git("add", "--all")
    (record,) = (
        document
        for document in asked(drifted, "stale --staged", status=1)["documents"]
        if document["filepath"] == "docs/both.md"
    )
    debts = {answer["source_path"]: answer["is_debt"] for answer in record["references"]}
    assert debts == {"src/a.py": True, "src/b.py": False}
    asked(drifted, "stale --staged --all", status=1)
    asked(drifted, "stale --base HEAD~1", status=1)
    asked(drifted, "stale --ref HEAD~1")


def test_diff_is_beside_its_reference(drifted, asked):
    (document,) = asked(drifted, "stale --diff")["documents"]
    assert document["references"][0]["diff"] == {
        "text": "--- a/src/a.py\n+++ b/src/a.py\n@@ -1 +1 @@\n-1\n+2",
        "missing_blobs": [],
    }


def test_other_commands_have_records(drifted, asked):
    assert [
        document["filepath"] for document in asked(drifted, "affected", "src/a.py")["documents"]
    ] == ["docs/a.md"]
    assert asked(drifted, "affected", "src/other.py") == {"documents": [], "probable": []}
    assert asked(drifted, "status")["summary"]["stale"] == 1
    asked(drifted, "status --check", status=1)
    assert asked(drifted, "ack", "docs/a.md", "docs/b.md")["summary"] == {
        "documents": 1,
        "pinned": 1,
        "left": 0,
    }
    assert asked(drifted, "init --yes")["bound"] == 2
    assert asked(drifted, "reindex")["parsed"] == 3
    assert asked(drifted, "reindex --prune")["pruned"] is not None
    asked(drifted, "version")


def test_bind_record_has_every_key(drifted, asked):
    drifted.write("src/token_store.py", "class TokenStore: ...\n")
    for page, head in (("README.md", ""), ("other.md", "---\ntitle: [\n---\n")):
        drifted.write(page, f"{head}`TokenStore` lives in `src/token_store.py`.\n")
    drifted.commit("Keep tokens")
    record = asked(drifted, "bind --dry-run --pin --limit 1 --min-confidence 0", status=1)
    first, other = record["pages"]
    assert (first["filepath"], other["filepath"]) == ("README.md", "other.md")
    assert [suggestion["source_path"] for suggestion in first["suggestions"]] == [
        "src/token_store.py"
    ]
    assert record["written"][0]["sources"] == [
        {"source_path": "src/token_store.py", "pin": drifted.blob("src/token_store.py")[:12]}
    ]
    assert [page["filepath"] for page in record["left"]] == ["other.md"]
    assert record["summary"] == {
        "documents": 4,
        "bound": 2,
        "asked": 2,
        "proposed": 2,
        "confident": 2,
        "sources": 2,
    }


COMMANDS = {
    "ack": "ack docs/b.md",
    "affected": "affected src/a.py",
    "badge": "badge",
    "bind": "bind",
    "bind-review": "bind --review",
    "check": "check",
    "check-explain-site": "check --explain-site",
    "collections": "collections",
    "coverage": "coverage",
    "debt": "debt",
    "diff": "diff HEAD~1..HEAD",
    "explain": "explain",
    "get-context": "get-context docs/a.md",
    "get-graph": "get-graph --center docs/a.md",
    "get-page": "get-page docs/a.md",
    "impact": "impact src/a.py",
    "review": "review HEAD^..HEAD",
    "init": "init --yes",
    "list-pages": "list-pages",
    "model": "model",
    "model-embed": "model embed",
    "model-test": "model test",
    "push": "push --to http://127.0.0.1:9 --soft",
    "reindex": "reindex",
    "report": "report",
    "search": "search text --include-links --explain",
    "search-fulltext": "search --fulltext text",
    "sql": "sql SELECT(1)",
    "stale": "stale --all --diff",
    "stale-since": "stale --since HEAD~1",
    "status": "status --check",
    "suggest-links": "suggest-links",
    "version": "version",
}


@pytest.mark.parametrize("name", COMMANDS)
def test_commands_print_every_key_of_their_record(name, drifted, ubp, valid, schemas):
    answer = ubp(drifted, *COMMANDS[name].split(), "--json")
    assert answer.err == ""
    valid(schemas[name], answer.record)


def test_records_all_have_a_test():
    elsewhere = {
        "check-staleness",  # of a tool
        "collections-remove",  # these need a collection
        "collections-sync",
        "error",
        "install-completion",  # writes into the home folder
        "model-compare",  # needs pages with more text (tests/cli/test_model.py)
        "model-fetch",  # downloads
        "proposals",  # these need a proposal
        "proposals-decisions",
        "proposals-edit",
        "proposals-log",
        "proposals-pr",
        "proposals-show",
        "proposals-withdraw",
        "stale-translations",  # needs rules (tests/staleness/test_translations.py)
    }
    of_kits = {row.record for row in ROWS if row.module.startswith("ubp.kits.")}  # tests/kits
    resources = filter(None, map(kit_resources, KITS))
    of_kits |= {row.record_name for found in resources for row in found.rows}
    others = {row.name for row in RECORDS} - COMMANDS.keys() - of_kits
    assert others == elsewhere, "COMMANDS needs a call that prints the record."


def test_errors_have_one_shape(drifted, asked):
    for call in ("stale --nonsense", "stale missing.md", "nonsense", "affected", "stale --days x"):
        record = asked(drifted, call, status=2, shape="error")
        assert record["error"]["message"]


def objects(schema):
    """Every schema of an object in a schema."""
    if isinstance(schema, dict):
        if "properties" in schema:
            yield schema
        for value in schema.values():
            yield from objects(value)


@pytest.mark.parametrize("row", RECORDS, ids=lambda row: row.name)
def test_schemas_are_valid_and_require_and_describe_every_key(row):
    jsonschema.Draft202012Validator.check_schema(json.loads(json.dumps(row.schema)))
    for schema in objects(row.schema):
        assert list(schema["properties"]) == schema["required"]
        assert all(value["description"] for value in schema["properties"].values())


def test_names_that_are_not_utf8_survive(repository, asked):
    name = b"docs/p\xe4ge\x9b.md".decode("utf-8", "surrogateescape")
    try:
        repository.page(name, "src/never.py")
    except OSError:
        pytest.skip("this file system has no such names")
    (document,) = asked(repository, "stale")["documents"]
    assert document["filepath"] == name


def test_json_has_no_terminal_controls():
    text = to_json({"name": "a\udcff\x9b\x7f\x1b[31m日本\u3000"})
    assert text == '{"name": "a\\udcff\\u009b\\u007f\\u001b[31m日本\u3000"}'
    assert json.loads(text) == {"name": "a\udcff\x9b\x7f\x1b[31m日本\u3000"}
