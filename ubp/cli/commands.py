"""The table of commands: what each is called, where it is, what its help says."""

from typing import NamedTuple

from cyclopts import Group

ASK = Group("Ask", sort_key=1)
ANSWER = Group("Answer", sort_key=2)
SET_UP = Group("Set up", sort_key=3)


class Row(NamedTuple):
    """A command: its name, its function as `module:function`, what it does, a real call of it."""

    name: str
    target: str
    group: Group
    help: str
    example: str


ROWS = (
    Row(
        "stale",
        "ubp.cli.stale:stale",
        ASK,
        "Tell which pages no longer describe their sources, since which commit, by whom.\n\n"
        "It exits 0, with --staged or --base 1 when the change leaves a page behind, and 2 where a "
        "shallow clone could not tell.",
        "ubp stale --base origin/main",
    ),
    Row(
        "check",
        "ubp.cli.check:check",
        ASK,
        "Tell what is wrong in the pages: stale ones, broken links, bad front matter.\n\n"
        "It exits 1 on errors (see --fail-on), and 2 where a shallow clone could not tell. With "
        "--staged or --base it tells only what the change brings.",
        "ubp check --staged",
    ),
    Row(
        "explain",
        "ubp.cli.explain:explain",
        ASK,
        "Print the manual of a rule of `ubp check`; without a rule, the list of them.",
        "ubp explain broken-link",
    ),
    Row(
        "affected",
        "ubp.cli.affected:affected",
        ASK,
        "Tell which pages describe these files.\n\n"
        "The files need not exist: what was deleted affects its pages most of all.",
        "ubp affected src/auth.py",
    ),
    Row(
        "search",
        "ubp.cli.search:search",
        ASK,
        "Find pages by their words, their meaning and their links, in English and Japanese.\n\n"
        "Any of the words will do, the best pages come first. Without the extra `full` it asks "
        "for words alone. It exits 0 also where nothing is found.",
        "ubp search 'how do tokens expire' tag:security",
    ),
    Row(
        "get-page",
        "ubp.cli.get_page:get_page",
        ASK,
        "Print a page with its links and backlinks, and whether it still describes its sources.",
        "ubp get-page docs/auth.md --json",
    ),
    Row(
        "list-pages",
        "ubp.cli.list_pages:list_pages",
        ASK,
        "List the pages with their titles, types and links.",
        "ubp list-pages --doc-type design --sort updated_at --order desc",
    ),
    Row(
        "get-context",
        "ubp.cli.get_context:get_context",
        ASK,
        "Tell what stands around a page: the pages that it is linked with, in short.\n\n"
        "The nearer ones and the stronger links come first.",
        "ubp get-context docs/auth.md --depth 1",
    ),
    Row(
        "impact",
        "ubp.cli.impact:impact",
        ASK,
        "Tell which pages depend on a page or a source, and through what.\n\n"
        "First come those that build on it: they name it as their source, or say `depends_on`, "
        "`implements`, `extends`.",
        "ubp impact src/auth.py",
    ),
    Row(
        "get-graph",
        "ubp.cli.get_graph:get_graph",
        ASK,
        "Show which pages link to which: as text, JSON, for Graphviz or for Mermaid.",
        "ubp get-graph --center docs/auth.md --depth 1 --format mermaid",
    ),
    Row(
        "suggest-links",
        "ubp.cli.suggest_links:suggest_links",
        ASK,
        "Find pairs of pages that are close in meaning and not linked in either direction.\n\n"
        "Translations and versions of a page, logs and boilerplate are left out. It needs the "
        "extra `full`.",
        "ubp suggest-links docs/auth.md --min-score 0.6",
    ),
    Row(
        "coverage",
        "ubp.cli.coverage:coverage",
        ASK,
        "Tell which source files and directories no page describes, what changes most first.\n\n"
        "A directory in which nothing is described is one line. Binary files, lock files, and what "
        "`.gitattributes` calls generated or vendored do not count.",
        "ubp coverage src --days 90",
    ),
    Row(
        "status",
        "ubp.cli.status:status",
        ASK,
        "Tell what is indexed and how it stands.",
        "ubp status --check",
    ),
    Row(
        "report",
        "ubp.cli.report:report",
        ASK,
        "Tell how fresh the documentation is: levels, ages, a trend, and what matters most.\n\n"
        "With --html it is one file to look at, to filter and to pass on: the pages with what "
        "changed in their sources, broken links, orphans. It exits 0 whatever it finds.",
        "ubp report --html",
    ),
    Row(
        "badge",
        "ubp.cli.badge:badge",
        ASK,
        "Draw a badge: the share of fresh pages among those that name sources.\n\n"
        "It is an SVG; with --json it is what shields.io reads from an endpoint.",
        "ubp badge --output docs/badge.svg",
    ),
    Row(
        "bind",
        "ubp.cli.bind:bind",
        ANSWER,
        "Propose, for each page, the files and folders that it describes; write them into it.\n\n"
        "Nothing is written without --write or --interactive, and then no other byte of the page "
        "is touched. It exits 1 when a page could not be written.",
        "ubp bind docs --explain",
    ),
    Row(
        "ack",
        "ubp.cli.ack:ack",
        ANSWER,
        "Say that pages were read and are still true: write pins into them.\n\n"
        "A pin is the id of the source that the page describes; no other byte of the page is "
        "touched. It exits 1 when a reference cannot be pinned, because its source is gone.",
        "ubp ack docs/auth.md --reason 'renamed a variable'",
    ),
    Row(
        "debt",
        "ubp.cli.debt:debt",
        ANSWER,
        "Accept the findings of today, so that `check` and `stale` fail on new ones only.\n\n"
        "They go to .ubp/debt.txt, to be committed; from then on it can only shrink. It exits 1 "
        "where the file accepts what is not there any more, and where there is something new.",
        "ubp debt --prune",
    ),
    Row(
        "init",
        "ubp.cli.init:init",
        SET_UP,
        "Write a configuration, build the index, print what to paste where.\n\n"
        "It asks for the documentation's folder, what to include and what to exclude; where nobody "
        "can answer, the defaults count. A configuration that is there is kept.",
        "ubp init --yes",
    ),
    Row(
        "reindex",
        "ubp.cli.reindex:reindex",
        SET_UP,
        "Build the index anew; it is derived from Git, so this is hardly ever needed.",
        "ubp reindex --file docs/auth.md",
    ),
    Row(
        "model",
        "ubp.cli.model:model",
        SET_UP,
        "Tell which embedding model finds pages by their meaning, or fetch another one.\n\n"
        "`ubp model fetch ID` brings a static model from the Hugging Face hub into your cache; "
        "name it as `search.model` in .ubp/config.json. Nothing else that UBP does uses a network.",
        "ubp model fetch minishlab/potion-multilingual-128M",
    ),
    Row(
        "serve",
        "ubp.cli.serve:serve",
        SET_UP,
        "Answer agents over the Model Context Protocol, on stdin and stdout.\n\n"
        "An agent's client starts it (`ubp init` prints how); it ends when the client leaves. "
        "Several may serve one repository.",
        "ubp serve --toolsets docs --exclude-tools ubp_get_graph",
    ),
    Row(
        "version",
        "ubp.cli.version:version",
        SET_UP,
        "Tell the versions that a report of a defect needs.",
        "ubp version --json",
    ),
)
