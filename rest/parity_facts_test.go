package rest_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store"
	"portico/store/release"
)

// shopFacts are ids and values of a shop's file, for requests that find something.
type shopFacts struct {
	nodes, products []string
	files           []string
	components      map[string]map[string][]string // of bundles: options by component
	hierarchies     []string
	live            []string            // products that everyone sees, listed or not
	texts           []string            // names and slugs of nodes
	values          map[string][]string // of products, by the filter's attributes
	times           []string
}

func newShopFacts(t *testing.T, shop string) shopFacts {
	k := shopFacts{values: map[string][]string{}, components: map[string]map[string][]string{}}
	var served []string // hierarchies of the oldest catalog, which everyone sees
	inHierarchy := map[string]string{}
	for line := range strings.Lines(shop) {
		var resource struct {
			Type, ID   string
			Attributes struct {
				Name, SKU, Slug     string
				ManufacturerPartNum string   `json:"manufacturer_part_num"`
				UPCEAN              string   `json:"upc_ean"`
				ProductTypes        []string `json:"product_types"`
				Tags                []string
				CreatedAt           string `json:"created_at"`
				UpdatedAt           string `json:"updated_at"`
				Hierarchies         []string
				Components          map[string]struct{ Options []struct{ ID string } }
			}
			Relationships struct {
				Hierarchy struct{ Data struct{ ID string } }
			}
		}
		require.NoError(t, json.Unmarshal([]byte(line), &resource))
		a := resource.Attributes
		switch resource.Type {
		case "file":
			k.files = append(k.files, resource.ID)
		case "hierarchy":
			inHierarchy[resource.ID] = resource.ID
			k.texts = append(k.texts, a.Name, a.Slug)
		case "node":
			inHierarchy[resource.ID] = resource.Relationships.Hierarchy.Data.ID
			k.texts = append(k.texts, a.Name, a.Slug)
		case "catalog":
			if served == nil {
				served = a.Hierarchies
			}
		case "product":
			k.products = append(k.products, resource.ID)
			k.times = append(k.times, a.CreatedAt, a.UpdatedAt)
			for key, component := range a.Components {
				if k.components[resource.ID] == nil {
					k.components[resource.ID] = map[string][]string{}
				}
				for _, option := range component.Options {
					k.components[resource.ID][key] = append(k.components[resource.ID][key], option.ID)
				}
			}
			for attribute, values := range map[string][]string{"name": {a.Name}, "sku": {a.SKU}, "slug": {a.Slug},
				"manufacturer_part_num": {a.ManufacturerPartNum},
				"upc_ean":               {a.UPCEAN}, "product_types": a.ProductTypes, "tags": a.Tags, "id": {resource.ID}} {
				k.values[attribute] = append(k.values[attribute], values...)
			}
		}
	}
	for node, hierarchy := range inHierarchy {
		if slices.Contains(served, hierarchy) {
			k.nodes = append(k.nodes, node)
		}
	}
	slices.Sort(k.nodes)
	for _, node := range k.nodes {
		if inHierarchy[node] == node {
			k.hierarchies = append(k.hierarchies, node)
		}
	}
	for attribute := range k.values {
		k.values[attribute] = slices.DeleteFunc(k.values[attribute], func(value string) bool { return value == "" })
	}
	return k
}

// liveProducts returns the products that everyone sees. Those with children or components occur
// several times, so that they are drawn more often.
func liveProducts(t *testing.T, s *testServer, k shopFacts) (live []string) {
	v, err := s.store.Releases.View(t.Context(), release.ShopperContext{})
	require.NoError(t, err)
	found, err := v.ProductsByID(t.Context(), k.products)
	require.NoError(t, err)
	for _, id := range k.products {
		if product := found[id]; product != nil {
			live = append(live, id)
			if len(product.ChildIDs())+len(product.ComponentProductIDs()) > 0 {
				live = append(live, slices.Repeat([]string{id}, 10)...)
			}
		}
	}
	return live
}

// id returns one of the valid forms of an id.
func (d *dice) id(kind, id string) string {
	switch d.IntN(4) {
	case 0:
		return store.GlobalID(kind, id)
	case 1:
		if len(id) == 36 {
			return strings.ToUpper(id)
		}
	}
	return id
}

// product draws a product's id, sometimes an unknown one.
func (d *dice) product() string {
	if d.chance(10) {
		return pick(d, "nobody", "00000000-0000-4000-8000-000000000000", "", "a b", "zzz")
	}
	return d.id(store.TypeProduct, pick(d, d.known.products...))
}

// time draws a time, mostly one of a product.
func (d *dice) time() string {
	at := pick(d, d.known.times...)
	switch d.IntN(6) {
	case 0:
		return strings.TrimSuffix(at, "Z")
	case 1:
		return at[:len("2012-05-30")]
	case 2:
		return pick(d, "2000-01-01T00:00:00Z", "2030-01-01T00:00:00+02:00", "0001-01-01", "9999-12-31T23:59:59.999Z")
	}
	return at
}

// value draws a value of an attribute, sometimes one that no product has.
func (d *dice) value(attribute string) string {
	values := d.known.values[attribute]
	if attribute == "id" {
		return d.product()
	}
	if d.chance(15) || len(values) == 0 {
		return pick(d, "nobody", "", " padded ", `"quoted"`, `back\slash`, "a,b", "(c)", "d:e", "f|g", "é🔨", "100%", "1+1", "null", "*",
			"anvil", strings.Repeat("x", 300))
	}
	return pick(d, values...)
}
