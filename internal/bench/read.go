//go:build linux

package main

import (
	"fmt"
	"strings"
)

// pageFields are what a storefront shows of a product.
const pageFields = `id uuid sku name slug description tags productTypes createdAt updatedAt
	price { amount currency } displayPrice { withTax { formatted } withoutTax { amount currency formatted } }
	mainImage { href fileName } files { file { href fileName } } componentProducts { uuid sku name slug }
	nodes { uuid name } breadcrumbs { ancestors { uuid name } } stock { total available allocated }`

const pageOperation = `query Page($id: ID!, $offset: Int!) { catalogNode(id: $id) {
	products(first: 25, offset: $offset) { totalCount pageInfo { hasNextPage endCursor } nodes { ` + pageFields + ` } } } }`

var (
	locales  = []string{"en", "fr", "de"}
	channels = []string{"", otherChannel}
)

// pages calls for each page of 25 of the nodes, in each language and catalog.
func (s *shop) pages(page func(id string, offset int) request) (requests []request) {
	for _, node := range s.nodes {
		for offset := 0; offset < min(node.products, 10_000); offset += 25 {
			for _, locale := range locales {
				for _, channel := range channels {
					requests = append(requests, page(node.id, offset).with("Accept-Language", locale).with("Store-Channel", channel))
				}
			}
		}
	}
	return requests
}

// restPage is a page as REST has it.
func (s *shop) restPage(id string, offset int) request {
	return s.get(fmt.Sprintf("/catalog/nodes/%s/relationships/products?page[limit]=25&page[offset]=%d&include=main_image,files,component_products", id, offset))
}

// graphqlPage is the same by GraphQL.
func (s *shop) graphqlPage(id string, offset int) request {
	return s.graphql(pageOperation, fmt.Sprintf(`{"id":%q,"offset":%d}`, id, offset))
}

// stockPages are pages of the stock list, each beginning elsewhere.
func (s *shop) stockPages(rows, distinct int, page func(offset int) request) (requests []request) {
	last := max(1, min(s.products-rows, 10_000))
	for offset := 0; offset < last; offset += max(1, last/distinct) {
		requests = append(requests, page(offset))
	}
	return requests
}

// readMix is the mix of a row that reads.
func (s *shop) readMix(row int) mix {
	distinct := s.bench.distinct
	switch row {
	case 1:
		return newMix(s.pages(s.restPage), distinct)
	case 2:
		return newMix(s.pages(s.graphqlPage), distinct)
	case 5, 6:
		rows := map[int]int{5: 25, 6: 100}[row]
		return newMix(s.stockPages(rows, distinct, func(offset int) request {
			return s.get(fmt.Sprintf("/v2/inventories?page[limit]=%d&page[offset]=%d", rows, offset))
		}), distinct)
	}
	panic(fmt.Sprintf("row %d has no mix", row))
}

// graphqlStocks is the stock list by GraphQL.
func (s *shop) graphqlStocks() mix {
	return newMix(s.stockPages(25, s.bench.distinct, func(offset int) request {
		return s.graphql(`query Stocks($offset: Int!) { stocks(first: 25, offset: $offset) { totalCount nodes { uuid total available allocated updatedAt } } }`, fmt.Sprintf(`{"offset":%d}`, offset))
	}), s.bench.distinct)
}

// readRow compares the mix of a row with its floor, while stock is sold.
func (b *bench) readRow(number int, goal float64) ([]result, error) {
	s, err := b.served()
	if err != nil {
		return nil, err
	}
	product, floor, err := b.compareLive(s, s.readMix(number))
	if err != nil {
		return nil, err
	}
	return []result{ratio(rows()[number-1].name, product, floor, goal)}, nil
}

// planRow is row 2 with nothing kept.
func (b *bench) planRow() ([]result, error) {
	s, err := b.shop(b.products)
	if err != nil {
		return nil, err
	}
	name, args := "GraphQL, the plan run each time", []string{}
	for _, flag := range []string{"--answer-cache-bytes"} {
		if b.has(flag) {
			args = append(args, flag, "0")
		}
	}
	if _, err := s.serve(args...); err != nil {
		return nil, err
	}
	product, floor, err := b.compareLive(s, s.readMix(2))
	if err != nil {
		return nil, err
	}
	return []result{ratio(name, product, floor, 0.20)}, nil
}

// unseenRow sends row 2's documents under another name each time, to the
// server and to the same server with gqlgen's own executor.
func (b *bench) unseenRow() ([]result, error) {
	s, err := b.served()
	if err != nil {
		return nil, err
	}
	unseen := s.readMix(2).each(func(_ int, q request) request {
		q.body = strings.Replace(q.body, "query Page(", "query Page"+stamp+"(", 1)
		return q
	})
	oracle := s.running
	if b.has("--executor") {
		if oracle, err = b.serve(append(s.flags, "--executor", "gqlgen")...); err != nil {
			return nil, err
		}
		defer oracle.stop()
	}
	product, floor, err := b.sideBySide(s.running, unseen, oracle, unseen, b.connections, 200)
	if err != nil {
		return nil, err
	}
	return []result{ratio("GraphQL, a document never seen (floor: gqlgen's executor)", product, floor, 10)}, nil
}

func (b *bench) stockRow() ([]result, error) {
	results, err := b.readRow(5, 0.70)
	if err != nil {
		return nil, err
	}
	s, err := b.served()
	if err != nil {
		return nil, err
	}
	product, floor, err := b.compareLive(s, s.graphqlStocks())
	if err != nil {
		return nil, err
	}
	results[0].name = "stock list 25, live, REST"
	return append(results, ratio("stock list 25, live, GraphQL", product, floor, 0.40)), nil
}

func (b *bench) everyRow() (results []result, err error) {
	s, err := b.served()
	if err != nil {
		return nil, err
	}
	for _, c := range []struct {
		name    string
		request request
		goal    float64
	}{
		{"settings, REST", s.get("/v2/settings"), 0.70},
		{"{ __typename }, GraphQL", s.graphql("{ __typename }", ""), 0.50},
	} {
		product, floor, err := b.compare(s.running, newMix([]request{c.request}, 1))
		if err != nil {
			return results, err
		}
		results = append(results, ratio(c.name, product, floor, c.goal))
	}
	return results, nil
}

// notModifiedRow asks for row 1's pages by their ETags.
func (b *bench) notModifiedRow() ([]result, error) {
	s, err := b.served()
	if err != nil {
		return nil, err
	}
	full := s.readMix(1)
	answers, err := record(b.ctx, s.running, full.requests)
	if err != nil {
		return nil, err
	}
	if answers[0].Header.Get("ETag") == "" {
		return []result{{name: "304 by ETag, against row 1's floor", told: "there is no ETag", verdict: missed}}, nil
	}
	floor, err := startFloor(b.ctx, answers)
	if err != nil {
		return nil, err
	}
	defer floor.stop()
	tagged := full.each(func(i int, q request) request { return q.with("If-None-Match", answers[i].Header.Get("ETag")) })
	one, err := newLoad(s.running, tagged, b.connections, 304)
	if err != nil {
		return nil, err
	}
	defer one.close()
	other, err := newLoad(floor, full, b.connections, 200)
	if err != nil {
		return nil, err
	}
	defer other.close()
	product, bare, err := b.alternate(one, other)
	if err != nil {
		return nil, err
	}
	return []result{ratio("304 by ETag, against row 1's floor", product, bare, 1.2)}, nil
}

// served is the shop of most rows, with its server as it is by default.
func (b *bench) served() (*shop, error) {
	s, err := b.shop(b.products)
	if err != nil {
		return nil, err
	}
	_, err = s.serve()
	return s, err
}
