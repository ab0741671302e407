"""Directories that are proposed in the place of their files."""

import unicodedata

import pytest

from ubp.answers.bindings.bind import BindRequest
from ubp.bindings.folders import CoChange, find_folders
from ubp.bindings.sources import CandidateSources
from ubp.bindings.text_evidence import find_text_mentions
from ubp.core.model import FilePath
from ubp.markdown.mentions import Mention, read_mentions
from ubp.workspace import Workspace

AUTH = ["src/auth/close.py", "src/auth/open.py", "src/auth/session.py"]
OTHERS = [f"src/other/part_{number}.py" for number in range(50)]
PATHS = [*AUTH, "src/auth/store/disk.py", "src/auth/store/memory.py", *OTHERS]
SOURCES = CandidateSources(PATHS, [0] * len(PATHS), {}, {})
SELDOM = CoChange(len, 1_000)
BODY = """# Login

`src/login/`: close.py, open.py, renew.py; `close_login`, `open_login`, `renew_login`
"""


def found(confidences, *named, page="docs/guide.md", touched=SELDOM):
    mentions = {path: Mention(text, 3, 1) for path, text in named}
    folders = find_folders(page, dict(enumerate(confidences)), mentions, SOURCES, touched)
    return [(folder.path, round(folder.confidence, 2), len(folder.likely)) for folder in folders]


def test_directory_has_the_confidence_of_its_files_and_replaces_those_below():
    assert found([0.9, 0.9, 0.9, 0.9, 0.4]) == [("src/auth", 0.8, 5)]


@pytest.mark.parametrize(
    ("confidences", "reason"),
    [
        ([0.9, 0.9, 0.9, 0.2, 0.2], "half of it is something else"),
        ([0, 0, 0, 0.9, 0.9], "two files are told as well by themselves"),
        ([0] * 5 + [0.9] * 50, "it has too many files"),
    ],
)
def test_directory_is_not_proposed_where(confidences, reason):
    assert found(confidences) == [], reason


def test_directory_that_changes_weekly_or_contains_the_page_is_not_proposed():
    sure = [0.9] * 5
    assert found(sure, touched=CoChange(lambda _: 51, 1_000)) == []
    assert found(sure, touched=CoChange(lambda _: 5, 20)) == [("src/auth", 0.9, 5)]
    assert found(sure, page="src/auth/README.md") == []


def test_named_directory_is_proposed_where_no_file_in_it_has_more_evidence():
    store = ("src/auth/store", "auth/store")
    assert found([], store) == [("src/auth/store", 0.03, 0)]
    assert found([], store, page="docs/store.md") == [("src/auth/store", 0.2, 0)]
    assert found([0, 0, 0, 0.3], store, page="docs/store.md") == []


def test_mention_that_several_directories_end_with_means_only_that_exact_path():
    both = ("src/auth", "auth"), ("src/auth/store", "auth")
    assert found([], *both) == []
    assert found([], ("src/auth", "src/auth"), ("src/auth/store", "src/auth")) == [
        ("src/auth", 0.03, 0)
    ]


@pytest.fixture
def project(repository):
    """A page about a directory whose files define all that it names, and twenty other files."""
    for number in range(20):
        repository.write(f"lib/part_{number}.py", f"def work_{number}():\n    return shared\n")
    for name in ("close", "open", "renew"):
        repository.write(f"src/login/{name}.py", f"def {name}_login():\n    pass\n")
    repository.write("docs/login.md", BODY)
    repository.commit("Begin")
    return repository


def proposed(project):
    with Workspace.open(str(project.root), model="none") as workspace:
        (page,) = workspace.ask(BindRequest(("docs/login.md",))).pages
        return page.suggestions


def test_directory_replaces_its_files_and_takes_their_evidence(project):
    first, *others = proposed(project)
    assert first.source_path == "src/login/"
    assert first.confidence > 0.75
    proposed_paths = {item.kind: (item.detail, item.line) for item in first.evidence}
    assert proposed_paths["path"] == ("src/login/", 3)
    assert proposed_paths["identifier"] == ("identifiers from all 3 files", None)
    assert sum(item.weight for item in first.evidence) == pytest.approx(1)
    assert not [other for other in others if other.source_path.startswith("src/login/")]


def test_directory_with_bound_or_refused_files_is_not_proposed(project):
    project.page("docs/login.md", "src/login/open.py", body=BODY)
    proposed_paths = [proposal.source_path for proposal in proposed(project)]
    assert "src/login/" not in proposed_paths
    assert {"src/login/close.py", "src/login/renew.py"} <= {*proposed_paths}


def test_directory_is_named_in_any_unicode_form():
    folder = unicodedata.normalize("NFD", "src/ガイド")
    sources = CandidateSources([FilePath(f"{folder}/a.txt")], [0], {}, {})
    for text in ("src/ガイド/", "src/ガイド"):
        said = read_mentions(f"`{text}`\n".encode())
        assert find_text_mentions(FilePath("docs/a.md"), said, sources, ()).folders.keys() == {
            folder
        }
