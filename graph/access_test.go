package graph_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/graph/graphtest"
	"portico/graph/transport"
	"portico/internal/auth"
	"portico/store"
	"portico/store/access"
	"portico/store/storetest"
)

// rootFields has an operation for each root field, by its coordinate.
func rootFields() map[string]string {
	return map[string]string{
		"Query.catalogNode":       `{ catalogNode(by: {id: "tools"}) { uuid } }`,
		"Query.catalogNodes":      `{ catalogNodes { totalCount } }`,
		"Query.hierarchy":         `{ hierarchy(id: "workshop") { uuid } }`,
		"Query.hierarchies":       `{ hierarchies { totalCount } }`,
		"Query.product":           `{ product(by: {id: "anvil"}) { uuid } }`,
		"Query.products":          `{ products { totalCount } }`,
		"Query.node":              `{ node(id: ` + global("Product", "anvil") + `) { id } }`,
		"Query.nodes":             `{ nodes(ids: [` + global("Product", "anvil") + `]) { id } }`,
		"Query.file":              `{ file(id: "photo-1") { href } }`,
		"Query.files":             `{ files { totalCount } }`,
		"Query.currencies":        `{ currencies { code } }`,
		"Query.locales":           `{ locales }`,
		"Query.activePromotions":  `{ activePromotions { name } }`,
		"Query.redirect":          `{ redirect(path: "old-tools") { path catalogNode { name } } }`,
		"Query.searchSuggestions": `{ searchSuggestions(text: "anv") { completions } }`,
		"Query.channels":          `{ channels }`,
		"Query.stock":             `{ stock(productId: "anvil") { total } }`,
		"Query.stocks":            `{ stocks { totalCount } }`,
		"Query.stocksById":        `{ stocksById(productIds: ["anvil"]) { total } }`,
		"Query.settings":          `{ settings { pageLength } }`,
		"Query.gateway":           `{ gateway(slug: MANUAL) { name } }`,
		"Query.gateways":          `{ gateways { slug } }`,
		"Query.attributes":        `{ attributes { key label } }`,

		"Mutation.gatewayUpdate": `mutation { gatewayUpdate(input: {slug: MANUAL, enabled: true}) { gateway { slug } userErrors { message } } }`,

		"Query.promotion":     `{ promotion(id: "ten-off") { name state details { ... on PromotionFixedDiscount { amounts { amount } } } restDetails minCartValue { amount } maxApplicationsPerCart } }`,
		"Query.promotions":    `{ promotions { totalCount } }`,
		"Query.promotionCode": `{ promotionCode(code: "TEN-OFF") { remainingUses valid users promotion { name } } }`,

		"Mutation.promotionCreate":      `mutation { promotionCreate(input: {name: "New", details: {fixedDiscount: {amounts: [{currency: "USD", amount: "100"}]}}, start: "2024-01-01", end: "2024-12-31"}) { promotion { id } userErrors { message } } }`,
		"Mutation.promotionUpdate":      `mutation { promotionUpdate(input: {id: "ten-off", name: "Ten off"}) { promotion { id } codesDeleted userErrors { message } } }`,
		"Mutation.promotionDelete":      `mutation { promotionCreate(input: {id: "gone", name: "Gone", details: {percentDiscount: {percent: "5"}}, start: "2024-01-01", end: "2024-12-31"}) { userErrors { message } } promotionDelete(input: {id: "gone"}) { deletedId userErrors { message } } }`,
		"Mutation.promotionCodesCreate": `mutation { promotionCodesCreate(input: {promotionId: "ten-off", codes: [{}]}) { codes { id } userErrors { message } } }`,
		"Mutation.promotionCodesDelete": `mutation { promotionCodesCreate(input: {promotionId: "ten-off", codes: [{code: "GONE"}]}) { userErrors { message } } promotionCodesDelete(input: {promotionId: "ten-off", codes: ["GONE"]}) { deleted userErrors { message } } }`,

		"Query.productConfigured": `{ productConfigured(id: "kit", choices: [{component: "wood", options: [{id: "frame", quantity: 1}]}]) { product { uuid } } }`,
		"Query.cartPreview":       `{ cartPreview(lines: [{productId: "anvil", quantity: 2}], codes: ["HI"]) { total { amount } } }`,
		"Query.stockLocations":    `{ stockLocations { uuid } }`,

		"Query.catalogRelease":        `{ catalogRelease { uuid retained currencies } }`,
		"Query.catalogReleaseDiff":    `{ catalogReleaseDiff(fromId: "1", toId: "1") { total } }`,
		"Query.scheduledPublications": `{ scheduledPublications { uuid runAt } }`,
		"Query.catalogReleases":       `{ catalogReleases(catalogId: "main") { uuid } }`,
		"Query.job":                   `{ job(id: "job-1") { uuid } }`,
		"Query.jobs":                  `{ jobs { uuid } }`,

		"Mutation.catalogPublish":       `mutation { catalogPublish(input: {catalogId: "main"}) { userErrors { message } } }`,
		"Mutation.catalogReleaseUpdate": `mutation { catalogReleaseUpdate(input: {releaseId: "1"}) { userErrors { message } } }`,
		"Mutation.catalogReleaseServe":  `mutation { catalogReleaseServe(input: {releaseId: "1"}) { userErrors { message } } }`,
		"Mutation.jobCancel":            `mutation { jobCancel(input: {id: "none"}) { userErrors { field } } }`,
		"Query.catalogResolution":       `{ catalogResolution { reason } }`,
		"Query.catalog":                 `{ catalog(id: "main") { name } }`,
		"Query.catalogs":                `{ catalogs { totalCount } }`,
		"Query.catalogRule":             `{ catalogRule(id: "club") { name } }`,
		"Query.catalogRules":            `{ catalogRules { totalCount } }`,
		"Query.authoredHierarchy":       `{ authoredHierarchy(id: "attic") { name } }`,
		"Query.authoredHierarchies":     `{ authoredHierarchies { totalCount } }`,
		"Query.authoredCatalogNode":     `{ authoredCatalogNode(id: "box") { name productCount productUuids } }`,
		"Query.sitemap":                 `{ sitemap { nodes { path kind publishedAt } } }`,
		"Query.authoredProduct":         `{ authoredProduct(by: {id: "drill-draft"}) { name status } }`,
		"Query.authoredProducts":        `{ authoredProducts(filter: {status: DRAFT}) { totalCount nodes { sku } } }`,
		"Query.auditEvents":             `{ auditEvents(first: 2) { totalCount nodes { uuid createdAt actor kind action resourceCount memberCount } } }`,
		"Query.changes":                 `{ changes(first: 2) { nodes { uuid } latestCursor pageInfo { hasNextPage } } }`,
		"Query.catalogPendingChanges":   `{ catalogPendingChanges(catalogId: "main") { complete totalCount nodes { kind uuid } } }`,
		"Query.authoredCatalogNodes":    `{ authoredCatalogNodes(filter: {hierarchyId: "attic"}) { totalCount } }`,
		"Query.pricebook":               `{ pricebook(id: "standard") { name } }`,
		"Query.pricebooks":              `{ pricebooks { totalCount } }`,
		"Query.authoredPrice":           `{ authoredPrice(id: "vip-anvil") { sku amounts { money { amount } } } }`,
		"Query.authoredPrices":          `{ authoredPrices(filter: {skus: ["ANVIL"]}) { totalCount nodes { pricebook { name } } } }`,
		"Query.authoredPriceModifier":   `{ authoredPriceModifier(id: "bulk-1") { name amounts { money { amount } } } }`,
		"Query.authoredPriceModifiers":  `{ authoredPriceModifiers { totalCount } }`,
		"Query.authoredFile":            `{ authoredFile(id: "photo-1") { href } }`,
		"Query.authoredFiles":           `{ authoredFiles { totalCount } }`,
		"Query.authoredAttribute":       `{ authoredAttribute(id: "brand") { labels { locale label } } }`,
		"Query.authoredAttributes":      `{ authoredAttributes { totalCount } }`,
		"Query.authoredRedirect":        `{ authoredRedirect(id: "help") { from to } }`,
		"Query.authoredRedirects":       `{ authoredRedirects { totalCount } }`,
		"Query.synonym":                 `{ synonym(id: "organ") { kind term terms locale } }`,
		"Query.synonyms":                `{ synonyms { totalCount nodes { terms } } }`,

		// What is removed is made first, so that the operations go in any order.
		"Mutation.catalogCreate":             `mutation { catalogCreate(input: {name: "New"}) { catalog { id } userErrors { message } } }`,
		"Mutation.catalogUpdate":             `mutation { catalogUpdate(input: {id: "outlet", name: "Outlet"}) { catalog { id } userErrors { message } } }`,
		"Mutation.catalogDelete":             `mutation { catalogCreate(input: {id: "gone", name: "Gone"}) { userErrors { message } } catalogDelete(input: {id: "gone"}) { deletedId userErrors { message } } }`,
		"Mutation.catalogRuleCreate":         `mutation { catalogRuleCreate(input: {name: "New", catalogId: "main", channels: ["kiosk"]}) { catalogRule { id } userErrors { message } } }`,
		"Mutation.catalogRuleUpdate":         `mutation { catalogRuleUpdate(input: {id: "club", name: "Club"}) { catalogRule { id } userErrors { message } } }`,
		"Mutation.catalogRuleDelete":         `mutation { catalogRuleCreate(input: {id: "gone", name: "Gone", catalogId: "main", channels: ["kiosk"]}) { userErrors { message } } catalogRuleDelete(input: {id: "gone"}) { deletedId userErrors { message } } }`,
		"Mutation.catalogNodeProductsAttach": `mutation { catalogNodeProductsAttach(input: {id: "box", productIds: ["anvil"]}) { catalogNode { id } userErrors { message } } }`,
		"Mutation.catalogNodeProductsDetach": `mutation { catalogNodeProductsDetach(input: {id: "box", productIds: ["anvil"]}) { catalogNode { id } userErrors { message } } }`,
		"Mutation.catalogNodeProductsSet":    `mutation { catalogNodeProductsSet(input: {id: "box", productIds: ["anvil"], dryRun: true}) { catalogNode { id } attachedUuids detachedUuids userErrors { message } } }`,
		"Mutation.productsUpsert":            `mutation { productsUpsert(input: {items: [{sku: "NEW", name: "New", status: DRAFT}]}) { items { uuid outcome } userErrors { message } } }`,
		"Mutation.productsDelete":            `mutation { productsUpsert(input: {items: [{id: "gone", sku: "GONE", name: "Gone", status: DRAFT}]}) { userErrors { message } } productsDelete(input: {ids: ["gone"]}) { items { uuid outcome } userErrors { message } } }`,
		"Mutation.pricebooksUpsert":          `mutation { pricebooksUpsert(input: {items: [{name: "New"}]}) { items { uuid outcome } userErrors { message } } }`,
		"Mutation.pricebooksDelete":          `mutation { pricebooksUpsert(input: {items: [{id: "gone", name: "Gone"}]}) { userErrors { message } } pricebooksDelete(input: {ids: ["gone"]}) { items { uuid outcome } userErrors { message } } }`,
		"Mutation.priceModifiersUpsert":      `mutation { priceModifiersUpsert(input: {items: [{name: "new", modifierType: PRICE_EQUALS}]}) { items { uuid outcome } userErrors { message } } }`,
		"Mutation.priceModifiersDelete":      `mutation { priceModifiersUpsert(input: {items: [{id: "gone", name: "gone", modifierType: PRICE_EQUALS}]}) { userErrors { message } } priceModifiersDelete(input: {ids: ["gone"]}) { items { uuid outcome } userErrors { message } } }`,
		"Mutation.pricesUpsert":              `mutation { pricesUpsert(input: {items: [{pricebookId: "standard", sku: "NEW", amounts: [{money: {currency: "USD", amount: "5"}}]}]}) { items { uuid outcome } userErrors { message } } }`,
		"Mutation.salesUpsert":               `mutation { salesUpsert(input: {items: [{pricebookId: "standard", sku: "NEW", name: "sale", amounts: [{money: {currency: "USD", amount: "4"}}]}]}) { items { uuid outcome } userErrors { message } } }`,
		"Mutation.filesUpsert":               `mutation { filesUpsert(input: {items: [{fileName: "new.png", href: "https://files.example/new.png"}]}) { items { uuid outcome } userErrors { message } } }`,
		"Mutation.attributesUpsert":          `mutation { attributesUpsert(input: {items: [{key: "new", label: "New", type: TEXT}]}) { items { uuid outcome } userErrors { message } } }`,
		"Mutation.attributesDelete":          `mutation { attributesUpsert(input: {items: [{key: "gone", label: "Gone", type: TEXT}]}) { userErrors { message } } attributesDelete(input: {ids: ["gone"]}) { items { uuid outcome } userErrors { message } } }`,
		"Mutation.hierarchiesUpsert":         `mutation { hierarchiesUpsert(input: {items: [{name: "New"}]}) { items { uuid outcome } userErrors { message } } }`,
		"Mutation.hierarchiesDelete":         `mutation { hierarchiesUpsert(input: {items: [{id: "gone-hierarchies", name: "Gone"}]}) { userErrors { message } } hierarchiesDelete(input: {ids: ["gone-hierarchies"]}) { items { uuid outcome } userErrors { message } } }`,
		"Mutation.catalogNodesUpsert":        `mutation { catalogNodesUpsert(input: {items: [{hierarchyId: "attic", name: "New"}]}) { items { uuid outcome } userErrors { message } } }`,
		"Mutation.catalogNodesDelete":        `mutation { catalogNodesUpsert(input: {items: [{id: "gone-nodes", hierarchyId: "attic", name: "Gone"}]}) { userErrors { message } } catalogNodesDelete(input: {ids: ["gone-nodes"]}) { items { uuid outcome } userErrors { message } } }`,
		"Mutation.pricesDelete":              `mutation { pricesUpsert(input: {items: [{pricebookId: "standard", sku: "GONE", amounts: [{money: {currency: "USD", amount: "5"}}]}]}) { userErrors { message } } pricesDelete(input: {items: [{pricebookId: "standard", sku: "GONE"}]}) { items { uuid outcome } userErrors { message } } }`,
		"Mutation.filesDelete":               `mutation { filesUpsert(input: {items: [{id: "gone", fileName: "gone.png", href: "https://files.example/gone.png"}]}) { userErrors { message } } filesDelete(input: {ids: ["gone"]}) { items { uuid outcome } userErrors { message } } }`,
		"Mutation.synonymsUpsert":            `mutation { synonymsUpsert(input: {items: [{terms: ["sofa", "couch"]}]}) { items { uuid outcome } userErrors { message } } }`,
		"Mutation.redirectsUpsert":           `mutation { redirectsUpsert(input: {items: [{from: "old-anvil", productId: "anvil"}]}) { items { uuid outcome } userErrors { message } } }`,
		"Mutation.catalogNodeCurate":         `mutation { catalogNodeCurate(input: {id: "box", productIds: []}) { catalogNode { id } userErrors { message } } }`,

		"Mutation.promotionCodesGenerate": `mutation { promotionCodesGenerate(input: {promotionId: "spring", count: 10}) { job { uuid total } guessesPerCode userErrors { message } } }`,

		"Query.promotionCodeCheck":      `{ promotionCodeCheck(code: "HI") { valid reasons { reason } unitsApplied } }`,
		"Query.promotionCodeUsages":     `{ promotionCodeUsages(promotionId: "spring") { totalCount nodes { code } } }`,
		"Mutation.promotionCodeRedeem":  `mutation { promotionCodeRedeem(input: {code: "HI", reference: "order-1"}) { unitsApplied usage { uuid createdAt } userErrors { message } } }`,
		"Mutation.promotionCodeRelease": `mutation { promotionCodeRelease(input: {reference: "order-0"}) { usages { uuid releasedAt } userErrors { message } } }`,

		"Query.stockTransactions":     `{ stockTransactions(productId: "anvil") { totalCount } }`,
		"Query.stockTransaction":      `{ stockTransaction(productId: "anvil", id: "ledger-5") { quantity } }`,
		"Mutation.stockCreate":        `mutation { stockCreate(input: {productId: "glue", quantity: 7}) { stock { total } userErrors { message } } }`,
		"Mutation.shopperTokenCreate": `mutation { shopperTokenCreate(input: {accountId: "a1", accountTags: ["gold"], customerId: "u1", expiresIn: 60}) { token expiresAt scopes userErrors { message } } }`,

		"Subscription.stockChanged":     `subscription { stockChanged(productIds: ["anvil"]) { total } }`,
		"Subscription.jobProgress":      `subscription { jobProgress(id: "job-1") { uuid state } }`,
		"Subscription.catalogPublished": `subscription { catalogPublished { uuid served } }`,

		"Mutation.stockDelete":    `mutation { stockDelete(input: {productId: "chalk"}) { deletedId userErrors { message } } }`,
		"Mutation.stockTransact":  `mutation { stockTransact(input: {changes: [{productId: "anvil", action: SET, quantity: 7}]}) { transactions { uuid } userErrors { message } } }`,
		"Mutation.settingsUpdate": `mutation { settingsUpdate(input: {pageLength: 25}) { settings { pageLength } userErrors { message } } }`,
	}
}

func TestEveryRootFieldHasAnAccessTest(t *testing.T) {
	t.Parallel()
	for _, coordinate := range rootCoordinates(graphtest.Schema()) {
		require.Contains(t, rootFields(), coordinate)
	}
}

func TestRootFieldsRequireTheirScope(t *testing.T) {
	t.Parallel()
	expired := &store.Error{Code: store.Unauthenticated, Detail: "The token expired at noon; get another from POST /oauth/access_token."}
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		s := graphtest.Open(t, e, graphtest.Shop())
		seedJob(t, e, "job-1")
		graphtest.LoadCodes(t, s)
		for coordinate, query := range rootFields() {
			t.Run(coordinate, func(t *testing.T) {
				needed, _ := auth.Scope(coordinate)

				a := s.Send(t, graphtest.NewPost(t, query, nil))
				require.Equal(t, []store.Code{store.Unauthenticated}, slices.Compact(a.Codes()), "without a token: %s", a.Body)
				require.Contains(t, a.Errors[0].Message, "Authorization: Bearer")

				r := graphtest.NewPost(t, query, nil)
				a = s.Send(t, r.WithContext(auth.WithTokenError(r.Context(), expired)))
				require.Equal(t, []store.Code{store.Unauthenticated}, slices.Compact(a.Codes()), "with a bad token: %s", a.Body)
				require.Equal(t, expired.Detail, a.Errors[0].Message, "what is wrong with the token")

				if needed == auth.AnyScope {
					a = s.Send(t, graphtest.As(graphtest.NewPost(t, query, nil), graphtest.Client()))
					require.Empty(t, a.Errors, "with any good token: %s", a.Body)
					return
				}

				a = s.Send(t, graphtest.As(graphtest.NewPost(t, query, nil), graphtest.Client()))
				require.Equal(t, forbidden, slices.Compact(a.Codes()), "without a scope: %s", a.Body)

				others := slices.DeleteFunc(access.Scopes(), func(scope string) bool { return scope == needed })
				a = s.Send(t, graphtest.As(graphtest.NewPost(t, query, nil), graphtest.Client(others...)))
				require.Equal(t, forbidden, slices.Compact(a.Codes()), "with every other scope: %s", a.Body)
				require.Contains(t, a.Errors[0].Message, needed)

				a = s.Send(t, graphtest.As(graphtest.NewPost(t, query, nil), graphtest.Client(needed)))
				require.Empty(t, a.Errors, "with its scope: %s", a.Body)
				require.NotContains(t, string(a.Data), "null")
				require.NotContains(t, string(a.Data), `"message"`)
			})
		}
		require.Empty(t, s.Log.String(), "being refused is nothing to log")
	})
}

// seedJob adds a job that is done.
func seedJob(t *testing.T, e storetest.Backend, id string) {
	t.Helper()
	_, err := e.SQL(t).Exec(`
		INSERT INTO job (id, kind, state, input, result, error, done, total, canceled, worker, actor, created_at, started_at, beat_at, finished_at)
		VALUES ($1, 'catalog_publish', 'succeeded', '{}', '{}', '', 0, 0, FALSE, '', 'test', 1, 1, 1, 1717070400000000)`, id)
	require.NoError(t, err)
}

// A refused field neither reads nor writes.
func TestRefusedFieldsRunNoStatement(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		s := graphtest.Open(t, e, graphtest.Shop())
		for coordinate, query := range rootFields() {
			if needed, _ := auth.Scope(coordinate); needed == auth.AnyScope {
				continue // answered, not refused
			}
			r := graphtest.As(graphtest.NewPost(t, query, nil), graphtest.Client())
			ctx, counter := store.CountStatements(r.Context())
			s.Send(t, r.WithContext(ctx))
			require.Zero(t, counter.Count(), "%s ran %q", coordinate, counter.Queries())
		}
	})
}

// edges has an operation for each field, argument and member that needs another scope than what leads to it, by its coordinate.
func edges() map[string]string {
	documents := map[string]string{
		"Product.stock":                    `{ product(by: {id: "anvil"}) { stock { total } } }`,
		"Product.availability":             `{ product(by: {id: "anvil"}) { availability } }`,
		"Product.availableForSale":         `{ product(by: {id: "anvil"}) { availableForSale } }`,
		"ProductFilter.inStock":            `{ products(filter: {inStock: true}) { totalCount } }`,
		"Stock.transactions":               `{ stock(productId: "anvil") { transactions { quantity } } }`,
		"Stock.product":                    `{ stock(productId: "anvil") { product { sku } } }`,
		"StockTransaction.stock":           `{ stockTransaction(productId: "anvil", id: "ledger-1") { stock { total } } }`,
		"StockTransaction.product":         `{ stockTransaction(productId: "anvil", id: "ledger-1") { product { sku } } }`,
		"AuthoredProduct.product":          `{ authoredProduct(by: {id: "anvil"}) { product { sku } } }`,
		"Promotion.codes":                  `mutation { promotionUpdate(input: {id: "ten-off", name: "Ten off"}) { promotion { codes { totalCount } } } }`,
		"Promotion.usages":                 `mutation { promotionUpdate(input: {id: "ten-off", name: "Ten off"}) { promotion { usages { totalCount } } } }`,
		"PromotionCodeUsage.promotion":     `mutation { promotionCodeRedeem(input: {code: "HI", reference: "order-2"}) { usage { promotion { name } } } }`,
		"Query.promotionCodeCheck(lines:)": `{ promotionCodeCheck(code: "HI", lines: [{productId: "anvil", quantity: 1}]) { valid } }`,
		"Query.catalogRelease(id:)":        `{ catalogRelease(id: "1") { uuid } }`,
		"CatalogRelease.catalog":           `subscription { catalogPublished { catalog { name } } }`,
	}
	for _, name := range []string{"label", "note", "actor", "bytes"} {
		documents["CatalogRelease."+name] = `subscription { catalogPublished { ` + name + ` } }`
	}
	return documents
}

func TestEdgesRequireTheirScope(t *testing.T) {
	t.Parallel()
	for _, coordinate := range auth.Coordinates() {
		isField := !strings.ContainsAny(coordinate, " (") && !slices.Contains(rootCoordinates(graphtest.Schema()), coordinate)
		if isField && coordinate != "CatalogRule.catalog" { // only fields with the same scope lead to it
			require.Contains(t, edges(), coordinate)
		}
	}
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		s := graphtest.Open(t, e, graphtest.Shop())
		graphtest.LoadCodes(t, s)
		for coordinate, query := range edges() {
			needed, declared := auth.Scope(coordinate)
			require.True(t, declared, coordinate)
			others := slices.DeleteFunc(access.Scopes(), func(scope string) bool { return scope == needed })
			a := s.Send(t, graphtest.As(graphtest.NewPost(t, query, nil), graphtest.Client(others...)))
			require.Equal(t, forbidden, a.Codes(), "%s without its scope: %s", coordinate, a.Body)
			require.Contains(t, a.Errors[0].Message, needed, coordinate)
			a = s.Send(t, graphtest.As(graphtest.NewPost(t, query, nil), graphtest.Admin()))
			require.Empty(t, a.Errors, "%s with its scope: %s", coordinate, a.Body)
		}
	})
}

// accessCase is a document that crosses from one scope into another.
type accessCase struct {
	name, query string
	scopes      []string
	data        string
	codes       []store.Code
	path        []any // of the first error
}

func TestEdgeIntoAnotherScopeIsNull(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		s := graphtest.Open(t, e, graphtest.Shop())
		for _, x := range []accessCase{
			{"stock within a filter", `{ products(filter: {tags: {eq: "paint"}, and: [{or: [{not: {inStock: true}}]}]}) { totalCount } }`, []string{"catalog:read"},
				`{"products":null}`, forbidden, []any{"products"}},
			{"a product's stock", `{ product(by: {id: "anvil"}) { sku stock { total } } }`, []string{"catalog:read"},
				`{"product":{"sku":"ANVIL","stock":null}}`, forbidden, []any{"product", "stock"}},
			{"with the scope", `{ product(by: {id: "anvil"}) { sku stock { total } } }`, []string{"catalog:read", "inventory:read"},
				`{"product":{"sku":"ANVIL","stock":{"total":9}}}`, nil, nil},
			{"each of a page", `{ products(first: 2) { totalCount nodes { sku stock { total } } } }`, []string{"catalog:read"},
				`{"products":{"totalCount":8,"nodes":[{"sku":"GLUE","stock":null},{"sku":"KIT","stock":null}]}}`, []store.Code{store.Forbidden, store.Forbidden}, []any{"products", "nodes", 0.0, "stock"}},
			{"a stock's product", `{ stock(productId: "anvil") { total product { sku } } }`, []string{"inventory:read"},
				`{"stock":{"total":9,"product":null}}`, forbidden, []any{"stock", "product"}},
			{"a stock's product, with the scope", `{ stock(productId: "anvil") { total product { sku } } }`, []string{"catalog:read", "inventory:read"},
				`{"stock":{"total":9,"product":{"sku":"ANVIL"}}}`, nil, nil},
			{"each of a page of stock", `{ stocks(first: 1) { nodes { total product { sku } } } }`, []string{"inventory:read"},
				`{"stocks":{"nodes":[{"total":9,"product":null}]}}`, forbidden, []any{"stocks", "nodes", 0.0, "product"}},
			{"a stock by its global id", `{ node(id: ` + global("Stock", "anvil") + `) { id } settings { pageLength } }`, []string{"catalog:read", "settings:read"},
				`{"node":null,"settings":{"pageLength":25}}`, forbidden, []any{"node"}},
			{"a stock among others", `{ nodes(ids: [` + global("Product", "anvil") + `, ` + global("Stock", "anvil") + `]) { id } }`, []string{"catalog:read"},
				`{"nodes":null}`, forbidden, []any{"nodes"}},
			{"a stock by its global id, without the catalog", `{ node(id: ` + global("Stock", "anvil") + `) { id } }`, []string{"inventory:read"},
				`{"node":null}`, forbidden, []any{"node"}},
			{"a ledger by way of a write", `mutation { stockTransact(input: {changes: [{productId: "anvil", action: SET, quantity: 7}]}) { transactions { quantity stock { available product { sku } } } } }`, []string{"inventory:write"},
				`{"stockTransact":{"transactions":[{"quantity":7,"stock":{"available":7,"product":null}}]}}`, forbidden, []any{"stockTransact", "transactions", 0.0, "stock", "product"}},
			{"two fields, one allowed", `{ a: promotions { totalCount } product(by: {id: "anvil"}) { uuid } }`, []string{"catalog:read"},
				`{"a":null,"product":{"uuid":"anvil"}}`, forbidden, []any{"a"}},
			{"a ledger, which tells who did what", `{ stock(productId: "anvil") { total transactions { reference } } }`, []string{"inventory:read"},
				`{"stock":{"total":9,"transactions":null}}`, forbidden, []any{"stock", "transactions"}},
			{"a ledger on its own", `{ stockTransactions(productId: "anvil") { totalCount } stock(productId: "anvil") { total } }`, []string{"inventory:read"},
				`{"stockTransactions":null,"stock":{"total":9}}`, forbidden, []any{"stockTransactions"}},
			{"a ledger's numbers", `{ stockTransaction(productId: "anvil", id: "ledger-1") { reference stock { total } } }`, []string{"inventory:write"},
				`{"stockTransaction":{"reference":"sheet 1","stock":null}}`, forbidden, []any{"stockTransaction", "stock"}},
			{"mutations side by side", `mutation { stockTransact(input: {changes: [{productId: "anvil", action: SET, quantity: 7}]}) { userErrors { code } } settingsUpdate(input: {pageLength: 25}) { userErrors { code } } }`, []string{"inventory:write"},
				`{"stockTransact":{"userErrors":[]},"settingsUpdate":null}`, forbidden, []any{"settingsUpdate"}},
			{"nullable fields side by side", `{ stock(productId: "anvil") { total } product(by: {id: "anvil"}) { uuid } }`, []string{"catalog:read"},
				`{"stock":null,"product":{"uuid":"anvil"}}`, forbidden, []any{"stock"}},
		} {
			t.Run(x.name, func(t *testing.T) {
				a := s.Send(t, graphtest.As(graphtest.NewPost(t, x.query, nil), graphtest.Client(x.scopes...)))
				require.JSONEq(t, x.data, string(a.Data))
				require.Equal(t, len(x.codes), len(a.Codes()), "%s", a.Body)
				if len(x.codes) > 0 {
					require.Equal(t, x.codes, a.Codes())
					require.Contains(t, [][]any{x.path, {"products", "nodes", 1.0, "stock"}}, a.Errors[0].Path)
				}
			})
		}
	})
}

// Introspection needs a token, whatever its scopes; the schema's text does not.
func TestIntrospectionNeedsAToken(t *testing.T) {
	t.Parallel()
	expired := &store.Error{Code: store.Unauthenticated, Detail: "The token expired at noon; get another."}
	locked := graphtest.Serve(nil)
	open := &graphtest.Service{Handler: graphtest.NewHandler(nil, transport.OpenIntrospection())}
	for _, query := range []string{
		`{ __schema { queryType { name } } }`,
		`{ __type(name: "Product") { name } }`,
		`query ($name: String! = "Product") { __type(name: $name) { name } }`,
		`{ a: __typename b: __schema { queryType { name } } }`,
		`{ ... on Query { __schema { queryType { name } } } }`,
		`{ ...a } fragment a on Query { ...b } fragment b on Query { __typename __type(name: "Product") { name } }`,
	} {
		a := locked.Send(t, graphtest.NewPost(t, query, nil))
		require.Equal(t, []store.Code{store.Unauthenticated}, a.Codes(), query)
		require.Contains(t, a.Errors[0].Message, "Get a token from POST /oauth/access_token")
		require.Contains(t, a.Errors[0].Message, "/schema.graphql")
		require.NotContains(t, a.Body.String(), `"data"`, "it never ran")

		r := graphtest.NewPost(t, query, nil)
		a = locked.Send(t, r.WithContext(auth.WithTokenError(r.Context(), expired)))
		require.Contains(t, a.Errors[0].Message, expired.Detail, "what is wrong with the token")

		require.Empty(t, locked.Send(t, graphtest.As(graphtest.NewPost(t, query, nil), graphtest.Client())).Errors, "a token without any scope: %s", query)
		require.Empty(t, open.Send(t, graphtest.NewPost(t, query, nil)).Errors, "in the demo: %s", query)
		require.Equal(t, []store.Code{store.Unauthenticated}, locked.Send(t, graphtest.NewPost(t, query, nil)).Codes(), "after it was prepared: %s", query)
	}
	for _, query := range []string{`{ __typename }`, `{ ...a } fragment a on Query { __typename }`, `mutation { __typename }`} {
		require.Empty(t, locked.Send(t, graphtest.NewPost(t, query, nil)).Errors, query)
	}
	a := locked.Send(t, graphtest.NewPost(t, `query a { __typename } query b { __schema { queryType { name } } }`, nil))
	require.Equal(t, []store.Code{store.Invalid}, a.Codes(), "which of the two is unsaid")
	r := graphtest.NewPost(t, `{ __schema { queryType { name } } }`, nil)
	r.Header.Set("Accept", "application/graphql-response+json")
	require.Equal(t, 400, locked.Send(t, r).Code, "the modern media type")
	require.Empty(t, locked.Log.String())
}
