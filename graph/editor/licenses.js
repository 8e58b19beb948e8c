// licenses returns the license texts of every package in a bundle, by name.
// metafile is esbuild's list of the bundle's inputs, folder holds node_modules.
// A package without a license file fails the build.
import { readdirSync, readFileSync } from "node:fs";

export function licenses(metafile, folder) {
  const names = Object.keys(metafile.inputs).map((input) => /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(input)?.[1]);
  return [...new Set(names)].filter(Boolean).sort().map((name) => {
    const home = new URL(`node_modules/${name}/`, folder);
    const file = readdirSync(home).find((file) => /^licen[cs]e/i.test(file));
    if (!file) throw new Error(`${name} has no license file`);
    const { version } = JSON.parse(readFileSync(new URL("package.json", home)));
    return `${name} ${version}\n\n${readFileSync(new URL(file, home), "utf8").trim()}\n`;
  }).join("\n" + "-".repeat(72) + "\n\n");
}
