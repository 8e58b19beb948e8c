package rest_test

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/stretchr/testify/require"

	"portico/store"
)

const (
	hierarchyMembers = `...hierarchy`
	nodeMembers      = `...node`
)

// nodeSources are the lists of nodes and of hierarchies.
func nodeSources() []source {
	node := func(d *dice) string { return d.id(store.TypeCatalogNode, pick(d, d.known.nodes...)) }
	root := func(d *dice) string { return d.id(store.TypeHierarchy, pick(d, d.known.hierarchies...)) }
	return []source{
		{"GET /catalog/nodes", "", "catalogNodes", nil, nil},
		{"GET /catalog/nodes/:id/relationships/children", "catalogNode", "children", node, (*dice).unknownNode},
		{"GET /catalog/hierarchies", "", "hierarchies", nil, nil},
		{"GET /catalog/hierarchies/:id/children", "hierarchy", "children", root, (*dice).unknownNode},
		{"GET /catalog/hierarchies/:id/nodes", "hierarchy", "allNodes", root, (*dice).unknownNode},
	}
}

// drawNodes draws a request for a list of nodes.
func drawNodes(of source) func(*dice) *parityCase {
	members, wire := nodeMembers, wireNode
	if of.edge == "hierarchies" {
		members, wire = hierarchyMembers, wireHierarchy
	}
	return func(d *dice) *parityCase {
		l := d.list(of.coordinate)
		l.orderKind, l.keys = "CatalogNodeOrder", []string{"id", "name", "created_at", "updated_at"}
		q := &parityCase{method: "GET"}
		id := "all"
		if of.id != nil {
			id = of.id(d)
		}
		var resume *pageChoice
		request := func(l *drawnRequest) {
			l.where = store.LocalID(id)
			l.order()
			l.nodeFilter()
		}
		if places := d.cursors[l.coordinate]; len(places) > 0 && d.chance(35) {
			p := pick(d, places...)
			resume, request = &p, p.repeat
			id = strings.Fields(p.where)[0]
		}
		fault := ""
		if d.chance(25) {
			fault = pick(d, "page", "page", "filter", "id", "who")
		}
		if fault == "filter" {
			resume, request = nil, (*drawnRequest).badNodeFilter
		}
		again := l.replayable(request)
		switch {
		case fault == "":
			q.headers = d.catalog()
			l.page(resume)
		case fault == "page":
			l.badPage()
		case fault == "id" && of.id != nil:
			id = of.unknown(d)
			l.page(nil)
		default:
			l.page(resume)
		}
		if fault == "who" {
			q.client = d.rejectedClient()
		}
		if of.id != nil {
			l.declared, l.variables["id"] = append(l.declared, "$id: ID!"), id
		}
		q.target = l.address(of.path(id))
		q.document = l.document("%s " + of.field("totalCount pageInfo { hasNextPage hasPreviousPage endCursor } edges { cursor } nodes { "+members+" }"))
		q.variables = l.variables
		q.same = func(t require.TestingT, rest, data map[string]any) {
			list := of.list(data)
			l.samePage(t, rest, list, again)
			require.Equal(t, mapList(list["nodes"], wire), rest["data"])
		}
		return q
	}
}

// nodeFilter draws conditions, one for each attribute.
func (l *drawnRequest) nodeFilter() {
	var conditions []string
	filter := map[string]any{}
	if l.chance(20) {
		ids := []any{}
		var texts []string
		for range 1 + l.IntN(4) {
			id := l.id(store.TypeCatalogNode, pick(l.dice, append([]string{"nowhere"}, l.known.nodes...)...))
			ids, texts = append(ids, id), append(texts, l.quote(id))
		}
		conditions, filter["ids"] = append(conditions, "in(id,"+strings.Join(texts, ",")+")"), ids
	}
	for _, attribute := range []string{"name", "slug"} {
		if !l.chance(15) {
			continue
		}
		value, other := pick(l.dice, l.known.texts...), pick(l.dice, l.known.texts...)
		if l.chance(50) {
			conditions, filter[attribute] = append(conditions, "eq("+attribute+","+l.quote(value)+")"), map[string]any{"eq": value}
		} else {
			conditions, filter[attribute] = append(conditions, "in("+attribute+","+l.quote(value)+","+l.quote(other)+")"),
				map[string]any{"in": []any{value, other}}
		}
	}
	if l.chance(25) {
		operator := pick(l.dice, "gt", "ge", "lt", "le")
		attribute, key, value := "updated_at", "updatedAt", l.time()
		switch l.IntN(3) {
		case 0:
			attribute, key = "created_at", "createdAt"
		case 1:
			attribute, key, value = "id", "id", l.id(store.TypeCatalogNode, pick(l.dice, l.known.nodes...))
		}
		conditions, filter["bounds"] = append(conditions, operator+"("+attribute+","+l.quote(value)+")"),
			map[string]any{key: map[string]any{operator: value}}
	}
	if len(conditions) == 0 {
		return
	}
	l.query.Set("filter", strings.Join(conditions, ":"))
	l.argument("filter", "CatalogNodeFilter", graphqlLiteral(filter), filter)
	l.where += " where " + fmt.Sprint(conditions)
}

// badNodeFilter draws an invalid filter.
func (l *drawnRequest) badNodeFilter() {
	bad := pick(l.dice,
		[2]string{"eq(name", `{name: {eq: }}`},
		[2]string{"eq(id,a)", `{ids: {eq: "a"}}`},
		[2]string{"eq(sku,a)", `{sku: {eq: "a"}}`},
		[2]string{"like(name,*a*)", `{name: {like: "*a*"}}`},
		[2]string{"eq(name,a,b)", `{name: {eq: ["a", "b"]}}`},
		[2]string{"eq(name,a):eq(name,b)", `{name: {eq: "a", eq: "b"}}`},
		[2]string{"gt(updated_at,later)", `{bounds: {updatedAt: {gt: "later"}}}`},
		[2]string{"gt(id,\x00)", `{bounds: {id: {gt: "\u0000"}}}`},
		[2]string{"eq(slug,\x00)", `{slug: {eq: "\u0000"}}`},
	)
	l.query.Set("filter", bad[0])
	l.arguments = append(l.arguments, "filter: "+bad[1])
}

// drawNode draws a request for a node, or for a hierarchy as a node.
func drawNode(d *dice) *parityCase {
	return d.one("/catalog/nodes/", store.TypeCatalogNode, d.known.nodes, "catalogNode", nodeMembers, wireNode)
}

// drawHierarchy draws a request for a hierarchy.
func drawHierarchy(d *dice) *parityCase {
	return d.one("/catalog/hierarchies/", store.TypeHierarchy, d.known.hierarchies, "hierarchy", hierarchyMembers, wireHierarchy)
}

func (d *dice) one(path, kind string, known []string, field, members string, wire func(map[string]any) any) *parityCase {
	id := d.id(kind, pick(d, known...))
	q := &parityCase{method: "GET", headers: d.catalog()}
	switch {
	case d.chance(10):
		id = d.unknownNode()
	case d.chance(10):
		q.client = d.rejectedClient()
	}
	q.target = path + url.PathEscape(id) + pick(d, "", "/", "?include=files")
	q.document, q.variables = "query($id: ID!) { "+field+rowByID(field)+" { "+members+" } }", map[string]any{"id": id}
	q.same = func(t require.TestingT, rest, data map[string]any) {
		require.Equal(t, wire(data[field].(map[string]any)), rest["data"])
		require.Equal(t, map[string]any{"self": path + url.PathEscape(id)}, rest["links"])
	}
	return q
}

// drawCatalog draws a request for the shopper's catalog.
func drawCatalog(d *dice) *parityCase {
	q := &parityCase{method: "GET", target: "/catalog" + pick(d, "", "/"), headers: d.catalog(),
		document: `{ catalogRelease { uuid catalogUuid catalogName publishedAt locale } hierarchies(first: 100) { nodes { uuid name locale } } catalogNodes(first: 1) { totalCount } products(first: 1, includeChildren: true) { totalCount } }`}
	if d.chance(10) {
		q.client = d.rejectedClient()
	}
	q.same = func(t require.TestingT, rest, data map[string]any) {
		shown, hierarchies := data["catalogRelease"].(map[string]any), data["hierarchies"].(map[string]any)["nodes"]
		release := rest["data"].(map[string]any)
		require.Equal(t, shown["uuid"], release["id"])
		require.Equal(t, map[string]any{"name": shown["catalogName"], "description": "", "catalog_id": shown["catalogUuid"],
			"published_at": withoutZone(shown["publishedAt"]),
			"hierarchies": mapList(hierarchies, func(h map[string]any) any {
				return map[string]any{"id": h["uuid"], "name": h["name"], "label": h["name"]}
			})}, release["attributes"])
		meta := release["meta"].(map[string]any)
		require.Equal(t, data["catalogNodes"].(map[string]any)["totalCount"], meta["total_nodes"])
		require.Equal(t, data["products"].(map[string]any)["totalCount"], meta["total_products"])
		require.Equal(t, shown["locale"], meta["language"])
	}
	return q
}

// wireHierarchy converts a hierarchy of GraphQL to REST's shape.
func wireHierarchy(h map[string]any) any {
	path := "/catalog/hierarchies/" + h["uuid"].(string)
	return map[string]any{
		"id": h["uuid"], "type": "hierarchy",
		"attributes": map[string]any{"name": h["name"], "slug": orEmpty(h["slug"]), "description": orEmpty(h["description"]),
			"shopper_attributes": map[string]any{},
			"created_at":         withoutZone(h["createdAt"]), "updated_at": withoutZone(h["updatedAt"]), "published_at": withoutZone(h["publishedAt"])},
		"relationships": map[string]any{"children": wireLink(path + "/children"), "nodes": wireLink(path + "/nodes"),
			"products": wireLink(path + "/products")},
		"meta": map[string]any{"language": h["locale"], "breadcrumbs": []any{}, "has_children": h["hasChildren"], "owner": "store"},
	}
}

// wireNode converts a node of GraphQL to REST's shape.
func wireNode(n map[string]any) any {
	id, hierarchy := n["uuid"].(string), n["hierarchy"].(map[string]any)["uuid"].(string)
	kind := "node"
	if id == hierarchy {
		kind = "hierarchy"
	}
	parent := map[string]any{"data": nil, "links": map[string]any{"related": nil}}
	p, ok := n["parent"].(map[string]any)
	if !ok && kind == "node" { // a root node: the hierarchy
		p, ok = n["hierarchy"].(map[string]any)
	}
	if ok {
		parent = map[string]any{"data": map[string]any{"type": "node", "id": p["uuid"]},
			"links": map[string]any{"related": "/catalog/nodes/" + p["uuid"].(string)}}
	}
	path := "/catalog/nodes/" + id + "/relationships/"
	return map[string]any{
		"id": id, "type": kind,
		"attributes": map[string]any{"name": n["name"], "label": n["name"], "slug": orEmpty(n["slug"]), "description": orEmpty(n["description"]),
			"status": "live", "shopper_attributes": map[string]any{},
			"curated_products": mapList(n["curatedProducts"], func(p map[string]any) any { return p["uuid"] }),
			"created_at":       withoutZone(n["createdAt"]), "updated_at": withoutZone(n["updatedAt"]), "published_at": withoutZone(n["publishedAt"])},
		"relationships": map[string]any{"parent": parent, "children": wireLink(path + "children"), "products": wireLink(path + "products"),
			"hierarchy": map[string]any{"data": map[string]any{"type": "hierarchy", "id": hierarchy},
				"links": map[string]any{"related": "/catalog/hierarchies/" + hierarchy}}},
		"meta": map[string]any{"language": n["locale"], "has_children": n["hasChildren"],
			"bread_crumb": mapList(n["breadcrumbs"], func(c map[string]any) any { return c["uuid"] }),
			"breadcrumbs": mapList(n["breadcrumbs"], func(c map[string]any) any {
				return map[string]any{"id": c["uuid"], "name": c["name"], "slug": orEmpty(c["slug"])}
			})},
	}
}

func wireLink(path string) map[string]any {
	return map[string]any{"data": []any{}, "links": map[string]any{"related": path}}
}
