"""How long `rag_search` takes in 5,000 sections: in the repository, and in a collection.

    python benchmarks/kits/rag_speed.py [--sections 5000] [--queries 200]

The same generated documents are committed in the repository that is served and imported into a
written collection. Each query is called in this process, as a server calls its tools.
"""

import argparse
import json
import os
import random
import statistics
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

from ubp.server.tools.registry import load_rows
from ubp.server.tools.tool import call_tool
from ubp.workspace import Workspace

SECTIONS_PER_PAGE = 5
VOCABULARY = 4_000


def write_pages(folder: Path, sections: int) -> None:
    """Write documents with this number of sections in all."""
    chooser = random.Random(7)
    words = [f"{chooser.choice('bcdfgmnprst')}{number:04}a" for number in range(VOCABULARY)]
    ranks = [1 / (rank + 5) for rank in range(VOCABULARY)]
    folder.mkdir(parents=True)
    for page in range(sections // SECTIONS_PER_PAGE):
        day = f"2026-01-{page % 28 + 1:02}"
        lines = [f"---\ncategory: c{page % 7}\ntags: [t{page % 11}]\ndate: {day}\n---"]
        for section in range(SECTIONS_PER_PAGE):
            title = " ".join(chooser.choices(words, ranks, k=4))
            lines += [f"{'#' if section == 0 else '##'} {title}\n"]
            lines += [" ".join(chooser.choices(words, ranks, k=80)) + "\n"]
        (folder / f"p{page}.md").write_text("\n".join(lines))


def measure(workspace: Workspace, project: str, queries: list[dict[str, Any]]) -> dict[str, Any]:
    """Return wall and CPU times of the queries in milliseconds."""
    (tool,) = (tool for tool in load_rows("rag") if tool.name == "rag_search")
    for query in queries[:5]:
        call_tool(tool, workspace, {"project": project, **query})
    walls, cpus = [], []
    for query in queries:
        wall, cpu = time.perf_counter(), time.process_time()
        call_tool(tool, workspace, {"project": project, **query})
        walls.append((time.perf_counter() - wall) * 1000)
        cpus.append((time.process_time() - cpu) * 1000)
    return {
        f"{name}_{percentile}_ms": round(statistics.quantiles(times, n=100)[place], 1)
        for name, times in (("wall", walls), ("cpu", cpus))
        for percentile, place in (("p50", 49), ("p95", 94))
    }


def main() -> None:
    """Print the times as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sections", type=int, default=5000)
    parser.add_argument("--queries", type=int, default=200)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="rag-speed-") as name:
        folder = Path(name)
        root = folder / "served"
        write_pages(root / "docs", options.sections)
        write_pages(folder / "papers", options.sections)
        (folder / "rag.yaml").write_text("roots: [papers]\n")
        git = ["git", "-C", str(root), "-c", "user.name=a", "-c", "user.email=a@b"]
        subprocess.run(["git", "init", "-q", str(root)], check=True)
        subprocess.run([*git, "add", "."], check=True)
        subprocess.run([*git, "commit", "-qm", "Begin"], check=True)
        os.environ["UBP_COLLECTIONS"] = str(folder / "collections")
        os.environ["RAG_CONFIG_PATH"] = str(folder / "rag.yaml")
        chooser = random.Random(11)
        titles = [
            line.lstrip("# ")
            for path in sorted((root / "docs").iterdir())
            for line in path.read_text().splitlines()
            if line.startswith("#")
        ]
        asked = [
            " ".join(chooser.sample(title.split(), 3))
            for title in chooser.sample(titles, options.queries)
        ]
        plain = [{"query": query} for query in asked]
        filters = {"category": "c3", "created_after": "2026-01-10"}
        filtered = [{"query": query, "filters": filters} for query in asked]
        with Workspace.open(str(root)) as workspace:
            (index,) = (tool for tool in load_rows("rag") if tool.name == "rag_index")
            started = time.process_time()
            call_tool(index, workspace, {"path": str(folder / "papers"), "project": "kb"})
            imported = time.process_time() - started
            results = {
                "sections": len(titles),
                "import_cpu_s": round(imported, 2),
                "served": measure(workspace, "served", plain),
                "served, filters": measure(workspace, "served", filtered),
                "collection": measure(workspace, "kb", plain),
                "collection, filters": measure(workspace, "kb", filtered),
            }
    print(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
