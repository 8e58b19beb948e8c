package shop_test

import (
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/text/language"

	"portico/internal/datagen"
	"portico/store"
	"portico/store/exchange"
	"portico/store/index"
	"portico/store/release"
	"portico/store/shop"
)

// The benchmarks read lists of a generated shop, and publish it. Warm is what
// was asked before; cold is a store that keeps nothing between operations.
//
//	PORTICO_TEST_BENCH_PRODUCTS=100000 go test -run - -bench Products ./store
//
// PORTICO_TEST_BENCH_PRODUCTS is the size of the shop, 1000 unless set.
// PORTICO_TEST_BENCH_DATABASE keeps the shop in a file, so that a large one is
// imported once.

// benchShop opens the shop and imports it if the database is new.
func benchShop(b *testing.B, noCache bool) *shop.Store {
	return openShop(b, shop.Config{NoCache: noCache})
}

func openShop(b testing.TB, config shop.Config) *shop.Store {
	b.Helper()
	path := os.Getenv("PORTICO_TEST_BENCH_DATABASE")
	if path == "" {
		path = b.TempDir() + "/bench.db"
	}
	config.URL = "file:" + path
	s, err := shop.Open(b.Context(), config)
	require.NoError(b, err)
	b.Cleanup(func() { s.Close() })
	if ids, err := s.Releases.CatalogIDs(b.Context()); err != nil || len(ids) == 0 {
		require.NoError(b, err)
		importShop(b, s)
	}
	return s
}

// importShop imports a generated shop.
func importShop(b testing.TB, s *shop.Store) {
	b.Helper()
	products := 1000
	if text := os.Getenv("PORTICO_TEST_BENCH_PRODUCTS"); text != "" {
		n, err := strconv.Atoi(text)
		require.NoError(b, err)
		products = n
	}
	open := func() (io.ReadCloser, error) {
		reader, writer := io.Pipe()
		go func() { writer.CloseWithError(datagen.WriteShop(writer, products, 1)) }()
		return reader, nil
	}
	_, err := s.Exchange.Import(b.Context(), "bench", open, exchange.ImportOptions{})
	require.NoError(b, err)
	publishShop(b, s)
}

func publishShop(b testing.TB, s *shop.Store) {
	b.Helper()
	ids, err := s.Releases.CatalogIDs(b.Context())
	require.NoError(b, err)
	for _, id := range ids {
		_, err := s.Publisher.Publish(b.Context(), "bench", id, nil)
		require.NoError(b, err)
	}
}

func BenchmarkPublish(b *testing.B) {
	s := benchShop(b, false)
	for b.Loop() {
		publishShop(b, s)
	}
}

// BenchmarkProducts reads a page of 25 of all products.
func BenchmarkProducts(b *testing.B) {
	search := func(texts ...string) (f release.ProductFilter) {
		for _, text := range texts {
			s, err := index.NewSearch(text)
			require.NoError(b, err)
			f.Searches = append(f.Searches, s)
		}
		return f
	}
	term, err := release.NewTerm("tags", "in", []string{"new", "sale"})
	require.NoError(b, err)
	tagged := release.ProductFilter{Terms: []store.Term{term}}
	for _, c := range []struct {
		name  string
		query release.ProductQuery
	}{
		{"by update", release.ProductQuery{}},
		{"by name", release.ProductQuery{Sort: store.Sort{By: store.SortName}}},
		{"by price", release.ProductQuery{Sort: store.Sort{By: store.SortPrice}}},
		{"by price, descending", release.ProductQuery{Sort: store.Sort{By: store.SortPrice, Descending: true}}},
		{"of tags by price", release.ProductQuery{Filter: tagged, Sort: store.Sort{By: store.SortPrice}}},
		{"of tags", release.ProductQuery{Filter: tagged}},
		{"of tags by name", release.ProductQuery{Filter: tagged, Sort: store.Sort{By: store.SortName}}},
		{"searched, a word", release.ProductQuery{Filter: search("bamboo")}},
		{"searched, two words", release.ProductQuery{Filter: search("bamboo cha")}},
		{"searched, a letter", release.ProductQuery{Filter: search("s")}},
		{"searched, a digit", release.ProductQuery{Filter: search("0")}},
		{"searched, a SKU", release.ProductQuery{Filter: search("sku-0012345")}},
		{"searched, by relevance", release.ProductQuery{Filter: search("bamboo"), Sort: store.Sort{By: store.SortRelevance}}},
		{"searched, by name", release.ProductQuery{Filter: search("bamboo"), Sort: store.Sort{By: store.SortName}}},
	} {
		read := func(b *testing.B, v *release.View) {
			_, err := v.Products(b.Context(), c.query)
			require.NoError(b, err)
		}
		benchmarkViews(b, c.name, read)
	}
}

// BenchmarkFacets counts every attribute.
func BenchmarkFacets(b *testing.B) {
	term, err := release.NewTerm("product_types", "eq", []string{"standard"})
	require.NoError(b, err)
	search, err := index.NewSearch("bamboo")
	require.NoError(b, err)
	for name, filter := range map[string]release.ProductFilter{
		"of all": {}, "of a type": {Terms: []store.Term{term}}, "of a search": {Searches: []index.Search{search}},
	} {
		benchmarkViews(b, name, func(b *testing.B, v *release.View) {
			for _, attribute := range release.FacetAttributes() {
				_, err := v.Facet(b.Context(), release.FacetQuery{Attribute: attribute, List: release.ProductQuery{Filter: filter}, First: 20})
				require.NoError(b, err)
			}
		})
	}
}

// BenchmarkFirstFilters reads a page of 25 of another filter each time, and counts its facets, with the
// indexes of the release cached: the first request of a shopper, on a server that is in use.
func BenchmarkFirstFilters(b *testing.B) {
	s := benchShop(b, false)
	tagged, err := release.NewTerm("tags", "in", []string{"new", "sale"})
	require.NoError(b, err)
	price := func(n int) release.KeyRange {
		return release.KeyRange{Sort: store.SortPrice, Low: int64(n), High: 1 << 40}
	}
	skus := func(n int) release.ProductFilter {
		values := make([]string, 50)
		for i := range values {
			values[i] = fmt.Sprintf("SKU-%07d", (n*50+i)*37%100_000)
		}
		term, err := release.NewTerm("sku", "in", values)
		require.NoError(b, err)
		return release.ProductFilter{Terms: []store.Term{term}}
	}
	nodes := func() []string {
		v, err := s.Releases.View(b.Context(), release.ShopperContext{})
		require.NoError(b, err)
		list, err := v.Nodes(b.Context(), release.NodeQuery{Page: store.Page{First: new(100)}})
		require.NoError(b, err)
		var ids []string
		for _, node := range list.Items {
			ids = append(ids, node.ID)
		}
		return ids
	}()
	for _, c := range []struct {
		name   string
		query  func(n int) release.ProductQuery
		facets bool
	}{
		{"50 SKUs", func(n int) release.ProductQuery { return release.ProductQuery{Unlisted: true, Filter: skus(n)} }, false},
		{"a price", func(n int) release.ProductQuery {
			return release.ProductQuery{Filter: release.ProductFilter{Keys: []release.KeyRange{price(n)}}}
		}, false},
		{"a tag and a price", func(n int) release.ProductQuery {
			return release.ProductQuery{Filter: release.ProductFilter{Terms: []store.Term{tagged}, Keys: []release.KeyRange{price(n)}}}
		}, false},
		{"below a node, by price", func(n int) release.ProductQuery {
			within, err := release.NewWithinTerm([]string{nodes[n%len(nodes)]})
			require.NoError(b, err)
			return release.ProductQuery{Filter: release.ProductFilter{Terms: []store.Term{within}, Keys: []release.KeyRange{price(n)}}, Sort: store.Sort{By: store.SortPrice}}
		}, false},
		{"a node by price", func(n int) release.ProductQuery {
			return release.ProductQuery{NodeID: nodes[n%len(nodes)], Filter: release.ProductFilter{Keys: []release.KeyRange{price(n)}}, Sort: store.Sort{By: store.SortPrice}}
		}, false},
		{"facets of a tag and a price", func(n int) release.ProductQuery {
			return release.ProductQuery{Filter: release.ProductFilter{Terms: []store.Term{tagged}, Keys: []release.KeyRange{price(n)}}}
		}, true},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			n := 0
			for b.Loop() {
				n++
				query := c.query(n)
				v, err := s.Releases.View(b.Context(), release.ShopperContext{})
				require.NoError(b, err)
				if !c.facets {
					_, err = v.Products(b.Context(), query)
					require.NoError(b, err)
					continue
				}
				for _, attribute := range release.FacetAttributes() {
					_, err := v.Facet(b.Context(), release.FacetQuery{Attribute: attribute, List: query, First: 20})
					require.NoError(b, err)
				}
				for _, attribute := range []string{release.FacetOptions, release.FacetAttributeValues} {
					_, err := v.FacetGroupsOfNodes(b.Context(), []string{""}, release.FacetGroupQuery{Attribute: attribute, List: query})
					require.NoError(b, err)
				}
				_, err = v.PriceRangeOfNodes(b.Context(), []string{""}, query)
				require.NoError(b, err)
			}
		})
	}
}

// BenchmarkTyping searches for a different text each time, with the index cached.
func BenchmarkTyping(b *testing.B) {
	s := benchShop(b, false)
	n := 0
	for b.Loop() {
		n++
		search, err := index.NewSearch("bamboo " + strconv.Itoa(n))
		require.NoError(b, err)
		v, err := s.Releases.View(b.Context(), release.ShopperContext{})
		require.NoError(b, err)
		_, err = v.Products(b.Context(), release.ProductQuery{Filter: release.ProductFilter{Searches: []index.Search{search}}})
		require.NoError(b, err)
	}
}

// benchmarkViews runs read with warm and with cold caches.
func benchmarkViews(b *testing.B, name string, read func(*testing.B, *release.View)) {
	for _, cold := range []bool{false, true} {
		s := benchShop(b, cold)
		view := func(b *testing.B) *release.View {
			v, err := s.Releases.View(b.Context(), release.ShopperContext{})
			require.NoError(b, err)
			return v
		}
		read(b, view(b))
		b.Run(name+map[bool]string{false: "/warm", true: "/cold"}[cold], func(b *testing.B) {
			for b.Loop() {
				read(b, view(b))
			}
		})
	}
}

// BenchmarkColdPage reads a different page of 25 products each time, with their references,
// most of them not cached: of a node, and of all products.
func BenchmarkColdPage(b *testing.B) {
	s := openShop(b, shop.Config{CacheBytes: 16 << 20})
	random := rand.New(rand.NewPCG(1, 1))
	first := 25
	view := func(b *testing.B) *release.View {
		v, err := s.Releases.View(b.Context(), release.ShopperContext{Languages: [][]language.Tag{{language.English}, {language.French}, {language.German}}[random.IntN(3)]})
		require.NoError(b, err)
		return v
	}
	tree, err := view(b).Tree(b.Context())
	require.NoError(b, err)
	read := func(b *testing.B, v *release.View, nodeID string, total int) *store.Slice[*release.Product] {
		offset := random.IntN(min(max(1, total-first), store.MaxOffset))
		slice, err := v.Products(b.Context(), release.ProductQuery{NodeID: nodeID, Page: store.Page{First: &first, Offset: &offset}})
		require.NoError(b, err)
		var files, components []string
		var of []*release.Product
		for _, p := range slice.Items {
			components = append(components, p.ComponentProductIDs()...)
			files, of = append(files, p.MainImageID()), append(of, p)
			for _, link := range p.FileLinks() {
				files, of = append(files, link.ID), append(of, p)
			}
		}
		_, err = v.FilesOf(b.Context(), files, of)
		require.NoError(b, err)
		_, err = v.ProductsByID(b.Context(), components, slice.Items...)
		require.NoError(b, err)
		return slice
	}
	totals := map[string]int{}
	var nodes []string
	for _, node := range tree.Nodes {
		slice := read(b, view(b), node.ID, 0)
		if totals[node.ID], err = slice.Total(b.Context()); totals[node.ID] >= 2*first {
			nodes = append(nodes, node.ID)
		}
		require.NoError(b, err)
	}
	b.Run("of a node", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			id := nodes[random.IntN(len(nodes))]
			read(b, view(b), id, totals[id])
		}
	})
	b.Run("of all", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			v := view(b)
			read(b, v, "", v.Release.Products)
		}
	})
}

// BenchmarkFind filters all products by pairs of tags and counts them, with popular pairs more
// often.
func BenchmarkFind(b *testing.B) {
	s := openShop(b, shop.Config{})
	view := func() *release.View {
		v, err := s.Releases.View(b.Context(), release.ShopperContext{})
		require.NoError(b, err)
		return v
	}
	tags, err := view().Facet(b.Context(), release.FacetQuery{Attribute: "tags", First: 100})
	require.NoError(b, err)
	standard, err := release.NewTerm("product_types", "eq", []string{"standard"})
	require.NoError(b, err)
	filter := func(random *rand.Rand) release.ProductFilter {
		one, other := tags[int(random.ExpFloat64()*8)%len(tags)].Value, tags[random.IntN(len(tags))].Value
		term, err := release.NewTerm("tags", "in", []string{one, other})
		require.NoError(b, err)
		return release.ProductFilter{Terms: []store.Term{term, standard}}
	}
	b.Run("filter", func(b *testing.B) {
		random := rand.New(rand.NewPCG(1, 1))
		b.ReportAllocs()
		for b.Loop() {
			_, err := view().Products(b.Context(), release.ProductQuery{Filter: filter(random)})
			require.NoError(b, err)
		}
	})
	b.Run("facets", func(b *testing.B) {
		random := rand.New(rand.NewPCG(1, 1))
		b.ReportAllocs()
		for b.Loop() {
			terms, v := filter(random).Terms, view()
			for i, attribute := range release.FacetAttributes() {
				others := release.ProductFilter{Terms: terms[1-i : 2-i]}
				_, err := v.Facet(b.Context(), release.FacetQuery{Attribute: attribute, List: release.ProductQuery{Filter: others}, First: 20})
				require.NoError(b, err)
			}
		}
	})
}
