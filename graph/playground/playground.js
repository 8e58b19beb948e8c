// The playground: editors with completion from the schema. It requests its own server only:
// /schema.graphql, /graphql and /oauth/access_token.
import {
  EditorView, EventSourceParserStream, answerState, astFromValue, buildSchema, documentState, getNamedType, isAbstractType, isEnumType, open, parse, prettify, print, replace, variablesState,
} from "./editor.js";
import { asking, fillExample } from "./ids.js";

const at = (id) => document.getElementById(id);
const token = at("token"), visitor = document.body.dataset; // token and client in the demo, otherwise empty
let schema, examples = [];

// make creates an element with attributes and children. Text is never parsed as HTML.
function make(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(key, value);
    else if (value !== undefined && value !== false) element.setAttribute(key, value);
  }
  element.append(...children.filter((child) => child !== undefined));
  return element;
}

// In private windows a browser may refuse storage: then nothing is saved.
function keep(storage, key, text) { try { window[storage].setItem("portico." + key, text); } catch { /* see above */ } }
function kept(storage, key) { try { return window[storage].getItem("portico." + key); } catch { return null; } }
function keptJSON(storage, key) { try { return JSON.parse(kept(storage, key)); } catch { return null; } }

const say = (text) => { at("said").textContent = text; };

// withoutSecrets removes the values of members, arguments and defaults whose names look like secrets, in
// complete or incomplete JSON and GraphQL. Names, types and variables stay.
function withoutSecrets(text) {
  const name = /\b\w*(?:password|secret|token|authorization|cookie)\w*"?\s*:\s*(?:[[\w\]!]+\s*=\s*)?(?=["[{\d-])/gi;
  const part = /"""(?:\\"""|[^])*?(?:"""|$)|"(?:\\.|[^"\\\n])*"?|[[{\]}]|[^\s",:()[\]{}]+/g;
  let clean = "", end = 0;
  for (let found; (found = name.exec(text));) {
    clean += text.slice(end, part.lastIndex = name.lastIndex) + '""';
    let depth = 0;
    do {
      const [value] = part.exec(text) ?? [""];
      if (!value) part.lastIndex = text.length;
      depth += value === "[" || value === "{" ? 1 : value === "]" || value === "}" ? -1 : 0;
    } while (depth > 0 && part.lastIndex < text.length);
    name.lastIndex = end = part.lastIndex;
  }
  return clean + text.slice(end);
}

// --- tab lists: arrow keys select a tab and show its panel ---

for (const list of document.querySelectorAll("[role=tablist]")) {
  list.addEventListener("click", ({ target }) => { const tab = target.closest("[role=tab]"); if (tab) choose(tab); });
  list.addEventListener("keydown", (event) => {
    const tabs = [...list.children], i = tabs.indexOf(event.target), to = { ArrowRight: i + 1, ArrowLeft: i - 1, Home: 0, End: -1 }[event.key];
    if (i < 0 || to === undefined) return;
    event.preventDefault();
    choose(tabs.at(to % tabs.length));
    list.querySelector("[aria-selected=true]").focus();
  });
}

function choose(tab) {
  if (tab.parentElement.id === "documents") return activate(tabs[[...tab.parentElement.children].indexOf(tab)]);
  for (const other of tab.parentElement.children) {
    const chosen = other === tab;
    other.setAttribute("aria-selected", chosen);
    other.tabIndex = chosen ? 0 : -1;
    at(other.getAttribute("aria-controls")).hidden = !chosen;
  }
}

// --- documents: each tab has a document, variables and the last response ---

// A tab's document and variables are editor states; those of the active tab are in the views. opened is
// the text that an example, a link or the history wrote: other text was typed and is not overwritten.
const tabs = [];
let active, documentView, variablesView, answerView;

const bindings = [
  { key: "Mod-Enter", run: () => (run(), true) },
  { key: "Shift-Alt-f", run: () => (prettifyBoth(), true) },
];

function newTab(opened = { query: "", variables: "" }) {
  const tab = { opened, note: "", status: "Not run yet.", errors: [], answer: null, running: null };
  tab.document = documentState(opened.query, {
    bindings, describedBy: "note", schema: () => schema, change: edited, show: (field, type, parent) => { choose(at("tab-reference")); openType(parent ?? "Query", field); },
  });
  tab.variables = variablesState(opened.variables, { bindings, change: edited, document: () => typed(tab).query });
  tabs.push(tab);
  return tab;
}

// typed returns the text of a tab's editors.
function typed(tab) {
  const shown = tab === active && documentView;
  return { query: (shown ? documentView.state : tab.document).doc.toString(), variables: (shown ? variablesView.state : tab.variables).doc.toString() };
}

function isEdited(tab) {
  const { query, variables } = typed(tab);
  return Boolean(query.trim() || variables.trim()) && (query !== tab.opened?.query || variables !== tab.opened?.variables);
}

function edited() {
  showTabs();
  keepTabs();
}

function keepTabs() {
  const texts = tabs.map((tab) => {
    const { query, variables } = typed(tab);
    return { query: withoutSecrets(query), variables: withoutSecrets(variables), edited: isEdited(tab) };
  });
  keep("sessionStorage", "tabs", JSON.stringify({ active: tabs.indexOf(active), tabs: texts }));
}

function activate(tab) {
  if (active && documentView) [active.document, active.variables] = [documentView.state, variablesView.state];
  active = tab;
  documentView.setState(tab.document);
  variablesView.setState(tab.variables);
  showTabs();
  showAnswer();
  keepTabs();
}

// title returns the first name in a document, or its first characters.
const title = (query) => /^\s*(?:query|mutation|subscription|fragment)\s+(\w+)/m.exec(query)?.[1] ?? (query.replace(/\s+/g, " ").trim().slice(0, 24) || "New document");

function showTabs() {
  const list = at("documents"), titles = tabs.map((tab) => title(typed(tab).query));
  while (list.children.length > tabs.length) list.lastChild.remove();
  while (list.children.length < tabs.length) list.append(make("button", { role: "tab", "aria-controls": "query", title: "Delete closes this tab" }));
  for (const [i, tab] of [...list.children].entries()) {
    const chosen = tabs[i] === active;
    if (tab.textContent !== titles[i]) tab.textContent = titles[i];
    tab.id = "document-" + i;
    tab.setAttribute("aria-selected", chosen);
    tab.tabIndex = chosen ? 0 : -1;
    if (!chosen) continue;
    at("query").setAttribute("aria-labelledby", tab.id);
    const left = tab.offsetLeft - list.offsetLeft; // scroll into view
    list.scrollLeft = Math.min(Math.max(list.scrollLeft, left + tab.offsetWidth - list.clientWidth), left);
  }
  at("note").textContent = active.note;
}

function closeTab() {
  const i = tabs.indexOf(active);
  if (isEdited(active) && !confirm("Close this tab? Its document and variables are lost.")) return;
  active.running?.abort();
  tabs.splice(i, 1);
  active = undefined;
  activate(tabs[i] ?? tabs[i - 1] ?? newTab());
}

// write opens a document in the active tab, where it can be undone; in a new tab if text was typed or an
// operation runs there.
function write(query, variables = "") {
  if (isEdited(active) || active.running) activate(newTab());
  Object.assign(active, { opened: { query, variables }, example: undefined, note: "", status: "Not run yet.", errors: [], answer: null });
  open(documentView, query, variablesView, variables);
  edited();
  showAnswer();
}

function prettifyBoth() {
  try {
    const { query, variables } = typed(active);
    const document = query.trim() && prettify(query), members = variables.trim() && JSON.stringify(JSON.parse(variables), null, 2);
    replace(documentView, document);
    replace(variablesView, members);
    say("Formatted");
  } catch (error) { setAnswer(active, { status: "Not formatted: " + error.message, errors: [], answer: null }); }
}

at("new").addEventListener("click", () => { activate(newTab()); documentView.focus(); });
at("close").addEventListener("click", () => { closeTab(); documentView.focus(); });
at("documents").addEventListener("keydown", (event) => { if (event.key === "Delete") { closeTab(); at("documents").querySelector("[aria-selected=true]").focus(); } });
at("prettify").addEventListener("click", prettifyBoth);

// --- running ---

// members parses a JSON object, or throws an error that says what is wrong.
function members(text, what) {
  if (!text.trim()) return {};
  let value;
  try { value = JSON.parse(text); } catch (error) { throw new Error(what + " must be JSON: " + error.message); }
  if (value === null || typeof value !== "object" || Array.isArray(value)) throw new Error(what + " must be a JSON object such as {\"name\": …}");
  return value;
}

const shopperFields = [...document.querySelectorAll("[data-header]")];

// shopper returns the headers of the shopper fields.
const shopper = () => Object.fromEntries(shopperFields.filter((field) => field.value.trim()).map((field) => [field.dataset.header, field.value.trim()]));

// shop fills the shopper fields and saves them in the tab's storage, where GraphiQL reads them too.
function shop(given) {
  for (const field of shopperFields) field.value = given[field.dataset.header] ?? "";
  keep("sessionStorage", "shopper", JSON.stringify(shopper()));
}

function headers() {
  const sent = { ...members(at("further").value, "Further headers"), ...shopper() };
  const bearer = token.value.trim().replace(/^Bearer /i, "");
  if (bearer) sent.Authorization = "Bearer " + bearer;
  return { ...sent, "Content-Type": "application/json" };
}

// operationAt returns the operation at or before the cursor, or the first; undefined if the document
// cannot be parsed: the server reports that.
function operationAt(query, cursor) {
  let operations;
  try { operations = parse(query).definitions.filter((d) => d.kind === "OperationDefinition"); } catch { return undefined; }
  return operations.findLast((operation) => operation.loc.start <= cursor) ?? operations[0];
}

let opening; // the example whose ids are being looked up

async function run() {
  await opening;
  const tab = active, { query, variables } = typed(tab);
  if (tab.running) return;
  const running = tab.running = new AbortController(), began = performance.now();
  const took = () => Math.round(performance.now() - began).toLocaleString("en") + " ms";
  const still = (answer) => { if (tab.running === running) setAnswer(tab, answer); };
  setAnswer(tab, { status: "Running…", errors: [], answer: null });
  try {
    const operation = operationAt(query, documentView.state.selection.main.head);
    const live = operation?.operation === "subscription" && { Accept: "text/event-stream" };
    const body = JSON.stringify({ query, variables: members(variables, "Variables"), operationName: operation?.name?.value });
    const response = await fetch("graphql", { method: "POST", headers: { ...headers(), ...live }, body, signal: running.signal });
    remember(query, variables);
    if (response.headers.get("Content-Type")?.startsWith("text/event-stream")) return await follow(response, still, took);
    const text = await response.text();
    still({ ...read(text, [response.status + " " + response.statusText, took(), size(new Blob([text]).size)].join(" · ")) });
  } catch (error) {
    still({ status: error.name === "AbortError" ? "Cancelled after " + took() : "No answer: " + error.message });
  } finally {
    if (tab.running === running) {
      tab.running = null;
      showBusy();
    }
  }
}

// Characters of a subscription's events that the page keeps. It drops the oldest.
const keptEvents = 1_000_000;

// follow appends each event of a subscription to the response until the server or the user ends it.
async function follow(response, still, took) {
  let count = 0, text = "", cut = false;
  const counted = () => count.toLocaleString("en") + (count === 1 ? " event" : " events") + (cut ? " (the oldest are no longer shown)" : "");
  still({ status: "Listening, no event yet. Ids that name nothing send none." });
  try {
    for await (const event of response.body.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream())) {
      if (event.event === "complete") break;
      const { errors, answer } = read(event.data), block = `// Event ${++count}, ${took()}\n${answer}\n\n`;
      text += block;
      let dropped = 0;
      while (text.length - dropped > keptEvents && dropped + block.length < text.length) dropped = text.indexOf("\n\n", dropped) + 2;
      text = text.slice(dropped);
      cut ||= dropped > 0;
      still({ status: counted() + " · listening for " + took(), errors, answer: text, dropped, append: block });
    }
    still({ status: counted() + ", ended by the server after " + took() });
  } catch (error) {
    still({ status: counted() + (error.name === "AbortError" ? ", cancelled after " + took() : ", the connection broke after " + took() + ": " + error.message) });
  }
}

const size = (bytes) => bytes < 1000 ? bytes + " B" : (bytes / 1000).toFixed(1) + " kB";

// read formats a response and returns its errors.
function read(text, status) {
  let value, answer = text;
  try { answer = JSON.stringify(value = JSON.parse(text), null, 2); } catch { /* shown unchanged */ }
  const errors = Array.isArray(value?.errors) ? value.errors : [];
  return { errors, answer, ...(status && { status: status + (errors.length ? " · " + errors.length + (errors.length === 1 ? " error" : " errors") : "") }) };
}

// setAnswer changes the given parts of a tab's response.
function setAnswer(tab, change) {
  Object.assign(tab, change);
  if (tab === active) showAnswer(change);
}

// showAnswer shows the active tab's response. For a subscription append is the new event, and dropped the
// length of the dropped ones; the view follows if it was scrolled to the end.
function showAnswer({ append = "", dropped = 0 } = {}) {
  showBusy();
  const { status, errors, answer } = active;
  at("status").textContent = status;
  at("errors").hidden = !errors.length;
  at("errors").replaceChildren(...errors.map((error) => make("li", {},
    make("strong", {}, error.extensions?.code ?? error.title ?? "Error"), " ", error.message ?? error.detail ?? "",
    error.path && make("small", {}, "at " + error.path.join(".")),
    ...(error.locations ?? []).map((place) => make("button", { click: () => goTo(place) }, "Line " + place.line + ", column " + place.column)),
    error.extensions?.code === "UNAUTHENTICATED" ? make("button", { click: () => { choose(at("tab-headers")); at("client-id").focus(); } }, "Get a token") : undefined)));
  at("keys").hidden = status !== "Not run yet.";
  at("answer").hidden = answer === null;
  const shown = answerView.state.doc, text = answer ?? "";
  if (append && shown.length - dropped + append.length === text.length) {
    const { scrollTop, scrollHeight, clientHeight } = answerView.scrollDOM, follows = scrollTop + clientHeight > scrollHeight - 40;
    answerView.dispatch({ changes: [{ from: 0, to: dropped }, { from: shown.length, insert: append }] });
    if (follows) answerView.dispatch({ effects: EditorView.scrollIntoView(text.length, { y: "end" }) });
  } else if (shown.toString() !== text) {
    answerView.setState(answerState(text));
    if (text && matchMedia("(max-width: 900px)").matches) document.querySelector(".read").scrollIntoView(); // it is below the editors
  }
}

function showBusy() {
  at("run").disabled = Boolean(active.running);
  at("cancel").hidden = !active.running;
}

// goTo moves the cursor to a location in the document.
function goTo({ line, column }) {
  const { doc } = documentView.state, { from, to } = doc.line(Math.min(line, doc.lines));
  documentView.dispatch({ selection: { anchor: Math.min(from + column - 1, to) }, scrollIntoView: true });
  documentView.focus();
}

at("run").addEventListener("click", run);
at("cancel").addEventListener("click", () => active.running?.abort());
document.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && !event.defaultPrevented) {
    event.preventDefault();
    run();
  }
});

// --- token and shopper: saved in this tab only ---

function setToken(value) {
  token.value = value;
  keep("sessionStorage", "token", value);
  if (active.example && !isEdited(active)) opening = refill(active); // its ids can be looked up now
}

token.addEventListener("input", () => keep("sessionStorage", "token", token.value));
token.addEventListener("change", () => setToken(token.value));
for (const field of shopperFields) field.addEventListener("input", () => keep("sessionStorage", "shopper", JSON.stringify(shopper())));
for (const id of ["further", "client-id"]) at(id).addEventListener("input", () => keep("sessionStorage", id, withoutSecrets(at(id).value)));
at("get-token").addEventListener("submit", async (event) => {
  event.preventDefault();
  const secret = at("client-secret").value, said = at("token-said");
  const form = new URLSearchParams({ grant_type: secret ? "client_credentials" : "implicit", client_id: at("client-id").value.trim() });
  if (secret) form.set("client_secret", secret);
  try {
    const response = await fetch("oauth/access_token", { method: "POST", body: form });
    const answer = await response.json();
    if (response.ok) {
      at("client-secret").value = "";
      setToken(answer.access_token);
    }
    said.textContent = response.ok ? "The token is set. It expires in " + Math.round(answer.expires_in / 60) + " minutes."
      : (answer.errors?.[0]?.detail ?? response.status + " " + response.statusText);
  } catch (error) { said.textContent = "No token: " + error.message; }
});

// --- history: without headers and values of secrets ---

const past = () => keptJSON("localStorage", "history") ?? [];

function remember(query, variables) {
  const entry = { query: withoutSecrets(query), variables: withoutSecrets(variables), at: new Date().toISOString() };
  const rest = past().filter((other) => other.query !== entry.query || other.variables !== entry.variables);
  keep("localStorage", "history", JSON.stringify([entry, ...rest].slice(0, 30)));
  showHistory();
}

function showHistory() {
  at("history-list").replaceChildren(...past().map((entry) => make("li", {}, make("button", { click: () => write(entry.query, entry.variables) },
    make("b", {}, title(entry.query)), make("small", {}, new Date(entry.at).toLocaleString())))));
}

at("history-clear").addEventListener("click", () => { keep("localStorage", "history", "[]"); showHistory(); });

// --- examples ---

// readExamples parses examples.graphql. Each example begins with lines of # key: value.
function readExamples(text) {
  return text.split(/^(?=# example: )/m).filter((part) => part.startsWith("# example: ")).map((part) => {
    const example = { query: part.replace(/^# .*\n/gm, "").trim() };
    for (const [, key, value] of part.matchAll(/^# (\w+): (.*)$/gm)) example[key] = value;
    return { ...example, variables: JSON.parse(example.variables ?? "{}"), shopper: JSON.parse(example.shopper ?? "null") };
  });
}

let ask, shopperBefore, lastOpened = 0;

// variablesOf returns an example's variables with ids of this shop, and a note about them.
async function variablesOf({ example, variables }) {
  const filled = token.value.trim() ? await fillExample(example, variables, ask)
    : { variables, note: "The variables are those of the demo shop. With a token, the page looks up ids of this shop." };
  return Object.keys(variables).length ? { note: filled.note, text: JSON.stringify(filled.variables, null, 2) } : { note: "", text: "" };
}

// openExample opens an example. If it needs a certain shopper, it sets that; the next example restores
// the shopper from before.
function openExample(example) {
  if (example.shopper) shopperBefore ??= shopper();
  if (example.shopper ?? shopperBefore) shop(example.shopper ?? shopperBefore);
  if (!example.shopper) shopperBefore = undefined;
  choose(at(example.shopper ? "tab-headers" : "tab-variables"));
  const turn = ++lastOpened;
  return opening = (async () => {
    const { note, text } = await variablesOf(example);
    if (turn !== lastOpened) return; // another example was opened meanwhile
    write(example.query, text);
    Object.assign(active, { example, note });
    showTabs();
    say(example.title + " is in the editor");
  })();
}

// refill looks up the ids of an opened example again.
async function refill(tab) {
  const { note, text } = await variablesOf(tab.example);
  if (tab !== active || isEdited(tab)) return;
  Object.assign(tab, { note, opened: { ...tab.opened, variables: text } });
  replace(variablesView, text);
  edited();
}

function showExamples() {
  at("example-list").replaceChildren(...examples.map((example) => make("li", {}, make("button", {
    "data-example": example.example, click: () => openExample(example),
  }, make("b", {}, example.title), " ", /^mutation\b/m.test(example.query) ? make("mark", {}, "writes") : undefined, make("small", {}, example.about)))));
}

// --- the schema reference ---

const trail = [], page = at("reference-page"), search = at("reference-search");

const words = { GraphQLObjectType: "type", GraphQLInterfaceType: "interface", GraphQLUnionType: "union", GraphQLEnumType: "enum", GraphQLInputObjectType: "input", GraphQLScalarType: "scalar" };
const membersOf = (type) => isEnumType(type) ? type.getValues() : Object.values(type.getFields?.() ?? {});
const types = () => Object.values(schema.getTypeMap()).filter((type) => !type.name.startsWith("__"));

// prose renders a description: paragraphs, and code in backticks.
const prose = (text) => (text ?? "").split(/\n\s*\n/).filter(Boolean).map((paragraph) =>
  make("p", {}, ...paragraph.split("`").map((part, i) => i % 2 ? make("code", {}, part) : part)));

// linked renders a type with a link.
function linked(type) {
  const { name } = getNamedType(type), [before, after] = String(type).split(name);
  return make("span", { class: "type" }, before, make("a", { href: "#type=" + name, click: (event) => { event.preventDefault(); openType(name); } }, name), after);
}

function entry(member) {
  const initial = member.defaultValue !== undefined ? [" = " + print(astFromValue(member.defaultValue, member.type))] : [];
  const heading = make("dt", { "data-member": member.name }, make("b", {}, member.name), ...(member.type ? [": ", linked(member.type)] : []), ...initial);
  const about = make("dd", {}, ...prose(member.description));
  if (member.deprecationReason) about.prepend(make("mark", {}, "deprecated"));
  if (member.args?.length) about.append(make("details", {}, make("summary", {}, member.args.length === 1 ? "1 argument" : member.args.length + " arguments"), make("dl", {}, ...member.args.flatMap(entry))));
  return [heading, about];
}

// openType shows a type, scrolled to a member if one is named.
function openType(name, member, back = false) {
  const type = schema.getType(name);
  if (!type) return;
  if (!back) trail.push(name);
  at("reference-back").disabled = trail.length < 2;
  search.value = "";
  const interfaces = type.getInterfaces?.() ?? [], possible = isAbstractType(type) ? schema.getPossibleTypes(type) : [];
  page.replaceChildren(make("h2", {}, make("small", {}, words[type[Symbol.toStringTag]] ?? ""), " ", name), ...prose(type.description),
    ...(interfaces.length ? [make("p", {}, "implements ", ...interfaces.flatMap((p) => [linked(p), " "]))] : []),
    ...(possible.length ? [make("p", {}, "one of ", ...possible.flatMap((p) => [linked(p), " "]))] : []),
    make("dl", {}, ...membersOf(type).flatMap(entry)));
  page.parentElement.scrollTop = 0;
  page.focus({ preventScroll: true });
  page.querySelector(`[data-member="${member}"]`)?.scrollIntoView();
}

function openSearch() {
  const words = search.value.trim().toLowerCase();
  if (!schema || (!words && trail.length)) return trail.length ? openType(trail.at(-1), undefined, true) : undefined;
  const hits = [];
  for (const type of types()) {
    const score = (name, about) => name.toLowerCase().startsWith(words) ? 0 : name.toLowerCase().includes(words) ? 1 : about?.toLowerCase().includes(words) ? 3 : 9;
    hits.push([score(type.name, type.description), type.name, type.name]);
    for (const member of membersOf(type)) hits.push([score(member.name, member.description) + 0.5, type.name + "." + member.name, type.name]);
  }
  const best = hits.filter(([score]) => score < 9).sort((a, b) => a[0] - b[0]).slice(0, 60);
  say(best.length + " found");
  page.replaceChildren(make("p", { class: "note" }, best.length ? "" : "Nothing found."), make("ul", {}, ...best.map(([, title, name]) =>
    make("li", {}, make("a", { href: "#type=" + name, click: (event) => { event.preventDefault(); openType(name); } }, title)))));
}

search.addEventListener("input", openSearch);
at("reference-back").addEventListener("click", () => { trail.pop(); openType(trail.at(-1), undefined, true); });

// --- links: #example=stock, #query=…&variables=…, #type=Product, and &run ---

async function openLink() {
  const link = new URLSearchParams(location.hash.slice(1));
  const example = examples.find((e) => e.example === link.get("example"));
  if (example) await openExample(example);
  if (link.has("query")) write(link.get("query"), link.get("variables") ?? "");
  if (link.has("type") && schema) choose(at("tab-reference")), openType(link.get("type"));
  if (link.has("run") && !mayWrite(typed(active).query)) run();
}

// mayWrite reports whether a document may have a mutation. A link by somebody else must not write with
// the user's token.
function mayWrite(query) {
  try { return parse(query).definitions.some((d) => d.operation === "mutation"); } catch { return true; }
}

at("share").addEventListener("click", async () => {
  const { query, variables } = typed(active);
  const link = new URL("#" + new URLSearchParams({ query: withoutSecrets(query), variables: withoutSecrets(variables) }), location.href);
  history.replaceState(null, "", link);
  let told = "Copied";
  try { await navigator.clipboard.writeText(link.href); } catch { told = "The link is in the address bar"; }
  say(told);
  at("share").textContent = told;
  setTimeout(() => { at("share").textContent = "Copy link"; }, 2000);
});

async function text(path) {
  const response = await fetch(path);
  if (!response.ok) throw new Error(path + ": " + response.status);
  return response.text();
}

async function start() {
  token.value = kept("sessionStorage", "token") || visitor.token || "";
  shop(keptJSON("sessionStorage", "shopper") ?? {});
  at("further").value = kept("sessionStorage", "further") ?? "";
  at("client-id").value = kept("sessionStorage", "client-id") || visitor.client || "";
  at("visitor").hidden = !visitor.token;
  if (/Mac|iP/.test(navigator.platform)) for (const key of document.querySelectorAll("kbd.mod")) key.textContent = "⌘";
  showHistory();
  let fault;
  try {
    const [sdl, list, ids] = await Promise.all(["schema.graphql", "playground/examples.graphql", "playground/ids.graphql"].map(text));
    schema = buildSchema(sdl);
    examples = readExamples(list);
    ask = asking(ids, headers);
  } catch (error) { fault = "The schema or the examples cannot be read: " + error.message; }
  showExamples();
  if (schema) openType("Query");
  const before = keptJSON("sessionStorage", "tabs"), restored = Boolean(before?.tabs?.length);
  for (const { edited, ...opened } of before?.tabs ?? []) Object.assign(newTab(opened), edited && { opened: null });
  documentView = new EditorView({ parent: at("query") });
  variablesView = new EditorView({ parent: at("variables") });
  answerView = new EditorView({ parent: at("answer"), state: answerState("") });
  activate(tabs[before?.active] ?? tabs[0] ?? newTab());
  if (fault) setAnswer(active, { status: fault });
  documentView.focus();
  // A reload shows the typed text, not the link that opened the page.
  if (!restored || performance.getEntriesByType("navigation")[0]?.type === "navigate") {
    if (!restored && examples.length && !/\b(example|query)=/.test(location.hash)) await openExample(examples[0]);
    await openLink();
  }
  document.body.dataset.ready = "";
}

window.addEventListener("hashchange", openLink);
start();
