package index

// AdjacencyList is a list of lists, which are filled one after the other, in one piece of memory.
type AdjacencyList struct {
	Items []uint32 // of all lists, one list after the other
	Ends  []uint32 // where each list ends in Items
}

// Add appends an item to the current list.
func (a *AdjacencyList) Add(item uint32) { a.Items = append(a.Items, item) }

// End completes the current list.
func (a *AdjacencyList) End() { a.Ends = append(a.Ends, uint32(len(a.Items))) }

// Len is the number of complete lists.
func (a *AdjacencyList) Len() int { return len(a.Ends) }

// Of returns list i; nil if there is none.
func (a *AdjacencyList) Of(i uint32) []uint32 {
	if int(i) >= len(a.Ends) {
		return nil
	}
	start := uint32(0)
	if i > 0 {
		start = a.Ends[i-1]
	}
	return a.Items[start:a.Ends[i]]
}

// Reverse returns the children of each parent, in order. parents holds the parent of each child; -1
// for none.
func Reverse(parents []int32) AdjacencyList {
	a := AdjacencyList{Ends: make([]uint32, len(parents))}
	for _, parent := range parents {
		if parent >= 0 {
			a.Ends[parent]++
		}
	}
	total := uint32(0)
	next := make([]uint32, len(parents))
	for i, n := range a.Ends {
		next[i] = total
		total += n
		a.Ends[i] = total
	}
	a.Items = make([]uint32, total)
	for child, parent := range parents {
		if parent >= 0 {
			a.Items[next[parent]] = uint32(child)
			next[parent]++
		}
	}
	return a
}
