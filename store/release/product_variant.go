package release

import (
	"encoding/json"
	"slices"

	"portico/store"
)

// ChildID is the child that stands for the chosen options, one of each
// variation, in any order; empty when there is none.
func (r *released) ChildID(optionIDs []string) string {
	var level any
	if err := json.Unmarshal(r.read().Meta.VariationMatrix, &level); err != nil {
		return ""
	}
	for range store.Unique(optionIDs) {
		options, deeper := level.(map[string]any)
		at := slices.IndexFunc(optionIDs, func(id string) bool { return options[id] != nil })
		if !deeper || at < 0 {
			return ""
		}
		level = options[optionIDs[at]]
	}
	child, _ := level.(string)
	return child
}
