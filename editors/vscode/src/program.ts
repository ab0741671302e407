// Where the program `ubp` is, and whether it can serve an editor. Knows nothing of VS Code.

import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";

/** A program that serves, or why it does not and the command that would change that. */
export interface Probe {
  readonly program: string;
  readonly isReady: boolean;
  readonly message: string;
  readonly installCommand: string | undefined;
}

const WINDOWS = process.platform === "win32";
const NAME = WINDOWS ? "ubp.exe" : "ubp";
const ENVIRONMENTS = [".venv", "venv", ".env", "env"];

/** The program that a setting names, else that of the folder's environment, else of PATH. */
export function findProgram(
  folder: string,
  setting: string,
  environment: NodeJS.ProcessEnv = process.env,
): string | undefined {
  if (setting !== "") {
    return setting;
  }
  const inFolder = ENVIRONMENTS.map((name) =>
    join(folder, name, WINDOWS ? "Scripts" : "bin", NAME),
  );
  const onPath = (environment["PATH"] ?? "")
    .split(delimiter)
    .filter((directory) => directory !== "")
    .map((directory) => join(directory, NAME));
  return [...inFolder, ...onPath].find((path) => existsSync(path));
}

/** Start the language server and end it at once: it says what it lacks. */
export async function probe(program: string, folder: string): Promise<Probe> {
  return await new Promise((resolve) => {
    let message = "";
    const child = spawn(program, ["lsp"], { cwd: folder, stdio: ["ignore", "ignore", "pipe"] });
    child.stderr.setEncoding("utf8");
    child.stderr.on("data", (text: string) => {
      message += text;
    });
    child.on("error", (error) => {
      resolve({ program, isReady: false, message: error.message, installCommand: undefined });
    });
    child.on("close", (status) => {
      const isReady = status === 0 || status === 1;
      resolve({
        program,
        isReady,
        message: message.trim(),
        installCommand: isReady ? undefined : readInstallCommand(message),
      });
    });
  });
}

/** The command in UBP's hint: `Install it: …`. */
export function readInstallCommand(message: string): string | undefined {
  return /Install it: (.+)/.exec(message)?.[1]?.trim();
}

/** How to install UBP where it is nowhere. */
export const INSTALL_COMMAND = 'python3 -m pip install "ubp[lsp,full,symbols]"';
