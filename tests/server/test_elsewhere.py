"""Programs from npm: the clients of the TypeScript SDK, the inspector, the conformance suite.

The suite calls tools, resources and prompts of its own: `conformance_server.py` has those that UBP
can have, `EXPECTED_FAILURES` the scenarios about others.
"""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from ubp.server.tools.registry import select_tools

pytestmark = pytest.mark.slow

# By the node that they need at least, the newest first: the latest releases, and the last ones of
# the suite and the inspector that run on node 20. Of that inspector, the command line alone is
# installed, without the 100 MB of its pages.
PACKAGES = {
    22: ("client@2.4", "conformance@0.1.16", "inspector@2.12", "sdk@1.32"),
    20: ("client@2.4", "conformance@0.1.10", "inspector-cli@0.17", "sdk@1.32"),
}
NOT_TEXT = "answers are texts, of which a client may ask for the record"
NO_LOGGING = "the server announces no logging: its log is a file"
NO_SAMPLING = "UBP asks no model through the client"
NO_ELICITATION = "UBP asks people nothing through the client"
ONE_ARGUMENT = "each prompt has one argument, which is required, and others are refused"
# Scenarios of the suite that ask for what UBP does not have, with the reason.
EXPECTED_FAILURES = {
    "logging-set-level": NO_LOGGING,
    "tools-call-with-logging": NO_LOGGING,
    "tools-call-image": NOT_TEXT,
    "tools-call-audio": NOT_TEXT,
    "tools-call-embedded-resource": NOT_TEXT,
    "tools-call-mixed-content": NOT_TEXT,
    "resources-read-binary": NOT_TEXT,
    "tools-call-sampling": NO_SAMPLING,
    "tools-call-elicitation": NO_ELICITATION,
    "elicitation-sep1034-defaults": NO_ELICITATION,
    "elicitation-sep1330-enums": NO_ELICITATION,
    "json-schema-2020-12": "schemas are made from requests, which need no definitions",
    "prompts-get-simple": ONE_ARGUMENT,
    "prompts-get-with-args": ONE_ARGUMENT,
    "prompts-get-embedded-resource": ONE_ARGUMENT,
    "prompts-get-with-image": NOT_TEXT,
}
LEAST_PASSED = 14
CLIENT = Path(__file__).with_name("typescript_client.mjs")
FIXTURES = Path(__file__).with_name("conformance_server.py")


@pytest.fixture(scope="module")
def npm(module_environment, tmp_path_factory):
    """A folder with the packages."""
    tool = shutil.which("npm")
    if tool is None or shutil.which("node") is None:
        pytest.skip("npm is not installed")
    version = subprocess.run(["node", "--version"], capture_output=True, check=True, text=True)
    major = int(version.stdout.strip().removeprefix("v").partition(".")[0])
    packages = next((names for needed, names in PACKAGES.items() if major >= needed), None)
    if packages is None:
        pytest.skip(f"node is older than {min(PACKAGES)}")
    folder = tmp_path_factory.mktemp("npm")
    names = [f"@modelcontextprotocol/{name}" for name in packages]
    (folder / "package.json").write_text("{}")
    done = subprocess.run(
        [tool, "install", "--no-audit", "--no-fund", *names],
        cwd=folder,
        env=module_environment,
        capture_output=True,
        check=False,
        text=True,
    )
    if done.returncode:
        pytest.skip(f"npm could not install: {done.stderr[-300:]}")
    # The inspector's command line presents itself as the package that it is a part of.
    whole = {"name": "@modelcontextprotocol/inspector", "version": "0.17.5"}
    (folder / "node_modules/@modelcontextprotocol/package.json").write_text(json.dumps(whole))
    shutil.copy(CLIENT, folder)
    return folder


@pytest.fixture
def served(repository):
    """A repository with a page, and the command that serves it."""
    repository.write("docs/a.md", "---\ntitle: First\nsource_refs: [src/a.py]\n---\n# A\n")
    repository.write("src/a.py", "1\n")
    repository.commit()
    return [
        sys.executable,
        "-m",
        "ubp",
        "--quiet",
        "-C",
        str(repository.root),
        "serve",
        "--output-schema",
    ]


def run(*command, cwd):
    done = subprocess.run(command, cwd=cwd, capture_output=True, check=False, text=True)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return done.stdout


@pytest.mark.parametrize(("era", "protocol"), [("modern", "2026-07-28"), ("legacy", "handshake")])
def test_typescript_sdk_works_with_the_server(npm, served, era, protocol):
    assert json.loads(run("node", CLIENT.name, era, *served, cwd=npm)) == {
        "protocol": protocol,
        "tools": [tool.name for tool in select_tools()],
        "title": "First",
        "errors": [-32602, -32003],
        "resource": "text/markdown",
        "prompt": "user",
        "completion": ["docs/a.md"],
    }


@pytest.mark.parametrize(
    ("arguments", "key"),
    [
        (["tools/call", "--tool-name", "ubp_get_page", "--tool-arg", "filepath=docs/a.md"], ""),
        (["resources/read", "--uri", "ubp://graph"], "contents"),
    ],
)
def test_inspector_works_with_the_server(npm, served, arguments, key):
    (inspector,) = map(str, (npm / "node_modules/.bin").glob("mcp-inspector*"))
    answer = json.loads(run(inspector, "--cli", *served, "--method", *arguments, cwd=npm))
    assert answer[key or "structuredContent"]


def test_conformance_suite_of_the_protocol_fails_only_where_expected(npm, repository):
    repository.write("docs/a.md", "# A\n")
    repository.commit()
    with subprocess.Popen(
        [sys.executable, str(FIXTURES), str(repository.root)],
        stderr=subprocess.PIPE,
        env=os.environ,
        text=True,
    ) as server:
        address = next(line for line in server.stderr if line.startswith("Serving at")).split()[2]
        suite = [str(npm / "node_modules/.bin/conformance"), "server", "--url", address]
        done = subprocess.run(suite, cwd=npm, capture_output=True, check=False, text=True)
        server.send_signal(signal.SIGTERM)
        server.stderr.read()
    results = re.findall(r"^[✓✗~] ([\w-]+): (\d+) passed, (\d+) failed", done.stdout, re.MULTILINE)
    failed = {scenario for scenario, _, number in results if number != "0"}
    passed = {scenario for scenario, number, _ in results if number != "0"} - failed
    assert failed <= EXPECTED_FAILURES.keys(), done.stdout
    assert not passed & EXPECTED_FAILURES.keys(), "no failure is expected any more"
    assert len(passed) >= LEAST_PASSED, done.stdout
