package exchange

import (
	"portico/store/exchange/check"
)

// InputPath returns Kind.InputPath of the kind called name.
func InputPath(name string, path []string) []string { return check.KindByName(name).InputPath(path) }

// KindNames lists the types of resources, in the order of an export.
func KindNames() (names []string) {
	for i := range check.Kinds {
		names = append(names, check.Kinds[i].Name)
	}
	return names
}
