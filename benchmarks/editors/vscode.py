"""Drive the extension in Visual Studio Code, which code-server shows in a browser.

    npm install code-server                  # needs the node that it names, and a compiler
    python benchmarks/editors/vscode.py NODE CODE_SERVER UBP_VSIX [--pictures FOLDER]

CODE_SERVER is the folder `node_modules/code-server`. Prints what the editor shows of a page with a
broken link and a stale source: diagnostics, status bar, code lens, completion, hover; the mark
beside the source; the report and the graph; and two proposals, decided by keys.
"""

import argparse
import asyncio
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path
from typing import Any

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from playwright.sync_api import Page, sync_playwright

PAGE = """\
---
title: Authentication
source_refs:
  - src/auth.py
---
# Authentication

See [[sessions]], [the guide](guide.md#set-up) and [nothing](missing.md).
A token lives for `MAX_AGE` seconds.
"""
SETTINGS = '{"workbench.startupEditor": "none", "chat.disableAIFeatures": true}'
MILLISECONDS_TO_WAIT = 120_000
MILLISECONDS_TO_SETTLE = 5_000


def main() -> None:
    """Start code-server with the extension and drive it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("node")
    parser.add_argument("code_server", type=Path)
    parser.add_argument("vsix", type=Path)
    parser.add_argument("--pictures", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        root = write_repository(Path(folder) / "project")
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        server = start_server(options, Path(folder), port)
        try:
            drive(f"http://127.0.0.1:{port}/?folder={root}", options.pictures)
        finally:
            server.terminate()
            server.wait(30)


def write_repository(root: Path) -> Path:
    """Write a page that is behind its source, and the environment of the workspace."""
    author = ["-c", "user.name=a", "-c", "user.email=a@example.com"]
    files = {
        "docs/auth.md": PAGE,
        "docs/sessions.md": "# Sessions\n\nBack to [tokens](auth.md).\n",
        "docs/guide.md": "# Guide\n\n## Set up\n\nRead [[auth]] and [none](none.md).\n",
        "src/auth.py": "MAX_AGE = 60\n",
        ".gitignore": ".venv\n",
    }
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    for arguments in (["init", "-q"], ["add", "."], [*author, "commit", "-qm", "Begin"]):
        subprocess.run(["git", *arguments], cwd=root, check=True)
    propose(root)
    (root / "src/auth.py").write_text("MAX_AGE = 90\n")
    subprocess.run(["git", *author, "commit", "-qam", "Change"], cwd=root, check=True)
    configuration = (("user.name", "Rae Viewer"), ("user.email", "rae@example.com"))
    for name, value in configuration:
        subprocess.run(["git", "config", name, value], cwd=root, check=True)
    program = root / ".venv/bin/ubp"
    program.parent.mkdir(parents=True)
    program.symlink_to(Path(sys.executable).with_name("ubp"))
    return root


def propose(root: Path) -> None:
    """Propose two pages, as an agent does."""

    async def call() -> None:
        command = StdioServerParameters(
            command=sys.executable, args=["-m", "ubp", "serve", "--toolsets", "edit"], cwd=root
        )
        async with stdio_client(command) as streams, ClientSession(*streams) as session:
            await session.initialize()
            for name in ("docs/limits.md", "docs/errors.md"):
                fields = {"filepath": name, "content": f"# {name}\n", "reason": "It is missing."}
                await session.call_tool("ubp_create_page", fields)

    asyncio.run(call())


def start_server(options: argparse.Namespace, folder: Path, port: int) -> subprocess.Popen[bytes]:
    """Install the extension and start code-server, both without the user's settings."""
    environment = {**os.environ, "HOME": str(folder)}
    data = ["--user-data-dir", str(folder / "data"), "--extensions-dir", str(folder / "extensions")]
    settings = folder / "data/User/settings.json"
    settings.parent.mkdir(parents=True)
    settings.write_text(SETTINGS)
    command = [options.node, str(options.code_server / "out/node/entry.js"), *data]
    install = [*command, "--install-extension", str(options.vsix.resolve())]
    subprocess.run(install, env=environment, check=True)
    served = ["--auth", "none", "--bind-addr", f"127.0.0.1:{port}", "--disable-workspace-trust"]
    process = subprocess.Popen(
        [*command, *served, "--disable-telemetry"], env=environment, stdout=subprocess.DEVNULL
    )
    for _ in range(60):
        time.sleep(1)
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz").close()
        except OSError:
            continue
        break
    return process


def drive(url: str, pictures: Path | None) -> None:
    """Open the page, and print what the editor shows."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        page = browser.new_page(viewport={"width": 1300, "height": 850})
        page.set_default_timeout(MILLISECONDS_TO_WAIT)
        page.goto(url)
        page.wait_for_selector(".explorer-folders-view .monaco-list-row")
        choose(page, "Control+P", "docs/auth.md")
        page.wait_for_selector(".squiggly-error", state="attached")
        page.wait_for_selector(".statusbar-item:has-text('fresh')")
        page.wait_for_selector(".codelens-decoration")
        show("status bar", page, ".statusbar-item:has-text('fresh')")
        show("code lens", page, ".codelens-decoration")
        choose(page, "F1", "Problems: Focus on Problems View")
        page.wait_for_timeout(MILLISECONDS_TO_SETTLE)
        show("problems", page, ".markers-panel .monaco-list-row")
        editor = page.locator(".editor-instance")
        editor.locator(".view-line span", has_text="guide.md").first.hover()
        page.wait_for_selector(".monaco-hover:visible .hover-contents")
        show("hover", page, ".monaco-hover:visible .hover-contents")
        photograph(page, pictures, "diagnostics")
        drive_panels(page, pictures)  # before the page is edited: then it is fresh
        choose(page, "Control+P", "docs/auth.md")
        page.wait_for_selector(".codelens-decoration")
        editor.locator(".view-line").last.click()
        page.keyboard.press("Control+End")
        page.keyboard.type("See [[ses", delay=100)
        page.wait_for_selector(".suggest-widget .monaco-list-row")
        show("completion", page, ".suggest-widget .monaco-list-row")
        photograph(page, pictures, "completion")
        page.keyboard.press("Enter")
        page.wait_for_timeout(MILLISECONDS_TO_SETTLE)
        print("completed line:", editor.locator(".view-line").all_text_contents()[-1])
        drive_proposals(page, pictures)
        browser.close()


def drive_panels(page: Page, pictures: Path | None) -> None:
    """Open the source, the report and the graph, and print what they show."""
    choose(page, "Control+P", "src/auth.py")
    page.wait_for_selector(".cgmr[class*=TextEditorDecoration]", state="attached")
    print("marks beside the source:", page.locator(".cgmr[class*=TextEditorDecoration]").count())
    photograph(page, pictures, "mark")
    for command, heading in (
        ("UBP: Open the Report", "h1"),
        ("UBP: Open the Graph of Pages", "h1"),
    ):
        choose(page, "F1", command)
        frame = page.frame_locator("iframe.webview.ready").last.frame_locator("#active-frame")
        frame.locator(heading).first.wait_for()
        print(f"{command}:", frame.locator(heading).first.text_content())
        page.wait_for_timeout(MILLISECONDS_TO_SETTLE)
        photograph(page, pictures, command.rpartition(" ")[2].lower())
    choose(page, "F1", "View: Close All Editors")


def drive_proposals(page: Page, pictures: Path | None) -> None:
    """Mark two proposals by keys, undo, apply, and print what the view shows each time."""
    choose(page, "F1", "UBP: Review Proposals of Agents")
    rows = page.locator(".pane-body .monaco-list-row")
    rows.filter(has_text="create docs/limits.md").wait_for()
    page.wait_for_timeout(MILLISECONDS_TO_SETTLE)
    print("view:", " | ".join(rows.all_text_contents()))
    photograph(page, pictures, "proposals")
    for key in ("a", "u", "a", "r"):
        page.keyboard.press(key)
        page.wait_for_timeout(MILLISECONDS_TO_SETTLE)
        if key == "r":
            page.keyboard.type("Not needed.")
            page.keyboard.press("Enter")
            page.wait_for_timeout(MILLISECONDS_TO_SETTLE)
        print(f"after {key}:", " | ".join(rows.filter(has_text="create").all_text_contents()))
    photograph(page, pictures, "marks")
    page.keyboard.press("Control+Enter")
    page.wait_for_selector(".notification-toast:has-text('2 proposals are decided')")
    page.wait_for_timeout(MILLISECONDS_TO_SETTLE)
    print("after the marks are applied:", " | ".join(rows.all_text_contents()))


def choose(page: Page, key: str, text: str) -> None:
    """Choose what a quick input finds for a text."""
    page.keyboard.press(key)
    page.wait_for_selector(".quick-input-widget input:visible")
    page.keyboard.type(text)
    page.wait_for_timeout(MILLISECONDS_TO_SETTLE)
    page.wait_for_selector(".quick-input-list .monaco-list-row.focused")
    page.keyboard.press("Enter")


def show(name: str, page: Page, selector: str) -> None:
    """Print the texts of elements."""
    texts: list[Any] = page.locator(selector).all_text_contents()
    print(f"{name}: {' | '.join(text.strip() for text in texts)}")


def photograph(page: Page, folder: Path | None, name: str) -> None:
    """Save a picture of the window, where pictures are wanted."""
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        page.screenshot(path=folder / f"{name}.png")


if __name__ == "__main__":
    main()
