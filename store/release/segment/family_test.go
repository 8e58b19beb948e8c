package segment

import (
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store"
)

// TestUnits checks what parents and bundles are bought as. The ordinals are those of the records in available.
func TestUnits(t *testing.T) {
	t.Parallel()
	const no = store.NoStockRecord
	lists := func(lists map[uint32][]uint32) (l ordinalLists) {
		for ordinal := range uint32(20) {
			if list, has := lists[ordinal]; has {
				l.add(append([]uint32{ordinal, uint32(len(list))}, list...), nil)
			}
		}
		return l
	}
	for _, c := range []struct {
		name      string
		children  map[uint32][]uint32
		required  map[uint32][]uint32
		available []int32 // of product 0 first, of which the units are
		want      int32
	}{
		{"a record", nil, nil, []int32{3}, 3},
		{"no record", nil, nil, []int32{no}, no},
		{"a parent has the best of its children", map[uint32][]uint32{0: {1, 2}}, nil, []int32{9, 3, 5}, 5},
		{"a child without a limit", map[uint32][]uint32{0: {1, 2}}, nil, []int32{9, 3, no}, no},
		{"a parent without children", map[uint32][]uint32{0: {}}, nil, []int32{no}, 0},
		{"one of two options", nil, map[uint32][]uint32{0: {1, 2, 1, 1, 2, 1}}, []int32{no, 3, 5}, 5},
		{"two of two", nil, map[uint32][]uint32{0: {2, 2, 1, 1, 2, 1}}, []int32{no, 3, 5}, 3},
		{"three of two", nil, map[uint32][]uint32{0: {3, 2, 1, 1, 2, 1}}, []int32{no, 3, 5}, 0},
		{"sets", nil, map[uint32][]uint32{0: {1, 2, 1, 2, 2, 4}}, []int32{no, 3, 5}, 1},
		{"an option without a limit", nil, map[uint32][]uint32{0: {1, 2, 1, 2, 2, 4}}, []int32{no, no, 0}, no},
		{"the scarcest component", nil, map[uint32][]uint32{0: {1, 1, 1, 1, 1, 1, 2, 1}}, []int32{no, 3, 2}, 2},
		{"no option is left", nil, map[uint32][]uint32{0: {1, 0}}, []int32{no}, 0},
		{"its own record", nil, map[uint32][]uint32{0: {1, 1, 1, 1}}, []int32{7, 0}, 7},
		{"a parent as an option", map[uint32][]uint32{1: {2, 3}}, map[uint32][]uint32{0: {1, 1, 1, 2}}, []int32{no, 0, 1, 4}, 2},
		{"a bundle as a child", map[uint32][]uint32{0: {1}}, map[uint32][]uint32{1: {1, 1, 2, 1}}, []int32{no, no, 4}, 4},
		{"a bundle in a bundle", nil, map[uint32][]uint32{0: {1, 1, 1, 1}, 1: {1, 1, 2, 2}}, []int32{no, no, 4}, 2},
		{"a bundle in itself", nil, map[uint32][]uint32{0: {1, 1, 0, 1}}, []int32{no}, 0},
		{"too deep", nil, map[uint32][]uint32{0: {1, 1, 1, 1}, 1: {1, 1, 2, 1}, 2: {1, 1, 3, 1}, 3: {1, 1, 4, 1}, 4: {1, 1, 5, 1}}, []int32{no, no, no, no, no, 9}, 0},
	} {
		f := &Families{children: lists(c.children), required: lists(c.required)}
		var asked []uint32
		f.Units(0, func(place uint32) int32 { asked = append(asked, place); return 0 })
		require.Equal(t, c.want, f.Units(0, func(place uint32) int32 {
			require.Equal(t, asked[0], place, "%s: the order of records depends on their units", c.name)
			asked = asked[1:]
			return c.available[place]
		}), c.name)
		require.Empty(t, asked, c.name)
	}
	wide := []uint32{1, 100}
	for range 100 {
		wide = append(wide, 0, 1)
	}
	many := &Families{required: lists(map[uint32][]uint32{0: wide})}
	records := 0
	require.Zero(t, many.Units(0, func(uint32) int32 { records++; return no }))
	require.Equal(t, maxRecords, records, "a bundle of a hundred options that are it again")
}
