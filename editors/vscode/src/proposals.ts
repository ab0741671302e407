// The proposals of agents, as `ubp proposals` lists and decides them. Knows nothing of VS Code.

import { ask, type Place } from "./answers.js";

/** A proposal that waits for review; its edits are listed with the oldest first. */
export interface Proposal {
  readonly id: number;
  readonly title: string;
  readonly client: string;
  readonly edits: readonly { readonly commit: string; readonly reason: string }[];
}

/** The open proposals, the oldest first. */
export async function listProposals(place: Place): Promise<readonly Proposal[]> {
  return (await ask<{ proposals?: readonly Proposal[] }>(place, "proposals")).proposals ?? [];
}

/** Write a proposal's pages before and after, with its effect, to an HTML file. */
export async function writeReview(place: Place, proposal: Proposal, file: string): Promise<void> {
  await ask(place, "proposals", "show", String(proposal.id), "--html", file);
}

/** Commit a proposal to the current branch, unless it has a later edit than those listed. */
export async function acceptProposal(place: Place, proposal: Proposal): Promise<void> {
  const last = proposal.edits.at(-1)?.commit ?? "";
  await ask(place, "proposals", "accept", String(proposal.id), "--at", last);
}

/** Reject a proposal, with a reason for the log. */
export async function rejectProposal(place: Place, proposal: Proposal, reason: string): Promise<void> {
  await ask(place, "proposals", "reject", String(proposal.id), "--reason", reason);
}

/** Accepted, or rejected for a reason. */
export type Decision = { readonly kind: "accept" } | { readonly kind: "reject"; readonly reason: string };

/** The marks of a reader on open proposals; nothing is decided before they are applied. */
export class Decisions {
  private marks: { proposal: Proposal; decision: Decision }[] = [];

  /** The mark of a proposal. */
  of(proposal: Proposal): Decision | undefined {
    return this.marks.find((mark) => mark.proposal.id === proposal.id)?.decision;
  }

  /** The number of marks. */
  get count(): number {
    return this.marks.length;
  }

  /** Mark a proposal, in place of an earlier mark. */
  mark(proposal: Proposal, decision: Decision): void {
    this.marks = [...this.marks.filter((mark) => mark.proposal.id !== proposal.id), { proposal, decision }];
  }

  /** Remove the last mark, and return its proposal. */
  undo(): Proposal | undefined {
    return this.marks.pop()?.proposal;
  }

  /** Forget the marks of proposals that are no longer open, or have another edit since. */
  keep(open: readonly Proposal[]): void {
    const last = (proposal: Proposal): string => `${proposal.id} ${proposal.edits.at(-1)?.commit ?? ""}`;
    const known = new Set(open.map(last));
    this.marks = this.marks.filter((mark) => known.has(last(mark.proposal)));
  }

  /** Decide as it is marked, in that order; after a failure the remaining marks are kept. */
  async apply(place: Place): Promise<number> {
    let count = 0;
    for (let mark = this.marks[0]; mark !== undefined; mark = this.marks[0]) {
      if (mark.decision.kind === "accept") {
        await acceptProposal(place, mark.proposal);
      } else {
        await rejectProposal(place, mark.proposal, mark.decision.reason);
      }
      this.marks.shift();
      count += 1;
    }
    return count;
  }
}
