// Proposals, made by a real server and decided by the real program: `UBP_PROGRAM` names it.

import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after, before, test } from "node:test";
import { findProgram } from "../src/program.ts";
import { acceptProposal, Decisions, listProposals, rejectProposal, writeReview } from "../src/proposals.ts";
import { listReviewCases, listStalePages } from "../src/waiting.ts";

const PROGRAM = process.env["UBP_PROGRAM"] ?? findProgram(process.cwd(), "") ?? "";
const root = mkdtempSync(join(tmpdir(), "ubp-vscode-"));
const place = { program: PROGRAM, folder: root };

function git(...args: string[]): string {
  return execFileSync("git", args, { cwd: root, encoding: "utf8" }).trim();
}

/** Propose pages, each in a proposal of its own, as an agent does. */
async function propose(pages: readonly string[]): Promise<void> {
  const server = spawn(PROGRAM, ["serve", "--toolsets", "edit"], {
    cwd: root,
    stdio: ["pipe", "pipe", "inherit"],
  });
  const send = (message: object): void => {
    server.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  };
  send({
    id: 0,
    method: "initialize",
    params: {
      protocolVersion: "2025-06-18",
      capabilities: {},
      clientInfo: { name: "agent", version: "1" },
    },
  });
  let next = 0;
  for await (const line of createInterface({ input: server.stdout })) {
    const answer = JSON.parse(line) as { id?: number; result?: { isError?: boolean } };
    assert.notEqual(answer.result?.isError, true, line);
    if (answer.id === 0) {
      send({ method: "notifications/initialized" });
    }
    const filepath = pages[next];
    if (filepath === undefined) {
      break;
    }
    next += 1;
    const fields = { filepath, content: `# ${filepath}\n`, reason: "It is missing." };
    send({ id: next, method: "tools/call", params: { name: "ubp_create_page", arguments: fields } });
  }
  server.kill();
}

before(async () => {
  git("init", "--quiet");
  git("config", "user.name", "Rae Viewer");
  git("config", "user.email", "rae@example.com");
  writeFileSync(join(root, "a.md"), "# A\n");
  git("add", ".");
  git("commit", "--quiet", "-m", "Begin");
  await propose(["b.md", "c.md", "d.md", "e.md"]);
});

after(() => {
  rmSync(root, { recursive: true });
});

test("proposals are listed, shown, accepted and rejected", async () => {
  const [first, second, ...rest] = await listProposals(place);
  assert.ok(first && second);
  assert.deepEqual([first.title, second.title], ["create b.md", "create c.md"]);
  const file = join(root, "review.html");
  await writeReview(place, first, file);
  assert.match(readFileSync(file, "utf8"), /<title>Proposal 1: create b.md<\/title>/);
  await acceptProposal(place, first);
  assert.equal(git("show", "--no-patch", "--format=%an, %cn"), "agent 1, Rae Viewer");
  await rejectProposal(place, second, "Not needed.");
  assert.deepEqual(await listProposals(place), rest);
});

test("marks decide nothing before they are applied, and the last one can be undone", async () => {
  const [first, second] = await listProposals(place);
  assert.ok(first && second);
  const decisions = new Decisions();
  decisions.mark(first, { kind: "accept" });
  decisions.mark(second, { kind: "accept" });
  assert.equal(decisions.undo(), second);
  decisions.mark(second, { kind: "reject", reason: "Not needed." });
  assert.equal((await listProposals(place)).length, 2);
  assert.equal(await decisions.apply(place), 2);
  assert.deepEqual(await listProposals(place), []);
  assert.equal(git("show", "--no-patch", "--format=%an", "--", "d.md"), "agent 1");
});

test("a mark of a proposal that has another edit since is forgotten", async () => {
  const old = { id: 9, title: "", client: "", edits: [{ commit: "a".repeat(40), reason: "" }] };
  const decisions = new Decisions();
  decisions.mark(old, { kind: "accept" });
  decisions.keep([{ ...old, edits: [...old.edits, { commit: "b".repeat(40), reason: "" }] }]);
  assert.equal(decisions.count, 0);
  assert.equal(await decisions.apply(place), 0);
});

test("stale pages and the cases of a change wait with their places", async () => {
  writeFileSync(join(root, "auth.py"), "def login(): ...\n");
  writeFileSync(join(root, "auth.md"), "---\nsource_refs:\n  - auth.py#login\n---\n# Auth\n\n`login` takes nothing.\n");
  git("add", ".");
  git("commit", "--quiet", "-m", "Describe");
  writeFileSync(join(root, "auth.py"), "def login(name): ...\n");
  assert.deepEqual(await listStalePages(place), [
    {
      path: "auth.md",
      level: "possibly stale",
      sources: [{ path: "auth.py#login", line: 3, verdict: "modified" }],
    },
  ]);
  const [found] = await listReviewCases(place);
  assert.deepEqual([found?.path, found?.line], ["auth.md", 7]);
});

test("a failure is told in UBP's words", async () => {
  const gone = { id: 1, title: "", client: "", edits: [{ commit: "a".repeat(40), reason: "" }] };
  await assert.rejects(acceptProposal(place, gone), {
    message: "No open proposal 1. It was accepted by Rae Viewer. List the open ones: ubp proposals",
  });
  await assert.rejects(listProposals({ program: join(root, "none"), folder: root }), /ENOENT/);
});
