//go:build linux

package main

import (
	"fmt"
	"strings"
)

// coldRow reads evenly distributed pages of the large shop from a server with almost no cache.
func (b *bench) coldRow() ([]rowResult, error) {
	s, err := b.largeShop()
	if err != nil {
		return nil, err
	}
	server, err := s.serve("--release-cache-bytes", "16777216", "--response-cache-bytes", "0")
	if err != nil {
		return nil, err
	}
	t, err := b.measureServer(server, newMix(s.pages(s.restPage), 20_000).evenly())
	if err != nil {
		return nil, err
	}
	return []rowResult{{"a page of a release that is not in memory, REST", t, loadStats{}, fmt.Sprintf("%.0f µs", t.cost()), verdictOf(t.cost() <= 200)}}, nil
}

// searchTerms are tags and names of products.
type searchTerms struct {
	tags  []string
	names []string
}

func (s *shop) searchTerms() (w searchTerms, err error) {
	var answer struct {
		Data struct {
			Products struct {
				Nodes  []struct{ Name string }
				Facets struct {
					Groups []struct{ Values []struct{ Value string } }
				}
			}
		}
	}
	for offset := 0; offset < min(s.products-100, 1000); offset += 100 {
		q := s.graphql(`query Words($offset: Int!) { products(first: 100, offset: $offset) { nodes { name } facets { groups(keys: ["tags"], first: 100) { values { value } } } } }`, fmt.Sprintf(`{"offset":%d}`, offset))
		if err := s.read(q, &answer); err != nil {
			return w, err
		}
		for _, product := range answer.Data.Products.Nodes {
			w.names = append(w.names, product.Name)
		}
	}
	for _, group := range answer.Data.Products.Facets.Groups {
		for _, tag := range group.Values {
			w.tags = append(w.tags, tag.Value)
		}
	}
	return w, nil
}

// taggedRequests returns requests for pairs of tags, four pages each.
func (w searchTerms) taggedRequests(find func(one, other string, offset int) loadRequest) (requests []loadRequest) {
	for i, one := range w.tags {
		for _, other := range w.tags[:i] {
			for offset := 0; offset < 100; offset += 25 {
				requests = append(requests, find(one, other, offset))
			}
		}
	}
	return requests
}

// searchRow measures filters, facets and search.
func (b *bench) searchRow() (results []rowResult, err error) {
	s, err := b.largeShop()
	if err != nil {
		return nil, err
	}
	server, err := s.serve()
	if err != nil {
		return nil, err
	}
	w, err := s.searchTerms()
	if err != nil {
		return nil, err
	}
	graphql := func(fields string) func(one, other string, offset int) loadRequest {
		return func(one, other string, offset int) loadRequest {
			return s.graphql(`query Find($tags: [String!]!, $offset: Int!) { products(filter: {tags: {in: $tags}}, first: 25, offset: $offset) { totalCount nodes { uuid sku name } `+fields+` } }`,
				fmt.Sprintf(`{"tags":[%q,%q],"offset":%d}`, one, other, offset))
		}
	}
	var searches []loadRequest
	for _, name := range w.names {
		first, rest, _ := strings.Cut(name, " ")
		for _, text := range []string{first, first + " " + rest[:min(3, len(rest))], name} {
			searches = append(searches, s.graphql(`query Search($text: String!) { products(filter: {search: $text}, first: 25) { totalCount nodes { uuid sku name } } }`, fmt.Sprintf(`{"text":%q}`, strings.ToLower(text))))
		}
	}
	for _, c := range []struct {
		name     string
		requests []loadRequest
	}{
		{"filter, REST", w.taggedRequests(func(one, other string, offset int) loadRequest {
			return s.get(fmt.Sprintf("/catalog/products?filter=in(tags,%s,%s):eq(product_types,standard)&page[limit]=25&page[offset]=%d", one, other, offset))
		})},
		{"filter, GraphQL", w.taggedRequests(graphql(""))},
		{"facets, GraphQL", w.taggedRequests(graphql("facets { groups(keys: [\"tags\", \"productTypes\"]) { values { value count } } }"))},
		{"search, GraphQL", searches},
	} {
		t, err := b.measureServer(server, newMix(c.requests, b.distinct))
		if err != nil {
			return results, fmt.Errorf("%s: %w", c.name, err)
		}
		name := fmt.Sprintf("%s, of %d", c.name, s.products)
		results = append(results, rowResult{name, t, loadStats{}, fmt.Sprintf("%.2f ms", t.cost()/1000), verdictOf(t.cost() <= 1000)})
	}
	return results, nil
}

// offsetRow compares pages around offset 10,000 with pages around 0.
func (b *bench) offsetRow() (results []rowResult, err error) {
	s, err := b.largeShop()
	if err != nil {
		return nil, err
	}
	if results, err = b.compareOffsets(s, "SQLite"); err != nil {
		return results, err
	}
	if b.postgres == "" {
		return append(results, rowResult{name: "the same, PostgreSQL", measured: "skipped: see -postgres"}), nil
	}
	if s, err = b.postgresShop(b.large); err != nil {
		return results, err
	}
	more, err := b.compareOffsets(s, "PostgreSQL")
	return append(results, more...), err
}

func (b *bench) compareOffsets(s *shop, engine string) (results []rowResult, err error) {
	server, err := s.serve()
	if err != nil {
		return nil, err
	}
	for _, c := range []struct{ name, path string }{
		{"products", "/catalog/products?page[limit]=25&page[offset]=%d"},
		{"stock", "/v2/inventories?page[limit]=25&page[offset]=%d"},
	} {
		around := func(from int) mix {
			var requests []loadRequest
			for i := range 1000 {
				requests = append(requests, s.get(fmt.Sprintf(c.path, from+i)))
			}
			return newMix(requests, b.distinct)
		}
		deep := min(9_000, s.products*8/10-1000)
		if deep < 1000 {
			return nil, &skippedError{"the shop is too small for deep pages"}
		}
		far, near, err := b.sideBySide(server, around(deep), server, around(0), b.connections, 200)
		if err != nil {
			return results, err
		}
		times := far.cost() / near.cost()
		name := fmt.Sprintf("offset %d to %d of %d %s, %s (floor: offset 0 to 999)", deep, deep+999, s.products, c.name, engine)
		results = append(results, rowResult{name, far, near, fmt.Sprintf("%.2f times", times), verdictOf(times <= 1.2)})
	}
	return results, nil
}
