"""The pages that seem to describe a source that no page lists, and those that it outdated."""

from shutil import rmtree

import pytest

from ubp.bindings.describing import find_describing
from ubp.bindings.probable import find_probable, propose
from ubp.core.model import FilePath
from ubp.index.session import Session
from ubp.staleness.state import open_context

CODE = """\
class TokenStore:
    def read_token(self, token_name):
        return self.tokens[token_name]

    def write_token(self, token_name, token_value):
        self.tokens[token_name] = token_value
"""
PAGE = """\
# Token store

`TokenStore` in `src/token_store.py` keeps tokens: `read_token` and `write_token` take a
`token_name`.
"""


@pytest.fixture
def project(repository):
    """A source, a page about it that lists nothing, and a page about something else."""
    repository.write("src/token_store.py", CODE)
    repository.write("src/other.py", "def start_server():\n    return 1\n")
    repository.write("docs/token_store.md", PAGE)
    repository.write("docs/other.md", "# Other\n\n`start_server()` starts.\n")
    repository.commit()
    return repository


def describing(repository, path, symbol=""):
    with Session.open(str(repository.root)) as session:
        return find_describing(session, session.view(), FilePath(path), 5, symbol)


def probable(repository):
    with Session.open(str(repository.root)) as session:
        view = session.view()
        return find_probable(session, open_context(session, view), propose(session, view))


def test_page_that_names_a_file_and_its_names_comes_first(project):
    found, *_ = describing(project, "src/token_store.py").found
    assert (found.page, found.suggestion.source_path) == (
        "docs/token_store.md",
        "src/token_store.py",
    )
    assert found.suggestion.confidence > 0.5


def test_pages_that_name_the_symbol_come_first(project):
    project.write("src/token_store.py", f"{CODE}\n    def drop_token(self): ...\n")
    project.write("docs/end.md", "# End\n\n`drop_token` of `src/token_store.py` removes one.\n")
    project.commit()
    pages = ["docs/token_store.md", "docs/end.md"]
    path = "src/token_store.py"
    assert [found.page for found in describing(project, path).found] == pages
    assert [found.page for found in describing(project, path, "drop_token").found] == pages[::-1]


def test_page_that_names_the_method_of_another_class_does_not_name_the_symbol(project):
    body = "# {0}\n\nUse `{0}.read_token` of `src/token_store.py`.\n"
    project.write("docs/token_store.md", PAGE.replace("`read_token`", "`Cache.read_token`"))
    project.write("docs/end.md", body.format("TokenStore"))
    project.commit()
    found = describing(project, "src/token_store.py", "TokenStore.read_token").found
    assert [each.page for each in found] == ["docs/end.md", "docs/token_store.md"]


def test_folder_is_described_by_the_pages_of_its_files(project):
    pages = {found.page for found in describing(project, "src").found}
    assert "docs/token_store.md" in pages


def test_file_that_no_page_names_is_compared_with_all_and_described_by_none(project):
    project.write("src/unknown.py", "def fold_paper():\n    return 1\n")
    project.commit()
    assert describing(project, "src/unknown.py") == ((), 2)


def test_page_that_links_to_a_file_at_the_forge_of_the_repository_describes_it(project):
    project.git("remote", "add", "origin", "https://github.com/acme/api.git")
    project.write("src/unknown.py", "def fold_paper():\n    return 1\n")
    address = "https://github.com/acme/api/blob/main/src/unknown.py"
    project.write("docs/folding.md", f"# Folding\n\nSee [the list]({address}).\n")
    project.commit()
    (found, *_) = describing(project, "src/unknown.py").found
    assert found.page == "docs/folding.md"


def test_record_of_the_past_describes_nothing(project):
    project.write("CHANGELOG.md", PAGE)
    project.commit()
    pages = {found.page for found in describing(project, "src/token_store.py").found}
    assert "CHANGELOG.md" not in pages


def test_page_that_lists_the_file_is_not_probable(project):
    project.page("docs/token_store.md", "src/token_store.py", body=PAGE)
    project.commit()
    assert describing(project, "src/token_store.py").found == ()


def test_source_that_changed_after_the_page_is_found_without_a_binding(project):
    assert probable(project) == ()
    project.write("src/token_store.py", CODE.replace("token_name", "key"))
    project.commit()
    (found,) = probable(project)
    verdict = found.references[0]
    assert (found.page.filepath, verdict.verdict) == ("docs/token_store.md", "modified")
    assert "token_name" in {evidence.name for evidence in verdict.evidence}


def test_evidence_of_a_commit_is_collected_once_and_equal_when_read(project, monkeypatch):
    first = describing(project, "src/token_store.py")
    assert first.found
    monkeypatch.setattr("ubp.bindings.collected.find_sources", None)
    assert describing(project, "src/token_store.py") == first


@pytest.mark.parametrize("difference", ["commit", "configuration"])
def test_evidence_is_collected_again_where_commit_or_configuration_differs(project, difference):
    project.write("src/third.py", "def read_token():\n    pass\n")
    project.commit()
    project.write(".git/info/exclude", ".ubp/\n")
    project.write(".ubp/config.json", '{"source": {"exclude": ["src/third.py"]}}')
    before = describing(project, "src/token_store.py")
    if difference == "commit":
        project.remove("src/other.py")
        project.commit()
    else:
        project.remove(".ubp/config.json")
    after = describing(project, "src/token_store.py")
    rmtree(project.root / ".git/ubp")
    assert before != after == describing(project, "src/token_store.py")
