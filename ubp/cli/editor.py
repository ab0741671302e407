"""The user's editor, started as git starts it."""

import os
import subprocess
import tempfile
from collections.abc import Mapping

from ubp.core.errors import UsageError
from ubp.core.model import FilePath
from ubp.git.repository import Repository


def edit_files(repository: Repository, files: Mapping[FilePath, bytes]) -> dict[FilePath, bytes]:
    """Return texts as the user's editor leaves them, which opens copies of them all at once.

    Raises:
        UsageError: the editor failed.
    """
    editor = os.fsdecode(repository.run("var", "GIT_EDITOR")).strip()
    with tempfile.TemporaryDirectory(prefix="ubp-") as folder:
        copies = {}
        for number, (path, text) in enumerate(files.items(), 1):
            copies[path] = os.path.join(folder, f"{number}-{os.path.basename(path)}")
            with open(copies[path], "wb") as file:
                file.write(text)
        command = ["sh", "-c", f'{editor} "$@"', editor, *copies.values()]
        done = subprocess.run(command, env=dict(repository.environment), check=False)  # noqa: S603  # the user's own
        if done.returncode:
            raise UsageError(f"The editor failed: {editor}.", hint="Set core.editor or $EDITOR.")
        edited = {}
        for path, copy in copies.items():
            with open(copy, "rb") as file:
                edited[path] = file.read()
    return edited
