"""`ubp init`: ask, write the configuration, build the index, print what to paste where."""

import os
import time
from importlib.util import find_spec
from itertools import islice
from typing import Annotated

from cyclopts import Parameter

from ubp.cli.door import CLEAN
from ubp.cli.opening import open_workspace
from ubp.cli.origin import find_install, find_launch, find_origin
from ubp.cli.questions import ask, ask_list, choose
from ubp.cli.terminal import Terminal
from ubp.errors import UsageError
from ubp.index import View
from ubp.init import (
    Initialized,
    Plan,
    Preview,
    is_configured,
    plan_for,
    propose,
    write_files,
)
from ubp.render.records import initialized_record
from ubp.render.text.init import initialized_text
from ubp.snippets import Place, make_snippets
from ubp.workspace import Workspace

EXTRA = "full"  # what serves agents
# Beyond these the preview of bindings takes longer than the rest of `ubp init`.
MOST_PAGES, MOST_FILES = 300, 3000
KEEP, REWRITE, CANCEL = "keep", "rewrite", "cancel"


def init(
    *,
    yes: Annotated[bool, Parameter(name=["--yes", "-y"])] = False,
    skip_embedding: bool = False,
    terminal: Terminal,
) -> int:
    """Write a configuration and build the index; nothing else of UBP needs it.

    Args:
        yes: Ask nothing and take the defaults.
        skip_embedding: Leave the sections' vectors to the first search that needs them.
        terminal: Where the answer goes.
    """
    is_asking = terminal.is_interactive() and not yes
    with open_workspace(terminal) as workspace:
        root, config_dir = _folders(workspace)
        decision = KEEP if is_configured(config_dir) else REWRITE
        if is_asking and decision == KEEP:
            question = "A configuration is there. What to do with it?"
            decision = choose(terminal, question, (KEEP, REWRITE, CANCEL))
        if decision == CANCEL:
            terminal.write("Nothing was changed.\n")
            return CLEAN
        plan = _plan(workspace, terminal, is_asking=is_asking) if decision == REWRITE else None
    written = write_files(config_dir, plan)
    paths = tuple(os.path.relpath(os.path.join(config_dir, name), root) for name in written)
    with open_workspace(terminal) as workspace:
        is_kept = decision == KEEP
        done = _build(workspace, root, paths, is_kept=is_kept, is_embedding=not skip_embedding)
    if terminal.options.json:
        terminal.record(initialized_record(done))
    elif not terminal.options.quiet:
        terminal.write(initialized_text(done, terminal.style))
    return CLEAN


def _build(
    workspace: Workspace, root: str, written: tuple[str, ...], *, is_kept: bool, is_embedding: bool
) -> Initialized:
    """Build the index, and tell what is in it."""
    started = time.perf_counter()
    view = workspace.view()
    pages = view.bound_pages()
    bound = sum(1 for page in pages if page.facts.references)
    links = view.learn_graph().buckets().total()
    embedded = workspace.embed(view) if is_embedding else None
    preview, is_large = _preview(workspace, view, bound)
    return Initialized(
        root=root,
        written=written,
        is_kept=is_kept,
        documents=view.count_documents(),
        bound=bound,
        problems=sum(1 for page in pages if page.facts.problems),
        links=links,
        embedded=embedded,
        acceptable=_acceptable(workspace),
        preview=preview,
        is_large=is_large,
        seconds=time.perf_counter() - started,
        snippets=make_snippets(_place(workspace, root)),
    )


def _folders(workspace: Workspace) -> tuple[str, str]:
    root = workspace.repository.root
    if root is None:
        raise UsageError(
            "A bare repository has no place for a configuration.",
            cause="It has no work tree.",
            hint="Nothing needs one: `ubp stale --ref REV` answers there.",
        )
    return root, workspace.repository.config_dir


def _plan(workspace: Workspace, terminal: Terminal, *, is_asking: bool) -> Plan:
    view = workspace.view()
    bound = [page.filepath for page in view.bound_pages() if page.facts.references]
    documents = view.document_paths()
    plan = propose(documents, bound)
    if not is_asking:
        return plan
    terminal.write(f"Found {len(documents)} Markdown files. Enter takes what stands in brackets.\n")
    folder = ask(terminal, "Docs directory", plan.docs_dir or ".")
    folder = folder.strip("/").removeprefix("./")
    plan = plan if folder == plan.docs_dir else plan_for(folder)
    include = ask_list(terminal, "Include patterns", plan.include) or plan.include
    exclude = ask_list(terminal, "Exclude patterns", ())
    return plan._replace(include=include, exclude=exclude)


def _preview(workspace: Workspace, view: View, bound: int) -> tuple[Preview | None, bool]:
    """What `ubp bind` could do where most pages are not bound; and whether that is too much."""
    from ubp.binding.choosing import count_bindings
    from ubp.binding.suggestion import MIN_CONFIDENCE

    documents = view.count_documents()
    if bound * 2 >= documents:
        return None, False
    files = sum(1 for _ in islice(view.files(), MOST_FILES + 1))
    if files > MOST_FILES or documents > MOST_PAGES:
        return None, True
    found = workspace.suggest_bindings()
    counted = count_bindings(found, MIN_CONFIDENCE)
    return Preview(counted.proposed, counted.confident, MIN_CONFIDENCE), False


def _acceptable(workspace: Workspace) -> int:
    """How many findings a debt file could accept; one that is there takes no more."""
    found = workspace.accept()
    return found.accepted if found.text is not None else 0


def _place(workspace: Workspace, root: str) -> Place:
    origin = find_origin()
    has_server = find_spec("mcp") is not None
    return Place(
        root=root,
        launch=find_launch(origin),
        server=find_launch(origin, EXTRA) if has_server else (),
        install=find_install(origin, EXTRA),
        repository=origin.repository if origin else None,
        revision=origin.revision if origin else None,
        files=frozenset(os.listdir(root)),
        origin=_origin(workspace),
    )


def _origin(workspace: Workspace) -> str:
    found = workspace.repository.run("config", "--get", "remote.origin.url", ok=(0, 1))
    return found.decode("utf-8", "replace").strip()
