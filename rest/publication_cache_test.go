package rest_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/graph/opctx"
	"portico/internal/httpcache"
	"portico/store"
	"portico/store/release"
	"portico/store/shop"
	"portico/store/storetest"
	"portico/store/storetest/testkit"
)

// changingShop is a shop whose lines a test changes at random.
type changingShop struct {
	random *rand.Rand
	lines  map[string]map[string]any // by type and id
	keys   []string
}

func newChangingShop(t *testing.T, seed uint64) *changingShop {
	c := &changingShop{random: rand.New(rand.NewPCG(seed, 1)), lines: map[string]map[string]any{}}
	for _, line := range storetest.ShopLines() {
		var parsed map[string]any
		require.NoError(t, json.Unmarshal([]byte(line), &parsed))
		if kind := parsed["type"].(string); slices.Contains([]string{"product", "node", "file", "product-price"}, kind) {
			key := fmt.Sprint(kind, " ", parsed["id"])
			c.keys, c.lines[key] = append(c.keys, key), parsed
		}
	}
	return c
}

func (c *changingShop) oneOf(options ...any) any { return options[c.random.IntN(len(options))] }

// change changes one member of one line, and returns the line and what changed.
func (c *changingShop) change() (line, what string) {
	key := c.keys[c.random.IntN(len(c.keys))]
	parsed := c.lines[key]
	attributes, _ := parsed["attributes"].(map[string]any)
	relations, _ := parsed["relationships"].(map[string]any)
	n := c.random.IntN(1000)
	switch parsed["type"] {
	case "product":
		what = c.oneOf("name", "name", "description", "tags", "status", "slug", "updated_at", "file", "children's order").(string)
		switch what {
		case "name":
			attributes["name"] = fmt.Sprint(c.oneOf("A", "M", "Z"), n)
		case "description":
			attributes["description"] = fmt.Sprint("Text ", n)
		case "tags":
			attributes["tags"] = []any{c.oneOf("paint", "wood", "heavy", "new")}
		case "status":
			attributes["status"] = c.oneOf("live", "live", "draft")
		case "slug":
			attributes["slug"] = c.oneOf(attributes["slug"], "shared", fmt.Sprint("slug-", n))
		case "updated_at":
			attributes["updated_at"] = fmt.Sprintf("2024-02-%02dT00:00:00.000Z", 1+n%28)
		case "file":
			relations["files"] = map[string]any{"data": []any{map[string]any{"type": "file", "id": c.oneOf("photo-1", "photo-2", "photo-3")}}}
		default:
			attributes["created_at"] = fmt.Sprintf("2023-02-%02dT00:00:00.000Z", 1+n%28)
		}
	case "node":
		what = c.oneOf("name", "slug", "curated", "attached", "attached", "parent").(string)
		switch what {
		case "slug":
			attributes["slug"] = c.oneOf("tools", "node-slug", fmt.Sprint("slug-", n))
		case "name":
			attributes["name"] = fmt.Sprint(c.oneOf("A", "M", "Z"), n)
		case "curated":
			attributes["curated_products"] = []any{c.oneOf("anvil", "chalk"), c.oneOf("brush", "glue")}
		case "attached":
			list := []any{}
			for _, id := range []string{"anvil", "brush", "chalk", "kit", "glue", "easel", "jar", "ink-unlisted"} {
				if c.random.IntN(2) == 0 {
					list = append(list, map[string]any{"type": "product", "id": id})
				}
			}
			relations["products"] = map[string]any{"data": list}
		case "parent":
			if parsed["id"] != "hand-tools" {
				return c.change()
			}
			relations["parent"] = map[string]any{"data": map[string]any{"type": "node", "id": c.oneOf("tools", "paints")}}
		}
	case "file":
		what = "href"
		parsed["link"] = map[string]any{"href": fmt.Sprintf("https://cdn.example/%d", n)}
	default:
		what = "amount"
		attributes["currencies"] = map[string]any{"USD": map[string]any{"amount": 100 + n, "includes_tax": false}}
	}
	var text strings.Builder
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false) // documents keep the members' JSON as it is
	if err := encoder.Encode(parsed); err != nil {
		panic(err)
	}
	return text.String(), key + " " + what
}

// changingTargets returns what is requested: pages, single resources, unknown ones, and queries of
// everything that can be read through a view.
func changingTargets() []string {
	targets := []string{"/catalog/nodes", "/catalog/nodes?page[limit]=2", "/catalog/hierarchies", "/catalog/hierarchies/workshop/nodes", "/catalog/hierarchies/workshop/children",
		"/catalog/hierarchies/seasons/products", "/catalog/nodes/tools/relationships/children", "/catalog/products", "/catalog/products?sort=name&page[limit]=3",
		"/catalog/products?filter=eq(tags,paint)", "/catalog/products?filter=eq(sku,GLUE)", "/catalog/products?filter=in(slug,shared,glue)", "/catalog/products?filter=in(id,anvil,ink-unlisted,none)",
		"/catalog/products/easel/relationships/children", "/catalog/products/kit/relationships/component_products", "/catalog/products/none", "/catalog/nodes/none"}
	for _, id := range []string{"tools", "hand-tools", "paints", "sale", "empty"} {
		targets = append(targets, "/catalog/nodes/"+id, productsOf(id), productsOf(id)+"?include="+allIncludes, productsOf(id)+"?page[limit]=2&page[offset]=1")
	}
	for _, id := range []string{"anvil", "brush", "chalk", "kit", "easel", "easel-oak", "glue", "ink-unlisted", "drill-draft"} {
		targets = append(targets, "/catalog/products/"+id, "/catalog/products/"+id+"?include="+allIncludes)
	}
	const product = `uuid name slug sku publishedAt tags price { money { amount } } mainImage { href } files { file { href } } breadcrumbs { catalogNode { name hasChildren } ancestors { name } }
		parent { name } children { name } componentProducts { name } catalogNodes { name } translations { locale name }`
	for _, query := range []string{
		`{ product(by: {id: "anvil"}) { ` + product + ` } }`, `{ product(by: {id: "easel-oak"}) { ` + product + ` } }`, `{ product(by: {sku: "GLUE"}) { ` + product + ` } }`,
		`{ product(by: {slug: "shared"}) { ` + product + ` } }`, `{ product(by: {slug: "brush"}) { ` + product + ` } }`, `{ product(by: {id: "none"}) { name } }`,
		`{ catalogNode(by: {id: "tools"}) { name hasChildren breadcrumbs { name } children { nodes { name } } curatedProducts { name } products(first: 3) { totalCount pageInfo { endCursor } nodes { ` + product + ` } } } }`,
		`{ catalogNode(by: {id: "paints"}) { name products(first: 2, orderBy: {field: NAME}) { edges { cursor curated node { name } } } } }`,
		`{ catalogNodes(first: 3) { pageInfo { endCursor } nodes { name breadcrumbs { name } products(first: 2) { nodes { name } } } } }`,
		`{ catalogNode(by: {path: "workshop/tools"}) { name } other: catalogNode(by: {slug: "node-slug"}) { name } product(by: {path: "tools/anvil"}) { name } }`,
		`{ catalogNode(by: {id: "empty"}) { position mainImage { href } attributes { label value } } }`, `{ files { nodes { href } } }`,
		`{ hierarchies { nodes { name children { nodes { name } } products(first: 2) { totalCount nodes { name } } } } }`,
		`{ products(first: 4) { totalCount pageInfo { endCursor hasNextPage } nodes { name } } }`,
		`{ products(first: 4, filter: {search: "a"}) { totalCount nodes { name } } }`,
		`{ currencies { code default } format: currencies { format } locales }`,
		`{ searchSuggestions(text: "a", first: 3) { completions didYouMean catalogNodes { name } products { name } } }`,
		`{ sitemap(first: 5) { nodes { path publishedAt } endCursor } }`,
		`{ node(id: "anvil") { id ... on Product { ` + product + ` } } tools: node(id: "tools") { ... on CatalogNode { name children { nodes { name } } } } }`,
		`{ nodes(ids: ["` + store.GlobalID(store.TypeHierarchy, "workshop") + `", "` + store.GlobalID(store.TypeProduct, "none") + `", "glue"]) { id ... on Hierarchy { name } ... on Product { name tags } } }`,
		`{ products(first: 4, orderBy: {field: PRICE}) { nodes { name price { money { amount } } } } }`,
		`{ products(first: 2, filter: {tags: {in: ["paint"]}}) { totalCount pageInfo { endCursor } facets { groups(keys: ["tags"]) { values { value count } } } nodes { name } } }`,
	} {
		targets = append(targets, "/graphql?query="+url.QueryEscape(query))
	}
	return targets
}

// fromDifference returns the part of a text around its first difference from another.
func fromDifference(text, other string) string {
	n := 0
	for n < min(len(text), len(other)) && text[n] == other[n] {
		n++
	}
	return text[max(0, n-60):min(len(text), n+200)]
}

// taggedCDN stores responses until one of their tags is purged.
type taggedCDN map[string]*httptest.ResponseRecorder

// purge makes the calls that are due, and drops the responses with their tags.
func (c taggedCDN) purge(t *testing.T, s *shop.Store) {
	t.Helper()
	for {
		call, err := s.Purges.Claim(t.Context())
		require.NoError(t, err)
		if call == nil {
			return
		}
		purged := []string{httpcache.AllTag}
		if call.CatalogID != "" {
			purged = httpcache.PurgedTags(call.CatalogID, call.Changed)
		}
		maps.DeleteFunc(c, func(_ string, stored *httptest.ResponseRecorder) bool {
			return slices.ContainsFunc(strings.Fields(stored.Header().Get(httpcache.SurrogateKey)), func(tag string) bool { return slices.Contains(purged, tag) })
		})
		require.NoError(t, s.Purges.Finish(t.Context(), call))
	}
}

// TestCachesShowEveryPublication changes the shop at random and publishes it, whole or as a delta,
// rolls it back, and compares each response of two servers with caches, and of a CDN in front of
// them, with that of a server without any.
func TestCachesShowEveryPublication(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		steps := testkit.QuickOrFull(12, 80)
		if text := os.Getenv("PORTICO_TEST_CACHE_STEPS"); text != "" {
			steps, _ = strconv.Atoi(text)
		}
		clock := testkit.NewClock(noon)
		writer := openShop(t, e, shopFile(), withClock(clock))
		other := serveCaching(t, e.Open(t, withClock(clock)), opctx.CachePolicy{TagHeader: httpcache.SurrogateKey})
		whole := e.Open(t, withClock(clock), storetest.WithoutDeltas)
		plain := serveWithoutCache(t, e.Open(t, withClock(clock), func(config *shop.Config) { config.NoCache = true }))
		c, targets := newChangingShop(t, 7), changingTargets()
		shoppers := [][]string{nil, {"Accept-Language", "fr"}, {"X-Moltin-Currency", "EUR"}}
		var served []string
		kept, all := 0, 0
		tags := map[string]string{}
		cdn, hits, purged := taggedCDN{}, 0, false
		for step := range steps {
			what := ""
			if purged {
				_, err := e.SQL(t).Exec(`UPDATE purge_call SET due_at = 0`)
				require.NoError(t, err)
				cdn.purge(t, writer.store) // the second time
			}
			switch roll := c.random.IntN(10); {
			case roll < 2 && len(served) > 1:
				id := served[max(0, len(served)-1-c.random.IntN(3))]
				if _, err := writer.store.Releases.Serve(t.Context(), "test", id); err == nil {
					what = "roll back to " + id
				}
			default:
				for range 1 + c.random.IntN(3) {
					line, changed := c.change()
					storetest.Import(t, writer.store, line)
					what += changed + ", "
				}
				publisher := writer.store
				if roll == 2 {
					publisher, what = whole, what+"published whole"
				}
				made, err := publisher.Publisher.Publish(t.Context(), "test", "main", nil)
				require.NoError(t, err)
				served = append(served, made.UUID())
			}
			now := storetest.QueryText(t, e.SQL(t), `SELECT release_id FROM catalog WHERE id = 'main'`)
			for _, server := range []*testServer{writer, other, plain} {
				testkit.Eventually(t, now, func() string { return storetest.View(t, server.store, release.ShopperContext{}).Release.UUID() })
			}
			collected := c.random.IntN(3) > 0 // else with the changes of the next step
			if collected {
				require.NoError(t, writer.store.Purges.Collect(t.Context()))
			}
			purged = collected && c.random.IntN(3) > 0
			if purged {
				cdn.purge(t, writer.store)
			}
			for i, target := range targets {
				headers := shoppers[(i+step)%len(shoppers)]
				want := plain.send(t, http.MethodGet, target, "", headers...)
				require.False(t, strings.Contains(target, "graphql") && strings.Contains(want.Body.String(), `"errors"`), "%s: %s", target, want.Body)
				for name, server := range map[string]*testServer{"the writer": writer, "another server": other} {
					got := server.send(t, http.MethodGet, target, "", headers...)
					require.Equal(t, want.Code, got.Code, "step %d, %s: %s: %s", step, what, name, target)
					if is, shall := got.Body.String(), want.Body.String(); is != shall {
						require.Equal(t, fromDifference(shall, is), fromDifference(is, shall), "step %d, %s: %s: %s", step, what, name, target)
					}
				}
				key := target + strings.Join(headers, "")
				if stored := cdn[key]; stored == nil && want.Code == http.StatusOK {
					sent := other.send(t, http.MethodGet, target, "", headers...)
					if sent.Header().Get(httpcache.SurrogateKey) != "" {
						cdn[key] = sent
					} else { // nothing would purge it
						require.Contains(t, sent.Header().Get("Cache-Control"), "no-store", target)
					}
				} else if stored != nil && purged {
					require.Equal(t, want.Body.String(), stored.Body.String(), "step %d, %s: a CDN: %s", step, what, target)
					hits++
				}
				if tag := want.Header().Get("Etag"); tag != "" {
					if all++; tags[key] == tag {
						kept++
					}
					tags[key] = tag
				}
			}
		}
		t.Logf("%d of %d ETags stayed, %d in the CDN", kept, all, hits)
		require.Positive(t, kept)
		require.Greater(t, hits, kept/10)
	})
}
