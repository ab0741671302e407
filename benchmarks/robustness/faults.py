"""Which faults does the suite find? Break random places, one at a time, and run the tests.

    python benchmarks/robustness/faults.py CLONE RESULTS.json [--before CLONE] [--seed 30]

Clones are changed, so give copies of their own, in which `python3 tests/check.py -k x` ran once.
The faults are drawn from functions with the same body in both clones, wherever they moved: as many
of each of the eight `KINDS`. For each fault the test files nearest to its module run, up to the
first failure. All faults that survive this are put in at once for a run of all tests, in both
clones; what fails there runs again without a fault, and with each alone. Results are written after
each step, and a second call goes on from there.
"""

import argparse
import ast
import json
import os
import random
import resource
import signal
import subprocess
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

PER_KIND = 5
LIMIT = 7_200  # seconds; a fault may make a loop endless
MOST_FILES = 14
DATA = 4 << 30  # bytes of a process
OPPOSITES: dict[type[ast.cmpop], str] = {
    ast.Eq: "!=",
    ast.NotEq: "==",
    ast.Lt: "<=",
    ast.LtE: "<",
    ast.Gt: ">=",
    ast.GtE: ">",
    ast.In: "not in",
    ast.NotIn: "in",
    ast.Is: "is not",
    ast.IsNot: "is",
}
KINDS = ("condition", "comparison", "and/or", "number", "flag", "text", "statement", "return")


class Edit(NamedTuple):
    """A fault in a function: bytes `start` to `end` of its file become `text`."""

    kind: str
    start: int
    end: int
    text: str


class Function(NamedTuple):
    """A function or method, and possible faults."""

    path: str
    name: str
    edits: tuple[Edit, ...]


class Source:
    """A file's bytes, and where nodes of its tree are in them."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.lines = [0]
        for line in data.splitlines(keepends=True):
            self.lines.append(self.lines[-1] + len(line))

    def span(self, node: Any) -> tuple[int, int]:
        """Return the bytes of a node."""
        start = self.lines[node.lineno - 1] + node.col_offset
        return start, self.lines[node.end_lineno - 1] + node.end_col_offset

    def text(self, node: ast.AST) -> str:
        """Return the text of a node, in parentheses."""
        start, end = self.span(node)
        return f"({self.data[start:end].decode()})"


def find_functions(root: Path) -> dict[tuple[str, str], Function]:
    """Return the functions of `ubp` by name and body without docstring, where these are unique."""
    found = defaultdict(list)
    for path in sorted((root / "ubp").rglob("*.py")):
        source = Source(path.read_bytes())
        tree = ast.parse(source.data)
        classes = [node for node in tree.body if isinstance(node, ast.ClassDef)]
        for node in (node for scope in (tree, *classes) for node in scope.body):
            if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                continue
            if ast.get_docstring(node) is not None:
                del node.body[0]
            if not node.body:
                continue
            key = node.name, "\n".join(ast.dump(statement) for statement in node.body)
            edits = tuple(Edit(*edit) for edit in _find_edits(node, source))
            found[key].append(Function(path.relative_to(root).as_posix(), node.name, edits))
    return {key: functions[0] for key, functions in found.items() if len(functions) == 1}


def _find_edits(
    function: ast.FunctionDef | ast.AsyncFunctionDef, source: Source
) -> Iterator[tuple[str, int, int, str]]:
    for statement in function.body:
        for node in _walk(statement):
            for kind, place, text in _change(node, source):
                yield kind, *source.span(place), text


def _walk(node: ast.AST) -> Iterator[ast.AST]:
    """Yield a node and what it contains, without texts with braces and annotations."""
    yield node
    for name, value in ast.iter_fields(node):
        children = value if isinstance(value, list) else [value]
        if isinstance(node, ast.JoinedStr) or name in {"annotation", "returns"}:
            continue
        for child in children:
            if isinstance(child, ast.AST):
                yield from _walk(child)


def _change(node: ast.AST, source: Source) -> Iterator[tuple[str, ast.AST, str]]:
    match node:
        case ast.If(test=test) | ast.While(test=test) | ast.IfExp(test=test):
            yield "condition", test, f"(not {source.text(test)})"
        case ast.comprehension(ifs=[test, *_]):
            yield "condition", test, f"(not {source.text(test)})"
        case ast.Compare(left=left, ops=[operator], comparators=[right]):
            opposite = OPPOSITES[type(operator)]
            yield "comparison", node, f"({source.text(left)} {opposite} {source.text(right)})"
        case ast.BoolOp(op=operator, values=values):
            opposite = " or " if isinstance(operator, ast.And) else " and "
            yield "and/or", node, f"({opposite.join(map(source.text, values))})"
        case ast.Constant(value=bool(value)):
            yield "flag", node, str(not value)
        case ast.Constant(value=int(value)):
            yield "number", node, str(value + 1)
        case ast.Constant(value=str(value)):
            yield "text", node, repr(value + "x")
        case ast.Expr() | ast.AugAssign() | ast.Raise() | ast.Break() | ast.Continue():
            yield "statement", node, "pass"
        case ast.Return(value=ast.expr() as value) if not _is_none(value):
            yield "return", node, "return None"


def _is_none(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and value.value is None


def draw(before: Path, after: Path, seed: int) -> list[dict[str, Any]]:
    """Return faults in functions of both clones, as many of each kind, with their places."""
    old, new = find_functions(before), find_functions(after)
    common = [key for key in new if key in old and len(new[key].edits) == len(old[key].edits)]
    places = {
        kind: [
            (key, number)
            for key in common
            for number, edit in enumerate(new[key].edits)
            if edit.kind == kind
        ]
        for kind in KINDS
    }
    generator = random.Random(seed)
    drawn = [place for kind in KINDS for place in generator.sample(places[kind], PER_KIND)]
    print(f"{len(common)} functions in both, {sum(map(len, places.values()))} possible faults")
    faults = []
    for key, number in drawn:
        function, edit = new[key], new[key].edits[number]
        data = (after / function.path).read_bytes()
        faults.append(
            {
                "function": f"{function.path}:{function.name}",
                "line": data.count(b"\n", 0, edit.start) + 1,
                "kind": edit.kind,
                "from": data[edit.start : edit.end].decode(),
                "to": edit.text,
                "places": {
                    str(after): (function.path, *edit[1:]),
                    str(before): (old[key].path, *old[key].edits[number][1:]),
                },
            }
        )
    return faults


@contextmanager
def broken(root: Path, faults: Sequence[dict[str, Any]]) -> Iterator[None]:
    """Put these faults into a clone, and take them out again."""
    places = [fault["places"][str(root)] for fault in faults]
    kept = {path: (root / path).read_bytes() for path, *_ in places}
    try:
        # The last of a file first, which leaves the places of the others.
        for path, start, end, text in sorted(places, key=lambda place: place[1], reverse=True):
            data = (root / path).read_bytes()
            (root / path).write_bytes(data[:start] + text.encode() + data[end:])
        yield
    finally:
        for path, data in kept.items():
            (root / path).write_bytes(data)


def run_tests(root: Path, *arguments: str) -> list[str]:
    """Run pytest in a clone, and return the tests that failed."""
    command = [root / ".venv/bin/python", "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    environment = {**os.environ, "PATH": f"{root}/.venv/bin:{os.environ['PATH']}"}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    process = subprocess.Popen(
        [*command, "--tb=line", *arguments],
        cwd=root,
        env=environment,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    try:
        output, _ = process.communicate(timeout=LIMIT)
    except subprocess.TimeoutExpired:
        return ["no test ended"]
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    lines = output.splitlines()
    failed = [line.split(" ", 1)[1] for line in lines if line.startswith(("FAILED ", "ERROR "))]
    if process.returncode and not failed:  # nothing could be collected
        return lines[-1:]
    return [name.split(" - ")[0] for name in failed]


def nearest_tests(root: Path, path: str, name: str) -> list[str]:
    """Return the files of tests that are most likely to find a fault in a function, best first."""
    module = path.removesuffix(".py")
    folder = module.removeprefix("ubp/").removeprefix("answers/").rpartition("/")[0]

    def likeness(file: Path) -> int:
        text, place = file.read_text(encoding="utf-8"), file.relative_to(root / "tests").as_posix()
        return (
            4 * (name.strip("_") in text)
            + 3 * (module.replace("/", ".") in text)
            + 2 * (module.rpartition("/")[2] in place)
            + 2 * place.startswith(f"{folder}/")
        )

    files = {file: likeness(file) for file in sorted((root / "tests").rglob("test_*.py"))}
    found = sorted((file for file in files if files[file]), key=lambda file: -files[file])
    return [file.relative_to(root).as_posix() for file in found[:MOST_FILES]]


def main() -> None:
    """Draw, run, and print the faults that survive."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("after", type=Path)
    parser.add_argument("results", type=Path)
    parser.add_argument("--before", type=Path)
    parser.add_argument("--seed", type=int, default=30)
    arguments = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_DATA, (DATA, DATA))
    after = arguments.after.resolve()
    before = (arguments.before or after).resolve()
    file = arguments.results
    if not file.exists():
        save(file, {"seed": arguments.seed, "faults": draw(before, after, arguments.seed)})
    results = json.loads(file.read_text())
    find_with_nearest_tests(after, results, file)
    for root, name in {before: "before", after: "after"}.items():
        find_with_all_tests(root, name, results, file)
    faults = results["faults"]
    survivors = [fault for fault in faults if not (fault["after"] or fault["after, all tests"])]
    for fault in survivors:
        print(*(f"{key}: {fault[key]}" for key in ("function", "line", "from", "to")), sep="  ")
        print("   before:", fault.get("before, all tests"))
    print(len(faults) - len(survivors), "of", len(faults), "found")


def save(file: Path, results: dict[str, Any]) -> None:
    """Write the results."""
    file.write_text(json.dumps(results, indent=1))


def find_with_nearest_tests(root: Path, results: dict[str, Any], file: Path) -> None:
    """Run the nearest test files for each fault, until a test fails."""
    for fault in results["faults"]:
        if "after" in fault:
            continue
        files = nearest_tests(root, *fault["function"].split(":"))
        with broken(root, [fault]):
            fault["after"] = run_tests(root, "-x", "-n", "0", "-m", "not slow", *files)
        print(fault["function"], fault["line"], fault["kind"], fault["after"], flush=True)
        save(file, results)


def find_with_all_tests(root: Path, name: str, results: dict[str, Any], file: Path) -> None:
    """Run all tests with all survivors, and those that fail only then with each of them alone."""
    survivors = [fault for fault in results["faults"] if not fault["after"]]
    if name in results or not survivors:
        return
    with broken(root, survivors):
        failed = run_tests(root, "-n", "2", "--dist", "worksteal")
    anyway = run_tests(root, "-n", "0", *failed) if failed else []
    results[name] = sorted({*failed} - {*anyway})
    save(file, results)
    for fault in survivors:
        with broken(root, [fault]):
            fault[f"{name}, all tests"] = (
                run_tests(root, "-x", "-n", "0", *results[name]) if results[name] else []
            )
    save(file, results)


if __name__ == "__main__":
    main()
