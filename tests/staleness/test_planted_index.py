"""An index that a commit contains is not trusted, however it reaches the work tree."""

import shutil
from pathlib import Path

import pytest

from ubp.answers.staleness.stale import report_stale
from ubp.index.session import Target
from ubp.index.store.file import FILE_NAME
from ubp.workspace import Workspace

STALE = {"docs/a.md": ("stale", {"src/a.py": "modified"})}
NAMES = ("knowledge.db", FILE_NAME)


@pytest.fixture
def project(repository):
    """A stale page."""
    repository.write("src/a.py", "one\n")
    repository.page("docs/a.md", "src/a.py")
    repository.commit("page")
    repository.write("src/a.py", "two\n")
    repository.commit("change")
    repository.clock += 30 * 86_400
    return repository


@pytest.fixture
def forged_index(project) -> bytes:
    """An index in which the stale page describes nothing, so that nothing is stale."""
    with Workspace.open(str(project.root)) as workspace:
        (page,) = workspace.session.view().bound_pages()
        workspace.session.store.forget_pages([page.blob])
        facts = page.facts._replace(references=())
        workspace.session.store.facts.save({page.blob: facts}, workspace.session.config.keys)
    with Workspace.open(str(project.root)) as workspace:
        assert report_stale(workspace.session, Target()).pages == ()
        index = Path(workspace.session.store.path)
    content = index.read_bytes()
    shutil.rmtree(index.parent)
    return content


@pytest.fixture
def plant(forged_index):
    """Commit the forged index to a repository."""

    def commit(repository, folder=".ubp/"):
        for name in NAMES:
            repository.write(folder + name, forged_index)
        repository.git("add", "--force", "--all", ".")
        repository.commit("plant an index", add=False)

    return commit


@pytest.fixture
def attacked(project, plant):
    """The project on `main`, and the commit with the forged index on `attack`."""
    project.git("switch", "--quiet", "--create", "attack")
    plant(project)
    project.git("switch", "--quiet", "main")
    return project


def test_planted_index_that_is_merged_is_not_trusted(attacked, ask, verdicts):
    attacked.merge("attack")
    assert verdicts(ask(attacked)) == STALE


def test_planted_index_merged_by_squashing_is_not_trusted(attacked, ask, verdicts):
    attacked.git("merge", "--squash", "attack")
    assert verdicts(ask(attacked)) == STALE


def test_planted_index_left_behind_by_a_reset_is_not_trusted(attacked, ask, verdicts):
    attacked.git("reset", "--quiet", "--hard", "attack")
    attacked.git("reset", "--quiet", "--mixed", "HEAD~")
    assert verdicts(ask(attacked)) == STALE


def test_planted_index_that_is_no_longer_tracked_is_not_trusted(attacked, ask, verdicts):
    attacked.git("reset", "--quiet", "--hard", "attack")
    attacked.git("rm", "--quiet", "--cached", *(f".ubp/{name}" for name in dict.fromkeys(NAMES)))
    attacked.commit("remove the index", add=False)
    assert verdicts(ask(attacked)) == STALE


def test_planted_index_in_a_submodule_is_not_trusted(project, plant, new_repository, ask, verdicts):
    library = new_repository("library")
    plant(library, "")
    project.git("submodule", "--quiet", "add", str(library.root), ".ubp")
    project.commit("add a submodule")
    assert verdicts(ask(project)) == STALE


def test_planted_index_of_another_spelling_is_not_trusted(project, plant, ask, verdicts):
    plant(project, ".UBP/")
    project.git("config", "core.ignoreCase", "true")
    if not (project.root / ".ubp").exists():  # a case-sensitive disk: what others would show
        (project.root / ".UBP").rename(project.root / ".ubp")
    assert verdicts(ask(project)) == STALE
