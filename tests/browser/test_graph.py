"""The picture of the link graph in a browser: it shows, filters and selects, and does no more."""

import json
import re
from itertools import combinations

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
    page.evaluate("document.querySelector('.graph-list').open = true")
    return page.locator("[data-item]:visible button").all_text_contents()


def question(page):
    """The sentence above the picture."""
    return page.locator("[data-part=question]").text_content()


def drawn(page):
    """What the picture shows: labels with their boxes in pixels, and items by their label."""
    page.wait_for_selector("[data-ready]")
    page.wait_for_timeout(400)  # a move takes 220 ms
    shown = page.evaluate("ubpGraph.measure()")
    return shown["labels"], {item["label"]: item for item in shown["items"]}


def choose(page, name, value):
    page.select_option(f"select[name={name}]", value)


def point_at(page, item, *, clicks=0):
    """Move the pointer to an item; click there so often."""
    box = page.locator("[data-part=picture]").bounding_box()
    x, y = box["x"] + item["x"], box["y"] + item["y"]
    page.mouse.move(x, y)
    if clicks:
        page.mouse.click(x, y, click_count=clicks)


def test_the_picture_and_the_list_have_the_same_pages_and_nothing_is_fetched(picture, visit):
    visited = visit(picture)
    page = visited.page
    labels, by_label = drawn(page)
    assert page.locator("[data-part=picture] canvas").count() == 1
    assert question(page) == "4 pages."
    assert page.locator(".listed").is_hidden()
    assert [title[:6] for title in items(page)] == ["Login", "Tokens", "</scri", "Start"]
    assert {label[:6] for label in by_label} == {"Login", "Tokens", "</scri", "Start"}
    assert len(labels) == 4
    assert page.title() == "project: document graph"
    assert visited.complaints == []


def test_a_page_is_shown_with_its_staleness_sources_and_links(picture, visit):
    page = visit(picture).page
    _, by_label = drawn(page)
    point_at(page, by_label["Tokens"], clicks=1)
    details = page.locator("[data-part=details]")
    assert "docs/api/tokens.md" in details.text_content()
    assert "stale for 40 days" in details.text_content()
    assert "src/a.py modified" in details.text_content()
    assert "Tokens expire." in details.text_content()
    linked = details.locator("li button:not(.path)").all_text_contents()
    assert linked == ["Login", "Start"]
    details.get_by_role("button", name="Start").click()
    assert "Links to" in details.text_content()
    assert "Tokens depends on" in details.text_content()
    page.get_by_role("button", name="Close").click()
    assert details.is_hidden()


def test_double_click_shows_what_depends_on_a_page_in_columns(picture, visit):
    page = visit(picture).page
    _, by_label = drawn(page)
    point_at(page, by_label["Tokens"], clicks=2)
    _, by_label = drawn(page)
    assert question(page) == "What depends on Tokens: 2 pages, 1 source."
    assert by_label.keys() == {"Tokens", "a.py", "Login", "Start"}
    assert by_label["a.py"]["x"] < by_label["Tokens"]["x"] < by_label["Login"]["x"]
    choose(page, "question", "dependencies")
    assert question(page) == "What Tokens depends on: 0 pages, 1 source."
    # From its source: the page that describes it, and those that link to that page.
    page.get_by_role("button", name="src/a.py").click()
    page.get_by_role("button", name="What depends on it").click()
    choose(page, "steps", "1")
    assert question(page) == "What depends on a.py: 1 page."
    choose(page, "steps", "2")
    assert question(page) == "What depends on a.py: 3 pages."


def test_center_may_be_a_source_and_its_dependents_are_shown_first(repository, tmp_path, visit):
    repository.write("src/a.py", "a\n")
    repository.page("docs/a.md", "src/a.py", title="A", body="x\n")
    repository.page("docs/b.md", title="B", body="[a](a.md)\n")
    repository.commit()
    file = tmp_path / "graph.html"
    command = ["-C", str(repository.root), "get-graph", "--format", "html", "--output", str(file)]
    assert main([*command, "--center", "a.py", "--quiet"]) == 0
    page = visit(file).page
    _, by_label = drawn(page)
    assert question(page) == "What depends on a.py: 2 pages."
    assert by_label.keys() == {"a.py", "A", "B"}
    assert main([*command, "--center", "c.py"]) == 2


def test_hover_lights_the_neighbours_and_no_others(picture, visit):
    page = visit(picture).page
    _, by_label = drawn(page)
    point_at(page, by_label["Login"])
    labels, by_label = drawn(page)
    lit = {label for label, item in by_label.items() if item["isLit"]}
    assert lit == {"Login", "Tokens", "Start"}
    assert {label["text"] for label in labels} == lit


def test_search_lights_and_zooms_to_what_it_finds_and_filters_the_list(picture, visit):
    page = visit(picture).page
    before = drawn(page)[1]
    page.fill("[name=search]", "tok")
    _, by_label = drawn(page)
    assert question(page) == "1 match."
    assert [label for label, item in by_label.items() if item["isLit"]] == ["Tokens"]
    size = page.locator("[data-part=picture]").bounding_box()
    assert abs(by_label["Tokens"]["x"] - size["width"] / 2) < 2
    assert before["Tokens"]["x"] != by_label["Tokens"]["x"]
    assert items(page) == ["Tokens"]
    page.fill("[name=search]", "a.py")
    assert "a.py" in drawn(page)[1]


def test_filters_hide_pages_in_the_picture_and_in_the_list(picture, visit):
    page = visit(picture).page
    page.click(".filters summary")
    choose(page, "folder", "docs/api")
    assert items(page) == ["Login", "Tokens"]
    assert drawn(page)[1].keys() == {"Login", "Tokens"}
    choose(page, "age", "30")
    assert items(page) == ["Tokens"]
    choose(page, "age", "180")
    assert question(page) == "0 pages. 0 of 4 pages fit the filter."
    choose(page, "age", "0")
    page.uncheck("[name=level][value=stale]")
    assert items(page) == ["Login"]


def test_hubs_among_many_small_marks_are_named(repository, tmp_path, visit):
    hubs = [f"Hub number {number}" for number in range(10)]
    for number, title in enumerate(hubs):
        links = " ".join(f"[h](h{other}.md)" for other in range(10) if other != number)
        repository.page(f"h{number}.md", title=title, body=f"{links}\n")
    for number in range(230):
        links = " ".join(f"[h](h{(number * step) % 10}.md)" for step in (1, 3, 7))
        repository.page(f"p{number}.md", title=f"Page {number}", body=f"{links}\n")
    repository.commit()
    file = tmp_path / "graph.html"
    command = ["-C", str(repository.root), "get-graph", "--format", "html", "--output", str(file)]
    assert main([*command, "--quiet"]) == 0
    page = visit(file).page
    choose(page, "question", "all")
    labels, _ = drawn(page)
    assert len({label["text"] for label in labels} & set(hubs)) > 5, labels


def test_many_pages_are_folders_and_the_main_pages_with_labels_that_do_not_overlap(
    repository, tmp_path, visit
):
    repository.write("src/a.py", "a\n")
    names = [f"docs/part{number % 12}/page{number}.md" for number in range(300)]
    for number, name in enumerate(names):
        repository.page(name, title=f"Page {number}", body="[hub](../hub.md)\n")
    repository.page("docs/hub.md", title="Hub", body="x\n")
    repository.page("docs/part3/due.md", "src/a.py", title="Due", body="x\n")
    repository.commit()
    repository.write("src/a.py", "changed\n")
    repository.commit(at=repository.clock + 20 * DAY)
    file = tmp_path / "graph.html"
    command = ["-C", str(repository.root), "get-graph", "--format", "html", "--output", str(file)]
    assert main([*command, "--quiet"]) == 0
    page = visit(file).page
    labels, by_label = drawn(page)
    kinds = [item["kind"] for item in by_label.values()]
    assert kinds.count("folder") == 12
    assert {"Hub", "Due"} <= by_label.keys()
    texts = {label["text"] for label in labels}
    assert "Hub" in texts
    assert sum(1 for text in texts if text.startswith("part")) == 12
    for first, second in combinations(labels, 2):
        assert (
            first["x2"] <= second["x1"]
            or second["x2"] <= first["x1"]
            or first["y2"] <= second["y1"]
            or second["y2"] <= first["y1"]
        ), (first, second)
    assert min(item["radius"] for item in by_label.values()) >= 4
    folder = next(label for label in by_label if label.startswith("part5 ("))
    point_at(page, by_label[folder], clicks=2)
    _, opened = drawn(page)
    assert {f"Page {number}" for number in range(5, 300, 12)} <= opened.keys()
    choose(page, "question", "all")
    assert question(page) == "302 pages."
    assert len(drawn(page)[1]) == 302


def test_it_is_accessible_in_light_and_dark_and_on_a_phone(picture, visit):
    for options in ({}, {"color_scheme": "dark"}, {"width": 375}):
        page = visit(picture, **options).page
        drawn(page)
        items(page)
        page.click(".filters summary")
        page.locator("[data-item] button", has_text="Tokens").click()
        assert "docs/api/tokens.md" in page.locator("[data-part=details]").text_content()
        violations = Axe().run(page).response["violations"]
        assert [(found["id"], found["nodes"][0]["html"]) for found in violations] == []
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_keys_move_and_zoom_the_picture(picture, visit):
    page = visit(picture).page
    before = drawn(page)[1]["Login"]
    page.focus("[data-part=picture]")
    page.keyboard.press("ArrowLeft")
    assert drawn(page)[1]["Login"]["x"] == pytest.approx(before["x"] + 60)
    page.keyboard.press("0")
    assert drawn(page)[1]["Login"]["x"] == pytest.approx(before["x"])
    zoom = page.evaluate("ubpGraph.measure().zoom")
    page.keyboard.press("+")
    assert page.evaluate("ubpGraph.measure().zoom") == pytest.approx(zoom * 1.25)


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
    assert data["names"] == ["login.md", "tokens.md", "evil.md", "start.md"]
    for folder, name in zip(data["folder"], data["names"], strict=True):
        assert f"{data['folders'][folder]}/{name}</span>" in text.replace("<wbr>", "")
