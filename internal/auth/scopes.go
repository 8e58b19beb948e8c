package auth

import (
	"maps"
	"slices"
	"strings"
)

// Special values of the table.
const (
	noScope  = ""          // no token needed
	AnyScope = "any scope" // a valid token with any scopes
)

// scopeTable is the only place that says which scope a coordinate needs: a schema field or a route. It is never written. The
// routes of GraphQL are public because each resolver checks its scope.
var scopeTable = map[string]string{
	"Query.catalogNode":       "catalog:read",
	"Query.catalogNodes":      "catalog:read",
	"Query.hierarchies":       "catalog:read",
	"Query.product":           "catalog:read",
	"Query.products":          "catalog:read",
	"Query.node":              "catalog:read",
	"Query.nodes":             "catalog:read",
	"Query.hierarchy":         "catalog:read",
	"Query.file":              "catalog:read",
	"Query.files":             "catalog:read",
	"Query.currencies":        "catalog:read",
	"Query.locales":           "catalog:read",
	"Query.searchSuggestions": "catalog:read",
	"Query.redirect":          "catalog:read",
	"Query.channels":          "catalog:read",
	"Query.stock":             "inventory:read",
	"Query.stocks":            "inventory:read",
	"Query.settings":          AnyScope, // clients read them right after login
	"Query.gateway":           "gateways:read",
	"Query.gateways":          "gateways:read",
	"Query.attributes":        "catalog:read",

	"Query.productConfigured": "catalog:read",
	"Query.activePromotions":  "catalog:read",
	"Query.cartPreview":       "catalog:read", // for the token's own shopper; codes are rate-limited
	"Query.stockLocations":    "inventory:read",
	"file that is not shown":  "catalog:write",

	"Query.catalogReleases":       "catalog:write",
	"Query.catalogRelease":        "catalog:read",
	"Query.catalogRelease(id:)":   "catalog:write",
	"Query.catalogReleaseDiff":    "catalog:write",
	"Query.scheduledPublications": "catalog:write",
	"Query.job":                   "catalog:write",
	"Query.jobs":                  "catalog:write",
	// The audit log shows what every scope allows to write.
	"Query.auditEvents": "audit:read",
	"Query.changes":     "audit:read",
	// A job is seen and canceled with the scope of what it does.
	"job catalog_publish":          "catalog:write",
	"job catalog_publish_dry_run":  "catalog:write",
	"job promotion_codes_generate": "promotions:write",
	"header Store-Catalog-Release": "catalog:write", // a release whether it is served or not
	// What is authored names accounts and what is yet to come, which no
	// storefront's token may read.
	"Query.catalogResolution":      "catalog:write",
	"Query.catalog":                "catalog:write",
	"Query.catalogs":               "catalog:write",
	"Query.catalogRule":            "catalog:write",
	"Query.catalogRules":           "catalog:write",
	"Query.authoredHierarchy":      "catalog:write",
	"Query.authoredHierarchies":    "catalog:write",
	"Query.authoredCatalogNode":    "catalog:write",
	"Query.authoredCatalogNodes":   "catalog:write",
	"Query.authoredProduct":        "catalog:write",
	"Query.authoredProducts":       "catalog:write",
	"Query.pricebook":              "catalog:write",
	"Query.pricebooks":             "catalog:write",
	"Query.authoredPrice":          "catalog:write",
	"Query.authoredPrices":         "catalog:write",
	"Query.authoredPriceModifier":  "catalog:write",
	"Query.authoredPriceModifiers": "catalog:write",
	"Query.authoredFile":           "catalog:write",
	"Query.authoredFiles":          "catalog:write",
	"Query.authoredAttribute":      "catalog:write",
	"Query.authoredAttributes":     "catalog:write",
	"Query.authoredRedirect":       "catalog:write",
	"Query.authoredRedirects":      "catalog:write",
	"Query.synonym":                "catalog:write",
	"Query.synonyms":               "catalog:write",
	"Query.catalogPendingChanges":  "catalog:write",
	"Query.sitemap":                "catalog:read",

	"Subscription.stockChanged":     "inventory:read",
	"Subscription.jobProgress":      "catalog:write", // and that of what it does, as Query.job
	"Subscription.catalogPublished": "catalog:read",

	"Query.promotion":     "promotions:read",
	"Query.promotions":    "promotions:read",
	"Query.promotionCode": "promotions:read",

	"Product.stock":            "inventory:read",
	"Product.availability":     "inventory:read",
	"Product.availableForSale": "inventory:read",
	"ProductFilter.inStock":    "inventory:read",
	"Query.stocksById":         "inventory:read",
	// The ledger tells who did what for which order, which no storefront's
	// token may read; the numbers are for all that may read stock.
	"Stock.transactions":      "inventory:write",
	"Query.stockTransactions": "inventory:write",
	"Query.stockTransaction":  "inventory:write",
	"StockTransaction.stock":  "inventory:read",

	// Edges to another resource need that resource's scope.
	"Stock.product":                "catalog:read",
	"StockTransaction.product":     "catalog:read",
	"CatalogRelease.catalog":       "catalog:write",
	"CatalogRelease.label":         "catalog:write", // and who published it, and what was noted: Subscription.catalogPublished shows releases to anyone
	"CatalogRelease.note":          "catalog:write",
	"CatalogRelease.actor":         "catalog:write",
	"CatalogRelease.bytes":         "catalog:write",
	"AuthoredProduct.product":      "catalog:read",
	"CatalogRule.catalog":          "catalog:write",
	"Promotion.codes":              "promotions:read",
	"Promotion.usages":             "promotions:read",
	"PromotionCodeUsage.promotion": "promotions:read",

	"Mutation.promotionCodesGenerate": "promotions:write",

	"Query.promotionCodeCheck":         "checkout:write", // it tells whom a code is for, by trying
	"Query.promotionCodeCheck(lines:)": "catalog:read",   // and this what they cost
	"Mutation.promotionCodeRedeem":     "checkout:write",
	"Mutation.promotionCodeRelease":    "checkout:write",
	"Query.promotionCodeUsages":        "promotions:read",

	"GET /v2/promotions/:id/usages":             "promotions:read",
	"GET /v2/promotions/:id/codes/:code/usages": "promotions:read",

	"Mutation.stockCreate":    "inventory:write",
	"Mutation.stockDelete":    "inventory:write",
	"Mutation.stockTransact":  "inventory:write",
	"Mutation.settingsUpdate": "settings:write",
	"Mutation.gatewayUpdate":  "gateways:write",

	"Mutation.catalogPublish":            "catalog:write",
	"Mutation.catalogReleaseServe":       "catalog:write",
	"Mutation.catalogReleaseUpdate":      "catalog:write",
	"Mutation.jobCancel":                 "catalog:write",
	"Mutation.catalogCreate":             "catalog:write",
	"Mutation.catalogUpdate":             "catalog:write",
	"Mutation.catalogDelete":             "catalog:write",
	"Mutation.catalogRuleCreate":         "catalog:write",
	"Mutation.catalogRuleUpdate":         "catalog:write",
	"Mutation.catalogRuleDelete":         "catalog:write",
	"Mutation.hierarchiesUpsert":         "catalog:write",
	"Mutation.hierarchiesDelete":         "catalog:write",
	"Mutation.catalogNodesDelete":        "catalog:write",
	"Mutation.catalogNodesUpsert":        "catalog:write",
	"Mutation.catalogNodeProductsAttach": "catalog:write",
	"Mutation.catalogNodeProductsDetach": "catalog:write",
	"Mutation.catalogNodeCurate":         "catalog:write",
	"Mutation.catalogNodeProductsSet":    "catalog:write",
	"Mutation.productsUpsert":            "catalog:write",
	"Mutation.productsDelete":            "catalog:write",
	"Mutation.pricebooksUpsert":          "catalog:write",
	"Mutation.pricebooksDelete":          "catalog:write",
	"Mutation.priceModifiersUpsert":      "catalog:write",
	"Mutation.priceModifiersDelete":      "catalog:write",
	"Mutation.pricesUpsert":              "catalog:write",
	"Mutation.pricesDelete":              "catalog:write",
	"Mutation.salesUpsert":               "catalog:write",
	"Mutation.filesUpsert":               "catalog:write",
	"Mutation.filesDelete":               "catalog:write",
	"Mutation.attributesUpsert":          "catalog:write",
	"Mutation.attributesDelete":          "catalog:write",
	"Mutation.redirectsUpsert":           "catalog:write",
	"Mutation.synonymsUpsert":            "catalog:write",

	"Mutation.promotionCreate":      "promotions:write",
	"Mutation.promotionUpdate":      "promotions:write",
	"Mutation.promotionDelete":      "promotions:write",
	"Mutation.promotionCodesCreate": "promotions:write",
	"Mutation.promotionCodesDelete": "promotions:write",

	"GET /v2/promotions":                    "promotions:read",
	"POST /v2/promotions":                   "promotions:write",
	"GET /v2/promotions/:id":                "promotions:read",
	"PUT /v2/promotions/:id":                "promotions:write",
	"DELETE /v2/promotions/:id":             "promotions:write",
	"GET /v2/promotions/:id/codes":          "promotions:read",
	"POST /v2/promotions/:id/codes":         "promotions:write",
	"DELETE /v2/promotions/:id/codes":       "promotions:write",
	"DELETE /v2/promotions/:id/codes/:code": "promotions:write",

	"GET /catalog":                          "catalog:read",
	"GET /catalog/hierarchies":              "catalog:read",
	"GET /catalog/hierarchies/:id":          "catalog:read",
	"GET /catalog/hierarchies/:id/children": "catalog:read",
	"GET /catalog/hierarchies/:id/nodes":    "catalog:read",
	"GET /catalog/hierarchies/:id/products": "catalog:read",
	"GET /catalog/nodes":                    "catalog:read",
	"GET /catalog/nodes/:id":                "catalog:read",
	"GET /catalog/products":                 "catalog:read",
	"GET /catalog/products/:id":             "catalog:read",

	"POST /catalog/products/:id/configure":                       "catalog:read", // which only reads
	"GET /catalog/nodes/:id/relationships/children":              "catalog:read",
	"GET /catalog/nodes/:id/relationships/products":              "catalog:read",
	"GET /catalog/products/:id/relationships/children":           "catalog:read",
	"GET /catalog/products/:id/relationships/component_products": "catalog:read",

	"GET /v2/files":          "catalog:read",
	"GET /v2/files/:id":      "catalog:read",
	"GET /v2/currencies":     "catalog:read",
	"GET /v2/currencies/:id": "catalog:read",

	"GET /v2/inventories/locations": "inventory:read",
	"GET /v2/inventories":           "inventory:read",
	"POST /v2/inventories":          "inventory:write",
	"POST /v2/inventories/multiple": "inventory:read", // which only reads
	"GET /v2/inventories/:id":       "inventory:read",
	"POST /v2/inventories/:id":      "inventory:write",
	"DELETE /v2/inventories/:id":    "inventory:write",

	"GET /v2/inventories/:id/transactions":              "inventory:write",
	"POST /v2/inventories/:id/transactions":             "inventory:write",
	"GET /v2/inventories/:id/transactions/:transaction": "inventory:write",

	"GET /v2/settings": AnyScope,
	"PUT /v2/settings": "settings:write",

	"Mutation.shopperTokenCreate": "tokens:write",
	"POST /v2/shopper-tokens":     "tokens:write",

	"GET /v2/gateways":       "gateways:read",
	"GET /v2/gateways/:slug": "gateways:read",
	"PUT /v2/gateways/:slug": "gateways:write",

	"POST /oauth/access_token":   noScope,
	"GET /.well-known/jwks.json": noScope,
	"GET /":                      noScope,
	"GET /playground/:part":      noScope,
	"GET /graphiql":              noScope,
	"GET /graphiql/:part":        noScope,
	"GET /schema.graphql":        noScope,
	"GET /openapi.yaml":          noScope,
	"GET /docs":                  noScope,
	"GET /healthz":               noScope,
	"GET /readyz":                noScope,
	"GET /graphql":               noScope,
	"POST /graphql":              noScope,
}

// ShopperScopes returns the scopes of shopper tokens.
func ShopperScopes() []string { return []string{"catalog:read", "inventory:read"} }

// Scope returns the scope that a coordinate needs: empty if it is public, AnyScope if any valid token will do. declared is
// false for unknown coordinates, which nobody may use.
func Scope(coordinate string) (scope string, declared bool) {
	scope, declared = scopeTable[coordinate]
	return scope, declared
}

// Coordinates returns all declared coordinates, sorted.
func Coordinates() []string { return slices.Sorted(maps.Keys(scopeTable)) }

// jobCoordinates may be used with the scope of any kind of job ("job catalog_publish" and its kin).
var jobCoordinates = []string{"Query.job", "Subscription.jobProgress", "Mutation.jobCancel"}

// Usable reports whether a valid token with these scopes may use a coordinate, perhaps for some objects only. What is not
// in the table needs no scope of its own, except root fields.
func Usable(coordinate string, scopes []string) bool {
	if slices.Contains(jobCoordinates, coordinate) {
		return slices.ContainsFunc(Coordinates(), func(kind string) bool { return strings.HasPrefix(kind, "job ") && Usable(kind, scopes) })
	}
	scope, declared := Scope(coordinate)
	if !declared {
		return !isRootField(coordinate)
	}
	return scope == noScope || scope == AnyScope || slices.Contains(scopes, scope)
}

// isRootField reports whether a coordinate is a field of Query, Mutation or Subscription, and not an argument.
func isRootField(coordinate string) bool {
	of, _, _ := strings.Cut(coordinate, ".")
	return (of == "Query" || of == "Mutation" || of == "Subscription") && !strings.Contains(coordinate, "(")
}

// shopperFields are what a storefront uses in place of the fields that need another scope.
var shopperFields = map[string]string{
	"Query.promotionCodeCheck":   "cartPreview(codes:)",
	"Query.promotionCode":        "cartPreview(codes:)",
	"Query.promotion":            "activePromotions and cartPreview",
	"Query.promotions":           "activePromotions and cartPreview",
	"Query.pricebook":            "Product.price",
	"Query.pricebooks":           "Product.price",
	"Query.stockTransaction":     "stock",
	"Query.stockTransactions":    "stock",
	"Query.authoredProduct":      "product",
	"Query.authoredProducts":     "products",
	"Query.authoredCatalogNode":  "catalogNode",
	"Query.authoredCatalogNodes": "catalogNodes",
	"Query.authoredHierarchy":    "hierarchy",
	"Query.authoredHierarchies":  "hierarchies",
	"Query.authoredFile":         "file",
	"Query.authoredFiles":        "files",
	"Query.authoredPrice":        "Product.price",
	"Query.authoredPrices":       "Product.price",

	"Query.authoredPriceModifier":  "Product.modifiers",
	"Query.authoredPriceModifiers": "Product.modifiers",

	"Query.authoredAttribute":  "attributes",
	"Query.authoredAttributes": "attributes",
	"Query.authoredRedirect":   "redirect",
	"Query.authoredRedirects":  "redirect",
	"Query.catalog":            "catalogRelease",
	"Query.catalogs":           "catalogRelease",
	"Query.catalogResolution":  "catalogRelease",
}
