"""Programs from npm: the clients of the TypeScript SDK, the inspector, the conformance suite.

The suite speaks HTTP only, so it reaches the server over a bridge on loopback. Of its scenarios
those are run that ask nothing but what every server has: the others call tools of its own.
"""

import json
import os
import shutil
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
SCENARIOS = ("server-initialize", "ping", "tools-list", "resources-list", "prompts-list")
CLIENT = Path(__file__).with_name("typescript_client.mjs")
BRIDGE = Path(__file__).parents[2] / "benchmarks/agents/bridge.py"


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


@pytest.mark.usefixtures("served")
def test_conformance_suite_of_the_protocol_passes(npm, repository):
    with subprocess.Popen(
        [sys.executable, str(BRIDGE), str(repository.root)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=os.environ,
        text=True,
    ) as bridge:
        address = bridge.stdout.readline().strip()
        suite = str(npm / "node_modules/.bin/conformance")
        for scenario in SCENARIOS:
            report = run(suite, "server", "--url", address, "--scenario", scenario, cwd=npm)
            assert "1 passed" in report or "Passed: 1/1, 0 failed" in report
        bridge.stdin.close()
