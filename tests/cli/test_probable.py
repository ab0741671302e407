"""Before any page lists sources, proposals show which pages name what changed."""

import pytest


@pytest.fixture
def drifting(repository):
    """Pages without sources; one names a function that a later commit renames."""
    repository.write("src/token_store.py", "def open_store(path):\n    return path\n")
    repository.write("src/other.py", "def other():\n    return 1\n")
    repository.write(
        "docs/token_store.md",
        "# Token store\n\n`src/token_store.py` has `open_store`, which opens the token store.\n",
    )
    repository.write("docs/tokens.md", "::: src.token_store\n")
    repository.write("docs/fine.md", "# Fine\n\nNothing.\n")
    repository.commit("Begin")
    return repository


def rename(repository):
    repository.write("src/token_store.py", "def load_store(path):\n    return path\n")


SHOWN = (
    "\n    `open_store` (line 3) is removed.\n"
    "To verify a page from now on, list its sources: ubp bind docs/token_store.md\n"
)


def test_stale_shows_pages_that_proposals_name(drifting, ubp):
    assert "Probably" not in ubp(drifting, "stale").out
    rename(drifting)
    drifting.commit("Rename")
    answer = ubp(drifting, "stale")
    assert answer.status == 0
    assert (
        "\nProbably stale: 1 page without sources\n"
        "Each names what changed since it was edited in a file that it seems to describe;"
        " nothing fails for it.\n"
        "  docs/token_store.md:3  src/token_store.py modified "
    ) in answer.out
    assert answer.out.endswith(SHOWN)
    assert "open_store" not in ubp(drifting, "stale", "docs/fine.md").out


def test_json_has_the_pages_that_the_text_shows(drifting, ubp):
    rename(drifting)
    drifting.commit("Rename")
    for tokens in (["--json"], ["--format", "json"], ["--json", "--base", "HEAD~1"]):
        (page,) = ubp(drifting, "stale", *tokens).record["probable"]
        assert page["filepath"] == "docs/token_store.md"
        (reference,) = page["references"]
        assert (reference["source_path"], reference["verdict"]) == (
            "src/token_store.py",
            "modified",
        )
        assert {"name": "open_store", "line": 3, "change": "removed"} in reference["evidence"]
    for tokens in (["--exit-code"], ["--staged"], ["docs/fine.md"]):
        assert ubp(drifting, "stale", "--json", *tokens).record["probable"] == []


def test_source_moved_together_with_its_page_is_not_created_after_it(drifting, ubp):
    drifting.git("mv", "src", "lib")
    drifting.git("mv", "docs/token_store.md", "lib/token_store.md")
    drifting.commit("Move")
    assert "lib/token_store.py" in ubp(drifting, "bind", "lib/token_store.md").out
    assert "Probably" not in ubp(drifting, "stale").out


@pytest.mark.parametrize("options", [["--exit-code"], ["--fail-on", "stale"], ["--quiet"]])
def test_nothing_is_probable_where_a_status_decides(drifting, ubp, options):
    rename(drifting)
    drifting.commit("Rename")
    answer = ubp(drifting, "stale", *options)
    assert "Probably" not in answer.out
    assert answer.status == 0


def test_change_shows_pages_that_proposals_name_but_never_in_a_hook(drifting, ubp, monkeypatch):
    rename(drifting)
    drifting.git("add", "--all")
    answer = ubp(drifting, "stale", "--staged")  # as a hook that nobody recognizes
    assert (answer.status, "Probably" in answer.out) == (0, False)
    drifting.commit("Rename")
    answer = ubp(drifting, "stale", "--base", "HEAD~1")
    assert answer.status == 0
    assert "Each names what changed by this change in a file" in answer.out
    assert answer.out.endswith(SHOWN)
    with monkeypatch.context() as hook:
        hook.setenv("GIT_INDEX_FILE", ".git/index")
        answer = ubp(drifting, "stale", "--base", "HEAD~1")
    assert (answer.status, "Probably" in answer.out) == (0, False)
    assert "open_store" in ubp(drifting, "stale", "--base", "HEAD~1").out
    drifting.write(
        "docs/token_store.md", "# Token store\n\n`open_store` of `src/token_store.py`.\n"
    )
    drifting.commit("Edit")
    assert "open_store" not in ubp(drifting, "stale", "--base", "HEAD~2").out
    assert "open_store" not in ubp(drifting, "stale").out


def test_nothing_is_probable_where_pages_list_sources(drifting, ubp):
    drifting.page("docs/fine.md", "src/other.py")
    drifting.commit("Bind")
    rename(drifting)
    drifting.commit("Rename")
    assert "Probably" not in ubp(drifting, "stale").out
    assert ubp(drifting, "affected", "src/token_store.py", "--json").record["probable"] == []


def test_nothing_is_probable_where_it_takes_long(drifting, ubp, monkeypatch):
    monkeypatch.setattr("ubp.bindings.probable.MAX_SECONDS", 0.0)
    rename(drifting)
    drifting.commit("Rename")
    assert "Probably" not in ubp(drifting, "stale").out
    assert ubp(drifting, "affected", "src").out == "No page lists the given files.\n"


@pytest.mark.parametrize("path", ["src/token_store.py", "src", "src/token*.py"])
def test_affected_shows_pages_that_proposals_name(drifting, ubp, path):
    assert ubp(drifting, "affected", path).out == (
        "No page lists the given files.\n\n"
        "Probably also 1 page without sources:\n"
        "  docs/token_store.md:3  src/token_store.py, names src/token_store.py\n"
        "To list the sources of a page: ubp bind docs/token_store.md\n"
    )
    (page,) = ubp(drifting, "affected", path, "--json").record["probable"]
    assert (page["filepath"], page["line"], page["name"]) == (
        "docs/token_store.md",
        3,
        "src/token_store.py",
    )
    assert page["confidence"] >= 0.4
    assert ubp(drifting, "affected", path, "--quiet").out == ""
    assert ubp(drifting, "affected", "src/other.py").out == "No page lists the given files.\n"
