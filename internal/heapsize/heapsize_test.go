package heapsize_test

import (
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/internal/heapsize"
)

type node struct {
	name *string
	next *node
	list []int32
	any  any
	by   map[string][]byte
}

// The estimate is within a factor of 1.5 of the measured heap.
func TestOfMatchesTheHeap(t *testing.T) { // not in parallel: others allocate too
	fromJSON := func(text string) func(int) any {
		return func(int) any {
			var value any
			require.NoError(t, json.Unmarshal([]byte(text), &value))
			return value
		}
	}
	members := func(n int) string {
		list := make([]string, n)
		for i := range list {
			list[i] = fmt.Sprintf(`"m%d":%d`, i, i)
		}
		return "{" + strings.Join(list, ",") + "}"
	}
	for name, value := range map[string]func(i int) any{
		"a text":        func(i int) any { return strings.Repeat("x", 100+i%3) },
		"small objects": fromJSON(`[{},{},{"a":{}},{"a":{"b":{"c":{}}}},[],[[]],[1,2,3],"x",null,true,12345.5]`),
		"nested lists":  fromJSON(strings.Repeat("[", 200) + strings.Repeat("]", 200)),
		"9 members":     fromJSON(members(9)),
		"100 members":   fromJSON(members(100)),
		"1000 members":  fromJSON(members(1000)),
		"2500 members":  fromJSON(members(2500)),
		"many texts":    fromJSON("[" + strings.Repeat(`"ab","a longer text than the others here",`, 100) + "0]"),
		"a Go structure": func(i int) any {
			text := fmt.Sprint(i)
			n := &node{name: &text, list: make([]int32, 30), any: i, by: map[string][]byte{text: []byte(text)}}
			n.next = n
			return n
		},
	} {
		t.Run(name, func(t *testing.T) {
			const n = 300
			kept := make([]any, n)
			var before, after runtime.MemStats
			runtime.GC()
			runtime.GC()
			runtime.ReadMemStats(&before)
			for i := range kept {
				kept[i] = value(i)
			}
			runtime.GC()
			runtime.GC()
			runtime.ReadMemStats(&after)
			held, told := float64(after.HeapAlloc)-float64(before.HeapAlloc), 0.
			for _, value := range kept {
				told += float64(heapsize.Of([]any{value}) - 16)
			}
			require.InDelta(t, 1, told/held, 0.4, "%v bytes are held, %v told", held, told)
			runtime.KeepAlive(kept)
		})
	}
}
