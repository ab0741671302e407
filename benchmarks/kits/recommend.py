"""Whether `recommend` finds the tool that a project needs among 240 bookmarks.

    python benchmarks/kits/recommend.py FOLDER

FOLDER has clones, below their names without the owner, of the lists of tools in
`benchmarks/data/recommend_contexts.json`, at its commits. For each of its sets 240 entries are
drawn from them with the set's seed and imported as bookmarks. The 30 contexts of a set were written
from these entries by somebody who had not seen the ranking, each with every bookmark that helps; 10
further ones are about work for which none does.
"""

import json
import os
import random
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

DATA = Path(__file__).parents[1] / "data" / "recommend_contexts.json"
SHOWN = 3
MIN_WORDS = 30  # characters of a description that a person could recognize
_HEADING = re.compile(r"#{2,}\s+(.*)")
_LISTED_SECTION = re.compile(r"\s*[-*] (?:\[)?([A-Z][\w &/-]{2,40})(?:\])?(?:\(#[^)]*\))?$")
_DASHES = " -\u2013\u2014:"
_ENTRY = re.compile(r"\s*[-*] \[([^\]]+)\]\((https?://[^)\s]+)\)(.*)")
_IMAGE = re.compile(r"\[!?\[[^\]]*\]\([^)]*\)\]\([^)]*\)|!\[[^\]]*\]\([^)]*\)")


class Tool(NamedTuple):
    """An entry of a list of tools."""

    name: str
    address: str
    words: str
    section: str


def read_tools(text: str) -> Iterator[Tool]:
    """Yield the entries of a list that have a description."""
    section = ""
    for line in text.splitlines():
        if heading := _HEADING.match(line):
            section = re.sub(r"[^\w/&+ -]", "", heading[1]).strip()
        elif listed := _LISTED_SECTION.match(line):
            section = listed[1]
        elif entry := _ENTRY.match(line):
            words = _IMAGE.sub("", entry[3]).strip(_DASHES)
            words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", words).replace("`", "").strip()
            words = re.sub(rf"^\S+\] *[{_DASHES[1:]}] *", "", words.removeprefix("["))
            words = words.removeprefix("⚠").strip(_DASHES)
            if len(words) >= MIN_WORDS:
                yield Tool(entry[1].strip("`* "), entry[2], words, section)


def draw(lists: Sequence[Mapping[str, Any]], seed: int, folder: Path) -> list[dict[str, str]]:
    """Return the drawn entries as an export of bookmarks."""
    chance, drawn = random.Random(seed), []
    for listed in lists:
        clone = folder / listed["repository"].rpartition("/")[2]
        text = (clone / listed["file"]).read_text("utf-8")
        drawn += chance.sample(sorted(set(read_tools(text))), listed["drawn"])
    chance.shuffle(drawn)
    return [
        {
            "href": tool.address,
            "description": tool.name,
            "extended": tool.words,
            "tags": re.sub(r"\W+", "-", tool.section.lower()).strip("-"),
            "time": f"2026-{chance.randint(1, 10):02}-{chance.randint(1, 28):02}T09:00:00Z",
        }
        for tool in drawn
    ]


def measure(asked: Mapping[str, Any], bookmarks: Sequence[Mapping[str, str]], root: str) -> None:
    """Import these bookmarks, ask for each context of a set, and print what was found."""
    from ubp.__main__ import main as ubp
    from ubp.kits.notes import recommend
    from ubp.kits.notes.note import read_all_notes
    from ubp.workspace import Workspace

    os.environ["UBP_COLLECTIONS"] = f"{root}/collections"
    export = Path(root) / "export.json"
    export.write_text(json.dumps(bookmarks), "utf-8")
    if ubp(["-C", root, "-q", "collections", "add", "saved", str(export), "--yes"]):
        raise SystemExit("the bookmarks could not be imported")
    names = {bookmark["href"]: bookmark["description"] for bookmark in bookmarks}
    with Workspace.open(f"{root}/collections/saved.git") as workspace:
        session = workspace.session
        notes = read_all_notes(session, session.view()).values()
        by_path = {str(note.path): note for note in notes}

        def recommended(row: Mapping[str, Any]) -> tuple[str, list[list[str]]]:
            stack, needs = tuple(row.get("tech_stack", ())), tuple(row["needs"])
            request = recommend.RecommendRequest(row["project_context"], stack, needs)
            found = recommend.run(session, request).recommendations[:SHOWN]
            notes = [[by_path[path] for path in each.paths] for each in found]
            kind = "nothing" if not found else "marked" if found[0].is_weak else "unmarked"
            return kind, [[names.get(note.url, note.title) for note in each] for each in notes]

        right, others = Counter[str](), Counter[str]()
        for row in asked["contexts"]:
            kind, found = recommended(row)
            if any(set(of) & set(row["expected"]) for of in found):
                right[kind] += 1
            else:
                print(f"{row['project_context']} {row['needs']}")
                print(f"  expected {row['expected']}, found {found} ({kind})")
        for row in asked["others"]:
            kind, found = recommended(row)
            others[kind] += 1
            if found:
                print(f"recommended {found} ({kind}): {row['project_context']}")
    number = len(asked["contexts"])
    print(f"among the first {SHOWN}: {right.total()} of {number}, {right['unmarked']} unmarked")
    kinds = ", ".join(f"{others[kind]} {kind}" for kind in ("nothing", "marked", "unmarked"))
    print(f"for what no bookmark helps with: {kinds}, of {len(asked['others'])}")


def main() -> None:
    """Measure."""
    data = json.loads(DATA.read_text("utf-8"))
    for asked in data["sets"]:
        bookmarks = draw(data["lists"], asked["seed"], Path(sys.argv[1]))
        with tempfile.TemporaryDirectory() as root:
            measure(asked, bookmarks, root)


if __name__ == "__main__":
    main()
