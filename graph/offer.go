package graph

import (
	"context"
	"slices"

	"portico/graph/opctx"
	"portico/internal/reqctx"
	"portico/internal/responsecache"
	"portico/store"
	"portico/store/release"
	"portico/store/shop"
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
	o.OfferWithStockTime(ctx, offer, 0)
}

// OfferWithStockTime is Offer of a response with the time of the latest change of all stock at an
// index of its body; 0 for none. When only that time changes, the offer is renewed.
func (o *Offerer) OfferWithStockTime(ctx context.Context, offer responsecache.Offer, at int) {
	if o == nil {
		return
	}
	d := offerDependencies{store: o.resolver.store, settings: o.settings, stock: o.stock}
	if view := opctx.From(ctx).CurrentView(); view != nil {
		if d.choice = view.Choice(); d.choice == nil {
			return
		}
		offer.Bytes += d.choice.Bytes()
	}
	offer.Bytes += offerBytes + o.stock.Bytes()
	o.request.Offer = d.complete(offer, at)
}

// offerDependencies are what a response was made from.
type offerDependencies struct {
	store    *shop.Store
	choice   *release.Choice // nil for none
	settings *store.Settings
	stock    *stock.Reads
}

// complete adds to an offer how to find whether it holds, and how to renew it.
func (d offerDependencies) complete(offer responsecache.Offer, at int) *responsecache.Offer {
	offer.Current = func() bool { return d.unchangedButStock() && d.store.Unchanged(d.stock) }
	if at == 0 {
		return &offer
	}
	body := offer.Response.Body
	offer.Renew = func() *responsecache.Offer {
		reads, updated := d.store.RenewReads(d.stock)
		if reads == nil || !d.unchangedButStock() {
			return nil
		}
		text := slices.Clone(body)
		store.AppendTime(text[:at], updated)
		now, renewed := d, offer
		now.stock, renewed.Response = reads, responsecache.NewResponse(text, nil)
		return now.complete(renewed, at)
	}
	return &offer
}

// unchangedButStock reports whether everything but the stock is the same.
func (d *offerDependencies) unchangedButStock() bool {
	if d.choice != nil && !d.choice.Current() {
		return false
	}
	now, ok := d.store.CachedSettings()
	return ok && now == d.settings
}
