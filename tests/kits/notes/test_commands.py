"""`ubp notes ask`, `trends` and `report` for people, and the topics in the report."""

import json
import re

import pytest

from tests.kits.notes.conftest import NOTES, NOW, note
from ubp.__main__ import main
from ubp.output.records import RECORDS


@pytest.fixture
def run(repository, capsys, monkeypatch, tmp_path):
    """Run `ubp` in a repository of notes, on 2025-01-16."""
    monkeypatch.setenv("UBP_NOW", str(NOW))
    monkeypatch.setenv("UBP_COLLECTIONS", str(tmp_path / "collections"))
    for path, text in NOTES.items():
        repository.write(path, text)
    repository.commit()

    def call(*tokens, status=0):
        capsys.readouterr()
        found = main(["-C", str(repository.root), *tokens])
        out, err = capsys.readouterr()
        assert found == status, out + err
        return out + err

    return call


def test_trends_are_a_table_with_the_last_periods(run):
    assert run("notes", "trends") == (
        "2025-01-10 to 2025-01-16\n"
        "2 notes, 2 in the period before. New: CrewAI (2), agents (1), rag (1). "
        "Fewer: Food (0, 1 before).\n\n"
        "  AI-Tools                        2     1 before  stable  ▁▁▁▁▁▁▁▁▁▁▄█\n"
        "  llm                             2     1 before  stable  ▁▁▁▁▁▁▁▁▁▁▄█\n"
        "  CrewAI                          2     0 before  new     ▁▁▁▁▁▁▁▁▁▁▁█\n"
        "  agents                          1     0 before  new     ▁▁▁▁▁▁▁▁▁▁▁█\n"
        "  rag                             1     0 before  new     ▁▁▁▁▁▁▁▁▁▁▁█\n"
        "  Food                            0     1 before  down    ▁▁▁▁▁▁▁▁▁▁█▁\n\n"
        "Notable notes\n"
        "  Patterns of RAG  1.md\n"
        "    About AI-Tools, llm, CrewAI, rag.\n"
        "  Agents with CrewAI  2.md\n"
        "    About AI-Tools, llm, CrewAI, agents.\n\n"
        "New names: CrewAI (2), vectordb\n"
    )
    assert "`until` is not a date." in run("notes", "trends", "--until", "soon", status=2)


def test_answer_shows_passages_places_and_confidence(run, monkeypatch):
    out = run("notes", "ask", "how", "much", "sun", "do", "tomatoes", "need")
    passage = "    # Tomatoes\n    \n    They need six hours of sun.\n"
    confidence, _, passages = out.partition("\n")
    assert re.fullmatch(r"Confidence that a passage answers: 0\.\d\d", confidence)
    assert passages.startswith(f"[1] Tomatoes  garden/tomatoes.md:1\n{passage}")
    assert "Missing argument: a question." in run("notes", "ask", status=2)
    monkeypatch.setenv("UBP_ASK_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("UBP_ASK_MODEL", "tiny")
    assert "tiny did not answer" in run("notes", "ask", "tomatoes")


def test_missing_report_can_be_made(run):
    out = run("notes", "report", "acme/app", status=2)
    assert "There is no report on https://github.com/acme/app." in out
    assert "ubp notes report https://github.com/acme/app --verify" in out


def test_html_report_draws_the_topics_of_dated_notes(run, repository, tmp_path):
    file = tmp_path / "report.html"
    run("report", "--html", str(file), "--weeks", "1")
    assert "polyline" not in file.read_text("utf-8").partition("<body>")[2]
    for day in range(1, 11):
        repository.write(f"t{day}.md", note("T", date=f"2025-01-{day:02}", tags="[<b>x]"))
    repository.commit()
    run("report", "--html", str(file), "--weeks", "1")
    body = file.read_text("utf-8").partition("<body>")[2]
    assert body.count("<polyline") == len(re.findall('aria-label="[^"]+: (?:0, ){11}', body)) > 3
    assert "&lt;b&gt;x" in body
    assert "<b>x" not in body


def test_report_on_a_collection_is_written_to_a_named_file(run, repository, tmp_path):
    run("collections", "add", "saved", str(repository.root), "--yes")
    assert "requires a file name" in run("report", "--in", "saved", "--html", status=2)
    run("report", "--in", "saved", "--html", str(tmp_path / "saved.html"), "--weeks", "1")
    assert (tmp_path / "saved.html").exists()


@pytest.mark.parametrize(
    ("record", "command"), [("notes-ask", "notes ask tomatoes"), ("notes-trends", "notes trends")]
)
def test_commands_print_every_key_of_their_record(record, command, run, valid):
    (schema,) = (row.schema for row in RECORDS if row.name == record)
    valid(schema, json.loads(run(*command.split(), "--json")))
