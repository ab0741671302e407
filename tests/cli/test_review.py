"""`ubp review`: what it prints, for whom, and its dialogue."""

import json

import pytest

from ubp.output.records import RECORDS

SCHEMAS = {row.name: row.schema for row in RECORDS}
PAGE = "docs/client.md"
SOURCE = "src/client.py"
CODE = "def open_client(url, retry_limit=3):\n    return url, retry_limit\n"


@pytest.fixture
def project(repository):
    """A page that lists a source and one that only names it, and a staged change of the source."""
    repository.write(SOURCE, CODE)
    body = "# Client\n\n`open_client()` tries `retry_limit` times.\n"
    repository.page(PAGE, SOURCE, body=body)
    repository.write("docs/guide.md", "# Guide\n\nCall `open_client` from `src/client.py`.\n")
    repository.commit()
    repository.write(SOURCE, CODE.replace("retry_limit", "attempts"))
    repository.git("add", "--all")
    return repository


def test_review_prints_page_beside_change_and_the_command_that_settles_it(project, ubp):
    shown = ubp(project, "review", "--staged").out
    first, *_ = shown.splitlines()
    assert first.startswith("docs/client.md:7  ")
    assert "  line 7: `open_client()` tries `retry_limit` times.\n" in shown
    assert "  | `open_client()` tries `retry_limit` times.\n" in shown
    assert "  -def open_client(url, retry_limit=3):\n" in shown
    assert "  If the page is still accurate: ubp ack --staged docs/client.md\n" in shown
    assert shown.splitlines()[-1].startswith("The change of 1 file may affect ")


def test_review_shows_improbable_cases_as_a_line_each(repository, ubp):
    for name in ("alpha", "beta"):
        repository.write(f"docs/{name}.md", f"# {name.title()}\n\nIt is in `{SOURCE}`.\n")
    repository.write(SOURCE, CODE)
    repository.commit()
    repository.write(SOURCE, CODE.replace("url, retry_limit=3", "url, retry_limit=4"))
    cases = ubp(repository, "review", "--json").record["cases"]
    whole, brief = (case["filepath"] for case in cases)
    assert cases[1]["probability"] < 0.1
    shown = ubp(repository, "review").out
    assert f"{brief}:3  " in shown
    assert shown.count("## The change") == 1
    assert f"To read one: ubp review {brief}\n" in shown
    repository.git("add", "--all")
    assert (
        f"To read one: ubp review --staged {brief}\n" in ubp(repository, "review", "--staged").out
    )
    read = ubp(repository, "review", brief).out
    assert read.startswith(f"{brief}:3  ")
    assert "## The change" in read
    assert whole not in read


def test_review_json_is_what_its_schema_says(project, ubp, valid):
    record = ubp(project, "review", "--staged", "--json").record
    valid(SCHEMAS["review"], record)
    (case, *_) = record["cases"]
    assert case["reasons"][0]["names"][0]["change"] == "removed"
    assert [action["command"] for action in case["actions"]] == ["ubp ack --staged docs/client.md"]


def test_review_of_a_range_that_ended_prints_no_command(project, ubp):
    project.commit()
    record = ubp(project, "review", "HEAD^..HEAD", "--json").record
    assert record["ref"] == "HEAD"
    assert record["cases"][0]["actions"] == []


def test_review_quiet_prints_one_place_a_line(project, ubp):
    assert ubp(project, "--quiet", "review", "--staged").out.splitlines()[0] == "docs/client.md:7"


def test_review_of_no_change_says_so(repository, ubp):
    repository.write("docs/a.md", "# A\n")
    repository.commit()
    assert ubp(repository, "review").out == "Nothing changed.\n"


def test_review_github_format_is_an_annotation_for_each_case(project, ubp):
    shown = ubp(project, "review", "--staged", "--format", "github").out
    assert shown.startswith("::warning file=docs/client.md,line=7,title=")


def test_review_markdown_format_folds_each_case(project, ubp):
    shown = ubp(project, "review", "--staged", "--format", "markdown").out
    assert shown.startswith("### UBP: The change of 1 file may affect ")
    assert "<details><summary><code>docs/client&#46;md&#58;7</code> " in shown
    assert "```diff\n## The change (" in shown


def test_review_markdown_block_is_longer_than_the_fences_of_a_page(project, ubp):
    text = (project.root / PAGE).read_text()
    project.write(PAGE, f"{text}\n````python\nopen_client(retry_limit=1)\n````\n")
    project.git("add", "--all")
    project.git("stash")
    project.write(PAGE, f"{text}\n````python\nopen_client(retry_limit=1)\n````\n")
    project.commit()
    project.write(SOURCE, CODE.replace("retry_limit", "attempts"))
    shown = ubp(project, "review", "--format", "markdown").out
    assert "`````markdown\n" in shown


@pytest.mark.parametrize(
    ("tokens", "message"),
    [
        (("HEAD..HEAD", "--staged"), "Several changes were given."),
        (("docs/none.md",), "Page not found: docs/none.md"),
        (("--interactive",), "--interactive requires a terminal."),
        (("--limit", "0"), "Invalid --limit: 0."),
    ],
)
def test_impossible_request_is_explained(tokens, message, project, ubp):
    answer = ubp(project, "review", *tokens)
    assert answer.status == 2
    assert message in answer.err


# Decided one by one -------------------------------------------------------------------------------


@pytest.fixture
def deciding(project, dialogue):
    """Run `ubp review --staged -i` for somebody who presses these keys."""

    def run(*keys):
        return dialogue(project, ["review", "--staged", "-i"], keys)

    return run


@pytest.mark.parametrize("key", ["enter", "space", "tab"])
def test_review_interactive_enter_settles_nothing(key, deciding, project):
    before = project.git("status", "--porcelain")
    assert deciding(*[key] * 9, "q").startswith("0 cases settled, ")
    assert project.git("status", "--porcelain") == before


def test_review_interactive_accurate_pins_the_page_with_the_reason(deciding, project):
    deciding("a", "left", "m", "Only a name changed.", "q", "y")
    assert "reason: Only a name changed." in (project.root / PAGE).read_text()


def test_review_interactive_wrong_alarm_is_the_reason_of_the_pin(deciding, project):
    deciding("r", "q", "y")
    assert "reason: wrong alarm" in (project.root / PAGE).read_text()


def test_review_interactive_wrong_alarm_of_a_proposed_page_is_saved(deciding, project):
    deciding("s", "r", "q", "y")
    config = json.loads((project.root / ".ubp/config.json").read_text())
    assert config["bind"]["refused"] == [{"page": "docs/guide.md", "source": SOURCE}]


def test_review_interactive_bind_lists_the_source_in_the_page(deciding, project):
    printed = deciding("s", "b", "q", "y")
    assert f"docs/guide.md lists {SOURCE} now.\n1 case settled, 1 case left for later.\n" in printed
    assert f"  - {SOURCE}\n" in (project.root / "docs/guide.md").read_text()


def test_summary_counts_the_given_pages(project, ubp):
    project.write("docs/other.md", "# Other\n")
    project.commit()
    project.write("src/limits.py", "LIMIT = 4\n")
    project.git("add", "--all")
    shown = ubp(project, "review", "--staged", "docs/other.md").out
    assert shown.endswith(" probably affects nothing in the given page.\n")


def test_a_moved_source_is_fixed_not_acknowledged(project, ubp):
    project.git("stash")
    project.git("mv", SOURCE, "src/moved.py")
    shown = ubp(project, "review", "--staged").out
    assert "  If the page still describes what moved: ubp check --fix docs/client.md\n" in shown
    assert "ubp ack" not in shown
    ubp(project, "check", "--fix", "docs/client.md")
    assert "src/moved.py" in (project.root / "docs/client.md").read_text()
