"""What depends on a page or a source, and the chain that leads there."""

import pytest

from ubp.answers.pages.impact import ImpactRequest
from ubp.answers.staleness.affected import AffectedRequest
from ubp.core.errors import PageNotFoundError, UsageError
from ubp.core.paths import doc_id
from ubp.workspace import Workspace


@pytest.fixture
def asked(repository):
    """Ask what depends on a path: the pages, and why, step by step."""

    def ask(path, **options):
        with Workspace.open(str(repository.root)) as workspace:
            return workspace.ask(ImpactRequest(path, **options))

    return ask


def chains(impact):
    return [
        (page.filepath, [(step.link_type or "source_reference", step.line) for step in page.chain])
        for page in impact.impacted
    ]


@pytest.fixture
def tangled(repository):
    """Pages that depend on `core.md` in every way, and in circles."""
    pages = {
        "core": "[[core]] [[loop]]",
        "needs": "[[core|depends_on]]",
        "does": "[[needs|implements]] [[core]]",
        "more": "[[does|extends]]",
        "mentions": "\n[[core]] [[core]]",
        "mentioned": "[[mentions|depends_on]]",
        "against": "[[core|conflicts_with]]",
        "loop": "[[mentions]]",
        "other": "[[nowhere]]",
    }
    for name, text in pages.items():
        repository.write(f"docs/{name}.md", text + "\n")
    repository.commit("Begin")
    return repository


@pytest.mark.usefixtures("tangled")
def test_dependent_pages_come_before_pages_with_a_mention(asked):
    impact = asked("docs/core.md")
    assert chains(impact) == [
        ("docs/needs.md", [("depends_on", 1)]),
        ("docs/does.md", [("depends_on", 1), ("implements", 1)]),
        ("docs/more.md", [("depends_on", 1), ("implements", 1), ("extends", 1)]),
        ("docs/against.md", [("conflicts_with", 1)]),
        ("docs/mentions.md", [("references", 2)]),
        ("docs/mentioned.md", [("references", 2), ("depends_on", 1)]),
        ("docs/loop.md", [("references", 2), ("references", 1)]),
    ]
    assert (impact.kind, impact.exists, impact.total) == ("page", True, 7)


@pytest.mark.usefixtures("tangled")
def test_depth_and_limit_bound_the_answer(asked):
    near = asked("docs/core.md", depth=1)
    assert [page.filepath for page in near.impacted] == [
        "docs/needs.md",
        "docs/against.md",
        "docs/does.md",
        "docs/mentions.md",
    ]
    few = asked("docs/core.md", limit=2)
    assert [page.filepath for page in few.impacted] == ["docs/needs.md", "docs/does.md"]
    assert few.total == 7


@pytest.mark.usefixtures("tangled")
def test_path_may_be_a_suffix_or_an_id(asked):
    for name in ("core.md", doc_id("docs/core.md"), "./docs/../docs/core.md"):
        assert asked(name).path == "docs/core.md"
    with pytest.raises(UsageError, match="outside the repository"):
        asked("../core.md")


@pytest.mark.usefixtures("tangled")
def test_pages_of_a_folder_do_not_depend_on_it(asked):
    impact = asked("docs")
    assert (impact.kind, impact.total) == ("source", 0)
    assert asked(".").total == 0


def test_source_leads_to_its_pages_and_their_dependents(repository, asked):
    repository.write("src/auth/token.py", "1\n")
    repository.page("docs/file.md", "src/auth/token.py")
    repository.page("docs/folder.md", "src/auth/")
    repository.page("docs/glob.md", "src/other.py", "src/**/*.py")
    repository.page("docs/translation.md", "docs/file.md")
    repository.write("docs/reader.md", "[file](file.md)\n[code](../src/auth/token.py)\n")
    repository.write("docs/user.md", "[[folder|depends_on]]\n")
    repository.commit("Begin")
    impact = asked("src/auth/token.py")
    assert impact.kind == "source"
    assert chains(impact) == [
        ("docs/file.md", [("source_reference", 3)]),
        ("docs/folder.md", [("source_reference", 3)]),
        ("docs/glob.md", [("source_reference", 4)]),
        ("docs/translation.md", [("source_reference", 3), ("source_reference", 3)]),
        ("docs/user.md", [("source_reference", 3), ("depends_on", 1)]),
        ("docs/reader.md", [("references", 2)]),
    ]
    sources = [page.chain[0].source_path for page in impact.impacted]
    assert sources[:3] == ["src/auth/token.py", "src/auth", "src/**/*.py"]
    below = [page.filepath for page in asked("src", depth=1).impacted]
    assert below == ["docs/file.md", "docs/folder.md", "docs/glob.md"]
    assert "docs/glob.md" in [page.filepath for page in asked("src", depth=1).impacted]


def test_folder_of_pages_shows_the_affected_page(repository, asked):
    repository.write("api/a.md", "[[b]]\n")
    repository.write("api/b.md", "B\n")
    repository.write("guide.md", "[[api/b|depends_on]]\n")
    repository.commit("Begin")
    (page,) = asked("api").impacted
    assert (page.filepath, page.chain[0].target) == ("guide.md", "api/b.md")


def test_deleted_path_is_still_named(repository, asked):
    repository.write("src/gone.py", "1\n")
    repository.page("docs/a.md", "src/gone.py")
    repository.write("docs/old.md", "Old.\n")
    repository.write("docs/b.md", "[old](old.md) [[old#part|depends_on]]\n")
    repository.commit("Begin")
    repository.remove("src/gone.py")
    repository.remove("docs/old.md")
    repository.commit("Remove")
    source, page = asked("src/gone.py"), asked("docs/old.md")
    assert (source.kind, source.exists) == ("source", False)
    assert chains(source) == [("docs/a.md", [("source_reference", 3)])]
    assert (page.kind, page.exists) == ("page", False)
    assert chains(page) == [("docs/b.md", [("depends_on", 1)])]
    assert asked("src/gone.py", ref="HEAD~1").exists
    never = asked("src/never.py")
    assert (never.exists, never.total) == (False, 0)


def test_moved_source_is_found_at_both_paths(repository, asked):
    repository.write("src/old.py", "".join(f"line {n}\n" for n in range(30)))
    repository.page("docs/a.md", "src/old.py")
    repository.page("docs/kept.md", "docs/a.md")
    repository.commit("Begin")
    repository.git("mv", "src/old.py", "src/new.py")
    repository.commit("Move")
    for path in ("src/old.py", "src/new.py"):
        impact = asked(path)
        assert chains(impact)[0] == ("docs/a.md", [("source_reference", 3)])
        assert impact.total == 2
        step = impact.impacted[0].chain[0]
        assert (step.source_path, step.moved_to) == ("src/old.py", "src/new.py")
    assert asked("src").total == 2


def test_hidden_path_is_not_found(repository, asked):
    repository.write("private/key.py", "1\n")
    repository.write("private/plan.md", "[[public|depends_on]]\n")
    repository.page("docs/public.md", "private/key.py", "private/**", ".env", "src/open.py")
    repository.write("docs/reader.md", "[plan](../private/plan.md) [[public]]\n")
    repository.write("src/open.py", "1\n")
    repository.commit("Begin")
    for path in ("private/key.py", "private/plan.md", "private", ".env", "key.py", "plan.md"):
        impact = asked(path)
        assert (impact.exists, impact.total) == (False, 0)
    assert chains(asked("docs/public.md")) == [("docs/reader.md", [("references", 1)])]
    repository.git("mv", "src/open.py", "private/open.py")
    repository.commit("Hide")
    assert asked("private/open.py").total == 0
    assert asked("src/open.py").impacted[0].chain[0].moved_to is None


def test_end_of_a_path_denotes_one_file(repository, asked):
    for name in ("src/a/x.py", "src/b/x.py", "src/b/only.py"):
        repository.write(name, "1\n")
    repository.page("docs/a.md", "src/b")
    repository.commit("Begin")
    assert asked("only.py").path == "src/b/only.py"
    assert asked("b/x.py").total == 1
    with pytest.raises(PageNotFoundError, match=r"x\.py matches 2 files"):
        asked("x.py")


def test_names_beyond_ascii_are_found_in_any_form(repository, asked):
    repository.write("src/パ.py", "1\n")
    repository.page("docs/認証.md", "src/パ.py")
    repository.write("docs/b.md", "[[認証]]\n")
    repository.commit("Begin")
    assert chains(asked("src/パ.py"))[0][0] == "docs/認証.md"
    assert chains(asked("docs/認証.md")) == [("docs/b.md", [("references", 1)])]


AUTH = """LIMIT = 3


class Session:
    def login(self):
        pass


def create():
    pass
"""


@pytest.fixture
def described(repository):
    """A module and a page; pages that describe all of it, or a part."""
    repository.write("src/auth.py", AUTH)
    repository.write("docs/spec.md", "# Spec\n\n## Token life\n\nTen minutes.\n\n## Other\n\nNo.\n")
    repository.page("docs/whole.md", "src/auth.py")
    repository.page("docs/login.md", "src/auth.py#Session.login")
    repository.page("docs/limit.md", "src/auth.py#L1-L2")
    repository.page("docs/life.md", "docs/spec.md#Token life")
    repository.write("docs/links.md", "[life](spec.md#token-life) [other](spec.md#other)\n")
    repository.commit("Begin")
    return repository


@pytest.mark.parametrize(
    ("part", "pages"),
    [
        ("src/auth.py#Session.login", ["docs/login.md", "docs/whole.md"]),
        ("src/auth.py#login", ["docs/login.md", "docs/whole.md"]),
        ("src/auth.py#Session", ["docs/login.md", "docs/whole.md"]),
        ("src/auth.py#create", ["docs/whole.md"]),
        ("src/auth.py#L5", ["docs/login.md", "docs/whole.md"]),
        ("auth.py#L1", ["docs/limit.md", "docs/whole.md"]),
        ("docs/spec.md#Token life", ["docs/life.md", "docs/links.md"]),
        ("docs/spec.md#token-life", ["docs/life.md", "docs/links.md"]),
        ("spec.md#other", ["docs/links.md"]),
    ],
)
def test_part_leads_to_the_pages_that_describe_or_link_to_it(described, asked, part, pages):
    impact = asked(part)
    assert (sorted(page for page, _ in chains(impact)), impact.exists) == (pages, True)
    if not part.startswith(("auth", "spec")):  # it takes whole paths, and knows no links
        with Workspace.open(str(described.root)) as workspace:
            affected = [page.filepath for page in workspace.ask(AffectedRequest((part,))).documents]
        assert affected == [page for page in pages if page != "docs/links.md"]


def test_pages_that_list_or_name_a_part_come_before_others_that_list_its_file(described, asked):
    described.page("docs/z.md", "src/auth.py", body="`Session.login` logs in.\n")
    described.page("docs/a.md", "src/auth.py", body="`login()` logs in.\n")
    described.page("docs/b.md", "src/auth.py", body="To login call `Admin.login()`.\n")
    described.page("docs/c.md", "src/auth.py", body="```\nsession.login(user)\n```\n")
    described.commit("Name login")
    named = ["docs/a.md", "docs/c.md", "docs/z.md"]
    listed = ["docs/login.md", *named, "docs/b.md", "docs/whole.md"]
    assert [page.filepath for page in asked("src/auth.py#Session.login").impacted] == listed
    assert [page.filepath for page in asked("src/auth.py#create").impacted] == [
        *("docs/a.md", "docs/b.md", "docs/c.md", "docs/whole.md", "docs/z.md"),
    ]


@pytest.mark.usefixtures("described")
def test_deleted_part_is_distinguished_from_a_file(asked):
    impact = asked("src/auth.py#logout")
    assert (chains(impact), impact.path) == (
        [("docs/whole.md", [("source_reference", 3)])],
        "src/auth.py#logout",
    )
    assert not impact.exists
    assert asked("docs/gone.md#part").total == 0


def test_part_of_a_hidden_file_is_not_found(repository, asked):
    repository.write("private/key.py", "SECRET = 1\n")
    repository.page("docs/key.md", "private/key.py#SECRET")
    repository.commit("Begin")
    for part in ("private/key.py#SECRET", "key.py#SECRET"):
        impact = asked(part)
        assert (impact.exists, impact.total) == (False, 0)
