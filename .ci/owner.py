"""Write the owner of the published repository into every address that says OWNER.

    python .ci/owner.py ann

Run it once, before the first release; then read the diff, and commit it.
"""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PLACEHOLDER = re.compile(r"\bOWNER/ubp\b")
# GitHub's rule for the names of users and organisations.
NAME = re.compile(r"[A-Za-z0-9](?:-?[A-Za-z0-9]){0,38}")


def fill(owner: str, root: Path = ROOT) -> list[str]:
    """Replace the placeholder in all files that Git tracks, and return those that have changed.

    Raises:
        SystemExit: The name is none that GitHub allows.
    """
    if not NAME.fullmatch(owner):
        raise SystemExit(f"{owner!r} is not the name of a user or an organisation")
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=root, capture_output=True, check=True)  # noqa: S607
    changed = []
    for path in filter(None, listed.stdout.decode().split("\0")):
        file = root / path
        data = file.read_bytes()
        if path.startswith((".ci/", "tests/")) or b"OWNER/ubp" not in data:
            continue
        text = PLACEHOLDER.sub(f"{owner}/ubp", data.decode("utf-8"))
        file.write_text(text, encoding="utf-8", newline="")
        changed.append(path)
    return changed


if __name__ == "__main__":
    for changed_path in fill(*sys.argv[1:]):
        print(changed_path)
