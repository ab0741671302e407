"""Edits as suggestions of a forge: what they change, and on which lines a forge can show them."""

import json

import pytest

from ubp.output.ci.suggestions import new_lines, write_review

COMMIT = "a" * 40


@pytest.fixture
def changed(repository):
    """A change that misspells two links, and edits a pinned page with its source."""
    repository.write("src/a.py", "RETRIES = 3\n")
    pin = repository.git("hash-object", "src/a.py")[:12]
    head = f"---\nsource_refs:\n  - path: src/a.py\n    blob: {pin}\n---\n"
    repository.write("docs/pinned.md", f"{head}It tries `RETRIES` times: 3.\n")
    repository.write("docs/sessions.md", "# Sessions\n\n## Use it\n")
    repository.write("docs/far.md", "# Far\n" + "\nText.\n" * 20)
    repository.commit()
    repository.write("src/a.py", "RETRIES = 5\n")
    repository.write("docs/pinned.md", f"{head}It tries `RETRIES` times: 5.\n")
    far = "# Far\n\n[x](sesions.md)\n" + "\nText.\n" * 20
    repository.write("docs/far.md", far)
    repository.write(
        "docs/new.md", "# New\n\nSee [it](sesions.md) and [use](sessions.md#use-itt).\n"
    )
    repository.commit()
    return repository


@pytest.fixture
def review(changed, ubp, tmp_path):
    """Return the review that the suggestions of the change become, and the number of comments."""

    def make(*options, known="", patches=None):
        options = options or ("--base", "HEAD~1")
        answer = ubp(changed, "check", *options, "--format", "suggestions")
        files = tmp_path / "files"
        if patches is None:
            names = changed.git("diff", "--name-only", "HEAD~1", "HEAD").split()
            patches = {name: patch(changed, name) for name in names}
        items = ({"filename": name, "patch": text} for name, text in patches.items())
        files.write_text("".join(f"{json.dumps(item)}\n" for item in items))
        (tmp_path / "suggestions").write_text(answer.out)
        (tmp_path / "known").write_text(known)
        names = [str(tmp_path / name) for name in ("suggestions", "files", "known")]
        made = write_review(*names, COMMIT, str(tmp_path / "review"))
        record = json.loads((tmp_path / "review").read_text())
        assert made == len(record["comments"])
        return record

    return make


def patch(repository, name):
    """The patch of a file as GitHub gives it: from its first hunk on."""
    text = repository.git("diff", "HEAD~1", "HEAD", "--", name)
    return text[text.index("@@") :]


def suggested(comment):
    """The lines that a comment suggests."""
    _, _, text = comment["body"].partition("```suggestion\n")
    return text.partition("\n```")[0]


def test_review_suggests_what_fix_would_write(review, changed, ubp):
    record = review()
    assert (record["event"], record["commit_id"]) == ("COMMENT", COMMIT)
    assert record["body"] == "UBP suggests 3 edits."
    by_place = {(c["path"], c["line"]): c for c in record["comments"]}
    assert by_place.keys() == {("docs/far.md", 3), ("docs/new.md", 3), ("docs/pinned.md", 4)}
    assert all(comment["side"] == "RIGHT" for comment in by_place.values())
    ubp(changed, "check", "--fix")
    for name in ("docs/far.md", "docs/new.md"):
        fixed = (changed.root / name).read_text().splitlines()[2]
        assert suggested(by_place[name, 3]) == fixed
        assert "ubp check --fix" in by_place[name, 3]["body"]


def test_pin_of_a_page_that_the_change_edits_is_suggested_if_it_is_accurate(review, changed):
    (comment,) = (c for c in review()["comments"] if c["path"] == "docs/pinned.md")
    blob = changed.git("rev-parse", "HEAD:src/a.py")[:12]
    assert suggested(comment) == f"    blob: {blob}"
    assert "\nIf the page is still accurate:\n" in comment["body"]
    assert "ubp ack" in comment["body"]


def test_each_edit_is_suggested_once(review):
    marks = [comment["body"].split("\n")[0] for comment in review()["comments"]]
    assert len(set(marks)) == 3
    assert review(known="\n".join(marks[:2]) + "\n")["comments"][0]["body"].startswith(marks[2])
    assert review(known="\n".join(marks))["comments"] == []


@pytest.mark.parametrize(
    "patches",
    [
        {},
        {"docs/far.md": ""},  # GitHub leaves out the patch of a large file
        {"docs/far.md": "@@ -10,2 +10,3 @@\n Text.\n+Other\n \n"},
        {"docs/far.md": "@@ -1,2 +1,3 @@\n # Far\n \n+[x](other.md)\n"},  # another text there
    ],
)
def test_lines_that_the_diff_of_the_forge_does_not_have_get_no_suggestion(patches, review):
    assert review(patches=patches)["comments"] == []


def test_text_of_a_page_ends_neither_the_suggestion_nor_the_comment(repository, ubp):
    repository.write("docs/sessions.md", "# Sessions\n")
    repository.write("docs/a.md", "# A\n\n``` x ``` [x](sesions.md) <!-- -->\n\nSee `````.\n")
    repository.commit()
    (edit,) = json.loads(ubp(repository, "check", "--format", "suggestions").out)["suggestions"]
    fence = "````suggestion\n``` x ``` [x](sessions.md) <!-- -->\n````\n"
    assert fence in edit["body"]


@pytest.mark.parametrize(
    "line", ["[x](sesions.md) \x1b[31m", "[x](sesions.md) \u202e", "[x](sesions.md)\r"]
)
def test_line_with_hidden_characters_is_not_suggested(line, repository, ubp):
    repository.write("docs/sessions.md", "# Sessions\n")
    repository.write("docs/a.md", f"# A\n\n{line}\n")
    repository.commit()
    assert json.loads(ubp(repository, "check", "--format", "suggestions").out) == {
        "suggestions": []
    }


def test_lines_of_a_patch_have_the_numbers_of_the_new_version():
    text = (
        "@@ -1,3 +1,4 @@ head\n a\n-b\n+c\n+d\n e\n\\ No newline at end of file\n@@ -9 +10 @@\n+z"
    )
    assert new_lines(text) == {1: "a", 2: "c", 3: "d", 4: "e", 10: "z"}
