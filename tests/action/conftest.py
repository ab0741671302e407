"""A runner in small: it runs the steps of `action.yml` in a checkout, as GitHub's would.

The network alone is played: a bare repository stands for the remote, a script for `gh`, and the
installation is the one that runs the tests, but where a test asks for a real one.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest
import yaml

ROOT = Path(__file__).resolve().parent.parent.parent
ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
EXPRESSION = re.compile(r"\$\{\{\s*([\w.-]+)\s*\}\}")
CONDITION = re.compile(r"(?P<name>[\w.-]+) (?P<is>==|!=) '(?P<value>[^']*)'")
NOW = 1_700_000_000 + 12 * 86_400

LOGINS = {"token": "github-actions[bot]", "personal": "ann", "read-only": "github-actions[bot]"}

GH = """#!{python} -I
import json, os, pathlib, re, sys
state = pathlib.Path(os.environ["GH_STATE"])
words = sys.argv[1:]
token = os.environ.get("GH_TOKEN", "")
login = {logins}.get(token)
comments = json.loads(state.read_text()) if state.exists() else {{}}
field = [w.partition("=")[2] for w in words if w.startswith("body=@")]
assert words.pop(0) == "api"
if words[0] == "graphql":
    query = "query=query {{ viewer {{ login }} }}"
    assert words[1:] == ["--field", query, "--jq", ".data.viewer.login"]
    if login is None:
        sys.exit("gh: Bad credentials (HTTP 401)")
    print(login)
    sys.exit()
path = next(w for w in words if w.startswith(("repos/", "user")))
if token == "read-only" or login is None or (path == "user" and login.endswith("[bot]")):
    sys.exit("gh: Resource not accessible by integration (HTTP 403)")
reviews = state.with_name("reviews.json")
if path.endswith("/files"):
    assert words[words.index("--jq") + 1] == ".[] | {{filename, patch}} | tojson"
    print(state.with_name("files").read_text(), end="")
    sys.exit()
if path.endswith(("/reviews", "pulls/1/comments")):
    made = json.loads(reviews.read_text()) if reviews.exists() else []
    if "POST" in words:
        review = json.loads(pathlib.Path(words[words.index("--input") + 1]).read_text())
        made.append({{"author": login, **review}})
        reviews.write_text(json.dumps(made))
    else:
        author = re.search(r'[.]user[.]login == "([^"]*)"', words[words.index("--jq") + 1])[1]
        for review in made:
            if review["author"] == author:
                for comment in review["comments"]:
                    print(comment["body"].split("\\n")[0])
    sys.exit()
if "PATCH" in words:
    comments[path.rpartition("/")[2]]["body"] = pathlib.Path(field[0][1:]).read_text()
elif "POST" in words:
    body = pathlib.Path(field[0][1:]).read_text()
    comments[str(100 + len(comments))] = {{"author": login, "body": body}}
else:
    program = words[words.index("--jq") + 1]
    author = re.search(r'[.]user[.]login == "([^"]*)"', program)
    mark = re.search(r'startswith[(]"([^"]*)"[)]', program)[1]
    for number, comment in comments.items():
        if comment["body"].startswith(mark) and (not author or comment["author"] == author[1]):
            print(number)
state.write_text(json.dumps(comments))
"""


class Job(NamedTuple):
    """What a run left behind: its log, exit status, outputs, summary, and the steps' own lines.

    `seconds` are those of each step, by the clock and of CPU.
    """

    status: int
    log: str
    outputs: dict[str, str]
    summary: str
    steps: dict[str, str]
    seconds: dict[str, tuple[float, float]]

    def transcript(self):
        """Return all that a user sees, on one page."""
        outputs = "".join(f"{name}={value}\n" for name, value in sorted(self.outputs.items()))
        log = self.steps["Run UBP"]
        return f"== log\n{log}== summary\n{self.summary}== outputs\n{outputs}[{self.status}]\n"


class Runner:
    """A remote repository, and checkouts of it that the action runs in."""

    def __init__(self, work, remote):
        self.action = ACTION
        self.work = work
        self.remote = remote
        self.comments = work / "comments.json"
        self.reviews = work / "reviews.json"
        self._runs = 0
        self._bin = work / "bin"
        self._bin.mkdir()
        gh = self._bin / "gh"
        gh.write_text(GH.format(python=sys.executable, logins=LOGINS), newline="\n")
        gh.chmod(0o755)
        self._python = work / "python"
        self._python.mkdir()
        (self._python / "python").symlink_to(sys.executable)
        self._search = (str(self._bin), str(self._python))

    def find_program(self, name):
        """The path of a program that the steps find, before any that a test adds."""
        return shutil.which(name, path=os.pathsep.join([*self._search, os.environ["PATH"]]))

    def checkout(self, commit, ref):
        """A folder as actions/checkout leaves it: one commit deep."""
        self._runs += 1
        place = self.work / f"checkout{self._runs}"
        place.mkdir()
        git = ["git", "-C", str(place)]
        for words in (
            ["init", "--quiet"],
            ["remote", "add", "origin", self.remote.as_uri()],
            ["fetch", "--quiet", "--no-tags", "--depth=1", "origin", f"+{commit}:{ref}"],
            ["checkout", "--quiet", "--force", ref],
        ):
            subprocess.run([*git, *words], check=True)
        return place

    def run(
        self,
        place,
        name,
        event,
        *,
        ref,
        sha,
        is_installed=True,
        environment=None,
        directory=None,
        **inputs,
    ):
        """Run the action for an event; `inputs` are spelt with underscores.

        The values of `environment` may contain `{checkout}` and `{PATH}`. With a `directory` each
        step is run, also after one that failed, as if that directory had been checked.
        """
        temp = self.work / f"temp{self._runs}"
        temp.mkdir(exist_ok=True)
        files = {n: temp / n for n in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY", "GITHUB_EVENT_PATH")}
        files["GITHUB_EVENT_PATH"].write_text(json.dumps(event))
        files["GITHUB_STEP_SUMMARY"].write_text("")
        context = {
            "github.action_path": str(ROOT),
            "github.action_repository": "example/ubp",
            "github.token": "token",
            "runner.temp": str(temp),
            **_flatten("github.event", event),
        }
        # Most tests are about what drifts: see `any_drift_is_an_alarm`.
        inputs = {"alarms": "any", **inputs}
        given = {name.replace("_", "-"): value for name, value in inputs.items()}
        assert given.keys() <= ACTION["inputs"].keys()
        for key, described in ACTION["inputs"].items():
            context[f"inputs.{key}"] = _fill(given.get(key, described["default"]), context)
        path = os.pathsep.join([*self._search, os.environ["PATH"]])
        environment = {
            name: value.format(checkout=place, PATH=path)
            for name, value in {"PATH": "{PATH}", **(environment or {})}.items()
        }
        environment = {
            **os.environ,
            **environment,
            **{name: str(path) for name, path in files.items()},
            "GH_STATE": str(self.comments),
            "GITHUB_ACTIONS": "true",
            "GITHUB_EVENT_NAME": name,
            "GITHUB_REF": ref,
            "GITHUB_REPOSITORY": "example/project",
            "GITHUB_SERVER_URL": "https://github.com",
            "GITHUB_SHA": sha,
            "GITHUB_WORKSPACE": str(place),
            "RUNNER_TEMP": str(temp),
            "UBP_NOW": str(NOW),
        }
        return self._run_steps(
            place, context, environment, files, is_installed=is_installed, directory=directory
        )

    def _run_steps(self, place, context, environment, files, *, is_installed, directory):
        status, outputs_by_step, seconds = 0, {}, {}
        for step in ACTION["runs"]["steps"]:
            if "run" not in step or not _holds(step.get("if", ""), context):
                continue
            files["GITHUB_OUTPUT"].write_text("")
            if step["name"] == "Install UBP" and is_installed:
                _install_this(Path(context["steps.installation.outputs.bin"]))
            script = files["GITHUB_OUTPUT"].parent / "step.sh"
            script.write_text(step["run"], newline="\n")
            assert "${{" not in step["run"]
            begun = os.times()
            done = subprocess.run(
                [shutil.which("bash"), "--noprofile", "--norc", "-eo", "pipefail", str(script)],
                cwd=_fill(step.get("working-directory", str(place)), context),
                env={**environment, **{k: _fill(v, context) for k, v in step["env"].items()}},
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                stdin=subprocess.DEVNULL,
                check=False,
            )
            outputs_by_step[step["name"]] = done.stdout.decode()
            seconds[step["name"]] = _since(begun)
            for line in files["GITHUB_OUTPUT"].read_text().splitlines():
                key, _, value = line.partition("=")
                context[f"steps.{step['id']}.outputs.{key}"] = value
            if directory:
                context["steps.checkout.outputs.directory"] = str(directory)
            if done.returncode:
                status = status or done.returncode
                if not directory:
                    break
        outputs = {k: _fill(o["value"], context) for k, o in ACTION["outputs"].items()}
        temp = str(files["GITHUB_OUTPUT"].parent)
        outputs = {key: value.replace(temp, "TEMP") for key, value in outputs.items()}
        summary = files["GITHUB_STEP_SUMMARY"].read_text()
        return Job(
            status, "".join(outputs_by_step.values()), outputs, summary, outputs_by_step, seconds
        )


def _since(begun):
    now = os.times()
    cpu = now.children_user + now.children_system - begun.children_user - begun.children_system
    return now.elapsed - begun.elapsed, cpu


def _flatten(name, value):
    """What an expression such as `github.event.pull_request.number` gives."""
    if not isinstance(value, dict):
        return {name: str(value)}
    return {k: v for key in value for k, v in _flatten(f"{name}.{key}", value[key]).items()}


def _fill(text, context):
    return EXPRESSION.sub(lambda match: context.get(match[1], ""), text)


def _holds(condition, context):
    parts = [CONDITION.fullmatch(part) for part in condition.split(" && ")] if condition else []
    assert all(parts), condition
    return all(
        (context.get(part["name"], "") == part["value"]) == (part["is"] == "==") for part in parts
    )


def _install_this(folder):
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("ubp", "python"):
        link = folder / name
        if not link.exists():
            link.write_text(
                f'#!/bin/sh\nexec "{Path(sys.executable).parent / name}" "$@"\n', newline="\n"
            )
            link.chmod(0o755)


@pytest.fixture
def runner(tmp_path):
    """A runner whose remote is an empty bare repository that serves parts, as GitHub does."""
    if shutil.which("bash") is None:
        pytest.skip("the action's steps are run by bash")
    remote = tmp_path / "remote.git"
    subprocess.run(["git", "init", "--quiet", "--bare", str(remote)], check=True)
    for key in ("uploadpack.allowFilter", "uploadpack.allowAnySHA1InWant"):
        subprocess.run(["git", "-C", str(remote), "config", key, "true"], check=True)
    return Runner(tmp_path, remote)
