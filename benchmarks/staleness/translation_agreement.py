"""Verdicts on translations, compared with git alone and with what a project marks itself.

    python benchmarks/staleness/translation_agreement.py GIT_DIR PAGE SOURCE [PIN [MARK]]

For example `content/{lang}/{path} content/en/{path} default_lang_commit drifted_from_default` of
open-telemetry/opentelemetry.io. A translation is fresh for git where `git rev-parse` names the same
blob for its original in the pinned commit (found by a regular expression in its first lines;
without a pin, the commit that `git log -1` finds for the page) and in HEAD. MARK is a front matter
key by which a project marks its outdated pages, `true` or `file not found`; as a mark may be older
than HEAD, the pages are listed for which it differs.
"""

import argparse
import json
import re
import subprocess
import tempfile
import time
from collections import Counter
from pathlib import Path

from benchmarks.common.measure import print_table
from benchmarks.staleness.replay import clone
from ubp.answers.staleness.stale import report_stale
from ubp.index.session import Target
from ubp.workspace import Workspace

HEAD_BYTES = 4_000
GONE = {"deleted", "moved", "not_found"}


def main() -> None:
    """Compare, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("git_dir", type=Path)
    parser.add_argument("page")
    parser.add_argument("source")
    parser.add_argument("pin", nargs="?")
    parser.add_argument("mark", nargs="?")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        root = clone(options.git_dir, folder)
        rule = {"page": options.page, "source": options.source}
        if options.pin:
            rule["pin"] = options.pin
        config = root / "ubp" / "config.json"
        config.parent.mkdir()
        config.write_text(json.dumps({"translations": [rule]}), encoding="utf-8")
        begun = time.process_time()
        with Workspace.open(str(root)) as workspace:
            report = report_stale(workspace.session, Target())
        seconds = time.process_time() - begun
        agreements: Counter[str] = Counter()
        for assessment in report.translations:
            (verdict,) = assessment.references
            page, original = assessment.page.filepath, verdict.reference.source_path
            ours = "gone" if verdict.verdict in GONE else verdict.verdict
            ours = "stale" if ours in {"modified", "created"} else ours
            theirs = expected(root, page, original, options.pin)
            agreements["git agrees" if ours == theirs else "git differs"] += 1
            if ours != theirs:
                print(f"{page}: {ours}, git says {theirs}")
            if options.mark:
                marked = mark_of(root, page, options.mark)
                agreements["mark agrees" if ours == marked else "mark differs"] += 1
                if ours != marked:
                    print(f"{page}: {ours}, marked {marked}")
    names = ["git agrees", "git differs", "mark agrees", "mark differs"]
    row = [str(len(report.translations)), *(str(agreements[name]) for name in names)]
    print_table("Translations", ["pages", *names, "CPU s"], [[*row, f"{seconds:.1f}"]])


def expected(root: Path, page: str, original: str, pin: str | None) -> str:
    """Return what git says of a translation: fresh, stale, gone or unknown."""
    text = git(root, "cat-file", "blob", f"HEAD:{page}")[:HEAD_BYTES]
    key = (pin or "").rpartition(".")[2]
    found = re.search(rf"^\s*{re.escape(key)}:\s*['\"]?([0-9a-f]{{7,40}})", text, re.MULTILINE)
    if pin and found:
        commit = git(root, "rev-parse", "--verify", "--quiet", f"{found[1]}^{{commit}}")
        if not commit:
            return "unknown"
    else:
        commit = git(root, "log", "-1", "--format=%H", "HEAD", "--", page)
    now = git(root, "rev-parse", "--verify", "--quiet", f"HEAD:{original}")
    then = git(root, "rev-parse", "--verify", "--quiet", f"{commit}:{original}")
    if not now:
        return "gone"
    return "fresh" if now == then else "stale"


def mark_of(root: Path, page: str, mark: str) -> str:
    """Return what a page says of itself."""
    text = git(root, "cat-file", "blob", f"HEAD:{page}")[:HEAD_BYTES]
    found = re.search(rf"^{re.escape(mark)}:\s*(.+?)\s*$", text, re.MULTILINE)
    values = {None: "fresh", "true": "stale", "file not found": "gone"}
    return values.get(found[1] if found else None, "other")


def git(root: Path, *args: str) -> str:
    """Return what git says; nothing where it cannot."""
    done = subprocess.run(["git", *args], cwd=root, check=False, capture_output=True)
    return done.stdout.decode(errors="replace").strip() if done.returncode == 0 else ""


if __name__ == "__main__":
    main()
