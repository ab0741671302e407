// The proposals of agents, as `ubp proposals` lists and decides them. Knows nothing of VS Code.

import { execFile } from "node:child_process";
import { promisify } from "node:util";

const run = promisify(execFile);
const MAX_BYTES = 64 * 1024 * 1024;

/** A proposal that waits for review; its edits are listed with the oldest first. */
export interface Proposal {
  readonly id: number;
  readonly title: string;
  readonly client: string;
  readonly edits: readonly { readonly commit: string; readonly reason: string }[];
}

/** A program and the folder in which it is started. */
export interface Place {
  readonly program: string;
  readonly folder: string;
}

interface Answer {
  readonly proposals?: readonly Proposal[];
  readonly error?: { readonly message: string; readonly cause: string; readonly hint: string };
}

async function ask(place: Place, ...args: string[]): Promise<Answer> {
  const command = ["proposals", ...args, "--json"];
  try {
    const { stdout } = await run(place.program, command, { cwd: place.folder, maxBuffer: MAX_BYTES });
    return JSON.parse(stdout) as Answer;
  } catch (error) {
    throw new Error(readError(error), { cause: error });
  }
}

/** What UBP says about a failure, else what the system says. */
function readError(error: unknown): string {
  const { stdout = "", message = "" } = error as { stdout?: string; message?: string };
  try {
    const refused = (JSON.parse(stdout) as Answer).error;
    return [refused?.message, refused?.cause, refused?.hint].filter(Boolean).join(" ") || message;
  } catch {
    return message;
  }
}

/** The open proposals, the oldest first. */
export async function listProposals(place: Place): Promise<readonly Proposal[]> {
  return (await ask(place)).proposals ?? [];
}

/** Write a proposal's pages before and after, with its effect, to an HTML file. */
export async function writeReview(place: Place, proposal: Proposal, file: string): Promise<void> {
  await ask(place, "show", String(proposal.id), "--html", file);
}

/** Commit a proposal to the current branch, unless it has a later edit than those listed. */
export async function acceptProposal(place: Place, proposal: Proposal): Promise<void> {
  const last = proposal.edits.at(-1)?.commit ?? "";
  await ask(place, "accept", String(proposal.id), "--at", last);
}

/** Reject a proposal, with a reason for the log. */
export async function rejectProposal(place: Place, proposal: Proposal, reason: string): Promise<void> {
  await ask(place, "reject", String(proposal.id), "--reason", reason);
}
