package model

import (
	"slices"
	"strings"

	"portico/store/exchange"
)

// AuthoredWrite is a resource that a mutation wrote, or would write.
type AuthoredWrite struct {
	*exchange.WrittenItem
	Changes []*AuthoredWriteChange
}

// AuthoredWriteChange is a member that changed.
type AuthoredWriteChange struct{ *exchange.ItemChange }

// NewAuthoredWrites returns the resources of a result, which may be nil.
func NewAuthoredWrites(result *exchange.ItemsWritten) []*AuthoredWrite {
	list := []*AuthoredWrite{}
	if result == nil {
		return list
	}
	for _, item := range result.Items {
		write := &AuthoredWrite{item, []*AuthoredWriteChange{}}
		for _, change := range item.Changes {
			write.Changes = append(write.Changes, &AuthoredWriteChange{change})
		}
		list = append(list, write)
	}
	return list
}

// NewWarnings returns the warnings of a result, which may be nil.
func NewWarnings(result *exchange.ItemsWritten) []*Warning {
	list := []*Warning{}
	if result == nil {
		return list
	}
	for _, warning := range result.Warnings {
		list = append(list, &Warning{UserError{warning}})
	}
	return list
}

// openMembers are members whose own members are named by the merchant.
var openMembers = []string{"custom_inputs", "extensions", "shopper_attributes", "translations", "attributes", "components", "related", "amounts", "sales"}

// Member returns the path of the member, as the schema spells it.
func (c *AuthoredWriteChange) Member() string {
	path := slices.Clone(c.Path)
	if !slices.Contains(openMembers, path[0]) {
		return strings.Join(ArgumentPath(path), ".")
	}
	path[0] = camel(path[0])
	return strings.Join(path, ".")
}
