package store

import "slices"

// Nulls are the members of an update that were sent as null, in snake case. An absent
// member keeps its value, null clears an optional one, and null is UNPROCESSABLE for a
// required one.
type Nulls []string

// Apply calls the clear function of each optional member that is null. The error names
// each required one. It ignores other names.
func (n Nulls) Apply(required []string, optional map[string]func()) error {
	var faults Errors
	for _, name := range n {
		switch {
		case optional[name] != nil:
			optional[name]()
		case slices.Contains(required, name):
			faults = append(faults, Unprocessablef([]string{name}, "must not be null; omit it to keep its value"))
		}
	}
	if len(faults) > 0 {
		return faults
	}
	return nil
}

// Clear sets a member of an update to its empty value; nil would keep the old one.
func Clear[T any](member **T) func() { return func() { *member = new(T) } }

// ClearList is Clear for a list.
func ClearList[T any](member *[]T) func() { return func() { *member = []T{} } }
