package graph

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"portico/internal/auth"
	"portico/internal/reqctx"
	"portico/store"
	"portico/store/release"
)

// operation is one request of one user: who they are as a shopper, and the
// view that follows from it, resolved once.
type operation struct {
	shopper     release.ShopperContext
	idempotency *idempotency // nil where no request is behind it
	sent        idempotency  // what it is with a request
	once        sync.Once
	view        *release.View
	err         error
	budget      *budget      // nil outside of GraphQL
	bytes       atomic.Int64 // charged outside of GraphQL
	faults      atomic.Int64 // errors of the answer so far
	expensive   func()       // gives its expensive turn back; nil without one
}

type operationKey struct{}

// operationContext is a context with an operation of its own.
type operationContext struct {
	context.Context
	op *operation
}

// Value implements context.Context.
func (c *operationContext) Value(key any) any {
	if key == any(operationKey{}) || key == store.AllowanceKey {
		return c.op
	}
	return c.Context.Value(key)
}

func withOperation(ctx context.Context, op *operation) context.Context {
	return &operationContext{ctx, op}
}

// operationOf is the operation that a context belongs to; ok is false outside of one.
func operationOf(ctx context.Context) (op *operation, ok bool) {
	if op, ok = ctx.Value(operationKey{}).(*operation); ok {
		return op, ok
	}
	if known := reqctx.From(ctx); known != nil {
		op, ok = known.Operation.(*operation)
	}
	return op, ok
}

// Shopper is the one middleware in front of both surfaces that reads the
// shopper's context from the headers and the token, and the idempotency key. It belongs behind the
// one that reads the token.
func Shopper(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r, known := reqctx.Begin(r)
		op := &operation{shopper: shopperOf(r)}
		op.sent.read(r, w.Header())
		op.idempotency, known.Operation = &op.sent, op
		next.ServeHTTP(w, r)
	})
}

// releaseHeader asks for a release, whether it is served or not.
const releaseHeader = "Store-Catalog-Release"

// WithShopper begins an operation for a shopper.
func WithShopper(ctx context.Context, shopper release.ShopperContext) context.Context {
	return withOperation(ctx, &operation{shopper: shopper})
}

// shopperOf reads the headers; EP-Channel and EP-Context-Tag are other names
// of Store-Channel and Store-Context-Tag (DESIGN 4).
func shopperOf(r *http.Request) release.ShopperContext {
	shopper := release.ShopperContext{
		Channel:  header(r, "Store-Channel", "Ep-Channel"),
		Locale:   header(r, "Accept-Language"),
		Currency: strings.ToUpper(header(r, "X-Moltin-Currency")),

		ReleaseID: store.LocalID(header(r, releaseHeader)),
	}
	if shopper.Locale == "" || shopper.Locale == "*" { // which some run-times send by themselves
		shopper.Locale = header(r, "X-Moltin-Language", "Accept-Language")
	}
	shopper.Tags = contextTags(r)
	if p := auth.From(r.Context()); p != nil {
		shopper.AccountID, shopper.AccountTags, shopper.CustomerID = p.AccountID, p.AccountTags, p.CustomerID
	}
	return shopper
}

// Vary names the headers that decide what a shopper sees, and whether it is
// explained.
const Vary = "Accept-Language, Authorization, EP-Channel, EP-Context-Tag, Prefer, Store-Catalog-Release, Store-Channel, Store-Context-Tag, X-Moltin-Currency, X-Moltin-Language"

// SentHeaders are the headers whose text is looked up, or kept.
func SentHeaders() []string { return append(strings.Split(Vary, ", "), idempotencyHeader) }

// maxContextTags bounds the tags of a request; further ones are passed over.
const maxContextTags = 100

// contextTags are the tags of all headers of either name, each of which may
// hold several, separated by commas.
func contextTags(r *http.Request) (tags []string) {
	for _, value := range slices.Concat(r.Header["Store-Context-Tag"], r.Header["Ep-Context-Tag"]) {
		for tag := range strings.SplitSeq(value, ",") {
			if tag = strings.TrimSpace(tag); tag != "" && len(tags) < maxContextTags && !slices.Contains(tags, tag) {
				tags = append(tags, tag)
			}
		}
	}
	return tags
}

// header is the first of a header's names that is there, in the form that
// net/http keeps them in.
func header(r *http.Request, names ...string) string {
	for _, name := range names {
		if values := r.Header[name]; len(values) > 0 {
			if value := strings.TrimSpace(values[0]); value != "" {
				return value
			}
		}
	}
	return ""
}

// shopperIn is the operation's shopper; nobody in particular outside of one.
func shopperIn(ctx context.Context) release.ShopperContext {
	if op, ok := operationOf(ctx); ok {
		return op.shopper
	}
	return release.ShopperContext{}
}

// view is the catalog as the operation's shopper sees it. For a client that
// has gone there is none, so that no edge begins.
func (r *Resolver) view(ctx context.Context) (*release.View, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	op, ok := operationOf(ctx)
	if !ok {
		return r.store.View(ctx, release.ShopperContext{})
	}
	op.once.Do(func() {
		if op.shopper.ReleaseID != "" {
			if op.err = auth.Require(ctx, "header "+releaseHeader); op.err != nil {
				return
			}
		}
		op.view, op.err = r.store.View(ctx, op.shopper)
	})
	return op.view, op.err
}

// View is the catalog as the operation's shopper sees it, for who has required
// the scope to read it.
func (r *Resolver) View(ctx context.Context) (*release.View, error) { return r.view(ctx) }

// catalog requires the scope of a coordinate and returns the view.
func (r *Resolver) catalog(ctx context.Context, coordinate string) (*release.View, error) {
	if err := auth.Require(ctx, coordinate); err != nil {
		return nil, err
	}
	return r.view(ctx)
}
