"""`ubp init`."""

import os
import time
from collections.abc import Sequence
from importlib.util import find_spec
from itertools import islice
from typing import Annotated

from cyclopts import Parameter

from ubp.answers.setup.reindex import embed_sections
from ubp.checks.accept import accept_findings
from ubp.cli.bind_session import ask, ask_list, choose
from ubp.cli.error_handler import CLEAN
from ubp.cli.open_workspace import open_workspace
from ubp.cli.terminal import Terminal
from ubp.core.config import DEFAULT_INCLUDE
from ubp.core.errors import GitCommandError, UsageError
from ubp.core.installation import (
    Installation,
    find_checkout,
    find_installation,
    install_command,
    launch_command,
    missing_from_path,
    plain_command,
    without_user,
)
from ubp.core.languages import language_of
from ubp.core.model import FilePath
from ubp.core.paths import match_any
from ubp.core.setup_files import (
    InitResult,
    Plan,
    Preview,
    SiteFolders,
    TranslationCount,
    choose_topic,
    count_by_folder,
    is_configured,
    largest_folder,
    plan_for,
    propose_config,
    readme_pages,
    write_files,
)
from ubp.core.snippets import AGENT_FILES, SnippetTarget, make_snippets
from ubp.core.translations import TranslationRule
from ubp.frame.wording import count
from ubp.git.command import run_git
from ubp.index.view import View
from ubp.output.text.setup import initialized_text
from ubp.staleness.translation_rules import propose_rules
from ubp.workspace import Workspace

EXTRA = "full"  # what `ubp serve` needs
# In larger repositories the preview of bindings takes longer than the rest of `ubp init`.
MAX_PREVIEW_PAGES, MAX_PREVIEW_FILES = 300, 3000
MAX_TITLES = 300  # in which a word to search for is looked for
KEEP, REWRITE, CANCEL = "keep", "rewrite", "cancel"


def init(
    *,
    yes: Annotated[bool, Parameter(name=["--yes", "-y"])] = False,
    skip_embedding: bool = False,
    terminal: Terminal,
) -> int:
    """Run `ubp init`.

    Args:
        yes: Use the defaults without asking.
        skip_embedding: Do not compute embeddings now; the first search that needs them will.
        terminal: Where the answer goes.
    """
    is_asking = terminal.is_interactive() and not yes
    with open_workspace(terminal) as workspace:
        root, config_dir = (
            workspace.session.repository.root,
            workspace.session.repository.config_dir,
        )
        if root is None:
            raise UsageError(
                "`ubp init` cannot write a configuration in a bare repository.",
                cause="A bare repository has no work tree.",
                hint="Use UBP without a configuration: ubp stale --ref REV",
            )
        decision = KEEP if is_configured(config_dir) else REWRITE
        if is_asking and decision == KEEP:
            question = "A configuration already exists. Keep it, rewrite it, or cancel?"
            decision = choose(terminal, question, (KEEP, REWRITE, CANCEL))
        if decision == CANCEL:
            terminal.write("Nothing changed.\n")
            return CLEAN
        plan = _plan(workspace, terminal, is_asking=is_asking) if decision == REWRITE else None
    written = write_files(config_dir, plan)
    paths = tuple(os.path.relpath(os.path.join(config_dir, name), root) for name in written)
    # Opened again, with the configuration that was written.
    with open_workspace(terminal) as workspace:
        result = _build_index(
            workspace,
            root,
            paths,
            is_kept=decision == KEEP,
            is_embedding=not skip_embedding,
        )
    if terminal.options.json:
        from ubp.output.records.setup import initialized_record

        terminal.record(initialized_record(result))
    elif not terminal.options.quiet:
        terminal.write(initialized_text(result, terminal.style))
    return CLEAN


def _build_index(
    workspace: Workspace, root: str, written: tuple[str, ...], *, is_kept: bool, is_embedding: bool
) -> InitResult:
    """Build the index and return a summary of it."""
    started = time.perf_counter()
    view = workspace.session.view()
    pages = view.bound_pages()
    bound = sum(1 for page in pages if page.facts.references)
    links = view.link_graph().buckets().total()
    embedded = embed_sections(workspace.session, view) if is_embedding else None
    preview, is_large = _preview(workspace, view, bound)
    documents = view.document_paths()
    return InitResult(
        root=root,
        written=written,
        is_kept=is_kept,
        documents=len(documents),
        indexed=count_by_folder(documents),
        left_out=count_by_folder(sorted({*_markdown_files(view)} - {*documents})),
        sites=_sites(view),
        translations=_translations(workspace, view),
        bound=bound,
        problems=sum(1 for page in pages if page.facts.problems),
        links=links,
        broken=workspace.status(finds_broken=True).links.broken or 0,
        embedded=embedded,
        acceptable=_count_acceptable(workspace),
        preview=preview,
        is_large=is_large,
        directory=largest_folder(documents, MAX_PREVIEW_PAGES),
        topic=_topic(view, documents),
        prefix=workspace.session.repository.prefix,
        seconds=time.perf_counter() - started,
        missing_from_path=missing_from_path(),
        snippets=make_snippets(_snippet_target(workspace, root)),
    )


def _plan(workspace: Workspace, terminal: Terminal, *, is_asking: bool) -> Plan:
    view = workspace.session.view()
    bound = [page.filepath for page in view.bound_pages() if page.facts.references]
    documents = view.document_paths()
    folders = {folder for site in _sites(view) for folder in site.folders}
    plan = propose_config(documents, bound, sorted(folders))
    rules = propose_rules(view, workspace.session.repository)
    if not all(_is_inside(plan.docs_dir, proposed.rule) for proposed in rules):
        plan = plan_for("")
    plan = plan._replace(translations=tuple(proposed.setting for proposed in rules))
    if not is_asking:
        return plan
    files = count(len(documents), "Markdown file")
    terminal.write(f"Found {files}. Press Enter to accept the default in parentheses.\n")
    folder = ask(terminal, "Docs directory", plan.docs_dir or ".")
    folder = folder.strip("/").removeprefix("./")
    if folder != plan.docs_dir:
        other = plan_for(folder, readme_pages(documents))
        plan = other._replace(translations=plan.translations)
    include = ask_list(terminal, "Include patterns", plan.include) or plan.include
    exclude = ask_list(terminal, "Exclude patterns", ())
    return plan._replace(include=include, exclude=exclude)


def _is_inside(folder: str, rule: TranslationRule) -> bool:
    """Return whether a rule's translations and originals are below a folder, or anywhere."""
    begins = (pattern.partition("{")[0] for pattern in (rule.page, rule.source))
    return not folder or all(not begin or begin.startswith(f"{folder}/") for begin in begins)


def _preview(workspace: Workspace, view: View, bound: int) -> tuple[Preview | None, bool]:
    """Return what `ubp bind` could propose where most pages are not bound.

    The second value is whether the repository is too large to find out.
    """
    from ubp.bindings.features import MIN_CONFIDENCE
    from ubp.bindings.suggest import count_bindings

    documents = view.count_documents()
    if bound * 2 >= documents:
        return None, False
    files = sum(1 for _ in islice(view.files(), MAX_PREVIEW_FILES + 1))
    if files > MAX_PREVIEW_FILES or documents > MAX_PREVIEW_PAGES:
        return None, True
    counts = count_bindings(workspace.suggest_bindings(), MIN_CONFIDENCE)
    return Preview(counts.proposed, counts.confident, MIN_CONFIDENCE), False


def _topic(view: View, documents: Sequence[FilePath]) -> str:
    """Return a word of the pages, translations apart, to search for."""
    originals = [path for path in documents if language_of(path) in {"", "en"}] or documents
    pages = view.pages_at(originals[:MAX_TITLES]).values()
    return choose_topic(page.facts.title for page in pages if page.facts.title)


def _markdown_files(view: View) -> list[FilePath]:
    return [
        path for path, entry in view.files() if entry.is_file and match_any(DEFAULT_INCLUDE, path)
    ]


def _sites(view: View) -> tuple[SiteFolders, ...]:
    """Return the sites that publish pages; a root per language is the folder above them."""
    sites = []
    published = {view.sites().of(path) for path in view.document_paths()}
    for site in (site for site in view.sites().sites if site in published):
        folders = {root.folder.partition("{lang}")[0].rstrip("/") for root in site.roots}
        sites.append(SiteFolders(site.style.name, tuple(map(FilePath, sorted(folders)))))
    return tuple(sites)


def _translations(workspace: Workspace, view: View) -> tuple[TranslationCount, ...]:
    """Return how many translations each rule of the configuration finds."""
    counts = []
    for rule in workspace.session.config.translations:
        languages = [found[0] for path in view.document_paths() if (found := rule.match(path))]
        counts.append(TranslationCount(rule.page, len(languages), len(set(languages))))
    return tuple(counts)


def _count_acceptable(workspace: Workspace) -> int:
    """Return how many findings a new debt file could accept; an existing one accepts no more."""
    result = accept_findings(workspace.session)
    return result.accepted if result.text is not None else 0


def _snippet_target(workspace: Workspace, root: str) -> SnippetTarget:
    installation = find_installation() or _checked_out()
    has_server = find_spec("mcp") is not None
    repository = workspace.session.repository
    remote = repository.run("config", "--get", "remote.origin.url", ok=(0, 1))
    return SnippetTarget(
        root=root,
        launch=plain_command(installation),
        server=launch_command(installation, EXTRA) if has_server else (),
        install=install_command(EXTRA),
        repository=installation.repository if installation else None,
        revision=installation.revision if installation else None,
        files=frozenset(
            [*os.listdir(root), *(name for name in AGENT_FILES if _exists(root, name))]
        ),
        origin=remote.decode("utf-8", "replace").strip(),
    )


def _exists(root: str, name: str) -> bool:
    return os.path.lexists(os.path.join(root, name))


def _checked_out() -> Installation | None:
    """Return the origin and the newest release, or the commit, of the clone that UBP runs from."""
    folder = find_checkout()
    if folder is None or not os.path.exists(os.path.join(folder, ".git")):
        return None
    environment = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}

    def ask_git(*args: str) -> str:
        try:
            output = run_git(args, cwd=folder, environment=environment, ok=(0, 1, 128))
        except GitCommandError:
            return ""
        return output.decode("utf-8", "replace").strip()

    origin = without_user(ask_git("config", "--get", "remote.origin.url"))
    revision = ask_git("describe", "--tags", "--abbrev=0", "--match", "v[0-9]*") or ask_git(
        "rev-parse", "HEAD"
    )
    is_remote = "://" in origin or (":" in origin and "@" in origin)
    if not is_remote or origin.startswith("file:") or not revision:
        return None
    return Installation(origin, revision)
