// What the extension asks the real server, without VS Code: `UBP_PROGRAM` names the program.

import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import {
  createProtocolConnection,
  type ProtocolConnection,
  StreamMessageReader,
  StreamMessageWriter,
  type WorkspaceEdit,
} from "vscode-languageserver-protocol/node";
import { findProgram, probe, readInstallCommand } from "../src/program.ts";
import {
  acknowledge,
  bind,
  countPages,
  describeCounts,
  proposeSources,
  type Requester,
  search,
} from "../src/requests.ts";

const PROGRAM = process.env["UBP_PROGRAM"] ?? findProgram(process.cwd(), "");
const root = mkdtempSync(join(tmpdir(), "ubp-vscode-"));
const applied: WorkspaceEdit[] = [];
let connection: ProtocolConnection;
let client: Requester;

function uri(path: string): string {
  return pathToFileURL(join(root, path)).href;
}

function git(...args: string[]): void {
  const author = ["-c", "user.name=a", "-c", "user.email=a@example.com"];
  execFileSync("git", [...author, ...args], { cwd: root });
}

before(async () => {
  assert.ok(PROGRAM, "ubp is not installed");
  mkdirSync(join(root, "docs"));
  writeFileSync(join(root, "auth.py"), "def login(): ...\n");
  writeFileSync(
    join(root, "docs/auth.md"),
    "---\nsource_refs:\n  - auth.py\n---\n# Auth\n\nHow a login works.\n",
  );
  writeFileSync(join(root, "docs/new.md"), "# New\n\nSee `auth.py` and its `login`.\n");
  git("init", "--quiet");
  git("add", ".");
  git("commit", "--quiet", "-m", "Begin");
  writeFileSync(join(root, "auth.py"), "def login(name): ...\n");
  const child = spawn(PROGRAM, ["lsp"], { cwd: root, stdio: ["pipe", "pipe", "inherit"] });
  connection = createProtocolConnection(
    new StreamMessageReader(child.stdout),
    new StreamMessageWriter(child.stdin),
  );
  connection.onRequest("workspace/applyEdit", ({ edit }: { edit: WorkspaceEdit }) => {
    applied.push(edit);
    return { applied: true };
  });
  connection.listen();
  client = { sendRequest: (method, params) => connection.sendRequest(method, params) };
  await client.sendRequest("initialize", {
    processId: process.pid,
    rootUri: pathToFileURL(root).href,
    capabilities: {},
  });
  await connection.sendNotification("initialized", {});
});

after(async () => {
  await connection.sendRequest("shutdown");
  await connection.sendNotification("exit");
  connection.dispose();
  rmSync(root, { recursive: true });
});

test("the share of fresh pages is counted", async () => {
  const counts = await countPages(client);
  assert.deepEqual(describeCounts(counts), {
    text: "0% fresh",
    tooltip: "Of 1 pages that list sources: 1 possibly stale",
  });
  assert.equal(describeCounts([]), undefined);
});

test("a page is acknowledged by an edit that pins its source", async () => {
  assert.equal(await acknowledge(client, uri("docs/auth.md")), true);
  const edits = Object.values(applied.pop()?.changes ?? {}).flat();
  assert.match(edits[0]?.newText ?? "", /blob: [0-9a-f]{7}/);
  assert.equal(await acknowledge(client, uri("docs/new.md")), false);
});

test("sources are proposed and bound", async () => {
  const [first] = await proposeSources(client, uri("docs/new.md"));
  assert.equal(first?.path, "auth.py");
  assert.equal(await bind(client, uri("docs/new.md"), ["auth.py"]), true);
  assert.deepEqual(Object.keys(applied.pop()?.changes ?? {}), [uri("docs/new.md")]);
});

test("pages are found", async () => {
  const [first] = await search(client, "how does login work", 5);
  assert.equal(first?.path, "docs/auth.md");
});

test("the program of the folder's environment is preferred", () => {
  const bin = join(root, ".venv", process.platform === "win32" ? "Scripts" : "bin");
  mkdirSync(bin, { recursive: true });
  const own = join(bin, process.platform === "win32" ? "ubp.exe" : "ubp");
  writeFileSync(own, "");
  chmodSync(own, 0o755);
  assert.equal(findProgram(root, ""), own);
  assert.equal(findProgram(root, "/opt/ubp"), "/opt/ubp");
  assert.equal(findProgram(tmpdir(), "", { PATH: "" }), undefined);
});

test("a program that cannot serve says how to change that", async () => {
  assert.ok(PROGRAM);
  assert.equal((await probe(PROGRAM, root)).isReady, true);
  assert.equal((await probe(join(root, "none"), root)).isReady, false);
  assert.equal(
    readInstallCommand("error: ...\nhint:  Install it: pip install 'ubp[lsp]'\n"),
    "pip install 'ubp[lsp]'",
  );
});
