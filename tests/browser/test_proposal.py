"""The review of a proposal in a browser: pages before and after, which do nothing."""

import pytest
from axe_playwright_python.sync_playwright import Axe

from ubp.__main__ import main
from ubp.edits import changes
from ubp.edits.model import Agent
from ubp.edits.propose import EditRequest, propose
from ubp.workspace import Workspace

SECTION = """## Sign in

Takes *a user*. <script>document.title = "x"</script> <img src="http://example.com/x.png">
![p](http://example.com/y.png) [l](http://example.com/z) turned \u202e round, &#x202e; too.

| a | b |
|---|---|
| 1 |   |

# Second title
"""


@pytest.fixture
def review(repository, tmp_path, capsys):
    """A proposal that changes a section, breaks a link and adds a page."""
    repository.write("src/auth.py", "def login():\n    pass\n")
    stays = "".join(f"Paragraph {number}.\n\n" for number in range(8))
    body = f"\n# Auth\n\n{stays}## Login\n\nTakes nothing.\n"
    repository.page("docs/auth.md", "src/auth.py", body=body)
    repository.write("docs/other.md", "# Other\n\n[Login](auth.md#login)\n")
    repository.commit()
    repository.write("src/auth.py", "def login(user):\n    pass\n")
    repository.commit()
    agent = Agent("client <b> 1.0", "s")
    with Workspace.open(str(repository.root)) as workspace:
        for page, action, change in (
            ("docs/auth.md", "update", changes.replace_section(SECTION, "login")),
            ("docs/new.md", "create", changes.create(workspace.session, "# New\n", "guide", [])),
        ):
            request = EditRequest(
                *(agent, action, page, change, "It takes a user.\n\nSince today.", None),
                *(1 if action == "create" else None, True),
            )
            propose(workspace.session, request)
    file = tmp_path / "review.html"
    command = ["-C", str(repository.root), "proposals", "show", "1", "--html", str(file)]
    assert main(command) == 0
    assert capsys.readouterr().out.startswith(f"Wrote {file} (")
    return file


def test_a_page_is_shown_before_and_after_and_does_nothing(review, visit):
    visited = visit(review)
    page = visited.page
    assert page.title() == "Proposal 1: update docs/auth.md and 1 more"
    assert "client <b> 1.0" in page.locator("header").text_content()
    before = page.locator("#page-1 .before").inner_text()
    after = page.locator("#page-1 .after").inner_text()
    assert before.split("\n")[0:3:2] == ["Before", "Login"]
    assert "Takes a user. <script>" in after
    assert r"turned \u202e round, \u202e too." in after
    assert page.locator("img, script, .rendered a").count() == 0
    equal = page.locator("#page-1 details.equal")
    assert equal.locator("summary").inner_text() == "9 unchanged blocks"
    equal.locator("summary").click()
    assert "Paragraph 3." in equal.inner_text()
    assert "no page" in page.locator("#effect").inner_text()
    findings = page.locator("#effect .findings tbody tr").all_inner_texts()
    assert [row.split("\t")[0:2] for row in findings] == [
        ["introduced", "missing-anchor"],
        ["fixed", "stale-doc"],
    ]
    warning = page.locator("#page-1 .advice").inner_text()
    assert warning == "Warning: Line 27 contains invisible or bidirectional characters."
    page.locator("#page-1 .diff:not(.source) summary").click()
    assert "+Takes *a user*." in page.locator("#page-1 .diff:not(.source) pre").inner_text()
    assert page.locator("#page-2 .before").inner_text().split() == ["Before", "nothing"]
    assert visited.complaints == []


def test_it_is_accessible_in_light_and_dark_and_on_a_phone(review, visit):
    for options in ({}, {"color_scheme": "dark"}, {"width": 375}):
        page = visit(review, **options).page
        for summary in page.locator("summary").all():
            summary.click()
        violations = Axe().run(page).response["violations"]
        assert [(found["id"], found["nodes"][0]["html"]) for found in violations] == []
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
