"""Run the release workflow here, to the last step before anything leaves this machine.

    python .ci/rehearse.py [--skip STEP…] [--folder FOLDER]

What is committed is cloned, an owner is filled in, and the version is tagged. The steps of each job
run in bash as on a runner, with artifacts in a folder; in place of a step that publishes its
name is printed. Steps that are skipped by name are printed, too: `--skip Check` leaves out the
whole test suite, and then the environment of this checkout is used. Images need a Docker daemon.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / ".ci"))
from owner import fill  # noqa: E402  # this folder is no package

from ubp import __version__  # noqa: E402  # after what is above

OWNER = "rehearsal"
WORKFLOW = ".github/workflows/release.yml"
# What the names of steps begin with that write to a registry or to the forge.
LEAVING = ("Publish ", "Create the release", "Move the major tag")
AUTHOR = ("-c", "user.name=rehearsal", "-c", "user.email=rehearsal@example.com")
EXPRESSION = re.compile(r"\$\{\{[^}]*\}\}")


def prepare(folder: Path) -> tuple[Path, str]:
    """Return a clone as it is when the release is tagged, and the tag."""
    clone = folder / "clone"
    git = ["git", *AUTHOR]
    subprocess.run([*git, "clone", "--quiet", ROOT, clone], check=True)  # noqa: S603
    fill(OWNER, clone)
    tag = f"v{__version__}"
    update = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/test_docs.py"]
    environment = {**os.environ, "UPDATE_DOCS": "1", "PYTHONPATH": str(clone)}
    subprocess.run(update, cwd=clone, env=environment, check=False, capture_output=True)  # noqa: S603
    for words in (["commit", "--quiet", "--all", "--message", f"Release {tag}"], ["tag", tag]):
        subprocess.run([*git, *words], cwd=clone, check=True)  # noqa: S603
    return clone, tag


def ordered(jobs: Mapping[str, Any]) -> list[str]:
    """Return the names of jobs, each after those that it needs."""
    names: list[str] = []

    def add(name: str) -> None:
        needs = jobs[name].get("needs", [])
        for needed in [needs] if isinstance(needs, str) else needs:
            add(needed)
        if name not in names:
            names.append(name)

    for job in jobs:
        add(job)
    return names


class Rehearsal:
    """The jobs of one run; `skipped` are names of steps."""

    def __init__(self, folder: Path, skipped: Sequence[str]) -> None:
        self.folder = folder
        self.skipped = skipped
        self.clone, self.tag = prepare(folder)
        self.artifacts = folder / "artifacts"
        self.failed: list[str] = []

    def run(self) -> int:
        """Run all jobs; 1: a step failed."""
        workflow = yaml.safe_load((self.clone / WORKFLOW).read_text(encoding="utf-8"))
        for name in ordered(workflow["jobs"]):
            print(f"== {name}", flush=True)
            self._run_job(name, workflow["jobs"][name])
            if self.failed:  # what follows has not what it needs
                break
        for step in self.failed:
            print(f"failed: {step}")
        return 1 if self.failed else 0

    def _run_job(self, name: str, job: Mapping[str, Any]) -> None:
        workspace = self.folder / name
        workspace.mkdir()
        (self.folder / f"{name}-temp").mkdir()
        for step in job["steps"]:
            title = step.get("name") or step.get("uses", "")
            if title.startswith(LEAVING):
                print(f"   not run: {title}")
            elif title in self.skipped:
                print(f"   skipped: {title}")
                if not (workspace / ".venv").exists():
                    (workspace / ".venv").symlink_to(ROOT / ".venv")
            elif "uses" in step:
                self._use(step["uses"].partition("@")[0], step.get("with", {}), workspace)
            elif "images" in title and not has_docker():
                print(f"   no Docker daemon: {title}")
            else:
                print(f"   {title}", flush=True)
                if not self._execute(step, job, workspace, self.folder / f"{name}-temp"):
                    self.failed.append(f"{name}: {title}")
                    return

    def _use(self, action: str, options: Mapping[str, Any], workspace: Path) -> None:
        if action == "actions/checkout":
            shutil.copytree(self.clone, workspace, symlinks=True, dirs_exist_ok=True)
        elif action == "actions/upload-artifact":
            source, target = workspace / options["path"], self.artifacts / options["name"]
            target.mkdir(parents=True)
            if source.is_dir():
                shutil.copytree(source, target, dirs_exist_ok=True)
            else:
                shutil.copy(source, target)
        elif action == "actions/download-artifact":
            name = options.get("name", "")
            target = workspace / options.get("path", "")
            shutil.copytree(self.artifacts / name, target, dirs_exist_ok=True)

    def _execute(
        self, step: Mapping[str, Any], job: Mapping[str, Any], workspace: Path, temporary: Path
    ) -> bool:
        given = {**job.get("env", {}), **step.get("env", {})}
        environment = {
            **os.environ,
            **{key: EXPRESSION.sub("", str(value)) for key, value in given.items()},
            "GITHUB_REF_NAME": self.tag,
            "GITHUB_REPOSITORY": f"{OWNER}/ubp",
            "RUNNER_TEMP": str(temporary),
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        }
        command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
        folder = workspace / step.get("working-directory", "")
        done = subprocess.run(command, cwd=folder, env=environment, check=False)  # noqa: S603
        return done.returncode == 0


def has_docker() -> bool:
    """Return whether a Docker daemon answers."""
    if shutil.which("docker") is None:
        return False
    asked = subprocess.run(["docker", "info"], capture_output=True, check=False)  # noqa: S607
    return asked.returncode == 0


def main() -> int:
    """Rehearse in a folder that is removed, or in the one that is named."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--skip", nargs="*", default=[], metavar="STEP")
    parser.add_argument("--folder", type=Path)
    options = parser.parse_args()
    if options.folder:
        options.folder.mkdir(parents=True)
        return Rehearsal(options.folder, options.skip).run()
    with tempfile.TemporaryDirectory() as folder:
        return Rehearsal(Path(folder), options.skip).run()


if __name__ == "__main__":
    sys.exit(main())
