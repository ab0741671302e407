"""`unbound-page`: what the base of a change verified, and the change does not."""

import json
import os

import pytest

from ubp.checks.accept import accept_findings
from ubp.checks.debt import to_debt, write_debts
from ubp.workspace import Workspace

CODE = "def price(total):\n    return total * 2\n\n\ndef tax(total):\n    return total * 0.1\n"
TEXT = "# Prices\n\nThe function `price` doubles.\n\nThe function `tax` takes a tenth.\n"


@pytest.fixture
def project(repository):
    """A pinned page, and one without pins, on a branch of their own."""
    repository.write("src/price.py", CODE)
    repository.write("src/other.py", "other = 1\n")
    repository.write("docs/other.md", "# Other\n")
    repository.page("docs/plain.md", "src/price.py", body=TEXT)
    repository.commit("Add the code")
    write_pinned(repository)
    repository.commit("Add a pinned page")
    repository.git("checkout", "--quiet", "-b", "topic")
    return repository


def write_pinned(repository, *more, path="docs/prices.md", body=TEXT):
    pin = f"path: src/price.py\n    blob: {repository.blob('src/price.py')[:12]}"
    repository.page(path, pin, *more, body=body)


def move(source, target):
    def edit(repository):
        (repository.root / target).parent.mkdir(parents=True, exist_ok=True)
        repository.git("mv", source, target)
        repository.git("add", "--force", target)

    return edit


def link(repository):
    repository.remove("docs/prices.md")
    os.symlink("other.md", repository.root / "docs/prices.md")


def prepend(text):
    def edit(repository):
        file = repository.root / "docs/prices.md"
        file.write_bytes(text + file.read_bytes())

    return edit


def page(path, *sources, body=TEXT):
    return lambda repository: repository.page(path, *sources, body=body)


def text(path, content):
    return lambda repository: repository.write(path, content)


def pinned(*more, **options):
    return lambda repository: write_pinned(repository, *more, **options)


def remove(path):
    return lambda repository: repository.remove(path)


def both(*edits):
    def edit(repository):
        for change in edits:
            change(repository)

    return edit


def unbound(check, repository, **question):
    """The findings of unbound-page: page, line, subject and message."""
    return [
        (finding.severity, f"{finding.filepath}:{finding.line}", finding.subject, finding.message)
        for finding in check(repository, rules=["unbound-page"], **question).findings
    ]


LOST = "src/price.py is no longer a source of the page, and still exists."
UNPINNED = "src/price.py no longer has a pin: any edit of the page would count as a review."
NOT_READ = "This file, which was docs/prices.md, is no longer read as a page; src/price.py is no "
NOT_READ += "longer compared."


@pytest.mark.parametrize(
    ("edit", "expected"),
    [
        (page("docs/prices.md", "src/price.py"), ("3", "pin of src/price.py", UNPINNED)),
        (page("docs/prices.md", "src"), ("3", "pin of src/price.py", UNPINNED)),
        (page("docs/prices.md", "src/price.py#price"), ("3", "pin of src/price.py", UNPINNED)),
        (text("docs/prices.md", f"---\ntitle: P\n---\n{TEXT}"), ("4", "src/price.py", LOST)),
        (text("docs/prices.md", TEXT), ("1", "src/price.py", LOST)),
        (page("docs/prices.md", "src/other.py"), ("5", "src/price.py", LOST)),
        (text("docs/prices.md", "---\nsource_refs: [src/price.py\n---\n# P\n"), None),
        (prepend(b"\xef\xbb\xbf\xef\xbb\xbf"), None),
        (prepend(b"\n"), None),
        (prepend(b"<!-- -->\n"), None),
    ],
    ids=[
        *("pin", "pin-by-folder", "pin-by-symbol", "references", "front-matter", "replaced"),
        *("broken", "byte-order-marks", "blank-line", "comment"),
    ],
)
def test_a_page_that_loses_its_source_or_pin_is_a_finding(project, check, edit, expected):
    edit(project)
    project.commit("Unbind")
    (finding,) = unbound(check, project, base="main")
    if expected is None:
        assert (finding[0], *finding[2:]) == ("error", "src/price.py", LOST)
        assert finding[1].startswith("docs/prices.md:")
    else:
        line, subject, message = expected
        assert finding == ("error", f"docs/prices.md:{line}", subject, message)


def test_a_page_that_becomes_a_symbolic_link_is_a_finding(project, check):
    link(project)
    project.git("add", "--all")
    message = "This page is now a symbolic link; src/price.py is no longer compared."
    assert unbound(check, project, staged=True) == [("error", "docs/prices.md:1", "", message)]


@pytest.mark.parametrize(
    "target",
    ["docs/node_modules/prices.md", "vendor/prices.md", "docs/prices.txt", "docs/prices", "x.rst"],
)
@pytest.mark.parametrize("is_edited", [False, True], ids=["same", "edited"])
def test_a_page_that_moves_to_where_it_is_none_is_a_finding(project, check, target, is_edited):
    if is_edited:
        write_pinned(project, body=TEXT + "\nAnd more.\n")
    move("docs/prices.md", target)(project)
    project.git("commit", "--quiet", "--all", "-m", "Move")
    assert unbound(check, project, base="main") == [("error", f"{target}:1", "", NOT_READ)]


def test_a_moved_page_is_found_among_too_many_to_compare_by_its_name(project, check):
    for number in range(401):
        project.write(f"new/{number}.txt", f"{number}\n")
    write_pinned(project, body=TEXT + "\nAnd more.\n")
    move("docs/prices.md", "docs/prices.txt")(project)
    project.commit("Move")
    assert unbound(check, project, base="main") == [("error", "docs/prices.txt:1", "", NOT_READ)]


def test_a_page_that_becomes_a_record_is_a_finding(project, check):
    project.write(".ubp/config.json", '{"staleness": {"records": ["docs/old/**"]}}')
    project.commit("Configure")
    project.git("branch", "--force", "main")
    move("docs/prices.md", "docs/old/prices.md")(project)
    project.commit("Archive")
    message = "This page, which was docs/prices.md, is now a record of the past; src/price.py is no"
    assert unbound(check, project, base="main") == [
        ("error", "docs/old/prices.md:6", "", f"{message} longer compared.")
    ]


def test_a_renamed_source_must_be_listed_under_its_new_name(project, check):
    project.git("mv", "src/price.py", "src/prices.py")
    project.write("docs/plain.md", TEXT)
    project.commit("Rename the code")
    message = "src/price.py was moved to src/prices.py, which is not a source of the page."
    assert unbound(check, project, base="main") == [
        ("error", "docs/plain.md:1", "src/price.py", message)
    ]


def test_a_renamed_page_that_drops_its_source_is_a_finding(project, check):
    project.remove("docs/prices.md")
    project.write("docs/new.md", f"---\ntitle: P\n---\n{TEXT}")
    project.commit("Rename")
    assert unbound(check, project, base="main") == [
        ("error", "docs/new.md:4", "src/price.py", LOST)
    ]


def test_a_pin_that_git_does_not_know_is_a_finding_and_a_new_version_is_none(project, check):
    project.write("src/price.py", CODE + "\n# More.\n")
    project.git("add", "src/price.py")
    write_pinned(project)
    project.commit("Change and acknowledge")
    assert unbound(check, project, base="main") == []
    project.page("docs/prices.md", "path: src/price.py\n    blob: 123456789abc", body=TEXT)
    project.commit("Pin anything")
    assert unbound(check, project, base="main") == [
        (
            "error",
            "docs/prices.md:3",
            "pin of src/price.py",
            "The pin of src/price.py is 123456789abc, which Git does not know.",
        )
    ]


@pytest.mark.parametrize(
    "edit",
    [
        remove("docs/prices.md"),
        move("docs/prices.md", "docs/guide/money.md"),
        both(pinned(body=TEXT + "\nMore.\n"), move("docs/prices.md", "money.md")),
        both(remove("src/price.py"), text("docs/prices.md", TEXT), text("docs/plain.md", TEXT)),
        both(
            move("src/price.py", "src/prices.py"),
            page("docs/plain.md", "src/prices.py"),
            page("docs/prices.md", "path: src/prices.py\n    blob: 123456789abc"),
        ),
        page("docs/plain.md", "src"),
        page("docs/plain.md", "src/*.py"),
        page("docs/plain.md", "src/price.py#tax"),
        page("docs/plain.md", "src/price.py#L1-L2"),
        page("docs/plain.md", "./src/price.py"),
        pinned("src/other.py"),
        pinned(body="# Rewritten\n"),
        both(text("docs/plain.md", TEXT), page("docs/new.md", "src/price.py", body="# New\n")),
        both(text("docs/prices.md", TEXT), page("docs/other.md", "src/price.py#price")),
        both(remove("docs/prices.md"), page("docs/new.md", "src/other.py")),
        text("src/price.py", "def price(total):\n    return 3\n"),
    ],
    ids=[
        *("deleted", "renamed", "renamed-edited", "source-deleted", "source-renamed", "folder"),
        *("glob", "symbol", "lines", "written-otherwise", "added", "rewritten", "split", "merged"),
        *("same-template", "source-changed"),
    ],
)
def test_ordinary_edits_unbind_nothing(project, check, edit):
    edit(project)
    project.commit("Work")
    assert unbound(check, project, base="main") == []


def test_a_reference_to_a_symbol_may_go_with_the_symbol(project, check):
    project.page("docs/plain.md", "src/price.py#price", "src/price.py#tax", body=TEXT)
    project.commit("Narrow")
    project.git("branch", "--force", "main")
    project.write("src/price.py", CODE.partition("\n\n\n")[0] + "\n")
    project.page("docs/plain.md", "src/other.py", body=TEXT)
    project.commit("Remove tax, and forget price")
    assert unbound(check, project, base="main") == [
        (
            "error",
            "docs/plain.md:5",
            "src/price.py#price",
            "src/price.py#price is no longer a source of the page, and still exists.",
        )
    ]


@pytest.mark.parametrize(
    ("moved", "pin", "expected"),
    [(True, True, []), (True, False, [LOST]), (False, True, [LOST])],
    ids=["moved", "unpinned", "unrelated"],
)
def test_a_page_may_follow_code_to_another_file(project, check, moved, pin, expected):
    price, tax = CODE.split("\n\n\n")
    project.write("src/price.py", price + "\n")
    project.write("src/tax.py", tax if moved else "def other():\n    return None\n")
    project.git("add", "--all")
    source = f"path: src/tax.py\n    blob: {project.blob('src/tax.py')}" if pin else "src/tax.py"
    project.page("docs/prices.md", source, body=TEXT)
    project.commit("Split the module")
    assert [finding[-1] for finding in unbound(check, project, base="main")] == expected


def test_a_merge_unbinds_nothing_that_its_other_side_had_unbound(project, check):
    project.git("checkout", "--quiet", "main")
    project.write("docs/prices.md", TEXT)
    project.commit("Unbind on main")
    project.git("checkout", "--quiet", "topic")
    project.write("docs/new.md", "# New\n")
    project.commit("Work")
    project.git("merge", "--quiet", "--no-commit", "main")
    assert unbound(check, project, staged=True) == []
    project.write("docs/plain.md", TEXT)
    project.git("add", "--all")
    assert unbound(check, project, staged=True) == [
        ("error", "docs/plain.md:1", "src/price.py", LOST)
    ]


def test_translations_keep_their_originals_and_pins(repository, check):
    rule = {"page": "docs/{lang}/{path}", "source": "docs/en/{path}", "pin": "commit"}
    config = {"translations": [rule | {"languages": ["ja"]}]}
    repository.write(".ubp/config.json", json.dumps(config))
    repository.write("docs/en/a.md", "# A\n")
    repository.write("docs/en/b.md", "# B\n")
    begin = repository.commit("Begin")
    for name in "ab":
        repository.write(
            f"docs/ja/{name}.md", f"---\ncommit: {begin}\n---\n# {name}\n\n訳文です。\n"
        )
    repository.commit("Translate")
    repository.write("docs/ja/a.md", "# a\n\n訳文です。\n")
    repository.git("mv", "docs/ja/b.md", "docs/ja/c.md")
    repository.git("add", "--all")
    pin = "docs/en/a.md no longer has a pin: any edit of the page would count as a review."
    assert unbound(check, repository, staged=True) == [
        ("warning", "docs/ja/a.md:1", "pin of docs/en/a.md", pin),
        (
            "warning",
            "docs/ja/c.md:4",
            "docs/en/b.md",
            "No longer a translation of docs/en/b.md, which exists.",
        ),
    ]


def test_a_configuration_that_unbinds_pages_is_a_relaxed_check(project, found):
    project.write(".ubp/config.json", '{"source": {"exclude": ["docs/prices.md"]}}')
    project.commit("Exclude a page that nothing else touches")
    assert found(project, base="main") == [
        "warning relaxed-check docs/prices.md:6 unbound-page",
    ]


def test_a_configuration_that_renames_the_key_with_its_uses_unbinds_nothing(project, found):
    project.write(".ubp/config.json", '{"staleness": {"keys": ["covers"]}}')
    for name in ("docs/prices.md", "docs/plain.md"):
        file = project.root / name
        file.write_text(file.read_text().replace("source_refs", "covers"))
    project.commit("Rename the key")
    assert found(project, base="main") == []


def test_settings_with_a_reason_confirm_it_and_those_of_the_change_are_listed(
    project, check, found
):
    setting = {"path": "docs/plain.md", "rule": "unbound-page", "reason": "it is a tutorial now"}
    project.write("docs/plain.md", TEXT)
    project.write(".ubp/config.json", json.dumps({"check": {"ignore": [setting]}}))
    project.commit("Unbind")
    report = check(project, base="main")
    assert [finding.suppression.justification for finding in report.ignored] == [
        "Ignored by check.ignore in .ubp/config.json: docs/plain.md (it is a tutorial now)"
    ]
    assert found(project, base="main") == [
        "warning relaxed-check docs/plain.md:1 unbound-page src/price.py"
    ]


def test_a_debt_is_obsolete_once_the_page_is_bound_again(project, check, found):
    project.write("docs/plain.md", TEXT)
    project.page("docs/prices.md", "src/price.py", body=TEXT)
    project.commit("Unbind")
    findings = check(project, base="main").findings
    assert [finding.subject for finding in findings] == ["src/price.py", "pin of src/price.py"]
    project.write(".ubp/debt.txt", write_debts(map(to_debt, findings)))
    project.commit("Confirm")
    assert found(project, base="main") == [
        "warning relaxed-check docs/plain.md:1 unbound-page src/price.py",
        "warning relaxed-check docs/prices.md:3 unbound-page pin of src/price.py",
    ]
    report = check(project)
    assert report.findings == ()
    assert [finding.suppression.kind for finding in report.ignored] == ["debt", "debt"]
    project.page("docs/plain.md", "src/price.py", body=TEXT)
    write_pinned(project)
    assert [line.split()[1] for line in found(project)] == ["obsolete-debt", "obsolete-debt"]
    with Workspace.open(str(project.root)) as workspace:
        assert accept_findings(workspace.session, is_pruning=True).obsolete == 2


def test_a_comment_confirms_it(project, check):
    comment = "<!-- ubp: ignore[unbound-page] -->\n"
    project.write("docs/plain.md", comment + TEXT)
    project.write("docs/prices.md", f"---\ntitle: P\n---\n{comment}{TEXT}")
    project.git("add", "--all")
    assert unbound(check, project, staged=True) == []
