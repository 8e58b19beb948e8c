package release

import (
	"context"
	"maps"
	"slices"

	"portico/internal/cachekey"
	"portico/store"
	"portico/store/release/segment"
)

// Edge is a reference from a product to live products, listed or not.
type Edge string

// The edges that are lists.
const (
	EdgeChildren   Edge = "children"           // of a parent
	EdgeComponents Edge = "component_products" // of a bundle
)

// ids returns the ids that the edge of a product leads to.
func (e Edge) ids(p *Product) []string {
	if e == EdgeChildren {
		return p.ChildIDs()
	}
	return p.ComponentProductIDs()
}

// orderOfEdge returns the list of what one product refers to. NOT_FOUND for an
// unknown product.
func (v *View) orderOfEdge(ctx context.Context, query ProductQuery) (*resultOrder, error) {
	product, err := v.Product(ctx, ProductKey{ID: query.Of})
	if err != nil {
		return nil, err
	}
	ordinals, err := v.OrdinalsByID(ctx, query.Edge.ids(product), componentOrdinals([]*Product{product}))
	if err != nil {
		return nil, err
	}
	named := segment.Ordered(ordinals)
	o := &resultOrder{View: v, filter: query.Filter}
	o.setMembers(cachekey.New(string(query.Edge), product.ID()), named, nil)
	return o, nil
}

// ProductsOfEdge lists what several products refer to, by one query, whose Of
// does not matter. Without a cursor it takes as many statements as one product.
func (v *View) ProductsOfEdge(ctx context.Context, ids []string, query ProductQuery) (map[string]*store.Slice[*Product], error) {
	var err error
	if query.Filter, err = v.resolve(ctx, query.Filter); err != nil {
		return nil, err
	}
	if query.Page.After == nil && query.Page.Before == nil {
		if err := v.fetchEdge(ctx, ids, query); err != nil {
			return nil, err
		}
	}
	pages := make(map[string]*store.Slice[*Product], len(ids))
	for _, query.Of = range ids {
		slice, err := v.Products(ctx, query)
		if err != nil {
			return nil, err
		}
		pages[query.Of] = slice
	}
	return pages, nil
}

// fetchEdge caches what a page of each product's edge needs.
func (v *View) fetchEdge(ctx context.Context, ids []string, query ProductQuery) error {
	b, err := query.Page.Check(v.settings.PageLength)
	if err != nil {
		return err
	}
	lists, err := v.ordersOfEdge(ctx, ids, query)
	if err != nil {
		return err
	}
	return v.pagesAhead(ctx, lists, b)
}

// ordersOfEdge returns the lists of several products for a query.
func (v *View) ordersOfEdge(ctx context.Context, ids []string, query ProductQuery) (map[string]*resultOrder, error) {
	products, err := v.ProductsByID(ctx, ids)
	if err != nil {
		return nil, err
	}
	var referred []string
	for _, product := range products {
		referred = append(referred, query.Edge.ids(product)...)
	}
	slices.Sort(referred)
	if _, err := v.OrdinalsByID(ctx, referred, componentOrdinals(slices.Collect(maps.Values(products)))); err != nil {
		return nil, err
	}
	sort, epoch, err := v.sorting(ctx, query.Sort, query.Filter, store.Page{})
	if err != nil {
		return nil, err
	}
	lists := make(map[string]*resultOrder, len(ids))
	for _, query.Of = range ids {
		o, err := v.orderOfEdge(ctx, query)
		if err != nil {
			return nil, err
		}
		o.sort, o.epoch = sort, epoch
		lists[query.Of] = o
	}
	return lists, nil
}
