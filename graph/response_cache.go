package graph

import (
	"context"
	"net/http"

	"portico/graph/opctx"
	"portico/internal/cachekey"
	"portico/internal/reqctx"
	"portico/internal/responsecache"
	"portico/store/release"
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
		return opctx.SetValidity(resp, view), nil
	}
	var resp *responsecache.Response
	var err error
	if key == (cachekey.Key{}) {
		resp, err = write()
	} else {
		resp, err = c.Cache.Do(ctx, key, opctx.Moment(view), write)
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
