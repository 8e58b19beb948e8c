package graph

import (
	"context"

	"portico/graph/opctx"
	"portico/internal/reqctx"
	"portico/internal/responsecache"
	"portico/store"
	"portico/store/release"
	"portico/store/stock"
)

// Offerer makes the offer of one request: how to answer requests that repeat it. Its methods do
// nothing if it is nil.
type Offerer struct {
	resolver *Resolver
	request  *reqctx.Request
	settings *store.Settings
	stock    *stock.Reads
}

// offerBytes is the memory of an offer without what it refers to.
const offerBytes = 512

// BeginOffer returns the Offerer of a request that wants an offer, and a context in which reads
// of stock are recorded; nil for any other request. Everything that the response shows must be
// read in that context, and be of a release, settings or stock.
func (r *Resolver) BeginOffer(ctx context.Context) (context.Context, *Offerer) {
	req := reqctx.From(ctx)
	if req == nil || !req.WantsOffer {
		return ctx, nil
	}
	settings, ok := r.store.CachedSettings()
	if !ok {
		return ctx, nil
	}
	ctx, reads := stock.RecordReads(ctx)
	return ctx, &Offerer{r, req, settings, reads}
}

// Offer offers a response. It adds what the offer depends on.
func (o *Offerer) Offer(ctx context.Context, offer responsecache.Offer) {
	if o == nil {
		return
	}
	var choice *release.Choice
	if view := opctx.From(ctx).CurrentView(); view != nil {
		if choice = view.Choice(); choice == nil {
			return
		}
	}
	offer.Bytes = offerBytes + o.stock.Bytes()
	resolver, settings, reads := o.resolver, o.settings, o.stock
	offer.Current = func() bool {
		if choice != nil && !choice.Current() {
			return false
		}
		now, ok := resolver.store.CachedSettings()
		return ok && now == settings && resolver.store.Unchanged(reads)
	}
	o.request.Offer = &offer
}
