// Fills the variables of examples with what the shop has: in a shop that is not
// the demo, the ids in examples.graphql name nothing. ids.graphql has the queries.

const words = /[\p{L}\p{N}]+/u;

// A finder has an operation and its variables, made of the example's; what of
// the answer replaces the example's variables; and what the shop lacks if one of
// those is undefined. ask runs a further operation.
const product = {
  operation: "Product", of: ({ slug }) => ({ slug }), lacks: "products with a slug",
  fill: ({ products: { nodes } }) => ({ slug: (nodes.find((p) => p.baseProduct && p.slug) ?? nodes.find((p) => p.slug))?.slug }),
};
const stock = (of, fill) => ({ operation: "Stock", of: (given) => ({ id: of(given) }), lacks: "stock records", fill: ({ stocks: { nodes } }, given) => fill(nodes.map((s) => s.uuid), given) });
const promotion = (of, fill) => ({
  operation: "Promotion", of: (given) => ({ id: of(given) }), lacks: "promotions with codes", fill: ({ promotions: { nodes } }, given) => fill(nodes.find((p) => !p.automatic)?.uuid, given),
});

const finders = {
  product, language: product,
  node: { operation: "Node", of: ({ id }) => ({ id }), lacks: "nodes with products", fill: ({ products: { nodes } }) => ({ id: nodes[0]?.catalogNodes[0]?.uuid }) },
  bundle: {
    operation: "Bundle", of: ({ id }) => ({ id }), lacks: "bundles among its first 50 products",
    fill({ products: { nodes } }) {
      const chosen = (p) => p.bundleChoices, bundle = nodes.find((p) => chosen(p).length);
      const choice = bundle && chosen(bundle).map(({ component, options }) => ({ component, options: options.map(({ uuid: id, quantity }) => ({ id, quantity })) }));
      return { id: bundle?.uuid, choice };
    },
  },
  filters: { operation: "Tag", of: ({ filter }) => ({ filter }), lacks: "tags", fill: ({ products: { facets: { groups: [group] } } }) => ({ filter: group && { tags: { eq: group.values[0].value } } }) },
  search: { operation: "Words", of: ({ words }) => ({ words }), lacks: "products", fill: ({ products: { nodes } }) => ({ words: words.exec(nodes[0]?.name ?? "")?.[0] }) },
  stock: stock(({ id }) => id, ([id]) => ({ id })),
  live: stock(({ ids }) => ids[0], (ids) => ({ ids: ids.length ? ids : undefined })),
  transact: stock(({ input }) => input.changes[0].productId, ([productId], { input }) => ({ input: productId && { ...input, changes: [{ ...input.changes[0], productId }] } })),
  codes: promotion(({ promotion }) => promotion, (promotion) => ({ promotion })),
  generate: promotion(({ input }) => input.promotionId, (promotionId, { input }) => ({ input: promotionId && { ...input, promotionId } })),
  code: {
    operation: "Code", of: ({ code }) => ({ code }), lacks: "codes in its first 10 promotions",
    async fill({ promotions: { nodes } }, given, ask) {
      for (const { uuid } of nodes.filter((p) => !p.automatic)) {
        const [found] = (await ask("CodeOf", { promotion: uuid })).promotion.codes.nodes;
        if (found) return found;
      }
      return { code: undefined };
    },
  },
  publish: { operation: "Catalog", of: ({ input }) => ({ id: input.catalogId }), lacks: "catalogs", fill: ({ catalogs: { nodes: [catalog] } }) => ({ input: catalog && { catalogId: catalog.uuid } }) },
};

// asking returns how to run an operation of ids.graphql, whose text document is:
// it returns the operation's data, or throws the message of its first error.
// headers returns the headers of a request.
export function asking(document, headers) {
  const query = document.replace(/^# .*\n/gm, "").trim();
  return async (operationName, variables) => {
    const body = JSON.stringify({ query, operationName, variables });
    const response = await fetch("graphql", { method: "POST", headers: { ...headers(), "Content-Type": "application/json" }, body, signal: AbortSignal.timeout(5000) });
    const { data, errors } = await response.json();
    if (errors?.length) throw new Error(errors[0].message ?? errors[0].detail);
    return data;
  };
}

// fillExample returns the variables of an example for this shop, and a note of
// what the reader should know of them. ask is what asking returns.
export async function fillExample(name, given, ask) {
  const finder = finders[name];
  if (!finder) return { variables: given, note: "" };
  try {
    const data = await ask(finder.operation, finder.of(given));
    if (data.given && data.given.totalCount !== 0) return { variables: given, note: "" };
    const found = await finder.fill(data, given, ask);
    if (Object.values(found).includes(undefined)) return { variables: given, note: `This shop has no ${finder.lacks}. The variables are those of the demo shop.` };
    return { variables: { ...given, ...found }, note: "The variables name data of this shop." };
  } catch (error) { return { variables: given, note: "Looking up data of this shop failed, so the variables are those of the demo shop. " + error.message }; }
}
