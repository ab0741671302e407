"""What README.md and docs/ show was run or is generated from the code.

`UPDATE_DOCS=1 pytest tests/test_docs.py` pastes what is true now; review the diff.
"""

import contextlib
import io
import json
import os
import re
import shlex
import subprocess
import sys
import tomllib
from dataclasses import MISSING, fields
from inspect import cleandoc
from pathlib import Path
from types import SimpleNamespace, UnionType
from typing import Literal, Union, get_args, get_origin, get_type_hints

import pytest
import yaml

from ubp import __version__
from ubp.__main__ import main
from ubp.checks.registry import RULES
from ubp.cli.answers import make_request, options_of
from ubp.cli.app import build_app
from ubp.cli.commands import ROWS
from ubp.cli.terminal import Options, Terminal
from ubp.frame.fields import GIVEN
from ubp.frame.schema import option_of, request_schema
from ubp.markdown.sites import generators
from ubp.output.records import RECORDS
from ubp.server.tools.registry import TOOLSETS, load_rows
from ubp.table import ROWS as TABLE
from ubp.table import answer_of, load

ROOT = Path(__file__).resolve().parent.parent
README = ROOT / "README.md"
PAGES = [README, ROOT / "README.ja.md", *sorted((ROOT / "docs").rglob("*.md"))]

LAYERS = {
    "__main__": "the hook's fast calls",
    "cli": "people: commands, options, exit codes",
    "lsp": "editors: the language server",
    "hub": "an organisation: pushes, answers over all repositories, grants, in PostgreSQL",
    "server": "agents: MCP server, scheduler, tools, prompts, resources",
    "output": "values to text, JSON records, CI formats",
    "workspace | errors": "the Python API: opens, joins, delegates",
    "table": "a row for each answer: its command, its tool, its record",
    "answers | kits": (
        "one module for one answer: request, record, run, text | a tool set in a package of its own"
    ),
    "frame": "writers, wording, schemas, encoding, budgets, arguments",
    "sync": "collections from the network, written collections, the user's language model",
    "report | edits | board": (
        "what the report contains | proposals of agents, and their review | what `ubp push` sends"
    ),
    "review": "cases of a change",
    "checks": "rules over a snapshot",
    "bindings": "which sources a document describes",
    "staleness | search": "what drifted, since when | keywords, meaning, links, impact",
    "index": "from a snapshot to facts, and from facts to a view",
    "git | markdown | code": "bytes, history | bytes to document, edits of it | names in sources",
    "core": "model, errors, configuration, paths, text",
}


def transcript_block(transcript, number):
    """One command of a transcript with its output, fenced."""
    text = (ROOT / "tests/transcripts" / f"{transcript}.console").read_text(encoding="utf-8")
    blocks = [b for b in re.split(r"^(?=\$ |#: )", text, flags=re.MULTILINE) if b.startswith("$")]
    return f"```console\n{blocks[int(number) - 1].rstrip()}\n```"


def table(*rows):
    """Rows of cells as a Markdown table, the first of them the header."""
    header, *body = ["| " + " | ".join(cells) + " |" for cells in rows]
    return "\n".join([header, "|" + "---|" * len(rows[0]), *body])


def command_table():
    rows = [(f"`{row.name}`", row.help.splitlines()[0], f"`{row.example}`") for row in ROWS]
    return table(("command", "what it does", "for example"), *rows)


def help_of(command):
    """What `ubp COMMAND --help` prints."""
    with contextlib.redirect_stdout(io.StringIO()) as out:
        assert main(["--no-color", command, "--help"]) == 0
    return out.getvalue().strip()


def command_help():
    return "\n\n".join(f"## {row.name}\n\n```text\n{help_of(row.name)}\n```" for row in ROWS)


def rule_table():
    rows = [(f"`{rule.name}`", rule.severity, rule.summary) for rule in RULES]
    return table(("rule", "severity", "finds"), *rows)


def rule_manuals():
    return "\n\n".join(
        f"## {rule.name}\n\nSeverity: {rule.severity}.\n\n```text\n{rule.manual.strip()}\n```"
        for rule in RULES
    )


def configuration_keys(schema, prefix=""):
    """The keys of a configuration, depth first: name, default, description."""
    for name, value in schema["properties"].items():
        if "properties" in value:
            yield from configuration_keys(value, f"{prefix}{name}.")
        elif name != "$schema":
            default = f"`{json.dumps(value['default'])}`" if "default" in value else ""
            yield (f"`{prefix}{name}`", default, value.get("description", ""))


def configuration_table():
    schema = json.loads((ROOT / "ubp/core/config.schema.json").read_text(encoding="utf-8"))
    return table(("key", "default", "value"), *configuration_keys(schema))


def type_names(schema):
    """The JSON types of a value, of a list with those of its items."""
    if "anyOf" in schema:
        return " or ".join(type_names(part) for part in schema["anyOf"])
    types = schema.get("type", "string")
    names = " or ".join([types] if isinstance(types, str) else types)
    return f"{names} of {type_names(schema['items'])}s" if "items" in schema else names


def describe_tool(tool):
    """A tool's description and its arguments."""
    required = tool.input_schema.get("required", ())
    rows = [
        (
            f"**`{name}`**" if name in required else f"`{name}`",
            type_names(value),
            " ".join(value.get("description", "").split()),
        )
        for name, value in tool.input_schema["properties"].items()
    ]
    arguments = table(("argument", "type", "meaning"), *rows)
    return f"### {tool.name}\n\n{tool.description}\n\n{arguments}"


def tool_manuals():
    return "\n\n".join(
        "\n\n".join([f"## {name}", *(describe_tool(tool) for tool in tools)])
        for name, tools in {
            **TOOLSETS,
            "specs": load_rows("specs"),
            "notes": load_rows("notes"),
            "rag": load_rows("rag"),
        }.items()
    )


def record_table():
    rows = [("record", "keys")]
    for row in RECORDS:
        printed_by = (
            f"`{name} --json`" if name.startswith("ubp ") else name for name in row.returned_by
        )
        names = (f"`{name}`" if name.startswith("ubp_") else name for name in printed_by)
        keys = ", ".join(f"`{key}`" for key in row.schema["properties"])
        rows.append((", ".join(names), keys))
    return table(*rows)


def python_type(hint):
    """A type as Python writes it: choices one by one, without the module."""
    if get_origin(hint) is Literal:
        return " or ".join(json.dumps(value) for value in get_args(hint))
    if get_origin(hint) in {Union, UnionType}:
        return " or ".join(map(python_type, get_args(hint)))
    if get_origin(hint) is tuple:
        return f"tuple of {python_type(get_args(hint)[0])}"
    return "None" if hint is type(None) else hint.__name__


def describe_fields(request):
    """A row for each field of a request that callers set: name, type and default, meaning."""
    limits = request_schema(request)["properties"]
    annotated = get_type_hints(request, include_extras=True)
    hints = get_type_hints(request)
    for field in fields(request):
        if GIVEN in get_args(annotated[field.name]):
            continue
        words = next(
            (word for word in get_args(annotated[field.name])[1:] if isinstance(word, str)), ""
        )
        option = option_of(annotated[field.name])
        schema = limits.get(field.name, {})
        meaning = words or schema.get("description") or (option.help if option else "")
        most = f" to {schema['maximum']:,}" if "maximum" in schema else " or more"
        allowed = f"; {schema['minimum']}{most}" if "minimum" in schema else ""
        default = "" if field.default is MISSING else f"`{field.default!r}`"
        kind = python_type(hints[field.name]) + allowed
        yield (f"`{field.name}`", kind, default, " ".join(meaning.split()).rstrip("."))


def literal(value):
    """A value as Python writes it, with double quotes."""
    if isinstance(value, tuple | list):
        items = ", ".join(map(literal, value))
        return f"({items},)" if len(value) == 1 else f"({items})"
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else repr(value)


def example_request(row):
    """The request that the example of a row's command makes, as Python writes it."""
    answer = load(row)
    known = {field.name: field.default for field in fields(answer.request)}
    given = {}
    if row.command:
        command = row.example.removesuffix(" --json").partition(" | ")[0]
        words = shlex.split(command)[1:]
        _, bound, _ = build_app(Terminal(Options(), sys.stdout, sys.stderr, {})).parse_args(words)
        given = {name: value for name, value in bound.arguments.items() if name in known}
        if not row.by_hand:
            request = make_request(row, answer, options_of(answer), bound.arguments)
            given = {name: getattr(request, name) for name in known}
    arguments = [
        f"{name}={literal(given[name]) if name in given else '...'}"
        for name, default in known.items()
        if (default is MISSING if name not in given else given[name] not in (None, default))
    ]
    return f"{answer.request.__name__}({', '.join(arguments)})"


def describe_request(row):
    """A request with its record, its fields and an example."""
    answer = load(row)
    rows = [("field", "type", "default", "meaning"), *describe_fields(answer.request)]
    keys = ", ".join(f"`{name}`" for name in get_type_hints(answer.record))
    return "\n\n".join(
        [
            f"### {answer.request.__name__}",
            cleandoc(answer.request.__doc__),
            "\n".join(
                [
                    "```python",
                    f"from {row.module} import {answer.request.__name__}",
                    "",
                    f"workspace.ask({example_request(row)})",
                    "```",
                ]
            ),
            *([table(*rows)] if rows[1:] else []),
            f"Returns `{answer.record.__name__}`: {keys}.",
        ]
    )


def request_manuals():
    rows = {load(row).request: row for row in reversed(TABLE)}
    return "\n\n".join(describe_request(row) for row in reversed(rows.values()))


def action_inputs():
    action = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
    rows = [
        (f"`{name}`", f"`{value['default']}`" if value["default"] else "", value["description"])
        for name, value in action["inputs"].items()
    ]
    return table(("input", "default", "meaning"), *rows)


def layer_picture():
    width = max(map(len, LAYERS)) + 8
    return "\n".join(["```", *(f"{name:<{width}}{text}" for name, text in LAYERS.items()), "```"])


GENERATORS = {
    "transcript": transcript_block,
    "commands": command_table,
    "help": command_help,
    "rules": rule_table,
    "manuals": rule_manuals,
    "configuration": configuration_table,
    "tools": tool_manuals,
    "records": record_table,
    "requests": request_manuals,
    "action-inputs": action_inputs,
    "layers": layer_picture,
}
BLOCK = re.compile(
    rf"<!-- (({'|'.join(GENERATORS)})(?: [^>]*?)?) -->\n(?:.*?\n)??<!-- end -->", re.DOTALL
)


def paste(match):
    kind, *arguments = match[1].split()
    return f"<!-- {match[1]} -->\n{GENERATORS[kind](*arguments)}\n<!-- end -->"


def repository():
    """The address of this repository, OWNER until it is published."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return project["urls"]["Repository"]


def paste_addresses(text):
    """The text with this repository's address and newest release in configurations to paste."""
    name = repository().removeprefix("https://github.com/")
    major = __version__.partition(".")[0]
    text = re.sub(r"uses: [\w.-]+/ubp@[\w.]+", f"uses: {name}@v{major}", text)
    return re.sub(
        r"repo: https://\S+/ubp\n( +)rev: \S+",
        lambda match: f"repo: {repository()}\n{match[1]}rev: v{__version__}",
        text,
    )


def test_each_generator_can_be_configured_and_is_described():
    schema = json.loads((ROOT / "ubp/core/config.schema.json").read_text(encoding="utf-8"))
    generator = schema["properties"]["sites"]["items"]["properties"]["generator"]
    known = [row.style.name for row in generators.GENERATORS]
    page = (ROOT / "docs/reference/configuration.md").read_text(encoding="utf-8")
    described = re.findall(r"^\| `(\w+)` \| [^|]+ \| [^|]+ \|$", page, re.MULTILINE)
    assert sorted(generator["enum"]) == sorted([*known, "none"])
    assert generator["description"] == f"one of {', '.join(generator['enum'])}"
    assert [name for name in described if name in known] == [
        name for name in generator["enum"] if name != "none"
    ]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_what_a_page_shows_is_true(page):
    text = page.read_text(encoding="utf-8")
    pasted = paste_addresses(BLOCK.sub(paste, text))
    if os.environ.get("UPDATE_DOCS"):
        page.write_text(pasted, encoding="utf-8", newline="\n")
    else:
        assert pasted == text, "UPDATE_DOCS=1 pastes what is true now; review it."


def test_addresses_of_the_package_are_in_its_repository():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert all(url.startswith(repository()) for url in project["urls"].values())
    text = README.read_text(encoding="utf-8")
    assert f"  - repo: {repository()}\n    rev: v{__version__}\n" in text
    assert f"uses: {repository().removeprefix('https://github.com/')}@v" in text


def test_layers_of_the_picture_are_those_of_the_import_contract():
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    layers = next(c for c in contracts["contracts"] if c["type"] == "layers")["layers"]
    assert list(LAYERS) == layers


def test_ci_runs_the_command_of_the_readme():
    development = README.read_text(encoding="utf-8").partition("## Development")[2]
    command = re.search(r"```console\n\$ (.*?)\n```", development)[1]
    assert (ROOT / ".ci/run").read_text().splitlines()[-1] == command
    assert f"run: {command.replace('python3', 'python')}" in (
        ROOT / ".github/workflows/ci.yml"
    ).read_text(encoding="utf-8")


def test_documentation_has_no_findings_besides_staleness():
    rules = [rule.name for rule in RULES if rule.name not in {"stale-doc", "obsolete-debt"}]
    done = subprocess.run(
        [sys.executable, "-m", "ubp", "check", *(f"--rule={name}" for name in rules)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, ""), done.stdout


def test_python_example_prints_stale_references(repository):
    repository.write("src/session.py", "ttl = 30\n")
    repository.page("docs/sessions.md", "src/session.py")
    repository.commit()
    repository.write("src/session.py", "ttl = 15\n")
    repository.commit()
    page = (ROOT / "docs/reference/python.md").read_text(encoding="utf-8")
    example = re.search(r"```python\n(.*?)```", page, re.DOTALL)[1]
    done = subprocess.run(
        [sys.executable, "-c", example],
        cwd=repository.root,
        capture_output=True,
        text=True,
        check=True,
    )
    path, source, verdict, _ = done.stdout.split(maxsplit=3)
    assert (path, source, verdict) == ("docs/sessions.md", "src/session.py", "modified")


def test_guide_names_every_tool_that_is_offered_by_default():
    guide = (ROOT / "docs/guide/agents.md").read_text(encoding="utf-8")
    tools = {tool.name for tools in TOOLSETS.values() for tool in tools}
    assert {name for name in tools if f"`{name}`" not in guide} == set(), "By hand: agents.md."


def test_guide_names_every_command_that_reads_collections():
    guide = (ROOT / "docs/guide/collections.md").read_text(encoding="utf-8")
    commands = {
        row.command
        for row in TABLE
        if row.command and " " not in row.command and load(row).reads_collections
    }
    named = re.search(r"^(.*)take `--in NAME`", guide, re.MULTILINE)[1]
    assert set(re.findall("`([a-z-]+)`", named)) == commands, "By hand: collections.md."


def test_examples_of_requests_make_requests_of_the_table():
    page = (ROOT / "docs/reference/python.md").read_text(encoding="utf-8")
    requests = page.partition("<!-- requests -->")[2]
    asked = []
    for example in re.findall(r"```python\n(.*?)```", requests, re.DOTALL):
        exec(example, {"workspace": SimpleNamespace(ask=asked.append)})
    assert {answer_of(request).request for request in asked} == {load(row).request for row in TABLE}


@pytest.mark.parametrize(
    "page", [*PAGES, ROOT / "SECURITY.md"], ids=lambda page: str(page.relative_to(ROOT))
)
def test_pages_of_the_repository_have_no_front_matter_that_forges_show_as_a_table(page):
    assert not page.read_text(encoding="utf-8").startswith(("---\n", "+++\n"))


def test_index_of_benchmarks_names_every_script():
    index = (ROOT / "benchmarks/README.md").read_text(encoding="utf-8")
    scripts = {
        module.relative_to(ROOT / "benchmarks").as_posix()
        for module in (ROOT / "benchmarks").rglob("*.py")
        if '__name__ == "__main__"' in module.read_text(encoding="utf-8")
    }
    assert {script for script in scripts if f"`{script}" not in index} == set()
