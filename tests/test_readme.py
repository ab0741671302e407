"""What the README shows was run: its transcripts, its table of commands, its picture of the house.

`UPDATE_README=1 pytest tests/test_readme.py` pastes what is true now; review it.
"""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

from ubp.checks.registry import RULES
from ubp.cli.commands import ROWS

ROOT = Path(__file__).resolve().parent.parent
README = ROOT / "README.md"
TEXT = README.read_text(encoding="utf-8")


def block_of(transcript, number):
    """One command of a transcript with its output, fenced."""
    text = (ROOT / "tests/transcripts" / f"{transcript}.console").read_text(encoding="utf-8")
    blocks = [b for b in re.split(r"^(?=\$ |#: )", text, flags=re.MULTILINE) if b.startswith("$")]
    return f"```console\n{blocks[number - 1].rstrip()}\n```"


def command_table():
    """The commands, what they do and a call of each."""
    rows = [f"| `{row.name}` | {row.help.splitlines()[0]} | `{row.example}` |" for row in ROWS]
    return "\n".join(["| command | what it does | for example |", "|---|---|---|", *rows])


def rule_table():
    """The rules of `ubp check`, their severities and what they find."""
    rows = [f"| `{rule.name}` | {rule.severity} | {rule.summary} |" for rule in RULES]
    return "\n".join(["| rule | severity | finds |", "|---|---|---|", *rows])


def generated(marker):
    kind, *arguments = marker.split()
    if kind == "transcript":
        return block_of(arguments[0], int(arguments[1]))
    tables = {"commands": command_table, "rules": rule_table}
    return tables[kind]()


def test_what_the_readme_shows_is_what_is_true():
    def paste(match):
        return f"<!-- {match[1]} -->\n{generated(match[1])}\n<!-- end -->"

    pasted = re.sub(
        r"<!-- ((?:transcript|commands|rules)[^>]*?) -->\n(?:.*?\n)??<!-- end -->",
        paste,
        TEXT,
        flags=re.DOTALL,
    )
    if os.environ.get("UPDATE_README"):
        README.write_text(pasted, encoding="utf-8", newline="\n")
    else:
        assert pasted == TEXT


def test_the_picture_of_the_house_is_the_import_contract():
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    layers = next(c for c in contracts["contracts"] if c["type"] == "layers")["layers"]
    picture = re.search(r"```\n(__main__.*?)```", TEXT, re.DOTALL)[1]
    drawn = [re.split(r"\s{2,}", line)[0] for line in picture.splitlines()]
    assert drawn == layers


def test_ci_does_what_the_readme_tells():
    told = re.search(r"## Development.*?```console\n(.*?)```", TEXT, re.DOTALL)[1]
    commands = [line.removeprefix("$ ") for line in told.splitlines()]
    script = (ROOT / ".ci/run").read_text().splitlines()
    assert script[-len(commands) :] == commands


def test_the_python_example_runs(repository):
    repository.write("src/session.py", "ttl = 30\n")
    repository.page("docs/sessions.md", "src/session.py")
    repository.commit()
    repository.write("src/session.py", "ttl = 15\n")
    repository.commit()
    example = re.search(r"## Python.*?```python\n(.*?)```", TEXT, re.DOTALL)[1]
    done = subprocess.run(
        [sys.executable, "-c", example],
        cwd=repository.root,
        capture_output=True,
        text=True,
        check=True,
    )
    path, source, verdict, _ = done.stdout.split(maxsplit=3)
    assert (path, source, verdict) == ("docs/sessions.md", "src/session.py", "modified")
