// The playground's editors: CodeMirror 6 with GraphQL and JSON. build.js bundles
// this file and its packages to ../playground/editor.js.
import { EditorState, Prec, StateEffect } from "@codemirror/state";
import {
  Decoration, EditorView, MatchDecorator, ViewPlugin, drawSelection, highlightActiveLine, highlightActiveLineGutter, highlightSpecialChars, keymap, lineNumbers, placeholder,
} from "@codemirror/view";
import { defaultKeymap, history, historyKeymap, indentWithTab, invertedEffects, isolateHistory } from "@codemirror/commands";
import { bracketMatching, codeFolding, foldGutter, foldKeymap, indentOnInput, syntaxHighlighting } from "@codemirror/language";
import {
  acceptCompletion, autocompletion, clearSnippet, closeBrackets, closeBracketsKeymap, completionKeymap, nextSnippetField, prevSnippetField, snippet, snippetKeymap,
} from "@codemirror/autocomplete";
import { lintGutter, lintKeymap, linter } from "@codemirror/lint";
import { highlightSelectionMatches, searchKeymap } from "@codemirror/search";
import { json, jsonLanguage, jsonParseLinter } from "@codemirror/lang-json";
import { classHighlighter } from "@lezer/highlight";
import { graphqlLanguage, graphqlLanguageSupport, jump, lint, offsetToPos, stateExtensions } from "cm6-graphql";
import { getAutocompleteSuggestions, getContextAtPosition, getTokenAtPosition } from "graphql-language-service";
import { getNamedType, getNullableType, isCompositeType, isInputObjectType, isRequiredArgument, parse, print, visit } from "graphql";

export { EditorView };
export { astFromValue, buildSchema, getNamedType, isAbstractType, isEnumType, parse, print } from "graphql";
export { EventSourceParserStream } from "eventsource-parser/stream";

// Colours are the page's variables; those of tokens are its classes tok-….
const theme = EditorView.theme({
  "&": { height: "100%", color: "var(--ink)", backgroundColor: "var(--paper)" },
  "&.cm-focused": { outline: "none" },
  "&.cm-focused::after": { content: "''", position: "absolute", inset: "0", zIndex: "300", border: "2px solid var(--accent)", pointerEvents: "none" },
  ".cm-scroller": { font: "var(--mono)", overflow: "auto" },
  ".cm-content": { caretColor: "var(--ink)", padding: "8px 0" },
  ".cm-cursor, .cm-dropCursor": { borderLeftColor: "var(--ink)" },
  ".cm-gutters": { color: "var(--soft)", backgroundColor: "var(--paper)", border: "0" },
  ".cm-lineNumbers .cm-gutterElement": { minWidth: "28px" },
  ".cm-gutter-lint": { width: "12px", marginLeft: "2px" },
  ".cm-gutter-lint .cm-gutterElement": { padding: "0" },
  ".cm-lint-marker": { width: "10px", height: "20px", verticalAlign: "top" },
  ".cm-activeLine": { backgroundColor: "transparent" },
  ".cm-activeLineGutter": { color: "var(--ink)", backgroundColor: "transparent" },
  ".cm-selectionBackground, &.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground": { backgroundColor: "var(--selected)" },
  ".cm-selectionMatch, .cm-searchMatch": { backgroundColor: "var(--found)" },
  ".cm-searchMatch-selected": { backgroundColor: "var(--selected)", outline: "1px solid var(--accent)" },
  "&.cm-focused .cm-matchingBracket": { backgroundColor: "var(--selected)" },
  "&.cm-focused .cm-nonmatchingBracket": { backgroundColor: "var(--fault-paper)", color: "var(--fault)" },
  ".cm-foldPlaceholder": { color: "var(--soft)", backgroundColor: "var(--side)", borderColor: "var(--line)" },
  ".cm-placeholder": { color: "var(--soft)" },
  ".cm-panels": { color: "var(--ink)", backgroundColor: "var(--side)" },
  ".cm-panels.cm-panels-bottom": { borderTop: "1px solid var(--line)" },
  ".cm-panel input, .cm-panel button": { width: "auto", fontSize: "12px" },
  ".cm-panel label": { fontSize: "12px" },
  ".cm-textfield": { color: "var(--ink)", backgroundColor: "var(--paper)", borderColor: "var(--line)" },
  ".cm-button": { color: "var(--ink)", backgroundImage: "none", backgroundColor: "var(--paper)", border: "1px solid var(--line)", borderRadius: "5px" },
  ".cm-tooltip": { color: "var(--ink)", backgroundColor: "var(--paper)", border: "1px solid var(--line)", borderRadius: "5px", boxShadow: "0 6px 20px rgb(0 0 0 / .25)" },
  ".cm-tooltip.cm-tooltip-autocomplete > ul": { font: "var(--mono)", maxHeight: "220px", minWidth: "200px" },
  ".cm-tooltip.cm-tooltip-autocomplete > ul > li": { display: "flex", justifyContent: "space-between", gap: "16px", padding: "1px 10px" },
  ".cm-tooltip-autocomplete > ul > li[aria-selected]": { color: "var(--on-accent)", backgroundColor: "var(--accent)" },
  ".cm-completionDetail": { color: "var(--soft)", fontStyle: "normal", marginLeft: "0" },
  "li[aria-selected] .cm-completionDetail": { color: "inherit" },
  ".cm-completionMatchedText": { textDecoration: "none", fontWeight: "bold" },
  ".cm-tooltip.cm-completionInfo": { maxWidth: "320px", padding: "6px 10px", font: "12px/1.45 system-ui, sans-serif" },
  ".cm-diagnostic": { font: "13px/1.45 system-ui, sans-serif", maxWidth: "420px", whiteSpace: "pre-wrap" },
});

const basics = [
  theme, syntaxHighlighting(classHighlighter), highlightSpecialChars(), drawSelection(), bracketMatching(), codeFolding(),
  highlightSelectionMatches(), EditorState.tabSize.of(2), EditorState.allowMultipleSelections.of(true),
];
const editing = [
  lintGutter(), lineNumbers(), foldGutter(), highlightActiveLine(), highlightActiveLineGutter(), history(), indentOnInput(), closeBrackets(),
];
// Tab accepts a completion, else indents; after Escape it leaves the editor.
// In the gaps of a completed field it goes to the next one.
const gaps = snippetKeymap.of([
  { key: "Tab", run: (view) => acceptCompletion(view) || nextSnippetField(view), shift: prevSnippetField }, { key: "Escape", run: clearSnippet },
]);
const keys = [
  ...closeBracketsKeymap, ...completionKeymap, { key: "Tab", run: acceptCompletion }, ...searchKeymap, ...historyKeymap, ...foldKeymap, ...lintKeymap, indentWithTab, ...defaultKeymap,
];

// fieldText returns the snippet that accepting a field inserts: its name, its required arguments, and
// the braces of its selection. The cursor goes to the first gap, and Tab to the next.
function fieldText({ name, args, type }) {
  const required = args.filter(isRequiredArgument).map((arg) => `${arg.name}: ${isInputObjectType(getNullableType(arg.type)) ? "{ ${} }" : "${}"}`);
  return name + (required.length ? `(${required.join(", ")})` : "") + (isCompositeType(getNamedType(type)) ? " {\n\t${}\n}" : "");
}

// completions are what the schema allows at the cursor, $variables included.
function completions(schema) {
  return graphqlLanguage.data.of({
    autocomplete(context) {
      const word = context.matchBefore(/[$@]?\w*/);
      if (!schema() || (!word.text && !context.explicit && !/[($@]$/.test(context.state.sliceDoc(0, context.pos)))) return null;
      const text = context.state.doc.toString(), at = offsetToPos(context.state.doc, context.pos);
      const token = getTokenAtPosition(text, at, 1); // the one before the cursor, as getAutocompleteSuggestions takes it
      const found = getAutocompleteSuggestions(schema(), text, at, token);
      const { state, typeInfo } = getContextAtPosition(text, at, schema(), token) ?? {};
      const fields = ["SelectionSet", "Field", "AliasedField"].includes(state?.kind) && typeInfo.parentType?.getFields?.() || {};
      const options = found.filter((item) => item.label !== "__schema" && item.label !== "__type").map((item) => ({
        label: item.label.startsWith("@") || !word.text.startsWith("@") ? item.label : "@" + item.label,
        detail: item.detail ? String(item.detail) : "",
        info: item.documentation || item.deprecationReason || undefined,
        boost: item.isDeprecated ? -50 : item.label.startsWith("__") ? -10 : 0,
        apply: Object.hasOwn(fields, item.label) ? snippet(fieldText(fields[item.label])) : undefined,
      }));
      return options.length ? { from: word.from, options, validFor: /^[$@]?\w*$/ } : null;
    },
  });
}

// variableNames completes the names of the document's variables, as keys of the JSON object.
function variableNames(document) {
  return jsonLanguage.data.of({
    autocomplete(context) {
      const word = context.matchBefore(/"?\w*/), before = context.state.sliceDoc(0, word.from).trimEnd();
      if ((!word.text && !context.explicit) || !/^\{$|^\{[^{}[\]]*,$/.test(before)) return null;
      const quoted = word.text.startsWith('"');
      const apply = (view, { label }, from, to) => {
        const end = view.state.sliceDoc(to, to + 1) === '"' ? to + 1 : to, start = quoted ? from - 1 : from, insert = `"${label}": `;
        view.dispatch({ changes: { from: start, to: end, insert }, selection: { anchor: start + insert.length }, userEvent: "input.complete" });
      };
      const options = [...document().matchAll(/\$(\w+)\s*:\s*([\w![\]]+)/g)].map(([, label, detail]) => ({ label, detail, apply }));
      return options.length ? { from: quoted ? word.from + 1 : word.from, options, validFor: /^\w*$/ } : null;
    },
  });
}

// opened carries the variables that go with a document from elsewhere, so that
// undoing one undoes the other.
const opened = StateEffect.define();
const inverted = invertedEffects.of((transaction) => transaction.effects.filter((effect) => effect.is(opened))
  .map(({ value: { before, after, write } }) => opened.of({ before: after, after: before, write })));
const carried = EditorView.updateListener.of(({ transactions }) => {
  for (const { effects } of transactions) for (const effect of effects) if (effect.is(opened)) effect.value.write(effect.value.after);
});

const labelled = (label, described) => EditorView.contentAttributes.of({ "aria-label": label, ...(described && { "aria-describedby": described }) });
const changed = (tell) => EditorView.updateListener.of((update) => { if (update.docChanged) tell(); });

// documentState begins an editor of a GraphQL document. schema returns the
// schema, once there is one; change is called after each edit.
export function documentState(doc, { schema, change, describedBy, show, bindings }) {
  return EditorState.create({ doc, extensions: [
    Prec.highest(keymap.of(bindings)), keymap.of(keys), basics, editing, autocompletion({ icons: false }), gaps, graphqlLanguageSupport(), completions(schema),
    lint, jump, stateExtensions(schema(), { onShowInDocs: show }), inverted, carried, labelled("GraphQL document", describedBy), changed(change),
  ] });
}

// variablesState begins an editor of the variables, as JSON. document returns the
// text of the document whose variables they are.
export function variablesState(doc, { document, change, describedBy, bindings }) {
  const check = jsonParseLinter();
  return EditorState.create({ doc, extensions: [
    Prec.highest(keymap.of(bindings)), keymap.of(keys), basics, editing, autocompletion({ icons: false }), json(), variableNames(document), linter((view) => view.state.doc.toString().trim() ? check(view) : []),
    placeholder('{"id": "…"}'), labelled("Variables, as JSON", describedBy), changed(change),
  ] });
}

// Lines that begin with // come between the events of a subscription.
const separators = new MatchDecorator({ regexp: /^\/\/ .*$/gm, decoration: Decoration.mark({ class: "event" }) });
const events = ViewPlugin.define((view) => ({
  decorations: separators.createDeco(view), update(update) { this.decorations = separators.updateDeco(update, this.decorations); },
}), { decorations: (plugin) => plugin.decorations });

// answerState shows JSON that cannot be edited.
export function answerState(doc) {
  return EditorState.create({ doc, extensions: [
    keymap.of([...searchKeymap, ...foldKeymap, ...defaultKeymap]), basics, foldGutter(), events, json(), EditorView.lineWrapping,
    EditorState.readOnly.of(true), EditorView.editable.of(false), EditorView.contentAttributes.of({ tabindex: "0", role: "textbox", "aria-readonly": "true", "aria-multiline": "true" }), labelled("Answer, as JSON"),
  ] });
}

// replace writes a whole text, as one step that can be undone.
export function replace(view, text) {
  if (view.state.doc.toString() !== text) {
    view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text }, annotations: isolateHistory.of("full"), scrollIntoView: true });
  }
}

// open writes a document and its variables, as one step that can be undone.
export function open(view, text, variablesView, variables) {
  const before = variablesView.state.doc.toString();
  view.dispatch({
    changes: { from: 0, to: view.state.doc.length, insert: text }, selection: { anchor: 0 }, annotations: isolateHistory.of("full"), scrollIntoView: true,
    effects: opened.of({ before, after: variables, write: (text) => replace(variablesView, text) }),
  });
}

// prettify formats a document, or throws what is wrong with it. Comments stay:
// each becomes a line of its own before what it stood at.
export function prettify(text) {
  const document = parse(text), comments = [];
  for (let token = document.loc.startToken; token; token = token.next) if (token.kind === "Comment") comments.push(token);
  const mark = (i) => "__comment_" + i, topLevel = document.definitions.map(() => []), last = [];
  const inside = (node, at) => node.loc.start < at && at < node.loc.end;
  for (const [i, { start }] of comments.entries()) {
    let selectionSet;
    visit(document, { SelectionSet: (node) => { if (inside(node, start)) selectionSet = node; } });
    if (selectionSet) {
      const next = selectionSet.selections.findIndex(({ loc }) => loc.end > start);
      selectionSet.selections.splice(next < 0 ? selectionSet.selections.length : next, 0, { kind: "Field", name: { kind: "Name", value: mark(i) }, loc: { start, end: start } });
    } else {
      (topLevel[document.definitions.findIndex(({ loc }) => loc.end > start)] ?? last).push(mark(i));
    }
  }
  const blocks = document.definitions.map((definition, i) => [...topLevel[i], print(definition)].join("\n"));
  return [...blocks, ...(last.length ? [last.join("\n")] : [])].join("\n\n").replace(/__comment_(\d+)/g, (_, i) => "#" + comments[i].value) + "\n";
}
