// Bundle the extension, with the licences of what the bundle contains.

import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";

const { metafile } = await build({
  entryPoints: ["src/extension.ts"],
  outfile: "dist/extension.cjs",
  bundle: true,
  external: ["vscode"],
  format: "cjs",
  metafile: true,
  minify: true,
  platform: "node",
  target: "node20",
});

const folders = new Set(
  Object.keys(metafile.inputs)
    .map((file) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0])
    .filter((folder) => folder !== undefined),
);
const notices = [...folders].sort().map((folder) => {
  const { name, version } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
  if (file === undefined || !existsSync(join(folder, file))) {
    throw new Error(`${name} has no licence file`);
  }
  return `${name} ${version}\n\n${readFileSync(join(folder, file), "utf8").trim()}\n`;
});
writeFileSync("dist/THIRD-PARTY-LICENSES.txt", notices.join(`\n${"-".repeat(72)}\n\n`));
