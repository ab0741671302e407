// The extension: starts the language server and offers UBP's commands.

import { execFile } from "node:child_process";
import { promisify } from "node:util";
import * as vscode from "vscode";
import { LanguageClient, type LanguageClientOptions } from "vscode-languageclient/node";
import { findProgram, INSTALL_COMMAND, probe } from "./program.js";
import type { Place } from "./answers.js";
import { markSources } from "./marks.js";
import { isShown, openPlace, showHtml } from "./panels.js";
import { type Decision, type Proposal, writeReview } from "./proposals.js";
import * as requests from "./requests.js";
import { Documentation, type Node, type ProposalNode } from "./tree.js";

const run = promisify(execFile);
const SEARCH_LIMIT = 20;
// A page that was just saved is assessed before its level is counted.
const COUNT_DELAY_MS = 1000;

let client: LanguageClient | undefined;
let program: string | undefined;
let log: vscode.LogOutputChannel;
let documentation: Documentation;
let view: vscode.TreeView<Node>;

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  log = vscode.window.createOutputChannel("UBP", { log: true });
  const status = vscode.window.createStatusBarItem("ubp.status", vscode.StatusBarAlignment.Left);
  status.name = "UBP";
  status.command = "ubp.openReport";
  let timer: NodeJS.Timeout | undefined;
  const count = (): void => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      void showCounts(status);
      if (view.visible) {
        void refresh();
      }
    }, COUNT_DELAY_MS);
  };
  documentation = new Documentation(place);
  view = vscode.window.createTreeView("ubp.documentation", { treeDataProvider: documentation });
  const register = (name: string, work: (...args: never[]) => Promise<void>): vscode.Disposable =>
    vscode.commands.registerCommand(name, async (...args: never[]) => {
      try {
        await work(...args);
      } catch (error) {
        void vscode.window.showErrorMessage(`UBP: ${messageOf(error)}`);
      }
    });
  context.subscriptions.push(
    log,
    status,
    view,
    markSources(context),
    view.onDidChangeVisibility(({ visible }) => {
      if (visible) {
        count();
      }
    }),
    view.onDidChangeSelection(({ selection }) => {
      void vscode.commands.executeCommand("setContext", "ubp.selected", selection[0]?.kind);
    }),
    register("ubp.acknowledgePage", acknowledgePage),
    register("ubp.bindPage", bindPage),
    register("ubp.searchPages", searchPages),
    register("ubp.reviewProposals", reviewProposals),
    register("ubp.openPlace", openPlace),
    register("ubp.openReport", () =>
      showPage("report", "Documentation report", (file) => ["report", "--editor", "vscode", "--html", file]),
    ),
    register("ubp.openGraph", () =>
      showPage("graph", "Graph of pages", (file) => ["get-graph", "--format", "html", "--output", file]),
    ),
    register("ubp.refresh", refresh),
    register("ubp.openProposal", openProposal),
    register("ubp.acceptProposal", (node?: Node) => decide(node, () => Promise.resolve({ kind: "accept" }))),
    register("ubp.rejectProposal", (node?: Node) => decide(node, askForReason)),
    register("ubp.skipProposal", () => goOn(selectedProposal())),
    register("ubp.undoDecision", undoDecision),
    register("ubp.applyDecisions", applyDecisions),
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
        const settings = { ubp: serverSettings() };
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

function place(): Place | undefined {
  const root = folder();
  return program === undefined || root === undefined ? undefined : { program, folder: root };
}

function requiredPlace(): Place {
  const found = place();
  if (found === undefined) {
    throw new Error("UBP is not installed.");
  }
  return found;
}

function setting<T>(name: string, fallback: T): T {
  return vscode.workspace.getConfiguration("ubp").get<T>(name, fallback);
}

function serverSettings(): object {
  const sources = setting<boolean>("diagnostics.sources", true);
  return { diagnostics: { sources, workspace: setting<boolean>("diagnostics.workspace", true) } };
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
    initializationOptions: serverSettings(),
    outputChannel: log,
    middleware: { executeCommand: runCommand },
  };
  const server = { command: program, args: ["lsp"], options: { cwd: root } };
  client = new LanguageClient("ubp", "UBP", server, options);
  await client.start();
}

/** Show the links to a heading as the editor shows references; all other commands are the server's. */
async function runCommand(
  command: string,
  args: unknown[],
  next: (command: string, args: unknown[]) => vscode.ProviderResult<unknown>,
): Promise<unknown> {
  if (command !== "ubp.showReferences") {
    return await next(command, args);
  }
  const uri = vscode.Uri.parse(args[0] as string);
  const position = new vscode.Position(args[1] as number, 0);
  const found = await vscode.commands.executeCommand("vscode.executeReferenceProvider", uri, position);
  return await vscode.commands.executeCommand("editor.action.showReferences", uri, position, found);
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

async function acknowledgePage(node?: Node): Promise<void> {
  const { client, uri } = node?.kind === "page" ? requiredPage(node.page.path) : required();
  if (!(await requests.acknowledge(client, uri))) {
    void vscode.window.showInformationMessage("No source of this page has drifted.");
  }
}

function requiredPage(path: string): { client: LanguageClient; uri: string } {
  if (client === undefined) {
    throw new Error("The language server is not running.");
  }
  const uri = vscode.Uri.joinPath(vscode.Uri.file(requiredPlace().folder), path);
  return { client, uri: client.code2ProtocolConverter.asUri(uri) };
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

async function refresh(): Promise<void> {
  try {
    const waiting = await documentation.refresh();
    view.badge = waiting > 0 ? { value: waiting, tooltip: `${waiting} to review` } : undefined;
  } catch (error) {
    log.warn(messageOf(error));
  }
}

async function showPage(name: string, title: string, args: (file: string) => string[]): Promise<void> {
  const found = requiredPlace();
  await showHtml(name, title, async (file) => {
    await run(found.program, args(file), { cwd: found.folder });
  });
}

// Proposals: marked in the view, decided when the marks are applied.

const REVIEW = "proposal";

async function reviewProposals(): Promise<void> {
  requiredPlace();
  await refresh();
  const first = documentation.proposals[0];
  if (first === undefined) {
    void vscode.window.showInformationMessage("No proposal waits for review.");
    return;
  }
  await vscode.commands.executeCommand("ubp.documentation.focus");
  await view.reveal(first, { select: true, focus: true });
  await openProposal(first);
}

async function openProposal(node: ProposalNode): Promise<void> {
  const { proposal } = node;
  const title = `Proposal ${proposal.id}`;
  await showHtml(REVIEW, title, (file) => writeReview(requiredPlace(), proposal, file));
  await vscode.commands.executeCommand("ubp.documentation.focus");
}

function selectedProposal(): ProposalNode | undefined {
  return view.selection.find((node): node is ProposalNode => node.kind === "proposal");
}

async function askForReason(proposal: Proposal): Promise<Decision | undefined> {
  const title = `Why is proposal ${proposal.id} rejected?`;
  const reason = (await vscode.window.showInputBox({ title }))?.trim();
  return reason ? { kind: "reject", reason } : undefined;
}

async function decide(
  node: Node | undefined,
  choose: (proposal: Proposal) => Promise<Decision | undefined>,
): Promise<void> {
  const chosen = node?.kind === "proposal" ? node : selectedProposal();
  const decision = chosen && (await choose(chosen.proposal));
  if (chosen !== undefined && decision !== undefined) {
    documentation.decisions.mark(chosen.proposal, decision);
    documentation.redraw();
    await goOn(chosen);
  }
}

/** Select the next proposal, and show it if the last one was shown. */
async function goOn(from: ProposalNode | undefined): Promise<void> {
  await select(from && (documentation.proposalAfter(from.proposal) ?? documentation.proposalNode(from.proposal)));
}

async function select(node: ProposalNode | undefined): Promise<void> {
  if (node !== undefined) {
    await view.reveal(node, { select: true, focus: true });
    if (isShown(REVIEW)) {
      await openProposal(node);
    }
  }
}

async function undoDecision(): Promise<void> {
  const undone = documentation.decisions.undo();
  documentation.redraw();
  await select(undone && documentation.proposalNode(undone));
}

async function applyDecisions(): Promise<void> {
  const count = await documentation.decisions.apply(requiredPlace()).finally(refresh);
  void vscode.window.showInformationMessage(`${count} ${count === 1 ? "proposal is" : "proposals are"} decided.`);
}

function firstLine(text: string): string {
  return text.replace(/\n[^]*/, "");
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
