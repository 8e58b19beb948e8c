package plan

import (
	"context"

	"github.com/99designs/gqlgen/graphql"
)

// NewRunner returns a runner. query is the query type, root writes its fields, and field writes one field of a row of a type that has
// dynamic fields. Both return false for null. They are generated.
func NewRunner(query *Object, root func(context.Context, *Run, *Fields) bool, field func(context.Context, *Run, *Field, any) bool) *Runner {
	return &Runner{query: query, root: root, field: field}
}

// SetLimit sets the limit of later runs.
func (n *Runner) SetLimit(limit Limit) { n.limit = limit }

// Run appends the response data: an object, or null. It runs each root field on one goroutine. Field errors go to the response in
// ctx. If Run returns an error, it appends nothing. A *Stopped fails the operation. Any
// other error means that a resolver panicked: run the operation with gqlgen's executor
// to find the field.
func (n *Runner) Run(ctx context.Context, p *Plan, dst []byte) (resp []byte, err error) {
	return n.run(ctx, &Run{out: dst, runner: n}, p)
}

// run runs a plan as r, which has its output, and whether it leaves holes.
func (n *Runner) run(ctx context.Context, r *Run, p *Plan) (resp []byte, err error) {
	defer r.recoverInto(&resp, &err, len(r.out))
	r.variables, r.ctx = graphql.GetOperationContext(ctx).Variables, ctx
	r.path = r.pathBuffer[:0]
	if !n.root(ctx, r, p.root.Of(n.query)) {
		r.out = append(r.out, "null"...)
	}
	r.checkSize()
	return r.out, nil
}
