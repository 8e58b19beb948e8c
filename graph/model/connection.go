package model

import (
	"context"

	"portico/store"
	"portico/store/catalog"
	"portico/store/promotion/code"
)

// Connection is a page of a list.
type Connection[T any] struct {
	Nodes    []T
	PageInfo PageInfo
	Limit    int // requested number of rows
	Offset   int // position of the first row, or -1 if paging by key does not know it

	cursor func(row int) string               // of a row of Nodes
	total  func(context.Context) (int, error) // of the list after filters
}

// Edge is a row of a page.
type Edge[T any] struct {
	Node T

	at     int // its index in Connection.Nodes
	cursor func(row int) string
}

// Cursor returns the row's cursor.
func (e Edge[T]) Cursor() string { return e.cursor(e.at) }

// Edges returns the rows with their cursors.
func (c *Connection[T]) Edges() []Edge[T] {
	edges := make([]Edge[T], len(c.Nodes))
	for i, node := range c.Nodes {
		edges[i] = Edge[T]{node, i, c.cursor}
	}
	return edges
}

// PageInfo is the position of a page in its list.
type PageInfo struct {
	HasNextPage     bool
	HasPreviousPage bool

	rows   int // of the page
	cursor func(row int) string
}

// NewPageInfo returns the PageInfo of a page with a number of rows. cursor returns the
// cursor of a row.
func NewPageInfo(hasNext, hasPrevious bool, rows int, cursor func(row int) string) PageInfo {
	return PageInfo{hasNext, hasPrevious, rows, cursor}
}

// StartCursor is the cursor of the first row, or nil.
func (p PageInfo) StartCursor() *string { return p.at(0) }

// EndCursor is the cursor of the last row, or nil.
func (p PageInfo) EndCursor() *string { return p.at(p.rows - 1) }

func (p PageInfo) at(row int) *string {
	if p.rows == 0 {
		return nil
	}
	cursor := p.cursor(row)
	return &cursor
}

// TotalCount counts the list after filters. It may run a statement.
func (c *Connection[T]) TotalCount(ctx context.Context) (int, error) { return c.total(ctx) }

// NewConnection returns the page of a slice, with a row for each item.
func NewConnection[S, T any](slice *store.Slice[S], rows []T) *Connection[T] {
	if rows == nil {
		rows = []T{} // an empty list, not null
	}
	return &Connection[T]{
		Nodes: rows, Limit: slice.Limit, Offset: slice.Offset, cursor: slice.Cursor, total: slice.Total,
		PageInfo: NewPageInfo(slice.HasNext, slice.HasPrevious, len(rows), slice.Cursor),
	}
}

// The connections of the schema.
type (
	CatalogNodeConnection = Connection[*CatalogNode]
	CatalogNodeEdge       = Edge[*CatalogNode]
	HierarchyConnection   = Connection[*Hierarchy]
	HierarchyEdge         = Edge[*Hierarchy]
	StockEdge             = Edge[*Stock]

	StockTransactionConnection = Connection[*StockTransaction]
	StockTransactionEdge       = Edge[*StockTransaction]

	PromotionCodeUsageConnection = Connection[*PromotionCodeUsage]
	PromotionCodeUsageEdge       = Edge[*PromotionCodeUsage]

	CatalogConnection             = Connection[*Catalog]
	CatalogEdge                   = Edge[*Catalog]
	CatalogRuleConnection         = Connection[*CatalogRule]
	CatalogRuleEdge               = Edge[*CatalogRule]
	AuthoredHierarchyConnection   = Connection[*catalog.AuthoredHierarchy]
	AuthoredHierarchyEdge         = Edge[*catalog.AuthoredHierarchy]
	PricebookConnection           = Connection[*catalog.Pricebook]
	PricebookEdge                 = Edge[*catalog.Pricebook]
	AuthoredPriceConnection       = Connection[*AuthoredPrice]
	AuthoredPriceEdge             = Edge[*AuthoredPrice]
	AuthoredFileConnection        = Connection[*catalog.AuthoredFile]
	AuthoredFileEdge              = Edge[*catalog.AuthoredFile]
	AuthoredAttributeConnection   = Connection[*catalog.AuthoredAttribute]
	AuthoredAttributeEdge         = Edge[*catalog.AuthoredAttribute]
	AuthoredRedirectConnection    = Connection[*catalog.AuthoredRedirect]
	AuthoredRedirectEdge          = Edge[*catalog.AuthoredRedirect]
	SynonymConnection             = Connection[*catalog.Synonym]
	SynonymEdge                   = Edge[*catalog.Synonym]
	AuthoredCatalogNodeConnection = Connection[*AuthoredCatalogNode]
	AuthoredCatalogNodeEdge       = Edge[*AuthoredCatalogNode]
	AuthoredProductConnection     = Connection[*AuthoredProduct]
	AuthoredProductEdge           = Edge[*AuthoredProduct]

	AuthoredPriceModifierConnection = Connection[*catalog.AuthoredPriceModifier]
	AuthoredPriceModifierEdge       = Edge[*catalog.AuthoredPriceModifier]

	FileConnection = Connection[*catalog.File]
	FileEdge       = Edge[*catalog.File]

	PromotionConnection     = Connection[*Promotion]
	PromotionEdge           = Edge[*Promotion]
	PromotionCodeConnection = Connection[*code.PromotionCode]
	PromotionCodeEdge       = Edge[*code.PromotionCode]

	StockConnection = Connection[*Stock]
)
