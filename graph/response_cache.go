package graph

import (
	"context"
	"net/http"
	"slices"
	"time"

	"portico/graph/opctx"
	"portico/internal/cachekey"
	"portico/internal/reqctx"
	"portico/internal/responsecache"
	"portico/store"
	"portico/store/release"
	"portico/store/shop"
	"portico/store/stock"
)

// ResponseCache is the response cache as both APIs use it: Do finds or caches what was read through a view, and Serve writes a
// finished response and leaves it to the front cache. Its methods are safe for concurrent use.
type ResponseCache struct {
	*responsecache.Cache                   // nil for none
	Policy               opctx.CachePolicy // headers for HTTP caches
}

// Do returns the response of a key that holds for a view, else what build reads through the view, and caches it. A zero key caches
// nothing. The view then depends on what the response was made from.
func (c *ResponseCache) Do(ctx context.Context, view *release.View, key cachekey.Key, build func() (*responsecache.Response, error)) (*responsecache.Response, error) {
	write := func() (*responsecache.Response, error) {
		resp, err := build()
		if err != nil {
			return nil, err
		}
		c.Policy.SetTags(resp, view)
		return setValidity(resp, view), nil
	}
	var resp *responsecache.Response
	var err error
	if key == (cachekey.Key{}) {
		resp, err = write()
	} else {
		resp, err = c.Cache.Do(ctx, key, momentOf(view), write)
	}
	if err != nil {
		return nil, err
	}
	view.Reuse(resp.ValidFrom, resp.ValidUntil, resp.MadeFrom)
	return resp, nil
}

// Delivery is a finished response, and how to send it.
type Delivery struct {
	Response  *responsecache.Response
	Vary      *opctx.VaryVariant    // HTTP caches may store the response; nil if they must not
	Candidate *CandidateBuilder     // nil to leave no candidate
	StockTime int                   // where the time of the latest change of all stock begins in the body; 0 for none
	Count     func(*reqctx.Request) // responsecache.Candidate.Count
}

// Serve writes a response, and leaves a candidate for requests that repeat this one.
func (c *ResponseCache) Serve(w http.ResponseWriter, r *http.Request, d Delivery) {
	candidate := responsecache.Candidate{Response: d.Response, Tagged: d.Vary != nil, Count: d.Count}
	if candidate.Tagged {
		candidate.SetCaching = c.Policy.SetCaching(w.Header(), r, d.Response, d.Vary)
	}
	d.Candidate.set(r.Context(), candidate, d.StockTime)
	if candidate.Tagged {
		d.Response.ServeHTTP(w, r)
	} else {
		d.Response.ServeWithoutETag(w, r)
	}
}

// CandidateBuilder makes the candidate of one request: how to answer requests that repeat it. It does nothing if it
// is nil.
type CandidateBuilder struct {
	resolver *Resolver
	request  *reqctx.Request // whose Candidate set sets
	settings *store.Settings // cached when the request began
	stock    *stock.Reads    // reads of stock so far
}

// candidateBytes is the memory of a candidate without what it refers to.
const candidateBytes = 512

// BeginCandidate returns the CandidateBuilder of a request that wants a candidate, and a context in which reads
// of stock are recorded; nil for any other request, and for none. Everything that the response shows must be
// read in that context, and be of a release, settings or stock.
func (r *Resolver) BeginCandidate(ctx context.Context, req *reqctx.Request) (context.Context, *CandidateBuilder) {
	if req == nil || !req.WantsCandidate {
		return ctx, nil
	}
	settings, ok := r.store.Settings.Cached()
	if !ok { // not read yet: a later request gets a candidate
		return ctx, nil
	}
	ctx, reads := stock.RecordReads(ctx)
	return ctx, &CandidateBuilder{r, req, settings, reads}
}

// set makes the response of a request a candidate, and adds what it depends on. stockTimeStart is where the time of the latest change of
// all stock begins in the body; 0 if the body does not show it. When only that time changes, the candidate is renewed.
func (b *CandidateBuilder) set(ctx context.Context, candidate responsecache.Candidate, stockTimeStart int) {
	if b == nil {
		return
	}
	d := candidateDependencies{store: b.resolver.store, settings: b.settings, stock: b.stock}
	if view := opctx.From(ctx).CurrentView(); view != nil {
		if d.choice = view.Choice(); d.choice == nil {
			return // another request may not use what the view read
		}
		candidate.Bytes += d.choice.Bytes()
	}
	candidate.Bytes += candidateBytes + b.stock.Bytes()
	b.request.Candidate = d.complete(candidate, stockTimeStart)
}

// candidateDependencies are what a response was made from.
type candidateDependencies struct {
	store    *shop.Store
	choice   *release.Choice // what the view was chosen by, and what was read through it; nil if there was no view
	settings *store.Settings
	stock    *stock.Reads
}

// complete adds to a candidate how to find whether it holds, and how to renew it.
func (d candidateDependencies) complete(candidate responsecache.Candidate, stockTimeStart int) *responsecache.Candidate {
	candidate.Current = func() bool { return d.unchangedButStock() && d.store.Stock.Unchanged(d.stock) }
	if stockTimeStart == 0 {
		return &candidate
	}
	renewed := candidate
	renewed.Response = nil // the front cache has it
	candidate.Renew = func(last *responsecache.Response) *responsecache.Candidate {
		reads, updated := d.store.Stock.RenewReads(d.stock)
		if reads == nil || !d.unchangedButStock() {
			return nil
		}
		text := slices.Clone(last.Body)
		store.AppendTime(text[:stockTimeStart], updated) // writes over the old time, which has the same length
		now, next := d, renewed
		now.stock, next.Response = reads, responsecache.NewResponse(text, nil)
		return now.complete(next, stockTimeStart)
	}
	return &candidate
}

// unchangedButStock reports whether everything but the stock is the same.
func (d *candidateDependencies) unchangedButStock() bool {
	if d.choice != nil && !d.choice.Current() {
		return false
	}
	now, ok := d.store.Settings.Cached()
	return ok && now == d.settings // each change of the settings makes a new value
}

// setValidity sets how long a cached response is valid and what it depends on, after everything in it was read from the view. It
// returns resp.
func setValidity(resp *responsecache.Response, view *release.View) *responsecache.Response {
	from, until, keep := view.Holds()
	if !keep {
		until = time.Unix(0, 0) // expired for all other requests
	}
	resp.MadeFrom = view.Dependencies()
	return resp.SetValidity(from, until)
}

// momentOf returns when and in which state of the data a view reads.
func momentOf(view *release.View) responsecache.Moment {
	return responsecache.Moment{Time: view.Now(), State: view.State()}
}
