// The report, the graph and reviews in panels of the window: HTML files that need no network.

import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as vscode from "vscode";

const OPEN = "ubp.openPlace";
const panels = new Map<string, vscode.WebviewPanel>();

/** Show the HTML file that `write` writes in the panel of this name, beside the editor or where it is. */
export async function showHtml(name: string, title: string, write: (file: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "ubp-"));
  let html: string;
  try {
    const file = join(folder, `${name}.html`);
    await write(file);
    html = linkToCommands(await readFile(file, "utf8"));
  } finally {
    await rm(folder, { recursive: true });
  }
  const shown = panels.get(name);
  const panel =
    shown ??
    vscode.window.createWebviewPanel(`ubp.${name}`, title, vscode.ViewColumn.Active, {
      enableScripts: true,
      enableCommandUris: [OPEN],
      enableFindWidget: true,
      retainContextWhenHidden: true,
      localResourceRoots: [],
    });
  if (shown === undefined) {
    panels.set(name, panel);
    panel.onDidDispose(() => panels.delete(name));
  }
  panel.title = title;
  panel.webview.html = html;
  panel.reveal(undefined, true);
}

/** Whether the panel of this name is open. */
export function isShown(name: string): boolean {
  return panels.has(name);
}

/** HTML in which links to files (`vscode://file/…:12`) open them in this window, wherever it runs. */
export function linkToCommands(html: string): string {
  return html.replace(/href="vscode:\/\/file([^"]+):(\d+)"/g, (_, path: string, line: string) => {
    const place = encodeURIComponent(JSON.stringify([decodeURIComponent(unescapeHtml(path)), Number(line)]));
    return `href="command:${OPEN}?${place}"`;
  });
}

function unescapeHtml(text: string): string {
  return text.replace(/&#(\d+);/g, (_, code: string) => String.fromCodePoint(Number(code))).replace(/&amp;/g, "&");
}

/** Open a file of the workspace at a line, from 1. */
export async function openPlace(path: string, line: number): Promise<void> {
  const uri = vscode.Uri.file(path);
  if (vscode.workspace.getWorkspaceFolder(uri) === undefined) {
    throw new Error(`${path} is not in this workspace.`);
  }
  const position = new vscode.Position(Math.max(0, line - 1), 0);
  await vscode.window.showTextDocument(uri, { selection: new vscode.Range(position, position) });
}
