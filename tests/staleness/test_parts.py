"""References to symbols, sections and ranges of lines."""

import pytest

from ubp.answers.checks.check import CheckRequest
from ubp.answers.pages.impact import ImpactRequest
from ubp.answers.staleness.ack import AcknowledgeRequest
from ubp.answers.staleness.affected import AffectedRequest
from ubp.answers.staleness.stale import diff_report, report_stale
from ubp.code import symbols
from ubp.index.session import Target
from ubp.workspace import Workspace

AUTH = '''"""Authentication."""


def login(user):
    # Ask for the password.
    return check(user)


def logout(user):
    forget(user)
'''


@pytest.fixture
def project(repository):
    repository.write("src/auth.py", AUTH)
    repository.page("docs/auth.md", "src/auth.py#login")
    repository.commit("auth and its page")
    return repository


@pytest.fixture
def verdict(ask):
    """The only verdict on a repository's only page."""

    def read(repository, **question):
        (page,) = ask(repository, **question).pages
        (reference,) = page.references
        return reference

    return read


def edit(repository, path, *replacements):
    text = (repository.root / path).read_text()
    for old, new in replacements:
        assert old in text
        text = text.replace(old, new)
    repository.write(path, text)


def test_symbol_is_fresh_while_only_the_rest_of_its_file_changes(project, verdict):
    edit(project, "src/auth.py", ("forget(user)", "remember(user)"), ("# Ask for", "# Check"))
    assert verdict(project).verdict == "fresh"
    project.commit("change logout")
    assert verdict(project).verdict == "fresh"


def test_drift_of_a_symbol_is_the_commits_that_changed_it(project, verdict):
    edit(project, "src/auth.py", ("forget(user)", "remember(user)"))
    project.commit("change logout")
    edit(project, "src/auth.py", ("check(user)", "check(user, 1)"))
    first = project.commit("change login")
    edit(project, "src/auth.py", ("remember(user)", "forget(user)"))
    project.commit("change logout again")
    edit(project, "src/auth.py", ("check(user, 1)", "check(user, 2)"))
    second = project.commit("change login again")
    found = verdict(project, age=3)
    assert (found.verdict, found.name) == ("modified", "src/auth.py#login")
    assert [commit.id for commit in found.commits] == [second, first]
    assert found.since == found.commits[-1].date


def test_symbol_restored_and_changed_again_drifted_only_once(project, verdict):
    for old, new in (("check(user)", "check()"), ("check()", "check(user)")):
        edit(project, "src/auth.py", (old, new))
        project.commit("change login")
    assert verdict(project).verdict == "fresh"
    edit(project, "src/auth.py", ("check(user)", "check(1)"))
    last = project.commit("change login for good")
    assert [commit.id for commit in verdict(project).commits] == [last]


def test_committed_change_beside_a_symbol_does_not_age_an_uncommitted_one(project, verdict):
    edit(project, "src/auth.py", ("forget(user)", "remember(user)"))
    project.commit("change logout")
    edit(project, "src/auth.py", ("check(user)", "check()"))
    found = verdict(project, age=30)
    assert (found.verdict, found.commits, found.age_days) == ("modified", (), 0)


def test_deleted_symbol_ages_from_its_deletion_whatever_else_is_edited(project, verdict):
    now = project.clock
    edit(project, "src/auth.py", ("check(user)", "check()"))
    project.commit(at=now + 86_400)
    edit(project, "src/auth.py", ("login", "enter"), ("check()", "check(1)"))
    found = verdict(project, age=50)
    assert (found.verdict, found.age_days, found.last_age_days) == ("deleted", 50, 0)

    project.commit(at=now + 40 * 86_400)
    edit(project, "src/auth.py", ("forget(user)", "remember(user)"))
    found = verdict(project, age=3)
    assert (found.verdict, found.last_age_days) == ("deleted", 3)


def test_pinned_symbol_is_compared_with_the_pinned_file(project, verdict):
    blob = project.blob("src/auth.py")
    project.write(
        "docs/auth.md",
        f"---\nsource_refs:\n  - path: src/auth.py#login\n    blob: {blob[:12]}\n---\n",
    )
    edit(project, "src/auth.py", ("forget(user)", "remember(user)"))
    project.commit("change logout")
    assert verdict(project).verdict == "fresh"
    edit(project, "src/auth.py", ("check(user)", "check()"))
    project.commit("change login")
    found = verdict(project)
    assert (found.verdict, found.baseline, found.baseline_blob) == ("modified", "pin", blob[:12])


def test_symbol_with_an_absent_pin_gets_the_verdict_of_the_file(project, verdict):
    project.write(
        "docs/auth.md",
        "---\nsource_refs:\n  - path: src/auth.py#login\n    blob: 0123456789ab\n---\n",
    )
    project.commit()
    found = verdict(project)
    assert (found.verdict, found.note) == ("modified", "no_blob")


def test_removed_symbol_is_deleted(project, verdict):
    project.write("src/auth.py", AUTH.partition("def login")[0] + "X = 1\n")
    removal = project.commit("remove login")
    found = verdict(project)
    assert (found.verdict, found.level, found.current_blob) == ("deleted", "stale", None)
    assert [commit.id for commit in found.commits] == [removal]


@pytest.mark.parametrize("is_committed", [True, False])
def test_renamed_symbol_has_moved_within_its_file(project, verdict, is_committed):
    edit(project, "src/auth.py", ("def login", "def sign_in"))
    if is_committed:
        project.commit("rename login")
    found = verdict(project)
    assert (found.verdict, found.new_name) == ("moved", "src/auth.py#sign_in")


@pytest.mark.parametrize("is_committed", [True, False])
def test_symbol_now_in_another_file_has_moved_there(project, verdict, is_committed):
    login = AUTH[AUTH.index("def login") : AUTH.index("def logout")]
    project.write("src/auth.py", AUTH.replace(login, ""))
    project.write("src/session.py", f"import os\n\n\nclass A:\n    x = 1\n\n\n{login}")
    if is_committed:
        project.commit("move login")
    found = verdict(project)
    assert (found.verdict, found.new_name) == ("moved", "src/session.py#login")


def test_symbol_moves_with_its_file(project, verdict):
    project.git("mv", "src/auth.py", "src/login.py")
    project.commit("rename the file")
    found = verdict(project)
    assert (found.verdict, found.new_name) == ("moved", "src/login.py#login")


def test_symbol_has_not_moved_to_a_copy_that_existed_before(project, verdict):
    project.write("src/copy.py", AUTH)
    project.commit("copy")
    project.write("src/auth.py", "X = 1\n")
    edit(project, "src/copy.py", ("forget(user)", "remember(user)"))
    project.commit("remove login")
    assert verdict(project).verdict == "deleted"


def test_symbol_that_never_existed_is_not_found_in_an_unchanged_file(project, verdict):
    project.page("docs/auth.md", "src/auth.py#lgoin")
    assert verdict(project).verdict == "not_found"
    project.commit()
    found = verdict(project)
    assert (found.verdict, found.level, found.current_blob) == ("not_found", "stale", None)


def test_symbol_younger_than_its_page_is_created(project, verdict):
    project.page("docs/auth.md", "src/auth.py#refresh")
    project.commit()
    edit(project, "src/auth.py", ("def logout", "def refresh():\n    pass\n\n\ndef logout"))
    creation = project.commit("add refresh")
    found = verdict(project)
    assert (found.verdict, [c.id for c in found.commits]) == ("created", [creation])


def test_two_symbols_of_a_file_have_separate_verdicts(project, ask):
    project.page("docs/auth.md", "src/auth.py#login", "src/auth.py#logout", "src/auth.py")
    project.commit()
    edit(project, "src/auth.py", ("forget(user)", "remember(user)"))
    project.commit("change logout")
    (page,) = ask(project).pages
    assert {reference.name: reference.verdict for reference in page.references} == {
        "src/auth.py#login": "fresh",
        "src/auth.py#logout": "modified",
        "src/auth.py": "modified",
    }


def test_file_of_an_unknown_kind_is_compared_as_a_whole(repository, verdict):
    repository.write("Makefile", "all: a\n")
    repository.page("docs/a.md", "Makefile#all")
    repository.commit()
    assert (verdict(repository).verdict, verdict(repository).note) == ("fresh", "no_language")
    repository.write("Makefile", "all: a\nclean:\n")
    repository.commit()
    assert (verdict(repository).verdict, verdict(repository).note) == ("modified", "no_language")


def test_directories_and_globs_have_no_symbols(repository, ask):
    repository.write("src/a.py", "def f(): ...\n")
    repository.page("docs/a.md", "src#f", '"src/*.py#f"')
    repository.commit()
    (page,) = ask(repository).pages
    assert [(r.verdict, r.note) for r in page.references] == [("fresh", "no_part")] * 2


def test_symbol_without_ast_grep_is_fresh_if_the_file_is_unchanged_else_unknown(
    project, verdict, monkeypatch
):
    monkeypatch.setattr(symbols, "parser_version", lambda: None)
    assert (verdict(project).verdict, verdict(project).note) == ("fresh", None)
    edit(project, "src/auth.py", ("forget(user)", "remember(user)"))
    found = verdict(project)
    assert (found.verdict, found.level, found.note) == ("unknown", "unknown", "no_parser")


PAGE = """# Specification

## Token life

A token lives **ten** minutes, see [RFC](https://example.org/a).

```python
LIFE = 10
```

### Renewal

Never.

## Other

Text.
"""


@pytest.fixture
def specification(repository):
    repository.write("docs/spec.md", PAGE)
    repository.page("guide/a.md", '"docs/spec.md#Token life"')
    repository.commit()
    return repository


@pytest.fixture
def section_verdict(ask):
    def read(repository):
        report = ask(repository, "guide/a.md")
        return report.pages[0].references[0]

    return read


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("**ten** minutes", "*Ten*\nminutes", "fresh"),
        ("https://example.org/a", "https://example.org/b", "fresh"),
        ("Text.", "Another text.", "fresh"),
        ("## Other", "## Others", "fresh"),
        ("ten", "eleven", "modified"),
        ("LIFE = 10", "LIFE  = 10", "modified"),
        ("Never.", "Always.", "modified"),
        ("## Token life", "## Life of a token", "moved"),
    ],
)
def test_section_is_compared_by_its_words(specification, section_verdict, old, new, expected):
    edit(specification, "docs/spec.md", (old, new))
    specification.commit()
    found = section_verdict(specification)
    assert found.verdict == expected
    if expected == "moved":
        assert found.new_name == "docs/spec.md#life-of-a-token"


@pytest.mark.parametrize("name", ["Token life", "token-life", "TOKEN LIFE", "life"])
def test_section_is_found_by_its_text_slug_or_explicit_id(specification, section_verdict, name):
    edit(specification, "docs/spec.md", ("## Token life", "## Token life {#life}"))
    specification.page("guide/a.md", f'"docs/spec.md#{name}"')
    specification.commit()
    assert section_verdict(specification).verdict == "fresh"
    edit(specification, "docs/spec.md", ("ten", "two"))
    assert section_verdict(specification).verdict == "modified"


def test_section_now_in_another_page_has_moved_there(specification, section_verdict):
    section = PAGE[PAGE.index("## Token life") : PAGE.index("## Other")]
    specification.write("docs/spec.md", PAGE.replace(section, ""))
    specification.write("docs/tokens.md", f"# Tokens\n\n{section}")
    specification.commit()
    found = section_verdict(specification)
    assert (found.verdict, found.new_name) == ("moved", "docs/tokens.md#Token life")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("one\ntwo\nthree\nfour\n", "fresh"),
        ("zero\none\ntwo\r\nthree\n", "fresh"),
        ("two\nthree\n", "fresh"),
        ("one\nthree\ntwo\n", "modified"),
        ("one\ntwo\n", "modified"),
        ("one\ntwo three\nthree\n", "modified"),
    ],
)
def test_line_range_is_fresh_while_its_lines_occur_in_the_file(repository, verdict, text, expected):
    repository.write("a.txt", "one\ntwo\nthree\n")
    repository.page("docs/a.md", "a.txt#L2-L3")
    repository.commit()
    repository.write("a.txt", text)
    repository.commit()
    assert verdict(repository).verdict == expected


def test_line_range_beyond_the_end_of_a_file_is_not_found(repository, verdict):
    repository.write("a.txt", "one\n")
    repository.page("docs/a.md", "a.txt#L2")
    repository.commit()
    assert verdict(repository).verdict == "not_found"


def test_ack_pins_the_file_of_a_symbol_that_changed_and_skips_the_others(project):
    project.page("docs/auth.md", "src/auth.py#login", "src/auth.py#logout", "src/auth.py#gone")
    project.commit()
    edit(project, "src/auth.py", ("forget(user)", "remember(user)"))
    project.commit("change logout")
    with Workspace.open(str(project.root)) as workspace:
        (done,) = workspace.ask(AcknowledgeRequest(("docs/auth.md",))).documents
    assert [(pinned.source_path, pinned.pin) for pinned in done.pinned] == [
        ("src/auth.py#logout", project.blob("src/auth.py")[:12])
    ]
    assert [skipped.source_path for skipped in done.left] == ["src/auth.py#gone"]
    assert "  - path: src/auth.py#logout\n    blob: " in (project.root / "docs/auth.md").read_text()


@pytest.mark.parametrize("is_pinned", [True, False])
def test_check_fixes_a_reference_to_a_renamed_symbol(project, verdict, is_pinned):
    if is_pinned:
        blob = project.blob("src/auth.py")[:12]
        text = f"---\nsource_refs:\n  - path: src/auth.py#login\n    blob: {blob}\n---\n"
        project.write("docs/auth.md", text)
        project.commit()
    edit(project, "src/auth.py", ("def login", "def sign_in"))
    project.commit("rename login")
    with Workspace.open(str(project.root)) as workspace:
        done = workspace.ask(CheckRequest(fix=True))
    assert [(fixed.before, fixed.after) for fixed in done.fix.fixed] == [
        ("src/auth.py#login", "src/auth.py#sign_in")
    ]
    found = verdict(project)
    assert (found.verdict, found.name) == ("fresh", "src/auth.py#sign_in")
    assert found.baseline == ("pin" if is_pinned else "snapshot")


def diff_of(repository, *paths):
    with Workspace.open(str(repository.root)) as workspace:
        report = report_stale(workspace.session, Target(), paths)
        ((_, _, diff),) = diff_report(workspace.session, report)
    return diff


def test_diff_of_a_symbol_is_limited_to_it(project):
    edit(project, "src/auth.py", ("check(user)", "check(user, 1)"), ("forget", "remember"))
    edit(project, "src/auth.py", ('"""Authentication."""', '"""A.\n"""'))
    diff = diff_of(project)
    assert diff.text == (
        "--- a/src/auth.py\n+++ b/src/auth.py\n@@ -4,3 +5,3 @@\n def login(user):\n"
        "     # Ask for the password.\n-    return check(user)\n+    return check(user, 1)"
    )
    assert (diff.added, diff.removed, diff.changed) == (1, 1, (("src/auth.py", 7),))


def test_diff_of_a_section_is_limited_to_it(specification):
    edit(specification, "docs/spec.md", ("Never.", "Always."), ("Text.", "Words."))
    diff = diff_of(specification, "guide/a.md")
    assert "-Never.\n+Always." in diff.text
    assert "Words" not in diff.text


def test_diff_of_a_line_range_is_limited_to_it(repository):
    lines = [f"line {number}\n" for number in range(1, 41)]
    repository.write("a.txt", "".join(lines))
    repository.page("docs/a.md", "a.txt#L30-L31")
    repository.commit()
    lines[1], lines[29] = "first\n", "second\n"
    repository.write("a.txt", "".join(lines))
    diff = diff_of(repository)
    assert "-line 30\n+second" in diff.text
    assert "first" not in diff.text
    assert (diff.added, diff.removed) == (1, 1)


def test_page_is_affected_by_the_file_of_its_symbol(project):
    with Workspace.open(str(project.root)) as workspace:
        (affected,) = workspace.ask(AffectedRequest(("src/auth.py",))).documents
        by_symbol = {
            name: len(workspace.ask(AffectedRequest((f"src/auth.py#{name}",))).documents)
            for name in ("login", "login.inner", "logout")
        }
        impact = workspace.ask(ImpactRequest("src/auth.py"))
    assert affected.filepath == "docs/auth.md"
    assert by_symbol == {"login": 1, "login.inner": 1, "logout": 0}
    assert [impacted.filepath for impacted in impact.impacted] == ["docs/auth.md"]


def test_symbols_of_excluded_files_are_not_served(project, verdict):
    project.write(".ubp/config.json", '{"source": {"exclude": ["src/auth.py"]}}')
    edit(project, "src/auth.py", ("check(user)", "check()"))
    project.commit()
    found = verdict(project)
    assert (found.verdict, found.baseline_blob, found.commits) == ("modified", None, ())
    with Workspace.open(str(project.root)) as workspace:
        report = report_stale(workspace.session, Target())
        assert list(diff_report(workspace.session, report)) == []
        assert workspace.ask(ImpactRequest("src/auth.py")).impacted == ()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("\n\ndef login", "\n\n@cache\ndef login"),
        ("\n\ndef login", "\n\n#def login"),
        ("def login", "if True:\n  def login"),
        ("forget(user)", "forget(user)\n\n\ndef login(user): ..."),
        ("\n\ndef logout", "\n    # Return nothing.\n    return None\n\ndef logout"),
        ('"""Authentication."""', "class Session:"),
    ],
)
def test_symbol_read_before_is_compared_like_a_new_one(project, ask, old, new):
    """What is known of the older version spares reading the newer one only where it is the same."""
    assert [page.level for page in ask(project).pages] == ["fresh"]
    edit(project, "src/auth.py", (old, new))
    text = (project.root / "src/auth.py").read_bytes()
    before, after = (
        [part.digest for part in symbols.Symbols(data, "python").find("login")]
        for data in (AUTH.encode(), text)
    )
    (page,) = ask(project).pages
    assert (page.references[0].verdict == "fresh") == (before == after)


def test_partial_clone_does_not_hide_the_first_change_of_a_symbol(project, tmp_path):
    """Without old blobs the file counts, which had changed before: that excuses nothing."""
    edit(project, "src/auth.py", ("forget(user)", "remember(user)"))
    base = project.commit("change logout")
    edit(project, "src/auth.py", ("check(user)", "check(user, 1)"))
    project.commit("change login")
    project.git("config", "uploadpack.allowFilter", "true")
    clone = tmp_path / "clone"
    project.git("clone", "--quiet", "--filter=blob:none", f"file://{project.root}", str(clone))
    with Workspace.open(str(clone)) as workspace:
        (page,) = report_stale(workspace.session, Target(base=base)).introduced
    assert page.references[0].note == "no_blob"


def test_partial_clone_omits_what_a_change_does_not_touch(project, tmp_path):
    edit(project, "src/auth.py", ("check(user)", "check(user, 1)"))
    base = project.commit("change login")
    project.write("other.txt", "other")
    project.commit("something else")
    project.git("config", "uploadpack.allowFilter", "true")
    clone = tmp_path / "clone"
    project.git("clone", "--quiet", "--filter=blob:none", f"file://{project.root}", str(clone))
    with Workspace.open(str(clone)) as workspace:
        assert report_stale(workspace.session, Target(base=base)).introduced == ()
