package plan

import (
	"context"
	"sync"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/gqlerror"
)

// RootFields writes the query type. It resolves up to Limit.Parallel root fields at once, so that
// they wait for the database together. Bytes, errors and their order, and what is charged are the same
// as one after the other: each field has a run of its own, and the runs are joined in order. Fields that
// run side by side may use a part of what the operation may cost, and Limit.Large bytes. Beyond that they
// are run again, one after the other: where an operation is refused depends on the order.
func (r *Run) RootFields(ctx context.Context, fields *Fields, typename string, write WriteRootField) bool {
	resolved := 0
	for i := range fields.List {
		if fields.List[i].Number != 0 {
			resolved++
		}
	}
	limit := r.runner.limit
	if resolved < 2 || limit.Parallel < 2 {
		return r.rootsInOrder(ctx, fields, typename, write, nil)
	}
	end := func(bool) bool { return false }
	if limit.Trial != nil {
		var small bool
		if end, small = limit.Trial(ctx); !small {
			return r.rootsInOrder(ctx, fields, typename, write, nil)
		}
	}
	mark := r.Mark()
	group := &rootGroup{fields: fields.List, roots: make([]rootField, len(fields.List)), write: write}
	valid := group.run(ctx, r, typename, min(limit.Parallel, resolved))
	refused := end(!group.stopped.Load())
	if group.reason != nil {
		panic(group.reason)
	}
	if refused || group.stopped.Load() {
		r.out, r.path = r.out[:mark], r.path[:0]
		if r.holes != nil {
			*r.holes = Holes{}
		}
		return r.rootsInOrder(ctx, fields, typename, write, group.roots)
	}
	for i := range group.roots {
		group.roots[i].report(ctx)
	}
	return valid
}

type (
	repeatedKey  struct{} // in the context of a root field that began side by side before
	secondRunKey struct{} // in the context of all root fields of the second run
)

// IsSecondRun reports whether the root fields of the operation ran before, side by side, and what they were charged was taken
// back.
func IsSecondRun(ctx context.Context) bool { return ctx.Value(secondRunKey{}) != nil }

// IsRepeated reports whether a root field runs for the second time in its operation. In a second run, fields that had not begun in
// the first are not repeated.
func IsRepeated(ctx context.Context) bool { return ctx.Value(repeatedKey{}) != nil }

// rootsInOrder writes the fields one after the other. before are the fields that ran side by side, or nil.
func (r *Run) rootsInOrder(ctx context.Context, fields *Fields, typename string, write WriteRootField, before []rootField) bool {
	mark, valid := r.Mark(), true
	if before != nil {
		ctx = context.WithValue(ctx, secondRunKey{}, true)
	}
	for i := range fields.List {
		f := &fields.List[i]
		r.Begin(f)
		if f.Number == 0 {
			r.String(typename)
		} else {
			at := ctx
			if before != nil && before[i].claimed.Load() {
				at = context.WithValue(ctx, repeatedKey{}, true)
			}
			if !r.root(at, f, write) {
				valid = r.Null(f) && valid
			}
		}
		r.End()
	}
	return r.Close(mark, valid)
}

// root writes a root field within the middleware for root fields.
func (r *Run) root(ctx context.Context, f *Field, write WriteRootField) bool {
	written := false
	ctx = graphql.WithRootFieldContext(ctx, &graphql.RootFieldContext{Object: f.collected.Name, Field: f.collected})
	graphql.GetOperationContext(ctx).RootResolverMiddleware(ctx, func(ctx context.Context) graphql.Marshaler {
		if written = write(ctx, r, f); !written {
			return graphql.Null
		}
		return alreadyWritten
	})
	return written
}

// run writes the fields with a number of goroutines. This one writes to the response: fields that no
// other has begun, and the results of the others. If a run was stopped or panicked, what is written is useless: see stopped and
// reason.
func (g *rootGroup) run(ctx context.Context, r *Run, typename string, goroutines int) (valid bool) {
	r.group, r.claimed, r.capacity = g, 0, 0
	defer func() { r.group = nil }()
	for i := range g.roots {
		g.roots[i].done = make(chan struct{})
	}
	g.roots[0].claimed.Store(true) // by this goroutine
	var workers sync.WaitGroup
	defer workers.Wait() // they use the operation's context
	for range goroutines - 1 {
		workers.Go(func() { g.work(ctx, r) })
	}
	defer g.recoverPanic()
	mark := r.Mark()
	valid = true
	for i := range g.fields {
		f, root := &g.fields[i], &g.roots[i]
		r.Begin(f)
		switch {
		case f.Number == 0:
			r.String(typename)
		case i == 0 || root.claimed.CompareAndSwap(false, true):
			if !r.root(root.recordErrors(ctx), f, g.write) {
				valid = r.Null(f) && valid
			}
		default:
			g.work(ctx, r) // instead of waiting
			<-root.done
			if g.stopped.Load() {
				return false
			}
			if !r.join(root) {
				valid = r.Null(f) && valid
			}
		}
		r.End()
		if g.stopped.Load() {
			return false
		}
	}
	return r.Close(mark, valid)
}

// work runs fields until all have begun.
func (g *rootGroup) work(ctx context.Context, to *Run) {
	for i := range g.fields {
		f, root := &g.fields[i], &g.roots[i]
		if f.Number == 0 || g.stopped.Load() || !root.claimed.CompareAndSwap(false, true) {
			continue
		}
		g.runRoot(ctx, to, f, root)
	}
}

// runRoot runs a field by a run of its own.
func (g *rootGroup) runRoot(ctx context.Context, to *Run, f *Field, root *rootField) {
	defer close(root.done)
	defer g.recoverPanic()
	r := &Run{variables: to.variables, runner: to.runner, ctx: to.ctx, group: g}
	r.out = (*rootBuffers.Get().(*[]byte))[:0]
	r.path = append(r.pathBuffer[:0], pathElement{f, -1})
	if to.holes != nil {
		r.holes = &Holes{}
	}
	root.run = r
	root.written = r.root(root.recordErrors(ctx), f, g.write)
}

// recoverPanic stops the group after a panic.
func (g *rootGroup) recoverPanic() {
	reason := recover()
	if reason == nil {
		return
	}
	g.stopped.Store(true)
	if _, is := reason.(*Stopped); !is {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.reason = reason
	}
}

// rootBuffers holds buffers for the runs of root fields.
var rootBuffers = sync.Pool{New: func() any { b := make([]byte, 0, 16<<10); return &b }}

// maxRootBuffer is the largest buffer that is used again, in bytes.
const maxRootBuffer = 256 << 10

// join appends the response and holes of a field's own run. Its bytes are then those of r.
func (r *Run) join(root *rootField) (written bool) {
	from := root.run
	r.group.claim(from, 0)
	if root.written {
		r.grow(len(from.out))
		at := len(r.out)
		r.out = append(r.out, from.out...)
		if r.holes != nil {
			for i := range from.holes.list {
				from.holes.list[i].at += at
			}
			r.holes.list = append(r.holes.list, from.holes.list...)
		}
	}
	if r.holes != nil {
		r.holes.nulled = append(r.holes.nulled, from.holes.nulled...)
	}
	if buffer := from.out; cap(buffer) <= maxRootBuffer {
		rootBuffers.Put(&buffer)
	}
	from.out = nil
	return root.written
}

// recordErrors returns a context whose errors report adds to the response later.
func (f *rootField) recordErrors(ctx context.Context) context.Context {
	return graphql.WithResponseContext(ctx, func(ctx context.Context, err error) *gqlerror.Error {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.errors = append(f.errors, rootError{graphql.GetFieldContext(ctx), err})
		return graphql.DefaultErrorPresenter(ctx, err) // has the path, for graphql.HasFieldError
	}, func(_ context.Context, reason any) error { return graphql.Recover(ctx, reason) })
}

// report adds the field's errors to the response.
func (f *rootField) report(ctx context.Context) {
	for _, failed := range f.errors {
		graphql.AddError(withFieldContexts(ctx, failed.field), failed.err)
	}
}

// withFieldContexts adds a field's context and those of the fields above it.
func withFieldContexts(ctx context.Context, field *graphql.FieldContext) context.Context {
	if field == nil {
		return ctx
	}
	return graphql.WithFieldContext(withFieldContexts(ctx, field.Parent), field)
}
