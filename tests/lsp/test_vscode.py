"""The VS Code extension's manifest; its code is checked and tested by npm, in a workflow."""

import json
import re
from pathlib import Path, PurePosixPath

from ubp import __version__
from ubp.lsp.server import COMMANDS, SETTING_KEYS

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


def test_contributed_commands_are_those_that_the_extension_registers():
    source = "".join(file.read_text() for file in (EXTENSION / "src").glob("*.ts"))
    registered = set(re.findall(r'register\(\s*"(ubp\.\w+)"', source))
    listed = {command["command"] for command in MANIFEST["contributes"]["commands"]}
    assert registered - listed == {"ubp.openPlace", "ubp.openProposal"}  # behind lines of the view
    assert listed <= registered


def test_keys_and_menus_name_contributed_commands():
    contributed = MANIFEST["contributes"]
    listed = {command["command"] for command in contributed["commands"]}
    menus = [entry for menu in contributed["menus"].values() for entry in menu]
    assert {entry["command"] for entry in [*contributed["keybindings"], *menus]} <= listed
    keys = {entry["key"]: entry["command"] for entry in contributed["keybindings"]}
    assert keys == {
        "a": "ubp.acceptProposal",
        "r": "ubp.rejectProposal",
        "s": "ubp.skipProposal",
        "u": "ubp.undoDecision",
        "ctrl+enter": "ubp.applyDecisions",
    }


def test_files_that_the_manifest_names_exist_and_are_packaged():
    contributed = MANIFEST["contributes"]
    steps = [step for walk in contributed["walkthroughs"] for step in walk["steps"]]
    named = {
        MANIFEST["icon"],
        *(container["icon"] for container in contributed["viewsContainers"]["activitybar"]),
        *(step["media"]["markdown"] for step in steps),
    }
    packaged = [
        line.removeprefix("!")
        for line in (EXTENSION / ".vscodeignore").read_text().splitlines()
        if line.startswith("!")
    ]
    for name in named:
        assert (EXTENSION / name).is_file()
        assert any(PurePosixPath(name).match(pattern.replace("**", "*")) for pattern in packaged)


def test_settings_of_extension_are_those_of_the_server():
    properties = MANIFEST["contributes"]["configuration"]["properties"]
    diagnostics = {name for name in properties if name.startswith("ubp.diagnostics.")}
    assert diagnostics == {f"ubp.diagnostics.{key}" for key in SETTING_KEYS}
