package segment

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store/db"
	"portico/store/index"
)

// TestSizesMatchTheHeap requires that cached values are charged within a tenth of what they take.
func TestSizesMatchTheHeap(t *testing.T) { // not in parallel: others allocate too
	families := func(parents int) func(int) db.Sized {
		return func(int) db.Sized {
			f := &Families{}
			for ordinal := range uint32(parents) {
				f.children.add(index.Ordinals{4 * ordinal, 3, 4*ordinal + 1, 4*ordinal + 2, 4*ordinal + 3}, nil)
				f.required.add(index.Ordinals{4 * ordinal, 4, 1, 1, 4*ordinal + 1, 1}, nil)
			}
			f.connect()
			return f
		}
	}
	words := func(entries int) func(int) db.Sized {
		return func(i int) db.Sized {
			var body []byte
			for list := 0; len(body) < 16<<10; list++ { // as the publisher cuts chunks
				var packed []byte
				for range entries {
					packed = index.AppendOccurrence(packed, 300, index.Occurrence{Named: true, NameWords: 3, Position: 1})
				}
				body = AppendText(AppendText(body, fmt.Sprintf("token%03d-%d", list, i)), string(packed))
			}
			return newWordChunk(append([]byte(nil), body...)) // as a driver copies it
		}
	}
	for name, value := range map[string]func(i int) db.Sized{
		"families":       families(1000),
		"a few families": families(20),
		"short lists":    words(3),
		"marked lists":   words(180),
		"one long list":  words(6000),
	} {
		t.Run(name, func(t *testing.T) {
			kept := make([]db.Sized, 200)
			heap := func() int {
				runtime.GC()
				runtime.GC()
				var memory runtime.MemStats
				runtime.ReadMemStats(&memory)
				return int(memory.HeapAlloc)
			}
			before := heap()
			for i := range kept {
				kept[i] = value(i)
			}
			taken, charged := heap()-before, 0
			for _, value := range kept {
				charged += value.Size()
			}
			require.InEpsilon(t, taken, charged, 0.1)
			runtime.KeepAlive(kept)
		})
	}
}
