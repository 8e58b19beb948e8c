package store

import "slices"

// Nulls names the members of an update that the caller sent as null, in snake
// case. In every update an absent member keeps its value, null clears an
// optional member, and null is UNPROCESSABLE for a required one.
type Nulls []string

// Apply calls the function of each optional member that is null, which clears
// it. Its error names each required member that is null. Other names are not
// members of the resource, and are ignored.
func (n Nulls) Apply(required []string, optional map[string]func()) error {
	var faults Errors
	for _, name := range n {
		switch {
		case optional[name] != nil:
			optional[name]()
		case slices.Contains(required, name):
			faults = append(faults, Unprocessablef([]string{name}, "must not be null; leave it out to keep its value"))
		}
	}
	if len(faults) > 0 {
		return faults
	}
	return nil
}

// Clear sets a member of an update to its empty value, which is not the same as
// leaving it out.
func Clear[T any](member **T) func() { return func() { *member = new(T) } }

// ClearList is Clear for a list.
func ClearList[T any](member *[]T) func() { return func() { *member = []T{} } }
