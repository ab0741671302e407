"""What meaning costs: the model loaded, pages embedded, the nearest sections found, in what memory.

    python benchmarks/search/vector_speed.py [--long]

`--long` asks 100,000 and 200,000 sections too (random vectors: a product does not care). The
repository is that of search_speed.py: 1,000 pages, 5,000 sections, English and Japanese.
"""

import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.common.measure import UBP, cost, median, print_table

if TYPE_CHECKING:  # imported late: a process that it starts is charged with this one's memory
    import numpy as np

    from ubp.index.embed.model import Model
    from ubp.index.embed.vectors import VectorCollection, Vectors

TIMES = 7
QUERIES = 200
NEAREST = 100
QUERY = "token expiry"
PAGES, SECTIONS_A_PAGE = 1000, 5

PROGRAMS = {
    "bare Python": "",
    "numpy imported": "import numpy",
    "model2vec imported": "import model2vec",
    "the model loaded": (
        "from ubp.index.embed.model import load_model;"
        "from ubp.index.embed.locate import find_model;"
        "load_model(find_model(None, {})).encode(['a'])"
    ),
    "the same by model2vec's loader": (
        "from model2vec import StaticModel; from ubp.index.embed.locate import find_model;"
        "StaticModel.from_pretrained(find_model(None, {}).directory).encode(['a'])"
    ),
}


def main() -> None:
    """Print tables."""
    start_up()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        generate(root)
        searches(root)
        model = embedding(root)
        rows = [leg(root, model)]
    rows += [product(sections) for sections in SIZES]
    print_table(
        f"Warm: the {NEAREST} nearest, ms of CPU over {QUERIES} queries",
        ("sections", "p50", "p95", "plain numpy p50", "ratio", "one page edited, p50"),
        rows,
    )


SIZES = (5_000, 100_000, 200_000) if "--long" in sys.argv else (5_000,)


def generate(root: Path) -> None:
    """Have a repository made by another process: this one must stay small, see above."""
    program = (
        "import sys; from pathlib import Path; from benchmarks.search.search_speed import generate;"
    )
    program += f"generate(Path(sys.argv[1]), {PAGES})"
    subprocess.run([sys.executable, "-c", program, str(root)], check=True)


def start_up() -> None:
    """Processes of their own, in turn."""
    costs = {
        name: median([cost([sys.executable, "-c", code], Path.cwd()) for _ in range(TIMES)])
        for name, code in PROGRAMS.items()
    }
    print_table(
        "Start",
        ("process", "CPU ms", "peak MB"),
        [(name, f"{total.cpu_ms:.0f}", f"{total.peak_mb:.0f}") for name, total in costs.items()],
    )


def searches(root: Path) -> None:
    """Searches as processes of their own, when all is embedded."""
    cost([UBP, "reindex"], root)
    costs = {
        " ".join(command): median([cost([UBP, *command, QUERY], root) for _ in range(TIMES)])
        for command in (["search"], ["search", "--mode", "fulltext"])
    }
    print_table(
        "Cold, 5,000 sections",
        ("command", "CPU ms", "peak MB"),
        [(f"ubp {name}", f"{c.cpu_ms:.0f}", f"{c.peak_mb:.0f}") for name, c in costs.items()],
    )


def embedding(root: Path) -> "Model":
    """Embed every section anew."""
    from ubp.workspace import Workspace

    with Workspace.open(str(root)) as workspace:
        workspace.session.store.clear()
        view = workspace.session.view()
        view.link_graph()
        model = workspace.session.required_model()
        cpu, wall = time.process_time(), time.perf_counter()
        found = view.semantic_index(model).embedded
        cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
        pages = view.document_paths()
        size = sum(map(len, filter(None, view.read(pages).values())))
    print(
        f"\nEmbedding {len(pages)} pages, {size / 1e6:.1f} MB, {found} sections:"
        f" {cpu:.2f} s of CPU, {wall:.2f} s of wall"
    )
    return model


def leg(root: Path, model: "Model") -> tuple[str, ...]:
    """The whole leg on a repository: the query embedded, chunks of the snapshot, paths."""
    from ubp.workspace import Workspace

    with Workspace.open(str(root)) as workspace:
        meaning = workspace.session.view().semantic_index(model)
        asked = [f"token expiry 認証の期限 {number}" for number in range(QUERIES)]
        spent = [clock(lambda text=text: meaning.nearest(text, NEAREST)) for text in asked]
        edits = []
        for number in range(TIMES):
            (root / "edited.md").write_text(f"# Edited\n\nOnce more, the {number}th time.\n")
            view = workspace.session.view()
            view.link_graph()
            edits.append(clock(lambda view=view: view.semantic_index(model)))
    return (
        f"{SECTIONS_A_PAGE * PAGES:,} of a repository",
        f"{statistics.median(spent):.2f}",
        f"{p95(spent):.2f}",
        "",
        "",
        f"{statistics.median(edits):.1f}",
    )


def product(sections: int) -> tuple[str, ...]:
    """Vectors without a repository, and the plain product on the same data in turn."""
    import numpy as np

    from ubp.index.embed.vectors import Matrix

    generator = np.random.default_rng(7)
    vectors, collection = fill(generator, sections)
    whole = vectors.select(np.arange(sections)).floats(slice(None))
    ours, plain = [], []
    for _ in range(QUERIES):
        query = Matrix(generator.standard_normal((1, whole.shape[1])))
        ours.append(
            clock(lambda query=query: collection.best(vectors.cosines(query), vectors, NEAREST))
        )
        plain.append(
            clock(lambda query=query: np.argpartition(whole @ query.rows[0], -NEAREST)[-NEAREST:])
        )
    grown = []
    for number in range(TIMES):
        block = {2**40 + number: (generator.bytes(16), generator.bytes(whole.shape[1]))}
        before = vectors
        grown.append(clock(lambda block=block, old=before: grow(old, collection, block)))
        vectors = before.updated(block, [])
    return (
        f"{sections:,}",
        f"{statistics.median(ours):.2f}",
        f"{p95(ours):.2f}",
        f"{statistics.median(plain):.2f}",
        f"{statistics.median(ours) / statistics.median(plain):.2f}",
        f"{statistics.median(grown):.1f}",
    )


def fill(generator: "np.random.Generator", sections: int) -> "tuple[Vectors, VectorCollection]":
    """Random vectors in blocks as the store has them, on pages of five."""
    from ubp.index.embed.vectors import VectorCollection, Vectors
    from ubp.index.store.vectors import BLOCK_VECTORS

    keys = generator.bytes(16 * sections)
    blocks = {}
    for start in range(0, sections, BLOCK_VECTORS):
        size = min(BLOCK_VECTORS, sections - start)
        blocks[start] = keys[16 * start : 16 * (start + size)], generator.bytes(256 * size)
    vectors = Vectors(256).updated(blocks, [])
    step = 16 * SECTIONS_A_PAGE
    texts = {f"{n:040x}": keys[step * n : step * (n + 1)] for n in range(sections // 5)}
    return vectors, VectorCollection(texts)


def grow(
    vectors: "Vectors", collection: "VectorCollection", block: dict[int, tuple[bytes, bytes]]
) -> None:
    """Take up what an edit brought."""
    collection.rows(vectors.updated(block, []))


def p95(times: list[float]) -> float:
    """What 95 % of the times do not exceed."""
    return statistics.quantiles(times, n=20)[-1]


def clock(work: Callable[[], object]) -> float:
    """Milliseconds of CPU, of all threads."""
    begun = resource.getrusage(resource.RUSAGE_SELF)
    work()
    ended = resource.getrusage(resource.RUSAGE_SELF)
    return (ended.ru_utime - begun.ru_utime + ended.ru_stime - begun.ru_stime) * 1000


if __name__ == "__main__":
    main()
