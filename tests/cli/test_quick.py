"""The small parser and cyclopts understand the same calls in the same way."""

import sys

import pytest

from ubp.__main__ import main
from ubp.cli import app as commands
from ubp.cli import check, review, run_check, run_review, stale, stale_command
from ubp.cli.app import run_tokens
from ubp.cli.fast_path import parse_fast_call, split_global_options
from ubp.cli.terminal import Options, Terminal

UNDERSTOOD = [
    "stale",
    "stale docs",
    "stale docs/a.md docs/b.md",
    "stale --staged",
    "stale --staged docs/a.md --all",
    "stale docs --staged more",
    "stale --base main",
    "stale --base=main",
    "stale --base=a=b",
    "stale --ref v1.2 docs",
    "stale --days 30",
    "stale --days=0",
    "stale --fail-on possibly_stale",
    "stale --fail-on=stale --exit-code",
    "stale --json",
    "--json stale",
    "--no-color -q stale",
    "-C /somewhere stale --json --all",
    "stale -C /somewhere",
    "--cwd=/somewhere stale --no-color",
    "stale --quiet --exit-code --base origin/main src/*.md",
    "stale stale",
    "stale @{u}",
    "check",
    "check --staged",
    "check --staged --amend docs/a.md",
    "check --base main --ref v1.2 docs",
    "check --pre-push -q",
    "check --alarms named --json",
    "-C /somewhere check --fail-on=warning",
    "review",
    "review --staged",
    "review --staged docs/a.md --json",
    "review --base main",
    "-C /somewhere review --stop-hook",
    "review main..topic -q",
]
LEFT_TO_CYCLOPTS = [
    "",
    "--help",
    "-V",
    "status",
    "stale --help",
    "stale -h",
    "stale -v",
    "stale --verbose",
    "stale --diff",
    "stale --key code_refs",
    "stale --",
    "stale -- --staged",
    "stale --base",
    "stale --base --staged",
    "stale --base=",
    "stale --base main --base main",
    "stale --staged --staged",
    "stale --json --json",
    "stale --staged=true",
    "check --fix",
    "check --rule broken-link",
    "check --fail-on stale",
    "check --exit-code",
    "stale --days 1e3",
    "stale --days -1",
    "stale --days nan",
    "stale --days 1234567890",
    "stale --fail-on unknown",
    "stale -qv",
    "stale -C/somewhere",
    "stale -",
    "stale --sta",
    "--unknown stale",
    "review --limit 3",
    "review --judge",
    "review --stop-hook --stop-hook",
    "review --format json",
    "review --interactive",
    "-C stale",
]


@pytest.fixture
def calls(monkeypatch):
    """What `ubp stale`, `ubp check` and `ubp review` were called with, instead of doing it."""
    heard = []

    def listen(options, terminal):
        heard.append((terminal.options, options))
        return 0

    # The fast path calls the one, cyclopts the other; both are imported before either is replaced.
    for module in (stale, stale_command):
        monkeypatch.setattr(module, "run_stale", listen)
    for module in (check, run_check):
        monkeypatch.setattr(module, "run_check", listen)

    def listen_to_review(request, terminal, *, interactive=False, format_="text", stop_hook=False):
        heard.append((terminal.options, request, interactive, format_, stop_hook))
        return 0

    for module in (review, run_review):
        monkeypatch.setattr(module, "run_review", listen_to_review)
    return heard


@pytest.mark.usefixtures("capsys")
@pytest.mark.parametrize("line", UNDERSTOOD)
def test_both_parsers_agree(line, calls):
    tokens = line.split()
    assert parse_fast_call(tokens) is not None
    assert main(tokens) == 0
    terminal = Terminal(Options(), sys.stdout, sys.stderr, {})
    assert run_tokens(tokens, terminal) == 0
    quick, thorough = calls
    assert quick == thorough


@pytest.mark.parametrize("line", LEFT_TO_CYCLOPTS)
def test_uncertain_arguments_are_left_to_cyclopts(line):
    assert parse_fast_call(line.split()) is None


def test_empty_word_is_left_to_cyclopts():
    assert parse_fast_call(["stale", ""]) is None
    assert parse_fast_call(["stale", "--base", ""]) is None


@pytest.mark.usefixtures("capsys")
@pytest.mark.parametrize(
    "line",
    [*UNDERSTOOD, "stale -v", "-v stale --key a --key b", "stale --diff -C /somewhere docs"],
)
def test_plain_call_needs_no_meta_app(line, calls, monkeypatch):
    tokens = line.split()
    terminal = Terminal(Options(), sys.stdout, sys.stderr, {})
    assert run_tokens(tokens, terminal) == 0
    monkeypatch.setattr(commands, "split_global_options", lambda _: None)
    assert run_tokens(tokens, terminal) == 0
    plain, through_meta = calls
    assert plain == through_meta


@pytest.mark.parametrize(
    "line", ["", "--help", "stale -h", "-V", "stale -- -q", "stale -qv", "-q -q stale", "stale -C"]
)
def test_other_calls_go_through_the_meta_app(line):
    assert split_global_options(line.split()) is None
