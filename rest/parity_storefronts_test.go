package rest_test

import (
	"encoding/json"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/stretchr/testify/require"

	"portico/store"
)

// drawConfigured draws options of a product, which may be a bundle, valid for its components or
// not.
func drawConfigured(d *dice) *parityCase {
	l := d.list("POST /catalog/products/:id/configure")
	q := &parityCase{method: "POST", headers: append(l.shopper(), d.catalog()...)}
	id := l.id(store.TypeProduct, pick(d, d.known.live...))
	if components := d.known.components; len(components) > 0 && d.chance(80) {
		id = pick(d, slices.Sorted(maps.Keys(components))...)
	}
	chosen, bad := map[string]map[string]any{}, false
	for component, options := range d.known.components[id] {
		chosen[component] = map[string]any{}
		for _, option := range options {
			if d.chance(60) {
				chosen[component][option] = 1 + d.IntN(3)
			}
		}
	}
	switch {
	case d.chance(5):
		chosen["no such part"] = map[string]any{"anvil": 1}
	case d.chance(5):
		chosen["wood"] = map[string]any{"nobody": 1}
	case d.chance(5):
		chosen["wood"] = map[string]any{"frame": pick(d, 0, -1, 1_000_001)}
	case d.chance(5):
		id = d.unknownProduct()
	case d.chance(5):
		q.client = d.rejectedClient()
	case d.chance(5):
		bad = true
	}
	choices := []any{}
	for _, component := range slices.Sorted(maps.Keys(chosen)) {
		options := []any{}
		for _, option := range slices.Sorted(maps.Keys(chosen[component])) {
			options = append(options, map[string]any{"id": option, "quantity": chosen[component][option]})
		}
		choices = append(choices, map[string]any{"component": component, "options": options})
	}
	include := l.includes(bad)
	l.variables["id"], l.variables["choices"] = id, choices
	q.target = l.address("/catalog/products/" + url.PathEscape(id) + "/configure")
	text, _ := json.Marshal(map[string]any{"data": map[string]any{"selected_options": chosen}}) // cannot fail
	q.body, q.variables = string(text), l.variables
	q.document = "query($id: ID!, $choices: [BundleChoiceInput!]!) { productConfigured(id: $id, choices: $choices) { ...configured product { " + productMembers(include) + " } } }"
	if q.client == asAdmin && d.chance(5) {
		q.body, q.raw = pick(d, "", "{", `{"data":{"selected_options":[]}}`, `{"data":{"selected_options":{"wood":{"frame":"two"}}}}`), "{"
	}
	q.same = func(t require.TestingT, rest, data map[string]any) {
		configured := data["productConfigured"].(map[string]any)
		product := configured["product"].(map[string]any)
		delete(configured, "product")
		maps.Copy(product, configured) // REST returns the choice with the product
		require.Equal(t, wireProduct(product), withoutRESTOnly(rest["data"].(map[string]any)))
		sameIncluded(t, rest, []any{product}, include)
	}
	return q
}

// file draws a file's id, sometimes an unknown one.
func (d *dice) file() string {
	if d.chance(15) || len(d.known.files) == 0 {
		return pick(d, "nobody", "a b", "00000000-0000-4000-8000-000000000000", strings.Repeat("x", 65))
	}
	return d.id(store.TypeFile, pick(d, d.known.files...))
}

func drawFiles(d *dice) *parityCase {
	l := d.list("GET /v2/files")
	q := &parityCase{method: "GET"}
	var resume *pageChoice
	request := func(l *drawnRequest) {
		l.where = "files"
		if l.chance(50) {
			return
		}
		ids, texts := []any{}, []string{}
		for range 1 + l.IntN(4) {
			id := l.file()
			ids, texts = append(ids, id), append(texts, l.quote(id))
		}
		l.query.Set("filter", "in(id,"+strings.Join(texts, ",")+")")
		l.argument("ids", "[ID!]", graphqlLiteral(ids), ids)
		l.where += " of " + strings.Join(texts, ",")
	}
	if places := d.cursors[l.coordinate]; len(places) > 0 && d.chance(35) {
		p := pick(d, places...)
		resume, request = &p, p.repeat
	}
	again := l.replayable(request)
	switch {
	case d.chance(15):
		l.badPage()
	case d.chance(10):
		l.badFileFilter()
		l.page(nil)
	case d.chance(10):
		q.client = d.rejectedClient()
	default:
		l.page(resume)
	}
	q.target = l.address("/v2/files")
	q.document = l.document("%s { files%s { totalCount pageInfo { hasNextPage hasPreviousPage startCursor endCursor } edges { cursor } nodes { ...file uuid } } }")
	q.variables = l.variables
	q.same = func(t require.TestingT, rest, data map[string]any) {
		list := data["files"].(map[string]any)
		l.samePage(t, rest, list, again)
		require.Equal(t, mapList(list["nodes"], func(f map[string]any) any { return wireFile(f) }), rest["data"])
	}
	return q
}

// badFileFilter draws an invalid filter.
func (l *drawnRequest) badFileFilter() {
	l.query.Del("filter")
	l.arguments = slices.DeleteFunc(l.arguments, func(argument string) bool { return strings.HasPrefix(argument, "ids:") })
	l.declared = slices.DeleteFunc(l.declared, func(variable string) bool { return strings.HasPrefix(variable, "$ids:") })
	delete(l.variables, "ids")
	many := strings.TrimSuffix(strings.Repeat("x,", 1_001), ",")
	bad := pick(l.dice,
		[2]string{"eq(file_name,a)", `fileName: "a"`},
		[2]string{"gt(id,a)", `ids: {gt: "a"}`},
		[2]string{"in(id,a):in(id,b)", `ids: ["a"], ids: ["b"]`},
		[2]string{"in(id", `ids: [`},
		[2]string{"in(id," + many + ")", `ids: ["` + strings.ReplaceAll(many, ",", `","`) + `"]`},
	)
	l.query.Set("filter", bad[0])
	l.arguments = append(l.arguments, bad[1])
}

func drawFile(d *dice) *parityCase {
	id := d.file()
	q := &parityCase{method: "GET", target: "/v2/files/" + url.PathEscape(id),
		document: `query($id: ID!) { file(id: $id) { ...file } }`, variables: map[string]any{"id": id}}
	if d.chance(20) {
		q.client = d.rejectedClient()
	}
	q.same = func(t require.TestingT, rest, data map[string]any) {
		require.Equal(t, wireFile(data["file"].(map[string]any)), rest["data"])
	}
	return q
}

func wireCurrency(c map[string]any) any {
	return map[string]any{"id": c["code"], "type": "currency", "code": c["code"], "default": c["default"], "enabled": true,
		"decimal_point":      c["decimalPoint"],
		"thousand_separator": c["thousandSeparator"], "decimal_places": c["decimalPlaces"], "format": c["format"],
		"exchange_rate": json.Number("1")}
}

func drawCurrencies(d *dice) *parityCase {
	q := &parityCase{method: "GET", target: pick(d, "/v2/currencies", "/v2/currencies/"),
		headers: append(d.list("").shopper(), d.catalog()...), document: `{ currencies { ...currency } }`}
	if d.chance(20) {
		q.client = d.rejectedClient()
	}
	q.same = func(t require.TestingT, rest, data map[string]any) {
		require.Equal(t, mapList(data["currencies"], wireCurrency), rest["data"])
	}
	return q
}

func drawCurrency(d *dice) *parityCase {
	code := pick(d, "USD", "EUR", "JPY", "usd", "XYZ", "nobody")
	q := &parityCase{method: "GET", target: "/v2/currencies/" + code, headers: d.list("").shopper(),
		document: `{ currencies { ...currency } }`}
	if d.chance(20) {
		q.client = d.rejectedClient()
	}
	q.same = func(t require.TestingT, rest, data map[string]any) {
		require.Contains(t, mapList(data["currencies"], wireCurrency), rest["data"])
		require.Equal(t, code, rest["data"].(map[string]any)["code"])
	}
	q.absent = func(data map[string]any) bool {
		list, _ := data["currencies"].([]any)
		return list != nil && !slices.ContainsFunc(list, func(c any) bool { return c.(map[string]any)["code"] == code })
	}
	return q
}

func drawLocations(d *dice) *parityCase {
	q := &parityCase{method: "GET", target: pick(d, "/v2/inventories/locations", "/v2/inventories/locations/"),
		document: `{ stockLocations { uuid name description address } }`}
	if d.chance(20) {
		q.client = d.rejectedClient()
	}
	q.same = func(t require.TestingT, rest, data map[string]any) {
		require.Equal(t, mapList(data["stockLocations"], func(l map[string]any) any {
			return map[string]any{"id": l["uuid"], "type": "inventory_location",
				"attributes": map[string]any{"name": l["name"], "description": l["description"],
					"external_ref": "", "address": l["address"], "geolocation": nil}}
		}), rest["data"])
	}
	return q
}
