// Bundles GraphiQL into dist, which the server embeds: npm ci && npm run build.
// Everything the page loads is in dist, and nothing of it needs more than the
// server's own policy allows: no eval, no worker, no style element.
import { build } from "esbuild";
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { licenses } from "../editor/licenses.js";

const dist = new URL("dist/", import.meta.url);
for (const name of readdirSync(dist)) if (name !== ".gitignore") rmSync(new URL(name, dist));

// GraphiQL's fonts are most of its styles; the system's do as well.
const systemFonts = {
  name: "system fonts",
  setup: ({ onLoad }) => onLoad({ filter: /\.css$/ }, ({ path }) => ({
    contents: readFileSync(path, "utf8").replace(/@font-face\s*\{[^}]*\}/g, ""), loader: "css",
  })),
};

// The bundle begins with the sum of what it was made of, by which the tests know
// one that is older than that.
const sum = createHash("sha256");
for (const name of ["build.js", "graphiql.css", "graphiql.jsx", "no-style.js", "package-lock.json", "../editor/licenses.js", "../playground/ids.js"]) sum.update(readFileSync(new URL(name, import.meta.url)));

const { metafile } = await build({
  entryPoints: { graphiql: "graphiql.jsx" },
  absWorkingDir: new URL(".", import.meta.url).pathname,
  bundle: true, minify: true, format: "esm", target: "es2022", jsx: "automatic", legalComments: "none", metafile: true,
  outdir: "dist", logLevel: "info",
  banner: { js: "// " + sum.digest("hex") },
  define: { "process.env.NODE_ENV": '"production"' },
  plugins: [systemFonts],
  // It makes style elements, which the policy forbids, to keep a page from
  // scrolling behind a dialog; this page does not scroll.
  alias: { "react-style-singleton": "./no-style.js" },
});
writeFileSync(new URL("licenses.txt", dist), licenses(metafile));
