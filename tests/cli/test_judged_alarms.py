"""The alarms `judged`: a change fails for what a language model does not find accurate."""

import json

import pytest

from ubp.answers.review import judge

pytestmark = pytest.mark.default_alarms

COMMANDS = pytest.mark.parametrize("command", ["stale", "check"])
SENTENCE = "`read_all` reads everything."
WHY = "Only the code inside changed."
JUDGED = {"staleness": {"alarms": "judged"}}
LINE = f"docs/z.md:6  judged accurate: {WHY}"
COST = "tiny judged 1 case (1,100 tokens)."


def verdict(affected="no", p=0.1, line="", why=WHY):
    return json.dumps({"affected": affected, "p": p, "line": line, "why": why})


@pytest.fixture
def project(repository, monkeypatch, chat_model):
    """Two pages of a source; a branch changes in it what one of them names."""
    for name, value in chat_model.environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(judge, "MAX_WORKERS", 1)  # the replies are in the order of the cases
    repository.write("src/a.py", "def read_all():\n    return 1\n")
    repository.page("docs/a.md", "src/a.py")
    repository.page("docs/z.md", "src/a.py", body=f"\n{SENTENCE}\n")
    repository.commit("Begin")
    repository.git("checkout", "--quiet", "-b", "topic")
    repository.write("src/a.py", "def read_all(limit):\n    return 1\n")
    repository.commit("Change")
    return repository


@pytest.fixture
def judged(project, ubp):
    """A function that runs a command on the branch, with the alarms that are judged."""

    def run(command, *words):
        return ubp(project, *words, command, "--base", "main", "--alarms", "judged")

    return run


@COMMANDS
def test_page_that_the_judge_denies_is_a_line_and_the_change_succeeds(
    command, project, judged, ubp, chat_model
):
    chat_model.replies.append(verdict())
    assert ubp(project, command, "--base", "main").status == 1
    answer = judged(command)
    assert answer.status == 0
    lines = answer.out.splitlines()
    assert lines.index(COST) == lines.index(LINE) + 1
    assert "docs/z.md:3" not in answer.out
    assert "1 page lists changed sources and names nothing that changed: docs/a.md" in lines
    record = judged(command, "--json").record
    assert record["denied"] == [{"filepath": "docs/z.md", "line": 6, "why": WHY}]
    assert record["noted"] == ["docs/a.md"]
    assert record["judge"]["cached"] == 1
    assert len(chat_model.requests) == 1


@COMMANDS
@pytest.mark.parametrize(
    ("reply", "words"),
    [
        (
            verdict("yes", 0.9, SENTENCE, "It has a limit."),
            f"Judged yes (90%): \u201c{SENTENCE}\u201d It has a limit.",
        ),
        (verdict("unsure", 0.5), f"Judged unsure (50%): {WHY}"),
        ("no", "Judged unsure: the answer is not JSON"),
        (verdict("no", line="This line is not on the page."), "Judged unsure: the answer quotes"),
    ],
)
def test_page_that_the_judge_does_not_deny_fails_with_its_words(
    command, reply, words, judged, chat_model
):
    chat_model.replies.append(reply)
    answer = judged(command)
    assert answer.status == 1
    assert words in answer.out
    assert COST in answer.out


@COMMANDS
def test_server_that_refuses_leaves_the_alarm_and_one_sentence(command, judged, chat_model):
    chat_model.replies.append(b"")
    chat_model.statuses.append(401)
    answer = judged(command)
    assert answer.status == 1
    sentence = "tiny gave no verdict on docs/z.md: it answered 401."
    assert answer.out.count(sentence) == 1


@COMMANDS
def test_pages_beyond_the_limit_stay_alarms(command, project, ubp, chat_model):
    project.git("checkout", "--quiet", "main")
    project.page("docs/y.md", "src/a.py", body=f"\n{SENTENCE}\n")
    project.commit("Add a page")
    project.git("checkout", "--quiet", "topic")
    project.git("rebase", "--quiet", "main")
    chat_model.replies.append(verdict())
    answer = ubp(project, command, "--base", "main", "--alarms", "judged", "--max-cases", "1")
    assert answer.status == 1
    assert "tiny judged 1 case (1,100 tokens), 1 beyond --max-cases." in answer.out
    assert answer.out.count("judged accurate") == 1


@COMMANDS
def test_configuration_without_an_endpoint_sends_nothing_and_is_named(
    command, project, ubp, chat_model, monkeypatch
):
    url = chat_model.environment["UBP_REVIEW_URL"]
    project.write(".env", f"UBP_REVIEW_URL={url}\nUBP_REVIEW_MODEL=tiny\n")
    project.write(".ubp/config.json", json.dumps({**JUDGED, "$schema": url}))
    project.git("checkout", "--quiet", "main")
    project.commit("Configure")
    project.git("checkout", "--quiet", "topic")
    project.git("rebase", "--quiet", "main")
    for name in chat_model.environment:
        monkeypatch.delenv(name)
    answer = ubp(project, command, "--base", "main")
    assert answer.status == 1
    assert answer.out.count("No judge is configured.") == 1
    assert "So `judged` means `named` here." in answer.out
    assert chat_model.requests == []
    record = ubp(project, "--json", command, "--base", "main").record
    assert (record["judge"]["model"], record["judge"]["unjudged"]) == ("", 1)


@COMMANDS
def test_address_that_is_neither_local_nor_https_is_a_sentence_and_not_an_error(
    command, judged, monkeypatch
):
    monkeypatch.setenv("UBP_REVIEW_URL", "http://example.com/v1")
    answer = judged(command)
    assert answer.status == 1
    assert answer.out.count("UBP_REVIEW_URL is not an address") == 1


@COMMANDS
def test_hook_judges_by_the_configuration_and_not_without_it(command, project, ubp, chat_model):
    project.git("checkout", "--quiet", "main")
    project.write("src/a.py", "def read_all(limit, size):\n    return 1\n")
    project.git("add", ".")
    assert ubp(project, command, "--staged").status == 1
    assert chat_model.requests == []
    chat_model.replies.append(verdict())
    project.write(".ubp/config.json", json.dumps(JUDGED))
    project.git("add", ".")
    answer = ubp(project, command, "--staged")
    assert answer.status == 0
    assert LINE in answer.out.splitlines()


@COMMANDS
def test_source_that_is_gone_fails_without_a_question(command, project, judged, chat_model):
    project.git("rm", "--quiet", "src/a.py")
    project.commit("Remove the source")
    answer = judged(command)
    assert answer.status == 1
    assert "docs/z.md:3" in answer.out
    assert chat_model.requests == []


@COMMANDS
def test_change_that_sets_alarms_to_judged_is_reported(command, project, ubp, chat_model):
    chat_model.replies.append(verdict())
    project.write(".ubp/config.json", json.dumps(JUDGED))
    project.commit("Relax")
    out = ubp(project, command, "--base", "main").out
    assert "docs/z.md:3  warning  relaxed-check: Not reported because of this change" in out


def test_review_and_both_commands_share_a_verdict(project, judged, ubp, chat_model):
    chat_model.replies.append(verdict())
    ubp(project, "review", "--judge", "--base", "main", "docs/z.md")
    for command in ("stale", "check"):
        assert "tiny had judged 1 case before." in judged(command).out
    assert len(chat_model.requests) == 1


@COMMANDS
@pytest.mark.parametrize("words", [["--alarms", "judged"], ["--max-cases", "3"]])
def test_state_is_not_judged(command, words, project, ubp):
    answer = ubp(project, command, *words)
    assert (answer.status, "requires a change" in answer.err) == (2, True)


@COMMANDS
def test_formats_for_pull_requests_have_the_verdict(command, project, ubp, chat_model):
    options = ("--base", "main", "--alarms", "judged", "--format")
    chat_model.replies.append(verdict())
    out = ubp(project, command, *options, "github").out
    assert f"::notice title=judged::{LINE}%0A{COST}\n" in out
    assert "::error" not in out
    out = ubp(project, command, *options, "markdown").out
    assert f"`docs/z.md:6` judged accurate: `{WHY}`" in out
    chat_model.replies.append(verdict("yes", 0.9, SENTENCE, "It has a limit."))
    project.write("src/a.py", "def read_all(limit, size):\n    return 1\n")
    project.commit("Change again")
    out = ubp(project, command, *options, "github").out
    words = f"Judged yes (90%25): \u201c{SENTENCE}\u201d It has a limit."
    assert words in next(line for line in out.splitlines() if line.startswith("::error"))
    out = ubp(project, command, *options, "markdown").out
    assert f"`` Judged yes (90%): \u201c{SENTENCE}\u201d It has a limit. ``" in out


@pytest.mark.parametrize("form", ["github", "markdown"])
def test_formats_of_review_have_the_verdict_and_its_cost(form, project, ubp, chat_model):
    chat_model.replies.append(verdict())
    words = ("review", "--judge", "--base", "main", "--format", form, "docs/z.md")
    out = ubp(project, *words).out
    assert WHY in out
    assert COST in out


def test_broken_link_is_no_question_for_the_judge(project, ubp, chat_model):
    project.page("docs/z.md", "src/a.py", body="[a](gone.md) [b](gone.md)\n")
    project.commit("Break a link twice")
    record = ubp(project, "--json", "review", "--judge", "--base", "main", "docs/z.md").record
    (case,) = record["cases"]
    assert (case["kind"], len(case["reasons"]), case["judgement"]) == ("link", 1, None)
    assert chat_model.requests == []
