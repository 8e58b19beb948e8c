package release_test

import (
	"context"
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
	for id, product := range found {
		if price := product.Price(); price != nil {
			h.products[id].price = price.Minor
		}
	}
	for parent, children := range h.children {
		lowest := int64(0)
		for _, child := range children {
			if price := h.products[child].price; price != 0 && (lowest == 0 || price < lowest) {
				lowest = price
			}
		}
		h.products[parent].price = lowest
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
	for range rapid.SampledFrom([]int{0, 0, 1, 1, 2, 3}).Draw(t, "terms") {
		query.Filter.Terms = append(query.Filter.Terms, h.drawTerm(t, about))
	}
	for range rapid.SampledFrom([]int{0, 0, 1, 2}).Draw(t, "ranges") {
		query.Filter.Ranges = append(query.Filter.Ranges, h.drawRange(t))
	}
	for range rapid.SampledFrom([]int{0, 0, 0, 1, 1, 2}).Draw(t, "others") {
		h.drawOther(t, about, &query.Filter)
	}
	for range rapid.SampledFrom([]int{0, 0, 0, 1, 1, 2}).Draw(t, "searches") {
		query.Filter.Searches = append(query.Filter.Searches, h.drawSearch(t, about))
	}
	query.Sort.By = rapid.SampledFrom([]store.SortBy{store.SortDefault, store.SortID, store.SortCreatedAt, store.SortUpdatedAt,
		store.SortName, store.SortPrice, store.SortRelevance}).Draw(t, "sort")
	query.Sort.Descending = query.Sort.By != store.SortDefault && rapid.Bool().Draw(t, "descending")
	return query
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

// drawOther adds a condition on the price, options, attributes or nodes.
func (h *modelShop) drawOther(t *rapid.T, about *modelProduct, filter *release.ProductFilter) {
	other := h.products[rapid.SampledFrom(h.ids).Draw(t, "other")]
	switch kind := rapid.SampledFrom([]string{"price", "weight", "option", "attribute", "node"}).Draw(t, "condition"); kind {
	case "price":
		low, high := strconv.FormatInt(min(about.price, other.price), 10), strconv.FormatInt(max(about.price, other.price), 10)
		bounds := rapid.SampledFrom([][2]*string{{&low, &high}, {&low, nil}, {nil, &high}, {&high, &low}}).Draw(t, "bounds")
		keys, err := release.NewPriceRange(bounds[0], bounds[1])
		require.NoError(t, err)
		filter.Keys = append(filter.Keys, keys)
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
