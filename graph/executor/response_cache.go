package executor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"portico/graph/document"
	"portico/graph/model"
	"portico/graph/plan"
	"portico/internal/auth"
	"portico/internal/cachekey"
	"portico/internal/heapsize"
	"portico/internal/reqctx"
	"portico/internal/responsecache"
	"portico/store"
	"portico/store/release"
)

// Responses that depend on the release alone are cached, in the cache that REST uses too. The key is the
// shopper's view and the prepared operation; the response itself has the times between which it is
// valid. The client is authorized before a cached response is used. Stock is not cached: it is a hole
// that each response fills.

// cacheableFields are the root fields whose responses depend on the release alone.
var cacheableFields = []string{"catalogNode", "catalogNodes", "currencies", "hierarchy", "hierarchies", "locales",
	"node", "nodes", "product", "products", "searchSuggestions", "sitemap"}

// cacheCoordinates returns the root fields that a client must be allowed to read; nil if the response of
// the plan is not cacheable.
func cacheCoordinates(op *document.Operation, of *plan.Plan, variables map[string]any) (coordinates []string) {
	for _, name := range of.Roots() {
		switch {
		case slices.Contains(cacheableFields, name):
			coordinates = append(coordinates, "Query."+name)
		case name != "__typename":
			return nil
		}
	}
	if selectsOutsideRelease(op, variables) {
		return nil
	}
	return coordinates
}

// releaseTypes are the types of a release by global id. A shop's own id is one of theirs too. Files are none: a client's scopes
// decide which it may read.
var releaseTypes = []string{store.TypeProduct, store.TypeCatalogNode, store.TypeHierarchy}

// selectsOutsideRelease reports whether a root field node or nodes has an id of another type.
func selectsOutsideRelease(op *document.Operation, variables map[string]any) (outside bool) {
	op.RootFields(func(f *ast.Field) {
		if f.Name != "node" && f.Name != "nodes" {
			return
		}
		arguments := f.ArgumentMap(variables)
		ids := reflect.ValueOf(arguments["ids"])
		if f.Name == "node" || ids.Kind() != reflect.Slice {
			outside = outside || isOutsideRelease(cmp.Or(arguments["id"], arguments["ids"]))
			return
		}
		for i := range ids.Len() {
			outside = outside || isOutsideRelease(ids.Index(i).Interface())
		}
	})
	return outside
}

// isOutsideRelease reports whether an id, which may be a number, is the global id of a type that is none of releaseTypes.
func isOutsideRelease(id any) bool {
	of, _, global := store.ParseGlobalID(fmt.Sprint(id))
	return global && !slices.Contains(releaseTypes, of)
}

// dynamicPart is what fills the holes of a cached response: the stock of products.
type dynamicPart struct {
	holes    *plan.Holes
	products []*release.Product // of each hole, in the order of plan.Holes.Rows, with nothing but ids
}

// cachedResponse returns a cached response as found, or appends one with holes to dst and returns it as
// body. If there is none, it runs the plan and caches the response. ok is false if the query must run
// without the cache: the client may not read all fields, or another request's run had errors. Without a
// response in it, body is dst, or the larger array that the plan has allocated in its place.
func (e *Executor) cachedResponse(ctx context.Context, query *document.PreparedOperation, dst []byte) (body []byte, found *responsecache.Response, ok bool, err error) {
	for _, coordinate := range query.CacheCoordinates {
		if auth.Require(ctx, coordinate) != nil {
			return dst, nil, false, nil
		}
	}
	view, err := e.resolver.View(ctx)
	if err != nil {
		return dst, nil, false, nil
	}
	var space [256]byte
	key := cachekey.Of(view.AppendKey(cachekey.AppendInt(cachekey.AppendPart(space[:0], "graphql"), int64(query.ID))))
	var draft *responseDraft
	cached, err := e.Responses.Do(ctx, view, key, func() (*responsecache.Response, error) {
		draft, err = e.draft(ctx, query, dst)
		if err != nil {
			return nil, err
		}
		return draft.cacheable(ctx)
	})
	switch {
	case draft != nil && draft.body != nil && (err != nil || draft.holes.Len() > 0): // this request ran it, so its errors are in ctx
		body, err = e.fill(ctx, query, draft.body, &draft.dynamicPart, draft.buffer)
		return body, nil, true, err
	case errors.Is(err, errResponse), err != nil && ctx.Err() != nil:
		return dst, nil, false, nil // errors of another request
	case err != nil && draft != nil:
		return draft.buffer, nil, false, err
	case err != nil:
		return dst, nil, false, err
	}
	if draft == nil {
		e.countFields(ctx, query.CacheCoordinates)
	} else {
		dst = draft.buffer
	}
	if dynamic, ok := cached.Attachment().(*dynamicPart); ok {
		body, err = e.fill(ctx, query, cached.Body, dynamic, dst)
		return body, nil, true, err
	}
	return dst, cached, true, nil
}

// responseDraft is a response with holes.
type responseDraft struct {
	body, buffer []byte // the response, and the buffer that it was written to
	dynamicPart
}

// draft runs the plan of a query, and leaves holes for what is not cacheable.
func (e *Executor) draft(ctx context.Context, query *document.PreparedOperation, dst []byte) (*responseDraft, error) {
	if err := e.startRun(ctx, query.Operation); err != nil {
		return nil, err
	}
	body, holes, err := e.runner.RunWithHoles(model.WithSerial(ctx), query.Plan.Plan, append(dst, responseStart...))
	if err != nil {
		return &responseDraft{buffer: body[:0]}, err
	}
	draft := &responseDraft{slices.Clone(appendEnd(ctx, body, query)), body[:0], dynamicPart{holes: holes}}
	holes.Rows(func(row any) {
		draft.products = append(draft.products, release.NamedProduct(row.(*model.Product).ID()))
	})
	return draft, nil
}

// cacheable returns the response to cache. It is errResponse if the response has errors.
func (d *responseDraft) cacheable(ctx context.Context) (*responsecache.Response, error) {
	if graphql.GetErrors(ctx) != nil {
		return nil, errResponse
	}
	resp := responsecache.NewResponse(d.body, nil)
	if d.holes.Len() > 0 {
		resp.Attach(&d.dynamicPart, d.holes.Size()+d.productBytes())
	}
	return resp, nil
}

// productBytes returns the memory of the products.
func (d *dynamicPart) productBytes() int {
	size := heapsize.Slice(cap(d.products), 8)
	for _, product := range d.products {
		size += release.NamedProductBytes + heapsize.Round(len(product.ID()))
	}
	return size
}

// fill appends a response to dst and fills its holes.
func (e *Executor) fill(ctx context.Context, query *document.PreparedOperation, body []byte, dynamic *dynamicPart, dst []byte) ([]byte, error) {
	rows := model.NewBatch[model.Product](dynamic.products)
	return e.runner.Fill(model.WithSerial(ctx), query.Plan.Plan, body, dynamic.holes, func(i int) any { return rows[i] }, dst)
}

// Responses that depend on a release, on stock and on settings alone are candidates for the cache in
// front of the server, with the stock in them.

// candidateFields are the root fields whose responses can be candidates, besides cacheableFields.
var candidateFields = []string{"stocks", "stock", "stocksById", "settings", "__typename"}

// candidateStock are the fields of Stock that are of the stock's record, or of a release.
var candidateStock = []string{"id", "uuid", "total", "available", "allocated", "createdAt", "updatedAt", "product", "__typename"}

// candidateCoordinates returns the coordinates of a query's root fields, for the metrics, without __typename; nil if its response
// cannot be a candidate.
func candidateCoordinates(op *document.Operation, of *plan.Plan, variables map[string]any) []string {
	coordinates := []string{}
	for _, name := range of.Roots() {
		if !slices.Contains(cacheableFields, name) && !slices.Contains(candidateFields, name) {
			return nil
		}
		if name != "__typename" {
			coordinates = append(coordinates, "Query."+name)
		}
	}
	if selectsUncacheable(op.Definition.SelectionSet, map[*ast.FragmentDefinition]bool{}) || selectsOutsideRelease(op, variables) {
		return nil
	}
	return coordinates
}

// selectsUncacheable reports whether a field is selected that depends on more than a release, the settings and stock records: one of
// Stock that is not in candidateStock, or the promotions of a product. seen are the fragments that were looked at.
func selectsUncacheable(set ast.SelectionSet, seen map[*ast.FragmentDefinition]bool) bool {
	return slices.ContainsFunc(set, func(selection ast.Selection) bool {
		switch s := selection.(type) {
		case *ast.Field:
			return s.ObjectDefinition.Name == "Stock" && !slices.Contains(candidateStock, s.Name) ||
				s.ObjectDefinition.Name == "Product" && s.Name == "promotions" || selectsUncacheable(s.SelectionSet, seen)
		case *ast.InlineFragment:
			return selectsUncacheable(s.SelectionSet, seen)
		case *ast.FragmentSpread:
			if seen[s.Definition] {
				return false
			}
			seen[s.Definition] = true
			return selectsUncacheable(s.Definition.SelectionSet, seen)
		}
		return true
	})
}

// countRepeated returns a function that counts a request for the same query as Execute counts its own.
// It refers to little of the query, since it lives as long as a candidate.
func (e *Executor) countRepeated(query *document.PreparedOperation) func(*reqctx.Request) {
	stats, coordinates, outcome := statsOf(query.Operation), query.CandidateCoordinates, query.Outcome
	stats.Name = strings.Clone(stats.Name)
	return func(req *reqctx.Request) {
		e.countFields(req, coordinates)
		e.CountExecutor(byPlan)
		e.record(req, stats, req.Start)
		e.countDocument(outcome)
	}
}
