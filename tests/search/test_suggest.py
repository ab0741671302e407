"""Which links may be missing."""

import pytest

from ubp.answers.pages.suggest_links import SuggestLinksRequest
from ubp.core.errors import PageNotFoundError, UsageError
from ubp.search.suggest_links import margin_of, score_of

AUTH = (
    "# Authentication\n\nUsers log in with a password. The server issues an access token that"
    " expires after fifteen minutes; a refresh token renews it.\n"
)
SESSIONS = (
    "# Sessions\n\n## Token lifetime\n\nAccess tokens live for fifteen minutes. Clients renew an"
    " expired token with their refresh token, without asking for the password again.\n"
)
JAPANESE = (
    "# 認証\n\nユーザーはパスワードでログインします。アクセストークンは15分で失効し、"
    "リフレッシュトークンで更新します。\n"
)
DEPLOY = (
    "# Deployment\n\nWe deploy with Docker Compose on a virtual machine. The database is backed"
    " up every night to object storage.\n"
)


@pytest.fixture
def suggested(repository, opened):
    """Ask for links between these pages: `suggested({path: text}, **options)`."""

    def ask(pages, page=None, **options):
        for path, text in pages.items():
            repository.write(path, text)
        repository.commit()
        return opened(repository.root).ask(SuggestLinksRequest(page, **options))

    return ask


def pairs(found):
    return [(pair.first.filepath, pair.second.filepath) for pair in found.suggestions]


def test_pages_on_one_subject_are_suggested_with_their_sections(suggested):
    found = suggested({"auth.md": AUTH, "sessions.md": SESSIONS, "deploy.md": DEPLOY})
    (link,) = found.suggestions
    assert (link.first.filepath, link.second.filepath) == ("auth.md", "sessions.md")
    assert (link.first.line_start, link.second.heading_path) == (1, ("Sessions", "Token lifetime"))
    assert 0.8 <= link.score <= 1
    assert set(link.shared_terms) == {"password", "fifteen", "minutes", "refresh", "access"}
    assert (link.first.title, link.first.staleness) == ("Authentication", "untracked")


def test_pages_in_another_language_are_suggested_where_nothing_is_nearer(suggested):
    assert pairs(suggested({"auth.md": AUTH, "ninshou.md": JAPANESE, "deploy.md": DEPLOY})) == [
        ("auth.md", "ninshou.md")
    ]


@pytest.mark.parametrize("link", ["[[sessions]]", "[x](sessions.md)"])
def test_linked_pages_are_not_suggested_in_either_direction(suggested, link):
    pages = {"sessions.md": SESSIONS, "deploy.md": DEPLOY}
    assert pairs(suggested({"auth.md": f"{AUTH}\n{link}\n", **pages})) == []


def test_link_of_a_translation_counts_for_all_translations(suggested):
    pages = {
        "auth.md": AUTH,
        "auth.ja.md": f"{JAPANESE}\n[[sessions]]\n",
        "sessions.md": SESSIONS,
        "deploy.md": DEPLOY,
    }
    assert pairs(suggested(pages)) == []


@pytest.mark.parametrize(
    "names",
    [
        ("auth.md", "auth.ja.md"),
        ("v1/auth.md", "v2/auth.md"),
        ("2024-01-02-auth.md", "2024-02-03-tokens.md"),
        ("CHANGELOG.md", "auth.md"),
        ("private/auth.md", "sessions.md"),
    ],
)
def test_siblings_logs_boilerplate_and_excluded_pages_are_not_suggested(suggested, names):
    first, second = names
    found = suggested({first: AUTH, second: SESSIONS, "deploy.md": DEPLOY}, min_score=0.5)
    assert pairs(found) == []


def test_pair_is_suggested_once_in_one_version(suggested):
    pages = {
        f"{folder}/{path}": text
        for folder in ("docs", "versioned_docs/version-26.8.15")
        for path, text in {"auth.md": AUTH, "sessions.md": SESSIONS, "deploy.md": DEPLOY}.items()
    }
    changed = {
        "versioned_docs/version-26.8.15/auth.md": f"{AUTH}\nBread is baked at 230 degrees.\n"
    }
    for files in (pages, changed):
        assert pairs(suggested(files)) == [("docs/auth.md", "docs/sessions.md")]


@pytest.mark.parametrize(
    ("newest", "older"), [("docs/2.0", "docs/1.0"), ("docs", "versioned_docs/version-1.0")]
)
def test_pair_is_shown_in_the_newest_version_that_has_both_parts(suggested, newest, older):
    first = f"{AUTH}\nSee below.\n"
    second = SESSIONS.replace("# Sessions\n", "# Sessions\n\nIn short.\n")
    pages = {
        f"{older}/auth.md": AUTH,
        f"{older}/sessions.md": SESSIONS,
        f"{newest}/auth.md": first,
        f"{newest}/sessions.md": SESSIONS,
        f"{newest}/deploy.md": DEPLOY,
    }
    (link,) = suggested(pages).suggestions
    assert (link.first.filepath, link.second.filepath) == (
        f"{newest}/auth.md",
        f"{newest}/sessions.md",
    )
    (link,) = suggested({f"{newest}/sessions.md": second}).suggestions
    assert (link.second.filepath, link.second.line_start) == (f"{newest}/sessions.md", 5)
    assert link.second.content.startswith("Access tokens live")
    (link,) = suggested({f"{newest}/sessions.md": "# Sessions\n\nThere are none.\n"}).suggestions
    assert (link.first.filepath, link.second.filepath) == (
        f"{older}/auth.md",
        f"{older}/sessions.md",
    )


def test_pages_from_one_template_are_not_suggested(suggested):
    headings = "".join(f"\n## {name}\n\nNothing to tell.\n" for name in ("Scope", "Team", "Dates"))
    pages = {"a/x.md": AUTH + headings, "b/y.md": SESSIONS + headings, "deploy.md": DEPLOY}
    assert pairs(suggested(pages, min_score=0.5)) == []


def test_duplicates_are_listed_separately(suggested):
    found = suggested({"auth.md": AUTH, "copy.md": AUTH.replace("Users", "People"), "d.md": DEPLOY})
    assert pairs(found) == []
    (link,) = found.duplicates
    assert (link.first.filepath, link.second.filepath) == ("auth.md", "copy.md")


def test_diagrams_and_lists_of_links_are_not_suggested(suggested):
    diagram = "```mermaid\ngraph TD\n  A --> B\n  B --> C\n  C --> D\n```\n"
    links = "[One](https://example.com/one) [Two](https://example.com/two)\n"
    pages = {"a.md": diagram, "b.md": f"{diagram}\n", "c.md": links, "d.md": f"\n{links}"}
    found = suggested(pages, min_score=0)
    assert (found.suggestions, found.duplicates) == ((), ())


def test_suggestions_for_a_page_are_its_own_pairs_with_it_first(suggested):
    pages = {"auth.md": AUTH, "sessions.md": SESSIONS, "deploy.md": DEPLOY}
    assert pairs(suggested(pages, "sessions.md")) == [("sessions.md", "auth.md")]
    assert pairs(suggested({}, "deploy.md")) == []
    with pytest.raises(PageNotFoundError):
        suggested({}, "nowhere.md")


def test_suggestions_for_a_page_with_a_copy_are_its_own_pairs(suggested):
    pages = {"a/copy.md": SESSIONS, "auth.md": AUTH, "sessions.md": SESSIONS, "d.md": DEPLOY}
    assert pairs(suggested(pages, "sessions.md")) == [("sessions.md", "auth.md")]


def test_suggestions_respect_limit_and_revision(suggested):
    pages = {"auth.md": AUTH, "sessions.md": SESSIONS, "ninshou.md": JAPANESE, "d.md": DEPLOY}
    assert len(pairs(suggested(pages))) == 3
    assert len(pairs(suggested({}, limit=1))) == 1
    assert len(pairs(suggested({"auth.md": "# Other\n\nNothing.\n"}))) == 1
    assert len(pairs(suggested({}, ref="HEAD~2"))) == 3


def test_suggestions_without_a_model_say_how_to_get_one(repository, opened):
    repository.write("a.md", AUTH)
    repository.commit()
    with pytest.raises(UsageError) as raised:
        opened(repository.root, model="none").ask(SuggestLinksRequest())
    assert raised.value.hint


@pytest.mark.parametrize("score", [0.01, 0.5, 0.8, 0.99])
def test_score_follows_from_the_margin(score):
    assert score_of(margin_of(score)) == pytest.approx(score)


def test_score_is_finite_at_both_ends_of_the_scale():
    assert margin_of(0) < margin_of(0.5) < margin_of(1)
