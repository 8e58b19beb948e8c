// Bundles the playground's editor into ../playground, which the server embeds:
// npm run bundle. The output is committed, so that Go builds need no npm, and
// needs nothing that the page's policy forbids: no eval, no worker, no style
// element.
import { build } from "esbuild";
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { licenses } from "./licenses.js";

const here = new URL(".", import.meta.url), out = new URL("../playground/", here);

// style-mod writes CodeMirror's styles to a style element, which the policy
// forbids, and to adopted style sheets only in a shadow root. All browsers that
// run the bundle have them in a document too.
const elements = "if (!root.head && root.adoptedStyleSheets && win.CSSStyleSheet)";
const adoptedStyles = {
  name: "adopted style sheets",
  setup: ({ onLoad }) => onLoad({ filter: /style-mod\.js$/ }, ({ path }) => {
    const source = readFileSync(path, "utf8");
    if (source.split(elements).length !== 2) throw new Error("style-mod has changed: see build.js");
    return { contents: source.replace(elements, "if (true)"), loader: "js" };
  }),
};

// The first line is the sum of the sources, by which a test finds a bundle that
// is older than they are.
const sum = createHash("sha256");
for (const name of ["build.js", "editor.js", "licenses.js", "package-lock.json"]) sum.update(readFileSync(new URL(name, here)));

const { metafile } = await build({
  entryPoints: { editor: "editor.js" },
  absWorkingDir: here.pathname,
  bundle: true, minify: true, format: "esm", target: "es2022", legalComments: "none", metafile: true,
  outdir: out.pathname, logLevel: "info",
  banner: { js: "// " + sum.digest("hex") + " Licenses: licenses.txt" },
  define: { "process.env.NODE_ENV": '"production"' },
  plugins: [adoptedStyles],
});
writeFileSync(new URL("licenses.txt", out), licenses(metafile));
