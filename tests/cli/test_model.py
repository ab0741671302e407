"""`ubp model`, and what init, reindex and status report about embedding."""

import os
import re
import subprocess
import sys

import jsonschema
import pytest

from ubp.core.installation import install_command
from ubp.index.embed.locate import ModelLocation, find_model
from ubp.index.embed.model_files import fingerprint


@pytest.fixture
def valid_record(schemas):
    """A command's record, once it is known to fit its schema."""

    def check(answer, shape):
        record = answer.record
        jsonschema.validate(record, schemas[shape])
        del record["schema_version"]
        return record

    return check


def test_bundled_model_is_shown_with_pending_sections(drifted, ubp, valid_record):
    place = find_model(None, {})
    expected = {
        "name": "ubp-bilingual-256",
        "directory": place.directory,
        "host": None,
        "dimensions": 256,
        "fingerprint": fingerprint(place).hex(),
        "sections": 3,
        "pending": 3,
        "why_none": "",
    }
    assert valid_record(ubp(drifted, "model", "--json"), "model") == expected
    assert valid_record(ubp(drifted, "status", "--json"), "status")["model"] == expected
    assert "256 dimensions); 3 sections, 3 pending\n" in ubp(drifted, "status").out
    assert ubp(drifted, "model").out == (
        "Model:         ubp-bilingual-256 (256 dimensions); 3 sections, 3 pending\n"
        f"Directory:     {place.directory}\n"
        f"Fingerprint:   {expected['fingerprint']}\n"
    )
    assert valid_record(ubp(drifted, "reindex", "--json"), "reindex")["embedded"] == 3
    assert valid_record(ubp(drifted, "model", "--json"), "model")["pending"] == 0


def test_vectors_of_a_local_model_cost_nothing_and_are_made_with_yes(drifted, ubp, valid_record):
    assert ubp(drifted, "model", "embed").out == (
        "ubp-bilingual-256: 3 texts of 3 to embed.\n"
        "To make the vectors, run: ubp model embed --yes\n"
    )
    record = valid_record(ubp(drifted, "model", "embed", "--yes", "--json"), "model-embed")
    assert (record["embedded"], record["tokens"], record["host"]) == (3, None, None)
    assert "every section has a vector (3)" in ubp(drifted, "model", "embed").out


def test_bundled_model_is_compared_on_headings_and_titles(repository, ubp, valid_record):
    for word in ("volcano", "password", "elephant", "railway"):
        text = f"# About the {word}\n\nThis is what we know about a {word}, and it is not little."
        repository.write(
            f"docs/{word}.md", f"{text}\n\n## History of the {word}\n\n" + text[2:] * 2
        )
    repository.commit()
    record = valid_record(ubp(repository, "model", "compare", "--json"), "model-compare")
    assert (record["titles"], record["headings"], record["is_asked"]) == (4, 4, True)
    assert [model["name"] for model in record["models"]] == ["ubp-bilingual-256"]
    assert record["models"][0]["headings"] == 1
    lines = ubp(repository, "model", "compare").out.splitlines()
    assert lines[0] == "4 headings and 4 titles, asked of 4 sections without them."
    assert lines[2].split()[:4] == ["ubp-bilingual-256", "1.00", "1.00", "256"]
    unknown = ubp(repository, "model", "compare", "nobody/nothing")
    assert (unknown.status, "Model not found: nobody/nothing" in unknown.err) == (2, True)


def test_embedding_can_be_left_to_the_first_search(drifted, ubp, valid_record):
    assert valid_record(ubp(drifted, "init", "--yes", "--json"), "init")["embedded"] == 3
    skipped = ubp(drifted, "reindex", "--skip-embedding", "--json")
    assert valid_record(skipped, "reindex")["embedded"] is None
    skipped = ubp(drifted, "init", "--yes", "--skip-embedding", "--json")
    assert valid_record(skipped, "init")["embedded"] is None
    assert ubp(drifted, "model", "--json").record["pending"] == 3
    assert valid_record(ubp(drifted, "reindex", "--prune", "--json"), "reindex")["embedded"] is None


def test_missing_model_is_shown_with_the_reason(drifted, ubp, monkeypatch, valid_record):
    def why():
        record = valid_record(ubp(drifted, "model", "--json"), "model")
        assert (record["name"], record["pending"], record["sections"]) == (None, None, 3)
        return record["why_none"]

    drifted.write(".ubp/config.json", '{"search": {"model": "none"}}')
    assert why() == 'search.model is "none"'
    drifted.write(".ubp/config.json", '{"search": {"model": "owner/name"}}')
    assert why() == "Model not found: owner/name"
    assert "Model:         none: Model not found: owner/name" in ubp(drifted, "status").out
    monkeypatch.setattr("ubp.index.embed.locate.LIBRARIES", ("a_library_that_is_not_there",))
    assert why() == f"not installed ({install_command('full')})"
    assert ubp(drifted, "reindex", "--json").record["embedded"] is None


def test_fetched_model_is_shown_with_the_setting_to_write(
    repository, ubp, monkeypatch, valid_record
):
    def fetch(name, environment, progress):
        progress("Fetching", 1, 1)
        assert environment["HOME"]
        return ModelLocation(name, "/cache/small")

    monkeypatch.setattr("ubp.answers.setup.fetch_model.fetch", fetch)
    monkeypatch.setattr("ubp.answers.setup.fetch_model.dimensions", lambda _: 3)
    answer = ubp(repository, "model", "fetch", "owner/small")
    assert answer.status == 0
    assert answer.out == (
        "Fetched owner/small (3 dimensions) to /cache/small.\n"
        'To use it, set "search": {"model": "owner/small"} in .ubp/config.json\n'
    )
    answer = ubp(repository, "model", "fetch", "owner/small", "--json")
    assert valid_record(answer, "model-fetch") == {
        "name": "owner/small",
        "directory": "/cache/small",
        "dimensions": 3,
    }


@pytest.mark.parametrize(
    ("tokens", "message"),
    [
        (["fetch"], "Missing argument: a model id."),
        (["fetch", "no id"], "no id is not a model id."),
        (["bring", "owner/small"], ""),
    ],
)
def test_invalid_model_commands_exit_2(tokens, message, repository, ubp):
    answer = ubp(repository, "model", *tokens)
    assert (answer.status, answer.out) == (2, "")
    assert message in answer.err


def test_fetch_without_the_extra_downloads_nothing(repository, ubp, monkeypatch):
    monkeypatch.setattr("ubp.index.embed.locate.LIBRARIES", ("a_library_that_is_not_there",))
    answer = ubp(repository, "model", "fetch", "owner/small")
    assert answer.status == 2
    assert f"Hint: Install it: {install_command('full')}" in answer.err


def test_model_command_loads_no_model(drifted):
    program = (
        "import sys; from ubp.__main__ import main; main(['model']); main(['status']);"
        "print(*{'numpy', 'model2vec', 'tokenizers'} & set(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=drifted.root,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.endswith("\n\n")
    assert "ubp-bilingual-256" in done.stdout


@pytest.mark.skipif(os.name == "nt", reason="no pseudo-terminals")
def test_first_search_prints_only_progress(repository, spawn):
    repository.write("docs/a.md", "# Tokens\n\nA token expires.\n")
    repository.commit()
    controller, terminal = os.openpty()
    environment = {"PYTHONWARNINGS": "error", "NO_COLOR": "1"}
    done = spawn(
        *(repository, "search", "token"),
        environment=environment,
        capture_output=False,
        stdout=subprocess.PIPE,
        stderr=terminal,
    )
    os.close(terminal)
    shown = os.read(controller, 65_536).decode()
    os.close(controller)
    assert "docs/a.md" in done.stdout
    progress = r" *|[A-Z][a-z ]+: \[[#-]+\] [01]/1 *"
    assert [part for part in shown.split("\r") if not re.fullmatch(progress, part)] == []
    assert "Embedding sections" in shown
