"""The table of commands: names, functions and summaries.

Summaries are here, not in the functions' docstrings, so that `ubp --help` imports no command.
"""

from typing import NamedTuple

from cyclopts import Group

QUERY = Group("Ask", sort_key=1)
MAINTAIN = Group("Answer", sort_key=2)
SETUP = Group("Set up", sort_key=3)


class CommandRow(NamedTuple):
    """A command: its name, its function as `module:function`, its help, an example that works."""

    name: str
    target: str
    group: Group
    help: str
    example: str


ROWS = (
    CommandRow(
        "stale",
        "ubp.cli.stale_command:stale",
        QUERY,
        "Tell which pages no longer describe their sources, since which commit, by whom.\n\n"
        "It exits 0, with --staged or --base 1 when the change leaves a page behind, and 2 where a "
        "shallow clone could not tell.",
        "ubp stale --base origin/main",
    ),
    CommandRow(
        "check",
        "ubp.cli.check:check",
        QUERY,
        "Tell what is wrong in the pages: stale ones, broken links, bad front matter.\n\n"
        "It exits 1 on errors (see --fail-on), and 2 where a shallow clone could not tell. With "
        "--staged or --base it tells only what the change brings.",
        "ubp check --staged",
    ),
    CommandRow(
        "explain",
        "ubp.cli.check:explain",
        QUERY,
        "Print the manual of a rule of `ubp check`; without a rule, the list of them.",
        "ubp explain broken-link",
    ),
    CommandRow(
        "affected",
        "ubp.cli.ack:affected",
        QUERY,
        "Tell which pages describe these files.\n\n"
        "The files need not exist: what was deleted affects its pages most of all.",
        "ubp affected src/auth.py",
    ),
    CommandRow(
        "search",
        "ubp.cli.search:search",
        QUERY,
        "Find pages by their words, their meaning and their links, in English and Japanese.\n\n"
        "Any of the words will do, the best pages come first. Without the extra `full` it asks "
        "for words alone. It exits 0 also where nothing is found.",
        "ubp search 'how do tokens expire' tag:security",
    ),
    CommandRow(
        "get-page",
        "ubp.cli.pages:get_page",
        QUERY,
        "Print a page with its links and backlinks, and whether it still describes its sources.",
        "ubp get-page docs/auth.md --json",
    ),
    CommandRow(
        "list-pages",
        "ubp.cli.pages:list_pages",
        QUERY,
        "List the pages with their titles, types and links.",
        "ubp list-pages --doc-type design --sort updated_at --order desc",
    ),
    CommandRow(
        "get-context",
        "ubp.cli.pages:get_context",
        QUERY,
        "Tell what stands around a page: the pages that it is linked with, in short.\n\n"
        "The nearer ones and the stronger links come first.",
        "ubp get-context docs/auth.md --depth 1",
    ),
    CommandRow(
        "impact",
        "ubp.cli.pages:impact",
        QUERY,
        "Tell which pages depend on a page or a source, and through what.\n\n"
        "First come those that build on it: they name it as their source, or say `depends_on`, "
        "`implements`, `extends`.",
        "ubp impact src/auth.py",
    ),
    CommandRow(
        "get-graph",
        "ubp.cli.pages:get_graph",
        QUERY,
        "Show which pages link to which: as text, JSON, for Graphviz or for Mermaid.",
        "ubp get-graph --center docs/auth.md --depth 1 --format mermaid",
    ),
    CommandRow(
        "suggest-links",
        "ubp.cli.suggest_links:suggest_links",
        QUERY,
        "Find pairs of pages that are close in meaning and not linked in either direction.\n\n"
        "Translations and versions of a page, logs and boilerplate are left out. It needs the "
        "extra `full`.",
        "ubp suggest-links docs/auth.md --min-score 0.6",
    ),
    CommandRow(
        "coverage",
        "ubp.cli.bind:coverage",
        QUERY,
        "Tell which source files and directories no page describes, what changes most first.\n\n"
        "A directory in which nothing is described is one line. Binary files, lock files, and what "
        "`.gitattributes` calls generated or vendored do not count.",
        "ubp coverage src --days 90",
    ),
    CommandRow(
        "status",
        "ubp.cli.report:status",
        QUERY,
        "Tell what is indexed and how it stands.",
        "ubp status --check",
    ),
    CommandRow(
        "sql",
        "ubp.cli.sql:sql",
        QUERY,
        "Query documents, sections, links and source references with SQL.\n\n"
        "Tables: documents, sections, links, source_refs. The query is one SELECT; it reads a copy "
        "in memory and changes nothing.",
        "ubp sql \"SELECT filepath, verdict FROM source_refs WHERE level = 'stale'\"",
    ),
    CommandRow(
        "report",
        "ubp.cli.report:report",
        QUERY,
        "Tell how fresh the documentation is: levels, ages, a trend, and what matters most.\n\n"
        "With --html it is one file to look at, to filter and to pass on: the pages with what "
        "changed in their sources, broken links, orphans. It exits 0 whatever it finds.",
        "ubp report --html",
    ),
    CommandRow(
        "badge",
        "ubp.cli.report:badge",
        QUERY,
        "Draw a badge: the share of fresh pages among those that name sources.\n\n"
        "It is an SVG; with --json it is what shields.io reads from an endpoint.",
        "ubp badge --output docs/badge.svg",
    ),
    CommandRow(
        "bind",
        "ubp.cli.bind:bind",
        MAINTAIN,
        "Propose, for each page, the files and folders that it describes; write them into it.\n\n"
        "Nothing is written without --write or --interactive, and then no other byte of the page "
        "is touched. It exits 1 when a page could not be written.",
        "ubp bind docs --explain",
    ),
    CommandRow(
        "ack",
        "ubp.cli.ack:ack",
        MAINTAIN,
        "Say that pages were read and are still true: write pins into them.\n\n"
        "A pin is the id of the source that the page describes; no other byte of the page is "
        "touched. It exits 1 when a reference cannot be pinned, because its source is gone.",
        "ubp ack docs/auth.md --reason 'renamed a variable'",
    ),
    CommandRow(
        "debt",
        "ubp.cli.check:debt",
        MAINTAIN,
        "Accept the findings of today, so that `check` and `stale` fail on new ones only.\n\n"
        "They go to .ubp/debt.txt, to be committed; from then on it can only shrink. It exits 1 "
        "where the file accepts what is not there any more, and where there is something new.",
        "ubp debt --prune",
    ),
    CommandRow(
        "init",
        "ubp.cli.setup:init",
        SETUP,
        "Write a configuration, build the index, print what to paste where.\n\n"
        "It asks for the documentation's folder, what to include and what to exclude; where nobody "
        "can answer, the defaults count. A configuration that is there is kept.",
        "ubp init --yes",
    ),
    CommandRow(
        "reindex",
        "ubp.cli.setup:reindex",
        SETUP,
        "Build the index anew; it is derived from Git, so this is hardly ever needed.",
        "ubp reindex --file docs/auth.md",
    ),
    CommandRow(
        "model",
        "ubp.cli.setup:model",
        SETUP,
        "Tell which embedding model finds pages by their meaning, or fetch another one.\n\n"
        "`ubp model fetch ID` brings a static model from the Hugging Face hub into your cache; "
        "name it as `search.model` in .ubp/config.json. Nothing else that UBP does uses a network.",
        "ubp model fetch minishlab/potion-multilingual-128M",
    ),
    CommandRow(
        "serve",
        "ubp.cli.setup:serve",
        SETUP,
        "Answer agents over the Model Context Protocol, on stdin and stdout.\n\n"
        "An agent's client starts it (`ubp init` prints how); it ends when the client leaves. "
        "Several may serve one repository.",
        "ubp serve --toolsets docs --exclude-tools ubp_get_graph",
    ),
    CommandRow(
        "version",
        "ubp.cli.setup:version",
        SETUP,
        "Tell the versions that a report of a defect needs.",
        "ubp version --json",
    ),
)
