// The extension: starts the language server and offers UBP's commands.

import { execFile } from "node:child_process";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import * as vscode from "vscode";
import { LanguageClient, type LanguageClientOptions } from "vscode-languageclient/node";
import { findProgram, INSTALL_COMMAND, probe } from "./program.js";
import { acceptProposal, listProposals, type Proposal, rejectProposal, writeReview } from "./proposals.js";
import * as requests from "./requests.js";

const run = promisify(execFile);
const SEARCH_LIMIT = 20;
// A page that was just saved is assessed before its level is counted.
const COUNT_DELAY_MS = 1000;

let client: LanguageClient | undefined;
let program: string | undefined;
let log: vscode.LogOutputChannel;

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  log = vscode.window.createOutputChannel("UBP", { log: true });
  const status = vscode.window.createStatusBarItem("ubp.status", vscode.StatusBarAlignment.Left);
  status.name = "UBP";
  status.command = "ubp.openReport";
  let timer: NodeJS.Timeout | undefined;
  const count = (): void => {
    clearTimeout(timer);
    timer = setTimeout(() => void showCounts(status), COUNT_DELAY_MS);
  };
  const register = (name: string, work: () => Promise<void>): vscode.Disposable =>
    vscode.commands.registerCommand(name, async () => {
      try {
        await work();
      } catch (error) {
        void vscode.window.showErrorMessage(`UBP: ${messageOf(error)}`);
      }
    });
  context.subscriptions.push(
    log,
    status,
    register("ubp.acknowledgePage", acknowledgePage),
    register("ubp.bindPage", bindPage),
    register("ubp.searchPages", searchPages),
    register("ubp.reviewProposals", reviewProposals),
    register("ubp.openReport", () => openPage("report.html", (file) => ["report", "--graph", "--html", file])),
    register("ubp.openGraph", () =>
      openPage("graph.html", (file) => ["get-graph", "--format", "html", "--output", file]),
    ),
    register("ubp.restart", async () => {
      await stop();
      await start();
      count();
    }),
    vscode.workspace.onDidSaveTextDocument(count),
    vscode.workspace.onDidChangeConfiguration(async (change) => {
      if (change.affectsConfiguration("ubp.path")) {
        await vscode.commands.executeCommand("ubp.restart");
      } else if (change.affectsConfiguration("ubp")) {
        const settings = { ubp: { diagnostics: { sources: setting<boolean>("diagnostics.sources", true) } } };
        await client?.sendNotification("workspace/didChangeConfiguration", { settings });
      }
    }),
    vscode.lm.registerMcpServerDefinitionProvider("ubp", {
      provideMcpServerDefinitions: () => mcpServers(),
    }),
    {
      dispose: () => {
        clearTimeout(timer);
      },
    },
  );
  await start();
  count();
}

export async function deactivate(): Promise<void> {
  await stop();
}

function folder(): string | undefined {
  return vscode.workspace.workspaceFolders?.[0]?.uri.fsPath;
}

function setting<T>(name: string, fallback: T): T {
  return vscode.workspace.getConfiguration("ubp").get<T>(name, fallback);
}

async function start(): Promise<void> {
  const root = folder();
  if (root === undefined) {
    return;
  }
  program = findProgram(root, setting<string>("path", ""));
  if (program === undefined) {
    void offerInstallation("UBP is not installed.", INSTALL_COMMAND);
    return;
  }
  const found = await probe(program, root);
  if (!found.isReady) {
    log.error(found.message);
    void offerInstallation(firstLine(found.message), found.installCommand);
    return;
  }
  const options: LanguageClientOptions = {
    documentSelector: [{ scheme: "file" }],
    initializationOptions: { diagnostics: { sources: setting<boolean>("diagnostics.sources", true) } },
    outputChannel: log,
  };
  const server = { command: program, args: ["lsp"], options: { cwd: root } };
  client = new LanguageClient("ubp", "UBP", server, options);
  await client.start();
}

async function stop(): Promise<void> {
  await client?.stop();
  client = undefined;
}

async function offerInstallation(message: string, command: string | undefined): Promise<void> {
  const install = "Install";
  const choices = command === undefined ? [] : [install];
  const chosen = await vscode.window.showWarningMessage(`UBP: ${message}`, ...choices);
  if (chosen === install && command !== undefined) {
    const terminal = vscode.window.createTerminal("Install UBP");
    terminal.show();
    // The user sees the command and decides.
    terminal.sendText(command, false);
  }
}

function mcpServers(): vscode.McpServerDefinition[] {
  const root = folder();
  if (program === undefined || root === undefined || !setting<boolean>("mcp.enabled", true)) {
    return [];
  }
  const definition = new vscode.McpStdioServerDefinition("UBP", program, ["serve"]);
  definition.cwd = vscode.Uri.file(root);
  return [definition];
}

async function showCounts(status: vscode.StatusBarItem): Promise<void> {
  if (client === undefined) {
    return;
  }
  try {
    const shown = requests.describeCounts(await requests.countPages(client));
    if (shown === undefined) {
      status.hide();
    } else {
      status.text = `$(book) ${shown.text}`;
      status.tooltip = shown.tooltip;
      status.show();
    }
  } catch (error) {
    log.warn(messageOf(error));
  }
}

function required(): { client: LanguageClient; uri: string } {
  const editor = vscode.window.activeTextEditor;
  if (client === undefined || editor === undefined) {
    throw new Error("Open a page first.");
  }
  return { client, uri: client.code2ProtocolConverter.asUri(editor.document.uri) };
}

async function acknowledgePage(): Promise<void> {
  const { client, uri } = required();
  if (!(await requests.acknowledge(client, uri))) {
    void vscode.window.showInformationMessage("No source of this page has drifted.");
  }
}

async function bindPage(): Promise<void> {
  const { client, uri } = required();
  const proposed = await requests.proposeSources(client, uri);
  if (proposed.length === 0) {
    void vscode.window.showInformationMessage("No source is proposed for this page.");
    return;
  }
  const items = proposed.map((source) => ({
    label: source.path,
    description: source.confidence.toFixed(2),
    detail: source.reasons.join("; "),
  }));
  const chosen = await vscode.window.showQuickPick(items, {
    canPickMany: true,
    title: "Which of these does the page describe?",
  });
  if (chosen !== undefined && chosen.length > 0) {
    const paths = chosen.map((item) => item.label);
    await requests.bind(client, uri, paths);
  }
}

async function searchPages(): Promise<void> {
  if (client === undefined) {
    throw new Error("The language server is not running.");
  }
  const query = await vscode.window.showInputBox({ title: "Search pages" });
  if (query === undefined || query === "") {
    return;
  }
  const found = await requests.search(client, query, SEARCH_LIMIT);
  const items = found.map((page) => ({
    label: page.title,
    description: [page.path, page.heading].filter((text) => text !== "").join(" > "),
    detail: page.text,
    page,
  }));
  const chosen = await vscode.window.showQuickPick(items, { title: query, matchOnDetail: true });
  if (chosen !== undefined) {
    const position = new vscode.Position(chosen.page.line - 1, 0);
    await vscode.window.showTextDocument(vscode.Uri.parse(chosen.page.uri), {
      selection: new vscode.Range(position, position),
    });
  }
}

async function reviewProposals(): Promise<void> {
  const root = folder();
  if (program === undefined || root === undefined) {
    throw new Error("UBP is not installed.");
  }
  const place = { program, folder: root };
  const proposals = await listProposals(place);
  if (proposals.length === 0) {
    void vscode.window.showInformationMessage("No proposal waits for review.");
    return;
  }
  const items = proposals.map((proposal) => ({
    label: `${proposal.id}: ${proposal.title}`,
    description: proposal.client,
    detail: proposal.edits.map((edit) => firstLine(edit.reason)).join("; "),
    proposal,
  }));
  const chosen = await vscode.window.showQuickPick(items, { title: "Proposals of agents", matchOnDetail: true });
  if (chosen !== undefined) {
    const file = await newFile(`proposal-${chosen.proposal.id}.html`);
    await writeReview(place, chosen.proposal, file);
    await vscode.env.openExternal(vscode.Uri.file(file));
    await decide(place, chosen.proposal);
  }
}

async function decide(place: { program: string; folder: string }, proposal: Proposal): Promise<void> {
  const accept = "Accept";
  const reject = "Reject…";
  const answer = await vscode.window.showInformationMessage(
    `Proposal ${proposal.id}: ${proposal.title}. Its review is open in the browser.`,
    accept,
    reject,
  );
  if (answer === accept) {
    await acceptProposal(place, proposal);
    void vscode.window.showInformationMessage(`Proposal ${proposal.id} is committed to the current branch.`);
  } else if (answer === reject) {
    const reason = await vscode.window.showInputBox({ title: `Why is proposal ${proposal.id} rejected?` });
    if (reason !== undefined && reason.trim() !== "") {
      await rejectProposal(place, proposal, reason);
    }
  }
}

async function newFile(name: string): Promise<string> {
  return join(await mkdtemp(join(tmpdir(), "ubp-")), name);
}

async function openPage(name: string, args: (file: string) => string[]): Promise<void> {
  const root = folder();
  if (program === undefined || root === undefined) {
    throw new Error("UBP is not installed.");
  }
  const file = await newFile(name);
  await run(program, args(file), { cwd: root });
  await vscode.env.openExternal(vscode.Uri.file(file));
}

function firstLine(text: string): string {
  return text.replace(/\n[^]*/, "");
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
