package catalog

import (
	"strconv"

	"portico/store"
)

// checkDistinct reports each id that a list has twice, and that of the resource itself; own is empty if that cannot be.
// report is Validator.Add or Validator.Warn. It gets the element of the member, with the suffix.
func checkDistinct(report func(member, format string, args ...any), member, suffix, own string, ids []string) {
	seen := make(map[string]bool, len(ids))
	for i, id := range ids {
		at := member + "." + strconv.Itoa(i) + suffix
		switch {
		case id == "":
			continue // reported as required
		case id == own:
			report(at, "is the product itself; remove it")
		case seen[id]:
			report(at, "is in the list twice: %q; remove one of them", store.Abbreviate(id))
		}
		seen[id] = true
	}
}
