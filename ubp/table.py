"""The table of answers: from a row, its command, tool, schemas, record and documentation are made.

A row has what `ubp --help` prints, so that it loads no answer.
"""

from collections.abc import Iterable, Iterator
from functools import cache
from importlib import import_module
from typing import Any, Literal, NamedTuple

from ubp.frame.answer import AnyAnswer, Request
from ubp.frame.kit import KitPrompt, KitResources
from ubp.index.session import Session
from ubp.index.view import View
from ubp.report.values import Topics

Group = Literal["query", "maintain", "setup"]


class Row(NamedTuple):
    """An answer as `module:name`, and where it is offered.

    `command` is its name on the command line, with the `group`, `help` and a working `example`; the
    name of a command of another one has a space: `model fetch`. Where an option of a command asks
    this answer instead, it is `search --fulltext`, and `help` is that of the option. `tool` is its
    name for agents, in the tool set `toolset`. `record` is the short name of its record, which
    several rows may share. A command with a dialogue, or that writes files, is a function
    `by_hand`, as `module:function`. If it has a parameter `request`, its options are made from the
    request, besides those of its other parameters (`ubp.cli.answers.GIVEN_BY_FRAME`).
    """

    target: str
    record: str
    command: str = ""
    group: Group = "query"
    help: str = ""
    example: str = ""
    tool: str = ""
    toolset: str = ""
    by_hand: str = ""

    @property
    def module(self) -> str:
        """The module of the answer."""
        return self.target.partition(":")[0]


class Kit(NamedTuple):
    """A tool set that is a package of `ubp.kits`, and what it offers besides the answers' rows.

    With `help` it is a command, whose own commands are the rows' that begin with its name, with a
    working `example`. `topics` is a function, as `module:function`, that returns what the documents
    of a view are about, for the report. `resources` and `prompts`, as `module:name`, are offered
    where the tool `offered_with` is.
    """

    name: str
    group: Group = "query"
    help: str = ""
    example: str = ""
    topics: str = ""
    resources: str = ""
    prompts: str = ""
    offered_with: str = ""


KITS = (
    Kit(
        "notes",
        help="Ask notes and bookmarks, see what they are about, and read reports on repositories.",
        example="ubp notes ask --in saved which vector database runs in the browser",
        topics="ubp.kits.notes.trends:topics_of_report",
    ),
    Kit(
        "rag",
        resources="ubp.kits.rag.resources:RESOURCES",
        prompts="ubp.kits.rag.prompts:PROMPTS",
        offered_with="rag_search",
    ),
    Kit("specs"),
)

ROWS = (
    Row(
        "ubp.answers.search.search:SEARCH",
        record="search",
        command="search",
        help="Search pages by keywords, meaning and links, in English and Japanese.\n\n"
        "Pages that match any of the words are listed, best match first. Search by meaning needs "
        "the extra `full`; without it, only keywords are used. Exit status: 0, even without "
        "results.",
        example="ubp search 'how do tokens expire' tag:security",
        by_hand="ubp.cli.search:search",
        tool="ubp_search",
        toolset="docs",
    ),
    Row(
        "ubp.answers.bindings.bind:BIND",
        record="bind",
        command="bind",
        group="maintain",
        help="Propose the source files that each page describes, and write them to front matter."
        "\n\n"
        "Nothing is written without --write or --interactive; the rest of the page stays byte for "
        "byte the same. Exit status: 1 if a page could not be written.",
        example="ubp bind docs --explain",
        by_hand="ubp.cli.bind:bind",
    ),
    Row(
        "ubp.answers.bindings.review_bindings:REVIEW_BINDINGS",
        record="bind-review",
        command="bind --review",
        help="Compare existing bindings with history, to find sources that are too broad.",
        example="ubp bind --review",
        by_hand="ubp.cli.bind:review",
    ),
    Row(
        "ubp.answers.bindings.coverage:COVERAGE",
        record="coverage",
        command="coverage",
        help="List source files and directories that no page covers, most frequently changed "
        "first.\n\n"
        "A directory without any covered file is listed as a single line. Binary files, lock "
        "files, and files marked as generated or vendored in `.gitattributes` are excluded.",
        example="ubp coverage src --days 90",
    ),
    Row(
        "ubp.answers.pages.get_page:GET_PAGE",
        record="get-page",
        command="get-page",
        help="Print a page with its links, its backlinks and the state of its sources.",
        example="ubp get-page docs/auth.md --json",
        tool="ubp_get_page",
        toolset="docs",
    ),
    Row(
        "ubp.answers.pages.get_context:GET_CONTEXT",
        record="get-context",
        command="get-context",
        help="Show a page with summaries of the pages linked with it.\n\n"
        "Nearer pages and stronger links come first.",
        example="ubp get-context docs/auth.md --depth 1",
        tool="ubp_get_context",
        toolset="docs",
    ),
    Row(
        "ubp.answers.search.fulltext_search:FULLTEXT_SEARCH",
        record="search-fulltext",
        command="search --fulltext",
        help="Search sections by keywords, instead of pages.",
        example="ubp search --fulltext 'token expiry'",
        tool="ubp_fulltext_search",
        toolset="docs",
    ),
    Row(
        "ubp.answers.pages.list_pages:LIST_PAGES",
        record="list-pages",
        command="list-pages",
        help="List pages with their titles, types and link counts.",
        example="ubp list-pages --doc-type design --sort updated_at --order desc",
        tool="ubp_list_pages",
        toolset="docs",
        by_hand="ubp.cli.list_pages:list_pages",
    ),
    Row(
        "ubp.answers.pages.get_graph:GET_GRAPH",
        record="get-graph",
        command="get-graph",
        help="Show the link graph as text, JSON, Graphviz or Mermaid.",
        example="ubp get-graph --center docs/auth.md --depth 1 --format mermaid",
        tool="ubp_get_graph",
        toolset="docs",
        by_hand="ubp.cli.graph:get_graph",
    ),
    Row(
        "ubp.answers.staleness.check_staleness:CHECK_STALENESS",
        record="check-staleness",
        tool="ubp_check_staleness",
        toolset="maintenance",
    ),
    Row(
        "ubp.answers.review.review:REVIEW",
        record="review",
        command="review",
        group="query",
        help="Show what a change means for the pages: those it may make wrong, and why.\n\n"
        "By default the work tree is compared with HEAD. Each case has the page's passages beside "
        "the change, a probability, and the command that settles it. Pages that list no sources "
        "are found, too. Exit status: 0, whatever is found.",
        example="ubp review --staged",
        tool="ubp_review_change",
        toolset="docs",
        by_hand="ubp.cli.review:review",
    ),
    Row(
        "ubp.answers.pages.suggest_links:SUGGEST_LINKS",
        record="suggest-links",
        command="suggest-links",
        help="Find pairs of similar pages that are not linked in either direction.\n\n"
        "Translations and versions of a page, logs and boilerplate are excluded. Needs the extra "
        "`full`.",
        example="ubp suggest-links docs/auth.md --min-score 0.6",
        tool="ubp_suggest_links",
        toolset="maintenance",
    ),
    Row(
        "ubp.answers.pages.impact:IMPACT",
        record="impact",
        command="impact",
        help="List the pages that depend on a page or source file, and how.\n\n"
        "Direct dependents come first: pages that list it as a source, or link to it with "
        "`depends_on`, `implements` or `extends`. With --hub, the pages of all repositories.",
        example="ubp impact src/auth.py",
        tool="ubp_get_impact",
        toolset="maintenance",
        by_hand="ubp.cli.impact:impact",
    ),
    Row(
        "ubp.answers.checks.check:CHECK",
        record="check",
        command="check",
        help="Check pages for stale sources, broken links and bad front matter.\n\n"
        "With --staged or --base, only findings introduced by the change are reported. Exit "
        "status: 1 on errors (see --fail-on); 2 if a shallow clone lacks the history to verify a "
        "page.",
        example="ubp check --staged",
        by_hand="ubp.cli.check:check",
    ),
    Row(
        "ubp.answers.checks.explain_site:EXPLAIN_SITE",
        record="check-explain-site",
        command="check --explain-site",
        help="Show which sites were found, and by which rules their links are checked.",
        example="ubp check --explain-site",
    ),
    Row(
        "ubp.answers.checks.explain:EXPLAIN",
        record="explain",
        command="explain",
        help="Explain a rule of `ubp check`; without arguments, list all rules.",
        example="ubp explain broken-link",
    ),
    Row(
        "ubp.answers.checks.debt:DEBT",
        record="debt",
        command="debt",
        group="maintain",
        help="Accept the current findings, so that `check` and `stale` fail only on new ones.\n\n"
        "The findings are written to .ubp/debt.txt. Commit the file; from then on it can only "
        "shrink. Exit status: 1 if the file has obsolete lines or if there are new findings.",
        example="ubp debt --prune",
    ),
    Row(
        "ubp.answers.staleness.affected:AFFECTED",
        record="affected",
        command="affected",
        help="List the pages that describe the given files.\n\n"
        "The files need not exist: deleted files are accepted, too.",
        example="ubp affected src/auth.py",
    ),
    Row(
        "ubp.answers.staleness.ack:ACK",
        record="ack",
        command="ack",
        group="maintain",
        help="Acknowledge pages as reviewed and still accurate, by pinning their sources.\n\n"
        "A pin is the Git object id of the source that the page describes, written to the page's "
        "front matter; the rest of the page stays byte for byte the same. Exit status: 1 if a "
        "reference cannot be pinned because its source does not exist.",
        example="ubp ack docs/auth.md --reason 'renamed a variable'",
        by_hand="ubp.cli.ack:ack",
    ),
    Row(
        "ubp.answers.staleness.status:STATUS",
        record="status",
        command="status",
        help="Show index status: pages, links, staleness, front matter problems.",
        example="ubp status --check",
    ),
    Row(
        "ubp.answers.search.diff:DIFF",
        record="diff",
        command="diff",
        help="Show which sections changed between two versions, and the words that differ.\n\n"
        "Sections are compared by their words: markup, line breaks and case make no difference.",
        example="ubp diff HEAD~10..HEAD docs/auth.md",
        by_hand="ubp.cli.diff:diff",
    ),
    Row(
        "ubp.answers.search.sql:SQL",
        record="sql",
        command="sql",
        help="Query documents, sections, links and source references with SQL.\n\n"
        "Tables: documents, sections, links, source_refs. The query is a single SELECT statement; "
        "it runs on an in-memory copy and changes nothing.",
        example="ubp sql \"SELECT filepath, verdict FROM source_refs WHERE level = 'stale'\"",
        by_hand="ubp.cli.sql:sql",
    ),
    Row(
        "ubp.answers.edits.create_page:CREATE_PAGE",
        record="proposals-edit",
        tool="ubp_create_page",
        toolset="edit",
    ),
    Row(
        "ubp.answers.edits.update_page:UPDATE_PAGE",
        record="proposals-edit",
        tool="ubp_update_page",
        toolset="edit",
    ),
    Row(
        "ubp.answers.edits.acknowledge:ACKNOWLEDGE",
        record="proposals-edit",
        tool="ubp_acknowledge",
        toolset="edit",
    ),
    Row(
        "ubp.answers.edits.bind:BIND",
        record="proposals-edit",
        tool="ubp_bind",
        toolset="edit",
    ),
    Row(
        "ubp.answers.edits.list_proposals:LIST_PROPOSALS",
        record="proposals",
        command="proposals",
        group="maintain",
        help="List, show, accept or reject the edits that agents propose.\n\n"
        "An agent's edit is a commit on a branch of its own (`ubp serve --toolsets +edit`); your "
        "files change only when you accept it.",
        example="ubp proposals show 3",
        tool="ubp_list_proposals",
        toolset="edit",
        by_hand="ubp.cli.proposals:list_all",
    ),
    Row(
        "ubp.answers.edits.decide:WITHDRAW_PROPOSAL",
        record="proposals-withdraw",
        tool="ubp_withdraw_proposal",
        toolset="edit",
    ),
    Row(
        "ubp.answers.edits.show_proposal:SHOW_PROPOSAL",
        record="proposals-show",
        command="proposals show",
        help="Show a proposal: who made it and why, its effect on findings and staleness, and its "
        "diff.",
        example="ubp proposals show 3 --html review.html",
        by_hand="ubp.cli.proposals:show",
    ),
    Row(
        "ubp.answers.edits.decide:ACCEPT",
        record="proposals-decisions",
        command="proposals accept",
        help="Merge proposals into the current branch, each as one commit made by git, with your "
        "hooks.",
        example="ubp proposals accept 3",
        by_hand="ubp.cli.proposals:accept",
    ),
    Row(
        "ubp.answers.edits.decide:REJECT",
        record="proposals-decisions",
        command="proposals reject",
        help="Reject proposals. The log keeps them, with the reason.",
        example="ubp proposals reject 3 --reason 'not what it does'",
        by_hand="ubp.cli.proposals:reject",
    ),
    Row(
        "ubp.answers.edits.show_proposal:SHOW_PROPOSAL",
        record="proposals-show",
        command="proposals edit",
        help="Revise a page of a proposal in your editor, before you accept it.",
        example="ubp proposals edit 3 docs/auth.md",
        by_hand="ubp.cli.proposals:edit",
    ),
    Row(
        "ubp.answers.edits.pull_request:PULL_REQUEST",
        record="proposals-pr",
        command="proposals pr",
        help="Print the commands that push a proposal and open a pull request, for a review on the "
        "forge.",
        example="ubp proposals pr 3 | sh",
    ),
    Row(
        "ubp.answers.edits.proposal_log:PROPOSAL_LOG",
        record="proposals-log",
        command="proposals log",
        help="Show what was proposed, accepted, rejected and withdrawn, the latest first.",
        example="ubp proposals log --page docs/auth.md",
    ),
    Row(
        "ubp.answers.setup.init:INIT",
        record="init",
        command="init",
        group="setup",
        help="Write a configuration, build the index and print setup snippets.\n\n"
        "Asks for the documentation directory and for patterns to include and exclude. Without a "
        "terminal, defaults are used. An existing configuration is kept.",
        example="ubp init --yes",
        by_hand="ubp.cli.setup:init",
    ),
    Row(
        "ubp.answers.setup.reindex:REINDEX",
        record="reindex",
        command="reindex",
        group="setup",
        help="Rebuild the index. Rarely needed: the index updates itself from Git.",
        example="ubp reindex --file docs/auth.md",
    ),
    Row(
        "ubp.answers.setup.model:MODEL",
        record="model",
        command="model",
        group="setup",
        help="Show the embedding model used for search by meaning; test or fetch others.\n\n"
        "`ubp model fetch ID` downloads a static model from the Hugging Face Hub to your cache; to "
        "use it, set `search.model` in .ubp/config.json. A model of a server with an API like "
        "OpenAI's is named by UBP_EMBED_URL, UBP_EMBED_MODEL and UBP_EMBED_KEY; `ubp model embed` "
        "shows what its vectors cost.",
        example="ubp model fetch minishlab/potion-multilingual-128M",
    ),
    Row(
        "ubp.answers.setup.probe_model:TEST_MODEL",
        record="model-test",
        command="model test",
        group="setup",
        help="Ask the embedding model in use for the vectors of four sentences.\n\n"
        "Shows whether it answers, how fast, and whether it tells the same in other words from "
        "something else. No text of the repository is sent.",
        example="ubp model test",
    ),
    Row(
        "ubp.answers.setup.embed_model:EMBED_MODEL",
        record="model-embed",
        command="model embed",
        group="setup",
        help="Show what the missing vectors of the embedding model cost, or make them.\n\n"
        "A model of a server is not asked for the sections of a repository before you have said "
        "--yes here. Then searches keep the vectors of edited pages current, 200 texts at a time.",
        example="ubp model embed --yes",
    ),
    Row(
        "ubp.answers.setup.compare_models:COMPARE_MODELS",
        record="model-compare",
        command="model compare",
        group="setup",
        help="Compare embedding models on the repository's own headings and titles.\n\n"
        "At most 600 sections are drawn, always the same, and embedded without their title and "
        "headings; up to 150 of each are asked. A name without a model on this machine is one of "
        "the server of UBP_EMBED_URL.",
        example="ubp model compare ubp-bilingual-256",
    ),
    Row(
        "ubp.answers.setup.fetch_model:FETCH_MODEL",
        record="model-fetch",
        command="model fetch",
        group="setup",
        help="Download a static model from the Hugging Face Hub to your cache.\n\n"
        "To use it, set `search.model` in .ubp/config.json.",
        example="ubp model fetch minishlab/potion-multilingual-128M",
    ),
    Row(
        "ubp.answers.report.report:REPORT",
        record="report",
        command="report",
        help="Report how fresh the documentation is: levels, ages, trend, and the most urgent "
        "pages.\n\n"
        "With --html, write a self-contained HTML file: a filterable list of pages, with the "
        "changes in their sources, broken links and orphans. Exit status: 0, whatever the "
        "findings.",
        example="ubp report --html",
        by_hand="ubp.cli.report:report",
    ),
    Row(
        "ubp.answers.report.badge:BADGE",
        record="badge",
        command="badge",
        help="Make a badge: the share of fresh pages among the pages that list sources.\n\n"
        "The badge is an SVG image; with --json, a shields.io endpoint object.",
        example="ubp badge --output docs/badge.svg",
        by_hand="ubp.cli.report:badge",
    ),
    Row(
        "ubp.answers.collections.list_collections:COLLECTIONS",
        record="collections",
        command="collections",
        group="setup",
        help="List, add, synchronize or remove collections: documents of other repositories and of "
        "the web.\n\n"
        "Only `add` and `sync` use the network. Importing web pages needs the extra `collections`.",
        example="ubp collections add go https://go.dev/ref/spec",
    ),
    Row(
        "ubp.answers.collections.add:ADD",
        record="collections-sync",
        command="collections add",
        group="setup",
        help="Add a collection and fetch it. What would be fetched is shown first.\n\n"
        "In a project with a configuration, the collection is added to it, pinned at the fetched "
        "version.",
        example="ubp collections add toml https://github.com/toml-lang/toml.git",
        by_hand="ubp.cli.collections:add",
    ),
    Row(
        "ubp.answers.collections.sync:SYNC",
        record="collections-sync",
        command="collections sync",
        group="setup",
        help="Fetch collections: those of the project at their pinned versions, else the "
        "newest.\n\n"
        "The versions that pages of the project still describe are fetched, too: staleness needs "
        "both. Exit status: 2 if something could not be fetched; what is there is kept.",
        example="ubp collections sync --update",
    ),
    Row(
        "ubp.answers.collections.remove:REMOVE",
        record="collections-remove",
        command="collections remove",
        group="setup",
        help="Remove a collection from this machine's list and from the project's configuration.",
        example="ubp collections remove go --purge",
    ),
    Row(
        "ubp.answers.hub.push:PUSH",
        record="push",
        command="push",
        group="maintain",
        help="Send what this clone knows of HEAD to the organisation's hub: verdicts, links and "
        "owners by path, no text of any page.\n\n"
        "CI runs it after each push to a protected branch. Only what the hub lacks is sent. Exit "
        "status: 2 if the hub cannot be reached or refuses; with --soft 0.",
        example="ubp push --to https://hub.example.org --soft",
    ),
    Row(
        "ubp.answers.setup.version:VERSION",
        record="version",
        command="version",
        group="setup",
        help="Print version information for bug reports.",
        example="ubp version --json",
    ),
    Row("ubp.kits.notes.search:SEARCH", record="notes-search", tool="search", toolset="notes"),
    Row(
        "ubp.kits.notes.report:REPORT",
        record="oss-report",
        command="notes report",
        help="Show the report on an open-source repository: a score and the evidence for it.\n\n"
        "Only --verify uses the network. Nothing that the repository contains is executed.",
        example="ubp notes report https://github.com/simonw/til --verify",
        tool="oss_report",
        toolset="notes",
    ),
    Row(
        "ubp.kits.notes.recommend:RECOMMEND",
        record="notes-recommend",
        tool="recommend",
        toolset="notes",
    ),
    Row(
        "ubp.kits.notes.ask:ASK",
        record="notes-ask",
        command="notes ask",
        help="Answer a question with passages of notes, word for word, and a confidence.\n\n"
        "Where the environment names a language model (UBP_ASK_URL, UBP_ASK_MODEL, UBP_ASK_KEY), "
        "the passages are sent to it, and it writes an answer that cites them.",
        example="ubp notes ask --in saved which vector database runs in the browser",
        tool="ask",
        toolset="notes",
    ),
    Row(
        "ubp.kits.notes.trends:TRENDS",
        record="notes-trends",
        command="notes trends",
        help="Show what the notes of a period are about, compared with the period before.\n\n"
        "Topics are tags, categories and names that several notes mention.",
        example="ubp notes trends --in saved --period 1m",
        tool="trends",
        toolset="notes",
    ),
    Row(
        "ubp.kits.rag.rag_search:RAG_SEARCH",
        record="rag-search",
        tool="rag_search",
        toolset="rag",
    ),
    Row(
        "ubp.kits.rag.rag_index:RAG_INDEX",
        record="rag-index",
        tool="rag_index",
        toolset="rag",
    ),
    Row(
        "ubp.kits.rag.rag_delete:RAG_DELETE",
        record="rag-delete",
        tool="rag_delete",
        toolset="rag",
    ),
    Row(
        "ubp.kits.rag.rag_suggest:RAG_SUGGEST",
        record="rag-suggest",
        tool="rag_suggest",
        toolset="rag",
    ),
    Row(
        "ubp.kits.rag.rag_sync:RAG_SYNC",
        record="rag-sync",
        tool="rag_sync",
        toolset="rag",
    ),
    Row(
        "ubp.kits.rag.rag_external:RAG_EXTERNAL",
        record="rag-external",
        tool="rag_external",
        toolset="rag",
    ),
    Row(
        "ubp.kits.specs.list_languages:LIST_LANGUAGES",
        record="spec-languages",
        tool="list_languages",
        toolset="specs",
    ),
    Row(
        "ubp.kits.specs.list_versions:LIST_VERSIONS",
        record="spec-versions",
        tool="list_versions",
        toolset="specs",
    ),
    Row(
        "ubp.kits.specs.search_spec:SEARCH_SPEC",
        record="spec-search",
        tool="search_spec",
        toolset="specs",
    ),
    Row(
        "ubp.kits.specs.get_section:GET_SECTION",
        record="spec-section",
        tool="get_section",
        toolset="specs",
    ),
    Row(
        "ubp.kits.specs.build_learning_plan:BUILD_LEARNING_PLAN",
        record="spec-plan",
        tool="build_learning_plan",
        toolset="specs",
    ),
    Row(
        "ubp.kits.specs.compare_versions:COMPARE_VERSIONS",
        record="spec-compare",
        tool="compare_versions",
        toolset="specs",
    ),
)


@cache
def load(row: Row) -> AnyAnswer:
    """Return the answer of a row."""
    answer: AnyAnswer = _load(row.target)
    return answer


def _load(target: str) -> Any:
    module, _, name = target.partition(":")
    return getattr(import_module(module), name)


def row_of_command(name: str) -> Row:
    """Return the row of a command that the table has."""
    return next(row for row in ROWS if row.command == name)


def subcommands(command: str) -> Iterator[Row]:
    """Yield the rows of the commands that a command has: `model fetch` of `model`."""
    return (
        row
        for row in ROWS
        if row.command.startswith(f"{command} ") and not row.command.startswith(f"{command} --")
    )


def answers_of_options(command: str) -> dict[str, Row]:
    """Return the rows that options of a command ask instead, by the option's name."""
    start = f"{command} --"
    return {row.command.removeprefix(start): row for row in ROWS if row.command.startswith(start)}


def rows_of_tools(toolset: str) -> Iterator[Row]:
    """Yield the rows of a tool set."""
    return (row for row in ROWS if row.tool and row.toolset == toolset)


def offered_kits(tools: Iterable[str]) -> tuple[Kit, ...]:
    """Return the kits whose resources and prompts are offered along with these tools."""
    names = {*tools}
    return tuple(kit for kit in KITS if kit.offered_with in names)


def kit_resources(kit: Kit) -> KitResources | None:
    """Return the resources of a kit, if it has any."""
    resources: KitResources | None = _load(kit.resources) if kit.resources else None
    return resources


def kit_prompts(kit: Kit) -> tuple[KitPrompt, ...]:
    """Return the prompts of a kit."""
    prompts: tuple[KitPrompt, ...] = _load(kit.prompts) if kit.prompts else ()
    return prompts


def find_report_topics(session: Session, view: View) -> Topics | None:
    """Return what the documents of a view are about; None: no kit knows."""
    found = (_load(kit.topics)(session, view) for kit in KITS if kit.topics)
    return next(filter(None, found), None)


def answer_of(request: Request[Any]) -> AnyAnswer:
    """Return the answer to a request.

    Raises:
        TypeError: the request is of no answer in the table.
    """
    kind = type(request)
    for row in ROWS:
        if row.module == kind.__module__ and (answer := load(row)).request is kind:
            return answer
    raise TypeError(f"{kind.__name__} is not the request of an answer.")
