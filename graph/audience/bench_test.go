package audience_test

import (
	"testing"

	"portico/graph/audience"
	"portico/graph/document"
	"portico/internal/auth"
)

// A view of the first request, with its text: later requests of the set of scopes take it from the cache.
func BenchmarkView(b *testing.B) {
	full := document.Schema()
	b.ReportAllocs()
	for b.Loop() {
		b.SetBytes(int64(len(audience.New(full).For(auth.ShopperScopes()).Text())))
	}
}
