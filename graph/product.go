package graph

import (
	"context"
	"encoding/json"
	"slices"

	"portico/graph/model"
	"portico/graph/opctx"
	"portico/internal/auth"
	"portico/internal/cachekey"
	"portico/store"
	"portico/store/catalog"
	"portico/store/release"
	"portico/store/stock"
)

func (r queryResolver) Product(ctx context.Context, by model.ProductIdentifierInput) (*model.Product, error) {
	v, err := r.catalog(ctx, "Query.product")
	if err != nil {
		return nil, err
	}
	product, err := v.Product(ctx, by.Key())
	return orNull(singleRow[model.Product](product, err))
}

func (r productResolver) Modifiers(ctx context.Context, obj *model.Product) ([]*release.PriceModifier, error) {
	v, err := r.View(ctx)
	if err != nil {
		return nil, err
	}
	return obj.Product.Modifiers(v), nil
}

func (r queryResolver) Products(ctx context.Context, filter *model.ProductFilter, facets *string, includeChildren *bool, variants release.Variants, orderBy *model.ListOrder, first *int, after *string, last *int, before *string, offset *int) (*model.ProductConnection, error) {
	if err := auth.Require(ctx, "Query.products"); err != nil {
		return nil, err
	}
	q := productQueryOf(filter, facets, orderBy, pageOf(first, after, last, before, offset))
	q.unlisted, q.variants = includeChildren, variants
	v, query, err := r.viewAndQuery(ctx, &q)
	if err != nil {
		return nil, err
	}
	if q.unlisted == nil { // a query by SKU finds a product even if no node lists it
		if query.Unlisted, err = v.NamesSKU(ctx, query.Filter); err != nil {
			return nil, err
		}
	}
	slice, err := v.Products(ctx, query)
	if err != nil {
		return nil, err
	}
	const all = "" // the name of the single list: that of all products has no node
	return connectionsOf([]string{all}, map[string]*store.Slice[*release.Product]{all: slice}, q, facetsOf(v, query))[all], nil
}

// productQuery has the arguments of a list of products.
type productQuery struct {
	model.ProductConditions // Chosen is read from facets by Resolver.viewAndQuery
	facets                  *string
	order                   *model.ListOrder
	page                    store.Page
	unlisted                *bool // include products without a node; nil if View.NamesSKU decides

	descendants bool // of a node: include the products of all nodes below it
	variants    release.Variants
}

// productQueryOf returns the arguments that all lists of products have.
func productQueryOf(filter *model.ProductFilter, facets *string, orderBy *model.ListOrder, page store.Page) productQuery {
	return productQuery{ProductConditions: model.ProductConditions{Given: filter}, facets: facets, order: orderBy, page: page}
}

// loadPage returns a page of an edge, loaded for all rows of the batch. A page after or before a cursor is loaded for this row
// alone: a cursor belongs to one list.
func loadPage[R, T, V any](ctx context.Context, row model.BatchRow[T], edge cachekey.Key, page store.Page, r R, load func(R, context.Context, []T) ([]V, error)) (V, error) {
	if page.After != nil || page.Before != nil {
		return model.LoadRow(ctx, row, r, load)
	}
	return model.LoadBy(ctx, row, edge, r, load)
}

// edgeKey names an edge with the query as its arguments, but for unlisted, which only a root field has.
func (q productQuery) edgeKey(edge string) cachekey.Key {
	return edgeKey(edge, q.Given, q.facets, q.order, q.page, q.descendants, q.variants)
}

// edgeKey names an edge with its arguments.
func edgeKey(edge string, arguments ...any) cachekey.Key {
	if arguments == nil {
		return cachekey.New(edge)
	}
	text, err := json.Marshal(arguments)
	if err != nil {
		panic(err) // impossible: arguments are decoded JSON
	}
	return cachekey.New(edge, string(text))
}

// viewAndQuery returns the view of a request, and the store's query of a list. It sets Chosen of the arguments. It requires the scope
// of stock for a filter that reads it. A search without an order is sorted by relevance.
func (r *Resolver) viewAndQuery(ctx context.Context, q *productQuery) (*release.View, release.ProductQuery, error) {
	v, err := r.View(ctx)
	if err != nil {
		return nil, release.ProductQuery{}, err
	}
	if q.Chosen, err = model.ParseFacetState(q.facets); err != nil {
		return nil, release.ProductQuery{}, err
	}
	filter, err := q.Filter()
	if err == nil && filter.Live() {
		err = auth.Require(ctx, "ProductFilter.inStock")
	}
	sort := q.order.Sort()
	if q.order == nil && len(filter.Searches) > 0 {
		sort.By = store.SortRelevance
	}
	return v, release.ProductQuery{Descendants: q.descendants, Unlisted: q.unlisted != nil && *q.unlisted, Variants: q.variants,
		Filter: filter, Sort: sort, Page: q.page}, err
}

// facetsOf returns the source of the facets of the lists of a query. They are counted in the same lists, with filters of their own.
func facetsOf(v *release.View, query release.ProductQuery) model.FacetSource {
	return model.FacetSource{View: v, Adjust: func(list *release.ProductQuery) {
		list.Unlisted, list.Descendants, list.Variants, list.Edge = query.Unlisted, query.Descendants, query.Variants, query.Edge
	}}
}

// productsOfNodes lists the products of several nodes.
func (r *Resolver) productsOfNodes(ctx context.Context, nodeIDs []string, q productQuery) (map[string]*model.ProductConnection, error) {
	v, query, err := r.viewAndQuery(ctx, &q)
	if err != nil {
		return nil, err
	}
	lists, err := v.ProductsOfNodes(ctx, nodeIDs, query)
	if err != nil {
		return nil, err
	}
	return connectionsOf(nodeIDs, lists, q, facetsOf(v, query)), nil
}

// productsOfEdge lists the products of an edge.
func (r *Resolver) productsOfEdge(ctx context.Context, obj *model.Product, edge release.Edge, q productQuery) (*model.ProductConnection, error) {
	return loadPage(ctx, obj.BatchRow, q.edgeKey(string(edge)), q.page, r, func(r *Resolver, ctx context.Context, all []*model.Product) ([]*model.ProductConnection, error) {
		ids := mapRows(all, (*model.Product).ProductID)
		pages, err := r.edgePages(ctx, unique(ids), edge, q)
		return model.ValuesByKey(ids, pages), err
	})
}

// edgePages lists the products of an edge of several products.
func (r *Resolver) edgePages(ctx context.Context, ids []string, edge release.Edge, q productQuery) (map[string]*model.ProductConnection, error) {
	v, query, err := r.viewAndQuery(ctx, &q)
	if err != nil {
		return nil, err
	}
	query.Edge = edge
	lists, err := v.ProductsOfEdge(ctx, ids, query)
	if err != nil {
		return nil, err
	}
	return connectionsOf(ids, lists, q, facetsOf(v, query)), nil
}

// connectionsOf returns pages of products by the ids of their nodes or products, or "" for all products. The rows of all pages are
// one batch.
func connectionsOf(ids []string, lists map[string]*store.Slice[*release.Product], q productQuery, facets model.FacetSource) map[string]*model.ProductConnection {
	items := make([][]*release.Product, len(ids))
	for i, id := range ids {
		items[i] = lists[id].Items
	}
	pages := make(map[string]*model.Connection[*model.Product], len(lists))
	for i, rows := range model.NewBatchOfLists[model.Product](items) {
		pages[ids[i]] = model.NewConnection(lists[ids[i]], rows)
	}
	return model.NewProductConnections(pages, q.ProductConditions, q.page, facets)
}

// referencedProducts returns the products whose ids a product has, loaded for all rows of its batch. edge names the field. It charges
// the list.
func (r *Resolver) referencedProducts(ctx context.Context, obj *model.Product, edge string, ids func(*model.Product) []string, arguments ...any) ([]*model.Product, error) {
	list, err := r.loadReferencedProducts(ctx, obj, edge, ids, arguments...)
	return opctx.Spend(ctx, edge, list, err)
}

// loadReferencedProducts is referencedProducts for a caller that charges the list.
func (r *Resolver) loadReferencedProducts(ctx context.Context, obj *model.Product, edge string, ids func(*model.Product) []string, arguments ...any) ([]*model.Product, error) {
	return model.LoadBy(ctx, obj.BatchRow, edgeKey(edge, arguments...), r, func(r *Resolver, ctx context.Context, all []*model.Product) ([][]*model.Product, error) {
		rows := 0
		for _, p := range all {
			rows += len(ids(p))
		}
		if err := opctx.CheckRows(ctx, edge, rows, len(all)); err != nil {
			return nil, err
		}
		products, err := r.ProductsByID(ctx, idsOf(all, ids), all)
		return valuesOfProducts(all, ids, products), err
	})
}

func (r productResolver) Stock(ctx context.Context, obj *model.Product) (*model.Stock, error) {
	if err := auth.Require(ctx, "Product.stock"); err != nil {
		return nil, err
	}
	return model.Load(ctx, obj.BatchRow, "stock", r.Resolver, (*Resolver).stocksOfProducts)
}

func (r *Resolver) stocksOfProducts(ctx context.Context, all []*model.Product) ([]*model.Stock, error) {
	return r.stocksOf(ctx, mapRows(all, (*model.Product).ProductID))
}

// stocksOf returns the stock records of products, in order; nil for a product without one.
func (r *Resolver) stocksOf(ctx context.Context, productIDs []string) ([]*model.Stock, error) {
	records, err := r.store.Stock.Column(ctx, productIDs)
	if err != nil {
		return nil, err
	}
	if !slices.Contains(records, nil) {
		return model.NewBatch[model.Stock](records), nil
	}
	known := model.NewBatch[model.Stock](slices.DeleteFunc(slices.Clone(records), func(s *stock.Stock) bool { return s == nil }))
	stocks := make([]*model.Stock, len(records))
	for i, record := range records {
		if record != nil {
			stocks[i], known = known[0], known[1:]
		}
	}
	return stocks, nil
}

// ProductsByID returns products of the shopper's catalog, by id. Those that are components of the
// products in shown take fewer reads. REST calls it too.
func (r *Resolver) ProductsByID(ctx context.Context, ids []string, shown []*model.Product) (map[string]*model.Product, error) {
	v, err := r.View(ctx)
	if err != nil {
		return nil, err
	}
	found, err := v.ProductsByID(ctx, ids, storedProducts(shown)...)
	products := make(map[string]*model.Product, len(found))
	for _, product := range model.NewBatch[model.Product](valuesByID(ids, found)) {
		products[product.ID()] = product
	}
	return products, err
}

// FileRef is a file to which a product refers.
type FileRef struct {
	ID string
	Of *model.Product
}

// FilesOf returns the file of each reference; nil if the shopper's catalog has none. It is often read
// already, with the product. REST calls it.
func (r *Resolver) FilesOf(ctx context.Context, refs []FileRef) ([]*catalog.File, error) {
	v, err := r.View(ctx)
	if err != nil {
		return nil, err
	}
	ids, products := make([]string, len(refs)), make([]*release.Product, len(refs))
	for i, ref := range refs {
		ids[i], products[i] = ref.ID, ref.Of.Product
	}
	return v.FilesOf(ctx, ids, products)
}

// storedProducts returns the store's products of rows.
func storedProducts(rows []*model.Product) []*release.Product {
	return mapRows(rows, func(p *model.Product) *release.Product { return p.Product })
}

// valuesOfProducts returns the values of each product's ids.
func valuesOfProducts[V any](all []*model.Product, ids func(*model.Product) []string, byID map[string]V) [][]V {
	lists := make([][]V, len(all))
	for i, p := range all {
		lists[i] = valuesByID(ids(p), byID)
	}
	return lists
}
