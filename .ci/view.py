"""Draw docs/view.svg: the view of `ubp proposals -i` on an edit that an agent proposes.

    python .ci/view.py

It needs textual, of the group `dev`. The picture loads no font, and nothing else.
"""

import asyncio
import os
import re
import subprocess
import tempfile
from pathlib import Path

from ubp.cli.decide_proposals import open_numbers, proposal_item
from ubp.cli.review_screen import ReviewApp
from ubp.core.model import FilePath
from ubp.edits import changes
from ubp.edits.model import Agent
from ubp.edits.propose import EditRequest, propose
from ubp.edits.review import review
from ubp.workspace import Workspace

PICTURE = Path(__file__).parents[1] / "docs/view.svg"
COLUMNS, LINES = 100, 32
NOW = 1_800_000_000

HEAD = "---\nsource_refs:\n  - src/session.py\n---\n"
PAGE = """# Sessions

A session lasts `SESSION_HOURS`, which is 24 hours. `open_session()` takes
the name of the user.
"""
EDITED = """# Sessions

A session lasts `SESSION_HOURS`, which is 8 hours. `open_session()` takes
the name of the user, and the device.
"""
SOURCE = "SESSION_HOURS = {}\n\n\ndef open_session({}):\n    ...\n"
RETRIES = "# Retries\n\nA request is sent three times.\n"


def draw() -> str:
    """Return the picture."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        _git(root, "init", "--quiet")
        _commit(root, "Begin", SOURCE.format(24, "user"))
        _commit(root, "Shorten sessions", SOURCE.format(8, "user, device"))
        environment = {**os.environ, "UBP_NOW": str(NOW)}
        with Workspace.open(folder, environment=environment, clock=lambda: NOW) as workspace:
            session = workspace.session
            agent = Agent("claude-code 2.1", "s1")
            for page, change, reason in (
                ("docs/sessions.md", changes.replace(session, EDITED), "It is 8 hours now."),
                ("docs/retries.md", changes.append("Then it fails."), "The end was missing."),
            ):
                request = EditRequest(agent, "update", FilePath(page), change, reason)
                propose(session, request)
            items = [proposal_item(review(session, n)) for n in open_numbers(session)]
            drawn = asyncio.run(_draw(ReviewApp("Proposals", items)))
    return re.sub(r"@font-face \{.*?\}\s*", "", drawn, flags=re.DOTALL)


async def _draw(app: ReviewApp) -> str:
    async with app.run_test(size=(COLUMNS, LINES)) as pilot:
        await pilot.pause()
        return app.export_screenshot(title="ubp proposals -i")


def _commit(root: Path, subject: str, source: str) -> None:
    for path, text in (
        ("docs/sessions.md", HEAD + PAGE),
        ("docs/retries.md", RETRIES),
        ("src/session.py", source),
    ):
        (root / path).parent.mkdir(exist_ok=True)
        (root / path).write_text(text)
    _git(root, "add", ".")
    _git(root, "commit", "--quiet", "-m", subject)


def _git(root: Path, *words: str) -> None:
    day = f"{NOW - 20 * 86_400} +0000"
    author = {"GIT_AUTHOR_NAME": "Ann", "GIT_AUTHOR_EMAIL": "ann@example.org"}
    committer = {name.replace("AUTHOR", "COMMITTER"): value for name, value in author.items()}
    dates = {"GIT_AUTHOR_DATE": day, "GIT_COMMITTER_DATE": day}
    environment = {**os.environ, **author, **committer, **dates}
    subprocess.run(["git", *words], cwd=root, env=environment, check=True)  # noqa: S603, S607


if __name__ == "__main__":
    PICTURE.write_text(draw(), encoding="utf-8")
