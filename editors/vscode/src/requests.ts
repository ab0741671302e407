// The commands of the language server, with the types of their answers. Knows nothing of VS Code.

/** What sends a request: the client of an extension, or a connection in a test. */
export interface Requester {
  sendRequest(method: string, params: unknown): Promise<unknown>;
}

/** The levels of the pages of a repository. */
export interface PageCounts {
  readonly folder: string;
  readonly documents: number;
  readonly bound: number;
  readonly fresh: number;
  readonly possibly_stale: number;
  readonly stale: number;
  readonly unknown: number;
}

export interface ProposedSource {
  readonly path: string;
  readonly confidence: number;
  readonly reasons: readonly string[];
}

export interface FoundPage {
  readonly uri: string;
  readonly path: string;
  readonly title: string;
  readonly heading: string;
  readonly line: number;
  readonly text: string;
  readonly score: number;
}

async function execute(client: Requester, command: string, ...args: unknown[]): Promise<unknown> {
  return await client.sendRequest("workspace/executeCommand", { command, arguments: args });
}

/** Acknowledge a page; false: none of its sources has drifted. */
export async function acknowledge(client: Requester, uri: string): Promise<boolean> {
  return (await execute(client, "ubp.acknowledge", uri)) === true;
}

/** The sources that a page seems to describe, best first. */
export async function proposeSources(client: Requester, uri: string): Promise<ProposedSource[]> {
  return (await execute(client, "ubp.proposeSources", uri)) as ProposedSource[];
}

/** Write sources into a page's front matter. */
export async function bind(client: Requester, uri: string, sources: string[]): Promise<boolean> {
  return (await execute(client, "ubp.bind", uri, sources)) === true;
}

/** The pages that match a query best. */
export async function search(
  client: Requester,
  query: string,
  limit: number,
): Promise<FoundPage[]> {
  return (await execute(client, "ubp.search", query, limit)) as FoundPage[];
}

/** The levels of the pages, by repository. */
export async function countPages(client: Requester): Promise<PageCounts[]> {
  return (await execute(client, "ubp.status")) as PageCounts[];
}

/** A status bar's text and its tooltip; undefined where no page lists sources. */
export function describeCounts(
  counts: readonly PageCounts[],
): { text: string; tooltip: string } | undefined {
  const sum = (key: "bound" | "fresh" | "possibly_stale" | "stale" | "unknown"): number =>
    counts.reduce((total, repository) => total + repository[key], 0);
  const bound = sum("bound");
  if (bound === 0) {
    return undefined;
  }
  const percent = Math.floor((100 * sum("fresh")) / bound);
  const levels = (["fresh", "possibly_stale", "stale", "unknown"] as const)
    .filter((key) => sum(key) > 0)
    .map((key) => `${sum(key)} ${key.replace("_", " ")}`);
  return {
    text: `${percent}% fresh`,
    tooltip: `Of ${bound} pages that list sources: ${levels.join(", ")}`,
  };
}
