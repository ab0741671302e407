"""`ubp bind`: proposals as they are listed, confirmed and written."""

import json
import re
import subprocess
import sys

import pytest

from ubp.answers.bindings.bind import BindRequest, propose, suggested_page_record
from ubp.bindings.features import BindingSuggestions, Evidence, PageSuggestions, Suggestion
from ubp.cli.decide_bindings import binding_item
from ubp.cli.decisions import UNDECIDED
from ubp.core.model import FilePath
from ubp.workspace import Workspace

NAMED = Evidence("path", "src/a.py", 3, 0.75)
TOGETHER = Evidence("commit", "4 shared commits", None, 0.25)


@pytest.fixture
def project(repository):
    """Three pages and three sources."""
    for name in ("a", "b", "c"):
        repository.write(f"src/{name}.py", f"{name}\n")
        repository.write(f"docs/{name}.md", f"# {name}\n")
    repository.commit("Begin")
    return repository


@pytest.fixture
def proposed(monkeypatch):
    """What is proposed, whatever the pages say: the words around it are what is tested here."""
    pages = (
        PageSuggestions(
            "docs/a.md",
            (
                Suggestion("src/a.py", 0.97, (NAMED, TOGETHER)),
                Suggestion("src/", 0.41, (Evidence("place", "docs, src", None, 1.0),)),
                Suggestion("src/b.py", 0.04, (TOGETHER,)),
            ),
        ),
        PageSuggestions("docs/b.md", (Suggestion("src/b.py", 0.96, (TOGETHER,)),)),
        PageSuggestions("docs/c.md", ()),
    )
    asked = []

    def suggest(_session, _view, paths=(), **options):
        asked.append((tuple(paths), options))
        few = [page for page in pages if not paths or page.filepath in paths]
        return BindingSuggestions(tuple(few), 3, 0)

    monkeypatch.setattr("ubp.answers.bindings.bind.suggest_bindings", suggest)
    return asked


def source_refs(*names):
    return "".join(["---\nsource_refs:\n", *(f"  - {name}\n" for name in names), "---\n\n"])


NEXT = """\
Next:
  ubp bind --write            adds 2 sources to 2 pages
  ubp bind --write --history  the same, pinned to each page's last edit to reveal drift
  ubp bind --interactive      asks about each proposal
  ubp bind --explain          lists all the evidence
"""


@pytest.mark.usefixtures("proposed")
def test_bind_lists_likely_sources_with_reasons_and_next_step(project, ubp):
    assert ubp(project, "bind", "--min-confidence", "0.9").out == (
        "docs/a.md\n"
        "  0.97  src/a.py  mentioned on line 3; 4 shared commits\n"
        "\n"
        "docs/b.md\n"
        "  0.96  src/b.py  4 shared commits\n"
        "\n"
        "3 pages, none bound; proposals for 2, 2 of them at confidence 0.9 or above.\n"
        + re.sub(r"(ubp bind [-a-z ]*[a-z])(?=  )", r"\1 --min-confidence 0.9", NEXT)
    )


def test_bind_counts_the_pages_that_it_leaves_out(project, ubp):
    project.write(".github/ISSUE_TEMPLATE/bug.md", "# Bug\n")
    assert ubp(project, "bind").out.startswith(
        "4 pages, none bound; 1 left out (such as records of the past, .github and fixtures);"
        " proposals for "
    )


@pytest.mark.usefixtures("proposed")
def test_bind_without_a_confident_proposal_leads_to_the_uncertain_ones(project, ubp):
    assert ubp(project, "bind", "--min-confidence", "0.98").out == (
        "3 pages, none bound; proposals for 2, 0 of them at confidence 0.98 or above.\n"
        "Next:\n"
        "  ubp bind --interactive --min-confidence 0.98  asks about each proposal\n"
        "  ubp bind --min-confidence 0.2                 shows the uncertain proposals too\n"
    )
    assert ubp(project, "bind", "--min-confidence", "0.98", "--write").out == (
        "Nothing to write: no proposal has a confidence of 0.98 or above.\n"
        "Next: ubp bind --min-confidence 0.2 shows the uncertain ones\n"
    )


@pytest.mark.usefixtures("proposed")
def test_bind_of_a_named_page_lists_everything_worth_a_look(project, ubp):
    assert ubp(project, "bind", "docs/a.md", "--explain").out.startswith(
        "docs/a.md\n"
        "  0.97  src/a.py\n"
        "         75%  path        src/a.py (line 3)\n"
        "         25%  commit      4 shared commits\n"
        "  0.41  src/\n"
        "        100%  place       docs, src\n"
        "\n"
        "1 page selected; proposals for 1, 1 of them at confidence "
    )


def test_bind_keeps_reasons_on_one_line(project, ubp, monkeypatch):
    names = Evidence("identifier", ", ".join(f"function_{n}" for n in range(9)), 7, 0.6)
    page = PageSuggestions(
        "docs/a.md",
        (
            Suggestion("src/a.py", 0.9, (names, TOGETHER)),
            Suggestion("src/b.py", 0.8, (TOGETHER, names, NAMED)),
            Suggestion("src/c.py", 0.7, (Evidence("identifier", "", None, 0.5), TOGETHER)),
            Suggestion("src/.d/", 0.7, (Evidence("path", "../src/.d", 7, 0.5),)),
        ),
    )
    found = BindingSuggestions((page,), 3, 0)
    monkeypatch.setattr("ubp.answers.bindings.bind.suggest_bindings", lambda *_, **__: found)
    assert ubp(project, "bind", "docs/a.md").out.splitlines()[1:5] == [
        "  0.90  src/a.py  function_0, function_1, function_2, function_3, function_4,\u2026",
        "  0.80  src/b.py  4 shared commits; src/a.py on line 3",
        "  0.70  src/c.py  4 shared commits",
        "  0.70  src/.d/   mentioned on line 7",
    ]


def test_bind_without_pages_finds_none(repository, ubp):
    repository.write("src/a.py", "a = 1\n")
    repository.commit("Begin")
    assert ubp(repository, "bind").out == "No pages found; nothing to bind.\n"


@pytest.mark.usefixtures("proposed")
def test_quiet_bind_prints_one_line_per_proposal(project, ubp):
    output = ubp(project, "bind", "--quiet", "--min-confidence", "0.4").out
    assert output == "docs/a.md src/a.py\ndocs/a.md src/\ndocs/b.md src/b.py\n"


def test_bind_passes_its_options_to_the_query(project, proposed, ubp):
    ubp(project, "bind", "docs/c.md", "--limit", "3", "--all")
    assert proposed == [(("docs/c.md",), {"limit": 3, "all_pages": True})]


@pytest.mark.usefixtures("proposed")
def test_dry_run_of_bind_shows_the_diff(project, ubp):
    answer = ubp(project, "bind", "--dry-run", "--min-confidence", "0.9")
    assert answer.out.startswith(
        "--- a/docs/a.md\n+++ b/docs/a.md\n@@ -1 +1,6 @@\n"
        "+---\n+source_refs:\n+  - src/a.py\n+---\n+\n # a\n"
    )
    assert answer.out.endswith(
        "Would add 2 sources to 2 pages.\nNext: ubp bind --write --min-confidence 0.9\n"
    )
    assert project.git("status", "--short") == ""


@pytest.mark.usefixtures("proposed")
@pytest.mark.parametrize("pins", ["--history", "--pin"])
def test_dry_run_of_bind_leads_to_the_command_that_writes_the_same(pins, project, ubp):
    answer = ubp(project, "bind", "--dry-run", pins, "--limit", "3")
    assert answer.out.endswith(f"Next: ubp bind --write {pins} --limit 3\n")


@pytest.mark.usefixtures("proposed")
def test_bind_write_writes_likely_sources(project, ubp):
    answer = ubp(project, "bind", "--write", "--min-confidence", "0.4")
    assert answer.status == 0
    assert answer.out == (
        "docs/a.md\n  src/a.py  added\n  src/  added\n"
        "docs/b.md\n  src/b.py  added\n"
        "Added 3 sources to 2 pages.\n"
        "Next: git add docs/a.md docs/b.md, then ubp stale\n"
    )
    assert (project.root / "docs/a.md").read_text() == source_refs("src/a.py", "src/") + "# a\n"
    assert (project.root / "docs/c.md").read_text() == "# c\n"


@pytest.mark.usefixtures("proposed")
def test_bind_write_of_an_unwritable_page_fails(project, ubp):
    project.write("docs/b.md", "---\ntitle: [\n---\n")
    answer = ubp(project, "bind", "--write", "--pin", "--min-confidence", "0.9")
    assert answer.status == 1
    assert answer.out == (
        f"docs/a.md\n  src/a.py  added, pinned to {project.blob('src/a.py')[:12]}\n"
        "docs/b.md\n"
        "  skipped: Cannot add src/b.py to the page in place."
        " Line 2: The front matter is not valid YAML: did not find expected node content.\n"
        "Added 1 source to 1 page.\n"
        "Next: git add docs/a.md, then ubp stale\n"
    )
    assert "Nothing to write" not in ubp(project, "bind", "--write", "docs/b.md").out


@pytest.mark.usefixtures("proposed")
def test_source_unknown_to_history_is_reported(project, ubp):
    project.remove("src/a.py")
    project.write("src/b.py", "2\n")
    project.write("docs/a.md", "# A\n")
    project.commit("Write a without its source")
    project.write("src/a.py", "new\n")
    project.commit("Bring it back")
    answer = ubp(project, "bind", "--write", "--history", "--min-confidence", "0.9")
    old = project.git("rev-parse", "HEAD~2:src/b.py")[:12]
    assert f"docs/b.md\n  src/b.py  added, pinned to {old}\nAdded 2 sources" in answer.out
    assert answer.out.startswith(
        "docs/a.md\n  src/a.py  added, not pinned:"
        " its version when the page last changed is unknown\n"
    )


@pytest.mark.usefixtures("proposed")
def test_bind_history_in_a_shallow_clone_leads_to_the_history(project, new_repository, ubp):
    project.write("src/a.py", "changed\n")
    project.commit("Change a source")
    clone = new_repository("shallow")
    clone.git("fetch", "--quiet", "--depth=1", f"file://{project.root}", "main")
    clone.git("reset", "--quiet", "--hard", "FETCH_HEAD")
    tokens = ("bind", "docs/a.md", "--write", "--history")
    assert ubp(clone, *tokens).out.endswith(
        "This clone is shallow, so sources of 1 page have no pin:"
        " what changed in them before does not show.\n"
        "Fetch the history, then pin them:"
        " git fetch --unshallow, then ubp ack --history docs/a.md\n"
    )
    clone.git("fetch", "--quiet", "--unshallow", f"file://{project.root}")
    ubp(clone, "ack", "--history", "docs/a.md")
    assert "src/a.py  modified" in ubp(clone, "stale", "docs/a.md").out
    assert "shallow" not in ubp(project, *tokens).out


@pytest.mark.parametrize(
    ("tokens", "message"),
    [
        (["--min-confidence", "2"], "Invalid --min-confidence: 2."),
        (["--limit", "0"], "Invalid --limit: 0."),
        (["--pin"], "--pin requires --write, --interactive or --dry-run."),
        (["--history"], "--history requires --write, --interactive or --dry-run."),
        (["--write", "--pin", "--history"], "--pin cannot be combined with --history."),
        (["-i"], "--interactive requires a terminal."),
        (["-i", "--write"], "--interactive cannot be combined with --write or --dry-run."),
    ],
)
def test_contradictory_options_of_bind_are_refused(tokens, message, project, ubp):
    answer = ubp(project, "bind", *tokens)
    assert (answer.status, answer.err.splitlines()[0]) == (2, f"Error: {message}")


# Decided one by one -------------------------------------------------------------------------------


@pytest.fixture
def deciding(project, proposed, dialogue):
    """Run `ubp bind --interactive` for somebody who presses these keys."""
    del proposed

    def run(*keys, options=()):
        return dialogue(project, ["bind", "-i", *options], keys)

    return run


def refused(project):
    config = json.loads((project.root / ".ubp/config.json").read_text())
    return [(refusal.get("page"), refusal["source"]) for refusal in config["bind"]["refused"]]


@pytest.mark.parametrize("key", ["enter", "space", "tab"])
def test_bind_interactive_enter_accepts_nothing(key, deciding, project):
    assert deciding(key, "down", key, "down", key, "tab", key, "q") == (
        "Added 0 sources to 0 pages.\n"
    )
    assert project.git("status", "--short") == ""
    assert not (project.root / ".ubp/config.json").exists()


def test_bind_interactive_refused_source_is_remembered(deciding, project):
    project.write(".ubp/config.json", '{\n  "docs_dir": "docs"\n}\n')
    assert deciding("r", "r", "a", "q", "y") == (
        "Added 1 source to 1 page, 2 refused.\n"
        "Refusals are saved in .ubp/config.json: commit it to share them.\n"
        "Next: git add docs/b.md, then ubp stale\n"
    )
    assert refused(project) == [("docs/a.md", "src/a.py"), ("docs/a.md", "src/")]
    assert (project.root / ".ubp/config.json").read_text().startswith('{\n  "docs_dir": "docs",\n')


def test_bind_interactive_source_can_be_refused_for_every_page(deciding, project, ubp):
    project.write("docs/b.md", "# b\n\n`src/a.py`\n")
    project.commit()
    deciding("x", "q", "y")
    assert refused(project) == [(None, "src/a.py")]
    assert "src/a.py" not in ubp(project, "bind", "docs/a.md", "docs/b.md").out


def test_bind_interactive_another_source_may_be_typed(deciding, project):
    # The first does not exist: a key goes on, and nothing is decided.
    deciding("e", "src/none.py", "enter", "e", "src/c.py", "q", "y")
    assert (project.root / "docs/a.md").read_text() == source_refs("src/c.py") + "# a\n"
    assert (project.root / "docs/b.md").read_text() == "# b\n"


def test_bind_interactive_sources_of_a_page_are_written_together(deciding, project):
    assert deciding("a", "a", "q", "y").startswith("Added 2 sources to 1 page.\n")
    assert (project.root / "docs/a.md").read_text() == source_refs("src/a.py", "src/") + "# a\n"


def test_bind_interactive_shows_the_lines_with_the_evidence_and_the_source(project):
    project.write("docs/b.md", "# b\n" + "\nText.\n" * 50 + "\nSee `src/a.py`.\n")
    project.commit()
    with Workspace.open(str(project.root)) as workspace:
        suggestions = propose(workspace.session, BindRequest(("docs/b.md",)))
        suggestion = next(
            suggestion
            for suggestion in suggested_page_record(suggestions.pages[0]).suggestions
            if suggestion.source_path == "src/a.py"
        )
        item = binding_item((FilePath("docs/b.md"), suggestion), workspace.session)
        panes = item.panes(UNDECIDED)
    page = re.sub(r"\x1b\[[0-9;]*m", "", panes.page)
    assert " 103 See `src/a.py`.\n" in page
    assert "   …\n 100 \n" in page
    assert "# b" not in page
    assert (panes.page_title, panes.source_title) == ("docs/b.md", "src/a.py")
    assert panes.source.splitlines()[0].endswith(" a")


def test_bind_interactive_without_proposals_says_so(deciding):
    assert deciding(options=["--min-confidence", "0.99"]) == (
        "No proposals with a confidence of 0.99 or above.\n"
    )


def test_bind_loads_no_embedding_model(project):
    project.write("docs/a.md", "# A\n\nIt describes `src/a.py`.\n")
    program = (
        "import sys; from ubp.__main__ import main; main(['bind', 'docs/a.md', '--explain']);"
        "print({'numpy', 'model2vec', 'tokenizers'} & set(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=project.root,
        capture_output=True,
        text=True,
        check=True,
    )
    assert "src/a.py (line 3)" in done.stdout
    assert done.stdout.endswith("set()\n")


# Many pages ---------------------------------------------------------------------------------------


@pytest.fixture
def many(project, monkeypatch):
    """Thirty pages with a proposal each, and one whose front matter has a list by another name."""
    project.write("docs/a.md", "---\nrelated_files: [src/a.py]\n---\n")
    pages = [
        PageSuggestions(f"docs/{n:02}.md", (Suggestion("src/a.py", 0.97, (NAMED,)),))
        for n in range(30)
    ]
    found = BindingSuggestions(tuple(pages), 30, 0)
    monkeypatch.setattr("ubp.answers.bindings.bind.suggest_bindings", lambda *_, **__: found)
    return project


def test_command_after_writing_many_pages_names_all_of_them(many, ubp):
    for number in range(30):
        many.write(f"docs/{number:02}.md", "# Page\n")
    many.commit("Begin")
    out = ubp(many, "bind", "--write").out
    assert out.endswith("Next: git add -u, then ubp stale\n")
    many.git("add", "-u")
    assert len(many.git("diff", "--cached", "--name-only").split("\n")) == 30


def test_bind_of_many_pages_lists_the_first(many, ubp):
    out = ubp(many, "bind").out
    assert out.count("src/a.py  ") == 20
    assert (
        "\n\nand 10 more pages: use ubp bind docs for one directory, or --quiet.\n"
        "\n30 pages, none bound; proposals for 30, 30 of them at confidence "
    ) in out
    assert ubp(many, "bind", "--quiet").out.count("\n") == 30
    assert ubp(many, "bind", "docs").out.count("src/a.py  ") == 30


def test_next_commands_repeat_many_named_pages_in_few_words(many, ubp):
    pages = [f"docs/{number:02}.md" for number in range(30)]
    for page in pages:
        many.write(page, "# Page\n")
    many.commit("Begin")
    for named, short in (
        (many.git("ls-files", "docs").split(), "docs"),
        ([*pages[:5], "docs/a.md"], " ".join([*pages[:5], "docs/a.md"])),
    ):
        assert f"\nNext: ubp bind --write {short}\n" in ubp(many, "bind", "--dry-run", *named).out
    out = ubp(many, "bind", *pages[:6], "--limit", "4").out
    assert (
        "Next:\n"
        f"  ubp bind --write {' '.join(pages[:6])} --limit 4\n"
        "      adds 30 sources to 30 pages\n"
        "For the same PAGES:\n"
        "  ubp bind --write --history PAGES --limit 4  the same, pinned to each page's last edit to"
        " reveal drift\n"
        "  ubp bind --interactive PAGES --limit 4      asks about each proposal\n"
        "  ubp bind --explain PAGES --limit 4          lists all the evidence\n"
    ) in out


def test_misspelt_list_key_is_reported(many, ubp):
    hint = "If pages already list them under `related_files`: ubp stale --key related_files\n"
    assert ubp(many, "bind").out.endswith(hint)
    assert hint not in ubp(many, "bind", "--key", "related_files").out


def test_repository_without_pages_has_nothing_to_bind(repository, ubp):
    repository.write("src/a.py", "a = 1\n")
    repository.commit()
    assert ubp(repository, "bind").out == "No pages found; nothing to bind.\n"
