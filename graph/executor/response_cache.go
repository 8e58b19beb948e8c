package executor

import (
	"context"
	"encoding/binary"
	"errors"
	"slices"

	"github.com/99designs/gqlgen/graphql"

	"portico/graph/document"
	"portico/graph/model"
	"portico/graph/opctx"
	"portico/graph/plan"
	"portico/internal/auth"
	"portico/internal/heapsize"
	"portico/internal/responsecache"
	"portico/store/release"
)

// Answers that follow from a release are kept, in the room that REST keeps
// its own in and by its promise: a key names all that an answer follows from
// but the clock, which is in the answer, and whoever asks has been let in
// before there is a key. What is live, stock, is left out of them, and written
// into each answer.

// cacheableFields are the fields of the query whose answers follow from the
// release alone, for whoever may ask them.
var cacheableFields = []string{"catalogNode", "catalogNodes", "hierarchy", "hierarchies", "product", "products"}

// cacheCoordinates are the coordinates that are asked of the query, where its answer can
// be kept; nil where it cannot.
func cacheCoordinates(plan *plan.Plan) (coordinates []string) {
	for _, name := range plan.Roots() {
		switch {
		case slices.Contains(cacheableFields, name):
			coordinates = append(coordinates, "Query."+name)
		case name != "__typename":
			return nil
		}
	}
	return coordinates
}

// dynamicPart is what is to be filled into a kept answer: the stock of products.
type dynamicPart struct {
	holes    *plan.Holes
	products []*release.Product // of each hole, by their ids alone
}

// errHasErrors says that an answer has errors, and is kept for nobody.
var errHasErrors = errors.New("the answer has errors")

// cachedResponse gives an answer that is kept, or makes one that will be. ok is
// false for who is not allowed all of it, so that its errors are to be made.
func (e *Executor) cachedResponse(ctx context.Context, q *document.PreparedOperation, dst []byte) (body []byte, found *responsecache.Response, ok bool, err error) {
	for _, coordinate := range q.CacheCoordinates {
		if auth.Require(ctx, coordinate) != nil {
			return dst, nil, false, nil
		}
	}
	view, err := e.resolver.View(ctx)
	if err != nil {
		return dst, nil, false, nil
	}
	var space [256]byte
	key := view.AppendKey(binary.BigEndian.AppendUint64(append(space[:0], 'g'), q.ID))
	var made *responseDraft
	kept, err := e.Responses.Do(ctx, string(key), view.Now(), func() (*responsecache.Response, error) {
		made, err = e.draft(ctx, q, dst)
		if err != nil {
			return nil, err
		}
		return made.cacheable(ctx, view)
	})
	switch {
	case made != nil && made.body != nil && (err != nil || made.holes.Len() > 0): // by this request, which may tell errors
		body, err = e.fill(ctx, q, made.body, &made.dynamicPart, made.buffer)
		return body, nil, true, err
	case errors.Is(err, errHasErrors), err != nil && ctx.Err() != nil:
		return dst, nil, false, nil // another's errors
	case err != nil && made != nil:
		return made.buffer, nil, false, err
	case err != nil:
		return dst, nil, false, err
	}
	if made == nil {
		e.CountFields(ctx, q.CacheCoordinates)
	} else {
		dst = made.buffer
	}
	if live, ok := kept.Attachment().(*dynamicPart); ok {
		body, err = e.fill(ctx, q, kept.Body, live, dst)
		return body, nil, true, err
	}
	return dst, kept, true, nil
}

// responseDraft is an answer as it is made, without its live parts.
type responseDraft struct {
	body, buffer []byte // what stays, and where it was written
	dynamicPart
}

func (e *Executor) draft(ctx context.Context, q *document.PreparedOperation, dst []byte) (*responseDraft, error) {
	if err := e.StartRun(ctx, q.Operation); err != nil {
		return nil, err
	}
	body, holes, err := e.runner.RunWithHoles(ctx, q.Plan.Plan, append(dst, answerBegins...))
	if err != nil {
		return &responseDraft{buffer: body[:0]}, err
	}
	made := &responseDraft{slices.Concat(body, []byte(q.ResponseEnd)), body[:0], dynamicPart{holes: holes}}
	holes.Rows(func(row any) {
		made.products = append(made.products, release.NamedProduct(row.(*model.Product).ID()))
	})
	return made, nil
}

// cacheable is the answer to be kept, for as long as it holds.
func (d *responseDraft) cacheable(ctx context.Context, view *release.View) (*responsecache.Response, error) {
	if graphql.GetErrors(ctx) != nil {
		return nil, errHasErrors
	}
	answer := responsecache.NewResponse(d.body, nil)
	if d.holes.Len() > 0 {
		answer.Attach(&d.dynamicPart, d.holes.Size()+d.productBytes())
	}
	return opctx.SetValidity(answer, view), nil
}

// productBytes is what the products take in memory.
func (l *dynamicPart) productBytes() int {
	size := heapsize.Slice(cap(l.products), 8)
	for _, product := range l.products {
		size += release.NamedProductBytes + heapsize.Round(len(product.ID()))
	}
	return size
}

// fill appends an answer with its live parts to dst.
func (e *Executor) fill(ctx context.Context, q *document.PreparedOperation, body []byte, live *dynamicPart, dst []byte) ([]byte, error) {
	rows := model.Siblings[model.Product](live.products)
	return e.runner.Fill(ctx, q.Plan.Plan, body, live.holes, func(i int) any { return rows[i] }, dst)
}
