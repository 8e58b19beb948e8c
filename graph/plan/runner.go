package plan

import (
	"context"
	"sync/atomic"

	"github.com/99designs/gqlgen/graphql"
)

// Runner runs plans. One is generated for each schema.
type Runner struct {
	query   *Object
	objects map[string]*Object // by name
	root    func(context.Context, *Run, *Fields) bool
	field   func(context.Context, *Run, *Field, any) bool
	cache   ObjectCache   // nil where none are kept
	limit   Limit         // of every run
	ids     atomic.Uint64 // of all plans
}

// NewRunner makes a runner of what is generated: all objects that the query can
// come to; root writes the query, field a field of a row, of a type whose
// fragments are kept or that has live fields.
func NewRunner(query *Object, objects []*Object, root func(context.Context, *Run, *Fields) bool, field func(context.Context, *Run, *Field, any) bool) *Runner {
	n := &Runner{query: query, objects: make(map[string]*Object, len(objects)), root: root, field: field}
	for _, object := range objects {
		n.objects[object.Name] = object
	}
	return n
}

// UseCache has the runner keep fragments from now on.
func (n *Runner) UseCache(fragments ObjectCache) { n.cache = fragments }

// SetLimit has all runs from now on obey a limit.
func (n *Runner) SetLimit(limit Limit) { n.limit = limit }

// Run appends what a plan answers: an object, or null. Errors are those of
// the response in ctx, as with gqlgen's executor. Nothing is appended where Run
// itself returns an error: *Stopped for an answer beyond the limit, which fails
// the operation. Any other error says that a resolver panicked; gqlgen's
// executor should run the operation then, and finds the field whose error it is.
func (n *Runner) Run(ctx context.Context, p *Plan, dst []byte) (answer []byte, err error) {
	return n.run(ctx, &Run{out: dst, runner: n}, p)
}

func (n *Runner) run(ctx context.Context, r *Run, p *Plan) (answer []byte, err error) {
	defer r.recoverInto(&answer, &err, len(r.out))
	r.variables, r.ctx = graphql.GetOperationContext(ctx).Variables, ctx
	r.path = r.pathBuffer[:0]
	if !n.root(WithSerial(ctx), r, p.root.Of(n.query)) {
		r.out = append(r.out, "null"...)
	}
	r.checkSize()
	return r.out, nil
}

type serialKey struct{}

// WithSerial marks what runs on one goroutine.
func WithSerial(ctx context.Context) context.Context {
	return context.WithValue(ctx, serialKey{}, true)
}

// IsSerial tells whether an operation runs on one goroutine, so that what is
// fetched for several rows needs no lock, and nobody waits for it.
func IsSerial(ctx context.Context) bool { return ctx.Value(serialKey{}) != nil }
