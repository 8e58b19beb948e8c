package segment_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store/release/segment"
	"portico/store/storetest/testkit"
)

// packedProducts are the products of a block as large as most.
func packedProducts() []*segment.BlockProduct {
	products := make([]*segment.BlockProduct, segment.BlockProducts)
	for i := range products {
		products[i] = &segment.BlockProduct{ID: fmt.Sprintf("product-%d", i), PublishedAt: int64(i), Offers: "=USD retail 1999 0 \n", Components: []uint32{7, 12},
			Attributes: []byte(`{"colour":"red"}`), Crumbs: []byte(`"breadcrumbs":[]`), Files: make([]byte, 300),
			Documents: map[string][]byte{"": make([]byte, 600), "fr": make([]byte, 600)}}
	}
	return products
}

// Packing a block takes memory for its result alone.
func TestPackBlockAllocates(t *testing.T) {
	if testkit.RaceDetector {
		t.Skip("the race detector makes pools forget what they hold")
	}
	products := packedProducts()
	require.LessOrEqual(t, testing.AllocsPerRun(100, func() { segment.PackBlock(products) }), 4.0)
}

func BenchmarkPackBlock(b *testing.B) {
	products := packedProducts()
	b.ReportAllocs()
	for b.Loop() {
		segment.PackBlock(products)
	}
}
