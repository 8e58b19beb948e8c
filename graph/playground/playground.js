// The playground: an editor that knows the schema, and what goes with it. It
// asks its own server only: /schema.graphql, /graphql and /oauth/access_token.
import { readSchema, tokens, named, complete, operationAt, events } from "./language.js";

const at = (id) => document.getElementById(id);
const query = at("query-text"), variables = at("variables-text"), token = at("token");
const visitor = document.body.dataset; // the demo's token and client, else nothing
let schema, examples = [], running = null;

// make is an element with attributes and children; text is never read as HTML.
function make(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(key, value);
    else if (value !== undefined && value !== false) element.setAttribute(key, value);
  }
  element.append(...children.filter((child) => child !== undefined));
  return element;
}

// A browser may keep nothing for us (private windows): then this tab remembers nothing.
function keep(storage, key, value) { try { window[storage].setItem("portico." + key, value); } catch { /* see above */ } }
function kept(storage, key) { try { return window[storage].getItem("portico." + key); } catch { return null; } }

const say = (text) => { at("said").textContent = text; };

// --- tabs: arrows move, the chosen one shows its panel ---

for (const list of document.querySelectorAll("[role=tablist]")) {
  const tabs = [...list.querySelectorAll("[role=tab]")];
  for (const [i, tab] of tabs.entries()) {
    tab.addEventListener("click", () => choose(tab));
    tab.addEventListener("keydown", (event) => {
      const to = { ArrowRight: i + 1, ArrowLeft: i - 1, Home: 0, End: -1 }[event.key];
      if (to === undefined) return;
      event.preventDefault();
      const next = tabs.at(to % tabs.length);
      choose(next);
      next.focus();
    });
  }
}

function choose(tab) {
  for (const other of tab.parentElement.children) {
    const chosen = other === tab;
    other.setAttribute("aria-selected", chosen);
    other.tabIndex = chosen ? 0 : -1;
    at(other.getAttribute("aria-controls")).hidden = !chosen;
  }
}

// --- the editor: a text area over the same text in colours ---

const colors = at("query-colors");

function paint() {
  const painted = document.createDocumentFragment();
  let end = 0;
  for (const { kind, text, start } of tokens(query.value)) {
    painted.append(query.value.slice(end, start), make("span", { class: kind }, text));
    end = start + text.length;
  }
  painted.append(query.value.slice(end) + "\n");
  colors.replaceChildren(painted);
  follow();
}

function follow() { colors.scrollTop = query.scrollTop; colors.scrollLeft = query.scrollLeft; }

function write(text, given) {
  query.value = text;
  if (given !== undefined) variables.value = given;
  closeCompletion();
  paint();
  checkVariables();
  draft();
}

function draft() { keep("sessionStorage", "draft", JSON.stringify([query.value, variables.value])); }

// --- completion ---

const box = at("completion"), listbox = at("completions");
let offered = [], active = 0;

function openCompletion(asked) {
  const found = schema && complete(schema, query.value, query.selectionStart);
  const whole = found?.items.length === 1 && found.items[0].name === found.prefix;
  if (!found?.items.length || (whole && !asked)) return closeCompletion();
  offered = found.items.slice(0, 100).map((item) => ({ ...item, prefix: found.prefix }));
  listbox.replaceChildren(...offered.map((item, i) => make("li", {
    role: "option", id: "completion-" + i,
    mousedown: (event) => { event.preventDefault(); accept(i); }, // the editor keeps the focus
  }, make("span", { class: "name" }, item.name), make("span", { class: "kind" }, item.type ?? ""))));
  box.hidden = false;
  const before = query.value.slice(0, query.selectionStart - found.prefix.length).split("\n");
  const style = getComputedStyle(query), line = parseFloat(style.lineHeight), pad = parseFloat(style.paddingTop);
  const column = measure(before.at(-1), style.font);
  const top = pad + before.length * line - query.scrollTop;
  box.style.left = Math.max(0, Math.min(pad + column - query.scrollLeft, query.clientWidth - box.offsetWidth)) + "px";
  box.style.top = (top + box.offsetHeight > query.clientHeight ? Math.max(0, top - line - box.offsetHeight) : top) + "px";
  choice(0);
  say(offered.length + (offered.length === 1 ? " completion" : " completions"));
}

function measure(text, font) {
  const canvas = measure.canvas ??= document.createElement("canvas").getContext("2d");
  canvas.font = font;
  return canvas.measureText(text).width;
}

function choice(i) {
  active = (i + offered.length) % offered.length;
  for (const [j, option] of [...listbox.children].entries()) option.setAttribute("aria-selected", j === active);
  listbox.children[active].scrollIntoView({ block: "nearest" });
  query.setAttribute("aria-activedescendant", "completion-" + active);
  at("completion-about").textContent = offered[active].description ?? "";
}

function closeCompletion() {
  box.hidden = true;
  query.removeAttribute("aria-activedescendant");
}

function accept(i) {
  const { name, after = "", prefix } = offered[i], end = query.selectionStart;
  query.setRangeText(name + after, end - prefix.length, end, "end");
  closeCompletion();
  paint();
  draft();
}

query.addEventListener("input", (event) => {
  paint();
  draft();
  // Not behind { or a space: Enter there is to begin a line, not to take a field.
  if (/[\w@$(]$/.test(event.data ?? "") || (!box.hidden && /\w$/.test(query.value.slice(0, query.selectionStart)))) openCompletion(false);
  else closeCompletion();
});
query.addEventListener("scroll", () => { follow(); closeCompletion(); });
query.addEventListener("blur", closeCompletion);
query.addEventListener("click", closeCompletion);
query.addEventListener("keydown", (event) => {
  if (event.key === " " && event.ctrlKey) {
    event.preventDefault();
    return openCompletion(true);
  }
  if (!box.hidden && !event.ctrlKey && !event.metaKey) {
    const does = {
      ArrowDown: () => choice(active + 1), ArrowUp: () => choice(active - 1),
      Tab: () => accept(active), Enter: () => accept(active), Escape: closeCompletion,
    }[event.key];
    if (does) {
      event.preventDefault();
      return does();
    }
    if (/^(Arrow(Left|Right)|Home|End|Page)/.test(event.key)) closeCompletion();
  } else if (event.key === "Enter" && !event.ctrlKey && !event.metaKey) { // a new line as far in as this one
    const line = query.value.slice(0, query.selectionStart).split("\n").at(-1);
    const indent = line.match(/^ */)[0] + (/[{([]\s*$/.test(line) ? "  " : "");
    if (!indent) return;
    event.preventDefault();
    query.setRangeText("\n" + indent, query.selectionStart, query.selectionEnd, "end");
    paint();
    draft();
  }
});

// --- running ---

// members reads a JSON object; what is no object is told in fault.
function members(text, what) {
  if (!text.trim()) return {};
  let value;
  try { value = JSON.parse(text); } catch (error) { throw new Error(what + " are not JSON: " + error.message); }
  if (value === null || typeof value !== "object" || Array.isArray(value)) throw new Error(what + " are an object: {\"name\": …}");
  return value;
}

function checkVariables() {
  const fault = at("variables-fault");
  fault.textContent = "";
  try { return members(variables.value, "Variables"); } catch (error) { fault.textContent = error.message; }
}

const shopperFields = [...document.querySelectorAll("[data-header]")];

// shopper is the headers that its fields make.
const shopper = () => Object.fromEntries(shopperFields.filter((field) => field.value.trim()).map((field) => [field.dataset.header, field.value.trim()]));

// shop fills the fields, and keeps them in this tab, where GraphiQL finds them too.
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

async function run() {
  if (running) return;
  closeCompletion();
  const given = checkVariables();
  if (!given) return choose(at("tab-variables")), variables.focus();
  const operation = operationAt(query.value, query.selectionStart);
  const body = { query: query.value, variables: given, operationName: operation?.name };
  const live = operation?.kind === "subscription" && { Accept: "text/event-stream" };
  running = new AbortController();
  busy(true);
  const began = performance.now();
  const took = () => Math.round(performance.now() - began) + " ms";
  try {
    const response = await fetch("graphql", { method: "POST", headers: { ...headers(), ...live }, body: JSON.stringify(body), signal: running.signal });
    if (response.headers.get("Content-Type")?.startsWith("text/event-stream")) {
      remember();
      return await follows(response, took);
    }
    const text = await response.text();
    const status = [response.status + " " + response.statusText, took(), size(new Blob([text]).size)].join(" · ");
    show(status, text);
    remember();
  } catch (error) {
    show(error.name === "AbortError" ? "Cancelled after " + took() : "Not sent, or not answered: " + error.message, "");
  } finally {
    running = null;
    busy(false);
  }
}

// follows shows each event of a subscription when it comes, the newest alone,
// until the server or the reader ends it.
async function follows(response, took) {
  let count = 0;
  at("status").textContent = "Listening…";
  for await (const event of events(response.body.pipeThrough(new TextDecoderStream()))) {
    if (event.name === "complete") break;
    show("Event " + ++count + " · " + took(), event.data);
  }
  at("status").textContent = count + (count === 1 ? " event" : " events") + ", ended after " + took();
}

const size = (bytes) => bytes < 1000 ? bytes + " B" : (bytes / 1000).toFixed(1) + " kB";

function busy(is) {
  at("run").disabled = is;
  at("cancel").hidden = !is;
  if (is) at("status").textContent = "Asking…";
}

// On a narrow screen the answer is below: it comes into view.
function reveal() { if (matchMedia("(max-width: 900px)").matches) document.querySelector(".read").scrollIntoView(); }

function show(status, text) {
  let answer, shown = text;
  try { answer = JSON.parse(text); shown = JSON.stringify(answer, null, 2); } catch { /* shown as it came */ }
  const errors = Array.isArray(answer?.errors) ? answer.errors : [];
  at("status").textContent = status + (errors.length ? " · " + errors.length + (errors.length === 1 ? " error" : " errors") : "");
  at("errors").hidden = !errors.length;
  at("errors").replaceChildren(...errors.map((error) => make("li", {},
    make("strong", {}, error.extensions?.code ?? error.title ?? "Error"), " ", error.message ?? error.detail ?? "",
    make("small", {}, [error.path && "at " + error.path.join("."), ...(error.locations ?? []).map((l) => "line " + l.line + ", column " + l.column)]
      .filter(Boolean).join(" · ")),
    error.extensions?.code === "UNAUTHENTICATED" ? make("button", { click: () => { choose(at("tab-headers")); at("client-id").focus(); } }, "Get a token") : undefined)));
  const painted = document.createDocumentFragment();
  if (shown.length > 300_000) painted.append(shown); // colours would take longer than the answer
  else for (const [, key, string, rest] of shown.matchAll(/("(?:\\.|[^"\\])*"(?=:))|("(?:\\.|[^"\\])*")|([^"]+|")/g)) {
    painted.append(key ? make("span", { class: "key" }, key) : string ? make("span", { class: "string" }, string) : rest);
  }
  at("answer").replaceChildren(painted);
  reveal();
}

at("run").addEventListener("click", run);
at("cancel").addEventListener("click", () => running?.abort());
variables.addEventListener("input", () => { checkVariables(); draft(); });
document.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
    event.preventDefault();
    run();
  }
});

// --- the token: in this tab only ---

token.addEventListener("input", () => keep("sessionStorage", "token", token.value));
for (const field of shopperFields) field.addEventListener("input", () => keep("sessionStorage", "shopper", JSON.stringify(shopper())));
at("get-token").addEventListener("submit", async (event) => {
  event.preventDefault();
  const secret = at("client-secret").value, said = at("token-said");
  const form = new URLSearchParams({ grant_type: secret ? "client_credentials" : "implicit", client_id: at("client-id").value.trim() });
  if (secret) form.set("client_secret", secret);
  try {
    const response = await fetch("oauth/access_token", { method: "POST", body: form });
    const answer = await response.json();
    if (response.ok) {
      token.value = answer.access_token;
      keep("sessionStorage", "token", token.value);
      at("client-secret").value = "";
    }
    said.textContent = response.ok ? "The token is in place, for " + Math.round(answer.expires_in / 60) + " minutes."
      : (answer.errors?.[0]?.detail ?? response.status + " " + response.statusText);
  } catch (error) { said.textContent = "No token: " + error.message; }
});

// --- history: without headers, and without what looks like a secret ---

function past() { try { return JSON.parse(kept("localStorage", "history")) ?? []; } catch { return []; } }

function remember() {
  const clean = JSON.stringify(checkVariables() ?? {}, (key, value) => /password|secret|token/i.test(key) ? undefined : value, 2);
  const entry = { query: query.value, variables: clean === "{}" ? "" : clean, at: new Date().toISOString() };
  const rest = past().filter((other) => other.query !== entry.query || other.variables !== entry.variables);
  keep("localStorage", "history", JSON.stringify([entry, ...rest].slice(0, 30)));
  showHistory();
}

function showHistory() {
  at("history-list").replaceChildren(...past().map((entry) => make("li", {}, make("button", { click: () => write(entry.query, entry.variables) },
    make("b", {}, operationAt(entry.query, 0)?.name ?? entry.query.replace(/\s+/g, " ").slice(0, 60)),
    make("small", {}, new Date(entry.at).toLocaleString())))));
}

at("history-clear").addEventListener("click", () => { keep("localStorage", "history", "[]"); showHistory(); });

// --- examples ---

// readExamples reads examples.graphql: each begins with lines of # key: value.
function readExamples(text) {
  return text.split(/^(?=# example: )/m).filter((part) => part.startsWith("# example: ")).map((part) => {
    const example = { variables: "", query: part.replace(/^# .*\n/gm, "").trim() };
    for (const [, key, value] of part.matchAll(/^# (\w+): (.*)$/gm)) example[key] = value;
    if (example.variables) example.variables = JSON.stringify(JSON.parse(example.variables), null, 2);
    example.shopper = JSON.parse(example.shopper ?? "null");
    return example;
  });
}

// An example that needs a certain shopper says which, and shows it; the next
// one finds the shopper who was there before.
let shopperBefore;
function openExample(example) {
  write(example.query, example.variables);
  if (example.shopper) shopperBefore ??= shopper();
  if (example.shopper ?? shopperBefore) shop(example.shopper ?? shopperBefore);
  if (!example.shopper) shopperBefore = undefined;
  choose(at(example.shopper ? "tab-headers" : "tab-variables"));
  say(example.title + " is in the editor");
}

function showExamples() {
  at("example-list").replaceChildren(...examples.map((example) => make("li", {}, make("button", {
    "data-example": example.example, click: () => openExample(example),
  }, make("b", {}, example.title), " ", /^mutation\b/m.test(example.query) ? make("mark", {}, "writes") : undefined, make("small", {}, example.about)))));
}

// --- the schema reference ---

const trail = [], page = at("reference-page"), search = at("reference-search");

// prose is a description: paragraphs, with what is between backticks as code.
const prose = (text) => (text ?? "").split(/\n\s*\n/).filter(Boolean).map((paragraph) =>
  make("p", {}, ...paragraph.split("`").map((part, i) => i % 2 ? make("code", {}, part) : part)));

// linked is a type as it is written, its name a link where there is a page.
function linked(type) {
  const name = named(type), [before, after] = type.split(name);
  return make("span", { class: "type" }, before, schema.types[name] ? make("a", { href: "#type=" + name, click: (event) => { event.preventDefault(); openType(name); } }, name) : name, after);
}

function entry(member) {
  const title = make("dt", {}, make("b", {}, member.name), ...(member.type ? [": ", linked(member.type)] : []), ...(member.default ? [" = " + member.default] : []));
  const about = make("dd", {}, ...prose(member.description));
  if (member.deprecated) about.prepend(make("mark", {}, "deprecated"));
  if (member.args?.length) about.append(make("details", {}, make("summary", {}, member.args.length === 1 ? "1 argument" : member.args.length + " arguments"), make("dl", {}, ...member.args.flatMap(entry))));
  return [title, about];
}

function openType(name, back = false) {
  const type = schema.types[name];
  if (!type) return;
  if (!back) trail.push(name);
  at("reference-back").disabled = trail.length < 2;
  search.value = "";
  page.replaceChildren(make("h2", {}, make("small", {}, type.kind), " ", name), ...prose(type.description),
    ...(type.implements?.length ? [make("p", {}, "implements ", ...type.implements.map(linked))] : []),
    ...(type.possible?.length ? [make("p", {}, "one of ", ...type.possible.flatMap((p) => [linked(p), " "]))] : []),
    make("dl", {}, ...Object.values(type.members).flatMap(entry)));
  page.parentElement.scrollTop = 0;
  page.focus({ preventScroll: true });
}

function openSearch() {
  const words = search.value.trim().toLowerCase();
  if (!schema || (!words && trail.length)) return trail.length ? openType(trail.at(-1), true) : undefined;
  const hits = [];
  for (const type of Object.values(schema.types)) {
    const score = (name, about) => name.toLowerCase().startsWith(words) ? 0 : name.toLowerCase().includes(words) ? 1 : about?.toLowerCase().includes(words) ? 3 : 9;
    hits.push([score(type.name, type.description), type.name, type.name]);
    for (const member of Object.values(type.members)) hits.push([score(member.name, member.description) + 0.5, type.name + "." + member.name, type.name]);
  }
  const best = hits.filter(([score]) => score < 9).sort((a, b) => a[0] - b[0]).slice(0, 60);
  say(best.length + " found");
  page.replaceChildren(make("p", { class: "note" }, best.length ? "" : "Nothing found."), make("ul", {}, ...best.map(([, title, name]) =>
    make("li", {}, make("a", { href: "#type=" + name, click: (event) => { event.preventDefault(); openType(name); } }, title)))));
}

search.addEventListener("input", openSearch);
at("reference-back").addEventListener("click", () => { trail.pop(); openType(trail.at(-1), true); });

// --- links: #example=stock, #query=…&variables=…, #type=Product, and &run ---

function openLink() {
  const link = new URLSearchParams(location.hash.slice(1));
  const example = examples.find((e) => e.example === link.get("example"));
  if (example) openExample(example);
  if (link.has("query")) write(link.get("query"), link.get("variables") ?? "");
  if (link.has("type") && schema) choose(at("tab-reference")), openType(link.get("type"));
  // Whoever made the link is not who reads it: it may not write with the reader's token.
  if (link.has("run") && !tokens(query.value).some((t) => t.text === "mutation")) run();
}

at("share").addEventListener("click", async () => {
  const link = new URL("#" + new URLSearchParams({ query: query.value, variables: variables.value }), location.href);
  history.replaceState(null, "", link);
  try { await navigator.clipboard.writeText(link.href); say("Copied"); } catch { say("The link is in the address bar"); }
});

async function text(path) {
  const response = await fetch(path);
  if (!response.ok) throw new Error(path + ": " + response.status);
  return response.text();
}

async function start() {
  token.value = kept("sessionStorage", "token") || visitor.token || "";
  try { shop(JSON.parse(kept("sessionStorage", "shopper")) ?? {}); } catch { /* then as they are */ }
  at("client-id").value = visitor.client ?? "";
  at("visitor").hidden = !visitor.token;
  at("elsewhere").hidden = Boolean(visitor.token);
  showHistory();
  try {
    const [sdl, list] = await Promise.all([text("schema.graphql"), text("playground/examples.graphql")]);
    schema = readSchema(sdl);
    examples = readExamples(list);
  } catch (error) { at("status").textContent = "The schema cannot be read: " + error.message; }
  showExamples();
  if (schema) openType(schema.roots.query);
  query.focus();
  let left = [];
  try { left = JSON.parse(kept("sessionStorage", "draft")) ?? []; } catch { /* then none */ }
  if (left[0]) write(...left);
  else if (examples.length) write(examples[0].query, examples[0].variables);
  openLink();
  document.body.dataset.ready = "";
}

window.addEventListener("hashchange", openLink);
start();
