// Package opctx is the context of one operation: its shopper, idempotency key and budget. Resolvers,
// REST and the GraphQL executor read it; Middleware begins an Operation for each request and From
// returns it. The package must not import resolvers, the executor or transports.
package opctx

import (
	"context"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"

	"portico/internal/auth"
	"portico/internal/reqctx"
	"portico/store"
	"portico/store/exchange"
	"portico/store/release"
)

// Operation is the state of one operation of one user. It implements store.Allowance.
type Operation struct {
	Shopper     release.ShopperContext
	Budget      *Budget      // nil outside of GraphQL
	Idempotency *Idempotency // nil if no request began the operation, as in a subscription's event

	// EndExpensiveSlot gives back the slot that the executor took from its ConcurrencyLimiter for an operation of high cost or with
	// a large response. It is nil if it took none. executor.ReleaseExpensiveSlot calls it after the response was written.
	EndExpensiveSlot func()

	Planned exchange.Planned // by the dry runs of the operation so far

	// Roots knows the root fields of a query that runs by its plan; nil for other operations.
	Roots    Roots
	rootRows sync.Map // of ReadTogether: *rootRows by [2]string{field, argument}

	shopperErr error // of ShopperOf; CheckShopper returns it

	request   Idempotency // what Idempotency points to in the operation of a request: saves an allocation
	viewOnce  sync.Once
	view      *release.View
	viewErr   error
	bytesRead atomic.Int64 // charged without a Budget
	errors    atomic.Int64 // number of errors of the response so far
}

// Roots knows the root fields of an operation.
type Roots interface {
	// RootIDs returns the distinct values that all root fields named field have in argument, such as id or by.sku. One read
	// serves all of them. It returns nil if they must not be read together.
	RootIDs(ctx context.Context, field, argument string) []string
}

type operationKey struct{}

// operationContext is a context with an operation.
type operationContext struct {
	context.Context
	op *Operation
}

// Value implements context.Context.
func (c *operationContext) Value(key any) any {
	if key == any(operationKey{}) || key == store.AllowanceKey {
		return c.op
	}
	return c.Context.Value(key)
}

// With returns a context with an operation.
func With(ctx context.Context, op *Operation) context.Context { return &operationContext{ctx, op} }

// From returns the operation of a context; nil for none.
func From(ctx context.Context) *Operation {
	if op, ok := ctx.Value(operationKey{}).(*Operation); ok {
		return op
	}
	if req := reqctx.From(ctx); req != nil {
		op, _ := req.Operation.(*Operation)
		return op
	}
	return nil
}

// CurrentView returns the view that View has loaded; nil if it was not called, or failed. It does not wait for View: call it when
// no field of the operation runs any more.
func (op *Operation) CurrentView() *release.View {
	if op == nil {
		return nil
	}
	return op.view
}

// releaseHeader selects a release by its id, published or not.
const releaseHeader = "Store-Catalog-Release"

// View returns the catalog as the operation's shopper sees it. load runs once per operation, and its error is that of all later
// calls. Only clients with the scope of the release header may choose a release.
func (op *Operation) View(ctx context.Context, load func(context.Context, release.ShopperContext) (*release.View, error)) (*release.View, error) {
	op.viewOnce.Do(func() {
		if op.Shopper.ReleaseID != "" {
			if op.viewErr = auth.Require(ctx, "header "+releaseHeader); op.viewErr != nil {
				return
			}
		}
		op.view, op.viewErr = load(ctx, op.Shopper)
	})
	return op.view, op.viewErr
}

// Cacheable reports whether HTTP caches may store the response of a request: not if it is a POST.
func Cacheable(r *http.Request) bool { return r.Method != http.MethodPost }

// Storable is Cacheable for a request whose response was read: false if a list was filtered by live stock.
func Storable(r *http.Request) bool {
	view := From(r.Context()).CurrentView()
	return Cacheable(r) && (view == nil || !view.Live())
}

// CountError counts an error of the response and returns how many there are.
func (op *Operation) CountError() int { return int(op.errors.Add(1)) }

type nullsKey struct{}

// WithNulls names the members of a write's input that are null, in snake case. The input's Go type
// has nil for null and for absent members.
func WithNulls(ctx context.Context, nulls store.Nulls) context.Context {
	if len(nulls) == 0 {
		return ctx
	}
	return context.WithValue(ctx, nullsKey{}, nulls)
}

// Nulls returns the members that WithNulls named.
func Nulls(ctx context.Context) store.Nulls {
	nulls, _ := ctx.Value(nullsKey{}).(store.Nulls)
	return nulls
}

// rootRows are the rows of the root fields of a name and argument. The first field that needs them reads all.
type rootRows struct {
	once  sync.Once // of the read
	found any       // map[string]T
	err   error
}

// ReadTogether returns the row with an id for a root field of a name; the zero value if there is none. The first of the fields
// of that name that have the id in the same argument, as RootIDs names it, reads the rows of all.
func ReadTogether[T any](ctx context.Context, field, argument, id string, read func(ctx context.Context, ids []string) (map[string]T, error)) (row T, err error) {
	op := From(ctx)
	var ids []string
	if op != nil && op.Roots != nil {
		ids = op.Roots.RootIDs(ctx, field, argument)
	}
	if len(ids) < 2 || !slices.Contains(ids, id) { // nothing to share, or the id was spelled in another way
		found, err := read(ctx, []string{id})
		return found[id], err
	}
	kept, _ := op.rootRows.LoadOrStore([2]string{field, argument}, &rootRows{})
	rows := kept.(*rootRows)
	rows.once.Do(func() { rows.found, rows.err = read(ctx, ids) })
	if rows.err != nil {
		return row, rows.err
	}
	return rows.found.(map[string]T)[id], nil
}
