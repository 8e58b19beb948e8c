package check

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestNodeCheckIsLinear: checking the positions of nodes takes linear time for any tree.
func TestNodeCheckIsLinear(t *testing.T) {
	t.Parallel()
	id := func(i int) string { return "n" + strconv.Itoa(i) }
	for name, parent := range map[string]func(i, n int) string{
		"all below the hierarchy": func(int, int) string { return "" },
		"one below the other":     func(i, _ int) string { return map[bool]string{true: "", false: id(i - 1)}[i == 0] },
		"a tree":                  func(i, _ int) string { return map[bool]string{true: "", false: id(i / 8)}[i == 0] },
		"a ring":                  func(i, n int) string { return id((i + 1) % n) },
		"all below one":           func(i, _ int) string { return map[bool]string{true: "", false: id(0)}[i == 0] },
	} {
		t.Run(name, func(t *testing.T) {
			for _, n := range []int{100, 400} {
				for _, inFile := range []int{n, n / 2, 1} {
					r, places := NewReferenceChecker("the file"), map[string]nodePosition{}
					for i := range n {
						places[id(i)] = nodePosition{0, parent(i, n), "h"}
						if i < inFile {
							r.nodes[id(i)] = nodePosition{i + 1, parent(i, n), "h"}
						}
					}
					faults := r.misplacedIn(places)
					require.LessOrEqual(t, r.steps, 4*n, "%d nodes, %d of them in the file", n, inFile)
					if name == "a ring" {
						require.Len(t, faults, inFile)
					} else {
						require.Empty(t, faults)
					}
				}
			}
		})
	}
}

func TestMisplacedNodesAreReported(t *testing.T) {
	t.Parallel()
	r := NewReferenceChecker("the file")
	r.nodes = map[string]nodePosition{
		"self": {1, "self", "h"}, "below": {2, "self", "h"}, "good": {3, "top", "h"},
		"stranger": {4, "top", "other"}, "moved": {5, "", "other"}, "deep": {6, "stays", "h"},
	}
	faults := r.misplacedIn(map[string]nodePosition{"top": {0, "", "h"}, "stays": {0, "moved", "h"}, "moved": {0, "top", "h"}})
	var told []string
	for _, fault := range faults {
		told = append(told, fault.Error())
	}
	require.Equal(t, []string{
		"line 1: node: relationships.parent.data.id must not be the node itself or one of its descendants.",
		"line 2: node: relationships.parent.data.id must not be the node itself or one of its descendants.",
		`line 4: node: relationships.parent.data.id must be a node of the same hierarchy, "other"; "top" is in "h".`,
		`line 5: node: relationships.hierarchy.data.id must stay "h" while the node "stays" of that hierarchy is its child.`,
	}, told)
}
