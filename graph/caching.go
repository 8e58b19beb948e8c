package graph

import (
	"net/http"

	"portico/internal/auth"
)

// Header lines for caches on the way, made once.
var (
	forAnyone = []string{"public, no-cache"}
	forOne    = []string{"private, no-cache"}

	// ForNobody is told of what is live, such as stock.
	ForNobody = []string{"no-store"}
)

// CacheControl tells caches on the way what they may do with what a release
// alone decides. They may keep what no account decided for whoever sends the
// same token, but ask here each time whether it still holds: tokens end, sales
// end, and releases are replaced without notice.
func CacheControl(r *http.Request) []string {
	if p := auth.From(r.Context()); p == nil || p.AccountID != "" || len(p.AccountTags) > 0 || p.CustomerID != "" || r.Header["Store-Catalog-Release"] != nil {
		return forOne
	}
	return forAnyone
}

// cacheable tells whether caches may keep the answer of a request at all. What
// is posted they pass on.
func cacheable(r *http.Request) bool { return r.Method != http.MethodPost }
