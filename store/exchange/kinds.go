package exchange

import (
	"portico/store/exchange/check"
)

// KindNames lists the types of resources, in the order of an export.
func KindNames() (names []string) {
	for i := range check.Kinds {
		names = append(names, check.Kinds[i].Name)
	}
	return names
}
