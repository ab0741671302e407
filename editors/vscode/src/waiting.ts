// The pages that wait for somebody: stale ones, and those that the change at hand may make wrong.

import { ask, type Place } from "./answers.js";

/** A source that drifted: where the page lists it, and what became of it. */
export interface DriftedSource {
  readonly path: string;
  readonly line: number;
  readonly verdict: string;
}

/** A page of which sources drifted. */
export interface StalePage {
  readonly path: string;
  readonly level: string;
  readonly sources: readonly DriftedSource[];
}

/** A page that a change may make wrong, with the sentence that shows it. */
export interface ReviewCase {
  readonly path: string;
  readonly line: number;
  readonly sentence: string;
  readonly probability: number;
}

interface StaleRecord {
  readonly documents: readonly {
    readonly filepath: string;
    readonly staleness: string;
    readonly references: readonly {
      readonly source_path: string;
      readonly fragment: string | null;
      readonly line: number;
      readonly verdict: string;
    }[];
  }[];
}

interface ReviewRecord {
  readonly cases: readonly {
    readonly filepath: string;
    readonly line: number;
    readonly sentence: string;
    readonly probability: number;
  }[];
}

/** The pages that are stale or possibly stale, worst first. */
export async function listStalePages(place: Place): Promise<readonly StalePage[]> {
  const { documents } = await ask<StaleRecord>(place, "stale");
  return documents
    .filter((page) => page.staleness === "stale" || page.staleness === "possibly_stale")
    .map((page) => ({
      path: page.filepath,
      level: page.staleness.replace("_", " "),
      sources: page.references
        .filter((source) => source.verdict !== "fresh")
        .map((source) => ({
          path: source.source_path + (source.fragment ?? ""),
          line: source.line,
          verdict: source.verdict.replace("_", " "),
        })),
    }));
}

/** The pages that the changes of the work tree may make wrong, the most probable first. */
export async function listReviewCases(place: Place): Promise<readonly ReviewCase[]> {
  const { cases } = await ask<ReviewRecord>(place, "review");
  return cases.map(({ filepath, line, sentence, probability }) => ({ path: filepath, line, sentence, probability }));
}
