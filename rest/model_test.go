package rest_test

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/internal/datagen"
)

// productRow is a product or stock record of the import file. Times are in canonical form, so they
// compare as text.
type productRow struct {
	id, sku, created, updated string
	tags, types               []string
}

// model is a shop, read from its import file independently of the store: the expected rows of each
// list, in order.
type model struct {
	listed  map[string][]productRow // the live products of each node and hierarchy, in its own order
	curated map[string][]string
	stock   []productRow // by id

	hierarchies []string
	all         []productRow // the live products of all nodes and their related products, by last update
}

// importLine is the part of an import line that the model uses.
type importLine struct {
	Type       string `json:"type"`
	ID         string `json:"id"`
	CreatedAt  string `json:"created_at"`
	UpdatedAt  string `json:"updated_at"`
	Attributes struct {
		SKU          string   `json:"sku"`
		Status       string   `json:"status"`
		Tags         []string `json:"tags"`
		ProductTypes []string `json:"product_types"`
		Curated      []string `json:"curated_products"`
		CreatedAt    string   `json:"created_at"`
		UpdatedAt    string   `json:"updated_at"`
		Components   map[string]struct {
			Options []struct {
				ID string `json:"id"`
			} `json:"options"`
		} `json:"components"`
	} `json:"attributes"`
	Relationships struct {
		Hierarchy struct {
			Data struct {
				ID string `json:"id"`
			} `json:"data"`
		} `json:"hierarchy"`
		Products struct {
			Data []struct {
				ID string `json:"id"`
			} `json:"data"`
		} `json:"products"`
		Parent struct {
			Data struct {
				ID string `json:"id"`
			} `json:"data"`
		} `json:"parent"`
	} `json:"relationships"`
}

func newModel(t require.TestingT, shop string) *model {
	m := &model{listed: map[string][]productRow{}, curated: map[string][]string{}}
	live, ties := map[string]productRow{}, map[string][]string{} // ties are parents, children and components
	attached := map[[2]string]bool{}                             // pairs of list and product
	attach := func(list string, r productRow) {
		if at := [2]string{list, r.id}; !attached[at] {
			attached[at] = true
			m.listed[list] = append(m.listed[list], r)
		}
	}
	var nodes []importLine
	for text := range strings.Lines(shop) {
		var l importLine
		require.NoError(t, json.Unmarshal([]byte(text), &l), "%.200s", text)
		a := l.Attributes
		switch {
		case l.Type == "product" && a.Status == "live":
			live[l.ID] = productRow{l.ID, a.SKU, a.CreatedAt, a.UpdatedAt, a.Tags, a.ProductTypes}
			parent := l.Relationships.Parent.Data.ID
			ties[l.ID], ties[parent] = append(ties[l.ID], parent), append(ties[parent], l.ID)
			for _, component := range a.Components {
				for _, option := range component.Options {
					ties[l.ID] = append(ties[l.ID], option.ID)
				}
			}
		case l.Type == "stock":
			m.stock = append(m.stock, productRow{id: l.ID, created: l.CreatedAt, updated: l.UpdatedAt})
		case l.Type == "node":
			nodes = append(nodes, l)
		}
	}
	slices.SortFunc(m.stock, byID)
	for _, node := range nodes {
		hierarchy := node.Relationships.Hierarchy.Data.ID
		for _, product := range node.Relationships.Products.Data {
			if r, ok := live[product.ID]; ok {
				attach(node.ID, r)
				attach(hierarchy, r)
			}
		}
		m.curated[node.ID] = node.Attributes.Curated
	}
	for _, node := range nodes {
		hierarchy := node.Relationships.Hierarchy.Data.ID
		if !slices.Contains(m.hierarchies, hierarchy) {
			m.hierarchies = append(m.hierarchies, hierarchy)
			m.all = append(m.all, m.listed[hierarchy]...)
		}
	}
	delete(ties, "") // products without a parent
	seen := map[string]bool{}
	for at := 0; at < len(m.all); at++ {
		for _, id := range ties[m.all[at].id] {
			if r, ok := live[id]; ok && !seen[id] {
				seen[id] = true
				m.all = append(m.all, r)
			}
		}
	}
	slices.SortFunc(m.all, byUpdate)
	m.all = slices.CompactFunc(m.all, func(a, b productRow) bool { return a.id == b.id })
	for list, rows := range m.listed {
		slices.SortFunc(rows, func(a, b productRow) int {
			return cmp.Or(cmp.Compare(m.rank(list, a.id), m.rank(list, b.id)), byUpdate(a, b))
		})
	}
	return m
}

// rank puts curated products first.
func (m *model) rank(list, id string) int {
	if at := slices.Index(m.curated[list], id); at >= 0 {
		return at
	}
	return len(m.curated[list])
}

func byID(a, b productRow) int { return cmp.Compare(a.id, b.id) }

// byUpdate compares rows of a list without curated products: newest first.
func byUpdate(a, b productRow) int { return cmp.Or(cmp.Compare(b.updated, a.updated), byID(a, b)) }

// modelQuery is the order and filters of a list.
type modelQuery struct {
	sort    string
	filters []modelFilter
}

// modelFilter is a condition as REST spells it, and its meaning.
type modelFilter struct {
	text  string
	keep  func(productRow) bool
	byIDs bool // selects ids; the order is by last update
}

// of returns the ids of the rows that match the query, in order.
func (q modelQuery) of(rows []productRow) (ids []string) {
	rows = slices.DeleteFunc(slices.Clone(rows), func(r productRow) bool {
		return slices.ContainsFunc(q.filters, func(f modelFilter) bool { return !f.keep(r) })
	})
	if key, descending := strings.CutPrefix(q.sort, "-"); key != "" {
		slices.SortFunc(rows, func(a, b productRow) int { return cmp.Or(cmp.Compare(a.key(key), b.key(key)), byID(a, b)) })
		if descending {
			slices.Reverse(rows)
		}
	} else if slices.ContainsFunc(q.filters, func(f modelFilter) bool { return f.byIDs }) {
		slices.SortFunc(rows, byUpdate)
	}
	ids = []string{}
	for _, r := range rows {
		ids = append(ids, r.id)
	}
	return ids
}

func (r productRow) key(name string) string {
	return map[string]string{"id": r.id, "created_at": r.created, "updated_at": r.updated}[name]
}

// compare returns a filter such as gt(updated_at,…).
func compare(operator, key, value string) modelFilter {
	return modelFilter{text: operator + "(" + key + "," + value + ")", keep: func(r productRow) bool {
		order := cmp.Compare(r.key(key), value)
		return map[string]bool{"gt": order > 0, "ge": order >= 0, "lt": order < 0, "le": order <= 0}[operator]
	}}
}

// oneOf returns a filter such as in(tags,…), or eq for one value.
func oneOf(operator, attribute string, values ...string) modelFilter {
	return modelFilter{text: operator + "(" + attribute + "," + strings.Join(values, ",") + ")", byIDs: attribute == "id",
		keep: func(r productRow) bool {
			have := map[string][]string{"id": {r.id}, "sku": {r.sku}, "tags": r.tags, "product_types": r.types}[attribute]
			return slices.ContainsFunc(have, func(value string) bool { return slices.Contains(values, value) })
		}}
}

// generatedShops caches the shops of generateShop by size.
var generatedShops sync.Map

// generateShop returns an import file with a number of products.
func generateShop(t testing.TB, products int) string {
	t.Helper()
	if shop, ok := generatedShops.Load(products); ok {
		return shop.(string)
	}
	var file strings.Builder
	require.NoError(t, datagen.WriteShop(&file, products, 1))
	generatedShops.Store(products, file.String())
	return file.String()
}

// longestList returns the node or hierarchy with the longest list.
func (m *model) longestList() (list string) {
	for _, name := range slices.Sorted(maps.Keys(m.listed)) {
		if len(m.listed[name]) > len(m.listed[list]) {
			list = name
		}
	}
	return list
}
