"""The report in a browser: it shows, filters and sorts, and does nothing else."""

import pytest
from axe_playwright_python.sync_playwright import Axe

from ubp.__main__ import main

DAY = 86_400


@pytest.fixture(scope="module")
def once():
    """What one test made and the others take."""
    return {}


@pytest.fixture
def report(once, new_repository, monkeypatch, tmp_path):
    """A report of a few pages, with something in every part of it."""
    file = tmp_path / "report.html"
    if "page" not in once:
        once["page"] = make_report(new_repository(), monkeypatch, file)
    file.write_bytes(once["page"])
    return file


def make_report(repository, monkeypatch, file):
    for name in ("a", "b", "c", "d"):
        repository.write(f"src/{name}.py", "".join(f"{name} {n}\n" for n in range(60)))
    repository.page("docs/api/large.md", "src/a.py", title="Large")
    repository.page("docs/api/small.md", "src/b.py", "src/a.py", title="Small")
    repository.page("docs/guide/gone.md", "src/c.py", body="[s](../api/small.md)\n")
    repository.page("docs/guide/fresh.md", "src/d.py", body="[s](../api/small.md)\n")
    repository.write("docs/guide/index.md", "[l](../api/large.md) [x](nowhere.md)\n")
    repository.write("docs/plain.md", "# Plain\n")
    repository.commit("Begin <b>here</b> & now")
    repository.write("src/a.py", "".join(f"long {n} {'x' * 300}\n" for n in range(60)))
    repository.commit("Change a")
    repository.write("src/b.py", "")
    repository.remove("src/c.py")
    repository.commit("Empty b, remove c", at=repository.clock + 20 * DAY)
    monkeypatch.setenv("UBP_NOW", str(repository.clock + 3 * DAY))
    assert main(["-C", str(repository.root), "report", "--html", str(file), "--quiet"]) == 0
    return file.read_bytes()


LARGE, SMALL, GONE = "docs/api/large.md", "docs/api/small.md", "docs/guide/gone.md"


def cards(visited):
    return [
        visited.page.locator(".page:visible > summary .path").nth(number).text_content()
        for number in range(visited.page.locator(".page:visible").count())
    ]


def test_it_shows_what_matters_and_asks_nobody(report, visit):
    visited = visit(report)
    page = visited.page
    assert page.title() == "project: documentation report"
    assert page.locator(".gauge").inner_text().split() == ["25%", "fresh"]
    assert cards(visited) == [GONE, SMALL, LARGE]
    assert page.locator("#findings tbody tr").count() == 1
    assert page.locator(".columns g").count() == 14
    assert page.locator("#matches").inner_text() == "10 entries"
    assert visited.complaints == []


def test_commands_are_copied_and_the_map_zooms(report, visit):
    page = visit(report, permissions=["clipboard-read", "clipboard-write"]).page
    page.locator(".page > summary").first.click()
    button = page.locator(".page[open] .copy").first
    button.click()
    page.get_by_role("button", name="Copied ubp ack docs/guide/gone.md", exact=True).wait_for()
    assert page.evaluate("navigator.clipboard.readText()") == "ubp ack docs/guide/gone.md"
    assert page.locator(".graph-view[data-ready] canvas").count() == 1


def test_files_and_commits_link_to_the_forge_or_to_an_editor(new_repository, tmp_path, visit):
    repository = new_repository()
    repository.write("src/a.py", "1\n")
    repository.page("docs/a.md", "src/a.py", body="[x](gone.md)\n")
    repository.commit()
    repository.write("src/a.py", "2\n")
    pushed = repository.commit(at=repository.clock + 20 * DAY)
    repository.git("remote", "add", "origin", "git@github.com:o/r.git")
    repository.git("update-ref", "refs/remotes/origin/main", pushed)
    repository.write("src/a.py", "3\n")
    unpushed = repository.commit(at=repository.clock + 40 * DAY)
    file = tmp_path / "report.html"
    command = ["-C", str(repository.root), "report", "--html", str(file), "--quiet"]
    assert main(command) == 0
    page = visit(file).page
    links = page.locator("a[href^='https:']").evaluate_all("all => all.map((a) => a.href)")
    base = "https://github.com/o/r"
    assert {
        f"{base}/blob/{pushed}/docs/a.md",
        f"{base}/blob/{pushed}/docs/a.md?plain=1#L3",
        f"{base}/blob/{pushed}/src/a.py",
        f"{base}/commit/{pushed}",
    } <= set(links)
    assert unpushed[:10] in page.locator("#pages").text_content()
    assert not any(unpushed in link for link in links)
    assert main([*command, "--editor", "zed"]) == 0
    page = visit(file).page
    links = page.locator("a[href^='zed:']").evaluate_all("all => all.map((a) => a.href)")
    assert f"zed://file{repository.root}/src/a.py:1" in links
    assert Axe().run(page).response["violations"] == []


def test_language_of_the_report_and_the_graph_is_that_of_most_pages(new_repository, tmp_path):
    repository = new_repository()
    repository.page("docs/a.md", title="使い方", body="# 使い方\n")
    repository.page("docs/b.md", title="設定のしかた", body="# 設定のしかた\n")
    repository.page("docs/c.md", title="API", body="# API\n")
    repository.commit()
    file = tmp_path / "report.html"
    for command in (["report", "--html"], ["get-graph", "--format", "html", "--output"]):
        assert main(["-C", str(repository.root), *command, str(file), "--quiet"]) == 0
        assert '<html lang="ja">' in file.read_text(encoding="utf-8")


def test_it_filters_by_words_level_directory_and_rule(report, visit):
    visited = visit(report)
    page = visited.page
    page.fill("#text", "LARGE")
    assert cards(visited) == [LARGE]
    assert page.locator("#matches").inner_text() == "1 of 10 entries"
    page.fill("#text", "nothing like this")
    assert cards(visited) == []
    assert page.locator("#no-pages").is_visible()
    page.click("#reset")
    page.select_option("#rule", "missing-source")
    assert cards(visited) == [GONE]
    page.select_option("#rule", "broken-link")
    assert (cards(visited), page.locator("#findings tbody tr:visible").count()) == ([], 1)
    page.click("#reset")
    page.select_option("#folder", label="docs/guide/")
    assert cards(visited) == [GONE]
    page.click("#reset")
    page.uncheck(".level input[value=stale]")
    assert cards(visited) == []
    page.click("#reset")
    assert (cards(visited), page.evaluate("document.activeElement.id")) == (
        [GONE, SMALL, LARGE],
        "text",
    )
    assert visited.complaints == []


def test_a_directory_of_the_table_is_a_filter(report, visit):
    visited = visit(report)
    visited.page.click("text=docs/guide/")
    assert cards(visited) == [GONE]
    assert visited.page.locator("#filter").is_visible()


def test_it_sorts(report, visit):
    visited = visit(report)
    orders = {}
    for key in ("path", "changed", "links", "age", "order"):
        visited.page.select_option("#sort", key)
        orders[key] = cards(visited)
    assert orders == {
        "path": [LARGE, SMALL, GONE],
        "changed": [SMALL, LARGE, GONE],
        "links": [SMALL, LARGE, GONE],
        "age": [SMALL, LARGE, GONE],
        "order": [GONE, SMALL, LARGE],
    }


def test_the_keyboard_does_it_all(report, visit):
    page = visit(report).page
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.id") == "text"
    page.keyboard.type("small")
    page.locator(".page:visible > summary").focus()
    page.keyboard.press("Enter")
    assert page.locator(".page[open]").count() == 1
    for _ in range(3):  # past the buttons that copy two commands
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert page.locator(".diff[open] pre").is_visible()
    assert page.locator(".diff[open] del").first.inner_text().startswith("-b 0")


def test_a_diff_that_pages_share_is_shown_where_it_is_asked_for(report, visit):
    page = visit(report).page
    page.locator(".page", has_text=LARGE).locator("> summary").click()
    diff = page.locator(".page[open] .diff")
    assert diff.locator("pre").count() == 0
    diff.locator("summary").click()
    assert diff.locator("pre ins").first.inner_text().startswith("+long 0 x")


def test_a_link_to_a_diff_opens_it(report, visit):
    visited = visit(report, anchor="#diff-0")
    assert visited.page.locator(".page[open] .diff[open] pre").is_visible()
    assert visited.complaints == []


def test_without_scripts_it_is_a_plain_page(report, visit):
    visited = visit(report, java_script_enabled=False)
    page = visited.page
    assert not page.locator(".toolbar").is_visible()
    assert page.locator(".page:visible").count() == 3
    assert page.get_by_text("Begin").count() == 0  # folded: nobody has opened a page
    page.locator(".page > summary").first.click()
    assert page.locator(".page[open] li").first.is_visible()


@pytest.mark.parametrize("width", [375, 320, 1200])
def test_nothing_sticks_out_on_a_telephone(width, report, visit):
    page = visit(report, width=width).page
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    assert page.evaluate("document.documentElement.scrollWidth") == width


@pytest.mark.parametrize("width", [375, 1200])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_is_accessible(width, scheme, report, visit):
    page = visit(report, width=width, color_scheme=scheme).page
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    found = Axe().run(page).response["violations"]
    assert [(one["id"], [node["html"] for node in one["nodes"]]) for one in found] == []


def test_the_policy_holds(report, visit):
    page = visit(report).page
    assert page.evaluate(
        """async () => {
            const broken = [];
            document.addEventListener("securitypolicyviolation", (event) => {
                broken.push(event.effectiveDirective);
            });
            const script = document.createElement("script");
            script.textContent = "window.hasRun = true;";
            document.body.append(script);
            const image = new Image();
            image.src = "https://example.com/x.png";
            document.body.append(image);
            document.body.setAttribute("style", "color: red");
            await fetch("https://example.com/").catch(() => {});
            await new Promise((resolve) => setTimeout(resolve, 100));
            return [window.hasRun === true, broken.sort()];
        }"""
    ) == [False, ["connect-src", "img-src", "script-src-elem", "style-src-attr"]]


def test_on_paper_every_page_is_unfolded_and_nothing_is_to_be_clicked(report, visit):
    page = visit(report, color_scheme="dark").page
    page.emulate_media(media="print")
    assert page.evaluate("getComputedStyle(document.body).color") == "rgb(27, 34, 48)"
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert not page.locator(".toolbar").is_visible()
    assert page.locator(".page[open]").count() == 3
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.locator(".page[open]").count() == 0


def test_a_run_of_check_is_a_page_too(visit, repository, tmp_path):
    repository.write("docs/index.md", "[x](nowhere.md)\n")
    repository.commit()
    file = tmp_path / "check.html"
    main(["-C", str(repository.root), "check", "--output-file", f"html={file}", "--quiet"])
    visited = visit(file)
    visited.page.fill("#text", "nowhere")
    assert visited.page.locator("#findings tbody tr:visible").count() == 1
    assert visited.complaints == []
