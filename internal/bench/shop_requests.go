//go:build linux

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// pageFields are the fields of a product that a storefront shows.
const pageFields = `id uuid sku name slug description tags productTypes createdAt updatedAt
	price { money { amount currency formatted } }
	mainImage { href fileName } files { file { href fileName } } componentProducts { uuid sku name slug }
	catalogNodes { uuid name } breadcrumbs { ancestors { uuid name } } stock { total available allocated }`

const pageOperation = `query Page($id: ID!, $offset: Int!) { catalogNode(by: {id: $id}) {
	products(first: 25, offset: $offset) { totalCount pageInfo { hasNextPage endCursor } nodes { ` + pageFields + ` } } } }`

var (
	locales  = []string{"en", "fr", "de"}
	channels = []string{"", outletChannel}
)

// pages returns requests for each page of 25 of the nodes, in each language and catalog.
func (s *shop) pages(page func(id string, offset int) loadRequest) (requests []loadRequest) {
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

// restPage is a page by REST.
func (s *shop) restPage(id string, offset int) loadRequest {
	return s.get(fmt.Sprintf("/catalog/nodes/%s/relationships/products?page[limit]=25&page[offset]=%d&include=main_image,files,component_products", id, offset))
}

// graphqlPage is the same page by GraphQL.
func (s *shop) graphqlPage(id string, offset int) loadRequest {
	return s.graphql(pageOperation, fmt.Sprintf(`{"id":%q,"offset":%d}`, id, offset))
}

// stockPages returns requests for pages of the stock list at different offsets.
func (s *shop) stockPages(rows, distinct int, page func(offset int) loadRequest) (requests []loadRequest) {
	last := max(1, min(s.products-rows, 10_000))
	for offset := 0; offset < last; offset += max(1, last/distinct) {
		requests = append(requests, page(offset))
	}
	return requests
}

// readMix returns the mix of row 1, 2, 5 or 6.
func (s *shop) readMix(row int) mix {
	distinct := s.bench.distinct
	switch row {
	case 1:
		return newMix(s.pages(s.restPage), distinct)
	case 2:
		return newMix(s.pages(s.graphqlPage), distinct)
	case 5, 6:
		rows := map[int]int{5: 25, 6: 100}[row]
		return newMix(s.stockPages(rows, distinct, func(offset int) loadRequest {
			return s.get(fmt.Sprintf("/v2/inventories?page[limit]=%d&page[offset]=%d", rows, offset))
		}), distinct)
	}
	panic(fmt.Sprintf("row %d has no mix", row))
}

// graphqlStocks is the mix of the stock list by GraphQL.
func (s *shop) graphqlStocks() mix {
	return newMix(s.stockPages(25, s.bench.distinct, func(offset int) loadRequest {
		return s.graphql(`query Stocks($offset: Int!) { stocks(first: 25, offset: $offset) { totalCount nodes { uuid total available allocated updatedAt } } }`, fmt.Sprintf(`{"offset":%d}`, offset))
	}), s.bench.distinct)
}

// codeRequests returns requests that create a thousand codes, by REST and GraphQL. Each call creates new ones.
func (s *shop) codeRequests() (rest, graphql loadRequest) {
	batch := strconv.FormatInt(time.Now().UnixNano(), 36)
	var members, inputs strings.Builder
	for i := range 1000 {
		if i > 0 {
			members.WriteByte(',')
			inputs.WriteByte(',')
		}
		members.WriteString(`{"code":"R-` + batch + stamp + `"}`)
		inputs.WriteString(`{"code":"G-` + batch + stamp + `"}`)
	}
	rest = s.post("/v2/promotions/"+promotionID+"/codes", `{"data":{"type":"promotion_codes","codes":[`+members.String()+`]}}`)
	graphql = s.graphql(`mutation Codes($input: PromotionCodesCreateInput!) { promotionCodesCreate(input: $input) { codes { code } userErrors { code message } } }`,
		fmt.Sprintf(`{"input":{"promotionId":%q,"codes":[%s]}}`, promotionID, inputs.String()))
	return rest, graphql
}

// errNotCreated means that requests of a row created less than they should.
var errNotCreated = errors.New("each must create 1,000")

// countCodes returns the number of codes of the promotion.
func (s *shop) countCodes() (int, error) {
	a, err := send(s.bench.ctx, s.running, s.graphql(`query Codes($id: ID!) { promotion(id: $id) { codes(first: 1) { totalCount } } }`, fmt.Sprintf(`{"id":%q}`, promotionID)))
	if err != nil {
		return 0, err
	}
	var answer struct {
		Data struct {
			Promotion struct {
				Codes struct{ TotalCount int }
			}
		}
	}
	err = json.Unmarshal(a.Body, &answer)
	return answer.Data.Promotion.Codes.TotalCount, err
}

// allocation allocates one unit of a product.
func (s *shop) allocation(id string) loadRequest {
	return s.post("/v2/inventories/"+id+"/transactions", `{"data":{"type":"stock-transaction","action":"allocate","quantity":1}}`)
}
