package graph_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/graph/graphtest"
	"portico/store"
	"portico/store/storetest"
)

func TestEdges(t *testing.T) {
	t.Parallel()
	runOnTestShop(t, []scenario{
		{name: "codes and usages of promotions", query: `{ promotions { nodes { uuid codes { totalCount nodes { code promotion { uuid } } } usages { totalCount nodes { code promotion { name } } } } } }`,
			data: `{"promotions":{"nodes":[{"uuid":"auto","codes":{"totalCount":1,"nodes":[{"code":"auto_auto","promotion":{"uuid":"auto"}}]},"usages":{"totalCount":0,"nodes":[]}},
				{"uuid":"ten-off","codes":{"totalCount":2,"nodes":[{"code":"TEN-OFF","promotion":{"uuid":"ten-off"}},{"code":"ten-off","promotion":{"uuid":"ten-off"}}]},
					"usages":{"totalCount":1,"nodes":[{"code":"TEN-OFF","promotion":{"name":"Ten off"}}]}}]}}`},
		{name: "the catalog of a rule and of a release", query: `{ catalogRules { nodes { uuid catalog { uuid name } } } catalogReleases(catalogId: "main") { catalog { uuid } } }`,
			data: `{"catalogRules":{"nodes":[{"uuid":"club","catalog":{"uuid":"outlet","name":"Outlet"}},{"uuid":"everyone","catalog":{"uuid":"main","name":"Main"}}]},
				"catalogReleases":[{"catalog":{"uuid":"main"}}]}`},
		{name: "the product of a ledger's lines", query: `{ stockTransactions(productId: "anvil", first: 2) { nodes { productUuid product { sku } } } }`,
			data: `{"stockTransactions":{"nodes":[{"productUuid":"anvil","product":{"sku":"ANVIL"}},{"productUuid":"anvil","product":{"sku":"ANVIL"}}]}}`},
		{name: "the products of a bundle's options", query: `{ product(by: {id: "kit"}) { components { key options { uuid product { uuid name price { money { formatted } } } } } } }`,
			data: `{"product":{"components":[{"key":"wood","options":[{"uuid":"frame","product":{"uuid":"frame","name":"Frame","price":null}}]}]}}`},
		{name: "a code of another promotion", query: `{ promotions { nodes { uuid codes(filter: {code: {eq: "TEN-OFF"}}) { totalCount nodes { code } } usages(code: "TEN-OFF") { totalCount } } } }`,
			data: `{"promotions":{"nodes":[{"uuid":"auto","codes":{"totalCount":0,"nodes":[]},"usages":{"totalCount":0}},{"uuid":"ten-off","codes":{"totalCount":1,"nodes":[{"code":"TEN-OFF"}]},"usages":{"totalCount":1}}]}}`},
		{name: "not a cursor, of one list", query: `{ promotion(id: "auto") { codes(after: "eyJ") { totalCount } usages(before: "eyJ") { totalCount } } }`,
			data: `{"promotion":{"codes":null,"usages":null}}`, codes: []store.Code{store.Invalid}},
		{name: "codes by their beginning and state", query: `{ promotion(id: "ten-off") { codes(filter: {startsWith: "TEN", state: AVAILABLE}) { totalCount nodes { code state } } none: codes(filter: {state: [EXPIRED, USED_UP]}) { totalCount } } }`,
			data: `{"promotion":{"codes":{"totalCount":1,"nodes":[{"code":"TEN-OFF","state":"AVAILABLE"}]},"none":{"totalCount":0}}}`},
		{name: "codes by creation", query: `{ promotions { nodes { codes(filter: {createdAt: {ge: "2020-01-01T00:00:00Z"}}) { nodes { code } } } } }`,
			data: `{"promotions":{"nodes":[{"codes":{"nodes":[]}},{"codes":{"nodes":[{"code":"TEN-OFF"},{"code":"ten-off"}]}}]}}`},
		{name: "codes by their beginning in order of creation", query: `{ promotion(id: "ten-off") { codes(filter: {startsWith: "T"}, orderBy: {field: CREATED_AT}) { totalCount } } }`,
			data: `{"promotion":{"codes":null}}`, codes: []store.Code{store.Invalid}, argument: "orderBy"},
		{name: "the usages of an order", query: `{ promotionCodeUsages(reference: "none") { totalCount } all: promotionCodeUsages { totalCount nodes { code promotion { name } } } }`,
			data: `{"promotionCodeUsages":{"totalCount":0},"all":{"totalCount":1,"nodes":[{"code":"TEN-OFF","promotion":{"name":"Ten off"}}]}}`},
		{name: "a code of no promotion", query: `{ promotionCodeUsages(code: "TEN-OFF") { totalCount } }`,
			data: `{"promotionCodeUsages":null}`, codes: []store.Code{store.Invalid}, argument: "code"},
		{name: "low stock", query: `{ stocks(available: {le: 4}, first: 2) { totalCount nodes { uuid available } } }`,
			data: `{"stocks":{"totalCount":2,"nodes":[{"uuid":"brush","available":0},{"uuid":"chalk","available":0}]}}`},
		{name: "what search engines show", query: `{ product(by: {id: "anvil"}) { seo { title canonicalPath } mainImageAlt files { alt } } catalogNode(by: {id: "tools"}) { seo { title description canonicalPath } } }`,
			data: `{"product":{"seo":{"title":"Anvil","canonicalPath":null},"mainImageAlt":"Anvil","files":[{"alt":"Anvil"},{"alt":"Anvil"}]},"catalogNode":{"seo":{"title":"Tools","description":"Tools.","canonicalPath":"workshop/tools"}}}`},
		{name: "paths of a hierarchy and of what is above", query: `{ hierarchy(id: "workshop") { seo { title canonicalPath } } catalogNode(by: {id: "hand-tools"}) { seo { canonicalPath } breadcrumbs { slug path } } empty: catalogNode(by: {id: "workshop"}) { seo { canonicalPath } } }`,
			data: `{"hierarchy":{"seo":{"title":"Workshop","canonicalPath":"workshop"}},"catalogNode":{"seo":{"canonicalPath":null},"breadcrumbs":[{"slug":"workshop","path":"workshop"},{"slug":"tools","path":"workshop/tools"}]},"empty":{"seo":{"canonicalPath":"workshop"}}}`},
		{name: "related products", query: `{ product(by: {id: "anvil"}) { related(first: 2) { uuid } none: related(kind: "spare") { uuid } } }`,
			data: `{"product":{"related":[{"uuid":"glue"},{"uuid":"brush"}],"none":[]}}`},
		{name: "too many related products", query: `{ product(by: {id: "anvil"}) { related(first: 51) { uuid } } }`,
			data: `{"product":null}`, codes: []store.Code{store.Unprocessable}, argument: "first"},
		{name: "the sitemap", query: `{ sitemap(first: 1000) { nodes { kind path } endCursor } }`, data: `{"sitemap":{"nodes":[{"kind":"CATALOG_NODE","path":"workshop/tools"},{"kind":"CATALOG_NODE","path":"workshop"},{"kind":"PRODUCT","path":"workshop/tools/jar"},{"kind":"PRODUCT","path":"workshop/tools/kit"}],"endCursor":null}}`},
		{name: "a long part of the sitemap", query: `{ sitemap(first: 1001) { endCursor } }`,
			data: `{"sitemap":null}`, codes: []store.Code{store.Unprocessable}, argument: "first"},
		{name: "synonyms", query: `{ synonyms(first: 2) { totalCount nodes { uuid kind locale term terms } } synonym(id: "none") { kind } }`,
			data: `{"synonyms":{"totalCount":2,"nodes":[{"uuid":"lutes","kind":"EQUIVALENT","locale":null,"term":null,"terms":["zither","cittern"]},{"uuid":"organ","kind":"ONE_WAY","locale":"fr","term":"harmonium","terms":["pipe organ","melodeon"]}]},"synonym":null}`},
		{name: "authored prices", query: `{ authoredPrices(filter: {pricebookId: "standard", skus: ["ANVIL", "BRUSH", "NONE"]}, first: 1) { totalCount nodes { uuid sku pricebook { uuid name } amounts { money { currency amount } includesTax tiers { name minimumQuantity money { amount } } } sales { name } } pageInfo { hasNextPage } }
			vip: authoredPrices(filter: {pricebookId: ` + global("Pricebook", "vip") + `}) { nodes { uuid } } none: authoredPrices(filter: {pricebookId: "!"}) { totalCount } all: authoredPrices(last: 1) { totalCount nodes { uuid } } }`, data: `{"authoredPrices":{"totalCount":2,"nodes":[{"uuid":"standard-anvil","sku":"ANVIL","pricebook":{"uuid":"standard","name":"Standard"},"amounts":[{"money":{"currency":"EUR","amount":"119900"},"includesTax":true,"tiers":[]},{"money":{"currency":"JPY","amount":"150000"},"includesTax":false,"tiers":[]},{"money":{"currency":"USD","amount":"129900"},"includesTax":false,"tiers":[{"name":"ten","minimumQuantity":10,"money":{"amount":"119900"}}]}],"sales":[]}],"pageInfo":{"hasNextPage":true}},
				"vip":{"nodes":[{"uuid":"vip-anvil"}]},"none":{"totalCount":0},"all":{"totalCount":4,"nodes":[{"uuid":"vip-anvil"}]}}`},
		{name: "prices of authored products", query: `{ authoredProducts(first: 3) { nodes { sku prices { pricebook { uuid } amounts { money { currency amount } } sales { name validFrom validTo amounts { money { amount } } } } } } }`, data: `{"authoredProducts":{"nodes":[{"sku":"ANVIL","prices":[{"pricebook":{"uuid":"standard"},"amounts":[{"money":{"currency":"EUR","amount":"119900"}},{"money":{"currency":"JPY","amount":"150000"}},{"money":{"currency":"USD","amount":"129900"}}],"sales":[]},{"pricebook":{"uuid":"vip"},"amounts":[{"money":{"currency":"USD","amount":"99900"}}],"sales":[]}]},
				{"sku":"BRUSH","prices":[{"pricebook":{"uuid":"standard"},"amounts":[{"money":{"currency":"USD","amount":"500"}}],"sales":[{"name":"spring","validFrom":"2010-03-01T00:00:00.000Z","validTo":"2010-06-01T00:00:00.000Z","amounts":[{"money":{"amount":"400"}}]}]}]},{"sku":"LAMP","prices":[]}]}}`},
		{name: "filters by no value", query: `{ authoredPrices(filter: {skus: []}) { totalCount } authoredProducts(filter: {sku: {in: []}}) { totalCount } authoredCatalogNodes(filter: {slug: {in: []}}) { totalCount } authoredRedirects(filter: {from: {in: []}}) { totalCount }
			files(ids: []) { totalCount } id: promotions(filter: {ids: []}) { totalCount } name: promotions(filter: {name: {in: []}}) { totalCount } type: promotions(filter: {promotionType: []}) { totalCount } state: promotions(filter: {state: []}) { totalCount }
			promotion(id: "ten-off") { code: codes(filter: {code: {in: []}}) { totalCount } state: codes(filter: {state: []}) { totalCount } all: codes(filter: {code: null, state: null}) { totalCount } } }`,
			data: `{"authoredPrices":{"totalCount":0},"authoredProducts":{"totalCount":0},"authoredCatalogNodes":{"totalCount":0},"authoredRedirects":{"totalCount":0},"files":{"totalCount":0},"id":{"totalCount":0},"name":{"totalCount":0},"type":{"totalCount":0},"state":{"totalCount":0},
				"promotion":{"code":{"totalCount":0},"state":{"totalCount":0},"all":{"totalCount":2}}}`},
		{name: "price books, files, attributes and redirects as authored", query: `{ pricebooks { totalCount nodes { uuid name description } } authoredFiles(first: 1) { nodes { uuid fileName mimeType public href createdAt width height } }
			authoredAttributes(first: 2) { totalCount nodes { key label labels { locale label } type unit filterable searchable sortable } } authoredRedirects { nodes { uuid from to productUuid catalogNodeUuid } }
			gone: authoredPrice(id: "none") { sku } }`, data: `{"pricebooks":{"totalCount":2,"nodes":[{"uuid":"standard","name":"Standard","description":"What everyone pays."},{"uuid":"vip","name":"VIP","description":null}]},
				"authoredFiles":{"nodes":[{"uuid":"photo-1","fileName":"anvil.jpg","mimeType":"image/jpeg","public":true,"href":"https://cdn.example/anvil.jpg","createdAt":"2023-01-01T00:00:00.000Z","width":640,"height":480}]},
				"authoredAttributes":{"totalCount":5,"nodes":[{"key":"brand","label":"Brand","labels":[{"locale":"fr","label":"Marque"}],"type":"TEXT","unit":null,"filterable":true,"searchable":false,"sortable":false},{"key":"fragile","label":"Fragile","labels":[],"type":"BOOLEAN","unit":null,"filterable":false,"searchable":false,"sortable":false}]},
				"authoredRedirects":{"nodes":[{"uuid":"help","from":"help/shipping","to":"https://help.example/shipping?lang=en","productUuid":null,"catalogNodeUuid":null},{"uuid":"old-tools","from":"old-tools","to":null,"productUuid":null,"catalogNodeUuid":"tools"}]},"gone":null}`},
		{name: "redirects", query: `{ node: redirect(path: "/old-tools") { path catalogNode { uuid } product { uuid } } url: redirect(path: "help/shipping") { path catalogNode { uuid } product { uuid } } none: redirect(path: "none") { path } here: redirect(path: "tools") { path } }`,
			data: `{"node":{"path":"workshop/tools","catalogNode":{"uuid":"tools"},"product":null},"url":{"path":"https://help.example/shipping?lang=en","catalogNode":null,"product":null},"none":null,"here":null}`},
		{name: "a path that is too long", query: `query($s: String!) { redirect(path: $s) { path } }`, variables: graphtest.Variables{"s": strings.Repeat("a", 1025)},
			data: `{"redirect":null}`, codes: []store.Code{store.Invalid}, argument: "path"},
		{name: "drafts", query: `{ authoredProducts(filter: {status: DRAFT}) { totalCount nodes { uuid sku status product { sku } } } authoredProduct(by: {id: "anvil"}) { status product { sku } } none: authoredProduct(by: {id: "none"}) { name } }`,
			data: `{"authoredProducts":{"totalCount":2,"nodes":[{"uuid":"drill-draft","sku":"SECRET-DRILL","status":"DRAFT","product":null},{"uuid":"easel-pine-draft","sku":"SECRET-PINE","status":"DRAFT","product":null}]},"authoredProduct":{"status":"LIVE","product":{"sku":"ANVIL"}},"none":null}`},
		{name: "an authored product by one of its names", query: `{ id: authoredProduct(by: {id: ` + global("AuthoredProduct", "anvil") + `}) { uuid } sku: authoredProduct(by: {sku: "ANVIL"}) { uuid } draft: authoredProduct(by: {sku: "SECRET-DRILL"}) { status } other: authoredProduct(by: {sku: "anvil"}) { uuid }
			slug: authoredProduct(by: {slug: "anvil"}) { uuid } ref: authoredProduct(by: {externalRef: "erp-1"}) { uuid } unset: authoredProduct(by: {externalRef: ""}) { uuid } }`,
			data: `{"id":{"uuid":"anvil"},"sku":{"uuid":"anvil"},"draft":{"status":"DRAFT"},"other":null,"slug":{"uuid":"anvil"},"ref":null,"unset":null}`},
		{name: "authored products by filters", query: `{ ids: authoredProducts(filter: {ids: ["drill-draft", ` + global("AuthoredProduct", "anvil") + `, "none", "!"]}) { totalCount nodes { uuid } } noIDs: authoredProducts(filter: {ids: []}) { totalCount } skus: authoredProducts(filter: {sku: {in: ["BRUSH", "ANVIL", "nobody"]}}) { totalCount nodes { uuid } } variants: authoredProducts(filter: {parentId: ` + global("Product", "easel") + `, status: LIVE}) { nodes { uuid } }
			since: authoredProducts(filter: {updatedAt: {ge: "2000-01-01T00:00:00Z", lt: "2000-01-02T00:00:00Z"}}, last: 1) { totalCount nodes { uuid } } none: authoredProducts(filter: {parentId: "!"}) { totalCount }
			search: authoredProducts(filter: {search: "secret-D ill"}) { totalCount nodes { uuid } } both: authoredProducts(filter: {search: "secret", status: LIVE}) { totalCount } }`,
			data: `{"ids":{"totalCount":2,"nodes":[{"uuid":"anvil"},{"uuid":"drill-draft"}]},"noIDs":{"totalCount":0},"skus":{"totalCount":2,"nodes":[{"uuid":"anvil"},{"uuid":"brush"}]},"variants":{"nodes":[{"uuid":"easel-oak"}]},"since":{"totalCount":0,"nodes":[]},"none":{"totalCount":0},
				"search":{"totalCount":1,"nodes":[{"uuid":"drill-draft"}]},"both":{"totalCount":0}}`},
		{name: "authored nodes by filters", query: `{ slug: authoredCatalogNodes(filter: {slug: {in: ["tools", "Tools"]}}) { nodes { uuid } } top: authoredCatalogNodes(filter: {parentId: ` + global("Hierarchy", "workshop") + `}) { nodes { uuid hierarchy { name } parent { uuid } } } below: authoredCatalogNodes(filter: {parentId: "tools"}) { nodes { uuid parent { uuid slug hierarchy { name } } } }
			search: authoredCatalogNodes(filter: {search: "OO l", hierarchyId: "workshop"}) { nodes { uuid } } elsewhere: authoredCatalogNodes(filter: {search: "tools", hierarchyId: "attic"}) { totalCount }
			since: authoredCatalogNodes(filter: {updatedAt: {ge: "2100-01-01"}}) { totalCount } none: authoredCatalogNodes(filter: {parentId: "!"}) { totalCount } }`,
			data: `{"slug":{"nodes":[{"uuid":"tools"}]},"top":{"nodes":[{"uuid":"paints","hierarchy":{"name":"Workshop"},"parent":null},{"uuid":"tools","hierarchy":{"name":"Workshop"},"parent":null}]},"below":{"nodes":[{"uuid":"hand-tools","parent":{"uuid":"tools","slug":"tools","hierarchy":{"name":"Workshop"}}}]},"search":{"nodes":[{"uuid":"hand-tools"},{"uuid":"tools"}]},"elsewhere":{"totalCount":0},"since":{"totalCount":0},"none":{"totalCount":0}}`},
		{name: "a search that is too long", query: `query($s: String) { authoredCatalogNodes(filter: {search: $s}) { totalCount } }`, variables: graphtest.Variables{"s": strings.Repeat("a", 201)}, codes: []store.Code{store.Invalid}, argument: "filter.search"},
		{name: "authored redirects by filters", query: `{ from: authoredRedirects(filter: {from: {in: ["/help/shipping/", "old", "OLD-TOOLS"]}}) { totalCount nodes { uuid } } to: authoredRedirects(filter: {to: {eq: "https://help.example/shipping?lang=en"}}) { nodes { uuid } }
			both: authoredRedirects(filter: {from: {eq: "old-tools"}, to: {eq: "help"}}) { totalCount } unset: authoredRedirects(filter: {to: {eq: ""}}) { totalCount } }`,
			data: `{"from":{"totalCount":1,"nodes":[{"uuid":"help"}]},"to":{"nodes":[{"uuid":"help"}]},"both":{"totalCount":0},"unset":{"totalCount":0}}`},
		{name: "authored products, newest first", query: `{ authoredProducts(first: 2, orderBy: {field: UPDATED_AT, direction: DESC}) { nodes { updatedAt } pageInfo { hasNextPage } } }`,
			data: `{"authoredProducts":{"nodes":[{"updatedAt":"2024-01-10T00:00:00.000Z"},{"updatedAt":"2024-01-09T00:00:00.000Z"}],"pageInfo":{"hasNextPage":true}}}`},
		{name: "nothing is pending", query: `{ catalogPendingChanges(catalogId: "main") { complete totalCount nodes { kind } } }`,
			data: `{"catalogPendingChanges":{"complete":true,"totalCount":0,"nodes":[]}}`},
		{name: "low stock in another order", query: `{ stocks(available: {le: 4}, orderBy: {field: ID}) { totalCount } }`,
			data: `{"stocks":null}`, codes: []store.Code{store.Invalid}, argument: "orderBy"},
		{name: "a cursor of one list for several", query: `{ promotions { nodes { codes(after: "eyJ") { totalCount } } } }`, codes: []store.Code{store.Invalid}},
	})
}

// TestListsOfPromotions requires that the codes and usages below promotions are those that the lists of one promotion
// have, however they are paged, and that all are read in as many statements as those of one.
func TestListsOfPromotions(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		s := graphtest.Open(t, e, graphtest.Shop())
		for p := range 12 {
			id := fmt.Sprintf("p%02d", p)
			a := s.Post(t, fmt.Sprintf(`mutation { promotionCreate(input: {id: %q, name: %q, enabled: true, start: "2024-01-01", end: "2030-01-01",
				details: {percentDiscount: {percentByCurrency: [{currency: "USD", percent: "10"}]}}}) { userErrors { message } }
				promotionCodesCreate(input: {promotionId: %q, codes: [{code: "A%d"}, {code: "C%d"}, {code: "B%d"}]}) { userErrors { message } }
				one: promotionCodeRedeem(input: {code: "A%d", reference: "o-1", units: 1}) { userErrors { message } }
				other: promotionCodeRedeem(input: {code: "B%d", reference: "o-2", units: 1}) { userErrors { message } } }`, id, id, id, p, p, p, p, p), nil)
			require.Empty(t, a.Errors, "%s", a.Body)
			require.Equal(t, 4, strings.Count(a.Body.String(), `"userErrors":[]`), "%s", a.Body)
		}
		const (
			codes  = `{ totalCount pageInfo { hasNextPage hasPreviousPage startCursor endCursor } edges { cursor node { code used promotion { uuid } } } }`
			usages = `{ totalCount pageInfo { hasNextPage hasPreviousPage startCursor endCursor } edges { cursor node { code reference promotion { uuid } } } }`
		)
		for _, page := range []string{`first: 2`, `last: 2`, `first: 1, offset: 1`, `first: 5, orderBy: {field: CREATED_AT, direction: DESC}`, `first: 1`} {
			var data struct {
				Promotions struct {
					Nodes []struct {
						UUID          string
						Codes, Usages any
					}
				}
			}
			query := fmt.Sprintf(`query($n: Int!) { promotions(first: $n, filter: {nameLike: "p*"}) { nodes { uuid codes(%s) %s usages(%s) %s } } }`, page, codes, page, usages)
			s.Post(t, query, graphtest.Variables{"n": 12}).Read(t, &data)
			require.Len(t, data.Promotions.Nodes, 12)
			for _, p := range data.Promotions.Nodes {
				var one struct {
					Of     struct{ Codes any }
					Usages any
				}
				s.Post(t, fmt.Sprintf(`{ of: promotion(id: %q) { codes(%s) %s } usages: promotionCodeUsages(promotionId: %q, %s) %s }`, p.UUID, page, codes, p.UUID, page, usages), nil).Read(t, &one)
				require.Equal(t, one.Of.Codes, p.Codes, page)
				require.Equal(t, one.Usages, p.Usages, page)
			}
			uncounted := strings.ReplaceAll(query, "totalCount ", "")
			require.Equal(t, cost(t, s, uncounted, graphtest.Variables{"n": 2}), cost(t, s, uncounted, graphtest.Variables{"n": 12}), page)
		}
		// The next page of one promotion's codes is below it, too.
		var first, next struct {
			Promotion struct {
				Codes struct {
					PageInfo struct{ EndCursor string }
					Nodes    []struct{ Code string }
				}
			}
		}
		s.Post(t, `{ promotion(id: "p03") { codes(first: 2) { pageInfo { endCursor } nodes { code } } } }`, nil).Read(t, &first)
		s.Post(t, fmt.Sprintf(`{ promotion(id: "p03") { codes(first: 2, after: %q) { pageInfo { endCursor } nodes { code } } } }`, first.Promotion.Codes.PageInfo.EndCursor), nil).Read(t, &next)
		require.Equal(t, "C3", next.Promotion.Codes.Nodes[0].Code)
		require.Len(t, next.Promotion.Codes.Nodes, 1)
	})
}

// An edge needs the scope of what it leads to.
func TestEdgesNeedScopes(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		s := graphtest.Open(t, e, graphtest.Shop())
		for _, x := range []struct{ query, scope, field string }{
			{`{ stockTransactions(productId: "anvil") { nodes { product { sku } } } }`, "inventory:write", "product"},
			{`mutation { promotionCodeRedeem(input: {code: "TEN-OFF", user: "u1", units: 1, reference: "o"}) { usage { promotion { name } } } }`, "checkout:write", "promotion"},
		} {
			a := s.Send(t, graphtest.As(graphtest.NewPost(t, x.query, nil), graphtest.Client(x.scope)))
			require.NotEmpty(t, a.Codes(), x.query)
			require.Equal(t, store.Forbidden, a.Codes()[0], x.query)
			require.Contains(t, string(a.Data), `"`+x.field+`":null`, x.query)
		}
	})
}
