// licenses returns the license of every package in a bundle, by name: the text
// that the package has, else the license that its package.json names. metafile is
// esbuild's list of the bundle's inputs, by path from the working directory. A
// package without a license fails the build.
import { existsSync, readdirSync, readFileSync } from "node:fs";

// packageOf is the folder of the package that an input is of. One that was bundled
// into another's files has none of its own: then it is the other's.
function packageOf(input) {
  const paths = [/^.*node_modules\/(?:@[^/]+\/)?[^/]+\//, /^.*?node_modules\/(?:@[^/]+\/)?[^/]+\//].map((path) => path.exec(input)?.[0]);
  return paths.find((path) => path && existsSync(path + "package.json"));
}

export function licenses(metafile) {
  return [...new Set(Object.keys(metafile.inputs).map(packageOf))].filter(Boolean).sort().map((home) => {
    const { name, version, license, author } = JSON.parse(readFileSync(home + "package.json"));
    const file = readdirSync(home).find((file) => /^licen[cs]e/i.test(file));
    if (!file && !license) throw new Error(`${name} has no license`);
    const text = file ? readFileSync(home + file, "utf8").trim() : `${license} license, ${author?.name ?? author ?? "by its contributors"}`;
    return `${name} ${version}\n\n${text}\n`;
  }).join("\n" + "-".repeat(72) + "\n\n");
}
