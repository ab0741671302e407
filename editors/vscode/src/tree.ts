// The view "Documentation": stale pages, pages that a change may make wrong, and proposals.

import { join } from "node:path";
import * as vscode from "vscode";
import type { Place } from "./answers.js";
import { Decisions, listProposals, type Proposal } from "./proposals.js";
import { type DriftedSource, listReviewCases, listStalePages, type ReviewCase, type StalePage } from "./waiting.js";

export type Node =
  | { readonly kind: "section"; readonly label: string; readonly icon: string; readonly children: readonly Node[] }
  | { readonly kind: "page"; readonly page: StalePage; readonly children: readonly Node[] }
  | { readonly kind: "source"; readonly page: string; readonly source: DriftedSource }
  | { readonly kind: "case"; readonly found: ReviewCase }
  | { readonly kind: "proposal"; readonly proposal: Proposal };

export type ProposalNode = Extract<Node, { kind: "proposal" }>;

export class Documentation implements vscode.TreeDataProvider<Node> {
  readonly decisions = new Decisions();
  private readonly changed = new vscode.EventEmitter<Node | undefined>();
  readonly onDidChangeTreeData = this.changed.event;
  private sections: readonly Node[] = [];

  constructor(private readonly place: () => Place | undefined) {}

  /** Ask anew, and return how many cases and proposals wait. */
  async refresh(): Promise<number> {
    const place = this.place();
    if (place === undefined) {
      return 0;
    }
    const [pages, cases, proposals] = await Promise.all([
      listStalePages(place),
      listReviewCases(place),
      listProposals(place),
    ]);
    this.decisions.keep(proposals);
    this.sections = [
      section("Stale", "history", pages.map(pageNode)),
      section("Review", "git-pull-request", cases.map((found): Node => ({ kind: "case", found }))),
      section("Proposals", "comment-discussion", proposals.map((proposal): Node => ({ kind: "proposal", proposal }))),
    ];
    this.redraw();
    return cases.length + proposals.length;
  }

  /** Show marks as they are. */
  redraw(): void {
    this.changed.fire(undefined);
    void vscode.commands.executeCommand("setContext", "ubp.decisions", this.decisions.count);
  }

  /** The proposals in the order of the view. */
  get proposals(): readonly ProposalNode[] {
    return this.sections.flatMap(children).filter((node): node is ProposalNode => node.kind === "proposal");
  }

  /** The node of a proposal, which each refresh makes anew. */
  proposalNode(proposal: Proposal): ProposalNode | undefined {
    return this.proposals.find((node) => node.proposal.id === proposal.id);
  }

  /** The node after that of a proposal. */
  proposalAfter(proposal: Proposal): ProposalNode | undefined {
    const all = this.proposals;
    return all[all.findIndex((node) => node.proposal.id === proposal.id) + 1];
  }

  getChildren(node?: Node): Node[] {
    return [...(node === undefined ? this.sections.filter((found) => children(found).length > 0) : children(node))];
  }

  getParent(node: Node): Node | undefined {
    const inner = this.sections.flatMap(children);
    return [...this.sections, ...inner].find((outer) => children(outer).includes(node));
  }

  getTreeItem(node: Node): vscode.TreeItem {
    const item = this.describe(node);
    item.contextValue = node.kind;
    return item;
  }

  private describe(node: Node): vscode.TreeItem {
    switch (node.kind) {
      case "section": {
        const item = new vscode.TreeItem(node.label, vscode.TreeItemCollapsibleState.Expanded);
        item.description = String(node.children.length);
        item.iconPath = new vscode.ThemeIcon(node.icon);
        return item;
      }
      case "page": {
        const item = new vscode.TreeItem(node.page.path, vscode.TreeItemCollapsibleState.Collapsed);
        item.description = node.page.level;
        item.resourceUri = this.uri(node.page.path);
        item.command = this.opening(node.page.path, node.page.sources[0]?.line ?? 1);
        return item;
      }
      case "source": {
        const item = new vscode.TreeItem(node.source.path);
        item.description = node.source.verdict;
        item.command = this.opening(node.page, node.source.line);
        return item;
      }
      case "case": {
        const item = new vscode.TreeItem(node.found.path);
        item.description = `${Math.round(100 * node.found.probability)}% ${node.found.sentence}`;
        item.tooltip = node.found.sentence;
        item.resourceUri = this.uri(node.found.path);
        item.command = this.opening(node.found.path, node.found.line);
        return item;
      }
      case "proposal": {
        const { proposal } = node;
        const item = new vscode.TreeItem(`${proposal.id}: ${proposal.title}`);
        const mark = this.decisions.of(proposal);
        const reasons = proposal.edits.map((edit) => edit.reason.replace(/\n[^]*/, ""));
        item.description = mark ? MARKS[mark.kind].text : proposal.client;
        item.iconPath = new vscode.ThemeIcon(mark ? MARKS[mark.kind].icon : "circle-outline");
        item.tooltip = [proposal.client, ...reasons].join("\n");
        item.command = { command: "ubp.openProposal", title: "Open", arguments: [node] };
        return item;
      }
    }
  }

  private uri(path: string): vscode.Uri {
    return vscode.Uri.file(join(this.place()?.folder ?? "", path));
  }

  private opening(path: string, line: number): vscode.Command {
    return { command: "ubp.openPlace", title: "Open", arguments: [this.uri(path).fsPath, line] };
  }
}

const MARKS = {
  accept: { text: "accepted when applied", icon: "pass-filled" },
  reject: { text: "rejected when applied", icon: "error" },
} as const;

function section(label: string, icon: string, children: readonly Node[]): Node {
  return { kind: "section", label, icon, children };
}

function pageNode(page: StalePage): Node {
  const sources = page.sources.map((source): Node => ({ kind: "source", page: page.path, source }));
  return { kind: "page", page, children: sources };
}

function children(node: Node): readonly Node[] {
  return node.kind === "section" || node.kind === "page" ? node.children : [];
}
