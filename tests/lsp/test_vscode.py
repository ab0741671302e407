"""The VS Code extension's manifest; its code is checked and tested by npm, in a workflow."""

import json
import re
from pathlib import Path

from ubp import __version__
from ubp.lsp.server import COMMANDS

EXTENSION = Path(__file__).parents[2] / "editors/vscode"
MANIFEST = json.loads((EXTENSION / "package.json").read_text())


def test_extension_has_the_version_of_the_package():
    assert MANIFEST["version"] == __version__


def test_commands_of_extension_and_server_do_not_collide():
    own = {command["command"] for command in MANIFEST["contributes"]["commands"]}
    assert own.isdisjoint(name for name, _ in COMMANDS)


def test_extension_asks_for_commands_that_the_server_has():
    asked = re.findall(r'execute\(client, "([\w.]+)"', (EXTENSION / "src/requests.ts").read_text())
    assert asked
    assert set(asked) <= {name for name, _ in COMMANDS}
