package plan

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"

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

// Stopped is the error of a run that was stopped on purpose: the response is too large
// (ErrTooLarge), or Limit.Reserve failed. No other executor should run the operation
// instead.
type Stopped struct{ Err error }

func (s *Stopped) Error() string { return s.Err.Error() }

// Unwrap returns Err.
func (s *Stopped) Unwrap() error { return s.Err }

// ErrTooLarge means that a response has more than Limit.Bytes.
var ErrTooLarge = errors.New("the response exceeds its limit")

// Stop ends the run or the marshaling around it. It panics with a *Stopped.
func Stop(err error) { panic(&Stopped{err}) }

// smallLeaf is the approximate size of a number, Boolean, enum or time, which are
// appended without a check.
const smallLeaf = 64

// grow makes room for more bytes, or stops the run.
func (r *Run) grow(more int) {
	if len(r.out)+more > r.capacity {
		r.extend(len(r.out) + more)
	}
}

// extend makes room for a response of a size. It stops the run if all runs of the group exceed Limit.Bytes, or Limit.Large while
// they run side by side. Above Limit.Large it calls Reserve, once, and takes a large buffer. The buffer doubles: growing by a
// quarter, as append does, allocates five times the bytes. Then capacity is where extend must be called again.
func (r *Run) extend(bytes int) {
	limit := r.runner.limit
	all := r.group.claim(r, bytes)                      // bytes of this run and of the others of its operation
	if limit.Bytes > 0 && all > limit.Bytes+smallLeaf { // not all of the requested room is used
		Stop(ErrTooLarge)
	}
	if all > limit.Large && r.group != nil {
		Stop(ErrTooLarge) // for a run side by side
	}
	if all > limit.Large && limit.Reserve != nil && !r.reserved {
		if err := limit.Reserve(r.ctx); err != nil {
			Stop(err)
		}
		r.reserved = true
	}
	if bytes > cap(r.out) && bytes > limit.Large && limit.Buffer != nil {
		if buffer := limit.Buffer(); cap(buffer) > cap(r.out) {
			r.out = append(buffer, r.out...)
		}
	}
	if size := max(bytes, min(2*cap(r.out), limit.max())); bytes > cap(r.out) {
		r.out = slices.Grow(r.out, size-len(r.out))
	}
	r.capacity = min(cap(r.out), limit.max())
	if limit.Reserve != nil && !r.reserved || r.group != nil {
		r.capacity = min(r.capacity, limit.Large)
	}
}

// claim counts the bytes of a run, in place of those that it claimed before. It returns those of all runs of the group; without a
// group, those of the run.
func (g *rootGroup) claim(r *Run, bytes int) int {
	if g == nil {
		return bytes
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.bytes += bytes - r.claimed
	r.claimed = bytes
	return g.bytes
}

// max is the largest size of a response, including the room for a scalar.
func (l Limit) max() int {
	if l.Bytes == 0 {
		return int(^uint(0) >> 1)
	}
	return l.Bytes + smallLeaf
}

// checkSize stops a run whose complete response is too large.
func (r *Run) checkSize() {
	if limit := r.runner.limit; limit.Bytes > 0 && len(r.out) > limit.Bytes {
		Stop(ErrTooLarge)
	}
}

// recoverInto converts a panic to an error, and discards what was written.
func (r *Run) recoverInto(resp *[]byte, err *error, mark int) {
	reason := recover()
	if reason == nil {
		return
	}
	*resp = r.out[:mark]
	if stopped, ok := reason.(*Stopped); ok {
		*err = stopped
		return
	}
	*err = fmt.Errorf("panic in a plan: %v\n%s", reason, debug.Stack())
}
