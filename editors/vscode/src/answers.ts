// What `ubp … --json` answers. Knows nothing of VS Code.

import { execFile } from "node:child_process";
import { promisify } from "node:util";

const run = promisify(execFile);
const MAX_BYTES = 64 * 1024 * 1024;

/** A program and the folder in which it is started. */
export interface Place {
  readonly program: string;
  readonly folder: string;
}

interface Refusal {
  readonly error?: { readonly message: string; readonly cause: string; readonly hint: string };
}

/** The record of a command; findings (exit status 1) are no failure. */
export async function ask<Record>(place: Place, ...args: string[]): Promise<Record> {
  try {
    const { stdout } = await run(place.program, [...args, "--json"], { cwd: place.folder, maxBuffer: MAX_BYTES });
    return JSON.parse(stdout) as Record;
  } catch (error) {
    const { stdout = "", message = "" } = error as { stdout?: string; message?: string };
    const record = parse(stdout) as (Record & Refusal) | undefined;
    if (record !== undefined && record.error === undefined) {
      return record;
    }
    const refused = record?.error;
    const text = [refused?.message, refused?.cause, refused?.hint].filter(Boolean).join(" ");
    throw new Error(text || message, { cause: error });
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
