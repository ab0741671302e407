"""Every command is there, explains itself, and ends with an example that works."""

import io
import re
import shlex
import shutil
import subprocess
import sys

import pytest

from ubp.__main__ import main
from ubp.checks.registry import RULES
from ubp.cli.app import build_app, completion_script
from ubp.cli.commands import ROWS
from ubp.cli.terminal import Options, Terminal
from ubp.output.records import RECORDS
from ubp.table import KITS, subcommands

NAMES = [row.name for row in ROWS]
# Commands with commands of their own.
GROUPS = {
    "collections": ("add", "remove", "sync"),
    "hub": (
        "audit",
        "behind",
        "check",
        "diff",
        "embed",
        "gc",
        "migrate",
        "report",
        "review",
        "up",
        "work",
    ),
    "model": ("compare", "embed", "fetch", "test"),
    "proposals": ("accept", "edit", "log", "pr", "reject", "show"),
    **{
        kit.name: tuple(sorted(row.command.split()[1] for row in subcommands(kit.name)))
        for kit in KITS
        if kit.help
    },
}
CALLS = [name for name in NAMES if name not in GROUPS] + [
    f"{group} {name}" for group, names in GROUPS.items() for name in names
]
SHELLS = ("bash", "zsh", "fish", "powershell")


@pytest.fixture
def app():
    return build_app(Terminal(Options(), sys.stdout, sys.stderr, {}))


@pytest.mark.parametrize("row", ROWS, ids=NAMES)
def test_commands_and_their_examples_parse(row, app):
    program, name, *tokens = shlex.split(row.example)
    assert (program, name) == ("ubp", row.name)
    tokens = [token for token in tokens if token != "--json"]  # the meta app's
    command, _, ignored = app.parse_args([name, *tokens])
    called = tokens[0] if row.name in GROUPS else row.name
    assert command.__name__.replace("_", "-") == called
    assert set(ignored) == {"terminal"}


@pytest.mark.parametrize("row", ROWS, ids=NAMES)
def test_options_all_have_help(row, capsys):
    assert main([row.name, "--help"]) == 0
    out = capsys.readouterr().out
    assert out.startswith(f"Usage: ubp {row.name} ")
    assert out.endswith(f"\n\nExample:\n  {row.example}\n")
    assert "\n\n\n" not in out
    for line in re.findall(r"^  (-.*|[A-Z]+  .*)$", out, flags=re.MULTILINE):
        assert re.search(r"  [A-Z]", line), line


def parameter_panels(app, name):
    """The panels of a command's help, as cyclopts hands them to the formatter."""
    panels = []
    command = app
    for word in name.split():
        command = command[word]
    formatter = command.help_formatter  # the commands of a group outlive this app
    command.help_formatter = lambda *arguments: panels.append(arguments[-1])
    app.help_print(name.split())
    command.help_formatter = formatter
    return [panel for panel in panels if panel.format == "parameter"]


@pytest.mark.parametrize("name", [*CALLS, "--install-completion"])
def test_options_with_a_value_show_its_name(name, app, capsys):
    entries = [entry for panel in parameter_panels(app, name) for entry in panel.entries]
    options = [entry for entry in entries if not entry.positional_label]
    capsys.readouterr()
    assert main([*name.split(), "--help"]) == 0
    out = capsys.readouterr().out
    for option in options:
        is_flag = option.type is bool
        shown = re.search(rf"^  .*{option.positive_names[0]}( \S+)?(?:  |$)", out, re.MULTILINE)
        assert (shown[1] is None) == is_flag, shown[0]
        # Not what cyclopts would make of the type.
        assert shown[1] not in {" STR", " STR...", " INT", " FLOAT", " CHOICE", " CHOICE..."}


@pytest.mark.parametrize("name", [*CALLS, "--install-completion"])
def test_usage_names_the_arguments(name, app, capsys):
    entries = [entry for panel in parameter_panels(app, name) for entry in panel.entries]
    arguments = [entry for entry in entries if entry.positional_label]
    capsys.readouterr()
    assert main([*name.split(), "--help"]) == 0
    usage = capsys.readouterr().out.splitlines()[0]
    shown = ""
    for label in dict.fromkeys(entry.positional_label for entry in arguments):
        entry = next(entry for entry in arguments if entry.positional_label == label)
        value = label + "..." * entry.metavar.endswith("...")
        shown += f" {value}" if entry.required else f" [{value}]"
    assert usage == f"Usage: ubp {name} [OPTIONS]{shown}"


@pytest.mark.parametrize(("group", "names"), GROUPS.items())
def test_group_lists_its_commands(group, names, capsys):
    assert main([group, "--help"]) == 0
    out = capsys.readouterr().out
    assert out.startswith(f"Usage: ubp {group} COMMAND [OPTIONS]\n")
    listed = out.partition("Commands:\n")[2].partition("\n\n")[0]
    assert tuple(re.findall(r"^  ([a-z]+)  ", listed, re.MULTILINE)) == names


def test_ubp_alone_shows_the_state_of_the_repository_and_the_next_steps(drifted, ubp):
    drifted.write("docs/broken.md", "# Broken\n\nSee [there](there.md) and [here](#nowhere).\n")
    status, out, err = ubp(drifted)
    assert (status, err) == (0, "")
    assert out.splitlines() == [
        str(drifted.root),
        "  Pages:       4",
        "  Sources:     listed by 2 pages",
        "  Freshness:   1 stale, 1 fresh",
        "  Links:       2, 2 lead nowhere",
        "Next:",
        "  ubp check   shows what is broken, with lines and fixes",
        "  ubp stale   shows what outdated them, with commits and authors",
        "  ubp --help  lists all commands",
    ]


def test_ubp_alone_in_an_empty_repository_names_the_set_up(repository, ubp):
    repository.commit()
    assert ubp(repository).out.splitlines()[1:] == [
        "  Pages:       none",
        "  Links:       0",
        "Next:",
        "  ubp init    writes a configuration, to say where pages are",
        "  ubp --help  lists all commands",
    ]


def test_ubp_alone_with_json_prints_the_record_of_status(drifted, ubp, valid):
    record = ubp(drifted, "--json").record
    valid({row.name: row.schema for row in RECORDS}["status"], record)
    assert record["summary"]["stale"] == 1


def test_help_lists_the_commands(ubp, drifted):
    out = ubp(drifted, "--help").out
    listed = [line for line in out.splitlines() if re.match(r"  [a-z][a-z-]*  ", line)]
    assert [line.split()[0] for line in listed] == NAMES


def test_ubp_outside_a_repository_lists_the_commands_and_says_so(tmp_path, ubp):
    class Nowhere:
        root = tmp_path

    status, out, err = ubp(Nowhere)
    assert (status, err) == (0, "")
    assert out.splitlines()[-1] == f"Here: {tmp_path} is not in a Git repository."


@pytest.mark.parametrize("shell", SHELLS)
def test_completion_knows_every_command(shell, app):
    script = app.generate_completion(prog_name="ubp", shell=shell)
    assert all(name in script for name in NAMES)
    assert "--fail-on" in script


def test_completion_is_installed_where_the_shell_looks(isolated_environment, capsys):
    assert main(["--install-completion", "--shell", "bash"]) == 0
    written = [file for file in isolated_environment.rglob("*") if "ubp" in file.name]
    assert [file.is_file() for file in written] == [True]
    assert capsys.readouterr().out == (
        f"Wrote {written[0]}\n"
        "If completion does not work, add this to ~/.bashrc:\n"
        f"  . {written[0]}\n"
        "Next: start a new bash, type `ubp ` and press Tab.\n"
    )
    assert not list(isolated_environment.rglob(".bashrc"))


@pytest.mark.parametrize(("answer", "is_edited"), [("y", True), ("n", False)])
def test_startup_file_is_edited_only_after_a_yes(
    answer, is_edited, isolated_environment, monkeypatch
):
    class Screen(io.StringIO):
        def isatty(self):
            return True

    screen = Screen()
    monkeypatch.setattr(sys, "stdin", Screen(f"{answer}\n"))
    monkeypatch.setattr("ubp.__main__.open_streams", lambda: (screen, Screen()))
    assert main(["--no-color", "--install-completion", "--shell", "bash"]) == 0
    assert "? Load it at startup, by a line in ~/.bashrc? [yes/no]: (yes) " in screen.getvalue()
    assert bool(list(isolated_environment.rglob(".bashrc"))) == is_edited
    assert ("add this to ~/.bashrc" in screen.getvalue()) != is_edited


def complete(script, folder, line):
    """What bash offers for the last word of a line, where the script is loaded."""
    program = (
        f". {script}\nCOMP_WORDS=({line} '')\nCOMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))\n"
        'COMP_LINE="${COMP_WORDS[*]}"\nCOMP_POINT=${#COMP_LINE}\n_ubp\n'
        'printf "%s\\n" "${COMPREPLY[@]}"\ncomplete -p ubp\n'
    )
    done = subprocess.run(
        ["bash", "-c", program], cwd=folder, capture_output=True, text=True, check=True
    )
    return done.stdout.splitlines()


@pytest.mark.skipif(shutil.which("bash") is None, reason="the script is run by bash")
def test_bash_completes_rules_and_files(app, tmp_path):
    script = tmp_path / "ubp.bash"
    script.write_text(completion_script(app, "bash"))
    *rules, registration = complete(script, tmp_path, "ubp explain")
    assert sorted(rules) == sorted(rule.name for rule in RULES)
    # Nothing of its own for pages: then readline completes files.
    assert complete(script, tmp_path, "ubp ack") == ["", registration]
    assert registration == "complete -o default -F _ubp ubp"


def test_zsh_completes_files_where_a_page_is_expected(app):
    lines = completion_script(app, "zsh").splitlines()
    assert any(line.strip().startswith("'*:Pages, directories or globs.:_files'") for line in lines)


def test_unknown_rule_is_answered_with_the_nearest_one(capsys):
    assert main(["explain", "broken-lnk"]) == 2
    assert "broken-link" in capsys.readouterr().err


def test_unrecognized_shell_must_be_named(monkeypatch, capsys):
    from cyclopts.completion import detect

    def fail_to_detect():
        raise detect.ShellDetectionError

    monkeypatch.setattr(detect, "detect_shell", fail_to_detect)
    assert main(["--install-completion"]) == 2
    assert capsys.readouterr().err.startswith("Error: Cannot detect the current shell.\n")


@pytest.mark.parametrize(
    "tokens",
    [
        ["--json", "stale", "--all"],
        ["stale", "--all", "--json"],
        ["--json", "stale", "--all", "--diff"],
        ["stale", "--diff", "--json", "--all"],
    ],
    ids=" ".join,
)
def test_global_options_may_precede_or_follow_the_command(tokens, drifted, ubp):
    answer = ubp(drifted, *tokens)
    assert answer.status == 0
    assert len(answer.record["documents"]) == 3


def test_module_runs_as_a_program(drifted):
    done = subprocess.run(
        [sys.executable, "-m", "ubp", "stale", "--quiet"],
        cwd=drifted.root,
        capture_output=True,
        text=True,
        check=True,
    )
    assert (done.stdout, done.stderr) == ("docs/a.md:4  stale\n", "")


@pytest.mark.parametrize("command", ["version", "collections"])
def test_command_that_needs_no_repository_works_outside_of_one(
    command, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert main([command]) == 0
    assert capsys.readouterr().out


HUB_COMMANDS = "audit, behind, check, diff, embed, gc, migrate, report, review, up, work"
PROPOSALS = "accept, edit, log, pr, reject, show"
EVERYDAY = "init, review, check, stale, bind, ack, search, serve, ..."


@pytest.mark.parametrize(
    ("line", "message", "hint"),
    [
        ("hub check --embedded", "Unknown option: --embedded.", "See `ubp hub check --help`."),
        ("hub check foo", "Unexpected argument: foo.", "See `ubp hub check --help`."),
        ("diff a b c 'd e'", "Unexpected arguments: c 'd e'.", "See `ubp diff --help`."),
        ("hub --foo", "Unknown option: --foo.", "See `ubp hub --help`."),
        ("--jsn check", "Unknown option: --jsn.", "See `ubp --help`."),
        (
            "hub serve",
            'Unknown command "serve".',
            f"Available commands: {HUB_COMMANDS}. See `ubp hub --help`.",
        ),
        (
            "proposals acept",
            'Unknown command "acept".',
            f'Did you mean "accept"? Available commands: {PROPOSALS}. See `ubp proposals --help`.',
        ),
        ("foo", 'Unknown command "foo".', f"Available commands: {EVERYDAY} See `ubp --help`."),
        ("check --base", "--base requires a value.", "See `ubp check --help`."),
        ("sql", "Missing argument: QUERY.", "See `ubp sql --help`."),
        ("collections add", "Missing argument: NAME.", "See `ubp collections add --help`."),
        (
            "stale --staged --staged",
            "--staged was given more than once.",
            "See `ubp stale --help`.",
        ),
        (
            "bind --limit x",
            'Invalid value for --limit: "x" is not a whole number.',
            "See `ubp bind --help`.",
        ),
        (
            "hub gc --upload-hours x",
            'Invalid value for --upload-hours: "x" is not a number.',
            "See `ubp hub gc --help`.",
        ),
    ],
)
def test_wrong_call_names_what_is_wrong_and_the_help_of_its_command(line, message, hint, capsys):
    assert main(shlex.split(line)) == 2
    assert capsys.readouterr().err == f"Error: {message}\n  Hint: {hint}\n"
