package model

import (
	"portico/store"
	"portico/store/exchange"
)

// AuthoringPayload is the result of a mutation that writes or deletes authored resources.
type AuthoringPayload struct {
	Items      []*AuthoredWrite
	Warnings   []*Warning
	UserErrors []*UserError
}

// NewAuthoringPayload returns the payload of a mutation of resources of a type. The result is nil if there are errors.
func NewAuthoringPayload(kind string, result *exchange.ItemsWritten, userErrs []*UserError) *AuthoringPayload {
	payload := &AuthoringPayload{Items: []*AuthoredWrite{}, Warnings: []*Warning{}, UserErrors: userErrs}
	if result == nil {
		return payload
	}
	sources := make([]writtenResource, len(result.Items))
	for i, item := range result.Items {
		sources[i] = writtenResource{kind, item}
	}
	payload.Items = NewBatch[AuthoredWrite](sources)
	for _, warning := range result.Warnings {
		payload.Warnings = append(payload.Warnings, &Warning{UserError{warning}})
	}
	return payload
}

// writtenResource is what a mutation did with a resource of a type.
type writtenResource struct {
	kind string
	*exchange.WrittenItem
}

// AuthoredWrite is a resource that a mutation wrote, or would write.
type AuthoredWrite struct {
	*exchange.WrittenItem
	Kind    string // type of the global id
	Changes []*store.MemberExcerpt
	BatchRow[*AuthoredWrite]
}

// Init implements Row.
func (w *AuthoredWrite) Init(source writtenResource, position BatchRow[*AuthoredWrite]) {
	w.WrittenItem, w.Kind, w.BatchRow = source.WrittenItem, source.kind, position
	w.Changes = make([]*store.MemberExcerpt, len(source.Changes))
	for i, change := range source.Changes {
		w.Changes[i] = &store.MemberExcerpt{Path: ArgumentPath(change.Path), Before: change.Before, After: change.After}
	}
}
