package limits

import (
	"strings"

	"github.com/vektah/gqlparser/v2/ast"
)

// BytesPerUnit is the work of one unit of cost, in bytes allocated. A plain field of one row costs one
// unit. A request allocates at most four times its cost (TestWorkStaysWithinFourTimesTheCost).
const BytesPerUnit = 256

const (
	plainWeight = 1 // a field that the row has, for each row
	edgeWeight  = 6 // a field with arguments, or at the root: it reads from the store

	gqlgenFactor = 3   // for each field that gqlgen's executor runs instead of a plan
	gqlgenField  = 600 // bytes that gqlgen's executor allocates for a field
)

// fieldWeights has the weights of other fields by coordinate. An uncached SQL statement is about 8.
var fieldWeights = map[string]float64{
	"Query.node":                  40, // an id without a type is looked up in all types
	"Query.nodes":                 40,
	"Query.stock":                 12,
	"Query.stocks":                16,
	"Query.stocksById":            12,
	"Query.stockTransactions":     24,
	"Query.stockTransaction":      12,
	"Query.productConfigured":     24,
	"Query.cartPreview":           96, // and what its promotions take, which is charged when they are read
	"Query.catalogResolution":     24,
	"Query.settings":              12,
	"Query.gateway":               12,
	"Query.gateways":              16,
	"Query.catalogs":              16,
	"Query.catalogRules":          16,
	"Query.catalogReleases":       24,
	"Query.catalogRelease":        12,
	"Query.catalogReleaseDiff":    4000, // at most 20,000 products
	"Query.scheduledPublications": 16,
	"Query.promotion":             16,
	"Query.promotions":            24,
	"Query.promotionCode":         24,
	"Query.promotionCodeCheck":    32,
	"Query.promotionCodeUsages":   24,
	"Query.authoredHierarchy":     12,
	"Query.authoredHierarchies":   16,
	"Query.pricebook":             12,
	"Query.pricebooks":            16,
	"Query.authoredPrice":         12,
	"Query.authoredPrices":        16,

	"Query.authoredPriceModifier":  12,
	"Query.authoredPriceModifiers": 16,

	"AuthoredPriceModifierConnection.totalCount": 12,

	"Query.authoredFile":          12,
	"Query.authoredFiles":         16,
	"Query.authoredAttribute":     12,
	"Query.authoredAttributes":    16,
	"Query.authoredRedirect":      12,
	"Query.authoredRedirects":     16,
	"Query.synonym":               12,
	"Query.synonyms":              16,
	"Query.authoredCatalogNode":   16,
	"Query.authoredCatalogNodes":  24,
	"Query.sitemap":               24, // and its entries, which are charged when they are read
	"Product.related":             24,
	"Query.authoredProduct":       16,
	"Query.authoredProducts":      24,
	"Query.catalogPendingChanges": 48,
	"Query.auditEvents":           24, // and what its events hold, which is charged when they are read
	"Query.changes":               48,
	"Query.job":                   12,
	"Query.jobs":                  16,
	"Query.catalog":               12,
	"Query.catalogRule":           12,
	"Query.files":                 16,
	"Query.activePromotions":      24,
	"Query.redirect":              24, // paths, and those of the past
	"Query.searchSuggestions":     64, // a search, and the names of 30 products

	"__Type.ofType": 2, // also where it is null

	"Stock.transactions": 24,
	"Promotion.codes":    24,
	"Promotion.usages":   24,

	"StockConnection.totalCount":                12,
	"StockTransactionConnection.totalCount":     12,
	"PromotionConnection.totalCount":            12,
	"PromotionCodeConnection.totalCount":        12,
	"PromotionCodeUsageConnection.totalCount":   12,
	"CatalogConnection.totalCount":              12,
	"CatalogRuleConnection.totalCount":          12,
	"AuthoredHierarchyConnection.totalCount":    12,
	"PricebookConnection.totalCount":            12,
	"AuthoredPriceConnection.totalCount":        12,
	"AuthoredFileConnection.totalCount":         12,
	"AuthoredAttributeConnection.totalCount":    12,
	"AuthoredRedirectConnection.totalCount":     12,
	"SynonymConnection.totalCount":              12,
	"AuthoredCatalogNodeConnection.totalCount":  12,
	"AuthoredProductConnection.totalCount":      12,
	"CatalogPendingChangeConnection.totalCount": 12,
	"AuditEventConnection.totalCount":           12,
	"FileConnection.totalCount":                 12,
	"Product.breadcrumbs":                       8,
	"Product.catalogNodes":                      4, "Product.parent": 2, "Product.children": 2, "Product.componentProducts": 2,
	"Product.files": 2, "Product.mainImage": 2, "Product.stock": 2, "Product.availability": 4, "Product.availableForSale": 4,
	"Product.priceRange": 6, "Product.originalPriceRange": 2, "Product.onSale": 6, "Product.promotions": 4, "Product.seo": 8, "CatalogNode.seo": 8, "Hierarchy.seo": 8, "Product.translations": 2, "Product.attributes": 6,
	"CatalogNode.hierarchy": 2, "CatalogNode.parent": 2, "CatalogNode.breadcrumbs": 2, "CatalogNode.curatedProducts": 2, "CatalogNode.mainImage": 2, "CatalogNode.attributes": 6,
	"Stock.product": 2, "StockTransaction.stock": 2, "StockTransaction.product": 2, "ComponentOption.product": 2, "AuthoredProduct.product": 2,
	"CatalogRule.catalog": 2, "CatalogRelease.catalog": 2, "PromotionCodeUsage.promotion": 2,
	"ProductConnection.correctedTo":       24,
	"ProductFacets.minPrice":              16,
	"ProductFacets.maxPrice":              16,
	"ProductFacets.groups":                64,
	"AuthoredCatalogNode.translations":    2, // and their texts, which are charged when they are read
	"AuthoredHierarchy.translations":      2,
	"AuthoredWrite.node":                  8,
	"AuthoredCatalogNode.productCount":    6,
	"CatalogNode.products":                12,
	"Hierarchy.products":                  12,
	"Product.childrenConnection":          12,
	"Product.componentProductsConnection": 12,
}

// meteredLists are lists below a node. Menus request large pages of them on each level, and trees have
// far fewer nodes. So their cost is not estimated by page size: an operation pays for the actual rows of
// a batch, before anything below them is read.
var meteredLists = []string{"CatalogNode.children", "Hierarchy.children", "Hierarchy.allNodes"}

// rowWeights has the weight of each row of a list, besides its fields; 0 for other lists.
var rowWeights = map[string]float64{
	"Query.nodes":            8,
	"__Type.fields":          1.5, // built for each request, with their arguments
	"__Type.enumValues":      1,
	"Query.authoredProducts": 8, // its stored line
	"Query.auditEvents":      8,
	"AuthoredWrite.node":     8,
	"Query.changes":          8,
}

// memberWeights has the weights of arguments and input members by name, besides their values; 0 for others.
var memberWeights = map[string]float64{
	"filter":  8,
	"orderBy": 8,
	"search":  16,
	"inStock": 24,                               // it looks at the whole list
	"gt":      24, "ge": 24, "lt": 24, "le": 24, // a search in a sorted list; for ids one or two statements
}

// The weights of each value of an argument. A query reads it again for each row, a mutation once.
const (
	valueWeight    = 1. / 2
	mutationWeight = 1. / 16
)

// fieldWeight returns the weight of a field for each row, without its arguments and selection.
func (e *CostEstimator) fieldWeight(object *ast.Definition, field *ast.FieldDefinition) float64 {
	if weight, ok := fieldWeights[object.Name+"."+field.Name]; ok {
		return weight
	}
	if field.Name == "__typename" || strings.HasPrefix(object.Name, "__") {
		return plainWeight
	}
	if object == e.schema.Query || object == e.schema.Mutation || object == e.schema.Subscription || len(field.Arguments) > 0 {
		return edgeWeight
	}
	return plainWeight
}
