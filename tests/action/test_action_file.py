"""The action and the workflows, checked by the linters of other projects."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from ubp.git.command import OPTIONS

ROOT = Path(__file__).resolve().parent.parent.parent
SCRIPTS = Path(sys.executable).parent
ACTION = ROOT / "action.yml"
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
STEPS = [step for step in yaml.safe_load(ACTION.read_text())["runs"]["steps"] if "run" in step]


def run(program, *words, stdin=""):
    return subprocess.run(
        [SCRIPTS / program, *words],
        cwd=ROOT,
        input=stdin,
        capture_output=True,
        text=True,
        check=False,
    )


def test_action_fits_the_schema_of_actions():
    done = run("check-jsonschema", "--builtin-schema", "vendor.github-actions", str(ACTION))
    assert done.returncode == 0, done.stdout


def test_zizmor_finds_nothing_in_the_action_and_the_workflows():
    done = run("zizmor", "--offline", "--no-progress", str(ACTION), *map(str, WORKFLOWS))
    assert done.returncode == 0, done.stdout


def test_actionlint_finds_nothing_in_the_workflows_and_how_they_use_the_action():
    done = run("actionlint", "-no-color", *map(str, WORKFLOWS))
    assert (done.returncode, done.stdout) == (0, "")


def test_only_one_workflow_publishes_on_the_forge_s_pages():
    publishing = [file.name for file in WORKFLOWS if "actions/deploy-pages@" in file.read_text()]
    assert publishing == ["site.yml"]  # each deployment replaces the whole site


@pytest.mark.parametrize("step", STEPS, ids=lambda step: step["name"])
def test_shellcheck_finds_nothing_in_any_step(step):
    script = f"#!/bin/bash -e\n{step['run']}"
    # SC2154: what the step's `env` gives is assigned nowhere in it.
    done = run("shellcheck", "--exclude=SC2154", "-", stdin=script)
    assert (done.returncode, done.stdout) == (0, "")


@pytest.mark.parametrize("step", STEPS, ids=lambda step: step["name"])
def test_inputs_reach_the_shell_only_through_the_environment(step):
    assert step["shell"] == "bash"
    assert "${{" not in step["run"]
    assert all(re.fullmatch(r"\$\{\{ [\w.-]+ \}\}(/\S+)?", v) for v in step["env"].values())


def test_every_call_of_git_has_the_options_that_ubp_passes():
    function = re.compile(r"^git\(\) \{\n(?P<body>.*?)^\}\n", re.MULTILINE | re.DOTALL)
    bodies = set()
    for step in STEPS:
        script = re.sub(r"#.*", "", step["run"])
        definition = function.search(script)
        before = script[: definition.start()] if definition else script
        after = script[definition.end() :] if definition else ""
        assert not re.search(r"\bgit [a-z-]", before), step["name"]
        # These start the program, not the function; a shell that got the function starts that.
        after = after.replace("xargs -0 bash -c 'git ", "")
        assert not re.search(r"\b(xargs|command|env|exec)\b[^\n|;]*\bgit\b", after), step["name"]
        if definition:
            bodies.add(" ".join(definition["body"].replace("\\\n", " ").split()))
    (body,) = bodies
    assert f'command git {" ".join(OPTIONS)} "$@"' in body
    assert "GIT_NO_REPLACE_OBJECTS=1" in body


@pytest.mark.parametrize("step", STEPS, ids=lambda step: step["name"])
def test_steps_start_outside_the_checkout_and_isolate_python(step):
    assert step["working-directory"] == "${{ runner.temp }}"
    assert {*re.findall(r'python"? (-\S+)', step["run"])} <= {"-I"}
