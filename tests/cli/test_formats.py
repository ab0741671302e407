"""One run, every format: on stdout, and in files."""

import json
import os
import tempfile
from typing import get_args

import pytest

from ubp.__main__ import main
from ubp.cli.outputs import NAMES
from ubp.cli.terminal import Format

CONTENT = {
    "text": lambda text: text.startswith("docs/a.md:4"),
    "json": lambda text: "summary" in json.loads(text),
    "github": lambda text: text.startswith("::error file=docs/a.md,line=4"),
    "sarif": lambda text: json.loads(text)["version"] == "2.1.0",
    "rdjson": lambda text: json.loads(text)["source"] == {"name": "ubp"},
    "gitlab": lambda text: json.loads(text)[0]["check_name"] == "stale-doc",
    "markdown": lambda text: text.startswith("### UBP: "),
    "suggestions": lambda text: json.loads(text) == {"suggestions": []},
}


def test_table_of_formats_equals_the_choices_of_the_option():
    assert get_args(Format) == NAMES


@pytest.mark.parametrize("name", CONTENT)
@pytest.mark.parametrize("command", ["check", "stale"])
def test_formats_are_printed_and_written_equally(drifted, ubp, command, name):
    status = 1 if command == "check" else 0
    printed = ubp(drifted, command, "--format", name)
    assert (printed.status, printed.err) == (status, "")
    assert CONTENT[name](printed.out)
    also = ubp(drifted, command, "--format", "github", "--output-file", f"{name}=out.txt")
    assert (also.status, also.err) == (status, "")
    assert CONTENT["github"](also.out)
    written = (drifted.root / "out.txt").read_text()
    if name == "json":
        assert json.loads(written) == json.loads(printed.out)
    else:
        assert written == printed.out


def test_single_run_prints_many_formats(drifted, ubp):
    (drifted.root / "out").mkdir()
    pairs = [f"{name}=out/{name}" for name in CONTENT]
    options = [word for pair in pairs for word in ("--output-file", pair)]
    answer = ubp(drifted, "stale", "--format", "github", *options)
    assert CONTENT["github"](answer.out)
    assert sorted(os.listdir(drifted.root / "out")) == sorted(CONTENT)
    for name, is_right in CONTENT.items():
        assert is_right((drifted.root / "out" / name).read_text())


def test_format_json_is_json(drifted, ubp):
    for command in ("check", "stale"):
        asked = ubp(drifted, command, "--json")
        assert ubp(drifted, command, "--format", "json") == asked
        assert ubp(drifted, command, "--format=json", "--json") == asked
    for error in (["--nonsense"], ["missing.md"], ["--base", "missing"]):
        assert ubp(drifted, "stale", "--format", "json", *error).record["error"]["message"]


def test_fix_is_shown_in_every_format_too(repository, ubp):
    repository.write("a.md", "[b](docs/b.md) [no](no.md)\n")
    repository.write("docs/b.md", "# B\n")
    repository.commit()
    repository.git("mv", "docs/b.md", "docs/c.md")
    answer = ubp(repository, "check", "--fix", "--format", "gitlab", "--output-file", "text=out")
    assert [issue["description"] for issue in answer.record] == ["no.md does not exist."]
    assert (repository.root / "out").read_text().startswith("a.md:1  docs/b.md -> docs/c.md\n")


def test_file_is_replaced_as_a_whole(drifted, ubp):
    out = drifted.root / "docs" / "out.json"
    out.write_text("old")
    out.chmod(0o600)
    answer = ubp(drifted, "check", "-q", "--output-file", f"json={out}")
    assert (answer.status, json.loads(out.read_text())["is_change"]) == (1, False)
    assert sorted(os.listdir(out.parent)) == ["a.md", "b.md", "out.json"]


@pytest.mark.parametrize(
    ("tokens", "expected"),
    [
        (["--format", "nonsense"], "Invalid value"),
        (["--json", "--format", "sarif"], "--json cannot be combined with --format sarif."),
        (["--output-file", "sarif"], "Invalid --output-file: sarif."),
        (["--output-file", "sarif="], "Invalid --output-file: sarif=."),
        (["--output-file", "nonsense=x"], "Invalid --output-file: nonsense=x."),
        (["--output-file", "sarif=no/x"], "Cannot write no/x."),
        (["--output-file", "sarif=docs"], "Cannot write docs."),
        (["--output-file", "sarif=link"], "Cannot write link."),
        (
            ["--output-file", "sarif=x", "--output-file", "json=./x"],
            "Duplicate --output-file path: x.",
        ),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_invalid_format_is_reported_by_name(drifted, ubp, tokens, expected):
    os.symlink("elsewhere", drifted.root / "link")
    for command in ("check", "stale"):
        answer = ubp(drifted, command, *tokens)
        assert answer.status == 2
        assert expected in (answer.record["error"]["message"] if "--json" in tokens else answer.err)
    assert not (drifted.root / "elsewhere").exists()


@pytest.fixture
def outside(drifted, tmp_path):
    """A folder outside the repository, to which committed links lead: `build`, and `a/b/link`."""
    folder = tmp_path / "outside"
    (folder / "sub").mkdir(parents=True)
    for name in ("ubp.out", "sub/ubp.out"):
        (folder / name).write_text("mine")
    (drifted.root / "a" / "b").mkdir(parents=True)
    for link in ("build", "a/b/link"):
        os.symlink(folder, drifted.root / link)
    return folder


@pytest.mark.parametrize(
    "command",
    [
        "check --output-file sarif=build/ubp.out",
        "check --output-file json=./build//ubp.out",
        "check --output-file text=build/sub/ubp.out",
        "check --output-file gitlab=build/sub/../ubp.out",
        "check --output-file sarif=docs/../a/b/link/ubp.out",
        "check --output-file sarif={root}/build/ubp.out",
        "stale --output-file markdown=build/ubp.out",
        "report --html a/b/link/ubp.out --graph",
        "badge --output build/ubp.out",
        "get-graph --format html --output build/ubp.out",
    ],
)
def test_an_output_below_a_link_in_the_repository_is_refused(drifted, ubp, outside, command):
    answer = ubp(drifted, *command.format(root=drifted.root).split())
    assert answer.status == 2
    assert "is a symbolic link in a repository" in answer.err
    files = sorted(file for file in outside.rglob("*") if file.is_file())
    assert [file.read_text() for file in files] == ["mine", "mine"]
    assert len(files) == 2


def test_an_output_below_a_link_outside_of_repositories_is_written(drifted, ubp, tmp_path):
    (tmp_path / "real").mkdir()
    os.symlink("real", tmp_path / "link")
    ubp(drifted, "check", "--output-file", f"json={tmp_path / 'link' / 'ubp.json'}")
    assert json.loads((tmp_path / "real" / "ubp.json").read_text())["schema_version"]


@pytest.mark.skipif(not os.access("/dev/shm", os.W_OK), reason="needs /dev/shm")
def test_file_below_dev_is_not_a_stream(drifted, ubp):
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        link = os.path.join(folder, "link")
        os.symlink("elsewhere", link)
        answer = ubp(drifted, "check", "--output-file", f"sarif={link}")
        assert (answer.status, os.listdir(folder)) == (2, ["link"])


def test_full_disk_leaves_the_old_file(drifted, ubp, monkeypatch):
    out = drifted.root / "out.json"
    out.write_text("old")

    def refuse(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", refuse)
    answer = ubp(drifted, "check", "--output-file", "json=out.json")
    assert answer.status == 2
    assert answer.err == (
        "Error: Cannot write out.json.\n  Cause: No space left on device.\n"
        "  Hint: Use a path in a writable directory.\n"
    )
    assert out.read_text() == "old"
    assert not list(drifted.root.glob("out.json.*"))


def test_paths_are_relative_to_the_working_directory(drifted, capsys):
    folder = str(drifted.root / "docs")
    main(["-C", folder, "stale", "--output-file", "markdown=out.md"])
    assert (drifted.root / "docs" / "out.md").read_text().startswith("### UBP")
    assert main(["-C", folder, "stale", "--output-file", "markdown=docs/out.md"]) == 2
    assert "The directory docs does not exist" in capsys.readouterr().err


def test_old_debts_are_not_in_a_change(drifted, ubp):
    drifted.write("src/b.py", "3\n")
    drifted.git("add", "--all")
    for name in ("github", "gitlab", "markdown", "rdjson", "sarif"):
        for command in ("check", "stale"):
            answer = ubp(drifted, command, "--staged", "--format", name)
            assert answer.status == 1
            assert "docs/b.md" in answer.out
            assert "docs/a.md" not in answer.out


def test_shell_completes_the_names_of_formats(drifted, ubp):
    answer = ubp(drifted, "--install-completion", "--shell", "bash", "--json")
    with open(answer.record["path"], encoding="utf-8") as file:
        choices = f"({' '.join(map(json.dumps, NAMES))})"
        assert file.read().count(choices) == 2  # of `check`, and of `stale`
