"""The comment on a pull request at the width that forges give it."""

from markdown_it import MarkdownIt

from ubp.__main__ import main

# As GitHub styles a comment, where it concerns widths.
STYLE = """
body { margin: 0; font: 14px/1.5 sans-serif }
main { width: 880px; box-sizing: border-box; padding: 16px; overflow-wrap: break-word }
code { white-space: break-spaces } pre { overflow: auto; padding: 16px }
pre code { white-space: pre }
table { display: block; width: max-content; max-width: 100%; overflow: auto }
"""


def test_comment_fits_and_a_page_opens_to_sentence_hunk_and_command(
    repository, capsys, tmp_path, visit
):
    long = "docs/" + "a-very-long-name/" * 8
    repository.write("src/session.py", "import time\n\nttl_seconds = 30\nname = 1\n")
    repository.page(
        f"{long}sessions.md", "src/session.py", body="# Sessions\n\n`ttl_seconds` is the age.\n"
    )
    repository.commit()
    repository.git("checkout", "-q", "-b", "change")
    repository.write("src/session.py", "import time\n\nlifetime = 30\nname = 2\n")
    repository.commit("Rename the age of sessions " + "x" * 200)
    command = ["-C", str(repository.root), "check", "--base", "main", "--format", "markdown"]
    assert main(command) == 1
    text = capsys.readouterr().out
    assert "| Page |" not in text
    assert "7: `ttl_seconds` is the age.\n" in text
    assert "@@ -1,4 +1,4 @@\n \n-ttl_seconds = 30\n" in text
    assert f"```sh\nubp ack {long}sessions.md\n```" in text
    html = MarkdownIt("commonmark", {"html": True}).enable("table").render(text)
    file = tmp_path / "comment.html"
    file.write_text(f"<!doctype html><style>{STYLE}</style><main>{html}</main>", encoding="utf-8")
    page = visit(file, width=1400).page
    details = page.locator("details").first
    closed = page.locator("main").bounding_box()["height"]
    assert closed < 250
    details.evaluate("(element) => (element.open = true)")
    assert details.locator("pre").count() == 3
    assert page.locator("main").evaluate("(main) => main.scrollWidth") == 880
