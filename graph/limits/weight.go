package limits

import (
	"github.com/vektah/gqlparser/v2/ast"
)

// The unit of cost is a plain field of one row of a response. BytesPerUnit is how
// much work a unit stands for, in bytes allocated. A request may turn out four
// times as expensive as estimated (TestNoDocumentCostsMoreThanItSays).
const BytesPerUnit = 256

// Weights that follow from the kind of a field, for each row that it is asked of.
const (
	plainWeight = 1 // a field that the row holds
	edgeWeight  = 6 // a field with arguments, or at the root: it reads from the store

	gqlgenFactor = 3   // gqlgen's executor, for each field, as against a plan
	gqlgenField  = 600 // bytes that gqlgen's executor allocates for a field
)

// fieldWeights are the fields that cost more than their kind, by coordinate.
// About 8 is for a statement of its own, which is not cached.
var fieldWeights = map[string]float64{
	"Query.node":                40, // looks for the service's own ids among all types
	"Query.nodes":               40,
	"Query.stock":               12,
	"Query.stocks":              16,
	"Query.stocksById":          12,
	"Query.stockTransactions":   24,
	"Query.stockTransaction":    12,
	"Query.productConfigured":   24,
	"Query.catalogResolution":   24,
	"Query.settings":            12,
	"Query.gateway":             12,
	"Query.gateways":            16,
	"Query.catalogs":            16,
	"Query.catalogRules":        16,
	"Query.catalogReleases":     24,
	"Query.promotion":           16,
	"Query.promotions":          24,
	"Query.promotionCode":       24,
	"Query.promotionCodes":      24,
	"Query.promotionCodeCheck":  32,
	"Query.promotionCodeUsages": 24,
	"Query.authoredHierarchy":   12,
	"Query.authoredHierarchies": 16,
	"Query.authoredNode":        16,
	"Query.authoredNodes":       24,
	"Query.job":                 12,
	"Query.jobs":                16,
	"Query.catalog":             12,
	"Query.catalogRule":         12,
	"Query.files":               16,

	"Stock.transactions": 24,

	"StockConnection.totalCount":              12,
	"StockConnection.timestamps":              12,
	"StockTransactionConnection.totalCount":   12,
	"PromotionConnection.totalCount":          12,
	"PromotionCodeConnection.totalCount":      12,
	"PromotionCodeUsageConnection.totalCount": 12,
	"CatalogConnection.totalCount":            12,
	"CatalogRuleConnection.totalCount":        12,
	"AuthoredHierarchyConnection.totalCount":  12,
	"AuthoredNodeConnection.totalCount":       12,
	"FileConnection.totalCount":               12,
	"Product.breadcrumbs":                     8,
	"Product.nodes":                           4, "Product.parent": 2, "Product.children": 2, "Product.componentProducts": 2,
	"Product.files": 2, "Product.mainImage": 2, "Product.stock": 2, "Product.translations": 2,
	"CatalogNode.hierarchy": 2, "CatalogNode.parent": 2, "CatalogNode.breadcrumbs": 2, "CatalogNode.curatedProducts": 2,
	"Stock.product": 2, "StockTransaction.stock": 2,
	"ProductFacets.tags":                  16,
	"ProductFacets.productTypes":          16,
	"AuthoredNode.productIds":             12,
	"AuthoredNode.productCount":           6,
	"CatalogNode.products":                12,
	"Hierarchy.products":                  12,
	"Product.childrenConnection":          12,
	"Product.componentProductsConnection": 12,
}

// meteredLists are lists below a node. Menus ask for generous pages of them, level
// by level, and a tree has far fewer nodes than that. So their rows are not
// estimated by page size: an operation pays for those that there are, all of a
// group of siblings at once and before anything below them is read.
var meteredLists = []string{"CatalogNode.children", "Hierarchy.children", "Hierarchy.allNodes"}

// rowWeights are what each row of a list costs beside its fields, where that is
// more than nothing.
var rowWeights = map[string]float64{
	"Query.nodes": 8,
}

// memberWeights are what arguments and members of inputs cost beside their
// values, for each field that takes them.
var memberWeights = map[string]float64{
	"filter":  8,
	"orderBy": 8,
	"search":  16,
	"gt":      24, "ge": 24, "lt": 24, "le": 24, // a search in a sorted list, and for ids one statement or two
}

// What each value of an argument costs. It is read again for each field that
// takes it, but the input of a mutation once.
const (
	valueWeight    = 1. / 2
	mutationWeight = 1. / 16
)

// fieldWeight is what a field costs for each row that it is asked of, without
// its arguments and what it selects.
func (p *CostEstimator) fieldWeight(object *ast.Definition, field *ast.FieldDefinition) float64 {
	if weight, ok := fieldWeights[object.Name+"."+field.Name]; ok {
		return weight
	}
	if field.Name == "__typename" {
		return plainWeight
	}
	if object == p.schema.Query || object == p.schema.Mutation || object == p.schema.Subscription || len(field.Arguments) > 0 {
		return edgeWeight
	}
	return plainWeight
}
