"""`ubp init`: a configuration, the index, and what to do next."""

import os
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Annotated, Literal

from ubp.answers.setup.reindex import SKIP_EMBEDDING, embed_sections
from ubp.answers.setup.snippet_target import HOOK, find_snippet_target
from ubp.bindings.features import MIN_CONFIDENCE
from ubp.bindings.probable import (
    MAX_SECONDS,
    OutOfTimeError,
    suggest_in_time,
)
from ubp.bindings.suggest import count_bindings
from ubp.checks.accept import accept_findings
from ubp.checks.run import check_links
from ubp.core.agent_files import agent_files
from ubp.core.config import DEFAULT_INCLUDE
from ubp.core.config_file import load_config
from ubp.core.errors import UsageError
from ubp.core.installation import missing_from_path
from ubp.core.languages import language_of
from ubp.core.model import FilePath
from ubp.core.paths import match_any
from ubp.core.setup_files import (
    CONFIG_FOLDER,
    Plan,
    choose_topic,
    count_by_folder,
    create_file,
    create_program,
    is_configured,
    largest_folder,
    plan_for,
    readme_pages,
    write_files,
)
from ubp.core.shell import git_add, path_argument, ubp_command
from ubp.core.snippets import SnippetTarget, make_snippets
from ubp.frame.answer import Answer, Request
from ubp.frame.fields import Count, Fraction, Option
from ubp.frame.wording import count, text_width
from ubp.frame.writer import Writer
from ubp.git.repository import Repository
from ubp.index.session import Session
from ubp.index.view import View
from ubp.staleness.state import open_context
from ubp.staleness.translation_rules import find_unclear_layouts, propose_rules

MAX_FOLDER_PAGES = 300  # of the directory that is proposed to begin with
MAX_TITLES = 300  # in which a word to search for is looked for
# Fewer findings are fixed sooner than a debt file is reviewed.
MANY_FINDINGS = 10
MAX_STEPS = 3
RULE_WIDTH = 70
MAX_PATHS = 6
REASONS = "reasons"  # the snippet of the hook
PRE_COMMIT_FILE = ".pre-commit-config.yaml"

Agent = Literal["claude", "codex", "cursor", "vscode"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PreviewRecord:
    """What `ubp bind` would propose."""

    proposed: Annotated[Count, "pages with a proposal"]
    confident: Annotated[Count, "pages with a proposal confident enough to be written"]
    sure: Annotated[Fraction, "confidence"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SnippetRecord:
    """A snippet to paste into another file."""

    name: Annotated[str, "stable name"]
    title: Annotated[str, "path to paste it into"]
    text: Annotated[str, "text to paste"]


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentFileRecord:
    """A file that an agent reads."""

    path: Annotated[str, "path, from the root"]
    text: Annotated[str, "its text"]
    state: Annotated[
        Literal["proposed", "written", "exists"],
        "proposed: not written yet; exists: another file has this path, and was left as it is",
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitHookRecord:
    """The hook that adds the reasons of acknowledgements to commit messages."""

    path: Annotated[str, "the file, from the root or absolute"]
    text: Annotated[str, "its text, or what to add to the file"]
    state: Annotated[
        Literal["proposed", "written", "exists", "elsewhere"],
        "proposed: not written yet; exists: there is a hook, which was left as it is; elsewhere:"
        " pre-commit or core.hooksPath manages the hooks, and nothing is written",
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class PathCountRecord:
    """Pages of a folder."""

    path: Annotated[str, "folder in the root, with a final slash, or a file in the root"]
    pages: Annotated[Count, "number of Markdown files"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteFoldersRecord:
    """A site that publishes pages."""

    generator: Annotated[str, "site generator"]
    folders: Annotated[tuple[str, ...], "folders of its pages; empty for the root"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TranslationCountRecord:
    """The translations that a rule of the configuration finds."""

    page: Annotated[str, "pattern of the translations"]
    pages: Annotated[Count, "number of translations"]
    languages: Annotated[Count, "number of languages"]


@dataclass(frozen=True, slots=True, kw_only=True)
class NextStepRecord:
    """A command to run next."""

    command: Annotated[str, "the command, as typed in the directory where this one was"]
    purpose: Annotated[str, "what it does"]


@dataclass(frozen=True, slots=True, kw_only=True)
class InitRecord:
    """Result of the setup."""

    root: Annotated[str, "absolute path of the work tree"]
    written: Annotated[tuple[str, ...], "files that were written, from the root"]
    is_kept: Annotated[bool, "whether an existing configuration was kept"]
    documents: Annotated[Count, "number of pages"]
    indexed: Annotated[tuple[PathCountRecord, ...], "pages by folder"]
    left_out: Annotated[tuple[PathCountRecord, ...], "Markdown files that are not pages"]
    sites: Annotated[tuple[SiteFoldersRecord, ...], "sites that publish pages"]
    translations: Annotated[tuple[TranslationCountRecord, ...], "rules for translated pages"]
    unclear_translations: Annotated[
        tuple[str, ...],
        "patterns of pages in several languages without a rule: it is unclear which has the"
        " originals",
    ]
    bound: Annotated[Count, "number of pages that list sources"]
    problems: Annotated[Count, "pages with front matter problems"]
    links: Annotated[Count, "links in the pages"]
    broken: Annotated[Count, "links that lead to no page, file or heading"]
    unconfirmed: Annotated[
        Count, "links that lead nowhere by UBP's rules, though nothing else shows it"
    ]
    embedded: Annotated[
        Count | None, "number of sections embedded; null if embedding was not requested"
    ]
    acceptable: Annotated[
        Count, "existing findings that `ubp debt` would accept; 0 if there is a debt file"
    ]
    preview: Annotated[PreviewRecord | None, "what `ubp bind` would propose; null if not computed"]
    is_large: Annotated[bool, "whether a preview would take more than five seconds"]
    next_steps: Annotated[tuple[NextStepRecord, ...], "commands to run next, most useful first"]
    seconds: Annotated[float, "indexing time"]
    missing_from_path: Annotated[
        str | None, "folder of the program if the shell does not find `ubp`"
    ]
    snippets: Annotated[tuple[SnippetRecord, ...], "snippets to paste into other files"]
    agent_files: Annotated[tuple[AgentFileRecord, ...], "with --agent: the files that it reads"]
    commit_hook: Annotated[CommitHookRecord | None, "with --commit-hook: the hook"]


@dataclass(frozen=True, slots=True)
class InitRequest(Request[InitRecord]):
    """Which configuration to write; an existing one is kept unless `rewrite` is set.

    Where nothing is given, pages may be anywhere in the repository.
    """

    docs_dir: Annotated[str | None, 'folder of the pages; "." is the whole repository'] = None
    include: Annotated[tuple[str, ...], "globs of pages"] = ()
    exclude: Annotated[tuple[str, ...], "globs of files that are not pages"] = ()
    rewrite: Annotated[bool, "replace an existing configuration"] = False
    skip_embedding: Annotated[bool, "compute no embeddings now", Option(SKIP_EMBEDDING)] = False
    agent: Annotated[
        tuple[Agent, ...],
        "agents that are to use UBP",
        Option(
            "Show the files by which an agent uses UBP (its server, instructions, a hook where it "
            "stops), and write those that do not exist if you agree, or with --yes; repeatable.",
            metavar="NAME",
        ),
    ] = ()
    write_agent_files: Annotated[bool, "write the files of the agents, which were shown"] = False
    commit_hook: Annotated[
        bool,
        "show the prepare-commit-msg hook",
        Option(
            "Show the prepare-commit-msg hook that adds the reasons of acknowledgements to commit "
            "messages, and write it if you agree, or with --yes; an existing hook is kept."
        ),
    ] = False
    write_commit_hook: Annotated[bool, "write the hook, which was shown"] = False


def run(session: Session, request: InitRequest) -> InitRecord:
    """Write the configuration and build the index.

    The session keeps the configuration that it was opened with.

    Raises:
        UsageError: the repository is bare, or a file to be written is a symbolic link.
    """
    root = require_root(session)
    config_dir = session.repository.config_dir
    is_kept = is_configured(config_dir) and not request.rewrite
    written = write_files(config_dir, None if is_kept else propose_plan(session, request))
    paths = tuple(os.path.relpath(os.path.join(config_dir, name), root) for name in written)
    configured = session.with_config(load_config(config_dir))
    started = time.perf_counter()
    view = configured.view()
    pages = view.bound_pages()
    documents = view.document_paths()
    bound = sum(1 for page in pages if page.facts.references)
    links = view.link_graph().buckets().total()
    embedded = None if request.skip_embedding else embed_sections(configured, view)
    preview, is_large = _preview(configured, view, bound)
    checked = check_links(configured, open_context(configured, view))
    acceptable = _count_acceptable(configured)
    target = find_snippet_target(session.repository, root)
    record = InitRecord(
        root=root,
        written=paths,
        is_kept=is_kept,
        documents=len(documents),
        indexed=_path_counts(documents),
        left_out=_path_counts(sorted({*_markdown_files(view)} - {*documents})),
        sites=_sites(view),
        translations=_translations(configured, view),
        unclear_translations=() if is_kept else find_unclear_layouts(view),
        bound=bound,
        problems=sum(1 for page in pages if page.facts.problems),
        links=links,
        broken=len(checked.findings),
        unconfirmed=sum(form.lost for form in checked.unconfirmed),
        embedded=embedded,
        acceptable=acceptable,
        preview=preview,
        is_large=is_large,
        next_steps=(),
        seconds=round(time.perf_counter() - started, 3),
        missing_from_path=missing_from_path(),
        snippets=tuple(
            SnippetRecord(**snippet._asdict())
            for snippet in ([] if request.agent else make_snippets(target))
            if not (request.commit_hook and snippet.name == REASONS)
        ),
        agent_files=tuple(
            prepare_agent_files(root, target.launch, request.agent, write=request.write_agent_files)
        ),
        commit_hook=prepare_commit_hook(session.repository, target, write=request.write_commit_hook)
        if request.commit_hook
        else None,
    )
    steps = _next_steps(record, view, session.repository.prefix)
    return replace(record, next_steps=tuple(islice(steps, MAX_STEPS)))


def prepare_agent_files(
    root: str, launch: tuple[str, ...], agents: Iterable[Agent], *, write: bool
) -> Iterator[AgentFileRecord]:
    """Yield the files of agents, each path once, and create those that do not exist, if asked to.

    Raises:
        UsageError: a folder of one of them is a symbolic link.
    """
    files = {file.path: file for agent in agents for file in agent_files(agent, launch)}
    for path, content in files.values():
        state: Literal["proposed", "written", "exists"] = "proposed"
        if os.path.lexists(os.path.join(root, path)):
            state = "exists"
        elif write:
            state = "written" if create_file(root, path, content) else "exists"
        yield AgentFileRecord(path=path, text=content, state=state)


def prepare_commit_hook(
    repository: Repository, target: SnippetTarget, *, write: bool
) -> CommitHookRecord:
    """Return the prepare-commit-msg hook, and create it where there is none, if asked to.

    Nothing is written where pre-commit or `core.hooksPath` manages the hooks.
    """
    text = next(found.text for found in make_snippets(target) if found.name == REASONS)
    if PRE_COMMIT_FILE in target.files:
        return CommitHookRecord(path=PRE_COMMIT_FILE, text=text, state="elsewhere")
    common = repository.run("rev-parse", "--git-common-dir").rstrip(b"\n")
    file, folder = (os.path.join(target.root, path) for path in (target.hook, os.fsdecode(common)))
    state: Literal["proposed", "written", "exists", "elsewhere"] = "proposed"
    if os.path.realpath(os.path.dirname(file)) != os.path.join(os.path.realpath(folder), "hooks"):
        state = "elsewhere"
    elif os.path.lexists(file):
        state = "exists"
    elif write:
        state = "written" if create_program(file, text) else "exists"
    return CommitHookRecord(path=target.hook, text=text, state=state)


def require_root(session: Session) -> str:
    """Return the root of the work tree.

    Raises:
        UsageError: the repository is bare.
    """
    root = session.repository.root
    if root is None:
        raise UsageError(
            "`ubp init` cannot write a configuration in a bare repository.",
            cause="A bare repository has no work tree.",
            hint="Use UBP without a configuration: ubp stale --ref REV",
        )
    return root


def propose_plan(session: Session, request: InitRequest) -> Plan:
    """Return the configuration to write: as requested, with the rules for translations.

    No folder is proposed: links and names in pages elsewhere would no longer be checked.
    """
    view = session.view()
    folder = (request.docs_dir or "").strip("/").removeprefix("./")
    plan = plan_for(folder, readme_pages(view.document_paths()))
    return plan._replace(
        translations=tuple(rule.setting for rule in propose_rules(view, session.repository)),
        include=request.include or plan.include,
        exclude=request.exclude,
    )


def _preview(session: Session, view: View, bound: int) -> tuple[PreviewRecord | None, bool]:
    """Return what `ubp bind` could propose where most pages are not bound.

    The second value is whether the repository is too large to find out in time.
    """
    if bound * 2 >= view.count_documents():
        return None, False
    try:
        suggestions = suggest_in_time(session, view)
    except OutOfTimeError:
        return None, True
    counts = count_bindings(suggestions, MIN_CONFIDENCE)
    preview = PreviewRecord(
        proposed=counts.proposed, confident=counts.confident, sure=MIN_CONFIDENCE
    )
    return preview, False


def _count_acceptable(session: Session) -> int:
    """Return how many findings a new debt file could accept; an existing one accepts no more."""
    result = accept_findings(session)
    return result.accepted if result.text is not None else 0


def _markdown_files(view: View) -> list[FilePath]:
    return [
        path for path, entry in view.files() if entry.is_file and match_any(DEFAULT_INCLUDE, path)
    ]


def _path_counts(paths: Iterable[FilePath]) -> tuple[PathCountRecord, ...]:
    counts = count_by_folder(paths)
    return tuple(PathCountRecord(path=path, pages=counts[path]) for path in sorted(counts))


def _sites(view: View) -> tuple[SiteFoldersRecord, ...]:
    """Return the sites that publish pages; a root per language is the folder above them."""
    sites = []
    published = {view.sites().of(path) for path in view.document_paths()}
    for site in (site for site in view.sites().sites if site in published):
        folders = {root.folder.partition("{lang}")[0].rstrip("/") for root in site.roots}
        sites.append(SiteFoldersRecord(generator=site.style.name, folders=tuple(sorted(folders))))
    return tuple(sites)


def _translations(session: Session, view: View) -> tuple[TranslationCountRecord, ...]:
    """Return how many translations each rule of the configuration finds."""
    counts = []
    for rule in session.config.translations:
        languages = [found[0] for path in view.document_paths() if (found := rule.match(path))]
        counts.append(
            TranslationCountRecord(
                page=rule.page, pages=len(languages), languages=len(set(languages))
            )
        )
    return tuple(counts)


def _next_steps(record: InitRecord, view: View, prefix: FilePath) -> Iterator[NextStepRecord]:
    """Yield commands, as typed in a directory, and what they do, the most useful first."""

    def step(command: str, purpose: str) -> NextStepRecord:
        return NextStepRecord(command=command, purpose=purpose)

    documents = view.document_paths()
    if record.broken:
        purpose = f"lists {count(record.broken, 'link')} to nothing and what else is wrong"
        yield step("ubp check", purpose)
    elif record.acceptable >= MANY_FINDINGS:
        yield step("ubp check", f"lists {count(record.acceptable, 'finding')}")
    if record.acceptable >= MANY_FINDINGS:
        found = count(record.acceptable, "existing finding")
        yield step("ubp debt", f"accepts {found}, so that only new ones fail")
    if record.is_large and (folder := largest_folder(documents, MAX_FOLDER_PAGES)):
        command = ubp_command("bind", path_argument(folder, prefix))
        yield step(command, "proposes sources for the pages of a directory")
    elif record.preview is not None and record.preview.proposed:
        yield step("ubp bind", "proposes sources for each page")
    if record.bound:
        yield step("ubp stale", "lists stale pages")
    if not record.broken and record.acceptable < MANY_FINDINGS:
        yield step("ubp check", "checks links, anchors, names and front matter")
    if topic := _topic(view, documents):
        yield step(ubp_command("search", topic), "searches the pages")
    yield step("ubp report", "writes a page about the documentation's state")


def _topic(view: View, documents: Sequence[FilePath]) -> str:
    """Return a word of the pages, translations apart, to search for."""
    originals = [path for path in documents if language_of(path) in {"", "en"}] or documents
    pages = view.pages_at(originals[:MAX_TITLES]).values()
    return choose_topic(page.facts.title for page in pages if page.facts.title)


def text(record: InitRecord, write: Writer) -> Iterator[str]:
    """Yield what was done and what to do next."""
    if write.is_quiet:
        return
    yield from (f"Wrote {write.name(name)}" for name in record.written)
    if record.is_kept:
        yield "Kept the existing configuration"
    yield write.style.green(f"Initialized UBP in {write.name(record.root)}")
    yield from _scope(record, write)
    bound = f"{record.bound} of {count(record.documents, 'page')}"
    problems = f", {record.problems} with front matter problems" if record.problems else ""
    links = count(record.links, "link") + _links_to_nothing(record)
    sections = f", {count(record.embedded, 'section')} embedded" if record.embedded else ""
    yield f"  {bound} with sources{problems}; {links}{sections}; indexed in {record.seconds:.2f} s"
    yield from _preview_text(record)
    if record.missing_from_path is not None:
        folder = write.name(record.missing_from_path)
        yield write.style.yellow(f"  The shell does not find `ubp`: add {folder} to PATH")
    for snippet in record.snippets:
        title = f"-- {write.name(snippet.title)} --"
        yield ""
        yield write.style.bold(title.ljust(RULE_WIDTH, "-"))
        yield from map(write.name, snippet.text.rstrip("\n").split("\n"))
    yield from agent_files_text(record.agent_files, write)
    if record.commit_hook is not None:
        yield from commit_hook_text(record.commit_hook, write)
    created = [FilePath(file.path) for file in record.agent_files if file.state == "written"]
    if record.written or created:
        command = git_add([*([CONFIG_FOLDER] if record.written else []), *created], write.prefix)
        yield ""
        yield f"To share the configuration: {write.style.cyan(command)}"
    yield ""
    yield "Next:"
    width = max(text_width(step.command) for step in record.next_steps)
    for step in record.next_steps:
        gap = " " * (width - text_width(step.command))
        yield f"  {write.style.cyan(step.command)}{gap}  {step.purpose}"


def commit_hook_text(hook: CommitHookRecord, write: Writer) -> Iterator[str]:
    """Yield the hook with its text, and what became of it."""
    states = {
        "proposed": "{}",
        "written": "{} (written)",
        "exists": "{} exists, and was left as it is; add this",
        "elsewhere": "add this to {}",
    }
    title = f"-- {states[hook.state].format(write.name(hook.path))} --"
    yield ""
    yield write.style.bold(title.ljust(RULE_WIDTH, "-"))
    yield from map(write.name, hook.text.rstrip("\n").split("\n"))
    if hook.path == PRE_COMMIT_FILE:
        yield ""
        yield f"Then run: {write.style.cyan(f'pre-commit install -t {HOOK}')}"
    elif hook.state == "proposed":
        yield ""
        yield "The hook was not written; to write it, add --yes."


def agent_files_text(files: Sequence[AgentFileRecord], write: Writer) -> Iterator[str]:
    """Yield the files of agents with their texts, and what became of them."""
    states = {
        "proposed": "{}",
        "written": "{} (written)",
        "exists": "{} exists, and was left as it is; add this",
    }
    for file in files:
        title = f"-- {states[file.state].format(write.name(file.path))} --"
        yield ""
        yield write.style.bold(title.ljust(RULE_WIDTH, "-"))
        yield from map(write.name, file.text.rstrip("\n").split("\n"))
    if any(file.state == "proposed" for file in files):
        yield ""
        yield "No file of an agent was written; to write those that do not exist, add --yes."


def _links_to_nothing(record: InitRecord) -> str:
    broken = f"{record.broken} to nothing" if record.broken else ""
    lost = record.unconfirmed
    unknown = f"{lost} unconfirmed" if lost else ""
    words = " and ".join(filter(None, [broken, unknown]))
    return f" ({words})" if words else ""


def _scope(record: InitRecord, write: Writer) -> Iterator[str]:
    """Yield what is indexed, what is not, and which sites publish it."""
    yield f"  Pages: {_paths(record.indexed, write) or 'none'}"
    if record.left_out:
        files = count(sum(path.pages for path in record.left_out), "Markdown file")
        yield f"  Left out ({files}): {_paths(record.left_out, write)}"
    for generator in dict.fromkeys(site.generator for site in record.sites):
        sites = [site for site in record.sites if site.generator == generator]
        folders = [folder for site in sites for folder in site.folders]
        shown = [f"{write.name(folder)}/" if folder else "." for folder in folders[:MAX_PATHS]]
        if len(folders) > MAX_PATHS:
            shown.append(f"{len(folders) - MAX_PATHS} more")
        title = "Site: " if len(sites) == 1 else f"Sites: {len(sites)} of "
        yield f"  {title}{generator} ({', '.join(shown)})"
    for rule in record.translations:
        pages, languages = count(rule.pages, "page"), count(rule.languages, "language")
        yield f"  Translations: {write.name(rule.page)} ({pages} in {languages})"
    for page in record.unclear_translations:
        unclear = "which language has the originals is unclear, so no rule was written"
        yield f"  No translations: {write.name(page)}: {unclear}"


def _paths(counts: Sequence[PathCountRecord], write: Writer) -> str:
    largest = sorted(counts, key=lambda path: -path.pages)
    words = [
        f"{write.name(path.path)} ({path.pages})"
        if path.path.endswith("/")
        else write.name(path.path)
        for path in largest[:MAX_PATHS]
    ]
    if len(largest) > MAX_PATHS:
        words.append(f"{sum(path.pages for path in largest[MAX_PATHS:])} more")
    return ", ".join(words)


def _preview_text(record: InitRecord) -> Iterator[str]:
    preview = record.preview
    if preview is not None and preview.proposed:
        bound = f"{record.bound} bound" if record.bound else "none bound"
        proposed = (
            f"proposals for {preview.proposed}, {preview.confident} of them with high confidence"
        )
        yield f"  {count(record.documents, 'page')}, {bound}; {proposed}"
    elif record.is_large:
        limit = f"{MAX_SECONDS:.0f} s"
        yield f"  No sources were proposed: here that takes more than {limit}, by `ubp bind`"


INIT = Answer(request=InitRequest, record=InitRecord, run=run, text=text, has_facts=False)
