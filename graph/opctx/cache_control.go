package opctx

import (
	"net/http"
	"time"

	"portico/internal/auth"
	"portico/internal/responsecache"
	"portico/store/release"
)

// Values of Cache-Control, allocated once.
var (
	publicCache  = []string{"public, no-cache"}
	privateCache = []string{"private, no-cache"}

	// NoStore is for responses that depend on more than a release, such as stock.
	NoStore = []string{"no-store"}
)

// CacheControl returns the header of a response that depends on a release alone. Caches may share it
// among requests with the same token, unless the token is an account's, but must revalidate it each
// time: tokens and prices expire, and releases are replaced without notice.
func CacheControl(r *http.Request) []string {
	if p := auth.PrincipalFrom(r.Context()); p == nil || p.AccountID != "" || len(p.AccountTags) > 0 || p.CustomerID != "" || r.Header["Store-Catalog-Release"] != nil {
		return privateCache
	}
	return publicCache
}

// Cacheable reports whether HTTP caches may store the response of a request: not if it is a POST.
func Cacheable(r *http.Request) bool { return r.Method != http.MethodPost }

// SetValidity sets how long a cached response is valid, after everything in it was read from the view.
func SetValidity(resp *responsecache.Response, view *release.View) *responsecache.Response {
	from, until, keep := view.Holds()
	if !keep {
		until = time.Unix(0, 0) // expired for all other requests
	}
	resp.MadeFrom = view.Dependencies()
	return resp.SetValidity(from, until)
}

// Moment returns when and in which state of the data a view reads.
func Moment(view *release.View) responsecache.Moment {
	return responsecache.Moment{Time: view.Now(), State: view.State()}
}
