package release_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/text/collate"
	"golang.org/x/text/language"

	"portico/internal/cachekey"
	"portico/store"
	"portico/store/index"
	"portico/store/release"
	"portico/store/release/segment"
	"portico/store/storetest"
)

// model is a naive implementation of product lists, built from an import file.
type model struct {
	products map[string]*modelProduct // the live ones
	attached map[string][]string      // live products by node and hierarchy; by "" those of the catalog
	every    []string                 // those of the catalog and their relatives
	curated  map[string][]string      // curated products by node
	referred map[string][]string      // references of the catalog's products, by edge and ID
	above    map[string]string        // the parent of each node
	parents  map[string]string        // the live parent of each live child
	children map[string][]string      // live children by live parent
	stock    map[string]int           // available units of the products that have a record

	languages []string                             // the shopper's, without the base one
	typed     map[cachekey.Key]string              // the typed texts, by Search.Key
	searched  func(index.Search) map[string]uint32 // the products of the release that a search finds, with their scores
}

type modelProduct struct {
	id               string
	values           map[string][]string // by attribute
	created, updated time.Time
	texts            map[string][]string // searched texts by language: name, SKU, description
	price            int64               // in minor units; 0 for none. Of a parent the lowest of its children
	prices           []int64             // it, or those of the live children
	parent           bool                // it is sold as its children
	components       map[string]modelComponent
	weight           *float64 // an attribute of its own
}

// modelComponent is a part of a bundle.
type modelComponent struct {
	Min     int
	Options []struct {
		ID       string
		Quantity int
	}
}

// modelLine is the part of an import line that the model reads.
type modelLine struct {
	Type, ID   string
	Available  int
	Attributes struct {
		Name, SKU, Slug, Status string
		Description             string
		Locales                 map[string]struct{ Name, Description string }
		ManufacturerPartNum     string   `json:"manufacturer_part_num"`
		UPCEAN                  string   `json:"upc_ean"`
		ProductTypes            []string `json:"product_types"`
		CuratedProducts         []string `json:"curated_products"`
		Tags, Hierarchies       []string
		Components              map[string]modelComponent
		BaseProduct             bool      `json:"base_product"`
		CreatedAt               time.Time `json:"created_at"`
		UpdatedAt               time.Time `json:"updated_at"`
		Options                 []string
		CustomAttributes        map[string]any `json:"custom_attributes"`
		Variations              []struct {
			Name    string
			Options []struct{ ID, Name string }
		}
	}
	Relationships struct {
		Hierarchy struct{ Data struct{ ID string } }
		Products  struct{ Data []struct{ ID string } }
		Parent    struct{ Data struct{ ID string } }
	}
}

func newModel(t require.TestingT, text, catalog string) *model {
	m := &model{products: map[string]*modelProduct{}, attached: map[string][]string{"": {}}, curated: map[string][]string{}, referred: map[string][]string{}, typed: map[cachekey.Key]string{},
		above: map[string]string{}, parents: map[string]string{}, children: map[string][]string{}, stock: map[string]int{}}
	var nodes, products []modelLine
	var hierarchies []string
	for line := range strings.Lines(text) {
		var l modelLine
		switch kind := storetest.LineType(line); kind {
		case "product", "node", "catalog", "stock":
			require.NoError(t, json.Unmarshal([]byte(line), &l))
		}
		a := &l.Attributes
		switch {
		case l.Type == "product" && a.Status == "live":
			texts := map[string][]string{"": {a.Name, a.SKU, a.Description}}
			for language, text := range a.Locales {
				texts[language] = []string{text.Name, "", text.Description}
			}
			m.products[l.ID] = &modelProduct{id: l.ID, texts: texts, created: a.CreatedAt, updated: a.UpdatedAt, values: map[string][]string{
				"id": {l.ID}, "name": {a.Name}, "sku": {a.SKU}, "slug": {a.Slug}, "manufacturer_part_num": {a.ManufacturerPartNum},
				"upc_ean": {a.UPCEAN}, "tags": a.Tags, "product_types": a.ProductTypes}}
			m.products[l.ID].own(l.Attributes.CustomAttributes)
			products = append(products, l)
			m.products[l.ID].parent, m.products[l.ID].components = a.BaseProduct, a.Components
		case l.Type == "stock":
			m.stock[l.ID] = l.Available
		case l.Type == "node":
			nodes = append(nodes, l)
		case l.Type == "catalog" && l.ID == catalog:
			hierarchies = a.Hierarchies
		}
	}
	for _, node := range nodes {
		if hierarchy := node.Relationships.Hierarchy.Data.ID; slices.Contains(hierarchies, hierarchy) {
			m.attach(node, hierarchy)
		}
	}
	m.within(nodes, hierarchies)
	m.options(products)
	for list := range m.attached {
		slices.Sort(m.attached[list])
		m.attached[list] = slices.Compact(m.attached[list])
	}
	m.every = m.related(products)
	for _, product := range products {
		if parent := product.Relationships.Parent.Data.ID; m.products[parent] != nil {
			m.parents[product.ID], m.children[parent] = parent, append(m.children[parent], product.ID)
			m.products[parent].parent = true
		}
		m.refer(release.EdgeChildren, product.Relationships.Parent.Data.ID, product.ID)
		for _, component := range product.Attributes.Components {
			for _, option := range component.Options {
				m.refer(release.EdgeComponents, product.ID, option.ID)
			}
		}
	}
	return m
}

// own sets the values of a product's own attributes.
func (p *modelProduct) own(values map[string]any) {
	if weight, has := values["weight"].(float64); has {
		p.weight = &weight
	}
	for key, value := range values {
		texts, isList := value.([]any)
		if !isList {
			texts = []any{value}
		}
		for _, text := range texts {
			if _, hidden := text.(bool); hidden {
				continue
			}
			if text == 0.0 {
				text = 0 // not -0
			}
			p.values["attribute"] = append(p.values["attribute"], segment.NamedValue(key, fmt.Sprint(text)))
		}
	}
}

// within sets which nodes have a product, or have it below.
func (m *model) within(nodes []modelLine, hierarchies []string) {
	above := map[string]string{}
	for _, node := range nodes {
		above[node.ID] = cmp.Or(node.Relationships.Parent.Data.ID, node.Relationships.Hierarchy.Data.ID)
	}
	for _, node := range nodes {
		if !slices.Contains(hierarchies, node.Relationships.Hierarchy.Data.ID) {
			continue
		}
		for _, ref := range node.Relationships.Products.Data {
			for up := node.ID; up != "" && m.products[ref.ID] != nil; up = above[up] {
				m.products[ref.ID].values["node"] = append(m.products[ref.ID].values["node"], up)
			}
		}
	}
}

// options sets the options of children, and of their parents.
func (m *model) options(products []modelLine) {
	byID := map[string]modelLine{}
	for _, product := range products {
		byID[product.ID] = product
	}
	for _, child := range products {
		parent, live := byID[child.Relationships.Parent.Data.ID]
		if !live {
			continue
		}
		for _, variation := range parent.Attributes.Variations {
			for _, option := range variation.Options {
				if slices.Contains(child.Attributes.Options, option.ID) {
					for _, id := range []string{child.ID, parent.ID} {
						m.products[id].values["option"] = append(m.products[id].values["option"], segment.NamedValue(variation.Name, option.Name))
					}
				}
			}
		}
	}
}

// related adds parents, children and components of products, and those of these.
func (m *model) related(products []modelLine) []string {
	every := slices.Clone(m.attached[""])
	add := func(id string) {
		if m.products[id] != nil && !slices.Contains(every, id) {
			every = append(every, id)
		}
	}
	ties := map[string][]string{}
	for _, product := range products {
		parent := product.Relationships.Parent.Data.ID
		ties[product.ID], ties[parent] = append(ties[product.ID], parent), append(ties[parent], product.ID)
		for _, component := range product.Attributes.Components {
			for _, option := range component.Options {
				ties[product.ID] = append(ties[product.ID], option.ID)
			}
		}
	}
	delete(ties, "") // products without a parent
	for at := 0; at < len(every); at++ {
		for _, id := range ties[every[at]] {
			add(id)
		}
	}
	return every
}

// refer records a reference of a listed product to a live one.
func (m *model) refer(edge release.Edge, from, to string) {
	of := string(edge) + " " + from
	if _, listed := slices.BinarySearch(m.attached[""], from); listed && m.products[to] != nil && !slices.Contains(m.referred[of], to) {
		m.referred[of] = append(m.referred[of], to)
	}
}

func (m *model) attach(node modelLine, hierarchy string) {
	m.attached[node.ID], m.above[node.ID] = []string{}, node.Relationships.Parent.Data.ID
	for _, ref := range node.Relationships.Products.Data {
		if m.products[ref.ID] != nil {
			for _, list := range []string{node.ID, hierarchy, ""} {
				m.attached[list] = append(m.attached[list], ref.ID)
			}
		}
	}
	for _, id := range node.Attributes.CuratedProducts {
		if slices.Contains(m.attached[node.ID], id) {
			m.curated[node.ID] = append(m.curated[node.ID], id)
		}
	}
}

// list returns all products of a query, ignoring its page.
func (m *model) list(query release.ProductQuery) []*modelProduct {
	list := []*modelProduct{}
	ids := m.attached[query.NodeID]
	if query.NodeID == "" && query.Unlisted {
		ids = m.every
	}
	if query.NodeID != "" && query.Descendants {
		ids = m.below(query.NodeID)
	}
	if query.Edge != "" {
		ids = m.referred[string(query.Edge)+" "+query.Of]
	}
	for _, id := range m.exchanged(ids, query) {
		if product := m.products[id]; m.fits(product, query) && m.finds(product, query) {
			list = append(list, product)
		}
	}
	slices.SortFunc(list, func(a, b *modelProduct) int { return m.compare(a, b, query) })
	return list
}

// below returns the products of a node and of all nodes below it, each once.
func (m *model) below(node string) (ids []string) {
	for of := range m.attached {
		for at, up := of, 0; at != "" && up < 100; at, up = m.above[at], up+1 {
			if at == node {
				ids = append(ids, m.attached[of]...)
			}
		}
	}
	return store.Unique(ids)
}

// exchanged returns the products that a list shows instead of others, each once.
func (m *model) exchanged(ids []string, query release.ProductQuery) (shown []string) {
	if query.Edge != "" {
		return ids
	}
	for _, id := range ids {
		switch {
		case query.Variants == release.VariantsParents && m.parents[id] != "":
			shown = append(shown, m.parents[id])
		case query.Variants == release.VariantsChildren && m.products[id].parent:
			shown = append(shown, slices.Sorted(slices.Values(m.children[id]))...)
		default:
			shown = append(shown, id)
		}
	}
	return store.Unique(shown)
}

// family returns a product and, where a list shows parents, its live children, whose texts and SKUs find it.
func (m *model) family(p *modelProduct, query release.ProductQuery) []*modelProduct {
	family := []*modelProduct{p}
	if query.Variants == release.VariantsParents && query.Edge == "" {
		for _, id := range m.children[p.id] {
			family = append(family, m.products[id])
		}
	}
	return family
}

// sellable returns how many units of a product its stock allows; math.MaxInt without a limit. Bundles nest at most four deep.
func (m *model) sellable(id string, depth int) int {
	p := m.products[id]
	if p == nil || depth > 4 {
		return 0
	}
	if p.parent {
		most := 0
		for _, child := range m.children[id] {
			most = max(most, m.sellable(child, depth+1))
		}
		return most
	}
	if n, recorded := m.stock[id]; recorded {
		return n
	}
	units := math.MaxInt
	for _, component := range p.components {
		var sets []int
		for _, option := range component.Options {
			sets = append(sets, m.sellable(option.ID, depth+1)/max(1, option.Quantity))
		}
		slices.Sort(sets)
		switch n := len(sets) - component.Min; {
		case component.Min > 0 && n < 0:
			return 0
		case component.Min > 0:
			units = min(units, sets[n])
		}
	}
	return units
}

func (m *model) fits(p *modelProduct, query release.ProductQuery) bool {
	filter := query.Filter
	for _, a := range filter.AnyOf {
		if a.Negated == slices.ContainsFunc(a.Filters, func(filter release.ProductFilter) bool {
			query.Filter = filter
			return m.fits(p, query)
		}) {
			return false
		}
	}
	for _, term := range filter.Terms {
		family := []*modelProduct{p}
		if slices.Contains([]string{"name", "sku", "slug", "manufacturer_part_num", "upc_ean"}, term.Attribute) {
			family = m.family(p, query)
		}
		if !slices.ContainsFunc(family, func(p *modelProduct) bool {
			return slices.ContainsFunc(p.values[term.Attribute], func(value string) bool { return value != "" && slices.Contains(term.Values, value) })
		}) {
			return false
		}
	}
	if filter.InStock != nil && *filter.InStock != (m.sellable(p.id, 0) > 0) {
		return false
	}
	for _, keys := range filter.Keys {
		if !slices.ContainsFunc(p.prices, func(price int64) bool { return price >= keys.Low && price <= keys.High }) {
			return false
		}
	}
	for _, c := range filter.Attributes {
		bound := func(text *string, without float64) float64 {
			if text == nil {
				return without
			}
			n, _ := strconv.ParseFloat(*text, 64)
			return n
		}
		if p.weight == nil || *p.weight < bound(c.Ge, math.Inf(-1)) || *p.weight > bound(c.Le, math.Inf(1)) {
			return false
		}
	}
	for _, r := range filter.Ranges {
		var order int
		switch r.Attribute {
		case store.SortID:
			order = cmp.Compare(p.id, r.ID)
		case store.SortCreatedAt:
			order = p.created.Compare(r.Time)
		default:
			order = p.updated.Compare(r.Time)
		}
		if !map[string]bool{"gt": order > 0, "ge": order >= 0, "lt": order < 0, "le": order <= 0}[r.Operator] {
			return false
		}
	}
	return true
}

// compare orders products: by default curated ones first unless the filter names IDs, then by
// update time, newest first, then by ID. Sorts use the ID last, in the sort's direction.
func (m *model) compare(a, b *modelProduct, query release.ProductQuery) int {
	sign := 1
	if query.Sort.Descending {
		sign = -1
	}
	switch query.Sort.By {
	case store.SortID:
		return sign * cmp.Compare(a.id, b.id)
	case store.SortCreatedAt:
		return sign * cmp.Or(a.created.Compare(b.created), cmp.Compare(a.id, b.id))
	case store.SortUpdatedAt:
		return sign * cmp.Or(a.updated.Compare(b.updated), cmp.Compare(a.id, b.id))
	case store.SortName:
		return sign * cmp.Or(collate.New(language.English).CompareString(a.values["name"][0], b.values["name"][0]), cmp.Compare(a.id, b.id))
	case store.SortPrice:
		if (a.price == 0) != (b.price == 0) {
			return cmp.Compare(b.price, a.price)
		}
		return sign * cmp.Or(cmp.Compare(a.price, b.price), cmp.Compare(a.id, b.id))
	case store.SortRelevance:
		own := query
		own.Sort = store.Sort{}
		return sign * cmp.Or(cmp.Compare(m.score(b, query), m.score(a, query)), m.compare(a, b, own))
	}
	curated := m.exchanged(m.curated[query.NodeID], query)
	place := func(p *modelProduct) int {
		byID := slices.ContainsFunc(query.Filter.Terms, func(term store.Term) bool { return term.Attribute == "id" })
		if place := slices.Index(curated, p.id); place >= 0 && !byID {
			return place
		}
		return len(curated)
	}
	return cmp.Or(cmp.Compare(place(a), place(b)), b.updated.Compare(a.updated), cmp.Compare(a.id, b.id))
}
