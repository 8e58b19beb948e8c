package transport

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

// lastingFields are the fields of the query whose answers follow from the
// release alone, for whoever may ask them.
var lastingFields = []string{"catalogNode", "catalogNodes", "hierarchy", "hierarchies", "product", "products"}

// lasting are the coordinates that are asked of the query, where its answer can
// be kept; nil where it cannot.
func lasting(plan *plan.Plan) (coordinates []string) {
	for _, name := range plan.Roots() {
		switch {
		case slices.Contains(lastingFields, name):
			coordinates = append(coordinates, "Query."+name)
		case name != "__typename":
			return nil
		}
	}
	return coordinates
}

// livePart is what is to be filled into a kept answer: the stock of products.
type livePart struct {
	holes    *plan.Holes
	products []*release.Product // of each hole, by their ids alone
}

// errBroken says that an answer has errors, and is kept for nobody.
var errBroken = errors.New("the answer has errors")

// lastingAnswer gives an answer that is kept, or makes one that will be. ok is
// false for who is not allowed all of it, so that its errors are to be made.
func (p *planned) lastingAnswer(ctx context.Context, q *document.PreparedOperation, dst []byte) (body []byte, found *responsecache.Response, ok bool, err error) {
	for _, coordinate := range q.CacheCoordinates {
		if auth.Require(ctx, coordinate) != nil {
			return dst, nil, false, nil
		}
	}
	view, err := p.resolver.View(ctx)
	if err != nil {
		return dst, nil, false, nil
	}
	var space [256]byte
	key := view.AppendKey(binary.BigEndian.AppendUint64(append(space[:0], 'g'), q.ID))
	var made *draftAnswer
	kept, err := p.room.Do(ctx, string(key), view.Now(), func() (*responsecache.Response, error) {
		made, err = p.draft(ctx, q, dst)
		if err != nil {
			return nil, err
		}
		return made.keep(ctx, view)
	})
	switch {
	case made != nil && made.body != nil && (err != nil || made.holes.Len() > 0): // by this request, which may tell errors
		body, err = p.fill(ctx, q, made.body, &made.livePart, made.buffer)
		return body, nil, true, err
	case errors.Is(err, errBroken), err != nil && ctx.Err() != nil:
		return dst, nil, false, nil // another's errors
	case err != nil && made != nil:
		return made.buffer, nil, false, err
	case err != nil:
		return dst, nil, false, err
	}
	if made == nil {
		p.countFields(ctx, q.CacheCoordinates)
	} else {
		dst = made.buffer
	}
	if live, ok := kept.Attachment().(*livePart); ok {
		body, err = p.fill(ctx, q, kept.Body, live, dst)
		return body, nil, true, err
	}
	return dst, kept, true, nil
}

// draftAnswer is an answer as it is made, without its live parts.
type draftAnswer struct {
	body, buffer []byte // what stays, and where it was written
	livePart
}

func (p *planned) draft(ctx context.Context, q *document.PreparedOperation, dst []byte) (*draftAnswer, error) {
	if err := p.beginRun(ctx, q.Operation); err != nil {
		return nil, err
	}
	body, holes, err := p.runner.RunWithHoles(ctx, q.Plan.Plan, append(dst, answerBegins...))
	if err != nil {
		return &draftAnswer{buffer: body[:0]}, err
	}
	made := &draftAnswer{slices.Concat(body, []byte(q.ResponseEnd)), body[:0], livePart{holes: holes}}
	holes.Rows(func(row any) {
		made.products = append(made.products, release.NamedProduct(row.(*model.Product).ID()))
	})
	return made, nil
}

// keep is the answer to be kept, for as long as it holds.
func (d *draftAnswer) keep(ctx context.Context, view *release.View) (*responsecache.Response, error) {
	if graphql.GetErrors(ctx) != nil {
		return nil, errBroken
	}
	answer := responsecache.NewResponse(d.body, nil)
	if d.holes.Len() > 0 {
		answer.Attach(&d.livePart, d.holes.Size()+d.productBytes())
	}
	return opctx.SetValidity(answer, view), nil
}

// productBytes is what the products take in memory.
func (l *livePart) productBytes() int {
	size := heapsize.Slice(cap(l.products), 8)
	for _, product := range l.products {
		size += release.NamedProductBytes + heapsize.Round(len(product.ID()))
	}
	return size
}

// fill appends an answer with its live parts to dst.
func (p *planned) fill(ctx context.Context, q *document.PreparedOperation, body []byte, live *livePart, dst []byte) ([]byte, error) {
	rows := model.Siblings[model.Product](live.products)
	return p.runner.Fill(ctx, q.Plan.Plan, body, live.holes, func(i int) any { return rows[i] }, dst)
}
