package db_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/internal/cachekey"
	"portico/store/db"
)

// sizedBytes is a cached value of many bytes.
type sizedBytes []byte

func (b sizedBytes) Size() int { return 24 + len(b) }

// sizedNumber is a tiny cached value.
type sizedNumber int64

func (sizedNumber) Size() int { return 8 }

// TestCacheChargesMemory: the size that the cache reports is within a factor of 1.5 of the
// memory it takes.
func TestCacheChargesMemory(t *testing.T) { // not in parallel: others allocate too
	for name, value := range map[string]func(i int) (string, db.Sized){
		"numbers": func(i int) (string, db.Sized) { return fmt.Sprint("le", "id-of-a-product-", i), sizedNumber(1000 + i) },
		"long names": func(i int) (string, db.Sized) {
			return strings.Repeat("x", 2000) + fmt.Sprint(i), sizedNumber(1000 + i)
		},
		"lists of a filter":  func(i int) (string, db.Sized) { return fmt.Sprint("node?eq(name,", i, ")"), make(sizedBytes, 100) },
		"pages of documents": func(i int) (string, db.Sized) { return fmt.Sprint(i), make(sizedBytes, 4000) },
	} {
		t.Run(name, func(t *testing.T) {
			cache := db.NewCache(db.Config{CacheBytes: 1 << 30})
			measured := func() (heap, charge int) {
				charge = int(cache.Bytes())
				for range 2 {
					runtime.GC()
				}
				var memory runtime.MemStats
				runtime.ReadMemStats(&memory)
				return int(memory.HeapAlloc), charge
			}
			heapBefore, chargeBefore := measured()
			for i := range 5_000 {
				key, kept := db.CacheKey{Kind: 'k'}, db.Sized(nil)
				name, value := value(i)
				key.Name, kept = cachekey.New(name), value
				cache.Set(key, kept)
			}
			heap, charge := measured()
			heap, charge = heap-heapBefore, charge-chargeBefore
			t.Logf("%d bytes are held, %d charged", heap, charge)
			require.Less(t, float64(heap), 1.5*float64(charge))
			require.Less(t, float64(charge), 1.5*float64(heap))
			runtime.KeepAlive(cache)
		})
	}
}
