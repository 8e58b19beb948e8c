package catalog

import (
	"strconv"

	"portico/store"
	"portico/store/authoring"
)

// checkDistinct requires that a list has each id once, and not that of the resource itself; own is empty if that
// cannot be. Errors name the element of the member, with the suffix.
func checkDistinct(f *authoring.Validator, member, suffix, own string, ids []string) {
	seen := make(map[string]bool, len(ids))
	for i, id := range ids {
		at := member + "." + strconv.Itoa(i) + suffix
		switch {
		case id == "":
			continue // reported as required
		case id == own:
			f.Add(at, "must be another product")
		case seen[id]:
			f.Add(at, "is in the list twice: %q; remove one of them", store.Abbreviate(id))
		}
		seen[id] = true
	}
}
