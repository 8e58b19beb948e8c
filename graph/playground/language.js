// What the playground knows of GraphQL: tokens, the schema's own language, and
// what may stand where the cursor is.

const lexical = /(?<string>"""(?:\\"""|[^])*?(?:"""|$)|"(?:\\.|[^"\\\n])*"?)|(?<comment>#[^\n]*)|(?<punctuation>\.\.\.|[{}()[\]:!=|&])|(?<variable>\$\w*)|(?<directive>@\w*)|(?<number>-?\d[\d.eE+-]*)|(?<name>[A-Za-z_]\w*)/g;

// tokens are a text's: kind, text, and where it starts.
export function tokens(text) {
  return [...text.matchAll(lexical)].map((match) => ({
    kind: Object.keys(match.groups).find((kind) => match.groups[kind] !== undefined), text: match[0], start: match.index,
  }));
}

// named is the name in a type as it is written: Product in [Product!]!.
export const named = (type) => type.replace(/[[\]!]/g, "");

// readSchema reads SDL that is right: it comes from the server's own parser.
// types[name] has kind, name, description, members by name, and implements or
// possible where there are such.
export function readSchema(sdl) {
  const list = tokens(sdl).filter((t) => t.kind !== "comment"), types = {}, directives = {
    "@include": { name: "@include", description: "Only if this is true.", args: [{ name: "if", type: "Boolean!" }] },
    "@skip": { name: "@skip", description: "Not if this is true.", args: [{ name: "if", type: "Boolean!" }] },
  };
  let at = 0, roots = { query: "Query", mutation: "Mutation", subscription: "Subscription" };
  const peek = () => list[at]?.text, take = () => list[at++].text;
  const takes = (text) => peek() === text && Boolean(take());

  function description() {
    if (list[at]?.kind !== "string") return "";
    const text = take();
    if (!text.startsWith('"""')) return JSON.parse(text);
    const lines = text.slice(3, -3).replaceAll('\\"""', '"""').split("\n");
    const indent = Math.min(...lines.slice(1).filter((l) => l.trim()).map((l) => l.search(/\S/)));
    return lines.map((l, i) => i ? l.slice(indent) : l).join("\n").trim();
  }
  function type() {
    const inner = takes("[") ? "[" + type() + take() : take();
    return takes("!") ? inner + "!" : inner;
  }
  function value() { // as it is written
    let text = "", depth = 0;
    do {
      if (/[[{(]/.test(peek()) && list[at].kind === "punctuation") depth++;
      if (/[\]})]/.test(peek()) && list[at].kind === "punctuation") depth--;
      text += (text && !/[\]:]/.test(peek()) && !text.endsWith("[") ? " " : "") + take();
    } while (depth > 0);
    return text;
  }
  function deprecated() { // by a directive; the others say nothing here
    let is = false;
    while (list[at]?.kind === "directive") {
      is ||= take() === "@deprecated";
      if (peek() === "(") value();
    }
    return is;
  }
  function members(open, close) {
    const found = [];
    if (takes(open)) while (!takes(close)) {
      const member = { description: description(), name: take(), args: members("(", ")") };
      if (takes(":")) member.type = type();
      if (takes("=")) member.default = value();
      member.deprecated = deprecated();
      found.push(member);
    }
    return found;
  }
  while (at < list.length) {
    const about = description(), kind = take();
    if (kind === "schema") {
      deprecated();
      for (const root of members("{", "}")) roots[root.name] = root.type;
    } else if (kind === "directive") {
      const name = take();
      directives[name] = { name, description: about, args: members("(", ")") };
      while (/^(repeatable|on|\||[A-Z_]+)$/.test(peek() ?? "")) take();
    } else {
      const made = types[list[at].text] ??= { kind, name: take(), description: about, members: {} };
      if (takes("implements")) for (made.implements = []; list[at].kind === "name" || peek() === "&";) if (!takes("&")) made.implements.push(take());
      deprecated();
      if (takes("=")) for (made.possible = []; list[at]?.kind === "name" || peek() === "|";) if (!takes("|")) made.possible.push(take());
      for (const member of members("{", "}")) made.members[member.name] = member;
    }
  }
  for (const found of Object.values(types)) {
    for (const name of found.implements ?? []) (types[name].possible ??= []).push(found.name);
  }
  return { types, directives, roots };
}

// walk reads a document as far as it goes, and returns where it ends: the
// innermost frame, with its type or members, and the token before.
function walk(schema, list) {
  const frames = [{ kind: "document" }];
  const membersOf = (type) => type ? Object.values(schema.types[named(type)]?.members ?? {}) : [];
  const inside = (members) => ({ kind: "members", members: members ?? [], used: new Set() });
  let before = "";
  for (const { kind, text } of list) {
    const frame = frames.at(-1);
    if (kind === "comment") continue;
    if (text === "]" && frame.brackets > 0) frame.brackets--;
    else if ("})]".includes(text) && frames.length > 1) frames.pop();
    else if (kind === "directive") frame.directive = schema.directives[text];
    else if (text === "(" && frame.directive) frames.push(inside(frame.directive.args));
    else if (frame.kind === "document") {
      if (before === "on") frame.inner = text;
      else if (schema.roots[text] && before !== "fragment") frame.inner = schema.roots[text];
      else if (text === "(") frames.push({ kind: "variables", brackets: 0 });
      else if (text === "{") {
        frames.push({ kind: "selection", type: frame.inner ?? schema.roots.query });
        frame.inner = undefined;
      }
    } else if (frame.kind === "selection") {
      if (text === "...") frame.inner = frame.type;
      else if (before === "on" && frame.spread) frame.inner = text;
      else if (text === "{") frames.push({ kind: "selection", type: frame.inner });
      else if (text === "(") frames.push(inside(frame.field?.args));
      else if (kind === "name" && before !== "...") {
        frame.field = schema.types[frame.type]?.members[text];
        frame.inner = frame.field?.type && named(frame.field.type);
      }
      frame.spread = text === "..." || (frame.spread && text === "on" && before === "...");
    } else if (frame.kind === "variables") {
      if (text === ":") frame.typing = true;
      else if (text === "=") frame.value = true;
      else if (text === "{") frames.push(inside(membersOf(frame.type)));
      else if (text === "[" && frame.typing) frame.brackets++;
      else if (text === "[") frames.push({ kind: "list", type: frame.type });
      else if (kind === "variable") frame.value = false;
      else if (kind === "name" && frame.typing) {
        frame.type = text;
        frame.typing = false;
      }
    } else if (frame.kind === "list") {
      if (text === "{") frames.push(inside(membersOf(frame.type)));
      else if (text === "[") frames.push({ kind: "list", type: frame.type });
    } else if (text === ":") frame.value = true;
    else if (!frame.value && kind === "name") {
      frame.member = frame.members.find((m) => m.name === text);
      frame.used.add(text);
    } else {
      frame.value = false;
      if (text === "{") frames.push(inside(membersOf(frame.member?.type)));
      if (text === "[") frames.push({ kind: "list", type: frame.member && named(frame.member.type) });
    }
    if (kind !== "directive" && text !== "(") frame.directive = undefined;
    before = text;
  }
  return { frame: frames.at(-1), before };
}

// complete is what may stand at the cursor: items with name, type, description
// and what follows the name, best first; prefix is how much of them is there.
export function complete(schema, text, cursor) {
  const prefix = /[@$]?\w*$/.exec(text.slice(0, cursor))[0];
  const list = tokens(text.slice(0, cursor - prefix.length)), last = list.at(-1);
  const open = last && last.start + last.text.length === cursor - prefix.length
    && (last.kind === "comment" || (last.kind === "string" && !/^("""[^]*"""|"[^"]+"|"")$/.test(last.text)));
  if (open) return { prefix, items: [] }; // words of a comment or a string are the writer's own
  const all = tokens(text), { frame, before } = walk(schema, list);
  const types = (...kinds) => Object.values(schema.types).filter((t) => kinds.includes(t.kind)).map((t) => ({ name: t.name, type: t.kind, description: t.description }));
  const after = (word, type) => all.flatMap((t, i) => t.text === word && all[i + 1]?.kind === "name" && all[i + 1].text !== "on" ? [{ name: all[i + 1].text, type }] : []);

  function values(type) {
    if (!type) return [];
    const name = named(type), found = schema.types[name];
    const declared = all.flatMap((t, i) => t.kind === "variable" && all[i + 1]?.text === ":" ? [{ name: t.text, type: "variable" }] : []);
    return [...(found?.kind === "enum" ? Object.values(found.members).map((m) => ({ ...m, type: name })) : []),
      ...(name === "Boolean" ? ["true", "false"] : []).map((word) => ({ name: word, type: name })),
      ...declared, ...(type.endsWith("!") ? [] : [{ name: "null", type: "nothing" }])];
  }
  function possible() {
    if (prefix.startsWith("@")) return Object.values(schema.directives).map((d) => ({ ...d, type: "directive" }));
    switch (frame.kind) {
      case "selection": {
        const type = schema.types[frame.type];
        if (before === "...") return [{ name: "on", after: " ", type: "type condition" }, ...after("fragment", "fragment")];
        if (before === "on" && frame.spread) return [type?.name, ...(type?.possible ?? [])].filter(Boolean).map((name) => ({ name, type: "type" }));
        return [...Object.values(type?.members ?? {}), { name: "__typename", type: "String!" }];
      }
      case "members":
        if (frame.value) return values(frame.member?.type);
        return frame.members.filter((m) => !frame.used.has(m.name)).map((m) => ({ ...m, after: ": " }));
      case "list": return values(frame.type);
      case "variables":
        if (frame.typing) return [...types("input", "enum", "scalar"), ...["ID", "String", "Int", "Boolean", "Float"].map((name) => ({ name, type: "scalar" }))];
        return frame.value ? values(frame.type) : [];
      default:
        if (before === "on") return types("type", "interface", "union");
        return ["", "}"].includes(before) ? ["query", "mutation", "subscription", "fragment"].filter((name) => name === "fragment" || schema.types[schema.roots[name]]).map((name) => ({ name, after: " ", type: "keyword" })) : [];
    }
  }
  const word = prefix.toLowerCase(), rank = (item) => {
    const at = item.name.toLowerCase().indexOf(word);
    return at < 0 ? -1 : (at ? 2 : 0) + (item.deprecated ? 1 : 0);
  };
  const items = possible().filter((item) => rank(item) >= 0).sort((a, b) => rank(a) - rank(b) || (word && a.name.length - b.name.length));
  return { prefix, items };
}

// operationAt is the operation that the cursor is in or behind, else the first:
// its kind, and its name where it has one.
export function operationAt(text, cursor) {
  const found = [], list = tokens(text);
  let depth = 0;
  for (const [i, t] of list.entries()) {
    if (t.text === "{" || t.text === "(") depth++;
    if (t.text === "}" || t.text === ")") depth--;
    if (depth === 0 && /^(query|mutation|subscription)$/.test(t.text) && !["fragment", "on", "query", "mutation", "subscription"].includes(list[i - 1]?.text)) {
      found.push({ kind: t.text, start: t.start, name: list[i + 1]?.kind === "name" ? list[i + 1].text : undefined });
    }
  }
  return found.findLast((operation) => operation.start <= cursor) ?? found[0];
}

// events reads server-sent events from a stream of text: name and data of each.
export async function* events(stream) {
  const reader = stream.getReader();
  let left = "";
  for (let read; !(read = await reader.read()).done;) {
    const blocks = (left + read.value).split(/\r?\n\r?\n/);
    left = blocks.pop();
    for (const block of blocks) {
      const lines = block.split(/\r?\n/), of = (field) => lines.filter((line) => line.startsWith(field + ":")).map((line) => line.slice(field.length + 1).trim()).join("\n");
      const event = { name: of("event"), data: of("data") };
      if (event.name || event.data) yield event;
    }
  }
}
