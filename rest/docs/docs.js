// The REST documentation: Swagger UI with small changes.
const token = document.body.dataset.token; // only set by the demo

// onlyRequired moves examples of optional parameters into their descriptions,
// so that "Try it out" does not send them.
function onlyRequired(spec) {
  const at = [spec.components?.parameters, ...Object.values(spec.paths ?? {}).flatMap((path) => [path, ...Object.values(path)].map((o) => o?.parameters))];
  for (const parameter of at.flatMap((list) => Object.values(list ?? {}))) {
    if (parameter.required || parameter.example === undefined) continue;
    parameter.description = (parameter.description ?? "") + " Example: `" + parameter.example + "`.";
    delete parameter.example;
  }
  return spec;
}

// fold collapses most of the introduction, so that Authorize and the operations
// are near the top.
function fold() {
  const text = document.querySelector(".info .description .renderedMarkdown, .info .renderedMarkdown");
  if (!text || text.querySelector("details")) return;
  const details = document.createElement("details"), summary = document.createElement("summary");
  summary.textContent = "Bodies, responses, errors, lists and GraphQL";
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
