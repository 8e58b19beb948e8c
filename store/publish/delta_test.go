package publish_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"portico/store"
	"portico/store/exchange"
	"portico/store/index"
	"portico/store/release"
	"portico/store/release/segment"
	"portico/store/shop"
	"portico/store/storetest"
	"portico/store/storetest/testkit"
)

// TestDeltas checks that releases stored as deltas of a base show the same as complete ones.
func TestDeltas(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		t.Run("a delta equals a complete release", deltaEqualsComplete(backend))
		t.Run("a delta writes little more than the changes", deltaSmall(backend))
		t.Run("a delta of long lists equals a complete release", deltaOfLongLists(backend))
		t.Run("a delta of ten products takes few statements", deltaStatements(backend))
		t.Run("the twentieth delta takes few statements", deltaFewStatements(backend))
		t.Run("what a delta costs follows what changed since the last publication", deltaCost(backend))
		t.Run("a base is made beside a release of many deltas", deltaBase(backend))
		t.Run("a delta has the order of searches of a complete release", deltaOrdersSearches(backend))
		t.Run("changes are stored from the first release on", deltaOfFirst(backend))
		t.Run("many changes make a complete release", deltaTooLarge(backend))
		t.Run("sweeps delete deltas, and their base after the last of them", deltaSwept(backend))
	})
}

// randomShop is a shop that changes at random.
type randomShop struct {
	*shop.Store
	*rand.Rand
	lines    map[string]map[string]any // import lines, by type and ID
	products []string
	nodes    []string
	done     []string // descriptions of the changes
}

func newRandomShop(t require.TestingT, s *shop.Store, seed uint64) *randomShop {
	c := &randomShop{Store: s, Rand: rand.New(rand.NewPCG(seed, seed)), lines: map[string]map[string]any{}}
	for _, line := range storetest.ShopLines() {
		resource := map[string]any{}
		require.NoError(t, json.Unmarshal([]byte(line), &resource))
		id, _ := resource["id"].(string)
		c.lines[storetest.LineType(line)+"/"+id] = resource
		switch storetest.LineType(line) {
		case "product":
			c.products = append(c.products, id)
		case "node":
			c.nodes = append(c.nodes, id)
		}
	}
	return c
}

// write imports a line again with a change.
func (c *randomShop) write(t require.TestingT, kind, id string, change func(attributes, relationships map[string]any)) {
	resource := c.lines[kind+"/"+id]
	attributes, _ := resource["attributes"].(map[string]any)
	relationships, _ := resource["relationships"].(map[string]any)
	change(attributes, relationships)
	text, err := json.Marshal(resource)
	require.NoError(t, err)
	storetest.Import(t, c.Store, string(text)+"\n")
}

func (c *randomShop) product() string { return c.products[c.IntN(len(c.products))] }
func (c *randomShop) node() string    { return c.nodes[c.IntN(len(c.nodes))] }

func (c *randomShop) either(values ...string) string { return values[c.IntN(len(values))] }

// time returns one of few times, so that many are equal and some lie in the past.
func (c *randomShop) time() string { return fmt.Sprintf("2024-0%d-01T00:00:00.000Z", 1+c.IntN(9)) }

// add creates a product.
func (c *randomShop) add(t require.TestingT) string {
	id := fmt.Sprintf("%s-%d", c.either("aa", "brush", "m", "zz"), len(c.products))
	c.lines["product/"+id] = map[string]any{"type": "product", "id": id, "relationships": map[string]any{},
		"attributes": map[string]any{"name": c.name(), "sku": strings.ToUpper(id), "slug": id, "status": "live",
			"created_at": c.time(), "updated_at": c.time()}}
	c.products = append(c.products, id)
	c.write(t, "product", id, func(_, _ map[string]any) {})
	return id
}

func (c *randomShop) name() string {
	return c.either("Anvil", "Ångström", "aa", "Brush", "brush", "Chalk", "Élan", "Kit", "Lamp oil", "Zz", "Zebra", "10")
}

// attach attaches a product to a node, unless a step before deleted the product.
func (c *randomShop) attach(t require.TestingT, node, id string) {
	if _, err := c.Catalogs.AttachProducts(context.Background(), storetest.Actor, node, []string{id}); err != nil {
		require.ErrorContains(t, err, "is not a product: "+strconv.Quote(id))
	}
}

// step makes one random change.
func (c *randomShop) step(t require.TestingT) {
	ctx, id, node := context.Background(), c.product(), c.node()
	kind := c.IntN(28)
	c.done = append(c.done, fmt.Sprint(kind, " ", id, " ", node))
	onProduct := func(change func(attributes, relationships map[string]any)) { c.write(t, "product", id, change) }
	switch kind {
	case 0:
		onProduct(func(a, _ map[string]any) { a["name"] = c.name() })
	case 1:
		onProduct(func(a, _ map[string]any) { a["updated_at"] = c.time() })
	case 2:
		onProduct(func(a, _ map[string]any) { a["created_at"] = c.time() })
	case 3:
		onProduct(func(a, _ map[string]any) { a["status"] = c.either("live", "live", "draft") })
	case 4:
		onProduct(func(a, _ map[string]any) {
			a["tags"], a["product_types"] = []string{c.either("light", "paint", "new")}, []string{c.either("standard", "rare")}
		})
	case 5:
		onProduct(func(a, _ map[string]any) { a["sku"] = c.either("ANVIL", "BRUSH", "OTHER") })
	case 6:
		onProduct(func(_, r map[string]any) {
			r["main_image"] = map[string]any{"data": map[string]any{"type": "main_image", "id": c.either("photo-1", "photo-3", "photo-4")}}
		})
	case 7:
		storetest.Import(t, c.Store, strings.NewReplacer("photo-1", c.either("photo-1", "photo-3", "photo-4"), "anvil.jpg", c.either("a.jpg", "b.jpg")).Replace(storetest.ShopLine("file", "photo-1"))+"\n")
	case 8:
		price := strings.NewReplacer("standard-brush", c.either("standard-brush", "price-2"), "BRUSH", c.either("BRUSH", "ANVIL", "EASEL", "GLUE", "EASEL-OAK"),
			"500", c.either("500", "700"), "2010-06-01", c.either("2010-06-01", "2030-06-01")).Replace(storetest.ShopLine("product-price", "standard-brush"))
		storetest.Import(t, c.Store, price+"\n")
	case 9, 10:
		onProduct(func(a, r map[string]any) {
			delete(r, "parent")
			delete(a, "base_product_id")
			if kind == 9 {
				parent := c.product()
				if parent == id {
					return
				}
				a["base_product_id"], a["options"] = parent, []string{c.either("oak", "pine")}
				r["parent"] = map[string]any{"data": map[string]any{"type": "product", "id": parent}}
			}
		})
	case 11:
		onProduct(func(a, r map[string]any) {
			part := c.product()
			a["components"] = map[string]any{"part": map[string]any{"name": "Part", "min": c.IntN(2), "max": 1,
				"options": []any{map[string]any{"id": part, "type": "product", "quantity": 1 + c.IntN(9)}}}}
			r["component_products"] = map[string]any{"data": []any{map[string]any{"type": "product", "id": part}}}
		})
	case 12:
		c.attach(t, node, id)
	case 13:
		_, err := c.Catalogs.DetachProducts(ctx, storetest.Actor, node, []string{id})
		require.NoError(t, err)
	case 14, 15:
		fresh := c.add(t)
		if kind == 15 {
			_, err := c.Catalogs.AttachProducts(ctx, storetest.Actor, node, []string{fresh})
			require.NoError(t, err)
		}
	case 16:
		fresh := fmt.Sprintf("node-%d", len(c.done))
		_, err := c.Exchange.UpsertNodes(ctx, storetest.Actor, []*exchange.CatalogNodeItemInput{{ID: &fresh, ParentID: &node, Name: new("Node " + c.name())}}, nil, false)
		require.NoError(t, err)
		c.attach(t, fresh, id)
		c.nodes = append(c.nodes, fresh)
	case 17:
		_, err := c.Exchange.UpsertNodes(ctx, storetest.Actor, []*exchange.CatalogNodeItemInput{{ID: &node, ParentID: new(c.node())}}, nil, false)
		require.True(t, err == nil || store.HasCode(err, store.Invalid), "%v", err)
	case 18:
		if len(c.nodes) == 1 {
			return
		}
		if _, err := c.Exchange.DeleteNodes(ctx, storetest.Actor, []string{node}, false); err == nil {
			c.nodes = slices.DeleteFunc(c.nodes, func(id string) bool { return id == node })
		}
	case 21:
		onProduct(func(a, _ map[string]any) {
			a["custom_attributes"] = map[string]any{"brand": c.either("Acme", "LG"), "weight": c.IntN(5)}
		})
	case 20:
		// Into another hierarchy, of no catalog for one; what was attached by hand stays or goes with it.
		resource := c.lines["node/"+c.either("tools", "hand-tools", "paints", "sale", "box")]
		relationships := resource["relationships"].(map[string]any)
		delete(relationships, "parent")
		relationships["hierarchy"] = map[string]any{"data": map[string]any{"type": "hierarchy", "id": c.either("workshop", "seasons", "attic")}}
		text, err := json.Marshal(resource)
		require.NoError(t, err)
		line := func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(string(text) + "\n")), nil }
		if _, err := c.Exchange.Import(ctx, storetest.Actor, line, exchange.ImportOptions{}); err != nil {
			require.Contains(t, err.Error(), "is its child") // a node was moved below it, and keeps it where it is
			return
		}
		if id := resource["id"].(string); !slices.Contains(c.nodes, id) {
			c.nodes = append(c.nodes, id)
		}
	case 22:
		storetest.Import(t, c.Store, fmt.Sprintf(`{"type":"product","id":%q,"deleted":true}`, id))
	case 23:
		storetest.Import(t, c.Store, fmt.Sprintf(`{"type":"file","id":%q,"deleted":true}`, c.either("photo-1", "photo-3", "photo-4")))
	case 24:
		storetest.Import(t, c.Store, fmt.Sprintf(`{"type":"product-price","id":%q,"deleted":true}`, c.either("standard-brush", "price-2", "vip-anvil")))
	case 25:
		onProduct(func(a, _ map[string]any) { a["base_product"] = c.IntN(2) == 0 })
	case 26:
		storetest.Import(t, c.Store, c.either(
			`{"type":"synonym","id":"glue","attributes":{"kind":"equivalent","terms":["glue","paste"]}}`, `{"type":"synonym","id":"glue","attributes":{"kind":"equivalent","terms":["paste","glue"]}}`,
			`{"type":"synonym","id":"tint","attributes":{"kind":"one_way","term":"tint","terms":["paint"]}}`, `{"type":"synonym","id":"glue","deleted":true}`))
	case 27:
		storetest.Import(t, c.Store, c.either(
			`{"type":"redirect","id":"old","attributes":{"from":"old","to":"paints"}}`, `{"type":"redirect","id":"old","attributes":{"from":"older","to":"paints"}}`,
			`{"type":"redirect","id":"older","attributes":{"from":"oldest","to":"tools"}}`, `{"type":"redirect","id":"old","deleted":true}`))
	case 19:
		_, err := c.Catalogs.CurateProducts(ctx, storetest.Actor, node, []string{id}, nil)
		require.True(t, err == nil || store.HasCode(err, store.Unprocessable), "%v", err)
	}
}

func deltaEqualsComplete(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		for seed := range uint64(testkit.QuickOrFull(1, 4)) {
			t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
				url := backend.OtherURL(t)
				open := func(config *shop.Config) { config.URL, config.Clock = url, testkit.NewClock(testkit.Noon).Now }
				s := backend.Open(t, open)
				layered := backend.Open(t, open, storetest.WithLayers)
				plain := backend.Open(t, open, storetest.WithoutDeltas)
				bare := backend.Open(t, open, func(config *shop.Config) { config.NoCache = true })
				storetest.Import(t, s, storetest.ShopFile)
				c := newRandomShop(t, s, seed)
				c.write(t, "product", "brush", func(_, r map[string]any) { // refers to a file that does not exist yet
					r["main_image"] = map[string]any{"data": map[string]any{"type": "main_image", "id": "photo-3"}}
				})
				storetest.Publish(t, s, "main")
				deltas, layers, rounds := 0, 0, 9
				if backend.Name == "postgres" { // the rules do not depend on the database
					rounds = testkit.QuickOrFull(4, 9)
				}
				for round := range rounds {
					c.done = append(c.done, "publish")
					for range 1 + c.IntN(6) {
						c.step(t)
					}
					newest, err := []*shop.Store{s, layered}[c.IntN(2)].Publisher.Publish(t.Context(), storetest.Actor, "main", nil)
					require.NoError(t, err)
					if newest.BaseID != 0 {
						deltas++
					}
					layers = max(layers, len(newest.Layers()))
					other, err := plain.Publisher.Preview(t.Context(), storetest.Actor, "main", nil)
					require.NoError(t, err)
					require.Zero(t, other.BaseID)
					require.Zero(t, other.Added+other.Changed+other.Removed, "equal releases have no differences: %v", c.done)
					shopper := []release.ShopperContext{{}, {Languages: testkit.Languages("fr"), Currency: "EUR"}}[round%2]
					shopper.ReleaseID = other.UUID()
					want := viewText(t, storetest.View(t, plain, shopper), c)
					shopper.ReleaseID = newest.UUID()
					require.Equal(t, want, viewText(t, storetest.View(t, s, shopper), c), "after %v", c.done)
					if round == rounds-1 {
						require.Equal(t, want, viewText(t, storetest.View(t, bare, shopper), c), "without caches, after %v", c.done)
					}
				}
				require.NotZero(t, deltas)
				if rounds == 9 {
					require.Greater(t, layers, 2)
				}
				storetest.RequireNoOrphans(t, backend.SQLAt(t, url))
			})
		}
	}
}

// deltaOrdersSearches compares the order of searches that begin words, of a shop in which many words begin alike.
func deltaOrdersSearches(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		url := backend.OtherURL(t)
		open := func(config *shop.Config) { config.URL = url }
		s, plain := backend.Open(t, open), backend.Open(t, open, storetest.WithoutDeltas)
		random := rand.New(rand.NewPCG(7, 8))
		text := func(words int) string {
			var list []string
			for range words {
				list = append(list, fmt.Sprint(string(rune('a'+random.IntN(3))), string(rune('a'+random.IntN(2))), random.IntN(50), "x"), []string{"for", "cable", "bag", "ca", "b,"}[random.IntN(5)])
			}
			return strings.Join(list, " ")
		}
		line := func(i int) string {
			return fmt.Sprintf(`{"type":"product","id":"p%03d","attributes":{"name":%q,"description":%q,"sku":"AB-%d","slug":"p%03d","status":"live","created_at":"2024-01-01T00:00:00Z","updated_at":"2024-01-01T00:00:00Z"},"relationships":{}}`,
				i, text(1+random.IntN(5)), text(random.IntN(30)), i, i)
		}
		var lines, refs []string
		for i := range 150 {
			lines, refs = append(lines, line(i)), append(refs, fmt.Sprintf(`{"type":"product","id":"p%03d"}`, i))
		}
		storetest.Import(t, s, storetest.JoinLines(append(lines, `{"type":"hierarchy","id":"h","attributes":{"name":"Bags"}}`,
			`{"type":"catalog","id":"main","attributes":{"name":"Main","hierarchies":["h"],"locale":"en"}}`,
			`{"type":"node","id":"all","attributes":{"name":"All"},"relationships":{"hierarchy":{"data":{"type":"hierarchy","id":"h"}},"products":{"data":[`+strings.Join(refs, ",")+`]}}}`)...))
		storetest.Publish(t, s, "main")
		lines = nil
		for i := range 20 {
			lines = append(lines, line(7*i))
		}
		storetest.Import(t, s, storetest.JoinLines(lines...))
		newest, err := s.Publisher.Publish(t.Context(), storetest.Actor, "main", nil)
		require.NoError(t, err)
		require.NotZero(t, newest.BaseID)
		other, err := plain.Publisher.Preview(t.Context(), storetest.Actor, "main", nil)
		require.NoError(t, err)
		views := []*release.View{storetest.View(t, s, release.ShopperContext{ReleaseID: newest.UUID()}), storetest.View(t, plain, release.ShopperContext{ReleaseID: other.UUID()})}
		typed := []string{"a", "b", "c", "x", "cable", "cabel", "bags", "aa b", "ab ca", "ab cable", "cable a", "bag for ca", "ab-1", "ab-999", "aa1x ca"}
		for _, first := range "abc" {
			for _, second := range "abcd" {
				typed = append(typed, string([]rune{first, second}))
			}
		}
		for _, text := range typed {
			search, err := index.NewSearch(text)
			require.NoError(t, err)
			var found [2][]string
			for i, v := range views {
				query := release.ProductQuery{Filter: release.ProductFilter{Searches: []index.Search{search}}, Sort: store.Sort{By: store.SortRelevance}, Page: store.Page{First: new(100)}}
				result, err := v.Searched(t.Context(), search)
				require.NoError(t, err)
				found[i] = append(storetest.ProductIDs(t, v, query), search.Corrected(result.Corrections))
			}
			require.Equal(t, found[1], found[0], text)
		}
	}
}

// viewText returns all that a view shows, as text.
func viewText(t require.TestingT, v *release.View, c *randomShop) string {
	ctx := context.Background()
	var b strings.Builder
	say := func(what string, values ...any) { fmt.Fprintf(&b, "%s %v\n", what, values) }
	nodes, err := v.Nodes(ctx, release.NodeQuery{Filter: release.NodeFilter{IDs: append([]string{"workshop", "seasons"}, c.nodes...)}, Page: store.Page{First: new(100)}})
	require.NoError(t, err)
	lists := []string{"", "every"}
	for _, node := range nodes.Items {
		say("node", node.ID, node.Name, node.Ancestors)
		lists = append(lists, node.ID)
	}
	search, err := index.NewSearch("an")
	require.NoError(t, err)
	filters := []release.ProductFilter{{}, {Searches: []index.Search{search}}}
	for _, term := range [][]string{{"tags", "light"}, {"name", "Brush"}, {"sku", "ANVIL"}, {"id", "anvil", "brush", "kit", "glue", "chalk"}} {
		if made, err := release.NewTerm(term[0], "in", term[1:]); err == nil {
			filters = append(filters, release.ProductFilter{Terms: []store.Term{made}})
		}
	}
	for _, bound := range [][]string{{"id", "gt", "brush"}, {"id", "le", "brush-99"}, {"id", "ge", "n"}, {"updated_at", "ge", "2024-03-01T00:00:00.000Z"}} {
		made, err := store.NewRange(bound[0], bound[1], bound[2])
		require.NoError(t, err)
		filters = append(filters, release.ProductFilter{Ranges: []store.Range{made}})
	}
	within, err := release.NewWithinTerm([]string{"tools", "sale"})
	require.NoError(t, err)
	option, err := release.NewOptionTerm("Wood", []string{"Oak", "Pine"})
	require.NoError(t, err)
	prices, err := release.NewPriceRange(new("500"), new("99900"))
	require.NoError(t, err)
	brand, err := release.NewAttributeCondition("brand", []string{"Acme"}, nil, nil)
	require.NoError(t, err)
	weight, err := release.NewAttributeCondition("weight", nil, new("0.5"), new("2"))
	require.NoError(t, err)
	filters = append(filters, release.ProductFilter{Terms: []store.Term{within}}, release.ProductFilter{Terms: []store.Term{option}}, release.ProductFilter{Keys: []release.KeyRange{prices}},
		release.ProductFilter{InStock: new(true)}, release.ProductFilter{InStock: new(false)}, release.ProductFilter{Attributes: []release.AttributeCondition{brand}}, release.ProductFilter{Attributes: []release.AttributeCondition{weight}})
	light := filters[2]
	either, err := release.NewAnyOf([]release.ProductFilter{light, {Keys: []release.KeyRange{prices}}, {InStock: new(false)}})
	require.NoError(t, err)
	neither, err := release.NewNot(release.ProductFilter{Terms: slices.Concat(light.Terms, []store.Term{release.NewSaleTerm(true)})})
	require.NoError(t, err)
	filters = append(filters, release.ProductFilter{Terms: []store.Term{release.NewSaleTerm(true)}}, release.ProductFilter{Terms: []store.Term{release.NewSaleTerm(false)}},
		release.ProductFilter{AnyOf: []release.AnyOf{either}}, release.ProductFilter{AnyOf: []release.AnyOf{neither}})
	sorts := []store.SortBy{store.SortDefault, store.SortID, store.SortCreatedAt, store.SortUpdatedAt, store.SortName, store.SortPrice, store.SortRelevance}
	for _, list := range lists {
		for i, filter := range filters {
			for k, by := range sorts {
				if i > 0 && k > 0 && (i+k)%3 != 0 { // a sample of all pairs
					continue
				}
				query := release.ProductQuery{NodeID: list, Filter: filter, Sort: store.Sort{By: by, Descending: k%2 == 1}}
				if list == "every" {
					query.NodeID, query.Unlisted = "", true
				}
				say("list", list, i, query.Sort, storetest.ProductIDs(t, v, query))
			}
			if list != "every" && (i+len(list))%3 == 0 {
				for k, query := range []release.ProductQuery{{}, {Sort: store.Sort{By: store.SortName, Descending: true}}, {Sort: store.Sort{By: store.SortCreatedAt}},
					{Variants: release.VariantsParents}, {Variants: release.VariantsChildren, Sort: store.Sort{By: store.SortPrice}}} {
					query.NodeID, query.Descendants, query.Filter = list, true, filter
					say("subtree", list, i, k, storetest.ProductIDs(t, v, query))
				}
			}
			facets, err := v.Facet(ctx, release.FacetQuery{Attribute: "tags", List: release.ProductQuery{NodeID: strings.TrimPrefix(list, "every"), Unlisted: list == "every", Filter: filter}, Selected: []string{"paint"}, First: 2})
			require.NoError(t, err)
			say("facet", list, i, facets)
			id := strings.TrimPrefix(list, "every")
			bounds, err := v.PriceRangeOfNodes(ctx, []string{id}, release.ProductQuery{Unlisted: list == "every", Filter: filter})
			require.NoError(t, err)
			if bounds[id] != nil {
				say("prices", list, i, *bounds[id])
			}
			for _, attribute := range []string{release.FacetOptions, release.FacetAttributeValues} {
				groups, err := v.FacetGroupsOfNodes(ctx, []string{id}, release.FacetGroupQuery{Attribute: attribute, List: release.ProductQuery{Unlisted: list == "every", Filter: filter}})
				require.NoError(t, err)
				say("groups", list, groups)
			}
		}
	}
	texts := []string{"brsuh", "paint brush", "oak missing", "for the wall", "anvil-", "ANVIL", "easeloak", "ea sel", "noms", "sku 1", "tools", "brushes", "lamp oil"}
	for first := 'a'; first <= 'z'; first++ {
		texts = append(texts, string(first), string([]rune{first, rune("aeinortu"[(int(first)+len(c.done))%8])}))
	}
	for _, text := range texts {
		search, err := index.NewSearch(text)
		require.NoError(t, err)
		result, err := v.Searched(ctx, search)
		require.NoError(t, err)
		ids, err := v.ProductIDs(ctx, result.Found)
		require.NoError(t, err)
		scores := map[string]uint32{}
		for i, id := range ids {
			scores[id] = result.Scores[i]
		}
		order := storetest.ProductIDs(t, v, release.ProductQuery{Unlisted: true, Filter: release.ProductFilter{Searches: []index.Search{search}}, Sort: store.Sort{By: store.SortRelevance}})
		suggestions, err := v.Suggest(ctx, text, 5)
		require.NoError(t, err)
		say("search", text, scores, order, search.Corrected(result.Corrections), suggestions.Completions, len(suggestions.Products), len(suggestions.Nodes))
	}
	products, err := v.ProductsByID(ctx, c.products)
	require.NoError(t, err)
	every, err := v.Products(ctx, release.ProductQuery{Unlisted: true})
	require.NoError(t, err)
	total, err := every.Total(ctx)
	require.NoError(t, err)
	require.Equal(t, v.Release.Products, total, "the list contains all products")
	require.Len(t, products, total, "the list contains all products found by ID")
	translations, err := v.TranslationsByID(ctx, c.products)
	require.NoError(t, err)
	files, err := v.FilesByID(ctx, []string{"photo-1", "photo-2", "photo-3", "photo-4"})
	require.NoError(t, err)
	for _, id := range slices.Sorted(slices.Values(c.products)) {
		product := products[id]
		if product == nil {
			say("no product", id)
			continue
		}
		members := storetest.ProductJSON(t, product)
		delete(members["attributes"].(map[string]any), "published_at")
		text, err := json.Marshal(members)
		require.NoError(t, err)
		for _, edge := range []release.Edge{release.EdgeChildren, release.EdgeComponents} {
			say(string(edge), id, storetest.ProductIDs(t, v, release.ProductQuery{Edge: edge, Of: id}))
		}
		attributes, err := v.AttributesOf(ctx, []*release.Product{product}, nil)
		require.NoError(t, err)
		for _, attribute := range attributes[0] {
			say("attribute", attribute.Label, attribute.Values)
		}
		say("product", string(text), string(store.Encode(product.Tiers())), product.Locale(), len(translations[id]))
		bySKU, err := v.Product(ctx, release.ProductKey{SKU: product.SKU()})
		require.NoError(t, err)
		say("by SKU", product.SKU(), bySKU.ID())
	}
	for _, id := range []string{"photo-1", "photo-2", "photo-3", "photo-4"} {
		if files[id] != nil {
			say("file", id, string(files[id].AppendJSON(nil)))
		}
	}
	return b.String()
}

// deltaSmall counts the rows that publishing one change writes.
func deltaSmall(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		var first int
		for _, products := range []int{300, testkit.QuickOrFull(1000, 3000)} {
			url := backend.OtherURL(t)
			s := backend.Open(t, func(config *shop.Config) { config.URL = url })
			text := storetest.GenerateShop(t, products, 5)
			storetest.Import(t, s, text)
			catalog := storetest.CatalogID(t, text)
			storetest.Publish(t, s, catalog)
			db := backend.SQLAt(t, url)
			for line := range strings.Lines(text) {
				if storetest.LineType(line) == "product" && strings.Contains(line, `"status":"live"`) {
					storetest.Import(t, s, strings.Replace(line, `"name":"`, `"name":"New `, 1))
					break
				}
			}
			release, err := s.Publisher.Publish(t.Context(), storetest.Actor, catalog, nil)
			require.NoError(t, err)
			require.NotZero(t, release.BaseID)
			require.Equal(t, []int{0, 1, 0}, []int{release.Added, release.Changed, release.Removed})
			written := 0
			for _, table := range []string{"release_place", "release_sale", "release_file", "release_index", "release_word"} {
				written += storetest.CountRows(t, db, fmt.Sprintf("%s WHERE release_id = %d", table, release.ID))
			}
			if first == 0 {
				first = written
			}
			require.Equal(t, first, written, "rows that a delta of one product writes, in a shop of %d", products)
			requireFewStatements(t, backend.Open(t, func(config *shop.Config) { config.URL, config.NoCache = url, true }))
		}
	}
}

// change returns the lines of n live products of a shop, from one on, with another name.
func change(text, name string, from, n int) string {
	var lines []string
	for line := range strings.Lines(text) {
		if storetest.LineType(line) == "product" && strings.Contains(line, `"status":"live"`) {
			lines = append(lines, strings.Replace(line, `"name":"`, `"name":"`+name, 1))
		}
	}
	return strings.Join(lines[from:from+n], "")
}

// deltaStatements counts the statements of publishing ten changed products by a process that has cached nothing: some
// upon the served release, some with the products of the layers above the base.
func deltaStatements(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		for _, products := range []int{100, testkit.QuickOrFull(600, 3000)} {
			url := backend.OtherURL(t)
			open := func(config *shop.Config) { config.URL = url }
			s := backend.Open(t, open)
			text := storetest.GenerateShop(t, products, 5)
			storetest.Import(t, s, text)
			catalog := storetest.CatalogID(t, text)
			storetest.Publish(t, s, catalog)
			served := int64(0)
			for round, n := range []int{40, 10, 10} {
				storetest.Import(t, s, change(text, fmt.Sprint("Round ", round, " "), 10*round, n))
				ctx, counter := store.CountStatements(t.Context())
				made, err := backend.Open(t, open).Publisher.Publish(ctx, storetest.Actor, catalog, nil)
				require.NoError(t, err)
				require.NotZero(t, made.BaseID)
				require.Equal(t, []int{0, n, 0}, []int{made.Added, made.Changed, made.Removed})
				lists := storetest.CountRows(t, backend.SQLAt(t, url), fmt.Sprintf("release_list WHERE release_id = %d", made.ID))
				most := 60 + 1 + lists
				if made.Below[len(made.Below)-1].ID != served {
					most += 10 // it reads the served release beside its parent
				}
				if served = made.ID; round > 0 {
					require.LessOrEqual(t, counter.Count(), most, "with %d lists, layers %v, in a shop of %d products", lists, made.LayerIDs(), products)
				}
			}
		}
	}
}

// deltaFewStatements publishes five changed products twenty times. Neither the first nor the twentieth publication runs more statements
// than the bound.
func deltaFewStatements(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		s := backend.Open(t, func(config *shop.Config) { config.URL = backend.OtherURL(t) })
		text := storetest.GenerateShop(t, 600, 5)
		storetest.Import(t, s, text)
		catalog := storetest.CatalogID(t, text)
		storetest.Publish(t, s, catalog)
		for round := range 20 {
			storetest.Import(t, s, change(text, fmt.Sprint("Round ", round, " "), 5*round, 5))
			ctx, counter := store.CountStatements(t.Context())
			made, err := s.Publisher.Publish(ctx, storetest.Actor, catalog, nil)
			require.NoError(t, err)
			require.GreaterOrEqual(t, made.Changed, 3) // some products are drafts
			require.LessOrEqual(t, counter.Count(), 60, "publication %d, layers %v:\n%s", round, made.LayerIDs(), strings.Join(counter.Queries(), "\n"))
		}
	}
}

// deltaCost publishes one product many times. The products and bytes that are written again do not grow with the number of
// publications, but for the few that join layers.
func deltaCost(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		backend.FullTestsOnlyOnPostgres(t)
		url := backend.OtherURL(t)
		open := func(config *shop.Config) { config.URL = url }
		s := backend.Open(t, open)
		text := storetest.GenerateShop(t, 600, 5)
		storetest.Import(t, s, text)
		catalog := storetest.CatalogID(t, text)
		storetest.Publish(t, s, catalog)
		rounds := testkit.QuickOrFull(24, 80)
		var first, least, newest *segment.Release
		written := 0
		for round := range rounds {
			storetest.Import(t, s, change(text, fmt.Sprint("Round ", round, " "), round, 1))
			made, err := s.Publisher.Publish(t.Context(), storetest.Actor, catalog, nil)
			require.NoError(t, err)
			require.NotZero(t, made.BaseID)
			require.LessOrEqual(t, len(made.Layers()), 8)
			written += made.Ordinals - made.FirstOrdinal
			if newest = made; first == nil {
				first = made
			}
			if round > rounds/2 && (least == nil || made.Bytes < least.Bytes) {
				least = made
			}
		}
		own := first.Ordinals - first.FirstOrdinal // the product, and those that it affects
		require.Less(t, written, 6*own*rounds, "products that %d publications wrote", rounds)
		require.Less(t, least.Bytes, 2*first.Bytes, "bytes of a late delta of one product")
		requireSameLists(t, backend, open, catalog, newest)
	}
}

// requireSameLists compares the lists of a release with those of a whole release of what is authored.
func requireSameLists(t *testing.T, backend storetest.Backend, open func(*shop.Config), catalog string, newest *segment.Release) {
	plain := backend.Open(t, open, storetest.WithoutDeltas)
	whole, err := plain.Publisher.Preview(t.Context(), storetest.Actor, catalog, nil)
	require.NoError(t, err)
	require.Zero(t, whole.Added+whole.Changed+whole.Removed)
	is, want := storetest.View(t, plain, release.ShopperContext{ReleaseID: newest.UUID()}), storetest.View(t, plain, release.ShopperContext{ReleaseID: whole.UUID()})
	for i, by := range []store.SortBy{store.SortDefault, store.SortID, store.SortCreatedAt, store.SortUpdatedAt, store.SortName, store.SortPrice} {
		query := release.ProductQuery{Unlisted: i%2 == 0, Sort: store.Sort{By: by, Descending: i == 3}}
		require.Equal(t, storetest.ProductIDs(t, want, query), storetest.ProductIDs(t, is, query), fmt.Sprint("by ", by))
	}
}

// deltaBase publishes so many products one after the other that housekeeping makes a base, which nobody sees, and then a
// delta of it.
func deltaBase(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		backend.FullTestsOnlyOnPostgres(t)
		clock := testkit.NewClock(testkit.Noon)
		url := backend.OtherURL(t)
		open := func(config *shop.Config) { config.URL = url; storetest.WithClock(clock)(config) }
		s, db := backend.Open(t, open), backend.SQLAt(t, url)
		text := storetest.GenerateShop(t, 1000, 6)
		storetest.Import(t, s, text)
		catalog := storetest.CatalogID(t, text)
		storetest.Publish(t, s, catalog)
		publish := func(name string, from, n int) *segment.Release {
			storetest.Import(t, s, change(text, name, from, n))
			made, err := s.Publisher.Publish(t.Context(), storetest.Actor, catalog, nil)
			require.NoError(t, err)
			require.Equal(t, []int{0, n, 0}, []int{made.Added, made.Changed, made.Removed})
			return made
		}
		bases := func() int { return storetest.CountRows(t, db, "release WHERE state = 'base'") }
		first := publish("First ", 0, 30)
		require.NoError(t, s.Sweep(t.Context()))
		require.Zero(t, bases(), "30 products are few")
		second := publish("Second ", 30, 120)
		storetest.Import(t, s, change(text, "Unpublished ", 150, 1))
		require.NoError(t, s.Sweep(t.Context()))
		require.Zero(t, bases(), "a base would have what is not published")
		third := publish("Unpublished ", 150, 1)
		require.Equal(t, first.BaseID, third.BaseID)
		for range 2 {
			require.NoError(t, s.Sweep(t.Context()))
			require.Equal(t, 1, bases())
		}
		v := storetest.View(t, s, release.ShopperContext{})
		require.Equal(t, third.ID, v.Release.ID, "the base is not served")
		fourth := publish("Fourth ", 151, 2)
		require.Greater(t, fourth.BaseID, second.ID)
		require.Len(t, fourth.Layers(), 2)
		requireSameLists(t, backend, open, catalog, fourth)
		require.Len(t, publish("Fifth ", 100, 1).Layers(), 2)
		for range 4 {
			clock.Advance(2 * time.Hour)
			publish(fmt.Sprint("Later ", clock.Now().Hour(), " "), 200, 1)
		}
		storetest.AgeBuilds(t, db)
		require.NoError(t, s.Sweep(t.Context()))
		require.Zero(t, storetest.CountRows(t, db, fmt.Sprintf("release WHERE id <= %d", third.ID)), "the releases before the base are swept")
		require.Equal(t, 1, bases())
		storetest.RequireNoOrphans(t, db)
	}
}

// requireFewStatements checks that the statements of a page of a delta do not depend on
// its length.
func requireFewStatements(t *testing.T, s *shop.Store) {
	v := storetest.View(t, s, release.ShopperContext{})
	require.NotZero(t, v.Release.BaseID)
	tagged, err := release.NewTerm("tags", "eq", []string{"sale"})
	require.NoError(t, err)
	for _, filter := range []release.ProductFilter{{}, {Terms: []store.Term{tagged}}} {
		for _, by := range []store.SortBy{store.SortDefault, store.SortID, store.SortName, store.SortPrice} {
			cost := map[int]int{}
			for _, first := range []int{1, 100} {
				ctx, counter := store.CountStatements(t.Context())
				for _, unlisted := range []bool{false, true} {
					_, err := v.Products(ctx, release.ProductQuery{Unlisted: unlisted, Filter: filter, Sort: store.Sort{By: by}, Page: store.Page{First: new(first)}})
					require.NoError(t, err)
				}
				cost[first] = counter.Count()
			}
			// The first product is of the delta. The others are in blocks of the base, which have slots: two
			// statements more for each of the two lists.
			require.LessOrEqual(t, cost[100], cost[1]+4, "statements of a page, sort %q, filter %s", by, filter)
		}
	}
}

func deltaTooLarge(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		s := backend.Open(t)
		text := storetest.GenerateShop(t, 1200, 6)
		storetest.Import(t, s, text)
		catalog := storetest.CatalogID(t, text)
		storetest.Publish(t, s, catalog)
		change := func(most int) *segment.Release {
			var lines []string
			for line := range strings.Lines(text) {
				if storetest.LineType(line) == "product" && len(lines) < most {
					lines = append(lines, strings.Replace(line, `"name":"`, `"name":"`+fmt.Sprint(time.Now().UnixNano())+" ", 1))
				}
			}
			storetest.Import(t, s, strings.Join(lines, ""))
			release, err := s.Publisher.Publish(t.Context(), storetest.Actor, catalog, nil)
			require.NoError(t, err)
			return release
		}
		require.Zero(t, change(0).BaseID, "without changes it returns the current release")
		base := change(10).BaseID
		require.NotZero(t, base)
		require.Equal(t, base, change(20).BaseID)
		require.Equal(t, base, change(30).BaseID, "the base of a delta is a complete release")
		anew := change(600)
		require.Zero(t, anew.BaseID)
		require.Equal(t, anew.ID, change(10).BaseID)
	}
}

// deltaOfFirst checks that an import of a new shop stores no changes, and that changes of the first
// release are known from then on.
func deltaOfFirst(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		s, db := backend.Open(t), backend.SQL(t)
		storetest.Import(t, s, storetest.ShopFile)
		require.Zero(t, storetest.CountRows(t, db, "authored_change"))
		storetest.Publish(t, s, "main")
		first := storetest.View(t, s, release.ShopperContext{}).Release
		storetest.RenameProducts(t, s, "x")
		require.NotZero(t, storetest.CountRows(t, db, "authored_change"))
		storetest.Publish(t, s, "main")
		require.Equal(t, first.ID, storetest.View(t, s, release.ShopperContext{}).Release.BaseID)
	}
}

// deltaSwept publishes until old deltas are swept.
func deltaSwept(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		clock := testkit.NewClock(testkit.Noon)
		s, db := backend.Open(t, storetest.WithClock(clock)), backend.SQL(t)
		storetest.Import(t, s, storetest.ShopFile)
		storetest.Publish(t, s, "main")
		first := storetest.View(t, s, release.ShopperContext{}).Release
		want := map[string][]string{} // by release ID
		for i := range 5 {
			clock.Advance(2 * time.Hour)
			storetest.RenameProducts(t, s, fmt.Sprint(i))
			storetest.Publish(t, s, "main")
			v := storetest.View(t, s, release.ShopperContext{})
			require.Equal(t, first.ID, v.Release.BaseID)
			want[v.Release.UUID()] = []string{storetest.FindProduct(t, v, "anvil").Name()}
		}
		kept := func() (ids []string) {
			require.NoError(t, s.Sweep(t.Context()))
			releases, err := s.Releases.List(t.Context(), "main")
			require.NoError(t, err)
			for _, release := range releases {
				ids = append(ids, release.UUID())
			}
			return ids
		}
		ids := kept()
		require.Len(t, ids, 4)
		require.Equal(t, first.UUID(), ids[3], "the newest three releases and their base")
		for _, id := range ids[:3] {
			v := storetest.View(t, s, release.ShopperContext{ReleaseID: id})
			require.Equal(t, want[id], []string{storetest.FindProduct(t, v, "anvil").Name()})
		}
		_, err := s.Releases.Serve(t.Context(), storetest.Actor, first.UUID())
		require.NoError(t, err, "the base can be served again")
		require.Equal(t, "Anvil", storetest.FindProduct(t, storetest.View(t, s, release.ShopperContext{}), "anvil").Name())
		require.Len(t, kept(), 4)

		plain := backend.Open(t, storetest.WithClock(clock), storetest.WithoutDeltas)
		for i := range 4 {
			clock.Advance(2 * time.Hour)
			storetest.RenameProducts(t, plain, fmt.Sprint("plain ", i))
			storetest.Publish(t, plain, "main")
		}
		require.Len(t, kept(), 3, "a base without deltas is swept")
		require.Len(t, kept(), 3)
		storetest.RequireNoOrphans(t, db)
	}
}
