"""The picture of the link graph in a browser: it shows, filters and selects, and does no more."""

import json
import re

import pytest
from axe_playwright_python.sync_playwright import Axe

from ubp.__main__ import main

DAY = 86_400


@pytest.fixture
def picture(repository, tmp_path, monkeypatch):
    """The graph of pages of every level, one of them with a hostile title."""
    for name in ("a", "b", "c"):
        repository.write(f"src/{name}.py", f"{name}\n")
    repository.page("docs/api/tokens.md", "src/a.py", title="Tokens", body="Tokens expire.\n")
    repository.page("docs/api/login.md", "src/b.py", title="Login", body="[t](tokens.md)\n")
    repository.page(
        "docs/guide/start.md", body="# Start\n\n[[tokens|depends_on]] [l](../api/login.md)\n"
    )
    repository.page(
        "docs/evil.md", title="</script><script>document.title='x'</script>", body="x\n"
    )
    repository.commit()
    repository.write("src/a.py", "changed\n")
    repository.commit(at=repository.clock + 20 * DAY)
    monkeypatch.setenv("UBP_NOW", str(repository.clock + 40 * DAY))
    file = tmp_path / "graph.html"
    command = ["-C", str(repository.root), "get-graph", "--format", "html", "--output", str(file)]
    assert main([*command, "--quiet"]) == 0
    return file


def items(page):
    """The titles in the list that can be seen."""
    return page.locator("[data-item]:visible button").all_text_contents()


def shown(page):
    """The pages in the picture, by the numbers that the data gives them."""
    return page.locator("#shown").text_content()


def test_the_picture_and_the_list_have_the_same_pages_and_nothing_is_fetched(picture, visit):
    visited = visit(picture)
    page = visited.page
    page.wait_for_selector("body[data-ready]")
    assert page.locator("#graph canvas").count() >= 1
    assert shown(page) == "4 pages"
    assert [title[:6] for title in items(page)] == ["Login", "Tokens", "</scri", "Start"]
    assert page.title() == "project: document graph"
    assert visited.complaints == []


def test_a_page_is_shown_with_its_staleness_sources_and_links(picture, visit):
    page = visit(picture).page
    page.get_by_role("button", name="Tokens").first.click()
    details = page.locator("#details").text_content()
    assert "docs/api/tokens.md" in details
    assert "stale for 40 days" in details
    assert "src/a.py modified" in details
    assert "Tokens expire." in details
    linked = page.locator("#details li button").all_text_contents()
    assert linked == ["Login", "Start"]
    page.locator("#details li button").last.click()
    assert "Links to" in page.locator("#details").text_content()
    assert "Tokens depends on" in page.locator("#details").text_content()
    page.get_by_role("button", name="Close").click()
    assert page.locator("#details").is_hidden()


def test_filters_hide_pages_in_the_picture_and_in_the_list(picture, visit):
    page = visit(picture).page
    page.wait_for_selector("body[data-ready]")
    page.fill("#search", "tok")
    assert (shown(page), items(page)) == ("1 of 4 pages", ["Tokens"])
    page.fill("#search", "")
    page.select_option("#folder", "docs/api")
    assert items(page) == ["Login", "Tokens"]
    page.select_option("#age", "30")
    assert items(page) == ["Tokens"]
    page.select_option("#age", "180")
    assert shown(page) == "0 of 4 pages"


def test_it_is_accessible_in_light_and_dark_and_on_a_phone(picture, visit):
    for options in ({}, {"color_scheme": "dark"}, {"width": 375}):
        page = visit(picture, **options).page
        page.wait_for_selector("body[data-ready]")
        page.get_by_role("button", name="Tokens").first.click()
        violations = Axe().run(page).response["violations"]
        assert [(found["id"], found["nodes"][0]["html"]) for found in violations] == []
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_the_picture_is_written_into_ubp_by_default_and_json_names_it(repository, capsys):
    repository.page("a.md", body="# A\n")
    root = str(repository.root)
    assert main(["-C", root, "get-graph", "--format", "html", "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert record == {"schema_version": 1, "file": ".ubp/graph.html", "pages": 1}
    assert (repository.root / record["file"]).is_file()
    assert repository.git("status", "--porcelain") == "?? a.md"
    assert main(["-C", root, "get-graph", "--output", "x.html"]) == 2


def test_without_a_script_the_list_remains(picture):
    text = picture.read_text(encoding="utf-8")
    data = json.loads(
        re.search(r'<script type="application/json" id="data">(.*?)</script>', text)[1]
    )
    assert [page["path"] for page in data["pages"]] == [
        "docs/api/login.md",
        "docs/api/tokens.md",
        "docs/evil.md",
        "docs/guide/start.md",
    ]
    for page in data["pages"]:
        assert page["path"].rpartition("/")[2] in text
