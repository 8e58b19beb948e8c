// GraphiQL as the server shows it at /graphiql: its schema is that of
// /schema.graphql, and the token and shopper are those of the plain page, kept
// in this tab only.
import { createRoot } from "react-dom/client";
import { buildSchema, getOperationAST, parse } from "graphql";
import { createClient } from "graphql-sse";
import { GraphiQL } from "graphiql";
import { explorerPlugin } from "@graphiql/plugin-explorer";
import { asking, fillExample } from "../playground/ids.js";
import "graphiql/style.css";
import "@graphiql/plugin-explorer/style.css";
import "./graphiql.css";

const visitor = document.body.dataset; // the demo's token, else nothing

function kept(key) { try { return window.sessionStorage.getItem("portico." + key); } catch { return null; } }

// carried is what the plain page gave; a header that is written here counts more.
function carried() {
  const token = (kept("token") || visitor.token || "").trim().replace(/^Bearer /i, "");
  let shopper = {};
  try { shopper = JSON.parse(kept("shopper")) ?? {}; } catch { /* then none */ }
  return { ...shopper, ...(token && { Authorization: "Bearer " + token }) };
}

// stored is where GraphiQL remembers tabs and history, with variables and
// headers: they end with this browser tab, as the token does.
function stored() { try { return window.sessionStorage; } catch { return undefined; } }

// ask is an answer, or of a subscription its events, until it is stopped. What
// is asked for is read from the text that is sent: the editor reads its own a
// moment after it was typed, and names the operation of before until then.
function ask(request, options) {
  const headers = { ...carried(), ...options?.headers }, document = read(request.query);
  if (document && getOperationAST(document)) request = { ...request, operationName: undefined }; // the only one needs no name
  const operation = document && getOperationAST(document, request.operationName);
  return operation?.operation === "subscription" ? createClient({ url: "graphql", headers }).iterate(request) : post(request, headers);
}

// read is the document of a text; null where it is none, which the server tells.
function read(query) { try { return parse(query); } catch { return null; } }

async function post(request, headers) {
  const response = await fetch("graphql", {
    method: "POST", body: JSON.stringify(request), headers: { ...headers, "Content-Type": "application/json" },
  });
  return response.json();
}

// first is the first of the plain page's examples.
function first(examples) {
  return examples.split(/^(?=# example: )/m).find((part) => part.startsWith("# example: "));
}

async function text(path) {
  const response = await fetch(path);
  if (!response.ok) throw new Error(path + ": " + response.status);
  return response.text();
}

// begin is the first example, with ids of this shop if there is a token.
async function begin() {
  const [examples, ids] = await Promise.all([text("playground/examples.graphql"), text("playground/ids.graphql")]), example = first(examples);
  const given = JSON.parse(example.match(/^# variables: (.*)$/m)[1]), name = example.match(/^# example: (.*)$/m)[1];
  const { variables } = carried().Authorization ? await fillExample(name, given, asking(ids, carried)) : { variables: given };
  return { query: example.replace(/^# .*\n/gm, "").trim(), variables: JSON.stringify(variables, null, 2) };
}

const sdl = await text("schema.graphql"), plugins = [explorerPlugin()];
const opened = stored()?.getItem("graphiql:tabState") ? {} : await begin(); // what was left open goes before the example
createRoot(document.getElementById("graphiql")).render(
  <GraphiQL fetcher={ask} schema={buildSchema(sdl)} plugins={plugins} storage={stored()} shouldPersistHeaders={false} {...opened}>
    <GraphiQL.Logo><a className="home" href="./" title="The plain page: examples, shopper and token">Portico</a></GraphiQL.Logo>
  </GraphiQL>);
document.body.dataset.ready = "";
