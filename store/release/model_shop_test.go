package release_test

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"portico/internal/cachekey"
	"portico/store"
	"portico/store/index"
	"portico/store/release"
	"portico/store/shop"
	"portico/store/storetest"
)

// familyLines are parents and bundles for a node of ShopFile: a parent whose only child is a draft, bundles that need several
// options, several units, a draft, a parent, another bundle or themselves.
func familyLines() string {
	product := func(id, members, parent string) string {
		if parent != "" {
			parent = `"parent":{"data":{"type":"product","id":"` + parent + `"}}`
		}
		return `{"type":"product","id":"` + id + `","attributes":{"name":"` + strings.ReplaceAll(id, "-", " ") + `","sku":"` + strings.ToUpper(id) + `","slug":"` + id + `",` + members +
			`"created_at":"2023-02-01T00:00:00.000Z","updated_at":"2024-02-01T00:00:00.000Z"},"relationships":{` + parent + `}}`
	}
	part := func(key string, least int, options ...string) string {
		for i, option := range options {
			id, quantity, _ := strings.Cut(option, " ")
			options[i] = `{"id":"` + id + `","type":"product","quantity":` + cmp.Or(quantity, "1") + `}`
		}
		return fmt.Sprintf(`"%s":{"name":"%s","min":%d,"max":9,"sort_order":1,"options":[%s]}`, key, key, least, strings.Join(options, ","))
	}
	listed := []string{"tent", "kayak", "oar-left", "tent-large"}
	bundle := func(id string, parts ...string) string {
		listed = append(listed, id)
		return product(id, `"status":"live","components":{`+strings.Join(parts, ",")+`},`, "")
	}
	const live, parent = `"status":"live",`, `"status":"live","base_product":true,`
	lines := []string{
		product("tent", parent, ""), product("tent-small", live, "tent"), product("tent-large", live, "tent"), product("tent-secret", `"status":"draft",`, "tent"),
		product("kayak", parent, ""), product("kayak-secret", `"status":"draft",`, "kayak"), product("oar", parent, ""), product("oar-gone", live, "oar"), product("oar-left", live, "oar"),
		product("stove", live, ""), product("pot", live, ""), product("gas", live, ""), product("map", live, ""),
		bundle("kit-any", part("cook", 1, "stove 2", "gas")), bundle("kit-two", part("cook", 2, "stove 2", "pot 3", "gas")), bundle("kit-three", part("cook", 3, "stove", "pot", "gas")),
		bundle("kit-free", part("cook", 0, "gas")), bundle("kit-draft", part("boat", 1, "kayak-secret")), bundle("kit-one-draft", part("boat", 1, "kayak-secret", "map")),
		bundle("kit-tent", part("shelter", 1, "tent"), part("find", 1, "map")), bundle("kit-oar", part("row", 1, "oar")), bundle("kit-kayak", part("row", 1, "kayak")),
		bundle("kit-nested", part("all", 1, "kit-tent"), part("cook", 1, "stove")), bundle("kit-own", part("find", 1, "map")), bundle("kit-loop", part("loop", 1, "kit-loop")),
		bundle("kit-packed", part("cook", 1, "gas")), bundle("kit-many", part("cook", 1, "stove 6")),
	}
	units := map[string]int{"tent-small": 0, "tent-large": 2, "oar-gone": 0, "oar-left": 0, "stove": 5, "pot": 2, "gas": 0, "kit-own": 0, "kit-packed": 3, "kayak-secret": 3}
	for _, id := range slices.Sorted(maps.Keys(units)) {
		lines = append(lines, fmt.Sprintf(`{"type":"stock","id":"%s","available":%d,"allocated":0,"total":%[2]d}`, id, units[id]))
	}
	amounts := map[string]int{"TENT": 100, "TENT-SMALL": 400, "TENT-LARGE": 600, "KAYAK": 500, "KAYAK-SECRET": 500, "OAR-LEFT": 500, "STOVE": 450}
	for _, sku := range slices.Sorted(maps.Keys(amounts)) {
		amount, sale := amounts[sku], ""
		if slices.Contains([]string{"TENT", "TENT-SMALL", "KAYAK", "STOVE"}, sku) { // a parent is on sale if a live child is
			sale = fmt.Sprintf(`,"sales":{"week":{"schedule":{},"currencies":{"USD":{"amount":%d,"includes_tax":false}}}}`, amount-50)
		}
		lines = append(lines, fmt.Sprintf(`{"type":"product-price","id":"%s","attributes":{"sku":"%s","currencies":{"USD":{"amount":%d,"includes_tax":false}}%s},"relationships":{"pricebook":{"data":{"type":"pricebook","id":"standard"}}}}`, sku, sku, amount, sale))
	}
	return storetest.JoinLines(append(lines, `{"type":"node","id":"camping","attributes":{"name":"Camping"},"relationships":{"hierarchy":{"data":{"type":"hierarchy","id":"workshop"}},"products":{"data":[{"type":"product","id":"`+
		strings.Join(listed, `"},{"type":"product","id":"`)+`"}]}}}`)...)
}

// modelShop is a published shop with its model.
type modelShop struct {
	*shop.Store
	*model
	url   string
	nodes []string // nodes and hierarchies; "" for all
	ids   []string // of live products, listed or not
}

func newModelShop(t *testing.T, backend storetest.Backend, text, catalog string, options ...func(*shop.Config)) *modelShop {
	t.Helper()
	s := backend.Open(t, options...)
	storetest.Import(t, s, text)
	storetest.Publish(t, s, catalog)
	m := newModel(t, text, catalog)
	h := &modelShop{Store: s, model: m, url: backend.URL(t)}
	for list := range m.attached {
		h.nodes = append(h.nodes, list)
	}
	for id := range m.products {
		h.ids = append(h.ids, id)
	}
	h.searchIn(t)
	slices.Sort(h.nodes)
	slices.Sort(h.ids)
	found, err := storetest.View(t, s, release.ShopperContext{}).ProductsByID(t.Context(), h.ids)
	require.NoError(t, err)
	onSale := func(ids ...string) []string {
		return []string{strconv.FormatBool(slices.ContainsFunc(ids, func(id string) bool { return found[id].SaleID() != nil }))}
	}
	for id, product := range found {
		if price := product.Price(); price != nil {
			h.products[id].price = price.Minor
		}
		if h.products[id].values["on_sale"] = onSale(id); h.products[id].parent {
			h.products[id].values["on_sale"] = onSale(h.children[id]...)
		}
	}
	for _, p := range h.products {
		if !p.parent && p.price != 0 {
			p.prices = []int64{p.price}
		}
	}
	for id, p := range h.products {
		if !p.parent {
			continue
		}
		for _, child := range h.children[id] {
			p.prices = append(p.prices, h.products[child].prices...)
		}
		if p.price = 0; len(p.prices) > 0 {
			p.price = slices.Min(p.prices)
		}
	}
	return h
}

// searchIn lets the model search in the shopper's languages.
func (h *modelShop) searchIn(t *testing.T) {
	v, known := storetest.View(t, h.Store, h.shopper()), map[cachekey.Key]map[string]uint32{}
	h.searched = func(search index.Search) map[string]uint32 {
		name := search.Key()
		if known[name] == nil {
			known[name] = searchScores(t, v, search)
		}
		return known[name]
	}
}

// drawQuery draws a query without a page. Its filter is mostly about one product, so that it
// finds some.
func (h *modelShop) drawQuery(t *rapid.T) release.ProductQuery {
	query := release.ProductQuery{NodeID: rapid.SampledFrom(h.nodes).Draw(t, "node")}
	query.Unlisted = rapid.Bool().Draw(t, "unlisted") // ignored in a node
	query.Descendants = rapid.Bool().Draw(t, "descendants")
	query.Variants = rapid.SampledFrom([]release.Variants{release.VariantsAsListed, release.VariantsAsListed, release.VariantsParents, release.VariantsChildren}).Draw(t, "variants")
	about := h.products[rapid.SampledFrom(h.ids).Draw(t, "about")]
	if list := h.attached[query.NodeID]; len(list) > 0 && !query.Unlisted {
		about = h.products[rapid.SampledFrom(list).Draw(t, "about listed")]
	}
	if rapid.IntRange(0, 4).Draw(t, "edge") == 0 {
		of := rapid.SampledFrom(slices.Sorted(maps.Keys(h.referred))).Draw(t, "of")
		edge, id, _ := strings.Cut(of, " ")
		query.NodeID, query.Edge, query.Of = "", release.Edge(edge), id
		about = h.products[rapid.SampledFrom(h.referred[of]).Draw(t, "about referred")]
	}
	if children := h.children[cmp.Or(h.parents[about.id], about.id)]; len(children) > 0 && rapid.Bool().Draw(t, "about a child") {
		about = h.products[rapid.SampledFrom(children).Draw(t, "child")]
	}
	for range rapid.SampledFrom([]int{0, 0, 1, 1, 2, 3}).Draw(t, "terms") {
		query.Filter.Terms = append(query.Filter.Terms, h.drawTerm(t, about))
	}
	for range rapid.SampledFrom([]int{0, 0, 1, 2}).Draw(t, "ranges") {
		query.Filter.Ranges = append(query.Filter.Ranges, h.drawRange(t))
	}
	for range rapid.SampledFrom([]int{0, 0, 0, 1, 1, 2}).Draw(t, "others") {
		h.drawOther(t, about, &query.Filter)
	}
	query.Filter.InStock = rapid.SampledFrom([]*bool{nil, nil, nil, new(true), new(false)}).Draw(t, "in stock")
	for range rapid.SampledFrom([]int{0, 0, 0, 1, 1, 2}).Draw(t, "searches") {
		query.Filter.Searches = append(query.Filter.Searches, h.drawSearch(t, about))
	}
	for range rapid.SampledFrom([]int{0, 0, 1, 1, 2}).Draw(t, "any of") {
		filter := query.Filter
		filter.AnyOf = append(slices.Clone(filter.AnyOf), h.drawAnyOf(t, about, release.MaxFilterDepth))
		if conditionsOf(filter) <= store.MaxFilterTerms {
			query.Filter = filter
		}
	}
	query.Sort.By = rapid.SampledFrom([]store.SortBy{store.SortDefault, store.SortID, store.SortCreatedAt, store.SortUpdatedAt,
		store.SortName, store.SortPrice, store.SortRelevance}).Draw(t, "sort")
	query.Sort.Descending = query.Sort.By != store.SortDefault && rapid.Bool().Draw(t, "descending")
	return query
}

// conditionsOf counts the conditions of a filter as its bound does.
func conditionsOf(f release.ProductFilter) int {
	n := len(f.Terms) + len(f.Ranges) + len(f.Searches) + len(f.Keys) + len(f.Attributes)
	for _, a := range f.AnyOf {
		for _, filter := range a.Filters {
			n += max(1, conditionsOf(filter))
		}
	}
	return n
}

// drawAnyOf draws filters within a filter, so deep at most.
func (h *modelShop) drawAnyOf(t *rapid.T, about *modelProduct, depth int) release.AnyOf {
	a := release.AnyOf{Negated: rapid.Bool().Draw(t, "negated")}
	for range rapid.IntRange(1, 3).Draw(t, "filters") {
		filter := release.ProductFilter{}
		switch rapid.SampledFrom([]string{"term", "other", "range", "stock", "nothing"}).Draw(t, "within") {
		case "term":
			filter.Terms = append(filter.Terms, h.drawTerm(t, about))
		case "other":
			h.drawOther(t, about, &filter)
		case "range":
			filter.Ranges = append(filter.Ranges, h.drawRange(t))
		case "stock":
			filter.InStock = new(rapid.Bool().Draw(t, "in stock"))
		}
		if depth > 1 && rapid.IntRange(0, 2).Draw(t, "deeper") == 0 {
			filter.AnyOf = append(filter.AnyOf, h.drawAnyOf(t, about, depth-1))
		}
		a.Filters = append(a.Filters, filter)
	}
	return a
}

func (h *modelShop) drawTerm(t *rapid.T, about *modelProduct) store.Term {
	attribute := rapid.SampledFrom(release.FilterAttributes()).Draw(t, "attribute")
	var values []string
	for range rapid.IntRange(1, 4).Draw(t, "values") {
		of := about
		if rapid.IntRange(0, 3).Draw(t, "of another") == 0 {
			of = h.products[rapid.SampledFrom(h.ids).Draw(t, "other")]
		}
		candidates := append([]string{"no such value"}, of.values[attribute]...)
		values = append(values, rapid.SampledFrom(candidates[min(1, len(candidates)-1):]).Draw(t, "value"))
	}
	operator := "in"
	if attribute != "id" && rapid.Bool().Draw(t, "eq") {
		operator, values = "eq", values[:1]
	}
	term, err := release.NewTerm(attribute, operator, values)
	require.NoError(t, err)
	return term
}

// drawOther adds a condition on the price, sales, options, attributes or nodes.
func (h *modelShop) drawOther(t *rapid.T, about *modelProduct, filter *release.ProductFilter) {
	other := h.products[rapid.SampledFrom(h.ids).Draw(t, "other")]
	switch kind := rapid.SampledFrom([]string{"price", "sale", "weight", "option", "attribute", "node"}).Draw(t, "condition"); kind {
	case "price":
		low, high := strconv.FormatInt(min(about.price, other.price), 10), strconv.FormatInt(max(about.price, other.price), 10)
		bounds := rapid.SampledFrom([][2]*string{{&low, &high}, {&low, nil}, {nil, &high}, {&high, &low}}).Draw(t, "bounds")
		keys, err := release.NewPriceRange(bounds[0], bounds[1])
		require.NoError(t, err)
		filter.Keys = append(filter.Keys, keys)
	case "sale":
		filter.Terms = append(filter.Terms, release.NewSaleTerm(rapid.Bool().Draw(t, "on sale")))
	case "weight":
		bound := func(p *modelProduct) *string {
			if p.weight == nil {
				return new("1.5")
			}
			return new(strconv.FormatFloat(*p.weight, 'g', -1, 64))
		}
		bounds := rapid.SampledFrom([][2]*string{{bound(about), bound(other)}, {bound(about), nil}, {nil, bound(about)}}).Draw(t, "bounds")
		c, err := release.NewAttributeCondition("weight", nil, bounds[0], bounds[1])
		require.NoError(t, err)
		filter.Attributes = append(filter.Attributes, c)
	default:
		values := slices.Concat(about.values[kind], other.values[kind], []string{"no\x00such value"})
		some := rapid.SliceOfNDistinct(rapid.SampledFrom(values), 1, min(3, len(store.Unique(values))), rapid.ID[string]).Draw(t, "values")
		filter.Terms = append(filter.Terms, store.Term{Attribute: kind, Operator: "in", Values: some})
	}
}

func (h *modelShop) drawRange(t *rapid.T) store.Range {
	product := h.products[rapid.SampledFrom(h.ids).Draw(t, "bound")]
	attribute := rapid.SampledFrom([]string{"id", "created_at", "updated_at"}).Draw(t, "range")
	value := map[string]string{"id": product.id, "created_at": product.created.Format("2006-01-02T15:04:05.000Z"), "updated_at": product.updated.Format("2006-01-02T15:04:05.000Z")}[attribute]
	if rapid.IntRange(0, 4).Draw(t, "not a product's") == 0 {
		value = map[string]string{"id": rapid.SampledFrom([]string{"", "0", "m", "zzz", "A"}).Draw(t, "id"), "created_at": "2021-01-01", "updated_at": "2024-02-01T03:00:00.000Z"}[attribute]
	}
	r, err := store.NewRange(attribute, rapid.SampledFrom([]string{"gt", "ge", "lt", "le"}).Draw(t, "operator"), value)
	require.NoError(t, err)
	return r
}

// drawPage draws a page of a list of total products and returns its positions.
func (h *modelShop) drawPage(t *rapid.T, v *release.View, query *release.ProductQuery, total int) (start, end int) {
	limit := rapid.SampledFrom([]int{1, 2, 3, 7, 25, 100}).Draw(t, "limit")
	low, high := 0, total
	cursor := func(label string) (string, int) {
		at := rapid.IntRange(0, min(total, store.MaxOffset)-1).Draw(t, label)
		return h.cursorAt(t, v, *query, at), at
	}
	kind := rapid.SampledFrom([]string{"plain", "offset", "after", "before", "last", "between", "first before", "last after"}).Draw(t, "page")
	if total == 0 && kind != "last" && kind != "offset" {
		kind = "plain"
	}
	page := &query.Page
	switch kind {
	case "after", "last after", "between":
		text, at := cursor("after")
		page.After, low = &text, at+1
	}
	switch kind {
	case "before", "first before", "between":
		text, at := cursor("before")
		page.Before, high = &text, max(low, at)
	}
	switch kind {
	case "plain":
		limit = 25
	case "offset":
		offset := rapid.IntRange(0, min(total+3, store.MaxOffset)).Draw(t, "offset")
		page.Offset, page.First, low = &offset, &limit, min(offset, total)
	case "after", "between", "first before":
		page.First = &limit
	default:
		page.Last = &limit
		return max(low, high-limit), high
	}
	return low, min(high, low+limit)
}

// cursorAt returns the cursor of the product at a position.
func (h *modelShop) cursorAt(t require.TestingT, v *release.View, query release.ProductQuery, at int) string {
	query.Page = store.Page{Offset: &at, First: new(1)}
	slice, err := v.Products(context.Background(), query)
	require.NoError(t, err)
	require.Len(t, slice.Cursors(), 1)
	return slice.Cursors()[0]
}
