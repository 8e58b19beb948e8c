package model

import (
	"context"

	"portico/store"
)

// Connection is a page of a list: rows with their cursors.
type Connection[T any] struct {
	Edges    []Edge[T]
	Nodes    []T
	PageInfo PageInfo
	Limit    int // rows asked for
	Offset   int // position of the first row, or -1 where paging by key does not know it

	total func(context.Context) (int, error)
}

// Edge is a row of a page.
type Edge[T any] struct {
	Cursor string
	Node   T
}

// PageInfo tells where a page stands in its list.
type PageInfo struct {
	HasNextPage     bool
	HasPreviousPage bool
	StartCursor     *string
	EndCursor       *string
}

// TotalCount counts the list after filters; it may cost a statement.
func (c *Connection[T]) TotalCount(ctx context.Context) (int, error) { return c.total(ctx) }

// NewConnection dresses the rows of a slice.
func NewConnection[S, T any](slice *store.Slice[S], dress func(S) T) *Connection[T] {
	n := len(slice.Items)
	c := &Connection[T]{
		Edges: make([]Edge[T], n), Nodes: make([]T, n), Limit: slice.Limit, Offset: slice.Offset,
		PageInfo: PageInfo{HasNextPage: slice.HasNext, HasPreviousPage: slice.HasPrevious},
		total:    slice.Total,
	}
	for i, item := range slice.Items {
		c.Nodes[i] = dress(item)
		c.Edges[i] = Edge[T]{slice.Cursors[i], c.Nodes[i]}
	}
	if n > 0 {
		c.PageInfo.StartCursor, c.PageInfo.EndCursor = &slice.Cursors[0], &slice.Cursors[n-1]
	}
	return c
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

	CatalogConnection           = Connection[*store.Catalog]
	CatalogEdge                 = Edge[*store.Catalog]
	CatalogRuleConnection       = Connection[*store.CatalogRule]
	CatalogRuleEdge             = Edge[*store.CatalogRule]
	AuthoredHierarchyConnection = Connection[*store.AuthoredHierarchy]
	AuthoredHierarchyEdge       = Edge[*store.AuthoredHierarchy]
	AuthoredNodeConnection      = Connection[*AuthoredNode]
	AuthoredNodeEdge            = Edge[*AuthoredNode]

	FileConnection = Connection[*store.File]
	FileEdge       = Edge[*store.File]

	PromotionConnection     = Connection[*store.Promotion]
	PromotionEdge           = Edge[*store.Promotion]
	PromotionCodeConnection = Connection[*store.PromotionCode]
	PromotionCodeEdge       = Edge[*store.PromotionCode]
)

// StockConnection is a page of stock, with the times of the whole list.
type StockConnection struct {
	*Connection[*Stock]
	Times func(context.Context) (*StockTimestamps, error)
}

// Timestamps tells when the first record was made and the last one changed.
func (c *StockConnection) Timestamps(ctx context.Context) (*StockTimestamps, error) {
	return c.Times(ctx)
}
