// The page of the REST document: Swagger UI, and what it does otherwise here.
const token = document.body.dataset.token; // the demo's, else nothing

// onlyRequired keeps "Try it out" from sending what nobody chose: an example of
// a parameter that may be left out is told, and not filled in.
function onlyRequired(spec) {
  const at = [spec.components?.parameters, ...Object.values(spec.paths ?? {}).flatMap((path) => [path, ...Object.values(path)].map((o) => o?.parameters))];
  for (const parameter of at.flatMap((list) => Object.values(list ?? {}))) {
    if (parameter.required || parameter.example === undefined) continue;
    parameter.description = (parameter.description ?? "") + " Example: `" + parameter.example + "`.";
    delete parameter.example;
  }
  return spec;
}

// fold puts what is read once behind a click, so that Authorize and the
// operations are on top.
function fold() {
  const text = document.querySelector(".info .description .renderedMarkdown, .info .renderedMarkdown");
  if (!text || text.querySelector("details")) return;
  const details = document.createElement("details"), summary = document.createElement("summary");
  summary.textContent = "Bodies, answers, errors, lists, and the way to GraphQL";
  details.append(summary, ...[...text.children].slice(2));
  text.append(details);
}

const ui = SwaggerUIBundle({
  url: "/openapi.yaml",
  dom_id: "#docs",
  deepLinking: true,
  docExpansion: "list",
  defaultModelsExpandDepth: -1,
  validatorUrl: null,
  presets: [SwaggerUIBundle.presets.apis],
  plugins: [() => ({ statePlugins: { spec: { wrapActions: { updateJsonSpec: (original) => (spec) => original(onlyRequired(spec)) } } } })],
  onComplete() {
    if (token) ui.preauthorizeApiKey("bearer", token);
    fold();
    document.body.dataset.ready = "";
  },
});
