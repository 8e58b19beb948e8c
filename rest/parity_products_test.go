package rest_test

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/stretchr/testify/require"

	"portico/store"
	"portico/store/release"
)

// source is a list or an object in both APIs: a REST path, and an edge of a GraphQL field.
type source struct {
	coordinate string
	root, edge string               // GraphQL's: root is a field with an id, or empty
	id         func(*dice) string   // an existing id
	unknown    func(d *dice) string // an unknown id
}

// path is the REST path for an id.
func (s source) path(id string) string {
	_, path, _ := strings.Cut(s.coordinate, " ")
	return strings.Replace(path, ":id", url.PathEscape(id), 1)
}

// rowByID returns the argument of a field that finds a row by its id.
func rowByID(field string) string {
	if field == "product" || field == "catalogNode" {
		return "(by: {id: $id})"
	}
	return "(id: $id)"
}

// field is the GraphQL field; %s takes the edge's arguments.
func (s source) field(members string) string {
	if s.root == "" {
		return "{ " + s.edge + "%s { " + members + " } }"
	}
	return "{ " + s.root + rowByID(s.root) + " { " + s.edge + "%s { " + members + " } } }"
}

// list returns the list in a GraphQL response.
func (s source) list(data map[string]any) map[string]any {
	if s.root != "" {
		data = data[s.root].(map[string]any)
	}
	return data[s.edge].(map[string]any)
}

// productSources are the lists of products.
func productSources() []source {
	node := func(d *dice) string { return d.id(store.TypeCatalogNode, pick(d, d.known.nodes...)) }
	root := func(d *dice) string { return d.id(store.TypeHierarchy, pick(d, d.known.hierarchies...)) }
	product := func(d *dice) string { return d.id(store.TypeProduct, pick(d, d.known.live...)) }
	return []source{
		{"GET /catalog/nodes/:id/relationships/products", "catalogNode", "products", node, (*dice).unknownNode},
		{"GET /catalog/hierarchies/:id/products", "hierarchy", "products", root, (*dice).unknownNode},
		{"GET /catalog/products", "", "products", nil, nil},
		{"GET /catalog/products/:id/relationships/children", "product", "childrenConnection", product, (*dice).unknownProduct},
		{"GET /catalog/products/:id/relationships/component_products", "product", "componentProductsConnection", product, (*dice).unknownProduct},
	}
}

// unknownProduct is an id that no product of the catalog has.
func (d *dice) unknownProduct() string {
	return pick(d, "nobody", "drill-draft", "00000000-0000-4000-8000-000000000000", "a b", "é", "*", strings.Repeat("x", 65),
		store.GlobalID(store.TypeProduct, "nobody"))
}

// drawProducts draws a request for a list of products. At most one thing is wrong with it,
// because the APIs may report different errors first.
func drawProducts(of source) func(*dice) *parityCase {
	return func(d *dice) *parityCase {
		l := d.list(of.coordinate)
		l.orderKind = "ProductOrder"
		q := &parityCase{method: "GET", headers: l.shopper()}
		id := "all"
		if of.id != nil {
			id = of.id(d)
		}
		var resume *pageChoice
		request := func(l *drawnRequest) {
			l.where = store.LocalID(id)
			l.order()
			l.productFilter()
		}
		if places := d.cursors[l.coordinate]; len(places) > 0 && d.chance(35) {
			p := pick(d, places...)
			resume, request = &p, p.repeat
			id = strings.Fields(p.where)[0]
		}
		again := l.replayable(request)
		fault := ""
		if d.chance(25) {
			fault = pick(d, "page", "page", "page", "filter", "filter", "include", "id", "id", "who")
		}
		switch {
		case fault == "":
			q.headers = append(q.headers, d.catalog()...)
			l.page(resume)
		case fault == "page":
			l.badPage()
		case fault == "filter":
			l.badProductFilter()
		case fault == "id" && of.id != nil:
			id = of.unknown(d)
			l.page(nil)
		default:
			l.page(resume)
		}
		if fault == "who" {
			q.client = d.rejectedClient()
		}
		include := l.includes(fault == "include")
		if of.id != nil {
			l.declared, l.variables["id"] = append(l.declared, "$id: ID!"), id
		} else {
			l.arguments = append(l.arguments, "includeChildren: true")
		}
		q.target = l.address(of.path(id))
		q.document = l.document("%s " + of.field("totalCount pageInfo { hasNextPage hasPreviousPage startCursor endCursor } edges { cursor curated node { "+productMembers(include)+" } }"))
		q.variables = l.variables
		q.same = func(t require.TestingT, rest, data map[string]any) {
			list := of.list(data)
			l.samePage(t, rest, list, again)
			rows, edges := rest["data"].([]any), list["edges"].([]any)
			products := rowsOf(list)
			for i := range products {
				if strings.HasSuffix(of.coordinate, "/component_products") {
					require.Equal(t, map[string]any{"type": "product", "id": products[i].(map[string]any)["uuid"]}, rows[i])
					continue
				}
				require.Equal(t, wireListed(edges[i].(map[string]any)), withoutRESTOnly(rows[i].(map[string]any)))
			}
			sameIncluded(t, rest, products, include)
		}
		return q
	}
}

// drawProduct draws a request for a product.
func drawProduct(d *dice) *parityCase {
	l := d.list("GET /catalog/products/:id")
	q := &parityCase{method: "GET", headers: append(l.shopper(), d.catalog()...)}
	id := l.id(store.TypeProduct, pick(d, d.known.live...))
	bad := false
	switch {
	case d.chance(10):
		id = d.unknownProduct()
	case d.chance(10):
		q.client = d.rejectedClient()
	case d.chance(10):
		bad = true
	}
	include := l.includes(bad)
	l.declared, l.variables["id"] = []string{"$id: ID!"}, id
	q.target = l.address("/catalog/products/" + url.PathEscape(id))
	q.document, q.variables = "query($id: ID!) { product(by: {id: $id}) { "+productMembers(include)+" } }", l.variables
	q.same = func(t require.TestingT, rest, data map[string]any) {
		product := data["product"].(map[string]any)
		require.Equal(t, wireProduct(product), withoutRESTOnly(rest["data"].(map[string]any)))
		sameIncluded(t, rest, []any{product}, include)
	}
	return q
}

// replayable draws an order and filter, and returns a function that adds the same to another
// request.
func (l *drawnRequest) replayable(request func(*drawnRequest)) func(*drawnRequest) {
	request(l)
	query, arguments, declared, variables, where := url.Values{}, slices.Clone(l.arguments), slices.Clone(l.declared),
		map[string]any{}, l.where
	for name, values := range l.query {
		query[name] = slices.Clone(values)
	}
	for name, value := range l.variables {
		variables[name] = value
	}
	return func(other *drawnRequest) {
		for name, values := range query {
			other.query[name] = values
		}
		for name, value := range variables {
			other.variables[name] = value
		}
		other.arguments, other.declared, other.where = slices.Clone(arguments), slices.Clone(declared), where
	}
}

// productFilter draws a filter of up to three conditions, or none.
func (l *drawnRequest) productFilter() {
	n := pick(l.dice, 0, 0, 0, 1, 1, 1, 2, 3)
	if n == 0 {
		return
	}
	var conditions []string
	var inputs []any
	for range n {
		condition, input := l.productCondition()
		conditions, inputs = append(conditions, condition), append(inputs, input)
	}
	separator := pick(l.dice, ":", " : ", ",", ", ")
	l.query.Set("filter", strings.Join(conditions, separator))
	l.argument("filter", "ProductFilter", graphqlLiteral(map[string]any{"and": inputs}), map[string]any{"and": inputs})
	l.where += " where " + fmt.Sprintf("%q", inputs)
}

func (l *drawnRequest) productCondition() (condition string, input any) {
	if l.chance(35) {
		condition, key, operator, value := l.bound()
		return condition, map[string]any{"bounds": map[string]any{key: map[string]any{operator: value}}}
	}
	attribute := pick(l.dice, release.FilterAttributes()...)
	operator, values := "in", []any{}
	if attribute != "id" && l.chance(50) {
		operator = "eq"
	}
	var texts []string
	for range 1 + l.IntN(4) {
		value := l.value(attribute)
		values, texts = append(values, value), append(texts, l.quote(value))
		if operator == "eq" {
			break
		}
	}
	space := pick(l.dice, "", " ")
	condition = operator + "(" + attribute + "," + space + strings.Join(texts, ","+space) + ")"
	if operator == "eq" {
		return condition, map[string]any{graphqlMember(attribute): map[string]any{"eq": values[0]}}
	}
	if attribute == "id" {
		return condition, map[string]any{"ids": values}
	}
	return condition, map[string]any{graphqlMember(attribute): map[string]any{"in": values}}
}

// graphqlMember returns an attribute as GraphQL spells it.
func graphqlMember(attribute string) string {
	parts := strings.Split(attribute, "_")
	for i := 1; i < len(parts); i++ {
		parts[i] = strings.ToUpper(parts[i][:1]) + parts[i][1:]
	}
	return strings.Join(parts, "")
}

// graphqlLiteral returns a value as a GraphQL literal. It does not support enums.
func graphqlLiteral(value any) string {
	switch value := value.(type) {
	case map[string]any:
		var members []string
		for name, member := range value {
			members = append(members, name+": "+graphqlLiteral(member))
		}
		slices.Sort(members)
		return "{" + strings.Join(members, ", ") + "}"
	case []any:
		items := make([]string, len(value))
		for i, item := range value {
			items[i] = graphqlLiteral(item)
		}
		return "[" + strings.Join(items, ", ") + "]"
	case string:
		return string(store.AppendString(nil, value))
	}
	return fmt.Sprint(value)
}

// badProductFilter draws an invalid filter.
func (l *drawnRequest) badProductFilter() {
	l.query.Del("filter")
	l.arguments = slices.DeleteFunc(l.arguments, func(argument string) bool { return strings.HasPrefix(argument, "filter:") })
	l.declared = slices.DeleteFunc(l.declared, func(variable string) bool { return strings.HasPrefix(variable, "$filter:") })
	delete(l.variables, "filter")
	many := strings.TrimSuffix(strings.Repeat("x,", 1_001), ",")
	bad := pick(l.dice,
		[2]string{"eq(sku", `{sku: {eq: }}`},
		[2]string{"eq(sku,)", `{sku: {eq: }}`},
		[2]string{`eq(sku,"A)`, `{sku: {eq: "A}}`},
		[2]string{"eq sku A", `{sku}`},
		[2]string{"eq(sku,A),", `{sku: {eq: "A"}, and: }`},
		[2]string{"eq(sku,A):", `{sku: {eq: "A"}, and: }`},
		[2]string{"eq(sku,A)|eq(sku,B)", `{or: []}`},
		[2]string{"eq(colour,red)", `{colour: {eq: "red"}}`},
		[2]string{"eq(Name,A)", `{Name: {eq: "A"}}`},
		[2]string{"like(name,*A*)", `{name: {like: "*A*"}}`},
		[2]string{"EQ(name,A)", `{name: {EQ: "A"}}`},
		[2]string{"eq(id,A)", `{id: {eq: "A"}}`},
		[2]string{"eq(sku,A,B)", `{sku: {eq: ["A", "B"]}}`},
		[2]string{"gt(name,A)", `{bounds: {name: {gt: "A"}}}`},
		[2]string{"gt(updated_at,yesterday)", `{bounds: {updatedAt: {gt: "yesterday"}}}`},
		[2]string{"gt(updated_at,2012-13-01)", `{bounds: {updatedAt: {gt: "2012-13-01"}}}`},
		[2]string{"gt(id,a,b)", `{bounds: {id: {gt: ["a", "b"]}}}`},
		[2]string{"in(sku," + many + ")", `{sku: {in: ["` + strings.ReplaceAll(many, ",", `","`) + `"]}}`},
		[2]string{strings.TrimSuffix(strings.Repeat("eq(sku,A):", 11), ":"), `{and: [` + strings.Repeat(`{sku: {eq: "A"}} `, 11) + `]}`},
		[2]string{"eq(sku,\x00)", `{sku: {eq: "\u0000"}}`},
		[2]string{"gt(id,\x00)", `{bounds: {id: {gt: "\u0000"}}}`},
	)
	l.query.Set("filter", bad[0])
	l.arguments = append(l.arguments, "filter: "+bad[1])
}

// includes draws included resources, sometimes an unknown one.
func (l *drawnRequest) includes(bad bool) (names []string) {
	names = slices.DeleteFunc([]string{"component_products", "main_image", "files"}, func(string) bool { return l.chance(60) })
	l.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	if bad {
		names = append(names, pick(l.dice, "prices", "main_images", "Files"))
	}
	if len(names) > 0 {
		l.query.Set("include", strings.Join(names, pick(l.dice, ",", ", ")))
	}
	return names
}

// rowsOf returns the rows of a connection, from its nodes or its edges.
func rowsOf(list map[string]any) []any {
	if rows, bare := list["nodes"].([]any); bare {
		return rows
	}
	return mapList(list["edges"], func(e map[string]any) any { return e["node"] })
}

// samePage compares rows, totals and links, and keeps the cursors for later requests.
func (l *drawnRequest) samePage(t require.TestingT, rest, list map[string]any, again func(*drawnRequest)) {
	var ids []string
	for _, row := range rest["data"].([]any) {
		ids = append(ids, row.(map[string]any)["id"].(string))
	}
	var uuids []string
	for _, node := range rowsOf(list) {
		uuids = append(uuids, node.(map[string]any)["uuid"].(string))
	}
	require.Equal(t, uuids, ids, "the same rows in the same order")
	meta := rest["meta"].(map[string]any)
	require.Equal(t, list["totalCount"], meta["results"].(map[string]any)["total"], "the same total")
	info, links := list["pageInfo"].(map[string]any), rest["links"].(map[string]any)
	require.Equal(t, info["hasNextPage"].(bool) && len(ids) > 0, links["next"] != nil, "both or neither have a next page")
	if links["prev"] != nil {
		require.True(t, info["hasPreviousPage"].(bool), "both have a previous page")
	}
	if len(ids) == 0 {
		return
	}
	edges, _ := list["edges"].([]any)
	if len(edges) == 0 || edges[0].(map[string]any)["cursor"] == nil { // the route's operation selects no cursors
		return
	}
	var places []pageChoice
	for _, edge := range []any{edges[0], edges[len(edges)-1], edges[l.IntN(len(edges))]} {
		cursor := edge.(map[string]any)["cursor"].(string)
		places = append(places, pageChoice{parameter: cursor, cursor: cursor})
	}
	if next, ok := links["next"].(string); ok {
		address, err := url.Parse(next)
		require.NoError(t, err)
		if parameter := address.Query().Get("page[after]"); parameter != "" {
			require.Equal(t, info["endCursor"], parameter, "the link has the cursor")
			places = append(places, pageChoice{parameter: parameter, cursor: parameter})
		}
	}
	l.keep(again, places...)
}

// sameIncluded compares the included resources with the edges of all rows.
func sameIncluded(t require.TestingT, rest map[string]any, products []any, names []string) {
	if len(names) == 0 {
		require.NotContains(t, rest, "included")
		return
	}
	images, files, components := []any{}, []any{}, []any{}
	add := func(list *[]any, resource map[string]any) {
		if !slices.ContainsFunc(*list, func(known any) bool { return known.(map[string]any)["id"] == resource["id"] }) {
			*list = append(*list, resource)
		}
	}
	for _, node := range products {
		product := node.(map[string]any)
		if image, ok := product["mainImage"].(map[string]any); ok && slices.Contains(names, "main_image") {
			add(&images, wireFile(image))
		}
		for _, file := range product["files"].([]any) {
			if slices.Contains(names, "files") {
				add(&files, wireFile(file.(map[string]any)["file"].(map[string]any)))
			}
		}
		if slices.Contains(names, "component_products") {
			for _, component := range product["componentProducts"].([]any) {
				add(&components, wireProduct(component.(map[string]any)))
			}
		}
	}
	included := rest["included"].(map[string]any)
	for _, component := range included["component_products"].([]any) {
		withoutRESTOnly(component.(map[string]any))
	}
	require.Equal(t, map[string]any{"main_images": images, "files": files, "component_products": components}, included)
}
