package index

import (
	"strings"
	"testing"
)

func BenchmarkNewProductTokens(b *testing.B) {
	description := strings.Repeat("A rugged road bike with a light frame, built for long rides and steep climbs. ", 6)
	b.ReportAllocs()
	for b.Loop() {
		NewProductTokens("", "en", "Road-450 Red, 52", description, "BK-R68R-52")
	}
}
