"""Repositories where `Auth.md` and `auth.md` are one file, and both Unicode forms of a name."""

import json
import os
import shutil
import subprocess
import sys
import time
import unicodedata
from pathlib import Path

import pytest

UNMOUNT = shutil.which("fusermount") or shutil.which("fusermount3")
try:
    import mfusepy  # noqa: F401  # it looks for the library
except (ImportError, OSError):
    pytest.skip("needs libfuse", allow_module_level=True)
if not os.path.exists("/dev/fuse") or UNMOUNT is None:
    pytest.skip("needs FUSE", allow_module_level=True)

PROGRAM = Path(__file__).with_name("folding_file_system.py")
NFC = "ガイド"
NFD = unicodedata.normalize("NFD", NFC)
SECONDS_TO_MOUNT = 20


@pytest.fixture
def folder(tmp_path):
    """An empty folder of such a file system."""
    files, mounted = tmp_path / "files", tmp_path / "mounted"
    files.mkdir()
    mounted.mkdir()
    server = subprocess.Popen([sys.executable, PROGRAM, files, mounted])
    end = time.monotonic() + SECONDS_TO_MOUNT
    while not os.path.ismount(mounted) and server.poll() is None and time.monotonic() < end:
        time.sleep(0.05)
    assert os.path.ismount(mounted)
    yield mounted
    subprocess.run([UNMOUNT, "-u", "-z", mounted], check=True)
    server.wait(SECONDS_TO_MOUNT)


@pytest.fixture
def project(folder, repository_in):
    """A repository with a page about a source, made by git itself: it looks at the file system."""
    repository = repository_in(folder / "project", "--initial-branch=main")
    repository.write("src/Auth.py", "MAX_AGE = 60\n")
    repository.page("docs/Auth.md", "src/Auth.py", body="`MAX_AGE` is 60.\n")
    repository.write(f"docs/{NFC}.md", "# ガイド\n\n[a](Auth.md)\n")
    repository.commit("Begin")
    return repository


def run(project, *words):
    done = subprocess.run(
        [sys.executable, "-m", "ubp", *words],
        cwd=project.root,
        capture_output=True,
        text=True,
        check=False,
    )
    assert not done.stderr, done.stderr
    return done.returncode, done.stdout


def test_git_sees_that_the_file_system_ignores_case(project):
    assert project.git("config", "core.ignorecase").strip() == "true"
    assert (project.root / "DOCS/auth.MD").is_file()
    assert (project.root / f"docs/{NFD}.md").is_file()


def test_index_check_and_acknowledgement_work(project):
    assert run(project, "check", "--quiet") == (0, "")
    project.write("src/Auth.py", "MAX_AGE = 90\n")
    project.commit("Change")
    status, listed = run(project, "stale", "--quiet")
    assert (status, listed.split()[0]) == (0, "docs/Auth.md:3")
    assert run(project, "ack", "docs/Auth.md")[0] == 0
    project.commit("Review")
    assert run(project, "stale", "--quiet") == (0, "")
    assert sorted(os.listdir(project.root / "docs")) == sorted(["Auth.md", f"{NFC}.md"])


def test_link_in_another_case_is_reported_though_the_file_opens(project):
    project.write("docs/links.md", "[a](auth.md)\n")
    status, found = run(project, "check", "--quiet", "docs/links.md")
    assert status == 1
    assert "letter case" in found


def test_page_given_in_the_other_form_is_the_page_and_in_another_case_is_suggested(project):
    status, found = run(project, "get-page", f"docs/{NFD}.md", "--json")
    assert (status, json.loads(found)["filepath"]) == (0, f"docs/{NFC}.md")
    status, found = run(project, "get-page", "docs/auth.md", "--json")
    assert status == 2
    assert json.loads(found)["error"]["hint"].startswith("Did you mean docs/Auth.md")


def test_rename_that_changes_only_the_case_is_a_rename(project):
    project.git("mv", "docs/Auth.md", "docs/auth.md")
    status, found = run(project, "check", "--staged", "--quiet")
    assert status == 1
    assert f"docs/{NFC}.md:3" in found
    project.write(f"docs/{NFC}.md", "# ガイド\n\n[a](auth.md)\n")
    project.git("add", ".")
    assert run(project, "check", "--staged", "--quiet") == (0, "")
